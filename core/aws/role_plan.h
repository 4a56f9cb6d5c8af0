/* How a profile comes to the credentials of its role: which roles are assumed one after the other,
 * and who signs for the first of them. Read off the profile files and the environment; nothing is
 * asked. */
#ifndef DDBFS_CORE_AWS_ROLE_PLAN_H
#define DDBFS_CORE_AWS_ROLE_PLAN_H

#include "core/aws/credentials.h"

/* All owned; NULL for what is not said. */
struct role {
    char *profile; /* whose role it is; NULL for the environment's */
    char *arn;
    char *session_name;
    char *external_id;
    char *duration_seconds;
    char *mfa_serial;
    char *token_file; /* of a web identity, which needs no signature */
    char *cache;      /* the file that the AWS CLI keeps its credentials in */
};

enum role_signers {
    ROLE_SIGNED_BY_NOBODY, /* a web identity */
    ROLE_SIGNED_BY_PROFILE,
    ROLE_SIGNED_BY_ENVIRONMENT, /* and so on: what credential_source names */
    ROLE_SIGNED_BY_CONTAINER,
    ROLE_SIGNED_BY_MACHINE,
};

struct role_plan {
    struct role *roles; /* owned; the one that is wanted first; each is assumed as the next one */
    size_t count;
    enum role_signers signers; /* for the last of them */
    char *source;              /* owned; the profile of those signers, or NULL */
    char *origin; /* owned; where the role that is wanted is named, in a user's words */
};

/* What a provider's place in the chain is about: role_arn with a source, or a token's file (of the
 * environment, too). PLAN, {0} before, is to be cleaned up in any case. */
typedef enum credentials_found
role_plan_fn(struct role_plan *plan, const struct credentials_context *context, struct error *err);
role_plan_fn role_plan_of_sources;
role_plan_fn role_plan_of_web_identity;

void role_plan_clean_up(struct role_plan *plan);

/* Appends what a user calls that role by: "role arn:… of profile x". */
void role_write_name(struct buf *out, const struct role *role);

#endif
