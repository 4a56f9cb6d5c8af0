/* The cache on a virtual clock: answers, flights, expiry, and the limit on bytes. */
#include "core/read/cache.h"

#include "core/base/dict.h"
#include "tests/unit/check.h"
#include "tests/unit/virtual_clock.h"

enum { MEGABYTE = 1 << 20 };

/* A counted thing, on the test's stack: references tell whether the cache let go. */
struct thing {
    int refs;
};

static void thing_ref(void *data)
{
    ((struct thing *)data)->refs++;
}

static void thing_unref(void *data)
{
    ((struct thing *)data)->refs--;
}

static struct cache_value value_of(struct thing *thing, size_t memory)
{
    return (struct cache_value){thing, thing_ref, thing_unref, memory};
}

/* What happened to one request. */
struct asker {
    struct cache_wait *wait;
    int calls;
    void *data;
    int refs; /* of the data, while it was delivered */
    int64_t ttl_left_ms;
    struct error err; /* kind ERROR_NONE for an answer */
};

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct cache *cache;
    struct cache_flight *flight; /* the last one that began */
    int fetched, abandoned, released;
    bool refuse;
    int64_t max_age_ms, max_missing_age_ms, stale_ms; /* of the questions that are asked */
};

static void open_scene(struct scene *scene, size_t limit)
{
    *scene = (struct scene){.max_age_ms = 1000, .max_missing_age_ms = 2000};
    virtual_clock_init(&scene->clock, 0);
    scene->loop = loop_new(&scene->clock.clock);
    scene->cache = cache_new(scene->loop, limit);
    CHECK(scene->loop && scene->cache);
}

static void close_scene(struct scene *scene)
{
    cache_destroy(scene->cache);
    loop_destroy(scene->loop);
}

static bool fetch(void *arg, struct cache_flight *flight, struct error *err)
{
    struct scene *scene = arg;
    scene->fetched++;
    if (scene->refuse)
        return error_set(err, ERROR_DENIED, "no");
    scene->flight = flight;
    return true;
}

static void abandon(void *arg)
{
    ((struct scene *)arg)->abandoned++;
}

static void release(void *arg)
{
    ((struct scene *)arg)->released++;
}

static void done(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct asker *asker = arg;
    asker->calls++;
    asker->data = data;
    asker->refs = data ? ((struct thing *)data)->refs : 0;
    asker->ttl_left_ms = ttl_left_ms;
    asker->err = err ? *err : (struct error){0};
    asker->wait = NULL;
}

static struct cache_lookup question_of(struct scene *scene, const char *key)
{
    return (struct cache_lookup){.key = span_text(key),
                                 .max_age_ms = scene->max_age_ms,
                                 .max_missing_age_ms = scene->max_missing_age_ms,
                                 .stale_ms = scene->stale_ms,
                                 .fetch = fetch,
                                 .abandon = abandon,
                                 .fetch_arg = scene,
                                 .release = release};
}

static void ask(struct scene *scene, const char *key, struct asker *asker)
{
    struct cache_lookup request = question_of(scene, key);
    asker->wait = cache_read(scene->cache, &request, done, asker);
    CHECK(asker->wait && asker->calls == 0);
}

static void run(struct scene *scene)
{
    CHECK(loop_run(scene->loop));
}

/* What somebody asked for, and got. */
static void put_bytes(struct scene *scene, struct span key, struct thing *thing, size_t memory)
{
    struct asker asker = {0};
    struct cache_lookup request = question_of(scene, "");
    request.key = key;
    request.max_age_ms = 0;
    request.max_missing_age_ms = 0;
    asker.wait = cache_read(scene->cache, &request, done, &asker);
    struct cache_value value = value_of(thing, memory);
    cache_land(scene->flight, thing ? &value : &(struct cache_value){0});
    CHECK_INT(asker.calls, 1);
}

static void put(struct scene *scene, const char *key, struct thing *thing, size_t memory)
{
    put_bytes(scene, span_text(key), thing, memory);
}

static void land(struct scene *scene, struct thing *thing)
{
    struct cache_value value = value_of(thing, 10);
    cache_land(scene->flight, &value);
}

