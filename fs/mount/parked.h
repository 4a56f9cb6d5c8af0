/* Requests of the kernel that wait for the tree: look-ups, and reads of bytes that had been
 * dropped. When the caller has gone away or its time is up the question goes on, without a request:
 * others may wait for the same, and the next asker joins it. */
#ifndef DDBFS_FS_MOUNT_PARKED_H
#define DDBFS_FS_MOUNT_PARKED_H

#include "fs/mount/waiting.h"

struct parked;

/* Answers REQ with the file. */
typedef void parked_answer_fn(struct parked *parked, fuse_req_t req, const struct tree_file *file);
/* Answers a request that failed. */
typedef void parked_error_fn(fuse_req_t req, const struct error *err);

struct parked {
    struct mount *mount;
    struct waiting waiting; /* the request; idle when its caller has been interrupted */
    struct node *node;      /* pinned: the parent of a look-up, the file of a read */
    struct place *place;    /* owned */
    struct span name;       /* of a look-up; owned */
    size_t size;            /* of a read */
    off_t offset;           /* of a read */
    parked_answer_fn *answer;
    parked_error_fn *fail;
    struct tree_call *call;
    struct parked *previous, *next;
};

/* Reads the file that WANTED describes (a template: NODE, PLACE which is taken, NAME which is
 * copied, ANSWER and FAIL) and answers REQ. */
void parked_start(struct mount *mount, fuse_req_t req, const struct parked *wanted);

/* The errno for a look-up of NAME in PARENT by the task PID that queued in the kernel behind one
 * that has just failed after a long wait; 0 for all others. */
int parked_slow_failure(const struct mount *mount, const struct node *parent, struct span name,
                        pid_t pid);

/* Whether a look-up of a name in DIRECTORY waits. */
bool parked_waits_in(const struct mount *mount, const struct node *directory);
/* Answers those in the directory INO with ESTALE, on which the kernel asks once more by itself.
 * What they asked for goes on. */
void parked_send_back(struct mount *mount, uint64_t ino);

/* Answers every parked request with ERRNO. */
void parked_end_all(struct mount *mount, int error);

#endif
