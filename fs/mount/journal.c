#include "fs/mount/journal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "core/base/instant.h"
#include "core/base/printable.h"

/* So many lines of one reason are written within the time: an engineer sees where it happens, and a
 * program that fails ten thousand times floods no log. */
enum { KEPT = 200, REPEAT_MS = 10000, MOST_ALIKE = 20 };

/* The last lines, oldest first from NEXT on. */
struct ring {
    char *lines[KEPT]; /* owned; NULL before the first round is full */
    size_t next;
};

struct journal {
    struct clock *clock;
    bool foreground;
    struct syslog_socket syslog; /* in the background */
    uint64_t dropped;            /* lines that nobody took, all in all */
    uint64_t dropped_untold;     /* since one was taken last */
    struct ring lines;
    struct ring errors;
    uint64_t error_count;
    uint64_t stale_count;
    char *reason;     /* owned: of the line that was said last */
    int64_t since_ms; /* when that reason was said first, */
    unsigned alike;   /* and on how many lines since */
    char *path;       /* owned: of the line that was said last; "" when it has none */
    unsigned repeats; /* of its reason, not said; */
    unsigned others;  /* so many of them of other paths, */
    char *other;      /* owned: the last of which is this; NULL without any */
};

struct journal *journal_new(struct clock *clock, const char *syslog_path)
{
    struct journal *journal = calloc(1, sizeof *journal);
    if (!journal)
        return NULL;
    journal->clock = clock;
    journal->foreground = !syslog_path;
    if (syslog_path)
        syslog_socket_init(&journal->syslog, syslog_path);
    return journal;
}

static void journal_ring_clean_up(struct ring *ring)
{
    for (size_t i = 0; i < KEPT; i++)
        free(ring->lines[i]);
}

void journal_destroy(struct journal *journal)
{
    if (!journal)
        return;
    if (!journal->foreground)
        syslog_socket_clean_up(&journal->syslog);
    journal_ring_clean_up(&journal->lines);
    journal_ring_clean_up(&journal->errors);
    free(journal->reason);
    free(journal->path);
    free(journal->other);
    free(journal);
}

static void journal_ring_add(struct journal *journal, struct ring *ring, const char *line)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    instant_write(&text, journal->clock->wall_ms(journal->clock));
    buf_printf(&text, " %s\n", line);
    free(ring->lines[ring->next]);
    ring->lines[ring->next] = buf_steal(&text, NULL); /* without memory the line is lost */
    ring->next = (ring->next + 1) % KEPT;
}

static void journal_ring_show(const struct ring *ring, struct buf *out)
{
    for (size_t i = 0; i < KEPT; i++) {
        const char *line = ring->lines[(ring->next + i) % KEPT];
        if (line)
            buf_add_text(out, line);
    }
}

/* A pipe that can be written to takes PIPE_BUF bytes at once. False when it can't. */
static bool journal_print_line(const char *line)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "ddbfs: %s", line);
    if (text.size >= PIPE_BUF)
        buf_truncate(&text, PIPE_BUF - 1);
    buf_add_char(&text, '\n');
    return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) &&
           write(STDERR_FILENO, buf_text(&text), text.size) >= 0;
}

/* The mount must not wait for whoever reads the log, or does not: false when LINE was not taken. */
static bool journal_put_out(struct journal *journal, enum log_level level, const char *line)
{
    static const int priorities[] = {[LOG_LEVEL_ERROR] = LOG_ERR,
                                     [LOG_LEVEL_WARNING] = LOG_WARNING,
                                     [LOG_LEVEL_INFO] = LOG_INFO,
                                     [LOG_LEVEL_DEBUG] = LOG_DEBUG};
    if (journal->foreground)
        return journal_print_line(line);
    int64_t wall_ms = journal->clock->wall_ms(journal->clock);
    return syslog_socket_send(&journal->syslog, priorities[level], wall_ms, line);
}

/* Every line is kept. One that the log does not take is counted, and the next that it takes stands
 * behind the count. */
static void journal_describe(struct journal *journal, enum log_level level, const char *line)
{
    char lost[96];
    journal_ring_add(journal, &journal->lines, line);
    if (journal->dropped_untold > 0) {
        snprintf(lost, sizeof lost, "%llu line%s missing here: nobody read the log",
                 (unsigned long long)journal->dropped_untold,
                 journal->dropped_untold == 1 ? " is" : "s are");
        if (journal_put_out(journal, LOG_LEVEL_WARNING, lost))
            journal->dropped_untold = 0;
    }
    if (journal->dropped_untold == 0 && journal_put_out(journal, level, line))
        return;
    journal->dropped++;
    journal->dropped_untold++;
}

static void journal_describe_repeats(struct journal *journal, enum log_level level)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    if (journal->repeats == 0)
        return;
    buf_printf(&line, "the last line %u time%s more", journal->repeats,
               journal->repeats == 1 ? "" : "s");
    if (journal->others > 0)
        buf_printf(&line, ", %u of them of other paths, the last path=%s", journal->others,
                   journal->other ? journal->other : "");
    journal->repeats = journal->others = 0;
    if (!line.failed)
        journal_describe(journal, level, buf_text(&line));
}

