#include "core/tree/census.h"

#include <stdlib.h>

#include "core/base/dict.h"
#include "core/item/item.h"
#include "core/tree/models.h"

/* A read unit is 8 KB of items, as a Scan reads them, whatever of them it shows; each page is
 * counted in units of 4 KB. */
enum { UNIT_BYTES = 8192, ROUNDED_BYTES = 4096 };

struct census *census_ref(struct census *census)
{
    census->references++;
    return census;
}

void census_unref(struct census *census)
{
    if (!census || --census->references > 0)
        return;
    arena_clean_up(&census->arena);
    free(census);
}

static void ref_census(void *data)
{
    census_ref(data);
}

static void unref_census(void *data)
{
    census_unref(data);
}

struct read *census_read(const struct place *place)
{
    struct read *read = read_new(READ_SCAN, place->table_name, NULL);
    if (!read)
        return NULL;
    read_add_attribute(read, span_text(place->table->keys[0].attribute));
    if (!read_failed(read))
        return read;
    read_destroy(read);
    return NULL;
}

/* One partition key that has been seen. */
struct seen {
    struct dict_node by_identity;
    struct value value;
};

struct segment {
    struct flight *flight;
    struct read *read;        /* owned */
    struct source_call *call; /* NULL before it starts and after it ended */
};

/* A census on its way: belongs to the cache's flight, and may outlive who asked it first. First the
 * table says how large it is, then all segments are read side by side. */
struct flight {
    struct source *source; /* holds a reference */
    struct payer *payer;   /* holds a reference: of who asked first */
    struct cache_flight *cache_flight;
    struct scan_limits limits;
    int64_t item_count, size_bytes; /* as DescribeTable says; -1 when not told */
    struct read *table;             /* owned; asked where nobody knows what it says */
    struct source_call *call;
    struct segment segments[CENSUS_SEGMENTS];
    size_t pending; /* segments that have not come to their end */
    struct dict seen;
    struct census *census; /* owned reference: it is being put together */
    uint64_t items;        /* that have come so far */
};

static void flight_release(void *arg)
{
    struct flight *flight = arg;
    for (size_t i = 0; i < CENSUS_SEGMENTS; i++)
        read_destroy(flight->segments[i].read);
    read_destroy(flight->table);
    dict_clean_up(&flight->seen);
    census_unref(flight->census);
    payer_unref(flight->payer);
    source_unref(flight->source);
    free(flight);
}

static void end_call(struct flight *flight, struct source_call **call)
{
    if (*call)
        flight->source->ops->end(*call);
    *call = NULL;
}

static void flight_abandon(void *arg)
{
    struct flight *flight = arg;
    end_call(flight, &flight->call);
    for (size_t i = 0; i < CENSUS_SEGMENTS; i++)
        end_call(flight, &flight->segments[i].call);
}

static void fail(struct flight *flight, const struct error *err)
{
    struct error copy = *err;
    flight_abandon(flight);
    cache_fail(flight->cache_flight, &copy);
}

static void fail_without_memory(struct flight *flight)
{
    struct error err;
    error_no_memory(&err);
    fail(flight, &err);
}

static int compare_values(const void *a, const void *b)
{
    return value_compare(*(const struct value *)a, *(const struct value *)b);
}

/* In the order of keys, so that a directory is the same whoever scanned it. */
static bool put_in_order(struct flight *flight)
{
    struct census *census = flight->census;
    struct value *values = arena_array(&census->arena, flight->seen.count + 1, sizeof *values);
    size_t from = 0;
    for (struct dict_node *node; values && (node = dict_any(&flight->seen, &from));) {
        values[census->count++] = ((struct seen *)node)->value;
        dict_remove(&flight->seen, node);
    }
    if (values && census->count > 1)
        qsort(values, census->count, sizeof *values, compare_values);
    census->values = values;
    return values;
}

static void land(struct flight *flight)
{
    struct census *census = flight->census;
    if (!put_in_order(flight)) {
        fail_without_memory(flight);
        return;
    }
    struct cache_value value = {census, ref_census, unref_census, sizeof *census};
    for (size_t i = 0; i < census->count; i++)
        value.memory += census->values[i].bytes.size + sizeof(struct seen) + 64;
    flight_abandon(flight);
    cache_land(flight->cache_flight, &value);
}

/* False when memory ran out. */
static bool add_key(struct flight *flight, struct json typed)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0}, identity = {0};
    struct arena *arena = &flight->census->arena;
    struct value value;
    if (!value_read(typed, &bytes, &value)) /* the source has looked at it, so: no memory */
        return false;
    value_write_identity(value, &identity);
    if (identity.failed)
        return false;
    if (dict_find(&flight->seen, buf_span(&identity)))
        return true;
    struct seen *seen = arena_alloc(arena, sizeof *seen);
    if (!seen)
        return false;
    seen->value = (struct value){value.type, arena_copy(arena, value.bytes)};
    seen->by_identity.key = arena_copy(arena, buf_span(&identity));
    if (arena->failed)
        return false;
    dict_add(&flight->seen, &seen->by_identity);
    return true;
}

static void count_page(struct flight *flight, const struct page *page)
{
    struct census *census = flight->census;
    census->pages++;
    census->requests += page->requests;
    source_add_page(&census->spent, page);
    flight->items += page->item_count;
}

