#include "fs/mount/usage.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dict.h"

/* A sum whose name consists of several words. */
struct usage_entry {
    struct dict_node node; /* first, so that a node is an entry */
    void *sum;             /* owned */
    struct span words[5];  /* in TEXT */
    char text[];
};

struct usage_table {
    struct dict by_name;
    struct usage_entry **entries; /* owned, and each of them */
    size_t count, most;
    size_t sum_size;
};

struct usage_second {
    int64_t at; /* on the monotonic clock */
    uint64_t questions, cached;
    struct usage_sum sum;
};

struct usage_program_sum {
    uint64_t questions, cached, failed;
    struct usage_sum sum;
    struct usage_second seconds[USAGE_MINUTE];
};

struct usage_throttle_sum {
    uint64_t requests;
    struct {
        int64_t at; /* on the monotonic clock */
        uint64_t requests;
    } seconds[USAGE_MINUTE];
};

struct usage_duration_sum {
    uint64_t requests, failures, took_ms;
    uint64_t buckets[USAGE_BUCKETS];
};

struct usage {
    struct clock *clock;
    struct usage_table patterns;  /* struct usage_sum: table, index, pattern, program */
    struct usage_table durations; /* struct usage_duration_sum: operation, table */
    struct usage_table programs;  /* struct usage_program_sum */
    struct usage_table throttles; /* struct usage_throttle_sum: reason, resource, table, index,
                                   * program */
};

static const int64_t bounds_ms[USAGE_BUCKETS] = {1,   2,   5,    10,   25,   50,    100,
                                                 250, 500, 1000, 2500, 5000, 10000, -1};

static const struct span other = {USAGE_OTHER, sizeof USAGE_OTHER - 1};

int64_t usage_bucket_bound_ms(size_t bucket)
{
    return bounds_ms[bucket];
}

/* The room of a table beyond its most entries, for the entries that add up the others. */
enum { OTHERS = 80 };

static bool usage_table_init(struct usage_table *table, size_t most, size_t sum_size)
{
    table->most = most;
    table->sum_size = sum_size;
    table->entries = calloc(most + OTHERS, sizeof(struct usage_entry *));
    return dict_init(&table->by_name) && table->entries;
}

static void usage_table_clean_up(struct usage_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->entries[i]->sum);
        free(table->entries[i]);
    }
    free(table->entries);
    dict_clean_up(&table->by_name);
}

/* The entry of that name, or a new one while there are fewer than MOST; NULL when there are not, or
 * memory ran out. */
static struct usage_entry *usage_table_find(struct usage_table *table, const struct span *words,
                                            size_t count, size_t most)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    for (size_t i = 0; i < count; i++) {
        buf_add_span(&name, words[i]);
        buf_add_char(&name, '\0');
    }
    if (name.failed)
        return NULL;
    struct usage_entry *entry = (struct usage_entry *)dict_find(&table->by_name, buf_span(&name));
    if (entry || table->count >= most)
        return entry;
    entry = calloc(1, sizeof *entry + name.size);
    if (entry)
        entry->sum = calloc(1, table->sum_size);
    if (!entry || !entry->sum) {
        free(entry);
        return NULL;
    }
    memcpy(entry->text, name.data, name.size);
    entry->node.key = span_of(entry->text, name.size);
    const char *at = entry->text;
    for (size_t i = 0; i < count; i++) {
        entry->words[i] = span_of(at, words[i].size);
        at += words[i].size + 1;
    }
    dict_add(&table->by_name, &entry->node);
    table->entries[table->count++] = entry;
    return entry;
}

/* The sum of that name, or else the one named OTHERS; NULL when memory ran out. */
static void *usage_table_sum(struct usage_table *table, const struct span *words,
                             const struct span *others, size_t count)
{
    struct usage_entry *found = usage_table_find(table, words, count, table->most);
    if (!found)
        found = usage_table_find(table, others, count, table->most + OTHERS);
    return found ? found->sum : NULL;
}

