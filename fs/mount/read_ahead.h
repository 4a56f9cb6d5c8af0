/* Reading ahead from file to file. Whoever reads the files of a listing in its order (`grep -r`) is
 * given the next ones before he asks: their bytes go into the kernel's page cache, so that reading
 * them is no request. Inodes never change, so what is there is right. */
#ifndef DDBFS_FS_MOUNT_READ_AHEAD_H
#define DDBFS_FS_MOUNT_READ_AHEAD_H

#include "fs/mount/mount.h"

struct read_ahead;

/* NULL when memory ran out. */
struct read_ahead *read_ahead_new(struct mount *mount);
void read_ahead_destroy(struct read_ahead *ahead); /* NULL is fine */

/* NODE, a file whose bytes are here, has just been read. */
void read_ahead_note(struct read_ahead *ahead, const struct node *node);
/* How many files have been given before they were asked for. */
uint64_t read_ahead_count(const struct read_ahead *ahead);

#endif
