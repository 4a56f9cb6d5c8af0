#include "core/source/source_bounds.h"

static bool source_bounds_refuse_items(const struct source_bounds *bounds, const struct read *read,
                                       struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf tables = {0};
    read_write_tables(read, ", ", &tables);
    return error_set(err, ERROR_TOO_LARGE,
                     "the read of %s was stopped: the service has sent more than %llu items; read "
                     "a part of them, or raise --max-entries",
                     tables.size > 0 ? buf_text(&tables) : "the tables' names",
                     (unsigned long long)bounds->items);
}

static bool source_bounds_refuse_idle(const struct source_progress *progress,
                                      const struct read *read, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf tables = {0};
    read_write_tables(read, ", ", &tables);
    return error_set(err, ERROR_TIMED_OUT,
                     "the read of %s was stopped: %u responses in a row brought "
                     "nothing and state that more follows; check the endpoint (ddbfs config), or "
                     "raise --timeout",
                     tables.size > 0 ? buf_text(&tables) : "the tables' names",
                     progress->idle_pages);
}

bool source_bounds_admit(const struct source_bounds *bounds, struct source_progress *progress,
                         const struct read *read, uint64_t count, bool more, int64_t took_ms,
                         struct error *err)
{
    bool has_keys = read->kind == READ_ITEMS; /* their number is the end */
    /* A scan has a limit of its own; a page of changes is no listing, and following has no end. */
    bool is_bounded = !has_keys && read->kind != READ_SCAN && read->kind != READ_CHANGES;
    progress->items += count;
    if (progress->items > bounds->items && is_bounded)
        return source_bounds_refuse_items(bounds, read, err);
    if (count > 0 || !more || has_keys) {
        progress->idle_ms = 0;
        progress->idle_pages = 0;
        return true;
    }
    progress->idle_pages++;
    progress->idle_ms += took_ms > 0 ? took_ms : 1;
    return progress->idle_ms <= bounds->idle_ms || source_bounds_refuse_idle(progress, read, err);
}
