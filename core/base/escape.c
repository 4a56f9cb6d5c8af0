#include "core/base/escape.h"

#include <stdint.h>

#include "core/base/crypto.h"
#include "core/base/printable.h"
#include "core/base/utf8.h"

/* The number of ASCII characters at VALUE's beginning that a name has as they are. */
static size_t escape_plain_size(struct span value, struct span stop)
{
    size_t size = 0;
    char last = stop.size ? stop.data[0] : '%';
    for (; size < value.size; size++) {
        char c = value.data[size];
        if (c < 0x20 || c >= 0x7F || c == '%' || c == '/' || c == last)
            break;
    }
    return size;
}

void escape_add_value(struct buf *out, struct span value, struct span stop,
                      struct escape_extra *extra)
{
    bool chooses = extra && (extra->all || extra->one != SIZE_MAX || extra->other != SIZE_MAX);
    if (value.size == 0)
        buf_add_char(out, '%');
    while (value.size > 0) {
        bool begins_with_dot = out->size == 0 && value.data[0] == '.';
        size_t plain = chooses || begins_with_dot ? 0 : escape_plain_size(value, stop);
        if (plain > 0) {
            buf_add(out, value.data, plain);
            value = span_from(value, plain);
            if (extra)
                extra->seen += plain;
            continue;
        }
        bool safe;
        struct span character = printable_first(value, &safe);
        char c = character.data[0];
        bool leading_dot = c == '.' && out->size == 0;
        size_t number = extra ? extra->seen++ : 0;
        bool chosen = extra && (extra->all || number == extra->one || number == extra->other);
        if (!safe || c == '%' || c == '/' || leading_dot || chosen || span_equal(character, stop))
            printable_escape(out, character);
        else
            buf_add_span(out, character);
        value = span_from(value, character.size);
    }
}

bool escape_is_unneeded(struct span text)
{
    while (text.size > 0) {
        bool safe;
        struct span character = printable_first(text, &safe);
        if (!safe || character.data[0] == '%' || character.data[0] == '/')
            return false;
        text = span_from(text, character.size);
    }
    return true;
}

static int escape_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* The byte of the escape that TEXT begins with, or -1. */
static int escape_parse_byte(struct span text)
{
    if (text.size < 3)
        return -1;
    int high = escape_digit_value(text.data[1]);
    int low = escape_digit_value(text.data[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* The bytes at a name's start that represent one character: itself, its escapes, or the lone % of
 * an empty value. */
static size_t escape_character_size(struct span name)
{
    char bytes[4];
    size_t count = 0;
    for (; count < sizeof bytes && name.size > 3 * count && name.data[3 * count] == '%'; count++) {
        int byte = escape_parse_byte(span_from(name, 3 * count));
        if (byte < 0)
            break;
        bytes[count] = (char)byte;
    }
    size_t size = utf8_length(count ? span_of(bytes, count) : name);
    return (size ? size : 1) * (count ? 3 : 1);
}

/* The most bytes of NAME, up to LIMIT, that cut neither an escape nor a character, escaped or not:
 * they must decode to a beginning of the text. */
static size_t escape_cut_within(struct span name, size_t limit)
{
    size_t at = 0;
    while (at < name.size) {
        size_t size = escape_character_size(span_from(name, at));
        if (at + size > limit)
            break;
        at += size;
    }
    return at;
}

bool escape_shorten(struct buf *name, size_t limit, enum escape_mark mark)
{
    uint8_t digest[DIGEST_SIZE];
    if (name->failed || !digest_sha256(buf_span(name), digest))
        return false;
    size_t ending = 2 + ESCAPE_DIGEST_DIGITS;
    buf_truncate(name, escape_cut_within(buf_span(name), limit > ending ? limit - ending : 0));
    buf_add_char(name, '%');
    buf_add_char(name, (char)mark);
    digest_hex(name, digest, ESCAPE_DIGEST_DIGITS / 2);
    return !name->failed;
}

bool escape_decode(struct span text, struct buf *out)
{
    size_t start = out->size;
    if (span_is(text, "%"))
        return true;
    while (text.size > 0) {
        int byte = text.data[0] == '%' ? escape_parse_byte(text) : (uint8_t)text.data[0];
        if (byte < 0) {
            buf_truncate(out, start);
            return false;
        }
        size_t used = text.data[0] == '%' ? 3 : 1;
        buf_add_char(out, (char)byte);
        text = span_from(text, used);
    }
    return true;
}

bool escape_is_shortened(struct span name, enum escape_mark *mark, struct span *prefix)
{
    size_t ending = 2 + ESCAPE_DIGEST_DIGITS;
    if (name.size < ending)
        return false;
    size_t at = name.size - ending;
    char c = name.data[at + 1];
    if (name.data[at] != '%' || (c != ESCAPE_MARK_FILE && c != ESCAPE_MARK_DIRECTORY))
        return false;
    for (size_t i = at + 2; i < name.size; i++)
        if (escape_digit_value(name.data[i]) < 0)
            return false;
    *mark = (enum escape_mark)c;
    *prefix = span_of(name.data, at);
    return true;
}
