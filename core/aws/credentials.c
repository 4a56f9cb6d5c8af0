/* Credentials as a value; the common steps of all requests to providers. */
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

static bool credentials_copy_text(char **out, struct span text)
{
    *out = text.size > 0 ? strndup(text.data, text.size) : NULL;
    return *out || text.size == 0;
}

bool credentials_fill(struct credentials *out, struct span access_key_id,
                      struct span secret_access_key, struct span session_token,
                      struct span account_id, const char *origin)
{
    if (credentials_copy_text(&out->access_key_id, access_key_id) &&
        credentials_copy_text(&out->secret_access_key, secret_access_key) &&
        credentials_copy_text(&out->session_token, session_token) &&
        credentials_copy_text(&out->account_id, account_id) &&
        credentials_copy_text(&out->origin, span_text(origin)))
        return true;
    credentials_clean_up(out);
    return false;
}

bool credentials_copy(struct credentials *out, const struct credentials *from)
{
    out->expires_wall_ms = from->expires_wall_ms;
    out->method = from->method;
    return credentials_fill(out, span_text(from->access_key_id), span_text(from->secret_access_key),
                            span_text(from->session_token), span_text(from->account_id),
                            from->origin);
}

bool credentials_is_visible(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~')
            return false;
    return true;
}

bool credentials_check(const struct credentials *credentials, struct error *err)
{
    const char *bad =
        !credentials_is_visible(span_text(credentials->access_key_id))       ? "access key id"
        : !credentials_is_visible(span_text(credentials->secret_access_key)) ? "secret access key"
        : !credentials_is_visible(span_text(credentials->session_token))     ? "session token"
                                                                             : NULL;
    return !bad || error_set(err, ERROR_DENIED,
                             "the %s contains a space, a line end or another character that is "
                             "not allowed; set it again",
                             bad);
}

bool credentials_are_in_file(const struct credentials *credentials)
{
    const char *method = credentials->method ? credentials->method : "";
    return strcmp(method, "shared-credentials-file") == 0 || strcmp(method, "config-file") == 0;
}

/* Providers and requests. */

struct credentials_provider *credentials_provider_new(size_t size,
                                                      const struct credentials_provider_ops *ops,
                                                      const struct credentials_context *context)
{
    struct credentials_provider *provider = calloc(1, size);
    if (provider)
        *provider = (struct credentials_provider){.ops = ops, .context = context};
    return provider;
}

void credentials_provider_destroy(struct credentials_provider *provider)
{
    if (provider && provider->ops->clean_up)
        provider->ops->clean_up(provider);
    free(provider);
}

static void credentials_request_begin(void *arg)
{
    struct credentials_request *request = arg;
    request->timer = NULL;
    request->provider->ops->begin(request);
}

struct credentials_request *credentials_request_start(struct credentials_provider *provider,
                                                      credentials_fn *fn, void *arg)
{
    struct credentials_request *request = calloc(1, provider->ops->request_size);
    if (!request)
        return NULL;
    *request = (struct credentials_request){.provider = provider, .fn = fn, .arg = arg};
    request->timer = loop_add_timer(provider->context->loop, 0, credentials_request_begin, request);
    if (request->timer)
        return request;
    free(request);
    return NULL;
}

void credentials_request_cancel(struct credentials_request *request)
{
    if (!request)
        return;
    loop_remove_timer(request->timer);
    if (request->provider->ops->clean_up_request)
        request->provider->ops->clean_up_request(request);
    free(request);
}

void credentials_request_report(struct credentials_request *request,
                                const struct credentials_result *result)
{
    credentials_fn *fn = request->fn;
    void *arg = request->arg;
    credentials_request_cancel(request);
    fn(arg, result);
}

void credentials_request_finish(struct credentials_request *request,
                                struct credentials_result *result)
{
    credentials_request_report(request, result);
    credentials_clean_up(&result->credentials);
}

void credentials_request_fail(struct credentials_request *request, const struct error *err)
{
    struct credentials_result result = {.found = CREDENTIALS_FAILED, .err = *err};
    credentials_request_report(request, &result);
}

/* A provider that finds credentials at once. */

struct looking_provider {
    struct credentials_provider base;
    credentials_look_fn *look;
};

static void credentials_look(struct credentials_request *request)
{
    const struct looking_provider *provider = (struct looking_provider *)request->provider;
    struct credentials_result result = {.found = CREDENTIALS_ABSENT};
    result.found = provider->look(provider->base.context, &result.credentials, &result.err);
    credentials_request_finish(request, &result);
}

struct credentials_provider *credentials_provider_of(const struct credentials_context *context,
                                                     credentials_look_fn *look)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct credentials_request), .begin = credentials_look};
    struct credentials_provider *provider =
        credentials_provider_new(sizeof(struct looking_provider), &ops, context);
    if (provider)
        ((struct looking_provider *)provider)->look = look;
    return provider;
}

/* Failures. */

void credentials_failure_set(struct credentials_failure *failure, const struct stored_stamp *of,
                             struct loop *loop, const struct error *err)
{
    *failure = (struct credentials_failure){.of = *of, .at_ms = loop_now_ms(loop), .err = *err};
}

const struct error *credentials_failure_find(const struct credentials_failure *failure,
                                             const struct stored_stamp *of, struct loop *loop)
{
    bool applies = stored_same(&failure->of, of) &&
                   loop_now_ms(loop) - failure->at_ms < CREDENTIALS_FAILURE_MS;
    return applies ? &failure->err : NULL;
}
