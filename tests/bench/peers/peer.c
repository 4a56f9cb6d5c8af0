#include "tests/bench/peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/aws/sigv4.h"

/* The keys of the harness, which the recording proxy knows. */
#define ACCESS_KEY "DEMOCONTROLLERKEY001"
#define SECRET_KEY "demo/controller+secret/0001"
#define CONTENT_TYPE "application/x-amz-json-1.0"

static struct sigv4_key signing_key; /* of the day */

void *peer_need(void *pointer, const char *what)
{
    if (pointer)
        return pointer;
    fprintf(stderr, "peer: no %s\n", what);
    exit(EXIT_FAILURE);
}

int64_t peer_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void peer_print(const int64_t *times, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%lld\n", (long long)times[i]);
}

static size_t keep_body(char *data, size_t size, size_t count, void *arg)
{
    struct peer *peer = arg;
    buf_add(&peer->body, data, size * count);
    return peer->body.failed ? 0 : size * count;
}

void peer_init(struct peer *peer, const char *url)
{
    *peer = (struct peer){.easy = peer_need(curl_easy_init(), "libcurl")};
    curl_easy_setopt(peer->easy, CURLOPT_URL, url);
    curl_easy_setopt(peer->easy, CURLOPT_WRITEFUNCTION, keep_body);
    curl_easy_setopt(peer->easy, CURLOPT_WRITEDATA, peer);
    curl_easy_setopt(peer->easy, CURLOPT_PRIVATE, peer);
    curl_easy_setopt(peer->easy, CURLOPT_TIMEOUT_MS, 60000L);
    if (getenv("AWS_CA_BUNDLE"))
        curl_easy_setopt(peer->easy, CURLOPT_CAINFO, getenv("AWS_CA_BUNDLE"));
    curl_easy_setopt(peer->easy, CURLOPT_FORBID_REUSE, getenv("FRESH") ? 1L : 0L);
}

void peer_clean_up(struct peer *peer)
{
    curl_easy_cleanup(peer->easy);
    curl_slist_free_all(peer->headers);
    buf_clean_up(&peer->body);
}

/* "127.0.0.1:8000" of "http://127.0.0.1:8000/". */
static struct span host_of(const char *url)
{
    const char *from = strstr(url, "//");
    from = from ? from + 2 : url;
    return span_of(from, strcspn(from, "/"));
}

static void add_header(struct peer *peer, const char *name, struct span value)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    buf_printf(&line, "%s: %.*s", name, (int)value.size, value.data);
    peer->headers = peer_need(curl_slist_append(peer->headers, buf_text(&line)), "memory");
}

static void add_headers(struct peer *peer, const struct sigv4_request *request,
                        struct span signature)
{
    static const char *const names[] = {"Content-Type", "Host", "X-Amz-Date", "X-Amz-Target"};
    curl_slist_free_all(peer->headers);
    peer->headers = NULL;
    for (size_t i = 0; i < request->header_count; i++)
        add_header(peer, names[i], request->headers[i].value);
    add_header(peer, "Authorization", signature);
    add_header(peer, "Accept-Encoding", SPAN_LITERAL("gzip"));
    curl_easy_setopt(peer->easy, CURLOPT_HTTPHEADER, peer->headers);
}

void peer_prepare(struct peer *peer, const char *url, const char *operation, const struct buf *body)
{
    char date[SIGV4_DATE_SIZE];
    CLEAN_UP(buf_clean_up) struct buf target = {0}, signature = {0};
    buf_printf(&target, "DynamoDB_20120810.%s", operation);
    sigv4_date(date, (int64_t)time(NULL) * 1000);
    const struct sigv4_header headers[] = {{"content-type", SPAN_LITERAL(CONTENT_TYPE)},
                                           {"host", host_of(url)},
                                           {"x-amz-date", span_text(date)},
                                           {"x-amz-target", buf_span(&target)}};
    const struct sigv4_request request = {"POST", "/", "", headers, 4, buf_span(body)};
    const struct sigv4_scope scope = {date, "us-east-1", "dynamodb"};
    bool ok = sigv4_key_derive(&signing_key, &scope, SECRET_KEY) &&
              sigv4_sign(&signature, &request, &scope, ACCESS_KEY, &signing_key);
    peer_need(ok ? peer : NULL, "signature");
    add_headers(peer, &request, buf_span(&signature));
    curl_easy_setopt(peer->easy, CURLOPT_POSTFIELDS, body->data);
    curl_easy_setopt(peer->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
    buf_truncate(&peer->body, 0);
}

void peer_perform(struct peer *peer)
{
    long status = 0;
    CURLcode code = curl_easy_perform(peer->easy);
    curl_easy_getinfo(peer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status == 200)
        return;
    fprintf(stderr, "peer: %s, HTTP %ld: %.300s\n", curl_easy_strerror(code), status,
            buf_text(&peer->body));
    exit(EXIT_FAILURE);
}
