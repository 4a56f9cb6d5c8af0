/* Asking the endpoint that a container's environment names. */
#include "core/aws/credentials_container.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "core/aws/aws_error.h"
#include "core/aws/document.h"
#include "core/aws/local_call.h"
#include "core/aws/stored.h"
#include "core/aws/url.h"
#include "core/base/instant.h"
#include "core/base/printable.h"

#define RELATIVE_URI "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
#define FULL_URI "AWS_CONTAINER_CREDENTIALS_FULL_URI"
#define TOKEN "AWS_CONTAINER_AUTHORIZATION_TOKEN"
#define TOKEN_FILE "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
#define ECS_HOST "169.254.170.2"

static const char what[] = "the container's credentials endpoint";

struct container_provider {
    struct credentials_provider base; /* first: a provider is cast to it */
    const struct credentials_context *context;
    int64_t failed_ms; /* when the endpoint failed last, and how */
    struct error why;
};

/* A question waits for its timer first, since nothing is answered from within it, and then for the
 * endpoint. */
struct credentials_request {
    struct container_provider *provider;
    const struct credentials_context *context;
    struct loop_timer *timer;
    struct local_call *call;
    struct buf url;   /* owned */
    struct buf token; /* owned; a secret; empty where none is sent */
    const char *origin;
    credentials_fn *fn;
    void *arg;
};

static void container_free_get(struct credentials_request *get)
{
    buf_clean_up(&get->url);
    buf_clean_up_secret(&get->token);
    free(get);
}

static void container_report(struct credentials_request *get, struct credentials_answer *answer)
{
    credentials_fn *fn = get->fn;
    void *arg = get->arg;
    container_free_get(get);
    fn(arg, answer);
    credentials_clean_up(&answer->credentials);
}

/* Where it is. */

static bool container_is_loopback(struct span host)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr ipv4;
    struct in6_addr ipv6;
    if (host.size >= sizeof text)
        return false;
    memcpy(text, host.data, host.size);
    text[host.size] = '\0';
    if (inet_pton(AF_INET, text, &ipv4) == 1)
        return ntohl(ipv4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &ipv6) == 1 && IN6_IS_ADDR_LOOPBACK(&ipv6);
}

/* Hosts that a token may be shown to without TLS: nobody between here and them listens. */
static bool container_is_near(struct span host)
{
    static const char *const hosts[] = {ECS_HOST, "169.254.170.23", "fd00:ec2::23", "localhost"};
    if (span_starts(host, SPAN_LITERAL("[")))
        host = span_of(host.data + 1, host.size - 2);
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        if (host.size == strlen(hosts[i]) && strncasecmp(host.data, hosts[i], host.size) == 0)
            return true;
    return container_is_loopback(host);
}

/* What may stand behind a path's question mark as it is. */
static bool container_is_query(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~' || strchr("#\"<>\\^`{|}", text.data[i]))
            return false;
    return true;
}

static bool container_check_url(const struct credentials_request *get, struct error *err)
{
    const char *text = buf_text(&get->url);
    size_t path_size = strcspn(text, "?");
    struct aws_url url;
    CLEAN_UP(buf_clean_up) struct buf told = {0};
    aws_url_write_told(&told, buf_span(&get->url));
    if (!aws_url_parse(span_of(text, path_size), &url) ||
        !container_is_query(span_text(text + path_size)))
        return error_set(err, ERROR_DENIED,
                         "%s comes to \"%.200s\", which is no address: http:// or https://, a "
                         "host, and a path, such as http://" ECS_HOST "/v2/credentials",
                         get->origin, buf_text(&told));
    if (!url.tls && !container_is_near(url.host))
        return error_set(err, ERROR_DENIED,
                         "%s comes to \"%.200s\", and credentials are not asked for in plain text "
                         "there: it has to be https://, or http:// at 127.0.0.1, [::1], "
                         "localhost, " ECS_HOST ", 169.254.170.23 or [fd00:ec2::23]",
                         get->origin, buf_text(&told));
    return true;
}

/* As for the AWS CLI, a variable that is set counts, though it be empty. */
static bool container_find_url(struct credentials_request *get)
{
    const char *relative = getenv(RELATIVE_URI), *full = getenv(FULL_URI);
    if (!relative && !full)
        return false;
    get->origin = relative ? RELATIVE_URI : FULL_URI;
    buf_printf(&get->url, "%s%s", relative ? "http://" ECS_HOST : "", relative ? relative : full);
    return true;
}

/* The token, which becomes a header: a line's end in it would begin another one. */
static bool container_find_token(struct credentials_request *get, struct error *err)
{
    const char *path = getenv(TOKEN_FILE), *text = getenv(TOKEN);
    if (path) {
        CLEAN_UP(buf_clean_up_secret) struct buf token = {0};
        enum stored_found found = stored_read(path, &token, err);
        if (found == STORED_ABSENT)
            return error_set(err, ERROR_DENIED,
                             TOKEN_FILE " names %.300s, and there is no such file", path);
        if (found == STORED_FAILED)
            return false;
        buf_add_span(&get->token, buf_span(&token));
    } else if (text) {
        buf_add_text(&get->token, text);
    }
    for (size_t i = 0; i < get->token.size; i++)
        if (get->token.data[i] < ' ' || get->token.data[i] > '~')
            return error_set(err, ERROR_DENIED,
                             "the token of %s%s%.300s holds a line's end or another character that "
                             "no header takes; write it without",
                             path ? TOKEN_FILE : TOKEN, path ? " in " : "", path ? path : "");
    return !get->token.failed || error_no_memory(err);
}

/* What it says. */

