/* Keys that stand in a profile. */
#include "core/aws/credentials_static.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/profiles.h"

/* NULL for an empty value. */
static bool static_keys_copy(char **out, struct span value)
{
    *out = value.size > 0 ? strndup(value.data, value.size) : NULL;
    return *out || value.size == 0;
}

/* One of the two files, for looking into it. */
struct key_place {
    const struct profile_file *file;
    const char *path;
    const char *profile;
    struct error *err;
};

/* VALUE gets what the profile says of NAME, and stays as it is when it says nothing. */
static bool static_keys_take_value(const struct key_place *in, const char *name, struct span *value)
{
    return !profile_get(in->file, in->profile, name, value) || credentials_is_visible(*value) ||
           error_set(
               in->err, ERROR_DENIED,
               "%s, line %u: the %s of profile %s has a blank, a line end or another character "
               "in it that none has; a comment behind it would be a part of it, as in the AWS "
               "CLI: it takes a line of its own",
               in->path, profile_line(in->file, *value), name, in->profile);
}

/* As in the AWS CLI, a key that is there counts, whatever its value: an empty id is a mistake to
 * tell of, since another source in its place would be another user's. */
static enum credentials_found static_keys_take_keys(const struct credentials_context *context,
                                                    enum profile_dialect dialect,
                                                    struct credentials *out, struct error *err)
{
    const struct profiles *profiles = context->profiles;
    const char *profile = context->profile;
    const struct profile_file *file =
        dialect == PROFILE_CONFIG ? &profiles->config : &profiles->credentials;
    const struct key_place in = {
        .file = file,
        .path = dialect == PROFILE_CONFIG ? profiles->config_path : profiles->credentials_path,
        .profile = profile,
        .err = err,
    };
    struct span none = span_text(NULL), id, secret = none, token = none, account = none, other;
    /* Docker makes a folder of a file that it is to mount and that is not there. */
    if (dialect == PROFILE_CREDENTIALS && file->instead)
        log_line(context->log, LOG_LEVEL_WARNING, "%s is %s, and so no profile file", in.path,
                 file->instead);
    if (dialect == PROFILE_CREDENTIALS && profiles->unreadable.kind != ERROR_NONE)
        log_line(context->log, LOG_LEVEL_INFO, "%s; it counts as missing",
                 profiles->unreadable.text);
    if (!profile_get(file, profile, "aws_access_key_id", &id))
        return CREDENTIALS_ABSENT;
    /* The older name of the token wins. */
    const char *token_name = profile_get(file, profile, "aws_security_token", &other)
                                 ? "aws_security_token"
                                 : "aws_session_token";
    if (!static_keys_take_value(&in, "aws_access_key_id", &id) ||
        !static_keys_take_value(&in, "aws_secret_access_key", &secret) ||
        !static_keys_take_value(&in, token_name, &token) ||
        !static_keys_take_value(&in, "aws_account_id", &account))
        return CREDENTIALS_FAILED;
    if (id.size == 0 || secret.size == 0) {
        error_set(err, ERROR_DENIED,
                  "%s, line %u: profile %s has %saws_access_key_id, but %s; "
                  "give it both",
                  in.path, profile_line(file, id), profile, id.size > 0 ? "" : "an ",
                  id.size > 0 ? "no aws_secret_access_key" : "nothing in it");
        return CREDENTIALS_FAILED;
    }
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    profiles_origin(profiles, dialect, profile, &origin);
    out->method = dialect == PROFILE_CONFIG ? "config-file" : "shared-credentials-file";
    out->origin = buf_steal(&origin, NULL);
    if (static_keys_copy(&out->access_key_id, id) &&
        static_keys_copy(&out->secret_access_key, secret) &&
        static_keys_copy(&out->session_token, token) &&
        static_keys_copy(&out->account_id, account) && out->origin)
        return CREDENTIALS_FOUND;
    credentials_clean_up(out);
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

static enum credentials_found
static_keys_look_in_credentials(const struct credentials_context *context, struct credentials *out,
                                struct error *err)
{
    return static_keys_take_keys(context, PROFILE_CREDENTIALS, out, err);
}

static enum credentials_found static_keys_look_in_config(const struct credentials_context *context,
                                                         struct credentials *out, struct error *err)
{
    return static_keys_take_keys(context, PROFILE_CONFIG, out, err);
}

struct credentials_provider *
credentials_static_new_credentials_file(const struct credentials_context *context)
{
    return credentials_provider_of(context, static_keys_look_in_credentials);
}

struct credentials_provider *
credentials_static_new_config_file(const struct credentials_context *context)
{
    return credentials_provider_of(context, static_keys_look_in_config);
}
