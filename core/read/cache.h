/* Answers kept with the time at which they were read: who asks says how old one may be. Least
 * recently used out first when the bytes exceed the limit; one flight for identical questions.
 * Errors are never kept. */
#ifndef DDBFS_CORE_READ_CACHE_H
#define DDBFS_CORE_READ_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/base/span.h"

struct cache;
struct cache_flight; /* a question under way, seen by whoever answers it */
struct cache_wait;   /* one asker who waits */

/* What a cache holds: a reference-counted thing of the caller's. */
struct cache_value {
    void *data;                /* NULL stands for a proven miss */
    void (*ref)(void *data);   /* never called with NULL */
    void (*unref)(void *data); /* never called with NULL */
    size_t memory;             /* bytes it costs */
};

/* Starts to answer a question: later it is to call cache_land or cache_fail once, never from
 * within itself. Returning false (ERR filled) fails the flight, in the next round of the loop. */
typedef bool cache_fetch_fn(void *arg, struct cache_flight *flight, struct error *err);
/* The flight's last asker went away: stop the work; neither land nor fail is to be called. Not
 * called for a fetch that returned false. */
typedef void cache_abandon_fn(void *arg);

/* Without ERR it is an answer, or, without DATA too, a proven miss; without DATA a failure. With
 * both, DATA is older than was asked for, and ERR says why none younger is to be had. DATA is
 * borrowed for the time of the call: take a reference to keep it. TTL_LEFT_MS says for how long it
 * may be believed: as long as it is as young as was asked for; what is older, as long as a miss. */
typedef void cache_done_fn(void *arg, void *data, int64_t ttl_left_ms, const struct error *err);

/* LIMIT is in bytes, keys and bookkeeping included. NULL when memory ran out. */
struct cache *cache_new(struct loop *loop, size_t limit);
/* Nobody may wait any more. NULL is fine. */
void cache_destroy(struct cache *cache);

/* How to answer KEY when it is not known. */
struct cache_question {
    struct span key; /* copied */
    /* How old an answer may be, and how old a proven miss; on the monotonic clock. With 0 nothing
     * that is known will do, but a flight that is under way is joined. */
    int64_t max_age_ms, max_missing_age_ms;
    /* By how much older an answer may be when the fetch meets an outage; a proven miss may not. */
    int64_t stale_ms;
    cache_fetch_fn *fetch;
    cache_abandon_fn *abandon;
    /* Given to the cache by cache_request. RELEASE (which may be NULL) gets it back exactly once,
     * when it is not needed any more: from within cache_request if no fetch began (the answer was
     * known, memory ran out), else after land, fail or abandon; of who joined another's flight when
     * he has been told, or has left. */
    void *fetch_arg;
    void (*release)(void *fetch_arg);
};

/* Answers from memory, joins the flight of the same key, or starts one. DONE is called once,
 * later, never from within. NULL when memory ran out; DONE is then never called. */
struct cache_wait *cache_request(struct cache *cache, const struct cache_question *question,
                                 cache_done_fn *done, void *arg);
/* The asker goes away, before DONE was called; it never will be. Others who wait for the same
 * are not disturbed. */
void cache_leave(struct cache_wait *wait);

/* The answer of a flight: those who wait get it from within this call, and may ask, leave and
 * drop meanwhile. The cache takes its own reference, and keeps what fits. The flight is gone
 * afterwards. */
void cache_land(struct cache_flight *flight, const struct cache_value *value);
/* Where the failure is of who asked (error_is_of_caller) he alone is told, and of those who joined
 * him the first asks in his place. */
void cache_fail(struct cache_flight *flight, const struct error *err);

/* For who knows himself how old what he has kept may be, and how to come by it: no flights, and no
 * misses. What KEY has, however old, borrowed until the cache is next asked or changed; NULL for
 * nothing. */
void *cache_find(struct cache *cache, struct span key);
/* Whether KEY has just DATA, which need not be there any more. That is no use of it. */
bool cache_has(const struct cache *cache, struct span key, const void *data);
/* Keeps VALUE for KEY, in place of what it had, if it fits; takes a reference of its own. */
void cache_store(struct cache *cache, struct span key, const struct cache_value *value);
void cache_forget(struct cache *cache, struct span key);
/* Memory beside the cache that is to count against its limit, as of what will be kept later: MORE
 * bytes than before, and LESS of them. What is kept makes room. */
void cache_charge(struct cache *cache, size_t more, size_t less);
/* The same, of what many may be making at once, each to give it away. False, with nothing charged,
 * when there would be more than MOST bytes of it; who makes something while nobody else does may
 * have any number. */
bool cache_charge_making(struct cache *cache, size_t more, size_t less, size_t most);

/* Drops all that is known: the next questions are asked afresh. A flight under way lands for those
 * who wait, but is not kept (their TTL_LEFT_MS is 0), and nobody joins it any more. */
void cache_drop(struct cache *cache);

struct cache_stats {
    size_t bytes, entries; /* of what is kept, expired or not */
    uint64_t hits, misses, joined;
    uint64_t evicted; /* for want of room */
};
struct cache_stats cache_stats(const struct cache *cache);

#endif
