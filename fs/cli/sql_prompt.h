/* ddbfs sql at a terminal: statements are typed one after the other. */
#ifndef DDBFS_FS_CLI_SQL_PROMPT_H
#define DDBFS_FS_CLI_SQL_PROMPT_H

#include "fs/cli/sql_runner.h"

/* Returns the exit status. Cleans APP up. */
int sql_prompt_run(struct app *app);

#endif
