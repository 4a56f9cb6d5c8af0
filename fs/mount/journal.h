/* The log of the mount: lines to standard error or to the system log, without repetitions. The
 * latest lines are kept for /.ddbfs/log, and the latest failures for /.ddbfs/errors. */
#ifndef DDBFS_FS_MOUNT_JOURNAL_H
#define DDBFS_FS_MOUNT_JOURNAL_H

#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/log.h"

struct journal;

/* Lines go to the system log, whose socket is SYSLOG_PATH, or to standard error if that is NULL.
 * The mount never waits for either. CLOCK is borrowed. NULL when memory ran out. */
struct journal *journal_new(struct clock *clock, const char *syslog_path);
void journal_destroy(struct journal *journal); /* NULL is fine */

/* The WRITE of a struct log; ARG is the journal. */
void journal_write(void *arg, enum log_level level, const char *line);

/* A failure of the process PID at PATH: fields of one word each, and the reason behind a colon.
 * ERROR is an errno, or 0 for a note. */
void journal_error(struct journal *journal, pid_t pid, struct span path, int error,
                   const struct error *err);

/* Because of ERR the process PID got at PATH the data of READ_WALL_MS, which is past its TTL. */
void journal_stale(struct journal *journal, pid_t pid, struct span path, int64_t read_wall_ms,
                   const struct error *err);

void journal_write_lines(const struct journal *journal, struct buf *out);
void journal_write_errors(const struct journal *journal, struct buf *out);
uint64_t journal_error_count(const struct journal *journal);
uint64_t journal_stale_count(const struct journal *journal);
/* How many lines the log did not accept. They are kept all the same. */
uint64_t journal_dropped_count(const struct journal *journal);

#endif
