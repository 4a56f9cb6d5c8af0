/* A Read as the `aws dynamodb …` command that sends the same
 * request. */
#ifndef DDBFS_CORE_DYNAMO_REQUEST_PRINT_H
#define DDBFS_CORE_DYNAMO_REQUEST_PRINT_H

#include "core/source/source.h"

/* A function of struct source_ops. */
void dynamo_write_command(const struct read *read, const struct source_command *how,
                          struct buf *out);

/* Appends the options for the endpoint: " --profile x --region y --endpoint-url
 * z". Each may be NULL, and is then left out. */
void dynamo_write_options(struct buf *out, const char *profile, const char *region,
                          const char *endpoint_url);

#endif
