/* Credentials of a role from the portal of SSO (IAM Identity Center), which wants a token. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/aws/cli_cache.h"
#include "core/aws/credentials_providers.h"
#include "core/aws/document.h"
#include "core/aws/endpoint.h"
#include "core/aws/sign_in.h"
#include "core/aws/sso_token.h"
#include "core/aws/token_call.h"
#include "core/aws/url.h"
#include "core/json/json.h"
#include "core/json/writer.h"

/* The keys that a profile must have. */
enum { SSO_ROLE, SSO_ACCOUNT, SSO_START_URL, SSO_REGION, SSO_KEYS };

static const char *const sso_keys[SSO_KEYS] = {
    [SSO_ROLE] = "sso_role_name",
    [SSO_ACCOUNT] = "sso_account_id",
    [SSO_START_URL] = "sso_start_url",
    [SSO_REGION] = "sso_region",
};

struct sso_provider {
    struct credentials_provider base;
    struct aws_client client;
    struct sso_tokens *own_tokens;      /* owned; NULL if the context has tokens */
    struct stored_stamp delivered;      /* of the key id that was delivered last */
    struct credentials_failure refusal; /* of a token by the portal */
};

struct sso_request {
    struct credentials_request base;
    struct sso_waiter waiter;  /* while it awaits a token */
    struct token_call *call;   /* while it awaits the portal */
    char *values[SSO_KEYS];    /* owned */
    char *session;             /* owned; NULL in a profile without sso_session */
    char *origin;              /* owned */
    char *cache;               /* owned; the file of the AWS CLI's cache */
    struct stored_stamp token; /* that was sent to the portal */
};

static void sso_clean_up_request(struct credentials_request *base)
{
    struct sso_request *request = (struct sso_request *)base;
    token_call_end(request->call);
    list_remove(&request->waiter.node);
    for (size_t i = 0; i < SSO_KEYS; i++)
        free(request->values[i]);
    free(request->session);
    free(request->origin);
    free(request->cache);
}

static void sso_clean_up(struct credentials_provider *base)
{
    sso_tokens_destroy(((struct sso_provider *)base)->own_tokens);
}

static struct sso_provider *sso_provider_of(const struct sso_request *request)
{
    return (struct sso_provider *)request->base.provider;
}

/* The profile. */

static bool sso_copy(char **out, struct span value, struct error *err)
{
    free(*out);
    *out = strndup(value.data, value.size);
    return *out || error_no_memory(err);
}

/* WHAT is a predicate, such as "has no sso_region". */
static bool sso_fail_profile(const struct sso_request *request, const char *what, struct error *err)
{
    return error_set(err, ERROR_DENIED, "profile %.200s, which has SSO credentials, %s",
                     request->base.provider->context->profile, what);
}

/* A value that is both in the profile and in the session must be the same. */
static bool sso_read_session(struct sso_request *request, struct span name, struct error *err)
{
    const struct credentials_context *context = request->base.provider->context;
    const struct profile_file *config = &context->profiles->config;
    char what[320];
    struct span key, value, other;
    if (!sso_copy(&request->session, name, err))
        return false;
    if (!profile_has_section(config, "sso-session", request->session)) {
        snprintf(what, sizeof what, "names sso_session %.200s, and there is no [sso-session %.60s]",
                 request->session, request->session);
        return sso_fail_profile(request, what, err);
    }
    for (size_t at = 0; profile_next(config, "sso-session", request->session, &at, &key, &value);) {
        CLEAN_UP(buf_clean_up) struct buf key_text = {0};
        buf_add_span(&key_text, key);
        if (profiles_get(context->profiles, context->profile, buf_text(&key_text), &other) &&
            !span_equal(value, other)) {
            snprintf(what, sizeof what, "has another %.60s than its [sso-session %.60s]",
                     buf_text(&key_text), request->session);
            return sso_fail_profile(request, what, err);
        }
        for (size_t i = 0; i < SSO_KEYS; i++)
            if (strcasecmp(buf_text(&key_text), sso_keys[i]) == 0 &&
                !sso_copy(&request->values[i], value, err))
                return false;
    }
    return true;
}

static bool sso_check_values(const struct sso_request *request, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf missing = {0};
    buf_add_text(&missing, "has no ");
    size_t begin = missing.size;
    for (size_t i = 0; i < SSO_KEYS; i++)
        if (!request->values[i] || !request->values[i][0])
            buf_printf(&missing, "%s%s", missing.size > begin ? ", " : "", sso_keys[i]);
    if (missing.failed)
        return error_no_memory(err);
    if (missing.size > begin) {
        buf_add_text(&missing, "; set it (aws configure sso)");
        return sso_fail_profile(request, buf_text(&missing), err);
    }
    /* A region becomes a label of a host's name. */
    return aws_url_is_label(span_text(request->values[SSO_REGION])) ||
           sso_fail_profile(request, "has an invalid sso_region; correct it", err);
}

