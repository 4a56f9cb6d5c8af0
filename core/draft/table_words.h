/* What a table is, in words. */
#ifndef DDBFS_CORE_DRAFT_TABLE_WORDS_H
#define DDBFS_CORE_DRAFT_TABLE_WORDS_H

#include "core/base/buf.h"
#include "core/source/source.h"

/* Appends, a line each: the table's key, its indexes with what they hold, and how many items there
 * are, with how old that number is. No line's end stands behind the last. */
void table_words_write_table(struct buf *out, const struct table_info *info);

#endif
