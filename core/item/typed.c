#include "core/item/typed.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INSERTED = 32 };

struct tag_name {
    struct span name;
    enum typed_tag tag;
};

static const struct tag_name tag_names[] = {
    {{"S", 1}, TYPED_S},       {{"N", 1}, TYPED_N},       {{"B", 1}, TYPED_B},
    {{"BOOL", 4}, TYPED_BOOL}, {{"NULL", 4}, TYPED_NULL}, {{"M", 1}, TYPED_M},
    {{"L", 1}, TYPED_L},       {{"SS", 2}, TYPED_SS},     {{"NS", 2}, TYPED_NS},
    {{"BS", 2}, TYPED_BS},
};

static enum typed_tag typed_tag_of(struct json name)
{
    for (size_t i = 0; i < sizeof tag_names / sizeof tag_names[0]; i++)
        if (json_string_is(name, tag_names[i].name))
            return tag_names[i].tag;
    return TYPED_NONE;
}

const char *typed_tag_name(enum typed_tag tag)
{
    for (size_t i = 0; i < sizeof tag_names / sizeof tag_names[0]; i++)
        if (tag_names[i].tag == tag)
            return tag_names[i].name.data;
    return "";
}

static bool typed_fits(enum typed_tag tag, enum json_type type)
{
    switch (tag) {
    case TYPED_S:
    case TYPED_N:
    case TYPED_B:
        return type == JSON_STRING;
    case TYPED_BOOL:
    case TYPED_NULL:
        return type == JSON_TRUE || type == JSON_FALSE;
    case TYPED_M:
        return type == JSON_OBJECT;
    case TYPED_L:
    case TYPED_SS:
    case TYPED_NS:
    case TYPED_BS:
        return type == JSON_ARRAY;
    case TYPED_NONE:
        break;
    }
    return false;
}

static bool typed_is_number(struct json string)
{
    struct span plain;
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    if (json_plain_string(string, &plain))
        return json_is_number(plain);
    return json_read_string(string, &text) && json_is_number(buf_span(&text));
}

struct typed typed_open(struct json value)
{
    struct typed none = {.tag = TYPED_NONE};
    if (!json_is(value, JSON_OBJECT) || json_count(value) != 1)
        return none;
    struct json name = json_first(value);
    struct typed typed = {typed_tag_of(name), json_next(name)};
    if (!typed_fits(typed.tag, json_type(typed.content)) ||
        (typed.tag == TYPED_N && !typed_is_number(typed.content)))
        return none;
    return typed;
}

bool typed_text(struct json string, struct arena *arena, struct span *out)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    if (json_plain_string(string, out))
        return true;
    if (!json_read_string(string, &text))
        return false;
    *out = arena_copy(arena, buf_span(&text));
    arena->failed |= text.failed;
    return !arena->failed;
}

bool typed_bytes(struct json string, struct arena *arena, struct span *out)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    struct span text;
    if (!typed_text(string, arena, &text))
        return false;
    bool ok = base64_read(text, &bytes);
    *out = arena_copy(arena, buf_span(&bytes));
    arena->failed |= bytes.failed;
    return ok && !arena->failed;
}

bool typed_scalar(struct json value, struct arena *arena, struct value *out)
{
    struct typed typed = typed_open(value);
    switch (typed.tag) {
    case TYPED_S:
        out->type = VALUE_S;
        return typed_text(typed.content, arena, &out->bytes);
    case TYPED_N:
        out->type = VALUE_N;
        return typed_text(typed.content, arena, &out->bytes);
    case TYPED_B:
        out->type = VALUE_B;
        return typed_bytes(typed.content, arena, &out->bytes);
    case TYPED_BOOL:
        *out = value_of_bool(json_is(typed.content, JSON_TRUE));
        return true;
    case TYPED_NULL:
        *out = (struct value){.type = VALUE_NULL, .bytes = SPAN_LITERAL("")};
        return true;
    default:
        return false;
    }
}

static int typed_by_name(const void *a, const void *b)
{
    const struct typed_member *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return span_compare(x->name, y->name);
}

