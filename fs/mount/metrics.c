/* OpenMetrics 1.0: families one after another, each with its type, unit and help; samples of
 * counters end in _total; "# EOF" at the end, so that nobody takes a part for the whole. */
#include "fs/mount/metrics.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/decimal.h"
#include "core/sources.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/limits.h"
#include "fs/mount/read_ahead.h"
#include "fs/mount/usage.h"

/* Where nothing is said: the table itself, or no table at all. */
struct label {
    const char *name;
    struct span value;
};

static void metrics_write_family(struct buf *out, const char *name, const char *type,
                                 const char *unit, const char *help)
{
    buf_printf(out, "# TYPE ddbfs_%s %s\n", name, type);
    if (unit[0])
        buf_printf(out, "# UNIT ddbfs_%s %s\n", name, unit);
    buf_printf(out, "# HELP ddbfs_%s %s\n", name, help);
}

static void metrics_write_value(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\n') {
            buf_add_text(out, "\\n");
            continue;
        }
        if (text.data[i] == '\\' || text.data[i] == '"')
            buf_add_char(out, '\\');
        buf_add_char(out, text.data[i]);
    }
}

/* LABELS end with one that has no name. */
static void metrics_write_sample(struct buf *out, const char *name, const struct label *labels,
                                 double value)
{
    buf_printf(out, "ddbfs_%s", name);
    for (size_t i = 0; labels[i].name; i++) {
        buf_printf(out, "%c%s=\"", i ? ',' : '{', labels[i].name);
        metrics_write_value(out, labels[i].value);
        buf_add_char(out, '"');
    }
    buf_add_text(out, labels[0].name ? "} " : " ");
    decimal_write(value, out);
    buf_add_char(out, '\n');
}

static void metrics_write_build(struct buf *out)
{
    const struct label labels[] = {{"version", SPAN_LITERAL(DDBFS_VERSION)}, {0}};
    metrics_write_family(out, "build", "info", "", "Which ddbfs this is.");
    metrics_write_sample(out, "build_info", labels, 1);
}

static void metrics_write_numbers(const struct mount *mount, struct buf *out)
{
    static const struct label none[] = {{0}};
    struct counter numbers[COUNTERS];
    metrics_fill_counters(mount, numbers);
    for (size_t i = 0; i < COUNTERS; i++) {
        const struct counter *number = &numbers[i];
        bool is_counter = number->kind == COUNTER_SUM;
        char name[64];
        snprintf(name, sizeof name, "%s%s", number->name, is_counter ? "_total" : "");
        metrics_write_family(out, number->name, is_counter ? "counter" : "gauge", number->unit,
                             number->help);
        metrics_write_sample(out, name, none, number->value);
    }
}

static void metrics_write_requests(const struct mount *mount, struct buf *out)
{
    struct source_stats source = sources_stats(mount->app->sources);
    metrics_write_family(out, "requests", "counter", "",
                         "Requests to the service, retries included.");
    for (size_t i = 0; i < source.operation_count; i++) {
        const struct label labels[] = {{"operation", span_text(source.operations[i].name)}, {0}};
        metrics_write_sample(out, "requests_total", labels, (double)source.operations[i].count);
    }
}

/* The buckets of a histogram hold those of the ones before, too. */
static void metrics_write_pace(struct buf *out, const struct usage_latency *pace)
{
    uint64_t count = 0;
    struct label labels[] = {
        {"operation", pace->operation}, {"table", pace->table}, {"le", {0}}, {0}};
    for (size_t i = 0; i < USAGE_BUCKETS; i++) {
        char bound[32] = "+Inf";
        if (usage_bucket_bound_ms(i) >= 0)
            snprintf(bound, sizeof bound, usage_bucket_bound_ms(i) % 1000 ? "%g" : "%.1f",
                     (double)usage_bucket_bound_ms(i) / 1000);
        count += pace->buckets[i];
        labels[2].value = span_text(bound);
        metrics_write_sample(out, "request_duration_seconds_bucket", labels, (double)count);
    }
    labels[2] = (struct label){0};
    metrics_write_sample(out, "request_duration_seconds_count", labels, (double)count);
    metrics_write_sample(out, "request_duration_seconds_sum", labels, (double)pace->took_ms / 1000);
}

