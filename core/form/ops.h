/* What a form is to those who make one of its kinds. */
#ifndef DDBFS_CORE_FORM_OPS_H
#define DDBFS_CORE_FORM_OPS_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/item/item.h"
#include "core/json/json.h"

struct form;

struct form_ops {
    size_t size; /* of the kind's own struct, which begins with a struct form and is zeroed */
    /* As form_add and form_end in form.h, but they may leave OUT longer when they fail. */
    bool (*add)(struct form *form, struct json item, struct buf *out, struct error *err);
    bool (*end)(struct form *form, struct buf *out, struct error *err);
};

struct form {
    const struct form_ops *ops;
    struct arena arena; /* the copies */
    struct record_view view;
};

extern const struct form_ops form_jsonl, form_count;

#endif
