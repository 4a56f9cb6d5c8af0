/* Asking one provider after the other. */
#include "core/aws/credentials_chain.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/credentials_container.h"
#include "core/aws/credentials_env.h"
#include "core/aws/credentials_login.h"
#include "core/aws/credentials_metadata.h"
#include "core/aws/credentials_process.h"
#include "core/aws/credentials_role.h"
#include "core/aws/credentials_sso.h"
#include "core/aws/credentials_static.h"
#include "core/aws/machine_region.h"
#include "core/aws/profiles.h"
#include "core/aws/sign_in.h"

/* What a provider looks at. For a profile that is to sign for the role of another one only what the
 * profile itself says counts; its roles are the other one's affair, which knows the way from role
 * to role. */
enum scope { OF_PROFILE, NOT_FOR_SOURCES, OF_MACHINE };

/* In the order of the AWS CLI. A provider is one line here. */
static const struct {
    struct credentials_provider *(*make)(const struct credentials_context *);
    enum scope scope;
} constructors[] = {
    {machine_region_new, NOT_FOR_SOURCES},
    {credentials_env_new, NOT_FOR_SOURCES},
    {credentials_role_new, NOT_FOR_SOURCES},
    {credentials_web_identity_new, OF_PROFILE},
    {credentials_sso_new, OF_PROFILE},
    {credentials_static_new_credentials_file, OF_PROFILE},
    {credentials_login_new, OF_PROFILE},
    {credentials_process_new, OF_PROFILE},
    {credentials_static_new_config_file, OF_PROFILE},
    {credentials_container_new, OF_MACHINE},
    {credentials_metadata_new, OF_MACHINE},
};

enum { PROVIDERS = sizeof constructors / sizeof constructors[0] };

struct chain {
    struct credentials_provider base;   /* first: a provider is cast to it */
    struct credentials_context context; /* what its providers borrow */
    struct profiles profiles;           /* while a question is under way, unless they are lent */
    bool owns_profiles;
    struct credentials_provider *providers[PROVIDERS]; /* owned */
    enum scope scopes[PROVIDERS];                      /* of these */
    size_t count;
    bool had_own; /* credentials that were not the machine's were found once */
};

/* A question to the chain: a question to one of its providers at a time. */
struct credentials_request {
    struct chain *chain;
    struct loop_timer *timer;        /* until the files are read */
    size_t at;                       /* which provider is asked */
    struct credentials_request *get; /* of that provider; NULL while the timer runs */
    credentials_fn *fn;
    void *arg;
};

static void credentials_chain_fail_absent(const struct credentials_context *context,
                                          struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf steps = {0}, option = {0};
    sign_in_write_first_steps(&steps);
    aws_add_profile_option(&option, context->profile);
    if (context->is_source)
        error_set(err, ERROR_DENIED,
                  "profile %s, which is to sign for another's role (source_profile), has no "
                  "credentials itself, and the environment's do not count for it: give it some "
                  "(aws configure%s)",
                  context->profile, buf_text(&option));
    else if (context->asked_for || strcmp(context->profile, "default") != 0)
        error_set(err, ERROR_DENIED,
                  "profile %s has no credentials: give it aws_access_key_id and "
                  "aws_secret_access_key (aws configure%s)",
                  context->profile, buf_text(&option));
    else
        error_set(err, ERROR_DENIED,
                  "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or make a "
                  "profile: %s",
                  buf_text(&steps));
    if (context->profiles->unreadable.kind != ERROR_NONE)
        error_add(err, "; %s", context->profiles->unreadable.text);
}

/* The files are read for one question, and wiped after it. */
static bool credentials_chain_read_profiles(struct chain *chain, struct error *err)
{
    return !chain->owns_profiles || profiles_load(&chain->profiles, err);
}

static void credentials_chain_end(struct credentials_request *get)
{
    if (get->chain->owns_profiles)
        profiles_clean_up(&get->chain->profiles);
    free(get);
}

static void credentials_chain_report(struct credentials_request *get,
                                     const struct credentials_answer *answer)
{
    credentials_fn *fn = get->fn;
    void *arg = get->arg;
    credentials_chain_end(get);
    fn(arg, answer);
}

