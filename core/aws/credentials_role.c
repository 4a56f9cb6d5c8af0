/* Credentials of roles: assumed one after the other, by the credentials of another profile or of
 * another place, or by a token in a file (web identity). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/aws/arn.h"
#include "core/aws/aws_fault.h"
#include "core/aws/cli_cache.h"
#include "core/aws/credentials_cache.h"
#include "core/aws/credentials_providers.h"
#include "core/aws/document.h"
#include "core/aws/role_plan.h"
#include "core/aws/sts.h"

/* The credentials that sign the first request of a plan. They live longer than a request, because
 * the credentials of a sign-in are used as long as they are valid. */
struct role_signer {
    enum role_signers kind;
    char *profile; /* owned; NULL if they are of another place */
    struct credentials_context context;
    struct profiles profiles; /* without secrets, for another place; a chain reads its own */
    struct credentials_provider *provider; /* owned; a cache; NULL: none yet */
};

struct role_provider {
    struct credentials_provider base;
    role_plan_fn *plan;
    const char *method;
    struct role_signer signer;
    struct stored_stamp delivered;      /* of the key id that was delivered last */
    struct credentials_failure refusal; /* of a request by STS */
};

/* The credentials of one role, which sign the request for the next one. */
struct role_step {
    struct credentials_context context; /* first: role_look_at_step gets its address */
    struct credentials credentials;
};

struct role_request {
    struct credentials_request base;
    struct credentials_request *signing; /* while it awaits the signer's credentials */
    struct token_call *call;             /* while it awaits STS */
    struct role_plan plan;
    size_t at;             /* the role of the plan that is requested */
    bool skips_cache;      /* the AWS CLI's cache is not read any more */
    bool signed_by_cached; /* the signing credentials are from that cache */
    struct role_step step; /* the role before; empty if the plan's signer signs */
    struct credentials_provider *step_provider; /* of STEP, owned; a cache */
    struct aws_client client;                   /* of CALL */
    struct stored_stamp stamp;                  /* of the request to STS and its signer */
    const char *signer_method; /* of the signing credentials; NULL for a web identity */
};

static struct role_provider *role_provider_of(const struct role_request *request)
{
    return (struct role_provider *)request->base.provider;
}

static void role_drop_step(struct role_request *request)
{
    credentials_provider_destroy(request->step_provider);
    request->step_provider = NULL;
    credentials_clean_up(&request->step.credentials);
}

static void role_clean_up_request(struct credentials_request *base)
{
    struct role_request *request = (struct role_request *)base;
    credentials_request_cancel(request->signing);
    token_call_end(request->call);
    role_drop_step(request);
    role_plan_clean_up(&request->plan);
}

static void role_signer_clean_up(struct role_signer *signer)
{
    credentials_provider_destroy(signer->provider);
    profiles_clean_up(&signer->profiles);
    free(signer->profile);
    *signer = (struct role_signer){0};
}

static void role_clean_up(struct credentials_provider *base)
{
    role_signer_clean_up(&((struct role_provider *)base)->signer);
}

/* Failures, with advice. */

/* The places of credential_source. */
static const struct {
    const char *name, *none;
} role_places[] = {
    [ROLE_SIGNED_BY_ENVIRONMENT] = {"the environment's keys",
                                    "Environment): set AWS_ACCESS_KEY_ID and "
                                    "AWS_SECRET_ACCESS_KEY"},
    [ROLE_SIGNED_BY_CONTAINER] = {"the container's role",
                                  "EcsContainer): neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI "
                                  "nor AWS_CONTAINER_CREDENTIALS_FULL_URI is set; run in such a "
                                  "container"},
    [ROLE_SIGNED_BY_MACHINE] = {"the machine's role", "Ec2InstanceMetadata): this is not an EC2 "
                                                      "machine, or it has no role"},
};

