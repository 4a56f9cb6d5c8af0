/* Sums by name, as many as there is room for. */
#include "fs/mount/usage.h"

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
    struct usage_sum sum;
};

struct program {
    uint64_t questions, cached, failed;
    struct usage_sum sum;
    struct second seconds[USAGE_MINUTE];
};

struct pace {
    uint64_t requests, failures, took_ms;
    uint64_t buckets[USAGE_BUCKETS];
};

struct usage {
    struct clock *clock;
    struct shelf uses;     /* struct usage_sum: table, index, pattern, program */
    struct shelf paces;    /* struct pace: operation, table */
    struct shelf programs; /* struct program */
};

static const int64_t bounds_ms[USAGE_BUCKETS] = {1,   2,   5,    10,   25,   50,    100,
                                                 250, 500, 1000, 2500, 5000, 10000, -1};

int64_t usage_bucket_bound_ms(size_t bucket)
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
static void *usage_sums_for(struct shelf *shelf, const struct span *words,
                            const struct span *others, size_t count)
{
    struct named *found = usage_shelf_find(shelf, words, count, shelf->most);
    if (!found)
        found = usage_shelf_find(shelf, others, count, shelf->most + OTHERS);
    return found ? found->sums : NULL;
}

struct usage *usage_new(struct clock *clock)
{
    struct usage *usage = calloc(1, sizeof *usage);
    if (!usage)
        return NULL;
    usage->clock = clock;
    bool ok = usage_shelf_init(&usage->uses, USAGE_MOST_USES, sizeof(struct usage_sum));
    ok = usage_shelf_init(&usage->paces, USAGE_MOST_LATENCIES, sizeof(struct pace)) && ok;
    ok = usage_shelf_init(&usage->programs, USAGE_MOST_PROGRAMS, sizeof(struct program)) && ok;
    if (ok)
        return usage;
    usage_destroy(usage);
    return NULL;
}

void usage_destroy(struct usage *usage)
{
    if (!usage)
        return;
    usage_shelf_clean_up(&usage->uses);
    usage_shelf_clean_up(&usage->paces);
    usage_shelf_clean_up(&usage->programs);
    free(usage);
}

/* Counting. */

static const struct span other = {USAGE_OTHER, sizeof USAGE_OTHER - 1};

static int64_t usage_this_second(const struct usage *usage)
{
    return usage->clock->now_ms(usage->clock) / 1000;
}

/* The program's sums of this second. */
static struct second *usage_second_of(const struct usage *usage, struct program *program)
{
    int64_t now = usage_this_second(usage);
    struct second *second = &program->seconds[now % USAGE_MINUTE];
    if (second->at != now)
        *second = (struct second){.at = now};
    return second;
}

static void usage_add(struct usage_sum *sum, const struct expense *expense)
{
    sum->requests += expense->requests;
    sum->failures += expense->end != EXPENSE_ANSWERED ? expense->requests : 0;
    spent_add(&sum->spent, &expense->spent);
}

static struct named *usage_program_of(struct usage *usage, struct span name)
{
    struct named *found = usage_shelf_find(&usage->programs, &name, 1, USAGE_MOST_PROGRAMS);
    return found ? found : usage_shelf_find(&usage->programs, &other, 1, USAGE_MOST_PROGRAMS + 1);
}

/* A share of a request that another's expense counts took no time of its own. */
static void usage_add_pace(struct usage *usage, const struct expense *expense)
{
    const struct span words[] = {span_text(expense->operation), span_text(expense->table)},
                      others[] = {words[0], other};
    struct pace *pace = expense->requests ? usage_sums_for(&usage->paces, words, others, 2) : NULL;
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

void usage_add_expense(struct usage *usage, struct span name, const struct expense *expense)
{
    struct named *named = usage_program_of(usage, name);
    struct span told = named ? named->words[0] : other;
    const struct span words[] = {span_text(expense->table), span_text(expense->index),
                                 span_text(expense->pattern), told},
                      others[] = {other, span_text(""), other, told};
    struct usage_sum *use = usage_sums_for(&usage->uses, words, others, 4);
    if (use)
        usage_add(use, expense);
    if (named) {
        struct program *program = named->sums;
        usage_add(&program->sum, expense);
        usage_add(&usage_second_of(usage, program)->sum, expense);
    }
    usage_add_pace(usage, expense);
}

void usage_add_request(struct usage *usage, struct span name, enum usage_outcome answer)
{
    struct named *named = usage_program_of(usage, name);
    struct program *program = named ? named->sums : NULL;
    if (!program)
        return;
    program->questions++;
    program->cached += answer == USAGE_FROM_MEMORY;
    program->failed += answer == USAGE_FAILED;
    struct second *second = usage_second_of(usage, program);
    second->questions++;
    second->cached += answer == USAGE_FROM_MEMORY;
}

/* Telling. */

bool usage_use(const struct usage *usage, size_t i, struct usage_use *out)
{
    if (i >= usage->uses.count)
        return false;
    const struct named *named = usage->uses.items[i];
    *out = (struct usage_use){named->words[0], named->words[1], named->words[2], named->words[3],
                              *(struct usage_sum *)named->sums};
    return true;
}

bool usage_latency(const struct usage *usage, size_t i, struct usage_latency *out)
{
    if (i >= usage->paces.count)
        return false;
    const struct named *named = usage->paces.items[i];
    const struct pace *pace = named->sums;
    *out = (struct usage_latency){.operation = named->words[0],
                                  .table = named->words[1],
                                  .requests = pace->requests,
                                  .failures = pace->failures,
                                  .took_ms = pace->took_ms};
    memcpy(out->buckets, pace->buckets, sizeof out->buckets);
    return true;
}

bool usage_program(const struct usage *usage, size_t i, struct usage_program *out)
{
    if (i >= usage->programs.count)
        return false;
    const struct named *named = usage->programs.items[i];
    const struct program *program = named->sums;
    *out = (struct usage_program){.name = named->words[0],
                                  .questions = program->questions,
                                  .cached = program->cached,
                                  .failed = program->failed,
                                  .sum = program->sum};
    for (size_t k = 0; k < USAGE_MINUTE; k++) {
        const struct second *second = &program->seconds[k];
        if (second->at <= usage_this_second(usage) - USAGE_MINUTE)
            continue;
        out->minute_questions += second->questions;
        out->minute_cached += second->cached;
        out->minute.requests += second->sum.requests;
        out->minute.failures += second->sum.failures;
        spent_add(&out->minute.spent, &second->sum.spent);
    }
    return true;
}
