/* The follower of a stream, on a stream service that is played, under a virtual clock. */
#include "core/stream/follower.h"

#include "tests/unit/check.h"
#include "tests/unit/fake_stream.h"
#include "tests/unit/virtual_clock.h"

#define WALL_MS 1792000000000 /* a day in October 2026 */

enum {
    IDLE_MS = 2100
}; /* the lag of an idle shard: a poll a second, which proves up to 1 s before */
enum { KEYS = 64, MOST_SEEN = 40000, CLOCKS_DIFFER_MS = 5 * 60 * 1000 };

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct fake_stream fake;
    struct follower *follower;
    unsigned count;
    unsigned latest[KEYS]; /* the version that was delivered last, by key */
    bool in_order;         /* no version came again, or behind a later one */
    unsigned expired;
    unsigned covered, gaps, troubles, ends;
    unsigned destroy_at; /* the change with which the follower is destroyed; 0: none */
    int64_t resume_ms;   /* of the last change */
    void (*check_resume)(struct scene *scene); /* may be NULL */
    struct error why;
};

static void on_changes(void *arg, const struct change *changes, size_t count)
{
    struct scene *scene = arg;
    scene->resume_ms = changes[0].resume_ms;
    if (scene->check_resume)
        scene->check_resume(scene);
    for (size_t i = 0; i < count; i++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0};
        CHECK(changes[i].resume_ms == changes[0].resume_ms);
        struct json version = json_member(json_member(changes[i].after, "v"), "N");
        struct span digits;
        CHECK(json_read_string(json_member(json_member(changes[i].keys, "pk"), "S"), &key));
        CHECK(json_plain_string(version, &digits));
        unsigned long k = strtoul(buf_text(&key), NULL, 10), v = strtoul(digits.data, NULL, 10);
        if (v <= scene->latest[k])
            scene->in_order = false;
        scene->latest[k] = (unsigned)v;
        scene->expired += changes[i].is_expired;
        scene->count++;
    }
    if (scene->destroy_at && scene->count >= scene->destroy_at) {
        follower_destroy(scene->follower);
        scene->follower = NULL;
    }
}

static void on_covered(void *arg)
{
    ((struct scene *)arg)->covered++;
}

static void on_gap(void *arg, const struct error *why)
{
    struct scene *scene = arg;
    scene->gaps++;
    scene->why = *why;
}

static void on_trouble(void *arg, const struct error *why)
{
    struct scene *scene = arg;
    scene->troubles++;
    scene->why = *why;
}

static void on_ended(void *arg, const struct error *why)
{
    struct scene *scene = arg;
    scene->ends++;
    scene->why = *why;
}

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.in_order = true};
    virtual_clock_init(&scene->clock, WALL_MS);
    scene->loop = loop_new(&scene->clock.clock);
    fake_stream_init(&scene->fake, scene->loop);
}

static void follow_since(struct scene *scene, enum follow_from from, int64_t since_ms)
{
    static const struct follower_ops ops = {NULL,   on_changes, on_covered,
                                            on_gap, on_trouble, on_ended};
    scene->follower = follower_new(&(struct follower_options){.loop = scene->loop,
                                                              .source = &scene->fake.source,
                                                              .table = "T",
                                                              .from = from,
                                                              .since_ms = since_ms,
                                                              .poll_least_ms = 250,
                                                              .poll_most_ms = 1000,
                                                              .ops = &ops,
                                                              .arg = scene});
    CHECK(scene->follower);
}