static void role_explain_signed(const struct role_request *request, const char *name,
                                const struct error *why, struct error *err)
{
    const struct role_plan *plan = &request->plan;
    const struct role *role = &plan->roles[request->at];
    const char *profile =
        request->at + 1 < plan->count ? plan->roles[request->at + 1].profile : plan->source;
    CLEAN_UP(buf_clean_up) struct buf signer = {0};
    if (request->at + 1 < plan->count)
        role_write_name(&signer, &plan->roles[request->at + 1]);
    else if (plan->source)
        buf_printf(&signer, "profile %.200s", plan->source);
    else
        buf_add_text(&signer, role_places[plan->signers].name);
    bool denied = strcmp(why->code, "AccessDenied") == 0;
    if (denied && role->mfa_serial && strstr(why->text, "MultiFactorAuthentication"))
        error_set(
            err, ERROR_DENIED,
            "%.400s could not be assumed: %.400s; each code of the MFA device %.200s is valid "
            "once: type the next one",
            name, why->text, role->mfa_serial);
    else if (denied)
        error_set(err, ERROR_DENIED,
                  "%.400s could not be assumed by %.300s: %.400s; the signer needs a policy with "
                  "{\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\",\"Resource\":\"%.300s\"}, "
                  "and the role's trust policy a statement that names the signer%s",
                  name, buf_text(&signer), why->text, role->arn,
                  role->external_id ? " and this external_id"
                                    : " (with sts:ExternalId or MFA in that statement, the profile "
                                      "needs external_id or mfa_serial)");
    else if (sts_fault_of_identity(why, request->signer_method, buf_text(&signer), profile, err))
        error_add(err, " (%s signs for the role)", buf_text(&signer));
    else
        error_set(err, ERROR_DENIED,
                  "%.400s could not be assumed: %.600s; check the role in the profile "
                  "(role_arn, role_session_name, external_id, duration_seconds, mfa_serial)",
                  name, why->text);
}

/* The refusal WHY of STS. */
static void role_explain(const struct role_request *request, const struct error *why,
                         struct error *err)
{
    const struct role *role = &request->plan.roles[request->at];
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    *err = *why;
    if (why->kind != ERROR_DENIED)
        return;
    role_write_name(&name, role);
    if (!role->token_file)
        role_explain_signed(request, buf_text(&name), why, err);
    else if (strncmp(why->code, "ExpiredToken", strlen("ExpiredToken")) == 0)
        error_set(err, ERROR_EXPIRED,
                  "the token in %.300s has expired: %.400s; the program that writes the file must "
                  "renew it (in a pod: the kubelet)",
                  role->token_file, why->text);
    else if (strcmp(why->code, "AccessDenied") == 0)
        error_set(err, ERROR_DENIED,
                  "%.400s does not accept the token in %.300s: %.400s; the role's trust policy "
                  "needs a statement that allows sts:AssumeRoleWithWebIdentity to the token's "
                  "issuer, audience and subject",
                  buf_text(&name), role->token_file, why->text);
    else
        error_set(err, ERROR_DENIED,
                  "%.400s could not be assumed with the token in %.300s: %.400s; check the role's "
                  "name and the token's subject",
                  buf_text(&name), role->token_file, why->text);
    token_call_copy_fault(err, why);
}

/* The result. */

/* Takes FOUND over. */
static void role_finish(struct role_request *request, struct credentials *found)
{
    struct role_provider *provider = role_provider_of(request);
    struct credentials_result result = {.found = CREDENTIALS_FOUND, .credentials = *found};
    *found = (struct credentials){0};
    result.credentials.method = provider->method;
    result.credentials.origin = request->plan.origin;
    request->plan.origin = NULL;
    provider->delivered = stored_stamp_of(span_text(result.credentials.access_key_id));
    credentials_request_finish(&request->base, &result);
}

static bool role_read_cache(const struct role_request *request, const struct role *role,
                            struct credentials *out)
{
    struct clock *clock = loop_clock(request->base.provider->context->loop);
    struct span account = arn_account(span_text(role->arn));
    if (!cli_cache_read(role->cache, clock->wall_ms(clock), out))
        return false;
    if (!out->account_id && account.size > 0)
        out->account_id = strndup(account.data, account.size);
    return true;
}

/* Credentials in the cache may have been delivered before; they are better than a failure. */
static void role_fail_or_finish_cached(struct role_request *request, const struct error *err)
{
    struct credentials cached = {0};
    if (role_read_cache(request, &request->plan.roles[0], &cached))
        role_finish(request, &cached);
    else
        credentials_request_fail(&request->base, err);
}

static void role_fail_without_memory(struct role_request *request)
{
    struct error err;
    error_no_memory(&err);
    role_fail_or_finish_cached(request, &err);
}