static bool known(struct scene *scene, const char *key)
{
    struct asker asker = {0};
    int fetched = scene->fetched;
    ask(scene, key, &asker);
    if (scene->fetched > fetched)
        cache_leave(asker.wait);
    run(scene);
    return asker.calls == 1;
}

static void an_unknown_key_is_fetched_and_kept(void)
{
    struct scene scene;
    struct asker first = {0}, second = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &first);
    CHECK_INT(scene.fetched, 1);
    land(&scene, &thing);
    CHECK_INT(first.calls, 1);
    CHECK(first.data == &thing && first.ttl_left_ms == 1000);
    ask(&scene, "k", &second);
    run(&scene);
    CHECK(second.calls == 1 && second.data == &thing);
    CHECK_INT(scene.fetched, 1);
    CHECK_INT(thing.refs, 2);
    close_scene(&scene);
    CHECK_INT(thing.refs, 1);
}

static void nothing_runs_from_within_ask(void)
{
    struct scene scene;
    struct asker asker = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    put(&scene, "k", &thing, 1);
    ask(&scene, "k", &asker);
    CHECK_INT(asker.calls, 0);
    run(&scene);
    CHECK_INT(asker.calls, 1);
    close_scene(&scene);
}

static void identical_questions_share_a_flight(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0}, other = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    CHECK_INT(scene.fetched, 1);
    land(&scene, &thing);
    CHECK(a.data == &thing && b.data == &thing);
    ask(&scene, "other", &other);
    CHECK_INT(scene.fetched, 2);
    cache_leave(other.wait);
    close_scene(&scene);
}

static void expiry_is_absolute(void)
{
    struct scene scene;
    struct asker late = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    put(&scene, "k", &thing, 1);
    virtual_clock_pass(&scene.clock, 999);
    ask(&scene, "k", &late);
    run(&scene);
    CHECK_INT(late.ttl_left_ms, 1);
    virtual_clock_pass(&scene.clock, 1);
    CHECK(!known(&scene, "k"));
    close_scene(&scene);
}

static void a_ttl_may_be_for_ever(void)
{
    struct scene scene;
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    scene.max_age_ms = INT64_MAX;
    put(&scene, "k", &thing, 1);
    virtual_clock_pass(&scene.clock, 1000000000000);
    CHECK(known(&scene, "k"));
    close_scene(&scene);
}

static void a_proven_miss_is_kept_for_its_ttl(void)
{
    struct scene scene;
    struct asker first = {0}, second = {0};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &first);
    land(&scene, NULL);
    CHECK(first.calls == 1 && !first.data && first.err.kind == ERROR_NONE);
    ask(&scene, "k", &second);
    run(&scene);
    CHECK(second.calls == 1 && !second.data && second.err.kind == ERROR_NONE);
    CHECK_INT(scene.fetched, 1);
    virtual_clock_pass(&scene.clock, 2000);
    CHECK(!known(&scene, "k"));
    close_scene(&scene);
}

static void errors_are_never_kept(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0};
    struct error err;
    open_scene(&scene, MEGABYTE);
    error_set(&err, ERROR_THROTTLED, "slowly");
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    cache_fail(scene.flight, &err);
    CHECK(a.err.kind == ERROR_THROTTLED && b.err.kind == ERROR_THROTTLED);
    CHECK(!known(&scene, "k"));
    CHECK_INT(cache_stats(scene.cache).entries, 0);
    close_scene(&scene);
}

static void a_fetch_that_refuses_fails_later(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0};
    open_scene(&scene, MEGABYTE);
    scene.refuse = true;
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    run(&scene);
    CHECK(a.calls == 1 && a.err.kind == ERROR_DENIED);
    CHECK(b.calls == 1 && b.err.kind == ERROR_DENIED);
    CHECK_INT(scene.abandoned, 0);
    CHECK_INT(scene.released, 2);
    close_scene(&scene);
}

