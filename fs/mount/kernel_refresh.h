/* Making the kernel forget names before their time: what `ddbfs refresh` and SIGHUP do. Many names
 * at once are forgotten by one write, where the kernel knows it (since 6.16); few are told one by
 * one, by the courier, because each may have to wait for the very requests that this process is to
 * answer. docs/internals/refresh.md tells the whole story. */
#ifndef DDBFS_FS_MOUNT_KERNEL_REFRESH_H
#define DDBFS_FS_MOUNT_KERNEL_REFRESH_H

#include "fs/mount/reply.h"

struct refresher;

/* NULL when memory ran out. */
struct refresher *refresher_new(struct mount *mount);
/* To be called when the mount's courier is not busy. NULL is fine. */
void refresher_destroy(struct refresher *refresher);

/* Whoever waits for a refresh has his reply, and the courier tells no more than the name in hand.
 */
void refresher_break_off(struct refresher *refresher);

/* Drops what is known of PATH and all below it. When the kernel has forgotten too, REQ (NULL for
 * none) is answered with ENOENT, which says to a look-up that it has been done; or with ETIMEDOUT
 * when that took longer than a caller may wait, and has been broken off. */
void refresher_drop(struct refresher *refresher, struct span path, fuse_req_t req);

#endif
