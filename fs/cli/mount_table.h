/* The mounts of ddbfs on this machine, from the kernel's table. No function accesses a mount: its
 * daemon may be dead. */
#ifndef DDBFS_FS_CLI_MOUNT_TABLE_H
#define DDBFS_FS_CLI_MOUNT_TABLE_H

#include <sys/types.h>

#include "core/base/buf.h"

/* Sets MOUNTPOINT to that of the mount which contains the absolute PATH; false if none does. */
bool mount_table_find(const char *path, struct buf *mountpoint);

/* Sets WHOLE to the absolute form of PATH, and ROOT to the mountpoint of the mount which contains
 * it; false if none does. Links are resolved up to the mount. Nothing is looked up in the mount:
 * the look-up of an item is a paid request. */
bool mount_table_resolve(const char *path, struct buf *whole, struct buf *root);

/* Appends the mountpoint of each mount, and a NUL behind each. Returns their number. */
size_t mount_table_list(struct buf *out);

/* Sets OWNER to the user who mounted at MOUNTPOINT; false if there is no mount, or no user known.
 */
bool mount_table_owner(const char *mountpoint, uid_t *owner);

/* PATH made absolute, with links resolved above its last segment. The last segment need not exist,
 * and is not looked up. NULL if the folder above does not exist. The caller frees. */
char *mount_table_absolute(const char *path);

#endif
