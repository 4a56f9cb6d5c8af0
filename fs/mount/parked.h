/* Requests of the kernel that wait for the tree: look-ups, and reads of bytes that were dropped. If
 * the caller goes away, the tree's work continues for a moment without a request: other callers may
 * wait in the kernel for the same name, and the next of them joins it.
 * docs/internals/parked-requests.md. */
#ifndef DDBFS_FS_MOUNT_PARKED_H
#define DDBFS_FS_MOUNT_PARKED_H

#include "core/read/resolve.h"
#include "fs/mount/waiting.h"

struct account;
struct parked;

/* Replies to REQ with the file. */
typedef void parked_file_fn(struct parked *parked, fuse_req_t req, const struct tree_file *file);
/* Replies to REQ, whose path is PLACE (taken), a directory or a PLACE_CHANGES. */
typedef void parked_directory_fn(struct parked *parked, fuse_req_t req, struct place *place);
/* Replies to a request that failed. */
typedef void parked_error_fn(fuse_req_t req, const struct error *err);

struct parked {
    struct mount *mount;
    struct waiting waiting;  /* the request; idle when its caller has gone away */
    struct node *node;       /* pinned: the parent of a look-up, the file of a read */
    struct place *place;     /* owned; NULL until the path is resolved */
    struct span name;        /* of a look-up; owned */
    struct account *account; /* owns a reference */
    size_t size;             /* of a read */
    off_t offset;            /* of a read */
    parked_file_fn *reply_file;
    parked_directory_fn *reply_directory;
    parked_error_fn *reply_error;
    struct tree_resolution *resolution; /* first, unless PLACE is known */
    struct tree_call *call;             /* then */
    int64_t reads_since_ms;             /* when CALL began */
    struct loop_timer *abandoned;       /* ends the work after the caller has gone away */
    struct list_node list_node;         /* in the mount's list, the newest first */
    unsigned refreshes;                 /* of the mount when this began */
    struct parked *leader; /* NULL, or it makes the same file of a listing, and serves this, too */
    struct list followers; /* those that it leads, by FOLLOWER_NODE */
    struct list_node follower_node;
};

/* Reads the file that WANTED describes (a template: NODE, PLACE which is taken, NAME which is
 * copied, and the reply functions) and replies to REQ; at once, if the same request of this caller
 * has just failed. Without PLACE the path is resolved first: NAME in NODE, or NODE itself. */
void parked_start(struct mount *mount, fuse_req_t req, const struct parked *wanted);

/* Fails every parked request, and every other look-up that waits, with ERROR. */
void parked_end_all(struct mount *mount, int error);

/* Whether a look-up of a name in DIRECTORY waits. */
bool parked_waits_in(const struct mount *mount, const struct node *directory);

/* Restarts the look-ups that wait in the directory INO (ESTALE: the kernel repeats them by itself).
 * For a caller that is about to make the kernel forget a name there: this waits until no look-up is
 * under way in the directory, and blocks new ones. A look-up that was restarted a moment ago is
 * left alone, because its caller would see the second ESTALE. */
void parked_restart(struct mount *mount, uint64_t ino);

#endif
