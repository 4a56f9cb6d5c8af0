/* The tasks that sleep in the kernel, deaf to signals, at one moment. Among them are all whom it
 * keeps waiting for a look-up that another task has begun: it tells nobody of them. */
#ifndef DDBFS_FS_MOUNT_SLEEPERS_H
#define DDBFS_FS_MOUNT_SLEEPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SLEEPERS_MOST = 256 };

struct sleepers {
    size_t count;
    struct sleeper {
        pid_t pid;         /* of the task, not of its process; 0: taken out */
        uint64_t switches; /* how often it had gone to sleep by then */
    } tasks[SLEEPERS_MOST];
};

/* Looks through /proc, at some thousand tasks at the most: whom it has not come to by then is
 * missing. */
void sleepers_find(struct sleepers *out);

/* Takes the task PID out of them. False when it was not among them, or has since gone to sleep more
 * than MOST times, so that it has done something else meanwhile. */
bool sleepers_take(struct sleepers *sleepers, pid_t pid, uint64_t most);

#endif
