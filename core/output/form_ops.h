/* What a form is to those who make one of its kinds. */
#ifndef DDBFS_CORE_OUTPUT_FORM_OPS_H
#define DDBFS_CORE_OUTPUT_FORM_OPS_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/item/item.h"
#include "core/json/json.h"

struct form;

struct form_ops {
    size_t size; /* of the kind's own struct, which begins with a struct form and is zeroed */
    /* Makes it ready, by its settings; false when memory ran out. NULL: it is. */
    bool (*start)(struct form *form);
    /* As form_add and form_end in form.h, but they may leave OUT longer when they fail. */
    bool (*add)(struct form *form, struct json item, struct buf *out, struct error *err);
    /* MORE, which is false, is set when there is more of the rest: it is called again then. */
    bool (*end)(struct form *form, struct buf *out, bool *more, struct error *err);
    /* Both NULL: it has no more than its own struct. The former has to do with a failed start. */
    void (*clean_up)(struct form *form);
    size_t (*memory)(const struct form *form);
};

struct form {
    const struct form_ops *ops;
    struct arena arena; /* the copies */
    struct record_view view;
    const struct span *columns; /* each once */
    size_t column_count;
    const char *dated_by;
    size_t most;
    size_t width;
    size_t left_out; /* columns that did not fit */
};

/* Whether SIZE bytes may be kept, or appended at the end; false with ERR filled when they are too
 * many. */
bool form_allows(const struct form *form, size_t size, struct error *err);

extern const struct form_ops form_jsonl, form_csv, form_table, form_count, form_summary;

#endif
