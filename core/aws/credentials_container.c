/* Credentials from the endpoint that a container's environment names. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <strings.h>

#include "core/aws/aws_fault.h"
#include "core/aws/credentials_providers.h"
#include "core/aws/document.h"
#include "core/aws/local_call.h"
#include "core/aws/url.h"
#include "core/base/instant.h"

#define RELATIVE_URI "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
#define FULL_URI "AWS_CONTAINER_CREDENTIALS_FULL_URI"
#define TOKEN "AWS_CONTAINER_AUTHORIZATION_TOKEN"
#define TOKEN_FILE "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
#define ECS_HOST "169.254.170.2"

enum {
    CONTAINER_ATTEMPTS = 3,
    CONTAINER_TIMEOUT_MS = 2000,
    CONTAINER_PAUSE_MS = 1000, /* between attempts */
};

static const char container_name[] = "the container's credentials endpoint";

struct container_provider {
    struct credentials_provider base;
    struct credentials_failure failure; /* of the endpoint */
};

struct container_request {
    struct credentials_request base;
    struct local_call *call;
    struct buf url;            /* owned */
    struct buf token;          /* owned; a secret; empty if none is sent */
    struct stored_stamp stamp; /* of the endpoint */
    const char *origin;
};

static void container_clean_up_request(struct credentials_request *base)
{
    struct container_request *request = (struct container_request *)base;
    local_call_end(request->call);
    buf_clean_up(&request->url);
    buf_clean_up_secret(&request->token);
}

/* The address. */

/* Whether HOST is on this machine or next to it, so that a token can be sent to it without TLS. */
static bool container_is_near(struct span host)
{
    static const char *const hosts[] = {ECS_HOST, "169.254.170.23", "fd00:ec2::23", "localhost"};
    char text[INET6_ADDRSTRLEN];
    struct in_addr ipv4;
    struct in6_addr ipv6;
    if (span_starts(host, SPAN_LITERAL("[")))
        host = span_of(host.data + 1, host.size - 2);
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        if (host.size == strlen(hosts[i]) && strncasecmp(host.data, hosts[i], host.size) == 0)
            return true;
    if (host.size >= sizeof text)
        return false;
    memcpy(text, host.data, host.size);
    text[host.size] = '\0';
    if (inet_pton(AF_INET, text, &ipv4) == 1)
        return ntohl(ipv4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &ipv6) == 1 && IN6_IS_ADDR_LOOPBACK(&ipv6);
}

static bool container_check_url(const struct container_request *request, struct error *err)
{
    const char *text = buf_text(&request->url);
    size_t path_size = strcspn(text, "?");
    struct aws_url url;
    CLEAN_UP(buf_clean_up) struct buf shown = {0};
    aws_url_write_shown(&shown, buf_span(&request->url));
    bool is_good = aws_url_parse(span_of(text, path_size), &url);
    for (const char *at = text + path_size; *at; at++) /* the query is sent without encoding */
        is_good = is_good && *at > ' ' && *at <= '~' && !strchr("#\"<>\\^`{|}", *at);
    if (!is_good)
        return error_set(err, ERROR_DENIED,
                         "%s results in \"%.200s\", which is no address; set it to http:// or "
                         "https://, a host, and a path, such as http://" ECS_HOST "/v2/credentials",
                         request->origin, buf_text(&shown));
    if (!url.tls && !container_is_near(url.host))
        return error_set(err, ERROR_DENIED,
                         "%s results in \"%.200s\", and no request for credentials is sent there "
                         "in plain text; use https://, or http:// with 127.0.0.1, [::1], "
                         "localhost, " ECS_HOST ", 169.254.170.23 or [fd00:ec2::23]",
                         request->origin, buf_text(&shown));
    return true;
}

/* Finds the token, which becomes a header: a line end in it would begin another header. */
static bool container_find_token(struct container_request *request, struct error *err)
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
        buf_add_span(&request->token, buf_span(&token));
    } else if (text) {
        buf_add_text(&request->token, text);
    }
    for (size_t i = 0; i < request->token.size; i++)
        if (request->token.data[i] < ' ' || request->token.data[i] > '~')
            return error_set(err, ERROR_DENIED,
                             "the token of %s%s%.300s contains a line end or another character "
                             "that no header can carry; write it without",
                             path ? TOKEN_FILE : TOKEN, path ? " in " : "", path ? path : "");
    return !request->token.failed || error_no_memory(err);
}

/* The response. */

/* The endpoint's own sentence is added unless it quotes the token. */
static void container_read_refusal(const struct container_request *request,
                                   const struct http_response *response, struct error *err)
{
    CLEAN_UP(document_clean_up)
    struct document *document = document_parse(response->body, container_name, NULL);
    const char *text = document ? document_text(document, "message") : NULL;
    char sentence[300] = "";
    if (!text && document)
        text = document_text(document, "Message");
    if (text && (request->token.size == 0 || !strstr(text, buf_text(&request->token))))
        aws_fault_copy_sentence(sentence, sizeof sentence, span_text(text));
    error_set(err, ERROR_DENIED, "%s refuses (HTTP %d)%s%s; %s is %.200s", container_name,
              response->status, sentence[0] ? ": " : "", sentence, request->origin,
              buf_text(&request->url));
    err->http_status = response->status;
}

