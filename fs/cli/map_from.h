/* ddbfs map --from FILE [TABLE…]: a first map, from a model that was written for another tool. */
#ifndef DDBFS_FS_CLI_MAP_FROM_H
#define DDBFS_FS_CLI_MAP_FROM_H

#include "fs/cli/options.h"

/* Prints the map of the model options->from; what could not be imported is told in its first
 * comment and on standard error, and the exit status is 1 then. ARGV are names of live tables: the
 * model is compared with them. Without them nobody is asked. */
int map_from(const struct options *options, int argc, char **argv);

#endif
