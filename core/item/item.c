/* Typed items printed as plain JSON. A walk over the item is as deep as its text is nested, which
 * the parser bounds. */
#include "core/item/item.h"

#include "core/base/arena.h"
#include "core/item/typed.h"
#include "core/item/value.h"

struct writer {
    struct buf *out;
    struct arena arena; /* sorted members, unescaped text */
    bool compact;
    size_t depth;
};

static bool write_value(struct writer *writer, struct json value);

static void new_line(struct writer *writer)
{
    if (writer->compact)
        return;
    buf_add_char(writer->out, '\n');
    buf_add_repeated(writer->out, ' ', writer->depth * 2);
}

/* Goes to the next element or member; the first one stands alone behind the bracket. */
static void separate(struct writer *writer, size_t index)
{
    if (index > 0)
        buf_add_char(writer->out, ',');
    new_line(writer);
}

static void open_bracket(struct writer *writer, char bracket)
{
    buf_add_char(writer->out, bracket);
    writer->depth++;
}

static void close_bracket(struct writer *writer, char bracket, size_t count)
{
    writer->depth--;
    if (count > 0)
        new_line(writer);
    buf_add_char(writer->out, bracket);
}

static void write_name(struct writer *writer, struct span name)
{
    json_write_string(writer->out, name);
    buf_add_text(writer->out, writer->compact ? ":" : ": ");
}

static bool write_string(struct writer *writer, struct json string)
{
    struct span text;
    bool ok = typed_text(string, &writer->arena, &text);
    if (ok)
        json_write_string(writer->out, text);
    return ok;
}

/* Digit by digit, as it came. */
static bool write_number(struct writer *writer, struct json string)
{
    struct span text;
    bool ok = typed_text(string, &writer->arena, &text);
    if (ok)
        buf_add_span(writer->out, text);
    return ok;
}

static void write_bytes(struct writer *writer, struct span bytes)
{
    buf_add_char(writer->out, '"');
    base64_write(writer->out, bytes);
    buf_add_char(writer->out, '"');
}

static bool write_binary(struct writer *writer, struct json string)
{
    struct span bytes;
    bool ok = typed_bytes(string, &writer->arena, &bytes);
    if (ok)
        write_bytes(writer, bytes);
    return ok;
}

static bool write_word(struct writer *writer, const char *word)
{
    buf_add_text(writer->out, word);
    return true;
}

static bool write_list(struct writer *writer, struct json list)
{
    size_t count = 0;
    open_bracket(writer, '[');
    for (struct json value = json_first(list); json_present(value); value = json_next(value)) {
        separate(writer, count++);
        if (!write_value(writer, value))
            return false;
    }
    close_bracket(writer, ']', count);
    return true;
}

static void write_set_member(struct writer *writer, enum typed_tag tag, struct span member)
{
    if (tag == TYPED_BS)
        write_bytes(writer, member);
    else if (tag == TYPED_NS)
        buf_add_span(writer->out, member);
    else
        json_write_string(writer->out, member);
}

static bool write_set(struct writer *writer, struct typed typed)
{
    struct typed_set set;
    if (!typed_set(typed, &writer->arena, &set))
        return false;
    open_bracket(writer, '[');
    for (size_t i = 0; i < set.count; i++) {
        separate(writer, i);
        write_set_member(writer, typed.tag, set.list[i]);
    }
    close_bracket(writer, ']', set.count);
    return true;
}

static bool write_map(struct writer *writer, struct json map)
{
    struct typed_members members;
    if (!typed_members(map, &writer->arena, &members))
        return false;
    open_bracket(writer, '{');
    for (size_t i = 0; i < members.count; i++) {
        separate(writer, i);
        write_name(writer, members.list[i].name);
        if (!write_value(writer, members.list[i].value))
            return false;
    }
    close_bracket(writer, '}', members.count);
    return true;
}

static bool write_value(struct writer *writer, struct json value)
{
    struct typed typed = typed_open(value);
    switch (typed.tag) {
    case TYPED_S:
        return write_string(writer, typed.content);
    case TYPED_N:
        return write_number(writer, typed.content);
    case TYPED_B:
        return write_binary(writer, typed.content);
    case TYPED_BOOL:
        return write_word(writer, json_is(typed.content, JSON_TRUE) ? "true" : "false");
    case TYPED_NULL:
        return write_word(writer, "null");
    case TYPED_M:
        return write_map(writer, typed.content);
    case TYPED_L:
        return write_list(writer, typed.content);
    case TYPED_SS:
    case TYPED_NS:
    case TYPED_BS:
        return write_set(writer, typed);
    case TYPED_NONE:
        break;
    }
    return false;
}

/* Moves the member NAME to place TO, if it is there or behind it. */
static bool move_up(struct typed_members *members, size_t to, const char *name)
{
    for (size_t i = to; i < members->count; i++) {
        struct typed_member member = members->list[i];
        if (!span_is(member.name, name))
            continue;
        memmove(members->list + to + 1, members->list + to, (i - to) * sizeof member);
        members->list[to] = member;
        return true;
    }
    return false;
}

static void put_first(struct typed_members *members, const struct record_view *view)
{
    size_t placed = 0;
    for (size_t i = 0; i < view->first_count; i++)
        placed += move_up(members, placed, view->first[i]);
}

static bool is_secret(const struct record_view *view, struct span name)
{
    for (size_t i = 0; i < view->secret_count; i++)
        if (span_is(name, view->secret[i]))
            return true;
    return false;
}

static bool write_masked(struct writer *writer, struct json value)
{
    json_write_string(writer->out, SPAN_LITERAL(RECORD_MASK));
    return typed_open(value).tag != TYPED_NONE;
}

