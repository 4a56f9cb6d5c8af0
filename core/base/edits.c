/* E. Myers, "An O(ND) Difference Algorithm and Its Variations": the shortest way from one corner of
 * a grid to the other, where a step aside takes out, a step down puts in, and a step across both
 * keeps what is the same. The way is looked for from both its ends, in memory that grows with the
 * rows alone. */
#include "core/base/edits.h"

#include <stdlib.h>

#include "core/base/span.h"

/* Beyond so many steps from either end no better way is looked for: rows of 100,000 lines that have
 * hardly any in common would take minutes. What is found then is right, and longer than need be. */
enum { MOST_STEPS = 2048 };

/* What is compared: those things of a row that the other has, too. Where they are in the row. */
struct edits_kept {
    uint32_t *items; /* owned */
    size_t *at;      /* owned */
    size_t count;
    bool *changed; /* borrowed: of the row */
};

/* Diagonals are numbered by how much further a point on them is in FROM than in TO; how far the
 * ways on each have come, in FROM. */
struct edits_search {
    struct edits_kept from, to;
    long *storage;        /* owned */
    long *ahead, *behind; /* in there, so that negative diagonals can be found */
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

/* How far a way leads from the start on DIAGONAL. */
static long edits_go_ahead(const struct edits_search *search, const struct box *box, long diagonal)
{
    long below = search->ahead[diagonal - 1], above = search->ahead[diagonal + 1];
    long at = below < above ? above : below + 1;
    while (at < box->from_end && at - diagonal < box->to_end &&
           edits_is_same(search, at, at - diagonal))
        at++;
    return at;
}

/* The same from the end. */
static long edits_go_back(const struct edits_search *search, const struct box *box, long diagonal)
{
    long below = search->behind[diagonal - 1], above = search->behind[diagonal + 1];
    long at = below < above ? below : above - 1;
    while (at > box->from && at - diagonal > box->to &&
           edits_is_same(search, at - 1, at - diagonal - 1))
        at--;
    return at;
}

/* Diagonals that were reached so far: with every step one more at each side, up to the box's. */
struct edits_reach {
    long low, high;
};

/* WORST is what no way on a diagonal that was not reached yet can lead to. */
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

/* Of the ways from the start, the one that has come furthest. */
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

/* A point of a shortest way through BOX, which neither begins nor ends with what is the same. */
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

/* What the other row has not is a change in any case: it is marked, and compared with nothing. */
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

/* A run of changes of ONE; BESIDE is where in OTHER stands what follows it in both. */
struct edits_run {
    const struct edits_row *one, *other;
    size_t start, end;
    size_t beside;
};

/* Up, as long as what stands before the run is what ends it; runs that meet become one. */
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

/* Down, likewise. The last end at which something changed in OTHER, too, goes to PAIRED. */
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

/* People read a change best where it ends, or beside what changed in the other row. */
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
