/* Credentials as a value, and the provider over a function that looks at once. */
#include "core/aws/credentials.h"

#include <stdlib.h>
#include <string.h>

static void credentials_free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void credentials_clean_up(struct credentials *credentials)
{
    credentials_free_secret(credentials->access_key_id);
    credentials_free_secret(credentials->secret_access_key);
    credentials_free_secret(credentials->session_token);
    free(credentials->account_id);
    free(credentials->origin);
    *credentials = (struct credentials){0};
}

bool credentials_is_visible(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~')
            return false;
    return true;
}

static bool credentials_copy_text(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

bool credentials_copy(struct credentials *out, const struct credentials *from)
{
    out->expires_wall_ms = from->expires_wall_ms;
    out->method = from->method;
    if (credentials_copy_text(&out->access_key_id, from->access_key_id) &&
        credentials_copy_text(&out->secret_access_key, from->secret_access_key) &&
        credentials_copy_text(&out->session_token, from->session_token) &&
        credentials_copy_text(&out->account_id, from->account_id) &&
        credentials_copy_text(&out->origin, from->origin))
        return true;
    credentials_clean_up(out);
    return false;
}

static bool credentials_is_visible_it(const char *text)
{
    return credentials_is_visible(span_text(text));
}

bool credentials_check(const struct credentials *credentials, struct error *err)
{
    const char *bad = !credentials_is_visible_it(credentials->access_key_id) ? "access key id"
                      : !credentials_is_visible_it(credentials->secret_access_key)
                          ? "secret access key"
                      : !credentials_is_visible_it(credentials->session_token) ? "session token"
                                                                               : NULL;
    return !bad || error_set(err, ERROR_DENIED,
                             "the %s holds a blank, a line end or another character that none "
                             "has; set it again",
                             bad);
}

bool credentials_are_in_file(const struct credentials *credentials)
{
    const char *method = credentials->method ? credentials->method : "";
    return strcmp(method, "shared-credentials-file") == 0 || strcmp(method, "config-file") == 0;
}

/* A provider that looks at once. */

struct looking_provider {
    struct credentials_provider base; /* first: a provider is cast to it */
    const struct credentials_context *context;
    credentials_look_fn *look;
};

struct credentials_request {
    struct looking_provider *provider;
    struct loop_timer *timer; /* until it looks */
    credentials_fn *fn;
    void *arg;
};

static void credentials_look_now(void *arg)
{
    struct credentials_request get = *(struct credentials_request *)arg;
    struct credentials_answer answer = {.found = CREDENTIALS_ABSENT};
    free(arg);
    answer.found = get.provider->look(get.provider->context, &answer.credentials, &answer.err);
    get.fn(get.arg, &answer);
    credentials_clean_up(&answer.credentials);
}

static struct credentials_request *credentials_looking_get(struct credentials_provider *provider,
                                                           credentials_fn *fn, void *arg)
{
    struct looking_provider *looking = (struct looking_provider *)provider;
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){.provider = looking, .fn = fn, .arg = arg};
    get->timer = loop_add_timer(looking->context->loop, 0, credentials_look_now, get);
    if (get->timer)
        return get;
    free(get);
    return NULL;
}

static void credentials_looking_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    free(get);
}

static void credentials_looking_destroy(struct credentials_provider *provider)
{
    free(provider);
}

struct credentials_provider *credentials_provider_of(const struct credentials_context *context,
                                                     credentials_look_fn *look)
{
    static const struct credentials_provider_ops ops = {
        credentials_looking_get, credentials_looking_cancel, credentials_looking_destroy};
    struct looking_provider *looking = calloc(1, sizeof *looking);
    if (!looking)
        return NULL;
    *looking = (struct looking_provider){.base = {&ops}, .context = context, .look = look};
    return &looking->base;
}
