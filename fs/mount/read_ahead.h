/* Reading ahead from file to file: when a program reads the files of a listing in its order
 * (`grep -r`), the next files are stored in the kernel's page cache before they are read. Inodes
 * never change, so stored bytes are always right. ADR 19. */
#ifndef DDBFS_FS_MOUNT_READ_AHEAD_H
#define DDBFS_FS_MOUNT_READ_AHEAD_H

#include "fs/mount/mount.h"

struct read_ahead;

/* NULL when memory ran out. */
struct read_ahead *read_ahead_new(struct mount *mount);
void read_ahead_destroy(struct read_ahead *ahead); /* NULL is fine */

/* NODE, a file in memory, has just been read. */
void read_ahead_note(struct read_ahead *ahead, const struct node *node);
/* How many files have been stored before they were read. */
uint64_t read_ahead_count(const struct read_ahead *ahead);

#endif
