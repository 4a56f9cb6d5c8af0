/* The words that complete a statement: keywords, tables, columns, and the commands of the prompt.
 */
#ifndef DDBFS_FS_CLI_SQL_COMPLETION_H
#define DDBFS_FS_CLI_SQL_COMPLETION_H

#include "core/sql/sql_session.h"

/* BEFORE has the earlier lines of the statement, TYPED the current one up to the cursor. See
 * line_complete_fn. Sends nothing. */
size_t sql_completion_find(struct sql_session *session, struct span before, struct span typed,
                           struct buf *words);

#endif
