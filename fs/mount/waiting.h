/* A request of the kernel's that waits. Whatever happens, it gets exactly one reply: from its
 * owner, ETIMEDOUT at its deadline, or EINTR when its caller has been interrupted. Embedded in what
 * waits for it: a look-up or read (parked), a readdir (listing), a refresh.
 *
 *   state     REQ    deadline and interrupt   may become
 *   idle      NULL   off                      waiting, by waiting_start
 *   waiting   set    armed                    idle, by waiting_take or waiting_fail of the owner;
 *                                             or by itself, and then OVER is called
 */
#ifndef DDBFS_FS_MOUNT_WAITING_H
#define DDBFS_FS_MOUNT_WAITING_H

#include "fs/mount/interrupt.h"

/* The wait is over: the request gets ERROR (ETIMEDOUT or EINTR) as soon as this returns. May free
 * what the struct waiting is embedded in. */
typedef void waiting_over_fn(void *arg, int error);

struct waiting {
    struct mount *mount; /* borrowed */
    fuse_req_t req;      /* NULL: idle. Owned by libfuse until it has its reply */
    pid_t pid;           /* of the caller */
    int64_t since_ms;    /* when the caller began to wait; stays when it is over */
    struct loop_timer *deadline;
    struct interrupt interrupt;
    waiting_over_fn *over;
    void *arg;
};

/* REQ waits. Its deadline is mount_longest_wait_ms after SINCE_MS (on the loop's clock): one for
 * all that it waits for, counted from when its caller began to wait, which may be before the kernel
 * let it ask. OVER may be called from within, for a caller who is interrupted already: let it be
 * the last that is done. False when memory ran out; REQ has got ENOMEM then, and OVER is not
 * called. */
bool waiting_start(struct waiting *waiting, struct mount *mount, fuse_req_t req, int64_t since_ms,
                   waiting_over_fn *over, void *arg);

/* Ends the wait: OVER is never called, and the caller of this replies to what it returns; NULL when
 * it was idle. */
fuse_req_t waiting_take(struct waiting *waiting);

/* Ends the wait with ERROR; nothing when it was idle. */
void waiting_fail(struct waiting *waiting, int error);

#endif