static void follow(struct scene *scene, enum follow_from from)
{
    follow_since(scene, from, 0);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

static void pass(struct scene *scene, int64_t ms)
{
    loop_add_timer(scene->loop, ms, stop, scene->loop);
    CHECK(loop_run(scene->loop));
}

static void close_scene(struct scene *scene)
{
    follower_destroy(scene->follower);
    CHECK_INT(scene->fake.source.users, 0);
    fake_stream_clean_up(&scene->fake);
    loop_destroy(scene->loop);
}

static void only_later_changes_are_followed_from_now(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    fake_stream_write(&scene.fake, shard, 1, 1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    CHECK_INT(scene.covered, 1);
    CHECK_INT(follower_view(scene.follower), VIEW_BOTH);
    fake_stream_write(&scene.fake, shard, 1, 2);
    fake_stream_write(&scene.fake, shard, 2, 1);
    pass(&scene, 1100);
    CHECK_INT(scene.count, 2);
    CHECK(scene.in_order && scene.latest[1] == 2);
    close_scene(&scene);
}

static void the_oldest_changes_come_first_and_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    scene.fake.page_size = 7;
    for (unsigned i = 0; i < 100; i++)
        fake_stream_write(&scene.fake, shard, i % KEYS, 1 + i / KEYS);
    pass(&scene, 60000);
    follow(&scene, FOLLOW_OLDEST);
    pass(&scene, 3000);
    CHECK(follower_stats(scene.follower).lag_ms > 60000);
    pass(&scene, 3000);
    CHECK(follower_stats(scene.follower).lag_ms < 2000);
    CHECK_INT(scene.count, 100);
    CHECK(scene.in_order);
    CHECK_INT(scene.covered, 1);
    CHECK(scene.fake.polls >= 15);
    close_scene(&scene);
}

static void changes_since_a_time(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    for (unsigned i = 1; i <= 10; i++) {
        fake_stream_write(&scene.fake, shard, 1, i);
        pass(&scene, 60000);
    }
    follow_since(&scene, FOLLOW_SINCE, WALL_MS + 4 * 60000 + 500);
    pass(&scene, 1000);
    CHECK_INT(scene.count, 6);
    CHECK_INT(scene.latest[1], 10);
    close_scene(&scene);
}

static void parents_are_read_before_their_children(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    scene.fake.page_size = 3;
    for (unsigned v = 1; v <= 20; v++) {
        for (unsigned k = 0; k < 8; k++)
            fake_stream_write(&scene.fake, shard, k, v);
        if (v % 5 == 0 && v < 20)
            fake_stream_split(&scene.fake, (int)scene.fake.shard_count - 1);
    }
    follow(&scene, FOLLOW_OLDEST);
    pass(&scene, 20000);
    CHECK_INT(scene.count, 160);
    CHECK(scene.in_order);
    close_scene(&scene);
}

static void a_shard_that_splits_leads_to_its_children(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    fake_stream_write(&scene.fake, shard, 1, 1);
    fake_stream_split(&scene.fake, shard);
    fake_stream_write(&scene.fake, shard, 1, 2);
    fake_stream_write(&scene.fake, shard, 2, 1);
    pass(&scene, 4000);
    CHECK_INT(scene.count, 3);
    CHECK(scene.in_order);
    CHECK_INT(follower_stats(scene.follower).shards, 2);
    CHECK(follower_stats(scene.follower).lag_ms <= IDLE_MS);
    close_scene(&scene);
}

/* Until the children are known, the lag says that their changes may be missing. */
static void children_that_are_described_late(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    scene.fake.children_come_ms = 9000;
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    fake_stream_split(&scene.fake, shard);
    fake_stream_write(&scene.fake, shard, 1, 1);
    pass(&scene, 8000);
    CHECK_INT(scene.count, 0);
    CHECK(follower_stats(scene.follower).lag_ms > 6000);
    pass(&scene, 4000);
    CHECK_INT(scene.count, 1);
    CHECK(follower_stats(scene.follower).lag_ms < 2000);
    close_scene(&scene);
}

static void an_open_shard_that_states_its_end_is_followed(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    scene.fake.states_ends = true;
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    fake_stream_write(&scene.fake, shard, 1, 1);
    pass(&scene, 1100);
    CHECK_INT(scene.count, 1);
    close_scene(&scene);
}

static void empty_pages_are_no_end(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    scene.fake.empty_each = 2;
    scene.fake.page_size = 1;
    for (unsigned i = 1; i <= 10; i++)
        fake_stream_write(&scene.fake, shard, 1, i);
    pass(&scene, 60000);
    follow(&scene, FOLLOW_OLDEST);
    pass(&scene, 30000);
    CHECK_INT(scene.count, 10);
    CHECK(scene.in_order);
    close_scene(&scene);
}

/* A machine that slept: iterators have expired, and nothing is lost. */
static void expired_iterators_are_replaced(void)
{
    for (int has_change = 0; has_change < 2; has_change++) {
        struct scene scene;
        open_scene(&scene);
        int shard = fake_stream_add_shard(&scene.fake, -1);
        fake_stream_write(&scene.fake, shard, 9, 1);
        pass(&scene, 3600 * 1000);
        follow(&scene, FOLLOW_NOW);
        pass(&scene, 1000);
        if (has_change)
            fake_stream_write(&scene.fake, shard, 1, 1);
        pass(&scene, 2000);
        fake_stream_write(&scene.fake, shard, 1, 2);
        virtual_clock_pass(&scene.clock, 20 * 60 * 1000);
        pass(&scene, 3000);
        CHECK_INT(scene.count, has_change ? 2 : 1);
        CHECK_INT(scene.latest[1], 2);
        CHECK(scene.in_order);
        CHECK_INT(scene.gaps, 0);
        close_scene(&scene);
    }
}

/* Asleep for longer than a stream has its changes: nothing tells which ones are gone. */
static void a_day_without_a_poll_is_a_gap(void)
{
    for (int child = 0; child < 2; child++) {
        struct scene scene;
        open_scene(&scene);
        int shard = fake_stream_add_shard(&scene.fake, -1);
        follow(&scene, FOLLOW_NOW);
        pass(&scene, 1000);
        if (child) {
            fake_stream_split(&scene.fake, shard);
            pass(&scene, 5000);
        }
        fake_stream_write(&scene.fake, shard, 1, 1);
        fake_stream_write(&scene.fake, shard, 1, 2);
        for (size_t i = 0; i < scene.fake.shard_count; i++)
            fake_stream_trim(&scene.fake, (int)i, scene.fake.shards[i].count ? 1 : 0);
        virtual_clock_pass(&scene.clock, (int64_t)25 * 3600 * 1000);
        pass(&scene, 5000);
        CHECK(scene.gaps >= 1);
        CHECK_INT(scene.count, 1);
        CHECK_INT(scene.latest[1], 2);
        close_scene(&scene);
    }
}

/* A service that refuses each iterator, or has lost all changes for ever, gets no storm. */
static void places_that_lead_nowhere_are_requested_rarely(void)
{
    static const char *const codes[] = {"ExpiredIteratorException", "TrimmedDataAccessException"};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        open_scene(&scene);
        int shard = fake_stream_add_shard(&scene.fake, -1);
        follow(&scene, FOLLOW_NOW);
        pass(&scene, 1000);
        fake_stream_write(&scene.fake, shard, 1, 1);
        pass(&scene, 1000);
        scene.fake.polls_fail = codes[i];
        unsigned before = scene.fake.responses;
        pass(&scene, 60000);
        CHECK(scene.fake.responses - before < 60);
        scene.fake.polls_fail = NULL;
        fake_stream_write(&scene.fake, shard, 1, 2);
        pass(&scene, 15000);
        CHECK_INT(scene.latest[1], 2);
        close_scene(&scene);
    }
}

