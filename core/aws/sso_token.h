/* Tokens of SSO (IAM Identity Center): `aws sso login` leaves one in ~/.aws/sso/cache, which is
 * read anew each time, so that signing in in another terminal helps at once, and refreshed and
 * written back as the AWS CLI does it. */
#ifndef DDBFS_CORE_AWS_SSO_TOKEN_H
#define DDBFS_CORE_AWS_SSO_TOKEN_H

#include "core/aws/credentials.h"

enum {
    SSO_TOKEN_EARLY_MS = 15 * 60 * 1000, /* with less left than this, a token is refreshed */
    SSO_TOKEN_PAUSE_MS = 60 * 1000, /* how long a valid one is left alone that was not refreshed */
};

/* What somebody is signed in to. All borrowed. */
struct sso_login {
    const char *profile; /* whose settings they are */
    const char *session; /* the name of [sso-session NAME]; NULL in profiles without one, whose
                          * tokens can't be refreshed */
    const char *start_url;
    const char *region;
};

enum sso_token_state {
    SSO_TOKEN_VALID,
    SSO_TOKEN_REFRESHING, /* ask again when told to */
    SSO_TOKEN_FAILED,
};

/* Who reads and refreshes tokens for one provider, one at a time. */
struct sso_tokens;

/* CONTEXT is borrowed. NULL when memory ran out. */
struct sso_tokens *sso_tokens_new(const struct credentials_context *context);
void sso_tokens_destroy(struct sso_tokens *tokens); /* NULL is fine */

/* Appends a valid token to OUT (a secret), fills ERR, or calls FN once, later, never from within:
 * it is to ask again then, with MAY_REFRESH false, and gets what there is. A refresh goes on even
 * if nobody waits for it any more, since the service may have replaced the refresh token already.
 */
enum sso_token_state sso_tokens_take(struct sso_tokens *tokens, const struct sso_login *login,
                                     bool may_refresh, loop_fn *fn, void *arg, struct buf *out,
                                     struct error *err);
/* FN is not called any more. */
void sso_tokens_forget(struct sso_tokens *tokens);

#endif
