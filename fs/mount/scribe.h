/* The thread that appends lines to a file, whose file system may hang: the loop never waits for it.
 * It shares with the loop, under a lock, the lines that wait and what became of others. */
#ifndef DDBFS_FS_MOUNT_SCRIBE_H
#define DDBFS_FS_MOUNT_SCRIBE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"

/* So many bytes of lines may wait. */
enum { SCRIBE_MOST_BYTES = 1 << 20 };

struct scribe;

/* Opens the file that OPEN_FILE returns (< 0 with errno set: an error); it is called again, in the
 * thread, to open the file anew. NULL with errno set. */
typedef int scribe_open_fn(void *arg);
struct scribe *scribe_new(scribe_open_fn *open_file, void *arg);
/* Waits a moment for the lines that wait. A thread that hangs is left behind, with SCRIBE: false,
 * and what ARG points to must stay. NULL is fine. */
bool scribe_destroy(struct scribe *scribe);

/* Never waits. A line for which there is no room is lost. */
void scribe_add(struct scribe *scribe, struct span line);
/* Opens the file again before the next line. */
void scribe_reopen(struct scribe *scribe);

struct scribe_news {
    uint64_t lost;    /* lines, so far */
    int error;        /* why the last line was not written; 0: it was, EAGAIN: the file hangs */
    int reopen_error; /* why the file could not be opened again; 0: it was, or is not to be told */
};
/* What happened. An error of reopening is told once. */
struct scribe_news scribe_news(struct scribe *scribe);
uint64_t scribe_lost(struct scribe *scribe);
/* Becomes readable when there are news; reading takes that back. */
int scribe_fd(const struct scribe *scribe);

#endif
