/* Responses, stored with the time at which they were read. Each caller states how old a response
 * may be. The least recently used is dropped when the bytes exceed the limit. Identical requests
 * share one flight. Errors are never stored. */
#ifndef DDBFS_CORE_READ_CACHE_H
#define DDBFS_CORE_READ_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/base/span.h"

struct cache;
struct cache_flight; /* a request under way, as its fetch function sees it */
struct cache_wait;   /* one caller that waits */

/* A reference-counted object of the caller's. */
struct cache_value {
    void *data;                /* NULL is a proven miss */
    void (*ref)(void *data);   /* never called with NULL */
    void (*unref)(void *data); /* never called with NULL */
    size_t memory;             /* bytes that it takes */
};

/* Starts a fetch. Later it calls cache_land or cache_fail once, never from within itself. If it
 * returns false (ERR filled), the flight fails in the next round of the loop. */
typedef bool cache_fetch_fn(void *arg, struct cache_flight *flight, struct error *err);
/* The flight's last caller left: stops the fetch, which then calls neither land nor fail. Not
 * called for a fetch that returned false. */
typedef void cache_abandon_fn(void *arg);

/* Without ERR, DATA is the response, or NULL for a proven miss. With ERR alone the request failed.
 * With both, DATA is older than the caller allowed, and ERR is the reason why no newer one was
 * read. DATA is borrowed for the time of the call: take a reference to keep it. TTL_LEFT_MS is the
 * rest of the allowed age; of data that is older, at most that of a miss. */
typedef void cache_done_fn(void *arg, void *data, int64_t ttl_left_ms, const struct error *err);

/* LIMIT is in bytes, keys and bookkeeping included. NULL when memory ran out. */
struct cache *cache_new(struct loop *loop, size_t limit);
/* No caller may be waiting. NULL is fine. */
void cache_destroy(struct cache *cache);

struct cache_lookup {
    struct span key; /* copied */
    /* How old a response may be, and how old a proven miss; on the monotonic clock. With 0 no
     * stored response is used, but a flight that is under way is joined. */
    int64_t max_age_ms, max_missing_age_ms;
    /* How much older a response may be when the fetch meets an outage. Misses may not be older. */
    int64_t stale_ms;
    cache_fetch_fn *fetch;
    cache_abandon_fn *abandon;
    /* Given to the cache by cache_read. RELEASE (which may be NULL) gets it back exactly once: from
     * within cache_read if no fetch began; else after land, fail or abandon; of a caller that
     * joined another's flight, after its DONE or cache_leave. */
    void *fetch_arg;
    void (*release)(void *fetch_arg);
};

/* Reports a stored response, joins the flight of the same key, or starts one. DONE is called once,
 * later, never from within. NULL when memory ran out; DONE is then never called. */
struct cache_wait *cache_read(struct cache *cache, const struct cache_lookup *request,
                              cache_done_fn *done, void *arg);
/* Before DONE, which then never is called. Other callers of the same key are not disturbed. */
void cache_leave(struct cache_wait *wait);

/* Ends a flight with a response: all waiting callers get it from within this call, and may call
 * cache_read, cache_leave and cache_drop meanwhile. The cache takes its own reference, and stores
 * the value if it fits. The flight is freed. */
void cache_land(struct cache_flight *flight, const struct cache_value *value);
/* Ends a flight with an error. If the error concerns only the caller that started the flight
 * (error_is_of_caller), that caller gets it, and the next waiting caller starts its own request. */
void cache_fail(struct cache_flight *flight, const struct error *err);

/* Direct access, for callers that decide on ages themselves: no flights, and no misses. The
 * value stored for KEY, however old, borrowed until the next call that may change the cache; NULL
 * for nothing. */
void *cache_find(struct cache *cache, struct span key);
/* Whether DATA is stored for KEY; DATA may have been freed. Does not count as a use. */
bool cache_has(const struct cache *cache, struct span key, const void *data);
/* Stores VALUE for KEY instead of the value before, if it fits; takes a reference of its own. */
void cache_store(struct cache *cache, struct span key, const struct cache_value *value);
void cache_forget(struct cache *cache, struct span key);
/* Counts memory outside the cache against its limit: MORE bytes than before, and LESS of them.
 * Stored values make room. */
void cache_charge(struct cache *cache, size_t more, size_t less);
/* The same for files that several callers may be making at once. False, with nothing charged, if
 * together they would have more than MOST bytes. A single one may have any number. */
bool cache_charge_making(struct cache *cache, size_t more, size_t less, size_t most);

/* Drops all stored values. A flight under way still reports to its callers (with TTL_LEFT_MS 0),
 * but is not stored, and no later caller joins it. */
void cache_drop(struct cache *cache);

struct cache_stats {
    size_t bytes, entries; /* stored, expired or not */
    uint64_t hits, misses, joined;
    uint64_t evicted; /* for lack of room */
};
struct cache_stats cache_stats(const struct cache *cache);

#endif
