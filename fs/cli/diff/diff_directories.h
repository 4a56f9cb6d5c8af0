/* Compares two directories: entries of one of them alone, and items that differ. */
#ifndef DDBFS_FS_CLI_DIFF_DIFF_DIRECTORIES_H
#define DDBFS_FS_CLI_DIFF_DIFF_DIRECTORIES_H

#include "fs/cli/diff/diff_print.h"

struct diff_directory {
    const char *path;
    const struct place *place;
};

/* NAME exists in both directories, and is to be compared by itself: it is a directory, or a file
 * whose content the listing does not have. */
typedef void diff_pair_fn(void *arg, struct span name);

/* Matches entries by name. If both directories have the same order, memory holds a page of each;
 * else all items of NOW. Runs the loop, and reports errors. False if both directories are empty. */
bool diff_directories_compare(struct diff_print *print, const struct diff_directory *before,
                              const struct diff_directory *now, diff_pair_fn *fn, void *arg);

#endif