/* The signer. */

/* Replaces the signer of another plan. False when memory ran out. */
static bool role_set_signer(struct role_provider *provider, const struct role_plan *plan)
{
    struct role_signer *signer = &provider->signer;
    bool same_profile = plan->source ? signer->profile && strcmp(signer->profile, plan->source) == 0
                                     : !signer->profile;
    if (signer->provider && signer->kind == plan->signers && same_profile)
        return true;
    role_signer_clean_up(signer);
    signer->kind = plan->signers;
    signer->profile = plan->source ? strdup(plan->source) : NULL;
    if (plan->source && !signer->profile)
        return false;
    /* The signer may be refreshed while no request for the role is under way, so it borrows no
     * profile files. */
    signer->context = *provider->base.context;
    signer->context.profiles = plan->source ? NULL : &signer->profiles;
    signer->context.by_option = false;
    signer->context.is_source = plan->source;
    if (plan->source)
        signer->context.profile = signer->profile;
    struct credentials_provider *own =
        plan->signers == ROLE_SIGNED_BY_PROFILE     ? signer->context.new_chain(&signer->context)
        : plan->signers == ROLE_SIGNED_BY_CONTAINER ? credentials_container_new(&signer->context)
        : plan->signers == ROLE_SIGNED_BY_MACHINE   ? credentials_machine_new(&signer->context)
                                                    : credentials_env_new(&signer->context);
    if (own)
        signer->provider = credentials_cache_new(own);
    return signer->provider;
}

/* Keys in a file are read again each time, because the user may have corrected them. All others are
 * requested again after a refusal by STS, but not for each file that a program reads. */
static void role_drop_stale_signer(struct role_provider *provider)
{
    const struct credentials_failure *refusal = &provider->refusal;
    struct credentials_provider *cache = provider->signer.provider;
    unsigned age;
    const struct credentials *held = credentials_cache_held(cache, &age);
    if (!held)
        return;
    bool refused =
        refusal->of.is_set &&
        loop_now_ms(provider->base.context->loop) - refusal->at_ms >= CREDENTIALS_FAILURE_MS;
    if (credentials_are_in_file(held) || refused)
        credentials_cache_refuse(cache, age);
}

static enum credentials_found role_look_at_step(const struct credentials_context *context,
                                                struct credentials *out, struct error *err)
{
    const struct role_step *step = (const struct role_step *)context;
    if (credentials_copy(out, &step->credentials))
        return CREDENTIALS_FOUND;
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

/* The credentials of one role sign the request for the next one. They are taken over. False when
 * memory ran out. */
static bool role_set_step(struct role_request *request, struct credentials *credentials)
{
    role_drop_step(request);
    request->step.credentials = *credentials;
    request->step.credentials.method = "assume-role";
    *credentials = (struct credentials){0};
    request->step.context = *request->base.provider->context;
    struct credentials_provider *own =
        credentials_provider_of(&request->step.context, role_look_at_step);
    if (own)
        request->step_provider = credentials_cache_new(own);
    return request->step_provider;
}

/* Requests to STS. */

static void role_begin_roles(struct role_request *request);
static void role_request_next(struct role_request *request);

static void role_on_response(void *arg, struct document *response, const struct error *err)
{
    struct role_request *request = arg;
    struct role_provider *provider = role_provider_of(request);
    const struct credentials_context *context = provider->base.context;
    const struct role *role = &request->plan.roles[request->at];
    struct clock *clock = loop_clock(context->loop);
    CLEAN_UP(document_clean_up) struct document *owned = response;
    CLEAN_UP(credentials_clean_up) struct credentials found = {0};
    struct error why = {0};
    request->call = NULL;
    if (owned &&
        sts_read_role(owned, role->arn, role->token_file, clock->wall_ms(clock), &found, &why)) {
        cli_cache_write(role->cache, &found, NULL, context->log);
        request->signed_by_cached = false;
        if (request->at == 0)
            role_finish(request, &found);
        else if (role_set_step(request, &found))
            role_request_next(request);
        else
            role_fail_without_memory(request);
        return;
    }
    if (!err)
        err = &why;
    /* The credentials from the AWS CLI's cache were refused: they are requested anew, too. */
    if (request->signed_by_cached && !request->skips_cache &&
        aws_fault_may_be_credentials(err->code)) {
        request->skips_cache = true;
        role_begin_roles(request);
        return;
    }
    struct error explained;
    role_explain(request, err, &explained);
    if (err->http_status >= 400 && err->http_status < 500)
        credentials_failure_set(&provider->refusal, &request->stamp, context->loop, &explained);
    role_fail_or_finish_cached(request, &explained);
}

/* Secrets are part of the stamp, because a secret may be corrected under the same key id. */
static struct stored_stamp role_stamp_of(const struct role_request *request,
                                         const struct sts_role *wanted,
                                         const struct credentials *signer)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    const char *const parts[] = {request->plan.roles[request->at].cache,
                                 wanted->web_identity,
                                 wanted->mfa_code,
                                 signer ? signer->access_key_id : NULL,
                                 signer ? signer->secret_access_key : NULL,
                                 signer ? signer->session_token : NULL};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        buf_printf(&text, "%s\n", parts[i] ? parts[i] : "");
    return stored_stamp_of(buf_span(&text));
}

