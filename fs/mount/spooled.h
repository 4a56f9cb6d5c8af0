/* The files of the mount whose bytes are in temporary files. The kernel keeps an inode until it
 * needs memory, and with it the disk space. So this makes the kernel forget a name when its time is
 * over: then it frees the inode, or does so when no program has the file open. */
#ifndef DDBFS_FS_MOUNT_SPOOLED_H
#define DDBFS_FS_MOUNT_SPOOLED_H

#include "fs/mount/mount.h"

struct spooled;

/* Chooses the folder of MOUNT's tree for temporary files: WANTED, which must be usable; "no": none;
 * NULL: the first usable of $XDG_CACHE_HOME and /var/tmp. NULL with ERR filled. */
struct spooled *spooled_new(struct mount *mount, const char *wanted, struct error *err);
void spooled_destroy(struct spooled *spooled); /* NULL is fine */

/* NODE, which has a temporary file, was looked up: its name is valid for TTL_MS. */
void spooled_note(struct spooled *spooled, const struct node *node, int64_t ttl_ms);

/* Replies to a read of NODE. */
void spooled_reply(struct spooled *spooled, fuse_req_t req, const struct node *node, size_t size,
                   uint64_t offset);

#endif
