/* A source that follows streams: what it answers, and how old that may be. */
#include "core/live/live_table.h"

#include "tests/unit/check.h"
#include "tests/unit/live_scene.h"

static void an_item_is_read_once(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    unsigned before = scene.service.reads;
    for (unsigned i = 0; i < 100; i++) {
        live_scene_read(&scene, 1, 1, false);
        CHECK_INT(scene.count, 1);
        CHECK_INT(scene.versions[0], 1);
        live_scene_pass(&scene, 10000);
    }
    CHECK_INT(scene.service.reads, before + 1);
    CHECK_INT(scene.requests, 0);
    live_scene_close(&scene);
}

static void a_change_is_seen_without_a_request(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    live_scene_read(&scene, 1, 2, false);
    CHECK_INT(scene.count, 1);
    unsigned before = scene.service.reads;
    live_service_write(&scene.service, 1);
    live_service_write(&scene.service, 2); /* it did not exist */
    live_scene_pass(&scene, 1100);
    live_scene_read(&scene, 1, 2, false);
    CHECK_INT(scene.count, 2);
    CHECK_INT(scene.versions[0] + scene.versions[1], 3);
    CHECK_INT(scene.service.reads, before);
    live_scene_close(&scene);
}

static void only_missing_keys_are_requested(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    for (unsigned k = 0; k < 10; k++)
        live_service_write(&scene.service, k);
    live_scene_settle(&scene);
    live_scene_read(&scene, 0, 5, false);
    counting_payer_clean_up(&scene.payer);
    counting_payer_init(&scene.payer);
    live_scene_read(&scene, 3, 5, false);
    CHECK_INT(scene.count, 5);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.payer.requests, 1);
    live_scene_close(&scene);
}

static void a_response_that_lacks_a_late_change_is_mended(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 7);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    scene.service.stale_ms = SETTLE_MS;
    for (unsigned i = 0; i < 50; i++) {
        unsigned key = 1 + i % (KEYS - 1);
        live_service_write(&scene.service, key);
        live_scene_pass(&scene, 1100); /* the change has come; a replica may not have it */
        live_forget(scene.source);
        live_scene_pass(&scene, 3000);
        live_service_write(&scene.service, key);
        live_scene_pass(&scene, 1100);
        live_scene_read(&scene, key, 1, false);
        live_scene_pass(&scene, SETTLE_MS);
        live_scene_read(&scene, key, 1, false);
        CHECK_INT(scene.versions[0], scene.service.versions[key]);
    }
    live_scene_close(&scene);
}

static void a_consistent_read_is_passed_on(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    for (unsigned i = 0; i < 3; i++)
        live_scene_read(&scene, 1, 1, true);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.service.reads, 4);
    live_scene_close(&scene);
}

static void a_lagging_stream_is_not_believed(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    live_scene_read(&scene, 1, 1, false);
    error_set(&scene.service.stream.error, ERROR_RESET, "the connection broke");
    scene.service.stream.down = true;
    live_scene_pass(&scene, 5000);
    CHECK_TEXT(live_scene_present(&scene).state, "lags");
    CHECK(live_scene_present(&scene).lag_ms > 3000);
    CHECK_TEXT(live_scene_present(&scene).why, "the connection broke");
    CHECK_HAS(scene.logged, "the stream of table T lags by ");
    live_service_write(&scene.service, 1);
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.versions[0], 2);
    /* No result that is older than those that were used before it lagged. */
    int64_t late_ms = live_scene_present(&scene).lag_ms - SOURCE_HOLD_MS - LIVE_MOST_LAG_MS;
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), late_ms + SOURCE_REUSE_MS);
    CHECK_INT(source_ttl_ms(scene.source, "T", 1000), 1000);
    live_scene_pass(&scene, 10000);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), 10000);
    scene.service.stream.down = false;
    live_scene_pass(&scene, 12000);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    CHECK_HAS(scene.logged, "the stream of table T has caught up");
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 0);
    CHECK_INT(scene.versions[0], 2);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), SOURCE_REUSE_MS);
    CHECK_INT(source_ttl_ms(scene.source, "T", 100), 100);
    live_scene_close(&scene);
}

