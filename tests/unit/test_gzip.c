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
    CHECK(gzip_inflate(buf_span(&packed), size, &out));
    CHECK_SPAN(buf_span(&out), buf_span(&text));
}

static void small_and_large_round_trips(void)
{
    check_round_trip(0);
    check_round_trip(1);
    check_round_trip(16 * 1024);
    check_round_trip(1000 * 1000);
}

static void appends_to_what_is_there(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0}, out = {0};
    deflate_as(SPAN_LITERAL("world"), 31, &packed);
    buf_add_text(&out, "hello ");
    CHECK(gzip_inflate(buf_span(&packed), 5, &out));
    CHECK_TEXT(buf_text(&out), "hello world");
}

static void too_much_is_refused_and_undone(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0}, out = {0};
    deflate_as(SPAN_LITERAL("world"), 31, &packed);
    buf_add_text(&out, "hello ");
    CHECK(!gzip_inflate(buf_span(&packed), 4, &out));
    CHECK_TEXT(buf_text(&out), "hello ");
}

static void a_bomb_stops_at_the_limit(void)
{
    CLEAN_UP(buf_clean_up) struct buf zeros = {0}, packed = {0}, out = {0};
    buf_add_repeated(&zeros, '\0', 8 * 1024 * 1024);
    deflate_as(buf_span(&zeros), 31, &packed);
    CHECK(!gzip_inflate(buf_span(&packed), 100 * 1000, &out));
    CHECK(out.capacity < 1024 * 1024);
}

static void every_cut_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0};
    deflate_as(SPAN_LITERAL("a text that is cut"), 31, &packed);
    for (size_t size = 0; size < packed.size; size++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        CHECK(!gzip_inflate(span_of(packed.data, size), 1000, &out));
        CHECK_INT(out.size, 0);
    }
}

static void what_follows_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0}, out = {0};
    deflate_as(SPAN_LITERAL("one"), 31, &packed);
    size_t one = packed.size;
    deflate_as(SPAN_LITERAL("two"), 31, &packed);
    CHECK(!gzip_inflate(buf_span(&packed), 1000, &out));
    CHECK(!gzip_inflate(span_of(packed.data, one + 1), 1000, &out));
    CHECK(gzip_inflate(span_of(packed.data, one), 1000, &out));
}

static void other_formats_are_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf zlib = {0}, raw = {0}, out = {0};
    deflate_as(SPAN_LITERAL("text"), 15, &zlib);
    deflate_as(SPAN_LITERAL("text"), -15, &raw);
    CHECK(!gzip_inflate(buf_span(&zlib), 1000, &out));
    CHECK(!gzip_inflate(buf_span(&raw), 1000, &out));
    CHECK(!gzip_inflate(SPAN_LITERAL("{\"Item\":{}}"), 1000, &out));
}

static void a_flipped_bit_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf packed = {0}, out = {0};
    deflate_as(SPAN_LITERAL("a text with a checksum"), 31, &packed);
    packed.data[packed.size - 6] ^= 1; /* among the last eight bytes: checksum and size */
    CHECK(!gzip_inflate(buf_span(&packed), 1000, &out));
}

static const struct check_test tests[] = {
    {"crc32 of the check string", crc32_of_the_check_string},
    {"crc32 of nothing", crc32_of_nothing},
    {"small and large round trips", small_and_large_round_trips},
    {"appends to what is there", appends_to_what_is_there},
    {"too much is refused and undone", too_much_is_refused_and_undone},
    {"a bomb stops at the limit", a_bomb_stops_at_the_limit},
    {"every cut is refused", every_cut_is_refused},
    {"what follows is refused", what_follows_is_refused},
    {"other formats are refused", other_formats_are_refused},
    {"a flipped bit is refused", a_flipped_bit_is_refused},
};
CHECK_MAIN(tests)