static void metrics_write_paces(const struct mount *mount, struct buf *out)
{
    struct usage_latency pace;
    metrics_write_family(out, "request_duration_seconds", "histogram", "seconds",
                         "How long requests took, by operation and table, failed ones included.");
    for (size_t i = 0; usage_latency(mount->usage, i, &pace); i++)
        metrics_write_pace(out, &pace);
}

/* Families that tell the same things of each use. */
static void metrics_write_uses(const struct mount *mount, struct buf *out)
{
    static const struct {
        const char *name, *sample, *unit, *help;
    } families[] = {
        {"use_requests", "use_requests_total", "",
         "Requests, by table, index, the map's pattern and the calling program."},
        {"use_request_failures", "use_request_failures_total", "",
         "Of these, requests that failed, or that nobody waited for any more."},
        {"use_read_units", "use_read_units_total", "read_units",
         "Read units that responses state, by table, index, the map's pattern and the program."},
        {"use_read_units_at_most", "use_read_units_at_most_total", "",
         "The same, with the upper bound of requests whose responses state none."},
    };
    struct usage_use use;
    for (size_t family = 0; family < sizeof families / sizeof families[0]; family++) {
        metrics_write_family(out, families[family].name, "counter", families[family].unit,
                             families[family].help);
        for (size_t i = 0; usage_use(mount->usage, i, &use); i++) {
            const struct label labels[] = {{"table", use.table},
                                           {"index", use.index},
                                           {"pattern", use.pattern},
                                           {"program", use.program},
                                           {0}};
            const double values[] = {(double)use.sum.requests, (double)use.sum.failures,
                                     use.sum.spent.units,
                                     use.sum.spent.units + use.sum.spent.doubted};
            metrics_write_sample(out, families[family].sample, labels, values[family]);
        }
    }
}

static void metrics_write_questions(const struct mount *mount, struct buf *out)
{
    struct usage_program program;
    metrics_write_family(
        out, "questions", "counter", "",
        "Questions by program: the service was asked, memory sufficed, or it failed.");
    for (size_t i = 0; usage_program(mount->usage, i, &program); i++) {
        const struct {
            const char *answer;
            uint64_t count;
        } answers[] = {
            {"service", program.questions - program.cached - program.failed},
            {"cache", program.cached},
            {"error", program.failed},
        };
        for (size_t k = 0; k < sizeof answers / sizeof answers[0]; k++) {
            const struct label labels[] = {
                {"program", program.name}, {"answer", span_text(answers[k].answer)}, {0}};
            metrics_write_sample(out, "questions_total", labels, (double)answers[k].count);
        }
    }
}

void metrics_write(const struct mount *mount, struct buf *out)
{
    metrics_write_build(out);
    metrics_write_numbers(mount, out);
    metrics_write_requests(mount, out);
    metrics_write_paces(mount, out);
    metrics_write_uses(mount, out);
    metrics_write_questions(mount, out);
    buf_add_text(out, "# EOF\n");
}

