/* ARNs of tables and indexes. */
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
