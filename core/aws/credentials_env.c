/* Credentials in the environment. */
#include "core/aws/credentials_env.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/instant.h"

/* An empty variable counts as none. */
static const char *env_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool env_copy(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

/* The environment of a process stays as it is, so that expired credentials stay so: the way out is
 * a new start. */
static bool env_take_expiry(const struct credentials_context *context, struct credentials *out,
                            struct error *err)
{
    const char *expiry = env_variable("AWS_CREDENTIAL_EXPIRATION");
    struct clock *clock = loop_clock(context->loop);
    if (!expiry)
        return true;
    struct instant expires = instant_parse(span_text(expiry));
    if (!expires.known)
        return error_set(err, ERROR_DENIED,
                         "AWS_CREDENTIAL_EXPIRATION is no point in time, such as "
                         "2026-04-16T10:15:00Z; set it again, or unset it");
    out->expires_wall_ms = expires.ms;
    if (expires.ms <= clock->wall_ms(clock))
        return error_set(err, ERROR_EXPIRED,
                         "the credentials in the environment have expired "
                         "(AWS_CREDENTIAL_EXPIRATION=%s); set fresh ones and start again, or unset "
                         "AWS_ACCESS_KEY_ID and use a profile",
                         expiry);
    return true;
}

static enum credentials_found env_look(const struct credentials_context *context,
                                       struct credentials *out, struct error *err)
{
    const char *key = env_variable("AWS_ACCESS_KEY_ID");
    const char *secret = env_variable("AWS_SECRET_ACCESS_KEY");
    /* The older name of the token wins. */
    const char *token = env_variable("AWS_SECURITY_TOKEN");
    if (context->asked_for || !key)
        return CREDENTIALS_ABSENT;
    if (!secret) {
        error_set(err, ERROR_DENIED,
                  "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not; set both or none");
        return CREDENTIALS_FAILED;
    }
    if (!env_take_expiry(context, out, err))
        return CREDENTIALS_FAILED;
    out->method = "env";
    if (env_copy(&out->access_key_id, key) && env_copy(&out->secret_access_key, secret) &&
        env_copy(&out->session_token, token ? token : env_variable("AWS_SESSION_TOKEN")) &&
        env_copy(&out->account_id, env_variable("AWS_ACCOUNT_ID")) &&
        env_copy(&out->origin, "AWS_ACCESS_KEY_ID"))
        return CREDENTIALS_FOUND;
    credentials_clean_up(out);
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

struct credentials_provider *credentials_env_new(const struct credentials_context *context)
{
    return credentials_provider_of(context, env_look);
}
