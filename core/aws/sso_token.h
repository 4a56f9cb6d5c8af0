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

/* The tokens that are in use, each with its refresh: profiles of one session have one token, whose
 * refresh tokens are good once. */
struct sso_tokens;

struct sso_tokens *sso_tokens_new(void);            /* NULL when memory ran out */
void sso_tokens_destroy(struct sso_tokens *tokens); /* NULL is fine */

/* Who waits for a refresh: FN is called once, later, never from within. Storage is the waiter's
 * own, and all else zero at first. */
struct sso_waiter {
    loop_fn *fn;
    void *arg;
    struct sso_waiter *next;
    struct sso_waiter **link; /* what points to it; NULL while it does not wait */
    bool served; /* it has waited for a refresh with its own authorities: it begins no other */
};

/* FN is not called any more. */
void sso_waiter_leave(struct sso_waiter *waiter);

/* Appends a valid token to OUT (a secret), fills ERR, or lets WAITER wait, which is to ask again
 * then as the same one. NULL gets what there is. A refresh goes on even if nobody waits for it any
 * more, since the service may have replaced the refresh token already. CONTEXT is the asker's; its
 * loop, transport and log outlive TOKENS. */
enum sso_token_state sso_tokens_take(struct sso_tokens *tokens,
                                     const struct credentials_context *context,
                                     const struct sso_login *login, struct sso_waiter *waiter,
                                     struct buf *out, struct error *err);

#endif
