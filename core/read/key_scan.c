#include "core/read/key_scan.h"

#include <stdlib.h>

#include "core/base/dict.h"
#include "core/item/item.h"
#include "core/read/model_provider.h"

/* One RCU of a Scan is 8 KB of items, whatever part of them it returns; each page is rounded up to
 * 4 KB. */
enum { UNIT_BYTES = 8192, ROUNDED_BYTES = 4096 };

struct key_scan *key_scan_ref(struct key_scan *scan)
{
    scan->references++;
    return scan;
}

void key_scan_unref(struct key_scan *scan)
{
    if (!scan || --scan->references > 0)
        return;
    arena_clean_up(&scan->arena);
    free(scan);
}

static void key_scan_ref_data(void *data)
{
    key_scan_ref(data);
}

static void key_scan_unref_data(void *data)
{
    key_scan_unref(data);
}

/* A recording masks the key if it is a secret. */
static void key_scan_name_secret(const struct place *place, struct read *read)
{
    struct span key = span_text(place->table->keys[0].attribute);
    if (!model_is_secret(place->table, key))
        return;
    const char **secrets = arena_array(&read->arena, 1, sizeof *secrets);
    if (secrets) {
        secrets[0] = arena_text(&read->arena, key);
        read->secrets = secrets;
        read->secret_count = 1;
    }
}

struct read *key_scan_read(const struct place *place)
{
    struct read *read = read_new(READ_SCAN, place->table_name, NULL);
    if (!read)
        return NULL;
    read_add_attribute(read, span_text(place->table->keys[0].attribute));
    key_scan_name_secret(place, read);
    if (!read_failed(read))
        return read;
    read_destroy(read);
    return NULL;
}

/* One partition key that has been seen. */
struct key_seen {
    struct dict_node by_identity;
    struct value value;
};

struct key_scan_segment {
    struct key_scan_flight *flight;
    struct read *read;        /* owned */
    struct source_call *call; /* NULL before it starts and after it ended */
};

/* A scan under way. It belongs to the cache's flight, and may outlive the first caller. First the
 * table's size is read, if it is not known; then all segments are read side by side. */
struct key_scan_flight {
    struct source *source; /* holds a reference */
    struct payer *payer;   /* holds a reference: of the first caller */
    struct cache_flight *cache_flight;
    struct scan_limits limits;
    int64_t item_count, size_bytes; /* as reported by DescribeTable; -1 when not known */
    struct read *table;             /* owned; the Read of the size */
    struct source_call *call;
    struct key_scan_segment segments[KEY_SCAN_SEGMENTS];
    size_t pending; /* segments that have not come to their end */
    struct dict seen;
    struct key_scan *scan; /* owned reference: the result */
    uint64_t items;        /* so far */
};

static void key_scan_flight_release(void *arg)
{
    struct key_scan_flight *flight = arg;
    for (size_t i = 0; i < KEY_SCAN_SEGMENTS; i++)
        read_destroy(flight->segments[i].read);
    read_destroy(flight->table);
    dict_clean_up(&flight->seen);
    key_scan_unref(flight->scan);
    payer_unref(flight->payer);
    source_unref(flight->source);
    free(flight);
}

static void key_scan_end_call(struct source_call **call)
{
    source_end(*call);
    *call = NULL;
}

static void key_scan_flight_abandon(void *arg)
{
    struct key_scan_flight *flight = arg;
    key_scan_end_call(&flight->call);
    for (size_t i = 0; i < KEY_SCAN_SEGMENTS; i++)
        key_scan_end_call(&flight->segments[i].call);
}

static void key_scan_fail(struct key_scan_flight *flight, const struct error *err)
{
    struct error copy = *err;
    key_scan_flight_abandon(flight);
    cache_fail(flight->cache_flight, &copy);
}

static void key_scan_fail_without_memory(struct key_scan_flight *flight)
{
    struct error err;
    error_no_memory(&err);
    key_scan_fail(flight, &err);
}

