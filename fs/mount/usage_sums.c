/* Sums by name, as many as there is room for. */
#include "fs/mount/usage_sums.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dict.h"

/* Whatever has a name of several words: found by them, and told in the order in which they came. */
struct named {
    struct dict_node node; /* first, so that a node is a named */
    void *sums;            /* owned */
    struct span words[4];  /* in TEXT */
    char text[];
};

struct shelf {
    struct dict by_name;
    struct named **items; /* owned, with what they point to */
    size_t count, most;
    size_t sums_size; /* bytes of each one's SUMS */
};

struct second {
    int64_t at; /* which second it is, on the clock that never jumps */
    uint64_t questions, cached;
    struct usage_sums_sum sum;
};

struct program {
    uint64_t questions, cached, failed;
    struct usage_sums_sum sum;
    struct second seconds[USAGE_SUMS_MINUTE];
};

struct pace {
    uint64_t requests, failures, took_ms;
    uint64_t buckets[USAGE_SUMS_BUCKETS];
};

struct usage_sums {
    struct clock *clock;
    struct shelf uses;     /* struct usage_sums_sum: table, index, pattern, program */
    struct shelf paces;    /* struct pace: operation, table */
    struct shelf programs; /* struct program */
};

static const int64_t bounds_ms[USAGE_SUMS_BUCKETS] = {1,   2,   5,    10,   25,   50,    100,
                                                      250, 500, 1000, 2500, 5000, 10000, -1};

int64_t usage_sums_bound_ms(size_t bucket)
{
    return bounds_ms[bucket];
}

/* Shelves. There is room for some more than MOST, for those that stand for others. */
enum { OTHERS = 80 };

static bool usage_shelf_init(struct shelf *shelf, size_t most, size_t sums_size)
{
    shelf->most = most;
    shelf->sums_size = sums_size;
    shelf->items = calloc(most + OTHERS, sizeof *shelf->items);
    return dict_init(&shelf->by_name) && shelf->items;
}

static void usage_shelf_clean_up(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++) {
        free(shelf->items[i]->sums);
        free(shelf->items[i]);
    }
    free(shelf->items);
    dict_clean_up(&shelf->by_name);
}

static void usage_write_name(const struct span *words, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        buf_add_span(out, words[i]);
        buf_add_char(out, '\0');
    }
}

static struct named *usage_shelf_add(struct shelf *shelf, struct span name,
                                     const struct span *words, size_t count)
{
    struct named *named = calloc(1, sizeof *named + name.size);
    if (named)
        named->sums = calloc(1, shelf->sums_size);
    if (!named || !named->sums) {
        free(named);
        return NULL;
    }
    memcpy(named->text, name.data, name.size);
    named->node.key = span_of(named->text, name.size);
    const char *at = named->text;
    for (size_t i = 0; i < count; i++) {
        named->words[i] = span_of(at, words[i].size);
        at += words[i].size + 1;
    }
    dict_add(&shelf->by_name, &named->node);
    shelf->items[shelf->count++] = named;
    return named;
}

/* What has that name. A new one is added while there are fewer than MOST; NULL when there are not,
 * or memory ran out. */
static struct named *usage_shelf_find(struct shelf *shelf, const struct span *words, size_t count,
                                      size_t most)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    usage_write_name(words, count, &name);
    if (name.failed)
        return NULL;
    struct named *found = (struct named *)dict_find(&shelf->by_name, buf_span(&name));
    if (found || shelf->count >= most)
        return found;
    return usage_shelf_add(shelf, buf_span(&name), words, count);
}

/* The same, or else what stands for OTHERS. */
static void *usage_sums_of(struct shelf *shelf, const struct span *words, const struct span *others,
                           size_t count)
{
    struct named *found = usage_shelf_find(shelf, words, count, shelf->most);
    if (!found)
        found = usage_shelf_find(shelf, others, count, shelf->most + OTHERS);
    return found ? found->sums : NULL;
}

struct usage_sums *usage_sums_new(struct clock *clock)
{
    struct usage_sums *tally = calloc(1, sizeof *tally);
    if (!tally)
        return NULL;
    tally->clock = clock;
    bool ok = usage_shelf_init(&tally->uses, USAGE_SUMS_MOST_USES, sizeof(struct usage_sums_sum));
    ok = usage_shelf_init(&tally->paces, USAGE_SUMS_MOST_PACES, sizeof(struct pace)) && ok;
    ok = usage_shelf_init(&tally->programs, USAGE_SUMS_MOST_PROGRAMS, sizeof(struct program)) && ok;
    if (ok)
        return tally;
    usage_sums_destroy(tally);
    return NULL;
}

void usage_sums_destroy(struct usage_sums *tally)
{
    if (!tally)
        return;
    usage_shelf_clean_up(&tally->uses);
    usage_shelf_clean_up(&tally->paces);
    usage_shelf_clean_up(&tally->programs);
    free(tally);
}

/* Counting. */

static const struct span other = {USAGE_SUMS_OTHER, sizeof USAGE_SUMS_OTHER - 1};

