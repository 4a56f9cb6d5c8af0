/* The partitions of AWS: groups of regions that share a domain, and nothing else. */
#ifndef DDBFS_CORE_AWS_PARTITIONS_H
#define DDBFS_CORE_AWS_PARTITIONS_H

struct aws_partition {
    const char *name;              /* "aws", "aws-cn" */
    const char *suffix;            /* of its hosts: "amazonaws.com" */
    const char *dual_stack_suffix; /* of those that are reached by IPv4 and IPv6 */
};

/* The one that REGION belongs to, by its name or, where that is not known, by how it is made. A
 * region that belongs nowhere is taken for one of "aws", as every tool of AWS takes it. */
const struct aws_partition *aws_partition_of(const char *region);

#endif
