/* The mounts of ddbfs on this machine, as the kernel's own table has them. A mount is never asked:
 * its daemon may be dead. */
#ifndef DDBFS_FS_CLI_MOUNTS_H
#define DDBFS_FS_CLI_MOUNTS_H

#include "core/base/buf.h"

/* The mountpoint of the mount of ddbfs that PATH, which is absolute, is in; false when it is in
 * none. */
bool mounts_find(const char *path, struct buf *mountpoint);

/* PATH made absolute, with links resolved above its last segment, which need not be there and is
 * not looked at. NULL when the folder is not there; the caller frees. */
char *mounts_absolute(const char *path);

#endif
