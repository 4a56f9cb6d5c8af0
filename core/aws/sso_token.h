/* Tokens of SSO (IAM Identity Center). `aws sso login` writes a token to ~/.aws/sso/cache. The file
 * is read for each request, so that a sign-in in another terminal takes effect at once; the token
 * is refreshed and written back as the AWS CLI does it. */
#ifndef DDBFS_CORE_AWS_SSO_TOKEN_H
#define DDBFS_CORE_AWS_SSO_TOKEN_H

#include "core/aws/credentials.h"
#include "core/base/list.h"

enum {
    SSO_TOKEN_EARLY_MS = 15 * 60 * 1000, /* a token that expires sooner is refreshed */
    SSO_TOKEN_PAUSE_MS = 60 * 1000,      /* between two refreshes of a token that is still valid */
};

/* The place of a sign-in. All members are borrowed. */
struct sso_login {
    const char *profile; /* the profile with these settings */
    const char *session; /* the name of [sso-session NAME]; NULL in profiles without a session,
                          * whose tokens cannot be refreshed */
    const char *start_url;
    const char *region;
};

enum sso_token_state {
    SSO_TOKEN_VALID,
    SSO_TOKEN_REFRESHING, /* the waiter is called after the refresh, and calls again */
    SSO_TOKEN_FAILED,
};

/* The tokens in use, each with its refresh. Profiles of one session share a token, because a
 * refresh token is valid once. */
struct sso_tokens;

struct sso_tokens *sso_tokens_new(void);            /* NULL when memory ran out */
void sso_tokens_destroy(struct sso_tokens *tokens); /* NULL is fine */

/* Waits for a refresh: FN is called once, later, never from within. The other members are zero at
 * first. To leave, remove the node. */
struct sso_waiter {
    loop_fn *fn;
    void *arg;
    struct list_node node;
    bool served; /* a refresh with the waiter's own authorities has ended: it begins no other */
};

/* Appends a valid token to OUT (a secret), or fills ERR, or adds WAITER to a refresh. With a WAITER
 * of NULL the token is never refreshed. A refresh goes on without waiters, because the service may
 * already have replaced the refresh token. The loop, transport and log of CONTEXT outlive TOKENS.
 */
enum sso_token_state sso_tokens_find(struct sso_tokens *tokens,
                                     const struct credentials_context *context,
                                     const struct sso_login *login, struct sso_waiter *waiter,
                                     struct buf *out, struct error *err);

#endif
