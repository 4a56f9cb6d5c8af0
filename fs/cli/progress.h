/* A line on the terminal with the progress of long work, such as pages, items and RCU. It is drawn
 * on standard error after a second without output. It is erased before other output, and when a
 * signal ends the program. */
#ifndef DDBFS_FS_CLI_PROGRESS_H
#define DDBFS_FS_CLI_PROGRESS_H

#include "core/base/buf.h"
#include "core/base/loop.h"

struct progress;
struct sources;

/* Shows the progress of SOURCES while LOOP runs. Both must live until progress_end, and stdout and
 * stderr are replaced until then. NULL if standard error is not a terminal. */
struct progress *progress_start(struct loop *loop, const struct sources *sources);

/* The same for work without the loop: WRITE appends the line after SECONDS of work. progress_update
 * is to be called often. */
typedef void progress_write_fn(void *arg, double seconds, struct buf *out);
struct progress *progress_start_with(struct loop *loop, progress_write_fn *write, void *arg);
void progress_update(struct progress *progress); /* NULL is fine */

/* Erases the line. NULL is fine. */
void progress_end(struct progress *progress);

#endif
