/* Answers to the kernel: attributes, entries, and the one place where an error becomes an errno. */
#ifndef DDBFS_FS_MOUNT_REPLY_H
#define DDBFS_FS_MOUNT_REPLY_H

#include "fs/mount/mount.h"

int reply_errno(enum error_kind kind);

/* What stat shows of NODE. */
void reply_fill_stat(const struct mount *mount, const struct node *node, struct stat *out);

/* NODE under a name that is good for TTL_MS. */
void reply_fill_entry(const struct mount *mount, const struct node *node, int64_t ttl_ms,
                      struct fuse_entry_param *out);

/* Answers a look-up; the kernel then knows NODE. */
void reply_entry(fuse_req_t req, const struct mount *mount, struct node *node, int64_t ttl_ms);

/* A proven miss is remembered for a while; any other error is not. */
void reply_lookup_error(fuse_req_t req, const struct error *err);

/* SIZE bytes from OFFSET on, as far as there are any. */
void reply_bytes(fuse_req_t req, struct span bytes, size_t size, off_t offset);

#endif