static void a_refused_flight_may_be_left(void)
{
    struct scene scene;
    struct asker asker = {0};
    open_scene(&scene, MEGABYTE);
    scene.refuse = true;
    ask(&scene, "k", &asker);
    cache_leave(asker.wait);
    run(&scene);
    CHECK_INT(asker.calls, 0);
    CHECK_INT(scene.abandoned, 0);
    CHECK_INT(scene.released, 1);
    close_scene(&scene);
}

static void an_age_of_zero_joins_flights_but_takes_nothing_known(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    scene.max_age_ms = 0;
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    land(&scene, &thing);
    CHECK(a.data == &thing && b.data == &thing && a.ttl_left_ms == 0);
    CHECK(!known(&scene, "k"));
    close_scene(&scene);
}

/* Who keeps an answer for an hour does not decide for who wants it fresh. */
static void each_asker_says_how_old_an_answer_may_be(void)
{
    struct scene scene;
    struct asker patient = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    scene.max_age_ms = 3600000;
    put(&scene, "k", &thing, 1);
    virtual_clock_pass(&scene.clock, 15000);
    scene.max_age_ms = 10000;
    CHECK(!known(&scene, "k"));
    scene.max_age_ms = 0;
    CHECK(!known(&scene, "k"));
    scene.max_age_ms = 3600000;
    ask(&scene, "k", &patient);
    run(&scene);
    CHECK(patient.data == &thing);
    CHECK_INT(patient.ttl_left_ms, 3600000 - 15000);
    close_scene(&scene);
}

/* Outages. */

enum { STALE_MS = 5000 };

static void open_stale_scene(struct scene *scene, struct thing *thing)
{
    open_scene(scene, MEGABYTE);
    scene->stale_ms = STALE_MS;
    put(scene, "k", thing, 1);
}

static void ask_in_vain(struct scene *scene, enum error_kind kind, struct asker *asker)
{
    struct error err;
    *asker = (struct asker){0};
    error_set(&err, kind, "no answer");
    ask(scene, "k", asker);
    CHECK(asker->calls == 0);
    cache_fail(scene->flight, &err);
    CHECK_INT(asker->calls, 1);
    CHECK_INT(asker->err.kind, kind);
}

static void what_is_too_old_is_told_in_an_outage(void)
{
    struct scene scene;
    struct asker asker;
    struct thing thing = {1};
    open_stale_scene(&scene, &thing);
    virtual_clock_pass(&scene.clock, 1000);
    for (int i = 1; i <= 3; i++) { /* it gets no younger by it */
        ask_in_vain(&scene, ERROR_TIMED_OUT, &asker);
        CHECK(asker.data == &thing && asker.refs >= 2);
        CHECK_TEXT(asker.err.text, "no answer");
        CHECK_INT(asker.ttl_left_ms, 2000);
        CHECK_INT(scene.fetched, 1 + i);
    }
    close_scene(&scene);
    CHECK_INT(thing.refs, 1);
}

static void it_is_told_up_to_its_bound(void)
{
    struct scene scene;
    struct asker asker;
    struct thing thing = {1};
    open_stale_scene(&scene, &thing);
    virtual_clock_pass(&scene.clock, 1000 + STALE_MS - 1);
    ask_in_vain(&scene, ERROR_SERVICE, &asker);
    CHECK(asker.data == &thing);
    CHECK_INT(asker.ttl_left_ms, 1);
    virtual_clock_pass(&scene.clock, 1);
    ask_in_vain(&scene, ERROR_SERVICE, &asker);
    CHECK(!asker.data && asker.ttl_left_ms == 0);
    close_scene(&scene);
}

static void only_an_outage_excuses_age(void)
{
    static const enum error_kind outages[] = {ERROR_THROTTLED, ERROR_TIMED_OUT, ERROR_UNREACHABLE,
                                              ERROR_REFUSED,   ERROR_RESET,     ERROR_TLS,
                                              ERROR_SERVICE};
    struct scene scene;
    struct asker asker;
    struct thing thing = {1};
    open_stale_scene(&scene, &thing);
    virtual_clock_pass(&scene.clock, 1000);
    unsigned excused = 0;
    for (int kind = ERROR_NONE + 1; kind <= ERROR_NO_MEMORY; kind++) {
        ask_in_vain(&scene, (enum error_kind)kind, &asker);
        excused += asker.data != NULL;
    }
    CHECK_INT(excused, sizeof outages / sizeof outages[0]);
    for (size_t i = 0; i < sizeof outages / sizeof outages[0]; i++) {
        ask_in_vain(&scene, outages[i], &asker);
        CHECK(asker.data == &thing);
    }
    close_scene(&scene);
}

