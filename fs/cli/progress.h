/* A line on the terminal that says how far long work has come. It is drawn on standard error where
 * that is a terminal, after a second without output. It is erased before anything else is printed,
 * and when a signal ends the program. */
#ifndef DDBFS_FS_CLI_PROGRESS_H
#define DDBFS_FS_CLI_PROGRESS_H

#include "core/base/loop.h"

struct progress;
struct sources;

/* Begins to report what SOURCES reads while LOOP runs. Both must stay until progress_end. NULL
 * where stderr is no terminal. Until the end, stdout and stderr are streams of its own where they
 * are the terminal. */
struct progress *progress_start(struct loop *loop, const struct sources *sources);

/* Erases the line. NULL is fine. */
void progress_end(struct progress *progress);

#endif
