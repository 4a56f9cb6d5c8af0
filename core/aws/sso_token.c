/* Reading, refreshing and writing back tokens of SSO. */
#include "core/aws/sso_token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/aws/document.h"
#include "core/aws/endpoint.h"
#include "core/aws/sign_in.h"
#include "core/aws/stored.h"
#include "core/aws/token_call.h"
#include "core/base/digest.h"
#include "core/base/instant.h"

enum {
    /* A token that is valid still is not worth a long wait for a better one. */
    SHORT_REFRESH_MS = 5 * 1000,
    MOST_LASTS_S = 366 * 24 * 3600,
};

/* One token's file, for as long as the program runs: what was tried with it, and its refresh under
 * way, which all wait for who need it. */
struct sso_kept_token {
    char *path; /* owned; never NULL */
    struct loop *loop;
    const struct log *log;
    /* The refresh under way, on behalf of who asked first; of no meaning without a call. */
    struct token_call *call;
    struct aws_client client;
    char *ca_bundle;            /* owned; the client's, who may outlive whose it was */
    char *start_url;            /* owned; what the login has */
    char *region;               /* owned */
    struct document *draft;     /* owned; the token as it was read, then the new one */
    bool was_valid;             /* the token was: nobody else tells that it was not refreshed */
    struct sso_waiter *waiters; /* each belongs to whoever waits */
    /* The last refresh: of which file, when, and what came of it. */
    struct stored_stamp tried;
    struct stored_stamp written; /* the file that it wrote */
    int64_t tried_ms;
    struct error why; /* it failed; of no kind when it did not */
    /* A new token that could not be written, and stands for the file with this stamp. */
    struct document *unwritten; /* owned */
    struct stored_stamp stands_for;
    struct sso_kept_token *next;
};

/* There are as many as the profiles in use have sessions. */
struct sso_tokens {
    struct sso_kept_token *kept; /* owned */
};

struct sso_tokens *sso_tokens_new(void)
{
    return calloc(1, sizeof(struct sso_tokens));
}

static void sso_token_end_refresh(struct sso_kept_token *kept)
{
    token_call_end(kept->call);
    document_free(kept->draft);
    free(kept->start_url);
    free(kept->region);
    free(kept->ca_bundle);
    kept->call = NULL;
    kept->draft = NULL;
    kept->start_url = kept->region = kept->ca_bundle = NULL;
}

void sso_tokens_destroy(struct sso_tokens *tokens)
{
    if (!tokens)
        return;
    for (struct sso_kept_token *kept = tokens->kept, *next; kept; kept = next) {
        next = kept->next;
        sso_token_end_refresh(kept);
        document_free(kept->unwritten);
        free(kept->path);
        free(kept);
    }
    free(tokens);
}

/* Waiting. */

static void sso_token_wait_for(struct sso_waiter **list, struct sso_waiter *waiter)
{
    waiter->next = *list;
    waiter->link = list;
    if (waiter->next)
        waiter->next->link = &waiter->next;
    *list = waiter;
}

void sso_waiter_leave(struct sso_waiter *waiter)
{
    if (!waiter->link)
        return;
    *waiter->link = waiter->next;
    if (waiter->next)
        waiter->next->link = waiter->link;
    waiter->next = NULL;
    waiter->link = NULL;
}

/* Each may make another leave, or wait anew, from within its call: they stand in a list of their
 * own meanwhile. */
static void sso_token_report_all(struct sso_kept_token *kept)
{
    struct sso_waiter *waiting = kept->waiters;
    kept->waiters = NULL;
    if (waiting)
        waiting->link = &waiting;
    while (waiting) {
        struct sso_waiter *waiter = waiting;
        sso_waiter_leave(waiter);
        waiter->fn(waiter->arg);
    }
}

static void sso_token_free_text(char **text)
{
    free(*text);
}

static int64_t sso_token_wall_ms(const struct sso_kept_token *kept)
{
    struct clock *clock = loop_clock(kept->loop);
    return clock->wall_ms(clock);
}

/* Files. */

