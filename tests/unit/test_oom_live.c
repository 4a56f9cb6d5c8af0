/* Memory that runs out, at every point, while a stream is followed and results are kept up to date:
 * nothing crashes, nothing leaks, no answer is wrong, and once there is memory again all goes on.
 */
#include "core/stream/follower.h"
#include "tests/unit/check.h"
#include "tests/unit/live_scene.h"
#include "tests/unit/oom.h"

enum { SECOND_MS = 1000 };

/* The follower. */

struct follow {
    struct virtual_clock clock;
    struct loop *loop;
    struct fake_stream stream;
    struct follower *follower;
    unsigned written[4], versions[4]; /* of each key: the last one, and the last that came */
    bool has_ended;
    struct error why;
};

static void follow_write(struct follow *follow, unsigned key)
{
    fake_stream_write(&follow->stream, 0, key, ++follow->written[key]);
}

static void follow_stop(void *arg)
{
    loop_stop(arg);
}

static void follow_pass(struct follow *follow, int64_t ms)
{
    fault.paused = true;
    CHECK(loop_add_timer(follow->loop, ms, follow_stop, follow->loop));
    fault.paused = false;
    CHECK(loop_run(follow->loop));
}

static void follow_on_changes(void *arg, const struct change *changes, size_t count)
{
    struct follow *follow = arg;
    for (size_t i = 0; i < count; i++) {
        struct span key, version;
        CHECK(json_plain_string(json_member(json_member(changes[i].keys, "pk"), "S"), &key));
        CHECK(json_plain_string(json_member(json_member(changes[i].after, "v"), "N"), &version));
        unsigned number = (unsigned)strtoul(key.data, NULL, 10);
        CHECK_INT(strtoul(version.data, NULL, 10), follow->versions[number] + 1);
        follow->versions[number]++;
    }
}

static void follow_on_gap(void *arg, const struct error *why)
{
    (void)arg;
    CHECK_FAIL("a gap: %s", why->text);
}

static void follow_on_ended(void *arg, const struct error *why)
{
    struct follow *follow = arg;
    CHECK(!follow->has_ended);
    follow->has_ended = true;
    follow->why = *why;
}

static void follow_begin(struct follow *follow)
{
    static const struct follower_ops ops = {
        .changes = follow_on_changes, .gap = follow_on_gap, .ended = follow_on_ended};
    memset(follow->versions, 0, sizeof follow->versions);
    follow->has_ended = false;
    follow->follower = follower_new(&(struct follower_options){.loop = follow->loop,
                                                               .source = &follow->stream.source,
                                                               .table = "T",
                                                               .from = FOLLOW_OLDEST,
                                                               .poll_least_ms = 250,
                                                               .poll_most_ms = SECOND_MS,
                                                               .ops = &ops,
                                                               .arg = follow});
}

