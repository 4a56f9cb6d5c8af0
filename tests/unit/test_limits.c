/* How much may be read, on a clock that passes time instead of waiting for it. */
#include "fs/mount/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/loop.h"
#include "tests/unit/check.h"
#include "tests/unit/virtual_clock.h"

struct scene {
    struct virtual_clock clock;
    struct limits *limits;
};

static void open_scene(struct scene *scene, double a_second, double a_process)
{
    virtual_clock_init(&scene->clock, 0);
    scene->limits = limits_new(&scene->clock.clock, a_second, a_process, 0);
    CHECK(scene->limits);
}

static void close_scene(struct scene *scene)
{
    limits_destroy(scene->limits);
}

static struct limits_group *join(struct scene *scene, pid_t group, uint64_t started)
{
    struct process process = {.id = {group + 1, 9}, .group = {group, started}};
    snprintf(process.group_program, sizeof process.group_program, "sh");
    return limits_join(scene->limits, &process);
}

static bool take(struct limits_group *group, double units)
{
    struct error err;
    bool ok = limits_reserve(group, units, units, NULL, &err) == PAYER_AGREES;
    if (ok) {
        limits_refund(group, units);
        limits_charge(group, units);
    }
    return ok;
}

static void check_taken(struct limits_group *group, double units)
{
    CHECK(take(group, units));
}

static void check_left(const struct limits_group *group, double units)
{
    CHECK(limits_left(group) == units);
}

static void check_refused(struct limits_group *group, double units, enum error_kind kind,
                          const char *part)
{
    struct error err;
    CHECK_INT(limits_reserve(group, units, units, NULL, &err), PAYER_REFUSES);
    limits_note_refusal(group);
    CHECK_INT(err.kind, kind);
    CHECK_HAS(err.text, part);
}

static void a_group_may_read_so_much_in_all(void)
{
    struct scene scene;
    open_scene(&scene, 0, 2);
    struct limits_group *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    check_taken(one, 1.5);
    check_refused(one, 1, ERROR_SPENT, "sh (process group 7) has read 1.5 RCU of its limit of 2 ");
    check_taken(one, 0.5);
    virtual_clock_pass(&scene.clock, 3600000);
    check_left(one, 0);
    check_refused(one, 0.5, ERROR_SPENT, "takes at least 0.5;");
    check_taken(other, 2);
    CHECK_INT(limits_stats(scene.limits).refused_by_process, 2);
    limits_leave(one);
    limits_leave(other);
    close_scene(&scene);
}

static void check_word(struct limits_group *group, double most, enum payer_word word)
{
    struct error err;
    CHECK_INT(limits_reserve(group, 0.5, most, NULL, &err), word);
}

static void note_turn(void *arg)
{
    ++*(int *)arg;
}

/* A request that is alone may take more than is left; others are held until it is over. */
static void a_request_is_held_while_others_may_take_what_is_left(void)
{
    struct scene scene;
    struct error err;
    int woken = 0;
    struct payer_turn turn = {.again = note_turn, .arg = &woken}, gone = turn;
    open_scene(&scene, 0, 2);
    struct limits_group *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    check_word(one, 50, PAYER_AGREES);
    check_word(other, 50, PAYER_AGREES);
    CHECK_INT(limits_reserve(one, 0.5, 50, &turn, &err), PAYER_HOLDS);
    CHECK_INT(limits_reserve(one, 0.5, 50, &gone, &err), PAYER_HOLDS);
    list_remove(&gone.node);
    limits_charge(one, 0.5);
    CHECK_INT(woken, 0);
    limits_refund(one, 50);
    CHECK_INT(woken, 1);
    check_left(one, 1.5);
    limits_pass(other, one, 50); /* the request that goes on for another is that one's */
    check_word(one, 0.5, PAYER_HOLDS);
    check_word(other, 0.5, PAYER_AGREES);
    limits_refund(one, 50);
    limits_refund(other, 0.5);
    limits_leave(one);
    limits_leave(other);
    close_scene(&scene);
}

