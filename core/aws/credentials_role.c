/* Assuming roles, one after the other. */
#include "core/aws/credentials_role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/aws/arn.h"
#include "core/aws/aws_error.h"
#include "core/aws/cli_cache.h"
#include "core/aws/credentials_cache.h"
#include "core/aws/credentials_container.h"
#include "core/aws/credentials_env.h"
#include "core/aws/credentials_metadata.h"
#include "core/aws/mfa.h"
#include "core/aws/role_fault.h"
#include "core/aws/role_plan.h"
#include "core/aws/stored.h"
#include "core/aws/sts.h"

/* Whose credentials sign for the first role of a plan. They are kept from question to question,
 * since what a sign-in gave is not asked for again while it lasts. */
struct signers {
    enum role_signers kind;
    char *profile; /* owned; NULL where they are of another place */
    struct credentials_context context;
    struct profiles
        profiles; /* for those of another place; a profile's read the files themselves */
    struct credentials_provider *provider; /* owned; a cache. NULL: there are none yet */
};

struct role_provider {
    struct credentials_provider base; /* first: a provider is cast to it */
    const struct credentials_context *context;
    role_plan_fn *plan;
    const char *method;
    struct signers signers;
    struct stored_stamp given; /* of the key id that was given last */
    /* What STS has refused last: who asked it for what, when, and what it said. */
    struct stored_stamp refused;
    int64_t refused_ms;
    struct error refusal;
};

/* Credentials of a role that sign for the next one. */
struct step {
    struct credentials_context context; /* first: what looks at it is given this */
    struct credentials credentials;
};

enum role_state {
    ROLE_BEGINNING,      /* its timer: nothing is answered from within the question */
    ROLE_AWAITS_SIGNERS, /* credentials of the source */
    ROLE_AWAITS_STS,
};

struct credentials_request {
    enum role_state state;
    struct role_provider *provider;
    struct loop_timer *timer;            /* while it is beginning */
    struct credentials_request *sources; /* while it awaits signers; theirs */
    struct sts_call *call;               /* while it awaits STS */
    struct role_plan plan;
    size_t at;             /* which role of the plan is asked for */
    bool afresh;           /* nothing is taken from the AWS CLI's cache any more */
    bool signed_by_cached; /* by what was taken from there */
    struct step step;      /* the role before, which signs; empty where the plan's signers do */
    struct credentials_provider *step_signers; /* of STEP, owned; a cache */
    struct aws_client client;                  /* of CALL */
    struct stored_stamp asking;                /* what STS is asked, and by whom */
    const char *signer_method;                 /* how whoever signs has its credentials */
    credentials_fn *fn;
    void *arg;
};

static void role_drop_step(struct credentials_request *get)
{
    if (get->step_signers)
        get->step_signers->ops->destroy(get->step_signers);
    get->step_signers = NULL;
    credentials_clean_up(&get->step.credentials);
}

static void role_free_get(struct credentials_request *get)
{
    role_drop_step(get);
    role_plan_clean_up(&get->plan);
    free(get);
}

/* The question is gone before its asker hears. */
static void role_report(struct credentials_request *get, struct credentials_answer *answer)
{
    credentials_fn *fn = get->fn;
    void *arg = get->arg;
    role_free_get(get);
    fn(arg, answer);
    credentials_clean_up(&answer->credentials);
}

/* FOUND is taken over. */
static void role_deliver(struct credentials_request *get, struct credentials *found)
{
    struct role_provider *provider = get->provider;
    struct credentials_answer answer = {.found = CREDENTIALS_FOUND, .credentials = *found};
    *found = (struct credentials){0};
    answer.credentials.method = provider->method;
    answer.credentials.origin = get->plan.origin;
    get->plan.origin = NULL;
    provider->given = stored_stamp_of(span_text(answer.credentials.access_key_id));
    role_report(get, &answer);
}

/* The AWS CLI's cache. */

static bool role_read_cache(const struct credentials_request *get, const struct role *role,
                            struct credentials *out)
{
    struct clock *clock = loop_clock(get->provider->context->loop);
    struct span account = arn_account(span_text(role->arn));
    if (!cli_cache_read(role->cache, clock->wall_ms(clock), out))
        return false;
    if (!out->account_id && account.size > 0)
        out->account_id = strndup(account.data, account.size);
    return true;
}

/* Who has these and asks again was refused with them; but another code would have to be typed for
 * others. */
