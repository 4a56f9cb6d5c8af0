/* The reads of a statement's lookups. A lookup is read as a place is: by tree_list_records or
 * fetch_start. docs/internals/sql.md describes passes. */
#ifndef DDBFS_CORE_SQL_SQL_READS_H
#define DDBFS_CORE_SQL_SQL_READS_H

#include "core/sql/sql_pass.h"

struct sql_rows;

/* OPTIONS is copied. False when memory ran out. */
bool sql_reads_init(struct sql_reads *reads, const struct sql_reads_options *options);
void sql_reads_clean_up(struct sql_reads *reads);
/* Drops all rows: before the statement is planned anew. */
void sql_reads_clear(struct sql_reads *reads);
/* Before each pass. */
void sql_reads_begin_pass(struct sql_reads *reads);

/* Requests all that is wanted, and runs the loop until it came. False with ERR filled: the first
 * failure, or ERROR_INTERRUPTED. */
bool sql_reads_run(struct sql_reads *reads, struct error *err);

/* Runs the loop until IS_OVER returns true, which is then the result. False with FAILED filled: the
 * statement was interrupted. */
bool sql_reads_wait(struct sql_reads *reads, bool (*is_over)(void *arg), void *arg);

/* Asks the owner whether the statement goes on. False with FAILED filled. */
bool sql_reads_goes_on(struct sql_reads *reads);

/* The rows of LOOKUP, which are added if they are not there. NULL with ERR filled. */
struct sql_rows *sql_reads_find(struct sql_reads *reads, struct sql_choice *choice,
                                const struct sql_lookup *lookup, struct error *err);
/* Wants the read of ROWS, or its next pages. */
void sql_reads_want(struct sql_rows *rows);

#endif
