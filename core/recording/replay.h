/* A recording, opened to be shown again: the source whose responses are those that were recorded.
 * SQLite works in a thread, and pages are delivered by the loop. */
#ifndef DDBFS_CORE_RECORDING_REPLAY_H
#define DDBFS_CORE_RECORDING_REPLAY_H

#include "core/base/loop.h"
#include "core/source/source.h"

struct replay;

/* Whether FILE is a recording. False with ERR filled: it is no snapshot file, or can't be read. */
bool replay_find_kind(const char *file, bool *is_recording, struct error *err);

/* Opens FILE, a recording, for reading. To be called after the process has forked. The caller holds
 * the only reference. NULL with ERR filled. */
struct replay *replay_open(const char *file, struct loop *loop, struct error *err);
struct replay *replay_ref(struct replay *replay);
void replay_unref(struct replay *replay); /* NULL is fine; sources hold references */

/* The suffix of names of files in the recording FILE, which the caller frees. NULL if it can't be
 * read. */
char *replay_read_suffix(const char *file);

/* Appends the second of AT_MS, or the newest one, and the file. */
void replay_write_origin(const struct replay *replay, int64_t at_ms, struct buf *out);

/* The seconds in which responses came, in milliseconds since 1970. NEWEST_FIRST is valid as long as
 * REPLAY. Of more than 10,000, the newest. */
size_t replay_moments(const struct replay *replay, const int64_t **newest_first);

/* The source of ENVIRONMENT ("" without a map): of each Read the newest response that came in or
 * before the second of AT_MS; INT64_MAX: the newest. A Read without one ends in ERROR_NOT_STORED.
 * Capacity and requests are 0. NULL when memory ran out. */
struct source *replay_new(struct replay *replay, struct span environment, int64_t at_ms);

#endif