static void what_fits_is_not_held_but_overtakes_nothing(void)
{
    struct scene scene;
    struct error err;
    int woken = 0;
    struct payer_turn turn = {.again = note_turn, .arg = &woken};
    open_scene(&scene, 0, 200);
    struct limits_group *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    check_word(one, 50, PAYER_AGREES);
    check_word(one, 50, PAYER_AGREES);
    CHECK_INT(limits_reserve(one, 0.5, 178, &turn, &err), PAYER_HOLDS);
    check_word(one, 50, PAYER_HOLDS);
    check_word(other, 50, PAYER_AGREES);
    limits_refund(one, 50);
    CHECK_INT(woken, 1);
    check_word(one, 50, PAYER_AGREES);
    limits_refund(one, 100);
    limits_refund(other, 50);
    limits_leave(one);
    limits_leave(other);
    close_scene(&scene);
}

static void all_may_read_so_much_in_a_second(void)
{
    struct scene scene;
    open_scene(&scene, 2, 0);
    struct limits_group *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    check_taken(one, 1);
    check_taken(other, 1);
    check_refused(one, 0.5, ERROR_TOO_FAST, "repeat it after a second");
    virtual_clock_pass(&scene.clock, 999);
    check_refused(other, 0.5, ERROR_TOO_FAST, "repeat it after a second");
    virtual_clock_pass(&scene.clock, 1);
    check_taken(one, 2);
    check_refused(one, 3, ERROR_TOO_FAST, "make a smaller request");
    virtual_clock_pass(&scene.clock, 3600000);
    check_left(one, 2); /* nothing is saved up */
    limits_leave(one);
    limits_leave(other);
    close_scene(&scene);
}

static void what_was_read_beyond_is_owed_to_the_seconds_that_follow(void)
{
    struct scene scene;
    struct error err;
    open_scene(&scene, 2, 0);
    struct limits_group *one = join(&scene, 7, 1);
    CHECK_INT(limits_reserve(one, 0.5, 50, NULL, &err), PAYER_AGREES);
    limits_charge(one, 5); /* an item that is larger than what is left */
    limits_refund(one, 50);
    for (int second = 1; second <= 2; second++) {
        check_left(one, 0);
        virtual_clock_pass(&scene.clock, 1000);
    }
    check_left(one, 1);
    limits_charge(one, 178); /* is owed to two seconds at the most */
    for (int second = 0; second <= 2; second++) {
        check_left(one, 0);
        virtual_clock_pass(&scene.clock, 1000);
    }
    check_left(one, 2);
    limits_leave(one);
    close_scene(&scene);
}

/* Readers of items of 50 bytes to 400 KB: one by one, by pages, and by batches. */

enum { MOST_READERS = 100, MOST_SECONDS = 64, TRIES = 40 };

struct crowd {
    struct scene scene;
    struct loop *loop;
    unsigned seed;
    double a_second, a_process;
    double sum, seconds[MOST_SECONDS];
    double largest; /* that one request took */
    int64_t began_ms;
    int64_t agreed_ms, longest_ms; /* from one that was sent to the next, while anybody tries */
};

struct reader {
    struct crowd *crowd;
    struct limits_group *group;
    struct payer_turn turn;
    int kind, tries; /* tries: requests, refused ones included */
    double most, took;
};

static unsigned draw(struct crowd *crowd, unsigned below)
{
    return (unsigned)rand_r(&crowd->seed) % below;
}

/* Of any magnitude. */
static double units_of_any_item(struct crowd *crowd)
{
    unsigned bytes = 50;
    for (unsigned i = draw(crowd, 14); i > 0; i--)
        bytes *= 2;
    bytes = bytes > 400 * 1024 ? 400 * 1024 : bytes;
    return (double)((bytes + 4095) / 4096) / 2;
}

static void go_on(void *arg);

