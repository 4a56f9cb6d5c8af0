/* The chain: one provider after the other is asked, in the order of the AWS CLI. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_CHAIN_H
#define DDBFS_CORE_AWS_CREDENTIALS_CHAIN_H

#include "core/aws/credentials.h"

/* The first provider that has credentials, or fails, is the answer; when none has any the chain
 * fails and says what to set. What a request's head cannot carry is refused. NULL when memory ran
 * out. */
struct credentials_provider *credentials_chain_new(const struct credentials_context *context);

#endif
