/* OpenMetrics 1.0: families one after another, each with its type, unit and help; samples of
 * counters end in _total; "# EOF" at the end, so that a part is not taken for the whole. */
#include "fs/mount/metrics.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/quantity.h"
#include "core/base/spool.h"
#include "core/sources.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/limits.h"
#include "fs/mount/read_ahead.h"
#include "fs/mount/usage.h"

static double metrics_resident_bytes(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%*d %ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* NOLINTNEXTLINE(readability-function-size): one table */
void metrics_read_counters(const struct mount *mount, struct counter out[COUNTERS])
{
    struct source_stats source = sources_stats(mount->app->sources);
    struct limits_stats limits = limits_stats(mount->limits);
    struct cache_stats cache = cache_stats(mount->app->cache);
    struct nodes_stats nodes = nodes_stats(mount->nodes);
    const size_t *memory = mount->budget.used;
    struct mallinfo2 heap = mallinfo2();
    const struct counter counters[COUNTERS] = {
        {"uptime_seconds", COUNTER_GAUGE, "seconds",
         (double)(mount_now_ms(mount) - mount->started_ms) / 1000, "Age of the mount."},
        {"request_failures", COUNTER_TOTAL, "", (double)source.failures,
         "Requests to the service without a usable response."},
        {"throttled_requests", COUNTER_TOTAL, "", (double)source.throttled,
         "Requests that the service throttled, also those whose retry succeeded."},
        {"consumed_capacity", COUNTER_TOTAL, "", source.spent.units, "RCU stated by responses."},
        {"consumed_capacity_at_most", COUNTER_TOTAL, "", source.spent.units + source.spent.doubted,
         "The same, plus the upper bound of requests without a statement."},
        {"consumed_search_bytes", COUNTER_TOTAL, "", source.spent.search_bytes,
         "Bytes of searches stated by responses; they consume no RCU."},
        {"unstated_searches", COUNTER_TOTAL, "", (double)source.spent.unstated_searches,
         "Searches whose bytes no response stated."},
        {"hedged_requests", COUNTER_TOTAL, "", (double)source.hedged,
         "Requests that were sent a second time because the response was late."},
        {"hedges_won", COUNTER_TOTAL, "", (double)source.hedges_won,
         "Second requests that got the first response."},
        {"parallel_listings", COUNTER_TOTAL, "", (double)source.parallel,
         "Queries that were read in several parts at the same time because pages were slow."},
        {"live_tables", COUNTER_GAUGE, "", (double)source.live.tables,
         "Tables whose streams are followed (--live)."},
        {"live_tables_late", COUNTER_GAUGE, "", (double)source.live.late,
         "Of these, tables that begin, lag or are lost: their results are used for their ttl."},
        {"live_lag_seconds", COUNTER_GAUGE, "seconds", (double)source.live.lag_ms / 1000,
         "The greatest lag of a stream."},
        {"live_bytes", COUNTER_GAUGE, "bytes", (double)source.live.bytes,
         "Memory of results that are kept up to date by streams."},
        {"live_reads", COUNTER_TOTAL, "", (double)source.live.reused,
         "Reads that were served by these results."},
        {"live_changes", COUNTER_TOTAL, "", (double)source.live.changes,
         "Changes that streams have reported."},
        {"live_gaps", COUNTER_TOTAL, "", (double)source.live.gaps,
         "Gaps in streams; each drops the results of a table."},
        {"errors", COUNTER_TOTAL, "", (double)journal_error_count(mount->journal),
         "Failures reported in /.ddbfs/errors."},
        {"stale_answers", COUNTER_TOTAL, "", (double)journal_stale_count(mount->journal),
         "Replies during an outage with data past its TTL."},
        {"log_lines_dropped", COUNTER_TOTAL, "", (double)journal_dropped_count(mount->journal),
         "Lines that the system log, or standard error, did not accept."},
        {"ledger_lines_lost", COUNTER_TOTAL, "", (double)ledger_lost_count(mount->ledger),
         "Lines that the file of --ledger did not accept."},
        {"cache_bytes", COUNTER_GAUGE, "bytes", (double)cache.bytes,
         "Memory of items and other responses in the cache."},
        {"cache_entries", COUNTER_GAUGE, "", (double)cache.entries, "Responses in the cache."},
        {"cache_hits", COUNTER_TOTAL, "", (double)cache.hits, "Look-ups served by the cache."},
        {"cache_misses", COUNTER_TOTAL, "", (double)cache.misses,
         "Look-ups in the cache that led to a request."},
        {"cache_joined", COUNTER_TOTAL, "", (double)cache.joined,
         "Look-ups in the cache that joined a request under way."},
        {"cache_evicted", COUNTER_TOTAL, "", (double)cache.evicted,
         "Responses dropped to make room."},
        {"directories", COUNTER_GAUGE, "", (double)nodes.directories,
         "Directories in the kernel's cache."},
        {"files", COUNTER_GAUGE, "", (double)nodes.files, "Files in the kernel's cache."},
        {"content_bytes", COUNTER_GAUGE, "bytes", (double)memory[BUDGET_CONTENTS],
         "Memory of the contents of files."},
        {"files_read_ahead", COUNTER_TOTAL, "", (double)read_ahead_count(mount->ahead),
         "Files stored in the kernel before they were read."},
        {"spooled_files", COUNTER_GAUGE, "", (double)nodes.spooled,
         "Files of listings whose bytes are in a temporary file."},
        {"spooled_bytes", COUNTER_GAUGE, "bytes", (double)nodes.spooled_bytes,
         "Disk space of these."},
        {"spooled_most_bytes", COUNTER_GAUGE, "bytes",
         (double)spool_limit_most(mount->app->tree.spool_limit),
         "The limit of that, --spool-size."},
        {"listing_bytes", COUNTER_GAUGE, "bytes", (double)memory[BUDGET_LISTINGS],
         "Memory of listings."},
        {"node_bytes", COUNTER_GAUGE, "bytes", (double)memory[BUDGET_NODES], "Memory of inodes."},
        {"maps", COUNTER_GAUGE, "", (double)map_count(),
         "Maps in use; more than one while something uses an old map."},
        {"models", COUNTER_GAUGE, "", (double)model_count(), "Models of tables in use."},
        {"resident_bytes", COUNTER_GAUGE, "bytes", metrics_resident_bytes(),
         "Memory of the process that is not swapped out."},
        {"heap_bytes", COUNTER_GAUGE, "bytes", (double)heap.uordblks + (double)heap.hblkhd,
         "Memory that the allocator has given out."},
        {"max_rcu", COUNTER_GAUGE, "", limits.per_second, "The limit of RCU per second; 0: none."},
        {"max_rcu_per_process", COUNTER_GAUGE, "", limits.per_process,
         "The limit of RCU per process group; 0: none."},
        {"max_search_bytes", COUNTER_GAUGE, "", limits.search_per_second,
         "The limit of search bytes per second; 0: none."},
        {"refused_by_max_rcu", COUNTER_TOTAL, "", (double)limits.refused_by_second,
         "Reads refused because of the limit per second."},
        {"refused_by_max_rcu_per_process", COUNTER_TOTAL, "", (double)limits.refused_by_process,
         "Reads refused because of the limit per process group."},
    };
    memcpy(out, counters, sizeof counters);
}

/* An absent value: the table itself, or no table at all. */
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

static void metrics_write_label(struct buf *out, struct span value)
{
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] == '\n') {
            buf_add_text(out, "\\n");
            continue;
        }
        if (value.data[i] == '\\' || value.data[i] == '"')
            buf_add_char(out, '\\');
        buf_add_char(out, value.data[i]);
    }
}

