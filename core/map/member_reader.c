#include "core/map/member_reader.h"

#include <stdarg.h>
#include <stdio.h>

bool map_fail(struct map_reader *reader, struct json value, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return findings_add(reader->findings, map_at(reader, value), "%s", text);
}

struct finding_at map_at(struct map_reader *reader, struct json value)
{
    json_position_move(&reader->last, &reader->doc, json_offset(value));
    return finding_at(&reader->last);
}

void *map_alloc(struct map_reader *reader, size_t size)
{
    void *memory = arena_alloc(reader->arena, size);
    if (!memory)
        findings_no_memory(reader->findings);
    return memory;
}

/* JSON allows a name twice, and parsers differ in which one counts: here it is a mistake. */
static bool reader_is_repeated(struct json object, struct json name)
{
    CLEAN_UP(buf_clean_up) struct buf unescaped = {0};
    struct span text;
    if (!json_plain_string(name, &text)) {
        json_read_string(name, &unescaped);
        text = buf_span(&unescaped);
    }
    struct json first = json_member_span(object, text);
    return !unescaped.failed && json_offset(first) != json_offset(json_next(name));
}

static bool reader_check_object(struct map_reader *reader, struct json object, const char *what)
{
    if (!json_is(object, JSON_OBJECT))
        return map_fail(reader, object, "%s is written as an object: { … }", what);
    return json_count(object) <= MAP_MAX_MEMBERS ||
           map_fail(reader, object, "%s has more than %d members", what, MAP_MAX_MEMBERS);
}

static bool reader_fail_unknown(struct map_reader *reader, struct json name, const char *what,
                                const struct map_member *members)
{
    CLEAN_UP(buf_clean_up) struct buf known = {0};
    for (const struct map_member *member = members; member->name; member++)
        buf_printf(&known, "%s%s", member == members ? "" : ", ", member->name);
    struct span raw = json_raw(name); /* as written: it may not be printable otherwise */
    if (known.failed)
        return findings_no_memory(reader->findings);
    return map_fail(reader, name, "%s has no member %.*s; it may have: %s", what, (int)raw.size,
                    raw.data, buf_text(&known));
}

static bool reader_read_member(struct map_reader *reader, const struct map_member *member,
                               struct json value, void *target)
{
    char what[64];
    void *field = (char *)target + member->offset;
    snprintf(what, sizeof what, "\"%s\"", member->name);
    return member->each ? map_read_each(reader, value, what, member->each, field)
                        : member->read(reader, value, what, field);
}

bool map_read_members(struct map_reader *reader, struct json object, const char *what,
                      const struct map_member *members, void *target)
{
    bool ok = true, misspelt = false;
    if (!reader_check_object(reader, object, what))
        return false;
    for (struct json name = json_first(object), value; json_present(name);
         name = json_next(value)) {
        const struct map_member *member = members;
        value = json_next(name);
        while (member->name && !json_string_is(name, span_text(member->name)))
            member++;
        if (!member->name)
            ok = reader_fail_unknown(reader, name, what, members);
        else if (reader_is_repeated(object, name))
            ok = map_fail(reader, name, "%s has \"%s\" twice", what, member->name);
        else
            ok = reader_read_member(reader, member, value, target) && ok;
        misspelt = misspelt || !member->name;
    }
    reader->misspelt = misspelt;
    return ok;
}

bool map_read_each(struct map_reader *reader, struct json object, const char *what,
                   map_each_fn *read, void *target)
{
    bool ok = true;
    if (!reader_check_object(reader, object, what))
        return false;
    for (struct json name = json_first(object), value; json_present(name);
         name = json_next(value)) {
        value = json_next(name);
        const char *text;
        if (!map_read_text(reader, name, "a name", &text))
            ok = false;
        else if (reader_is_repeated(object, name))
            ok = map_fail(reader, name, "%s has \"%s\" twice", what, text);
        else
            ok = read(reader, text, name, value, target) && ok;
    }
    return ok;
}

bool map_read_text(struct map_reader *reader, struct json value, const char *what, void *out)
{
    CLEAN_UP(buf_clean_up) struct buf unescaped = {0};
    struct span text = {0};
    const char **copy = out;
    if (!json_plain_string(value, &text) && json_read_string(value, &unescaped))
        text = buf_span(&unescaped);
    if (unescaped.failed)
        return findings_no_memory(reader->findings);
    if (text.size == 0)
        return map_fail(reader, value, "%s is written as a text in quotes", what);
    if (memchr(text.data, '\0', text.size)) /* it would end the C string early */
        return map_fail(reader, value, "%s may hold no \\u0000", what);
    *copy = arena_text(reader->arena, text);
    return *copy || findings_no_memory(reader->findings);
}

bool map_read_flag(struct map_reader *reader, struct json value, const char *what, void *out)
{
    bool *flag = out;
    if (!json_is(value, JSON_TRUE) && !json_is(value, JSON_FALSE))
        return map_fail(reader, value, "%s is true or false", what);
    *flag = json_is(value, JSON_TRUE);
    return true;
}

static bool reader_parse_format(struct map_reader *reader, struct json value, const char *what,
                                const char *(*parse)(struct arena *, struct span, struct format *),
                                struct format *out)
{
    const char *text;
    if (!map_read_text(reader, value, what, &text))
        return false;
    const char *wrong = parse(reader->arena, span_text(text), out);
    return !wrong || map_fail(reader, value, "%s \"%s\": %s", what, text, wrong);
}

bool map_read_format(struct map_reader *reader, struct json value, const char *what, void *out)
{
    return reader_parse_format(reader, value, what, format_parse, out);
}

bool map_read_key_format(struct map_reader *reader, struct json value, const char *what, void *out)
{
    return reader_parse_format(reader, value, what, format_parse_key, out);
}

bool map_read_texts(struct map_reader *reader, struct json value, const char *what,
                    const char ***out, size_t *count)
{
    if (!json_is(value, JSON_ARRAY) || json_count(value) == 0)
        return map_fail(reader, value, "%s is written as a list of texts: [\"…\"]", what);
    if (json_count(value) > MAP_MAX_TEXTS)
        return map_fail(reader, value, "%s has more than %d texts", what, MAP_MAX_TEXTS);
    const char **texts = arena_array(reader->arena, json_count(value), sizeof(const char *));
    if (!texts)
        return findings_no_memory(reader->findings);
    size_t n = 0;
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        if (!map_read_text(reader, each, what, &texts[n++]))
            return false;
    *out = texts;
    *count = n;
    return true;
}

bool map_read_ttl(struct map_reader *reader, struct json value, const char *what, void *out)
{
    int64_t seconds, *ttl_ms = out;
    if (!json_read_int(value, &seconds) || seconds < 0 || seconds > 86400)
        return map_fail(reader, value, "%s is a number of seconds from 0 to 86400", what);
    *ttl_ms = seconds * 1000;
    return true;
}
