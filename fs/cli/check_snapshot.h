/* `ddbfs check FILE.ddb`: the check of a snapshot. */
#ifndef DDBFS_FS_CLI_CHECK_SNAPSHOT_H
#define DDBFS_FS_CLI_CHECK_SNAPSHOT_H

#include "fs/cli/app.h"

/* Whether FILE is a snapshot, or should be one: a SQLite database, or a file with the ending .ddb.
 */
bool check_snapshot_is_meant(const char *file);

/* Prints each proven fact and each fault. Returns the exit status. */
int check_snapshot_run(const struct options *options, const char *file);

#endif
