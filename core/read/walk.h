/* A walk: one listing's way through the pages of its query. They are asked of the source; or, where
 * somebody has lately been through all of them, told again as they were (core/read/kept_pages.h).
 */
#ifndef DDBFS_CORE_READ_WALK_H
#define DDBFS_CORE_READ_WALK_H

#include "core/plan/plan.h"
#include "core/read/cache.h"
#include "core/read/kept_pages.h"
#include "core/source/source.h"

struct walks; /* all that share what they read */

/* What has been read to its end is kept in CACHE (borrowed), no more than MOST bytes of one
 * listing, nor of all that are under way. NULL when memory ran out. */
struct walks *walks_new(struct cache *cache, struct loop *loop, size_t most);
/* All walks must have ended. NULL is fine. */
void walks_destroy(struct walks *walks);
/* What is under way is not kept; what the cache has is the cache's business. NULL is fine. */
void walks_drop(struct walks *walks);

/* All of it is borrowed, and must stay until the end. */
struct walk_from {
    struct walks *walks; /* NULL: nothing is shared */
    const struct plan *plan;
    struct source *source;
    struct payer *payer; /* may be NULL */
    struct loop *loop;
    bool full;   /* records are read again, where the plan does so */
    bool steady; /* it goes on to its end, whoever waits for what: others may wait for it */
};

struct walk;

/* Whether all of it would be told from memory. */
bool walk_is_known(const struct walk_from *from);
/* Whether it would wait for a walk that is under way. If nothing comes of that one, it asks itself.
 */
bool walk_is_coming(const struct walk_from *from);

/* FN gets the first page later. NULL with ERR filled. */
struct walk *walk_start(const struct walk_from *from, source_page_fn *fn, void *arg,
                        struct error *err);
/* FN will ask for all pages: the source may read before that. */
void walk_read_all(struct walk *walk);
void walk_more(struct walk *walk); /* once for each page with MORE */
void walk_end(struct walk *walk);  /* finished or not; NULL is fine */

/* A record was read again for the page in hand. */
void walk_note(struct walk *walk, const struct key *key, struct json item);
/* What reading records again takes is added here. */
struct kept_pages_cost *walk_cost(struct walk *walk);
/* What it took, of this walk or of the one that is told again; NULL: they were not read. */
const struct kept_pages_cost *walk_known_cost(const struct walk *walk);
/* The listing has all that it wants, and all of it is right: it may be told again. */
void walk_conclude(struct walk *walk);

/* Where the records are that are read again; NULL: at the source. */
const struct kept_pages *walk_records(const struct walk *walk);

/* When its first page was asked for, by whoever did. */
struct walk_age {
    bool is_told_again;
    bool is_dropped; /* it may not be believed, as it is from before walks_drop */
    int64_t since_ms, since_wall_ms;
    int64_t took_ms; /* until it was whole, or now */
};
struct walk_age walk_age(const struct walk *walk);

#endif
