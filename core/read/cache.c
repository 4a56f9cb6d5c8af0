#include "core/read/cache.h"

#include <stdlib.h>

#include "core/base/dict.h"
#include "core/base/list.h"

/* A stored response. */
struct cache_entry {
    struct dict_node node; /* first, so that a node is an entry */
    struct list_node by_use;
    struct cache_value value; /* holds a reference */
    int64_t read_ms;          /* when the response came */
    size_t cost;
    char key[];
};

struct cache_flight {
    struct dict_node node; /* first, so that a node is a flight; in the dict unless dropped */
    struct cache *cache;
    struct list waits;           /* in the order they came */
    struct cache_lookup request; /* its key is not used */
    struct cache_wait *owner;    /* whose request it is; NULL when that caller left */
    struct loop_timer *refusal;  /* set when the fetch did not begin */
    struct error refused;
    bool dropped; /* the response must not be stored, nor the flight joined */
    bool landed;  /* its callers get the result: it must not be abandoned */
    char key[];
};

struct cache_wait {
    struct list_node node; /* of FLIGHT */
    cache_done_fn *done;
    void *arg;
    struct cache_flight *flight; /* NULL for a stored response */
    struct cache_lookup own; /* of a caller that joined: its own request, in case the owner's error
                              * concerns only the owner; unused without FETCH */
    int64_t max_age_ms, max_missing_age_ms, stale_ms;
    struct cache *cache;
    /* Of a stored response: */
    struct loop_timer *timer;
    struct cache_value value; /* holds a reference */
    int64_t expires_ms;       /* when it is too old for the caller */
};

struct cache {
    struct loop *loop; /* borrowed */
    size_t limit;
    struct dict entries;      /* owns them */
    struct dict flights;      /* a flight owns itself */
    struct list by_use;       /* entries, the newest first */
    struct cache_stats stats; /* bytes and entries are computed in cache_stats */
    size_t cost;              /* of all entries */
    size_t charged;           /* by cache_charge */
    size_t making;            /* of these, by cache_charge_making */
};

static void cache_value_ref(const struct cache_value *value)
{
    if (value->data)
        value->ref(value->data);
}

static void cache_value_unref(const struct cache_value *value)
{
    if (value->data)
        value->unref(value->data);
}

static int64_t cache_now_ms(const struct cache *cache)
{
    return loop_now_ms(cache->loop);
}

/* An age may be INT64_MAX; the sum must not overflow. */
static int64_t cache_sum_ms(int64_t a, int64_t b)
{
    return b > INT64_MAX - a ? INT64_MAX : a + b;
}

struct cache *cache_new(struct loop *loop, size_t limit)
{
    struct cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->loop = loop;
    cache->limit = limit;
    bool entries_ready = dict_init(&cache->entries);
    if (!dict_init(&cache->flights) || !entries_ready) {
        cache_destroy(cache);
        return NULL;
    }
    return cache;
}

/* Stored responses. */

static void cache_touch(struct cache *cache, struct cache_entry *entry)
{
    list_remove(&entry->by_use);
    list_prepend(&cache->by_use, &entry->by_use);
}

static void cache_remove_entry(struct cache *cache, struct cache_entry *entry)
{
    dict_remove(&cache->entries, &entry->node);
    list_remove(&entry->by_use);
    cache->cost -= entry->cost;
    cache_value_unref(&entry->value);
    free(entry);
}

static void cache_evict(struct cache *cache)
{
    cache_remove_entry(cache, LIST_LAST(&cache->by_use, struct cache_entry, by_use));
    cache->stats.evicted++;
}

static void cache_remove_entries(struct cache *cache)
{
    LIST_EACH_SAFE (struct cache_entry, each, &cache->by_use, by_use)
        cache_remove_entry(cache, each);
}

void cache_destroy(struct cache *cache)
{
    if (!cache)
        return;
    cache_remove_entries(cache);
    dict_clean_up(&cache->entries);
    dict_clean_up(&cache->flights);
    free(cache);
}

static size_t cache_bytes_used(const struct cache *cache)
{
    return sizeof *cache + dict_memory(&cache->entries) + dict_memory(&cache->flights) +
           cache->cost + cache->charged;
}

