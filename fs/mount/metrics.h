/* /.ddbfs/metrics: the mount's numbers as OpenMetrics text. */
#ifndef DDBFS_FS_MOUNT_METRICS_H
#define DDBFS_FS_MOUNT_METRICS_H

#include "fs/mount/mount.h"

void metrics_write(const struct mount *mount, struct buf *out);

#endif
