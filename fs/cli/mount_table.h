/* The mounts of ddbfs on this machine, as the kernel's own table has them. A mount is never asked:
 * its daemon may be dead. */
#ifndef DDBFS_FS_CLI_MOUNT_TABLE_H
#define DDBFS_FS_CLI_MOUNT_TABLE_H

#include <sys/types.h>

#include "core/base/buf.h"

/* The mountpoint of the mount of ddbfs that PATH, which is absolute, is in; false when it is in
 * none. */
bool mount_table_find(const char *path, struct buf *mountpoint);

/* Makes WHOLE the absolute form of PATH, and ROOT the mountpoint that it is in; false when it is in
 * none. Links are resolved on the way to the mount. In it nothing is looked up: to look for a
 * record would be to read it. */
bool mount_table_resolve(const char *path, struct buf *whole, struct buf *root);

/* Appends the mountpoint of each mount of ddbfs, and a NUL; how many they are. */
size_t mount_table_list(struct buf *out);

/* The user for whom the mount at MOUNTPOINT was made; false when there is none, or it is not
 * told. */
bool mount_table_owner(const char *mountpoint, uid_t *owner);

/* PATH made absolute, with links resolved above its last segment, which need not be there and is
 * not looked at. NULL when the folder is not there; the caller frees. */
char *mount_table_absolute(const char *path);

#endif