static void a_miss_that_is_too_old_proves_nothing(void)
{
    struct scene scene;
    struct asker asker;
    open_stale_scene(&scene, NULL);
    virtual_clock_pass(&scene.clock, 2000);
    ask_in_vain(&scene, ERROR_TIMED_OUT, &asker);
    CHECK(!asker.data);
    close_scene(&scene);
}

static void each_asker_says_how_stale_an_answer_may_be(void)
{
    struct scene scene;
    struct asker patient = {0}, strict = {0};
    struct error err;
    struct thing thing = {1};
    open_stale_scene(&scene, &thing);
    virtual_clock_pass(&scene.clock, 1000);
    ask(&scene, "k", &patient);
    scene.stale_ms = 0;
    ask(&scene, "k", &strict);
    error_set(&err, ERROR_REFUSED, "nobody there");
    cache_fail(scene.flight, &err);
    CHECK(patient.data == &thing && !strict.data && strict.err.kind == ERROR_REFUSED);
    close_scene(&scene);
}

static void what_was_dropped_excuses_nothing(void)
{
    struct scene scene;
    struct asker asker = {0};
    struct error err;
    struct thing thing = {1};
    open_stale_scene(&scene, &thing);
    virtual_clock_pass(&scene.clock, 1000);
    ask(&scene, "k", &asker);
    struct cache_flight *flight = scene.flight;
    cache_drop(scene.cache);
    put(&scene, "k", &thing, 1); /* who asked before the drop is told nothing of it */
    error_set(&err, ERROR_REFUSED, "nobody there");
    cache_fail(flight, &err);
    CHECK(asker.calls == 1 && !asker.data);
    close_scene(&scene);
}

static void the_last_asker_to_leave_abandons_the_flight(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    cache_leave(a.wait);
    CHECK_INT(scene.abandoned, 0);
    cache_leave(b.wait);
    CHECK_INT(scene.abandoned, 1);
    CHECK_INT(scene.released, 2);
    CHECK(a.calls == 0 && b.calls == 0);
    CHECK(!known(&scene, "k"));
    CHECK_INT(scene.fetched, 2);
    close_scene(&scene);
}

static void those_who_stay_are_answered(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0}, c = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    ask(&scene, "k", &c);
    cache_leave(b.wait);
    land(&scene, &thing);
    CHECK(a.calls == 1 && b.calls == 0 && c.calls == 1);
    close_scene(&scene);
}

static void leaving_a_known_answer_lets_go_of_it(void)
{
    struct scene scene;
    struct asker asker = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    put(&scene, "k", &thing, 1);
    ask(&scene, "k", &asker);
    CHECK_INT(thing.refs, 3);
    cache_leave(asker.wait);
    run(&scene);
    CHECK_INT(asker.calls, 0);
    CHECK_INT(thing.refs, 2);
    close_scene(&scene);
}

static void fetch_args_are_released_once(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0}, c = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    CHECK_INT(scene.released, 0);
    ask(&scene, "k", &b);
    CHECK_INT(scene.released, 0);
    land(&scene, &thing);
    CHECK_INT(scene.released, 2);
    ask(&scene, "k", &c);
    CHECK_INT(scene.released, 3);
    run(&scene);
    CHECK_INT(scene.released, 3);
    close_scene(&scene);
}

static const struct error spent = {.kind = ERROR_SPENT};

