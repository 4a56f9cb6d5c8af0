/* Sessions of `aws login`: their file is read, refreshed and written back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/aws/credentials_providers.h"
#include "core/aws/document.h"
#include "core/aws/endpoint.h"
#include "core/aws/sign_in.h"
#include "core/aws/token_call.h"
#include "core/base/crypto.h"
#include "core/base/instant.h"
#include "core/json/json.h"

enum { MOST_LASTS_S = 366 * 24 * 3600 };

struct login_provider {
    struct credentials_provider base;
    struct aws_client client;
    struct credentials_failure refusal; /* of a session's refresh */
    /* A refreshed session that could not be written, in place of the file with this stamp. */
    struct document *unwritten; /* owned */
    struct stored_stamp unwritten_for;
};

struct login_request {
    struct credentials_request base;
    struct token_call *call;   /* while the session is refreshed */
    char *origin;              /* owned; the place of the profile */
    char *path;                /* owned; the session's file */
    struct stored_stamp stamp; /* of the file as it was read */
    struct document *session;  /* owned; the contents of the file, then the new contents */
    bool is_second;            /* the file was read again, because another process refreshed it */
};

/* The service responds to the same refresh token with the same credentials, so a cancelled refresh
 * loses nothing. */
static void login_clean_up_request(struct credentials_request *base)
{
    struct login_request *request = (struct login_request *)base;
    token_call_end(request->call);
    document_free(request->session);
    free(request->origin);
    free(request->path);
}

static void login_clean_up(struct credentials_provider *base)
{
    document_free(((struct login_provider *)base)->unwritten);
}

static struct login_provider *login_provider_of(const struct login_request *request)
{
    return (struct login_provider *)request->base.provider;
}

static int64_t login_wall_ms(const struct login_request *request)
{
    struct clock *clock = loop_clock(request->base.provider->context->loop);
    return clock->wall_ms(clock);
}

/* Every failure that a sign-in can remedy ends in the command. */
static bool login_fail(const struct login_request *request, enum error_kind kind, const char *what,
                       struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    sign_in_write_command(&command, "login", request->base.provider->context->profile);
    return error_set(err, kind, "%.400s; sign in: %s", what, buf_text(&command));
}

/* The file. */

static bool login_read_session(struct login_request *request, struct error *err)
{
    struct login_provider *provider = login_provider_of(request);
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0}, copy = {0};
    char what[420];
    struct error why = {0};
    enum stored_found found = stored_read(request->path, &text, &why);
    if (found == STORED_ABSENT)
        return login_fail(request, ERROR_EXPIRED,
                          "you are not signed in to this profile's login_session", err);
    if (found == STORED_READ)
        request->stamp = stored_stamp_of(buf_span(&text));
    if (stored_same(&request->stamp, &provider->unwritten_for)) {
        document_write(&copy, provider->unwritten);
        request->session = document_parse(buf_span(&copy), request->path, err);
        return request->session != NULL;
    }
    if (found == STORED_READ)
        request->session = document_parse(buf_span(&text), request->path, &why);
    snprintf(what, sizeof what, "no session of aws login: %.380s", why.text);
    return request->session || login_fail(request, ERROR_DENIED, what, err);
}

/* As in the AWS CLI, all members must be present, even if no refresh is due. */
static bool login_check_session(const struct login_request *request, struct error *err)
{
    static const char *const needed[] = {"accessToken.accessKeyId",
                                         "accessToken.secretAccessKey",
                                         "accessToken.sessionToken",
                                         "accessToken.expiresAt",
                                         "refreshToken",
                                         "dpopKey",
                                         "clientId"};
    char what[420];
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        const char *text = document_text(request->session, needed[i]);
        bool is_sent = i < 3; /* in the head of a request */
        if (text && *text && (!is_sent || document_word(request->session, needed[i])))
            continue;
        snprintf(what, sizeof what, "no session of aws login: %.300s has no %s", request->path,
                 needed[i]);
        return login_fail(request, ERROR_DENIED, what, err);
    }
    return true;
}

