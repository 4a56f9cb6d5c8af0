/* SQLite: one in-memory database for each statement, whose virtual tables read DynamoDB's. Only a
 * SELECT of these tables can be prepared. */
#ifndef DDBFS_CORE_SQL_SQL_CONNECTION_H
#define DDBFS_CORE_SQL_SQL_CONNECTION_H

#include "core/sql/sql_reads.h"

/* The refusal of anything else. */
#define SQL_CONNECTION_ONLY_SELECT "only SELECT runs: nothing is written, attached, loaded or set"

struct sql_connection;

/* READS is borrowed; MAY_SCAN: tables that are no snapshots, too. NULL with ERR filled. */
struct sql_connection *sql_connection_new(struct sql_reads *reads, bool may_scan,
                                          struct error *err);
void sql_connection_destroy(struct sql_connection *connection); /* NULL is fine */

/* Creates TABLE, which is borrowed; or declares it again, with the columns that it has now. No
 * statement may be prepared. False with ERR filled. */
bool sql_connection_add_table(struct sql_connection *connection, struct sql_table *table,
                              struct error *err);
bool sql_connection_declare_again(struct sql_connection *connection, struct sql_table *table,
                                  struct error *err);

enum sql_connection_outcome {
    SQL_CONNECTION_PREPARED,
    SQL_CONNECTION_NO_TABLE,  /* SQLite does not know the table NAME */
    SQL_CONNECTION_NO_COLUMN, /* likewise */
    SQL_CONNECTION_FAILED,
};

/* Prepares the first statement of TEXT, in place of the one before. SIZE gets its bytes. Unless it
 * is prepared, ERR is filled. */
enum sql_connection_outcome sql_connection_prepare(struct sql_connection *connection,
                                                   struct span text, struct buf *name, size_t *size,
                                                   struct error *err);

size_t sql_connection_column_count(const struct sql_connection *connection);
struct span sql_connection_column_name(const struct sql_connection *connection, size_t column);

/* Whether one reader begins once, so that its rows need not be stored. */
bool sql_connection_has_one_reader(const struct sql_connection *connection);
/* Whether it is recursive: its own rows may lead to further lookups. */
bool sql_connection_is_recursive(const struct sql_connection *connection);
/* Whether it calls a function that may return another value in the next pass. */
bool sql_connection_is_volatile(const struct sql_connection *connection);

enum sql_connection_step { SQL_CONNECTION_ROW, SQL_CONNECTION_DONE, SQL_CONNECTION_STOPPED };

/* The next row; VALUES are valid until the next call. SQL_CONNECTION_STOPPED with ERR filled,
 * unless the reads want the pass to end (is_full). */
enum sql_connection_step sql_connection_step(struct sql_connection *connection,
                                             struct sql_value *values, struct error *err);
/* Makes the statement ready for another pass. */
void sql_connection_reset(struct sql_connection *connection);

/* Calls FN for each table in the order in which SQLite reads them, with its choice and its alias.
 * False with ERR filled, or if FN returned false. */
bool sql_connection_each_choice(struct sql_connection *connection,
                                bool (*fn)(void *arg, struct sql_choice *choice, const char *alias),
                                void *arg, struct error *err);

#endif