/* A reader still holds what it got while the stream was late. */
static void the_lag_is_that_of_results_that_are_held(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    live_scene_read(&scene, 1, 1, false);
    while (live_scene_present(&scene).lag_ms > SOURCE_HOLD_MS + 1020) /* a poll */
        live_scene_pass(&scene, 10);
    live_scene_pass(&scene, 50);
    live_service_write(&scene.service, 1);
    int64_t written_ms = loop_now_ms(scene.loop);
    while (live_scene_present(&scene).lag_ms < SOURCE_HOLD_MS + 1980) /* almost the next one */
        live_scene_pass(&scene, 10);
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 0);
    CHECK_INT(scene.versions[0], 1);
    int64_t read_ms = loop_now_ms(scene.loop);
    while (loop_now_ms(scene.loop) < read_ms + SOURCE_HOLD_MS) {
        live_scene_pass(&scene, 50);
        CHECK(live_scene_present(&scene).lag_ms >= loop_now_ms(scene.loop) - written_ms);
    }
    live_scene_pass(&scene, 3000);
    CHECK(live_scene_present(&scene).lag_ms < 2600);
    live_scene_close(&scene);
}

/* What is read before the table is live has its ttl; readers who hold it do not learn that the ttl
 * becomes shorter. */
static void results_are_held_for_a_moment(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    scene.service.stream.view = NULL;
    CHECK_INT(source_hold_ms(scene.source, "T", 10000), 10000); /* no result of it can be held */
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), 10000);
    live_scene_pass(&scene, 1000);
    CHECK_TEXT(live_scene_present(&scene).state, "lost");
    CHECK_INT(source_hold_ms(scene.source, "T", 10000), 10000);
    CHECK_INT(source_hold_ms(scene.source, "T", 3600 * 1000), 60 * 1000);
    scene.service.stream.view = "NEW_AND_OLD_IMAGES";
    live_scene_pass(&scene, 59 * 1000 + 500);
    CHECK_TEXT(live_scene_present(&scene).state, "starts");
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), 10000); /* results can't be stored yet */
    CHECK_INT(source_hold_ms(scene.source, "T", 10000), SOURCE_REUSE_MS);
    CHECK_INT(source_hold_ms(scene.source, "T", 100), 100);
    live_scene_pass(&scene, SETTLE_MS + 1000);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    live_scene_close(&scene);
}

/* When a stream has caught up, the kernel holds for a moment what was used while it lagged. */
static void a_table_is_live_when_no_old_result_is_held(void)
{
    struct live_scene scene;
    int64_t held_ms = 0;
    live_scene_open(&scene, 1);
    live_scene_settle(&scene);
    error_set(&scene.service.stream.error, ERROR_RESET, "the connection broke");
    scene.service.stream.down = true;
    live_scene_pass(&scene, 5000);
    CHECK_TEXT(live_scene_present(&scene).state, "lags");
    scene.service.stream.down = false;
    while (strcmp(live_scene_present(&scene).state, "live") != 0) {
        bool is_old = source_ttl_ms(scene.source, "T", 10000) > SOURCE_REUSE_MS;
        source_hold_ms(scene.source, "T", 10000);
        if (is_old)
            held_ms = loop_now_ms(scene.loop);
        live_scene_pass(&scene, 10);
    }
    CHECK(held_ms > 0);
    CHECK(loop_now_ms(scene.loop) >= held_ms + SOURCE_HOLD_MS);
    live_scene_close(&scene);
}

/* A reader who wants more than is stored gets the other items, also if the table was lost, or was
 * described anew, since it got the first ones. */
static void a_query_goes_on_after_the_table_was_lost(void)
{
    for (int described = 0; described < 2; described++) {
        struct live_scene scene;
        live_scene_open(&scene, 1);
        live_service_write(&scene.service, 1);
        live_scene_settle(&scene);
        live_scene_pass(&scene, 10 * SETTLE_MS);
        live_scene_end_query(&scene, live_scene_begin_query(&scene, "1"));
        CHECK_INT(scene.requests, 1);
        struct read *read = live_scene_begin_query(&scene, "1");
        CHECK_INT(scene.requests, 0);
        CHECK_INT(scene.count, 1);
        CHECK(!scene.is_over);
        error_set(&scene.service.stream.error, ERROR_DENIED, "it is denied");
        scene.service.stream.down = true;
        live_scene_pass(&scene, 5000);
        CHECK_TEXT(live_scene_present(&scene).state, "lost");
        scene.service.stream.down = false;
        live_scene_pass(&scene, described ? 65000 : 10);
        CHECK_TEXT(live_scene_present(&scene).state, described ? "live" : "lost");
        while (!scene.is_over) {
            source_more(scene.call);
            CHECK(loop_run(scene.loop));
        }
        CHECK_INT(scene.err.kind, ERROR_NONE);
        CHECK_INT(scene.count, 1);
        live_scene_end_query(&scene, read);
        live_scene_close(&scene);
    }
}

