#include "core/base/unified.h"

#include <stdlib.h>

#include "core/base/dict.h"

/* The differences of two rows. */

/* E. Myers, "An O(ND) Difference Algorithm and Its Variations": the shortest way from one corner of
 * a grid to the other. A step aside removes a line, a step down inserts one, and a diagonal step
 * keeps one. The search goes from both ends, in memory that grows with the rows alone.
 *
 * The search for the shortest way ends after MOST_STEPS from either end: rows of 100,000 lines with
 * hardly any in common would take minutes. The way is valid then, but longer than necessary. */
enum { MOST_STEPS = 2048 };

/* The things of a row that the other row has, too, and their places in the row. */
struct edits_kept {
    uint32_t *items; /* owned */
    size_t *at;      /* owned */
    size_t count;
    bool *changed; /* borrowed: of the row */
};

/* The number of a diagonal is the place in FROM minus the place in TO of its points. For each
 * diagonal the search stores the place in FROM that its ways have reached. */
struct edits_search {
    struct edits_kept from, to;
    long *storage;        /* owned */
    long *ahead, *behind; /* into STORAGE; diagonals may be negative */
};

struct box {
    long from, from_end, to, to_end;
};

struct point {
    long from, to;
};

static bool edits_is_same(const struct edits_search *search, long from, long to)
{
    return search->from.items[from] == search->to.items[to];
}

/* The place that ways from the start reach on DIAGONAL. */
static long edits_go_ahead(const struct edits_search *search, const struct box *box, long diagonal)
{
    long below = search->ahead[diagonal - 1], above = search->ahead[diagonal + 1];
    long at = below < above ? above : below + 1;
    while (at < box->from_end && at - diagonal < box->to_end &&
           edits_is_same(search, at, at - diagonal))
        at++;
    return at;
}

/* The place that ways from the end reach on DIAGONAL. */
static long edits_go_back(const struct edits_search *search, const struct box *box, long diagonal)
{
    long below = search->behind[diagonal - 1], above = search->behind[diagonal + 1];
    long at = below < above ? below : above - 1;
    while (at > box->from && at - diagonal > box->to &&
           edits_is_same(search, at - 1, at - diagonal - 1))
        at--;
    return at;
}

/* The diagonals that were reached so far: each step adds one at each side, within the box. */
struct edits_reach {
    long low, high;
};

/* WORST is a place that no way on a new diagonal can have reached. */
static void edits_widen(struct edits_reach *reach, const struct box *box, long *ways, long worst)
{
    if (reach->low > box->from - box->to_end)
        ways[--reach->low - 1] = worst;
    else
        reach->low++;
    if (reach->high < box->from_end - box->to)
        ways[++reach->high + 1] = worst;
    else
        reach->high--;
}

static bool edits_is_within(const struct edits_reach *reach, long diagonal)
{
    return reach->low <= diagonal && diagonal <= reach->high;
}

/* The end of the longest way from the start. */
static struct point edits_furthest(const struct edits_search *search, const struct box *box,
                                   const struct edits_reach *reach)
{
    struct point best = {box->from, box->to};
    for (long diagonal = reach->high; diagonal >= reach->low; diagonal -= 2) {
        long at = search->ahead[diagonal] < box->from_end ? search->ahead[diagonal] : box->from_end;
        if (at - diagonal > box->to_end)
            at = box->to_end + diagonal;
        if (at + at - diagonal > best.from + best.to)
            best = (struct point){at, at - diagonal};
    }
    return best;
}

/* A point of a shortest way through BOX, whose first things differ, and whose last things differ.
 */
static struct point edits_find_middle(const struct edits_search *search, const struct box *box)
{
    long start = box->from - box->to, end = box->from_end - box->to_end;
    struct edits_reach ahead = {start, start}, behind = {end, end};
    bool odd = (start - end) % 2 != 0;
    search->ahead[start] = box->from;
    search->behind[end] = box->from_end;
    for (int steps = 1;; steps++) {
        edits_widen(&ahead, box, search->ahead, -1);
        for (long at = ahead.high; at >= ahead.low; at -= 2) {
            search->ahead[at] = edits_go_ahead(search, box, at);
            if (odd && edits_is_within(&behind, at) && search->behind[at] <= search->ahead[at])
                return (struct point){search->ahead[at], search->ahead[at] - at};
        }
        edits_widen(&behind, box, search->behind, box->from_end + 1);
        for (long at = behind.high; at >= behind.low; at -= 2) {
            search->behind[at] = edits_go_back(search, box, at);
            if (!odd && edits_is_within(&ahead, at) && search->behind[at] <= search->ahead[at])
                return (struct point){search->behind[at], search->behind[at] - at};
        }
        if (steps == MOST_STEPS)
            return edits_furthest(search, box, &ahead);
    }
}

static void edits_mark(const struct edits_kept *kept, long from, long end)
{
    for (; from < end; from++)
        kept->changed[kept->at[from]] = true;
}

static void edits_compare(const struct edits_search *search, struct box box)
{
    for (;;) {
        for (; box.from < box.from_end && box.to < box.to_end &&
               edits_is_same(search, box.from, box.to);
             box.from++)
            box.to++;
        for (; box.from < box.from_end && box.to < box.to_end &&
               edits_is_same(search, box.from_end - 1, box.to_end - 1);
             box.from_end--)
            box.to_end--;
        if (box.from == box.from_end || box.to == box.to_end)
            break;
        struct point middle = edits_find_middle(search, &box);
        edits_compare(search, (struct box){box.from, middle.from, box.to, middle.to});
        box.from = middle.from;
        box.to = middle.to;
    }
    edits_mark(&search->from, box.from, box.from_end);
    edits_mark(&search->to, box.to, box.to_end);
}