/* The table has a stream that was enabled after the time from which changes are wanted. */
static void a_stream_that_is_younger_is_a_gap(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    pass(&scene, 3600 * 1000);
    scene.fake.created_ms = WALL_MS + 1800 * 1000;
    fake_stream_write(&scene.fake, shard, 1, 1);
    follow_since(&scene, FOLLOW_SINCE, WALL_MS + 1801 * 1000);
    pass(&scene, 3000);
    CHECK_INT(scene.gaps, 0);
    follower_destroy(scene.follower);
    follow_since(&scene, FOLLOW_SINCE, WALL_MS + 600 * 1000);
    pass(&scene, 3000);
    CHECK_INT(scene.gaps, 1);
    CHECK_HAS(scene.why.text, "exists since");
    CHECK(scene.count > 0);
    close_scene(&scene);
}

static void a_follower_that_pauses_requests_no_changes(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    follower_pause(scene.follower, true);
    pass(&scene, 3000);
    unsigned before = scene.fake.polls;
    fake_stream_write(&scene.fake, shard, 1, 1);
    pass(&scene, 60000);
    CHECK_INT(scene.fake.polls, before);
    CHECK(follower_stats(scene.follower).lag_ms > 55000);
    follower_pause(scene.follower, false);
    pass(&scene, 4000);
    CHECK_INT(scene.count, 1);
    CHECK(follower_stats(scene.follower).lag_ms <= IDLE_MS);
    close_scene(&scene);
}

/* A shard that ends without children, in a stream that is enabled: who knows what is missing. */
static void a_stream_without_an_open_shard_lags(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    scene.fake.shards[shard].is_closed = true;
    pass(&scene, 300 * 1000);
    CHECK_INT(scene.ends, 0);
    CHECK(follower_stats(scene.follower).lag_ms > 200 * 1000);
    close_scene(&scene);
}

/* The service may search only a part of the shard for one request. */
static void an_empty_page_before_old_changes_proves_nothing(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    fake_stream_write(&scene.fake, shard, 1, 1);
    pass(&scene, 60000);
    scene.fake.empty_each = 1;
    follow(&scene, FOLLOW_OLDEST);
    pass(&scene, 400);
    CHECK(scene.fake.polls >= 1 && scene.fake.polls < 3 && scene.count == 0);
    CHECK_INT(scene.covered, 0);
    scene.fake.empty_each = 0;
    pass(&scene, 2000);
    CHECK_INT(scene.count, 1);
    CHECK_INT(scene.covered, 1);
    close_scene(&scene);
}

