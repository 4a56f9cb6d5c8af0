/* How much may be read, on a clock that passes time instead of waiting for it. */
#include "fs/mount/limits.h"

#include <math.h>
#include <stdio.h>

#include "tests/unit/check.h"
#include "tests/unit/virtual_clock.h"

struct scene {
    struct virtual_clock clock;
    struct limits *limits;
};

static void open_scene(struct scene *scene, double a_second, double a_process)
{
    virtual_clock_init(&scene->clock, 0);
    scene->limits = limits_new(&scene->clock.clock, a_second, a_process);
    CHECK(scene->limits);
}

static void close_scene(struct scene *scene)
{
    limits_destroy(scene->limits);
}

static struct account *join(struct scene *scene, pid_t group, uint64_t started)
{
    struct process process = {.id = {group + 1, 9}, .group = {group, started}};
    snprintf(process.group_program, sizeof process.group_program, "sh");
    return account_join(scene->limits, &process);
}

static bool take(struct account *account, double units)
{
    struct error err;
    bool ok = account_set_aside(account, units, units, &err);
    if (ok) {
        account_give_back(account, units);
        account_charge(account, units);
    }
    return ok;
}

static void check_taken(struct account *account, double units)
{
    CHECK(take(account, units));
}

static void check_left(const struct account *account, double units)
{
    CHECK(account_left(account) == units);
}

static void check_refused(struct account *account, double units, enum error_kind kind,
                          const char *part)
{
    struct error err;
    CHECK(!account_set_aside(account, units, units, &err));
    account_note_refusal(account);
    CHECK_INT(err.kind, kind);
    CHECK_HAS(err.text, part);
}

static void a_group_may_read_so_much_in_all(void)
{
    struct scene scene;
    open_scene(&scene, 0, 2);
    struct account *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    check_taken(one, 1.5);
    check_refused(one, 1, ERROR_SPENT, "sh (process group 7) has read 1.5 units of the 2 ");
    check_taken(one, 0.5);
    virtual_clock_pass(&scene.clock, 3600000);
    check_left(one, 0);
    check_refused(one, 0.5, ERROR_SPENT, "takes at least 0.5;");
    check_taken(other, 2);
    CHECK_INT(limits_stats(scene.limits).refused_by_process, 2);
    account_leave(one);
    account_leave(other);
    close_scene(&scene);
}

static void what_is_set_aside_is_not_left(void)
{
    struct scene scene;
    struct error err;
    open_scene(&scene, 3, 2);
    struct account *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    CHECK(account_set_aside(one, 1.5, 0.5, &err));
    check_left(one, 0.5);
    check_left(other, 1.5);
    account_pass(one, other, 1.5); /* who goes on with it has it */
    check_left(one, 1.5);
    check_left(other, 0.5);
    account_give_back(other, 1.5);
    check_left(other, 2);
    account_leave(one);
    account_leave(other);
    close_scene(&scene);
}

static void all_may_read_so_much_in_a_second(void)
{
    struct scene scene;
    open_scene(&scene, 2, 0);
    struct account *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    check_taken(one, 1);
    check_taken(other, 1);
    check_refused(one, 0.5, ERROR_TOO_FAST, "ask again after a second");
    virtual_clock_pass(&scene.clock, 999);
    check_refused(other, 0.5, ERROR_TOO_FAST, "ask again after a second");
    virtual_clock_pass(&scene.clock, 1);
    check_taken(one, 2);
    check_refused(one, 3, ERROR_TOO_FAST, "ask for less at once");
    virtual_clock_pass(&scene.clock, 3600000);
    check_left(one, 2); /* nothing is saved up */
    account_leave(one);
    account_leave(other);
    close_scene(&scene);
}

static void what_was_read_beyond_is_owed_to_the_seconds_that_follow(void)
{
    struct scene scene;
    struct error err;
    open_scene(&scene, 2, 0);
    struct account *one = join(&scene, 7, 1);
    CHECK(account_set_aside(one, 1, 0.5, &err));
    account_charge(one, 7); /* a record that was larger than any before */
    account_give_back(one, 1);
    for (int second = 1; second <= 3; second++) {
        check_left(one, 0);
        virtual_clock_pass(&scene.clock, 1000);
    }
    check_left(one, 1);
    account_leave(one);
    close_scene(&scene);
}

