#include "fs/mount/journal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "core/base/instant.h"
#include "core/base/printable.h"

/* Within REPEAT_MS at most MOST_ALIKE lines with one reason are written: they show where it
 * happens, and a program that fails ten thousand times does not flood the log. */
enum { KEPT = 200, REPEAT_MS = 10000, MOST_ALIKE = 20 };

/* A log daemon may cut longer lines; rsyslog does so at 8 KB. */
enum { SYSLOG_LONGEST_LINE = 8192 };

/* The socket of the system log. The C library's syslog() would wait as long as the log daemon does
 * not read, and with it every program in the mount. */
struct syslog_socket {
    struct sockaddr_un address; /* of the log daemon */
    int fd;                     /* -1: not connected */
    int type;                   /* SOCK_DGRAM; SOCK_STREAM if the daemon requires it */
};

/* The last lines, the oldest first from NEXT on. */
struct journal_ring {
    char *lines[KEPT]; /* owned; NULL before the first round is full */
    size_t next;
};

struct journal {
    struct clock *clock;
    bool foreground;
    struct syslog_socket syslog; /* in the background */
    uint64_t dropped;            /* lines that the log did not accept */
    uint64_t dropped_unreported; /* since it accepted the last one */
    struct journal_ring lines;
    struct journal_ring errors;
    uint64_t error_count;
    uint64_t stale_count;
    char *reason;     /* owned: of the last line */
    int64_t since_ms; /* the first line with that reason, */
    unsigned alike;   /* and the number of lines with it since */
    char *path;       /* owned: of the last line; "" if it has no path */
    unsigned repeats; /* lines with its reason that were left out, */
    unsigned others;  /* of them for other paths, */
    char *other;      /* owned: the last of these paths; NULL without any */
};

