/* Keys that stand in a profile: aws_access_key_id and its companions. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_PROFILE_H
#define DDBFS_CORE_AWS_CREDENTIALS_PROFILE_H

#include "core/aws/credentials.h"

/* A profile whose credentials are to come by another way (an assumed role, SSO, …) is an error
 * that names the way, since falling back to the keys, or to nothing, would surprise. */
credentials_source_fn credentials_profile;

#endif