static void cache_trim(struct cache *cache)
{
    while (!list_is_empty(&cache->by_use) && cache_bytes_used(cache) > cache->limit)
        cache_evict(cache);
}

static struct cache_entry *cache_find_entry(const struct cache *cache, struct span key)
{
    return (struct cache_entry *)dict_find(&cache->entries, key);
}

/* Without memory for it, nothing is stored. A value that would not fit into an empty cache evicts
 * nothing. */
void cache_store(struct cache *cache, struct span key, const struct cache_value *value)
{
    size_t cost = sizeof(struct cache_entry) + key.size + value->memory;
    struct cache_entry *known = cache_find_entry(cache, key);
    if (known)
        cache_remove_entry(cache, known);
    size_t fixed = cache_bytes_used(cache) - cache->cost;
    if (cost < value->memory || fixed > cache->limit || cost > cache->limit - fixed)
        return;
    while (cache->cost > cache->limit - fixed - cost)
        cache_evict(cache);
    struct cache_entry *entry = calloc(1, sizeof *entry + key.size);
    if (!entry)
        return;
    if (key.size)
        memcpy(entry->key, key.data, key.size);
    entry->node.key = span_of(entry->key, key.size);
    entry->value = *value;
    entry->read_ms = cache_now_ms(cache);
    entry->cost = cost;
    cache_value_ref(value);
    dict_add(&cache->entries, &entry->node);
    list_prepend(&cache->by_use, &entry->by_use);
    cache->cost += cost;
    cache_trim(cache); /* the dict may have grown */
}

void *cache_find(struct cache *cache, struct span key)
{
    struct cache_entry *entry = cache_find_entry(cache, key);
    if (!entry)
        return NULL;
    cache_touch(cache, entry);
    return entry->value.data;
}

bool cache_has(const struct cache *cache, struct span key, const void *data)
{
    const struct cache_entry *entry = cache_find_entry(cache, key);
    return entry && entry->value.data == data;
}

void cache_forget(struct cache *cache, struct span key)
{
    struct cache_entry *entry = cache_find_entry(cache, key);
    if (entry)
        cache_remove_entry(cache, entry);
}

void cache_charge(struct cache *cache, size_t more, size_t less)
{
    cache->charged += more;
    cache->charged -= less;
    cache_trim(cache);
}

bool cache_charge_making(struct cache *cache, size_t more, size_t less, size_t most)
{
    size_t others = cache->making - less;
    if (more > less && others > 0 && (more > most || others > most - more))
        return false;
    cache->making = others + more;
    cache_charge(cache, more, less);
    return true;
}

struct cache_stats cache_stats(const struct cache *cache)
{
    struct cache_stats stats = cache->stats;
    stats.bytes = cache_bytes_used(cache);
    stats.entries = cache->entries.count;
    return stats;
}

/* The end of a flight. */

static void cache_release_lookup(const struct cache_lookup *request)
{
    if (request->release)
        request->release(request->fetch_arg);
}

static void cache_link_wait(struct cache_flight *flight, struct cache_wait *wait)
{
    wait->flight = flight;
    list_append(&flight->waits, &wait->node);
}

/* From now on no caller joins, and the response is not stored. */
static void cache_detach_flight(struct cache_flight *flight)
{
    if (!flight->dropped)
        dict_remove(&flight->cache->flights, &flight->node);
    flight->dropped = true;
}

static void cache_free_flight(struct cache_flight *flight)
{
    loop_remove_timer(flight->refusal);
    cache_release_lookup(&flight->request);
    free(flight);
}

/* Frees WAIT, which is in no flight any more. The caller reports to the copy. */
static struct cache_wait cache_end_wait(struct cache_wait *wait)
{
    struct cache_wait copy = *wait;
    cache_release_lookup(&wait->own);
    free(wait);
    return copy;
}

static struct cache_wait cache_take_first_wait(struct cache_flight *flight)
{
    struct cache_wait *first = LIST_FIRST(&flight->waits, struct cache_wait, node);
    list_remove(&first->node);
    return cache_end_wait(first);
}

