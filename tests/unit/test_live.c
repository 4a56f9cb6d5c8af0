/* A source that follows streams: what it answers, and how old that may be. The service's items, its
 * stale replicas and its stream are played, under a virtual clock. */
#include "core/live/live.h"

#include "tests/unit/check.h"
#include "tests/unit/counting_payer.h"
#include "tests/unit/fake_stream.h"
#include "tests/unit/virtual_clock.h"

#define WALL_MS 1792000000000 /* a day in October 2026 */

enum { KEYS = 32, VERSIONS = 4096, SETTLE_MS = 2000, READER_TTL_MS = 500 };

/* A service: items with their versions, and a stream of them. */
struct service {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct loop *loop;
    struct fake_stream stream;
    unsigned versions[KEYS];
    int64_t written_ms[KEYS][VERSIONS];
    int64_t stale_ms; /* a replica may be as late */
    uint64_t seed;
    unsigned reads; /* of items */
    bool fails;     /* reads of items fail */
};

struct service_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct source_call *inner;
    struct loop_timer *timer;
};

static unsigned draw(struct service *service, unsigned below)
{
    service->seed = service->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(service->seed >> 33) % below;
}

static void write_item(struct service *service, unsigned key)
{
    unsigned version = ++service->versions[key];
    CHECK(version < VERSIONS);
    service->written_ms[key][version] = loop_now_ms(service->loop);
    fake_stream_write(&service->stream, 0, key, version);
}

/* The version of KEY that a replica shows which is BEHIND_MS late. */
static unsigned version_at(const struct service *service, unsigned key, int64_t at_ms)
{
    unsigned version = service->versions[key];
    while (version > 0 && service->written_ms[key][version] > at_ms)
        version--;
    return version;
}

static void service_answer(void *arg)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct service_call *call = arg;
    struct service *service = (struct service *)call->base.source;
    const struct read *read = call->base.read;
    struct json items[READ_MAX_KEYS];
    struct page page = {.items = items, .requests = 1, .capacity = 0.5, .request_id = ""};
    struct error err;
    call->timer = NULL;
    if (service->fails) {
        error_set(&err, ERROR_RESET, "the connection broke");
        call->base.fn(call->base.arg, NULL, &err);
        return;
    }
    int64_t behind_ms = service->stale_ms ? draw(service, (unsigned)service->stale_ms) : 0;
    buf_add_char(&text, '[');
    for (size_t i = 0; i < read->key_count; i++) {
        struct span digits = read->keys[i].attributes[0].value.bytes;
        unsigned key = (unsigned)strtoul(digits.data, NULL, 10);
        unsigned version = version_at(service, key, loop_now_ms(service->loop) - behind_ms);
        if (version > 0)
            buf_printf(&text, "%s{\"pk\":{\"S\":\"%u\"},\"v\":{\"N\":\"%u\"}}",
                       text.size > 1 ? "," : "", key, version);
    }
    buf_add_char(&text, ']');
    CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
    struct json each = json_first(json_root(&doc));
    for (; json_present(each); each = json_next(each))
        items[page.item_count++] = each;
    call->base.fn(call->base.arg, &page, NULL);
}

static bool service_start(struct source_call *base)
{
    struct service_call *call = (struct service_call *)base;
    struct service *service = (struct service *)base->source;
    if (base->read->kind != READ_ITEMS) {
        call->inner = source_start(&service->stream.source, base->read, NULL, base->fn, base->arg);
        return call->inner;
    }
    service->reads++;
    payer_charge(base->payer, &(struct expense){.operation = "GetItem",
                                                .table = "T",
                                                .index = "",
                                                .pattern = "",
                                                .requests = 1,
                                                .spent.units = 0.5});
    call->timer = loop_add_timer(service->loop, 5, service_answer, call);
    return call->timer;
}

static void service_more(struct source_call *base)
{
    source_more(((struct service_call *)base)->inner);
}

static void service_end(struct source_call *base)
{
    struct service_call *call = (struct service_call *)base;
    source_end(call->inner);
    loop_remove_timer(call->timer);
}

static void service_destroy(struct source *source)
{
    (void)source;
}

static const struct source_ops service_ops = {
    .layer = SOURCE_SERVICE,
    .call_size = sizeof(struct service_call),
    .start = service_start,
    .more = service_more,
    .end = service_end,
    .destroy = service_destroy,
};

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct service service;
    struct source *source;
    struct log log;
    char logged[8192];
    struct counting_payer payer;
    /* The last read. */
    struct source_call *call;
    unsigned versions[READ_MAX_KEYS];
    size_t count;
    unsigned requests;
    struct error err;
    bool is_over;
};