/* Until the run of empty pages is long enough, the lag counts from the last change. */
static void a_run_of_empty_pages_moves_the_lag(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 10000);
    fake_stream_write(&scene.fake, shard, 1, 1);
    int64_t written_ms = loop_now_ms(scene.loop), most_ms = 0;
    while (scene.count == 0)
        pass(&scene, 10);
    for (unsigned i = 0; i < 200; i++) {
        int64_t lag_ms = follower_stats(scene.follower).lag_ms;
        int64_t age_ms = loop_now_ms(scene.loop) - written_ms;
        CHECK(lag_ms >= age_ms || age_ms >= 2000);
        most_ms = lag_ms > most_ms ? lag_ms : most_ms;
        pass(&scene, 50);
    }
    CHECK(most_ms > 2000 && most_ms < 5000);
    CHECK(follower_stats(scene.follower).lag_ms <= IDLE_MS);
    close_scene(&scene);
}

/* A change that an empty page lacked shows that empty pages are no proof. */
static void an_empty_page_that_lacks_a_change_is_doubted(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 10000);
    CHECK(!follower_is_doubted(scene.follower));
    CHECK(follower_stats(scene.follower).lag_ms <= IDLE_MS);
    scene.fake.empty_percent = 100;
    fake_stream_write(&scene.fake, shard, 1, 1);
    pass(&scene, 6000);
    scene.fake.empty_percent = 0;
    pass(&scene, 1100);
    CHECK_INT(scene.count, 1);
    CHECK(follower_is_doubted(scene.follower));
    int64_t lag_ms = follower_stats(scene.follower).lag_ms;
    CHECK(lag_ms >= 6000);
    unsigned polls = scene.fake.polls;
    pass(&scene, 9 * 60 * 1000);
    CHECK(follower_stats(scene.follower).lag_ms == lag_ms + 9 * 60 * 1000);
    CHECK(scene.fake.polls - polls < 9 * 60 + 20);
    pass(&scene, 2 * 60 * 1000);
    CHECK(!follower_is_doubted(scene.follower));
    CHECK(follower_stats(scene.follower).lag_ms <= IDLE_MS);
    close_scene(&scene);
}

/* A wrong clock of this machine is no reason for doubt, and neither is a stream that was not
 * polled. */
static void changes_that_come_in_time_raise_no_doubt(void)
{
    for (int64_t skew_ms = -200 * 1000; skew_ms <= 200 * 1000; skew_ms += 50 * 1000) {
        struct scene scene;
        open_scene(&scene);
        int shard = fake_stream_add_shard(&scene.fake, -1);
        scene.fake.skew_ms = skew_ms;
        error_set(&scene.fake.error, ERROR_RESET, "the connection broke");
        follow(&scene, FOLLOW_NOW);
        for (unsigned i = 1; i <= 200; i++) {
            scene.fake.down = i % 50 == 0;
            pass(&scene, 10 + i * 37 % 3000);
            fake_stream_write(&scene.fake, shard, 1, i);
        }
        scene.fake.down = false;
        pass(&scene, 20000);
        CHECK_INT(scene.count, 200);
        CHECK(!follower_is_doubted(scene.follower));
        close_scene(&scene);
    }
}

static void a_shard_that_a_description_lacks_is_not_read_again(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_OLDEST);
    fake_stream_write(&scene.fake, shard, 1, 1);
    fake_stream_split(&scene.fake, shard);
    fake_stream_write(&scene.fake, shard, 1, 2);
    pass(&scene, 5000);
    scene.fake.hidden = &shard;
    pass(&scene, 3600 * 1000);
    scene.fake.hidden = NULL;
    pass(&scene, 200 * 1000);
    CHECK_INT(scene.count, 2);
    CHECK(scene.in_order);
    close_scene(&scene);
}

/* More than eight requests would have to be under way all the time. */
static void no_shard_waits_for_ever(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.delay_ms = 100;
    for (unsigned i = 0; i < 100; i++)
        fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 8000);
    CHECK_INT(scene.covered, 1);
    for (unsigned v = 1; v <= 20; v++) {
        for (unsigned k = 0; k < KEYS; k++)
            fake_stream_write(&scene.fake, (int)k, k, v);
        pass(&scene, 500);
        CHECK(follower_stats(scene.follower).lag_ms < 5000);
    }
    pass(&scene, 4000);
    CHECK_INT(scene.count, 20 * KEYS);
    close_scene(&scene);
}

static void trimmed_changes_are_a_gap(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    fake_stream_write(&scene.fake, shard, 1, 1);
    pass(&scene, 2000);
    for (unsigned i = 2; i <= 10; i++)
        fake_stream_write(&scene.fake, shard, 1, i);
    fake_stream_trim(&scene.fake, shard, 3);
    pass(&scene, 3000);
    CHECK_INT(scene.gaps, 1);
    CHECK_TEXT(scene.why.code, "TrimmedDataAccessException");
    CHECK_INT(scene.covered, 2);
    CHECK_INT(scene.count, 4);
    CHECK_INT(scene.latest[1], 10);
    close_scene(&scene);
}

