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
 */
static int64_t clock_system_now_ms(struct clock *clock)
{
    (void)clock;
    return clock_read_ms(CLOCK_BOOTTIME);
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
