/* Makes the kernel forget names before their time, for `ddbfs refresh` and SIGHUP. Many names are
 * forgotten with one write, if the kernel supports it (since 6.16). A few are forgotten one by one
 * by the notifier, because each may wait for requests that this process must serve.
 * docs/internals/refresh.md. */
#ifndef DDBFS_FS_MOUNT_REFRESH_H
#define DDBFS_FS_MOUNT_REFRESH_H

#include "fs/mount/reply.h"

struct refresh;

/* NULL when memory ran out. */
struct refresh *refresh_new(struct mount *mount);
/* To be called when the mount's notifier is not busy. NULL is fine. */
void refresh_destroy(struct refresh *refresh);

/* Replies to all callers that wait for a refresh, and ends each refresh after its current name. */
void refresh_cancel_all(struct refresh *refresh);

/* Drops all data about PATH and everything below it. When the kernel has forgotten the names, too,
 * REQ (NULL: none) gets ENOENT, the sign of success for a look-up; ETIMEDOUT if that took longer
 * than a caller may wait, and was cancelled; or ENOMEM if a name is left for want of
 * memory, the kernel's or the mount's. */
void refresh_path(struct refresh *refresh, struct span path, fuse_req_t req);

/* The kernel had no memory to forget the name of the node INO, or the time was over before. */
typedef void refresh_refused_fn(void *arg, uint64_t ino);

/* Makes the kernel forget the name of NODE alone; no data are dropped. False, and nothing happens,
 * when a request waits in its directory, when too many names wait already, or without memory.
 * REFUSED may be called later, never from within this function. */
bool refresh_forget(struct refresh *refresh, const struct node *node, refresh_refused_fn *refused,
                    void *arg);

#endif
