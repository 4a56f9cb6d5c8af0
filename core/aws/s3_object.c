#include "core/aws/s3_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/aws/aws_fault.h"
#include "core/aws/url.h"
#include "core/base/ascii.h"
#include "core/base/crypto.h"
#include "core/base/printable.h"

enum {
    S3_STATUS_PART = 206,
    S3_STATUS_MOVED = 301,
    S3_STATUS_REDIRECT = 307,
    S3_STATUS_BAD = 400,
    S3_STATUS_MISSING = 404,
    S3_STATUS_CHANGED = 412,
    S3_STATUS_BEYOND = 416,
    S3_LONGEST_LABEL = 63,
    S3_LONGEST_ETAG = 200,
    S3_LONGEST_REFUSAL = 64 * 1024,
};

struct s3_client {
    struct aws_session *session; /* borrowed */
    struct aws_client aws;
    int64_t deadline_ms;
    char *bucket, *region; /* owned; the region that the service stated for the bucket, or NULL */
};

/* {0} has no version and no bytes. */
struct s3_found {
    struct buf bytes;
    uint64_t size;
    char version[S3_LONGEST_ETAG];
};

struct s3_call {
    struct s3_client *client;
    struct aws_call *call;
    char *bucket, *key; /* owned */
    uint64_t from;
    struct buf range, version, digest;
    struct aws_header headers[3];
    struct aws_endpoint endpoint; /* its root is the object */
    struct s3_found found;
    bool was_moved; /* the response named another region of the bucket */
    bool has_moved; /* this call follows such a response */
    s3_part_fn *fn;
    void *arg;
};

struct s3_client *s3_client_new(struct aws_session *session, int64_t deadline_ms)
{
    struct s3_client *client = calloc(1, sizeof *client);
    if (client)
        *client = (struct s3_client){
            .session = session, .aws = aws_session_client(session), .deadline_ms = deadline_ms};
    return client;
}

void s3_client_destroy(struct s3_client *client)
{
    if (!client)
        return;
    free(client->bucket);
    free(client->region);
    free(client);
}

/* The address. */

/* Whether BUCKET can be a label of a host's name. A dot in it would not match the certificate. */
static bool s3_bucket_is_label(const char *bucket)
{
    size_t size = strlen(bucket);
    for (size_t i = 0; i < size; i++)
        if (!ascii_is_lower(bucket[i]) && !ascii_is_digit(bucket[i]) && bucket[i] != '-')
            return false;
    return size >= 3 && size <= S3_LONGEST_LABEL;
}

/* Appends KEY with its slashes, encoded once. */
static void s3_write_key(struct buf *out, struct span key)
{
    while (key.size > 0) {
        const char *slash = memchr(key.data, '/', key.size);
        size_t size = slash ? (size_t)(slash - key.data) : key.size;
        aws_url_encode(out, span_of(key.data, size));
        if (slash)
            buf_add_char(out, '/');
        key = span_from(key, size + (slash != NULL));
    }
}

/* Replaces the root of the endpoint by the object. A configured address gets the bucket in its
 * path; it may be an IP address. */
static bool s3_locate_object(struct s3_call *call, bool is_configured, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf url = {0}, path = {0}, host = {0};
    struct aws_endpoint *endpoint = &call->endpoint;
    bool by_host = !is_configured && s3_bucket_is_label(call->bucket);
    const char *behind = strstr(endpoint->url, "://");
    behind = behind ? behind + strlen("://") : endpoint->url;
    buf_add_text(&path, endpoint->path);
    if (!by_host) {
        aws_url_encode(&path, span_text(call->bucket));
        buf_add_char(&path, '/');
    }
    s3_write_key(&path, span_text(call->key));
    buf_printf(&host, "%s%s%s", by_host ? call->bucket : "", by_host ? "." : "", endpoint->host);
    buf_add(&url, endpoint->url, (size_t)(behind - endpoint->url));
    buf_add_span(&url, buf_span(&host));
    buf_add_span(&url, buf_span(&path));
    if (url.failed || path.failed || host.failed)
        return error_no_memory(err);
    free(endpoint->root_url);
    free(endpoint->root_path);
    free(endpoint->host);
    endpoint->root_url = buf_steal(&url, NULL);
    endpoint->root_path = buf_steal(&path, NULL);
    endpoint->host = buf_steal(&host, NULL);
    return true;
}