static void who_joined_one_that_is_refused_asks_himself(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0}, c = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    ask(&scene, "k", &c);
    CHECK_INT(scene.fetched, 1);
    cache_fail(scene.flight, &spent);
    CHECK(a.calls == 1 && a.err.kind == ERROR_SPENT);
    CHECK(b.calls == 0 && c.calls == 0);
    CHECK_INT(scene.fetched, 2);
    land(&scene, &thing);
    CHECK(b.calls == 1 && b.data == &thing && c.calls == 1 && c.data == &thing);
    CHECK_INT(scene.fetched, 2);
    CHECK_INT(scene.released, 3);
    close_scene(&scene);
}

static void each_who_is_refused_is_told_for_himself(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    cache_fail(scene.flight, &spent);
    cache_fail(scene.flight, &spent);
    CHECK(a.calls == 1 && b.calls == 1 && b.err.kind == ERROR_SPENT);
    CHECK_INT(scene.fetched, 2);
    CHECK_INT(scene.released, 2);
    close_scene(&scene);
}

static void who_has_left_is_not_told_of_his_refusal(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    cache_leave(a.wait);
    cache_fail(scene.flight, &spent);
    CHECK_INT(a.calls, 0);
    CHECK_INT(scene.fetched, 2);
    land(&scene, &thing);
    CHECK(b.calls == 1 && b.data == &thing);
    close_scene(&scene);
}

static void who_asks_again_joins_what_was_asked_meanwhile(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0}, c = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    struct cache_flight *dropped = scene.flight;
    cache_drop(scene.cache);
    ask(&scene, "k", &c);
    cache_fail(dropped, &spent);
    CHECK_INT(scene.fetched, 2);
    land(&scene, &thing);
    CHECK(b.calls == 1 && b.data == &thing && c.calls == 1);
    CHECK_INT(scene.released, 3);
    close_scene(&scene);
}

static void what_is_dropped_is_asked_afresh(void)
{
    struct scene scene;
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    put(&scene, "a", &thing, 1);
    put(&scene, "b", &thing, 1);
    cache_drop(scene.cache);
    CHECK(!known(&scene, "a"));
    CHECK(!known(&scene, "b"));
    CHECK_INT(thing.refs, 1);
    close_scene(&scene);
}

static void a_dropped_flight_lands_but_is_not_kept(void)
{
    struct scene scene;
    struct asker before = {0}, after = {0};
    struct thing old = {1}, new = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &before);
    struct cache_flight *dropped = scene.flight;
    cache_drop(scene.cache);
    ask(&scene, "k", &after);
    CHECK_INT(scene.fetched, 2);
    land(&scene, &new);
    struct cache_value stale = value_of(&old, 1);
    cache_land(dropped, &stale);
    CHECK(before.data == &old && before.ttl_left_ms == 0);
    CHECK(after.data == &new &&after.ttl_left_ms == 1000);
    CHECK(old.refs == 1 && new.refs == 2);
    close_scene(&scene);
}

static void dropping_all_detaches_every_flight(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0}, again = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "a", &a);
    struct cache_flight *first = scene.flight;
    ask(&scene, "b", &b);
    cache_drop(scene.cache);
    ask(&scene, "b", &again);
    CHECK_INT(scene.fetched, 3);
    cache_leave(again.wait);
    cache_leave(b.wait);
    struct cache_value value = value_of(&thing, 1);
    cache_land(first, &value);
    CHECK(a.calls == 1);
    CHECK_INT(cache_stats(scene.cache).entries, 0);
    close_scene(&scene);
}

/* A cache that holds about ten values of 1000 bytes, and never more than it may. */
static void fill(struct scene *scene, struct thing *things, int count)
{
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        things[i].refs = 1;
        put(scene, key, &things[i], 1000);
        CHECK(cache_stats(scene->cache).bytes <= 12000);
    }
}

static void the_limit_is_hard(void)
{
    struct scene scene;
    struct thing things[50];
    open_scene(&scene, 12000);
    fill(&scene, things, 50);
    struct cache_stats stats = cache_stats(scene.cache);
    CHECK(stats.entries >= 8 && stats.entries <= 11);
    CHECK_INT(stats.evicted, 50 - stats.entries);
    CHECK_INT(things[0].refs, 1);
    CHECK_INT(things[49].refs, 2);
    close_scene(&scene);
    CHECK_INT(things[49].refs, 1);
}

