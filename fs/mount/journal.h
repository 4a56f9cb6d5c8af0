/* What the mount says of itself: log lines to standard error or syslog, repeats limited, the last
 * of them kept to be read at /.ddbfs/log; and the last failures, at /.ddbfs/errors. */
#ifndef DDBFS_FS_MOUNT_JOURNAL_H
#define DDBFS_FS_MOUNT_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/log.h"

struct journal;

/* Lines go to the system's log, whose socket is SYSLOG_PATH; to standard error when that is NULL.
 * Neither is ever waited for. CLOCK is borrowed. NULL when memory ran out. */
struct journal *journal_new(struct clock *clock, const char *syslog_path);
void journal_destroy(struct journal *journal); /* NULL is fine */

/* A struct log's WRITE; ARG is the journal. */
void journal_write(void *arg, enum log_level level, const char *line);

/* A failure that the process PID met at PATH: fields, each one word, and behind a colon the reason.
 */
void journal_error(struct journal *journal, pid_t pid, struct span path, int error,
                   const struct error *err);

/* The process PID was shown at PATH what was read at READ_WALL_MS, though it is too old, because of
 * ERR. */
void journal_stale(struct journal *journal, pid_t pid, struct span path, int64_t read_wall_ms,
                   const struct error *err);

void journal_show_lines(const struct journal *journal, struct buf *out);
void journal_show_errors(const struct journal *journal, struct buf *out);
uint64_t journal_error_count(const struct journal *journal);
uint64_t journal_stale_count(const struct journal *journal);
/* How many lines the log did not take. They are kept all the same. */
uint64_t journal_dropped_count(const struct journal *journal);

/* The system's log, written to without ever waiting for it. The C library's syslog() waits for as
 * long as the log's daemon does not read, and everybody in the mount with it. */
struct syslog_socket {
    struct sockaddr_un address; /* of the log's daemon */
    int fd;                     /* -1: not connected */
    int type;                   /* SOCK_DGRAM; SOCK_STREAM where the daemon wants that */
};

/* Connects when there is something to say. PATH is usually /dev/log. */
void syslog_socket_init(struct syslog_socket *log, const char *path);
void syslog_socket_clean_up(struct syslog_socket *log);

/* Sends a line; PRIORITY is one of <syslog.h>, WALL_MS the time of day. False when the log does not
 * take it now: nobody listens, or who does has not read what came before. */
bool syslog_socket_send(struct syslog_socket *log, int priority, int64_t wall_ms, const char *line);

#endif
