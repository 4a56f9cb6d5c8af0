/* Numbers as decimal text: the shortest one that reads back as the same number, without exponent.
 */
#ifndef DDBFS_CORE_BASE_DECIMAL_H
#define DDBFS_CORE_BASE_DECIMAL_H

#include "core/base/buf.h"

/* Appends "52", "0.5" or "128500.5". VALUE is finite. */
void decimal_write(double value, struct buf *out);

/* The same, or UNKNOWN where VALUE is negative: of capacity that no response has stated. */
void decimal_write_known(double value, const char *unknown, struct buf *out);

#endif
