/* The chain: one provider after the other, in the order of the AWS CLI. */
#include <stdlib.h>
#include <string.h>

#include "core/aws/credentials_providers.h"
#include "core/aws/profiles.h"
#include "core/aws/sign_in.h"

/* The place of a provider's credentials. For a profile that signs for the role of another one, only
 * the profile itself counts; its own roles are followed by the other profile's role provider. */
enum chain_scope { OF_PROFILE, NOT_FOR_SOURCES, OF_MACHINE };

/* In the order of the AWS CLI. A provider is one line here. */
static const struct {
    struct credentials_provider *(*make)(const struct credentials_context *);
    enum chain_scope scope;
} constructors[] = {
    {credentials_region_new, NOT_FOR_SOURCES}, {credentials_env_new, NOT_FOR_SOURCES},
    {credentials_role_new, NOT_FOR_SOURCES},   {credentials_web_identity_new, OF_PROFILE},
    {credentials_sso_new, OF_PROFILE},         {credentials_credentials_file_new, OF_PROFILE},
    {credentials_login_new, OF_PROFILE},       {credentials_process_new, OF_PROFILE},
    {credentials_config_file_new, OF_PROFILE}, {credentials_container_new, OF_MACHINE},
    {credentials_machine_new, OF_MACHINE},
};

enum { PROVIDERS = sizeof constructors / sizeof constructors[0] };

struct chain {
    struct credentials_provider base;
    struct credentials_context context; /* lent to its providers */
    struct profiles profiles;           /* during a request, unless the context has profiles */
    bool owns_profiles;
    struct credentials_provider *providers[PROVIDERS]; /* owned */
    enum chain_scope scopes[PROVIDERS];                /* of these */
    size_t count;
    bool had_own; /* credentials that are not the machine's were found once */
};

struct chain_request {
    struct credentials_request base;
    size_t at;                         /* the provider of … */
    struct credentials_request *inner; /* … the request under way */
};

/* The files are read for one request, and wiped after it. */
static void chain_clean_up_request(struct credentials_request *base)
{
    struct chain *chain = (struct chain *)base->provider;
    credentials_request_cancel(((struct chain_request *)base)->inner);
    if (chain->owns_profiles)
        profiles_clean_up(&chain->profiles);
}

static void chain_clean_up(struct credentials_provider *base)
{
    struct chain *chain = (struct chain *)base;
    for (size_t i = 0; i < chain->count; i++)
        credentials_provider_destroy(chain->providers[i]);
}

static void chain_fail_absent(struct chain_request *request, const struct error *why)
{
    const struct credentials_context *context = request->base.provider->context;
    CLEAN_UP(buf_clean_up) struct buf steps = {0}, option = {0};
    struct error err;
    sign_in_write_first_steps(&steps);
    aws_add_profile_option(&option, context->profile);
    if (context->is_source)
        error_set(&err, ERROR_DENIED,
                  "profile %s, which is the source_profile of a role, has no credentials itself, "
                  "and the environment's do not count for it: add some (aws configure%s)",
                  context->profile, buf_text(&option));
    else if (context->by_option || strcmp(context->profile, "default") != 0)
        error_set(&err, ERROR_DENIED,
                  "profile %s has no credentials: set its aws_access_key_id and "
                  "aws_secret_access_key (aws configure%s)",
                  context->profile, buf_text(&option));
    else
        error_set(&err, ERROR_DENIED,
                  "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or make a "
                  "profile: %s",
                  buf_text(&steps));
    if (context->profiles->unreadable.kind != ERROR_NONE)
        error_add(&err, "; %s", context->profiles->unreadable.text);
    if (why->kind != ERROR_NONE)
        error_add(&err, "; %s", why->text);
    credentials_request_fail(&request->base, &err);
}

/* The user's own credentials are gone, perhaps while a file is written. A mount that went on with
 * the machine's credentials would have another identity, for hours. */
static void chain_fail_gone(struct chain_request *request)
{
    const struct credentials_context *context = request->base.provider->context;
    struct error err;
    error_set(&err, ERROR_DENIED,
              "profile %.200s had credentials of its own, and they are gone (%s, %s); those of the "
              "machine or its container belong to another identity and do not replace them: put "
              "them back, or start again (mount again)",
              context->profile, context->profiles->config_path,
              context->profiles->credentials_path);
    credentials_request_fail(&request->base, &err);
}

static void chain_on_result(void *arg, const struct credentials_result *result);

static void chain_request_next(struct chain_request *request)
{
    struct chain *chain = (struct chain *)request->base.provider;
    struct error err;
    request->inner =
        credentials_request_start(chain->providers[request->at], chain_on_result, request);
    if (request->inner)
        return;
    error_no_memory(&err);
    credentials_request_fail(&request->base, &err);
}

static void chain_on_result(void *arg, const struct credentials_result *result)
{
    struct chain_request *request = arg;
    struct chain *chain = (struct chain *)request->base.provider;
    bool is_found = result->found == CREDENTIALS_FOUND;
    struct error err;
    request->inner = NULL;
    if (is_found && !credentials_check(&result->credentials, &err)) {
        credentials_request_fail(&request->base, &err);
    } else if (result->found != CREDENTIALS_ABSENT) {
        chain->had_own = chain->had_own || (is_found && chain->scopes[request->at] != OF_MACHINE);
        credentials_request_report(&request->base, result);
    } else if (++request->at == chain->count) {
        chain_fail_absent(request, &result->err);
    } else if (chain->had_own && chain->scopes[request->at] == OF_MACHINE) {
        chain_fail_gone(request);
    } else {
        chain_request_next(request);
    }
}

static void chain_begin(struct credentials_request *base)
{
    struct chain *chain = (struct chain *)base->provider;
    struct error err;
    if (!chain->owns_profiles || profiles_load(&chain->profiles, &err))
        chain_request_next((struct chain_request *)base);
    else
        credentials_request_fail(base, &err);
}

struct credentials_provider *credentials_chain_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct chain_request),
        .begin = chain_begin,
        .clean_up_request = chain_clean_up_request,
        .clean_up = chain_clean_up,
    };
    struct credentials_provider *base =
        credentials_provider_new(sizeof(struct chain), &ops, context);
    struct chain *chain = (struct chain *)base;
    if (!chain)
        return NULL;
    base->context = &chain->context;
    chain->context = *context;
    chain->context.new_chain = credentials_chain_new;
    chain->owns_profiles = !context->profiles;
    if (chain->owns_profiles)
        chain->context.profiles = &chain->profiles;
    for (size_t i = 0; i < PROVIDERS; i++) {
        if (context->is_source && constructors[i].scope != OF_PROFILE)
            continue;
        struct credentials_provider *provider = constructors[i].make(&chain->context);
        if (!provider) {
            credentials_provider_destroy(base);
            return NULL;
        }
        chain->scopes[chain->count] = constructors[i].scope;
        chain->providers[chain->count++] = provider;
    }
    return base;
}