/* How much has been read, as far as that is told. */
static uint64_t bytes_read(const struct flight *flight)
{
    const struct census *census = flight->census;
    uint64_t rounded = (uint64_t)census->pages * ROUNDED_BYTES;
    uint64_t bytes = (uint64_t)(census->spent.units * UNIT_BYTES);
    return bytes > rounded ? bytes - rounded : 0;
}

static void stop_scan(struct flight *flight)
{
    struct error why;
    scan_limits_stop(&flight->limits, flight->table->table, flight->items, bytes_read(flight),
                     &why);
    fail(flight, &why);
}

static void take_keys(void *arg, const struct page *page, const struct error *err)
{
    struct segment *segment = arg;
    struct flight *flight = segment->flight;
    struct span name = segment->read->attributes[0];
    if (err) {
        fail(flight, err);
        return;
    }
    count_page(flight, page);
    if (scan_limits_passed(&flight->limits, flight->items, bytes_read(flight))) {
        stop_scan(flight);
        return;
    }
    for (size_t i = 0; i < page->item_count; i++)
        if (!add_key(flight, item_attribute(page->items[i], name))) {
            fail_without_memory(flight);
            return;
        }
    if (page->more)
        flight->source->ops->more(segment->call);
    else if (--flight->pending == 0)
        land(flight);
}

/* False when memory ran out. */
static bool start_segments(struct flight *flight)
{
    flight->pending = CENSUS_SEGMENTS;
    for (size_t i = 0; i < CENSUS_SEGMENTS; i++) {
        struct segment *segment = &flight->segments[i];
        segment->call =
            source_start(flight->source, segment->read, flight->payer, take_keys, segment);
        if (!segment->call)
            return false;
    }
    return true;
}

/* Counts are hours old: the Scan itself keeps to the limits, too. */
static bool may_start(struct flight *flight, struct error *err)
{
    uint64_t items = flight->item_count > 0 ? (uint64_t)flight->item_count : 0;
    uint64_t bytes = flight->size_bytes > 0 ? (uint64_t)flight->size_bytes : 0;
    if (scan_limits_passed(&flight->limits, items, bytes))
        return scan_limits_refuse(&flight->limits, flight->table->table, items, bytes, err);
    return start_segments(flight) || error_no_memory(err);
}

static void take_size(void *arg, const struct page *page, const struct error *err)
{
    struct flight *flight = arg;
    if (err) {
        fail(flight, err);
        return;
    }
    struct error why;
    flight->item_count = page->table->item_count;
    flight->size_bytes = page->table->size_bytes;
    end_call(flight, &flight->call);
    if (!may_start(flight, &why))
        fail(flight, &why);
}

static bool flight_fetch(void *arg, struct cache_flight *cache_flight, struct error *err)
{
    struct flight *flight = arg;
    flight->cache_flight = cache_flight;
    if (flight->item_count >= 0 && flight->size_bytes >= 0) {
        if (may_start(flight, err))
            return true;
        flight_abandon(flight);
        return false;
    }
    flight->call = source_start(flight->source, flight->table, flight->payer, take_size, flight);
    return flight->call || error_no_memory(err);
}

/* False when memory ran out. */
static bool flight_init(struct flight *flight, const struct place *place)
{
    flight->census = calloc(1, sizeof *flight->census);
    flight->table = read_new(READ_TABLE, place->table_name, NULL);
    if (!flight->census || !flight->table || !dict_init(&flight->seen))
        return false;
    flight->census->references = 1;
    for (uint32_t i = 0; i < CENSUS_SEGMENTS; i++) {
        struct read *read = census_read(place);
        flight->segments[i] = (struct segment){.flight = flight, .read = read};
        if (!read)
            return false;
        read->segment = i;
        read->segments = CENSUS_SEGMENTS;
    }
    return true;
}

struct cache_wait *census_ask(const struct tree *tree, const struct place *place, cache_done_fn *fn,
                              void *arg, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct source *source = tree->source(tree->source_arg, place, err);
    if (!source)
        return NULL;
    struct flight *flight = calloc(1, sizeof *flight);
    struct cache_wait *wait = NULL;
    struct models_told told;
    if (flight) {
        flight->source = source_ref(source);
        flight->payer = payer_ref(tree->payer);
        flight->limits = *tree->names.scan;
        flight->item_count = -1;
        if (tree->models && tree->models->ops->told(tree->models, place, &told)) {
            flight->item_count = told.item_count;
            flight->size_bytes = told.size_bytes;
        }
    }
    /* A table that is made anew may have another key. */
    const struct map_key *partition = &place->table->keys[0];
    source_identity(source, &key);
    buf_printf(&key, " census of %s by %d %s", place->table_name, (int)partition->type,
               partition->attribute);
    if (flight && (key.failed || !flight_init(flight, place)))
        flight_release(flight);
    else if (flight)
        wait = cache_ask(tree->cache,
                         &(struct cache_question){
                             .key = buf_span(&key),
                             .max_age_ms = MAP_STRUCTURE_TTL_MS,
                             .stale_ms = tree->stale_ms,
                             .fetch = flight_fetch,
                             .abandon = flight_abandon,
                             .fetch_arg = flight,
                             .release = flight_release,
                         },
                         fn, arg);
    if (!wait)
        error_no_memory(err);
    return wait;
}
