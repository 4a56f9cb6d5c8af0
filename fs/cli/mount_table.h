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

/* Appends the mountpoint of each mount, or of each TRUSTED one, and a NUL behind each. Returns
 * their number. */
size_t mount_table_list(bool trusted, struct buf *out);

/* No user, as the owner of a mount that is not found. */
#define MOUNT_TABLE_NOBODY ((uid_t)-1)

/* The user who mounted at MOUNTPOINT, as the kernel states it. */
uid_t mount_table_owner(const char *mountpoint);

/* The same for the mount that the open file FD is in; MOUNT_TABLE_NOBODY if that is no mount of
 * ddbfs. Unlike a name, FD can't be moved to another mount. */
uid_t mount_table_owner_of_file(int fd);

/* Whether the files of a mount of OWNER may choose what a command does: OWNER is the caller or
 * root. */
bool mount_table_is_trusted(uid_t owner);

/* PATH made absolute, with links resolved above its last segment. The last segment need not exist,
 * and is not looked up. NULL if the folder above does not exist. The caller frees. */
char *mount_table_absolute(const char *path);

#endif
