/* The text inside JSON strings, read and written. */
#include "core/json/text.h"

#include <endian.h>
#include <stdint.h>

#include "core/base/printable.h"
#include "core/base/utf8.h"
#include "core/json/json.h"

enum {
    SURROGATE_FIRST = 0xd800,
    SURROGATE_LOW = 0xdc00,
    SURROGATE_LAST = 0xdfff,
    BEYOND_BMP = 0x10000,
};

static const uint64_t EACH_BYTE = 0x0101010101010101u;

/* Sets the top bit of bytes that are zero. Only the lowest one it sets is sure, because a
 * borrow may spill into the bytes above; the lowest is all that is asked for. */
static uint64_t zero_bytes(uint64_t word)
{
    return (word - EACH_BYTE) & ~word;
}

static uint64_t special_bytes(uint64_t word)
{
    uint64_t quote = zero_bytes(word ^ EACH_BYTE * '"');
    uint64_t backslash = zero_bytes(word ^ EACH_BYTE * '\\');
    uint64_t control = word - EACH_BYTE * 0x20;
    return (quote | backslash | control | word) & EACH_BYTE * 0x80;
}

static bool is_special(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
}

const char *json_text_skip_plain(const char *at, const char *end)
{
    uint64_t word;
    for (; end - at >= (ptrdiff_t)sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        uint64_t special = special_bytes(le64toh(word));
        if (special)
            return at + __builtin_ctzll(special) / 8;
    }
    while (at < end && !is_special(*at))
        at++;
    return at;
}

/* The value of a hexadecimal digit; above 15 if C is none. */
static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10) : 16;
}

/* Reads \uXXXX at AT; false if that does not stand there. */
static bool read_unit(const char *at, const char *end, unsigned *unit)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return false;
    *unit = 0;
    for (int i = 2; i < 6; i++) {
        unsigned digit = hex_digit(at[i]);
        if (digit > 15)
            return false;
        *unit = *unit * 16 + digit;
    }
    return true;
}

/* The byte that a backslash and C stand for; 0 if they are no escape of two characters. */
static char short_escape(char c)
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
    if (short_escape(at[1]))
        return 2;
    return read_unit(at, end, &unit) ? 6 : 0;
}

/* A surrogate is encoded like any other value of its size. */
static void encode_utf8(unsigned code, struct json_text_piece *piece)
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
static unsigned join_pair(unsigned code, const char *after, const char *end, size_t *used)
{
    unsigned low;
    if (code < SURROGATE_FIRST || code >= SURROGATE_LOW || !read_unit(after, end, &low) ||
        low < SURROGATE_LOW || low > SURROGATE_LAST)
        return code;
    *used += 6;
    return BEYOND_BMP + ((code - SURROGATE_FIRST) << 10) + (low - SURROGATE_LOW);
}

struct json_text_piece json_text_decode(const char *at, const char *end)
{
    struct json_text_piece piece = {.size = 1, .used = 2};
    unsigned code;
    piece.bytes[0] = short_escape(at[1]);
    if (piece.bytes[0] || !read_unit(at, end, &code))
        return piece;
    piece.used = 6;
    code = join_pair(code, at + 6, end, &piece.used);
    encode_utf8(code, &piece);
    return piece;
}

static bool continues(const char *at, const char *end)
{
    return at < end && ((unsigned char)*at & 0xc0) == 0x80;
}

/* Whether the three-byte form of a surrogate stands at AT. */
static bool is_surrogate(const char *at, const char *end)
{
    return continues(at + 1, end) && continues(at + 2, end) && (unsigned char)at[0] == 0xed &&
           (unsigned char)at[1] >= 0xa0;
}

static void write_unit(struct buf *out, unsigned unit)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = {'\\',
                   'u',
                   digits[unit >> 12 & 15],
                   digits[unit >> 8 & 15],
                   digits[unit >> 4 & 15],
                   digits[unit & 15]};
    buf_add(out, text, sizeof text);
}

static void write_surrogate(struct buf *out, const char *at)
{
    write_unit(out, 0xd000u | ((unsigned char)at[1] & 0x3fu) << 6 | ((unsigned char)at[2] & 0x3fu));
}

static void write_ascii(struct buf *out, char c)
{
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                   ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    if (letters[(unsigned char)c])
        buf_add(out, (char[]){'\\', letters[(unsigned char)c]}, 2);
    else
        write_unit(out, (unsigned char)c);
}

/* Passes what may stand in a string as it is, characters beyond ASCII included. */
static const char *skip_writable(const char *at, const char *end)
{
    for (;;) {
        at = json_text_skip_plain(at, end);
        size_t size = utf8_length(span_of(at, (size_t)(end - at)));
        if (size < 2)
            return at;
        at += size;
    }
}

/* Writes what cannot stand as it is at AT, and returns how many bytes of the text that was. */
static size_t write_special(struct buf *out, const char *at, const char *end)
{
    if ((unsigned char)*at < 0x80) {
        write_ascii(out, *at);
        return 1;
    }
    if (is_surrogate(at, end)) {
        write_surrogate(out, at);
        return 3;
    }
    buf_add_text(out, "\\ufffd");
    return 1;
}

void json_write_string(struct buf *out, struct span text)
{
    const char *at = text.size ? text.data : "";
    const char *end = at + text.size;
    buf_add_char(out, '"');
    while (at < end) {
        const char *stop = skip_writable(at, end);
        buf_add(out, at, (size_t)(stop - at));
        at = stop;
        if (at < end)
            at += write_special(out, at, end);
    }
    buf_add_char(out, '"');
}

static uint32_t code_point(struct span character)
{
    static const uint8_t masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (uint8_t)character.data[0] & masks[character.size];
    for (size_t i = 1; i < character.size; i++)
        code = code << 6 | ((uint8_t)character.data[i] & 0x3F);
    return code;
}

void json_add_printable(struct buf *out, struct span json)
{
    while (json.size > 0) {
        bool safe;
        struct span character = printable_first(json, &safe);
        bool space = character.size == 1 && (unsigned char)character.data[0] < 0x20;
        if (safe || space) /* in JSON these stand between values alone */
            buf_add_span(out, character);
        else if (utf8_length(character))
            write_unit(out, code_point(character)); /* none is beyond the first plane */
        else
            write_unit(out, 0xfffd);
        json = span_from(json, character.size);
    }
}