/* LABELS end with one without a name. */
static void metrics_write_sample(struct buf *out, const char *name, const struct label *labels,
                                 double value)
{
    buf_printf(out, "ddbfs_%s", name);
    for (size_t i = 0; labels[i].name; i++) {
        buf_printf(out, "%c%s=\"", i ? ',' : '{', labels[i].name);
        metrics_write_label(out, labels[i].value);
        buf_add_char(out, '"');
    }
    buf_add_text(out, labels[0].name ? "} " : " ");
    decimal_write(value, out);
    buf_add_char(out, '\n');
}

static void metrics_write_counters(const struct mount *mount, struct buf *out)
{
    static const struct label none[] = {{0}};
    struct counter counters[COUNTERS];
    metrics_read_counters(mount, counters);
    for (size_t i = 0; i < COUNTERS; i++) {
        const struct counter *counter = &counters[i];
        bool is_total = counter->kind == COUNTER_TOTAL;
        char name[64];
        snprintf(name, sizeof name, "%s%s", counter->name, is_total ? "_total" : "");
        metrics_write_family(out, counter->name, is_total ? "counter" : "gauge", counter->unit,
                             counter->help);
        metrics_write_sample(out, name, none, counter->value);
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

/* The buckets of a histogram are cumulative. */
static void metrics_write_durations(const struct mount *mount, struct buf *out)
{
    struct usage_duration each;
    metrics_write_family(out, "request_duration_seconds", "histogram", "seconds",
                         "Duration of requests, by operation and table, failed requests included.");
    for (size_t i = 0; usage_duration_at(mount->usage, i, &each); i++) {
        uint64_t count = 0;
        struct label labels[] = {
            {"operation", each.operation}, {"table", each.table}, {"le", {0}}, {0}};
        for (size_t bucket = 0; bucket < USAGE_BUCKETS; bucket++) {
            char bound[32] = "+Inf";
            int64_t bound_ms = usage_bucket_bound_ms(bucket);
            if (bound_ms >= 0)
                snprintf(bound, sizeof bound, bound_ms % 1000 ? "%g" : "%.1f",
                         (double)bound_ms / 1000);
            count += each.buckets[bucket];
            labels[2].value = span_text(bound);
            metrics_write_sample(out, "request_duration_seconds_bucket", labels, (double)count);
        }
        labels[2] = (struct label){0};
        metrics_write_sample(out, "request_duration_seconds_count", labels, (double)count);
        metrics_write_sample(out, "request_duration_seconds_sum", labels,
                             (double)each.took_ms / 1000);
    }
}

static void metrics_write_patterns(const struct mount *mount, struct buf *out)
{
    static const struct {
        const char *name, *sample, *unit, *help;
    } families[] = {
        {"use_requests", "use_requests_total", "",
         "Requests, by table, index, the map's pattern and the calling program."},
        {"use_request_failures", "use_request_failures_total", "",
         "Requests of these that failed, or whose caller had gone."},
        {"use_read_units", "use_read_units_total", "read_units",
         "RCU stated by responses, by table, index, the map's pattern and the program."},
        {"use_read_units_at_most", "use_read_units_at_most_total", "",
         "The same, plus the upper bound of requests without a statement."},
        {"use_search_bytes", "use_search_bytes_total", "",
         "Bytes of searches stated by responses, likewise."},
    };
    struct usage_pattern each;
    for (size_t family = 0; family < sizeof families / sizeof families[0]; family++) {
        metrics_write_family(out, families[family].name, "counter", families[family].unit,
                             families[family].help);
        for (size_t i = 0; usage_pattern_at(mount->usage, i, &each); i++) {
            const struct label labels[] = {{"table", each.table},
                                           {"index", each.index},
                                           {"pattern", each.pattern},
                                           {"program", each.program},
                                           {0}};
            const double values[] = {
                (double)each.sum.requests, (double)each.sum.failures, each.sum.spent.units,
                each.sum.spent.units + each.sum.spent.doubted, each.sum.spent.search_bytes};
            metrics_write_sample(out, families[family].sample, labels, values[family]);
        }
    }
}

static void metrics_write_throttles(const struct mount *mount, struct buf *out)
{
    struct usage_throttle each;
    metrics_write_family(
        out, "throttles", "counter", "",
        "Throttled requests, by table, index, the service's reason and the calling "
        "program; a request with several reasons counts for each.");
    for (size_t i = 0; usage_throttle_at(mount->usage, i, &each); i++) {
        const struct label labels[] = {{"table", each.table},     {"index", each.index},
                                       {"reason", each.reason},   {"resource", each.resource},
                                       {"program", each.program}, {0}};
        metrics_write_sample(out, "throttles_total", labels, (double)each.requests);
    }
}

static void metrics_write_programs(const struct mount *mount, struct buf *out)
{
    struct usage_program each;
    metrics_write_family(out, "questions", "counter", "",
                         "Requests of programs: served by the service, from memory, or failed.");
    for (size_t i = 0; usage_program_at(mount->usage, i, &each); i++) {
        const struct {
            const char *answer;
            uint64_t count;
        } answers[] = {
            {"service", each.questions - each.cached - each.failed},
            {"cache", each.cached},
            {"error", each.failed},
        };
        for (size_t k = 0; k < sizeof answers / sizeof answers[0]; k++) {
            const struct label labels[] = {
                {"program", each.name}, {"answer", span_text(answers[k].answer)}, {0}};
            metrics_write_sample(out, "questions_total", labels, (double)answers[k].count);
        }
    }
}

void metrics_write(const struct mount *mount, struct buf *out)
{
    const struct label labels[] = {{"version", SPAN_LITERAL(DDBFS_VERSION)}, {0}};
    metrics_write_family(out, "build", "info", "", "The version of ddbfs.");
    metrics_write_sample(out, "build_info", labels, 1);
    metrics_write_counters(mount, out);
    metrics_write_requests(mount, out);
    metrics_write_durations(mount, out);
    metrics_write_patterns(mount, out);
    metrics_write_throttles(mount, out);
    metrics_write_programs(mount, out);
    buf_add_text(out, "# EOF\n");
}