/* Callers are taken one by one, since each DONE may make others leave. */
void cache_land(struct cache_flight *flight, const struct cache_value *value)
{
    const struct cache_value landed = *value;
    bool dropped = flight->dropped;
    cache_value_ref(&landed);
    if (!dropped)
        cache_store(flight->cache, flight->node.key, &landed);
    cache_detach_flight(flight);
    flight->landed = true;
    while (!list_is_empty(&flight->waits)) {
        struct cache_wait wait = cache_take_first_wait(flight);
        int64_t left_ms = landed.data ? wait.max_age_ms : wait.max_missing_age_ms;
        wait.done(wait.arg, landed.data, dropped ? 0 : left_ms, NULL);
    }
    cache_free_flight(flight);
    cache_value_unref(&landed);
}

static struct cache_flight *cache_new_flight(struct cache *cache,
                                             const struct cache_lookup *request, struct span key)
{
    struct cache_flight *flight = calloc(1, sizeof *flight + key.size);
    if (!flight)
        return NULL;
    if (key.size)
        memcpy(flight->key, key.data, key.size);
    flight->node.key = span_of(flight->key, key.size);
    flight->cache = cache;
    flight->request = *request;
    dict_add(&cache->flights, &flight->node);
    cache_trim(cache);
    return flight;
}

static void cache_refuse_flight(void *arg)
{
    struct cache_flight *flight = arg;
    flight->refusal = NULL;
    cache_fail(flight, &flight->refused);
}

/* Starts a flight for REQUEST, whose owner is WAIT. False when memory ran out: if TAKEN is set, the
 * request has been released, else it is still the caller's. */
static bool cache_launch(struct cache_wait *wait, const struct cache_lookup *request,
                         struct span key, bool *taken)
{
    struct cache *cache = wait->cache;
    struct cache_flight *flight = cache_new_flight(cache, request, key);
    *taken = flight;
    if (!flight)
        return false;
    wait->own = (struct cache_lookup){0};
    cache_link_wait(flight, wait);
    flight->owner = wait;
    cache->stats.misses++;
    if (flight->request.fetch(flight->request.fetch_arg, flight, &flight->refused))
        return true;
    flight->refusal = loop_add_timer(cache->loop, 0, cache_refuse_flight, flight);
    if (flight->refusal)
        return true;
    list_remove(&wait->node);
    cache_detach_flight(flight);
    cache_free_flight(flight);
    return false;
}

/* If the request is refused for its owner only, the next waiter becomes an owner and sends its own
 * request, and the others join it. The old owner stays in the flight until then, since another
 * caller may make it leave. */
static void cache_refuse_owner(struct cache_flight *flight, const struct error *err)
{
    const struct error copy = *err;
    struct cache_wait *wait;
    struct error no_memory;
    error_no_memory(&no_memory);
    cache_detach_flight(flight);
    flight->landed = true;
    while ((wait = flight->owner ? LIST_NEXT(flight->owner, struct cache_wait, node)
                                 : LIST_FIRST(&flight->waits, struct cache_wait, node))) {
        struct cache *cache = flight->cache;
        struct span key = flight->node.key;
        struct cache_flight *other = (struct cache_flight *)dict_find(&cache->flights, key);
        struct cache_lookup own = wait->own;
        bool taken;
        list_remove(&wait->node);
        if (other) {
            cache_link_wait(other, wait);
        } else if (!cache_launch(wait, &own, key, &taken)) {
            struct cache_wait ended = cache_end_wait(wait);
            ended.done(ended.arg, NULL, 0, &no_memory);
        }
    }
    if (flight->owner) {
        struct cache_wait ended = cache_take_first_wait(flight);
        ended.done(ended.arg, NULL, 0, &copy);
    }
    cache_free_flight(flight);
}

