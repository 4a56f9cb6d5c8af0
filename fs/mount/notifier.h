/* Writes to the kernel besides replies. Some may block: to forget a name the kernel waits for the
 * directory, and to store a file's bytes it waits for the page; both may be held by a request that
 * this process must serve. So a thread does these, and never the loop. */
#ifndef DDBFS_FS_MOUNT_NOTIFIER_H
#define DDBFS_FS_MOUNT_NOTIFIER_H

#include "fs/mount/mount.h"

/* A write that may block. The notifier has it from notifier_send until DONE. */
struct notice {
    void (*run)(struct notice *notice); /* in the thread, which shares nothing else with the loop */
    void (*done)(struct notice *notice); /* in the loop, afterwards */
};

/* NULL when threads or descriptors ran out. */
struct notifier *notifier_new(struct loop *loop);
/* To be called when it is not busy. NULL is fine. */
void notifier_destroy(struct notifier *notifier);

/* Notices run one after another. False, and NOTICE stays the caller's, when too many wait. */
bool notifier_send(struct notifier *notifier, struct notice *notice);

/* Whether a notice is not done yet. Until then the thread may wait for requests that this process
 * must serve. */
bool notifier_is_busy(const struct notifier *notifier);
/* Waits for the next that is done, TIMEOUT_MS at most. */
void notifier_wait(struct notifier *notifier, int timeout_ms);

/* Prepares SESSION, which is mounted: libfuse up to 3.16.1 accepts FUSE_CAP_PARALLEL_DIROPS and
 * does not send it to the kernel (libfuse's pull request 861). Without it the kernel looks up one
 * name of a directory at a time, and waiting callers are immune to signals. False when memory ran
 * out. */
bool notifier_open_session(struct fuse_session *session);

/* Makes the kernel forget all names with one write, which does not block. False with errno: EINVAL
 * from a kernel before 6.16. */
bool notifier_forget_all_names(struct fuse_session *session);

/* The number of the connection behind MOUNTPOINT; 0: unknown. Does not block. */
unsigned notifier_connection(const char *mountpoint);

/* Ends the connection, which is mounted at MOUNTPOINT: the kernel fails all requests. As the last
 * resort it reports no error. */
void notifier_abort_connection(unsigned connection, const char *mountpoint);

#endif
