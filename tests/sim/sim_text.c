/* A growing text, and JSON read without the product's own code. */
#include "tests/sim/sim_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim_world.h"

enum { SIM_MOST_DEPTH = 200 };

static void sim_text_reserve(struct sim_text *text, size_t size)
{
    if (text->size + size < text->room)
        return;
    text->room = (text->size + size + 64) * 2;
    text->bytes = sim_grow(text->bytes, text->room);
}

void sim_text_add(struct sim_text *text, const void *bytes, size_t size)
{
    sim_text_reserve(text, size);
    if (size)
        memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
}

void sim_text_puts(struct sim_text *text, const char *string)
{
    sim_text_add(text, string, strlen(string));
}

void sim_text_printf(struct sim_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *made = sim_vprintf(format, args);
    va_end(args);
    sim_text_puts(text, made);
    sim_free(made);
}

void sim_text_json_string(struct sim_text *text, const char *bytes, size_t size)
{
    static const char shorts[] = "btnvfr"; /* 8 to 13; "v" has no short form */
    sim_text_add(text, "\"", 1);
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        sim_text_add(text, bytes + from, i - from);
        if (c == '"' || c == '\\')
            sim_text_add(text, (char[]){'\\', (char)c}, 2);
        else if (c >= '\b' && c <= '\r' && c != '\v')
            sim_text_add(text, (char[]){'\\', shorts[c - '\b']}, 2);
        else
            sim_text_printf(text, "\\u%04X", c);
        from = i + 1;
    }
    if (from < size)
        sim_text_add(text, bytes + from, size - from);
    sim_text_add(text, "\"", 1);
}

void sim_text_base64(struct sim_text *text, const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = bytes;
    sim_text_reserve(text, (size + 2) / 3 * 4);
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned group = (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0) |
                         (left > 2 ? from[i + 2] : 0u);
        char out[4] = {digits[group >> 18], digits[group >> 12 & 63],
                       left > 1 ? digits[group >> 6 & 63] : '=',
                       left > 2 ? digits[group & 63] : '='};
        sim_text_add(text, out, 4);
    }
}

/* The value of a digit of base64; -1: it is none. */
static int sim_text_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool sim_text_from_base64(struct sim_text *out, const char *bytes, size_t size)
{
    if (size % 4)
        return false;
    for (size_t i = 0; i < size; i += 4) {
        bool is_last = i + 4 == size;
        size_t ends = is_last && bytes[i + 3] == '=' ? 1u + (bytes[i + 2] == '=') : 0;
        unsigned group = 0;
        for (size_t k = 0; k < 4; k++) {
            int digit = k >= 4 - ends ? 0 : sim_text_digit(bytes[i + k]);
            if (digit < 0)
                return false;
            group = group << 6 | (unsigned)digit;
        }
        char parts[3] = {(char)(group >> 16), (char)(group >> 8), (char)group};
        sim_text_add(out, parts, 3 - ends);
    }
    return true;
}

void sim_text_free(struct sim_text *text)
{
    sim_free(text->bytes);
    *text = (struct sim_text){0};
}

/* The place in a text that is parsed. */
struct sim_json_cursor {
    const char *at, *end;
    unsigned depth;
};

static bool sim_json_read(struct sim_json_cursor *cursor, struct sim_json *out);

static void sim_json_skip_space(struct sim_json_cursor *cursor)
{
    while (cursor->at < cursor->end && strchr(" \t\n\r", *cursor->at) && *cursor->at)
        cursor->at++;
}

static bool sim_json_take(struct sim_json_cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool sim_json_take_word(struct sim_json_cursor *cursor, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, word, size) != 0)
        return false;
    cursor->at += size;
    return true;
}

static bool sim_json_read_hex(struct sim_json_cursor *cursor, unsigned *out)
{
    *out = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (cursor->at == cursor->end)
            return false;
        char c = *cursor->at++;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;
        if (digit > 15)
            return false;
        *out = *out << 4 | digit;
    }
    return true;
}

static void sim_text_add_character(struct sim_text *out, unsigned c)
{
    if (c < 0x80)
        sim_text_add(out, (char[]){(char)c}, 1);
    else if (c < 0x800)
        sim_text_add(out, (char[]){(char)(0xC0 | c >> 6), (char)(0x80 | (c & 63))}, 2);
    else if (c < 0x10000)
        sim_text_add(
            out,
            (char[]){(char)(0xE0 | c >> 12), (char)(0x80 | (c >> 6 & 63)), (char)(0x80 | (c & 63))},
            3);
    else
        sim_text_add(out,
                     (char[]){(char)(0xF0 | c >> 18), (char)(0x80 | (c >> 12 & 63)),
                              (char)(0x80 | (c >> 6 & 63)), (char)(0x80 | (c & 63))},
                     4);
}