static const struct aws_endpoint *s3_locate(void *arg, enum aws_service service,
                                            const struct credentials *credentials,
                                            struct error *err)
{
    struct s3_call *call = arg;
    struct s3_client *client = call->client;
    const struct aws_settings *settings = aws_session_settings(client->session);
    bool is_known = client->region && strcmp(client->bucket, call->bucket) == 0;
    const char *configured;
    (void)service, (void)credentials;
    aws_endpoint_clean_up(&call->endpoint);
    if (!aws_settings_url(settings, AWS_S3, &configured, err) ||
        !aws_endpoint_init(&call->endpoint, settings, AWS_S3, is_known ? client->region : NULL,
                           NULL, err) ||
        !s3_locate_object(call, configured != NULL, err))
        return NULL;
    return &call->endpoint;
}

/* The response. */

/* Copies the text of the XML element NAME of BODY; "" without one. */
static void s3_copy_element(struct span body, const char *name, char *out, size_t size)
{
    CLEAN_UP(buf_clean_up) struct buf open = {0};
    buf_printf(&open, "<%s>", name);
    const char *from = open.size ? memmem(body.data, body.size, open.data, open.size) : NULL;
    struct span text = span_text("");
    if (from) {
        text = span_from(body, (size_t)(from - body.data) + open.size);
        const char *end = memchr(text.data, '<', text.size);
        text.size = end ? (size_t)(end - text.data) : 0;
    }
    aws_fault_copy_sentence(out, size, text);
    if (text.size == 0)
        out[0] = '\0';
}

/* Stores the region of a bucket that is elsewhere, so that the request is sent there. */
static void s3_note_region(struct s3_call *call, const struct http_response *response)
{
    struct s3_client *client = call->client;
    const char *region = http_header(response, "x-amz-bucket-region");
    bool may_move = response->status == S3_STATUS_MOVED || response->status == S3_STATUS_BAD ||
                    response->status == S3_STATUS_REDIRECT;
    if (!may_move || !region || call->has_moved || !aws_url_is_label(span_text(region)) ||
        strcmp(region, call->endpoint.signing_region) == 0)
        return;
    free(client->bucket);
    free(client->region);
    client->bucket = strdup(call->bucket);
    client->region = strdup(region);
    call->was_moved = client->bucket && client->region;
}

static void s3_refuse(struct s3_call *call, const struct http_response *response, struct error *err)
{
    const struct aws_settings *settings = aws_session_settings(call->client->session);
    struct aws_fault fault = {.status = response->status};
    char code[64] = "", needs[400];
    s3_copy_element(response->body, "Code", code, sizeof code);
    printable_copy(fault.code, sizeof fault.code, span_text(code), PRINTABLE_WORD);
    s3_copy_element(response->body, "Message", fault.sentence, sizeof fault.sentence);
    snprintf(needs, sizeof needs, "s3:GetObject on arn:aws:s3:::%.100s/%.200s", call->bucket,
             call->key);
    if (response->status == S3_STATUS_CHANGED)
        error_set(err, ERROR_BAD_ANSWER,
                  "s3://%s/%.300s changed while it was read; start again when its writer has ended",
                  call->bucket, call->key);
    else if (response->status == S3_STATUS_MISSING)
        error_set(err, ERROR_NOT_FOUND, "s3://%s/%.300s was not found: %s (%s)", call->bucket,
                  call->key, fault.sentence[0] ? fault.sentence : "no reason", fault.code);
    else if (!aws_fault_of_identity(&fault, NULL, NULL, aws_settings_profile(settings), err) &&
             !aws_fault_of_permission(&fault, needs, err))
        error_set(err, response->status >= 500 ? ERROR_SERVICE : ERROR_BAD_ANSWER,
                  "S3 did not send s3://%s/%.300s: %s (%s%sHTTP %d); check the bucket and the "
                  "endpoint",
                  call->bucket, call->key, fault.sentence[0] ? fault.sentence : "no reason",
                  fault.code, fault.code[0] ? ", " : "", response->status);
    memcpy(err->code, fault.code, sizeof err->code);
    s3_note_region(call, response);
}

/* Reads "bytes FROM-LAST/SIZE". */
static bool s3_read_range(const struct s3_call *call, const struct http_response *response,
                          uint64_t *size)
{
    uint64_t from, last;
    char end;
    const char *range = http_header(response, "Content-Range");
    return range &&
           sscanf(range, "bytes %" SCNu64 "-%" SCNu64 "/%" SCNu64 "%c", &from, &last, size, &end) ==
               3 &&
           from == call->from && last >= from && last < *size &&
           last - from + 1 == response->body.size &&
           (last + 1 == *size || response->body.size == S3_PART_SIZE);
}

static bool s3_take(struct s3_call *call, const struct http_response *response)
{
    struct s3_found *found = &call->found;
    const char *etag = http_header(response, "ETag");
    if (response->status == S3_STATUS_BEYOND && call->from == 0)
        found->size = 0; /* an empty object has no first byte */
    else if (response->status != S3_STATUS_PART || !s3_read_range(call, response, &found->size))
        return false;
    else if (response->holder)
        buf_move(&found->bytes, response->holder);
    else
        buf_add_span(&found->bytes, response->body);
    snprintf(found->version, sizeof found->version, "%s",
             etag && strlen(etag) < S3_LONGEST_ETAG ? etag : "");
    return true;
}

