/* Checksum and decompression over zlib. */
#include "core/net/gzip.h"

/* Makes zlib take its input as const. */
#define ZLIB_CONST

#include <limits.h>
#include <zlib.h>

enum {
    CHUNK_SIZE = 16 * 1024,
    GZIP_ONLY = 16 + MAX_WBITS, /* zlib's way of asking for the gzip format and no other */
};

uint32_t gzip_crc32(struct span data)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)data.data, data.size);
}

static void end_stream(z_stream *stream)
{
    inflateEnd(stream);
}

/* Inflates into OUT until the stream ends; false when it ends badly, too soon or too late. */
static bool inflate_all(z_stream *stream, size_t max, struct buf *out)
{
    unsigned char chunk[CHUNK_SIZE];
    size_t total = 0;
    int state = Z_OK;
    while (state == Z_OK) {
        stream->next_out = chunk;
        stream->avail_out = sizeof chunk;
        state = inflate(stream, Z_NO_FLUSH);
        size_t got = sizeof chunk - stream->avail_out;
        if (got > max - total)
            return false;
        buf_add(out, chunk, got);
        total += got;
    }
    return state == Z_STREAM_END && stream->avail_in == 0 && !out->failed;
}

bool gzip_inflate(struct span data, size_t max, struct buf *out)
{
    if (data.size > UINT_MAX)
        return false;
    CLEAN_UP(end_stream) z_stream stream = {0};
    stream.next_in = (const unsigned char *)data.data;
    stream.avail_in = (uInt)data.size;
    if (inflateInit2(&stream, GZIP_ONLY) != Z_OK)
        return false;
    size_t before = out->size;
    if (inflate_all(&stream, max, out))
        return true;
    buf_truncate(out, before);
    return false;
}
