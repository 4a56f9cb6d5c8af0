/* A clock, which is passed in: tests pass a virtual one. */
#ifndef DDBFS_CORE_BASE_CLOCK_H
#define DDBFS_CORE_BASE_CLOCK_H

#include <stdint.h>

struct clock {
    /* Monotonic milliseconds, which count a machine's sleep: for expiry and deadlines. */
    int64_t (*now_ms)(struct clock *clock);
    /* Milliseconds since 1970, for signatures and texts. */
    int64_t (*wall_ms)(struct clock *clock);
    /* NULL for real time. A loop with nothing ready calls it to skip MS milliseconds instead of
     * waiting. */
    void (*skip_ms)(struct clock *clock, int64_t ms);
};

/* The machine's clock; static. */
struct clock *clock_system(void);

#endif