static bool role_was_given(const struct credentials_request *get, const struct credentials *kept)
{
    struct stored_stamp stamp = stored_stamp_of(span_text(kept->access_key_id));
    return !get->plan.roles[0].mfa_serial && stored_same(&stamp, &get->provider->given);
}

/* What the cache has may have been given out before; it is better than nothing. */
static void role_fail_or_deliver_again(struct credentials_request *get, const struct error *err)
{
    struct credentials kept = {0};
    struct credentials_answer failed = {.found = CREDENTIALS_FAILED, .err = *err};
    if (role_read_cache(get, &get->plan.roles[0], &kept))
        role_deliver(get, &kept);
    else
        role_report(get, &failed);
}

/* Signers. */

static void role_signers_clean_up(struct signers *signers)
{
    if (signers->provider)
        signers->provider->ops->destroy(signers->provider);
    profiles_clean_up(&signers->profiles);
    free(signers->profile);
    *signers = (struct signers){0};
}

static bool role_fit(const struct signers *signers, const struct role_plan *plan)
{
    bool same_profile = plan->source
                            ? signers->profile && strcmp(signers->profile, plan->source) == 0
                            : !signers->profile;
    return signers->provider && signers->kind == plan->signers && same_profile;
}

static struct credentials_provider *role_new_signers(const struct signers *signers)
{
    switch (signers->kind) {
    case ROLE_SIGNED_BY_PROFILE:
        return signers->context.new_chain(&signers->context);
    case ROLE_SIGNED_BY_CONTAINER:
        return credentials_container_new(&signers->context);
    case ROLE_SIGNED_BY_MACHINE:
        return credentials_metadata_new(&signers->context);
    default:
        return credentials_env_new(&signers->context);
    }
}

/* Those of another plan go. False when memory ran out. */
static bool role_take_signers(struct role_provider *provider, const struct role_plan *plan)
{
    struct signers *signers = &provider->signers;
    if (role_fit(signers, plan))
        return true;
    role_signers_clean_up(signers);
    signers->kind = plan->signers;
    signers->profile = plan->source ? strdup(plan->source) : NULL;
    if (plan->source && !signers->profile)
        return false;
    /* They may be refreshed when nobody asks for the role, so they borrow no files. */
    signers->context = *provider->context;
    signers->context.profiles = plan->source ? NULL : &signers->profiles;
    signers->context.asked_for = false;
    signers->context.is_source = plan->source;
    if (plan->source)
        signers->context.profile = signers->profile;
    struct credentials_provider *own = role_new_signers(signers);
    if (own)
        signers->provider =
            credentials_cache_new(provider->context->loop, provider->context->log, own);
    return signers->provider;
}

/* What stands in a file is read anew each time: it may have been mended. All else is asked for
 * again when STS has refused it, but not for every file that somebody would like to read. */
static void role_drop_stale(struct role_provider *provider)
{
    struct credentials_provider *signers = provider->signers.provider;
    unsigned age;
    const struct credentials *held = credentials_cache_held(signers, &age);
    if (!held)
        return;
    bool refused = provider->refused.is_set &&
                   loop_now_ms(provider->context->loop) - provider->refused_ms >= TOKEN_REFUSED_MS;
    if (credentials_are_in_file(held) || refused)
        credentials_cache_refuse(signers, age);
}

/* STS. */

