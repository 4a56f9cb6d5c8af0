/* One thread, one epoll loop: descriptors, timers, deferred work. Nothing that runs on it
 * may block. Callbacks may add and remove anything, themselves included. */
#ifndef DDBFS_CORE_BASE_LOOP_H
#define DDBFS_CORE_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/clock.h"

struct loop;
struct loop_io;
struct loop_timer;

typedef void loop_io_fn(void *arg, uint32_t events); /* EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP */
typedef void loop_fn(void *arg);

/* CLOCK is borrowed. NULL when memory or descriptors ran out. */
struct loop *loop_new(struct clock *clock);
/* Everything added must have been removed. NULL is fine. */
void loop_destroy(struct loop *loop);

struct clock *loop_clock(struct loop *loop);
/* The monotonic time of that clock. */
int64_t loop_now_ms(struct loop *loop);

/* Runs until loop_stop, or until nothing is left to wait for; false when epoll failed. */
bool loop_run(struct loop *loop);
/* Makes loop_run return after the callback that is running; may be called before it too. */
void loop_stop(struct loop *loop);

/* Watches FD (borrowed) for EVENTS. NULL on failure. */
struct loop_io *loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_fn *fn, void *arg);
bool loop_change_io(struct loop_io *io, uint32_t events);
/* A descriptor that rests is watched, but keeps no loop running. */
void loop_rest_io(struct loop_io *io, bool rests);
/* Its callback never runs again. To be called before the descriptor is closed. NULL is fine. */
void loop_remove_io(struct loop_io *io);

/* Calls FN once, DELAY_MS from now (0: in the next round, behind timers that are due). The timer is
 * freed before FN runs. NULL when memory ran out. */
struct loop_timer *loop_add_timer(struct loop *loop, int64_t delay_ms, loop_fn *fn, void *arg);
/* For a timer that has not fired yet. NULL is fine. */
void loop_remove_timer(struct loop_timer *timer);

/* Calls FN about every EACH_MS while the loop runs; NULL: no more. A tick keeps no loop running. FN
 * must neither add nor remove anything. */
void loop_set_tick(struct loop *loop, int64_t each_ms, loop_fn *fn, void *arg);

#endif
