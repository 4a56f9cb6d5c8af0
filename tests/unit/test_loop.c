/* The loop: descriptors, timers, virtual time. */
#include "core/base/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/unit/check.h"

struct virtual_clock {
    struct clock clock; /* first */
    int64_t ms;
    int skips;
};

static int64_t virtual_now_ms(struct clock *clock)
{
    return ((struct virtual_clock *)clock)->ms;
}

static void virtual_skip_ms(struct clock *clock, int64_t ms)
{
    struct virtual_clock *self = (struct virtual_clock *)clock;
    self->ms += ms;
    self->skips++;
}

static struct virtual_clock virtual_clock(void)
{
    return (struct virtual_clock){
        .clock = {virtual_now_ms, virtual_now_ms, virtual_skip_ms},
        .ms = 1000,
    };
}

/* What the callbacks of one test share. */
struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct loop_io *ios[2];
    struct loop_timer *timer;
    int fds[2];
    int calls;
    int limit;
    char order[64];
};

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.clock = virtual_clock(), .fds = {-1, -1}};
    scene->loop = loop_new(&scene->clock.clock);
    CHECK(scene->loop);
}

static void close_scene(struct scene *scene)
{
    for (int i = 0; i < 2; i++)
        if (scene->fds[i] >= 0)
            close(scene->fds[i]);
    loop_destroy(scene->loop);
}

static void open_ready_fds(struct scene *scene)
{
    for (int i = 0; i < 2; i++) {
        scene->fds[i] = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK(scene->fds[i] >= 0);
    }
}

struct mark {
    struct scene *scene;
    char letter;
};

static void on_mark(void *arg)
{
    struct mark *mark = arg;
    mark->scene->order[mark->scene->calls++] = mark->letter;
}

static void count(void *arg)
{
    ((struct scene *)arg)->calls++;
}

static void empty_loop_ends(void)
{
    struct scene scene;
    open_scene(&scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.clock.skips, 0);
    close_scene(&scene);
}

static void timers_fire_in_order(void)
{
    struct scene scene;
    open_scene(&scene);
    struct mark marks[] = {{&scene, 'c'}, {&scene, 'a'}, {&scene, 'd'}, {&scene, 'b'}};
    CHECK(loop_add_timer(scene.loop, 30, on_mark, &marks[0]));
    CHECK(loop_add_timer(scene.loop, 10, on_mark, &marks[1]));
    CHECK(loop_add_timer(scene.loop, 30, on_mark, &marks[2]));
    CHECK(loop_add_timer(scene.loop, 20, on_mark, &marks[3]));
    CHECK(loop_run(scene.loop));
    CHECK_TEXT(scene.order, "abcd");
    CHECK_INT(scene.clock.ms, 1030);
    CHECK_INT(scene.clock.skips, 3);
    close_scene(&scene);
}

struct due {
    struct scene *scene;
    int64_t due_ms;
};

static void check_due(void *arg)
{
    struct due *due = arg;
    if (due->scene->clock.ms == due->due_ms)
        due->scene->calls++;
}

enum { MANY = 5000 };

static void many_timers_fire_when_due(void)
{
    static struct due dues[MANY];
    static struct loop_timer *timers[MANY];
    struct scene scene;
    open_scene(&scene);
    for (int i = 0; i < MANY; i++) {
        int64_t delay = (int64_t)i * 7919 % 10007;
        dues[i] = (struct due){&scene, 1000 + delay};
        timers[i] = loop_add_timer(scene.loop, delay, check_due, &dues[i]);
        CHECK(timers[i]);
    }
    for (int i = 0; i < MANY; i += 3)
        loop_remove_timer(timers[i]);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, MANY - (MANY + 2) / 3);
    close_scene(&scene);
}

static void negative_delay_is_none(void)
{
    struct scene scene;
    open_scene(&scene);
    CHECK(loop_add_timer(scene.loop, -5, count, &scene));
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 1);
    CHECK_INT(scene.clock.ms, 1000);
    close_scene(&scene);
}

static void removed_timer_does_not_fire(void)
{
    struct scene scene;
    open_scene(&scene);
    struct loop_timer *timer = loop_add_timer(scene.loop, 5, count, &scene);
    loop_remove_timer(timer);
    loop_remove_timer(NULL);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 0);
    close_scene(&scene);
}