static enum credentials_found role_look_at_step(const struct credentials_context *context,
                                                struct credentials *out, struct error *err)
{
    const struct step *step = (const struct step *)context;
    if (credentials_copy(out, &step->credentials))
        return CREDENTIALS_FOUND;
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

/* The credentials of one role sign for the next one. They are taken over. False when memory ran
 * out. */
static bool role_take_step(struct credentials_request *get, struct credentials *credentials)
{
    role_drop_step(get);
    get->step.credentials = *credentials;
    get->step.credentials.method = "assume-role";
    *credentials = (struct credentials){0};
    get->step.context = *get->provider->context;
    struct credentials_provider *own =
        credentials_provider_of(&get->step.context, role_look_at_step);
    if (own)
        get->step_signers =
            credentials_cache_new(get->step.context.loop, get->step.context.log, own);
    return get->step_signers;
}

static void role_begin_roles(struct credentials_request *get);
static void role_request_next(struct credentials_request *get);

/* Refused with what the AWS CLI has kept: that is made anew, too. */
static bool role_may_request_afresh(struct credentials_request *get, const struct error *err)
{
    return get->signed_by_cached && !get->afresh && aws_fault_may_be_credentials(err->code);
}

static void role_on(void *arg, const struct credentials *found, const struct error *err)
{
    struct credentials_request *get = arg;
    struct role_provider *provider = get->provider;
    const struct role *role = &get->plan.roles[get->at];
    struct credentials copy = {0};
    struct error why;
    get->call = NULL;
    if (found && credentials_copy(&copy, found)) {
        cli_cache_write(role->cache, &copy, NULL, provider->context->log);
        get->signed_by_cached = false;
        if (get->at == 0) {
            role_deliver(get, &copy);
        } else if (role_take_step(get, &copy)) {
            role_request_next(get);
        } else {
            error_no_memory(&why);
            role_fail_or_deliver_again(get, &why);
        }
        return;
    }
    if (found) {
        error_no_memory(&why);
    } else if (role_may_request_afresh(get, err)) {
        get->afresh = true;
        role_begin_roles(get);
        return;
    } else {
        role_fault_explain(&get->plan, get->at, get->signer_method, err, &why);
    }
    if (err && err->http_status >= 400 && err->http_status < 500) {
        provider->refused = get->asking;
        provider->refused_ms = loop_now_ms(provider->context->loop);
        provider->refusal = why;
    }
    role_fail_or_deliver_again(get, &why);
}

/* Who asks for what: the secrets are in it, for one may be mended under the same id. */
static void role_stamp_question(struct credentials_request *get, const struct sts_role *asked,
                                const struct credentials *signer)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    const char *const parts[] = {get->plan.roles[get->at].cache,
                                 asked->web_identity,
                                 asked->mfa_code,
                                 signer ? signer->access_key_id : NULL,
                                 signer ? signer->secret_access_key : NULL,
                                 signer ? signer->session_token : NULL};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        buf_printf(&text, "%s\n", parts[i] ? parts[i] : "");
    get->asking = stored_stamp_of(buf_span(&text));
}

static bool role_take_code(struct role_provider *provider, const struct role *role, struct buf *out)
{
    struct mfa_codes *codes = provider->context->mfa_codes;
    return codes && mfa_codes_take(codes, role->mfa_serial, out);
}

/* SIGNER is NULL for a web identity. */
static void role_request_sts(struct credentials_request *get, const struct credentials *signer,
                             struct credentials_provider *signers, const char *web_identity)
{
    struct role_provider *provider = get->provider;
    const struct role *role = &get->plan.roles[get->at];
    struct clock *clock = loop_clock(provider->context->loop);
    char session_name[64];
    struct error err;
    snprintf(session_name, sizeof session_name, "ddbfs-session-%lld",
             (long long)(clock->wall_ms(clock) / 1000));
    struct sts_role asked = {
        .arn = role->arn,
        .session_name = role->session_name ? role->session_name : session_name,
        .external_id = role->external_id,
        .duration_seconds = role->duration_seconds,
        .mfa_serial = role->mfa_serial,
        .web_identity = web_identity,
    };
    CLEAN_UP(buf_clean_up_secret) struct buf code = {0};
    if (role->mfa_serial && !role_take_code(provider, role, &code)) {
        role_fault_no_code(role, provider->given.is_set, &err);
        role_fail_or_deliver_again(get, &err);
        return;
    }
    asked.mfa_code = role->mfa_serial ? buf_text(&code) : NULL;
    role_stamp_question(get, &asked, signer);
    if (stored_same(&get->asking, &provider->refused) &&
        loop_now_ms(provider->context->loop) - provider->refused_ms < TOKEN_REFUSED_MS) {
        err = provider->refusal;
        role_fail_or_deliver_again(get, &err);
        return;
    }
    get->state = ROLE_AWAITS_STS;
    get->signer_method = signer ? signer->method : NULL;
    get->client = sts_client(provider->context, signers);
    get->call =
        sts_assume_role(&get->client, provider->context->settings, &asked, role_on, get, &err);
    if (!get->call)
        role_fail_or_deliver_again(get, &err);
}

static void role_request_for_token(struct credentials_request *get)
{
    CLEAN_UP(buf_clean_up_secret) struct buf token = {0};
    const struct role *role = &get->plan.roles[get->at];
    struct error err = {0};
    enum stored_found found = stored_read(role->token_file, &token, &err);
    while (token.size > 0 && strchr(" \t\r\n", token.data[token.size - 1]))
        buf_truncate(&token, token.size - 1);
    if (found == STORED_READ && token.size > 0 && !memchr(token.data, '\0', token.size)) {
        role_request_sts(get, NULL, NULL, buf_text(&token));
        return;
    }
    role_fault_no_token(role, found, &err);
    role_fail_or_deliver_again(get, &err);
}