static void syslog_socket_disconnect(struct syslog_socket *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

/* A daemon that accepts streams only refuses a datagram socket with EPROTOTYPE, and vice versa. */
static bool syslog_socket_connect(struct syslog_socket *log)
{
    for (int tries = 0; log->fd < 0 && tries < 2; tries++) {
        log->fd = socket(AF_UNIX, log->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (log->fd < 0)
            return false;
        if (connect(log->fd, (const struct sockaddr *)&log->address, sizeof log->address) == 0)
            return true;
        bool is_other_type = errno == EPROTOTYPE;
        syslog_socket_disconnect(log);
        if (!is_other_type)
            return false;
        log->type = log->type == SOCK_DGRAM ? SOCK_STREAM : SOCK_DGRAM;
    }
    return log->fd >= 0;
}

/* In a stream a NUL ends each line. Half a line would spoil the next one, so it ends the
 * connection. */
static bool syslog_socket_send_once(struct syslog_socket *log, const char *text, size_t size)
{
    bool is_connected = syslog_socket_connect(log);
    size_t whole = size + (log->type == SOCK_STREAM);
    ssize_t sent = is_connected ? send(log->fd, text, whole, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
    if (sent >= 0 && (size_t)sent == whole)
        return true;
    bool busy = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS);
    if (!busy)
        syslog_socket_disconnect(log);
    return false;
}

/* Format of RFC 3164: <priority>Mmm dd hh:mm:ss tag[pid]: text. */
static bool syslog_socket_send(struct syslog_socket *log, int priority, int64_t wall_ms,
                               const char *line)
{
    char text[SYSLOG_LONGEST_LINE], when[32] = "";
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm broken_down;
    if (localtime_r(&seconds, &broken_down))
        strftime(when, sizeof when, "%b %e %H:%M:%S", &broken_down);
    int size = snprintf(text, sizeof text, "<%d>%s ddbfs[%d]: %s", LOG_DAEMON | priority, when,
                        (int)getpid(), line);
    size_t used = size < 0 ? 0 : (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
    /* If the daemon was restarted since the last line, only sending shows it. */
    bool was_connected = log->fd >= 0;
    return used > 0 && (syslog_socket_send_once(log, text, used) ||
                        (was_connected && log->fd < 0 && syslog_socket_send_once(log, text, used)));
}

struct journal *journal_new(struct clock *clock, const char *syslog_path)
{
    struct journal *journal = calloc(1, sizeof *journal);
    if (!journal)
        return NULL;
    journal->clock = clock;
    journal->foreground = !syslog_path;
    journal->syslog =
        (struct syslog_socket){.address.sun_family = AF_UNIX, .fd = -1, .type = SOCK_DGRAM};
    snprintf(journal->syslog.address.sun_path, sizeof journal->syslog.address.sun_path, "%s",
             syslog_path ? syslog_path : "");
    return journal;
}

void journal_destroy(struct journal *journal)
{
    if (!journal)
        return;
    syslog_socket_disconnect(&journal->syslog);
    for (size_t i = 0; i < KEPT; i++) {
        free(journal->lines.lines[i]);
        free(journal->errors.lines[i]);
    }
    free(journal->reason);
    free(journal->path);
    free(journal->other);
    free(journal);
}

static void journal_ring_add(struct journal *journal, struct journal_ring *ring, const char *line)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    instant_write(&text, journal->clock->wall_ms(journal->clock));
    buf_printf(&text, " %s\n", line);
    free(ring->lines[ring->next]);
    ring->lines[ring->next] = buf_steal(&text, NULL); /* without memory the line is lost */
    ring->next = (ring->next + 1) % KEPT;
}

static void journal_ring_write(const struct journal_ring *ring, struct buf *out)
{
    for (size_t i = 0; i < KEPT; i++) {
        const char *line = ring->lines[(ring->next + i) % KEPT];
        if (line)
            buf_add_text(out, line);
    }
}

/* False when the line would have to wait. A pipe that is writable accepts PIPE_BUF bytes at once.
 */
static bool journal_send_line(struct journal *journal, enum log_level level, const char *line)
{
    static const int priorities[] = {[LOG_LEVEL_ERROR] = LOG_ERR,
                                     [LOG_LEVEL_WARNING] = LOG_WARNING,
                                     [LOG_LEVEL_INFO] = LOG_INFO,
                                     [LOG_LEVEL_DEBUG] = LOG_DEBUG};
    if (!journal->foreground)
        return syslog_socket_send(&journal->syslog, priorities[level],
                                  journal->clock->wall_ms(journal->clock), line);
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "ddbfs: %s", line);
    if (text.size >= PIPE_BUF)
        buf_truncate(&text, PIPE_BUF - 1);
    buf_add_char(&text, '\n');
    return !text.failed && poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) &&
           write(STDERR_FILENO, buf_text(&text), text.size) >= 0;
}

/* Each line is kept. One that the log does not accept is counted, and the count precedes the next
 * line that it accepts. */
static void journal_add_line(struct journal *journal, enum log_level level, const char *line)
{
    char lost[96];
    journal_ring_add(journal, &journal->lines, line);
    if (journal->dropped_unreported > 0) {
        snprintf(lost, sizeof lost, "%llu line%s missing here: the log did not accept %s",
                 (unsigned long long)journal->dropped_unreported,
                 journal->dropped_unreported == 1 ? " is" : "s are",
                 journal->dropped_unreported == 1 ? "it" : "them");
        if (journal_send_line(journal, LOG_LEVEL_WARNING, lost))
            journal->dropped_unreported = 0;
    }
    if (journal->dropped_unreported == 0 && journal_send_line(journal, level, line))
        return;
    journal->dropped++;
    journal->dropped_unreported++;
}

static void journal_add_repeats(struct journal *journal, enum log_level level)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    if (journal->repeats == 0)
        return;
    buf_printf(&line, "the last line was repeated %u time%s", journal->repeats,
               journal->repeats == 1 ? "" : "s");
    if (journal->others > 0)
        buf_printf(&line, ", %u of them for other paths, the last path=%s", journal->others,
                   journal->other ? journal->other : "");
    journal->repeats = journal->others = 0;
    if (!line.failed)
        journal_add_line(journal, level, buf_text(&line));
}

/* *TEXT, which is owned, becomes a copy of WITH; NULL without memory, which equals no reason. */
static void journal_store_text(char **text, const char *with)
{
    free(*text);
    *text = strdup(with);
}

