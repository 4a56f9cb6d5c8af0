/* Checksum and decompression of responses and files, over zlib. */
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
    GZIP_MORE, /* of a stream: not at its end */
};

/* Decompresses DATA into OUT, which is empty, and stays empty unless the data is whole. The memory
 * is for at most MAX bytes, whatever size DATA claims, and none of it is moved. */
enum gzip_result gzip_inflate(struct span data, size_t max, struct buf *out);

/* Data that comes in parts, in constant memory: one member of a gzip file after the other. */
struct gzip_stream;
struct gzip_stream *gzip_stream_new(void);            /* NULL without memory */
void gzip_stream_destroy(struct gzip_stream *stream); /* NULL is fine */

/* Appends to OUT the bytes of the beginning of DATA, at most ROOM, and removes it from
 * DATA. GZIP_MORE: DATA or ROOM is used up. GZIP_WHOLE: the member ended, and the next call begins
 * another. */
enum gzip_result gzip_stream_add(struct gzip_stream *stream, struct span *data, size_t room,
                                 struct buf *out);

#endif