static enum credentials_found sso_read_profile(struct sso_request *request, struct error *err)
{
    const struct credentials_context *context = request->base.provider->context;
    const struct profiles *profiles = context->profiles;
    CLEAN_UP(buf_clean_up) struct buf origin = {0}, arguments = {0};
    struct span value;
    for (size_t i = 0; i < SSO_KEYS; i++)
        if (profiles_get(profiles, context->profile, sso_keys[i], &value) &&
            !sso_copy(&request->values[i], value, err))
            return CREDENTIALS_FAILED;
    if (!request->values[SSO_ROLE] && !request->values[SSO_ACCOUNT])
        return CREDENTIALS_ABSENT;
    if (profiles_get(profiles, context->profile, "sso_session", &value) &&
        !sso_read_session(request, value, err))
        return CREDENTIALS_FAILED;
    if (!sso_check_values(request, err))
        return CREDENTIALS_FAILED;
    profiles_origin(profiles,
                    profile_get(&profiles->config, context->profile, "sso_account_id", &value)
                        ? PROFILE_CONFIG
                        : PROFILE_CREDENTIALS,
                    context->profile, &origin);
    request->origin = buf_steal(&origin, NULL);
    /* The name of the cache's file is a digest of the arguments in the order of their names. */
    const char *session = request->session;
    struct json_writer json = json_writer_to(&arguments);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_write_ascii(json_writer_add_value(&json, "accountId"),
                     span_text(request->values[SSO_ACCOUNT]));
    json_write_ascii(json_writer_add_value(&json, "roleName"),
                     span_text(request->values[SSO_ROLE]));
    json_write_ascii(json_writer_add_value(&json, session ? "sessionName" : "startUrl"),
                     span_text(session ? session : request->values[SSO_START_URL]));
    json_writer_end(&json);
    request->cache = arguments.failed ? NULL : cli_cache_path(buf_span(&arguments));
    if (request->origin && request->cache)
        return CREDENTIALS_FOUND;
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

/* The result. */

static bool sso_read_cache(const struct sso_request *request, struct credentials *out)
{
    struct clock *clock = loop_clock(request->base.provider->context->loop);
    return cli_cache_read(request->cache, clock->wall_ms(clock), out);
}

/* Takes FOUND over. */
static void sso_finish(struct sso_request *request, struct credentials *found)
{
    struct credentials_result result = {.found = CREDENTIALS_FOUND, .credentials = *found};
    *found = (struct credentials){0};
    result.credentials.method = "sso";
    result.credentials.origin = request->origin;
    request->origin = NULL;
    if (!result.credentials.account_id) {
        result.credentials.account_id = request->values[SSO_ACCOUNT];
        request->values[SSO_ACCOUNT] = NULL;
    }
    sso_provider_of(request)->delivered =
        stored_stamp_of(span_text(result.credentials.access_key_id));
    credentials_request_finish(&request->base, &result);
}

/* Credentials in the cache may be the reason for this request, if they were delivered before and
 * refused. They are better than a failure, because they outlive the token. */
static void sso_fail_or_finish_cached(struct sso_request *request, const struct error *err)
{
    struct credentials cached = {0};
    if (sso_read_cache(request, &cached))
        sso_finish(request, &cached);
    else
        credentials_request_fail(&request->base, err);
}

/* The portal. */

static bool sso_read_response(const struct sso_request *request, const struct document *response,
                              struct credentials *out, struct error *err)
{
    struct clock *clock = loop_clock(request->base.provider->context->loop);
    const char *id = document_word(response, "roleCredentials.accessKeyId");
    const char *secret = document_word(response, "roleCredentials.secretAccessKey");
    const char *token = document_word(response, "roleCredentials.sessionToken");
    if (!id || !secret || !token ||
        !document_number(response, "roleCredentials.expiration", &out->expires_wall_ms))
        return error_set(err, ERROR_BAD_ANSWER,
                         "the response of the SSO portal lacks a usable accessKeyId, "
                         "secretAccessKey, sessionToken or expiration");
    if (out->expires_wall_ms <= clock->wall_ms(clock))
        return error_set(err, ERROR_EXPIRED,
                         "the SSO portal sent credentials that have expired already; check this "
                         "machine's clock");
    return credentials_fill(out, span_text(id), span_text(secret), span_text(token),
                            span_text(request->values[SSO_ACCOUNT]), NULL) ||
           error_no_memory(err);
}

/* The refusal WHY of the portal, with advice. */
static void sso_explain(const struct sso_request *request, const struct error *why,
                        struct error *err)
{
    const char *profile = request->base.provider->context->profile;
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    sign_in_write_command(&command, "sso login", profile);
    *err = *why;
    if (why->http_status == 401)
        error_set(err, ERROR_EXPIRED,
                  "the sign-in to SSO%s%.100s is no longer valid: %.200s; sign in: %s",
                  request->session ? " session " : "", request->session ? request->session : "",
                  why->text, buf_text(&command));
    else if (why->kind == ERROR_DENIED)
        error_set(err, ERROR_DENIED,
                  "you have no role %.64s in account %.20s by SSO: %.200s; check sso_role_name "
                  "and sso_account_id of profile %.100s, or request the role",
                  request->values[SSO_ROLE], request->values[SSO_ACCOUNT], why->text, profile);
    token_call_copy_fault(err, why);
}

static void sso_on_response(void *arg, struct document *response, const struct error *err)
{
    struct sso_request *request = arg;
    struct sso_provider *provider = sso_provider_of(request);
    CLEAN_UP(document_clean_up) struct document *owned = response;
    struct credentials found = {0};
    struct error why = {0};
    request->call = NULL;
    if (owned && sso_read_response(request, owned, &found, &why)) {
        cli_cache_write(request->cache, &found, "sso", provider->base.context->log);
        sso_finish(request, &found);
        return;
    }
    if (err) {
        sso_explain(request, err, &why);
        provider->refusal = (struct credentials_failure){0};
        if (err->http_status == 401)
            credentials_failure_set(&provider->refusal, &request->token,
                                    provider->base.context->loop, err);
    }
    sso_fail_or_finish_cached(request, &why);
}

static bool sso_send(struct sso_request *request, const char *token, struct error *err)
{
    struct sso_provider *provider = sso_provider_of(request);
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    CLEAN_UP(buf_clean_up) struct buf query = {0};
    buf_add_text(&query, "role_name=");
    aws_url_encode(&query, span_text(request->values[SSO_ROLE]));
    buf_add_text(&query, "&account_id=");
    aws_url_encode(&query, span_text(request->values[SSO_ACCOUNT]));
    if (query.failed)
        return error_no_memory(err);
    if (!aws_endpoint_init(&endpoint, provider->base.context->settings, AWS_SSO,
                           request->values[SSO_REGION], NULL, err))
        return false;
    struct token_request to_send = {
        .name = "the SSO portal",
        .endpoint = &endpoint,
        .method = "GET",
        .path = "federation/credentials",
        .query = query.data,
        .secret_name = "x-amz-sso_bearer_token",
        .secret_value = token,
        .timeout_ms = TOKEN_CALL_MS,
    };
    request->call = token_call_start(&provider->client, &to_send, sso_on_response, request);
    return request->call || error_no_memory(err);
}

/* Finds a token and sends it; called again after a refresh. */
static void sso_find_token(void *arg)
{
    struct sso_request *request = arg;
    struct sso_provider *provider = sso_provider_of(request);
    const struct credentials_context *context = provider->base.context;
    CLEAN_UP(buf_clean_up_secret) struct buf token = {0};
    struct sso_login login = {.profile = context->profile,
                              .session = request->session,
                              .start_url = request->values[SSO_START_URL],
                              .region = request->values[SSO_REGION]};
    struct error err = {0};
    enum sso_token_state state =
        sso_tokens_find(provider->own_tokens ? provider->own_tokens : context->sso_tokens, context,
                        &login, &request->waiter, &token, &err);
    if (state == SSO_TOKEN_REFRESHING)
        return;
    if (state == SSO_TOKEN_VALID) {
        request->token = stored_stamp_of(buf_span(&token));
        const struct error *refusal =
            credentials_failure_find(&provider->refusal, &request->token, context->loop);
        if (refusal)
            sso_explain(request, refusal, &err);
        else if (sso_send(request, buf_text(&token), &err))
            return;
    }
    sso_fail_or_finish_cached(request, &err);
}

static void sso_begin(struct credentials_request *base)
{
    struct sso_request *request = (struct sso_request *)base;
    struct credentials cached = {0};
    struct credentials_result result = {0};
    result.found = sso_read_profile(request, &result.err);
    if (result.found != CREDENTIALS_FOUND) {
        credentials_request_report(base, &result);
        return;
    }
    if (sso_read_cache(request, &cached)) {
        struct stored_stamp stamp = stored_stamp_of(span_text(cached.access_key_id));
        if (!stored_same(&stamp, &sso_provider_of(request)->delivered)) {
            sso_finish(request, &cached);
            return;
        }
    }
    credentials_clean_up(&cached);
    request->waiter = (struct sso_waiter){.fn = sso_find_token, .arg = request};
    sso_find_token(request);
}

struct credentials_provider *credentials_sso_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct sso_request),
        .begin = sso_begin,
        .clean_up_request = sso_clean_up_request,
        .clean_up = sso_clean_up,
    };
    struct credentials_provider *base =
        credentials_provider_new(sizeof(struct sso_provider), &ops, context);
    struct sso_provider *provider = (struct sso_provider *)base;
    if (!provider)
        return NULL;
    provider->client = token_call_client(context);
    provider->own_tokens = context->sso_tokens ? NULL : sso_tokens_new();
    if (provider->own_tokens || context->sso_tokens)
        return base;
    credentials_provider_destroy(base);
    return NULL;
}
