/* Sessions: settings, credentials and the endpoints of their accounts. */
#include "core/aws/session.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/credentials_cache.h"
#include "core/aws/credentials_providers.h"
#include "core/aws/sts.h"

struct located {
    enum aws_service service;
    char *account_id; /* owned; NULL if the credentials have no account */
    struct aws_endpoint endpoint;
    struct located *next;
};

struct aws_session {
    const struct aws_settings *settings;
    struct credentials_context context; /* what the providers borrow */
    struct mfa_codes codes;
    struct credentials_provider *credentials; /* owned; the cache */
    struct located *located;                  /* owned; all that were found */
};

struct aws_session *aws_session_new(struct aws_settings *settings,
                                    const struct aws_session_parts *parts)
{
    struct aws_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->settings = settings;
    session->context = (struct credentials_context){
        .loop = parts->loop,
        .transport = parts->transport,
        .log = parts->log,
        .sso_tokens = parts->sso_tokens,
        .mfa_codes = &session->codes,
        .settings = settings,
        .profile = aws_settings_profile_in_force(settings),
        .by_option = settings->by_option,
    };
    struct credentials_provider *chain = credentials_chain_new(&session->context);
    if (chain)
        session->credentials = credentials_cache_new(chain);
    if (session->credentials)
        return session;
    aws_session_destroy(session);
    return NULL;
}

static void session_free_located(struct located *located)
{
    aws_endpoint_clean_up(&located->endpoint);
    free(located->account_id);
    free(located);
}

void aws_session_destroy(struct aws_session *session)
{
    if (!session)
        return;
    credentials_provider_destroy(session->credentials);
    mfa_codes_clean_up(&session->codes);
    for (struct located *each = session->located, *next; each; each = next) {
        next = each->next;
        session_free_located(each);
    }
    free(session);
}

/* The account of the credentials changes only when the user edits a profile, so the list is short.
 */
const struct aws_endpoint *aws_session_endpoint(struct aws_session *session,
                                                enum aws_service service,
                                                const struct credentials *credentials,
                                                struct error *err)
{
    const char *account_id = credentials->account_id;
    for (struct located *each = session->located; each; each = each->next) {
        const char *own = each->account_id;
        if (each->service != service)
            continue;
        if (own && account_id ? strcmp(own, account_id) == 0 : own == account_id)
            return &each->endpoint;
    }
    struct located *located = calloc(1, sizeof *located);
    if (!located || (account_id && !(located->account_id = strdup(account_id)))) {
        free(located);
        error_no_memory(err);
        return NULL;
    }
    if (!aws_endpoint_init(&located->endpoint, session->settings, service, NULL, account_id, err)) {
        session_free_located(located);
        return NULL;
    }
    located->service = service;
    located->next = session->located;
    session->located = located;
    return &located->endpoint;
}

bool aws_session_prompt(struct aws_session *session, const struct profiles *profiles,
                        mfa_prompt_fn *prompt, void *arg, struct error *err)
{
    struct credentials_context context = session->context;
    context.profiles = profiles;
    return mfa_codes_prompt(&session->codes, &context, prompt, arg, err);
}

const struct aws_settings *aws_session_settings(const struct aws_session *session)
{
    return session->settings;
}

struct credentials_provider *aws_session_credentials(struct aws_session *session)
{
    return session->credentials;
}

struct aws_client aws_session_client(struct aws_session *session)
{
    return sts_client(&session->context, session->credentials);
}