/* A name that is a beginning of another one has zeros where the other has bytes. */
static uint64_t typed_order_of(struct span name)
{
    uint64_t order = 0;
    if (name.size)
        memcpy(&order, name.data, name.size < sizeof order ? name.size : sizeof order);
    return be64toh(order);
}

/* Items have few members, and an insertion is cheaper than qsort for these. */
static void typed_sort_members(const struct typed_members *members)
{
    struct typed_member *list = members->list;
    if (members->count > MOST_INSERTED) {
        qsort(list, members->count, sizeof *list, typed_by_name);
        return;
    }
    for (size_t i = 1; i < members->count; i++) {
        struct typed_member member = list[i];
        size_t to = i;
        for (; to > 0 && typed_by_name(&list[to - 1], &member) > 0; to--)
            list[to] = list[to - 1];
        list[to] = member;
    }
}

static bool typed_names_differ(const struct typed_members *members)
{
    for (size_t i = 1; i < members->count; i++)
        if (members->list[i - 1].order == members->list[i].order &&
            span_equal(members->list[i - 1].name, members->list[i].name))
            return false;
    return true;
}

bool typed_members(struct json object, struct arena *arena, struct typed_members *out)
{
    *out = (struct typed_members){.count = json_count(object)};
    if (!json_is(object, JSON_OBJECT))
        return false;
    out->list = arena_array(arena, out->count, sizeof *out->list);
    if (!out->list)
        return false;
    struct typed_member *member = out->list;
    struct json name = json_first(object);
    for (; json_present(name); name = json_next(member->value), member++) {
        member->value = json_next(name);
        member->is_plain = json_plain_string(name, &member->name);
        if (!member->is_plain && !typed_text(name, arena, &member->name))
            return false;
        member->order = typed_order_of(member->name);
    }
    typed_sort_members(out);
    return typed_names_differ(out);
}

static int typed_by_bytes(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return span_compare(*x, *y);
}

static int typed_by_number(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int order = number_compare(*x, *y);
    return order ? order : span_compare(*x, *y);
}

bool typed_set(struct typed set, struct arena *arena, struct typed_set *out)
{
    *out = (struct typed_set){.count = json_count(set.content)};
    out->list = arena_array(arena, out->count, sizeof *out->list);
    if (!out->list)
        return false;
    struct span *member = out->list;
    struct json text = json_first(set.content);
    for (; json_present(text); text = json_next(text), member++)
        if (!(set.tag == TYPED_BS ? typed_bytes : typed_text)(text, arena, member) ||
            (set.tag == TYPED_NS && !json_is_number(*member)))
            return false;
    qsort(out->list, out->count, sizeof *out->list,
          set.tag == TYPED_NS ? typed_by_number : typed_by_bytes);
    return true;
}

/* Dates. */

/* Seconds of the year 5138. Numbers beyond, in either direction, are milliseconds. */
static const int64_t SECONDS_END = 100000000000;

/* A double has all digits of a date in milliseconds. Fractions are rounded down. */
static struct instant when_parse_number(struct span text)
{
    char copy[64] = {0};
    if (text.size >= sizeof copy || !number_is(text))
        return (struct instant){0};
    memcpy(copy, text.data, text.size);
    double number = strtod(copy, NULL);
    if (number < -1e15 || number > 1e15)
        return (struct instant){0};
    int64_t whole = (int64_t)number;
    whole -= (double)whole > number;
    return instant_of(whole > -SECONDS_END && whole < SECONDS_END ? whole * 1000 : whole);
}

/* A date has no character that is escaped. */
struct instant when_read(struct json typed)
{
    struct json tag = json_first(typed);
    struct span text;
    if (json_is(typed, JSON_OBJECT) && json_count(typed) == 1 &&
        json_plain_string(json_next(tag), &text)) {
        if (json_string_is(tag, SPAN_LITERAL("N")))
            return when_parse_number(text);
        if (json_string_is(tag, SPAN_LITERAL("S")))
            return instant_parse(text);
    }
    return (struct instant){0};
}