static void a_gap_drops_everything(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    live_service_write(&scene.service, 1);
    live_scene_pass(&scene, 1100);
    live_scene_read(&scene, 1, 1, false);
    for (unsigned i = 0; i < 20; i++)
        live_service_write(&scene.service, 2);
    live_service_write(&scene.service, 1);
    fake_stream_trim(&scene.service.stream, 0, 0);
    live_scene_pass(&scene, 2000);
    CHECK_HAS(scene.logged, "the stream of table T has a gap");
    CHECK(source_ttl_ms(scene.source, "T", 10000) <= LIVE_MOST_LAG_MS + SOURCE_REUSE_MS);
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.versions[0], 3);
    live_scene_close(&scene);
}

/* Behind a gap the stream is read from its oldest change, and lags by hours. */
static void no_result_from_before_a_gap_is_used(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    for (unsigned i = 0; i < 100; i++)
        live_service_write(&scene.service, 2);
    live_scene_settle(&scene);
    live_service_write(&scene.service, 2);
    live_scene_pass(&scene, 500 * 1000);
    live_scene_read(&scene, 1, 1, false);
    scene.service.stream.page_size = 1;
    fake_stream_trim(&scene.service.stream, 0, 99);
    error_set(&scene.service.stream.error, ERROR_NO_STREAM, "it is trimmed");
    snprintf(scene.service.stream.error.code, sizeof scene.service.stream.error.code,
             "TrimmedDataAccessException");
    scene.service.stream.fail_at = scene.service.stream.responses + 1;
    live_scene_pass(&scene, 2000);
    CHECK_HAS(scene.logged, "has a gap");
    CHECK_TEXT(live_scene_present(&scene).state, "lags");
    CHECK(live_scene_present(&scene).lag_ms > 100 * 1000);
    CHECK(source_ttl_ms(scene.source, "T", 10000) <= LIVE_MOST_LAG_MS + SOURCE_REUSE_MS);
    live_scene_close(&scene);
}

static void a_table_without_a_stream_is_read_as_ever(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    scene.service.stream.view = NULL;
    live_service_write(&scene.service, 1);
    for (unsigned i = 0; i < 10; i++) {
        live_scene_read(&scene, 1, 1, false);
        CHECK_INT(scene.requests, 1);
        live_scene_pass(&scene, 1000);
    }
    CHECK_TEXT(live_scene_present(&scene).state, "lost");
    CHECK_HAS(live_scene_present(&scene).why, "has no stream");
    CHECK_HAS(scene.logged, "table T is not live, and its items are reused for their ttl: table T "
                            "has no stream");
    unsigned tables = scene.service.stream.tables;
    CHECK_INT(tables, 1);
    scene.service.stream.view = "NEW_AND_OLD_IMAGES";
    live_scene_pass(&scene, 60000);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    live_scene_close(&scene);
}

static void polling_stops_while_nobody_reads(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_scene_settle(&scene);
    live_scene_pass(&scene, 9 * 60 * 1000);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    live_scene_pass(&scene, 2 * 60 * 1000);
    CHECK_TEXT(live_scene_present(&scene).state, "off");
    unsigned polls = scene.service.stream.polls;
    live_scene_pass(&scene, 3600 * 1000);
    CHECK_INT(scene.service.stream.polls, polls);
    live_service_write(&scene.service, 1);
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(scene.versions[0], 1);
    live_scene_pass(&scene, 3000);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    live_scene_close(&scene);
}

/* Else readers would repeat each Read after a moment. Older results than those of that time are not
 * used. */
static void without_room_results_are_used_for_their_ttl(void)
{
    struct live_scene scene;
    live_scene_open_within(&scene, 1, 2000);
    for (unsigned k = 0; k < KEYS; k++)
        live_service_write(&scene.service, k);
    live_scene_settle(&scene);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), SOURCE_REUSE_MS);
    live_scene_read(&scene, 0, KEYS, false);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), SOURCE_REUSE_MS);
    CHECK_TEXT(live_scene_present(&scene).state, "full");
    CHECK_HAS(live_scene_present(&scene).why, "--cache-size");
    live_scene_pass(&scene, 4000);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), 4000 + SOURCE_REUSE_MS);
    live_scene_pass(&scene, 55900);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), 10000);
    source_hold_ms(scene.source, "T", 10000); /* of a result that is as old as its ttl */
    live_scene_pass(&scene, 200);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), SOURCE_REUSE_MS);
    CHECK_TEXT(live_scene_present(&scene).state, "starts");
    live_scene_pass(&scene, SOURCE_HOLD_MS);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    live_scene_close(&scene);
}

