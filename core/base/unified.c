#include "core/base/unified.h"

#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/edits.h"

/* Lines that stay, around those that don't. */
enum { CONTEXT = 3, JOINED = 2 * CONTEXT };

/* A line, its end included: a last one without it is another. */
struct unified_line {
    struct dict_node node; /* its key is the line */
    uint32_t number;       /* of two that are the same, the same */
};

struct lines {
    struct unified_line *items; /* owned */
    size_t count;
    uint32_t *numbers; /* owned: for the comparison */
    bool *changed;     /* owned */
};

static void unified_lines_clean_up(struct lines *lines)
{
    free(lines->items);
    free(lines->numbers);
    free(lines->changed);
}

static struct span unified_line_at(struct span text)
{
    const char *end = text.size ? memchr(text.data, '\n', text.size) : NULL;
    return span_of(text.data, end ? (size_t)(end - text.data) + 1 : text.size);
}

static size_t unified_count_lines(struct span text)
{
    size_t count = 0;
    for (; text.size > 0; text = span_from(text, unified_line_at(text).size))
        count++;
    return count;
}

/* Lines get numbers in the order in which they are first met. */
static bool unified_lines_init(struct lines *lines, struct span text, struct dict *known)
{
    size_t count = unified_count_lines(text);
    *lines = (struct lines){
        .items = calloc(count + 1, sizeof *lines->items),
        .numbers = calloc(count + 1, sizeof *lines->numbers),
        .changed = calloc(count + 1, sizeof *lines->changed),
    };
    if (!lines->items || !lines->numbers || !lines->changed)
        return false;
    for (; lines->count < count; lines->count++) {
        struct unified_line *line = &lines->items[lines->count];
        line->node.key = unified_line_at(text);
        const struct dict_node *same = dict_find(known, line->node.key);
        line->number = same ? ((const struct unified_line *)same)->number : (uint32_t)known->count;
        if (!same)
            dict_add(known, &line->node);
        lines->numbers[lines->count] = line->number;
        text = span_from(text, line->node.key.size);
    }
    return true;
}

/* Lines FROM up to END of both sides: a change, or several with what stands between and around. */
struct hunk {
    size_t from, from_end, to, to_end;
};

static void unified_write_range(struct buf *out, char sign, size_t start, size_t end)
{
    buf_printf(out, " %c%zu", sign, end > start ? start + 1 : start);
    if (end - start != 1)
        buf_printf(out, ",%zu", end - start);
}

static void unified_write_line(struct buf *out, char sign, const struct unified_line *line)
{
    struct span text = line->node.key;
    buf_add_char(out, sign);
    buf_add_span(out, text);
    if (!span_ends(text, SPAN_LITERAL("\n")))
        buf_add_text(out, "\n\\ No newline at end of file\n");
}

static void unified_write_hunk(struct buf *out, const struct lines *from, const struct lines *to,
                               const struct hunk *hunk)
{
    buf_add_text(out, "@@");
    unified_write_range(out, '-', hunk->from, hunk->from_end);
    unified_write_range(out, '+', hunk->to, hunk->to_end);
    buf_add_text(out, " @@\n");
    size_t i = hunk->from, j = hunk->to;
    while (i < hunk->from_end || j < hunk->to_end) {
        if (i < hunk->from_end && from->changed[i]) {
            unified_write_line(out, '-', &from->items[i++]);
        } else if (j < hunk->to_end && to->changed[j]) {
            unified_write_line(out, '+', &to->items[j++]);
        } else {
            unified_write_line(out, ' ', &from->items[i++]);
            j++;
        }
    }
}

/* The next hunk behind HUNK; false when there is none. */
static bool unified_next_hunk(const struct lines *from, const struct lines *to, struct hunk *hunk)
{
    size_t i = hunk->from_end, j = hunk->to_end, kept = 0;
    while (i < from->count && !from->changed[i] && !to->changed[j])
        i++, j++;
    if (i == from->count && j == to->count)
        return false;
    size_t before = i < CONTEXT ? i : CONTEXT;
    *hunk = (struct hunk){.from = i - before, .to = j - before};
    while (kept <= JOINED && (i < from->count || j < to->count)) {
        if (from->changed[i] || to->changed[j]) {
            i += from->changed[i];
            j += to->changed[j];
            kept = 0;
        } else {
            i++, j++, kept++;
        }
    }
    size_t behind = kept > CONTEXT ? kept - CONTEXT : 0;
    hunk->from_end = i - behind;
    hunk->to_end = j - behind;
    return true;
}

static void unified_write_changes(struct buf *out, const struct unified_text *from,
                                  const struct lines *a, const struct unified_text *to,
                                  const struct lines *b)
{
    struct hunk hunk = {0};
    bool first = true;
    for (; unified_next_hunk(a, b, &hunk); first = false) {
        if (first) {
            buf_add_text(out, "--- ");
            buf_add_span(out, from->label);
            buf_add_text(out, "\n+++ ");
            buf_add_span(out, to->label);
            buf_add_char(out, '\n');
        }
        unified_write_hunk(out, a, b, &hunk);
    }
}

void unified_write(struct buf *out, const struct unified_text *from, const struct unified_text *to)
{
    CLEAN_UP(dict_clean_up) struct dict known = {0};
    CLEAN_UP(unified_lines_clean_up) struct lines a = {0}, b = {0};
    bool ok = dict_init(&known) && unified_lines_init(&a, from->text, &known) &&
              unified_lines_init(&b, to->text, &known);
    struct edits_row one = {a.numbers, a.count, a.changed}, other = {b.numbers, b.count, b.changed};
    if (ok && edits_find(&one, &other))
        unified_write_changes(out, from, &a, to, &b);
    else
        out->failed = true;
}
