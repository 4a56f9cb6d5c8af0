/* /.ddbfs: files about the mount, made when they are looked up. */
#ifndef DDBFS_FS_MOUNT_CONTROL_H
#define DDBFS_FS_MOUNT_CONTROL_H

#include "fs/cli/live_mount.h"
#include "fs/mount/mount.h"

/* The names in it, ended by NULL. */
extern const char *const control_names[];

/* Appends the content of the file NAME; false when there is no such file. */
bool control_write(const struct mount *mount, struct span name, struct buf *out);

/* The latest paths that were opened in directories without a listing, for /.ddbfs/recent. */
enum { RECENT_PATHS_MOST = 256 };

struct recent_paths *recent_paths_new(void);            /* NULL when memory ran out */
void recent_paths_destroy(struct recent_paths *recent); /* NULL is fine */

/* PATH has been opened: it becomes the first, once. Without memory it is left out. */
void recent_paths_add(struct recent_paths *recent, struct span path);

/* Records that NAME in DIRECTORY was opened, if no listing shows it. DIRECTORY may be NULL. */
void recent_paths_note(const struct mount *mount, const struct node *directory, struct span name);

/* Appends the paths, one per line, the newest first. */
void recent_paths_write(const struct recent_paths *recent, struct buf *out);

#endif
