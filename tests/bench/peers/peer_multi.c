/* peer_multi URL TABLE CONNECTIONS: a GetItem for each "PK SK" line of standard input, all at once
 * over so many connections, by curl's multi interface. The connections are made by a first round
 * that is not timed. Prints the time of the second in nanoseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/peers/peer.h"

enum { MOST = 1024 };

struct question {
    struct peer peer;
    struct buf body;
};

static size_t read_questions(struct question *questions, const char *url, const char *table)
{
    char line[4096];
    size_t count = 0;
    while (count < MOST && fgets(line, sizeof line, stdin)) {
        char *pk = strtok(line, " \n");
        char *sk = strtok(NULL, " \n");
        peer_init(&questions[count].peer, url);
        buf_printf(&questions[count].body,
                   "{\"TableName\":\"%s\",\"Key\":{\"pk\":{\"S\":\"%s\"},\"sk\":{\"S\":\"%s\"}}}",
                   table, (char *)peer_need(pk, "pk"), (char *)peer_need(sk, "sk"));
        count++;
    }
    return count;
}

static void check(CURLM *multi)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        long status = 0;
        curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
        peer_need(message->data.result == CURLE_OK && status == 200 ? multi : NULL, "good answer");
    }
}

static int64_t run(CURLM *multi, struct question *questions, size_t count, const char *url)
{
    int running = 1;
    int64_t began = peer_now_ns();
    for (size_t i = 0; i < count; i++) {
        peer_prepare(&questions[i].peer, url, "GetItem", &questions[i].body);
        curl_multi_add_handle(multi, questions[i].peer.easy);
    }
    while (running) {
        curl_multi_perform(multi, &running);
        check(multi);
        if (running)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    int64_t took = peer_now_ns() - began;
    for (size_t i = 0; i < count; i++)
        curl_multi_remove_handle(multi, questions[i].peer.easy);
    return took;
}

int main(int argc, char **argv)
{
    peer_need(argc == 4 ? argv : NULL, "URL TABLE CONNECTIONS");
    long connections = strtol(argv[3], NULL, 10);
    struct question *questions = peer_need(calloc(MOST, sizeof *questions), "memory");
    CURLM *multi = peer_need(curl_multi_init(), "libcurl");
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections);
    size_t count = read_questions(questions, argv[1], argv[2]);
    run(multi, questions, count, argv[1]);
    printf("%lld\n", (long long)run(multi, questions, count, argv[1]));
    for (size_t i = 0; i < count; i++) {
        peer_clean_up(&questions[i].peer);
        buf_clean_up(&questions[i].body);
    }
    curl_multi_cleanup(multi);
    free(questions);
    return EXIT_SUCCESS;
}
