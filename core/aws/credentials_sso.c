/* Asking SSO's portal for the credentials of a role. */
#include "core/aws/credentials_sso.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/aws/cli_cache.h"
#include "core/aws/document.h"
#include "core/aws/endpoint.h"
#include "core/aws/sign_in.h"
#include "core/aws/sso_token.h"
#include "core/aws/token_call.h"
#include "core/aws/url.h"
#include "core/base/digest.h"
#include "core/json/json.h"

/* A key of a profile, the place of its value, and the keys that a profile has to have. */
enum { KEY_ROLE, KEY_ACCOUNT, KEY_START_URL, KEY_REGION, KEYS };

static const char *const keys[KEYS] = {
    [KEY_ROLE] = "sso_role_name",
    [KEY_ACCOUNT] = "sso_account_id",
    [KEY_START_URL] = "sso_start_url",
    [KEY_REGION] = "sso_region",
};

struct sso_provider {
    struct credentials_provider base; /* first: a provider is cast to it */
    const struct credentials_context *context;
    struct aws_client client;
    struct sso_tokens *own_tokens; /* owned; NULL where the context has some */
    /* Digests of what was of no use: a token that the portal refused, and the key id that was given
     * last, for which nobody would ask again who could use it. */
    uint8_t refused[DIGEST_SIZE], given[DIGEST_SIZE];
    bool has_given;
    struct error refusal; /* of that token; of no kind before there was one */
    int64_t refused_ms;
};

enum sso_state {
    SSO_BEGINNING,     /* its timer: nothing is answered from within the question */
    SSO_AWAITS_TOKEN,  /* a token that is refreshed */
    SSO_AWAITS_PORTAL, /* credentials */
};

struct credentials_request {
    enum sso_state state;
    struct sso_provider *provider;
    struct loop_timer *timer;   /* while it is beginning */
    struct sso_waiter waiter;   /* while it awaits a token */
    struct token_call *call;    /* while it awaits the portal */
    char *values[KEYS];         /* owned */
    char *session;              /* owned; NULL in a profile without one */
    char *origin;               /* owned */
    char *cache;                /* owned; the file of the AWS CLI's cache */
    uint8_t token[DIGEST_SIZE]; /* of the token that the portal was asked with */
    credentials_fn *fn;
    void *arg;
};

static void sso_free_get(struct credentials_request *get)
{
    for (size_t i = 0; i < KEYS; i++)
        free(get->values[i]);
    free(get->session);
    free(get->origin);
    free(get->cache);
    free(get);
}

/* The question is gone before its asker hears. */
static void sso_report(struct credentials_request *get, struct credentials_answer *answer)
{
    credentials_fn *fn = get->fn;
    void *arg = get->arg;
    sso_free_get(get);
    fn(arg, answer);
    credentials_clean_up(&answer->credentials);
}

static void sso_report_failure(struct credentials_request *get, const struct error *err)
{
    struct credentials_answer answer = {.found = CREDENTIALS_FAILED, .err = *err};
    sso_report(get, &answer);
}

static struct sso_login sso_login_of(const struct credentials_request *get)
{
    return (struct sso_login){.profile = get->provider->context->profile,
                              .session = get->session,
                              .start_url = get->values[KEY_START_URL],
                              .region = get->values[KEY_REGION]};
}

/* What the profile says. */

static bool sso_copy(char **out, struct span value, struct error *err)
{
    free(*out);
    *out = strndup(value.data, value.size);
    return *out || error_no_memory(err);
}

static bool sso_fail(const struct credentials_context *context, const char *what, struct error *err)
{
    return error_set(err, ERROR_DENIED, "profile %.200s, which gets its credentials from SSO, %s",
                     context->profile, what);
}

