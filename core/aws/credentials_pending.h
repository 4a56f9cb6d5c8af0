/* Ways to credentials that a profile can ask for and that are not built yet. Each stands at its
 * place in the chain, and goes when its provider comes. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_PENDING_H
#define DDBFS_CORE_AWS_CREDENTIALS_PENDING_H

#include "core/aws/credentials.h"

/* A profile that asks for one of them is an error that names the way, since going on to keys, or to
 * nothing, would surprise. */
struct credentials_provider *
credentials_pending_new_process(const struct credentials_context *context);

#endif
