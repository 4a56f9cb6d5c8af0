/* Checksum and decompression. */
#include "core/net/gzip.h"

#include <stdlib.h>
#include <zlib.h>

#include "tests/unit/check.h"

/* Compresses TEXT with WINDOW bits, which name the format: 31 gzip, 15 zlib, -15 raw. */
static void deflate_as(struct span text, int window, struct buf *out)
{
    unsigned char chunk[4096];
    z_stream stream = {0};
    CHECK_INT(deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    char *copy = malloc(text.size + 1);
    memcpy(copy, text.data, text.size);
    stream.next_in = (unsigned char *)copy;
    stream.avail_in = (uInt)text.size;
    int state = Z_OK;
    while (state == Z_OK) {
        stream.next_out = chunk;
        stream.avail_out = sizeof chunk;
        state = deflate(&stream, Z_FINISH);
        buf_add(out, chunk, sizeof chunk - stream.avail_out);
    }
    deflateEnd(&stream);
    free(copy);
    CHECK_INT(state, Z_STREAM_END);
}

static void crc32_of_the_check_string(void)
{
    CHECK_INT(gzip_crc32(SPAN_LITERAL("123456789")), 0xCBF43926);
}

static void crc32_of_nothing(void)
{
    CHECK_INT(gzip_crc32(span_text(NULL)), 0);
}

static void check_round_trip(size_t size)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, packed = {0}, out = {0};
    for (size_t i = 0; i < size; i++)
        buf_add_char(&text, (char)(i * i % 251));
    deflate_as(buf_span(&text), 31, &packed);
    CHECK_INT(gzip_inflate(buf_span(&packed), size, &out), GZIP_WHOLE);
    CHECK_SPAN(buf_span(&out), buf_span(&text));
}

static void small_and_large_round_trips(void)
{
    check_round_trip(0);
    check_round_trip(1);
    check_round_trip(16 * 1024);
    check_round_trip(1000 * 1000);
}

static void too_much_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0}, out = {0};
    deflate_as(SPAN_LITERAL("world"), 31, &packed);
    CHECK_INT(gzip_inflate(buf_span(&packed), 4, &out), GZIP_TOO_LARGE);
    CHECK(out.size == 0 && !out.failed);
}

/* A megabyte that claims to be five bytes, and five bytes that claim to be a megabyte. */
static void a_wrong_length_is_found_out(void)
{
    CLEAN_UP(buf_clean_up) struct buf zeros = {0}, packed = {0}, little = {0}, out = {0};
    buf_add_repeated(&zeros, '\0', 1024 * 1024);
    deflate_as(buf_span(&zeros), 31, &packed);
    memcpy(packed.data + packed.size - 4, "\5\0\0\0", 4);
    CHECK_INT(gzip_inflate(buf_span(&packed), 2 * 1024 * 1024, &out), GZIP_DAMAGED);
    deflate_as(SPAN_LITERAL("world"), 31, &little);
    memcpy(little.data + little.size - 4, "\0\0\x10\0", 4);
    CHECK_INT(gzip_inflate(buf_span(&little), 2 * 1024 * 1024, &out), GZIP_DAMAGED);
    CHECK_INT(out.capacity, 0);
}

/* The answer's length is known: it is inflated into room of that size, and not moved. */
static void the_room_is_that_of_the_answer(void)
{
    CLEAN_UP(buf_clean_up) struct buf zeros = {0}, packed = {0}, out = {0};
    buf_add_repeated(&zeros, '\0', 700 * 1000);
    deflate_as(buf_span(&zeros), 31, &packed);
    CHECK_INT(gzip_inflate(buf_span(&packed), 1000 * 1000, &out), GZIP_WHOLE);
    CHECK_INT(out.size, 700 * 1000);
    CHECK_INT(out.capacity, 700 * 1000 + 2);
}

static void a_bomb_stops_at_the_limit(void)
{
    CLEAN_UP(buf_clean_up) struct buf zeros = {0}, packed = {0}, out = {0};
    buf_add_repeated(&zeros, '\0', 8 * 1024 * 1024);
    deflate_as(buf_span(&zeros), 31, &packed);
    CHECK_INT(gzip_inflate(buf_span(&packed), 100 * 1000, &out), GZIP_TOO_LARGE);
    CHECK_INT(out.capacity, 0);
}

static void every_cut_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0};
    deflate_as(SPAN_LITERAL("a text that is cut"), 31, &packed);
    for (size_t size = 0; size < packed.size; size++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        CHECK_INT(gzip_inflate(span_of(packed.data, size), 1000, &out), GZIP_DAMAGED);
        CHECK_INT(out.size, 0);
    }
}

static void what_follows_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0}, out = {0};
    deflate_as(SPAN_LITERAL("one"), 31, &packed);
    size_t one = packed.size;
    deflate_as(SPAN_LITERAL("two"), 31, &packed);
    CHECK_INT(gzip_inflate(buf_span(&packed), 1000, &out), GZIP_DAMAGED);
    CHECK_INT(gzip_inflate(span_of(packed.data, one + 1), 1000, &out), GZIP_DAMAGED);
    CHECK_INT(gzip_inflate(span_of(packed.data, one), 1000, &out), GZIP_WHOLE);
}

static void other_formats_are_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf zlib = {0}, raw = {0}, out = {0};
    deflate_as(SPAN_LITERAL("text"), 15, &zlib);
    deflate_as(SPAN_LITERAL("text"), -15, &raw);
    CHECK_INT(gzip_inflate(buf_span(&zlib), 1000, &out), GZIP_DAMAGED);
    CHECK_INT(gzip_inflate(buf_span(&raw), 1000, &out), GZIP_DAMAGED);
    CHECK_INT(gzip_inflate(SPAN_LITERAL("{\"Item\":{}}"), 1000, &out), GZIP_DAMAGED);
}

static void a_flipped_bit_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0}, out = {0};
    deflate_as(SPAN_LITERAL("a text with a checksum"), 31, &packed);
    packed.data[packed.size - 6] ^= 1; /* among the last eight bytes: checksum and size */
    CHECK_INT(gzip_inflate(buf_span(&packed), 1000, &out), GZIP_DAMAGED);
}

static const struct check_test tests[] = {
    {"crc32 of the check string", crc32_of_the_check_string},
    {"crc32 of nothing", crc32_of_nothing},
    {"small and large round trips", small_and_large_round_trips},
    {"too much is refused", too_much_is_refused},
    {"a wrong length is found out", a_wrong_length_is_found_out},
    {"the room is that of the answer", the_room_is_that_of_the_answer},
    {"a bomb stops at the limit", a_bomb_stops_at_the_limit},
    {"every cut is refused", every_cut_is_refused},
    {"what follows is refused", what_follows_is_refused},
    {"other formats are refused", other_formats_are_refused},
    {"a flipped bit is refused", a_flipped_bit_is_refused},
};
CHECK_MAIN(tests)
