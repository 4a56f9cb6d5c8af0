/* Time as a thing that is passed in, so that tests need not wait for it. */
#ifndef DDBFS_CORE_BASE_CLOCK_H
#define DDBFS_CORE_BASE_CLOCK_H

#include <stdint.h>

struct clock {
    /* Milliseconds that nobody sets, and that count a machine's sleep; expiry and deadlines run on
     * these. */
    int64_t (*now_ms)(struct clock *clock);
    /* Milliseconds since 1970, for signatures and for people. */
    int64_t (*wall_ms)(struct clock *clock);
    /* NULL for real time. A virtual clock sets it: a loop with nothing ready calls it to
     * pass MS milliseconds instead of waiting for them. */
    void (*skip_ms)(struct clock *clock, int64_t ms);
};

/* The machine's clock; one for all, never freed. */
struct clock *clock_system(void);

#endif
