/* The thread that appends lines to a file, whose file system may hang: the loop never waits for it.
 * It shares with the loop, under a lock, the lines that wait and what became of others. */
#ifndef DDBFS_FS_MOUNT_LEDGER_FILE_H
#define DDBFS_FS_MOUNT_LEDGER_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"

/* So many bytes of lines may wait. */
enum { LEDGER_FILE_MOST_BYTES = 1 << 20 };

struct ledger_file;

/* Opens the file that OPEN_FILE returns (< 0 with errno set: an error); it is called again, in the
 * thread, to open the file anew. NULL with errno set. */
typedef int ledger_file_open_fn(void *arg);
struct ledger_file *ledger_file_new(ledger_file_open_fn *open_file, void *arg);
/* Waits a moment for the lines that wait. A thread that hangs is left behind, with SCRIBE: false,
 * and what ARG points to must stay. NULL is fine. */
bool ledger_file_destroy(struct ledger_file *scribe);

/* Never waits. A line for which there is no room is lost. */
void ledger_file_add(struct ledger_file *scribe, struct span line);
/* Opens the file again before the next line. */
void ledger_file_reopen(struct ledger_file *scribe);

struct ledger_file_news {
    uint64_t lost;    /* lines, so far */
    int error;        /* why the last line was not written; 0: it was, EAGAIN: the file hangs */
    int reopen_error; /* why the file could not be opened again; 0: it was, or is not to be told */
};
/* What happened. An error of reopening is told once. */
struct ledger_file_news ledger_file_news(struct ledger_file *scribe);
uint64_t ledger_file_lost(struct ledger_file *scribe);
/* Becomes readable when there are news; reading takes that back. */
int ledger_file_fd(const struct ledger_file *scribe);

#endif
