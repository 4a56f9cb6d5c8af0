/* A session: settings, and the credentials that go with them. Environments whose settings come to
 * the same share one. */
#ifndef DDBFS_CORE_AWS_SESSION_H
#define DDBFS_CORE_AWS_SESSION_H

#include "core/aws/call.h"
#include "core/aws/credentials.h"
#include "core/aws/endpoint.h"
#include "core/aws/role_plan.h"
#include "core/aws/settings.h"

struct aws_session;

/* What a session works with. All borrowed, and outlives the session. */
struct aws_session_parts {
    struct loop *loop;
    struct transport *transport;
    const struct log *log;         /* may be NULL */
    struct sso_tokens *sso_tokens; /* of all sessions together; NULL: each has its own */
};

/* SETTINGS are borrowed, and outlive the session, which puts in the machine's region where nobody
 * names one: it is known when there are credentials. NULL when memory ran out. */
struct aws_session *aws_session_new(struct aws_settings *settings,
                                    const struct aws_session_parts *parts);
void aws_session_destroy(struct aws_session *session); /* NULL is fine */

/* Asks for what the session's credentials can't be had without (mfa.h). PROFILES may be without
 * their secrets. False with ERR filled. */
bool aws_session_request_codes(struct aws_session *session, const struct profiles *profiles,
                               mfa_prompt_fn *ask, void *arg, struct error *err);

const struct aws_settings *aws_session_settings(const struct aws_session *session);

/* Where DynamoDB is asked by who has CREDENTIALS, which may say whose account they are of. It stays
 * as long as the session. NULL with ERR filled. */
const struct aws_endpoint *aws_session_endpoint(struct aws_session *session,
                                                const struct credentials *credentials,
                                                struct error *err);

/* The session's credentials, through its cache (credentials_cache.h). */
struct credentials_provider *aws_session_credentials(struct aws_session *session);

/* What asks STS (sts.h) on behalf of the session's credentials. It must not outlive the session. */
struct aws_client aws_session_sts(struct aws_session *session);

#endif
