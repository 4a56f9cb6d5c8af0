/* ddbfs sql --explain: how each table of a statement is read, and what it costs at most. */
#ifndef DDBFS_FS_CLI_SQL_EXPLAIN_H
#define DDBFS_FS_CLI_SQL_EXPLAIN_H

#include "core/sql/sql_session.h"
#include "fs/cli/options.h"

/* Calls FN with a line for each step, its Reads, and one for the `aws` command, if there is one.
 * Sends nothing. False with ERR filled. */
bool sql_explain_note(const struct tree *tree, struct sql_statement *statement,
                      void (*fn)(void *arg, const char *text), void *arg, struct error *err);

/* Prints a block for each step, or with --json an object, and the total. Sends nothing. False with
 * ERR filled. */
bool sql_explain_print(const struct tree *tree, struct sql_statement *statement,
                       const struct options *options, struct error *err);

#endif
