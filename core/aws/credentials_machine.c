/* The machine's region and its role's credentials, from the metadata service of EC2 and of machines
 * that imitate it: version 2, with a token; version 1 where the service has no tokens. */
#include <stdlib.h>
#include <strings.h>

#include "core/aws/aws_fault.h"
#include "core/aws/credentials_cache.h"
#include "core/aws/credentials_providers.h"
#include "core/aws/document.h"
#include "core/aws/local_call.h"
#include "core/aws/sign_in.h"
#include "core/aws/url.h"
#include "core/base/instant.h"
#include "core/base/printable.h"

#define TOKEN_LASTS "X-aws-ec2-metadata-token-ttl-seconds: 21600"
#define ROLES "meta-data/iam/security-credentials/"
#define ZONE "meta-data/placement/availability-zone/"

enum {
    MOST_TIMEOUT_S = 3600,
    MOST_ATTEMPTS = 100,
    MAX_TOKEN = 4096,
    MAX_ROLE = 256,
};

static const char machine_name[] = "the machine's metadata service";

struct machine_provider {
    struct credentials_provider base;
    int64_t absent_until_ms; /* no request is sent before */
};

enum machine_found {
    MACHINE_FOUND,
    MACHINE_ABSENT, /* the service is turned off, does not respond, or does not have the text */
    MACHINE_FAILED, /* the settings are wrong, or the service refuses to send a token */
};

struct machine_result {
    enum machine_found found;
    struct span text; /* borrowed */
    bool responded;
    struct error err; /* why nothing was found; no kind if the service is turned off */
};

struct machine_request;
typedef void machine_fn(struct machine_request *request, const struct machine_result *result);

/* Reads texts of the service, one at a time, with one token. */
struct machine_request {
    struct credentials_request base;
    struct local_call *call; /* under way */
    struct buf url;          /* owned; with a slash at its end; empty until the settings are read */
    struct buf token;        /* owned; a secret: the whole header; empty for version 1 */
    bool has_token;          /* the service has no tokens, or has sent one */
    bool v1_disabled;
    int64_t timeout_ms, attempts;
    /* The text to read. */
    struct buf path; /* owned */
    bool (*is_good)(const struct http_response *response);
    machine_fn *fn;
    char role[MAX_ROLE]; /* "" until its name is read */
};

static void machine_clean_up_request(struct credentials_request *base)
{
    struct machine_request *request = (struct machine_request *)base;
    local_call_end(request->call);
    buf_clean_up(&request->url);
    buf_clean_up(&request->path);
    buf_clean_up_secret(&request->token);
}

/* Settings. */

/* The value of VARIABLE, else of KEY in the profile; empty for none. BY gets the one that is used.
 */
static struct span machine_find_setting(const struct machine_request *request, const char *variable,
                                        const char *key, const char **by)
{
    const struct credentials_context *context = request->base.provider->context;
    const char *text = getenv(variable);
    struct span value = span_text(NULL);
    *by = text && *text ? variable : key;
    if (text && *text)
        return span_text(text);
    profiles_get(context->profiles, context->profile, key, &value);
    return value;
}

static bool machine_is_true(struct span text)
{
    return text.size == 4 && strncasecmp(text.data, "true", 4) == 0;
}

