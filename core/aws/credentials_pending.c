/* Saying which way is not built yet. */
#include "core/aws/credentials_pending.h"

static bool has(const struct credentials_context *context, const char *key)
{
    struct span value;
    return profiles_get(context->profiles, context->profile, key, &value);
}

/* Credentials in the environment are what helps, and an option that names a profile turns them
 * off, so the text says to leave it out. */
static enum credentials_found fail(const struct credentials_context *context, const char *way,
                                   struct error *err)
{
    error_set(err, ERROR_DENIED,
              "profile %s gets its credentials through %s, which this version cannot use yet; run "
              "eval \"$(aws configure export-credentials --profile '%s' --format env)\" first%s",
              context->profile, way, context->profile,
              context->asked_for ? ", and leave the profile out here (give the region instead)"
                                 : "");
    return CREDENTIALS_FAILED;
}

static enum credentials_found look_for_process(const struct credentials_context *context,
                                               struct credentials *out, struct error *err)
{
    (void)out;
    return has(context, "credential_process") ? fail(context, "a process (credential_process)", err)
                                              : CREDENTIALS_ABSENT;
}

struct credentials_provider *
credentials_pending_new_process(const struct credentials_context *context)
{
    return credentials_provider_of(context, look_for_process);
}
