/* The service and the reader of tests of live sources. */
#include "tests/unit/live_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

#define WALL_MS 1792000000000 /* a day in October 2026 */

struct live_service_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct source_call *inner;
    struct loop_timer *timer;
    unsigned pages; /* of a query, so far */
};

static void live_service_set_busy(struct live_service *service, bool busy)
{
    if (service->busy)
        *service->busy = busy;
}

unsigned live_service_draw(struct live_service *service, unsigned below)
{
    service->seed = service->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(service->seed >> 33) % below;
}

void live_service_write(struct live_service *service, unsigned key)
{
    unsigned version = ++service->versions[key];
    CHECK(version < VERSIONS);
    service->written_ms[key][version] = loop_now_ms(service->loop);
    fake_stream_write(&service->stream, 0, key, version);
}

/* The version of KEY that a replica shows which is BEHIND_MS late. */
unsigned live_service_version(const struct live_service *service, unsigned key, int64_t at_ms)
{
    unsigned version = service->versions[key];
    while (version > 0 && service->written_ms[key][version] > at_ms)
        version--;
    return version;
}

static void live_service_answer(void *arg)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct live_service_call *call = arg;
    struct live_service *service = (struct live_service *)call->base.source;
    const struct read *read = call->base.read;
    struct json items[READ_MAX_KEYS];
    struct page page = {.items = items, .requests = 1, .capacity = 0.5, .request_id = ""};
    struct error err;
    call->timer = NULL;
    live_service_set_busy(service, true);
    if (service->fails) {
        error_set(&err, ERROR_RESET, "the connection broke");
        live_service_set_busy(service, false);
        call->base.fn(call->base.arg, NULL, &err);
        return;
    }
    int64_t behind_ms =
        service->stale_ms ? live_service_draw(service, (unsigned)service->stale_ms) : 0;
    buf_add_char(&text, '[');
    for (size_t i = 0; i < read->key_count; i++) {
        struct span digits = read->keys[i].attributes[0].value.bytes;
        unsigned key = (unsigned)strtoul(digits.data, NULL, 10);
        unsigned version =
            live_service_version(service, key, loop_now_ms(service->loop) - behind_ms);
        if (version > 0)
            buf_printf(&text,
                       "%s{\"pk\":{\"S\":\"%u\"},\"v\":{\"N\":\"%u\"},\"w\":{\"S\":\"%*s\"}}",
                       text.size > 1 ? "," : "", key, version, service->padding, "");
    }
    buf_add_char(&text, ']');
    CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
    struct json each = json_first(json_root(&doc));
    for (; json_present(each); each = json_next(each))
        items[page.item_count++] = each;
    live_service_set_busy(service, false);
    call->base.fn(call->base.arg, &page, NULL);
}

/* A query of one partition, which has at most one item: the first page has it. */
static void live_service_answer_query(void *arg)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct live_service_call *call = arg;
    struct live_service *service = (struct live_service *)call->base.source;
    struct span digits = call->base.read->where[0].value.bytes;
    unsigned key = (unsigned)strtoul(digits.data, NULL, 10);
    unsigned version = service->versions[key];
    call->timer = NULL;
    live_service_set_busy(service, true);
    buf_printf(&text, "{\"pk\":{\"S\":\"%u\"},\"v\":{\"N\":\"%u\"}}", key, version);
    CHECK(json_parse(&doc, buf_span(&text), JSON_STRICT, NULL));
    struct json item = json_root(&doc);
    struct page page = {.items = &item,
                        .item_count = version > 0 && call->pages == 0,
                        .more = call->pages++ == 0,
                        .requests = 1,
                        .capacity = 0.5,
                        .request_id = ""};
    live_service_set_busy(service, false);
    call->base.fn(call->base.arg, &page, NULL);
}

static bool live_service_start(struct source_call *base)
{
    struct live_service_call *call = (struct live_service_call *)base;
    struct live_service *service = (struct live_service *)base->source;
    if (base->read->kind == READ_QUERY) {
        service->reads++;
        call->timer = loop_add_timer(service->loop, 5, live_service_answer_query, call);
        return call->timer;
    }
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
    call->timer = loop_add_timer(service->loop, 5, live_service_answer, call);
    return call->timer;
}

static void live_service_more(struct source_call *base)
{
    struct live_service_call *call = (struct live_service_call *)base;
    struct live_service *service = (struct live_service *)base->source;
    live_service_set_busy(service, true);
    if (call->inner)
        source_more(call->inner);
    else
        call->timer = loop_add_timer(service->loop, 5, live_service_answer_query, call);
    live_service_set_busy(service, false);
}

static void live_service_end(struct source_call *base)
{
    struct live_service_call *call = (struct live_service_call *)base;
    source_end(call->inner);
    loop_remove_timer(call->timer);
}

static void live_service_destroy(struct source *source)
{
    (void)source;
}

