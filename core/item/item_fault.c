#include "core/item/item_fault.h"

#include "core/item/typed.h"

/* Names of a map are compared pair by pair up to this number, and sorted beyond. */
enum { FEW_NAMES = 24, MOST_DEPTH = 40 /* the service allows 32 */ };

#define NO_MEMORY "out of memory"

struct item_walk {
    struct buf *scratch;
    struct item_fault *fault;
    bool is_loose;
    unsigned depth;
};

static bool item_walk_value(struct item_walk *walk, struct json value);

static bool item_walk_fail(struct item_walk *walk, struct json at, const char *what)
{
    *walk->fault = (struct item_fault){at, what};
    return false;
}

/* The unescaped text of STRING, valid until the next call. */
static bool item_walk_text(struct item_walk *walk, struct json string, struct span *out)
{
    if (json_plain_string(string, out))
        return true;
    buf_truncate(walk->scratch, 0);
    if (!json_is(string, JSON_STRING))
        return item_walk_fail(walk, string, "is no string");
    if (!json_read_string(string, walk->scratch) || walk->scratch->failed)
        return item_walk_fail(walk, string, NO_MEMORY);
    *out = buf_span(walk->scratch);
    return true;
}

static bool item_walk_number(struct item_walk *walk, struct json string)
{
    struct span text;
    if (!item_walk_text(walk, string, &text))
        return false;
    const char *why = number_fault(text);
    return !why || item_walk_fail(walk, string, why);
}

static bool item_walk_bytes(struct item_walk *walk, struct json string)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct span text;
    if (!item_walk_text(walk, string, &text))
        return false;
    if (base64_read(text, &bytes))
        return true;
    return item_walk_fail(walk, string, bytes.failed ? NO_MEMORY : "is no base64");
}

static bool item_walk_scalar(struct item_walk *walk, enum typed_tag tag, struct json string)
{
    struct span text;
    switch (tag) {
    case TYPED_N:
    case TYPED_NS:
        return item_walk_number(walk, string);
    case TYPED_B:
    case TYPED_BS:
        return item_walk_bytes(walk, string);
    default:
        return item_walk_text(walk, string, &text);
    }
}

/* Whether no name comes twice. */
static bool item_walk_names(struct item_walk *walk, struct json object)
{
    CLEAN_UP(arena_discard) struct arena arena = {0};
    struct typed_members sorted;
    struct span names[FEW_NAMES];
    size_t count = 0;
    bool few = json_count(object) <= FEW_NAMES;
    for (struct json name = json_first(object); few && json_present(name);
         name = json_next(json_next(name))) {
        few = json_plain_string(name, &names[count]);
        for (size_t i = 0; few && i < count; i++)
            if (span_equal(names[i], names[count]))
                return item_walk_fail(walk, name, "comes twice");
        count++;
    }
    if (few || typed_members(object, &arena, &sorted))
        return true;
    return item_walk_fail(walk, object, arena.failed ? NO_MEMORY : "has a name twice");
}

/* The members of an item or a map. */
static bool item_walk_members(struct item_walk *walk, struct json object)
{
    size_t end = json_offset(object);
    for (struct json name = json_first(object); json_present(name);) {
        struct json value = json_next(name);
        size_t name_end = json_offset(name) + json_raw(name).size;
        walk->is_loose |= json_offset(name) != end + 1 || json_offset(value) != name_end + 1;
        if (!item_walk_value(walk, value))
            return false;
        end = json_offset(value) + json_raw(value).size;
        name = json_next(value);
    }
    walk->is_loose |=
        json_count(object) > 0 && end + 1 != json_offset(object) + json_raw(object).size;
    return item_walk_names(walk, object);
}

