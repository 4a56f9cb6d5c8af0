/* The command line's options, in one table: parser, help and manual agree because they are made
 * from it, or tested against it. */
#ifndef DDBFS_FS_OPTIONS_H
#define DDBFS_FS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct options {
    const char *map;
    const char *profile;
    const char *region;
    const char *endpoint_url;
    const char *suffix;
    bool compact;
    bool show_secrets;
    int64_t timeout_ms;
    unsigned verbose;
    bool help;
    bool version;
    bool list_long;
    bool json;
    bool offline;
};

/* The defaults. */
void options_init(struct options *options);

/* Takes the options out of ARGV, wherever they stand before a word "--". The other words, the
 * command first, move to the front of ARGV, and their number is returned; -1 after a message to
 * standard error. */
int options_parse(struct options *options, int argc, char **argv);

void options_print_help(FILE *out);

#endif
