/* The epoll loop: a list of watched descriptors, a heap of timers, and rounds. */
#include "core/base/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { MAX_EVENTS = 64 };

/* Keeps the sum of a time and a delay within int64_t. */
static const int64_t MAX_DELAY_MS = INT64_MAX / 4;

struct loop_io {
    struct loop *loop; /* NULL once removed: epoll may have reported it in this round already */
    struct loop_io *next_removed;
    int fd; /* borrowed */
    bool rests;
    loop_io_fn *fn;
    void *arg;
};

struct loop_timer {
    struct loop *loop;
    int64_t due_ms;
    uint64_t sequence; /* the order of timers that are due at once */
    size_t at;         /* its place in the heap */
    loop_fn *fn;
    void *arg;
};

struct loop {
    struct clock *clock;
    int epoll;
    bool stopping;
    size_t io_count;          /* without those that rest */
    struct loop_io *removed;  /* owned; freed after the round, whose events may name them */
    struct loop_timer **heap; /* owned; the earliest first, children of i at 2i+1 and 2i+2 */
    size_t timer_count;
    size_t timer_capacity;
    uint64_t sequence; /* of the next timer */
    loop_fn *tick;     /* may be NULL */
    void *tick_arg;
    int64_t tick_ms, tick_due_ms;
};

struct loop *loop_new(struct clock *clock)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->clock = clock;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll >= 0)
        return loop;
    free(loop);
    return NULL;
}

static void loop_free_removed(struct loop *loop)
{
    while (loop->removed) {
        struct loop_io *io = loop->removed;
        loop->removed = io->next_removed;
        free(io);
    }
}

void loop_destroy(struct loop *loop)
{
    if (!loop)
        return;
    loop_free_removed(loop);
    close(loop->epoll);
    free(loop->heap);
    free(loop);
}

int64_t loop_now_ms(struct loop *loop)
{
    return loop->clock->now_ms(loop->clock);
}

struct clock *loop_clock(struct loop *loop)
{
    return loop->clock;
}

void loop_stop(struct loop *loop)
{
    loop->stopping = true;
}

/* Descriptors. */

struct loop_io *loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_fn *fn, void *arg)
{
    struct loop_io *io = calloc(1, sizeof *io);
    if (!io)
        return NULL;
    *io = (struct loop_io){.loop = loop, .fd = fd, .fn = fn, .arg = arg};
    struct epoll_event event = {.events = events, .data.ptr = io};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        free(io);
        return NULL;
    }
    loop->io_count++;
    return io;
}

bool loop_change_io(struct loop_io *io, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = io};
    return epoll_ctl(io->loop->epoll, EPOLL_CTL_MOD, io->fd, &event) == 0;
}

void loop_rest_io(struct loop_io *io, bool rests)
{
    io->loop->io_count += io->rests;
    io->loop->io_count -= rests;
    io->rests = rests;
}

void loop_remove_io(struct loop_io *io)
{
    if (!io)
        return;
    struct loop *loop = io->loop;
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, io->fd, NULL);
    loop->io_count -= !io->rests;
    io->loop = NULL;
    io->next_removed = loop->removed;
    loop->removed = io;
}

/* Timers. */

static bool loop_before(const struct loop_timer *a, const struct loop_timer *b)
{
    if (a->due_ms != b->due_ms)
        return a->due_ms < b->due_ms;
    return a->sequence < b->sequence;
}

static void loop_place(struct loop *loop, struct loop_timer *timer, size_t at)
{
    loop->heap[at] = timer;
    timer->at = at;
}

static void loop_sift_up(struct loop *loop, struct loop_timer *timer)
{
    size_t at = timer->at;
    while (at > 0 && loop_before(timer, loop->heap[(at - 1) / 2])) {
        loop_place(loop, loop->heap[(at - 1) / 2], at);
        at = (at - 1) / 2;
    }
    loop_place(loop, timer, at);
}

static void loop_sift_down(struct loop *loop, struct loop_timer *timer)
{
    size_t at = timer->at;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < loop->timer_count && loop_before(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (child >= loop->timer_count || !loop_before(loop->heap[child], timer))
            break;
        loop_place(loop, loop->heap[child], at);
        at = child;
    }
    loop_place(loop, timer, at);
}

