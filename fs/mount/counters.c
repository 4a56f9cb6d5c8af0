#include "fs/mount/counters.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/sources.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/limits.h"
#include "fs/mount/read_ahead.h"

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

static void counters_fill_source(const struct mount *mount, struct number *out)
{
    struct source_stats source = sources_stats(mount->app->sources);
    const struct number numbers[] = {
        {"request_failures", NUMBER_COUNTER, "", (double)source.failures,
         "Requests that were not answered with what was asked for."},
        {"consumed_capacity", NUMBER_COUNTER, "", source.spent.units,
         "Read units that responses state."},
        {"consumed_capacity_at_most", NUMBER_COUNTER, "", source.spent.units + source.spent.doubted,
         "The same, with the upper bound of requests whose responses state none."},
        {"hedged_requests", NUMBER_COUNTER, "", (double)source.hedged,
         "Requests that were sent again because their answer was late."},
        {"hedges_won", NUMBER_COUNTER, "", (double)source.hedges_won,
         "Those of them that were answered first."},
        {"listings_from_both_ends", NUMBER_COUNTER, "", (double)source.both_ends,
         "Queries that were read from both ends, since pages took long."},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void counters_fill_telling(const struct mount *mount, struct number *out)
{
    const struct number numbers[] = {
        {"errors", NUMBER_COUNTER, "", (double)journal_error_count(mount->journal),
         "Failures that were told in /.ddbfs/errors."},
        {"stale_answers", NUMBER_COUNTER, "", (double)journal_stale_count(mount->journal),
         "Answers in an outage that were older than they should be."},
        {"log_lines_dropped", NUMBER_COUNTER, "", (double)journal_dropped_count(mount->journal),
         "Lines that the system's log, or standard error, did not take."},
        {"ledger_lines_lost", NUMBER_COUNTER, "", (double)ledger_lost_count(mount->ledger),
         "Lines that the file of --ledger did not take."},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void counters_fill_limits(const struct mount *mount, struct number *out)
{
    struct limits_stats limits = limits_stats(mount->limits);
    const struct number numbers[] = {
        {"max_rcu", NUMBER_GAUGE, "", limits.a_second,
         "Read units that may be read in a second; 0: as many as it takes."},
        {"max_rcu_per_process", NUMBER_GAUGE, "", limits.a_process,
         "Read units that a program may read with what it starts; 0: as many as it takes."},
        {"refused_by_max_rcu", NUMBER_COUNTER, "", (double)limits.refused_by_second,
         "Reads that were refused because of all that was read in the last second."},
        {"refused_by_max_rcu_per_process", NUMBER_COUNTER, "", (double)limits.refused_by_process,
         "Reads that were refused because of what their program had read."},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void counters_fill_cache(const struct mount *mount, struct number *out)
{
    struct cache_stats cache = cache_stats(mount->app->cache);
    const struct number numbers[] = {
        {"cache_bytes", NUMBER_GAUGE, "bytes", (double)cache.bytes,
         "Memory that records and other answers take."},
        {"cache_entries", NUMBER_GAUGE, "", (double)cache.entries, "Answers that are kept."},
        {"cache_hits", NUMBER_COUNTER, "", (double)cache.hits,
         "Questions to the cache that were answered from it."},
        {"cache_misses", NUMBER_COUNTER, "", (double)cache.misses,
         "Questions to the cache that the service had to be asked for."},
        {"cache_joined", NUMBER_COUNTER, "", (double)cache.joined,
         "Questions to the cache for which the service was being asked already."},
        {"cache_evicted", NUMBER_COUNTER, "", (double)cache.evicted,
         "Answers that were let go for want of room."},
    };
    memcpy(out, numbers, sizeof numbers);
}

static void counters_fill_memory(const struct mount *mount, struct number *out)
{
    struct nodes_stats nodes = nodes_stats(mount->nodes);
    const struct number numbers[] = {
        {"directories", NUMBER_GAUGE, "", (double)nodes.directories,
         "Directories that the kernel knows."},
        {"files", NUMBER_GAUGE, "", (double)nodes.files, "Files that the kernel knows."},
        {"content_bytes", NUMBER_GAUGE, "bytes", (double)mount->budget.used[BUDGET_CONTENTS],
         "Memory that contents of files take."},
        {"files_read_ahead", NUMBER_COUNTER, "", (double)read_ahead_delivered(mount->ahead),
         "Files that the kernel was given before it asked for them."},
        {"listing_bytes", NUMBER_GAUGE, "bytes", (double)mount->budget.used[BUDGET_LISTINGS],
         "Memory that listings take."},
        {"node_bytes", NUMBER_GAUGE, "bytes", (double)mount->budget.used[BUDGET_NODES],
         "Memory that inodes take."},
        {"maps", NUMBER_GAUGE, "", (double)map_count(),
         "Maps in use; more than one: something is of an old one."},
        {"models", NUMBER_GAUGE, "", (double)model_count(),
         "Models of tables in use, of the map's or any other."},
        {"resident_bytes", NUMBER_GAUGE, "bytes", counters_resident_bytes(),
         "Memory of the process that is not swapped out."},
    };
    memcpy(out, numbers, sizeof numbers);
}

void counters_fill(const struct mount *mount, struct number out[NUMBERS])
{
    struct clock *clock = loop_clock(mount->app->loop);
    out[0] = (struct number){"uptime_seconds", NUMBER_GAUGE, "seconds",
                             (double)(clock->now_ms(clock) - mount->started_ms) / 1000,
                             "How long the mount has been there."};
    counters_fill_source(mount, out + 1);
    counters_fill_telling(mount, out + 7);
    counters_fill_cache(mount, out + 11);
    counters_fill_memory(mount, out + 17);
    counters_fill_limits(mount, out + 26);
}
