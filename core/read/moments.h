/* The interface to the past of an environment: the moments of its snapshots. core/snapshots.h
 * implements it. */
#ifndef DDBFS_CORE_READ_MOMENTS_H
#define DDBFS_CORE_READ_MOMENTS_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/map/map.h"

struct place;

/* ENVIRONMENT is NULL for tables without one. */
struct moments {
    void *arg;
    /* Whether the present of ENVIRONMENT is a snapshot, too: nothing in it has a cost. */
    bool (*is_snapshot)(void *arg, const struct map_environment *environment);
    /* Whether a snapshot that is the present of ENVIRONMENT is a recording, which knows only the
     * keys that were read. NULL: none is. */
    bool (*is_recording)(void *arg, const struct map_environment *environment);
    /* Sets TIMES to all moments of ENVIRONMENT, the newest first: milliseconds since 1970, borrowed
     * until the next call. False with ERR filled: ERROR_NOT_FOUND if ENVIRONMENT has no snapshots,
     * or the failure of a file. */
    bool (*list)(void *arg, const struct map_environment *environment, const int64_t **times,
                 size_t *count, struct error *err);
    /* Appends the file and the moment that the items of PLACE are read from; nothing if PLACE is
     * not in the past, and its present is no snapshot. */
    void (*write_origin)(void *arg, const struct place *place, struct buf *out);
    /* Sets AT_MS to that moment. False if PLACE is in no snapshot, or in a recording, whose
     * responses are of many moments. */
    bool (*find_state)(void *arg, const struct place *place, int64_t *at_ms);
};

/* The newest moment of ENVIRONMENT not later than AT_MS. MOMENTS may be NULL. False with ERR
 * filled, as above; ERROR_NOT_FOUND with the first moments, if all are later. */
bool moments_find(const struct moments *moments, const struct map_environment *environment,
                  int64_t at_ms, int64_t *moment_ms, struct error *err);
/* The same moments as LIST, without those later than AT_MS; there is at least one. */
bool moments_list(const struct moments *moments, const struct map_environment *environment,
                  int64_t at_ms, const int64_t **times, size_t *count, struct error *err);

/* Appends the first times of ENVIRONMENT as words: "the snapshots have …, …". Nothing if they are
 * not known. */
void moments_write(const struct moments *moments, const struct map_environment *environment,
                   struct buf *out);

#endif
