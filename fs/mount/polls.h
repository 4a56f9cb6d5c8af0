/* The account of the polls of streams (--live): the mount itself pays for them, and the ledger gets
 * a line about them each minute. */
#ifndef DDBFS_FS_MOUNT_POLLS_H
#define DDBFS_FS_MOUNT_POLLS_H

#include "fs/mount/mount.h"

struct polls;

/* The sources of MOUNT, which has its accounts, follow streams from now on. NULL when memory ran
 * out. */
struct polls *polls_new(struct mount *mount);
/* To be called before the loop ends. NULL is fine. */
void polls_leave_loop(struct polls *polls);
/* To be called after the sources were destroyed. NULL is fine. */
void polls_destroy(struct polls *polls);

#endif
