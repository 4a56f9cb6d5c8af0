/* Checksum and decompression of answers, over zlib. */
#ifndef DDBFS_CORE_NET_GZIP_H
#define DDBFS_CORE_NET_GZIP_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

/* IEEE CRC-32, as in x-amz-crc32. */
uint32_t gzip_crc32(struct span data);

/* Appends the decompressed bytes; false when DATA is not one whole gzip stream, when it grows
 * beyond MAX bytes, or when memory ran out. */
bool gzip_inflate(struct span data, size_t max, struct buf *out);

#endif