struct usage *usage_new(struct clock *clock)
{
    struct usage *usage = calloc(1, sizeof *usage);
    if (!usage)
        return NULL;
    usage->clock = clock;
    bool ok = usage_table_init(&usage->patterns, USAGE_MOST_PATTERNS, sizeof(struct usage_sum));
    ok = usage_table_init(&usage->durations, USAGE_MOST_DURATIONS,
                          sizeof(struct usage_duration_sum)) &&
         ok;
    ok =
        usage_table_init(&usage->programs, USAGE_MOST_PROGRAMS, sizeof(struct usage_program_sum)) &&
        ok;
    ok = usage_table_init(&usage->throttles, USAGE_MOST_THROTTLES,
                          sizeof(struct usage_throttle_sum)) &&
         ok;
    if (ok)
        return usage;
    usage_destroy(usage);
    return NULL;
}

void usage_destroy(struct usage *usage)
{
    if (!usage)
        return;
    usage_table_clean_up(&usage->patterns);
    usage_table_clean_up(&usage->durations);
    usage_table_clean_up(&usage->programs);
    usage_table_clean_up(&usage->throttles);
    free(usage);
}

static struct usage_second *usage_current_second(const struct usage *usage,
                                                 struct usage_program_sum *program)
{
    int64_t now = usage->clock->now_ms(usage->clock) / 1000;
    struct usage_second *second = &program->seconds[now % USAGE_MINUTE];
    if (second->at != now)
        *second = (struct usage_second){.at = now};
    return second;
}

static void usage_sum_add(struct usage_sum *sum, const struct expense *expense)
{
    sum->requests += expense->requests;
    sum->failures += expense->end != EXPENSE_ANSWERED ? expense->requests : 0;
    spent_add(&sum->spent, &expense->spent);
}

static struct usage_entry *usage_find_program(struct usage *usage, struct span program)
{
    struct usage_entry *found =
        usage_table_find(&usage->programs, &program, 1, USAGE_MOST_PROGRAMS);
    return found ? found : usage_table_find(&usage->programs, &other, 1, USAGE_MOST_PROGRAMS + 1);
}

/* A share of a request that another expense counts has no duration. */
static void usage_add_duration(struct usage *usage, const struct expense *expense)
{
    const struct span words[] = {span_text(expense->operation), span_text(expense->table)},
                      others[] = {words[0], other};
    struct usage_duration_sum *sum =
        expense->requests ? usage_table_sum(&usage->durations, words, others, 2) : NULL;
    size_t bucket = 0;
    if (!sum)
        return;
    while (bounds_ms[bucket] >= 0 && expense->took_ms > bounds_ms[bucket])
        bucket++;
    sum->requests += expense->requests;
    sum->failures += expense->end != EXPENSE_ANSWERED ? expense->requests : 0;
    sum->took_ms += (uint64_t)(expense->took_ms > 0 ? expense->took_ms : 0);
    sum->buckets[bucket] += expense->requests;
}

/* A request counts for each of its reasons; a share of a request that another expense counts does
 * not count. The table and the index are those of the ARN, or else of the request. */
static void usage_add_throttles(struct usage *usage, struct span program,
                                const struct expense *expense)
{
    int64_t now = usage->clock->now_ms(usage->clock) / 1000;
    for (size_t i = 0; expense->requests > 0 && i < expense->throttle_count; i++) {
        const struct throttle *throttle = &expense->throttles[i];
        struct span table = throttle_table(throttle), index = throttle_index(throttle);
        const struct span none = span_text("");
        const struct span words[] = {span_text(throttle->reason), span_text(throttle->resource),
                                     table.size ? table : span_text(expense->table),
                                     table.size ? index : span_text(expense->index), program},
                          others[] = {other, none, other, none, other};
        struct usage_throttle_sum *sum = usage_table_sum(&usage->throttles, words, others, 5);
        if (!sum)
            continue;
        sum->requests += expense->requests;
        if (sum->seconds[now % USAGE_MINUTE].at != now)
            sum->seconds[now % USAGE_MINUTE].requests = 0;
        sum->seconds[now % USAGE_MINUTE].at = now;
        sum->seconds[now % USAGE_MINUTE].requests += expense->requests;
    }
}

