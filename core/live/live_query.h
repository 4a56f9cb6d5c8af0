/* The stored result of a query: its rows in their order, which changes of items keep up to date. */
#ifndef DDBFS_CORE_LIVE_LIVE_QUERY_H
#define DDBFS_CORE_LIVE_LIVE_QUERY_H

#include "core/live/live_image.h"
#include "core/live/live_row.h"
#include "core/live/live_schema.h"

struct live_query {
    struct read *read;              /* owned */
    struct live_schema *schema;     /* a reference */
    const struct live_index *index; /* of SCHEMA */
    struct live_row **rows;         /* owned, each by a reference */
    size_t count, capacity;
    bool is_complete; /* else it has the first rows, and at least as many as the limit of READ */
    uint64_t counted; /* of a query that counts: the items; ROWS is empty */
    size_t scanned;   /* items that the source read for it */
    size_t bytes;     /* of heap, about */
};

/* Copies READ, a query of INDEX. NULL when memory ran out. */
struct live_query *live_query_new(struct live_schema *schema, const struct live_index *index,
                                  const struct read *read);
void live_query_destroy(struct live_query *query); /* NULL is fine */

/* Appends an item of the source's response. False when memory ran out, or ITEM has no valid key. */
bool live_query_add(struct live_query *query, struct json item);

/* A text that each item of the query has in its JSON; empty if that is not certain. Borrowed. */
struct span live_query_partition_text(const struct live_query *query);

/* The row of KEY, an item's whole key, if the result has it whole; borrowed. NULL for none. ITEM is
 * KEY as typed JSON. */
struct live_row *live_query_find_item(const struct live_query *query, struct span key,
                                      struct json item);

/* Changes the result as IMAGE has changed its item, whether or not the result already shows it.
 * False if the result is not known any more: it must be dropped. */
bool live_query_patch(struct live_query *query, const struct live_image *image);

#endif