/* *TEXT, which is owned, becomes a copy of WITH: NULL without memory for it, and then nothing is a
 * repeat. */
static void journal_store(char **text, const char *with)
{
    free(*text);
    *text = strdup(with);
}

/* What is said of the same PATH again within some seconds is counted instead, and so is one REASON
 * for many paths. */
static void journal_describe_once(struct journal *journal, enum log_level level, const char *reason,
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
            journal_store(&journal->other, path);
        return;
    }
    journal_describe_repeats(journal, level);
    if (!alike) {
        journal_store(&journal->reason, reason);
        journal->since_ms = now_ms;
        journal->alike = 0;
    }
    journal->alike++;
    journal_store(&journal->path, path);
    journal_describe(journal, level, line);
}

void journal_write(void *arg, enum log_level level, const char *line)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    printable_add(&text, span_text(line), "");
    if (!text.failed)
        journal_describe_once(arg, level, buf_text(&text), "", buf_text(&text));
}

/* REMARK stands before the reason. */
static void journal_add_error(struct journal *journal, pid_t pid, struct span path, int error,
                              const char *remark, const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0}, word = {0};
    printable_add(&word, path, PRINTABLE_WORD);
    /* What is worth knowing, and no failure, is a note. */
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
        {" request=", err->request_id},
        {" fixable_by=", error ? error_fixable_by(err->kind) : ""},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].value[0])
            buf_add_text(&line, fields[i].name);
        printable_add(&line, span_text(fields[i].value), PRINTABLE_WORD);
    }
    /* Last, because it may hold anything: no field follows. */
    buf_printf(&line, ": %s", remark);
    printable_add(&line, span_text(err->text), "");
    journal->error_count++;
    if (line.failed || word.failed)
        return;
    journal_describe_once(journal, LOG_LEVEL_WARNING, err->text, buf_text(&word), buf_text(&line));
    if (error)
        buf_printf(&line, "; hint: %s", error_hint(err));
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
    buf_add_text(&remark, "shown as it was at ");
    instant_write(&remark, read_wall_ms);
    buf_add_text(&remark, ", because: ");
    journal_add_error(journal, pid, path, 0, buf_text(&remark), err);
    journal->stale_count++;
}

void journal_show_lines(const struct journal *journal, struct buf *out)
{
    journal_ring_show(&journal->lines, out);
}

void journal_show_errors(const struct journal *journal, struct buf *out)
{
    journal_ring_show(&journal->errors, out);
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

/* A daemon may cut longer lines; rsyslog does so at 8 KB. */
enum { LONGEST_LINE = 8192 };

void syslog_socket_init(struct syslog_socket *log, const char *path)
{
    *log = (struct syslog_socket){.address.sun_family = AF_UNIX, .fd = -1, .type = SOCK_DGRAM};
    snprintf(log->address.sun_path, sizeof log->address.sun_path, "%s", path);
}

static void syslog_socket_disconnect(struct syslog_socket *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

void syslog_socket_clean_up(struct syslog_socket *log)
{
    syslog_socket_disconnect(log);
}

/* A daemon that listens to streams alone says so when it is addressed by datagrams. */
static bool syslog_socket_connect_once(struct syslog_socket *log)
{
    log->fd = socket(AF_UNIX, log->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (log->fd >= 0 &&
        connect(log->fd, (const struct sockaddr *)&log->address, sizeof log->address) == 0)
        return true;
    int error = errno;
    syslog_socket_disconnect(log);
    errno = error;
    return false;
}

static bool syslog_socket_connected(struct syslog_socket *log)
{
    if (log->fd >= 0 || syslog_socket_connect_once(log))
        return true;
    if (errno != EPROTOTYPE)
        return false;
    log->type = log->type == SOCK_DGRAM ? SOCK_STREAM : SOCK_DGRAM;
    return syslog_socket_connect_once(log);
}

/* Of a stream a NUL ends each line. Half a line would spoil the next: the connection ends with it.
 */
static bool syslog_socket_send_once(struct syslog_socket *log, const char *text, size_t size)
{
    size_t whole = size + (log->type == SOCK_STREAM);
    ssize_t sent =
        syslog_socket_connected(log) ? send(log->fd, text, whole, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
    if (sent >= 0 && (size_t)sent == whole)
        return true;
    bool busy = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS);
    if (!busy)
        syslog_socket_disconnect(log);
    return false;
}

/* As RFC 3164 has it: <priority>Mmm dd hh:mm:ss tag[pid]: text. */
bool syslog_socket_send(struct syslog_socket *log, int priority, int64_t wall_ms, const char *line)
{
    char text[LONGEST_LINE], when[32] = "";
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm broken_down;
    if (localtime_r(&seconds, &broken_down))
        strftime(when, sizeof when, "%b %e %H:%M:%S", &broken_down);
    int size = snprintf(text, sizeof text, "<%d>%s ddbfs[%d]: %s", LOG_DAEMON | priority, when,
                        (int)getpid(), line);
    size_t used = size < 0 ? 0 : (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
    /* The daemon may have been started anew since the last line: that shows only now. */
    bool was_connected = log->fd >= 0;
    return used > 0 && (syslog_socket_send_once(log, text, used) ||
                        (was_connected && log->fd < 0 && syslog_socket_send_once(log, text, used)));
}
