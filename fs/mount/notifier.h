/* The thread that brings the kernel what it may have to wait for: to forget a name it waits for the
 * directory, to take a file's bytes for the page, and both may be held for a request that this
 * process is to answer. So the loop never does it itself. */
#ifndef DDBFS_FS_MOUNT_NOTIFIER_H
#define DDBFS_FS_MOUNT_NOTIFIER_H

#include "core/base/loop.h"
#include "fs/mount/mount.h"

struct notifier;

/* Something to be brought. It belongs to the notifier from notifier_send until DONE. */
struct notice {
    void (*run)(struct notice *notice); /* in the thread, which shares nothing else with the loop */
    void (*done)(struct notice *notice); /* in the loop, afterwards */
};

/* NULL when threads or descriptors ran out. */
struct notifier *notifier_new(struct loop *loop);
/* To be called when it is not busy. NULL is fine. */
void notifier_destroy(struct notifier *notifier);

/* Errands are run one after another. False, and nothing comes of it, when too many wait. */
bool notifier_send(struct notifier *notifier, struct notice *notice);

/* Whether some notice is not done yet. Until then the thread may wait for requests that this
 * process is to answer. */
bool notifier_is_busy(const struct notifier *notifier);
/* Waits for the next that is done, TIMEOUT_MS at most. */
void notifier_wait(struct notifier *notifier, int timeout_ms);

/* What goes to the kernel, where it must be other than what libfuse writes: libfuse up to 3.16.1
 * takes FUSE_CAP_PARALLEL_DIROPS and never tells the kernel of it (libfuse's pull request 861).
 * Without it the kernel asks for one name of a directory at a time, and who waits for his turn
 * is immune to every signal. */
/* Makes the kernel forget every name, with one write that waits for nobody. False with errno:
 * EINVAL from a kernel before 6.16, which does not know it. */
bool notifier_forget_all_names(struct fuse_session *session);

/* The number of the connection behind MOUNTPOINT; 0 when it can't be found out. Asks nobody. */
unsigned notifier_connection(const char *mountpoint);

/* Ends the connection, which is mounted at MOUNTPOINT: the kernel waits for no answer any more, and
 * whoever waits in it is let go. What is left undone is no error: the last resort has no next. */
void notifier_abort_connection(unsigned connection, const char *mountpoint);

/* To be called once, when the session is mounted. False when memory ran out. */
bool notifier_open_session(struct fuse_session *session);

#endif
