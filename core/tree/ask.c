#include "core/tree/ask.h"

#include <stdlib.h>

#include "core/base/loop.h"
#include "core/item/value.h"
#include "core/tree/bind.h"

/* A question under way: belongs to the cache's flight. */
struct flight {
    struct ask ask; /* holds a reference to its model: who asked first may be gone, and its map */
    struct cache_flight *cache_flight;
    struct source_call *call; /* NULL before it starts and after it ended */
    struct record *best;      /* holds a reference */
    unsigned found;
};

static void flight_release(void *arg)
{
    struct flight *flight = arg;
    record_unref(flight->best);
    read_destroy(flight->ask.read);
    model_unref(flight->ask.table);
    free(flight);
}

static void flight_abandon(void *arg)
{
    struct flight *flight = arg;
    if (flight->call)
        flight->ask.source->ops->end(flight->call);
    flight->call = NULL;
}

static void ref_record(void *data)
{
    record_ref(data);
}

static void unref_record(void *data)
{
    record_unref(data);
}

static struct cache_value value_of(struct record *record)
{
    return (struct cache_value){
        .data = record,
        .ref = ref_record,
        .unref = unref_record,
        .memory = record ? record_memory(record) : 0,
    };
}

static void land(struct flight *flight)
{
    struct cache_value value = value_of(flight->best);
    int64_t ttl_ms = flight->ask.ttl_ms;
    if (!flight->best && ttl_ms > MAP_MISSING_TTL_MS)
        ttl_ms = MAP_MISSING_TTL_MS;
    flight_abandon(flight);
    cache_land(flight->cache_flight, &value, ttl_ms);
}

static void fail(struct flight *flight, const struct error *err)
{
    struct error copy = *err;
    flight_abandon(flight);
    cache_fail(flight->cache_flight, &copy);
}

static void origin_of(struct flight *flight, const struct page *page, struct record_origin *out)
{
    struct clock *clock = loop_clock(flight->ask.loop);
    *out = (struct record_origin){
        .fetched_ms = clock->now_ms(clock),
        .fetched_wall_ms = clock->wall_ms(clock),
        .capacity = page->capacity,
    };
    strncpy(out->request_id, page->request_id, sizeof out->request_id - 1);
}

/* Whether ITEM goes before the best so far. An absent attribute goes before nothing. FAILED is
 * set when memory ran out. */
static bool is_better(const struct flight *flight, struct json item, bool *failed)
{
    CLEAN_UP(buf_clean_up) struct buf mine = {0}, theirs = {0};
    struct span name = span_text(flight->ask.pick_attribute);
    struct value candidate, best;
    if (!flight->best)
        return true;
    bool mine_read = value_read(item_attribute(item, name), &mine, &candidate);
    bool theirs_read = value_read(item_attribute(record_item(flight->best), name), &theirs, &best);
    *failed = mine.failed || theirs.failed;
    if (!mine_read || !theirs_read)
        return mine_read;
    int order = value_compare(candidate, best);
    return flight->ask.pick == PICK_GREATEST ? order > 0 : order < 0;
}

/* No record was made of ITEM. Printing it tells whether it could be one. */
static bool refuse(const struct flight *flight, struct json item, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf scratch = {0};
    struct record_view plain = {.compact = true};
    if (item_write(item, &plain, &scratch) || scratch.failed)
        return error_no_memory(err);
    return error_set(err, ERROR_BAD_ANSWER, "an item of %s is not understood",
                     flight->ask.read->table);
}

/* Whether ITEM is of the kind that was asked for. One without its keys is for the asker to
 * complain of. */
static bool counts(const struct flight *flight, struct json item, bool *failed)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    if (!flight->ask.kind)
        return true;
    bool known = bind_item_key(flight->ask.table, item, &arena, &key);
    *failed = arena.failed;
    return !known || bind_key_is_of(flight->ask.table, flight->ask.kind, &key);
}

static bool consider(struct flight *flight, const struct page *page, struct json item,
                     struct error *err)
{
    bool failed = false;
    if (!counts(flight, item, &failed))
        return !failed || error_no_memory(err);
    flight->found++;
    if (flight->ask.pick == PICK_NONE && flight->found > 1)
        return error_set(err, ERROR_AMBIGUOUS,
                         "several records of %s answer; let the map say which, with \"pick\" or "
                         "\"newest\": 1",
                         flight->ask.read->table);
    if (flight->best && !is_better(flight, item, &failed))
        return !failed || error_no_memory(err);
    if (failed)
        return error_no_memory(err);
    struct record_origin origin;
    origin_of(flight, page, &origin);
    record_unref(flight->best);
    flight->best = record_new(item, &origin);
    return flight->best || refuse(flight, item, err);
}

/* The first record was asked for, and is there. */
static bool has_enough(const struct flight *flight)
{
    return flight->ask.read->limit == 1 && flight->found > 0;
}

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct flight *flight = arg;
    struct error why;
    if (err) {
        fail(flight, err);
        return;
    }
    for (size_t i = 0; i < page->item_count && !has_enough(flight); i++) {
        if (!consider(flight, page, page->items[i], &why)) {
            fail(flight, &why);
            return;
        }
    }
    if (page->more && !has_enough(flight))
        flight->ask.source->ops->more(flight->call);
    else
        land(flight);
}

static bool flight_fetch(void *arg, struct cache_flight *cache_flight, struct error *err)
{
    struct flight *flight = arg;
    flight->cache_flight = cache_flight;
    flight->call = source_start(flight->ask.source, flight->ask.read, take_page, flight);
    return flight->call || error_no_memory(err);
}

/* Who is asked what, and which of the answers counts. */
static void write_key(const struct ask *ask, struct buf *out)
{
    buf_printf(out, "%p %s %d %s ", (void *)ask->source, ask->kind ? ask->kind->name : "",
               (int)ask->pick, ask->pick ? ask->pick_attribute : "");
    read_identity(ask->read, out);
}

struct cache_wait *ask_record(const struct ask *ask, cache_done_fn *done, void *arg)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct flight *flight = calloc(1, sizeof *flight);
    if (!flight) {
        read_destroy(ask->read);
        return NULL;
    }
    flight->ask = *ask;
    model_ref(flight->ask.table);
    write_key(ask, &key);
    if (key.failed) {
        flight_release(flight);
        return NULL;
    }
    struct cache_question question = {
        .key = buf_span(&key),
        .fetch = flight_fetch,
        .abandon = flight_abandon,
        .fetch_arg = flight,
        .release = flight_release,
    };
    return cache_ask(ask->cache, &question, done, arg);
}
