/* A live mount: what its operations share. */
#ifndef DDBFS_FS_MOUNT_MOUNT_H
#define DDBFS_FS_MOUNT_MOUNT_H

#include <sys/types.h>

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include "fs/cli/app.h"
#include "fs/mount/nodes.h"

/* A look-up that failed after a long wait. The kernel lets the callers of one name ask one by one:
 * those who queued behind it have waited as long, and get the same answer. */
struct slow_failure {
    uint64_t parent;
    pid_t pid; /* who got it, and did not queue behind it */
    char name[NAME_MAX_BYTES + 1];
    int error;
    int64_t at_ms;
};

enum { SLOW_FAILURES = 32 };

struct mount {
    struct app *app;               /* borrowed */
    struct nodes *nodes;           /* owned */
    struct parked *parked;         /* requests that wait for an answer; owned */
    struct directory *directories; /* open ones; owned */
    struct journal *journal;       /* owned */
    struct refresher *refresher;   /* owned */
    uid_t uid;                     /* whose everything is */
    gid_t gid;
    mode_t umask;
    int64_t started_ms;
    struct slow_failure slow_failures[SLOW_FAILURES]; /* the last ones, in a ring */
    size_t next_slow_failure;
    const char *mountpoint;       /* borrowed */
    unsigned connection;          /* its number for the kernel; 0: unknown */
    struct fuse_session *session; /* owned */
    struct fuse_buf buf;          /* for what the kernel sends; its memory is owned */
    bool greeted;                 /* the kernel has its first answer */
    struct loop_io *kernel, *signals;
    int signal_fd;
    int ready_fd; /* to tell who started this that the mount answers; -1 once told */
};

/* On the clock that never jumps. */
int64_t mount_now_ms(const struct mount *mount);

/* When a request of the kernel's that begins to wait now has its answer at the latest. It may need
 * several answers of the service in a row, each of which may take --timeout. */
int64_t mount_deadline_ms(const struct mount *mount);

/* Reads the map's file again and drops what is known; the old map stays when the new one is
 * wrong. */
void mount_reload(struct mount *mount);

/* The kernel has greeted: from now on the mount answers. */
void mount_ready(struct mount *mount);

#endif