static bool item_walk_elements(struct item_walk *walk, enum typed_tag tag, struct json array)
{
    size_t end = json_offset(array);
    for (struct json each = json_first(array); json_present(each); each = json_next(each)) {
        walk->is_loose |= json_offset(each) != end + 1;
        if (!(tag == TYPED_L ? item_walk_value(walk, each) : item_walk_scalar(walk, tag, each)))
            return false;
        end = json_offset(each) + json_raw(each).size;
    }
    walk->is_loose |= end + 1 != json_offset(array) + json_raw(array).size;
    return true;
}

/* A set has at least one member, and each value once: numbers by value, binaries by their bytes. */
static bool item_walk_set(struct item_walk *walk, struct typed typed)
{
    CLEAN_UP(arena_discard) struct arena arena = {0};
    struct typed_set set;
    if (json_count(typed.content) == 0)
        return item_walk_fail(walk, typed.content, "is an empty set");
    if (!item_walk_elements(walk, typed.tag, typed.content))
        return false;
    if (!typed_set(typed, &arena, &set))
        return item_walk_fail(walk, typed.content,
                              arena.failed ? NO_MEMORY : "has a number that JSON spells otherwise");
    for (size_t i = 1; i < set.count; i++)
        if (typed.tag == TYPED_NS ? number_compare(set.list[i - 1], set.list[i]) == 0
                                  : span_equal(set.list[i - 1], set.list[i]))
            return item_walk_fail(walk, typed.content, "is a set that has a value twice");
    return true;
}

static bool item_walk_content(struct item_walk *walk, struct typed typed)
{
    switch (typed.tag) {
    case TYPED_M:
        return item_walk_members(walk, typed.content);
    case TYPED_SS:
    case TYPED_NS:
    case TYPED_BS:
        return item_walk_set(walk, typed);
    case TYPED_L:
        return item_walk_elements(walk, typed.tag, typed.content);
    case TYPED_BOOL:
    case TYPED_NULL:
        return true;
    default:
        return item_walk_scalar(walk, typed.tag, typed.content);
    }
}

/* VALUE is {"TAG": CONTENT}. */
static bool item_walk_value(struct item_walk *walk, struct json value)
{
    struct typed typed = typed_open(value);
    if (typed.tag == TYPED_NONE)
        return item_walk_fail(walk, value, "is no typed value such as {\"S\":\"…\"}");
    if (walk->depth == MOST_DEPTH)
        return item_walk_fail(walk, value, "is nested deeper than DynamoDB allows");
    struct json name = json_first(value);
    size_t name_end = json_offset(name) + json_raw(name).size;
    size_t end = json_offset(typed.content) + json_raw(typed.content).size;
    walk->is_loose |= json_offset(name) != json_offset(value) + 1 ||
                      json_offset(typed.content) != name_end + 1 ||
                      end + 1 != json_offset(value) + json_raw(value).size;
    walk->depth++;
    bool ok = item_walk_content(walk, typed);
    walk->depth--;
    return ok;
}

bool item_is_valid(struct json item, struct buf *scratch, bool *tight, struct item_fault *fault)
{
    struct item_walk walk = {.scratch = scratch, .fault = fault};
    if (!json_is(item, JSON_OBJECT))
        return item_walk_fail(&walk, item, "is no JSON object");
    bool ok = item_walk_members(&walk, item);
    *tight = ok && !walk.is_loose;
    return ok;
}

void item_write_tight(struct json value, struct buf *out)
{
    bool is_object = json_is(value, JSON_OBJECT);
    if (!is_object && !json_is(value, JSON_ARRAY)) {
        buf_add_span(out, json_raw(value));
        return;
    }
    struct json first = json_first(value);
    buf_add_char(out, is_object ? '{' : '[');
    for (struct json each = first; json_present(each); each = json_next(each)) {
        if (each.at != first.at)
            buf_add_char(out, ',');
        item_write_tight(each, out);
        if (is_object) {
            each = json_next(each);
            buf_add_char(out, ':');
            item_write_tight(each, out);
        }
    }
    buf_add_char(out, is_object ? '}' : ']');
}