/* SIGNER and its PROVIDER are NULL for a web identity. */
static void role_request_sts(struct role_request *request, const struct credentials *signer,
                             struct credentials_provider *signers, const char *web_identity)
{
    struct role_provider *provider = role_provider_of(request);
    const struct credentials_context *context = provider->base.context;
    const struct role *role = &request->plan.roles[request->at];
    struct clock *clock = loop_clock(context->loop);
    CLEAN_UP(buf_clean_up_secret) struct buf code = {0};
    char session_name[64];
    struct error err;
    snprintf(session_name, sizeof session_name, "ddbfs-session-%lld",
             (long long)(clock->wall_ms(clock) / 1000));
    if (role->mfa_serial &&
        !(context->mfa_codes && mfa_codes_take(context->mfa_codes, role->mfa_serial, &code))) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        role_write_name(&name, role);
        error_set(&err, provider->delivered.is_set ? ERROR_EXPIRED : ERROR_DENIED,
                  "%.400s needs a code of the MFA device %.200s, and there is no terminal for a "
                  "prompt; run aws sts get-caller-identity --profile %.200s, which prompts, and "
                  "stores the session for all (a mount goes on with it)",
                  buf_text(&name), role->mfa_serial, role->profile);
        role_fail_or_finish_cached(request, &err);
        return;
    }
    struct sts_role wanted = {
        .arn = role->arn,
        .session_name = role->session_name ? role->session_name : session_name,
        .external_id = role->external_id,
        .duration_seconds = role->duration_seconds,
        .mfa_serial = role->mfa_serial,
        .mfa_code = role->mfa_serial ? buf_text(&code) : NULL,
        .web_identity = web_identity,
    };
    request->stamp = role_stamp_of(request, &wanted, signer);
    const struct error *refusal =
        credentials_failure_find(&provider->refusal, &request->stamp, context->loop);
    if (refusal) {
        err = *refusal;
        role_fail_or_finish_cached(request, &err);
        return;
    }
    request->signer_method = signer ? signer->method : NULL;
    request->client = sts_client(context, signers);
    request->call = sts_assume_role(&request->client, context->settings, &wanted, role_on_response,
                                    request, &err);
    if (!request->call)
        role_fail_or_finish_cached(request, &err);
}

static void role_request_by_token(struct role_request *request)
{
    CLEAN_UP(buf_clean_up_secret) struct buf token = {0};
    const struct role *role = &request->plan.roles[request->at];
    struct error err = {0};
    enum stored_found found = stored_read(role->token_file, &token, &err);
    while (token.size > 0 && strchr(" \t\r\n", token.data[token.size - 1]))
        buf_truncate(&token, token.size - 1);
    if (found == STORED_READ && token.size > 0 && !memchr(token.data, '\0', token.size)) {
        role_request_sts(request, NULL, NULL, buf_text(&token));
        return;
    }
    CLEAN_UP(buf_clean_up) struct buf name = {0}, why = {0};
    role_write_name(&name, role);
    if (found == STORED_FAILED)
        buf_add_text(&why, err.text);
    else
        buf_printf(&why, "%s %s", role->token_file,
                   found == STORED_ABSENT ? "does not exist" : "has no token");
    error_set(&err, ERROR_DENIED,
              "%.400s needs a token (web_identity_token_file): %.600s; check the path, and the "
              "program that writes the file",
              buf_text(&name), buf_text(&why));
    role_fail_or_finish_cached(request, &err);
}