static void take_response(void *arg)
{
    struct reader *reader = arg;
    struct crowd *crowd = reader->crowd;
    int64_t second = (crowd->scene.clock.now_ms - crowd->began_ms) / 1000;
    CHECK(second < MOST_SECONDS && reader->took <= reader->most);
    crowd->sum += reader->took;
    crowd->seconds[second] += reader->took;
    crowd->largest = reader->took > crowd->largest ? reader->took : crowd->largest;
    limits_charge(reader->group, reader->took);
    limits_refund(reader->group, reader->most);
    CHECK(loop_add_timer(crowd->loop, 0, go_on, reader));
}

static void take_turn(void *arg)
{
    struct reader *reader = arg;
    CHECK(loop_add_timer(reader->crowd->loop, 0, go_on, reader));
}

/* An item; a page, which ends behind the item that takes it beyond 1 MB; as many keys of a batch as
 * are paid for in any case. */
static unsigned choose_request(struct reader *reader)
{
    struct crowd *crowd = reader->crowd;
    double left = limits_left(reader->group);
    unsigned count = 1;
    reader->took = units_of_any_item(crowd);
    reader->most = 50;
    while (reader->kind == 1 && reader->took < 128 && draw(crowd, 8)) {
        reader->took += units_of_any_item(crowd);
        reader->most = 178;
    }
    while (reader->kind == 2 && count < 40 && (count + 1) * 50 <= left) {
        reader->took += units_of_any_item(crowd);
        reader->most = ++count * 50;
    }
    return count;
}

static void go_on(void *arg)
{
    struct reader *reader = arg;
    struct crowd *crowd = reader->crowd;
    struct error err;
    int64_t now_ms = crowd->scene.clock.now_ms;
    if (reader->tries == TRIES)
        return;
    unsigned count = choose_request(reader);
    reader->turn = (struct payer_turn){.again = take_turn, .arg = reader};
    switch (limits_reserve(reader->group, 0.5 * count, reader->most, &reader->turn, &err)) {
    case PAYER_HOLDS:
        return;
    case PAYER_REFUSES:
        reader->tries++;
        if (err.kind == ERROR_TOO_FAST)
            CHECK(loop_add_timer(crowd->loop, 1000 - (now_ms - crowd->began_ms) % 1000, go_on,
                                 reader));
        return;
    case PAYER_AGREES:
        reader->tries++;
        if (now_ms - crowd->agreed_ms > crowd->longest_ms)
            crowd->longest_ms = now_ms - crowd->agreed_ms;
        crowd->agreed_ms = now_ms;
        CHECK(loop_add_timer(crowd->loop, 1 + draw(crowd, 60), take_response, reader));
    }
}

static void let_all_read(struct crowd *crowd, unsigned readers)
{
    static struct reader all[MOST_READERS];
    open_scene(&crowd->scene, crowd->a_second, crowd->a_process);
    crowd->loop = loop_new(&crowd->scene.clock.clock);
    crowd->began_ms = crowd->agreed_ms = crowd->scene.clock.now_ms;
    for (unsigned i = 0; i < readers; i++) {
        all[i] = (struct reader){
            .crowd = crowd, .group = join(&crowd->scene, 7, 1), .kind = (int)draw(crowd, 3)};
        CHECK(loop_add_timer(crowd->loop, 0, go_on, &all[i]));
    }
    CHECK(loop_run(crowd->loop));
    for (unsigned i = 0; i < readers; i++)
        limits_leave(all[i].group);
    loop_destroy(crowd->loop);
    close_scene(&crowd->scene);
}

static const double some_limits[] = {0.5, 2, 20, 75, 300, 1000, 5000};
static const unsigned some_crowds[] = {1, 2, 7, 30, 100};

static void a_group_goes_beyond_its_limit_by_one_request_at_the_most(void)
{
    for (unsigned seed = 1; seed <= check_cases(10); seed++)
        for (size_t i = 0; i < sizeof some_limits / sizeof some_limits[0]; i++)
            for (size_t k = 0; k < sizeof some_crowds / sizeof some_crowds[0]; k++) {
                struct crowd crowd = {.seed = seed * 1000, .a_process = some_limits[i]};
                let_all_read(&crowd, some_crowds[k]);
                /* What goes beyond is less than one item, or one page. */
                double most = crowd.largest < 178 ? crowd.largest : 178;
                if (crowd.sum > some_limits[i] + most)
                    CHECK_FAIL("seed %u: %u readers took %.1f of %.1f", seed, some_crowds[k],
                               crowd.sum, some_limits[i]);
            }
}

