/* The plan by which a profile gets the credentials of its role: the roles to assume, one after the
 * other, and the signer of the first request. The plan is read from the profile files and the
 * environment; no request is sent. Also the codes of MFA devices that roles need. */
#ifndef DDBFS_CORE_AWS_ROLE_PLAN_H
#define DDBFS_CORE_AWS_ROLE_PLAN_H

#include "core/aws/credentials.h"

/* All texts are owned; NULL for a setting without a value. */
struct role {
    char *profile; /* the profile that names the role; NULL: the environment */
    char *arn;
    char *session_name;
    char *external_id;
    char *duration_seconds;
    char *mfa_serial;
    char *token_file; /* of a web identity, which needs no signature */
    char *cache;      /* the file of the AWS CLI's cache */
};

enum role_signers {
    ROLE_IS_UNSIGNED, /* a web identity */
    ROLE_SIGNED_BY_PROFILE,
    ROLE_SIGNED_BY_ENVIRONMENT, /* this one and the next two: credential_source */
    ROLE_SIGNED_BY_CONTAINER,
    ROLE_SIGNED_BY_MACHINE,
};

struct role_plan {
    struct role *roles; /* owned; the wanted role first; the next one's credentials assume it */
    size_t count;
    enum role_signers signers; /* of the last role */
    char *source;              /* owned; the profile of these signers, or NULL */
    char *origin;              /* owned; the place of the wanted role, for messages */
};

/* Finds the plan of profiles with role_arn and a source, or of a token's file (also in the
 * environment). PLAN, {0} before, needs clean-up in any case. */
typedef enum credentials_found
role_plan_fn(struct role_plan *plan, const struct credentials_context *context, struct error *err);
role_plan_fn role_plan_of_sources;
role_plan_fn role_plan_of_web_identity;

void role_plan_clean_up(struct role_plan *plan);

/* Appends the role's name for messages: "role arn:… of profile x". */
void role_write_name(struct buf *out, const struct role *role);

enum mfa_input {
    MFA_TYPED,
    MFA_NO_TERMINAL,
    MFA_FAILED, /* ERR has the reason */
};

/* Prompts for a code of the device SERIAL. CODE is a secret. It may block the caller. */
typedef enum mfa_input mfa_prompt_fn(void *arg, const char *serial, struct buf *code,
                                     struct error *err);

/* Typed codes that are not used yet; {0}: none. */
struct mfa_codes {
    struct mfa_code *first; /* owned */
};

void mfa_codes_clean_up(struct mfa_codes *codes);

/* Prompts for the codes that the role of CONTEXT's profile needs, before any request is sent,
 * because requests cannot wait for a person. A role with a session in the AWS CLI's cache needs no
 * code. The secrets of the context's profiles may be wiped. False with ERR filled; without a
 * terminal the result is true, and no code. */
bool mfa_codes_prompt(struct mfa_codes *codes, const struct credentials_context *context,
                      mfa_prompt_fn *prompt, void *arg, struct error *err);

/* Moves a code of the device SERIAL to OUT, a secret, because each code is valid once. False
 * without a code. */
bool mfa_codes_take(struct mfa_codes *codes, const char *serial, struct buf *out);

#endif
