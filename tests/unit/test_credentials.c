/* The cache of credentials around a provider that the test plays, on a virtual clock. */
#include "core/aws/credentials_cache.h"

#include <stdlib.h>

#include "tests/unit/check.h"
#include "tests/unit/virtual_clock.h"

#define WALL_MS 1792000000000
#define MINUTE_MS 60000

/* A provider whose requests the test ends. */
struct played {
    struct credentials_provider base;
    struct scene *scene;
};

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct credentials_provider *cache;
    struct credentials_context context;
    struct credentials_request *asked; /* the request under way */
    const char *method;                /* of what it gives */
    int questions, cancelled, destroyed;
};

/* Somebody who asks the cache. */
struct asker {
    struct credentials_request *get;
    int answers;
    char key[32]; /* "" after a failure */
    struct error err;
};

static struct scene *scene_of(const struct credentials_provider *provider)
{
    return ((const struct played *)provider)->scene;
}

static void played_begin(struct credentials_request *request)
{
    struct scene *scene = scene_of(request->provider);
    CHECK(!scene->asked);
    scene->asked = request;
    scene->questions++;
}

static void played_clean_up_request(struct credentials_request *request)
{
    struct scene *scene = scene_of(request->provider);
    scene->cancelled += scene->asked == request;
    scene->asked = NULL;
}

static void played_clean_up(struct credentials_provider *provider)
{
    scene_of(provider)->destroyed++;
}

static void open_scene(struct scene *scene)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct credentials_request),
        .begin = played_begin,
        .clean_up_request = played_clean_up_request,
        .clean_up = played_clean_up,
    };
    *scene = (struct scene){0};
    virtual_clock_init(&scene->clock, WALL_MS);
    scene->loop = loop_new(&scene->clock.clock);
    scene->context.loop = scene->loop;
    struct credentials_provider *provider =
        credentials_provider_new(sizeof(struct played), &ops, &scene->context);
    ((struct played *)provider)->scene = scene;
    scene->cache = credentials_cache_new(provider);
    CHECK(scene->loop && scene->cache);
}

static void scene_clean_up(struct scene *scene)
{
    credentials_provider_destroy(scene->cache);
    loop_destroy(scene->loop);
}

static void on_answer(void *arg, const struct credentials_result *answer)
{
    struct asker *asker = arg;
    asker->get = NULL;
    asker->answers++;
    asker->err = answer->err;
    snprintf(asker->key, sizeof asker->key, "%s",
             answer->found == CREDENTIALS_FOUND ? answer->credentials.access_key_id : "");
}

static void begin(struct scene *scene, struct asker *asker)
{
    *asker = (struct asker){0};
    asker->get = credentials_request_start(scene->cache, on_answer, asker);
    CHECK(asker->get && asker->answers == 0);
}

static void ask(struct scene *scene, struct asker *asker)
{
    begin(scene, asker);
    CHECK(loop_run(scene->loop));
}

static void answer(struct scene *scene, struct credentials_result *given)
{
    struct credentials_request *request = scene->asked;
    scene->asked = NULL;
    credentials_request_report(request, given);
}

/* The provider has a key that lasts so long; 0: for ever. */
static void give(struct scene *scene, const char *key, int64_t lasts_ms)
{
    char id[32], secret[] = "SECRET";
    snprintf(id, sizeof id, "%s", key);
    struct credentials_result found = {
        .found = CREDENTIALS_FOUND,
        .credentials = {.access_key_id = id,
                        .secret_access_key = secret,
                        .method = scene->method,
                        .expires_wall_ms = lasts_ms ? scene->clock.wall_ms + lasts_ms : 0},
    };
    CHECK(scene->asked);
    answer(scene, &found);
}

static void fail(struct scene *scene)
{
    struct credentials_result failed = {.found = CREDENTIALS_FAILED};
    error_set(&failed.err, ERROR_EXPIRED, "sign in");
    CHECK(scene->asked);
    answer(scene, &failed);
}

static void check_held(struct scene *scene, const char *key)
{
    unsigned age;
    const struct credentials *held = credentials_cache_held(scene->cache, &age);
    if (!key)
        CHECK(!held);
    else
        CHECK_TEXT(held ? held->access_key_id : "none", key);
    CHECK(loop_run(scene->loop)); /* an early refresh begins */
}

