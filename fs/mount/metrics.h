/* /.ddbfs/metrics: the mount's numbers as OpenMetrics text. */
#ifndef DDBFS_FS_MOUNT_METRICS_H
#define DDBFS_FS_MOUNT_METRICS_H

#include "fs/mount/mount.h"

void metrics_write(const struct mount *mount, struct buf *out);

/* What the mount counts of itself: one list for stats.json and for metrics. */
enum counter_kind {
    COUNTER_GAUGE, /* how much there is now */
    COUNTER_SUM,   /* how much there has been since the mount was made */
};

struct counter {
    const char *name; /* in stats.json; "ddbfs_" before it in metrics */
    enum counter_kind kind;
    const char *unit; /* of metrics, which NAME ends with; "": none */
    double value;
    const char *help; /* one line */
};

enum { COUNTERS = 30 };

void metrics_fill_counters(const struct mount *mount, struct counter out[COUNTERS]);

#endif
