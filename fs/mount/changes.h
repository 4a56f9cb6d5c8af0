/* The files changes.jsonl: each grows by a line for each change of a table's items, from the moment
 * when its first reader opened it. The kernel does not report when a file is opened or closed. So
 * the kernel is made to forget the name a second after each look-up: it then frees the inode when
 * the last reader closes it, and with the inode the stream is released. ADR 57. */
#ifndef DDBFS_FS_MOUNT_CHANGES_H
#define DDBFS_FS_MOUNT_CHANGES_H

#include "fs/mount/mount.h"

/* The memory for the lines of one file. The oldest are dropped first. */
enum { CHANGES_MOST_BYTES = 8 << 20, CHANGES_MOST_FILES = 16 };

struct changes;

/* NULL when memory ran out. */
struct changes *changes_new(struct mount *mount);
void changes_destroy(struct changes *changes); /* NULL is fine */

/* Replies to the look-up REQ of the file in PARENT, the directory of a table: when every later
 * change is known to be delivered, or with the error of the stream. The caller has waited since
 * SINCE_MS. PLACE is taken. */
void changes_look_up(struct changes *changes, fuse_req_t req, struct node *parent,
                     struct place *place, int64_t since_ms);

/* Updates the size of NODE, a NODE_CHANGES. */
void changes_measure(struct changes *changes, struct node *node);

/* Replies to a read of NODE, a NODE_CHANGES. */
void changes_reply(struct changes *changes, fuse_req_t req, const struct node *node, size_t size,
                   off_t offset);

/* The kernel has forgotten the inode INO, which may be any, and it may live on. */
void changes_note_forget(struct changes *changes, uint64_t ino);

#endif
