/* Names of resources (ARNs), and the partitions of AWS: groups of regions with a common domain. */
#ifndef DDBFS_CORE_AWS_ARN_H
#define DDBFS_CORE_AWS_ARN_H

#include "core/base/buf.h"

struct aws_partition {
    const char *name;              /* "aws", "aws-cn" */
    const char *suffix;            /* of its hosts: "amazonaws.com" */
    const char *dual_stack_suffix; /* of hosts with IPv4 and IPv6 */
};

/* The partition of REGION, by its name, or by the form of an unknown name. A region of no partition
 * counts as one of "aws", as in all tools of AWS. */
const struct aws_partition *aws_partition_of(const char *region);

/* Appends the ARN of a table of DynamoDB, or of its index INDEX if it is not NULL; "*", all tables,
 * if TABLE is NULL. ACCOUNT is NULL if it is not known. */
void arn_write(struct buf *out, const char *region, const char *account, const char *table,
               const char *index);

/* The account in an ARN such as "arn:aws:iam::123456789012:role/name"; empty without one. */
struct span arn_account(struct span arn);

#endif
