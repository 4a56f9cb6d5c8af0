/* The interface of each kind of form. */
#ifndef DDBFS_CORE_OUTPUT_FORM_OPS_H
#define DDBFS_CORE_OUTPUT_FORM_OPS_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/item/item.h"
#include "core/json/json.h"
#include "core/output/sql_value.h"

struct form;
struct form_part;

struct form_ops {
    size_t size; /* of the kind's own struct, which begins with a struct form and is zeroed */
    /* Initializes it by its settings; false when memory ran out. May be NULL. */
    bool (*start)(struct form *form);
    /* As form_add and form_end in form.h, but they may leave OUT longer when they fail. */
    bool (*add)(struct form *form, struct json item, struct buf *out, struct error *err);
    /* Sets MORE, which is false, if it is to be called again. */
    bool (*end)(struct form *form, struct buf *out, bool *more, struct error *err);
    /* Both NULL if the kind has no more than its own struct. CLEAN_UP also follows a failed start.
     */
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
    const struct form_part *parts;
    size_t part_count;
    struct span next_name; /* of the next item, as are its parts; NULL: none */
    const struct sql_value *next_parts;
    size_t most;
    bool is_over;
    size_t worked; /* bytes of this form_end that END has moved without appending them */
    size_t width;
    size_t left_out; /* columns that did not fit */
};

/* Whether SIZE bytes may be held, or appended at the end; false with ERR filled. */
bool form_allows(struct form *form, size_t size, struct error *err);

extern const struct form_ops form_csv, form_summary, form_database;

#endif
