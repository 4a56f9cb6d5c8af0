/* The constraints, the order and the columns that a statement has for a table. */
#ifndef DDBFS_CORE_SQL_SQL_WANTED_H
#define DDBFS_CORE_SQL_SQL_WANTED_H

#include "core/sql/sql_columns.h"

enum sql_op {
    SQL_OP_EQ,
    SQL_OP_LT,
    SQL_OP_LE,
    SQL_OP_GT,
    SQL_OP_GE,
    SQL_OP_LIKE, /* case-sensitive; the text before the first % or _ is a beginning */
    SQL_OP_GLOB,
    SQL_OP_BEGINS, /* begins_with(column, text) */
    SQL_OP_NOT_NULL,
    SQL_OP_NE,
    SQL_OP_IS,    /* as =, but NULL is equal to NULL: never used for a key */
    SQL_OP_LIMIT, /* has no column; a hint for the first page only */
    SQL_OP_OTHER, /* says nothing about NULL either */
};

struct sql_constraint {
    size_t column;
    enum sql_op op;
    bool is_usable; /* its value is known when the rows are requested */
    bool is_list;   /* of SQL_OP_EQ: of an IN list, whose values are bound one by one */
};

struct sql_order {
    size_t column;
    bool descending;
};

/* The constraints and the order that SQLite has for a table. All of it is borrowed. */
struct sql_wanted {
    const struct sql_columns *columns;
    const char *table;             /* its name in the statement, for messages: "prod.jobs" */
    const struct map_index *index; /* the statement names it: FROM "table"."index"; else NULL. Its
                                    * items are then the rows. */
    const struct sql_constraint *constraints;
    size_t constraint_count;
    const struct sql_order *order;
    size_t order_count;
    const bool *used; /* by number of a column: whether the statement needs it */
    bool may_scan;
};

enum sql_access_kind {
    SQL_ACCESS_NONE,  /* the constraints contradict each other: no row, no request */
    SQL_ACCESS_KEYS,  /* items by their full keys */
    SQL_ACCESS_QUERY, /* queries, one for each partition */
    SQL_ACCESS_SCAN,
};

#endif
