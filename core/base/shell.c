/* Quoting for a POSIX shell. */
#include "core/base/shell.h"

void shell_quote(struct buf *out, struct span text)
{
    buf_add_char(out, '\'');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\'')
            buf_add_text(out, "'\\''");
        else
            buf_add_char(out, text.data[i]);
    }
    buf_add_char(out, '\'');
}

void shell_word(struct buf *out, struct span text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-./:";
    bool quoted = text.size == 0;
    for (size_t i = 0; i < text.size && !quoted; i++)
        quoted = !memchr(plain, text.data[i], sizeof plain - 1);
    if (quoted)
        shell_quote(out, text);
    else
        buf_add_span(out, text);
}