static int key_scan_compare_values(const void *a, const void *b)
{
    return value_compare(*(const struct value *)a, *(const struct value *)b);
}

static void key_scan_land(struct key_scan_flight *flight)
{
    struct key_scan *scan = flight->scan;
    struct value *values = arena_array(&scan->arena, flight->seen.count + 1, sizeof *values);
    size_t from = 0;
    if (!values) {
        key_scan_fail_without_memory(flight);
        return;
    }
    for (struct dict_node *node; (node = dict_any(&flight->seen, &from));) {
        values[scan->count++] = ((struct key_seen *)node)->value;
        dict_remove(&flight->seen, node);
    }
    if (scan->count > 1)
        qsort(values, scan->count, sizeof *values, key_scan_compare_values);
    scan->values = values;
    struct cache_value value = {scan, key_scan_ref_data, key_scan_unref_data, sizeof *scan};
    for (size_t i = 0; i < scan->count; i++)
        value.memory += scan->values[i].bytes.size + sizeof(struct key_seen) + 64;
    key_scan_flight_abandon(flight);
    cache_land(flight->cache_flight, &value);
}

/* False when memory ran out. */
static bool key_scan_add_key(struct key_scan_flight *flight, struct json typed)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0}, identity = {0};
    struct arena *arena = &flight->scan->arena;
    struct value value;
    if (!value_read(typed, &bytes, &value)) /* the source has checked it, so memory is missing */
        return false;
    value_write_identity(value, &identity);
    if (identity.failed)
        return false;
    if (dict_find(&flight->seen, buf_span(&identity)))
        return true;
    struct key_seen *seen = arena_alloc(arena, sizeof *seen);
    if (!seen)
        return false;
    seen->value = (struct value){value.type, arena_copy(arena, value.bytes)};
    seen->by_identity.key = arena_copy(arena, buf_span(&identity));
    if (arena->failed)
        return false;
    dict_add(&flight->seen, &seen->by_identity);
    return true;
}

/* The bytes that were read, as far as the RCU prove them. */
static uint64_t key_scan_bytes_read(const struct key_scan_flight *flight)
{
    const struct key_scan *scan = flight->scan;
    uint64_t rounded = (uint64_t)scan->pages * ROUNDED_BYTES;
    uint64_t bytes = (uint64_t)(scan->spent.units * UNIT_BYTES);
    return bytes > rounded ? bytes - rounded : 0;
}

static void key_scan_take_keys(void *arg, const struct page *page, const struct error *err)
{
    struct key_scan_segment *segment = arg;
    struct key_scan_flight *flight = segment->flight;
    struct span name = segment->read->attributes[0];
    if (err) {
        key_scan_fail(flight, err);
        return;
    }
    flight->scan->pages++;
    flight->scan->requests += page->requests;
    source_add_page(&flight->scan->spent, page);
    flight->items += page->item_count;
    if (scan_limits_passed(&flight->limits, flight->items, key_scan_bytes_read(flight))) {
        struct error why;
        scan_limits_stop(&flight->limits, flight->table->table, flight->items,
                         key_scan_bytes_read(flight), &why);
        key_scan_fail(flight, &why);
        return;
    }
    for (size_t i = 0; i < page->item_count; i++)
        if (!key_scan_add_key(flight, item_attribute(page->items[i], name))) {
            key_scan_fail_without_memory(flight);
            return;
        }
    if (page->more)
        source_more(segment->call);
    else if (--flight->pending == 0)
        key_scan_land(flight);
}

