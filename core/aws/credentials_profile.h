/* Keys that stand in a profile: aws_access_key_id and its companions. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_PROFILE_H
#define DDBFS_CORE_AWS_CREDENTIALS_PROFILE_H

#include "core/aws/credentials.h"

/* Reads the profile files anew, so that a session heals when they do; nothing of them stays. A
 * profile whose credentials are to come by another way (an assumed role, SSO, …) is an error that
 * names the way, since falling back to the keys, or to nothing, would surprise. */
struct credentials_provider *credentials_profile_new(const struct credentials_context *context);

#endif
