/* Keys that stand in a profile. */
#include "core/aws/credentials_static.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/profiles.h"

/* NULL for an empty value. */
static bool copy(char **out, struct span value)
{
    *out = value.size > 0 ? strndup(value.data, value.size) : NULL;
    return *out || value.size == 0;
}

/* As in the AWS CLI, a key that is there counts, whatever its value: an empty id is a mistake to
 * tell of, since another source in its place would be another user's. */
static enum credentials_found take_keys(const struct credentials_context *context,
                                        enum profile_dialect dialect, struct credentials *out,
                                        struct error *err)
{
    const struct profiles *profiles = context->profiles;
    const char *profile = context->profile;
    const struct profile_file *file =
        dialect == PROFILE_CONFIG ? &profiles->config : &profiles->credentials;
    struct span id, secret = span_text(NULL), token = secret, account = secret;
    /* Docker makes a folder of a file that it is to mount and that is not there. */
    if (dialect == PROFILE_CREDENTIALS && file->instead)
        log_line(context->log, LOG_LEVEL_WARNING, "%s is %s, and so no profile file",
                 profiles->credentials_path, file->instead);
    if (!profile_get(file, profile, "aws_access_key_id", &id))
        return CREDENTIALS_ABSENT;
    profile_get(file, profile, "aws_secret_access_key", &secret);
    if (id.size == 0 || secret.size == 0) {
        error_set(err, ERROR_DENIED,
                  "%s, line %u: profile %s has %saws_access_key_id, but %s; "
                  "give it both",
                  dialect == PROFILE_CONFIG ? profiles->config_path : profiles->credentials_path,
                  profile_line(file, id), profile, id.size > 0 ? "" : "an ",
                  id.size > 0 ? "no aws_secret_access_key" : "nothing in it");
        return CREDENTIALS_FAILED;
    }
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    profiles_origin(profiles, dialect, profile, &origin);
    /* The older name of the token wins. */
    if (!profile_get(file, profile, "aws_security_token", &token))
        profile_get(file, profile, "aws_session_token", &token);
    profile_get(file, profile, "aws_account_id", &account);
    out->method = dialect == PROFILE_CONFIG ? "config-file" : "shared-credentials-file";
    out->origin = buf_steal(&origin, NULL);
    if (copy(&out->access_key_id, id) && copy(&out->secret_access_key, secret) &&
        copy(&out->session_token, token) && copy(&out->account_id, account) && out->origin)
        return CREDENTIALS_FOUND;
    credentials_clean_up(out);
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

static enum credentials_found look_in_credentials(const struct credentials_context *context,
                                                  struct credentials *out, struct error *err)
{
    return take_keys(context, PROFILE_CREDENTIALS, out, err);
}

static enum credentials_found look_in_config(const struct credentials_context *context,
                                             struct credentials *out, struct error *err)
{
    return take_keys(context, PROFILE_CONFIG, out, err);
}

struct credentials_provider *
credentials_static_new_credentials_file(const struct credentials_context *context)
{
    return credentials_provider_of(context, look_in_credentials);
}

struct credentials_provider *
credentials_static_new_config_file(const struct credentials_context *context)
{
    return credentials_provider_of(context, look_in_config);
}
