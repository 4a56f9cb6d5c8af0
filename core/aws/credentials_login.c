/* Reading, refreshing and writing back sessions of `aws login`. */
#include "core/aws/credentials_login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/aws/document.h"
#include "core/aws/dpop.h"
#include "core/aws/endpoint.h"
#include "core/aws/sign_in.h"
#include "core/aws/stored.h"
#include "core/aws/token_call.h"
#include "core/base/instant.h"

enum { MOST_LASTS_S = 366 * 24 * 3600 };

struct login_provider {
    struct credentials_provider base; /* first: a provider is cast to it */
    const struct credentials_context *context;
    struct aws_client client;
    /* The file whose refresh was refused last, when, and how. */
    struct stored_stamp refused;
    int64_t refused_ms;
    struct error why;
    /* A refreshed session that could not be written, and stands for the file with this stamp. */
    struct document *unwritten; /* owned */
    struct stored_stamp stands_for;
};

/* A question waits for its timer first, since nothing is answered from within it, and then perhaps
 * for the service. */
struct credentials_request {
    struct login_provider *provider;
    struct loop_timer *timer;  /* while it is beginning */
    struct token_call *call;   /* while it awaits the service */
    char *origin;              /* owned; where the profile stands */
    char *path;                /* owned; the session's file */
    struct stored_stamp stamp; /* of the file as it was read */
    struct document *session;  /* owned; what the file has, then what it will have */
    bool again;                /* it was read again, since somebody else has refreshed it */
    credentials_fn *fn;
    void *arg;
};

static void login_free_get(struct credentials_request *get)
{
    document_free(get->session);
    free(get->origin);
    free(get->path);
    free(get);
}

/* The question is gone before its asker hears. */
static void login_report(struct credentials_request *get, struct credentials_answer *answer)
{
    credentials_fn *fn = get->fn;
    void *arg = get->arg;
    login_free_get(get);
    fn(arg, answer);
    credentials_clean_up(&answer->credentials);
}

static void login_report_failure(struct credentials_request *get, const struct error *err)
{
    struct credentials_answer answer = {.found = CREDENTIALS_FAILED, .err = *err};
    login_report(get, &answer);
}

static int64_t login_wall_ms(const struct login_provider *provider)
{
    struct clock *clock = loop_clock(provider->context->loop);
    return clock->wall_ms(clock);
}

/* Every failure that signing in can mend ends in the command. */
static bool login_fail(const struct credentials_request *get, enum error_kind kind,
                       const char *what, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    sign_in_write_command(&command, "login", get->provider->context->profile);
    return error_set(err, kind, "%.400s; sign in: %s", what, buf_text(&command));
}

/* The file. */

static char *login_session_path(struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    const char *folder = getenv("AWS_LOGIN_CACHE_DIRECTORY");
    uint8_t digest[DIGEST_SIZE];
    if (!digest_sha256(name, digest))
        return NULL;
    buf_printf(&path, "%s/", folder && *folder ? folder : "~/.aws/login/cache");
    digest_hex(&path, digest, sizeof digest);
    buf_add_text(&path, ".json");
    return path.failed ? NULL : stored_path(path.data);
}

static bool login_read_session(struct credentials_request *get, struct error *err)
{
    struct login_provider *provider = get->provider;
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0}, copy = {0};
    char what[420];
    struct error why = {0};
    enum stored_found found = stored_read(get->path, &text, &why);
    if (found == STORED_ABSENT)
        return login_fail(get, ERROR_EXPIRED, "nobody is signed in to this profile's login_session",
                          err);
    if (found == STORED_READ)
        get->stamp = stored_stamp_of(buf_span(&text));
    if (stored_same(&get->stamp, &provider->stands_for)) {
        document_write(&copy, provider->unwritten);
        get->session = document_parse(buf_span(&copy), get->path, err);
        return get->session != NULL;
    }
    if (found == STORED_READ)
        get->session = document_parse(buf_span(&text), get->path, &why);
    snprintf(what, sizeof what, "no session of aws login: %.380s", why.text);
    return get->session || login_fail(get, ERROR_DENIED, what, err);
}

/* As for the AWS CLI, all of them have to be there, even where nothing has to be refreshed. */
static bool login_check_session(const struct credentials_request *get, struct error *err)
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
        const char *text = document_text(get->session, needed[i]);
        bool is_key = i < 3; /* which goes into a request's head */
        if (text && *text && (!is_key || document_word(get->session, needed[i])))
            continue;
        snprintf(what, sizeof what, "no session of aws login: %.300s has no %s", get->path,
                 needed[i]);
        return login_fail(get, ERROR_DENIED, what, err);
    }
    return true;
}

static struct instant login_expires_at(const struct document *session)
{
    return instant_parse(span_text(document_text(session, "accessToken.expiresAt")));
}

/* The end. */

static bool login_copy(char **out, const struct document *session, const char *path)
{
    const char *text = document_text(session, path);
    *out = text && *text ? strdup(text) : NULL;
    return *out || !text || !*text;
}