static bool write_attribute(struct writer *writer, const struct record_view *view,
                            const struct typed_member *member)
{
    write_name(writer, member->name);
    if (is_secret(view, member->name))
        return write_masked(writer, member->value);
    return write_value(writer, member->value);
}

static bool write_item(struct writer *writer, struct json item, const struct record_view *view)
{
    struct typed_members members;
    if (!typed_members(item, &writer->arena, &members))
        return false;
    put_first(&members, view);
    open_bracket(writer, '{');
    for (size_t i = 0; i < members.count; i++) {
        separate(writer, i);
        if (!write_attribute(writer, view, &members.list[i]))
            return false;
    }
    close_bracket(writer, '}', members.count);
    return true;
}

/* Ends the text, or takes back what was written since the size was BEFORE. */
static bool finish(struct writer *writer, bool ok, size_t before)
{
    buf_add_char(writer->out, '\n');
    writer->out->failed |= writer->arena.failed;
    ok = ok && !writer->out->failed;
    if (!ok)
        buf_truncate(writer->out, before);
    arena_clean_up(&writer->arena);
    return ok;
}

bool item_write(struct json item, const struct record_view *view, struct buf *out)
{
    struct writer writer = {.out = out, .compact = view->compact};
    size_t before = out->size;
    return finish(&writer, write_item(&writer, item, view), before);
}

static bool write_bare(struct writer *writer, struct json value)
{
    struct typed typed = typed_open(value);
    bool binary = typed.tag == TYPED_B;
    struct span text;
    if (typed.tag == TYPED_S || typed.tag == TYPED_N) {
        bool ok = typed_text(typed.content, &writer->arena, &text);
        if (ok)
            buf_add_span(writer->out, text);
        return ok;
    }
    if (!binary)
        return write_value(writer, value);
    bool ok = typed_bytes(typed.content, &writer->arena, &text);
    if (ok)
        base64_write(writer->out, text);
    return ok;
}

bool item_write_value(struct json typed, bool compact, struct buf *out)
{
    struct writer writer = {.out = out, .compact = compact};
    size_t before = out->size;
    return finish(&writer, write_bare(&writer, typed), before);
}

static void write_typed(struct writer *writer, struct json value);

/* {"NAME":VALUE,…} in the order of the names; MASK tells which values are secrets, or is NULL. */
static bool write_typed_members(struct writer *writer, struct json map,
                                const struct record_view *mask)
{
    struct typed_members members;
    if (!typed_members(map, &writer->arena, &members))
        return false;
    buf_add_char(writer->out, '{');
    for (size_t i = 0; i < members.count; i++) {
        const struct typed_member *member = &members.list[i];
        separate(writer, i);
        write_name(writer, member->name);
        if (mask && is_secret(mask, member->name))
            buf_add_text(writer->out, "{\"S\":\"" RECORD_MASK "\"}");
        else
            write_typed(writer, member->value);
    }
    buf_add_char(writer->out, '}');
    return true;
}

static bool write_typed_list(struct writer *writer, struct json list)
{
    size_t count = 0;
    buf_add_char(writer->out, '[');
    for (struct json value = json_first(list); json_present(value); value = json_next(value)) {
        separate(writer, count++);
        write_typed(writer, value);
    }
    buf_add_char(writer->out, ']');
    return true;
}

/* In a typed set numbers are strings, too. */
static bool write_typed_set(struct writer *writer, struct typed typed)
{
    struct typed_set set;
    if (!typed_set(typed, &writer->arena, &set))
        return false;
    buf_add_char(writer->out, '[');
    for (size_t i = 0; i < set.count; i++) {
        separate(writer, i);
        write_set_member(writer, typed.tag == TYPED_NS ? TYPED_SS : typed.tag, set.list[i]);
    }
    buf_add_char(writer->out, ']');
    return true;
}

/* What is not understood, or has no members to be ordered, is copied. */
static void write_typed(struct writer *writer, struct json value)
{
    struct typed typed = typed_open(value);
    size_t before = writer->out->size;
    bool ordered = false;
    if (typed.tag == TYPED_M) {
        buf_add_text(writer->out, "{\"M\":");
        ordered = write_typed_members(writer, typed.content, NULL);
    } else if (typed.tag == TYPED_L) {
        buf_add_text(writer->out, "{\"L\":");
        ordered = write_typed_list(writer, typed.content);
    } else if (typed.tag == TYPED_SS || typed.tag == TYPED_NS || typed.tag == TYPED_BS) {
        buf_add_text(writer->out, typed.tag == TYPED_SS   ? "{\"SS\":"
                                  : typed.tag == TYPED_NS ? "{\"NS\":"
                                                          : "{\"BS\":");
        ordered = write_typed_set(writer, typed);
    }
    if (ordered) {
        buf_add_char(writer->out, '}');
        return;
    }
    buf_truncate(writer->out, before);
    buf_add_span(writer->out, json_raw(value));
}

bool item_write_typed(struct json item, const struct record_view *view, struct buf *out)
{
    struct writer writer = {.out = out, .compact = true};
    size_t before = out->size;
    return finish(&writer, write_typed_members(&writer, item, view), before);
}

bool item_write_typed_value(struct json typed, struct buf *out)
{
    struct writer writer = {.out = out, .compact = true};
    size_t before = out->size;
    write_typed(&writer, typed);
    bool ok = finish(&writer, typed_open(typed).tag != TYPED_NONE, before);
    if (ok)
        buf_truncate(out, out->size - 1); /* the newline */
    return ok;
}

struct json item_attribute(struct json item, struct span name)
{
    return json_member_span(item, name);
}
