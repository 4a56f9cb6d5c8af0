/* A walk: one listing's way through the pages of its query. The pages come from the source; or, if
 * an earlier walk has lately read all of them, its transcript is replayed. */
#ifndef DDBFS_CORE_READ_WALK_H
#define DDBFS_CORE_READ_WALK_H

#include "core/plan/plan.h"
#include "core/read/cache.h"
#include "core/source/source.h"

struct walks;           /* all walks that share what they read */
struct walk_transcript; /* the pages of a query, and the items that were read again for them */

/* Complete transcripts are stored in CACHE (borrowed). MOST limits the bytes of one transcript, and
 * of all that are being recorded. NULL when memory ran out. */
struct walks *walks_new(struct cache *cache, struct loop *loop, size_t most);
/* All walks must have ended. NULL is fine. */
void walks_destroy(struct walks *walks);
/* Ends all recordings. Transcripts in the cache are the cache's business. NULL is fine. */
void walks_drop(struct walks *walks);

/* All of it is borrowed, and must stay until the end. */
struct walk_from {
    struct walks *walks; /* NULL: nothing is shared */
    const struct plan *plan;
    struct source *source;
    struct payer *payer; /* may be NULL */
    struct loop *loop;
    size_t part_items; /* of a page, that are delivered at once; 0: all */
    bool full;         /* items are read again, where the plan does so */
    bool steady;       /* its reader never pauses, so that other walks may wait for it */
};

struct walk;

/* Whether all of it would be replayed from memory. */
bool walk_is_known(const struct walk_from *from);
/* Whether it would wait for a walk under way. If that one fails, it sends its own requests. */
bool walk_is_coming(const struct walk_from *from);

/* FN gets the first page later. NULL with ERR filled. */
struct walk *walk_start(const struct walk_from *from, source_page_fn *fn, void *arg,
                        struct error *err);
/* The reader will want all pages: the source may read ahead. */
void walk_read_all(struct walk *walk);
void walk_more(struct walk *walk); /* once for each page with MORE */
void walk_end(struct walk *walk);  /* finished or not; NULL is fine */

/* The cost of reading items again. */
struct walk_cost {
    unsigned requests;
    struct spent spent;
};

/* Records an item that was read again for the page in hand. */
void walk_record_item(struct walk *walk, const struct key *key, struct json item);
/* To this the caller adds the cost of reading items again. */
struct walk_cost *walk_own_cost(struct walk *walk);
/* The throttled requests so far; to these the caller adds those of reading items again. */
struct throttles **walk_throttled(struct walk *walk);
/* That cost, of this walk or of the one that is replayed; NULL: they were not read. */
const struct walk_cost *walk_known_cost(const struct walk *walk);
/* The listing is complete and free of errors: its transcript may be replayed. */
void walk_conclude(struct walk *walk);

/* Where the items are that are read again; NULL: at the source. */
const struct walk_transcript *walk_items(const struct walk *walk);
/* The text of the item of that key; empty when it no longer existed. */
struct span walk_transcript_find(const struct walk_transcript *transcript, const struct key *key);

/* When the request for the first page was sent. */
struct walk_age {
    bool is_replayed;
    bool is_dropped; /* its data is from before walks_drop, and so its ttl is over */
    int64_t since_ms, since_wall_ms;
    int64_t took_ms; /* until it was complete, or now */
};
struct walk_age walk_age(const struct walk *walk);

#endif
