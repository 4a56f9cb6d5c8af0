/* A session: settings and their credentials. Environments whose settings have the same effect share
 * a session. */
#ifndef DDBFS_CORE_AWS_SESSION_H
#define DDBFS_CORE_AWS_SESSION_H

#include "core/aws/call.h"
#include "core/aws/credentials.h"
#include "core/aws/endpoint.h"
#include "core/aws/role_plan.h"
#include "core/aws/settings.h"

struct aws_session;

/* The surroundings of a session. All members are borrowed and outlive the session. */
struct aws_session_parts {
    struct loop *loop;
    struct transport *transport;
    const struct log *log;         /* may be NULL */
    struct sso_tokens *sso_tokens; /* shared by all sessions; NULL: each has its own */
};

/* SETTINGS are borrowed and outlive the session, which adds the machine's region if no other is
 * set; it is known once there are credentials. NULL when memory ran out. */
struct aws_session *aws_session_new(struct aws_settings *settings,
                                    const struct aws_session_parts *parts);
void aws_session_destroy(struct aws_session *session); /* NULL is fine */

/* Prompts for the MFA codes that the session's credentials need (mfa_codes_prompt). The secrets of
 * PROFILES may be wiped. False with ERR filled. */
bool aws_session_prompt(struct aws_session *session, const struct profiles *profiles,
                        mfa_prompt_fn *prompt, void *arg, struct error *err);

const struct aws_settings *aws_session_settings(const struct aws_session *session);

/* The endpoint of SERVICE for CREDENTIALS, whose account can be part of it. Valid as long as the
 * session. NULL with ERR filled. */
const struct aws_endpoint *aws_session_endpoint(struct aws_session *session,
                                                enum aws_service service,
                                                const struct credentials *credentials,
                                                struct error *err);

/* The session's credentials, through its cache (credentials_cache.h). */
struct credentials_provider *aws_session_credentials(struct aws_session *session);

/* The client of requests to other services (sts.h, s3_object.h) with the session's credentials. It
 * must not outlive the session. */
struct aws_client aws_session_client(struct aws_session *session);

#endif