static void credentials_chain_report_failure(struct credentials_request *get,
                                             const struct error *err)
{
    struct credentials_answer failed = {.found = CREDENTIALS_FAILED, .err = *err};
    credentials_chain_report(get, &failed);
}

/* The user's own credentials are gone: a file is being written, say. A mount that went on with the
 * machine's would be somebody else, and stay so for hours. */
static void credentials_chain_fail_gone(const struct credentials_context *context,
                                        struct error *err)
{
    error_set(err, ERROR_DENIED,
              "profile %.200s had credentials of its own, and has none any more (%s, %s); those of "
              "the machine or its container are another identity's, and are not taken in their "
              "place: put them back, or begin anew (mount again)",
              context->profile, context->profiles->config_path,
              context->profiles->credentials_path);
}

static bool credentials_chain_request(struct credentials_request *get);

static void credentials_chain_on_answer(void *arg, const struct credentials_answer *answer)
{
    struct credentials_request *get = arg;
    struct chain *chain = get->chain;
    struct error err = {0};
    get->get = NULL;
    if (answer->found == CREDENTIALS_FOUND && !credentials_check(&answer->credentials, &err)) {
        credentials_chain_report_failure(get, &err);
    } else if (answer->found != CREDENTIALS_ABSENT) {
        bool is_found = answer->found == CREDENTIALS_FOUND;
        chain->had_own = chain->had_own || (is_found && chain->scopes[get->at] != OF_MACHINE);
        credentials_chain_report(get, answer);
    } else if (++get->at < chain->count && chain->had_own && chain->scopes[get->at] == OF_MACHINE) {
        credentials_chain_fail_gone(&chain->context, &err);
        credentials_chain_report_failure(get, &err);
    } else if (get->at == chain->count) {
        credentials_chain_fail_absent(&get->chain->context, &err);
        if (answer->err.kind != ERROR_NONE)
            error_add(&err, "; %s", answer->err.text);
        credentials_chain_report_failure(get, &err);
    } else if (!credentials_chain_request(get)) {
        error_no_memory(&err);
        credentials_chain_report_failure(get, &err);
    }
}

static bool credentials_chain_request(struct credentials_request *get)
{
    struct credentials_provider *provider = get->chain->providers[get->at];
    get->get = provider->ops->get(provider, credentials_chain_on_answer, get);
    return get->get != NULL;
}

static void credentials_chain_begin(void *arg)
{
    struct credentials_request *get = arg;
    struct error err = {0};
    get->timer = NULL;
    if (!credentials_chain_read_profiles(get->chain, &err)) {
        credentials_chain_report_failure(get, &err);
    } else if (!credentials_chain_request(get)) {
        error_no_memory(&err);
        credentials_chain_report_failure(get, &err);
    }
}

/* One question at a time: a cache stands around every chain. */
static struct credentials_request *
credentials_chain_chain_get(struct credentials_provider *provider, credentials_fn *fn, void *arg)
{
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){.chain = (struct chain *)provider, .fn = fn, .arg = arg};
    get->timer = loop_add_timer(get->chain->context.loop, 0, credentials_chain_begin, get);
    if (get->timer)
        return get;
    free(get);
    return NULL;
}

static void credentials_chain_chain_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    if (get->get)
        get->chain->providers[get->at]->ops->cancel(get->get);
    credentials_chain_end(get);
}

static void credentials_chain_chain_destroy(struct credentials_provider *provider)
{
    struct chain *chain = (struct chain *)provider;
    for (size_t i = 0; i < chain->count; i++)
        chain->providers[i]->ops->destroy(chain->providers[i]);
    free(chain);
}

struct credentials_provider *credentials_chain_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {credentials_chain_chain_get,
                                                        credentials_chain_chain_cancel,
                                                        credentials_chain_chain_destroy};
    struct chain *chain = calloc(1, sizeof *chain);
    if (!chain)
        return NULL;
    chain->base.ops = &ops;
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
            credentials_chain_chain_destroy(&chain->base);
            return NULL;
        }
        chain->scopes[chain->count] = constructors[i].scope;
        chain->providers[chain->count++] = provider;
    }
    return &chain->base;
}
