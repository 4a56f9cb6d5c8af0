/* peer_get URL TABLE: a GetItem for each "PK SK" line of standard input, one after the other on
 * one connection that is warm before the first is timed. Prints each time in nanoseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    struct peer peer;
    char line[4096];
    size_t count = 0;
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    int64_t *times = peer_need(calloc(MAX_TIMES, sizeof *times), "memory");
    peer_need(argc == 3 ? argv : NULL, "URL TABLE");
    peer_init(&peer, argv[1]);
    while (count < MAX_TIMES && fgets(line, sizeof line, stdin)) {
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