static void a_latest_place_that_is_refused_is_no_gap(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    fake_stream_write(&scene.fake, shard, 9, 1);
    pass(&scene, 3600 * 1000);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    error_set(&scene.fake.error, ERROR_NO_STREAM, "trimmed");
    memcpy(scene.fake.error.code, "TrimmedDataAccessException", 27);
    scene.fake.fail_at = scene.fake.responses + 1;
    fake_stream_write(&scene.fake, shard, 1, 1);
    pass(&scene, 2000);
    CHECK_INT(scene.gaps, 0);
    CHECK_INT(scene.count, 1);
    CHECK_INT(scene.latest[1], 1);
    close_scene(&scene);
}

static void trouble_is_reported_and_overcome(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    error_set(&scene.fake.error, ERROR_RESET, "the connection broke");
    scene.fake.down = true;
    fake_stream_write(&scene.fake, shard, 1, 1);
    pass(&scene, 60000);
    CHECK(scene.troubles >= 4 && scene.troubles <= 20);
    CHECK(follower_stats(scene.follower).lag_ms >= 59000);
    scene.fake.down = false;
    pass(&scene, 12000);
    CHECK_INT(scene.count, 1);
    CHECK(follower_stats(scene.follower).lag_ms < 1500);
    CHECK_INT(scene.gaps + scene.ends, 0);
    close_scene(&scene);
}

static void a_failure_at_each_response(void)
{
    for (unsigned at = 1; at <= 12; at++) {
        struct scene scene;
        open_scene(&scene);
        int shard = fake_stream_add_shard(&scene.fake, -1);
        error_set(&scene.fake.error, ERROR_THROTTLED, "throttled");
        scene.fake.fail_at = at;
        follow(&scene, FOLLOW_OLDEST);
        for (unsigned v = 1; v <= 6; v++) {
            fake_stream_write(&scene.fake, shard, 1, v);
            if (v == 3)
                fake_stream_split(&scene.fake, shard);
            pass(&scene, 700);
        }
        pass(&scene, 15000);
        CHECK_INT(scene.troubles, 1);
        CHECK_INT(scene.count, 6);
        CHECK(scene.in_order);
        close_scene(&scene);
    }
}

static void a_refusal_ends_the_follower(void)
{
    for (unsigned at = 1; at <= 4; at++) {
        struct scene scene;
        open_scene(&scene);
        fake_stream_add_shard(&scene.fake, -1);
        error_set(&scene.fake.error, ERROR_DENIED, "denied");
        scene.fake.fail_at = at;
        follow(&scene, FOLLOW_NOW);
        pass(&scene, 5000);
        CHECK_INT(scene.ends, 1);
        CHECK_INT(scene.why.kind, ERROR_DENIED);
        unsigned responses = scene.fake.responses;
        pass(&scene, 200000);
        CHECK_INT(scene.fake.responses, responses);
        close_scene(&scene);
    }
}

/* More shards than --max-entries, where a repetition would only end at the caller's deadline. */
static void a_first_description_that_is_too_large_ends_the_follower(void)
{
    for (unsigned at = 2; at <= 3; at++) {
        struct scene scene;
        open_scene(&scene);
        fake_stream_add_shard(&scene.fake, -1);
        error_set(&scene.fake.error, ERROR_TOO_LARGE, "more than 1 item");
        scene.fake.fail_at = at;
        follow(&scene, FOLLOW_NOW);
        pass(&scene, 5000);
        CHECK_INT(scene.ends, at == 2);
        CHECK_INT(scene.troubles, at == 3);
        close_scene(&scene);
    }
}

static void a_table_without_a_stream(void)
{
    for (int was_disabled = 0; was_disabled < 2; was_disabled++) {
        struct scene scene;
        open_scene(&scene);
        scene.fake.view = was_disabled ? "KEYS_ONLY" : NULL;
        scene.fake.is_disabled = was_disabled;
        follow(&scene, FOLLOW_NOW);
        pass(&scene, 1000);
        CHECK_INT(scene.ends, 1);
        CHECK_INT(scene.why.kind, ERROR_NO_STREAM);
        CHECK_HAS(scene.why.text, was_disabled ? "was disabled" : "has no stream");
        CHECK_HAS(scene.why.text, "aws dynamodb update-table --table-name T --stream-specification "
                                  "StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES");
        close_scene(&scene);
    }
}

