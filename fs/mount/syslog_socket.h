/* The system's log, written to without ever waiting for it. The C library's syslog() waits for as
 * long as the log's daemon does not read, and everybody in the mount with it. */
#ifndef DDBFS_FS_MOUNT_SYSLOG_SOCKET_H
#define DDBFS_FS_MOUNT_SYSLOG_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

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
