#include "core/describe/markdown.h"

#include "core/base/printable.h"
#include "core/json/json.h"

/* A code span ends with the same number of backticks as it begins with. A blank behind the first
 * and before the last of them is no part of it. */
void markdown_add_code(struct buf *out, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add(&safe, text, "");
    if (safe.size > MARKDOWN_MOST_BYTES) {
        size_t size = MARKDOWN_MOST_BYTES; /* cut between characters */
        while (size > 0 && ((unsigned char)safe.data[size] & 0xC0) == 0x80)
            size--;
        buf_truncate(&safe, size);
        buf_add_text(&safe, "…");
    }
    out->failed = out->failed || safe.failed;
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < buf_span(&safe).size; i++) {
        run = safe.data[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    size_t ticks = longest + 1;
    bool blank = ticks > 1 || (safe.size > 0 && safe.data[0] == ' ') || safe.size == 0;
    buf_add_repeated(out, '`', ticks);
    buf_add_text(out, blank ? " " : "");
    buf_add_span(out, buf_span(&safe));
    buf_add_text(out, blank ? " " : "");
    buf_add_repeated(out, '`', ticks);
}

/* A JSON string is a YAML string, too. */
void markdown_add_yaml(struct buf *out, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf plain = {0}, json = {0};
    for (size_t i = 0; i < text.size; i++)
        buf_add_char(&plain, text.data[i] == '<' || text.data[i] == '>' ? ' ' : text.data[i]);
    json_write_string(&json, buf_span(&plain));
    json_add_printable(out, buf_span(&json));
    out->failed = out->failed || plain.failed || json.failed;
}

size_t markdown_lines(const struct buf *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->size; i++)
        lines += text->data[i] == '\n';
    return lines;
}
