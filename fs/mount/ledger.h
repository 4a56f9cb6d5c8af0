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

/* Adds LINE, which ends in a newline. Nothing waits for the file (scribe.h): what it does not take
 * is lost there, and logged once, until it takes lines again. */
void ledger_add(struct ledger *ledger, struct span line);

/* Opens the file of that name again, later, after the program that rotates logs has moved it away.
 * Where that fails the log says so, and the old file goes on. */
void ledger_reopen(struct ledger *ledger);

/* Appends the lines that are kept, the oldest first. */
void ledger_show(const struct ledger *ledger, struct buf *out);
/* How many lines the file did not take. */
uint64_t ledger_lost_count(const struct ledger *ledger);

#endif
