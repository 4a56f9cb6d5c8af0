/* Callers that are interrupted while they wait. The kernel tells of any signal, and once only, and
 * from then on nothing but an answer lets the caller go. Ctrl-C and what is deadly must end the
 * wait at once; an alarm that the caller handles must not, since a readdir that fails for it would
 * surprise a program which no other file system ever failed so. */
#ifndef DDBFS_FS_MOUNT_INTERRUPT_H
#define DDBFS_FS_MOUNT_INTERRUPT_H

#include "fs/mount/reply.h"

struct interrupt {
    struct loop *loop;
    fuse_req_t req;
    void (*end)(void *arg); /* answers the request with EINTR, and cleans this up */
    void *arg;
    struct loop_timer *again;
};

/* Calls END when the caller of REQ should wait no more; at once if it should not already. */
void interrupt_watch(struct interrupt *interrupt, struct loop *loop, fuse_req_t req,
                     void (*end)(void *arg), void *arg);
/* END is never called again. Zeroed is fine. */
void interrupt_clean_up(struct interrupt *interrupt);

#endif
