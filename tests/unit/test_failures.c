/* Failures, and who is told of them at once. Who sleeps is said here instead of by /proc. */
#include "fs/mount/failures.h"

#include <errno.h>

#include "fs/mount/waiting.h"
#include "tests/unit/check.h"

enum { CALLER = 100, QUEUED = 200, STRANGER = 300, SLOW_MS = 100, LOOK_MS = 50, AGAIN_MS = 1000 };

/* The tasks that sleep, and how often the failures have looked for them. */
static struct sleepers asleep;
static int looks;

void sleepers_find(struct sleepers *out)
{
    looks++;
    *out = asleep;
}

/* A task that has gone to sleep no more than that has not done anything else meanwhile. */
bool sleepers_take(struct sleepers *sleepers, pid_t pid, uint64_t most)
{
    for (size_t i = 0; i < sleepers->count; i++)
        if (sleepers->tasks[i].pid == pid && sleepers->tasks[i].switches <= most) {
            sleepers->tasks[i].pid = 0;
            return true;
        }
    return false;
}

static void sleeps(pid_t pid, uint64_t switches)
{
    asleep.tasks[asleep.count++] = (struct sleeper){pid, switches};
}

static struct failures *scene(void)
{
    asleep.count = 0;
    looks = 0;
    return failures_new();
}

/* A look-up of "name" in directory 1. */
static struct failures_request request(pid_t pid, int64_t now_ms)
{
    return (struct failures_request){1, SPAN_LITERAL("name"), pid, now_ms};
}

static void add(struct failures *failures, int error, int64_t since_ms, int64_t now_ms, bool again)
{
    struct failures_request failed = request(CALLER, now_ms);
    failures_add(failures, &failed, error, since_ms, again);
}

static int find(struct failures *failures, pid_t pid, int64_t now_ms, int64_t *since_ms)
{
    struct failures_request next = request(pid, now_ms);
    return failures_find(failures, &next, since_ms);
}

static void who_is_asked_for_again_is_told_once(void)
{
    struct failures *failures = scene();
    int64_t since_ms;
    add(failures, EIO, 0, 10, true);
    CHECK_INT(find(failures, STRANGER, 11, &since_ms), 0);
    CHECK_INT(find(failures, 0, 11, &since_ms), 0);
    CHECK_INT(find(failures, CALLER, 12, &since_ms), EIO);
    CHECK_INT(find(failures, CALLER, 13, &since_ms), 0);
    CHECK_INT(since_ms, 13);
    failures_destroy(failures);
}

static void a_failure_of_another_name_or_place_or_time_is_nobody_s(void)
{
    struct failures *failures = scene();
    int64_t since_ms;
    add(failures, EIO, 0, 10, true);
    struct failures_request other = request(CALLER, 11);
    other.name = span_text("nam");
    CHECK_INT(failures_find(failures, &other, &since_ms), 0);
    other = request(CALLER, 11);
    other.ino = 2;
    CHECK_INT(failures_find(failures, &other, &since_ms), 0);
    CHECK_INT(find(failures, CALLER, 10 + AGAIN_MS, &since_ms), 0);
    CHECK_INT(find(failures, CALLER, 10 + AGAIN_MS - 1, &since_ms), EIO);
    failures_destroy(failures);
}

/* The kernel does not ask again for whoever was interrupted, or where memory ran out. */
static void what_the_kernel_does_not_repeat_is_not_kept(void)
{
    struct failures *failures = scene();
    int64_t since_ms;
    add(failures, EINTR, 0, 10, true);
    CHECK_INT(find(failures, CALLER, 11, &since_ms), 0);
    add(failures, ENOMEM, 0, 10, true);
    CHECK_INT(find(failures, CALLER, 11, &since_ms), 0);
    add(failures, EIO, 0, 10, false);
    CHECK_INT(find(failures, CALLER, 11, &since_ms), 0);
    failures_destroy(failures);
}

/* To look through all tasks takes its time. */
static void nobody_is_looked_for_behind_a_short_wait(void)
{
    struct failures *failures = scene();
    int64_t since_ms;
    sleeps(QUEUED, 1);
    add(failures, EIO, 0, SLOW_MS - 1, true);
    CHECK_INT(looks, 0);
    CHECK_INT(find(failures, QUEUED, SLOW_MS, &since_ms), 0);
    add(failures, EIO, 0, SLOW_MS, true);
    CHECK_INT(looks, 1);
    CHECK_INT(find(failures, QUEUED, SLOW_MS, &since_ms), EIO);
    failures_destroy(failures);
}

