/* SQLite: one in-memory database for each statement, whose virtual tables read DynamoDB's. Only a
 * SELECT of these tables can be prepared. No header of SQLite is included elsewhere in this room.
 */
#ifndef DDBFS_CORE_SQL_SQL_MODULE_H
#define DDBFS_CORE_SQL_SQL_MODULE_H

#include "core/sql/sql_reads.h"

/* The refusal of anything else. */
#define SQL_MODULE_ONLY_SELECT "only SELECT runs: nothing is written, attached, loaded or set"

struct sql_module;

/* READS is borrowed; MAY_SCAN: tables that are no snapshots, too. NULL with ERR filled. */
struct sql_module *sql_module_new(struct sql_reads *reads, bool may_scan, struct error *err);
void sql_module_destroy(struct sql_module *module); /* NULL is fine */

/* Creates TABLE, which is borrowed; or declares it again, with the columns that it has now. No
 * statement may be prepared. False with ERR filled. */
bool sql_module_add_table(struct sql_module *module, struct sql_table *table, struct error *err);
bool sql_module_declare_again(struct sql_module *module, struct sql_table *table,
                              struct error *err);

enum sql_module_outcome {
    SQL_MODULE_PREPARED,
    SQL_MODULE_NO_TABLE,  /* SQLite does not know the table NAME */
    SQL_MODULE_NO_COLUMN, /* likewise */
    SQL_MODULE_FAILED,
};

/* Prepares the first statement of TEXT, in place of the one before. SIZE gets its bytes. Unless it
 * is prepared, ERR is filled. */
enum sql_module_outcome sql_module_prepare(struct sql_module *module, struct span text,
                                           struct buf *name, size_t *size, struct error *err);

size_t sql_module_column_count(const struct sql_module *module);
struct span sql_module_column_name(const struct sql_module *module, size_t column);

/* Whether one reader begins once, so that its rows need not be stored. */
bool sql_module_has_one_reader(const struct sql_module *module);
/* Whether it calls a function that may return another value in the next pass. */
bool sql_module_is_volatile(const struct sql_module *module);

enum sql_module_step { SQL_MODULE_ROW, SQL_MODULE_DONE, SQL_MODULE_STOPPED };

/* The next row; VALUES are valid until the next call. SQL_MODULE_STOPPED with ERR filled, unless
 * the reads want the pass to end (is_full). */
enum sql_module_step sql_module_step(struct sql_module *module, struct sql_value *values,
                                     struct error *err);
/* Makes the statement ready for another pass. */
void sql_module_reset(struct sql_module *module);

/* Calls FN for each table in the order in which SQLite reads them, with its choice and its alias.
 * False with ERR filled, or if FN returned false. */
bool sql_module_each_choice(struct sql_module *module,
                            bool (*fn)(void *arg, struct sql_choice *choice, const char *alias),
                            void *arg, struct error *err);

#endif