static void a_second_goes_beyond_its_limit_by_one_request_at_the_most(void)
{
    for (unsigned seed = 1; seed <= check_cases(10); seed++)
        for (size_t i = 0; i < sizeof some_limits / sizeof some_limits[0]; i++)
            for (size_t k = 0; k < sizeof some_crowds / sizeof some_crowds[0]; k++) {
                struct crowd crowd = {.seed = seed * 1000, .a_second = some_limits[i]};
                let_all_read(&crowd, some_crowds[k]);
                double most = crowd.largest < 178 ? crowd.largest : 178;
                for (size_t at = 0; at < MOST_SECONDS; at++)
                    if (crowd.seconds[at] > some_limits[i] + most)
                        CHECK_FAIL("seed %u: %u readers took %.1f of %.1f in second %zu", seed,
                                   some_crowds[k], crowd.seconds[at], some_limits[i], at);
                CHECK(crowd.longest_ms <= 3100); /* all are refused for no longer */
            }
}

static void a_group_whose_leader_has_gone_is_the_same(void)
{
    struct scene scene;
    open_scene(&scene, 0, 2);
    struct limits_group *one = join(&scene, 7, 1), *orphan = join(&scene, 7, 0);
    CHECK(one == orphan);
    limits_leave(orphan);
    struct limits_group *later = join(&scene, 7, 2); /* the number was used again */
    CHECK(one != later);
    limits_leave(one);
    limits_leave(later);
    close_scene(&scene);
}

static void those_of_whom_nothing_is_known_share_one_account(void)
{
    struct scene scene;
    struct limits_group_sum told;
    open_scene(&scene, 0, 2);
    struct limits_group *one = join(&scene, 0, 0), *other = join(&scene, 0, 0);
    check_taken(one, 2);
    check_refused(other, 0.5, ERROR_SPENT, PROCESS_UNKNOWN);
    CHECK(limits_group_at(scene.limits, 0, &told) && !limits_group_at(scene.limits, 1, &told));
    limits_leave(one);
    limits_leave(other);
    close_scene(&scene);
}

/* Those that have something under way stay. */
static void who_asked_longest_ago_is_forgotten(void)
{
    struct scene scene;
    open_scene(&scene, 0, 2);
    struct limits_group *held = join(&scene, 1, 1);
    check_taken(held, 2);
    for (pid_t group = 2; group < LIMITS_MOST_GROUPS + 10; group++) {
        struct limits_group *each = join(&scene, group, 1);
        check_taken(each, 2);
        limits_leave(each);
    }
    struct limits_group *same = join(&scene, 1, 1), *forgotten = join(&scene, 2, 1);
    check_left(same, 0);
    check_left(forgotten, 2);
    limits_leave(held);
    limits_leave(same);
    limits_leave(forgotten);
    close_scene(&scene);
}

static void check_told(const struct scene *scene, size_t i, pid_t group, double units,
                       unsigned refused)
{
    struct limits_group_sum told;
    CHECK(limits_group_at(scene->limits, i, &told) && told.group == group);
    CHECK(told.units == units && told.refused == refused);
}

static void accounts_are_told_who_asked_last_first(void)
{
    struct scene scene;
    struct limits_group_sum none;
    open_scene(&scene, 0, 2);
    struct limits_group *one = join(&scene, 7, 1), *idle = join(&scene, 8, 1),
                        *last = join(&scene, 9, 1);
    check_taken(one, 1);
    check_taken(last, 2);
    check_refused(last, 1, ERROR_SPENT, "has read 2 RCU");
    check_told(&scene, 0, 9, 2, 1);
    check_told(&scene, 1, 7, 1, 0);
    CHECK(!limits_group_at(scene.limits, 2, &none));
    limits_leave(one);
    limits_leave(idle);
    limits_leave(last);
    close_scene(&scene);
}

