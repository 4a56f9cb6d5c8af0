/* A Read as the `aws dynamodb …` command that sends the same request, ready for a shell. */
#ifndef DDBFS_CORE_DYNAMO_CLI_COMMAND_H
#define DDBFS_CORE_DYNAMO_CLI_COMMAND_H

#include "core/source/source.h"

/* Of struct source_ops. */
void dynamo_write_command(const struct read *read, const struct source_command *how,
                          struct buf *out);

/* Appends the options that say where to ask: " --profile x --region y --endpoint-url z". Each may
 * be NULL, and is then left out. */
void dynamo_write_options(struct buf *out, const char *profile, const char *region,
                          const char *endpoint_url);

#endif
