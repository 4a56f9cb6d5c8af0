/* Quoting for a POSIX shell, and reading what was quoted for one. */
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

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes what stands up to the QUOTE that ends it, and that. Between double quotes a backslash
 * stands for itself, unless one of them or another backslash follows. */
static bool take_quoted(struct buf *out, struct span *text, char quote)
{
    for (size_t i = 0; i < text->size; i++) {
        char c = text->data[i];
        if (c == quote) {
            *text = span_from(*text, i + 1);
            return true;
        }
        if (c == '\\' && quote == '"') {
            if (++i == text->size)
                return false;
            if (text->data[i] != '"' && text->data[i] != '\\')
                buf_add_char(out, '\\');
            c = text->data[i];
        }
        buf_add_char(out, c);
    }
    return false;
}

static bool take_word(struct buf *out, struct span *text)
{
    while (text->size > 0 && !is_blank(text->data[0])) {
        char c = text->data[0];
        *text = span_from(*text, 1);
        if (c == '\'' || c == '"') {
            if (!take_quoted(out, text, c))
                return false;
            continue;
        }
        if (c == '\\') {
            if (text->size == 0)
                return false;
            c = text->data[0];
            *text = span_from(*text, 1);
        }
        buf_add_char(out, c);
    }
    buf_add_char(out, '\0');
    return true;
}

bool shell_split(struct buf *out, struct span text, size_t *count)
{
    for (*count = 0;; ++*count) {
        while (text.size > 0 && is_blank(text.data[0]))
            text = span_from(text, 1);
        if (text.size == 0)
            return true;
        if (!take_word(out, &text))
            return false;
    }
}