static void a_failed_read_stores_nothing(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    scene.service.fails = true;
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(scene.err.kind, ERROR_RESET);
    scene.service.fails = false;
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.versions[0], 1);
    live_scene_close(&scene);
}

static void what_is_stored_can_be_forgotten(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    live_scene_settle(&scene);
    live_scene_read(&scene, 1, 1, false);
    live_forget(scene.source);
    live_scene_read(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 1);
    CHECK_TEXT(live_scene_present(&scene).state, "starts");
    live_scene_pass(&scene, 6 * SETTLE_MS);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    live_scene_close(&scene);
}

/* Rows are as of the time when they were found, however late the reader wants the next page. */
static void a_page_that_was_wanted_late_states_its_age(void)
{
    struct live_scene scene;
    live_scene_open(&scene, 1);
    scene.service.padding = 20000;
    for (unsigned k = 0; k < KEYS; k++)
        live_service_write(&scene.service, k);
    live_scene_settle(&scene);
    live_scene_read(&scene, 0, KEYS, false);
    struct read *read = live_scene_keys(0, KEYS);
    scene.stops = true;
    scene.count = scene.requests = 0;
    scene.call = source_start(scene.source, read, &scene.payer.payer, live_scene_take_page, &scene);
    CHECK(loop_run(scene.loop));
    CHECK(scene.count > 0 && scene.count < KEYS);
    CHECK_INT(scene.age_ms, 0);
    live_scene_pass(&scene, 3000);
    source_more(scene.call);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.age_ms, 3000);
    CHECK_INT(scene.requests, 0);
    live_scene_end_query(&scene, read);
    live_scene_close(&scene);
}

/* What is stored has the attributes that an index had before. */
static void a_table_with_other_indexes_begins_anew(void)
{
    struct index_info index = {
        .name = SPAN_LITERAL("by-v"),
        .keys = {.partition = {{SPAN_LITERAL("v"), VALUE_N}}, .partition_count = 1},
        .projection = PROJECTS_KEYS};
    struct live_scene scene;
    live_scene_open(&scene, 1);
    live_service_write(&scene.service, 1);
    scene.service.stream.indexes = &index;
    scene.service.stream.index_count = 1;
    live_scene_read(&scene, 1, 1, false);
    live_scene_pass(&scene, 10 * SETTLE_MS);
    live_scene_describe(&scene);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    index.projection = PROJECTS_ALL;
    live_scene_describe(&scene);
    CHECK_TEXT(live_scene_present(&scene).state, "starts");
    live_scene_pass(&scene, 10 * SETTLE_MS);
    CHECK_TEXT(live_scene_present(&scene).state, "live");
    live_scene_close(&scene);
}

/* A writer and readers, for a quarter of an hour. */

struct soak {
    struct live_scene scene;
    unsigned long reads, requests;
};

/* No read is older than the lag that is stated, or than a replica may be. */
static void check_age(struct soak *soak, unsigned key)
{
    struct live_scene *scene = &soak->scene;
    const struct live_service *service = &scene->service;
    int64_t began_ms = loop_now_ms(scene->loop);
    int64_t lag_ms = live_scene_present(scene).lag_ms - READER_TTL_MS;
    live_scene_read(scene, key, 1, false);
    if (scene->err.kind)
        return;
    soak->reads++;
    soak->requests += scene->requests;
    int64_t most_ms = scene->requests ? service->stale_ms : lag_ms;
    unsigned version = scene->count ? scene->versions[0] : 0;
    unsigned least = live_service_version(service, key, began_ms - most_ms - 1);
    if (version < least)
        CHECK_FAIL("key %u: version %u instead of %u, %lld ms after it was written; the lag is "
                   "%lld ms, and the read took %u requests",
                   key, version, least,
                   (long long)(began_ms - service->written_ms[key][version + 1]),
                   (long long)most_ms, scene->requests);
}

static void soak_a_step(struct soak *soak)
{
    struct live_scene *scene = &soak->scene;
    struct live_service *service = &scene->service;
    unsigned lot = live_service_draw(service, 200);
    if (lot == 0 && service->stream.shard_count < 60) {
        int shard = (int)service->stream.shard_count - 1;
        if (!service->stream.shards[shard].is_closed)
            fake_stream_split(&service->stream, shard);
    }
    if (lot == 1)
        service->stream.fail_at = service->stream.responses + 1;
    if (lot == 2)
        service->stream.down = !service->stream.down;
    if (lot > 100)
        service->stream.down = false;
    if (lot == 3 && !service->stream.empty_percent) /* a doubt lasts for ten minutes */
        virtual_clock_pass(&scene->clock, live_service_draw(service, 20) * 60 * 1000);
    if (lot == 4)
        live_forget(scene->source);
    if (lot % 4 == 0)
        live_service_write(service, live_service_draw(service, KEYS));
    check_age(soak, live_service_draw(service, KEYS));
    live_scene_pass(scene, live_service_draw(service, 300));
}

