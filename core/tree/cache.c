/* Kept answers in order of use, and flights with those who wait for them. */
#include "core/tree/cache.h"

#include <stdlib.h>

#include "core/base/dict.h"

/* A kept answer. */
struct entry {
    struct dict_node node; /* first, so that a node is an entry */
    struct entry *newer, *older;
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
    struct entry *newest, *oldest;
    struct cache_stats stats; /* bytes and entries are worked out when asked for */
    size_t cost;              /* of all entries */
    size_t charged;           /* by others, for what is not kept yet */
    size_t making;            /* of these, by cache_charge_making */
};

static void value_ref(const struct cache_value *value)
{
    if (value->data)
        value->ref(value->data);
}

static void value_unref(const struct cache_value *value)
{
    if (value->data)
        value->unref(value->data);
}

static int64_t now_ms(const struct cache *cache)
{
    return loop_now_ms(cache->loop);
}

/* When an answer that was read at READ_MS is too old for who asked. An age may be "any"; the sum
 * must not overflow. */
static int64_t expiry_ms(int64_t read_ms, const void *data, int64_t max_age_ms,
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

static void unlink_entry(struct cache *cache, struct entry *entry)
{
    *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
    entry->newer = NULL;
    entry->older = NULL;
}

static void link_newest(struct cache *cache, struct entry *entry)
{
    entry->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

/* It has just been of use. */
static void touch(struct cache *cache, struct entry *entry)
{
    unlink_entry(cache, entry);
    link_newest(cache, entry);
}

static void remove_entry(struct cache *cache, struct entry *entry)
{
    dict_remove(&cache->entries, &entry->node);
    unlink_entry(cache, entry);
    cache->cost -= entry->cost;
    value_unref(&entry->value);
    free(entry);
}

void cache_destroy(struct cache *cache)
{
    if (!cache)
        return;
    while (cache->oldest)
        remove_entry(cache, cache->oldest);
    dict_clean_up(&cache->entries);
    dict_clean_up(&cache->flights);
    free(cache);
}

static size_t bytes_used(const struct cache *cache)
{
    return sizeof *cache + dict_memory(&cache->entries) + dict_memory(&cache->flights) +
           cache->cost + cache->charged;
}

/* Lets the least recently used go until COST more bytes fit. What would not fit into an empty
 * cache either drives nothing out. */
static bool make_room(struct cache *cache, size_t cost)
{
    size_t fixed = bytes_used(cache) - cache->cost;
    if (fixed > cache->limit || cost > cache->limit - fixed)
        return false;
    while (cache->cost > cache->limit - fixed - cost) {
        remove_entry(cache, cache->oldest);
        cache->stats.evicted++;
    }
    return true;
}

/* The tables grow after room was made for an entry: what they took is given back. */
static void trim(struct cache *cache)
{
    while (cache->oldest && bytes_used(cache) > cache->limit) {
        remove_entry(cache, cache->oldest);
        cache->stats.evicted++;
    }
}

static struct entry *find_entry(const struct cache *cache, struct span key)
{
    return (struct entry *)dict_find(&cache->entries, key);
}

static struct cache_flight *find_flight(struct cache *cache, struct span key)
{
    return (struct cache_flight *)dict_find(&cache->flights, key);
}

/* Takes the place of what was known. Without memory for it, nothing is kept. */
static void keep(struct cache *cache, struct span key, const struct cache_value *value)
{
    size_t cost = sizeof(struct entry) + key.size + value->memory;
    struct entry *known = find_entry(cache, key);
    if (known)
        remove_entry(cache, known);
    if (cost < value->memory || !make_room(cache, cost))
        return;
    struct entry *entry = calloc(1, sizeof *entry + key.size);
    if (!entry)
        return;
    if (key.size)
        memcpy(entry->key, key.data, key.size);
    entry->node.key = span_of(entry->key, key.size);
    entry->value = *value;
    entry->read_ms = now_ms(cache);
    entry->cost = cost;
    value_ref(value);
    dict_add(&cache->entries, &entry->node);
    link_newest(cache, entry);
    cache->cost += cost;
    trim(cache);
}

static void release_question(const struct cache_question *question)
{
    if (question->release)
        question->release(question->fetch_arg);
}

static void link_wait(struct cache_flight *flight, struct cache_wait *wait)
{
    wait->flight = flight;
    wait->previous = flight->last;
    wait->next = NULL;
    *(flight->last ? &flight->last->next : &flight->first) = wait;
    flight->last = wait;
}

static void unlink_wait(struct cache_flight *flight, struct cache_wait *wait)
{
    *(wait->previous ? &wait->previous->next : &flight->first) = wait->next;
    *(wait->next ? &wait->next->previous : &flight->last) = wait->previous;
}

/* From now on nobody joins, and what lands is not kept. */
static void detach_flight(struct cache_flight *flight)
{
    if (!flight->dropped)
        dict_remove(&flight->cache->flights, &flight->node);
    flight->dropped = true;
}

static void free_flight(struct cache_flight *flight)
{
    loop_remove_timer(flight->refusal);
    release_question(&flight->question);
    free(flight);
}

/* WAIT, which is in no flight any more, is over; what is to be told it stands in the copy. */
static struct cache_wait end_wait(struct cache_wait *wait)
{
    struct cache_wait copy = *wait;
    release_question(&wait->joins);
    free(wait);
    return copy;
}

static struct cache_wait take_first_wait(struct cache_flight *flight)
{
    struct cache_wait *first = flight->first;
    unlink_wait(flight, first);
    return end_wait(first);
}

/* Answers those who wait, one by one: each may make others leave. What has just been read is as old
 * as nobody minds, unless it was dropped meanwhile. */
static void answer_flight(struct cache_flight *flight, void *data, bool dropped)
{
    flight->landed = true;
    while (flight->first) {
        struct cache_wait wait = take_first_wait(flight);
        int64_t left_ms = data ? wait.max_age_ms : wait.max_missing_age_ms;
        wait.done(wait.arg, data, dropped ? 0 : left_ms, NULL);
    }
    free_flight(flight);
}

/* What was read at READ_MS is told if it is not too old even for an outage. */
static void excuse(const struct cache_wait *wait, void *data, int64_t read_ms,
                   const struct error *err)
{
    int64_t until_ms = expiry_ms(read_ms, data, wait->max_age_ms, wait->max_missing_age_ms);
    until_ms = wait->stale_ms > INT64_MAX - until_ms ? INT64_MAX : until_ms + wait->stale_ms;
    int64_t left_ms = until_ms - now_ms(wait->cache);
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
    value_ref(&landed);
    if (!dropped)
        keep(flight->cache, flight->node.key, &landed);
    detach_flight(flight);
    answer_flight(flight, landed.data, dropped);
    value_unref(&landed);
}

static struct cache_flight *new_flight(struct cache *cache, const struct cache_question *question);
static bool launch(struct cache_flight *flight);

/* WAIT, which is in no flight any more, asks for KEY by its own question. False without memory. */
static bool fly_again(struct cache_wait *wait, struct span key)
{
    struct cache_question question = wait->joins;
    question.key = key;
    struct cache_flight *flight = new_flight(wait->cache, &question);
    if (!flight)
        return false;
    wait->joins = (struct cache_question){0};
    link_wait(flight, wait);
    flight->asker = wait;
    wait->cache->stats.misses++;
    if (launch(flight))
        return true;
    unlink_wait(flight, wait);
    detach_flight(flight);
    free_flight(flight);
    return false;
}

/* All who joined a question that was refused to who asked it (the flight's first, unless he has
 * gone away): the first of them asks it himself, and the others join him. */
static void ask_again(struct cache_flight *flight)
{
    struct error no_memory;
    error_no_memory(&no_memory);
    struct cache_wait *wait;
    while ((wait = flight->asker ? flight->asker->next : flight->first)) {
        struct cache_flight *other = find_flight(flight->cache, flight->node.key);
        unlink_wait(flight, wait);
        if (other) {
            link_wait(other, wait);
        } else if (!fly_again(wait, flight->node.key)) {
            struct cache_wait told = end_wait(wait);
            told.done(told.arg, NULL, 0, &no_memory);
        }
    }
}

/* Who asked stays in the flight until the others are elsewhere: one of them may make him leave. */
static void refuse_asker(struct cache_flight *flight, const struct error *err)
{
    const struct error copy = *err;
    detach_flight(flight);
    flight->landed = true;
    ask_again(flight);
    if (flight->asker) {
        struct cache_wait told = take_first_wait(flight);
        told.done(told.arg, NULL, 0, &copy);
    }
    free_flight(flight);
}

void cache_fail(struct cache_flight *flight, const struct error *err)
{
    if (error_is_of_asker(err)) {
        refuse_asker(flight, err);
        return;
    }
    const struct error copy = *err;
    bool may_excuse = error_is_outage(err) && !flight->dropped;
    struct entry *known = may_excuse ? find_entry(flight->cache, flight->node.key) : NULL;
    const struct cache_value value = known ? known->value : (struct cache_value){0};
    int64_t read_ms = known ? known->read_ms : 0;
    value_ref(&value);
    if (known)
        touch(flight->cache, known);
    detach_flight(flight);
    flight->landed = true;
    while (flight->first) {
        struct cache_wait wait = take_first_wait(flight);
        excuse(&wait, value.data, read_ms, &copy);
    }
    free_flight(flight);
    value_unref(&value);
}

static void refuse_flight(void *arg)
{
    struct cache_flight *flight = arg;
    flight->refusal = NULL;
    cache_fail(flight, &flight->refused);
}

static void answer_known(void *arg)
{
    struct cache_wait wait = *(struct cache_wait *)arg;
    int64_t left_ms = wait.expires_ms - now_ms(wait.cache);
    free(arg);
    wait.done(wait.arg, wait.value.data, left_ms > 0 ? left_ms : 0, NULL);
    value_unref(&wait.value);
}

static struct cache_wait *new_wait(struct cache *cache, const struct cache_question *question,
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
static bool wait_for_known(struct cache_wait *wait, struct entry *entry)
{
    struct cache *cache = wait->cache;
    wait->timer = loop_add_timer(cache->loop, 0, answer_known, wait);
    if (!wait->timer)
        return false;
    wait->value = entry->value;
    wait->expires_ms =
        expiry_ms(entry->read_ms, entry->value.data, wait->max_age_ms, wait->max_missing_age_ms);
    value_ref(&wait->value);
    touch(cache, entry);
    cache->stats.hits++;
    return true;
}

static struct cache_flight *new_flight(struct cache *cache, const struct cache_question *question)
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
    trim(cache);
    return flight;
}

/* The fetch begins; one that refuses leaves its error to the next round. */
static bool launch(struct cache_flight *flight)
{
    struct cache *cache = flight->cache;
    if (flight->question.fetch(flight->question.fetch_arg, flight, &flight->refused))
        return true;
    flight->refusal = loop_add_timer(cache->loop, 0, refuse_flight, flight);
    return flight->refusal != NULL;
}

/* The question is the flight's from here on, whatever comes. */
static bool wait_for_new_flight(struct cache_wait *wait, const struct cache_question *question)
{
    struct cache_flight *flight = new_flight(wait->cache, question);
    if (!flight) {
        release_question(question);
        return false;
    }
    link_wait(flight, wait);
    flight->asker = wait;
    wait->cache->stats.misses++;
    if (launch(flight))
        return true;
    detach_flight(flight);
    free_flight(flight);
    return false;
}

/* What is known, if it is young enough for who asks; for others it may be all the same. */
static struct entry *fresh_entry(struct cache *cache, const struct cache_question *question)
{
    struct entry *entry = find_entry(cache, question->key);
    bool fresh =
        entry && now_ms(cache) < expiry_ms(entry->read_ms, entry->value.data, question->max_age_ms,
                                           question->max_missing_age_ms);
    return fresh ? entry : NULL;
}

/* What is known already, or on its way, needs no fetch. */
static bool wait_without_fetch(struct cache_wait *wait, const struct cache_question *question,
                               struct entry *entry, struct cache_flight *flight)
{
    if (entry) {
        bool ok = wait_for_known(wait, entry);
        release_question(question);
        return ok;
    }
    wait->joins = *question;
    link_wait(flight, wait);
    wait->cache->stats.joined++;
    return true;
}

static bool await(struct cache_wait *wait, const struct cache_question *question)
{
    struct entry *entry = fresh_entry(wait->cache, question);
    struct cache_flight *flight = entry ? NULL : find_flight(wait->cache, question->key);
    if (entry || flight)
        return wait_without_fetch(wait, question, entry, flight);
    return wait_for_new_flight(wait, question);
}

struct cache_wait *cache_ask(struct cache *cache, const struct cache_question *question,
                             cache_done_fn *done, void *arg)
{
    struct cache_wait *wait = new_wait(cache, question, done, arg);
    if (!wait) {
        release_question(question);
        return NULL;
    }
    if (!await(wait, question)) {
        free(wait);
        return NULL;
    }
    return wait;
}

static void abandon(struct cache_flight *flight)
{
    detach_flight(flight);
    if (!flight->refusal)
        flight->question.abandon(flight->question.fetch_arg);
    free_flight(flight);
}

void cache_leave(struct cache_wait *wait)
{
    struct cache_flight *flight = wait->flight;
    loop_remove_timer(wait->timer);
    value_unref(&wait->value);
    if (flight)
        unlink_wait(flight, wait);
    if (flight && flight->asker == wait)
        flight->asker = NULL;
    end_wait(wait);
    if (flight && !flight->first && !flight->landed)
        abandon(flight);
}

void *cache_find(struct cache *cache, struct span key)
{
    struct entry *entry = find_entry(cache, key);
    if (!entry)
        return NULL;
    touch(cache, entry);
    return entry->value.data;
}

bool cache_has(const struct cache *cache, struct span key, const void *data)
{
    const struct entry *entry = find_entry(cache, key);
    return entry && entry->value.data == data;
}

void cache_keep(struct cache *cache, struct span key, const struct cache_value *value)
{
    keep(cache, key, value);
}

void cache_forget(struct cache *cache, struct span key)
{
    struct entry *entry = find_entry(cache, key);
    if (entry)
        remove_entry(cache, entry);
}

void cache_charge(struct cache *cache, size_t more, size_t less)
{
    cache->charged += more;
    cache->charged -= less;
    trim(cache);
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
        remove_entry(cache, cache->oldest);
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(&cache->flights, &from));)
        detach_flight((struct cache_flight *)node);
}

struct cache_stats cache_stats(const struct cache *cache)
{
    struct cache_stats stats = cache->stats;
    stats.bytes = bytes_used(cache);
    stats.entries = cache->entries.count;
    return stats;
}
