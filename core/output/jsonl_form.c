/* JSON Lines: a record a line, as `cat` shows it with --format compact. */
#include "core/item/record.h"
#include "core/output/form_ops.h"

struct jsonl {
    struct form form;
};

static bool jsonl_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct record_view view = form->view;
    view.compact = true;
    if (item_write(item, &view, out))
        return true;
    return out->failed ? error_no_memory(err) : record_refuse(item, "", err);
}

static bool jsonl_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    (void)more; /* all at once */
    (void)form, (void)out, (void)err;
    return true;
}

const struct form_ops form_jsonl = {sizeof(struct jsonl), NULL, jsonl_add, jsonl_end, NULL, NULL};