/* NULL when memory or OpenSSL failed. */
static char *sso_token_token_path(const struct sso_login *login)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    uint8_t digest[DIGEST_SHA1_SIZE];
    if (!digest_sha1(span_text(login->session ? login->session : login->start_url), digest))
        return NULL;
    buf_add_text(&path, "~/.aws/sso/cache/");
    digest_hex(&path, digest, sizeof digest);
    buf_add_text(&path, ".json");
    return path.failed ? NULL : stored_path(path.data);
}

/* "SSO session corp", or "SSO at https://…": what one has to sign in to. */
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

/* The token's file as a document, or what stands for it. NULL with ERR filled. */
static struct document *sso_token_read_token(const struct sso_kept_token *kept,
                                             const struct sso_login *login,
                                             struct stored_stamp *stamp, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0}, copy = {0};
    struct error why = {0};
    enum stored_found found = stored_read(kept->path, &text, &why);
    if (found == STORED_ABSENT) {
        sso_token_fail(login, ERROR_EXPIRED, "nobody is signed in to ", "", err);
        return NULL;
    }
    if (found == STORED_READ)
        *stamp = stored_stamp_of(buf_span(&text));
    if (stored_same(stamp, &kept->stands_for)) {
        document_write(&copy, kept->unwritten);
        return document_parse(buf_span(&copy), kept->path, err);
    }
    struct document *document =
        found == STORED_READ ? document_parse(buf_span(&text), kept->path, &why) : NULL;
    if (!document) {
        char after[320];
        snprintf(after, sizeof after, ": %.300s", why.text);
        sso_token_fail(login, ERROR_DENIED, "no token for ", after, err);
    }
    return document;
}

/* When the token expires; none with ERR filled when the file does not hold a token. */
static struct instant sso_token_check_token(const struct sso_login *login,
                                            const struct document *document, const char *path,
                                            struct error *err)
{
    char after[320];
    const char *missing = NULL;
    struct instant expires = instant_parse(span_text(document_text(document, "expiresAt")));
    if (!document_word(document, "accessToken"))
        missing = "accessToken";
    else if (!expires.known)
        missing = "expiresAt";
    if (!missing)
        return expires;
    snprintf(after, sizeof after, ": %.200s has no %s that could be used", path, missing);
    sso_token_fail(login, ERROR_DENIED, "no token for ", after, err);
    return (struct instant){0};
}

/* Refreshing. */

static const char *const needed[] = {"refreshToken", "clientId", "clientSecret",
                                     "registrationExpiresAt"};

static bool sso_token_can_refresh(const struct sso_kept_token *kept, const struct sso_login *login,
                                  const struct document *document)
{
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!document_text(document, needed[i]))
            return false;
    return login->session &&
           instant_parse(span_text(document_text(document, "registrationExpiresAt"))).ms >
               sso_token_wall_ms(kept);
}

/* The same file is not tried again and again. While its token is valid nothing presses; of one that
 * has expired, only a refusal counts: a network that is gone may be back. */
static bool sso_token_is_paused(const struct sso_kept_token *kept, const struct stored_stamp *stamp,
                                bool valid)
{
    int64_t since_ms = loop_now_ms(kept->loop) - kept->tried_ms;
    bool tried = stored_same(stamp, &kept->tried);
    if (valid)
        return (tried || stored_same(stamp, &kept->written)) && since_ms < SSO_TOKEN_PAUSE_MS;
    return tried && kept->why.kind == ERROR_DENIED && since_ms < TOKEN_REFUSED_MS;
}

/* Puts the answer's token into the draft. */
static bool sso_token_take_answer(struct sso_kept_token *kept, const struct document *answer,
                                  struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf expires = {0};
    struct document *draft = kept->draft;
    const char *token = document_word(answer, "accessToken");
    const char *refresh = document_text(answer, "refreshToken");
    int64_t lasts_s = 0;
    if (!token || !document_number(answer, "expiresIn", &lasts_s) || lasts_s <= 0 ||
        lasts_s > MOST_LASTS_S)
        return error_set(err, ERROR_BAD_ANSWER,
                         "the answer of SSO's token service has no accessToken or no expiresIn");
    instant_write(&expires, sso_token_wall_ms(kept) + lasts_s * 1000);
    /* Without a new one, the old one is used up. */
    document_remove(draft, "refreshToken");
    return (!expires.failed && document_set_text(draft, "accessToken", token) &&
            document_set_text(draft, "expiresAt", buf_text(&expires)) &&
            document_set_text(draft, "startUrl", kept->start_url) &&
            document_set_text(draft, "region", kept->region) &&
            (!refresh || document_set_text(draft, "refreshToken", refresh))) ||
           error_no_memory(err);
}

