/* The ledger: one line of JSON for each question that the mount was asked, the last of them kept to
 * be read at /.ddbfs/ledger.jsonl, and all written to a file if one was named. */
#ifndef DDBFS_FS_MOUNT_LEDGER_H
#define DDBFS_FS_MOUNT_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/loop.h"

/* So many lines are kept, and no more bytes than that. */
enum { LEDGER_LINES = 1000, LEDGER_BYTES = 1 << 20 };

struct ledger;

/* FILE (NULL: none) is opened, to be added to, or made for its owner alone: now, while a name is
 * what the user meant by it. Its last name may be no link. LOG is borrowed. NULL with ERR filled.
 */
struct ledger *ledger_new(struct loop *loop, const char *file, const struct log *log,
                          struct error *err);
/* The loop may go after it; what comes until ledger_destroy is still written. NULL is fine. */
void ledger_leave_loop(struct ledger *ledger);
void ledger_destroy(struct ledger *ledger); /* NULL is fine */

/* Adds LINE, which ends in a newline. Nothing waits for the file (writer.h): what it does not take
 * is lost there, and logged once, until it takes lines again. */
void ledger_add(struct ledger *ledger, struct span line);

/* Opens the file of that name again, later, after the program that rotates logs has moved it away.
 * Where that fails the log says so, and the old file goes on. */
void ledger_reopen(struct ledger *ledger);

/* Appends the lines that are kept, the oldest first. */
void ledger_show(const struct ledger *ledger, struct buf *out);
/* How many lines the file did not take. */
uint64_t ledger_lost_count(const struct ledger *ledger);

/* The thread that appends lines to a file, whose file system may hang: the loop never waits for it.
 * It shares with the loop, under a lock, the lines that wait and what became of others. */
/* So many bytes of lines may wait. */
enum { LEDGER_WRITER_MOST_BYTES = 1 << 20 };

struct ledger_writer;

/* Opens the file that OPEN_FILE returns (< 0 with errno set: an error); it is called again, in the
 * thread, to open the file anew. NULL with errno set. */
typedef int ledger_writer_open_fn(void *arg);
struct ledger_writer *ledger_writer_new(ledger_writer_open_fn *open_file, void *arg);
/* Waits a moment for the lines that wait. A thread that hangs is left behind, with SCRIBE: false,
 * and what ARG points to must stay. NULL is fine. */
bool ledger_writer_destroy(struct ledger_writer *writer);

/* Never waits. A line for which there is no room is lost. */
void ledger_writer_add(struct ledger_writer *writer, struct span line);
/* Opens the file again before the next line. */
void ledger_writer_reopen(struct ledger_writer *writer);

struct ledger_writer_news {
    uint64_t lost;    /* lines, so far */
    int error;        /* why the last line was not written; 0: it was, EAGAIN: the file hangs */
    int reopen_error; /* why the file could not be opened again; 0: it was, or is not to be told */
};
/* What happened. An error of reopening is told once. */
struct ledger_writer_news ledger_writer_news(struct ledger_writer *writer);
uint64_t ledger_writer_lost(struct ledger_writer *writer);
/* Becomes readable when there are news; reading takes that back. */
int ledger_writer_fd(const struct ledger_writer *writer);

#endif
