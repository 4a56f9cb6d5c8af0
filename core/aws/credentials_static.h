/* Keys that stand in a profile: aws_access_key_id and its companions. The AWS CLI looks into the
 * two files at two places of its order, so there are two providers. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_STATIC_H
#define DDBFS_CORE_AWS_CREDENTIALS_STATIC_H

#include "core/aws/credentials.h"

/* Absent when the profile has no aws_access_key_id in that file. Id, secret, token and account come
 * from that file alone. */
struct credentials_provider *
credentials_static_new_credentials_file(const struct credentials_context *context);
struct credentials_provider *
credentials_static_new_config_file(const struct credentials_context *context);

#endif
