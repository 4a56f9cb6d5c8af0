#include "fs/mount/syslog_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/* A daemon may cut longer lines; rsyslog does so at 8 KB. */
enum { LONGEST_LINE = 8192 };

void syslog_socket_init(struct syslog_socket *log, const char *path)
{
    *log = (struct syslog_socket){.address.sun_family = AF_UNIX, .fd = -1, .type = SOCK_DGRAM};
    snprintf(log->address.sun_path, sizeof log->address.sun_path, "%s", path);
}

static void syslog_disconnect(struct syslog_socket *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

void syslog_socket_clean_up(struct syslog_socket *log)
{
    syslog_disconnect(log);
}

/* A daemon that listens to streams alone says so when it is addressed by datagrams. */
static bool syslog_connect_once(struct syslog_socket *log)
{
    log->fd = socket(AF_UNIX, log->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (log->fd >= 0 &&
        connect(log->fd, (const struct sockaddr *)&log->address, sizeof log->address) == 0)
        return true;
    int error = errno;
    syslog_disconnect(log);
    errno = error;
    return false;
}

static bool syslog_connected(struct syslog_socket *log)
{
    if (log->fd >= 0 || syslog_connect_once(log))
        return true;
    if (errno != EPROTOTYPE)
        return false;
    log->type = log->type == SOCK_DGRAM ? SOCK_STREAM : SOCK_DGRAM;
    return syslog_connect_once(log);
}

/* Of a stream a NUL ends each line. Half a line would spoil the next: the connection ends with it.
 */
static bool syslog_send_once(struct syslog_socket *log, const char *text, size_t size)
{
    size_t whole = size + (log->type == SOCK_STREAM);
    ssize_t sent =
        syslog_connected(log) ? send(log->fd, text, whole, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
    if (sent >= 0 && (size_t)sent == whole)
        return true;
    bool busy = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS);
    if (!busy)
        syslog_disconnect(log);
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
    return used > 0 && (syslog_send_once(log, text, used) ||
                        (was_connected && log->fd < 0 && syslog_send_once(log, text, used)));
}
