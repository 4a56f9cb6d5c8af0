/* What failed a moment ago, for those of whom the kernel makes another request of the same. Nobody
 * else is told of it: a failure is never remembered.
 *
 * - Who failed and is asked for again: the kernel repeats a look-up of a name that it knew, and a
 *   read into its page cache, on behalf of the same caller.
 * - Who queued: it lets one task at a time look a name up, and the others sleep in it, deaf to
 *   signals. When the first has failed the next begins: it has waited as long already.
 *
 * ADR 13 says what is taken for a proof of either. */
#ifndef DDBFS_FS_MOUNT_FAILURES_H
#define DDBFS_FS_MOUNT_FAILURES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/span.h"

struct failures;

struct failures *failures_new(void);              /* NULL when memory ran out */
void failures_destroy(struct failures *failures); /* NULL is fine */

/* A request that fails, or a later one that asks for the same. */
struct failures_request {
    uint64_t ino;     /* of the directory, or of the file that is read */
    struct span name; /* that is looked up; empty for a read */
    pid_t pid;        /* of the task */
    int64_t now_ms;
};

/* The request, which has waited since SINCE_MS, is about to get ERROR; EINTR: its caller goes away.
 * IS_REPEATED: the kernel will ask again for the same caller. To be called before the reply. */
void failures_add(struct failures *failures, const struct failures_request *request, int error,
                  int64_t since_ms, bool is_repeated);

/* The errno that the request must get at once; 0: none. Then SINCE_MS says since when its caller
 * has waited: since now, unless it is proven to have queued. */
int failures_find(struct failures *failures, const struct failures_request *request,
                  int64_t *since_ms);

/* Whether the task PID may be told to begin its look-up again (ESTALE): the kernel does so by
 * itself, but once, and then its caller would see it. Notes that it has been told. */
bool failures_may_restart(struct failures *failures, pid_t pid, int64_t now_ms);

#endif
