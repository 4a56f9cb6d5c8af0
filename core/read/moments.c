#include "core/read/moments.h"

#include "core/base/instant.h"

/* In a message. */
enum { MOMENTS_SHOWN = 12 };

void moments_write(const struct moments *moments, const struct map_environment *environment,
                   struct buf *out)
{
    const int64_t *times;
    size_t count, shown;
    if (!moments || !moments->list(moments->arg, environment, &times, &count, NULL))
        return;
    shown = count < MOMENTS_SHOWN ? count : MOMENTS_SHOWN;
    buf_add_text(out, count ? "the snapshots have " : "the snapshots have no state of a table");
    for (size_t i = 0; i < shown; i++) {
        buf_add_text(out, i ? ", " : "");
        instant_write_exact(out, times[i]);
    }
    if (count > shown) {
        buf_printf(out, ", and %zu more; the first is ", count - shown);
        instant_write_exact(out, times[count - 1]);
    }
}

bool moments_list(const struct moments *moments, const struct map_environment *environment,
                  int64_t at_ms, const int64_t **times, size_t *count, struct error *err)
{
    if (!moments)
        return error_set(err, ERROR_NOT_FOUND, "no snapshots are read here");
    if (!moments->list(moments->arg, environment, times, count, err))
        return false;
    while (*count > 0 && **times > at_ms) {
        ++*times;
        --*count;
    }
    if (*count > 0)
        return true;
    CLEAN_UP(buf_clean_up) struct buf at = {0}, known = {0};
    moments_write(moments, environment, &known);
    if (at_ms == INT64_MAX)
        return error_set(err, ERROR_NOT_FOUND, "%s; import one, or name other files",
                         buf_text(&known));
    instant_write_exact(&at, at_ms);
    return error_set(err, ERROR_NOT_FOUND, "no snapshot is as old as %s; %s", buf_text(&at),
                     buf_text(&known));
}

bool moments_find(const struct moments *moments, const struct map_environment *environment,
                  int64_t at_ms, int64_t *moment_ms, struct error *err)
{
    const int64_t *times;
    size_t count;
    if (!moments_list(moments, environment, at_ms, &times, &count, err))
        return false;
    *moment_ms = times[0];
    return true;
}
