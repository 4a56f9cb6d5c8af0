/* Checksum and decompression of responses, over zlib. */
#ifndef DDBFS_CORE_NET_GZIP_H
#define DDBFS_CORE_NET_GZIP_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

/* IEEE CRC-32, as in x-amz-crc32. */
uint32_t gzip_crc32(struct span data);

enum gzip_result {
    GZIP_WHOLE,
    GZIP_DAMAGED,   /* not one whole gzip stream */
    GZIP_TOO_LARGE, /* more than the bytes allowed */
    GZIP_NO_MEMORY,
};

/* Decompresses DATA into OUT, which is empty, and stays empty unless the data is whole. The memory
 * is for at most MAX bytes, whatever size DATA claims, and none of it is moved. */
enum gzip_result gzip_inflate(struct span data, size_t max, struct buf *out);

#endif