static const struct source_ops live_service_ops = {
    .layer = SOURCE_SERVICE,
    .call_size = sizeof(struct live_service_call),
    .start = live_service_start,
    .more = live_service_more,
    .end = live_service_end,
    .destroy = live_service_destroy,
};

static void live_scene_take_line(void *arg, enum log_level level, const char *line)
{
    struct live_scene *scene = arg;
    size_t used = strlen(scene->logged);
    (void)level;
    snprintf(scene->logged + used, sizeof scene->logged - used, "%s\n", line);
}

void live_scene_open_within(struct live_scene *scene, uint64_t seed, size_t most_bytes)
{
    *scene = (struct live_scene){.log = {LOG_LEVEL_INFO, live_scene_take_line, scene}};
    virtual_clock_init(&scene->clock, WALL_MS);
    scene->loop = loop_new(&scene->clock.clock);
    scene->service =
        (struct live_service){.source.ops = &live_service_ops, .loop = scene->loop, .seed = seed};
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

void live_scene_open(struct live_scene *scene, uint64_t seed)
{
    live_scene_open_within(scene, seed, 1 << 20);
}

void live_scene_close(struct live_scene *scene)
{
    source_destroy(scene->source);
    fake_stream_clean_up(&scene->service.stream);
    counting_payer_clean_up(&scene->payer);
    loop_destroy(scene->loop);
}

static void live_scene_stop(void *arg)
{
    loop_stop(arg);
}

void live_scene_pass(struct live_scene *scene, int64_t ms)
{
    live_service_set_busy(&scene->service, true);
    loop_add_timer(scene->loop, ms, live_scene_stop, scene->loop);
    live_service_set_busy(&scene->service, false);
    CHECK(loop_run(scene->loop));
}

void live_scene_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct live_scene *scene = arg;
    if (err)
        scene->err = *err;
    for (size_t i = 0; page && i < page->item_count; i++) {
        struct span digits;
        CHECK(json_plain_string(json_member(json_member(page->items[i], "v"), "N"), &digits));
        scene->versions[scene->count++] = (unsigned)strtoul(digits.data, NULL, 10);
    }
    scene->requests += page ? page->requests : 0;
    scene->age_ms = page ? page->age_ms : 0;
    scene->is_over = err || !page->more;
    if (scene->is_over || scene->stops)
        loop_stop(scene->loop);
    else
        source_more(scene->call);
}

struct read *live_scene_keys(unsigned from, unsigned count)
{
    struct read *read = read_new(READ_ITEMS, "T", NULL);
    CHECK(read);
    for (unsigned i = 0; i < count; i++) {
        char text[16];
        int size = snprintf(text, sizeof text, "%u", from + i);
        struct value value = {VALUE_S, span_of(text, (size_t)size)};
        read_add_key(read, &(struct key){.attributes = {{SPAN_LITERAL("pk"), value}}, .count = 1});
    }
    return read;
}

/* Reads READ to its end, and destroys it. */
static void live_scene_run(struct live_scene *scene, struct read *read)
{
    scene->call =
        source_start(scene->source, read, &scene->payer.payer, live_scene_take_page, scene);
    CHECK(scene->call);
    CHECK(loop_run(scene->loop));
    source_end(scene->call);
    read_destroy(read);
}

void live_scene_read(struct live_scene *scene, unsigned from, unsigned count, bool consistent)
{
    struct read *read = live_scene_keys(from, count);
    read->consistent = consistent;
    scene->count = 0;
    scene->requests = 0;
    scene->err = (struct error){0};
    live_scene_run(scene, read);
    CHECK(scene->is_over);
}

void live_scene_describe(struct live_scene *scene)
{
    struct read *read = read_new(READ_TABLE, "T", NULL);
    live_scene_run(scene, read);
}

struct read *live_scene_begin_query(struct live_scene *scene, const char *key)
{
    struct read *read = read_new(READ_QUERY, "T", NULL);
    read_add_where(
        read, &(struct cond){.attribute = SPAN_LITERAL("pk"), .value = {VALUE_S, span_text(key)}});
    read->limit = 1;
    scene->stops = true;
    scene->count = scene->requests = 0;
    scene->err = (struct error){0};
    scene->call =
        source_start(scene->source, read, &scene->payer.payer, live_scene_take_page, scene);
    CHECK(scene->call);
    CHECK(loop_run(scene->loop));
    return read;
}

void live_scene_end_query(struct live_scene *scene, struct read *read)
{
    source_end(scene->call);
    read_destroy(read);
    scene->stops = false;
}

struct source_present live_scene_present(const struct live_scene *scene)
{
    struct source_present out;
    CHECK(source_read_present(scene->source, "T", &out));
    return out;
}

void live_scene_settle(struct live_scene *scene)
{
    live_scene_read(scene, 0, 1, false);
    live_scene_pass(scene, SETTLE_MS + 2000);
    CHECK_TEXT(live_scene_present(scene).state, "live");
}
