#include "core/output/cell.h"

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

bool cell_write_json(struct json value, bool masked, struct buf *out)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    enum typed_tag tag;
    bool ok = cell_write(value, masked, &text, &tag);
    out->failed |= text.failed;
    if (!ok)
        return false;
    if (tag == TYPED_S || tag == TYPED_B)
        json_write_string(out, buf_span(&text));
    else
        buf_add_span(out, buf_span(&text));
    return !out->failed;
}