/* Fetches once, so that KEY is held. */
static void hold(struct scene *scene, const char *key, int64_t lasts_ms)
{
    struct asker asker;
    ask(scene, &asker);
    give(scene, key, lasts_ms);
    CHECK_TEXT(asker.key, key);
}

static void many_ask_once(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    struct asker askers[5];
    open_scene(&scene);
    for (int i = 0; i < 5; i++)
        ask(&scene, &askers[i]);
    CHECK_INT(scene.questions, 1);
    give(&scene, "A", 0);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(askers[i].answers, 1);
        CHECK_TEXT(askers[i].key, "A");
    }
    ask(&scene, &askers[0]);
    CHECK(loop_run(scene.loop));
    CHECK_TEXT(askers[0].key, "A");
    CHECK_INT(scene.questions, 1);
}

static void what_never_expires_is_held_for_ever(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    check_held(&scene, NULL);
    hold(&scene, "A", 0);
    virtual_clock_pass(&scene.clock, 1000LL * 60 * MINUTE_MS);
    check_held(&scene, "A");
    CHECK_INT(scene.questions, 1);
}

static void refreshed_early_while_the_old_are_used(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    hold(&scene, "A", 60 * MINUTE_MS);
    virtual_clock_pass(&scene.clock, 45 * MINUTE_MS - 1);
    check_held(&scene, "A");
    CHECK_INT(scene.questions, 1);
    virtual_clock_pass(&scene.clock, 1); /* 15 minutes are left */
    check_held(&scene, "A");
    check_held(&scene, "A");
    CHECK_INT(scene.questions, 2);
    give(&scene, "B", 60 * MINUTE_MS);
    check_held(&scene, "B");
}

static void an_early_failure_keeps_the_old(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    hold(&scene, "A", 60 * MINUTE_MS);
    virtual_clock_pass(&scene.clock, 46 * MINUTE_MS);
    check_held(&scene, "A");
    fail(&scene);
    check_held(&scene, "A");
    CHECK_INT(scene.questions, 2); /* the provider is left alone for a while */
    virtual_clock_pass(&scene.clock, CREDENTIALS_PAUSE_MS);
    check_held(&scene, "A");
    CHECK_INT(scene.questions, 3);
    fail(&scene);
}

static void with_ten_minutes_left_fresh_ones_are_insisted_on(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    struct asker asker;
    open_scene(&scene);
    hold(&scene, "A", 60 * MINUTE_MS);
    virtual_clock_pass(&scene.clock, 50 * MINUTE_MS);
    check_held(&scene, NULL);
    ask(&scene, &asker);
    CHECK_INT(scene.questions, 2);
    fail(&scene);
    CHECK_INT(asker.answers, 1);
    CHECK_TEXT(asker.err.text, "sign in");
    check_held(&scene, NULL);
    ask(&scene, &asker);
    give(&scene, "B", 60 * MINUTE_MS);
    check_held(&scene, "B");
}

/* Else a provider whose credentials are always short-lived would be asked for every request. */
static void fresh_ones_that_last_shortly_are_used(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    hold(&scene, "A", 5 * MINUTE_MS);
    check_held(&scene, "A");
    CHECK_INT(scene.questions, 1);
    virtual_clock_pass(&scene.clock, CREDENTIALS_PAUSE_MS);
    check_held(&scene, NULL);
    hold(&scene, "B", 1000);
    check_held(&scene, "B");
    virtual_clock_pass(&scene.clock, 1000);
    check_held(&scene, NULL);
}

static void what_has_expired_already_is_an_error(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    struct asker asker;
    open_scene(&scene);
    ask(&scene, &asker);
    give(&scene, "A", -1);
    CHECK_INT(asker.err.kind, ERROR_EXPIRED);
    check_held(&scene, NULL);
}

static void the_refused_are_dropped_but_not_their_successors(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    unsigned age;
    open_scene(&scene);
    hold(&scene, "A", 0);
    CHECK(credentials_cache_held(scene.cache, &age));
    credentials_cache_refuse(scene.cache, age);
    check_held(&scene, NULL);
    hold(&scene, "B", 0);
    credentials_cache_refuse(scene.cache, age); /* another request that A had signed */
    check_held(&scene, "B");
}

/* The service refuses what is held, as it did with KEY before; whether others are to be had. */
static bool refuse(struct scene *scene)
{
    unsigned age;
    CHECK(credentials_cache_held(scene->cache, &age));
    return credentials_cache_refuse(scene->cache, age);
}