static void the_least_recently_used_goes_first(void)
{
    struct scene scene;
    struct thing things[8], last = {1};
    open_scene(&scene, 12000);
    fill(&scene, things, 8);
    CHECK(known(&scene, "k0"));
    put(&scene, "more", &last, 4000);
    CHECK(known(&scene, "k0"));
    CHECK(!known(&scene, "k1"));
    CHECK(known(&scene, "more"));
    close_scene(&scene);
}

static void what_cannot_fit_is_delivered_and_drives_nothing_out(void)
{
    struct scene scene;
    struct asker asker = {0};
    struct thing small = {1}, large = {1};
    open_scene(&scene, 12000);
    put(&scene, "small", &small, 100);
    ask(&scene, "large", &asker);
    struct cache_value value = value_of(&large, 100000);
    cache_land(scene.flight, &value);
    CHECK(asker.data == &large);
    CHECK_INT(large.refs, 1);
    CHECK(known(&scene, "small"));
    close_scene(&scene);
}

static void a_limit_of_nothing_still_answers(void)
{
    struct scene scene;
    struct asker asker = {0};
    struct thing thing = {1};
    open_scene(&scene, 0);
    ask(&scene, "k", &asker);
    land(&scene, &thing);
    CHECK(asker.data == &thing && thing.refs == 1);
    CHECK_INT(cache_stats(scene.cache).entries, 0);
    close_scene(&scene);
}

static void what_somebody_waits_for_outlives_its_eviction(void)
{
    struct scene scene;
    struct asker asker = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    put(&scene, "k", &thing, 1);
    ask(&scene, "k", &asker);
    cache_drop(scene.cache);
    run(&scene);
    CHECK(asker.data == &thing);
    CHECK_INT(asker.refs, 2);
    CHECK_INT(thing.refs, 1);
    close_scene(&scene);
}

static void a_new_value_takes_the_place_of_the_old(void)
{
    struct scene scene;
    struct asker asker = {0};
    struct thing old = {1}, new = {1};
    open_scene(&scene, MEGABYTE);
    put(&scene, "k", &old, 1);
    put(&scene, "k", &new, 1);
    ask(&scene, "k", &asker);
    run(&scene);
    CHECK(asker.data == &new &&old.refs == 1);
    CHECK_INT(cache_stats(scene.cache).entries, 1);
    close_scene(&scene);
}

static void keys_are_bytes(void)
{
    struct scene scene;
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    put_bytes(&scene, span_of("a\0b", 3), &thing, 1);
    put_bytes(&scene, span_of("a\0c", 3), &thing, 1);
    put_bytes(&scene, span_of("", 0), &thing, 1);
    CHECK_INT(cache_stats(scene.cache).entries, 3);
    close_scene(&scene);
}

static void what_is_kept_is_found_however_old(void)
{
    struct scene scene;
    struct thing old = {1}, young = {1};
    struct cache_value values[] = {value_of(&old, 1), value_of(&young, 1)};
    open_scene(&scene, MEGABYTE);
    CHECK(!cache_find(scene.cache, SPAN_LITERAL("k")));
    cache_store(scene.cache, SPAN_LITERAL("k"), &values[0]);
    virtual_clock_pass(&scene.clock, 1000000);
    CHECK(cache_find(scene.cache, SPAN_LITERAL("k")) == &old);
    cache_store(scene.cache, SPAN_LITERAL("k"), &values[1]);
    CHECK(cache_find(scene.cache, SPAN_LITERAL("k")) == &young && old.refs == 1);
    cache_forget(scene.cache, SPAN_LITERAL("k"));
    cache_forget(scene.cache, SPAN_LITERAL("k"));
    CHECK(!cache_find(scene.cache, SPAN_LITERAL("k")) && young.refs == 1);
    CHECK(!cache_has(scene.cache, SPAN_LITERAL("k"), &young));
    close_scene(&scene);
}