void usage_add_expense(struct usage *usage, struct span program, const struct expense *expense)
{
    struct usage_entry *entry = usage_find_program(usage, program);
    struct span name = entry ? entry->words[0] : other;
    const struct span words[] = {span_text(expense->table), span_text(expense->index),
                                 span_text(expense->pattern), name},
                      others[] = {other, span_text(""), other, name};
    struct usage_sum *sum = usage_table_sum(&usage->patterns, words, others, 4);
    if (sum)
        usage_sum_add(sum, expense);
    if (entry) {
        struct usage_program_sum *own = entry->sum;
        usage_sum_add(&own->sum, expense);
        usage_sum_add(&usage_current_second(usage, own)->sum, expense);
    }
    usage_add_duration(usage, expense);
    usage_add_throttles(usage, name, expense);
}

void usage_add_request(struct usage *usage, struct span program, enum usage_outcome outcome)
{
    struct usage_entry *entry = usage_find_program(usage, program);
    if (!entry)
        return;
    struct usage_program_sum *sum = entry->sum;
    struct usage_second *second = usage_current_second(usage, sum);
    sum->questions++;
    sum->cached += outcome == USAGE_FROM_MEMORY;
    sum->failed += outcome == USAGE_FAILED;
    second->questions++;
    second->cached += outcome == USAGE_FROM_MEMORY;
}

bool usage_pattern_at(const struct usage *usage, size_t i, struct usage_pattern *out)
{
    if (i >= usage->patterns.count)
        return false;
    const struct usage_entry *entry = usage->patterns.entries[i];
    *out = (struct usage_pattern){entry->words[0], entry->words[1], entry->words[2],
                                  entry->words[3], *(struct usage_sum *)entry->sum};
    return true;
}

bool usage_duration_at(const struct usage *usage, size_t i, struct usage_duration *out)
{
    if (i >= usage->durations.count)
        return false;
    const struct usage_entry *entry = usage->durations.entries[i];
    const struct usage_duration_sum *sum = entry->sum;
    *out = (struct usage_duration){.operation = entry->words[0],
                                   .table = entry->words[1],
                                   .requests = sum->requests,
                                   .failures = sum->failures,
                                   .took_ms = sum->took_ms};
    memcpy(out->buckets, sum->buckets, sizeof out->buckets);
    return true;
}

bool usage_throttle_at(const struct usage *usage, size_t i, struct usage_throttle *out)
{
    if (i >= usage->throttles.count)
        return false;
    const struct usage_entry *entry = usage->throttles.entries[i];
    const struct usage_throttle_sum *sum = entry->sum;
    int64_t now = usage->clock->now_ms(usage->clock) / 1000;
    *out = (struct usage_throttle){.reason = entry->words[0],
                                   .resource = entry->words[1],
                                   .table = entry->words[2],
                                   .index = entry->words[3],
                                   .program = entry->words[4],
                                   .requests = sum->requests};
    for (size_t k = 0; k < USAGE_MINUTE; k++)
        if (sum->seconds[k].at > now - USAGE_MINUTE)
            out->minute += sum->seconds[k].requests;
    return true;
}

bool usage_program_at(const struct usage *usage, size_t i, struct usage_program *out)
{
    if (i >= usage->programs.count)
        return false;
    const struct usage_entry *entry = usage->programs.entries[i];
    const struct usage_program_sum *sum = entry->sum;
    *out = (struct usage_program){.name = entry->words[0],
                                  .questions = sum->questions,
                                  .cached = sum->cached,
                                  .failed = sum->failed,
                                  .sum = sum->sum};
    int64_t now = usage->clock->now_ms(usage->clock) / 1000;
    for (size_t k = 0; k < USAGE_MINUTE; k++) {
        const struct usage_second *second = &sum->seconds[k];
        if (second->at <= now - USAGE_MINUTE)
            continue;
        out->minute_questions += second->questions;
        out->minute_cached += second->cached;
        out->minute.requests += second->sum.requests;
        out->minute.failures += second->sum.failures;
        spent_add(&out->minute.spent, &second->sum.spent);
    }
    return true;
}
