/* Items of one statement by their keys. All that start in the same round of the loop leave
 * together, a hundred a request (core/source/batching.h). */
#ifndef DDBFS_CORE_SQL_SQL_GATHER_H
#define DDBFS_CORE_SQL_SQL_GATHER_H

#include "core/read/tree.h"
#include "core/sql/sql_table.h"

/* ITEM is borrowed. It is absent with ERR, and if no item has the key. */
typedef void sql_gather_fn(void *arg, size_t number, struct json item, const struct error *err);

/* {.tree = …} is an empty one. */
struct sql_gather {
    const struct tree *tree; /* borrowed */
    struct list waiting, reading;
    size_t reading_count;
};

/* Adds the item of KEY, which is borrowed until FN was called. FN gets it once, later, with NUMBER,
 * unless the gather is cleared. False when memory ran out. */
bool sql_gather_add(struct sql_gather *gather, struct sql_table *table, const struct key *key,
                    sql_gather_fn *fn, void *arg, size_t number);
/* Starts items that wait, as many as may be under way. False with ERR filled. */
bool sql_gather_start(struct sql_gather *gather, struct error *err);
/* Ends all. */
void sql_gather_clear(struct sql_gather *gather);

#endif
