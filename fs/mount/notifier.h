/* The thread that brings the kernel what it may have to wait for: to forget a name it waits for the
 * directory, to take a file's bytes for the page, and both may be held for a request that this
 * process is to answer. So the loop never does it itself. */
#ifndef DDBFS_FS_MOUNT_NOTIFIER_H
#define DDBFS_FS_MOUNT_NOTIFIER_H

#include "core/base/loop.h"

struct notifier;

/* Something to be brought. It belongs to the courier from notifier_send until DONE. */
struct notice {
    void (*run)(struct notice *errand); /* in the thread, which shares nothing else with the loop */
    void (*done)(struct notice *errand); /* in the loop, afterwards */
};

/* NULL when threads or descriptors ran out. */
struct notifier *notifier_new(struct loop *loop);
/* To be called when it is not busy. NULL is fine. */
void notifier_destroy(struct notifier *courier);

/* Errands are run one after another. False, and nothing comes of it, when too many wait. */
bool notifier_send(struct notifier *courier, struct notice *errand);

/* Whether some errand is not done yet. Until then the thread may wait for requests that this
 * process is to answer. */
bool notifier_is_busy(const struct notifier *courier);
/* Waits for the next that is done, TIMEOUT_MS at most. */
void notifier_wait(struct notifier *courier, int timeout_ms);

#endif
