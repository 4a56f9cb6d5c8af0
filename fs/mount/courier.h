/* The thread that brings the kernel what it may have to wait for: to forget a name it waits for the
 * directory, to take a file's bytes for the page, and both may be held for a request that this
 * process is to answer. So the loop never does it itself. */
#ifndef DDBFS_FS_MOUNT_COURIER_H
#define DDBFS_FS_MOUNT_COURIER_H

#include "core/base/loop.h"

struct courier;

/* Something to be brought. It belongs to the courier from courier_send until DONE. */
struct errand {
    void (*run)(struct errand *errand); /* in the thread, which shares nothing else with the loop */
    void (*done)(struct errand *errand); /* in the loop, afterwards */
};

/* NULL when threads or descriptors ran out. */
struct courier *courier_new(struct loop *loop);
/* To be called when it is not busy. NULL is fine. */
void courier_destroy(struct courier *courier);

/* Errands are run one after another. False, and nothing comes of it, when too many wait. */
bool courier_send(struct courier *courier, struct errand *errand);

/* Whether some errand is not done yet. Until then the thread may wait for requests that this
 * process is to answer. */
bool courier_is_busy(const struct courier *courier);
/* Waits for the next that is done, TIMEOUT_MS at most. */
void courier_wait(struct courier *courier, int timeout_ms);

#endif
