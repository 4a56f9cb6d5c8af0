/* Tokens of SSO: read, refreshed and written back. */
#include "core/aws/sso_token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/aws/document.h"
#include "core/aws/endpoint.h"
#include "core/aws/sign_in.h"
#include "core/aws/token_call.h"
#include "core/base/crypto.h"
#include "core/base/instant.h"

enum {
    /* A token that is still valid is not worth a long wait for a better one. */
    SHORT_REFRESH_MS = 5 * 1000,
    MOST_LASTS_S = 366 * 24 * 3600,
};

/* A token's file, for as long as the program runs. */
struct sso_token {
    struct list_node node; /* of all tokens */
    char *path;            /* owned; never NULL */
    struct loop *loop;
    const struct log *log;
    /* The refresh under way, on behalf of the first waiter; without meaning if CALL is NULL. */
    struct token_call *call;
    struct aws_client client;
    char *ca_bundle;        /* owned; the client's, because the first waiter's may be freed */
    char *start_url;        /* owned; the login's */
    char *region;           /* owned */
    struct document *draft; /* owned; the token as it was read, then the new one */
    bool was_valid;         /* a failure of the refresh is reported by the log only */
    struct list waiters;    /* borrowed */
    /* The last refresh. */
    struct stored_stamp tried;   /* the file before it */
    struct stored_stamp written; /* the file that it wrote */
    int64_t tried_ms;
    struct error why; /* its failure */
    /* A new token that could not be written, in place of the file with this stamp. */
    struct document *unwritten; /* owned */
    struct stored_stamp unwritten_for;
};

/* As many as the profiles in use have sessions. */
struct sso_tokens {
    struct list all; /* owns the tokens */
};

struct sso_tokens *sso_tokens_new(void)
{
    return calloc(1, sizeof(struct sso_tokens));
}

static void sso_token_end_refresh(struct sso_token *token)
{
    token_call_end(token->call);
    document_free(token->draft);
    free(token->start_url);
    free(token->region);
    free(token->ca_bundle);
    token->call = NULL;
    token->draft = NULL;
    token->start_url = token->region = token->ca_bundle = NULL;
}

void sso_tokens_destroy(struct sso_tokens *tokens)
{
    if (!tokens)
        return;
    LIST_EACH_SAFE (struct sso_token, token, &tokens->all, node) {
        sso_token_end_refresh(token);
        document_free(token->unwritten);
        free(token->path);
        free(token);
    }
    free(tokens);
}

static int64_t sso_token_wall_ms(const struct sso_token *token)
{
    struct clock *clock = loop_clock(token->loop);
    return clock->wall_ms(clock);
}

/* Files. */

/* "SSO session corp", or "SSO at https://…". */
static void sso_token_add_name(struct buf *out, const struct sso_login *login)
{
    buf_add_text(out, login->session ? "SSO session " : "SSO at ");
    buf_add_text(out, login->session ? login->session : login->start_url);
}

static enum sso_token_state sso_token_fail(const struct sso_login *login, enum error_kind kind,
                                           const char *before, const char *after, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, command = {0};
    sso_token_add_name(&name, login);
    sign_in_write_command(&command, "sso login", login->profile);
    error_set(err, kind, "%s%.150s%.260s; sign in: %s", before, buf_text(&name), after,
              buf_text(&command));
    return SSO_TOKEN_FAILED;
}

/* The token's file as a document, or the unwritten token in its place. NULL with ERR filled. */
static struct document *sso_token_read(const struct sso_token *token, const struct sso_login *login,
                                       struct stored_stamp *stamp, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0}, copy = {0};
    struct error why = {0};
    enum stored_found found = stored_read(token->path, &text, &why);
    if (found == STORED_ABSENT) {
        sso_token_fail(login, ERROR_EXPIRED, "you are not signed in to ", "", err);
        return NULL;
    }
    if (found == STORED_READ)
        *stamp = stored_stamp_of(buf_span(&text));
    if (stored_same(stamp, &token->unwritten_for)) {
        document_write(&copy, token->unwritten);
        return document_parse(buf_span(&copy), token->path, err);
    }
    struct document *document =
        found == STORED_READ ? document_parse(buf_span(&text), token->path, &why) : NULL;
    if (!document) {
        char after[320];
        snprintf(after, sizeof after, ": %.300s", why.text);
        sso_token_fail(login, ERROR_DENIED, "no token for ", after, err);
    }
    return document;
}

/* The end of a refresh. */

