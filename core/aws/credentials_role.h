/* Credentials of a role that is assumed: signed for by the credentials of another profile or of
 * the environment, or for a token that somebody else has written into a file (web identity). */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_ROLE_H
#define DDBFS_CORE_AWS_CREDENTIALS_ROLE_H

#include "core/aws/credentials.h"

/* Profiles with role_arn, and source_profile or credential_source. They are taken from the AWS
 * CLI's cache of roles where it has them; else STS is asked, and the cache filled. */
struct credentials_provider *credentials_role_new(const struct credentials_context *context);

/* Profiles with web_identity_token_file, or AWS_WEB_IDENTITY_TOKEN_FILE in the environment. */
struct credentials_provider *
credentials_web_identity_new(const struct credentials_context *context);

#endif
