/* What `ddbfs top` shows, made of what a mount tells of itself in stats.json. */
#ifndef DDBFS_FS_CLI_TOP_FRAME_H
#define DDBFS_FS_CLI_TOP_FRAME_H

#include "core/base/buf.h"

/* Appends the lines that show STATS, of the mount at ROOT: no more than ROWS of them (0: all).
 * Nothing in them would make a terminal act. False when STATS is not what a mount writes. */
bool top_frame_write(struct span stats, const char *root, unsigned rows, struct buf *out);

#endif