static void a_stream_that_is_disabled_is_read_to_its_end(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    fake_stream_write(&scene.fake, shard, 1, 1);
    scene.fake.shards[shard].is_closed = true;
    scene.fake.is_disabled = true;
    pass(&scene, 5000);
    CHECK_INT(scene.count, 1);
    CHECK_INT(scene.ends, 1);
    CHECK_INT(scene.why.kind, ERROR_NO_STREAM);
    CHECK_HAS(scene.why.text, "was disabled, and all of its changes were read");
    close_scene(&scene);
}

static void a_shard_that_is_gone_is_a_gap(void)
{
    struct scene scene;
    open_scene(&scene);
    fake_stream_add_shard(&scene.fake, -1);
    error_set(&scene.fake.error, ERROR_NO_STREAM, "no such shard");
    memcpy(scene.fake.error.code, "ResourceNotFoundException", 26);
    scene.fake.fail_at = 5;
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 5000);
    CHECK_INT(scene.gaps, 1);
    close_scene(&scene);
}

static void polls_slow_down_while_nothing_changes(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 10000);
    unsigned before = scene.fake.polls;
    pass(&scene, 100000);
    CHECK(scene.fake.polls - before >= 95 && scene.fake.polls - before <= 101);
    before = scene.fake.polls;
    for (unsigned i = 1; i <= 100; i++) {
        fake_stream_write(&scene.fake, shard, 1, i);
        pass(&scene, 250);
    }
    CHECK(scene.fake.polls - before >= 90);
    CHECK_INT(follower_stats(scene.follower).requests, scene.fake.responses);
    close_scene(&scene);
}

static void a_hundred_shards_are_read_a_few_at_a_time(void)
{
    struct scene scene;
    open_scene(&scene);
    scene.fake.shards_a_page = 40;
    for (unsigned i = 0; i < 100; i++)
        fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 5000);
    CHECK_INT(scene.covered, 1);
    CHECK_INT(follower_stats(scene.follower).shards, 100);
    CHECK_INT(scene.fake.descriptions, 3);
    for (unsigned i = 0; i < 100; i++)
        fake_stream_write(&scene.fake, (int)i, i % KEYS, 1 + i / KEYS);
    pass(&scene, 6000);
    CHECK_INT(scene.count, 100);
    CHECK(follower_stats(scene.follower).lag_ms <= IDLE_MS + 100);
    close_scene(&scene);
}

static void the_follower_may_be_destroyed_with_a_change(void)
{
    for (unsigned at = 1; at <= 3; at++) {
        struct scene scene;
        open_scene(&scene);
        int shard = fake_stream_add_shard(&scene.fake, -1);
        scene.destroy_at = at;
        follow(&scene, FOLLOW_NOW);
        pass(&scene, 1000);
        for (unsigned i = 1; i <= 3; i++) {
            fake_stream_write(&scene.fake, shard, 1, i);
            pass(&scene, 1500);
        }
        CHECK_INT(scene.count, at);
        CHECK(!scene.follower);
        close_scene(&scene);
    }
}

static void expired_items_are_marked(void)
{
    struct scene scene;
    open_scene(&scene);
    int shard = fake_stream_add_shard(&scene.fake, -1);
    follow(&scene, FOLLOW_NOW);
    pass(&scene, 1000);
    fake_stream_write(&scene.fake, shard, 1, 1);
    fake_stream_write(&scene.fake, shard, 1, 2);
    scene.fake.shards[shard].changes[1].is_expired = true;
    pass(&scene, 1100);
    CHECK_INT(scene.count, 2);
    CHECK_INT(scene.expired, 1);
    close_scene(&scene);
}

/* A random life of a stream. */

struct life {
    struct scene scene;
    uint64_t seed;
    unsigned written[KEYS];
    int64_t written_ms[KEYS][4096]; /* when each version was written, on the monotonic clock */
};

static unsigned draw(struct life *life, unsigned below)
{
    life->seed = life->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(life->seed >> 33) % below;
}

/* Every version that is older than the lag has been delivered. */
static void check_lag(struct life *life)
{
    struct scene *scene = &life->scene;
    int64_t now_ms = loop_now_ms(scene->loop);
    int64_t tip_ms = now_ms - follower_stats(scene->follower).lag_ms;
    for (unsigned k = 0; k < KEYS; k++)
        if (scene->latest[k] < life->written[k] &&
            life->written_ms[k][scene->latest[k] + 1] < tip_ms)
            CHECK_FAIL("version %u of key %u is missing after %lld ms; the lag is %lld ms",
                       scene->latest[k] + 1, k,
                       (long long)(now_ms - life->written_ms[k][scene->latest[k] + 1]),
                       (long long)follower_stats(scene->follower).lag_ms);
}

