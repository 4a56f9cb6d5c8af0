#include "core/output/csv_text.h"

#include "core/item/value.h"

static void csv_text_add_quoted(struct buf *out, struct span text)
{
    buf_add_char(out, '"');
    for (const char *quote; (quote = memchr(text.data, '"', text.size));) {
        size_t size = (size_t)(quote - text.data) + 1;
        buf_add(out, text.data, size);
        buf_add_char(out, '"');
        text = span_from(text, size);
    }
    buf_add_span(out, text);
    buf_add_char(out, '"');
}

/* Whether TEXT would end its field, or lose something, outside of quotes: some readers trim blanks,
 * and some take a # in front for a comment. */
static bool csv_text_needs_quotes(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (strchr(",\"\r\n", text.data[i])) /* NUL is found, too */
            return true;
    return text.size > 0 &&
           (strchr(" \t#", text.data[0]) || strchr(" \t", text.data[text.size - 1]));
}

void csv_text_add_field(struct buf *out, enum csv_type type, struct span text)
{
    if (type == CSV_ABSENT)
        return;
    /* A text without quotes must not look like nothing, null, a truth value or a number. */
    bool looks_bare = text.size == 0 || span_is(text, "null") || span_is(text, "true") ||
                      span_is(text, "false") || number_is(text);
    if (csv_text_needs_quotes(text) || (type == CSV_TEXT && looks_bare))
        csv_text_add_quoted(out, text);
    else
        buf_add_span(out, text);
}

void csv_text_add_name(struct buf *out, size_t column, struct span name)
{
    buf_add_text(out, column ? "," : "");
    if (name.size == 0 || csv_text_needs_quotes(name))
        csv_text_add_quoted(out, name);
    else
        buf_add_span(out, name);
}

void csv_text_end_line(struct buf *out, size_t columns, size_t row)
{
    if (columns == 1 && out->size == row)
        buf_add_text(out, "\"\"");
    buf_add_char(out, '\n');
}
