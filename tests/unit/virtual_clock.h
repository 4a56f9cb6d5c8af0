/* A clock that passes time instead of waiting for it: a loop with nothing ready skips to its
 * next timer at once. */
#ifndef DDBFS_TESTS_UNIT_VIRTUAL_CLOCK_H
#define DDBFS_TESTS_UNIT_VIRTUAL_CLOCK_H

#include "core/base/clock.h"

struct virtual_clock {
    struct clock clock; /* first: a pointer to it is a pointer to this */
    int64_t now_ms;
    int64_t wall_ms;
};

void virtual_clock_init(struct virtual_clock *clock, int64_t wall_ms);

/* Lets MS milliseconds pass on both faces. */
void virtual_clock_pass(struct virtual_clock *clock, int64_t ms);

#endif
