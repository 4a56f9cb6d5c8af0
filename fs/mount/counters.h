/* What the mount counts of itself: one list for stats.json and for metrics. */
#ifndef DDBFS_FS_MOUNT_COUNTERS_H
#define DDBFS_FS_MOUNT_COUNTERS_H

#include "fs/mount/mount.h"

enum number_kind {
    NUMBER_GAUGE,   /* how much there is now */
    NUMBER_COUNTER, /* how much there has been since the mount was made */
};

struct number {
    const char *name; /* in stats.json; "ddbfs_" before it in metrics */
    enum number_kind kind;
    const char *unit; /* of metrics, which NAME ends with; "": none */
    double value;
    const char *help; /* one line */
};

enum { NUMBERS = 30 };

void counters_fill(const struct mount *mount, struct number out[NUMBERS]);

#endif
