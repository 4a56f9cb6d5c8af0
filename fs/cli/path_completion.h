/* What a path that is being typed may go on with, one step further. */
#ifndef DDBFS_FS_CLI_PATH_COMPLETION_H
#define DDBFS_FS_CLI_PATH_COMPLETION_H

#include "fs/cli/app.h"

enum {
    PATH_COMPLETION_RECORDS = 100,  /* of a listing: its first page has no more of them */
    PATH_COMPLETION_WAIT_MS = 2000, /* for all that is asked together */
};

typedef void path_completion_fn(void *arg, struct span word);

/* Calls FN for paths that begin with TYPED, those of directories with a slash. At most one page of
 * a listing is asked for (two of tables), and nothing where nothing can be listed. True if these
 * may not be all: there are more than were asked for, or the answer failed or was late. */
bool path_words(struct app *app, const char *typed, path_completion_fn *fn, void *arg);

#endif
