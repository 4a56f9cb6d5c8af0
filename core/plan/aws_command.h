/* A Read as the `aws dynamodb …` command that asks the same, ready for a shell. */
#ifndef DDBFS_CORE_PLAN_AWS_COMMAND_H
#define DDBFS_CORE_PLAN_AWS_COMMAND_H

#include "core/map/map.h"
#include "core/source/read.h"

struct aws_command {
    const char *options; /* " --profile x --region y …", or "" */
    const char *query;   /* a JMESPath for --query, or NULL */
    const char *output;  /* for --output, or NULL */
};

/* Appends the command for READ. */
void aws_command_write(struct buf *out, const struct read *read, const struct aws_command *how);

/* Appends a get-item whose key is what another command prints. */
void aws_command_write_nested(struct buf *out, const struct read *read, const char *key_command,
                              const struct aws_command *how);

/* Appends TEXT as one word of a shell. */
void shell_quote(struct buf *out, struct span text);

#endif