/* A value that both have must be the same one, and counts from either. */
static bool sso_take_session(struct credentials_request *get, struct span name, struct error *err)
{
    const struct credentials_context *context = get->provider->context;
    const struct profile_file *config = &context->profiles->config;
    char what[320];
    struct span key, value, other;
    if (!sso_copy(&get->session, name, err))
        return false;
    if (!profile_has_section(config, "sso-session", get->session)) {
        snprintf(what, sizeof what, "names sso_session %.200s, and there is no [sso-session %.60s]",
                 get->session, get->session);
        return sso_fail(context, what, err);
    }
    for (size_t at = 0; profile_next(config, "sso-session", get->session, &at, &key, &value);) {
        CLEAN_UP(buf_clean_up) struct buf key_text = {0};
        buf_add_span(&key_text, key);
        if (profiles_get(context->profiles, context->profile, buf_text(&key_text), &other) &&
            !span_equal(value, other)) {
            snprintf(what, sizeof what, "has another %.60s than its [sso-session %.60s]",
                     buf_text(&key_text), get->session);
            return sso_fail(context, what, err);
        }
        for (size_t i = 0; i < KEYS; i++)
            if (strcasecmp(buf_text(&key_text), keys[i]) == 0 &&
                !sso_copy(&get->values[i], value, err))
                return false;
    }
    return true;
}

/* A region becomes part of a host's name. */
static bool sso_is_region(const char *text)
{
    size_t size = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-");
    return size > 0 && size <= 63 && text[size] == '\0' && text[0] != '-' && text[size - 1] != '-';
}

static bool sso_check_values(const struct credentials_request *get, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf missing = {0};
    buf_add_text(&missing, "has no ");
    size_t begin = missing.size;
    for (size_t i = 0; i < KEYS; i++)
        if (!get->values[i] || !get->values[i][0])
            buf_printf(&missing, "%s%s", missing.size > begin ? ", " : "", keys[i]);
    if (missing.failed)
        return error_no_memory(err);
    if (missing.size > begin) {
        buf_add_text(&missing, "; set it (aws configure sso)");
        return sso_fail(get->provider->context, buf_text(&missing), err);
    }
    return sso_is_region(get->values[KEY_REGION]) ||
           sso_fail(get->provider->context, "has an sso_region that is none", err);
}

/* Of the arguments in the order of their names, without blanks. */
static char *sso_cache_path(const struct credentials_request *get)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_text(&text, "{\"accountId\":");
    json_write_ascii(&text, span_text(get->values[KEY_ACCOUNT]));
    buf_add_text(&text, ",\"roleName\":");
    json_write_ascii(&text, span_text(get->values[KEY_ROLE]));
    buf_add_text(&text, get->session ? ",\"sessionName\":" : ",\"startUrl\":");
    json_write_ascii(&text, span_text(get->session ? get->session : get->values[KEY_START_URL]));
    buf_add_text(&text, "}");
    return text.failed ? NULL : cli_cache_path(buf_span(&text));
}

