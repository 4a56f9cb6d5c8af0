#include "fs/mount/control.h"

#include <stdio.h>
#include <unistd.h>

#include "core/sources.h"
#include "fs/mount/ahead.h"
#include "fs/mount/journal.h"
#include "fs/mount/recent.h"

struct number {
    const char *name; /* in stats.json; "ddbfs_" before it in metrics */
    const char *type; /* of Prometheus */
    double value;
};

enum { NUMBERS = 21 };

static double resident_bytes(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%*d %ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void fill_numbers(const struct mount *mount, struct number out[NUMBERS])
{
    struct clock *clock = loop_clock(mount->app->loop);
    struct cache_stats cache = cache_stats(mount->app->cache);
    struct nodes_stats nodes = nodes_stats(mount->nodes);
    struct source_stats source = sources_stats(mount->app->sources);
    const struct number numbers[NUMBERS] = {
        {"uptime_seconds", "gauge", (double)(clock->now_ms(clock) - mount->started_ms) / 1000},
        {"request_failures", "counter", (double)source.failures},
        {"consumed_capacity", "counter", source.capacity},
        {"errors", "counter", (double)journal_error_count(mount->journal)},
        {"stale_answers", "counter", (double)journal_stale_count(mount->journal)},
        {"log_lines_dropped", "counter", (double)journal_dropped_count(mount->journal)},
        {"cache_bytes", "gauge", (double)cache.bytes},
        {"cache_entries", "gauge", (double)cache.entries},
        {"cache_hits", "counter", (double)cache.hits},
        {"cache_misses", "counter", (double)cache.misses},
        {"cache_joined", "counter", (double)cache.joined},
        {"cache_evicted", "counter", (double)cache.evicted},
        {"directories", "gauge", (double)nodes.directories},
        {"files", "gauge", (double)nodes.files},
        {"content_bytes", "gauge", (double)mount->budget.used[BUDGET_CONTENTS]},
        {"files_read_ahead", "counter", (double)ahead_given(mount->ahead)},
        {"listing_bytes", "gauge", (double)mount->budget.used[BUDGET_LISTINGS]},
        {"node_bytes", "gauge", (double)mount->budget.used[BUDGET_NODES]},
        {"maps", "gauge", (double)map_count()},     /* more than one: something is of an old one */
        {"models", "gauge", (double)model_count()}, /* a table's, of the map's or any other */
        {"resident_bytes", "gauge", resident_bytes()},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void write_stats(const struct mount *mount, struct buf *out)
{
    struct number numbers[NUMBERS];
    struct source_stats source = sources_stats(mount->app->sources);
    fill_numbers(mount, numbers);
    buf_printf(out, "{\n  \"version\": \"%s\",\n  \"requests\": {", DDBFS_VERSION);
    for (size_t op = 0; op < source.operation_count; op++)
        buf_printf(out, "%s\"%s\": %llu", op ? ", " : "", source.operations[op].name,
                   (unsigned long long)source.operations[op].count);
    buf_add_char(out, '}');
    for (size_t i = 0; i < NUMBERS; i++)
        buf_printf(out, ",\n  \"%s\": %.15g", numbers[i].name, numbers[i].value);
    buf_add_text(out, "\n}\n");
}

static void write_metrics(const struct mount *mount, struct buf *out)
{
    struct number numbers[NUMBERS];
    struct source_stats source = sources_stats(mount->app->sources);
    fill_numbers(mount, numbers);
    buf_add_text(out, "# TYPE ddbfs_requests counter\n");
    for (size_t op = 0; op < source.operation_count; op++)
        buf_printf(out, "ddbfs_requests{operation=\"%s\"} %llu\n", source.operations[op].name,
                   (unsigned long long)source.operations[op].count);
    for (size_t i = 0; i < NUMBERS; i++)
        buf_printf(out, "# TYPE ddbfs_%s %s\nddbfs_%s %.15g\n", numbers[i].name, numbers[i].type,
                   numbers[i].name, numbers[i].value);
}

/* The map as it was read, comments and all. */
static void write_map(const struct mount *mount, struct buf *out)
{
    buf_add_span(out, span_text(mount->app->map->text));
}

static void write_errors(const struct mount *mount, struct buf *out)
{
    journal_show_errors(mount->journal, out);
}

static void write_log(const struct mount *mount, struct buf *out)
{
    journal_show_lines(mount->journal, out);
}

static void write_recent(const struct mount *mount, struct buf *out)
{
    recent_write(mount->recent, out);
}

const char *const control_names[] = {"errors", "log",        "map.json", "metrics",
                                     "recent", "stats.json", NULL};

bool control_write(const struct mount *mount, struct span name, struct buf *out)
{
    static void (*const writers[])(const struct mount *, struct buf *) = {
        write_errors, write_log, write_map, write_metrics, write_recent, write_stats};
    for (size_t i = 0; control_names[i]; i++) {
        if (!span_is(name, control_names[i]))
            continue;
        writers[i](mount, out);
        return true;
    }
    return false;
}
