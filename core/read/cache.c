/* Kept answers in order of use, and flights with those who wait for them. */
#include "core/read/cache.h"

#include <stdlib.h>

#include "core/base/dict.h"

/* A kept answer. */
struct cache_entry {
    struct dict_node node; /* first, so that a node is an entry */
    struct cache_entry *newer, *older;
    struct cache_value value; /* holds a reference */
    int64_t read_ms;          /* when the answer came */
    size_t cost;
    char key[];
};

struct cache_flight {
    struct dict_node node; /* first, so that a node is a flight; in the dict unless dropped */
    struct cache *cache;
    struct cache_wait *first, *last; /* in the order they came */
    struct cache_question question;  /* its key is not used */
    struct cache_wait *asker;        /* whose question it is; NULL when he has gone away */
    struct loop_timer *refusal;      /* set when the fetch did not begin */
    struct error refused;
    bool dropped; /* the answer must not be kept, nor joined */
    bool landed;  /* being answered: must not be abandoned */
    char key[];
};

struct cache_wait {
    cache_done_fn *done;
    void *arg;
    struct cache_flight *flight; /* NULL for an answer that was known */
    struct cache_question joins; /* of one who joined another's: his own, should the other's not be
                                  * answered because of who asked it; without FETCH there is none */
    int64_t max_age_ms, max_missing_age_ms, stale_ms;
    struct cache_wait *previous, *next;
    struct cache *cache;
    struct loop_timer *timer; /* of an answer that was known */
    struct cache_value value; /* of an answer that was known: holds a reference */
    int64_t expires_ms;       /* of an answer that was known: when it is too old for who asked */
};