static void login_deliver(struct credentials_request *get)
{
    struct credentials_answer answer = {.found = CREDENTIALS_FOUND};
    struct credentials *out = &answer.credentials;
    out->method = "login";
    out->expires_wall_ms = login_expires_at(get->session).ms;
    out->origin = get->origin;
    get->origin = NULL;
    if (!login_copy(&out->access_key_id, get->session, "accessToken.accessKeyId") ||
        !login_copy(&out->secret_access_key, get->session, "accessToken.secretAccessKey") ||
        !login_copy(&out->session_token, get->session, "accessToken.sessionToken") ||
        !login_copy(&out->account_id, get->session, "accessToken.accountId")) {
        credentials_clean_up(out);
        answer.found = CREDENTIALS_FAILED;
        error_no_memory(&answer.err);
    }
    login_report(get, &answer);
}

/* Refreshing. */

/* Puts what the service gave into the session. The account stays: the answer does not name it. */
static bool login_take_answer(struct credentials_request *get, const struct document *answer,
                              struct error *err)
{
    static const char *const texts[] = {"accessToken.accessKeyId", "accessToken.secretAccessKey",
                                        "accessToken.sessionToken", "refreshToken"};
    CLEAN_UP(buf_clean_up) struct buf expires = {0};
    int64_t lasts_s = 0;
    if (!document_number(answer, "expiresIn", &lasts_s) || lasts_s <= 0 || lasts_s > MOST_LASTS_S)
        return error_set(err, ERROR_BAD_ANSWER,
                         "the answer of AWS Sign-In has no expiresIn that could be used");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = document_word(answer, texts[i]);
        if (!text)
            return error_set(err, ERROR_BAD_ANSWER, "the answer of AWS Sign-In has no %s",
                             texts[i]);
        if (!document_set_text(get->session, texts[i], text))
            return error_no_memory(err);
    }
    instant_write(&expires, login_wall_ms(get->provider) + lasts_s * 1000);
    return (!expires.failed &&
            document_set_text(get->session, "accessToken.expiresAt", buf_text(&expires))) ||
           error_no_memory(err);
}

static void login_write_back(struct credentials_request *get)
{
    struct login_provider *provider = get->provider;
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct stored_stamp stamp = get->stamp;
    struct error err = {0};
    document_write(&text, get->session);
    if (text.failed)
        error_no_memory(&err);
    else if (stored_write_over(get->path, &stamp, buf_span(&text), &err))
        return;
    log_line(provider->context->log, LOG_LEVEL_WARNING,
             "a refreshed session of aws login is used, but not kept: %s", err.text);
    document_free(provider->unwritten);
    provider->unwritten = document_parse(buf_span(&text), get->path, NULL);
    provider->stands_for = provider->unwritten ? get->stamp : (struct stored_stamp){0};
}

/* What the service's refusals mean to whoever wanted to read a file. */
static void login_explain(const struct credentials_request *get, const struct error *why,
                          struct error *err)
{
    char what[420];
    *err = *why;
    if (why->kind != ERROR_DENIED)
        return;
    if (strcmp(why->code, "INSUFFICIENT_PERMISSIONS") == 0) {
        error_set(err, ERROR_DENIED,
                  "the session of aws login is not renewed: %.300s; whoever signed in needs "
                  "signin:CreateOAuth2Token",
                  why->text);
    } else {
        snprintf(what, sizeof what, "the session of aws login is over: %.340s", why->text);
        login_fail(get, ERROR_EXPIRED, what, err);
    }
    memcpy(err->code, why->code, sizeof err->code);
    memcpy(err->request_id, why->request_id, sizeof err->request_id);
    err->http_status = why->http_status;
}

/* Another process, or another environment of ours, was faster, and the refresh token is used up. */
static bool login_was_refreshed_elsewhere(const struct credentials_request *get)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    if (get->again || stored_read(get->path, &text, NULL) != STORED_READ)
        return false;
    struct stored_stamp now = stored_stamp_of(buf_span(&text));
    return !stored_same(&now, &get->stamp);
}

static void login_use_session(struct credentials_request *get);

static void login_on_answer(void *arg, struct document *answer, const struct error *err)
{
    struct credentials_request *get = arg;
    struct login_provider *provider = get->provider;
    CLEAN_UP(document_clean_up) struct document *owned = answer;
    struct error why = {0};
    get->call = NULL;
    if (owned && login_take_answer(get, owned, &why)) {
        login_write_back(get);
        login_deliver(get);
        return;
    }
    if (err && err->kind == ERROR_DENIED && login_was_refreshed_elsewhere(get)) {
        get->again = true;
        document_free(get->session);
        get->session = NULL;
        login_use_session(get);
        return;
    }
    if (err)
        login_explain(get, err, &why);
    if (err && err->kind == ERROR_DENIED) {
        provider->refused = get->stamp;
        provider->refused_ms = loop_now_ms(provider->context->loop);
        provider->why = why;
    }
    login_report_failure(get, &why);
}