static void what_a_refusal_led_to_is_kept_for_a_while(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    hold(&scene, "A", 0);
    CHECK(refuse(&scene)); /* whatever their age: nobody has looked again so far */
    hold(&scene, "B", 0);
    CHECK(!refuse(&scene));
    virtual_clock_pass(&scene.clock, CREDENTIALS_REFUSED_MS - 1);
    CHECK(!refuse(&scene));
    check_held(&scene, "B");
    CHECK_INT(scene.questions, 2);
    virtual_clock_pass(&scene.clock, 1);
    CHECK(refuse(&scene));
    check_held(&scene, NULL);
    hold(&scene, "C", 0);
    CHECK(!refuse(&scene));
}

static void what_stands_in_a_file_is_looked_at_again_each_time(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    scene.method = "shared-credentials-file";
    hold(&scene, "A", 0);
    for (int i = 0; i < 3; i++) {
        CHECK(refuse(&scene));
        check_held(&scene, NULL);
        hold(&scene, "A", 0);
    }
}

static void held_ones_refused_before_they_were_told(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    struct asker asker;
    unsigned age;
    open_scene(&scene);
    hold(&scene, "A", 0);
    begin(&scene, &asker);
    CHECK(credentials_cache_held(scene.cache, &age));
    credentials_cache_refuse(scene.cache, age);
    CHECK(loop_run(scene.loop));
    CHECK_INT(asker.answers, 0);
    give(&scene, "B", 0);
    CHECK_TEXT(asker.key, "B");
}

static void what_was_begun_lands_when_all_have_left(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    struct asker one, other;
    open_scene(&scene);
    ask(&scene, &one);
    ask(&scene, &other);
    credentials_request_cancel(one.get);
    CHECK_INT(scene.cancelled, 0);
    credentials_request_cancel(other.get);
    CHECK_INT(scene.cancelled, 0);
    ask(&scene, &one); /* waits for the same */
    credentials_request_cancel(one.get);
    give(&scene, "A", 0);
    CHECK(one.answers == 0 && other.answers == 0);
    check_held(&scene, "A");
    CHECK_INT(scene.questions, 1);
    begin(&scene, &one);
    credentials_request_cancel(one.get);
    CHECK(loop_run(scene.loop));
    CHECK_INT(one.answers, 0);
}

static void what_fails_when_all_have_left_is_asked_for_anew(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    struct asker one;
    open_scene(&scene);
    ask(&scene, &one);
    credentials_request_cancel(one.get);
    fail(&scene);
    CHECK_INT(one.answers, 0);
    hold(&scene, "A", 0);
    CHECK_INT(scene.questions, 2);
}

static void destroyed_while_it_asks(void)
{
    struct scene scene;
    open_scene(&scene);
    hold(&scene, "A", 60 * MINUTE_MS);
    virtual_clock_pass(&scene.clock, 46 * MINUTE_MS);
    check_held(&scene, "A");
    CHECK_INT(scene.questions, 2);
    scene_clean_up(&scene);
    CHECK(scene.cancelled == 1 && scene.destroyed == 1);
}

static const struct check_test tests[] = {
    {"many ask once", many_ask_once},
    {"what never expires is held for ever", what_never_expires_is_held_for_ever},
    {"refreshed early while the old are used", refreshed_early_while_the_old_are_used},
    {"an early failure keeps the old", an_early_failure_keeps_the_old},
    {"with ten minutes left fresh ones are insisted on",
     with_ten_minutes_left_fresh_ones_are_insisted_on},
    {"fresh ones that last shortly are used", fresh_ones_that_last_shortly_are_used},
    {"what has expired already is an error", what_has_expired_already_is_an_error},
    {"the refused are dropped but not their successors",
     the_refused_are_dropped_but_not_their_successors},
    {"what a refusal led to is kept for a while", what_a_refusal_led_to_is_kept_for_a_while},
    {"what stands in a file is looked at again each time",
     what_stands_in_a_file_is_looked_at_again_each_time},
    {"held ones refused before they were told", held_ones_refused_before_they_were_told},
    {"what was begun lands when all have left", what_was_begun_lands_when_all_have_left},
    {"what fails when all have left is asked for anew",
     what_fails_when_all_have_left_is_asked_for_anew},
    {"destroyed while it asks", destroyed_while_it_asks},
};
CHECK_MAIN(tests)
