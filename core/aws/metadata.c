/* Where the service is, its token, and what it has. */
#include "core/aws/metadata.h"

#include <stdlib.h>
#include <strings.h>

#include "core/aws/local_call.h"
#include "core/aws/url.h"

#define TOKEN_LASTS "X-aws-ec2-metadata-token-ttl-seconds: 21600"

enum {
    MOST_TIMEOUT_S = 3600,
    MOST_ATTEMPTS = 100,
    MAX_TOKEN = 4096,
};

static const char what[] = "the machine's metadata service";

struct metadata {
    const struct credentials_context *context;
    bool is_open;     /* the settings have been read */
    struct buf url;   /* owned; with a slash at its end */
    struct buf token; /* owned; a secret: a whole header; empty for version 1 */
    bool has_token;   /* or knows that there is none */
    bool v1_disabled;
    int64_t timeout_ms, attempts;
    /* The question under way. */
    struct loop_timer *timer;
    struct local_call *call;
    struct buf path; /* owned */
    bool (*is_good)(const struct http_response *response);
    metadata_fn *fn;
    void *arg;
};

struct metadata *metadata_new(const struct credentials_context *context)
{
    struct metadata *metadata = calloc(1, sizeof *metadata);
    if (metadata)
        metadata->context = context;
    return metadata;
}

void metadata_destroy(struct metadata *metadata)
{
    if (!metadata)
        return;
    loop_remove_timer(metadata->timer);
    local_call_end(metadata->call);
    buf_clean_up(&metadata->url);
    buf_clean_up(&metadata->path);
    buf_clean_up_secret(&metadata->token);
    free(metadata);
}

/* Settings. */

/* What VARIABLE says, else KEY of the profile; empty for nothing. BY gets which of them it is. */
static struct span metadata_find(const struct metadata *metadata, const char *variable,
                                 const char *key, const char **by)
{
    const struct credentials_context *context = metadata->context;
    const char *text = getenv(variable);
    struct span value = span_text(NULL);
    *by = text && *text ? variable : key;
    if (text && *text)
        return span_text(text);
    profiles_get(context->profiles, context->profile, key, &value);
    return value;
}

static bool metadata_is_true(struct span text)
{
    return text.size == 4 && strncasecmp(text.data, "true", 4) == 0;
}

/* A whole number from LEAST on; 1 where nothing is said. */
static bool metadata_find_number(const struct metadata *metadata, const char *variable,
                                 const char *key, int64_t least, int64_t most, int64_t *out,
                                 struct error *err)
{
    const char *by;
    struct span text = metadata_find(metadata, variable, key, &by);
    int64_t number = 0;
    bool is_number = true;
    *out = 1;
    if (text.size == 0)
        return true;
    for (size_t i = 0; i < text.size; i++) {
        is_number = is_number && text.data[i] >= '0' && text.data[i] <= '9';
        if (is_number && number <= most)
            number = number * 10 + (text.data[i] - '0');
    }
    if (!is_number || number < least)
        return error_set(err, ERROR_INVALID,
                         "%s is \"%.*s\", but takes a whole number from %lld on", by,
                         (int)(text.size < 60 ? text.size : 60), text.data, (long long)least);
    *out = number < most ? number : most;
    return true;
}

/* By IPv6, where it is asked for; the older switch counts where nothing is said of the mode. */
static bool metadata_find_mode(const struct metadata *metadata, bool *ipv6, struct error *err)
{
    const char *by, *older;
    struct span mode = metadata_find(metadata, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
                                     "ec2_metadata_service_endpoint_mode", &by);
    if (mode.size == 0) {
        *ipv6 =
            metadata_is_true(metadata_find(metadata, "AWS_IMDS_USE_IPV6", "imds_use_ipv6", &older));
        return true;
    }
    *ipv6 = mode.size == 4 && strncasecmp(mode.data, "ipv6", 4) == 0;
    if (*ipv6 || (mode.size == 4 && strncasecmp(mode.data, "ipv4", 4) == 0))
        return true;
    return error_set(err, ERROR_INVALID, "%s is \"%.*s\", but takes IPv4 or IPv6", by,
                     (int)(mode.size < 60 ? mode.size : 60), mode.data);
}