static bool loop_reserve_timer(struct loop *loop)
{
    if (loop->timer_count < loop->timer_capacity)
        return true;
    size_t capacity = loop->timer_capacity ? 2 * loop->timer_capacity : 16;
    struct loop_timer **heap = reallocarray(loop->heap, capacity, sizeof *heap);
    if (!heap)
        return false;
    loop->heap = heap;
    loop->timer_capacity = capacity;
    return true;
}

struct loop_timer *loop_add_timer(struct loop *loop, int64_t delay_ms, loop_fn *fn, void *arg)
{
    struct loop_timer *timer = loop_reserve_timer(loop) ? calloc(1, sizeof *timer) : NULL;
    if (!timer)
        return NULL;
    int64_t delay = delay_ms < 0 ? 0 : delay_ms < MAX_DELAY_MS ? delay_ms : MAX_DELAY_MS;
    *timer = (struct loop_timer){.loop = loop, .fn = fn, .arg = arg};
    timer->due_ms = loop_now_ms(loop) + delay;
    timer->sequence = loop->sequence++;
    loop_place(loop, timer, loop->timer_count++);
    loop_sift_up(loop, timer);
    return timer;
}

void loop_remove_timer(struct loop_timer *timer)
{
    if (!timer)
        return;
    struct loop *loop = timer->loop;
    struct loop_timer *last = loop->heap[--loop->timer_count];
    if (last != timer) {
        loop_place(loop, last, timer->at);
        loop_sift_up(loop, last);
        loop_sift_down(loop, last);
    }
    free(timer);
}

/* Rounds. */

/* A timer that a callback adds waits for the next round, even if it is due at once: a callback that
 * adds itself again must not starve the descriptors. */
static void loop_fire_due(struct loop *loop)
{
    int64_t now = loop_now_ms(loop);
    uint64_t first_new = loop->sequence;
    while (!loop->stopping && loop->timer_count > 0) {
        struct loop_timer *timer = loop->heap[0];
        loop_fn *fn = timer->fn;
        void *arg = timer->arg;
        if (timer->due_ms > now || timer->sequence >= first_new)
            return;
        loop_remove_timer(timer);
        fn(arg);
    }
}

/* Milliseconds to the next timer or tick; negative without one. */
static int64_t loop_until_timer(struct loop *loop)
{
    if (loop->timer_count == 0 && !loop->tick)
        return -1;
    int64_t due_ms = loop->timer_count > 0 ? loop->heap[0]->due_ms : loop->tick_due_ms;
    if (loop->tick && loop->tick_due_ms < due_ms)
        due_ms = loop->tick_due_ms;
    int64_t left = due_ms - loop_now_ms(loop);
    return left > 0 ? left : 0;
}

/* Waits for events until the next timer, calls their functions, then those of the timers that are
 * due. False when epoll failed. */
static bool loop_run_round(struct loop *loop)
{
    struct epoll_event events[MAX_EVENTS];
    bool skips = loop->clock->skip_ms;
    int64_t until_ms = loop_until_timer(loop);
    int timeout_ms = until_ms > INT_MAX ? INT_MAX : (int)until_ms;
    int count =
        epoll_wait(loop->epoll, events, MAX_EVENTS, skips && until_ms >= 0 ? 0 : timeout_ms);
    if (count < 0 && errno != EINTR)
        return false;
    if (count == 0 && until_ms > 0 && skips)
        loop->clock->skip_ms(loop->clock, until_ms);
    for (int i = 0; i < count && !loop->stopping; i++) {
        struct loop_io *io = events[i].data.ptr;
        if (io->loop)
            io->fn(io->arg, events[i].events);
    }
    loop_free_removed(loop);
    loop_fire_due(loop);
    if (loop->tick && loop_now_ms(loop) >= loop->tick_due_ms) {
        loop->tick_due_ms = loop_now_ms(loop) + loop->tick_ms;
        loop->tick(loop->tick_arg);
    }
    return true;
}

void loop_set_tick(struct loop *loop, int64_t each_ms, loop_fn *fn, void *arg)
{
    loop->tick = fn;
    loop->tick_arg = arg;
    loop->tick_ms = each_ms;
    loop->tick_due_ms = loop_now_ms(loop) + each_ms;
}

bool loop_run(struct loop *loop)
{
    bool ok = true;
    while (ok && !loop->stopping && (loop->io_count > 0 || loop->timer_count > 0))
        ok = loop_run_round(loop);
    loop->stopping = false;
    return ok;
}
