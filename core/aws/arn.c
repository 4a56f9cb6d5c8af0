/* ARNs of tables and indexes, and the accounts in any. */
#include "core/aws/arn.h"

#include "core/aws/partitions.h"

void arn_write(struct buf *out, const char *region, const char *account, const char *table,
               const char *index)
{
    if (!table) {
        buf_add_char(out, '*'); /* listing tables is granted for all of them or not at all */
        return;
    }
    buf_printf(out, "arn:%s:dynamodb:%s:%s:table/%s", aws_partition_of(region)->name, region,
               account ? account : "*", table);
    if (index)
        buf_printf(out, "/index/%s", index);
}

struct span arn_account(struct span arn)
{
    for (int colons = 0; colons < 4; colons++) {
        const char *colon = arn.size ? memchr(arn.data, ':', arn.size) : NULL;
        arn = colon ? span_from(arn, (size_t)(colon - arn.data) + 1) : span_text("");
    }
    const char *end = arn.size ? memchr(arn.data, ':', arn.size) : NULL;
    return span_of(arn.data, end ? (size_t)(end - arn.data) : 0);
}
