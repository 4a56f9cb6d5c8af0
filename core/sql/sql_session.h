/* SELECT over the tables of the map and of the account. SQLite executes the statement; each table
 * is a virtual table whose rows come from places (core/read). No statement can write, and none
 * scans unless that is allowed. */
#ifndef DDBFS_CORE_SQL_SQL_SESSION_H
#define DDBFS_CORE_SQL_SQL_SESSION_H

#include "core/output/sql_value.h"
#include "core/read/tree.h"

struct sql_options {
    const struct tree *tree; /* borrowed, with the payer of all requests */
    uint64_t memory;         /* bytes that rows and SQLite together may take */
    bool may_scan;           /* --allow-scan; a snapshot may be scanned in any case */
    /* Called often, also while requests are under way. False: the statement ends in
     * ERROR_INTERRUPTED (EINTR). May be NULL. */
    bool (*goes_on)(void *arg);
    void *arg;
};

struct sql_session;

/* OPTIONS is copied. NULL with ERR filled. */
struct sql_session *sql_session_new(const struct sql_options *options, struct error *err);
void sql_session_destroy(struct sql_session *session); /* NULL is fine */

struct sql_statement;

/* Prepares the first statement of TEXT; REST gets the text behind it. Runs the loop to describe
 * tables that the map does not declare. *OUT is NULL for blanks and comments alone. False with ERR
 * filled: the syntax, an unknown table or column, no way to the rows without a scan, anything but a
 * SELECT. */
bool sql_prepare(struct sql_session *session, struct span text, struct sql_statement **out,
                 struct span *rest, struct error *err);
void sql_statement_end(struct sql_statement *statement); /* NULL is fine */

size_t sql_statement_columns(const struct sql_statement *statement);
struct span sql_statement_name(const struct sql_statement *statement, size_t column);

/* VALUES are borrowed for the time of the call. False ends the statement without an error. */
typedef bool sql_row_fn(void *arg, const struct sql_value *values);
/* Runs the loop. Once. False with ERR filled: rows that came before are then incomplete. */
bool sql_statement_run(struct sql_statement *statement, sql_row_fn *fn, void *arg,
                       struct error *err);

/* After the run: calls FN for each warning: a column that no item had, attributes that parts of
 * keys hide. */
void sql_statement_warn(const struct sql_statement *statement,
                        void (*fn)(void *arg, const char *text), void *arg);

/* One table of a statement, in the order in which SQLite reads them. */
struct sql_step {
    const char *table;         /* as in the statement: "prod.jobs" */
    const char *alias;         /* "" without one */
    const struct place *place; /* of one of its lookups; its plan has the Reads and the cost. NULL:
                                * no row can match, the table is scanned, or with PER_ROW: no
                                * lookup is known */
    const struct place *directory; /* of the table */
    bool is_scan;
    uint64_t lookups; /* known number of lookups like PLACE; with PER_ROW: for each value */
    bool per_row;     /* they are repeated for each value that other steps find */
};
/* Sends nothing. The steps are borrowed for the time of the call. False with ERR filled, or if FN
 * returned false. */
bool sql_statement_explain(struct sql_statement *statement,
                           bool (*fn)(void *arg, const struct sql_step *step), void *arg,
                           struct error *err);

/* For completion and ".tables": calls FN with the name of each table of the map in each environment
 * with a literal name, quoted where SQL needs that. Sends nothing. */
void sql_session_each_table(const struct sql_session *session,
                            void (*fn)(void *arg, const char *name), void *arg);
/* The columns of the tables that the session has described or the map declares. */
void sql_session_each_column(struct sql_session *session, const char *table,
                             void (*fn)(void *arg, const char *name), void *arg);

#endif