/* Every version from before the time to resume has been delivered before this change. */
static void check_resume(struct scene *scene)
{
    struct life *life = (struct life *)scene;
    struct clock *clock = loop_clock(scene->loop);
    int64_t from_ms =
        scene->resume_ms - scene->fake.skew_ms - clock->wall_ms(clock) + loop_now_ms(scene->loop);
    for (unsigned k = 0; k < KEYS; k++)
        if (scene->latest[k] < life->written[k] &&
            life->written_ms[k][scene->latest[k] + 1] < from_ms)
            CHECK_FAIL("version %u of key %u is missing, and is %lld ms older than the time to "
                       "resume",
                       scene->latest[k] + 1, k,
                       (long long)(from_ms - life->written_ms[k][scene->latest[k] + 1]));
}

static int leaf(struct life *life)
{
    const struct fake_stream *fake = &life->scene.fake;
    for (;;) {
        int shard = (int)draw(life, (unsigned)fake->shard_count);
        if (!fake->shards[shard].is_closed)
            return shard;
    }
}

static void live_a_step(struct life *life)
{
    struct scene *scene = &life->scene;
    unsigned lot = draw(life, 100);
    if (lot < 2 && scene->fake.shard_count < 100)
        fake_stream_split(&scene->fake, leaf(life));
    if (lot == 2)
        scene->fake.fail_at = scene->fake.responses + 1 + draw(life, 3);
    if (lot == 3)
        virtual_clock_pass(&scene->clock, draw(life, 20) * 60 * 1000);
    if (lot == 4)
        scene->fake.children_come_ms = draw(life, 5000);
    if (lot == 5)
        scene->fake.page_size = 1 + draw(life, 20);
    if (lot == 6)
        scene->fake.empty_each = draw(life, 4) * 2;
    for (unsigned i = draw(life, 6); i > 0; i--) {
        unsigned k = draw(life, KEYS);
        fake_stream_write(&scene->fake, 0, k, ++life->written[k]);
        life->written_ms[k][life->written[k]] = loop_now_ms(scene->loop);
    }
    pass(scene, 1 + draw(life, 400));
    if (scene->fake.states_skew || scene->fake.skew_ms == 0)
        check_lag(life);
}

static void live(struct life *life, uint64_t seed)
{
    struct scene *scene = &life->scene;
    *life = (struct life){.seed = seed};
    open_scene(scene);
    scene->check_resume = check_resume;
    scene->fake.states_skew = seed % 3 == 2;
    if (seed % 3)
        scene->fake.skew_ms = ((int64_t)draw(life, 8 * 60 * 1000) - 4 * 60 * 1000) *
                              (scene->fake.states_skew ? 15 : 1);
    fake_stream_add_shard(&scene->fake, -1);
    error_set(&scene->fake.error, ERROR_RESET, "the connection broke");
    follow(scene, FOLLOW_NOW);
    pass(scene, 1000);
    for (unsigned step = 0; step < 400; step++)
        live_a_step(life);
    scene->fake.fail_at = 0;
    scene->fake.empty_each = 0;
    scene->fake.page_size = 0;
    pass(scene, 60000);
    CHECK(scene->in_order);
    CHECK_INT(scene->gaps + scene->ends, 0);
    CHECK(follower_stats(scene->follower).lag_ms <= IDLE_MS);
    for (unsigned k = 0; k < KEYS; k++)
        CHECK_INT(scene->latest[k], life->written[k]);
    struct clock *clock = loop_clock(scene->loop);
    int64_t quiet_ms = clock->wall_ms(clock);
    fake_stream_write(&scene->fake, 0, 0, ++life->written[0]);
    life->written_ms[0][life->written[0]] = loop_now_ms(scene->loop);
    pass(scene, 5000);
    CHECK_INT(scene->latest[0], life->written[0]);
    quiet_ms += scene->fake.states_skew ? scene->fake.skew_ms : 0;
    CHECK(scene->resume_ms > quiet_ms - CLOCKS_DIFFER_MS - 4 * 60 * 1000 - 5000);
    close_scene(scene);
}

static void each_change_comes_once_and_in_order_whatever_happens(void)
{
    static struct life life;
    const char *more = getenv("DDBFS_LIVES");
    for (uint64_t seed = 1; seed <= (more ? strtoul(more, NULL, 10) : 20); seed++)
        live(&life, seed);
}

static void sequence_numbers_are_compared_as_integers(void)
{
    CHECK(change_order(SPAN_LITERAL("9"), SPAN_LITERAL("10")) < 0);
    CHECK(change_order(SPAN_LITERAL("100000000000000000000000000000000002"),
                       SPAN_LITERAL("100000000000000000000000000000000001")) > 0);
    CHECK(change_order(SPAN_LITERAL("007"), SPAN_LITERAL("7")) == 0);
    CHECK(change_order(SPAN_LITERAL("a"), SPAN_LITERAL("a")) == 0);
    CHECK(change_order(SPAN_LITERAL("a"), SPAN_LITERAL("b")) > 0);
}