static void sso_token_write_back(struct sso_kept_token *kept)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct stored_stamp stamp = kept->tried;
    struct error err = {0};
    document_write(&text, kept->draft);
    if (text.failed)
        error_no_memory(&err);
    else if (stored_write_over(kept->path, &stamp, buf_span(&text), &err)) {
        kept->written = stamp;
        return;
    }
    log_line(kept->log, LOG_LEVEL_WARNING, "a refreshed SSO token is used, but not kept: %s",
             err.text);
    document_free(kept->unwritten);
    kept->unwritten = kept->draft;
    kept->stands_for = kept->tried;
    kept->draft = NULL;
}

static void sso_token_on_refreshed(void *arg, struct document *answer, const struct error *err)
{
    struct sso_kept_token *kept = arg;
    kept->call = NULL;
    kept->why = err ? *err : (struct error){0};
    if (answer && sso_token_take_answer(kept, answer, &kept->why))
        sso_token_write_back(kept);
    document_free(answer);
    sso_token_end_refresh(kept);
    if (kept->why.kind != ERROR_NONE)
        log_line(kept->log, kept->was_valid ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
                 "an SSO token was not refreshed: %s", kept->why.text);
    sso_token_report_all(kept);
}

static bool sso_token_write_question(struct buf *out, const struct document *token)
{
    CLEAN_UP(document_clean_up) struct document *body = document_new();
    bool whole = body && document_set_text(body, "grantType", "refresh_token");
    for (size_t i = 0; i < 3; i++)
        whole = whole && document_set_text(body, needed[i], document_text(token, needed[i]));
    if (whole)
        document_write(out, body);
    return whole && !out->failed;
}

/* Profiles of one session may trust different authorities, and each may be the one whose turn it is
 * to refresh. */
static bool sso_token_take_client(struct sso_kept_token *kept,
                                  const struct credentials_context *context)
{
    const char *ca_bundle = context->settings->ca_bundle;
    kept->client = token_call_client(context);
    kept->ca_bundle = ca_bundle ? strdup(ca_bundle) : NULL;
    kept->client.ca_bundle = kept->ca_bundle;
    return kept->ca_bundle || !ca_bundle;
}

/* One with others may fail where this asker's does not. */
static bool sso_token_has_authorities_of(const struct sso_kept_token *kept,
                                         const struct credentials_context *context)
{
    const char *mine = context->settings->ca_bundle;
    return mine && kept->ca_bundle ? strcmp(mine, kept->ca_bundle) == 0 : mine == kept->ca_bundle;
}

/* DRAFT is the refresh's from here on, in case of failure too. */
static bool sso_token_start_refresh(struct sso_kept_token *kept,
                                    const struct credentials_context *context,
                                    const struct sso_login *login, struct document *draft,
                                    struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf body = {0};
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    sso_token_end_refresh(kept);
    kept->draft = draft;
    kept->was_valid =
        instant_parse(span_text(document_text(draft, "expiresAt"))).ms > sso_token_wall_ms(kept);
    kept->start_url = strdup(login->start_url);
    kept->region = strdup(login->region);
    if (!kept->start_url || !kept->region || !sso_token_take_client(kept, context) ||
        !sso_token_write_question(&body, draft))
        return error_no_memory(err);
    if (!aws_endpoint_init(&endpoint, context->settings, AWS_SSO_OIDC, login->region, NULL, err))
        return false;
    struct token_question question = {
        .what = "SSO's token service",
        .endpoint = &endpoint,
        .method = "POST",
        .path = "token",
        .query = "",
        .content_type = "application/json",
        .body = buf_span(&body),
        .within_ms = kept->was_valid ? SHORT_REFRESH_MS : TOKEN_CALL_MS,
    };
    kept->call = token_call_start(&kept->client, &question, sso_token_on_refreshed, kept);
    return kept->call || error_no_memory(err);
}

