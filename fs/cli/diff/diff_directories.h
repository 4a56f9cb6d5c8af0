/* Two directories, compared: what is in one of them alone, and records that differ. */
#ifndef DDBFS_FS_CLI_DIFF_DIFF_DIRECTORIES_H
#define DDBFS_FS_CLI_DIFF_DIFF_DIRECTORIES_H

#include "fs/cli/diff/diff_print.h"

struct folder {
    const char *path;
    const struct place *place;
};

/* What both have under NAME is to be compared by itself: directories, and files of which listings
 * do not tell enough. */
typedef void diff_directories_pair_fn(void *arg, struct span name);

/* Names are what entries have in common, whatever their keys. Where both directories come in one
 * order, memory holds a page of each; else all records of NOW. Runs the loop; what can't be
 * compared is complained of. False when neither of them has anything that could be compared. */
bool diff_directories_compare(struct diff_print *contrast, const struct folder *before,
                              const struct folder *now, diff_directories_pair_fn *fn, void *arg);

#endif
