/* Credentials in the environment. */
#include "core/aws/credentials_env.h"

#include <stdlib.h>
#include <string.h>

/* An empty variable counts as none. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool copy(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

static enum credentials_found look(const struct credentials_context *context,
                                   struct credentials *out, struct error *err)
{
    const char *key = variable("AWS_ACCESS_KEY_ID");
    const char *secret = variable("AWS_SECRET_ACCESS_KEY");
    if (context->asked_for || !key)
        return CREDENTIALS_ABSENT;
    if (!secret) {
        error_set(err, ERROR_DENIED,
                  "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not; set both or none");
        return CREDENTIALS_FAILED;
    }
    if (copy(&out->access_key_id, key) && copy(&out->secret_access_key, secret) &&
        copy(&out->session_token, variable("AWS_SESSION_TOKEN")))
        return CREDENTIALS_FOUND;
    credentials_clean_up(out);
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

struct credentials_provider *credentials_env_new(const struct credentials_context *context)
{
    return credentials_provider_of(context, look);
}
