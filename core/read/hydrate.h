/* Reads a slice of records by their keys, a hundred a request, all requests at once. */
#ifndef DDBFS_CORE_READ_HYDRATE_H
#define DDBFS_CORE_READ_HYDRATE_H

#include "core/base/loop.h"
#include "core/plan/plan.h"
#include "core/read/kept_pages.h"

struct hydrate;

/* One record that was found. ITEM is borrowed. */
typedef void hydrate_item_fn(void *arg, struct json item, const char *request_id);
/* All have been read, or ERR says why not. The hydrate is gone before that. */
typedef void hydrate_done_fn(void *arg, const struct error *err);

/* How they are read. All of it is borrowed, and must stay until the end. */
struct hydrate_from {
    const struct plan *plan;
    struct source *source;
    struct payer *payer;           /* may be NULL */
    const struct kept_pages *kept; /* which has them; NULL: SOURCE is asked */
    struct loop *loop;             /* for KEPT */
    struct kept_pages_cost *cost;  /* to which is added what it takes */
};

/* Reads COUNT keys, no two alike. Records that are no more are passed over. NULL with ERR filled
 * when memory ran out. */
struct hydrate *hydrate_start(const struct hydrate_from *from, const struct key *keys, size_t count,
                              hydrate_item_fn *item, hydrate_done_fn *done, void *arg,
                              struct error *err);
void hydrate_cancel(struct hydrate *hydrate); /* before DONE; NULL is fine */

#endif
