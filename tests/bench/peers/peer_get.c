/* peer_get URL TABLE [hops]: a GetItem for each "PK SK" line of standard input, one after the other
 * on one connection that is warm before the first is timed. Prints each time in nanoseconds.
 *
 * With "hops" another process sends the request, as behind a file system: the measured process
 * wakes it by a socket and waits for its reply, as for a lookup, and then for an empty reply, as
 * for a read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/peers/peer.h"

enum { MAX_TIMES = 100000 };

static void write_body(struct buf *out, const char *table, char *line)
{
    char *pk = strtok(line, " \n");
    char *sk = strtok(NULL, " \n");
    buf_truncate(out, 0);
    buf_printf(out, "{\"TableName\":\"%s\",\"Key\":{\"pk\":{\"S\":\"%s\"},\"sk\":{\"S\":\"%s\"}}}",
               table, (char *)peer_need(pk, "pk"), (char *)peer_need(sk, "sk"));
}

static int64_t get(struct peer *peer, const char *url, const struct buf *body)
{
    int64_t began = peer_now_ns();
    peer_prepare(peer, url, "GetItem", body);
    peer_perform(peer);
    return peer_now_ns() - began;
}

/* A byte 1 is a request for the item of the next line, 0 for nothing; the reply is one byte. */
static void serve_hops(struct peer *peer, int fd, const char *url, const char *table)
{
    char byte, line[4096];
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    while (read(fd, &byte, 1) == 1) {
        if (byte == 1) {
            if (!fgets(line, sizeof line, stdin))
                break;
            write_body(&body, table, line);
            get(peer, url, &body);
        }
        peer_need(write(fd, &byte, 1) == 1 ? peer : NULL, "reader");
    }
    _exit(EXIT_SUCCESS);
}

static bool hop(int fd, char byte)
{
    return write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1;
}

/* Warms the connection up by the first line, too, so that it is not timed. */
static size_t time_hops(struct peer *peer, char **argv, int64_t *times)
{
    int ends[2];
    size_t count = 0;
    peer_need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? peer : NULL,
              "socket");
    if (fork() == 0) {
        close(ends[0]);
        serve_hops(peer, ends[1], argv[1], argv[2]);
    }
    close(ends[1]);
    peer_need(hop(ends[0], 1) ? peer : NULL, "first line");
    for (; count < MAX_TIMES; count++) {
        int64_t began = peer_now_ns();
        if (!hop(ends[0], 1) || !hop(ends[0], 0))
            break;
        times[count] = peer_now_ns() - began;
    }
    return count;
}

int main(int argc, char **argv)
{
    struct peer peer;
    char line[4096];
    size_t count = 0;
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    int64_t *times = peer_need(calloc(MAX_TIMES, sizeof *times), "memory");
    bool hops = argc == 4 && strcmp(argv[3], "hops") == 0;
    peer_need(argc == 3 || hops ? argv : NULL, "URL TABLE [hops]");
    peer_init(&peer, argv[1]);
    if (hops)
        count = time_hops(&peer, argv, times);
    while (!hops && count < MAX_TIMES && fgets(line, sizeof line, stdin)) {
        write_body(&body, argv[2], line);
        if (count == 0)
            get(&peer, argv[1], &body);
        times[count++] = get(&peer, argv[1], &body);
    }
    peer_print(times, count);
    peer_clean_up(&peer);
    free(times);
    return EXIT_SUCCESS;
}