/* A whole number from LEAST on; 1 by default. */
static bool machine_find_number(const struct machine_request *request, const char *variable,
                                const char *key, int64_t least, int64_t most, int64_t *out,
                                struct error *err)
{
    const char *by;
    struct span text = machine_find_setting(request, variable, key, &by);
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

static bool machine_find_url(struct machine_request *request, struct error *err)
{
    const char *by, *older;
    struct aws_url url;
    struct span mode = machine_find_setting(request, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
                                            "ec2_metadata_service_endpoint_mode", &by);
    bool ipv6 = mode.size == 4 && strncasecmp(mode.data, "ipv6", 4) == 0;
    if (mode.size == 0)
        ipv6 = machine_is_true(
            machine_find_setting(request, "AWS_IMDS_USE_IPV6", "imds_use_ipv6", &older));
    else if (!ipv6 && !(mode.size == 4 && strncasecmp(mode.data, "ipv4", 4) == 0))
        return error_set(err, ERROR_INVALID, "%s is \"%.*s\", but takes IPv4 or IPv6", by,
                         (int)(mode.size < 60 ? mode.size : 60), mode.data);
    struct span text = machine_find_setting(request, "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                            "ec2_metadata_service_endpoint", &by);
    if (text.size == 0)
        text = span_text(ipv6 ? "http://[fd00:ec2::254]/" : "http://169.254.169.254/");
    if (!aws_url_parse(text, &url)) {
        CLEAN_UP(buf_clean_up) struct buf shown = {0};
        aws_url_write_shown(&shown, text);
        return error_set(err, ERROR_INVALID,
                         "\"%.200s\" (%s) is no address; set it to http:// or https://, a host, "
                         "and an optional port and path, such as http://169.254.169.254/",
                         buf_text(&shown), by);
    }
    buf_add_span(&request->url, text);
    if (!span_ends(text, SPAN_LITERAL("/")))
        buf_add_text(&request->url, "/");
    return !request->url.failed || error_no_memory(err);
}

static bool machine_read_settings(struct machine_request *request, struct error *err)
{
    const char *by;
    int64_t timeout_s;
    if (!machine_find_url(request, err) ||
        !machine_find_number(request, "AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout", 1,
                             MOST_TIMEOUT_S, &timeout_s, err) ||
        !machine_find_number(request, "AWS_METADATA_SERVICE_NUM_ATTEMPTS",
                             "metadata_service_num_attempts", 0, MOST_ATTEMPTS, &request->attempts,
                             err))
        return false;
    request->timeout_ms = timeout_s * 1000;
    request->v1_disabled = machine_is_true(machine_find_setting(
        request, "AWS_EC2_METADATA_V1_DISABLED", "ec2_metadata_v1_disabled", &by));
    return true;
}

/* Requests. */

static void machine_report_failure(struct machine_request *request, const struct error *err)
{
    struct machine_result result = {.found = MACHINE_FAILED, .err = *err};
    request->fn(request, &result);
}

/* Exactly one of RESPONSE and ERR is not NULL. */
static void machine_report_absent(struct machine_request *request,
                                  const struct http_response *response, const struct error *err)
{
    struct machine_result result = {.found = MACHINE_ABSENT, .responded = response != NULL};
    if (err)
        result.err = *err;
    else
        error_set(&result.err, ERROR_DENIED, "%s at %s does not return %s (HTTP %d)", machine_name,
                  buf_text(&request->url), buf_text(&request->path), response->status);
    result.err.http_status = response ? response->status : 0;
    request->fn(request, &result);
}

static void machine_send(struct machine_request *request, const char *method, const char *path,
                         const char *header, bool (*is_good)(const struct http_response *response),
                         local_call_fn *fn)
{
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    struct error err;
    buf_printf(&url, "%slatest/%s", buf_text(&request->url), path);
    struct local_request to_send = {
        .name = machine_name,
        .method = method,
        .url = buf_text(&url),
        .headers = {header},
        .timeout_ms = request->timeout_ms,
        .attempts = (unsigned)request->attempts,
        .is_good = is_good,
    };
    if (!url.failed && !request->path.failed && !request->token.failed)
        request->call = local_call_start(request->base.provider->context, &to_send, fn, request);
    if (!request->call) {
        error_no_memory(&err);
        machine_report_failure(request, &err);
    }
}

static void machine_on_text(void *arg, const struct http_response *response,
                            const struct error *err)
{
    struct machine_request *request = arg;
    request->call = NULL;
    if (!response || !request->is_good(response)) {
        machine_report_absent(request, response, err);
        return;
    }
    struct machine_result result = {
        .found = MACHINE_FOUND, .text = response->body, .responded = true};
    request->fn(request, &result);
}

static void machine_send_with_token(struct machine_request *request)
{
    machine_send(request, "GET", buf_text(&request->path),
                 request->token.size ? buf_text(&request->token) : NULL, request->is_good,
                 machine_on_text);
}

/* The service knows version 1 only, or refuses version 2. */
static bool machine_is_v1(const struct http_response *response)
{
    return response->status == 403 || response->status == 404 || response->status == 405;
}

/* A failure of the service is worth another attempt; a refusal is not. */
static bool machine_is_conclusive(const struct http_response *response)
{
    return response->status == 200 || response->status == 400 || machine_is_v1(response);
}

static void machine_on_token(void *arg, const struct http_response *response,
                             const struct error *err)
{
    struct machine_request *request = arg;
    struct error why;
    request->call = NULL;
    if (!response || (response->status != 200 && !machine_is_v1(response))) {
        machine_report_absent(request, response, err);
        return;
    }
    struct span token = response->body;
    bool is_good = token.size > 0 && token.size <= MAX_TOKEN && credentials_is_visible(token);
    if (response->status != 200 && request->v1_disabled) {
        error_set(&why, ERROR_DENIED,
                  "%s at %s sends no token (HTTP %d), and its version 1, which needs no token, is "
                  "turned off (AWS_EC2_METADATA_V1_DISABLED, ec2_metadata_v1_disabled)",
                  machine_name, buf_text(&request->url), response->status);
        machine_report_failure(request, &why);
    } else if (response->status == 200 && !is_good) {
        error_set(&why, ERROR_BAD_ANSWER,
                  "%s at %s sends a token that no header can carry; another service may respond at "
                  "this address",
                  machine_name, buf_text(&request->url));
        machine_report_failure(request, &why);
    } else {
        request->has_token = true;
        if (response->status == 200)
            buf_printf(&request->token, "X-aws-ec2-metadata-token: %.*s", (int)token.size,
                       token.data);
        machine_send_with_token(request);
    }
}

/* Reads the text at PATH ("meta-data/iam/…") behind "latest/". A response that is not good is
 * retried as often as the settings say. FN is called now or later, once. */
static void machine_read(struct machine_request *request, const char *path,
                         bool (*is_good)(const struct http_response *response), machine_fn *fn)
{
    struct machine_result off = {.found = MACHINE_ABSENT};
    struct error err;
    buf_truncate(&request->path, 0);
    buf_add_text(&request->path, path);
    request->is_good = is_good;
    request->fn = fn;
    bool is_off = machine_is_true(span_text(getenv("AWS_EC2_METADATA_DISABLED")));
    if (!is_off && request->url.size == 0 && !machine_read_settings(request, &err))
        machine_report_failure(request, &err);
    else if (is_off || request->attempts == 0)
        fn(request, &off);
    else if (request->has_token)
        machine_send_with_token(request);
    else
        machine_send(request, "PUT", "api/token", TOKEN_LASTS, machine_is_conclusive,
                     machine_on_token);
}

/* Whether the service did not respond a moment ago. */
static bool machine_is_absent(const struct machine_request *request)
{
    const struct machine_provider *provider = (struct machine_provider *)request->base.provider;
    return loop_now_ms(provider->base.context->loop) < provider->absent_until_ms;
}

static void machine_set_absent(struct machine_request *request)
{
    struct machine_provider *provider = (struct machine_provider *)request->base.provider;
    provider->absent_until_ms = loop_now_ms(provider->base.context->loop) + MACHINE_ABSENT_MS;
}

static struct credentials_provider *machine_provider_new(const struct credentials_context *context,
                                                         const struct credentials_provider_ops *ops)
{
    struct credentials_provider *provider =
        credentials_provider_new(sizeof(struct machine_provider), ops, context);
    if (provider)
        ((struct machine_provider *)provider)->absent_until_ms = INT64_MIN;
    return provider;
}

/* The role's credentials: first the role's name, then its credentials. */

static void machine_report_without(struct machine_request *request,
                                   const struct machine_result *from)
{
    struct credentials_result result = {.found = from->found == MACHINE_FAILED ? CREDENTIALS_FAILED
                                                                               : CREDENTIALS_ABSENT,
                                        .err = from->err};
    if (from->found == MACHINE_ABSENT && !from->responded) {
        machine_set_absent(request);
        result.err = (struct error){0};
    } else if (from->found == MACHINE_ABSENT && from->err.http_status == 404 && !request->role[0]) {
        error_set(&result.err, ERROR_DENIED, "%s has no role for it (HTTP 404): attach one to it",
                  machine_name);
    }
    credentials_request_report(&request->base, &result);
}

/* Instead of credentials the document may contain a reason, with status 200, too. */
static void machine_read_reason(const struct document *document, const char *missing,
                                struct error *err)
{
    const char *code = document_text(document, "Code");
    const char *message = document_text(document, "Message");
    char word[64], sentence[300];
    if (!code || !message) {
        error_set(err, ERROR_BAD_ANSWER, "the response of %s has no %s", machine_name, missing);
        return;
    }
    printable_copy(word, sizeof word, span_text(code), PRINTABLE_WORD);
    aws_fault_copy_sentence(sentence, sizeof sentence, span_text(message));
    error_set(err, ERROR_DENIED, "%s sends no credentials: %s (%s)", machine_name, sentence, word);
}

static enum credentials_found machine_read_credentials(const struct machine_request *request,
                                                       const struct document *document,
                                                       struct credentials *out, struct error *err)
{
    static const char *const needed[] = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"};
    const struct credentials_context *context = request->base.provider->context;
    struct clock *clock = loop_clock(context->loop);
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!document_word(document, needed[i])) {
            machine_read_reason(document, needed[i], err);
            return CREDENTIALS_ABSENT;
        }
    struct instant expires = instant_parse(span_text(document_text(document, "Expiration")));
    if (!expires.known) {
        error_set(err, ERROR_BAD_ANSWER, "the Expiration of %s is no point in time", machine_name);
        return CREDENTIALS_FAILED;
    }
    out->method = "iam-role";
    /* As in the AWS CLI, credentials that have expired, or soon will, are used: the service that
     * renews them is out of order then, and DynamoDB may accept them. They are refreshed early. */
    int64_t now_ms = clock->wall_ms(clock);
    out->expires_wall_ms = expires.ms;
    if (expires.ms < now_ms + CREDENTIALS_EARLY_MS) {
        log_line(context->log, LOG_LEVEL_WARNING,
                 "%s sends credentials that end in %lld s; they are used, and refreshed soon",
                 machine_name, (long long)(expires.ms - now_ms) / 1000);
        out->expires_wall_ms = now_ms + CREDENTIALS_EARLY_MS;
    }
    buf_printf(&origin, "instance metadata, role %s", request->role);
    if (!origin.failed && credentials_fill(out, span_text(document_text(document, "AccessKeyId")),
                                           span_text(document_text(document, "SecretAccessKey")),
                                           span_text(document_text(document, "Token")),
                                           span_text(NULL), buf_text(&origin)))
        return CREDENTIALS_FOUND;
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

static void machine_on_credentials(struct machine_request *request,
                                   const struct machine_result *from)
{
    struct credentials_result result = {.found = CREDENTIALS_FAILED};
    CLEAN_UP(document_clean_up) struct document *document = NULL;
    if (from->found != MACHINE_FOUND) {
        machine_report_without(request, from);
        return;
    }
    document = document_parse(from->text, machine_name, &result.err);
    if (document)
        result.found =
            machine_read_credentials(request, document, &result.credentials, &result.err);
    credentials_request_finish(&request->base, &result);
}

static void machine_on_role_name(struct machine_request *request, const struct machine_result *from)
{
    struct machine_result failed = {.found = MACHINE_FAILED};
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (from->found != MACHINE_FOUND) {
        machine_report_without(request, from);
        return;
    }
    struct span text = from->text;
    while (text.size > 0 && (text.data[text.size - 1] == '\n' || text.data[text.size - 1] == '\r'))
        text.size--;
    bool is_name = text.size > 0 && text.size < sizeof request->role;
    for (size_t i = 0; i < text.size; i++)
        is_name = is_name && text.data[i] > ' ' && text.data[i] <= '~' &&
                  !strchr("/?#%\\\"<>", text.data[i]);
    if (is_name) {
        memcpy(request->role, text.data, text.size);
        request->role[text.size] = '\0';
        buf_printf(&path, ROLES "%s", request->role);
        if (!path.failed) {
            machine_read(request, path.data, local_call_has_document, machine_on_credentials);
            return;
        }
        error_no_memory(&failed.err);
    } else {
        error_set(&failed.err, ERROR_BAD_ANSWER,
                  "%s names no role that could be one; another service may respond in its place",
                  machine_name);
    }
    machine_report_without(request, &failed);
}

static void machine_begin(struct credentials_request *base)
{
    struct machine_request *request = (struct machine_request *)base;
    struct credentials_result absent = {.found = CREDENTIALS_ABSENT};
    if (machine_is_absent(request))
        credentials_request_report(base, &absent);
    else
        machine_read(request, ROLES, local_call_has_body, machine_on_role_name);
}

struct credentials_provider *credentials_machine_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct machine_request),
        .begin = machine_begin,
        .clean_up_request = machine_clean_up_request,
    };
    return machine_provider_new(context, &ops);
}