static void take_line(void *arg, enum log_level level, const char *line)
{
    struct scene *scene = arg;
    size_t used = strlen(scene->logged);
    (void)level;
    snprintf(scene->logged + used, sizeof scene->logged - used, "%s\n", line);
}

static void open_scene_with(struct scene *scene, uint64_t seed, size_t most_bytes)
{
    *scene = (struct scene){.log = {LOG_LEVEL_INFO, take_line, scene}};
    virtual_clock_init(&scene->clock, WALL_MS);
    scene->loop = loop_new(&scene->clock.clock);
    scene->service =
        (struct service){.source.ops = &service_ops, .loop = scene->loop, .seed = seed};
    fake_stream_init(&scene->service.stream, scene->loop);
    fake_stream_add_shard(&scene->service.stream, -1);
    scene->source = live_new(&(struct live_options){.source = &scene->service.source,
                                                    .loop = scene->loop,
                                                    .log = &scene->log,
                                                    .most_bytes = most_bytes,
                                                    .settle_ms = SETTLE_MS});
    CHECK(scene->source);
    counting_payer_init(&scene->payer);
}

static void open_scene(struct scene *scene, uint64_t seed)
{
    open_scene_with(scene, seed, 1 << 20);
}

static void close_scene(struct scene *scene)
{
    source_destroy(scene->source);
    fake_stream_clean_up(&scene->service.stream);
    counting_payer_clean_up(&scene->payer);
    loop_destroy(scene->loop);
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

static void on_page(void *arg, const struct page *page, const struct error *err)
{
    struct scene *scene = arg;
    if (err)
        scene->err = *err;
    for (size_t i = 0; page && i < page->item_count; i++) {
        struct span digits;
        CHECK(json_plain_string(json_member(json_member(page->items[i], "v"), "N"), &digits));
        scene->versions[scene->count++] = (unsigned)strtoul(digits.data, NULL, 10);
    }
    scene->requests += page ? page->requests : 0;
    scene->is_over = err || !page->more;
    if (!scene->is_over) {
        source_more(scene->call);
        return;
    }
    loop_stop(scene->loop);
}

/* Reads COUNT keys from FROM on. */
static void read_keys(struct scene *scene, unsigned from, unsigned count, bool consistent)
{
    struct read *read = read_new(READ_ITEMS, "T", NULL);
    read->consistent = consistent;
    for (unsigned i = 0; i < count; i++) {
        char text[16];
        int size = snprintf(text, sizeof text, "%u", from + i);
        struct value value = {VALUE_S, span_of(text, (size_t)size)};
        read_add_key(read, &(struct key){.attributes = {{SPAN_LITERAL("pk"), value}}, .count = 1});
    }
    scene->count = 0;
    scene->requests = 0;
    scene->err = (struct error){0};
    scene->call = source_start(scene->source, read, &scene->payer.payer, on_page, scene);
    CHECK(scene->call);
    CHECK(loop_run(scene->loop));
    source_end(scene->call);
    read_destroy(read);
    CHECK(scene->is_over);
}

static struct source_present present(const struct scene *scene)
{
    struct source_present out;
    CHECK(source_read_present(scene->source, "T", &out));
    return out;
}

/* Lets the table become live, and its replicas settle. */
static void settle(struct scene *scene)
{
    read_keys(scene, 0, 1, false);
    pass(scene, SETTLE_MS + 2000);
    CHECK_TEXT(present(scene).state, "live");
}

static void an_item_is_read_once(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    write_item(&scene.service, 1);
    settle(&scene);
    unsigned before = scene.service.reads;
    for (unsigned i = 0; i < 100; i++) {
        read_keys(&scene, 1, 1, false);
        CHECK_INT(scene.count, 1);
        CHECK_INT(scene.versions[0], 1);
        pass(&scene, 10000);
    }
    CHECK_INT(scene.service.reads, before + 1);
    CHECK_INT(scene.requests, 0);
    close_scene(&scene);
}

static void a_change_is_seen_without_a_request(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    write_item(&scene.service, 1);
    settle(&scene);
    read_keys(&scene, 1, 2, false);
    CHECK_INT(scene.count, 1);
    unsigned before = scene.service.reads;
    write_item(&scene.service, 1);
    write_item(&scene.service, 2); /* it did not exist */
    pass(&scene, 1100);
    read_keys(&scene, 1, 2, false);
    CHECK_INT(scene.count, 2);
    CHECK_INT(scene.versions[0] + scene.versions[1], 3);
    CHECK_INT(scene.service.reads, before);
    close_scene(&scene);
}

static void only_missing_keys_are_requested(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    for (unsigned k = 0; k < 10; k++)
        write_item(&scene.service, k);
    settle(&scene);
    read_keys(&scene, 0, 5, false);
    counting_payer_clean_up(&scene.payer);
    counting_payer_init(&scene.payer);
    read_keys(&scene, 3, 5, false);
    CHECK_INT(scene.count, 5);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.payer.requests, 1);
    close_scene(&scene);
}

