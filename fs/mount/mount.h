/* A live mount: what its operations share. */
#ifndef DDBFS_FS_MOUNT_MOUNT_H
#define DDBFS_FS_MOUNT_MOUNT_H

#include <sys/types.h>

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include "fs/cli/app.h"
#include "fs/mount/nodes.h"

struct changes;
struct failures;
struct journal;
struct ledger;
struct limits;
struct listings;
struct notifier;
struct polls;
struct processes;
struct read_ahead;
struct recent_paths;
struct refresh;
struct spooled;
struct usage;

struct mount {
    struct app *app;             /* borrowed */
    struct budget budget;        /* the memory of nodes and listings */
    struct nodes *nodes;         /* owned */
    struct listings *listings;   /* owned */
    struct list parked;          /* of struct parked, owned: requests that wait for the tree */
    struct changes *changes;     /* owned */
    struct list lookups;         /* of struct waiting_lookup, borrowed: not parked, but waiting */
    struct failures *failures;   /* owned */
    struct recent_paths *recent; /* owned */
    struct journal *journal;     /* owned */
    struct notifier *notifier;   /* owned */
    struct refresh *refresh;     /* owned */
    struct read_ahead *ahead;    /* owned */
    struct spooled *spooled;     /* owned */
    struct polls *polls;         /* owned */
    struct processes *processes; /* owned */
    struct limits *limits;       /* owned */
    struct usage *usage;         /* owned */
    struct ledger *ledger;       /* owned */
    struct list accounts;        /* of struct account, borrowed: not finished; the newest first */
    struct list unnamed;         /* likewise: not identified yet */
    struct loop_timer *naming;   /* identifies them; NULL: none is planned */
    uid_t uid;                   /* the owner of all files */
    gid_t gid;
    mode_t umask;
    unsigned refreshes; /* each ends the sharing of reads that began before it */
    int64_t started_ms;
    int64_t dated_ms; /* the date of a node that has no date: the start, by the wall clock */
    struct fuse_session *session; /* owned */
    bool greeted;                 /* the kernel has its first reply; then this is called: */
    void (*on_greeting)(struct mount *mount);
};

/* On the monotonic clock. */
static inline int64_t mount_now_ms(const struct mount *mount)
{
    return loop_now_ms(mount->app->loop);
}

/* The operations of the file system. The user data of the session is the struct mount. */
extern const struct fuse_lowlevel_ops mount_ops;

#endif
