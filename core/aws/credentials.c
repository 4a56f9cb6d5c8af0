/* The chain of places that credentials may come from. */
#include "core/aws/credentials.h"

#include <stdlib.h>

#include "core/aws/credentials_env.h"
#include "core/aws/credentials_profile.h"

static void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void credentials_clean_up(struct credentials *credentials)
{
    free_secret(credentials->access_key_id);
    free_secret(credentials->secret_access_key);
    free_secret(credentials->session_token);
    *credentials = (struct credentials){0};
}

/* In the order of the AWS CLI. */
static credentials_source_fn *const sources[] = {
    credentials_env,
    credentials_profile,
};

static enum credentials_found ask_all(const struct credentials_query *query,
                                      struct credentials *out, struct error *err)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        enum credentials_found found = sources[i](query, out, err);
        if (found != CREDENTIALS_ABSENT)
            return found;
    }
    return CREDENTIALS_ABSENT;
}

static bool fail_absent(const struct credentials_query *query, struct error *err)
{
    if (query->asked_for || strcmp(query->profile, "default") != 0)
        return error_set(err, ERROR_DENIED,
                         "profile %s has no credentials: give it aws_access_key_id and "
                         "aws_secret_access_key (aws configure --profile %s)",
                         query->profile, query->profile);
    return error_set(err, ERROR_DENIED,
                     "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a "
                     "profile with keys (aws configure)");
}

/* Visible ASCII only: what else came along with a copied key would break the request's head. */
static bool is_visible(const char *text)
{
    for (; text && *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

static bool check_visible(const struct credentials *credentials, struct error *err)
{
    const char *bad = !is_visible(credentials->access_key_id)       ? "access key id"
                      : !is_visible(credentials->secret_access_key) ? "secret access key"
                      : !is_visible(credentials->session_token)     ? "session token"
                                                                    : NULL;
    return !bad || error_set(err, ERROR_DENIED,
                             "the %s holds a blank, a line end or another character that none "
                             "has; set it again",
                             bad);
}

bool credentials_resolve(const struct credentials_query *query, struct credentials *out,
                         struct error *err)
{
    enum credentials_found found = ask_all(query, out, err);
    if (found == CREDENTIALS_ABSENT)
        return fail_absent(query, err);
    if (found == CREDENTIALS_FAILED)
        return false;
    if (check_visible(out, err))
        return true;
    credentials_clean_up(out);
    return false;
}
