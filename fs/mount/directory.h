/* Directories while they are read. A listing is pinned: what has come stays in its place while
 * anybody has it open, so that offsets stay valid; what has not come is fetched as it is read.
 * Whoever opens the directory while its listing is fresh shares it. */
#ifndef DDBFS_FS_MOUNT_DIRECTORY_H
#define DDBFS_FS_MOUNT_DIRECTORY_H

#include "fs/mount/reply.h"

struct directory;

/* Once for each directory_close. NULL when memory ran out. */
struct directory *directory_open(struct mount *mount, struct node *node);
void directory_close(struct directory *directory);

/* What the latest listing of the directory NODE brought under NAME, and for how long that is good;
 * NULL when it brought nothing, or too long ago. */
struct node *directory_told(const struct node *node, struct span name, int64_t *ttl_left_ms);

/* The next to open PATH, or any directory below it, gets a fresh listing; where PATH is an entry,
 * its name alone is known. */
void directories_forget(struct mount *mount, struct span path);

/* Answers a READDIRPLUS, now or when the entries have come. */
void directory_read(struct directory *directory, fuse_req_t req, size_t size, off_t offset);

/* Whether somebody waits for entries of the directory NODE. */
bool directory_waits(const struct mount *mount, const struct node *node);

/* Answers all that wait in any directory with ERROR. */
void directories_end_readers(struct mount *mount, int error);

/* Ends all that wait in any directory, and the directories. */
void directories_end_all(struct mount *mount, int error);

#endif