static bool metadata_find_url(struct metadata *metadata, struct error *err)
{
    const char *by;
    bool ipv6;
    struct aws_url url;
    if (!metadata_find_mode(metadata, &ipv6, err))
        return false;
    struct span text = metadata_find(metadata, "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                     "ec2_metadata_service_endpoint", &by);
    if (text.size == 0)
        text = span_text(ipv6 ? "http://[fd00:ec2::254]/" : "http://169.254.169.254/");
    if (!aws_url_parse(text, &url)) {
        CLEAN_UP(buf_clean_up) struct buf told = {0};
        aws_url_write_told(&told, text);
        return error_set(err, ERROR_INVALID,
                         "\"%.200s\" (%s) is no address: http:// or https://, a host, perhaps a "
                         "port and a path, such as http://169.254.169.254/",
                         buf_text(&told), by);
    }
    buf_add_span(&metadata->url, text);
    if (!span_ends(text, SPAN_LITERAL("/")))
        buf_add_text(&metadata->url, "/");
    return !metadata->url.failed || error_no_memory(err);
}

static bool metadata_open(struct metadata *metadata, struct error *err)
{
    const char *by;
    int64_t timeout_s;
    if (!metadata_find_url(metadata, err) ||
        !metadata_find_number(metadata, "AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout",
                              1, MOST_TIMEOUT_S, &timeout_s, err) ||
        !metadata_find_number(metadata, "AWS_METADATA_SERVICE_NUM_ATTEMPTS",
                              "metadata_service_num_attempts", 0, MOST_ATTEMPTS,
                              &metadata->attempts, err))
        return false;
    metadata->timeout_ms = timeout_s * 1000;
    metadata->v1_disabled = metadata_is_true(
        metadata_find(metadata, "AWS_EC2_METADATA_V1_DISABLED", "ec2_metadata_v1_disabled", &by));
    metadata->is_open = true;
    return true;
}

/* Asking. */

static void metadata_report(struct metadata *metadata, const struct metadata_answer *answer)
{
    metadata_fn *fn = metadata->fn;
    metadata->fn = NULL;
    fn(metadata->arg, answer);
}

static void metadata_report_failure(struct metadata *metadata, const struct error *err)
{
    struct metadata_answer answer = {.found = METADATA_FAILED, .err = *err};
    metadata_report(metadata, &answer);
}

/* Nobody answers, or not with what was asked for. */
static void metadata_report_absent(struct metadata *metadata, const struct http_response *response,
                                   const struct error *err)
{
    struct metadata_answer answer = {.found = METADATA_ABSENT, .is_there = response != NULL};
    if (err)
        answer.err = *err;
    else
        error_set(&answer.err, ERROR_DENIED, "%s at %s does not tell %s (HTTP %d)", what,
                  buf_text(&metadata->url), buf_text(&metadata->path), response->status);
    answer.err.http_status = response ? response->status : 0;
    metadata_report(metadata, &answer);
}

static bool metadata_send(struct metadata *metadata, const char *method, const char *path,
                          const char *header, bool (*is_good)(const struct http_response *response),
                          local_call_fn *fn)
{
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    buf_printf(&url, "%slatest/%s", buf_text(&metadata->url), path);
    struct local_question question = {
        .what = what,
        .method = method,
        .url = buf_text(&url),
        .headers = {header},
        .timeout_ms = metadata->timeout_ms,
        .attempts = (unsigned)metadata->attempts,
        .is_good = is_good,
    };
    if (!url.failed)
        metadata->call = local_call_start(metadata->context, &question, fn, metadata);
    return metadata->call != NULL;
}

static void metadata_on_text(void *arg, const struct http_response *response,
                             const struct error *err)
{
    struct metadata *metadata = arg;
    metadata->call = NULL;
    if (!response || !metadata->is_good(response)) {
        metadata_report_absent(metadata, response, err);
        return;
    }
    struct metadata_answer answer = {
        .found = METADATA_FOUND, .text = response->body, .is_there = true};
    metadata_report(metadata, &answer);
}

static void metadata_request_with_token(struct metadata *metadata)
{
    struct error err;
    const char *header = metadata->token.size ? buf_text(&metadata->token) : NULL;
    if (metadata_send(metadata, "GET", buf_text(&metadata->path), header, metadata->is_good,
                      metadata_on_text))
        return;
    error_no_memory(&err);
    metadata_report_failure(metadata, &err);
}

/* The service knows version 1 alone, or wants no questions of version 2. */
static bool metadata_is_v1(const struct http_response *response)
{
    return response->status == 403 || response->status == 404 || response->status == 405;
}

/* A failure of the service is worth another try; what it says of the question is not. */
static bool metadata_is_word(const struct http_response *response)
{
    return response->status == 200 || response->status == 400 || metadata_is_v1(response);
}

static bool metadata_is_token(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~')
            return false;
    return text.size > 0 && text.size <= MAX_TOKEN;
}

static void metadata_on_token(void *arg, const struct http_response *response,
                              const struct error *err)
{
    struct metadata *metadata = arg;
    struct error why;
    metadata->call = NULL;
    if (!response || (response->status != 200 && !metadata_is_v1(response))) {
        metadata_report_absent(metadata, response, err);
    } else if (response->status != 200 && metadata->v1_disabled) {
        error_set(&why, ERROR_DENIED,
                  "%s at %s gives no token (HTTP %d), and its version 1, which needs none, is "
                  "turned off (AWS_EC2_METADATA_V1_DISABLED, ec2_metadata_v1_disabled)",
                  what, buf_text(&metadata->url), response->status);
        metadata_report_failure(metadata, &why);
    } else if (response->status == 200 && !metadata_is_token(response->body)) {
        error_set(&why, ERROR_BAD_ANSWER,
                  "%s at %s gives a token that no header takes; does another service answer there?",
                  what, buf_text(&metadata->url));
        metadata_report_failure(metadata, &why);
    } else {
        metadata->has_token = true;
        if (response->status == 200)
            buf_printf(&metadata->token, "X-aws-ec2-metadata-token: %.*s", (int)response->body.size,
                       response->body.data);
        metadata_request_with_token(metadata);
    }
}

static void metadata_begin(void *arg)
{
    struct metadata *metadata = arg;
    struct metadata_answer off = {.found = METADATA_ABSENT};
    struct error err;
    metadata->timer = NULL;
    bool is_off = metadata_is_true(span_text(getenv("AWS_EC2_METADATA_DISABLED")));
    if (!is_off && !metadata->is_open && !metadata_open(metadata, &err))
        metadata_report_failure(metadata, &err);
    else if (is_off || metadata->attempts == 0)
        metadata_report(metadata, &off);
    else if (metadata->has_token)
        metadata_request_with_token(metadata);
    else if (!metadata_send(metadata, "PUT", "api/token", TOKEN_LASTS, metadata_is_word,
                            metadata_on_token)) {
        error_no_memory(&err);
        metadata_report_failure(metadata, &err);
    }
}

bool metadata_request(struct metadata *metadata, const char *path,
                      bool (*is_good)(const struct http_response *response), metadata_fn *fn,
                      void *arg)
{
    buf_truncate(&metadata->path, 0);
    buf_add_text(&metadata->path, path);
    metadata->is_good = is_good;
    metadata->fn = fn;
    metadata->arg = arg;
    if (!metadata->path.failed)
        metadata->timer = loop_add_timer(metadata->context->loop, 0, metadata_begin, metadata);
    return metadata->timer != NULL;
}