/* Why a token that has expired is all there is. */
static enum sso_token_state sso_token_fail_expired(const struct sso_kept_token *kept,
                                                   const struct sso_login *login,
                                                   const struct stored_stamp *stamp,
                                                   struct error *err)
{
    const struct error *why = &kept->why;
    char after[320] = " has expired";
    bool tried = stored_same(stamp, &kept->tried) && why->kind != ERROR_NONE;
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

/* Begins a refresh for WAITER, or joins the one under way; false when there is to be none. */
static bool sso_token_refresh(struct sso_kept_token *kept,
                              const struct credentials_context *context,
                              const struct sso_login *login, const struct sso_waiter *waiter,
                              struct document **document, const struct stored_stamp *stamp,
                              bool valid)
{
    if (kept->call && stored_same(stamp, &kept->tried))
        return !valid; /* whoever has a valid token does not wait for it */
    if (waiter->served || !sso_token_can_refresh(kept, login, *document) ||
        sso_token_is_paused(kept, stamp, valid))
        return false;
    struct document *draft = *document;
    *document = NULL;
    kept->tried = *stamp;
    kept->tried_ms = loop_now_ms(kept->loop);
    kept->why = (struct error){0};
    if (sso_token_start_refresh(kept, context, login, draft, &kept->why))
        return true;
    *document = kept->draft;
    kept->draft = NULL;
    return false;
}

/* What is kept of the login's token; NULL when memory or OpenSSL failed. */
static struct sso_kept_token *sso_token_find_kept(struct sso_tokens *tokens,
                                                  const struct credentials_context *context,
                                                  const struct sso_login *login)
{
    CLEAN_UP(sso_token_free_text) char *path = sso_token_token_path(login);
    struct sso_kept_token *kept = path ? tokens->kept : NULL;
    while (kept && strcmp(kept->path, path) != 0)
        kept = kept->next;
    if (kept || !path || !(kept = calloc(1, sizeof *kept)))
        return kept;
    *kept = (struct sso_kept_token){
        .path = path,
        .loop = context->loop,
        .log = context->log,
        .next = tokens->kept,
    };
    path = NULL;
    tokens->kept = kept;
    return kept;
}

enum sso_token_state sso_tokens_take(struct sso_tokens *tokens,
                                     const struct credentials_context *context,
                                     const struct sso_login *login, struct sso_waiter *waiter,
                                     struct buf *out, struct error *err)
{
    struct stored_stamp stamp = {0};
    struct sso_kept_token *kept = sso_token_find_kept(tokens, context, login);
    if (!kept) {
        error_no_memory(err);
        return SSO_TOKEN_FAILED;
    }
    CLEAN_UP(document_clean_up)
    struct document *document = sso_token_read_token(kept, login, &stamp, err);
    struct instant expires = {0};
    if (document)
        expires = sso_token_check_token(login, document, kept->path, err);
    if (!expires.known)
        return SSO_TOKEN_FAILED;
    int64_t left_ms = expires.ms - sso_token_wall_ms(kept);
    if (waiter && left_ms < SSO_TOKEN_EARLY_MS &&
        sso_token_refresh(kept, context, login, waiter, &document, &stamp, left_ms > 0)) {
        waiter->served = waiter->served || sso_token_has_authorities_of(kept, context);
        sso_token_wait_for(&kept->waiters, waiter);
        return SSO_TOKEN_REFRESHING;
    }
    if (left_ms <= 0)
        return sso_token_fail_expired(kept, login, &stamp, err);
    buf_add_text(out, document_text(document, "accessToken"));
    if (!out->failed)
        return SSO_TOKEN_VALID;
    error_no_memory(err);
    return SSO_TOKEN_FAILED;
}
