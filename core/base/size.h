/* Numbers of bytes in words; what is no whole unit is rounded up. */
#ifndef DDBFS_CORE_BASE_SIZE_H
#define DDBFS_CORE_BASE_SIZE_H

#include <stdint.h>

#include "core/base/buf.h"

/* Appends "5 MB", or "3 KB" of what is less than one. */
void size_write(uint64_t bytes, struct buf *out);

/* As ls -h does: "1023", "1.2K", "34M". */
void size_write_short(uint64_t bytes, struct buf *out);

/* The same as options take it: "5M". */
void size_write_option(uint64_t bytes, struct buf *out);

#endif
