#include "core/map/escape.h"

#include <stdint.h>

#include "core/base/digest.h"
#include "core/base/printable.h"
#include "core/base/utf8.h"

/* Whether the character is the next of those that EXTRA names. */
static bool escape_is_extra(struct name_escapes *extra)
{
    if (!extra)
        return false;
    size_t number = extra->seen++;
    return extra->all || number == extra->one || number == extra->other;
}

void name_add_value(struct buf *out, struct span value, struct span stop,
                    struct name_escapes *extra)
{
    if (value.size == 0)
        buf_add_char(out, '%');
    while (value.size > 0) {
        bool safe;
        struct span character = printable_first(value, &safe);
        char c = character.data[0];
        bool leading_dot = c == '.' && out->size == 0;
        bool chosen = escape_is_extra(extra);
        if (!safe || c == '%' || c == '/' || leading_dot || chosen || span_equal(character, stop))
            printable_escape(out, character);
        else
            buf_add_span(out, character);
        value = span_from(value, character.size);
    }
}

bool name_can_hold(struct span text)
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

size_t name_ending(struct span text)
{
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++) {
        struct span ending = span_text(name_companion_ending(c));
        if (span_ends(text, ending))
            return text.size - ending.size;
    }
    return span_ends(text, SPAN_LITERAL("~")) ? text.size - 1 : text.size;
}

const char *name_companion_ending(enum companion companion)
{
    static const char *const endings[] = {
        [COMPANION_NONE] = "",        [COMPANION_TYPED] = "@typed",
        [COMPANION_INFO] = "@info",   [COMPANION_LINKS] = "@links",
        [COMPANION_ATTRS] = "@",      [COMPANION_JSONL] = "@jsonl",
        [COMPANION_CSV] = "@csv",     [COMPANION_TABLE] = "@table",
        [COMPANION_COUNT] = "@count", [COMPANION_SUMMARY] = "@summary",
        [COMPANION_END] = "",
    };
    return endings[companion];
}

bool name_companion_is_of_listing(enum companion companion)
{
    return companion >= COMPANION_JSONL;
}

bool name_companion_has_columns(enum companion companion)
{
    return companion == COMPANION_CSV || companion == COMPANION_TABLE;
}

/* Where the last ENDING with a colon behind it begins in NAME, which holds something before it and
 * behind it; 0 where there is none. */
static size_t escape_find_with_columns(struct span name, struct span ending)
{
    for (size_t at = name.size; at-- > 1;) {
        struct span rest = span_from(name, at);
        if (rest.size > ending.size + 1 && span_starts(rest, ending) &&
            rest.data[ending.size] == ':')
            return at;
    }
    return 0;
}

enum companion name_split_companion(struct span *name, struct span *columns)
{
    *columns = span_text("");
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++) {
        struct span ending = span_text(name_companion_ending(c));
        if (span_ends(*name, ending) && name->size > ending.size) {
            name->size -= ending.size;
            return c;
        }
    }
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++) {
        struct span ending = span_text(name_companion_ending(c));
        size_t at = name_companion_has_columns(c) ? escape_find_with_columns(*name, ending) : 0;
        if (at == 0)
            continue;
        *columns = span_from(*name, at + ending.size + 1);
        name->size = at;
        return c;
    }
    return COMPANION_NONE;
}

enum companion name_bare_companion(struct span text)
{
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++) {
        struct span ending = span_text(name_companion_ending(c));
        bool columns = name_companion_has_columns(c) && span_starts(text, ending) &&
                       text.size > ending.size && text.data[ending.size] == ':';
        if (span_equal(text, ending) || columns)
            return c;
    }
    return COMPANION_NONE;
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

/* The byte that the escape at the start of TEXT stands for, or -1. */
static int escape_escaped_byte(struct span text)
{
    if (text.size < 3)
        return -1;
    int high = escape_digit_value(text.data[1]);
    int low = escape_digit_value(text.data[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* How many bytes of a name's start stand for one character: itself, its escapes, or the lone % of
 * an empty value. */
static size_t escape_unit_size(struct span name)
{
    char bytes[4];
    size_t count = 0;
    for (; count < sizeof bytes && name.size > 3 * count && name.data[3 * count] == '%'; count++) {
        int byte = escape_escaped_byte(span_from(name, 3 * count));
        if (byte < 0)
            break;
        bytes[count] = (char)byte;
    }
    size_t size = utf8_length(count ? span_of(bytes, count) : name);
    return (size ? size : 1) * (count ? 3 : 1);
}

/* Where a name may be cut: not inside an escape, nor inside a character, escaped or not, so that
 * what is left of it stands for a beginning of the text. */
static size_t escape_cut_before(struct span name, size_t limit)
{
    size_t at = 0;
    while (at < name.size) {
        size_t size = escape_unit_size(span_from(name, at));
        if (at + size > limit)
            break;
        at += size;
    }
    return at;
}

bool name_shorten(struct buf *name, size_t limit, enum name_mark mark)
{
    uint8_t digest[DIGEST_SIZE];
    if (name->failed || !digest_sha256(buf_span(name), digest))
        return false;
    size_t ending = 2 + NAME_DIGEST_DIGITS;
    buf_truncate(name, escape_cut_before(buf_span(name), limit > ending ? limit - ending : 0));
    buf_add_char(name, '%');
    buf_add_char(name, (char)mark);
    digest_hex(name, digest, NAME_DIGEST_DIGITS / 2);
    return !name->failed;
}

bool name_decode(struct span text, struct buf *out)
{
    size_t start = out->size;
    if (span_is(text, "%"))
        return true;
    while (text.size > 0) {
        int byte = text.data[0] == '%' ? escape_escaped_byte(text) : (uint8_t)text.data[0];
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

static bool escape_is_digest(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (escape_digit_value(text.data[i]) < 0)
            return false;
    return text.size == NAME_DIGEST_DIGITS;
}

bool name_is_shortened(struct span name, enum name_mark *mark, struct span *prefix)
{
    size_t ending = 2 + NAME_DIGEST_DIGITS;
    if (name.size < ending)
        return false;
    size_t at = name.size - ending;
    char c = name.data[at + 1];
    if (name.data[at] != '%' || (c != NAME_MARK_FILE && c != NAME_MARK_DIRECTORY) ||
        !escape_is_digest(span_from(name, at + 2)))
        return false;
    *mark = (enum name_mark)c;
    *prefix = span_of(name.data, at);
    return true;
}
