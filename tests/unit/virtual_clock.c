/* The clock of tests. */
#include "tests/unit/virtual_clock.h"

static int64_t virtual_now_ms(struct clock *clock)
{
    return ((struct virtual_clock *)clock)->now_ms;
}

static int64_t virtual_wall_ms(struct clock *clock)
{
    return ((struct virtual_clock *)clock)->wall_ms;
}

void virtual_clock_pass(struct virtual_clock *clock, int64_t ms)
{
    clock->now_ms += ms;
    clock->wall_ms += ms;
}

static void virtual_skip_ms(struct clock *clock, int64_t ms)
{
    virtual_clock_pass((struct virtual_clock *)clock, ms);
}

void virtual_clock_init(struct virtual_clock *clock, int64_t wall_ms)
{
    *clock = (struct virtual_clock){
        .clock = {virtual_now_ms, virtual_wall_ms, virtual_skip_ms},
        .now_ms = 1000000,
        .wall_ms = wall_ms,
    };
}