static void no_read_is_older_than_the_lag(void)
{
    static struct soak soak;
    const char *more = getenv("DDBFS_LIVES");
    for (uint64_t seed = 1; seed <= (more ? strtoul(more, NULL, 10) : check_cases(5)); seed++) {
        soak = (struct soak){0};
        live_scene_open(&soak.scene, seed);
        error_set(&soak.scene.service.stream.error, ERROR_RESET, "the connection broke");
        soak.scene.service.stale_ms = SETTLE_MS;
        for (unsigned step = 0; step < 6000; step++)
            soak_a_step(&soak);
        CHECK(soak.requests * 2 < soak.reads);
        live_scene_close(&soak.scene);
    }
}

/* The service may return empty pages although changes wait: of five polls four do. The first
 * changes that come late show it. */
static void no_read_is_older_than_the_lag_behind_empty_pages(void)
{
    static struct soak soak;
    const char *more = getenv("DDBFS_LIVES");
    for (uint64_t seed = 1; seed <= (more ? strtoul(more, NULL, 10) : check_cases(5)); seed++) {
        struct live_scene *scene = &soak.scene;
        soak = (struct soak){0};
        live_scene_open(scene, seed);
        error_set(&scene->service.stream.error, ERROR_RESET, "the connection broke");
        scene->service.stale_ms = SETTLE_MS;
        scene->service.stream.empty_percent = 80;
        scene->service.stream.seed = seed;
        live_scene_read(scene, 0, 1, false);
        for (unsigned i = 0; i < 10; i++) {
            live_scene_pass(scene, 10000);
            live_service_write(&scene->service, 0);
        }
        live_scene_pass(scene, 10000);
        CHECK_TEXT(live_scene_present(scene).state, "lags");
        CHECK_HAS(live_scene_present(scene).why, "lacked a change that it should have had");
        CHECK_TEXT(live_scene_present(scene).assumption, "");
        for (unsigned step = 0; step < 6000; step++)
            soak_a_step(&soak);
        scene->service.stream.empty_percent = 0;
        scene->service.stream.down = false;
        for (unsigned i = 0; i < 13; i++) {
            live_scene_pass(scene, 60 * 1000);
            live_scene_read(scene, 0, 1, false);
        }
        CHECK_TEXT(live_scene_present(scene).state, "live");
        CHECK_HAS(live_scene_present(scene).assumption, "4 empty pages of the stream in a row");
        live_scene_close(scene);
    }
}

static const struct check_test tests[] = {
    {"an item is read once", an_item_is_read_once},
    {"a change is seen without a request", a_change_is_seen_without_a_request},
    {"only missing keys are requested", only_missing_keys_are_requested},
    {"a response that lacks a late change is mended",
     a_response_that_lacks_a_late_change_is_mended},
    {"a consistent read is passed on", a_consistent_read_is_passed_on},
    {"a lagging stream is not believed", a_lagging_stream_is_not_believed},
    {"the lag is that of results that are held", the_lag_is_that_of_results_that_are_held},
    {"results are held for a moment", results_are_held_for_a_moment},
    {"a table is live when no old result is held", a_table_is_live_when_no_old_result_is_held},
    {"a query goes on after the table was lost", a_query_goes_on_after_the_table_was_lost},
    {"a gap drops everything", a_gap_drops_everything},
    {"no result from before a gap is used", no_result_from_before_a_gap_is_used},
    {"a table without a stream is read as ever", a_table_without_a_stream_is_read_as_ever},
    {"polling stops while nobody reads", polling_stops_while_nobody_reads},
    {"without room results are used for their ttl", without_room_results_are_used_for_their_ttl},
    {"a failed read stores nothing", a_failed_read_stores_nothing},
    {"what is stored can be forgotten", what_is_stored_can_be_forgotten},
    {"a page that was wanted late states its age", a_page_that_was_wanted_late_states_its_age},
    {"a table with other indexes begins anew", a_table_with_other_indexes_begins_anew},
    {"no read is older than the lag", no_read_is_older_than_the_lag},
    {"no read is older than the lag behind empty pages",
     no_read_is_older_than_the_lag_behind_empty_pages},
};
CHECK_MAIN(tests)
