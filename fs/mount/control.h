/* /.ddbfs: what the mount tells of itself, as files made when they are looked up. */
#ifndef DDBFS_FS_MOUNT_CONTROL_H
#define DDBFS_FS_MOUNT_CONTROL_H

#include "fs/cli/control_path.h"
#include "fs/mount/mount.h"

/* The names in it, ended by NULL. */
extern const char *const control_names[];

/* Appends the content of the file NAME; false when there is none of that name. */
bool control_write(const struct mount *mount, struct span name, struct buf *out);

#endif
