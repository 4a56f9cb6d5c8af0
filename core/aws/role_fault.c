/* Words for roles that are refused. */
#include "core/aws/role_fault.h"

#include <string.h>

#include "core/aws/sts.h"

/* What credential_source names, as its owner calls it, and what to say where it has none. */
static const struct {
    const char *word, *none;
} places[] = {
    [ROLE_SIGNED_BY_ENVIRONMENT] =
        {"the environment's keys", "Environment): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
    [ROLE_SIGNED_BY_CONTAINER] = {"the container's role",
                                  "EcsContainer): neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI "
                                  "nor AWS_CONTAINER_CREDENTIALS_FULL_URI is set; is this one?"},
    [ROLE_SIGNED_BY_MACHINE] = {"the machine's role",
                                "Ec2InstanceMetadata): this is no such machine, or it has no role"},
};

/* Who signed for the role AT, as its owner calls it. */
static void role_fault_write_signer(struct buf *out, const struct role_plan *plan, size_t at)
{
    if (at + 1 < plan->count)
        role_write_name(out, &plan->roles[at + 1]);
    else if (plan->source)
        buf_printf(out, "profile %.200s", plan->source);
    else
        buf_add_text(out, places[plan->signers].word);
}

static void role_fault_explain_denied(const struct role_plan *plan, size_t at, const char *name,
                                      const struct error *why, struct error *err)
{
    const struct role *role = &plan->roles[at];
    CLEAN_UP(buf_clean_up) struct buf signer = {0};
    role_fault_write_signer(&signer, plan, at);
    if (role->mfa_serial && strstr(why->text, "MultiFactorAuthentication"))
        error_set(err, ERROR_DENIED,
                  "%.400s could not be assumed: %.400s; each code of the MFA device %.200s is good "
                  "once: type the next one",
                  name, why->text, role->mfa_serial);
    else
        error_set(
            err, ERROR_DENIED,
            "%.400s could not be assumed by %.300s: %.400s; who signs needs a policy with "
            "{\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\",\"Resource\":\"%.300s\"}, and "
            "the role's trust policy a statement that names who signs%s",
            name, buf_text(&signer), why->text, role->arn,
            role->external_id ? " and this external_id"
                              : " (one with sts:ExternalId or MFA wants external_id or "
                                "mfa_serial in the profile)");
}

/* Of the signer's credentials. False when it is about something else. */
static bool role_fault_explain_identity(const struct role_plan *plan, size_t at, const char *method,
                                        const struct error *why, struct error *err)
{
    const char *profile = at + 1 < plan->count ? plan->roles[at + 1].profile : plan->source;
    CLEAN_UP(buf_clean_up) struct buf signer = {0};
    role_fault_write_signer(&signer, plan, at);
    if (!sts_fault_of_identity(why, method, buf_text(&signer), profile, err))
        return false;
    error_add(err, " (it is %s that signs for the role)", buf_text(&signer));
    return true;
}

/* Of a role for a token. */
static void role_fault_explain_token(const struct role *role, const char *name,
                                     const struct error *why, struct error *err)
{
    if (strncmp(why->code, "ExpiredToken", strlen("ExpiredToken")) == 0)
        error_set(err, ERROR_EXPIRED,
                  "the token in %.300s has expired: %.400s; who writes that file has to renew it "
                  "(in a pod: the kubelet)",
                  role->token_file, why->text);
    else if (strcmp(why->code, "AccessDenied") == 0)
        error_set(err, ERROR_DENIED,
                  "%.400s is not for the token in %.300s: %.400s; the role's trust policy needs a "
                  "statement that allows sts:AssumeRoleWithWebIdentity to the token's issuer, "
                  "audience and subject",
                  name, role->token_file, why->text);
    else
        error_set(err, ERROR_DENIED,
                  "%.400s could not be assumed for the token in %.300s: %.400s; check the role's "
                  "name and whose token it is",
                  name, role->token_file, why->text);
}

static void role_fault_explain_signed(const struct role_plan *plan, size_t at, const char *method,
                                      const char *name, const struct error *why, struct error *err)
{
    if (strcmp(why->code, "AccessDenied") == 0)
        role_fault_explain_denied(plan, at, name, why, err);
    else if (!role_fault_explain_identity(plan, at, method, why, err))
        error_set(err, ERROR_DENIED,
                  "%.400s could not be assumed: %.600s; check what the profile says of it "
                  "(role_arn, role_session_name, external_id, duration_seconds, mfa_serial)",
                  name, why->text);
}

void role_fault_explain(const struct role_plan *plan, size_t at, const char *method,
                        const struct error *why, struct error *err)
{
    const struct role *role = &plan->roles[at];
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    *err = *why;
    if (why->kind != ERROR_DENIED)
        return;
    role_write_name(&name, role);
    if (role->token_file)
        role_fault_explain_token(role, buf_text(&name), why, err);
    else
        role_fault_explain_signed(plan, at, method, buf_text(&name), why, err);
    memcpy(err->code, why->code, sizeof err->code);
    memcpy(err->request_id, why->request_id, sizeof err->request_id);
    err->http_status = why->http_status;
}

void role_fault_no_signers(const struct role_plan *plan, const struct error *why, struct error *err)
{
    struct error copy = *why;
    error_set(err, ERROR_DENIED,
              "there are no credentials to sign for the role of profile %.200s (credential_source "
              "= %s%s%.400s",
              plan->roles[plan->count - 1].profile, places[plan->signers].none,
              copy.text[0] ? ": " : "", copy.text);
}

void role_fault_no_code(const struct role *role, bool had_one, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    role_write_name(&name, role);
    error_set(
        err, had_one ? ERROR_EXPIRED : ERROR_DENIED,
        "%.400s needs a code of the MFA device %.200s, and there is no terminal to ask for it "
        "on; run aws sts get-caller-identity --profile %.200s, which asks, and keeps the "
        "session for all (a mount goes on with it)",
        buf_text(&name), role->mfa_serial, role->profile);
}

void role_fault_no_token(const struct role *role, enum stored_found found, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, why = {0};
    role_write_name(&name, role);
    if (found == STORED_FAILED)
        buf_printf(&why, "%s", err->text);
    else
        buf_printf(&why, "%s %s", role->token_file,
                   found == STORED_ABSENT ? "is not there" : "has none in it");
    error_set(
        err, ERROR_DENIED,
        "%.400s is had for a token (web_identity_token_file): %.600s; check the path, and who "
        "writes that file",
        buf_text(&name), buf_text(&why));
}