static int64_t usage_this_second(const struct usage_sums *tally)
{
    return tally->clock->now_ms(tally->clock) / 1000;
}

/* The program's sums of this second. */
static struct second *usage_second_of(const struct usage_sums *tally, struct program *program)
{
    int64_t now = usage_this_second(tally);
    struct second *second = &program->seconds[now % USAGE_SUMS_MINUTE];
    if (second->at != now)
        *second = (struct second){.at = now};
    return second;
}

static void usage_add(struct usage_sums_sum *sum, const struct expense *expense)
{
    sum->requests += expense->requests;
    sum->failures += expense->end != EXPENSE_ANSWERED ? expense->requests : 0;
    spent_add(&sum->spent, &expense->spent);
}

static struct named *usage_program_of(struct usage_sums *tally, struct span name)
{
    struct named *found = usage_shelf_find(&tally->programs, &name, 1, USAGE_SUMS_MOST_PROGRAMS);
    return found ? found
                 : usage_shelf_find(&tally->programs, &other, 1, USAGE_SUMS_MOST_PROGRAMS + 1);
}

/* A share of a request that another's expense counts took no time of its own. */
static void usage_add_pace(struct usage_sums *tally, const struct expense *expense)
{
    const struct span words[] = {span_text(expense->operation), span_text(expense->table)},
                      others[] = {words[0], other};
    struct pace *pace = expense->requests ? usage_sums_of(&tally->paces, words, others, 2) : NULL;
    size_t bucket = 0;
    if (!pace)
        return;
    while (bounds_ms[bucket] >= 0 && expense->took_ms > bounds_ms[bucket])
        bucket++;
    pace->requests += expense->requests;
    pace->failures += expense->end != EXPENSE_ANSWERED ? expense->requests : 0;
    pace->took_ms += (uint64_t)(expense->took_ms > 0 ? expense->took_ms : 0);
    pace->buckets[bucket] += expense->requests;
}

void usage_sums_expense(struct usage_sums *tally, struct span name, const struct expense *expense)
{
    struct named *named = usage_program_of(tally, name);
    struct span told = named ? named->words[0] : other;
    const struct span words[] = {span_text(expense->table), span_text(expense->index),
                                 span_text(expense->pattern), told},
                      others[] = {other, span_text(""), other, told};
    struct usage_sums_sum *use = usage_sums_of(&tally->uses, words, others, 4);
    if (use)
        usage_add(use, expense);
    if (named) {
        struct program *program = named->sums;
        usage_add(&program->sum, expense);
        usage_add(&usage_second_of(tally, program)->sum, expense);
    }
    usage_add_pace(tally, expense);
}

void usage_sums_question(struct usage_sums *tally, struct span name, enum usage_sums_answer answer)
{
    struct named *named = usage_program_of(tally, name);
    struct program *program = named ? named->sums : NULL;
    if (!program)
        return;
    program->questions++;
    program->cached += answer == USAGE_SUMS_CACHED;
    program->failed += answer == USAGE_SUMS_FAILED;
    struct second *second = usage_second_of(tally, program);
    second->questions++;
    second->cached += answer == USAGE_SUMS_CACHED;
}

/* Telling. */

bool usage_sums_use(const struct usage_sums *tally, size_t i, struct usage_sums_use *out)
{
    if (i >= tally->uses.count)
        return false;
    const struct named *named = tally->uses.items[i];
    *out = (struct usage_sums_use){named->words[0], named->words[1], named->words[2],
                                   named->words[3], *(struct usage_sums_sum *)named->sums};
    return true;
}

bool usage_sums_pace(const struct usage_sums *tally, size_t i, struct usage_sums_pace *out)
{
    if (i >= tally->paces.count)
        return false;
    const struct named *named = tally->paces.items[i];
    const struct pace *pace = named->sums;
    *out = (struct usage_sums_pace){.operation = named->words[0],
                                    .table = named->words[1],
                                    .requests = pace->requests,
                                    .failures = pace->failures,
                                    .took_ms = pace->took_ms};
    memcpy(out->buckets, pace->buckets, sizeof out->buckets);
    return true;
}

bool usage_sums_program(const struct usage_sums *tally, size_t i, struct usage_sums_program *out)
{
    if (i >= tally->programs.count)
        return false;
    const struct named *named = tally->programs.items[i];
    const struct program *program = named->sums;
    *out = (struct usage_sums_program){.name = named->words[0],
                                       .questions = program->questions,
                                       .cached = program->cached,
                                       .failed = program->failed,
                                       .sum = program->sum};
    for (size_t k = 0; k < USAGE_SUMS_MINUTE; k++) {
        const struct second *second = &program->seconds[k];
        if (second->at <= usage_this_second(tally) - USAGE_SUMS_MINUTE)
            continue;
        out->minute_questions += second->questions;
        out->minute_cached += second->cached;
        out->minute.requests += second->sum.requests;
        out->minute.failures += second->sum.failures;
        spent_add(&out->minute.spent, &second->sum.spent);
    }
    return true;
}