static void what_others_hold_takes_room(void)
{
    struct scene scene;
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    put(&scene, "k", &thing, 1000);
    cache_charge(scene.cache, MEGABYTE / 2, 0);
    CHECK(known(&scene, "k"));
    cache_charge(scene.cache, MEGABYTE, MEGABYTE / 2);
    CHECK(!known(&scene, "k"));
    put(&scene, "k", &thing, 1000);
    CHECK(!known(&scene, "k"));
    cache_charge(scene.cache, 0, MEGABYTE);
    put(&scene, "k", &thing, 1000);
    CHECK(known(&scene, "k"));
    close_scene(&scene);
}

static void what_is_made_shares_its_room(void)
{
    struct scene scene;
    struct thing thing = {1};
    enum { MOST = 1000 };
    open_scene(&scene, MEGABYTE);
    struct cache *cache = scene.cache;
    size_t before = cache_stats(cache).bytes;
    CHECK(cache_charge_making(cache, 5 * MOST, 0, MOST));
    CHECK(!cache_charge_making(cache, 1, 0, MOST));
    CHECK(cache_charge_making(cache, 600, 5 * MOST, MOST));
    CHECK(cache_charge_making(cache, 400, 0, MOST));
    CHECK(!cache_charge_making(cache, 401, 400, MOST));
    CHECK_INT(cache_stats(cache).bytes - before, MOST);
    CHECK(cache_charge_making(cache, 0, 600, MOST));
    CHECK(cache_charge_making(cache, 2 * MEGABYTE, 400, MOST));
    put(&scene, "k", &thing, 1000);
    CHECK(!known(&scene, "k"));
    CHECK(cache_charge_making(cache, 0, 2 * MEGABYTE, MOST));
    CHECK_INT(cache_stats(cache).bytes, before);
    close_scene(&scene);
}

static void statistics_count(void)
{
    struct scene scene;
    struct asker a = {0}, b = {0}, c = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    ask(&scene, "k", &a);
    ask(&scene, "k", &b);
    land(&scene, &thing);
    ask(&scene, "k", &c);
    run(&scene);
    struct cache_stats stats = cache_stats(scene.cache);
    CHECK(stats.misses == 1 && stats.joined == 1 && stats.hits == 1);
    close_scene(&scene);
}

/* An asker who, once answered, makes the other one leave and asks again. */
struct restless {
    struct scene *scene;
    struct asker *other, *again;
    int calls;
};

static void done_restless(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct restless *restless = arg;
    (void)data, (void)ttl_left_ms, (void)err;
    restless->calls++;
    cache_leave(restless->other->wait);
    cache_drop(restless->scene->cache);
    ask(restless->scene, "k", restless->again);
}

static void an_answer_may_change_everything(void)
{
    struct scene scene;
    struct asker other = {0}, again = {0};
    struct thing thing = {1};
    open_scene(&scene, MEGABYTE);
    struct restless restless = {&scene, &other, &again, 0};
    struct cache_lookup request = question_of(&scene, "k");
    CHECK(cache_read(scene.cache, &request, done_restless, &restless));
    ask(&scene, "k", &other);
    land(&scene, &thing);
    CHECK(restless.calls == 1 && other.calls == 0);
    CHECK_INT(scene.fetched, 2);
    CHECK_INT(scene.abandoned, 0);
    cache_leave(again.wait);
    CHECK_INT(scene.abandoned, 1);
    CHECK_INT(thing.refs, 1);
    close_scene(&scene);
}

static void ten_thousand_keys_are_found(void)
{
    struct scene scene;
    open_scene(&scene, 64 * MEGABYTE);
    for (int i = 0; i < 10000; i++) {
        char key[16];
        int size = snprintf(key, sizeof key, "key-%d", i);
        put_bytes(&scene, span_of(key, (size_t)size), NULL, 0);
    }
    CHECK_INT(cache_stats(scene.cache).entries, 10000);
    CHECK(known(&scene, "key-0") && known(&scene, "key-9999") && !known(&scene, "key-10000"));
    close_scene(&scene);
}

