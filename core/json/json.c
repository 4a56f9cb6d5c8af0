#include "core/json/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/text.h"

static const struct json ABSENT = {NULL, 0};

void json_clean_up(struct json_doc *doc)
{
    free(doc->tokens);
    *doc = (struct json_doc){0};
}

size_t json_memory(const struct json_doc *doc)
{
    return (size_t)doc->capacity * sizeof *doc->tokens;
}

static_assert(JSON_NUMBER == 0, "the rows that are left out are numbers");

const uint8_t json_types[UINT8_MAX + 1] = {
    ['"'] = JSON_STRING, ['['] = JSON_ARRAY, ['f'] = JSON_FALSE,
    ['n'] = JSON_NULL,   ['t'] = JSON_TRUE,  ['{'] = JSON_OBJECT,
};

struct json json_root(const struct json_doc *doc)
{
    return doc->count ? (struct json){doc, 0} : ABSENT;
}

size_t json_offset(struct json value)
{
    return json_present(value) ? json_token_of(value)->offset : 0;
}

struct json json_member(struct json object, const char *name)
{
    return json_member_span(object, span_text(name));
}

struct json json_member_span(struct json object, struct span name)
{
    if (!json_is(object, JSON_OBJECT))
        return ABSENT;
    struct json member = json_first(object);
    while (json_present(member) && !json_string_is(member, name))
        member = json_next(json_next(member));
    return json_next(member);
}

/* The bytes between the quotes of a string. */
static struct span json_inside(struct json string)
{
    struct span raw = json_raw(string);
    return span_of(raw.data + 1, raw.size - 2);
}

static bool json_has_escapes(struct json string)
{
    return json_token_of(string)->count;
}

/* Compares escaped text to plain text without a copy. */
static bool json_escaped_equals(struct span escaped, struct span text)
{
    const char *at = escaped.data, *end = at + escaped.size;
    while (at < end) {
        struct json_text_piece piece = {.bytes = {*at}, .size = 1, .used = 1};
        if (*at == '\\')
            piece = json_text_decode(at, end);
        if (!span_starts(text, span_of(piece.bytes, piece.size)))
            return false;
        text = span_from(text, piece.size);
        at += piece.used;
    }
    return text.size == 0;
}

bool json_string_is(struct json value, struct span text)
{
    if (!json_is(value, JSON_STRING))
        return false;
    if (json_has_escapes(value))
        return json_escaped_equals(json_inside(value), text);
    return span_equal(json_inside(value), text);
}

static void json_add_unescaped(struct buf *out, struct span escaped)
{
    const char *at = escaped.data, *end = at + escaped.size;
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        const char *stop = escape ? escape : end;
        buf_add(out, at, (size_t)(stop - at));
        at = stop;
        if (escape) {
            struct json_text_piece piece = json_text_decode(at, end);
            buf_add(out, piece.bytes, piece.size);
            at += piece.used;
        }
    }
}

bool json_read_string(struct json value, struct buf *out)
{
    if (!json_is(value, JSON_STRING))
        return false;
    if (json_has_escapes(value))
        json_add_unescaped(out, json_inside(value));
    else
        buf_add_span(out, json_inside(value));
    return true;
}

bool json_read_double(struct json value, double *out)
{
    struct span raw = json_raw(value);
    char text[40] = "";
    if (!json_is(value, JSON_NUMBER) || raw.size >= sizeof text)
        return false;
    memcpy(text, raw.data, raw.size);
    *out = strtod(text, NULL);
    return isfinite(*out);
}

bool json_read_int(struct json value, int64_t *out)
{
    if (!json_is(value, JSON_NUMBER))
        return false;
    struct span raw = json_raw(value);
    bool negative = raw.data[0] == '-';
    int64_t sum = 0;
    for (size_t i = negative; i < raw.size; i++) {
        int digit = raw.data[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, negative ? -digit : digit, &sum))
            return false;
    }
    *out = sum;
    return true;
}

void json_position_move(struct json_position *position, const struct json_doc *doc, size_t offset)
{
    if (offset < position->offset)
        *position = (struct json_position){0};
    for (; position->offset < offset && position->offset < doc->size; position->offset++) {
        unsigned char c = (unsigned char)doc->text[position->offset];
        position->characters += (c & 0xC0) != 0x80; /* its first byte */
        if (c == '\n')
            position->lines++, position->characters = 0;
    }
}
