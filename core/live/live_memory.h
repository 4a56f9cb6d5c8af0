/* The results of the Reads of one table, kept up to date by the table's changes: items by their
 * keys, and rows of queries. */
#ifndef DDBFS_CORE_LIVE_LIVE_MEMORY_H
#define DDBFS_CORE_LIVE_LIVE_MEMORY_H

#include "core/base/list.h"
#include "core/live/live_query.h"

/* Shared by the memories of all tables: the least recently used entry is dropped first. */
struct live_budget {
    size_t used, most;
    bool was_short; /* an entry was dropped for lack of room; reset by the reader */
    void (*charge)(void *arg, size_t more, size_t less); /* see struct live_options */
    void *charge_arg;
    struct list entries; /* the least recently used first */
};

struct live_memory;

/* Both are borrowed. NULL when memory ran out. */
struct live_memory *live_memory_new(const struct live_schema *schema, struct live_budget *budget);
void live_memory_destroy(struct live_memory *memory); /* NULL is fine */
/* Drops everything. */
void live_memory_clear(struct live_memory *memory);

/* Whether the item of KEY is known, from a time after SINCE_MS, by itself or in the result of a
 * query. ROW gets a reference, or NULL if the item does not exist. */
bool live_memory_find_item(struct live_memory *memory, const struct key *key, int64_t since_ms,
                           struct live_row **row);
/* Stores that the item of KEY (live_schema_write_key) is TEXT (typed JSON), or with an empty TEXT
 * that it does not exist, as read at AT_MS. Without memory for it nothing is stored. */
void live_memory_store_item(struct live_memory *memory, struct span key, struct span text,
                            int64_t at_ms);

/* The result of READ, from a time after SINCE_MS; borrowed until the next call. NULL: not known. */
const struct live_query *live_memory_find_query(struct live_memory *memory, const struct read *read,
                                                int64_t since_ms);
/* Takes over QUERY, which was read at AT_MS. */
void live_memory_store_query(struct live_memory *memory, struct live_query *query, int64_t at_ms);

/* Changes all that shows the item of IMAGE. Entries that can't be changed are dropped. */
void live_memory_apply(struct live_memory *memory, const struct live_image *image);

struct live_memory_stats {
    size_t items, queries;
    uint64_t patched, dropped; /* entries, by changes */
};
struct live_memory_stats live_memory_stats(const struct live_memory *memory);

#endif