static void a_response_that_lacks_a_late_change_is_mended(void)
{
    struct scene scene;
    open_scene(&scene, 7);
    write_item(&scene.service, 1);
    settle(&scene);
    scene.service.stale_ms = SETTLE_MS;
    for (unsigned i = 0; i < 50; i++) {
        unsigned key = 1 + i % (KEYS - 1);
        write_item(&scene.service, key);
        pass(&scene, 1100); /* the change has come; a replica may not have it */
        live_forget(scene.source);
        pass(&scene, 3000);
        write_item(&scene.service, key);
        pass(&scene, 1100);
        read_keys(&scene, key, 1, false);
        pass(&scene, SETTLE_MS);
        read_keys(&scene, key, 1, false);
        CHECK_INT(scene.versions[0], scene.service.versions[key]);
    }
    close_scene(&scene);
}

static void a_consistent_read_is_passed_on(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    write_item(&scene.service, 1);
    settle(&scene);
    for (unsigned i = 0; i < 3; i++)
        read_keys(&scene, 1, 1, true);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.service.reads, 4);
    close_scene(&scene);
}

static void a_lagging_stream_is_not_believed(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    write_item(&scene.service, 1);
    settle(&scene);
    read_keys(&scene, 1, 1, false);
    error_set(&scene.service.stream.error, ERROR_RESET, "the connection broke");
    scene.service.stream.down = true;
    pass(&scene, 5000);
    CHECK_TEXT(present(&scene).state, "lags");
    CHECK(present(&scene).lag_ms > 3000);
    CHECK_TEXT(present(&scene).why, "the connection broke");
    CHECK_HAS(scene.logged, "the stream of table T lags by ");
    write_item(&scene.service, 1);
    read_keys(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.versions[0], 2);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), 10000);
    scene.service.stream.down = false;
    pass(&scene, 12000);
    CHECK_TEXT(present(&scene).state, "live");
    CHECK_HAS(scene.logged, "the stream of table T has caught up");
    read_keys(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 0);
    CHECK_INT(scene.versions[0], 2);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), READER_TTL_MS);
    CHECK_INT(source_ttl_ms(scene.source, "T", 100), 100);
    close_scene(&scene);
}

static void a_gap_drops_everything(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    write_item(&scene.service, 1);
    settle(&scene);
    write_item(&scene.service, 1);
    pass(&scene, 1100);
    read_keys(&scene, 1, 1, false);
    for (unsigned i = 0; i < 20; i++)
        write_item(&scene.service, 2);
    write_item(&scene.service, 1);
    fake_stream_trim(&scene.service.stream, 0, 0);
    pass(&scene, 2000);
    CHECK_HAS(scene.logged, "the stream of table T has a gap");
    read_keys(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.versions[0], 3);
    close_scene(&scene);
}

static void a_table_without_a_stream_is_read_as_ever(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    scene.service.stream.view = NULL;
    write_item(&scene.service, 1);
    for (unsigned i = 0; i < 10; i++) {
        read_keys(&scene, 1, 1, false);
        CHECK_INT(scene.requests, 1);
        pass(&scene, 1000);
    }
    CHECK_TEXT(present(&scene).state, "lost");
    CHECK_HAS(present(&scene).why, "has no stream");
    CHECK_HAS(scene.logged, "table T is not live, and its items are reused for their ttl: table T "
                            "has no stream");
    unsigned tables = scene.service.stream.tables;
    CHECK_INT(tables, 1);
    scene.service.stream.view = "NEW_AND_OLD_IMAGES";
    pass(&scene, 60000);
    CHECK_TEXT(present(&scene).state, "live");
    close_scene(&scene);
}

static void polling_stops_while_nobody_reads(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    settle(&scene);
    pass(&scene, 9 * 60 * 1000);
    CHECK_TEXT(present(&scene).state, "live");
    pass(&scene, 2 * 60 * 1000);
    CHECK_TEXT(present(&scene).state, "off");
    unsigned polls = scene.service.stream.polls;
    pass(&scene, 3600 * 1000);
    CHECK_INT(scene.service.stream.polls, polls);
    write_item(&scene.service, 1);
    read_keys(&scene, 1, 1, false);
    CHECK_INT(scene.versions[0], 1);
    pass(&scene, 3000);
    CHECK_TEXT(present(&scene).state, "live");
    close_scene(&scene);
}

