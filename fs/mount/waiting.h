/* A request of the kernel that waits. It gets exactly one reply: from its owner, ETIMEDOUT at its
 * deadline, EINTR when its caller has been interrupted, or ENOMEM when memory runs out for the
 * check of the caller's signals. Embedded in the struct that waits: a look-up or read (parked), a
 * readdir (open_listing), a refresh.
 *
 *   state     REQ    deadline and interrupt   may become
 *   idle      NULL   off                      waiting, by waiting_start
 *   waiting   set    armed                    idle, by waiting_take or waiting_fail of the owner;
 *                                             or by itself, and then OVER is called
 *
 * Also here: the tasks that the kernel holds asleep, which it never reports. */
#ifndef DDBFS_FS_MOUNT_WAITING_H
#define DDBFS_FS_MOUNT_WAITING_H

#include "core/base/list.h"
#include "fs/mount/reply.h"

/* The wait is over: the request gets ERROR (ETIMEDOUT, EINTR or ENOMEM) as soon as this returns.
 * May free the struct in which the struct waiting is embedded. */
typedef void waiting_over_fn(void *arg, int error);

struct waiting {
    struct mount *mount; /* borrowed */
    fuse_req_t req;      /* NULL: idle. Owned by libfuse until it has its reply */
    pid_t pid;           /* of the caller */
    int64_t since_ms;    /* when the caller began to wait; stays when it is over */
    struct loop_timer *deadline;
    struct loop_timer *signal_check; /* of a caller with a pending signal that is not final */
    waiting_over_fn *over;
    void *arg;
    int64_t (*moved_ms)(const void *arg); /* set before waiting_start: when something last came for
                                           * the request, and its deadline counts from then; 0:
                                           * nothing did. NULL is fine */
};

/* A look-up that waits for something else than the tree; in the mount's list of lookups. */
struct waiting_lookup {
    struct waiting waiting;
    const struct node *directory; /* that the kernel holds meanwhile */
    struct list_node node;
};

/* The longest wait of a caller for one request of the kernel, whatever request it joins. */
int64_t waiting_longest_ms(const struct mount *mount);

/* REQ waits. Its deadline is waiting_longest_ms after SINCE_MS (on the loop's clock), the time when
 * its caller began to wait, which may be before the kernel sent the request. OVER may be called
 * from within, if the caller has been interrupted already: this must be the last call of its owner.
 * False when memory ran out; REQ has got ENOMEM then, and OVER is not called. */
bool waiting_start(struct waiting *waiting, struct mount *mount, fuse_req_t req, int64_t since_ms,
                   waiting_over_fn *over, void *arg);

/* Ends the wait: OVER is never called, and the caller replies to the request that is returned; NULL
 * when it was idle. */
fuse_req_t waiting_take(struct waiting *waiting);

/* Ends the wait with ERROR; nothing happens when it was idle. */
void waiting_fail(struct waiting *waiting, int error);

/* The same, as if the wait had ended by itself: OVER is called. */
void waiting_end(struct waiting *waiting, int error);

/* The tasks that sleep in the kernel, deaf to signals, at one moment. The callers that the kernel
 * holds back until another task's look-up is over are among them. */
enum { SLEEPERS_MOST = 256 };

struct sleepers {
    size_t count;
    struct sleeper {
        pid_t pid;         /* of the task, not of its process; 0: taken out */
        uint64_t switches; /* how often it had gone to sleep by then */
    } tasks[SLEEPERS_MOST];
};

/* Reads /proc. Tasks beyond the first thousands are left out. */
void sleepers_find(struct sleepers *out);

/* Takes the task PID out of the list. False when it is not in the list, or has since gone to sleep
 * more than MOST times, which means that it has done something else meanwhile. */
bool sleepers_take(struct sleepers *sleepers, pid_t pid, uint64_t most);

#endif
