/* Checksum and decompression over zlib. */
#include "core/net/gzip.h"

/* Makes zlib take its input as const. */
#define ZLIB_CONST

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    CHUNK_SIZE = 16 * 1024,
    MOST_GROWTH = 1032,         /* of deflate, by its format */
    GZIP_ONLY = 16 + MAX_WBITS, /* zlib's code for the gzip format only */
};

uint32_t gzip_crc32(struct span data)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)data.data, data.size);
}

static void gzip_end_stream(z_stream *stream)
{
    inflateEnd(stream);
}

static enum gzip_result gzip_inflate_all(z_stream *stream, size_t max, struct buf *out)
{
    for (;;) {
        /* One byte beyond the limit distinguishes a stream that ends there from a longer one. */
        size_t left = max + 1 - out->size;
        if (out->size + 1 >= out->capacity &&
            !buf_reserve_within(out, left < CHUNK_SIZE ? left : CHUNK_SIZE, max + 1))
            return GZIP_NO_MEMORY;
        size_t room = out->capacity - out->size - 1;
        stream->next_out = (unsigned char *)out->data + out->size;
        stream->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
        uInt had = stream->avail_out;
        int state = inflate(stream, Z_NO_FLUSH);
        out->size += had - stream->avail_out;
        out->data[out->size] = '\0';
        if (out->size > max)
            return GZIP_TOO_LARGE;
        if (state == Z_STREAM_END)
            return stream->avail_in == 0 ? GZIP_WHOLE : GZIP_DAMAGED;
        if (state == Z_MEM_ERROR)
            return GZIP_NO_MEMORY;
        if (state != Z_OK)
            return GZIP_DAMAGED;
    }
}

enum gzip_result gzip_inflate(struct span data, size_t max, struct buf *out)
{
    /* The length at the stream's end, modulo 4 GB. The peer may lie; it is a hint for the
     * allocation. */
    size_t reported = 0;
    for (size_t i = 1; i <= 4 && data.size >= 4; i++)
        reported = reported << 8 | (unsigned char)data.data[data.size - i];
    if (data.size > UINT_MAX)
        return GZIP_TOO_LARGE;
    CLEAN_UP(gzip_end_stream) z_stream stream = {0};
    stream.next_in = (const unsigned char *)data.data;
    stream.avail_in = (uInt)data.size;
    if (inflateInit2(&stream, GZIP_ONLY) != Z_OK)
        return GZIP_NO_MEMORY;
    /* No stream grows by more than that, so a short one cannot claim much memory. */
    if (reported <= max && reported / MOST_GROWTH <= data.size)
        buf_reserve_within(out, reported + 1, max + 1);
    enum gzip_result result = out->failed ? GZIP_NO_MEMORY : gzip_inflate_all(&stream, max, out);
    if (result != GZIP_WHOLE)
        buf_clean_up_secret(out);
    return result;
}

struct gzip_stream {
    z_stream state;
};

struct gzip_stream *gzip_stream_new(void)
{
    struct gzip_stream *stream = calloc(1, sizeof *stream);
    if (stream && inflateInit2(&stream->state, GZIP_ONLY) == Z_OK)
        return stream;
    free(stream);
    return NULL;
}

void gzip_stream_destroy(struct gzip_stream *stream)
{
    if (stream)
        inflateEnd(&stream->state);
    free(stream);
}

enum gzip_result gzip_stream_add(struct gzip_stream *stream, struct span *data, size_t room,
                                 struct buf *out)
{
    z_stream *state = &stream->state;
    if (!buf_reserve(out, room))
        return GZIP_NO_MEMORY;
    size_t given = data->size < UINT_MAX ? data->size : UINT_MAX;
    room = room < UINT_MAX ? room : UINT_MAX;
    state->next_in = (const unsigned char *)data->data;
    state->avail_in = (uInt)given;
    state->next_out = (unsigned char *)out->data + out->size;
    state->avail_out = (uInt)room;
    int result = inflate(state, Z_NO_FLUSH);
    out->size += room - state->avail_out;
    out->data[out->size] = '\0';
    *data = span_from(*data, given - state->avail_in);
    if (result == Z_STREAM_END)
        return inflateReset(state) == Z_OK ? GZIP_WHOLE : GZIP_DAMAGED;
    if (result == Z_MEM_ERROR)
        return GZIP_NO_MEMORY;
    return result == Z_OK || result == Z_BUF_ERROR ? GZIP_MORE : GZIP_DAMAGED;
}
