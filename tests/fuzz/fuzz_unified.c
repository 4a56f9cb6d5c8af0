/* Fuzzing of the unified diff: two texts with a NUL byte between them. What is shown, applied to
 * the first as patch(1) would, gives the second; and what is the same in both is shown once. */
#include <stdint.h>
#include <stdlib.h>

#include "core/base/unified.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Takes a line off *TEXT, its end included, if it has one. */
static struct span take_line(struct span *text)
{
    const char *end = text->size ? memchr(text->data, '\n', text->size) : NULL;
    struct span line = span_of(text->data, end ? (size_t)(end - text->data) + 1 : text->size);
    *text = span_from(*text, line.size);
    return line;
}

/* What a line of a hunk says, without the end that it lacks in its text. */
static struct span said(struct span line, struct span following)
{
    line = span_from(line, 1);
    if (span_starts(following, SPAN_LITERAL("\\ ")))
        line.size--;
    return line;
}

/* Where the hunk begins in the first text, by lines from 0. */
static size_t start_of(struct span head)
{
    const char *number = head.data + strlen("@@ -");
    size_t start = strtoul(number, NULL, 10);
    const char *comma = memchr(head.data, ',', head.size), *blank = strchr(number, ' ');
    bool empty = comma && comma < blank && comma[1] == '0';
    return empty ? start : start - 1;
}

static void apply(struct span shown, struct span from, struct buf *out)
{
    size_t at = 0;
    require(span_equal(take_line(&shown), SPAN_LITERAL("--- a\n")));
    require(span_equal(take_line(&shown), SPAN_LITERAL("+++ b\n")));
    while (shown.size > 0) {
        struct span line = take_line(&shown);
        if (span_starts(line, SPAN_LITERAL("@@ "))) {
            for (size_t start = start_of(line); at < start; at++)
                buf_add_span(out, take_line(&from));
            continue;
        }
        if (line.data[0] == '\\')
            continue;
        struct span text = said(line, shown);
        if (line.data[0] != '+') {
            require(span_equal(take_line(&from), text));
            at++;
        }
        if (line.data[0] != '-')
            buf_add_span(out, text);
    }
    buf_add_span(out, from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *middle = size ? memchr(data, 0, size) : NULL;
    if (!middle)
        return 0;
    struct span from = span_of((const char *)data, (size_t)(middle - data));
    struct span to = span_of((const char *)middle + 1, size - from.size - 1);
    CLEAN_UP(buf_clean_up) struct buf shown = {0}, made = {0};
    struct unified_text a = {SPAN_LITERAL("a"), from}, b = {SPAN_LITERAL("b"), to};
    unified_write(&shown, &a, &b);
    require(!shown.failed && (shown.size == 0) == span_equal(from, to));
    if (shown.size == 0)
        return 0;
    apply(buf_span(&shown), from, &made);
    require(span_equal(buf_span(&made), to));
    return 0;
}
