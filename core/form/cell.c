#include "core/form/cell.h"

bool cell_is_masked(const struct record_view *view, struct span name)
{
    for (size_t i = 0; i < view->secret_count; i++)
        if (span_is(name, view->secret[i]))
            return true;
    return false;
}

bool cell_write(struct json value, bool masked, struct buf *out, enum typed_tag *tag)
{
    *tag = typed_open(value).tag;
    if (masked && *tag != TYPED_NONE) {
        *tag = TYPED_S;
        buf_add_text(out, RECORD_MASK);
        return !out->failed;
    }
    if (!item_write_value(value, true, out))
        return false;
    buf_truncate(out, out->size - 1); /* the newline */
    return true;
}