static void *s3_decode(void *arg, const struct http_response *response, struct error *err)
{
    struct s3_call *call = arg;
    if (s3_take(call, response))
        return &call->found;
    if (response->status < 300)
        error_set(
            err, ERROR_BAD_ANSWER,
            "the response of S3 is not the requested part of s3://%s/%.300s; check that %s is "
            "its endpoint, and that no proxy responds in its place",
            call->bucket, call->key, call->endpoint.host);
    else
        s3_refuse(call, response, err);
    err->http_status = response->status;
    aws_fault_read_request_id(response, err->request_id);
    return NULL;
}

/* The call. */

static void s3_sent(void *arg)
{
    (void)arg;
}

static void s3_attempted(void *arg, const struct aws_attempt *attempt)
{
    struct s3_call *call = arg;
    log_line(call->client->aws.log, LOG_LEVEL_INFO,
             "GetObject s3://%s/%s from=%" PRIu64 " status=%d ms=%lld%s%s", call->bucket, call->key,
             call->from, attempt->err ? attempt->err->http_status : S3_STATUS_PART,
             (long long)attempt->took_ms, attempt->err ? " error=" : "",
             attempt->err ? error_word(attempt->err->kind) : "");
}

static void s3_free_call(struct s3_call *call)
{
    aws_endpoint_clean_up(&call->endpoint);
    buf_clean_up(&call->found.bytes);
    buf_clean_up(&call->range);
    buf_clean_up(&call->version);
    buf_clean_up(&call->digest);
    free(call->bucket);
    free(call->key);
    free(call);
}

static bool s3_send(struct s3_call *call);

static void s3_done(void *arg, void *result, const struct error *err, unsigned tries)
{
    struct s3_call *call = arg;
    s3_part_fn *fn = call->fn;
    (void)tries;
    call->call = NULL;
    if (call->was_moved) {
        call->was_moved = false;
        call->has_moved = true;
        if (s3_send(call))
            return;
    }
    struct s3_found found = call->found;
    struct s3_part part = {buf_span(&found.bytes), found.size, found.version};
    call->found = (struct s3_found){0};
    arg = call->arg;
    s3_free_call(call);
    fn(arg, result ? &part : NULL, err);
    buf_clean_up(&found.bytes);
}

static bool s3_send(struct s3_call *call)
{
    static const struct aws_call_ops ops = {s3_decode, s3_sent, s3_attempted, s3_done};
    struct s3_client *client = call->client;
    struct clock *clock = loop_clock(client->aws.loop);
    struct aws_request request = {
        .service = "s3",
        .method = "GET",
        .query = "",
        .headers = call->headers,
        .header_count = call->version.size > 0 ? 3 : 2,
        .max_answer = S3_PART_SIZE + S3_LONGEST_REFUSAL,
        .share = call->bucket,
    };
    client->aws.locate = s3_locate;
    client->aws.locate_arg = call;
    call->call = aws_call_start(&client->aws, &request, clock->now_ms(clock) + client->deadline_ms,
                                &ops, call);
    return call->call != NULL;
}

struct s3_call *s3_part_read(struct s3_client *client, const char *bucket, const char *key,
                             uint64_t from, const char *version, s3_part_fn *fn, void *arg)
{
    uint8_t digest[DIGEST_SIZE];
    struct s3_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct s3_call){.client = client,
                             .bucket = strdup(bucket),
                             .key = strdup(key),
                             .from = from,
                             .fn = fn,
                             .arg = arg};
    buf_printf(&call->range, "bytes=%" PRIu64 "-%" PRIu64, from, from + S3_PART_SIZE - 1);
    buf_add_text(&call->version, version ? version : "");
    if (digest_sha256(span_text(""), digest))
        digest_hex(&call->digest, digest, sizeof digest);
    call->headers[0] = (struct aws_header){"X-Amz-Content-Sha256", buf_span(&call->digest)};
    call->headers[1] = (struct aws_header){"Range", buf_span(&call->range)};
    call->headers[2] = (struct aws_header){"If-Match", buf_span(&call->version)};
    if (call->bucket && call->key && call->digest.size > 0 && !call->digest.failed &&
        !call->range.failed && !call->version.failed && s3_send(call))
        return call;
    s3_free_call(call);
    return NULL;
}

void s3_call_end(struct s3_call *call)
{
    if (!call)
        return;
    aws_call_end(call->call);
    s3_free_call(call);
}
