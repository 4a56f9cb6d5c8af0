/* An access policy of AWS, as JSON: which operations are granted on which tables and indexes. It
 * grants nothing that this program can't ask for, since it knows no other operations. */
#ifndef DDBFS_CORE_DYNAMO_POLICY_DOCUMENT_H
#define DDBFS_CORE_DYNAMO_POLICY_DOCUMENT_H

#include "core/base/buf.h"
#include "core/dynamo/request.h"

struct policy_grant;

/* {0} grants nothing. */
struct policy {
    struct policy_grant *grants; /* owned; in the order in which they were added */
    size_t count;
    bool failed; /* memory ran out */
};

/* Grants OP on RESOURCE, an ARN or "*", which is copied. */
void policy_grant(struct policy *policy, enum dynamo_op op, struct span resource);
void policy_clean_up(struct policy *policy);

/* Appends the document: one statement for the resources that are granted the same, and those of
 * operations that read no record apart; on one line if it is to be COMPACT. A line end follows.
 * False when memory ran out. */
bool policy_write(const struct policy *policy, bool compact, struct buf *out);

#endif
