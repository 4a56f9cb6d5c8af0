/* Keys that stand in a profile. */
#include "core/aws/credentials_profile.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/profile.h"

/* A way to credentials that a profile can ask for and that is not built yet. */
struct way {
    const char *key;
    const char *words;
    bool first; /* the AWS CLI goes this way even if the profile has keys */
};

static const struct way ways[] = {
    {"role_arn", "an assumed role (role_arn)", true},
    {"web_identity_token_file", "web identity (web_identity_token_file)", true},
    {"sso_account_id", "SSO (sso_session or sso_start_url)", true},
    {"sso_role_name", "SSO (sso_session or sso_start_url)", true},
    {"sso_session", "SSO (sso_session)", false},
    {"sso_start_url", "SSO (sso_start_url)", false},
    {"login_session", "aws login (login_session)", false},
    {"credential_process", "a process (credential_process)", false},
};

/* A profile being looked into. All borrowed. */
struct looked_up {
    const struct profiles *profiles;
    const struct credentials_context *context;
};

static struct span value_of(const struct looked_up *where, const char *key)
{
    struct span value = span_text(NULL);
    profiles_get(where->profiles, where->context->profile, key, &value);
    return value;
}

static const struct way *find_way(const struct looked_up *where, bool first_only)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if ((ways[i].first || !first_only) && value_of(where, ways[i].key).size > 0)
            return &ways[i];
    return NULL;
}

/* Credentials in the environment are what helps, and an option that names a profile turns them
 * off, so the text says to leave it out. */
static enum credentials_found fail_for_way(const struct credentials_context *context,
                                           const struct way *way, struct error *err)
{
    error_set(err, ERROR_DENIED,
              "profile %s gets its credentials through %s, which this version cannot use yet; run "
              "eval \"$(aws configure export-credentials --profile '%s' --format env)\" first%s",
              context->profile, way->words, context->profile,
              context->asked_for ? ", and leave the profile out here (give the region instead)"
                                 : "");
    return CREDENTIALS_FAILED;
}

/* NULL for an empty value. */
static bool copy(char **out, struct span value)
{
    *out = value.size > 0 ? strndup(value.data, value.size) : NULL;
    return *out || value.size == 0;
}

/* Id, secret and token come from one file: those of two are not those of one user. */
static enum credentials_found take_keys(const struct looked_up *where,
                                        const struct profile_file *file, struct credentials *out,
                                        struct error *err)
{
    const char *profile = where->context->profile;
    struct span id = span_text(NULL), secret = id, token = id;
    profile_get(file, profile, "aws_access_key_id", &id);
    profile_get(file, profile, "aws_secret_access_key", &secret);
    profile_get(file, profile, "aws_session_token", &token);
    if (secret.size == 0) {
        const struct profiles *both = where->profiles;
        error_set(err, ERROR_DENIED,
                  "%s, line %u: profile %s has aws_access_key_id, but no aws_secret_access_key; "
                  "give it both",
                  file == &both->config ? both->config_path : both->credentials_path,
                  profile_line(file, id), profile);
        return CREDENTIALS_FAILED;
    }
    if (copy(&out->access_key_id, id) && copy(&out->secret_access_key, secret) &&
        copy(&out->session_token, token))
        return CREDENTIALS_FOUND;
    credentials_clean_up(out);
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

static bool has_id(const struct profile_file *file, const char *profile)
{
    struct span id;
    return profile_get(file, profile, "aws_access_key_id", &id) && id.size > 0;
}

/* A profile that has gone from the files since the session began is no reason to fail: then it has
 * no keys, which is said in the chain's words. */
static enum credentials_found look(const struct credentials_context *context,
                                   struct credentials *out, struct error *err)
{
    const struct profiles *profiles = context->profiles;
    struct looked_up where = {profiles, context};
    const struct profile_file *keys =
        has_id(&profiles->credentials, context->profile) ? &profiles->credentials
        : has_id(&profiles->config, context->profile)    ? &profiles->config
                                                         : NULL;
    const struct way *way = find_way(&where, keys != NULL);
    /* Docker makes a folder of a file that it is to mount and that is not there. */
    if (!keys && profiles->credentials.is_directory)
        log_line(context->log, LOG_LEVEL_WARNING, "%s is a directory, and so no profile file",
                 profiles->credentials_path);
    if (way)
        return fail_for_way(context, way, err);
    return keys ? take_keys(&where, keys, out, err) : CREDENTIALS_ABSENT;
}

struct credentials_provider *credentials_profile_new(const struct credentials_context *context)
{
    return credentials_provider_of(context, look);
}