/* The example of the paper that describes SipHash-2-4: key and text count up from zero. */
static void the_hash_is_siphash(void)
{
    char bytes[15];
    for (int i = 0; i < 15; i++)
        bytes[i] = (char)i;
    struct dict_seed seed = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    CHECK(dict_hash(seed, span_of(bytes, sizeof bytes)) == 0xa129ca6149be45e5);
}

static void every_table_has_its_own_seed(void)
{
    struct dict a, b;
    CHECK(dict_init(&a) && dict_init(&b));
    bool same = dict_hash(a.seed, SPAN_LITERAL("k")) == dict_hash(b.seed, SPAN_LITERAL("k"));
    dict_clean_up(&a);
    dict_clean_up(&b);
    CHECK(!same);
}

static const struct check_test tests[] = {
    {"an unknown key is fetched and kept", an_unknown_key_is_fetched_and_kept},
    {"nothing runs from within ask", nothing_runs_from_within_ask},
    {"identical questions share a flight", identical_questions_share_a_flight},
    {"expiry is absolute", expiry_is_absolute},
    {"a TTL may be for ever", a_ttl_may_be_for_ever},
    {"a proven miss is kept for its TTL", a_proven_miss_is_kept_for_its_ttl},
    {"errors are never kept", errors_are_never_kept},
    {"a fetch that refuses fails later", a_fetch_that_refuses_fails_later},
    {"a refused flight may be left", a_refused_flight_may_be_left},
    {"an age of zero joins flights, but takes nothing known",
     an_age_of_zero_joins_flights_but_takes_nothing_known},
    {"each asker says how old an answer may be", each_asker_says_how_old_an_answer_may_be},
    {"what is too old is told in an outage", what_is_too_old_is_told_in_an_outage},
    {"it is told up to its bound", it_is_told_up_to_its_bound},
    {"only an outage excuses age", only_an_outage_excuses_age},
    {"a miss that is too old proves nothing", a_miss_that_is_too_old_proves_nothing},
    {"each asker says how stale an answer may be", each_asker_says_how_stale_an_answer_may_be},
    {"what was dropped excuses nothing", what_was_dropped_excuses_nothing},
    {"the last asker to leave abandons the flight", the_last_asker_to_leave_abandons_the_flight},
    {"those who stay are answered", those_who_stay_are_answered},
    {"leaving a known answer lets go of it", leaving_a_known_answer_lets_go_of_it},
    {"fetch args are released once", fetch_args_are_released_once},
    {"who joined one that is refused asks himself", who_joined_one_that_is_refused_asks_himself},
    {"each who is refused is told for himself", each_who_is_refused_is_told_for_himself},
    {"who has left is not told of his refusal", who_has_left_is_not_told_of_his_refusal},
    {"who asks again joins what was asked meanwhile",
     who_asks_again_joins_what_was_asked_meanwhile},
    {"what is dropped is asked afresh", what_is_dropped_is_asked_afresh},
    {"a dropped flight lands but is not kept", a_dropped_flight_lands_but_is_not_kept},
    {"dropping all detaches every flight", dropping_all_detaches_every_flight},
    {"the limit is hard", the_limit_is_hard},
    {"the least recently used goes first", the_least_recently_used_goes_first},
    {"what cannot fit is delivered and drives nothing out",
     what_cannot_fit_is_delivered_and_drives_nothing_out},
    {"a limit of nothing still answers", a_limit_of_nothing_still_answers},
    {"what somebody waits for outlives its eviction",
     what_somebody_waits_for_outlives_its_eviction},
    {"a new value takes the place of the old", a_new_value_takes_the_place_of_the_old},
    {"keys are bytes", keys_are_bytes},
    {"what is kept is found however old", what_is_kept_is_found_however_old},
    {"what others hold takes room", what_others_hold_takes_room},
    {"what is made shares its room", what_is_made_shares_its_room},
    {"statistics count", statistics_count},
    {"an answer may change everything", an_answer_may_change_everything},
    {"ten thousand keys are found", ten_thousand_keys_are_found},
    {"the hash is SipHash", the_hash_is_siphash},
    {"every table has its own seed", every_table_has_its_own_seed},
};
CHECK_MAIN(tests)
