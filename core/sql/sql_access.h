/* How the rows of one table are found: by the table's key, by an index, or by a Scan. Chosen when
 * SQLite plans the statement, before any value is known; sql_lookup.h binds the values. */
#ifndef DDBFS_CORE_SQL_SQL_ACCESS_H
#define DDBFS_CORE_SQL_SQL_ACCESS_H

#include "core/output/sql_value.h"
#include "core/sql/sql_wanted.h"

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

/* Appends why there is no lookup for VALUES, by number of the constraint. */
void sql_access_write_void(const struct sql_access *access, const struct sql_value *values,
                           struct buf *out);

/* Appends the sets of columns that find rows of the table, as in the message above. */
void sql_access_write_ways(const struct sql_columns *columns, struct buf *out);

#endif