static void remove_the_other(void *arg)
{
    struct scene *scene = arg;
    scene->calls++;
    loop_remove_timer(scene->timer);
}

static void timer_removes_one_that_is_due(void)
{
    struct scene scene;
    open_scene(&scene);
    CHECK(loop_add_timer(scene.loop, 5, remove_the_other, &scene));
    scene.timer = loop_add_timer(scene.loop, 5, count, &scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 1);
    close_scene(&scene);
}

static void on_io_once(void *arg, uint32_t events)
{
    struct scene *scene = arg;
    CHECK(events & EPOLLIN);
    scene->order[scene->calls++] = 'i';
    loop_remove_io(scene->ios[0]);
}

static void add_again(void *arg)
{
    struct scene *scene = arg;
    if (scene->calls == 0)
        scene->ios[0] = loop_add_io(scene->loop, scene->fds[0], EPOLLIN, on_io_once, scene);
    scene->order[scene->calls] = 't';
    if (++scene->calls < scene->limit)
        loop_add_timer(scene->loop, 0, add_again, scene);
}

static void timer_at_once_lets_descriptors_in(void)
{
    struct scene scene;
    open_scene(&scene);
    open_ready_fds(&scene);
    scene.limit = 4;
    CHECK(loop_add_timer(scene.loop, 0, add_again, &scene));
    CHECK(loop_run(scene.loop));
    CHECK_TEXT(scene.order, "titt");
    close_scene(&scene);
}

static void on_first(void *arg, uint32_t events)
{
    struct scene *scene = arg;
    (void)events;
    scene->calls++;
    for (int i = 0; i < 2; i++)
        loop_remove_io(scene->ios[i]);
}

static void removed_in_the_round_is_not_called(void)
{
    struct scene scene;
    open_scene(&scene);
    open_ready_fds(&scene);
    for (int i = 0; i < 2; i++)
        scene.ios[i] = loop_add_io(scene.loop, scene.fds[i], EPOLLIN, on_first, &scene);
    CHECK(scene.ios[0] && scene.ios[1]);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 1);
    close_scene(&scene);
}

static void on_replacement(void *arg, uint32_t events)
{
    struct scene *scene = arg;
    (void)events;
    scene->order[scene->calls++] = 'r';
    loop_remove_io(scene->ios[0]);
}

/* Closes both, and watches a new descriptor that has the number of one of them. */
static void on_replace(void *arg, uint32_t events)
{
    struct scene *scene = arg;
    (void)events;
    scene->order[scene->calls++] = 'o';
    for (int i = 0; i < 2; i++) {
        loop_remove_io(scene->ios[i]);
        close(scene->fds[i]);
    }
    open_ready_fds(scene);
    scene->ios[0] = loop_add_io(scene->loop, scene->fds[0], EPOLLIN, on_replacement, scene);
}

static void reused_descriptor_is_not_mixed_up(void)
{
    struct scene scene;
    open_scene(&scene);
    open_ready_fds(&scene);
    for (int i = 0; i < 2; i++)
        scene.ios[i] = loop_add_io(scene.loop, scene.fds[i], EPOLLIN, on_replace, &scene);
    CHECK(loop_run(scene.loop));
    CHECK_TEXT(scene.order, "or");
    close_scene(&scene);
}

static void on_writable(void *arg, uint32_t events)
{
    struct scene *scene = arg;
    scene->calls = (int)events;
    loop_remove_io(scene->ios[0]);
}

static void changed_events_are_heeded(void)
{
    struct scene scene;
    open_scene(&scene);
    open_ready_fds(&scene);
    scene.ios[0] = loop_add_io(scene.loop, scene.fds[0], EPOLLIN, on_writable, &scene);
    CHECK(loop_change_io(scene.ios[0], EPOLLOUT));
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, EPOLLOUT);
    close_scene(&scene);
}

static void on_rested(void *arg, uint32_t events)
{
    struct scene *scene = arg;
    (void)events;
    scene->calls++;
    loop_rest_io(scene->ios[0], true);
}