static int64_t login_expires_ms(const struct document *session)
{
    return instant_parse(span_text(document_text(session, "accessToken.expiresAt"))).ms;
}

static void login_finish(struct login_request *request)
{
    struct credentials_result result = {.found = CREDENTIALS_FOUND};
    const struct document *session = request->session;
    result.credentials.method = "login";
    result.credentials.expires_wall_ms = login_expires_ms(session);
    if (!credentials_fill(
            &result.credentials, span_text(document_text(session, "accessToken.accessKeyId")),
            span_text(document_text(session, "accessToken.secretAccessKey")),
            span_text(document_text(session, "accessToken.sessionToken")),
            span_text(document_text(session, "accessToken.accountId")), request->origin)) {
        result.found = CREDENTIALS_FAILED;
        error_no_memory(&result.err);
    }
    credentials_request_finish(&request->base, &result);
}

/* Proofs of possession. */

static void login_free_key(struct es256_key **key)
{
    es256_key_free(*key);
}

/* Base64 with the alphabet of URLs, without padding (RFC 4648). */
static void login_add_base64url(struct buf *out, struct span bytes)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t count = bytes.size - i < 3 ? bytes.size - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < count ? (unsigned char)bytes.data[i + k] : 0);
        for (size_t k = 0; k <= count; k++)
            buf_add_char(out, letters[bits >> (18 - 6 * k) & 63]);
    }
}

static void login_add_bytes(struct buf *out, const uint8_t *bytes, size_t size)
{
    login_add_base64url(out, span_of((const char *)bytes, size));
}

bool login_write_proof(struct buf *out, struct span key_text, const char *url, int64_t wall_ms)
{
    CLEAN_UP(buf_clean_up) struct buf head = {0}, claims = {0}, proof = {0};
    CLEAN_UP(login_free_key) struct es256_key *key = es256_key_read(key_text);
    uint8_t x[ES256_NUMBER], y[ES256_NUMBER], signature[ES256_SIGNATURE];
    uint8_t id[16]; /* a random number (a version 4 UUID), so that no two proofs are the same */
    if (!key || !es256_key_point(key, x, y) || getrandom(id, sizeof id, 0) != sizeof id)
        return false;
    buf_add_text(&head, "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{\"kty\":\"EC\",\"x\":\"");
    login_add_bytes(&head, x, sizeof x);
    buf_add_text(&head, "\",\"y\":\"");
    login_add_bytes(&head, y, sizeof y);
    buf_add_text(&head, "\",\"crv\":\"P-256\"}}");
    id[6] = (id[6] & 0x0f) | 0x40;
    id[8] = (id[8] & 0x3f) | 0x80;
    buf_add_text(&claims, "{\"htm\":\"POST\",\"htu\":");
    json_write_ascii(&claims, span_text(url));
    buf_printf(&claims, ",\"iat\":%lld,\"jti\":\"", (long long)(wall_ms / 1000));
    for (size_t i = 0; i < sizeof id; i++)
        buf_printf(&claims, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
    buf_add_text(&claims, "\"}");
    login_add_base64url(&proof, buf_span(&head));
    buf_add_char(&proof, '.');
    login_add_base64url(&proof, buf_span(&claims));
    if (head.failed || claims.failed || proof.failed ||
        !es256_sign(key, buf_span(&proof), signature))
        return false;
    buf_add_char(&proof, '.');
    login_add_bytes(&proof, signature, sizeof signature);
    buf_add_span(out, buf_span(&proof));
    return !proof.failed && !out->failed;
}

/* A refresh. */

/* Copies the response into the session. The response has no account, so that one is unchanged. */
static bool login_read_response(struct login_request *request, const struct document *response,
                                struct error *err)
{
    static const char *const texts[] = {"accessToken.accessKeyId", "accessToken.secretAccessKey",
                                        "accessToken.sessionToken", "refreshToken"};
    CLEAN_UP(buf_clean_up) struct buf expires = {0};
    int64_t lasts_s = 0;
    if (!document_number(response, "expiresIn", &lasts_s) || lasts_s <= 0 || lasts_s > MOST_LASTS_S)
        return error_set(err, ERROR_BAD_ANSWER,
                         "the response of AWS Sign-In has no usable expiresIn");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = document_word(response, texts[i]);
        if (!text)
            return error_set(err, ERROR_BAD_ANSWER, "the response of AWS Sign-In has no %s",
                             texts[i]);
        if (!document_set_text(request->session, texts[i], text))
            return error_no_memory(err);
    }
    instant_write(&expires, login_wall_ms(request) + lasts_s * 1000);
    return (!expires.failed &&
            document_set_text(request->session, "accessToken.expiresAt", buf_text(&expires))) ||
           error_no_memory(err);
}

