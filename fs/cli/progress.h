/* A line on the terminal with the progress of long work: pages, items and RCU. It is drawn on
 * standard error after a second without output. It is erased before other output, and when a signal
 * ends the program. */
#ifndef DDBFS_FS_CLI_PROGRESS_H
#define DDBFS_FS_CLI_PROGRESS_H

#include "core/base/loop.h"

struct progress;
struct sources;

/* Shows the progress of SOURCES while LOOP runs. Both must live until progress_end, and stdout and
 * stderr are replaced until then. NULL if standard error is not a terminal. */
struct progress *progress_start(struct loop *loop, const struct sources *sources);

/* Erases the line. NULL is fine. */
void progress_end(struct progress *progress);

#endif
