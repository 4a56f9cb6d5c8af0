/* A Read of items as an SQL statement on one table of a snapshot file. */
#ifndef DDBFS_CORE_SNAPSHOT_SNAPSHOT_QUERY_H
#define DDBFS_CORE_SNAPSHOT_SNAPSHOT_QUERY_H

#include "core/snapshot/snapshot_file.h"

enum {
    QUERY_MOST_COLUMNS = 2 * KEY_MAX_ATTRIBUTES + KEY_MAX_BASE_ATTRIBUTES,
    QUERY_MOST_BINDS = 2 * READ_MAX_CONDS + QUERY_MOST_COLUMNS + 4,
};

/* The value of a key column: a text, of a number its sort text; or bytes. */
struct column_value {
    bool is_bytes;
    struct span bytes; /* borrowed */
};

/* The place of an item in the order of a query: the values of the order's columns. */
struct query_place {
    struct column_value values[QUERY_MOST_COLUMNS];
    size_t count; /* 0: before the first item */
};

struct snapshot_query {
    struct arena arena; /* of the values that are bound */
    struct buf sql;
    struct column_value binds[QUERY_MOST_BINDS];
    size_t bind_count;
    const struct index_info *index; /* NULL: the table itself */
    /* The columns of the result: of the key of the index, and of the table's own key. The result's
     * first column is the item, unless the query counts. */
    size_t columns[QUERY_MOST_COLUMNS];
    size_t column_count;
    /* Those of the order, as numbers of the result's columns. */
    size_t order[QUERY_MOST_COLUMNS];
    size_t order_count;
};

/* The statement of a READ_ITEMS for one key, whose values are not set yet. QUERY is to be cleaned
 * up in either case. False with ERR filled: memory ran out. */
bool snapshot_query_init_items(struct snapshot_query *query, const struct snapshot_table *table,
                               int64_t at_ms, struct error *err);
/* Sets the values of that statement. False with ERR filled: KEY is no key of the table, or memory
 * ran out. */
bool snapshot_query_set_key(struct snapshot_query *query, const struct snapshot_table *table,
                            const struct key *key, struct error *err);

/* The statement of a READ_QUERY or READ_SCAN, behind PLACE. ROWS_ONLY: without the items. False
 * with ERR filled: the index does not exist, or a condition does not fit to its key. */
bool snapshot_query_init(struct snapshot_query *query, const struct snapshot_table *table,
                         const struct read *read, int64_t at_ms, const struct query_place *place,
                         bool rows_only, struct error *err);
void snapshot_query_clean_up(struct snapshot_query *query);

/* Writes the value of a key attribute as its column has it; its bytes are in ARENA or VALUE. False
 * if VALUE is not of TYPE or is no valid number, or memory ran out (ARENA is failed then). */
bool column_value_of(struct value value, enum value_type type, struct arena *arena,
                     struct column_value *out);

/* Sets ERR: INDEX does not exist; the sentence has those that do. Returns false. */
bool snapshot_query_refuse_index(const struct snapshot_table *table, const char *index,
                                 struct error *err);

#endif
