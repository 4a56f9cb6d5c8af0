/* The table of commands, in main.c. */
#ifndef DDBFS_FS_CLI_COMMAND_H
#define DDBFS_FS_CLI_COMMAND_H

#include "fs/cli/app.h"

struct command {
    const char *name;
    const char *arguments;
    const char *help;    /* ASCII */
    const char *example; /* a command line */
    command_fn *run;
    enum word_kind first, others; /* the kinds of its operands */
};

/* The last one has no name. */
extern const struct command commands[];

/* False for the commands of the mount, if it was not built. */
bool command_is_offered(const struct command *command);
const struct command *command_find(const char *name); /* NULL: no such command */

#endif