/* Every change comes once, or the follower ends and says that memory ran out. */
static bool follow_with_fault(unsigned long n, bool for_good)
{
    struct follow follow = {0};
    virtual_clock_init(&follow.clock, 1792000000000);
    follow.loop = loop_new(&follow.clock.clock);
    fake_stream_init(&follow.stream, follow.loop);
    follow.stream.busy = &fault.paused;
    fake_stream_add_shard(&follow.stream, -1);
    for (unsigned i = 0; i < 8; i++)
        follow_write(&follow, i % 4);
    fake_stream_split(&follow.stream, 0);
    for (unsigned i = 0; i < 8; i++)
        follow_write(&follow, i % 4);
    arm(n, for_good);
    follow_begin(&follow);
    if (follow.follower)
        follow_pass(&follow, 20 * SECOND_MS);
    bool hit = disarm();
    for (unsigned i = 0; i < 4; i++)
        follow_write(&follow, i);
    if (follow.follower && !follow.has_ended)
        follow_pass(&follow, 120 * SECOND_MS);
    if (!follow.follower || follow.has_ended) { /* the owner begins again */
        CHECK(hit);
        if (follow.has_ended)
            CHECK_INT(follow.why.kind, ERROR_NO_MEMORY);
        follower_destroy(follow.follower);
        follow_begin(&follow);
        CHECK(follow.follower);
        follow_pass(&follow, 20 * SECOND_MS);
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK_INT(follow.versions[i], follow.written[i]);
    follower_destroy(follow.follower);
    fake_stream_clean_up(&follow.stream);
    loop_destroy(follow.loop);
    return hit;
}

static void a_follower_without_memory_loses_nothing(void)
{
    try_all(follow_with_fault);
}

/* The source. */

/* Starts READ; its pages come until its end. False if it does not begin. */
static bool run_read(struct live_scene *scene, const struct read *read)
{
    scene->count = scene->requests = 0;
    scene->err = (struct error){0};
    scene->is_over = false;
    scene->call = source_start(scene->source, read, NULL, live_scene_take_page, scene);
    if (!scene->call)
        return false;
    CHECK(loop_run(scene->loop));
    CHECK(scene->is_over);
    source_end(scene->call);
    return true;
}

/* A result is as new as the table states, or is an error of memory. */
static void check_key(struct live_scene *scene, unsigned key)
{
    fault.paused = true;
    struct read *read = live_scene_keys(key, 1);
    fault.paused = false;
    int64_t began_ms = loop_now_ms(scene->loop), lag_ms = live_scene_present(scene).lag_ms;
    bool begun = run_read(scene, read);
    read_destroy(read);
    if (begun && scene->err.kind)
        CHECK_INT(scene->err.kind, ERROR_NO_MEMORY);
    if (!begun || scene->err.kind)
        return;
    unsigned version = scene->count ? scene->versions[0] : 0;
    CHECK(scene->count <= 1);
    CHECK(version >= live_service_version(&scene->service, key,
                                          scene->requests ? began_ms : began_ms - lag_ms));
}

static void check_query(struct live_scene *scene)
{
    fault.paused = true;
    struct read *read = read_new(READ_QUERY, "T", NULL);
    read_add_where(read, &(struct cond){.attribute = SPAN_LITERAL("pk"),
                                        .value = {VALUE_S, SPAN_LITERAL("1")}});
    fault.paused = false;
    int64_t began_ms = loop_now_ms(scene->loop), lag_ms = live_scene_present(scene).lag_ms;
    bool begun = run_read(scene, read);
    read_destroy(read);
    if (!begun || scene->err.kind)
        return;
    unsigned version = scene->count ? scene->versions[0] : 0;
    CHECK(scene->count <= 1);
    CHECK(version >=
          live_service_version(&scene->service, 1, scene->requests ? began_ms : began_ms - lag_ms));
}

static void write_key(struct live_scene *scene, unsigned key)
{
    fault.paused = true;
    live_service_write(&scene->service, key);
    fault.paused = false;
}

/* Reads and writes for some seconds. */
static void live_a_while(struct live_scene *scene, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        write_key(scene, i % 3);
        check_key(scene, i % 4);
        check_query(scene);
        live_scene_pass(scene, SECOND_MS);
        check_key(scene, i % 3);
    }
}

static bool live_with_fault(unsigned long n, bool for_good)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    scene.service.busy = scene.service.stream.busy = &fault.paused;
    write_key(&scene, 1);
    arm(n, for_good);
    live_a_while(&scene, 8);
    bool hit = disarm();
    live_a_while(&scene, 75);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    live_scene_pass(&scene, 5 * SECOND_MS);
    check_key(&scene, 1);
    check_key(&scene, 1);
    CHECK_INT(scene.requests, 0);
    CHECK_INT(scene.versions[0], scene.service.versions[1]);
    check_query(&scene);
    CHECK_INT(scene.requests, 0);
    CHECK_INT(scene.versions[0], scene.service.versions[1]);
    live_scene_close(&scene);
    return hit;
}

static void a_source_without_memory_gives_no_wrong_answer(void)
{
    try_all(live_with_fault);
}

static const struct check_test tests[] = {
    {"a follower without memory loses nothing", a_follower_without_memory_loses_nothing},
    {"a source without memory gives no wrong answer",
     a_source_without_memory_gives_no_wrong_answer},
};
CHECK_MAIN(tests)