/* Counts a line about the same PATH within some seconds instead of writing it; likewise many lines
 * with one REASON for many paths. */
static void journal_add_line_once(struct journal *journal, enum log_level level, const char *reason,
                                  const char *path, const char *line)
{
    int64_t now_ms = journal->clock->now_ms(journal->clock);
    bool alike = journal->reason && strcmp(journal->reason, reason) == 0 &&
                 now_ms - journal->since_ms < REPEAT_MS;
    bool same = alike && journal->path && strcmp(journal->path, path) == 0;
    if (same || (alike && journal->alike == MOST_ALIKE)) {
        journal->repeats++;
        journal->others += !same;
        if (!same)
            journal_store_text(&journal->other, path);
        return;
    }
    journal_add_repeats(journal, level);
    if (!alike) {
        journal_store_text(&journal->reason, reason);
        journal->since_ms = now_ms;
        journal->alike = 0;
    }
    journal->alike++;
    journal_store_text(&journal->path, path);
    journal_add_line(journal, level, line);
}

void journal_write(void *arg, enum log_level level, const char *line)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    printable_add(&text, span_text(line), "");
    if (!text.failed)
        journal_add_line_once(arg, level, buf_text(&text), "", buf_text(&text));
}

/* REMARK precedes the reason. */
static void journal_add_error(struct journal *journal, pid_t pid, struct span path, int error,
                              const char *remark, const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0}, word = {0}, reasons = {0};
    error_write_throttles(err, &reasons);
    printable_add(&word, path, PRINTABLE_WORD);
    buf_printf(&line, "pid=%d %s%s path=", (int)pid, error ? "errno=" : "note",
               error ? strerrorname_np(error) : "");
    buf_add_span(&line, buf_span(&word));
    const struct {
        const char *name, *value;
    } fields[] = {
        {" operation=", err->operation ? err->operation : ""},
        {" table=", err->table},
        {" index=", err->index},
        {" code=", err->code},
        {" reason=", buf_text(&reasons)},
        {" resource=", reasons.size ? err->throttles[0].resource : ""},
        {" request=", err->request_id},
        {" fixable_by=", error ? error_fixable_by(err->kind) : ""},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].value[0])
            buf_add_text(&line, fields[i].name);
        printable_add(&line, span_text(fields[i].value), PRINTABLE_WORD);
    }
    /* The reason comes last: it may contain any text, also one that looks like a field. */
    buf_printf(&line, ": %s", remark);
    printable_add(&line, span_text(err->text), "");
    journal->error_count++;
    if (line.failed || word.failed || reasons.failed)
        return;
    journal_add_line_once(journal, LOG_LEVEL_WARNING, err->text, buf_text(&word), buf_text(&line));
    if (error)
        buf_printf(&line, "; hint: %s", error_hint(err));
    if (!line.failed)
        journal_ring_add(journal, &journal->errors, buf_text(&line));
}

void journal_error(struct journal *journal, pid_t pid, struct span path, int error,
                   const struct error *err)
{
    journal_add_error(journal, pid, path, error, "", err);
}

void journal_stale(struct journal *journal, pid_t pid, struct span path, int64_t read_wall_ms,
                   const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf remark = {0};
    buf_add_text(&remark, "the data of ");
    instant_write(&remark, read_wall_ms);
    buf_add_text(&remark, " was returned, because: ");
    journal_add_error(journal, pid, path, 0, buf_text(&remark), err);
    journal->stale_count++;
}

void journal_write_lines(const struct journal *journal, struct buf *out)
{
    journal_ring_write(&journal->lines, out);
}

void journal_write_errors(const struct journal *journal, struct buf *out)
{
    journal_ring_write(&journal->errors, out);
}

uint64_t journal_error_count(const struct journal *journal)
{
    return journal->error_count;
}

uint64_t journal_stale_count(const struct journal *journal)
{
    return journal->stale_count;
}

uint64_t journal_dropped_count(const struct journal *journal)
{
    return journal->dropped;
}