static bool login_write_body(struct buf *out, const struct document *session)
{
    CLEAN_UP(document_clean_up) struct document *body = document_new();
    bool whole = body && document_set_text(body, "clientId", document_text(session, "clientId")) &&
                 document_set_text(body, "grantType", "refresh_token") &&
                 document_set_text(body, "refreshToken", document_text(session, "refreshToken"));
    if (whole)
        document_write(out, body);
    return whole && !out->failed;
}

static bool login_start_refresh(struct credentials_request *get, struct error *err)
{
    struct login_provider *provider = get->provider;
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf body = {0};
    CLEAN_UP(buf_clean_up) struct buf url = {0}, proof = {0};
    if (!aws_endpoint_init(&endpoint, provider->context->settings, AWS_SIGNIN, NULL, NULL, err))
        return false;
    buf_printf(&url, "%sv1/token", endpoint.url);
    if (url.failed || !login_write_body(&body, get->session))
        return error_no_memory(err);
    if (!dpop_write(&proof, span_text(document_text(get->session, "dpopKey")), url.data,
                    login_wall_ms(provider))) {
        char what[420];
        snprintf(what, sizeof what,
                 "no session of aws login: the dpopKey in %.300s is no key of P-256", get->path);
        return login_fail(get, ERROR_DENIED, what, err);
    }
    struct token_question question = {
        .what = "AWS Sign-In",
        .endpoint = &endpoint,
        .method = "POST",
        .path = "v1/token",
        .query = "",
        .content_type = "application/json",
        .secret_name = "DPoP",
        .secret_value = proof.data,
        .body = buf_span(&body),
        .within_ms = TOKEN_CALL_MS,
    };
    get->call = token_call_start(&provider->client, &question, login_on_answer, get);
    return get->call || error_no_memory(err);
}

/* The same session that was refused is not shown to the service again and again. */
static bool login_was_refused(const struct credentials_request *get)
{
    const struct login_provider *provider = get->provider;
    return stored_same(&get->stamp, &provider->refused) &&
           loop_now_ms(provider->context->loop) - provider->refused_ms < TOKEN_REFUSED_MS;
}

/* CREDENTIALS_FOUND: the profile has a session, and GET its file's path. */
static enum credentials_found login_read_profile(struct credentials_request *get, struct error *err)
{
    const struct credentials_context *context = get->provider->context;
    struct span name;
    if (!profiles_get(context->profiles, context->profile, "login_session", &name))
        return CREDENTIALS_ABSENT;
    if (name.size == 0) {
        error_set(err, ERROR_DENIED, "profile %.200s has a login_session with nothing in it",
                  context->profile);
        return CREDENTIALS_FAILED;
    }
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    struct span value;
    profiles_origin(
        context->profiles,
        profile_get(&context->profiles->credentials, context->profile, "login_session", &value)
            ? PROFILE_CREDENTIALS
            : PROFILE_CONFIG,
        context->profile, &origin);
    get->origin = buf_steal(&origin, NULL);
    get->path = login_session_path(name);
    if (get->origin && get->path)
        return CREDENTIALS_FOUND;
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

static void login_use_session(struct credentials_request *get)
{
    struct error err = {0};
    bool is_usable = login_read_session(get, &err) && login_check_session(get, &err);
    if (is_usable &&
        login_expires_at(get->session).ms - login_wall_ms(get->provider) > LOGIN_EARLY_MS) {
        login_deliver(get);
        return;
    }
    if (is_usable && login_was_refused(get))
        err = get->provider->why;
    else if (is_usable && login_start_refresh(get, &err))
        return;
    login_report_failure(get, &err);
}

static void login_begin(void *arg)
{
    struct credentials_request *get = arg;
    struct credentials_answer answer = {0};
    get->timer = NULL;
    answer.found = login_read_profile(get, &answer.err);
    if (answer.found == CREDENTIALS_FOUND)
        login_use_session(get);
    else
        login_report(get, &answer);
}

/* As a provider. */

static struct credentials_request *login_get(struct credentials_provider *base, credentials_fn *fn,
                                             void *arg)
{
    struct login_provider *provider = (struct login_provider *)base;
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){.provider = provider, .fn = fn, .arg = arg};
    get->timer = loop_add_timer(provider->context->loop, 0, login_begin, get);
    if (get->timer)
        return get;
    free(get);
    return NULL;
}

/* The service answers the same refresh token again with the same credentials, so nothing is lost.
 */
static void login_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    token_call_end(get->call);
    login_free_get(get);
}

static void login_destroy(struct credentials_provider *base)
{
    struct login_provider *provider = (struct login_provider *)base;
    document_free(provider->unwritten);
    free(provider);
}

struct credentials_provider *credentials_login_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {login_get, login_cancel, login_destroy};
    struct login_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NULL;
    *provider = (struct login_provider){.base = {&ops}, .context = context};
    provider->client = token_call_client(context);
    return &provider->base;
}
