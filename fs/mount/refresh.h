/* Making the kernel forget names before their time: what `ddbfs refresh` and SIGHUP do. Many names
 * at once are forgotten by one write, where the kernel knows it (since 6.16); few are told one by
 * one, from a thread that does nothing else, because each may have to wait for the very requests
 * that this process is to answer. docs/internals/refresh.md tells the whole story. */
#ifndef DDBFS_FS_MOUNT_REFRESH_H
#define DDBFS_FS_MOUNT_REFRESH_H

#include "fs/mount/reply.h"

struct refresher;

/* Started once the session is mounted. NULL when threads or descriptors ran out. */
struct refresher *refresher_new(struct mount *mount);
/* To be called when it is not busy. NULL is fine. */
void refresher_destroy(struct refresher *refresher);

/* Whether the kernel has not been told of everything yet. Until then the thread may wait for
 * requests that this process is to answer. */
bool refresher_is_busy(const struct refresher *refresher);
/* Whoever waits for a refresh has his reply, and the thread tells no more than the name in hand. */
void refresher_break_off(struct refresher *refresher);
/* Waits for the thread's next message, TIMEOUT_MS at most, and acts on it. */
void refresher_wait(struct refresher *refresher, int timeout_ms);

/* Drops what is known of PATH and all below it. When the kernel has forgotten too, REQ (NULL for
 * none) is answered with ENOENT, which says to a look-up that it has been done; or with ETIMEDOUT
 * when that took longer than a caller may wait, and has been broken off. */
void refresher_drop(struct refresher *refresher, struct span path, fuse_req_t req);

#endif
