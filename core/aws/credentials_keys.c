/* Keys that the user has written down: in the environment and in the two profile files. */
#include <stdlib.h>

#include "core/aws/credentials_providers.h"
#include "core/base/instant.h"

/* The environment. An empty variable counts as unset. */

static const char *keys_find_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The environment of a process cannot change, so a restart is the only remedy for expired keys. */
static bool keys_read_expiry(const struct credentials_context *context, struct credentials *out,
                             struct error *err)
{
    const char *expiry = keys_find_variable("AWS_CREDENTIAL_EXPIRATION");
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

static enum credentials_found keys_look_in_environment(const struct credentials_context *context,
                                                       struct credentials *out, struct error *err)
{
    const char *key = keys_find_variable("AWS_ACCESS_KEY_ID");
    const char *secret = keys_find_variable("AWS_SECRET_ACCESS_KEY");
    /* The older name of the token wins. */
    const char *token = keys_find_variable("AWS_SECURITY_TOKEN");
    if (context->by_option || !key)
        return CREDENTIALS_ABSENT;
    if (!secret) {
        error_set(err, ERROR_DENIED,
                  "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not; set both or none");
        return CREDENTIALS_FAILED;
    }
    if (!keys_read_expiry(context, out, err))
        return CREDENTIALS_FAILED;
    out->method = "env";
    if (credentials_fill(out, span_text(key), span_text(secret),
                         span_text(token ? token : getenv("AWS_SESSION_TOKEN")),
                         span_text(getenv("AWS_ACCOUNT_ID")), "AWS_ACCESS_KEY_ID"))
        return CREDENTIALS_FOUND;
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

struct credentials_provider *credentials_env_new(const struct credentials_context *context)
{
    return credentials_provider_of(context, keys_look_in_environment);
}

/* Profile files. */

/* One of the two files. */
struct keys_place {
    const struct profile_file *file;
    const char *path;
    const char *profile;
};

/* VALUE gets the profile's value of KEY; it is unchanged if the profile has no such key. */
static bool keys_read_value(const struct keys_place *in, const char *key, struct span *value,
                            struct error *err)
{
    return !profile_get(in->file, in->profile, key, value) || credentials_is_visible(*value) ||
           error_set(err, ERROR_DENIED,
                     "%s, line %u: the %s of profile %s contains a space, a line end or another "
                     "character that is not allowed; a comment behind a value is part of the "
                     "value, as in the AWS CLI: put it on a line of its own",
                     in->path, profile_line(in->file, *value), key, in->profile);
}

/* As in the AWS CLI, an empty aws_access_key_id is a mistake to report. Another source in its place
 * would be another user's. */
static enum credentials_found keys_look_in_file(const struct credentials_context *context,
                                                enum profile_dialect dialect,
                                                struct credentials *out, struct error *err)
{
    const struct profiles *profiles = context->profiles;
    bool is_config = dialect == PROFILE_CONFIG;
    const struct keys_place in = {
        .file = is_config ? &profiles->config : &profiles->credentials,
        .path = is_config ? profiles->config_path : profiles->credentials_path,
        .profile = context->profile,
    };
    struct span id, secret = {0}, token = {0}, account = {0}, other;
    /* Docker makes a directory in place of a file that it should mount and does not find. */
    if (!is_config && in.file->instead)
        log_line(context->log, LOG_LEVEL_WARNING, "%s is %s, not a profile file", in.path,
                 in.file->instead);
    if (!is_config && profiles->unreadable.kind != ERROR_NONE)
        log_line(context->log, LOG_LEVEL_INFO, "%s; the file is ignored",
                 profiles->unreadable.text);
    if (!profile_get(in.file, in.profile, "aws_access_key_id", &id))
        return CREDENTIALS_ABSENT;
    /* The older name of the token wins. */
    const char *token_key = profile_get(in.file, in.profile, "aws_security_token", &other)
                                ? "aws_security_token"
                                : "aws_session_token";
    if (!keys_read_value(&in, "aws_access_key_id", &id, err) ||
        !keys_read_value(&in, "aws_secret_access_key", &secret, err) ||
        !keys_read_value(&in, token_key, &token, err) ||
        !keys_read_value(&in, "aws_account_id", &account, err))
        return CREDENTIALS_FAILED;
    if (id.size == 0 || secret.size == 0) {
        error_set(err, ERROR_DENIED, "%s, line %u: profile %s has %s; set both", in.path,
                  profile_line(in.file, id), in.profile,
                  id.size > 0 ? "aws_access_key_id, but no aws_secret_access_key"
                              : "an empty aws_access_key_id");
        return CREDENTIALS_FAILED;
    }
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    profiles_origin(profiles, dialect, in.profile, &origin);
    out->method = is_config ? "config-file" : "shared-credentials-file";
    if (!origin.failed && credentials_fill(out, id, secret, token, account, buf_text(&origin)))
        return CREDENTIALS_FOUND;
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

static enum credentials_found
keys_look_in_credentials_file(const struct credentials_context *context, struct credentials *out,
                              struct error *err)
{
    return keys_look_in_file(context, PROFILE_CREDENTIALS, out, err);
}

struct credentials_provider *
credentials_credentials_file_new(const struct credentials_context *context)
{
    return credentials_provider_of(context, keys_look_in_credentials_file);
}

static enum credentials_found keys_look_in_config_file(const struct credentials_context *context,
                                                       struct credentials *out, struct error *err)
{
    return keys_look_in_file(context, PROFILE_CONFIG, out, err);
}

struct credentials_provider *credentials_config_file_new(const struct credentials_context *context)
{
    return credentials_provider_of(context, keys_look_in_config_file);
}