static void role_on_signer(void *arg, const struct credentials_result *result)
{
    struct role_request *request = arg;
    const struct role_plan *plan = &request->plan;
    struct error err = result->err;
    request->signing = NULL;
    if (result->found == CREDENTIALS_FOUND && credentials_check(&result->credentials, &err)) {
        role_request_sts(request, &result->credentials, role_provider_of(request)->signer.provider,
                         NULL);
        return;
    }
    if (result->found == CREDENTIALS_ABSENT)
        error_set(&err, ERROR_DENIED,
                  "there are no credentials to sign for the role of profile %.200s "
                  "(credential_source = %s%s%.400s",
                  plan->roles[plan->count - 1].profile, role_places[plan->signers].none,
                  result->err.text[0] ? ": " : "", result->err.text);
    role_fail_or_finish_cached(request, &err);
}

/* Requests the role before the one that was requested last. */
static void role_request_next(struct role_request *request)
{
    struct role_provider *provider = role_provider_of(request);
    struct role_signer *signer = &provider->signer;
    request->at--;
    if (request->plan.roles[request->at].token_file) {
        role_request_by_token(request);
        return;
    }
    if (request->step_provider) {
        role_request_sts(request, &request->step.credentials, request->step_provider, NULL);
        return;
    }
    if (role_set_signer(provider, &request->plan)) {
        if (!request->plan.source)
            profiles_refresh(&signer->profiles, NULL); /* they were readable for the plan */
        role_drop_stale_signer(provider);
        request->signing = credentials_request_start(signer->provider, role_on_signer, request);
    }
    if (!request->signing)
        role_fail_without_memory(request);
}

/* Begins at the first role, from the wanted one to the source, that the AWS CLI's cache has. */
static void role_begin_roles(struct role_request *request)
{
    const struct role_plan *plan = &request->plan;
    const struct stored_stamp *delivered = &role_provider_of(request)->delivered;
    CLEAN_UP(credentials_clean_up) struct credentials cached = {0};
    size_t at = request->skips_cache ? plan->count : 0;
    role_drop_step(request);
    for (; at < plan->count; at++) {
        if (role_read_cache(request, &plan->roles[at], &cached)) {
            /* Credentials that were delivered before may have been refused. But new credentials of
             * a role with MFA would need another code. */
            struct stored_stamp stamp = stored_stamp_of(span_text(cached.access_key_id));
            if (at > 0 || plan->roles[0].mfa_serial || !stored_same(&stamp, delivered))
                break;
        }
        credentials_clean_up(&cached);
    }
    request->at = at;
    request->signed_by_cached = at < plan->count;
    if (at == 0)
        role_finish(request, &cached);
    else if (!request->signed_by_cached || role_set_step(request, &cached))
        role_request_next(request);
    else
        role_fail_without_memory(request);
}

/* The providers. */

static void role_begin(struct credentials_request *base)
{
    struct role_request *request = (struct role_request *)base;
    struct credentials_result result = {0};
    result.found =
        role_provider_of(request)->plan(&request->plan, base->provider->context, &result.err);
    if (result.found == CREDENTIALS_FOUND)
        role_begin_roles(request);
    else
        credentials_request_report(base, &result);
}

static struct credentials_provider *role_provider_new(const struct credentials_context *context,
                                                      role_plan_fn *plan, const char *method)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct role_request),
        .begin = role_begin,
        .clean_up_request = role_clean_up_request,
        .clean_up = role_clean_up,
    };
    struct credentials_provider *base =
        credentials_provider_new(sizeof(struct role_provider), &ops, context);
    struct role_provider *provider = (struct role_provider *)base;
    if (provider) {
        provider->plan = plan;
        provider->method = method;
    }
    return base;
}

struct credentials_provider *credentials_role_new(const struct credentials_context *context)
{
    return role_provider_new(context, role_plan_of_sources, "assume-role");
}

struct credentials_provider *credentials_web_identity_new(const struct credentials_context *context)
{
    return role_provider_new(context, role_plan_of_web_identity, "assume-role-with-web-identity");
}