/* The region: the name of the zone without its last letter. */

/* WHY is the failure of the metadata service; NULL if it did not respond. */
static void machine_fail_without_region(struct machine_request *request, const struct error *why)
{
    const struct credentials_context *context = request->base.provider->context;
    const struct profiles *profiles = context->profiles;
    CLEAN_UP(buf_clean_up) struct buf option = {0};
    struct error err;
    aws_add_profile_option(&option, context->profile);
    error_set(&err, ERROR_INVALID,
              "no region: pass --region, set AWS_REGION, or set the region of profile %s (aws "
              "configure set region REGION%s)",
              context->profile, buf_text(&option));
    if (profiles->unreadable.kind != ERROR_NONE) {
        err = profiles->unreadable;
    } else if (profiles->config.is_empty) {
        err.kind = ERROR_DENIED; /* the empty file may be half-written, as for credentials */
        error_add(&err, "; %s is empty", profiles->config_path);
    }
    if (why && why->kind == ERROR_NO_MEMORY)
        err = *why;
    else if (why)
        error_add(&err, "; %s", why->text);
    credentials_request_fail(&request->base, &err);
}

static void machine_on_zone(struct machine_request *request, const struct machine_result *from)
{
    struct credentials_result absent = {.found = CREDENTIALS_ABSENT};
    struct error why = from->err;
    if (from->found == MACHINE_FOUND &&
        aws_settings_find_region(request->base.provider->context->settings,
                                 span_of(from->text.data, from->text.size - 1), "instance metadata",
                                 &why)) {
        credentials_request_report(&request->base, &absent);
        return;
    }
    bool is_absent = from->found == MACHINE_ABSENT && !from->responded;
    if (is_absent)
        machine_set_absent(request);
    machine_fail_without_region(request, is_absent ? NULL : &why);
}

static void machine_begin_region(struct credentials_request *base)
{
    struct machine_request *request = (struct machine_request *)base;
    struct credentials_result absent = {.found = CREDENTIALS_ABSENT};
    if (base->provider->context->settings->region)
        credentials_request_report(base, &absent);
    else if (machine_is_absent(request))
        machine_fail_without_region(request, NULL);
    else
        machine_read(request, ZONE, local_call_has_body, machine_on_zone);
}

struct credentials_provider *credentials_region_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct machine_request),
        .begin = machine_begin_region,
        .clean_up_request = machine_clean_up_request,
    };
    return machine_provider_new(context, &ops);
}