static void login_write_back(struct login_request *request)
{
    struct login_provider *provider = login_provider_of(request);
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct stored_stamp stamp = request->stamp;
    struct error err = {0};
    document_write(&text, request->session);
    if (text.failed)
        error_no_memory(&err);
    else if (stored_write_over(request->path, &stamp, buf_span(&text), &err))
        return;
    log_line(provider->base.context->log, LOG_LEVEL_WARNING,
             "a refreshed session of aws login is used, but not stored: %s", err.text);
    document_free(provider->unwritten);
    provider->unwritten = document_parse(buf_span(&text), request->path, NULL);
    provider->unwritten_for = provider->unwritten ? request->stamp : (struct stored_stamp){0};
}

/* The refusal WHY of the service, with advice. */
static void login_explain(const struct login_request *request, const struct error *why,
                          struct error *err)
{
    char what[420];
    *err = *why;
    if (why->kind != ERROR_DENIED)
        return;
    if (strcmp(why->code, "INSUFFICIENT_PERMISSIONS") == 0) {
        error_set(err, ERROR_DENIED,
                  "the session of aws login is not renewed: %.300s; the identity that signed in "
                  "needs signin:CreateOAuth2Token",
                  why->text);
    } else {
        snprintf(what, sizeof what, "the session of aws login is over: %.340s", why->text);
        login_fail(request, ERROR_EXPIRED, what, err);
    }
    token_call_copy_fault(err, why);
}

static void login_use_session(struct login_request *request);

static void login_on_response(void *arg, struct document *response, const struct error *err)
{
    struct login_request *request = arg;
    struct login_provider *provider = login_provider_of(request);
    CLEAN_UP(document_clean_up) struct document *owned = response;
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct error why = {0};
    request->call = NULL;
    if (owned && login_read_response(request, owned, &why)) {
        login_write_back(request);
        login_finish(request);
        return;
    }
    bool refused = err && err->kind == ERROR_DENIED;
    if (refused && !request->is_second && stored_read(request->path, &text, NULL) == STORED_READ) {
        struct stored_stamp now = stored_stamp_of(buf_span(&text));
        if (!stored_same(&now, &request->stamp)) {
            /* Another process, or another session of this one, has used up the refresh token. */
            request->is_second = true;
            document_free(request->session);
            request->session = NULL;
            login_use_session(request);
            return;
        }
    }
    if (err)
        login_explain(request, err, &why);
    if (refused)
        credentials_failure_set(&provider->refusal, &request->stamp, provider->base.context->loop,
                                &why);
    credentials_request_fail(&request->base, &why);
}

