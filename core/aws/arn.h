/* Names of resources, as policies have them. */
#ifndef DDBFS_CORE_AWS_ARN_H
#define DDBFS_CORE_AWS_ARN_H

#include "core/base/buf.h"

/* Appends the ARN of a table of DynamoDB, or of its index INDEX where that is not NULL: all tables
 * of the account ("*") where TABLE is NULL. ACCOUNT is NULL when it is not known. */
void arn_write(struct buf *out, const char *region, const char *account, const char *table,
               const char *index);

/* The account in an ARN, as in "arn:aws:iam::123456789012:role/name"; empty when there is none. */
struct span arn_account(struct span arn);

#endif