/* Behind a backslash. */
static bool sim_json_read_escape(struct sim_json_cursor *cursor, struct sim_text *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (cursor->at == cursor->end)
        return false;
    char c = *cursor->at++;
    const char *at = c ? strchr(from, c) : NULL;
    if (at) {
        sim_text_add(out, &to[at - from], 1);
        return true;
    }
    unsigned first, second;
    if (c != 'u' || !sim_json_read_hex(cursor, &first) || (first >= 0xDC00 && first < 0xE000))
        return false;
    if (first >= 0xD800 && first < 0xDC00) {
        if (!sim_json_take_word(cursor, "\\u") || !sim_json_read_hex(cursor, &second) ||
            second < 0xDC00 || second > 0xDFFF)
            return false;
        first = 0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
    }
    sim_text_add_character(out, first);
    return true;
}

size_t sim_text_count_utf8(const char *bytes, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; count++) {
        unsigned char c = (unsigned char)bytes[i];
        size_t more = c < 0x80 ? 0 : c < 0xC2 ? 9 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : c < 0xF5 ? 3 : 9;
        if (more == 9 || i + more >= size)
            return SIZE_MAX;
        for (size_t k = 1; k <= more; k++) {
            if (((unsigned char)bytes[i + k] & 0xC0) != 0x80)
                return SIZE_MAX;
        }
        unsigned char next = more ? (unsigned char)bytes[i + 1] : 0;
        if ((c == 0xE0 && next < 0xA0) || (c == 0xED && next > 0x9F) ||
            (c == 0xF0 && next < 0x90) || (c == 0xF4 && next > 0x8F))
            return SIZE_MAX;
        i += more + 1;
    }
    return count;
}

/* The decoded text behind a quote. */
static bool sim_json_read_string(struct sim_json_cursor *cursor, struct sim_text *out)
{
    for (;;) {
        const char *from = cursor->at;
        while (cursor->at < cursor->end && *cursor->at != '"' && *cursor->at != '\\' &&
               (unsigned char)*cursor->at >= ' ')
            cursor->at++;
        sim_text_add(out, from, (size_t)(cursor->at - from));
        if (sim_json_take(cursor, '"'))
            return sim_text_count_utf8(out->bytes, out->size) != SIZE_MAX;
        if (!sim_json_take(cursor, '\\') || !sim_json_read_escape(cursor, out))
            return false;
    }
}

static bool sim_json_take_digits(struct sim_json_cursor *cursor)
{
    const char *from = cursor->at;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
        cursor->at++;
    return cursor->at > from;
}

static bool sim_json_read_number(struct sim_json_cursor *cursor, struct sim_json *out)
{
    const char *from = cursor->at;
    sim_json_take(cursor, '-');
    if (!sim_json_take(cursor, '0') && !sim_json_take_digits(cursor))
        return false;
    if (sim_json_take(cursor, '.') && !sim_json_take_digits(cursor))
        return false;
    if (sim_json_take(cursor, 'e') || sim_json_take(cursor, 'E')) {
        if (!sim_json_take(cursor, '+'))
            sim_json_take(cursor, '-');
        if (!sim_json_take_digits(cursor))
            return false;
    }
    struct sim_text text = {0};
    sim_text_add(&text, from, (size_t)(cursor->at - from));
    *out = (struct sim_json){.kind = SIM_JSON_NUMBER, .bytes = text.bytes, .size = text.size};
    return true;
}

static bool sim_json_has_name(const struct sim_json *object, const char *name, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(object->names[i], name) == 0)
            return true;
    }
    return false;
}

/* The members behind the bracket of OUT's kind. */
static bool sim_json_read_members(struct sim_json_cursor *cursor, struct sim_json *out)
{
    bool is_object = out->kind == SIM_JSON_OBJECT;
    char end = is_object ? '}' : ']';
    sim_json_skip_space(cursor);
    if (sim_json_take(cursor, end))
        return true;
    for (size_t room = 0;;) {
        if (out->count == room) {
            room = room * 2 + 4;
            out->members = sim_grow(out->members, room * sizeof *out->members);
            if (is_object)
                out->names = sim_grow(out->names, room * sizeof *out->names);
        }
        struct sim_text name = {0};
        sim_json_skip_space(cursor);
        if (is_object) {
            bool ok = sim_json_take(cursor, '"') && sim_json_read_string(cursor, &name) &&
                      strlen(name.bytes) == name.size &&
                      !sim_json_has_name(out, name.bytes, out->count);
            sim_json_skip_space(cursor);
            if (!ok || !sim_json_take(cursor, ':')) {
                sim_text_free(&name);
                return false;
            }
            out->names[out->count] = name.bytes;
        }
        out->members[out->count] = (struct sim_json){0};
        if (!sim_json_read(cursor, &out->members[out->count++]))
            return false;
        sim_json_skip_space(cursor);
        if (sim_json_take(cursor, end))
            return true;
        if (!sim_json_take(cursor, ','))
            return false;
    }
}

