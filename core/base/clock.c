#include "core/base/clock.h"

#include <stddef.h>
#include <time.h>

static int64_t clock_read_ms(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The clock counts the time that a laptop sleeps: items that were read before are old afterwards.
 * It never goes back and is never negative, also if the system's does, as on a faulty virtual
 * machine: a step back counts as no time. Deadlines stay, and so do the rings of seconds. */
static int64_t clock_system_now_ms(struct clock *clock)
{
    static _Thread_local int64_t last_ms, shift_ms;
    int64_t now_ms = clock_read_ms(CLOCK_BOOTTIME);
    (void)clock;
    if (now_ms < last_ms)
        shift_ms += last_ms - now_ms;
    last_ms = now_ms;
    return now_ms + shift_ms;
}

static int64_t clock_system_wall_ms(struct clock *clock)
{
    (void)clock;
    return clock_read_ms(CLOCK_REALTIME);
}

struct clock *clock_system(void)
{
    static struct clock clock = {.now_ms = clock_system_now_ms, .wall_ms = clock_system_wall_ms};
    return &clock;
}
