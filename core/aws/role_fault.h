/* Why a role could not be assumed, in the words of whoever wanted it. */
#ifndef DDBFS_CORE_AWS_ROLE_FAULT_H
#define DDBFS_CORE_AWS_ROLE_FAULT_H

#include "core/aws/role_plan.h"
#include "core/aws/stored.h"

/* STS was asked for the role AT of PLAN, and WHY is what came of it. METHOD is how the credentials
 * were had that signed (see struct credentials); NULL for a web identity. */
void role_fault_explain(const struct role_plan *plan, size_t at, const char *method,
                        const struct error *why, struct error *err);

/* The place that credential_source names has no credentials; WHY may say more. */
void role_fault_no_signers(const struct role_plan *plan, const struct error *why,
                           struct error *err);

/* A code of the role's MFA device is needed, and there is nobody who could type one; HAD_ONE when
 * there was a session before. */
void role_fault_no_code(const struct role *role, bool had_one, struct error *err);

/* The token's file has no token; ERR says why when it could not be read. */
void role_fault_no_token(const struct role *role, enum stored_found found, struct error *err);

#endif