static size_t edits_highest(const struct edits_row *row, size_t most)
{
    for (size_t i = 0; i < row->count; i++)
        most = row->items[i] > most ? row->items[i] : most;
    return most;
}

/* Things that the other row lacks are marked as changes, and not compared. */
static bool edits_store(struct edits_kept *kept, const struct edits_row *row,
                        const struct edits_row *other, size_t numbers)
{
    bool *known = calloc(numbers, sizeof *known);
    kept->changed = row->changed;
    kept->items = calloc(row->count + 1, sizeof *kept->items);
    kept->at = calloc(row->count + 1, sizeof *kept->at);
    bool ok = known && kept->items && kept->at;
    for (size_t i = 0; ok && i < other->count; i++)
        known[other->items[i]] = true;
    for (size_t i = 0; ok && i < row->count; i++) {
        row->changed[i] = !known[row->items[i]];
        kept->items[kept->count] = row->items[i];
        kept->at[kept->count] = i;
        kept->count += known[row->items[i]];
    }
    free(known);
    return ok;
}

static void edits_search_clean_up(struct edits_search *search)
{
    free(search->from.items);
    free(search->from.at);
    free(search->to.items);
    free(search->to.at);
    free(search->storage);
}

/* A run of changes of ONE. BESIDE is the place in OTHER of the thing that follows it in both. */
struct edits_run {
    const struct edits_row *one, *other;
    size_t start, end;
    size_t beside;
};

/* Moves the run up while the thing before it equals its last one; runs that meet become one. */
static void edits_slide_up(struct edits_run *run)
{
    const uint32_t *items = run->one->items;
    bool *changed = run->one->changed;
    while (run->start > 0 && items[run->start - 1] == items[run->end - 1]) {
        changed[--run->start] = true;
        changed[--run->end] = false;
        while (run->start > 0 && changed[run->start - 1])
            run->start--;
        do
            run->beside--;
        while (run->other->changed[run->beside]);
    }
}

/* Moves the run down likewise. PAIRED gets the last end beside a change of OTHER. */
static void edits_slide_down(struct edits_run *run, size_t *paired)
{
    const uint32_t *items = run->one->items;
    bool *changed = run->one->changed;
    while (run->end < run->one->count && items[run->start] == items[run->end]) {
        changed[run->start++] = false;
        changed[run->end++] = true;
        while (changed[run->end])
            run->end++;
        for (run->beside++; run->other->changed[run->beside]; run->beside++)
            *paired = run->end;
    }
}

static void edits_resolve_run(struct edits_run *run)
{
    size_t size, paired;
    do {
        size = run->end - run->start;
        edits_slide_up(run);
        bool beside_change = run->beside > 0 && run->other->changed[run->beside - 1];
        paired = beside_change ? run->end : run->one->count;
        edits_slide_down(run, &paired);
    } while (size != run->end - run->start);
    while (paired < run->end) {
        run->one->changed[--run->start] = true;
        run->one->changed[--run->end] = false;
        do
            run->beside--;
        while (run->other->changed[run->beside]);
    }
}

/* A change is easiest to read in its last place, or beside a change of the other row. */
static void edits_resolve(const struct edits_row *one, const struct edits_row *other)
{
    struct edits_run run = {.one = one, .other = other};
    for (;;) {
        for (; run.end < one->count && !one->changed[run.end]; run.end++) {
            while (other->changed[run.beside])
                run.beside++;
            run.beside++;
        }
        if (run.end == one->count)
            return;
        run.start = run.end;
        while (one->changed[run.end])
            run.end++;
        while (other->changed[run.beside])
            run.beside++;
        edits_resolve_run(&run);
    }
}

bool edits_find(struct edits_row *from, struct edits_row *to)
{
    CLEAN_UP(edits_search_clean_up) struct edits_search search = {0};
    size_t numbers = edits_highest(to, edits_highest(from, 0)) + 1;
    size_t diagonals = from->count + to->count + 3;
    search.storage = calloc(diagonals * 2, sizeof *search.storage);
    if (!search.storage || !edits_store(&search.from, from, to, numbers) ||
        !edits_store(&search.to, to, from, numbers))
        return false;
    search.ahead = search.storage + to->count + 1;
    search.behind = search.ahead + diagonals;
    edits_compare(&search, (struct box){.from_end = (long)search.from.count,
                                        .to_end = (long)search.to.count});
    edits_resolve(from, to);
    edits_resolve(to, from);
    return true;
}

/* Texts. */

/* Unchanged lines around changed ones. */
enum { CONTEXT = 3, JOINED = 2 * CONTEXT };

/* A line with its end: a last line without an end is another line. */
struct unified_line {
    struct dict_node node; /* its key is the line */
    uint32_t number;       /* equal for equal lines */
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

/* Numbers the lines in the order of their first occurrence. */
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

/* The lines of one hunk on both sides: changes with the lines between and around them. */
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

/* Advances to the next hunk; false at the end. */
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