static bool container_read_credentials(struct container_request *request,
                                       const struct document *document, struct credentials *out,
                                       struct error *err)
{
    static const char *const needed[] = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"};
    struct clock *clock = loop_clock(request->base.provider->context->loop);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!document_word(document, needed[i]))
            return error_set(err, ERROR_BAD_ANSWER, "the response of %s has no %s", container_name,
                             needed[i]);
    const char *expiration = document_text(document, "Expiration");
    struct instant expires = instant_parse(span_text(expiration));
    if (!expires.known)
        return error_set(err, ERROR_BAD_ANSWER, "the Expiration of %s is no point in time",
                         container_name);
    if (expires.ms <= clock->wall_ms(clock))
        return error_set(err, ERROR_EXPIRED,
                         "the credentials of %s have expired already (%s); check the clock of this "
                         "machine",
                         container_name, expiration);
    out->method = "container-role";
    out->expires_wall_ms = expires.ms;
    return credentials_fill(out, span_text(document_word(document, "AccessKeyId")),
                            span_text(document_word(document, "SecretAccessKey")),
                            span_text(document_word(document, "Token")),
                            span_text(document_word(document, "AccountId")), request->origin) ||
           error_no_memory(err);
}

static void container_on_response(void *arg, const struct http_response *response,
                                  const struct error *err)
{
    struct container_request *request = arg;
    struct container_provider *provider = (struct container_provider *)request->base.provider;
    struct credentials_result result = {.found = CREDENTIALS_FOUND};
    CLEAN_UP(document_clean_up) struct document *document = NULL;
    request->call = NULL;
    if (err) {
        result.err = *err;
        error_add(&result.err, "; this is %s, and %s names it", container_name, request->origin);
    } else if (response->status != 200) {
        container_read_refusal(request, response, &result.err);
    } else {
        document = document_parse(
            response->body, "the response of the container's credentials endpoint", &result.err);
    }
    if (document &&
        container_read_credentials(request, document, &result.credentials, &result.err)) {
        credentials_request_finish(&request->base, &result);
        return;
    }
    credentials_failure_set(&provider->failure, &request->stamp, provider->base.context->loop,
                            &result.err);
    credentials_request_fail(&request->base, &result.err);
}

/* The provider. */

static bool container_send(struct container_request *request, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf header = {0};
    if (request->url.failed)
        return error_no_memory(err);
    if (!container_check_url(request, err) || !container_find_token(request, err))
        return false;
    /* A header that ends in a semicolon has an empty value. */
    buf_printf(&header, "Authorization%s%s", request->token.size ? ": " : ";",
               buf_text(&request->token));
    bool has_token = getenv(TOKEN_FILE) || getenv(TOKEN);
    struct local_request to_send = {
        .name = container_name,
        .method = "GET",
        .url = buf_text(&request->url),
        .headers = {"Accept: application/json", has_token ? buf_text(&header) : NULL},
        .timeout_ms = CONTAINER_TIMEOUT_MS,
        .attempts = CONTAINER_ATTEMPTS,
        .pause_ms = CONTAINER_PAUSE_MS,
        .is_good = local_call_has_document,
    };
    if (!header.failed)
        request->call = local_call_start(request->base.provider->context, &to_send,
                                         container_on_response, request);
    return request->call || error_no_memory(err);
}

/* As in the AWS CLI, a variable that is set counts even if it is empty. */
static void container_begin(struct credentials_request *base)
{
    struct container_request *request = (struct container_request *)base;
    struct container_provider *provider = (struct container_provider *)base->provider;
    const char *relative = getenv(RELATIVE_URI), *full = getenv(FULL_URI);
    struct error err;
    if (!relative && !full) {
        struct credentials_result absent = {.found = CREDENTIALS_ABSENT};
        credentials_request_report(base, &absent);
        return;
    }
    request->origin = relative ? RELATIVE_URI : FULL_URI;
    buf_printf(&request->url, "%s%s", relative ? "http://" ECS_HOST : "",
               relative ? relative : full);
    request->stamp = stored_stamp_of(buf_span(&request->url));
    const struct error *failure = credentials_failure_find(&provider->failure, &request->stamp,
                                                           base->provider->context->loop);
    if (failure) {
        err = *failure;
        credentials_request_fail(base, &err);
    } else if (!container_send(request, &err)) {
        credentials_request_fail(base, &err);
    }
}

struct credentials_provider *credentials_container_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct container_request),
        .begin = container_begin,
        .clean_up_request = container_clean_up_request,
    };
    return credentials_provider_new(sizeof(struct container_provider), &ops, context);
}