/* Its own words, unless they quote the token. */
static void container_refuse(const struct credentials_request *get,
                             const struct http_response *response, struct error *err)
{
    CLEAN_UP(document_clean_up)
    struct document *document = document_parse(response->body, what, NULL);
    const char *told = document ? document_text(document, "message") : NULL;
    char sentence[300] = "";
    if (!told && document)
        told = document_text(document, "Message");
    if (told && (get->token.size == 0 || !strstr(told, buf_text(&get->token)))) {
        sentence[0] = ':';
        sentence[1] = ' ';
        aws_fault_copy_sentence(sentence + 2, sizeof sentence - 2, span_text(told));
    }
    error_set(err, ERROR_DENIED, "%s refuses (HTTP %d)%s; %s is %.200s", what, response->status,
              sentence, get->origin, buf_text(&get->url));
    err->http_status = response->status;
}

static bool container_take(struct credentials_request *get, const struct document *document,
                           struct credentials *out, struct error *err)
{
    static const char *const needed[] = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"};
    struct clock *clock = loop_clock(get->context->loop);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!document_word(document, needed[i]) || !*document_word(document, needed[i]))
            return error_set(err, ERROR_BAD_ANSWER, "the answer of %s has no %s", what, needed[i]);
    struct instant expires = instant_parse(span_text(document_text(document, "Expiration")));
    if (!expires.known)
        return error_set(err, ERROR_BAD_ANSWER, "the Expiration of %s is no point in time", what);
    out->expires_wall_ms = expires.ms;
    if (expires.ms <= clock->wall_ms(clock))
        return error_set(err, ERROR_EXPIRED,
                         "%s gave credentials that have expired already (%s); check the clock of "
                         "this machine",
                         what, document_text(document, "Expiration"));
    const char *account = document_word(document, "AccountId");
    out->method = "container-role";
    out->access_key_id = strdup(document_text(document, "AccessKeyId"));
    out->secret_access_key = strdup(document_text(document, "SecretAccessKey"));
    out->session_token = strdup(document_text(document, "Token"));
    out->account_id = account && *account ? strdup(account) : NULL;
    out->origin = strdup(get->origin);
    if (out->access_key_id && out->secret_access_key && out->session_token && out->origin &&
        (out->account_id || !account || !*account))
        return true;
    return error_no_memory(err);
}

static void container_on_response(void *arg, const struct http_response *response,
                                  const struct error *err)
{
    struct credentials_request *get = arg;
    struct credentials_answer answer = {.found = CREDENTIALS_FAILED};
    CLEAN_UP(document_clean_up) struct document *document = NULL;
    get->call = NULL;
    if (err) {
        answer.err = *err;
        error_add(&answer.err, "; it is %s, and %s names it", what, get->origin);
    } else if (response->status != 200) {
        container_refuse(get, response, &answer.err);
    } else if ((document = document_parse(response->body,
                                          "the answer of the container's "
                                          "credentials endpoint",
                                          &answer.err))) {
        if (container_take(get, document, &answer.credentials, &answer.err))
            answer.found = CREDENTIALS_FOUND;
        else
            credentials_clean_up(&answer.credentials);
    }
    if (answer.found == CREDENTIALS_FAILED) {
        get->provider->failed_ms = loop_now_ms(get->context->loop);
        get->provider->why = answer.err;
    }
    container_report(get, &answer);
}

/* As a provider. */

static bool container_start(struct credentials_request *get, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf token = {0};
    if (get->url.failed)
        return error_no_memory(err);
    if (!container_check_url(get, err) || !container_find_token(get, err))
        return false;
    bool shown = getenv(TOKEN_FILE) || getenv(TOKEN);
    buf_printf(&token, "Authorization%s%s", get->token.size ? ": " : ";", buf_text(&get->token));
    struct local_question question = {
        .what = what,
        .method = "GET",
        .url = buf_text(&get->url),
        .headers = {"Accept: application/json", shown ? buf_text(&token) : NULL},
        .timeout_ms = CONTAINER_TIMEOUT_MS,
        .attempts = CONTAINER_ATTEMPTS,
        .pause_ms = CONTAINER_PAUSE_MS,
        .is_good = local_call_has_document,
    };
    if (!get->url.failed && !token.failed)
        get->call = local_call_start(get->context, &question, container_on_response, get);
    return get->call || error_no_memory(err);
}

static void container_begin(void *arg)
{
    struct credentials_request *get = arg;
    struct credentials_answer answer = {.found = CREDENTIALS_ABSENT};
    get->timer = NULL;
    if (container_find_url(get)) {
        bool just_failed =
            loop_now_ms(get->context->loop) - get->provider->failed_ms < CONTAINER_REST_MS;
        if (!just_failed && container_start(get, &answer.err))
            return;
        if (just_failed)
            answer.err = get->provider->why;
        answer.found = CREDENTIALS_FAILED;
    }
    container_report(get, &answer);
}

static struct credentials_request *container_get(struct credentials_provider *base,
                                                 credentials_fn *fn, void *arg)
{
    struct container_provider *provider = (struct container_provider *)base;
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){
        .provider = provider, .context = provider->context, .fn = fn, .arg = arg};
    get->timer = loop_add_timer(provider->context->loop, 0, container_begin, get);
    if (get->timer)
        return get;
    free(get);
    return NULL;
}

static void container_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    local_call_end(get->call);
    container_free_get(get);
}

static void container_destroy(struct credentials_provider *base)
{
    free(base);
}

struct credentials_provider *credentials_container_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {container_get, container_cancel,
                                                        container_destroy};
    struct container_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NULL;
    *provider =
        (struct container_provider){.base = {&ops}, .context = context, .failed_ms = INT64_MIN / 2};
    return &provider->base;
}
