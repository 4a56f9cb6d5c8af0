/* Credentials in the environment: AWS_ACCESS_KEY_ID and its companions. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_ENV_H
#define DDBFS_CORE_AWS_CREDENTIALS_ENV_H

#include "core/aws/credentials.h"

/* Absent when a profile was asked for by an option; a key without its secret, and an
 * AWS_CREDENTIAL_EXPIRATION in the past, are errors. */
struct credentials_provider *credentials_env_new(const struct credentials_context *context);

#endif