struct cache {
    struct loop *loop; /* borrowed */
    size_t limit;
    struct dict entries; /* owns them */
    struct dict flights; /* a flight owns itself */
    struct cache_entry *newest, *oldest;
    struct cache_stats stats; /* bytes and entries are worked out when asked for */
    size_t cost;              /* of all entries */
    size_t charged;           /* by others, for what is not kept yet */
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

/* When an answer that was read at READ_MS is too old for who asked. An age may be "any"; the sum
 * must not overflow. */
static int64_t cache_expiry_ms(int64_t read_ms, const void *data, int64_t max_age_ms,
                               int64_t max_missing_age_ms)
{
    int64_t most_ms = data ? max_age_ms : max_missing_age_ms;
    return most_ms > INT64_MAX - read_ms ? INT64_MAX : read_ms + most_ms;
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

static void cache_unlink_entry(struct cache *cache, struct cache_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
    entry->newer = NULL;
    entry->older = NULL;
}

static void cache_link_newest(struct cache *cache, struct cache_entry *entry)
{
    entry->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

/* It has just been of use. */
static void cache_touch(struct cache *cache, struct cache_entry *entry)
{
    cache_unlink_entry(cache, entry);
    cache_link_newest(cache, entry);
}

static void cache_remove_entry(struct cache *cache, struct cache_entry *entry)
{
    dict_remove(&cache->entries, &entry->node);
    cache_unlink_entry(cache, entry);
    cache->cost -= entry->cost;
    cache_value_unref(&entry->value);
    free(entry);
}

void cache_destroy(struct cache *cache)
{
    if (!cache)
        return;
    while (cache->oldest)
        cache_remove_entry(cache, cache->oldest);
    dict_clean_up(&cache->entries);
    dict_clean_up(&cache->flights);
    free(cache);
}

static size_t cache_bytes_used(const struct cache *cache)
{
    return sizeof *cache + dict_memory(&cache->entries) + dict_memory(&cache->flights) +
           cache->cost + cache->charged;
}

/* Lets the least recently used go until COST more bytes fit. What would not fit into an empty
 * cache either drives nothing out. */
static bool cache_make_room(struct cache *cache, size_t cost)
{
    size_t fixed = cache_bytes_used(cache) - cache->cost;
    if (fixed > cache->limit || cost > cache->limit - fixed)
        return false;
    while (cache->cost > cache->limit - fixed - cost) {
        cache_remove_entry(cache, cache->oldest);
        cache->stats.evicted++;
    }
    return true;
}

/* The tables grow after room was made for an entry: what they took is given back. */
static void cache_trim(struct cache *cache)
{
    while (cache->oldest && cache_bytes_used(cache) > cache->limit) {
        cache_remove_entry(cache, cache->oldest);
        cache->stats.evicted++;
    }
}

static struct cache_entry *cache_find_entry(const struct cache *cache, struct span key)
{
    return (struct cache_entry *)dict_find(&cache->entries, key);
}

static struct cache_flight *cache_find_flight(struct cache *cache, struct span key)
{
    return (struct cache_flight *)dict_find(&cache->flights, key);
}

/* Takes the place of what was known. Without memory for it, nothing is kept. */
static void cache_keep(struct cache *cache, struct span key, const struct cache_value *value)
{
    size_t cost = sizeof(struct cache_entry) + key.size + value->memory;
    struct cache_entry *known = cache_find_entry(cache, key);
    if (known)
        cache_remove_entry(cache, known);
    if (cost < value->memory || !cache_make_room(cache, cost))
        return;
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
    cache_link_newest(cache, entry);
    cache->cost += cost;
    cache_trim(cache);
}

static void cache_release_question(const struct cache_question *question)
{
    if (question->release)
        question->release(question->fetch_arg);
}

static void cache_link_wait(struct cache_flight *flight, struct cache_wait *wait)
{
    wait->flight = flight;
    wait->previous = flight->last;
    wait->next = NULL;
    *(flight->last ? &flight->last->next : &flight->first) = wait;
    flight->last = wait;
}

static void cache_unlink_wait(struct cache_flight *flight, struct cache_wait *wait)
{
    *(wait->previous ? &wait->previous->next : &flight->first) = wait->next;
    *(wait->next ? &wait->next->previous : &flight->last) = wait->previous;
}

/* From now on nobody joins, and what lands is not kept. */
static void cache_detach_flight(struct cache_flight *flight)
{
    if (!flight->dropped)
        dict_remove(&flight->cache->flights, &flight->node);
    flight->dropped = true;
}

static void cache_free_flight(struct cache_flight *flight)
{
    loop_remove_timer(flight->refusal);
    cache_release_question(&flight->question);
    free(flight);
}

/* WAIT, which is in no flight any more, is over; what is to be told it stands in the copy. */
static struct cache_wait cache_end_wait(struct cache_wait *wait)
{
    struct cache_wait copy = *wait;
    cache_release_question(&wait->joins);
    free(wait);
    return copy;
}

static struct cache_wait cache_take_first_wait(struct cache_flight *flight)
{
    struct cache_wait *first = flight->first;
    cache_unlink_wait(flight, first);
    return cache_end_wait(first);
}

/* Answers those who wait, one by one: each may make others leave. What has just been read is as old
 * as nobody minds, unless it was dropped meanwhile. */
static void cache_answer_flight(struct cache_flight *flight, void *data, bool dropped)
{
    flight->landed = true;
    while (flight->first) {
        struct cache_wait wait = cache_take_first_wait(flight);
        int64_t left_ms = data ? wait.max_age_ms : wait.max_missing_age_ms;
        wait.done(wait.arg, data, dropped ? 0 : left_ms, NULL);
    }
    cache_free_flight(flight);
}

/* What was read at READ_MS is told if it is not too old even for an outage. */
static void cache_excuse(const struct cache_wait *wait, void *data, int64_t read_ms,
                         const struct error *err)
{
    int64_t until_ms = cache_expiry_ms(read_ms, data, wait->max_age_ms, wait->max_missing_age_ms);
    until_ms = wait->stale_ms > INT64_MAX - until_ms ? INT64_MAX : until_ms + wait->stale_ms;
    int64_t left_ms = until_ms - cache_now_ms(wait->cache);
    if (!data || wait->stale_ms <= 0 || left_ms <= 0)
        wait->done(wait->arg, NULL, 0, err);
    else
        wait->done(wait->arg, data,
                   left_ms < wait->max_missing_age_ms ? left_ms : wait->max_missing_age_ms, err);
}

void cache_land(struct cache_flight *flight, const struct cache_value *value)
{
    const struct cache_value landed = *value;
    bool dropped = flight->dropped;
    cache_value_ref(&landed);
    if (!dropped)
        cache_keep(flight->cache, flight->node.key, &landed);
    cache_detach_flight(flight);
    cache_answer_flight(flight, landed.data, dropped);
    cache_value_unref(&landed);
}

static struct cache_flight *cache_new_flight(struct cache *cache,
                                             const struct cache_question *question);
static bool cache_launch(struct cache_flight *flight);

/* WAIT, which is in no flight any more, asks for KEY by its own question. False without memory. */
static bool cache_fly_again(struct cache_wait *wait, struct span key)
{
    struct cache_question question = wait->joins;
    question.key = key;
    struct cache_flight *flight = cache_new_flight(wait->cache, &question);
    if (!flight)
        return false;
    wait->joins = (struct cache_question){0};
    cache_link_wait(flight, wait);
    flight->asker = wait;
    wait->cache->stats.misses++;
    if (cache_launch(flight))
        return true;
    cache_unlink_wait(flight, wait);
    cache_detach_flight(flight);
    cache_free_flight(flight);
    return false;
}

/* All who joined a question that was refused to who asked it (the flight's first, unless he has
 * gone away): the first of them asks it himself, and the others join him. */
static void cache_request_again(struct cache_flight *flight)
{
    struct error no_memory;
    error_no_memory(&no_memory);
    struct cache_wait *wait;
    while ((wait = flight->asker ? flight->asker->next : flight->first)) {
        struct cache_flight *other = cache_find_flight(flight->cache, flight->node.key);
        cache_unlink_wait(flight, wait);
        if (other) {
            cache_link_wait(other, wait);
        } else if (!cache_fly_again(wait, flight->node.key)) {
            struct cache_wait told = cache_end_wait(wait);
            told.done(told.arg, NULL, 0, &no_memory);
        }
    }
}

/* Who asked stays in the flight until the others are elsewhere: one of them may make him leave. */
static void cache_refuse_requester(struct cache_flight *flight, const struct error *err)
{
    const struct error copy = *err;
    cache_detach_flight(flight);
    flight->landed = true;
    cache_request_again(flight);
    if (flight->asker) {
        struct cache_wait told = cache_take_first_wait(flight);
        told.done(told.arg, NULL, 0, &copy);
    }
    cache_free_flight(flight);
}

void cache_fail(struct cache_flight *flight, const struct error *err)
{
    if (error_is_of_caller(err)) {
        cache_refuse_requester(flight, err);
        return;
    }
    const struct error copy = *err;
    bool may_excuse = error_is_outage(err) && !flight->dropped;
    struct cache_entry *known =
        may_excuse ? cache_find_entry(flight->cache, flight->node.key) : NULL;
    const struct cache_value value = known ? known->value : (struct cache_value){0};
    int64_t read_ms = known ? known->read_ms : 0;
    cache_value_ref(&value);
    if (known)
        cache_touch(flight->cache, known);
    cache_detach_flight(flight);
    flight->landed = true;
    while (flight->first) {
        struct cache_wait wait = cache_take_first_wait(flight);
        cache_excuse(&wait, value.data, read_ms, &copy);
    }
    cache_free_flight(flight);
    cache_value_unref(&value);
}

static void cache_refuse_flight(void *arg)
{
    struct cache_flight *flight = arg;
    flight->refusal = NULL;
    cache_fail(flight, &flight->refused);
}

static void cache_answer_known(void *arg)
{
    struct cache_wait wait = *(struct cache_wait *)arg;
    int64_t left_ms = wait.expires_ms - cache_now_ms(wait.cache);
    free(arg);
    wait.done(wait.arg, wait.value.data, left_ms > 0 ? left_ms : 0, NULL);
    cache_value_unref(&wait.value);
}

static struct cache_wait *cache_new_wait(struct cache *cache, const struct cache_question *question,
                                         cache_done_fn *done, void *arg)
{
    struct cache_wait *wait = calloc(1, sizeof *wait);
    if (wait)
        *wait = (struct cache_wait){.done = done,
                                    .arg = arg,
                                    .cache = cache,
                                    .max_age_ms = question->max_age_ms,
                                    .max_missing_age_ms = question->max_missing_age_ms,
                                    .stale_ms = question->stale_ms};
    return wait;
}

/* WAIT gets what ENTRY knows, in the next round. */
static bool cache_wait_for_known(struct cache_wait *wait, struct cache_entry *entry)
{
    struct cache *cache = wait->cache;
    wait->timer = loop_add_timer(cache->loop, 0, cache_answer_known, wait);
    if (!wait->timer)
        return false;
    wait->value = entry->value;
    wait->expires_ms = cache_expiry_ms(entry->read_ms, entry->value.data, wait->max_age_ms,
                                       wait->max_missing_age_ms);
    cache_value_ref(&wait->value);
    cache_touch(cache, entry);
    cache->stats.hits++;
    return true;
}

static struct cache_flight *cache_new_flight(struct cache *cache,
                                             const struct cache_question *question)
{
    struct span key = question->key;
    struct cache_flight *flight = calloc(1, sizeof *flight + key.size);
    if (!flight)
        return NULL;
    if (key.size)
        memcpy(flight->key, key.data, key.size);
    flight->node.key = span_of(flight->key, key.size);
    flight->cache = cache;
    flight->question = *question;
    dict_add(&cache->flights, &flight->node);
    cache_trim(cache);
    return flight;
}

/* The fetch begins; one that refuses leaves its error to the next round. */
static bool cache_launch(struct cache_flight *flight)
{
    struct cache *cache = flight->cache;
    if (flight->question.fetch(flight->question.fetch_arg, flight, &flight->refused))
        return true;
    flight->refusal = loop_add_timer(cache->loop, 0, cache_refuse_flight, flight);
    return flight->refusal != NULL;
}

/* The question is the flight's from here on, whatever comes. */
static bool cache_wait_for_new_flight(struct cache_wait *wait,
                                      const struct cache_question *question)
{
    struct cache_flight *flight = cache_new_flight(wait->cache, question);
    if (!flight) {
        cache_release_question(question);
        return false;
    }
    cache_link_wait(flight, wait);
    flight->asker = wait;
    wait->cache->stats.misses++;
    if (cache_launch(flight))
        return true;
    cache_detach_flight(flight);
    cache_free_flight(flight);
    return false;
}

/* What is known, if it is young enough for who asks; for others it may be all the same. */
static struct cache_entry *cache_fresh_entry(struct cache *cache,
                                             const struct cache_question *question)
{
    struct cache_entry *entry = cache_find_entry(cache, question->key);
    bool fresh = entry && cache_now_ms(cache) < cache_expiry_ms(entry->read_ms, entry->value.data,
                                                                question->max_age_ms,
                                                                question->max_missing_age_ms);
    return fresh ? entry : NULL;
}

/* What is known already, or on its way, needs no fetch. */
static bool cache_wait_without_fetch(struct cache_wait *wait, const struct cache_question *question,
                                     struct cache_entry *entry, struct cache_flight *flight)
{
    if (entry) {
        bool ok = cache_wait_for_known(wait, entry);
        cache_release_question(question);
        return ok;
    }
    wait->joins = *question;
    cache_link_wait(flight, wait);
    wait->cache->stats.joined++;
    return true;
}

static bool cache_await(struct cache_wait *wait, const struct cache_question *question)
{
    struct cache_entry *entry = cache_fresh_entry(wait->cache, question);
    struct cache_flight *flight = entry ? NULL : cache_find_flight(wait->cache, question->key);
    if (entry || flight)
        return cache_wait_without_fetch(wait, question, entry, flight);
    return cache_wait_for_new_flight(wait, question);
}

struct cache_wait *cache_request(struct cache *cache, const struct cache_question *question,
                                 cache_done_fn *done, void *arg)
{
    struct cache_wait *wait = cache_new_wait(cache, question, done, arg);
    if (!wait) {
        cache_release_question(question);
        return NULL;
    }
    if (!cache_await(wait, question)) {
        free(wait);
        return NULL;
    }
    return wait;
}

static void cache_abandon(struct cache_flight *flight)
{
    cache_detach_flight(flight);
    if (!flight->refusal)
        flight->question.abandon(flight->question.fetch_arg);
    cache_free_flight(flight);
}

void cache_leave(struct cache_wait *wait)
{
    struct cache_flight *flight = wait->flight;
    loop_remove_timer(wait->timer);
    cache_value_unref(&wait->value);
    if (flight)
        cache_unlink_wait(flight, wait);
    if (flight && flight->asker == wait)
        flight->asker = NULL;
    cache_end_wait(wait);
    if (flight && !flight->first && !flight->landed)
        cache_abandon(flight);
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

void cache_store(struct cache *cache, struct span key, const struct cache_value *value)
{
    cache_keep(cache, key, value);
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

void cache_drop(struct cache *cache)
{
    while (cache->oldest)
        cache_remove_entry(cache, cache->oldest);
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(&cache->flights, &from));)
        cache_detach_flight((struct cache_flight *)node);
}

struct cache_stats cache_stats(const struct cache *cache)
{
    struct cache_stats stats = cache->stats;
    stats.bytes = cache_bytes_used(cache);
    stats.entries = cache->entries.count;
    return stats;
}
