/* Requests of the kernel that wait for the tree: look-ups, and reads of bytes that had been
 * dropped. When the caller has gone away the question goes on for a moment without a request:
 * others may wait in the kernel for the same, and the next of them joins it.
 * docs/internals/parked-requests.md tells more. */
#ifndef DDBFS_FS_MOUNT_PARKED_H
#define DDBFS_FS_MOUNT_PARKED_H

#include "core/read/resolve.h"
#include "fs/mount/waiting.h"

struct parked;

/* Answers REQ with the file. */
typedef void parked_answer_fn(struct parked *parked, fuse_req_t req, const struct tree_file *file);
/* Answers REQ, whose path has turned out to be the directory PLACE (taken). */
typedef void parked_directory_fn(struct parked *parked, fuse_req_t req, struct place *place);
/* Answers a request that failed. */
typedef void parked_error_fn(fuse_req_t req, const struct error *err);

struct parked {
    struct mount *mount;
    struct waiting waiting;  /* the request; idle when its caller has been interrupted */
    struct node *node;       /* pinned: the parent of a look-up, the file of a read */
    struct place *place;     /* owned; NULL until it is known what the path means */
    struct span name;        /* of a look-up; owned */
    struct account *account; /* what the question takes; the asker's reference */
    size_t size;             /* of a read */
    off_t offset;            /* of a read */
    parked_answer_fn *answer;
    parked_directory_fn *directory;
    parked_error_fn *fail;
    struct tree_resolution *resolution; /* first, unless PLACE was known */
    struct tree_call *call;             /* then */
    struct loop_timer *abandoned;       /* ends the question of a caller who has gone away */
    struct parked *previous, *next;
};

/* Reads the file that WANTED describes (a template: NODE, PLACE which is taken, NAME which is
 * copied, and how to answer) and answers REQ; at once, if the same has just failed for that caller.
 * Without PLACE somebody is asked what the name means: NAME in NODE, or NODE itself. */
void parked_start(struct mount *mount, fuse_req_t req, const struct parked *wanted);

/* Answers every parked request with ERROR. */
void parked_end_all(struct mount *mount, int error);

/* Whether a look-up of a name in DIRECTORY waits. */
bool parked_waits_in(const struct mount *mount, const struct node *directory);

/* Makes callers begin anew the look-ups that wait in the directory INO (ESTALE: the kernel does it
 * by itself). For whoever is about to make the kernel forget a name there: it waits until no
 * look-up is under way in that directory, and lets nobody else in meanwhile. A caller sees nothing
 * of it; one who has begun anew a moment ago would, and is left to wait. */
void parked_send_back(struct mount *mount, uint64_t ino);

#endif
