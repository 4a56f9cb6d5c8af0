#include <stdint.h>

#include "core/base/printable.h"
#include "core/base/utf8.h"
#include "core/json/json.h"
#include "core/json/text.h"

static bool write_continues(const char *at, const char *end)
{
    return at < end && ((unsigned char)*at & 0xc0) == 0x80;
}

/* Whether the three-byte form of a surrogate is at AT. */
static bool write_is_surrogate(const char *at, const char *end)
{
    return write_continues(at + 1, end) && write_continues(at + 2, end) &&
           (unsigned char)at[0] == 0xed && (unsigned char)at[1] >= 0xa0;
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

/* Skips bytes that need no escape, characters beyond ASCII included. */
static const char *write_skip_writable(const char *at, const char *end)
{
    for (;;) {
        at = json_text_skip_plain(at, end);
        size_t size = utf8_length(span_of(at, (size_t)(end - at)));
        if (size < 2)
            return at;
        at += size;
    }
}

/* Escapes the bytes at AT, and returns their number. */
static size_t write_special(struct buf *out, const char *at, const char *end)
{
    if ((unsigned char)*at < 0x80) {
        write_ascii(out, *at);
        return 1;
    }
    if (write_is_surrogate(at, end)) {
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
    buf_reserve(out, text.size + 2); /* all, if no byte needs an escape */
    buf_add_char(out, '"');
    while (at < end) {
        const char *stop = write_skip_writable(at, end);
        buf_add(out, at, (size_t)(stop - at));
        at = stop;
        if (at < end)
            at += write_special(out, at, end);
    }
    buf_add_char(out, '"');
}

static uint32_t write_code_point(struct span character)
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
        if (safe || space) /* in JSON these are between values only */
            buf_add_span(out, character);
        else if (utf8_length(character))
            write_unit(out, write_code_point(character)); /* all are in the first plane */
        else
            write_unit(out, 0xfffd);
        json = span_from(json, character.size);
    }
}

void json_escape_beyond_ascii(struct buf *out, struct span json)
{
    while (json.size > 0) {
        size_t size = utf8_length(json);
        struct span character = span_of(json.data, size ? size : 1);
        uint32_t code = size > 1 ? write_code_point(character) : 0;
        if (size <= 1)
            buf_add_span(out, character);
        else if (code < 0x10000)
            buf_printf(out, "\\u%04x", (unsigned)code);
        else
            buf_printf(out, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (code >> 10)),
                       (unsigned)(0xDC00 + (code & 0x3FF)));
        json = span_from(json, character.size);
    }
}

void json_write_ascii(struct buf *out, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf json = {0};
    json_write_string(&json, text);
    json_escape_beyond_ascii(out, buf_span(&json));
    out->failed = out->failed || json.failed;
}