/* Copies the token of the response into the draft. */
static bool sso_token_read_response(struct sso_token *token, const struct document *response,
                                    struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf expires = {0};
    struct document *draft = token->draft;
    const char *text = document_word(response, "accessToken");
    const char *refresh = document_text(response, "refreshToken");
    int64_t lasts_s = 0;
    if (!text || !document_number(response, "expiresIn", &lasts_s) || lasts_s <= 0 ||
        lasts_s > MOST_LASTS_S)
        return error_set(err, ERROR_BAD_ANSWER,
                         "the response of SSO's token service has no accessToken or no expiresIn");
    instant_write(&expires, sso_token_wall_ms(token) + lasts_s * 1000);
    /* The old refresh token is used up, even if there is no new one. */
    document_remove(draft, "refreshToken");
    return (!expires.failed && document_set_text(draft, "accessToken", text) &&
            document_set_text(draft, "expiresAt", buf_text(&expires)) &&
            document_set_text(draft, "startUrl", token->start_url) &&
            document_set_text(draft, "region", token->region) &&
            (!refresh || document_set_text(draft, "refreshToken", refresh))) ||
           error_no_memory(err);
}

static void sso_token_write_back(struct sso_token *token)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct stored_stamp stamp = token->tried;
    struct error err = {0};
    document_write(&text, token->draft);
    if (text.failed)
        error_no_memory(&err);
    else if (stored_write_over(token->path, &stamp, buf_span(&text), &err)) {
        token->written = stamp;
        return;
    }
    log_line(token->log, LOG_LEVEL_WARNING, "a refreshed SSO token is used, but not stored: %s",
             err.text);
    document_free(token->unwritten);
    token->unwritten = token->draft;
    token->unwritten_for = token->tried;
    token->draft = NULL;
}

static void sso_token_on_response(void *arg, struct document *response, const struct error *err)
{
    struct sso_token *token = arg;
    token->call = NULL;
    token->why = err ? *err : (struct error){0};
    if (response && sso_token_read_response(token, response, &token->why))
        sso_token_write_back(token);
    document_free(response);
    sso_token_end_refresh(token);
    if (token->why.kind != ERROR_NONE)
        log_line(token->log, token->was_valid ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
                 "an SSO token was not refreshed: %s", token->why.text);
    /* A waiter may remove another one, or wait anew, within its call. */
    struct list waiters = {0};
    list_move(&waiters, &token->waiters);
    while (!list_is_empty(&waiters)) {
        struct sso_waiter *waiter = LIST_FIRST(&waiters, struct sso_waiter, node);
        list_remove(&waiter->node);
        waiter->fn(waiter->arg);
    }
}

/* The start of a refresh. */

static const char *const sso_token_needed[] = {"refreshToken", "clientId", "clientSecret",
                                               "registrationExpiresAt"};

/* Takes DRAFT over, in case of failure too. */
static bool sso_token_start_refresh(struct sso_token *token,
                                    const struct credentials_context *context,
                                    const struct sso_login *login, struct document *draft,
                                    struct error *err)
{
    const char *ca_bundle = context->settings->ca_bundle;
    CLEAN_UP(buf_clean_up_secret) struct buf body = {0};
    CLEAN_UP(document_clean_up) struct document *fields = document_new();
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    sso_token_end_refresh(token);
    token->draft = draft;
    token->was_valid =
        instant_parse(span_text(document_text(draft, "expiresAt"))).ms > sso_token_wall_ms(token);
    token->start_url = strdup(login->start_url);
    token->region = strdup(login->region);
    token->ca_bundle = ca_bundle ? strdup(ca_bundle) : NULL;
    token->client = token_call_client(context);
    token->client.ca_bundle = token->ca_bundle;
    if (!token->start_url || !token->region || (ca_bundle && !token->ca_bundle) || !fields ||
        !document_set_text(fields, "grantType", "refresh_token"))
        return error_no_memory(err);
    for (size_t i = 0; i < 3; i++)
        if (!document_set_text(fields, sso_token_needed[i],
                               document_text(draft, sso_token_needed[i])))
            return error_no_memory(err);
    document_write(&body, fields);
    if (body.failed)
        return error_no_memory(err);
    if (!aws_endpoint_init(&endpoint, context->settings, AWS_SSO_OIDC, login->region, NULL, err))
        return false;
    struct token_request to_send = {
        .name = "SSO's token service",
        .endpoint = &endpoint,
        .method = "POST",
        .path = "token",
        .query = "",
        .content_type = "application/json",
        .body = buf_span(&body),
        .timeout_ms = token->was_valid ? SHORT_REFRESH_MS : TOKEN_CALL_MS,
    };
    token->call = token_call_start(&token->client, &to_send, sso_token_on_response, token);
    return token->call || error_no_memory(err);
}

/* Starts a refresh for WAITER, or joins the one under way; false if WAITER has no reason to wait.
 * DOCUMENT moves to the refresh. */
