#include "core/draft/slug.h"

/* A step of a path is to be typed. */
enum { MOST_BYTES = 60 };

static bool slug_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void slug_add_text(struct buf *out, struct span text)
{
    bool joint = out->size > 0;
    for (size_t i = 0; i < text.size && out->size < MOST_BYTES; i++) {
        char c = text.data[i];
        if (!slug_is_word(c)) {
            joint = out->size > 0;
            continue;
        }
        if (joint)
            buf_add_char(out, '-');
        joint = false;
        buf_add_char(out, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
}

void slug_add_format(struct buf *out, const struct format *format)
{
    size_t before = out->size;
    for (size_t i = 0; i < format->count; i++)
        slug_add_text(out, format->pieces[i].literal);
    bool silent = out->size == before;
    for (size_t i = 0; silent && i < format->count; i++)
        if (format->pieces[i].param)
            slug_add_text(out, span_text(format->pieces[i].param));
}
