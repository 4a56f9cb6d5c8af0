/* How a table is made, as far as two tables can have it in common: keys, indexes, what these hold,
 * and how it is paid. */
#ifndef DDBFS_FS_CLI_DIFF_DIFF_TABLE_H
#define DDBFS_FS_CLI_DIFF_DIFF_TABLE_H

#include "core/base/buf.h"
#include "core/json/json.h"

/* Appends what DescribeTable says of a table (its "Table") as a typed item, without what belongs to
 * this one table or to the moment: names and numbers of its own, dates, counts, states. What the
 * service lists in no order is put into maps and sets. OUT->failed when memory ran out. */
void diff_table_write(struct json table, struct buf *out);

#endif
