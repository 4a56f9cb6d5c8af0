/* Where something is to be mounted: whether that can be, told in words before it is tried. */
#ifndef DDBFS_FS_MOUNT_MOUNTPOINT_H
#define DDBFS_FS_MOUNT_MOUNTPOINT_H

#include <stdbool.h>

/* What mount(2) would say in fewer words. False after a message, as below. */
bool mountpoint_check(const char *mountpoint, bool nonempty);

/* Whether no mount of ours is there. A second one on the same folder would hide the first, and need
 * a second unmount. What the kernel has of a dead one may look alive, but for a name that is known
 * for a moment only. Unless NONEMPTY, a folder with entries is not free either. */
bool mountpoint_is_free(const char *mountpoint, bool nonempty);

/* Two that mount on one folder at the same time would both find it free, and one hide the other. So
 * this is held around the last look and the mount, and closed then. -1 after a message;
 * MOUNTPOINT_NO_LOCK where the folder may not be opened. */
enum { MOUNTPOINT_NO_LOCK = -2 };
int mountpoint_lock(const char *mountpoint);

/* The number N of /dev/fd/N, which stands for an opened /dev/fuse that somebody else has mounted;
 * -1 for any other mountpoint. */
int mountpoint_handed_over(const char *mountpoint);
/* Whether it is one, and mounted. */
bool mountpoint_check_device(int fd);

#endif