static bool sim_json_read(struct sim_json_cursor *cursor, struct sim_json *out)
{
    sim_json_skip_space(cursor);
    if (sim_json_take(cursor, '"')) {
        struct sim_text text = {0};
        bool ok = sim_json_read_string(cursor, &text);
        *out = (struct sim_json){.kind = SIM_JSON_STRING, .bytes = text.bytes, .size = text.size};
        return ok;
    }
    if (sim_json_take(cursor, '{'))
        out->kind = SIM_JSON_OBJECT;
    else if (sim_json_take(cursor, '['))
        out->kind = SIM_JSON_ARRAY;
    else if (sim_json_take_word(cursor, "null"))
        out->kind = SIM_JSON_NULL;
    else if (sim_json_take_word(cursor, "true"))
        out->kind = SIM_JSON_TRUE;
    else if (sim_json_take_word(cursor, "false"))
        out->kind = SIM_JSON_FALSE;
    else
        return sim_json_read_number(cursor, out);
    if (out->kind != SIM_JSON_OBJECT && out->kind != SIM_JSON_ARRAY)
        return true;
    bool ok = ++cursor->depth <= SIM_MOST_DEPTH && sim_json_read_members(cursor, out);
    cursor->depth--;
    return ok;
}

bool sim_json_parse(struct sim_json *out, const char *bytes, size_t size)
{
    struct sim_json_cursor cursor = {.at = bytes, .end = bytes + size};
    *out = (struct sim_json){0};
    bool ok = sim_json_read(&cursor, out);
    sim_json_skip_space(&cursor);
    if (ok && cursor.at == cursor.end)
        return true;
    sim_json_free(out);
    return false;
}

void sim_json_free(struct sim_json *json)
{
    for (size_t i = 0; i < json->count; i++) {
        sim_json_free(&json->members[i]);
        if (json->names)
            sim_free(json->names[i]);
    }
    sim_free(json->members);
    sim_free(json->names);
    sim_free(json->bytes);
    *json = (struct sim_json){0};
}

const struct sim_json *sim_json_get(const struct sim_json *object, const char *name)
{
    if (!object || object->kind != SIM_JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->count; i++) {
        if (strcmp(object->names[i], name) == 0)
            return &object->members[i];
    }
    return NULL;
}

const char *sim_json_text(const struct sim_json *object, const char *name)
{
    const struct sim_json *member = sim_json_get(object, name);
    return member && member->kind == SIM_JSON_STRING ? member->bytes : NULL;
}

bool sim_json_same(const struct sim_json *a, const struct sim_json *b)
{
    if (a->kind != b->kind || a->count != b->count || a->size != b->size ||
        (a->size && memcmp(a->bytes, b->bytes, a->size) != 0))
        return false;
    bool same = true;
    for (size_t i = 0; same && i < a->count; i++) {
        const struct sim_json *other = a->names ? sim_json_get(b, a->names[i]) : &b->members[i];
        same = other && sim_json_same(&a->members[i], other);
    }
    return same;
}

void sim_json_write(struct sim_text *out, const struct sim_json *json)
{
    static const char *const words[] = {"null", "true", "false"};
    if (json->kind <= SIM_JSON_FALSE) {
        sim_text_puts(out, words[json->kind]);
        return;
    }
    if (json->kind == SIM_JSON_NUMBER) {
        sim_text_puts(out, json->bytes);
        return;
    }
    if (json->kind == SIM_JSON_STRING) {
        sim_text_json_string(out, json->bytes, json->size);
        return;
    }
    sim_text_puts(out, json->kind == SIM_JSON_OBJECT ? "{" : "[");
    for (size_t i = 0; i < json->count; i++) {
        sim_text_puts(out, i ? "," : "");
        if (json->kind == SIM_JSON_OBJECT) {
            sim_text_json_string(out, json->names[i], strlen(json->names[i]));
            sim_text_puts(out, ":");
        }
        sim_json_write(out, &json->members[i]);
    }
    sim_text_puts(out, json->kind == SIM_JSON_OBJECT ? "}" : "]");
}
