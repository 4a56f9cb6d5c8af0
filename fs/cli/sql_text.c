#include "fs/cli/sql_text.h"

#include "core/base/ascii.h"

static bool sql_text_is_word(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || c == '$' || c == '.' ||
           (unsigned char)c >= 0x80;
}

/* The offset behind the quoted text or comment that begins at AT with the text OPEN, whose end is
 * CLOSE; the size of TEXT if it has no end. */
static size_t sql_text_skip(struct span text, size_t at, size_t open, const char *close)
{
    size_t size = strlen(close);
    for (at += open; at + size <= text.size; at++)
        if (memcmp(text.data + at, close, size) == 0)
            return at + size;
    return text.size + 1;
}

/* The end of the quoted text or comment at AT; 0: none begins there. A quote within is doubled, so
 * that another one begins behind it. */
static size_t sql_text_find_end(struct span text, size_t at, bool *is_comment)
{
    struct span left = span_from(text, at);
    bool is_line = span_starts(left, SPAN_LITERAL("--"));
    *is_comment = is_line || span_starts(left, SPAN_LITERAL("/*"));
    if (*is_comment)
        return sql_text_skip(text, at, 2, is_line ? "\n" : "*/");
    switch (left.data[0]) {
    case '\'':
        return sql_text_skip(text, at, 1, "'");
    case '"':
        return sql_text_skip(text, at, 1, "\"");
    case '`':
        return sql_text_skip(text, at, 1, "`");
    case '[':
        return sql_text_skip(text, at, 1, "]");
    default:
        return 0;
    }
}

struct sql_text sql_text_scan(struct span text)
{
    struct sql_text out = {.is_blank = true};
    for (size_t at = 0; at < text.size;) {
        char c = text.data[at];
        bool is_comment, is_name = c == '"';
        size_t end = sql_text_find_end(text, at, &is_comment);
        if (end > text.size) {
            /* A comment of a line may end the text. */
            bool is_line = is_comment && c == '-';
            out.is_in_string = !is_name;
            out.has_lines |= is_line || memchr(text.data + at, '\n', text.size - at);
            out.is_blank &= is_comment;
            out.is_ended &= is_line;
            out.word = is_name ? out.word : text.size;
            return out;
        }
        if (end > 0)
            out.has_lines |= memchr(text.data + at, '\n', end - at) != NULL;
        else
            end = at + 1;
        bool is_space = is_comment || c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!is_space) {
            out.is_blank = false;
            out.is_ended = c == ';';
        }
        if (!is_name && !sql_text_is_word(c))
            out.word = end;
        at = end;
    }
    return out;
}