void cache_fail(struct cache_flight *flight, const struct error *err)
{
    if (error_is_of_caller(err)) {
        cache_refuse_owner(flight, err);
        return;
    }
    const struct error copy = *err;
    struct cache *cache = flight->cache;
    bool may_be_stale = error_is_outage(err) && !flight->dropped;
    struct cache_entry *known = may_be_stale ? cache_find_entry(cache, flight->node.key) : NULL;
    const struct cache_value value = known ? known->value : (struct cache_value){0};
    int64_t read_ms = known ? known->read_ms : 0;
    cache_value_ref(&value);
    if (known)
        cache_touch(cache, known);
    cache_detach_flight(flight);
    flight->landed = true;
    while (!list_is_empty(&flight->waits)) {
        struct cache_wait wait = cache_take_first_wait(flight);
        int64_t until_ms = cache_sum_ms(cache_sum_ms(read_ms, wait.max_age_ms), wait.stale_ms);
        int64_t left_ms = until_ms - cache_now_ms(cache);
        if (!value.data || wait.stale_ms <= 0 || left_ms <= 0)
            wait.done(wait.arg, NULL, 0, &copy);
        else
            wait.done(wait.arg, value.data,
                      left_ms < wait.max_missing_age_ms ? left_ms : wait.max_missing_age_ms, &copy);
    }
    cache_free_flight(flight);
    cache_value_unref(&value);
}

/* The beginning of a wait. */

static void cache_report_stored(void *arg)
{
    struct cache_wait wait = *(struct cache_wait *)arg;
    int64_t left_ms = wait.expires_ms - cache_now_ms(wait.cache);
    free(arg);
    wait.done(wait.arg, wait.value.data, left_ms > 0 ? left_ms : 0, NULL);
    cache_value_unref(&wait.value);
}

/* False when memory ran out, or the response is too old for the caller: then FRESH is not set. */
static bool cache_wait_for_stored(struct cache_wait *wait, struct cache_entry *entry, bool *fresh)
{
    struct cache *cache = wait->cache;
    int64_t expires_ms = cache_sum_ms(entry->read_ms, entry->value.data ? wait->max_age_ms
                                                                        : wait->max_missing_age_ms);
    *fresh = cache_now_ms(cache) < expires_ms;
    if (*fresh)
        wait->timer = loop_add_timer(cache->loop, 0, cache_report_stored, wait);
    if (!wait->timer)
        return false;
    wait->value = entry->value;
    wait->expires_ms = expires_ms;
    cache_value_ref(&wait->value);
    cache_touch(cache, entry);
    cache->stats.hits++;
    return true;
}

struct cache_wait *cache_read(struct cache *cache, const struct cache_lookup *request,
                              cache_done_fn *done, void *arg)
{
    struct cache_entry *entry = cache_find_entry(cache, request->key);
    struct cache_wait *wait = calloc(1, sizeof *wait);
    bool ok = false, fresh = false, taken = false;
    if (wait) {
        *wait = (struct cache_wait){.done = done,
                                    .arg = arg,
                                    .cache = cache,
                                    .max_age_ms = request->max_age_ms,
                                    .max_missing_age_ms = request->max_missing_age_ms,
                                    .stale_ms = request->stale_ms};
        ok = entry && cache_wait_for_stored(wait, entry, &fresh);
    }
    if (wait && !fresh) {
        struct cache_flight *flight =
            (struct cache_flight *)dict_find(&cache->flights, request->key);
        if (flight) {
            wait->own = *request;
            cache_link_wait(flight, wait);
            cache->stats.joined++;
            ok = taken = true;
        } else {
            ok = cache_launch(wait, request, request->key, &taken);
        }
    }
    if (!taken)
        cache_release_lookup(request);
    if (ok)
        return wait;
    free(wait);
    return NULL;
}

void cache_leave(struct cache_wait *wait)
{
    struct cache_flight *flight = wait->flight;
    loop_remove_timer(wait->timer);
    cache_value_unref(&wait->value);
    list_remove(&wait->node);
    if (flight && flight->owner == wait)
        flight->owner = NULL;
    cache_end_wait(wait);
    if (!flight || !list_is_empty(&flight->waits) || flight->landed)
        return;
    cache_detach_flight(flight);
    if (!flight->refusal)
        flight->request.abandon(flight->request.fetch_arg);
    cache_free_flight(flight);
}

void cache_drop(struct cache *cache)
{
    cache_remove_entries(cache);
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(&cache->flights, &from));)
        cache_detach_flight((struct cache_flight *)node);
}
