/* Recent failures, reused when the kernel repeats a request. No other request gets them: a failure
 * is never cached.
 *
 * - The kernel repeats a look-up of a name that it knew, and a read into its page cache, for the
 *   same caller.
 * - The kernel looks a name up for one task at a time. The others sleep, deaf to signals. When the
 *   first has failed, the next look-up begins, whose caller has waited as long already.
 *
 * ADR 13 defines the proof of either. */
#ifndef DDBFS_FS_MOUNT_FAILURES_H
#define DDBFS_FS_MOUNT_FAILURES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/span.h"

struct failures;

struct failures *failures_new(void);              /* NULL when memory ran out */
void failures_destroy(struct failures *failures); /* NULL is fine */

/* A request that fails, or a later one for the same. */
struct failures_request {
    uint64_t ino;     /* of the directory, or of the file that is read */
    struct span name; /* of a look-up; empty for a read */
    pid_t pid;        /* of the task */
    int64_t now_ms;
};

/* The request, which has waited since SINCE_MS, is about to get ERROR; EINTR: its caller goes away.
 * IS_REPEATED: the kernel will repeat it for the same caller. To be called before the reply. */
void failures_add(struct failures *failures, const struct failures_request *request, int error,
                  int64_t since_ms, bool is_repeated);

/* The errno that the request must get at once; 0: none, and SINCE_MS is the time when its caller
 * began to wait: now, unless it is proven that the task waited before. */
int failures_find(struct failures *failures, const struct failures_request *request,
                  int64_t *since_ms);

/* Whether the look-up of the task PID may be restarted with ESTALE. The kernel handles that by
 * itself, but only once; the second ESTALE would reach the caller. Records the restart. */
bool failures_may_restart(struct failures *failures, pid_t pid, int64_t now_ms);

#endif
