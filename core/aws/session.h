/* An environment's standing with AWS: region, endpoint, and credentials when they are needed. */
#ifndef DDBFS_CORE_AWS_SESSION_H
#define DDBFS_CORE_AWS_SESSION_H

#include "core/aws/credentials.h"
#include "core/base/error.h"

/* Each NULL when not asked for. A profile that was asked for by name (not by AWS_PROFILE) turns
 * credentials in the environment off. Borrowed for the call. */
struct aws_options {
    const char *profile;
    const char *region;
    const char *endpoint_url;
};

/* Where requests of one environment go, and as whom. */
struct aws_session;

/* Settles profile, region and endpoint; reads the profile files; credentials are looked for
 * later. NULL with ERR filled: unknown profile, no region, a bad endpoint. */
struct aws_session *aws_session_new(const struct aws_options *options, struct error *err);
void aws_session_destroy(struct aws_session *session); /* NULL is fine */

const char *aws_session_region(const struct aws_session *session);
const char *aws_session_url(const struct aws_session *session);  /* https://host[:port]/ */
const char *aws_session_host(const struct aws_session *session); /* the Host header's value */
/* For the equal `aws` command; NULL where none need be given. */
const char *aws_session_profile(const struct aws_session *session);
const char *aws_session_endpoint_url(const struct aws_session *session);

/* Exactly one of the two is not NULL; CREDENTIALS is borrowed for the time of the call. */
typedef void credentials_fn(void *arg, const struct credentials *credentials,
                            const struct error *err);

/* Hands over credentials, from memory when it has some; today's sources answer before this
 * returns, later ones (SSO, assumed roles) will not. */
void aws_session_credentials(struct aws_session *session, credentials_fn *fn, void *arg);

/* Forgets what is in memory, after the service refused it: the next call resolves afresh. */
void aws_session_forget(struct aws_session *session);

#endif
