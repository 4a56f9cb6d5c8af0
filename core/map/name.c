#include "core/map/name.h"

#include <stdint.h>

#include "core/base/digest.h"
#include "core/base/utf8.h"

static const char digits[] = "0123456789ABCDEF";

static void add_escaped(struct buf *out, struct span bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];
        char escape[3] = {'%', digits[byte >> 4], digits[byte & 15]};
        buf_add(out, escape, sizeof escape);
    }
}

/* C0, DEL, and C1 as UTF-8 writes it. */
static bool is_control(struct span character)
{
    uint8_t first = (uint8_t)character.data[0];
    if (character.size == 1)
        return first < 0x20 || first == 0x7F;
    return first == 0xC2 && (uint8_t)character.data[1] < 0xA0;
}

void name_add_value(struct buf *out, struct span value, char stop)
{
    if (value.size == 0)
        buf_add_char(out, '%');
    while (value.size > 0) {
        size_t length = utf8_length(value);
        struct span character = span_of(value.data, length ? length : 1);
        char c = character.data[0];
        if (length == 0 || c == '%' || c == '/' || (stop && c == stop) || is_control(character))
            add_escaped(out, character);
        else
            buf_add_span(out, character);
        value = span_from(value, character.size);
    }
}

void name_escape_at(struct buf *name, size_t at)
{
    if (!buf_reserve(name, 2))
        return;
    uint8_t byte = (uint8_t)name->data[at];
    memmove(name->data + at + 3, name->data + at + 1, name->size - at); /* with the NUL */
    name->data[at] = '%';
    name->data[at + 1] = digits[byte >> 4];
    name->data[at + 2] = digits[byte & 15];
    name->size += 2;
}

const char *name_companion_ending(enum companion companion)
{
    static const char *const endings[] = {
        [COMPANION_NONE] = "",
        [COMPANION_TYPED] = "@typed",
        [COMPANION_INFO] = "@info",
        [COMPANION_ATTRS] = "@",
    };
    return endings[companion];
}

enum companion name_split_companion(struct span *name)
{
    for (enum companion c = COMPANION_TYPED; c <= COMPANION_ATTRS; c++) {
        struct span ending = span_text(name_companion_ending(c));
        if (span_ends(*name, ending) && name->size > ending.size) {
            name->size -= ending.size;
            return c;
        }
    }
    return COMPANION_NONE;
}

/* Where a name may be cut: not inside an escape, nor inside a character. */
static size_t cut_before(struct span name, size_t limit)
{
    size_t at = 0;
    while (at < name.size) {
        size_t step = name.data[at] == '%' ? 3 : utf8_length(span_from(name, at));
        if (step == 0 || at + step > limit)
            return at;
        at += step;
    }
    return at;
}

static bool shorten(struct buf *name, size_t limit)
{
    uint8_t digest[DIGEST_SIZE];
    if (!digest_sha256(buf_span(name), digest))
        return false;
    size_t mark = 2 + NAME_DIGEST_DIGITS;
    buf_truncate(name, cut_before(buf_span(name), limit > mark ? limit - mark : 0));
    buf_add_text(name, "%~");
    digest_hex(name, digest, NAME_DIGEST_DIGITS / 2);
    return !name->failed;
}

static size_t companion_at(struct span name)
{
    for (enum companion c = COMPANION_TYPED; c <= COMPANION_ATTRS; c++) {
        struct span ending = span_text(name_companion_ending(c));
        if (span_ends(name, ending))
            return name.size - ending.size;
    }
    return name.size;
}

bool name_seal(struct buf *out, size_t limit)
{
    size_t at = companion_at(buf_span(out));
    if (at < out->size)
        name_escape_at(out, at);
    if (out->size > 0 && out->data[0] == '.')
        name_escape_at(out, 0);
    if (out->failed)
        return false;
    return out->size <= limit || shorten(out, limit);
}

bool name_encode(struct span key, size_t limit, struct buf *out)
{
    name_add_value(out, key, 0);
    return name_seal(out, limit);
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* The byte that the escape at the start of TEXT stands for, or -1. */
static int escaped_byte(struct span text)
{
    if (text.size < 3)
        return -1;
    int high = digit_value(text.data[1]);
    int low = digit_value(text.data[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool name_decode(struct span text, struct buf *out)
{
    size_t start = out->size;
    if (span_is(text, "%"))
        return true;
    while (text.size > 0) {
        int byte = text.data[0] == '%' ? escaped_byte(text) : (uint8_t)text.data[0];
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

static bool is_digest(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (digit_value(text.data[i]) < 0)
            return false;
    return text.size == NAME_DIGEST_DIGITS;
}

bool name_is_shortened(struct span name, struct span *prefix)
{
    size_t mark = 2 + NAME_DIGEST_DIGITS;
    if (name.size < mark)
        return false;
    size_t at = name.size - mark;
    if (name.data[at] != '%' || name.data[at + 1] != '~' || !is_digest(span_from(name, at + 2)))
        return false;
    *prefix = span_of(name.data, at);
    return true;
}