static double counters_resident_bytes(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%*d %ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void counters_fill_source(const struct mount *mount, struct counter *out)
{
    struct source_stats source = sources_stats(mount->app->sources);
    const struct counter numbers[] = {
        {"request_failures", COUNTER_SUM, "", (double)source.failures,
         "Requests that were not answered with what was asked for."},
        {"consumed_capacity", COUNTER_SUM, "", source.spent.units,
         "Read units that responses state."},
        {"consumed_capacity_at_most", COUNTER_SUM, "", source.spent.units + source.spent.doubted,
         "The same, with the upper bound of requests whose responses state none."},
        {"hedged_requests", COUNTER_SUM, "", (double)source.hedged,
         "Requests that were sent again because their answer was late."},
        {"hedges_won", COUNTER_SUM, "", (double)source.hedges_won,
         "Those of them that were answered first."},
        {"listings_from_both_ends", COUNTER_SUM, "", (double)source.both_ends,
         "Queries that were read from both ends, since pages took long."},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void counters_fill_telling(const struct mount *mount, struct counter *out)
{
    const struct counter numbers[] = {
        {"errors", COUNTER_SUM, "", (double)journal_error_count(mount->journal),
         "Failures that were told in /.ddbfs/errors."},
        {"stale_answers", COUNTER_SUM, "", (double)journal_stale_count(mount->journal),
         "Answers in an outage that were older than they should be."},
        {"log_lines_dropped", COUNTER_SUM, "", (double)journal_dropped_count(mount->journal),
         "Lines that the system's log, or standard error, did not take."},
        {"ledger_lines_lost", COUNTER_SUM, "", (double)ledger_lost_count(mount->ledger),
         "Lines that the file of --ledger did not take."},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void counters_fill_limits(const struct mount *mount, struct counter *out)
{
    struct limits_stats limits = limits_stats(mount->limits);
    const struct counter numbers[] = {
        {"max_rcu", COUNTER_GAUGE, "", limits.per_second,
         "Read units that may be read in a second; 0: as many as it takes."},
        {"max_rcu_per_process", COUNTER_GAUGE, "", limits.per_process,
         "Read units that a program may read with what it starts; 0: as many as it takes."},
        {"refused_by_max_rcu", COUNTER_SUM, "", (double)limits.refused_by_second,
         "Reads that were refused because of all that was read in the last second."},
        {"refused_by_max_rcu_per_process", COUNTER_SUM, "", (double)limits.refused_by_process,
         "Reads that were refused because of what their program had read."},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void counters_fill_cache(const struct mount *mount, struct counter *out)
{
    struct cache_stats cache = cache_stats(mount->app->cache);
    const struct counter numbers[] = {
        {"cache_bytes", COUNTER_GAUGE, "bytes", (double)cache.bytes,
         "Memory that records and other answers take."},
        {"cache_entries", COUNTER_GAUGE, "", (double)cache.entries, "Answers that are kept."},
        {"cache_hits", COUNTER_SUM, "", (double)cache.hits,
         "Questions to the cache that were answered from it."},
        {"cache_misses", COUNTER_SUM, "", (double)cache.misses,
         "Questions to the cache that the service had to be asked for."},
        {"cache_joined", COUNTER_SUM, "", (double)cache.joined,
         "Questions to the cache for which the service was being asked already."},
        {"cache_evicted", COUNTER_SUM, "", (double)cache.evicted,
         "Answers that were let go for want of room."},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void counters_fill_memory(const struct mount *mount, struct counter *out)
{
    struct nodes_stats nodes = nodes_stats(mount->nodes);
    const struct counter numbers[] = {
        {"directories", COUNTER_GAUGE, "", (double)nodes.directories,
         "Directories that the kernel knows."},
        {"files", COUNTER_GAUGE, "", (double)nodes.files, "Files that the kernel knows."},
        {"content_bytes", COUNTER_GAUGE, "bytes", (double)mount->budget.used[BUDGET_CONTENTS],
         "Memory that contents of files take."},
        {"files_read_ahead", COUNTER_SUM, "", (double)read_ahead_delivered(mount->ahead),
         "Files that the kernel was given before it asked for them."},
        {"listing_bytes", COUNTER_GAUGE, "bytes", (double)mount->budget.used[BUDGET_LISTINGS],
         "Memory that listings take."},
        {"node_bytes", COUNTER_GAUGE, "bytes", (double)mount->budget.used[BUDGET_NODES],
         "Memory that inodes take."},
        {"maps", COUNTER_GAUGE, "", (double)map_count(),
         "Maps in use; more than one: something is of an old one."},
        {"models", COUNTER_GAUGE, "", (double)model_count(),
         "Models of tables in use, of the map's or any other."},
        {"resident_bytes", COUNTER_GAUGE, "bytes", counters_resident_bytes(),
         "Memory of the process that is not swapped out."},
    };
    memcpy(out, numbers, sizeof numbers);
}

void metrics_fill_counters(const struct mount *mount, struct counter out[COUNTERS])
{
    struct clock *clock = loop_clock(mount->app->loop);
    out[0] = (struct counter){"uptime_seconds", COUNTER_GAUGE, "seconds",
                              (double)(clock->now_ms(clock) - mount->started_ms) / 1000,
                              "How long the mount has been there."};
    counters_fill_source(mount, out + 1);
    counters_fill_telling(mount, out + 7);
    counters_fill_cache(mount, out + 11);
    counters_fill_memory(mount, out + 17);
    counters_fill_limits(mount, out + 26);
}
