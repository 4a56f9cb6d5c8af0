/* How the rows of one table are found: by the table's key, by an index, or by a Scan. Chosen when
 * SQLite plans the statement, before any value is known; sql_lookup.h binds the values. */
#ifndef DDBFS_CORE_SQL_SQL_ACCESS_H
#define DDBFS_CORE_SQL_SQL_ACCESS_H

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

struct sql_access; /* constant; in the arena that it was made in, with copies of all it needs */

/* Complete by construction: every row that satisfies the usable constraints is found. (More rows
 * may be; SQLite tests each.) An index is complete only for rows that the constraints or the map
 * prove to be in it: see docs/internals/sql.md. NULL with ERR filled: ERROR_INVALID, with the
 * columns that are missing ("prod.jobs needs one of: job_id; platform and shop_id; …"), or a
 * constraint on a masked column; or memory ran out. */
const struct sql_access *sql_access_find(const struct sql_wanted *wanted, struct arena *arena,
                                         struct error *err);

/* For sqlite3_index_info. */
enum sql_access_kind sql_access_kind_of(const struct sql_access *access);
/* Whether the value of that constraint is wanted by sql_access_bind. */
bool sql_access_takes(const struct sql_access *access, size_t constraint);
bool sql_access_is_ordered(const struct sql_access *access); /* as wanted */
double sql_access_cost(const struct sql_access *access);     /* relative */
double sql_access_rows(const struct sql_access *access);     /* an estimate */
bool sql_access_is_unique(const struct sql_access *access);  /* at most one row */

/* Appends it in words: "by GSI_JobLookup_v2 (job_id)". */
void sql_access_write(const struct sql_access *access, struct buf *out);

/* Appends the sets of columns that find rows of the table, as in the message above. */
void sql_access_write_ways(const struct sql_columns *columns, struct buf *out);

#endif
