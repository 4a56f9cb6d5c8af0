/* Replies to the kernel: attributes, entries, errors. core/base/error.c maps an error to an errno.
 */
#ifndef DDBFS_FS_MOUNT_REPLY_H
#define DDBFS_FS_MOUNT_REPLY_H

#include "fs/mount/mount.h"

void reply_fill_stat(const struct mount *mount, const struct node *node, struct stat *out);

/* NODE under a name that is valid for TTL_MS. */
void reply_fill_entry(const struct mount *mount, const struct node *node, int64_t ttl_ms,
                      struct fuse_entry_param *out);

/* Replies to a look-up; the kernel then knows NODE. */
void reply_entry(fuse_req_t req, const struct mount *mount, struct node *node, int64_t ttl_ms);

/* The kernel caches a proven "not found", and no other error. */
void reply_lookup_error(fuse_req_t req, const struct error *err);

/* At most SIZE bytes from OFFSET on. */
void reply_bytes(fuse_req_t req, struct span bytes, size_t size, off_t offset);

#endif
