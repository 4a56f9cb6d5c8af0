/* An access with its values: the keys or key conditions that are requested. */
#ifndef DDBFS_CORE_SQL_SQL_LOOKUP_H
#define DDBFS_CORE_SQL_SQL_LOOKUP_H

#include "core/source/read.h"
#include "core/sql/sql_access.h"

/* One request, or one Query with its pages. All of it is in the arena. */
struct sql_lookup {
    enum sql_access_kind kind;
    const struct map_index *index; /* of QUERY and SCAN; NULL: the table itself */
    struct key key;                /* of KEYS */
    const struct cond *where;      /* of QUERY: equality for each partition attribute, then at most
                                    * one range or equality for each sort attribute */
    size_t where_count;
    const struct cond *filter; /* of QUERY and SCAN: true of each row that SQLite can want; NULL */
    bool descending;
    uint32_t first; /* items of the first page; 0: not limited */
    bool hydrates;  /* the index lacks a wanted attribute */
};

/* VALUES are those of the taken constraints, by number of the constraint. *COUNT lookups; 0 if no
 * row can have the values (a NULL, a text for a number, an empty key). No two lookups return the
 * same item. NULL values of an IN list need no care here. False with ERR filled: a value that can't
 * be compared exactly (a REAL that lost digits: "write the number as a text"), or memory. */
bool sql_access_bind(const struct sql_access *access, const struct sql_value *values,
                     struct arena *arena, struct sql_lookup **out, size_t *count,
                     struct error *err);

/* Of ordered rows: whether ROW may come before NEXT, the next row of the same lookup (NULL: ROW is
 * the last). False with ERR as it was: the order of the keys is not that of the column. False with
 * ERR filled: as sql_row_read. */
bool sql_access_keeps_order(const struct sql_access *access, struct sql_row *row,
                            struct sql_row *next, struct error *err);

/* Whether ROW comes before NEXT and all rows behind NEXT. A part's value may be the
 * beginning of another one: with "#" behind the part, the key of "a" sorts behind that of "a!". */
enum sql_order_proof {
    SQL_ORDER_PROVEN, /* ROW, and the rows in front of it, come before all others */
    SQL_ORDER_OPEN,   /* not known yet */
    SQL_ORDER_NEVER,  /* not known before the last row came */
};
/* NEXT keeps the order. False with ERR filled: as sql_row_read. */
bool sql_access_prove_order(const struct sql_access *access, struct sql_row *row,
                            struct sql_row *next, enum sql_order_proof *out, struct error *err);

/* Appends a text that two lookups of a table share if and only if they request the same. */
void sql_lookup_write_identity(const struct sql_lookup *lookup, struct buf *out);

#endif
