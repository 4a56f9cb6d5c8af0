/* The file system's operations: find the node, ask the tree, reply. */
#ifndef DDBFS_FS_MOUNT_OPS_H
#define DDBFS_FS_MOUNT_OPS_H

#include "fs/mount/mount.h"

/* The user data of the session is the struct mount. */
extern const struct fuse_lowlevel_ops ops;

#endif
