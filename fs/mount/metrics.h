/* The figures of the mount. Its counters are one list, for stats.json and for OpenMetrics. */
#ifndef DDBFS_FS_MOUNT_METRICS_H
#define DDBFS_FS_MOUNT_METRICS_H

#include "fs/mount/mount.h"

enum counter_kind {
    COUNTER_GAUGE, /* a current amount */
    COUNTER_TOTAL, /* an amount since the mount was made */
};

struct counter {
    const char *name; /* in stats.json; with "ddbfs_" in front in metrics */
    enum counter_kind kind;
    const char *unit; /* the end of NAME, for metrics; "": none */
    double value;
    const char *help; /* one line */
};

enum { COUNTERS = 45 };

void metrics_read_counters(const struct mount *mount, struct counter out[COUNTERS]);

/* Appends the file /.ddbfs/metrics. */
void metrics_write(const struct mount *mount, struct buf *out);

#endif
