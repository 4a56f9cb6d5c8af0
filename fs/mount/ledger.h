/* The ledger: one line of JSON for each account. The latest lines are kept for
 * /.ddbfs/ledger.jsonl. All lines go to a file, too, if one was named: a thread writes it, because
 * its file system may hang, and the loop never waits for it. */
#ifndef DDBFS_FS_MOUNT_LEDGER_H
#define DDBFS_FS_MOUNT_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/loop.h"

/* The most lines that are kept in memory, and their most bytes. */
enum { LEDGER_LINES = 1000, LEDGER_BYTES = 1 << 20 };

struct ledger;

/* FILE (NULL: none) is opened for appending, or made with access for its owner only. It must not be
 * a symbolic link. LOG is borrowed. NULL with ERR filled. */
struct ledger *ledger_new(struct loop *loop, const char *file, const struct log *log,
                          struct error *err);
/* To be called before the loop ends. Later lines are still written. NULL is fine. */
void ledger_leave_loop(struct ledger *ledger);
/* Waits a moment for lines that are not written yet. NULL is fine. */
void ledger_destroy(struct ledger *ledger);

/* Adds LINE, which ends in a newline. Never waits: a line that the file does not accept is lost
 * there, and the log has one message until the file accepts lines again. */
void ledger_add(struct ledger *ledger, struct span line);

/* Opens the file of the same name again, later: a log rotation may have moved it. If that fails,
 * the log has a message, and lines go to the old file. */
void ledger_reopen(struct ledger *ledger);

/* Appends the lines in memory, the oldest first. */
void ledger_write(const struct ledger *ledger, struct buf *out);
/* How many lines the file has not accepted. */
uint64_t ledger_lost_count(const struct ledger *ledger);

#endif