/* Reported sizes are hours old, so the limits are checked again during the Scan. */
static bool key_scan_start_segments(struct key_scan_flight *flight, struct error *err)
{
    uint64_t items = flight->item_count > 0 ? (uint64_t)flight->item_count : 0;
    uint64_t bytes = flight->size_bytes > 0 ? (uint64_t)flight->size_bytes : 0;
    if (scan_limits_passed(&flight->limits, items, bytes))
        return scan_limits_refuse(&flight->limits, flight->table->table, items, bytes, err);
    flight->pending = KEY_SCAN_SEGMENTS;
    for (size_t i = 0; i < KEY_SCAN_SEGMENTS; i++) {
        struct key_scan_segment *segment = &flight->segments[i];
        segment->call =
            source_start(flight->source, segment->read, flight->payer, key_scan_take_keys, segment);
        if (!segment->call)
            return error_no_memory(err);
    }
    return true;
}

static void key_scan_take_size(void *arg, const struct page *page, const struct error *err)
{
    struct key_scan_flight *flight = arg;
    if (err) {
        key_scan_fail(flight, err);
        return;
    }
    struct error why;
    flight->item_count = page->table->item_count;
    flight->size_bytes = page->table->size_bytes;
    key_scan_end_call(&flight->call);
    if (!key_scan_start_segments(flight, &why))
        key_scan_fail(flight, &why);
}

static bool key_scan_flight_fetch(void *arg, struct cache_flight *cache_flight, struct error *err)
{
    struct key_scan_flight *flight = arg;
    flight->cache_flight = cache_flight;
    if (flight->item_count >= 0 && flight->size_bytes >= 0) {
        if (key_scan_start_segments(flight, err))
            return true;
        key_scan_flight_abandon(flight);
        return false;
    }
    flight->call =
        source_start(flight->source, flight->table, flight->payer, key_scan_take_size, flight);
    return flight->call || error_no_memory(err);
}

/* False when memory ran out. */
static bool key_scan_flight_init(struct key_scan_flight *flight, const struct place *place)
{
    flight->scan = calloc(1, sizeof *flight->scan);
    flight->table = read_new(READ_TABLE, place->table_name, NULL);
    if (!flight->scan || !flight->table || !dict_init(&flight->seen))
        return false;
    flight->scan->references = 1;
    for (uint32_t i = 0; i < KEY_SCAN_SEGMENTS; i++) {
        struct read *read = key_scan_read(place);
        flight->segments[i] = (struct key_scan_segment){.flight = flight, .read = read};
        if (!read)
            return false;
        read->segment = i;
        read->segments = KEY_SCAN_SEGMENTS;
    }
    return true;
}

struct cache_wait *key_scan_start(const struct tree *tree, const struct place *place,
                                  cache_done_fn *fn, void *arg, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct source *source = tree->source(tree->source_arg, place, err);
    if (!source)
        return NULL;
    struct key_scan_flight *flight = calloc(1, sizeof *flight);
    struct cache_wait *wait = NULL;
    struct model_provider_description known;
    if (flight) {
        flight->source = source_ref(source);
        flight->payer = payer_ref(tree->payer);
        flight->limits = *tree->names.scan;
        flight->item_count = -1;
        if (tree->models && tree->models->ops->describe(tree->models, place, &known)) {
            flight->item_count = known.item_count;
            flight->size_bytes = known.size_bytes;
        }
    }
    /* A table that is created anew may have another key. */
    const struct map_key *partition = &place->table->keys[0];
    source_identity(source, &key);
    buf_printf(&key, " scan of %s by %d %s", place->table_name, (int)partition->type,
               partition->attribute);
    if (flight && (key.failed || !key_scan_flight_init(flight, place)))
        key_scan_flight_release(flight);
    else if (flight)
        wait = cache_read(tree->cache,
                          &(struct cache_lookup){
                              .key = buf_span(&key),
                              .max_age_ms = MAP_STRUCTURE_TTL_MS,
                              .stale_ms = tree->stale_ms,
                              .fetch = key_scan_flight_fetch,
                              .abandon = key_scan_flight_abandon,
                              .fetch_arg = flight,
                              .release = key_scan_flight_release,
                          },
                          fn, arg);
    if (!wait)
        error_no_memory(err);
    return wait;
}
