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

static bool shell_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes the text up to its closing QUOTE, and the quote. Between double quotes a backslash is
 * literal, unless a double quote or a backslash follows. */
static bool shell_take_quoted(struct buf *out, struct span *text, char quote)
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

static bool shell_take_word(struct buf *out, struct span *text)
{
    while (text->size > 0 && !shell_is_blank(text->data[0])) {
        char c = text->data[0];
        *text = span_from(*text, 1);
        if (c == '\'' || c == '"') {
            if (!shell_take_quoted(out, text, c))
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
        while (text.size > 0 && shell_is_blank(text.data[0]))
            text = span_from(text, 1);
        if (text.size == 0)
            return true;
        if (!shell_take_word(out, &text))
            return false;
    }
}

/* A line that is being typed. */
struct shell_typed {
    struct buf *out;
    const char *breaks;
    size_t start;  /* of the word, in OUT */
    size_t kept;   /* bytes of the word that readline keeps */
    size_t before; /* KEPT before the open quote */
    char quote;    /* the open quote; or NUL */
    bool in_word;
};

/* Takes one character of TEXT within quotes; returns its bytes. */
static size_t shell_take_within(struct shell_typed *typed, struct span text)
{
    bool escaped = typed->quote == '"' && text.data[0] == '\\' && text.size > 1 &&
                   strchr("\"\\$`", text.data[1]);
    if (text.data[0] == typed->quote) {
        typed->quote = '\0';
        typed->kept = typed->before;
        return 1;
    }
    buf_add_char(typed->out, text.data[escaped]);
    return escaped ? 2 : 1;
}

/* Takes one character outside of quotes. readline begins a word at @ and $, and behind other
 * breaks. */
static size_t shell_take_outside(struct shell_typed *typed, struct span text)
{
    char c = text.data[0];
    size_t size = typed->out->size - typed->start;
    if (c == '\'' || c == '"') {
        typed->quote = c;
        typed->before = typed->kept;
        typed->kept = size;
        return 1;
    }
    if (c == '\\') {
        if (text.size > 1)
            buf_add_char(typed->out, text.data[1]);
        return text.size > 1 ? 2 : 1;
    }
    if (c != '\0' && strchr(typed->breaks, c))
        typed->kept = c == '@' || c == '$' ? size : size + 1;
    buf_add_char(typed->out, c);
    return 1;
}

void shell_split_typed(struct buf *out, struct span text, const char *breaks, size_t *count,
                       size_t *kept)
{
    struct shell_typed typed = {.out = out, .breaks = breaks, .start = out->size};
    for (*count = 1; text.size > 0;) {
        if (!typed.quote && shell_is_blank(text.data[0])) {
            if (typed.in_word) {
                buf_add_char(out, '\0');
                typed = (struct shell_typed){.out = out, .breaks = breaks, .start = out->size};
                ++*count;
            }
            text = span_from(text, 1);
            continue;
        }
        typed.in_word = true;
        text = span_from(text, typed.quote ? shell_take_within(&typed, text)
                                           : shell_take_outside(&typed, text));
    }
    buf_add_char(out, '\0');
    *kept = typed.kept;
}
