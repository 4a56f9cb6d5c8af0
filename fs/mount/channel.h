/* What goes to the kernel, where it must be other than what libfuse writes: libfuse up to 3.16.1
 * takes FUSE_CAP_PARALLEL_DIROPS and never tells the kernel of it (libfuse's pull request 861).
 * Without it the kernel asks for one name of a directory at a time, and who waits for his turn
 * is immune to every signal. */
#ifndef DDBFS_FS_MOUNT_CHANNEL_H
#define DDBFS_FS_MOUNT_CHANNEL_H

#include "fs/mount/mount.h"

/* To be called once, when the session is mounted. False when memory ran out. */
bool channel_open(struct fuse_session *session);

#endif
