/* /.ddbfs: what the mount tells of itself, as files made when they are looked up. */
#ifndef DDBFS_FS_MOUNT_CONTROL_H
#define DDBFS_FS_MOUNT_CONTROL_H

#include "core/base/buf.h"
#include "fs/cli/control_path.h"
#include "fs/mount/mount.h"

/* The names in it, ended by NULL. */
extern const char *const control_names[];

/* Appends the content of the file NAME; false when there is none of that name. */
bool control_write(const struct mount *mount, struct span name, struct buf *out);

/* The paths that were opened last where nothing lists them: /.ddbfs/recent. */
struct recent_paths;

enum { RECENT_PATHS_MOST = 256 };

struct recent_paths *recent_paths_new(void);            /* NULL when memory ran out */
void recent_paths_destroy(struct recent_paths *recent); /* NULL is fine */

/* PATH has been opened: it comes first from now on, and once. Without memory for it nothing is
 * kept. */
void recent_paths_add(struct recent_paths *recent, struct span path);

/* Appends the paths, the newest first, each on a line of its own. */
void recent_paths_write(const struct recent_paths *recent, struct buf *out);

#endif
