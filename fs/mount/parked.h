/* A kernel request that waits for the tree. It ends in exactly one reply: the answer, EINTR when
 * its caller is interrupted, or ETIMEDOUT, so that nobody is ever stuck in it. */
#ifndef DDBFS_FS_MOUNT_PARKED_H
#define DDBFS_FS_MOUNT_PARKED_H

#include "fs/mount/interrupt.h"

struct parked;

/* Answers the request, which has got the file. */
typedef void parked_answer_fn(struct parked *parked, const struct tree_file *file);
/* Answers a request that failed. */
typedef void parked_error_fn(fuse_req_t req, const struct error *err);

struct parked {
    struct mount *mount;
    fuse_req_t req;      /* NULL when its caller has been interrupted */
    pid_t pid;           /* of the caller */
    struct node *node;   /* pinned: the parent of a look-up, the file of a read */
    struct place *place; /* owned */
    struct span name;    /* of a look-up; owned */
    size_t size;         /* of a read */
    off_t offset;        /* of a read */
    parked_answer_fn *answer;
    parked_error_fn *fail;
    struct tree_call *call;
    struct loop_timer *deadline;
    struct interrupt interrupt;
    int64_t started_ms;
    struct parked *previous, *next;
};

/* Reads the file that WANTED describes (a template: the request, NODE, PLACE which is taken, NAME
 * which is copied, ANSWER and FAIL) and answers its request. */
void parked_start(struct mount *mount, const struct parked *wanted);

/* The errno for a look-up of NAME in PARENT by the task PID that queued in the kernel behind one
 * that has just failed after a long wait; 0 for all others. */
int parked_slow_failure(const struct mount *mount, const struct node *parent, struct span name,
                        pid_t pid);

/* Answers every parked request with ERRNO. */
void parked_end_all(struct mount *mount, int error);

#endif
