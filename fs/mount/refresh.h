/* Making the kernel forget names before their time: what `ddbfs refresh` and SIGHUP do. Many names
 * at once are forgotten by one write, where the kernel knows it (since 6.16); few are told one by
 * one, by the notifier, because each may have to wait for the very requests that this process is to
 * answer. docs/internals/refresh.md tells the whole story. */
#ifndef DDBFS_FS_MOUNT_REFRESH_H
#define DDBFS_FS_MOUNT_REFRESH_H

#include "fs/mount/reply.h"

struct refresh;

/* NULL when memory ran out. */
struct refresh *refresh_new(struct mount *mount);
/* To be called when the mount's notifier is not busy. NULL is fine. */
void refresh_destroy(struct refresh *refresh);

/* Whoever waits for a refresh has his reply, and the notifier tells no more than the name in hand.
 */
void refresh_cancel_all(struct refresh *refresh);

/* Drops what is known of PATH and all below it. When the kernel has forgotten too, REQ (NULL for
 * none) is answered with ENOENT, which says to a look-up that it has been done; or with ETIMEDOUT
 * when that took longer than a caller may wait, and has been broken off. */
void refresh_path(struct refresh *refresh, struct span path, fuse_req_t req);

#endif