static void role_on_signers(void *arg, const struct credentials_answer *answer)
{
    struct credentials_request *get = arg;
    struct error err = answer->err;
    get->sources = NULL;
    if (answer->found == CREDENTIALS_FOUND && credentials_check(&answer->credentials, &err)) {
        role_request_sts(get, &answer->credentials, get->provider->signers.provider, NULL);
        return;
    }
    if (answer->found == CREDENTIALS_ABSENT)
        role_fault_no_signers(&get->plan, &answer->err, &err);
    role_fail_or_deliver_again(get, &err);
}

static void role_request_for_signers(struct credentials_request *get)
{
    struct role_provider *provider = get->provider;
    struct error err;
    if (role_take_signers(provider, &get->plan)) {
        if (!get->plan.source)
            profiles_refresh(&provider->signers.profiles, NULL); /* they were read for the plan */
        role_drop_stale(provider);
        get->state = ROLE_AWAITS_SIGNERS;
        get->sources =
            provider->signers.provider->ops->get(provider->signers.provider, role_on_signers, get);
    }
    if (get->sources)
        return;
    error_no_memory(&err);
    role_fail_or_deliver_again(get, &err);
}

/* The role before the one at hand. */
static void role_request_next(struct credentials_request *get)
{
    get->at--;
    if (get->plan.roles[get->at].token_file)
        role_request_for_token(get);
    else if (get->step_signers)
        role_request_sts(get, &get->step.credentials, get->step_signers, NULL);
    else
        role_request_for_signers(get);
}

/* The first role, on the way from the one that is wanted to the source, that the AWS CLI has
 * credentials of; the plan's count when it has none. */
static size_t role_find_cached(const struct credentials_request *get, struct credentials *kept)
{
    size_t at = get->afresh ? get->plan.count : 0;
    for (; at < get->plan.count; at++) {
        if (role_read_cache(get, &get->plan.roles[at], kept) &&
            (at > 0 || !role_was_given(get, kept)))
            return at;
        credentials_clean_up(kept);
    }
    return at;
}

static void role_begin_roles(struct credentials_request *get)
{
    struct credentials kept = {0};
    struct error err;
    role_drop_step(get);
    get->at = role_find_cached(get, &kept);
    get->signed_by_cached = get->at < get->plan.count;
    if (get->at == 0) {
        role_deliver(get, &kept);
    } else if (!get->signed_by_cached || role_take_step(get, &kept)) {
        role_request_next(get);
    } else {
        error_no_memory(&err);
        role_fail_or_deliver_again(get, &err);
    }
}

static void role_begin(void *arg)
{
    struct credentials_request *get = arg;
    struct credentials_answer answer = {0};
    get->timer = NULL;
    answer.found = get->provider->plan(&get->plan, get->provider->context, &answer.err);
    if (answer.found == CREDENTIALS_FOUND)
        role_begin_roles(get);
    else
        role_report(get, &answer);
}

/* As a provider. */

static struct credentials_request *role_get(struct credentials_provider *base, credentials_fn *fn,
                                            void *arg)
{
    struct role_provider *provider = (struct role_provider *)base;
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){
        .state = ROLE_BEGINNING, .provider = provider, .fn = fn, .arg = arg};
    get->timer = loop_add_timer(provider->context->loop, 0, role_begin, get);
    if (get->timer)
        return get;
    free(get);
    return NULL;
}

static void role_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    if (get->sources)
        get->provider->signers.provider->ops->cancel(get->sources);
    sts_call_end(get->call);
    role_free_get(get);
}

static void role_destroy(struct credentials_provider *base)
{
    struct role_provider *provider = (struct role_provider *)base;
    role_signers_clean_up(&provider->signers);
    free(provider);
}

static struct credentials_provider *role_provider_new(const struct credentials_context *context,
                                                      role_plan_fn *plan, const char *method)
{
    static const struct credentials_provider_ops ops = {role_get, role_cancel, role_destroy};
    struct role_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NULL;
    *provider =
        (struct role_provider){.base = {&ops}, .context = context, .plan = plan, .method = method};
    return &provider->base;
}

struct credentials_provider *credentials_role_new(const struct credentials_context *context)
{
    return role_provider_new(context, role_plan_of_sources, "assume-role");
}

struct credentials_provider *credentials_web_identity_new(const struct credentials_context *context)
{
    return role_provider_new(context, role_plan_of_web_identity, "assume-role-with-web-identity");
}
