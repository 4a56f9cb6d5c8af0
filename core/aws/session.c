/* Settings and their credentials. */
#include "core/aws/session.h"

#include <stdlib.h>

#include "core/aws/credentials_cache.h"
#include "core/aws/credentials_chain.h"

struct aws_session {
    const struct aws_settings *settings;
    struct credentials_context context;       /* what the providers borrow */
    struct credentials_provider *credentials; /* owned; the cache */
};

struct aws_session *aws_session_new(const struct aws_settings *settings,
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
        .settings = settings,
        .profile = aws_settings_profile_in_force(settings),
        .asked_for = settings->asked_for,
    };
    struct credentials_provider *chain = credentials_chain_new(&session->context);
    if (chain)
        session->credentials = credentials_cache_new(parts->loop, parts->log, chain);
    if (session->credentials)
        return session;
    aws_session_destroy(session);
    return NULL;
}

void aws_session_destroy(struct aws_session *session)
{
    if (!session)
        return;
    if (session->credentials)
        session->credentials->ops->destroy(session->credentials);
    free(session);
}

const struct aws_settings *aws_session_settings(const struct aws_session *session)
{
    return session->settings;
}

struct credentials_provider *aws_session_credentials(struct aws_session *session)
{
    return session->credentials;
}