static bool login_start_refresh(struct login_request *request, struct error *err)
{
    struct login_provider *provider = login_provider_of(request);
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf body = {0};
    CLEAN_UP(buf_clean_up) struct buf url = {0}, proof = {0};
    if (!aws_endpoint_init(&endpoint, provider->base.context->settings, AWS_SIGNIN, NULL, NULL,
                           err))
        return false;
    buf_printf(&url, "%sv1/token", endpoint.url);
    CLEAN_UP(document_clean_up) struct document *fields = document_new();
    const struct document *session = request->session;
    if (url.failed || !fields ||
        !document_set_text(fields, "clientId", document_text(session, "clientId")) ||
        !document_set_text(fields, "grantType", "refresh_token") ||
        !document_set_text(fields, "refreshToken", document_text(session, "refreshToken")))
        return error_no_memory(err);
    document_write(&body, fields);
    if (body.failed)
        return error_no_memory(err);
    if (!login_write_proof(&proof, span_text(document_text(request->session, "dpopKey")), url.data,
                           login_wall_ms(request))) {
        char what[420];
        snprintf(what, sizeof what,
                 "no session of aws login: the dpopKey in %.300s is no key of P-256",
                 request->path);
        return login_fail(request, ERROR_DENIED, what, err);
    }
    struct token_request to_send = {
        .name = "AWS Sign-In",
        .endpoint = &endpoint,
        .method = "POST",
        .path = "v1/token",
        .query = "",
        .content_type = "application/json",
        .secret_name = "DPoP",
        .secret_value = proof.data,
        .body = buf_span(&body),
        .timeout_ms = TOKEN_CALL_MS,
    };
    request->call = token_call_start(&provider->client, &to_send, login_on_response, request);
    return request->call || error_no_memory(err);
}

/* The provider. */

static void login_use_session(struct login_request *request)
{
    struct login_provider *provider = login_provider_of(request);
    struct error err = {0};
    bool is_usable = login_read_session(request, &err) && login_check_session(request, &err);
    if (is_usable && login_expires_ms(request->session) - login_wall_ms(request) > LOGIN_EARLY_MS) {
        login_finish(request);
        return;
    }
    const struct error *refusal =
        is_usable ? credentials_failure_find(&provider->refusal, &request->stamp,
                                             provider->base.context->loop)
                  : NULL;
    if (refusal)
        err = *refusal;
    else if (is_usable && login_start_refresh(request, &err))
        return;
    credentials_request_fail(&request->base, &err);
}

static void login_begin(struct credentials_request *base)
{
    struct login_request *request = (struct login_request *)base;
    const struct credentials_context *context = base->provider->context;
    CLEAN_UP(buf_clean_up) struct buf origin = {0}, path = {0};
    struct credentials_result absent = {.found = CREDENTIALS_ABSENT};
    uint8_t digest[DIGEST_SIZE];
    struct span name;
    struct error err;
    if (!profiles_get(context->profiles, context->profile, "login_session", &name)) {
        credentials_request_report(base, &absent);
        return;
    }
    if (name.size == 0) {
        error_set(&err, ERROR_DENIED,
                  "profile %.200s has an empty login_session; run aws login, or remove it",
                  context->profile);
        credentials_request_fail(base, &err);
        return;
    }
    profiles_origin_of_key(context->profiles, context->profile, "login_session", &origin);
    request->origin = buf_steal(&origin, NULL);
    const char *folder = getenv("AWS_LOGIN_CACHE_DIRECTORY");
    buf_printf(&path, "%s/", folder && *folder ? folder : "~/.aws/login/cache");
    if (digest_sha256(name, digest))
        digest_hex(&path, digest, sizeof digest);
    else
        path.failed = true;
    buf_add_text(&path, ".json");
    request->path = path.failed ? NULL : stored_path(path.data);
    if (request->origin && request->path) {
        login_use_session(request);
        return;
    }
    error_no_memory(&err);
    credentials_request_fail(base, &err);
}

struct credentials_provider *credentials_login_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct login_request),
        .begin = login_begin,
        .clean_up_request = login_clean_up_request,
        .clean_up = login_clean_up,
    };
    struct credentials_provider *provider =
        credentials_provider_new(sizeof(struct login_provider), &ops, context);
    if (provider)
        ((struct login_provider *)provider)->client = token_call_client(context);
    return provider;
}
