/* Numbers as text: decimals, and sizes in bytes. */
#ifndef DDBFS_CORE_BASE_QUANTITY_H
#define DDBFS_CORE_BASE_QUANTITY_H

#include <stdint.h>

#include "core/base/buf.h"

/* Appends "52", "0.5" or "128500.5": the shortest text without exponent that reads back as the same
 * number. VALUE is finite. */
void decimal_write(double value, struct buf *out);

/* The same; UNKNOWN if VALUE is negative, for capacity that no response has stated. */
void decimal_write_known(double value, const char *unknown, struct buf *out);

/* Each rounds up to whole units. Appends "5 MB", or "3 KB" below 1 MB. */
void size_write(uint64_t bytes, struct buf *out);

/* Appends "1023", "1.2K" or "34M", as ls -h does. */
void size_write_short(uint64_t bytes, struct buf *out);

/* Appends "5M", as options have it. */
void size_write_option(uint64_t bytes, struct buf *out);

#endif