/* The descriptor is ready all the time. It is reported, but the loop does not go on for it. */
static void a_resting_descriptor_keeps_no_loop_running(void)
{
    struct scene scene;
    open_scene(&scene);
    open_ready_fds(&scene);
    scene.ios[0] = loop_add_io(scene.loop, scene.fds[0], EPOLLIN, on_rested, &scene);
    loop_rest_io(scene.ios[0], true);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 0);
    loop_rest_io(scene.ios[0], false);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 1);
    loop_remove_io(scene.ios[0]);
    CHECK(loop_run(scene.loop));
    close_scene(&scene);
}

static void bad_descriptor_is_refused(void)
{
    struct scene scene;
    open_scene(&scene);
    CHECK(!loop_add_io(scene.loop, -1, EPOLLIN, on_writable, &scene));
    CHECK(loop_run(scene.loop));
    close_scene(&scene);
}

static void stop_now(void *arg)
{
    struct scene *scene = arg;
    scene->calls++;
    loop_stop(scene->loop);
}

static void stop_ends_before_the_next_callback(void)
{
    struct scene scene;
    open_scene(&scene);
    CHECK(loop_add_timer(scene.loop, 1, stop_now, &scene));
    CHECK(loop_add_timer(scene.loop, 1, count, &scene));
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 1);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 2);
    close_scene(&scene);
}

static void stop_before_run(void)
{
    struct scene scene;
    open_scene(&scene);
    CHECK(loop_add_timer(scene.loop, 1, count, &scene));
    loop_stop(scene.loop);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 0);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 1);
    close_scene(&scene);
}

static void on_stopping(void *arg, uint32_t events)
{
    struct scene *scene = arg;
    (void)events;
    scene->calls++;
    loop_stop(scene->loop);
}

static void stopped_round_reports_the_rest_again(void)
{
    struct scene scene;
    open_scene(&scene);
    open_ready_fds(&scene);
    for (int i = 0; i < 2; i++)
        scene.ios[i] = loop_add_io(scene.loop, scene.fds[i], EPOLLIN, on_stopping, &scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 1);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.calls, 2);
    for (int i = 0; i < 2; i++)
        loop_remove_io(scene.ios[i]);
    close_scene(&scene);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

static void stop_after_alarms(void *arg)
{
    struct scene *scene = arg;
    if (alarms >= 3)
        return;
    scene->calls++;
    CHECK(loop_add_timer(scene->loop, 20, stop_after_alarms, scene));
}

static void interrupted_wait_goes_on(void)
{
    struct sigaction action = {.sa_handler = on_alarm}, old;
    struct itimerval every = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    struct scene scene;
    open_scene(&scene);
    loop_destroy(scene.loop);
    scene.loop = loop_new(clock_system());
    CHECK(loop_add_timer(scene.loop, 20, stop_after_alarms, &scene));
    sigaction(SIGALRM, &action, &old);
    setitimer(ITIMER_REAL, &every, NULL);
    bool ok = loop_run(scene.loop);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    CHECK(ok);
    CHECK(alarms >= 3);
    close_scene(&scene);
}

static void clock_is_the_one_given(void)
{
    struct scene scene;
    open_scene(&scene);
    CHECK(loop_clock(scene.loop) == &scene.clock.clock);
    close_scene(&scene);
    loop_destroy(NULL);
}

static const struct check_test tests[] = {
    {"an empty loop ends", empty_loop_ends},
    {"timers fire in order", timers_fire_in_order},
    {"many timers fire when due", many_timers_fire_when_due},
    {"a negative delay is none", negative_delay_is_none},
    {"a removed timer does not fire", removed_timer_does_not_fire},
    {"a timer removes one that is due", timer_removes_one_that_is_due},
    {"a timer at once lets descriptors in", timer_at_once_lets_descriptors_in},
    {"removed in the round is not called", removed_in_the_round_is_not_called},
    {"a reused descriptor is not mixed up", reused_descriptor_is_not_mixed_up},
    {"changed events are heeded", changed_events_are_heeded},
    {"a resting descriptor keeps no loop running", a_resting_descriptor_keeps_no_loop_running},
    {"a bad descriptor is refused", bad_descriptor_is_refused},
    {"stop ends before the next callback", stop_ends_before_the_next_callback},
    {"stop before run", stop_before_run},
    {"a stopped round reports the rest again", stopped_round_reports_the_rest_again},
    {"an interrupted wait goes on", interrupted_wait_goes_on},
    {"the clock is the one given", clock_is_the_one_given},
};
CHECK_MAIN(tests)