/* Else readers would repeat each Read after half a second. */
static void without_room_results_are_used_for_their_ttl(void)
{
    struct scene scene;
    open_scene_with(&scene, 1, 2000);
    for (unsigned k = 0; k < KEYS; k++)
        write_item(&scene.service, k);
    settle(&scene);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), READER_TTL_MS);
    read_keys(&scene, 0, KEYS, false);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), 10000);
    CHECK_TEXT(present(&scene).state, "full");
    CHECK_HAS(present(&scene).why, "--cache-size");
    pass(&scene, 60000);
    CHECK_INT(source_ttl_ms(scene.source, "T", 10000), READER_TTL_MS);
    CHECK_TEXT(present(&scene).state, "live");
    close_scene(&scene);
}

static void a_failed_read_stores_nothing(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    write_item(&scene.service, 1);
    settle(&scene);
    scene.service.fails = true;
    read_keys(&scene, 1, 1, false);
    CHECK_INT(scene.err.kind, ERROR_RESET);
    scene.service.fails = false;
    read_keys(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 1);
    CHECK_INT(scene.versions[0], 1);
    close_scene(&scene);
}

static void what_is_stored_can_be_forgotten(void)
{
    struct scene scene;
    open_scene(&scene, 1);
    write_item(&scene.service, 1);
    settle(&scene);
    read_keys(&scene, 1, 1, false);
    live_forget(scene.source);
    read_keys(&scene, 1, 1, false);
    CHECK_INT(scene.requests, 1);
    close_scene(&scene);
}

/* A writer and readers, for a quarter of an hour. */

struct soak {
    struct scene scene;
    unsigned long reads, requests;
};

/* No read is older than the lag that is stated, or than a replica may be. */
static void check_age(struct soak *soak, unsigned key)
{
    struct scene *scene = &soak->scene;
    const struct service *service = &scene->service;
    int64_t began_ms = loop_now_ms(scene->loop);
    int64_t lag_ms = present(scene).lag_ms - READER_TTL_MS;
    read_keys(scene, key, 1, false);
    if (scene->err.kind)
        return;
    soak->reads++;
    soak->requests += scene->requests;
    int64_t most_ms = scene->requests ? service->stale_ms : lag_ms;
    unsigned version = scene->count ? scene->versions[0] : 0;
    unsigned least = version_at(service, key, began_ms - most_ms - 1);
    if (version < least)
        CHECK_FAIL("key %u: version %u instead of %u, %lld ms after it was written; the lag is "
                   "%lld ms, and the read took %u requests",
                   key, version, least,
                   (long long)(began_ms - service->written_ms[key][version + 1]),
                   (long long)most_ms, scene->requests);
}

static void soak_a_step(struct soak *soak)
{
    struct scene *scene = &soak->scene;
    struct service *service = &scene->service;
    unsigned lot = draw(service, 200);
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
    if (lot == 3)
        virtual_clock_pass(&scene->clock, draw(service, 20) * 60 * 1000);
    if (lot == 4)
        live_forget(scene->source);
    if (lot % 4 == 0)
        write_item(service, draw(service, KEYS));
    check_age(soak, draw(service, KEYS));
    pass(scene, draw(service, 300));
}

static void no_read_is_older_than_the_lag(void)
{
    static struct soak soak;
    const char *more = getenv("DDBFS_LIVES");
    for (uint64_t seed = 1; seed <= (more ? strtoul(more, NULL, 10) : 5); seed++) {
        soak = (struct soak){0};
        open_scene(&soak.scene, seed);
        error_set(&soak.scene.service.stream.error, ERROR_RESET, "the connection broke");
        soak.scene.service.stale_ms = SETTLE_MS;
        for (unsigned step = 0; step < 6000; step++)
            soak_a_step(&soak);
        CHECK(soak.requests * 2 < soak.reads);
        close_scene(&soak.scene);
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
    {"a gap drops everything", a_gap_drops_everything},
    {"a table without a stream is read as ever", a_table_without_a_stream_is_read_as_ever},
    {"polling stops while nobody reads", polling_stops_while_nobody_reads},
    {"without room results are used for their ttl", without_room_results_are_used_for_their_ttl},
    {"a failed read stores nothing", a_failed_read_stores_nothing},
    {"what is stored can be forgotten", what_is_stored_can_be_forgotten},
    {"no read is older than the lag", no_read_is_older_than_the_lag},
};
CHECK_MAIN(tests)