static void without_limits_nothing_is_refused_or_told(void)
{
    struct scene scene;
    struct limits_group_sum told;
    open_scene(&scene, 0, 0);
    struct limits_group *one = join(&scene, 7, 1);
    CHECK(isinf(limits_left(one)));
    check_taken(one, 1e9);
    check_taken(one, 1e9);
    CHECK(!limits_group_at(scene.limits, 0, &told));
    limits_leave(one);
    close_scene(&scene);
}

static void check_search(struct limits_group *group, enum error_kind kind)
{
    struct error err = {0};
    CHECK(limits_allow_search(group, &err) == (kind == ERROR_NONE));
    CHECK_INT(err.kind, kind);
    if (kind != ERROR_NONE)
        limits_note_refusal(group);
}

static void searches_have_the_bytes_of_the_rcu(void)
{
    struct scene scene;
    open_scene(&scene, 1, 2);
    struct limits_group *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    check_search(one, ERROR_NONE);
    limits_charge_search(one, 3000);
    check_search(one, ERROR_NONE);
    limits_charge_search(one, 1024);
    check_search(one, ERROR_TOO_FAST);
    check_search(other, ERROR_TOO_FAST);
    check_left(one, 1); /* no RCU is consumed */
    virtual_clock_pass(&scene.clock, 1000);
    check_search(one, ERROR_NONE);
    limits_charge_search(one, 4096);
    virtual_clock_pass(&scene.clock, 1000);
    check_search(one, ERROR_SPENT);
    check_search(other, ERROR_NONE);
    CHECK_INT(limits_stats(scene.limits).refused_by_second, 2);
    CHECK_INT(limits_stats(scene.limits).refused_by_process, 1);
    limits_leave(one);
    limits_leave(other);
    close_scene(&scene);
}

static void searches_under_way_count(void)
{
    struct scene scene;
    virtual_clock_init(&scene.clock, 0);
    scene.limits = limits_new(&scene.clock.clock, 0, 0, 2048);
    CHECK(scene.limits);
    struct limits_group *one = join(&scene, 7, 1), *other = join(&scene, 8, 1);
    check_search(one, ERROR_NONE);
    check_search(other, ERROR_NONE);
    check_search(one, ERROR_TOO_FAST);
    limits_charge_search(one, 0); /* it failed */
    check_search(other, ERROR_NONE);
    virtual_clock_pass(&scene.clock, 1000);
    check_search(one, ERROR_NONE);
    limits_leave(one);
    limits_leave(other);
    close_scene(&scene);
}

static void searches_have_a_limit_of_their_own(void)
{
    struct scene scene;
    virtual_clock_init(&scene.clock, 0);
    scene.limits = limits_new(&scene.clock.clock, 0, 0, 2048);
    CHECK(scene.limits);
    struct limits_group *one = join(&scene, 7, 1);
    check_search(one, ERROR_NONE);
    limits_charge_search(one, 100000); /* known afterwards; at most two seconds are owed */
    check_search(one, ERROR_TOO_FAST);
    virtual_clock_pass(&scene.clock, 2000);
    check_search(one, ERROR_TOO_FAST);
    virtual_clock_pass(&scene.clock, 1000);
    check_search(one, ERROR_NONE);
    CHECK(isinf(limits_left(one)));
    limits_leave(one);
    close_scene(&scene);
}

static const struct check_test tests[] = {
    {"searches have the bytes of the RCU", searches_have_the_bytes_of_the_rcu},
    {"searches have a limit of their own", searches_have_a_limit_of_their_own},
    {"searches under way count", searches_under_way_count},
    {"a group may read so much in all", a_group_may_read_so_much_in_all},
    {"a request is held while others may take what is left",
     a_request_is_held_while_others_may_take_what_is_left},
    {"what fits is not held, but overtakes nothing", what_fits_is_not_held_but_overtakes_nothing},
    {"a group goes beyond its limit by one request at the most",
     a_group_goes_beyond_its_limit_by_one_request_at_the_most},
    {"a second goes beyond its limit by one request at the most",
     a_second_goes_beyond_its_limit_by_one_request_at_the_most},
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