static void a_look_is_good_for_a_while(void)
{
    struct failures *failures = scene();
    for (int i = 0; i < 10; i++)
        add(failures, EIO, 0, 1000 + i, false);
    CHECK_INT(looks, 1);
    add(failures, EIO, 0, 1000 + LOOK_MS - 1, false);
    CHECK_INT(looks, 1);
    add(failures, EIO, 0, 1000 + LOOK_MS, false);
    CHECK_INT(looks, 2);
    failures_destroy(failures);
}

/* A read waits for its page with nobody behind it. */
static void a_read_has_no_queue(void)
{
    struct failures *failures = scene();
    struct failures_request read = {7, SPAN_LITERAL(""), CALLER, 1000};
    int64_t since_ms;
    sleeps(QUEUED, 1);
    failures_add(failures, &read, EIO, 0, true);
    CHECK_INT(looks, 0);
    CHECK_INT(failures_find(failures, &read, &since_ms), EIO);
    failures_destroy(failures);
}

static void who_queued_behind_an_interrupted_caller_has_waited_as_long(void)
{
    struct failures *failures = scene();
    int64_t since_ms;
    sleeps(QUEUED, 1);
    add(failures, EINTR, 300, 1000, false);
    CHECK_INT(find(failures, STRANGER, 1001, &since_ms), 0);
    CHECK_INT(since_ms, 1001);
    CHECK_INT(find(failures, QUEUED, 1002, &since_ms), 0);
    CHECK_INT(since_ms, 300);
    CHECK_INT(find(failures, QUEUED, 1003, &since_ms), 0); /* it has been told */
    CHECK_INT(since_ms, 1003);
    failures_destroy(failures);
}

/* Each that is let in wakes the others, who sleep again. */
static void who_has_slept_for_something_else_did_not_queue(void)
{
    struct failures *failures = scene();
    int64_t since_ms;
    sleeps(QUEUED, 3);
    sleeps(QUEUED + 1, 2);
    sleeps(QUEUED + 2, 3);
    add(failures, ETIMEDOUT, 0, 1000, false);
    CHECK_INT(find(failures, QUEUED, 1001, &since_ms), 0);
    CHECK_INT(find(failures, QUEUED + 1, 1001, &since_ms), ETIMEDOUT);
    CHECK_INT(find(failures, QUEUED + 2, 1001, &since_ms), ETIMEDOUT);
    failures_destroy(failures);
}

/* It may be told again of the same, and of no more than the last. */
static void a_failure_replaces_its_former_self(void)
{
    struct failures *failures = scene();
    int64_t since_ms;
    for (int i = 0; i < 1000; i++)
        add(failures, i < 999 ? EIO : EACCES, 0, 10, true);
    CHECK_INT(find(failures, CALLER, 11, &since_ms), EACCES);
    CHECK_INT(find(failures, CALLER, 11, &since_ms), 0);
    failures_destroy(failures);
}

static void a_task_begins_again_but_once(void)
{
    struct failures *failures = scene();
    CHECK(failures_may_restart(failures, CALLER, 2000));
    CHECK(failures_may_restart(failures, STRANGER, 2000));
    CHECK(!failures_may_restart(failures, CALLER, 2000 + AGAIN_MS - 1));
    CHECK(failures_may_restart(failures, CALLER, 2000 + AGAIN_MS));
    failures_destroy(failures);
}

/* One that could not be noted might be told twice. */
static void no_more_begin_again_than_can_be_noted(void)
{
    struct failures *failures = scene();
    pid_t pid = 1;
    while (pid < 10000 && failures_may_restart(failures, pid, 2000))
        pid++;
    CHECK(pid > 1 && pid < 10000);
    CHECK(failures_may_restart(failures, pid, 2000 + AGAIN_MS));
    failures_destroy(failures);
}

static const struct check_test tests[] = {
    {"who_is_asked_for_again_is_told_once", who_is_asked_for_again_is_told_once},
    {"a_failure_of_another_name_or_place_or_time_is_nobody_s",
     a_failure_of_another_name_or_place_or_time_is_nobody_s},
    {"what_the_kernel_does_not_repeat_is_not_kept", what_the_kernel_does_not_repeat_is_not_kept},
    {"nobody_is_looked_for_behind_a_short_wait", nobody_is_looked_for_behind_a_short_wait},
    {"a_look_is_good_for_a_while", a_look_is_good_for_a_while},
    {"a_read_has_no_queue", a_read_has_no_queue},
    {"who_queued_behind_an_interrupted_caller_has_waited_as_long",
     who_queued_behind_an_interrupted_caller_has_waited_as_long},
    {"who_has_slept_for_something_else_did_not_queue",
     who_has_slept_for_something_else_did_not_queue},
    {"a_failure_replaces_its_former_self", a_failure_replaces_its_former_self},
    {"a_task_begins_again_but_once", a_task_begins_again_but_once},
    {"no_more_begin_again_than_can_be_noted", no_more_begin_again_than_can_be_noted},
};

CHECK_MAIN(tests)