static void records_that_are_no_changes_are_refused(void)
{
    static const char *const texts[] = {
        "{}",
        "{\"eventName\":\"INSERT\"}",
        "{\"eventName\":\"UPSERT\",\"dynamodb\":{\"Keys\":{},\"SequenceNumber\":\"1\","
        "\"ApproximateCreationDateTime\":1}}",
        "{\"eventName\":\"INSERT\",\"dynamodb\":{\"Keys\":[],\"SequenceNumber\":\"1\","
        "\"ApproximateCreationDateTime\":1}}",
        "{\"eventName\":\"INSERT\",\"dynamodb\":{\"Keys\":{},\"SequenceNumber\":1,"
        "\"ApproximateCreationDateTime\":1}}",
        "{\"eventName\":\"INSERT\",\"dynamodb\":{\"Keys\":{},\"SequenceNumber\":\"1\","
        "\"ApproximateCreationDateTime\":\"x\"}}",
        "{\"eventName\":\"INSERT\",\"dynamodb\":{\"Keys\":{},\"SequenceNumber\":\"1\","
        "\"ApproximateCreationDateTime\":1,\"NewImage\":7}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        struct change change;
        struct error err = {0};
        CHECK(json_parse(&doc, span_text(texts[i]), JSON_STRICT, NULL));
        CHECK(!change_read(json_root(&doc), &change, &err));
        CHECK_INT(err.kind, ERROR_BAD_ANSWER);
    }
}

static const struct check_test tests[] = {
    {"only later changes are followed from now", only_later_changes_are_followed_from_now},
    {"the oldest changes come first, and page by page",
     the_oldest_changes_come_first_and_page_by_page},
    {"changes since a time", changes_since_a_time},
    {"parents are read before their children", parents_are_read_before_their_children},
    {"a shard that splits leads to its children", a_shard_that_splits_leads_to_its_children},
    {"children that are described late", children_that_are_described_late},
    {"an open shard that states its end is followed",
     an_open_shard_that_states_its_end_is_followed},
    {"empty pages are no end", empty_pages_are_no_end},
    {"a day without a poll is a gap", a_day_without_a_poll_is_a_gap},
    {"places that lead nowhere are requested rarely",
     places_that_lead_nowhere_are_requested_rarely},
    {"a stream that is younger is a gap", a_stream_that_is_younger_is_a_gap},
    {"a follower that pauses requests no changes", a_follower_that_pauses_requests_no_changes},
    {"a stream without an open shard lags", a_stream_without_an_open_shard_lags},
    {"expired iterators are replaced", expired_iterators_are_replaced},
    {"an empty page before old changes proves nothing",
     an_empty_page_before_old_changes_proves_nothing},
    {"a run of empty pages moves the lag", a_run_of_empty_pages_moves_the_lag},
    {"an empty page that lacks a change is doubted", an_empty_page_that_lacks_a_change_is_doubted},
    {"changes that come in time raise no doubt", changes_that_come_in_time_raise_no_doubt},
    {"a shard that a description lacks is not read again",
     a_shard_that_a_description_lacks_is_not_read_again},
    {"no shard waits for ever", no_shard_waits_for_ever},
    {"trimmed changes are a gap", trimmed_changes_are_a_gap},
    {"a latest place that is refused is no gap", a_latest_place_that_is_refused_is_no_gap},
    {"trouble is reported and overcome", trouble_is_reported_and_overcome},
    {"a failure at each response", a_failure_at_each_response},
    {"a refusal ends the follower", a_refusal_ends_the_follower},
    {"a first description that is too large ends the follower",
     a_first_description_that_is_too_large_ends_the_follower},
    {"a table without a stream", a_table_without_a_stream},
    {"a stream that is disabled is read to its end", a_stream_that_is_disabled_is_read_to_its_end},
    {"a shard that is gone is a gap", a_shard_that_is_gone_is_a_gap},
    {"polls slow down while nothing changes", polls_slow_down_while_nothing_changes},
    {"a hundred shards are read a few at a time", a_hundred_shards_are_read_a_few_at_a_time},
    {"the follower may be destroyed with a change", the_follower_may_be_destroyed_with_a_change},
    {"expired items are marked", expired_items_are_marked},
    {"each change comes once and in order, whatever happens",
     each_change_comes_once_and_in_order_whatever_happens},
    {"sequence numbers are compared as integers", sequence_numbers_are_compared_as_integers},
    {"records that are no changes are refused", records_that_are_no_changes_are_refused},
};
CHECK_MAIN(tests)
