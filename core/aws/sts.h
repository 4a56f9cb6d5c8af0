/* AWS's Security Token Service: credentials of roles, and who one is. */
#ifndef DDBFS_CORE_AWS_STS_H
#define DDBFS_CORE_AWS_STS_H

#include "core/aws/credentials.h"
#include "core/aws/token_call.h"

struct sts_call;

/* What calls on behalf of CONTEXT have in common. SIGNERS is a credentials_cache and borrowed; NULL
 * where nothing is signed. */
struct aws_client sts_client(const struct credentials_context *context,
                             struct credentials_provider *signers);

/* A role that somebody wants. Each NULL when it is not said; copied when the call starts. */
struct sts_role {
    const char *arn;
    const char *session_name;
    const char *external_id;
    const char *duration_seconds;
    const char *mfa_serial;
    const char *mfa_code;
    const char *web_identity; /* a token, in place of a signature; a secret */
};

/* The end: exactly one of FOUND (borrowed; without method and origin) and ERR is not NULL. ERR is
 * as of a token_call: its text is one that another one can end with. */
typedef void sts_role_fn(void *arg, const struct credentials *found, const struct error *err);

/* At the service of SETTINGS' region. CLIENT and SETTINGS must outlive the call. NULL with ERR
 * filled; FN is then never called, and never from within. */
struct sts_call *sts_assume_role(struct aws_client *client, const struct aws_settings *settings,
                                 const struct sts_role *role, sts_role_fn *fn, void *arg,
                                 struct error *err);

/* Whom the client's credentials are of. All borrowed. */
struct sts_identity {
    const char *account;
    const char *arn;
    const char *user_id;
};

typedef void sts_identity_fn(void *arg, const struct sts_identity *found, const struct error *err);

struct sts_call *sts_get_caller_identity(struct aws_client *client,
                                         const struct aws_settings *settings, sts_identity_fn *fn,
                                         void *arg, struct error *err);

/* Fills ERR with what to do when STS's refusal WHY is about the credentials that signed, which are
 * PROFILE's (NULL when none need be named) and were had by METHOD (see struct credentials); false
 * when it is about something else. */
bool sts_fault_of_identity(const struct error *why, const char *method, const char *origin,
                           const char *profile, struct error *err);

/* Ends it without a call. NULL is fine. */
void sts_call_end(struct sts_call *call);

#endif
