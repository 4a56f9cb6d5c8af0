/* A command, as the table of them in main.c has it. */
#ifndef DDBFS_FS_CLI_COMMAND_H
#define DDBFS_FS_CLI_COMMAND_H

#include "fs/cli/app.h"

struct command {
    const char *name;
    const char *arguments;
    const char *help;
    const char *example; /* a command line, and what it is for */
    command_fn *run;
    enum word_kind first, others; /* what its words may be that are no options */
};

/* Ends with one without a name. */
extern const struct command commands[];

/* Without the mount its commands are not offered, and say so to who tries them. */
bool command_is_offered(const struct command *command);
const struct command *command_find(const char *name); /* NULL when there is none */

#endif