static void a_group_whose_leader_has_gone_is_the_same(void)
{
    struct scene scene;
    open_scene(&scene, 0, 2);
    struct account *one = join(&scene, 7, 1), *orphan = join(&scene, 7, 0);
    CHECK(one == orphan);
    account_leave(orphan);
    struct account *later = join(&scene, 7, 2); /* the number was used again */
    CHECK(one != later);
    account_leave(one);
    account_leave(later);
    close_scene(&scene);
}

static void those_of_whom_nothing_is_known_share_one_account(void)
{
    struct scene scene;
    struct account_told told;
    open_scene(&scene, 0, 2);
    struct account *one = join(&scene, 0, 0), *other = join(&scene, 0, 0);
    check_taken(one, 2);
    check_refused(other, 0.5, ERROR_SPENT, PROCESS_UNKNOWN);
    CHECK(limits_account(scene.limits, 0, &told) && !limits_account(scene.limits, 1, &told));
    account_leave(one);
    account_leave(other);
    close_scene(&scene);
}

/* Those that have something under way stay. */
static void who_asked_longest_ago_is_forgotten(void)
{
    struct scene scene;
    open_scene(&scene, 0, 2);
    struct account *held = join(&scene, 1, 1);
    check_taken(held, 2);
    for (pid_t group = 2; group < LIMITS_MOST_ACCOUNTS + 10; group++) {
        struct account *each = join(&scene, group, 1);
        check_taken(each, 2);
        account_leave(each);
    }
    struct account *same = join(&scene, 1, 1), *forgotten = join(&scene, 2, 1);
    check_left(same, 0);
    check_left(forgotten, 2);
    account_leave(held);
    account_leave(same);
    account_leave(forgotten);
    close_scene(&scene);
}

static void check_told(const struct scene *scene, size_t i, pid_t group, double units,
                       unsigned refused)
{
    struct account_told told;
    CHECK(limits_account(scene->limits, i, &told) && told.group == group);
    CHECK(told.units == units && told.refused == refused);
}

static void accounts_are_told_who_asked_last_first(void)
{
    struct scene scene;
    struct account_told none;
    open_scene(&scene, 0, 2);
    struct account *one = join(&scene, 7, 1), *idle = join(&scene, 8, 1),
                   *last = join(&scene, 9, 1);
    check_taken(one, 1);
    check_taken(last, 2);
    check_refused(last, 1, ERROR_SPENT, "has read 2 units");
    check_told(&scene, 0, 9, 2, 1);
    check_told(&scene, 1, 7, 1, 0);
    CHECK(!limits_account(scene.limits, 2, &none));
    account_leave(one);
    account_leave(idle);
    account_leave(last);
    close_scene(&scene);
}

static void without_limits_nothing_is_refused_or_told(void)
{
    struct scene scene;
    struct account_told told;
    open_scene(&scene, 0, 0);
    struct account *one = join(&scene, 7, 1);
    CHECK(isinf(account_left(one)));
    check_taken(one, 1e9);
    check_taken(one, 1e9);
    CHECK(!limits_account(scene.limits, 0, &told));
    account_leave(one);
    close_scene(&scene);
}

static const struct check_test tests[] = {
    {"a group may read so much in all", a_group_may_read_so_much_in_all},
    {"what is set aside is not left", what_is_set_aside_is_not_left},
    {"all may read so much in a second", all_may_read_so_much_in_a_second},
    {"what was read beyond is owed to the seconds that follow",
     what_was_read_beyond_is_owed_to_the_seconds_that_follow},
    {"a group whose leader has gone is the same", a_group_whose_leader_has_gone_is_the_same},
    {"those of whom nothing is known share one account",
     those_of_whom_nothing_is_known_share_one_account},
    {"who asked longest ago is forgotten", who_asked_longest_ago_is_forgotten},
    {"accounts are told, who asked last first", accounts_are_told_who_asked_last_first},
    {"without limits nothing is refused or told", without_limits_nothing_is_refused_or_told},
};
CHECK_MAIN(tests)
