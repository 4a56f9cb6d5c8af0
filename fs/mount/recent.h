/* The paths that were opened last where nothing lists them: /.ddbfs/recent. */
#ifndef DDBFS_FS_MOUNT_RECENT_H
#define DDBFS_FS_MOUNT_RECENT_H

#include "core/base/buf.h"

struct recent;

enum { RECENT_MOST = 256 };

struct recent *recent_new(void);            /* NULL when memory ran out */
void recent_destroy(struct recent *recent); /* NULL is fine */

/* PATH has been opened: it comes first from now on, and once. Without memory for it nothing is
 * kept. */
void recent_add(struct recent *recent, struct span path);

/* Appends the paths, the newest first, each on a line of its own. */
void recent_write(const struct recent *recent, struct buf *out);

#endif