static bool sso_token_refresh(struct sso_token *token, const struct credentials_context *context,
                              const struct sso_login *login, const struct sso_waiter *waiter,
                              struct document **document, const struct stored_stamp *stamp,
                              bool valid)
{
    if (token->call && stored_same(stamp, &token->tried))
        return !valid; /* with a valid token there is no need to wait */
    for (size_t i = 0; i < sizeof sso_token_needed / sizeof sso_token_needed[0]; i++)
        if (!document_text(*document, sso_token_needed[i]))
            return false;
    struct instant registered =
        instant_parse(span_text(document_text(*document, "registrationExpiresAt")));
    /* The same file is not refreshed again at once. After a failure with an expired token only a
     * refusal counts: a lost network may be back. */
    int64_t since_ms = loop_now_ms(token->loop) - token->tried_ms;
    bool tried = stored_same(stamp, &token->tried);
    bool is_paused =
        valid ? (tried || stored_same(stamp, &token->written)) && since_ms < SSO_TOKEN_PAUSE_MS
              : tried && token->why.kind == ERROR_DENIED && since_ms < CREDENTIALS_FAILURE_MS;
    if (waiter->served || !login->session || registered.ms <= sso_token_wall_ms(token) || is_paused)
        return false;
    struct document *draft = *document;
    *document = NULL;
    token->tried = *stamp;
    token->tried_ms = loop_now_ms(token->loop);
    token->why = (struct error){0};
    if (sso_token_start_refresh(token, context, login, draft, &token->why))
        return true;
    *document = token->draft;
    token->draft = NULL;
    return false;
}

/* Why there is only an expired token. */
static enum sso_token_state sso_token_fail_expired(const struct sso_token *token,
                                                   const struct sso_login *login,
                                                   const struct stored_stamp *stamp,
                                                   struct error *err)
{
    const struct error *why = &token->why;
    char after[320] = " has expired";
    bool tried = stored_same(stamp, &token->tried) && why->kind != ERROR_NONE;
    if (tried)
        snprintf(after, sizeof after, " has expired, and is not renewed: %.250s", why->text);
    if (tried && why->kind != ERROR_DENIED) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        sso_token_add_name(&name, login);
        error_set(err, why->kind, "the sign-in to %.150s%s", buf_text(&name), after);
        return SSO_TOKEN_FAILED;
    }
    return sso_token_fail(login, ERROR_EXPIRED, "the sign-in to ", after, err);
}

/* The token of LOGIN; NULL when memory or OpenSSL failed. */
static struct sso_token *sso_token_find(struct sso_tokens *tokens,
                                        const struct credentials_context *context,
                                        const struct sso_login *login)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    uint8_t digest[DIGEST_SHA1_SIZE];
    if (!digest_sha1(span_text(login->session ? login->session : login->start_url), digest))
        return NULL;
    buf_add_text(&name, "~/.aws/sso/cache/");
    digest_hex(&name, digest, sizeof digest);
    buf_add_text(&name, ".json");
    char *path = name.failed ? NULL : stored_path(name.data);
    struct sso_token *token = path ? LIST_FIRST(&tokens->all, struct sso_token, node) : NULL;
    while (token && strcmp(token->path, path) != 0)
        token = LIST_NEXT(token, struct sso_token, node);
    if (token || !path || !(token = calloc(1, sizeof *token))) {
        free(path);
        return token;
    }
    *token = (struct sso_token){.path = path, .loop = context->loop, .log = context->log};
    list_append(&tokens->all, &token->node);
    return token;
}

enum sso_token_state sso_tokens_find(struct sso_tokens *tokens,
                                     const struct credentials_context *context,
                                     const struct sso_login *login, struct sso_waiter *waiter,
                                     struct buf *out, struct error *err)
{
    struct stored_stamp stamp = {0};
    struct sso_token *token = sso_token_find(tokens, context, login);
    if (!token) {
        error_no_memory(err);
        return SSO_TOKEN_FAILED;
    }
    CLEAN_UP(document_clean_up)
    struct document *document = sso_token_read(token, login, &stamp, err);
    if (!document)
        return SSO_TOKEN_FAILED;
    struct instant expires = instant_parse(span_text(document_text(document, "expiresAt")));
    bool has_token = document_word(document, "accessToken");
    if (!has_token || !expires.known) {
        char after[320];
        snprintf(after, sizeof after, ": %.200s has no usable %s", token->path,
                 has_token ? "expiresAt" : "accessToken");
        return sso_token_fail(login, ERROR_DENIED, "no token for ", after, err);
    }
    int64_t left_ms = expires.ms - sso_token_wall_ms(token);
    if (waiter && left_ms < SSO_TOKEN_EARLY_MS &&
        sso_token_refresh(token, context, login, waiter, &document, &stamp, left_ms > 0)) {
        /* Profiles of one session may trust different authorities. */
        const char *wanted = context->settings->ca_bundle, *used = token->ca_bundle;
        if (wanted && used ? strcmp(wanted, used) == 0 : wanted == used)
            waiter->served = true;
        list_append(&token->waiters, &waiter->node);
        return SSO_TOKEN_REFRESHING;
    }
    if (left_ms <= 0)
        return sso_token_fail_expired(token, login, &stamp, err);
    buf_add_text(out, document_text(document, "accessToken"));
    if (!out->failed)
        return SSO_TOKEN_VALID;
    error_no_memory(err);
    return SSO_TOKEN_FAILED;
}
