/* AWS's Security Token Service: credentials of roles, and the identity of a caller. */
#ifndef DDBFS_CORE_AWS_STS_H
#define DDBFS_CORE_AWS_STS_H

#include "core/aws/credentials.h"
#include "core/aws/token_call.h"

/* The client of requests on behalf of CONTEXT. SIGNERS is a credentials_cache and borrowed; NULL
 * for unsigned requests. */
struct aws_client sts_client(const struct credentials_context *context,
                             struct credentials_provider *signers);

/* The arguments of a role. Each may be NULL except ARN; copied when the call starts. */
struct sts_role {
    const char *arn;
    const char *session_name;
    const char *external_id;
    const char *duration_seconds;
    const char *mfa_serial;
    const char *mfa_code;
    const char *web_identity; /* a token, in place of a signature; a secret */
};

/* Sends a request to the service of SETTINGS' region. CLIENT and SETTINGS must outlive the call. FN
 * gets the response for sts_read_role. NULL with ERR filled; FN is then never called. */
struct token_call *sts_assume_role(struct aws_client *client, const struct aws_settings *settings,
                                   const struct sts_role *role, token_call_fn *fn, void *arg,
                                   struct error *err);

/* Reads the credentials, without method and origin. The account is the one of the response, else of
 * ARN, the role's. False with ERR filled. */
bool sts_read_role(const struct document *response, const char *arn, bool by_web_identity,
                   int64_t wall_ms, struct credentials *out, struct error *err);

/* The same for the identity of the client's credentials. */
struct token_call *sts_get_caller_identity(struct aws_client *client,
                                           const struct aws_settings *settings, token_call_fn *fn,
                                           void *arg, struct error *err);

/* Borrowed from the response. */
struct sts_identity {
    const char *account;
    const char *arn;
    const char *user_id;
};

bool sts_read_identity(const struct document *response, struct sts_identity *out,
                       struct error *err);

/* Fills ERR with advice if the refusal WHY is about the signing credentials; else false. They are
 * of PROFILE (NULL: not to be named), and METHOD is theirs (see struct credentials). */
bool sts_fault_of_identity(const struct error *why, const char *method, const char *origin,
                           const char *profile, struct error *err);

#endif