/* CREDENTIALS_FOUND: the profile is one of SSO's, and GET has what it says. */
static enum credentials_found sso_read_profile(struct credentials_request *get, struct error *err)
{
    const struct credentials_context *context = get->provider->context;
    const struct profiles *profiles = context->profiles;
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    struct span value;
    for (size_t i = 0; i < KEYS; i++)
        if (profiles_get(profiles, context->profile, keys[i], &value) &&
            !sso_copy(&get->values[i], value, err))
            return CREDENTIALS_FAILED;
    if (!get->values[KEY_ROLE] && !get->values[KEY_ACCOUNT])
        return CREDENTIALS_ABSENT;
    if (profiles_get(profiles, context->profile, "sso_session", &value) &&
        !sso_take_session(get, value, err))
        return CREDENTIALS_FAILED;
    if (!sso_check_values(get, err))
        return CREDENTIALS_FAILED;
    profiles_origin(profiles,
                    profile_get(&profiles->config, context->profile, "sso_account_id", &value)
                        ? PROFILE_CONFIG
                        : PROFILE_CREDENTIALS,
                    context->profile, &origin);
    get->origin = buf_steal(&origin, NULL);
    get->cache = sso_cache_path(get);
    if (get->origin && get->cache)
        return CREDENTIALS_FOUND;
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

/* The end. */

static void sso_digest_of(const char *text, uint8_t out[DIGEST_SIZE])
{
    if (!digest_sha256(span_text(text), out))
        memset(out, 0, DIGEST_SIZE);
}

static bool sso_was_given(const struct sso_provider *provider, const char *id)
{
    uint8_t digest[DIGEST_SIZE];
    sso_digest_of(id, digest);
    return provider->has_given && memcmp(digest, provider->given, sizeof digest) == 0;
}

/* CREDENTIALS are taken over. */
static void sso_deliver(struct credentials_request *get, struct credentials *credentials)
{
    struct sso_provider *provider = get->provider;
    struct credentials_answer answer = {.found = CREDENTIALS_FOUND, .credentials = *credentials};
    *credentials = (struct credentials){0};
    answer.credentials.method = "sso";
    answer.credentials.origin = get->origin;
    get->origin = NULL;
    if (!answer.credentials.account_id) {
        answer.credentials.account_id = get->values[KEY_ACCOUNT];
        get->values[KEY_ACCOUNT] = NULL;
    }
    sso_digest_of(answer.credentials.access_key_id, provider->given);
    provider->has_given = true;
    sso_report(get, &answer);
}

static bool sso_read_cache(const struct credentials_request *get, struct credentials *out)
{
    struct clock *clock = loop_clock(get->provider->context->loop);
    return cli_cache_read(get->cache, clock->wall_ms(clock), out);
}

/* What the cache has was given out before, and may be why somebody asks again; but it is better
 * than nothing, since it outlives the token. */
static void sso_fail_or_deliver_again(struct credentials_request *get, const struct error *err)
{
    struct credentials kept = {0};
    if (sso_read_cache(get, &kept))
        sso_deliver(get, &kept);
    else
        sso_report_failure(get, err);
}

/* The portal. */

static bool sso_take_text(char **out, const struct document *document, const char *path)
{
    const char *text = document_word(document, path);
    *out = text ? strdup(text) : NULL;
    return *out != NULL;
}

static bool sso_take_answer(const struct credentials_request *get, const struct document *answer,
                            struct credentials *out, struct error *err)
{
    struct clock *clock = loop_clock(get->provider->context->loop);
    if (!sso_take_text(&out->access_key_id, answer, "roleCredentials.accessKeyId") ||
        !sso_take_text(&out->secret_access_key, answer, "roleCredentials.secretAccessKey") ||
        !sso_take_text(&out->session_token, answer, "roleCredentials.sessionToken") ||
        !document_number(answer, "roleCredentials.expiration", &out->expires_wall_ms))
        return error_set(err, ERROR_BAD_ANSWER,
                         "the answer of the SSO portal has not all of accessKeyId, "
                         "secretAccessKey, sessionToken and expiration that could be used");
    return out->expires_wall_ms > clock->wall_ms(clock) ||
           error_set(err, ERROR_EXPIRED,
                     "the SSO portal gave credentials that have expired already; is this "
                     "machine's clock right?");
}

/* What the portal's refusals mean to whoever wanted to read a file. */
static void sso_explain(const struct credentials_request *get, const struct error *why,
                        struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    sign_in_write_command(&command, "sso login", get->provider->context->profile);
    *err = *why;
    if (why->http_status == 401)
        error_set(err, ERROR_EXPIRED,
                  "the sign-in to SSO%s%.100s is no longer valid: %.200s; sign in: %s",
                  get->session ? " session " : "", get->session ? get->session : "", why->text,
                  buf_text(&command));
    else if (why->kind == ERROR_DENIED)
        error_set(err, ERROR_DENIED,
                  "you have no role %.64s in account %.20s by SSO: %.200s; check sso_role_name "
                  "and sso_account_id of profile %.100s, or ask for the role",
                  get->values[KEY_ROLE], get->values[KEY_ACCOUNT], why->text,
                  get->provider->context->profile);
    memcpy(err->code, why->code, sizeof err->code);
    memcpy(err->request_id, why->request_id, sizeof err->request_id);
    err->http_status = why->http_status;
}

static void sso_on_portal(void *arg, struct document *answer, const struct error *err)
{
    struct credentials_request *get = arg;
    struct sso_provider *provider = get->provider;
    CLEAN_UP(document_clean_up) struct document *owned = answer;
    struct credentials found = {0};
    struct error why = {0};
    get->call = NULL;
    if (owned && sso_take_answer(get, owned, &found, &why)) {
        found.account_id = strdup(get->values[KEY_ACCOUNT]);
        cli_cache_write(get->cache, &found, "sso", provider->context->log);
        sso_deliver(get, &found);
        return;
    }
    credentials_clean_up(&found);
    if (err) {
        sso_explain(get, err, &why);
        provider->refusal = err->http_status == 401 ? *err : (struct error){0};
        provider->refused_ms = loop_now_ms(provider->context->loop);
        memcpy(provider->refused, get->token, sizeof provider->refused);
    }
    sso_fail_or_deliver_again(get, &why);
}

static bool sso_request_portal(struct credentials_request *get, const char *token,
                               struct error *err)
{
    struct sso_provider *provider = get->provider;
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    CLEAN_UP(buf_clean_up) struct buf query = {0};
    buf_add_text(&query, "role_name=");
    aws_url_encode(&query, span_text(get->values[KEY_ROLE]));
    buf_add_text(&query, "&account_id=");
    aws_url_encode(&query, span_text(get->values[KEY_ACCOUNT]));
    if (query.failed)
        return error_no_memory(err);
    if (!aws_endpoint_init(&endpoint, provider->context->settings, AWS_SSO, get->values[KEY_REGION],
                           NULL, err))
        return false;
    struct token_question question = {
        .what = "the SSO portal",
        .endpoint = &endpoint,
        .method = "GET",
        .path = "federation/credentials",
        .query = query.data,
        .secret_name = "x-amz-sso_bearer_token",
        .secret_value = token,
        .within_ms = TOKEN_CALL_MS,
    };
    get->call = token_call_start(&provider->client, &question, sso_on_portal, get);
    get->state = SSO_AWAITS_PORTAL;
    return get->call || error_no_memory(err);
}

/* The token. */

static struct sso_tokens *sso_tokens_of(const struct sso_provider *provider)
{
    return provider->own_tokens ? provider->own_tokens : provider->context->sso_tokens;
}

static void sso_take_token(void *arg)
{
    struct credentials_request *get = arg;
    struct sso_provider *provider = get->provider;
    CLEAN_UP(buf_clean_up_secret) struct buf token = {0};
    struct sso_login login = sso_login_of(get);
    struct error err = {0};
    get->state = SSO_AWAITS_TOKEN;
    switch (sso_tokens_take(sso_tokens_of(provider), provider->context, &login, &get->waiter,
                            &token, &err)) {
    case SSO_TOKEN_REFRESHING:
        return;
    case SSO_TOKEN_VALID:
        sso_digest_of(buf_text(&token), get->token);
        if (provider->refusal.kind != ERROR_NONE &&
            loop_now_ms(provider->context->loop) - provider->refused_ms < TOKEN_REFUSED_MS &&
            memcmp(provider->refused, get->token, sizeof get->token) == 0) {
            sso_explain(get, &provider->refusal, &err);
        } else if (sso_request_portal(get, buf_text(&token), &err)) {
            return;
        }
        break;
    default:
        break;
    }
    sso_fail_or_deliver_again(get, &err);
}

static void sso_begin(void *arg)
{
    struct credentials_request *get = arg;
    struct credentials kept = {0};
    struct credentials_answer answer = {0};
    get->timer = NULL;
    answer.found = sso_read_profile(get, &answer.err);
    if (answer.found != CREDENTIALS_FOUND) {
        sso_report(get, &answer);
        return;
    }
    bool has = sso_read_cache(get, &kept);
    if (has && !sso_was_given(get->provider, kept.access_key_id)) {
        sso_deliver(get, &kept);
        return;
    }
    credentials_clean_up(&kept);
    get->waiter = (struct sso_waiter){.fn = sso_take_token, .arg = get};
    sso_take_token(get);
}

/* As a provider. */

static struct credentials_request *sso_get(struct credentials_provider *base, credentials_fn *fn,
                                           void *arg)
{
    struct sso_provider *provider = (struct sso_provider *)base;
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){
        .state = SSO_BEGINNING, .provider = provider, .fn = fn, .arg = arg};
    get->timer = loop_add_timer(provider->context->loop, 0, sso_begin, get);
    if (get->timer)
        return get;
    free(get);
    return NULL;
}

static void sso_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    token_call_end(get->call);
    sso_waiter_leave(&get->waiter);
    sso_free_get(get);
}

static void sso_destroy(struct credentials_provider *base)
{
    struct sso_provider *provider = (struct sso_provider *)base;
    sso_tokens_destroy(provider->own_tokens);
    free(provider);
}

struct credentials_provider *credentials_sso_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {sso_get, sso_cancel, sso_destroy};
    struct sso_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NULL;
    *provider = (struct sso_provider){.base = {&ops}, .context = context};
    provider->client = token_call_client(context);
    provider->own_tokens = context->sso_tokens ? NULL : sso_tokens_new();
    if (provider->own_tokens || context->sso_tokens)
        return &provider->base;
    free(provider);
    return NULL;
}
