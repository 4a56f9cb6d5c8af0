#include "core/json/text.h"

#include <endian.h>
#include <stdint.h>

enum {
    SURROGATE_FIRST = 0xd800,
    SURROGATE_LOW = 0xdc00,
    SURROGATE_LAST = 0xdfff,
    BEYOND_BMP = 0x10000,
};

static const uint64_t EACH_BYTE = 0x0101010101010101u;

/* Sets the top bit of bytes that are zero. Only the lowest one is exact, because a borrow
 * may change the bytes above; the caller uses the lowest. */
static uint64_t text_zero_bytes(uint64_t word)
{
    return (word - EACH_BYTE) & ~word;
}

static uint64_t text_special_bytes(uint64_t word)
{
    uint64_t quote = text_zero_bytes(word ^ EACH_BYTE * '"');
    uint64_t backslash = text_zero_bytes(word ^ EACH_BYTE * '\\');
    uint64_t control = word - EACH_BYTE * 0x20;
    return (quote | backslash | control | word) & EACH_BYTE * 0x80;
}

static bool text_is_special(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
}

const char *json_text_skip_plain(const char *at, const char *end)
{
    uint64_t word;
    for (; end - at >= (ptrdiff_t)sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        uint64_t special = text_special_bytes(le64toh(word));
        if (special)
            return at + __builtin_ctzll(special) / 8;
    }
    while (at < end && !text_is_special(*at))
        at++;
    return at;
}

/* The value of a hexadecimal digit; above 15 if C is not a digit. */
static unsigned text_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10) : 16;
}

/* Reads \uXXXX at AT; false if AT has another text. */
static bool text_read_unit(const char *at, const char *end, unsigned *unit)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return false;
    *unit = 0;
    for (int i = 2; i < 6; i++) {
        unsigned digit = text_hex_digit(at[i]);
        if (digit > 15)
            return false;
        *unit = *unit * 16 + digit;
    }
    return true;
}

/* The byte of the escape of a backslash and C; 0 if that is not an escape of two characters. */
static char text_short_escape(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

size_t json_text_escape_size(const char *at, const char *end)
{
    unsigned unit;
    if (end - at < 2)
        return 0;
    if (text_short_escape(at[1]))
        return 2;
    return text_read_unit(at, end, &unit) ? 6 : 0;
}

/* A surrogate is encoded like any other value of its size. */
static void text_encode_utf8(unsigned code, struct json_text_piece *piece)
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (code < 0x80) {
        piece->size = 1;
        piece->bytes[0] = (char)code;
        return;
    }
    piece->size = code < 0x800 ? 2 : code < BEYOND_BMP ? 3 : 4;
    for (size_t i = piece->size - 1; i > 0; i--, code >>= 6)
        piece->bytes[i] = (char)(0x80 | (code & 0x3f));
    piece->bytes[0] = (char)(leads[piece->size] | code);
}

/* Adds the low surrogate that follows the high one CODE, if one does. */
static unsigned text_join_pair(unsigned code, const char *after, const char *end, size_t *used)
{
    unsigned low;
    if (code < SURROGATE_FIRST || code >= SURROGATE_LOW || !text_read_unit(after, end, &low) ||
        low < SURROGATE_LOW || low > SURROGATE_LAST)
        return code;
    *used += 6;
    return BEYOND_BMP + ((code - SURROGATE_FIRST) << 10) + (low - SURROGATE_LOW);
}

struct json_text_piece json_text_decode(const char *at, const char *end)
{
    struct json_text_piece piece = {.size = 1, .used = 2};
    unsigned code;
    piece.bytes[0] = text_short_escape(at[1]);
    if (piece.bytes[0] || !text_read_unit(at, end, &code))
        return piece;
    piece.used = 6;
    code = text_join_pair(code, at + 6, end, &piece.used);
    text_encode_utf8(code, &piece);
    return piece;
}
