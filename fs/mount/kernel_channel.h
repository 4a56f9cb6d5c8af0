/* What goes to the kernel, where it must be other than what libfuse writes: libfuse up to 3.16.1
 * takes FUSE_CAP_PARALLEL_DIROPS and never tells the kernel of it (libfuse's pull request 861).
 * Without it the kernel asks for one name of a directory at a time, and who waits for his turn
 * is immune to every signal. */
#ifndef DDBFS_FS_MOUNT_KERNEL_CHANNEL_H
#define DDBFS_FS_MOUNT_KERNEL_CHANNEL_H

#include "fs/mount/mount.h"

/* Makes the kernel forget every name, with one write that waits for nobody. False with errno:
 * EINVAL from a kernel before 6.16, which does not know it. */
bool kernel_channel_forget_all(struct fuse_session *session);

/* The number of the connection behind MOUNTPOINT; 0 when it can't be found out. Asks nobody. */
unsigned kernel_channel_connection(const char *mountpoint);

/* Ends the connection, which is mounted at MOUNTPOINT: the kernel waits for no answer any more, and
 * whoever waits in it is let go. What is left undone is no error: the last resort has no next. */
void kernel_channel_abort(unsigned connection, const char *mountpoint);

/* To be called once, when the session is mounted. False when memory ran out. */
bool kernel_channel_open(struct fuse_session *session);

#endif
