/* The depth of a walk over an item is bounded by the parser. The writer of core/json/writer.h is
 * not used here: items nest deeper than it allows. */
#include "core/item/item.h"

#include "core/base/arena.h"
#include "core/item/typed.h"
#include "core/item/value.h"

struct item_writer {
    struct buf *out;
    struct arena arena; /* sorted members, unescaped text */
    bool compact;
    size_t depth;
};

static bool item_print_value(struct item_writer *writer, struct json value);

static void item_new_line(struct item_writer *writer)
{
    if (writer->compact)
        return;
    buf_add_char(writer->out, '\n');
    buf_add_repeated(writer->out, ' ', writer->depth * 2);
}

/* Begins the next element or member. */
static void item_separate(struct item_writer *writer, size_t index)
{
    if (index > 0)
        buf_add_char(writer->out, ',');
    item_new_line(writer);
}

static void item_open_bracket(struct item_writer *writer, char bracket)
{
    buf_add_char(writer->out, bracket);
    writer->depth++;
}

static void item_close_bracket(struct item_writer *writer, char bracket, size_t count)
{
    writer->depth--;
    if (count > 0)
        item_new_line(writer);
    buf_add_char(writer->out, bracket);
}

/* A text without escapes is written as it came, with its quotes. */
static void item_write_name(struct item_writer *writer, const struct typed_member *member)
{
    if (member->is_plain)
        buf_add(writer->out, member->name.data - 1, member->name.size + 2);
    else
        json_write_string(writer->out, member->name);
    buf_add_char(writer->out, ':');
    if (!writer->compact)
        buf_add_char(writer->out, ' ');
}

static void item_write_bytes(struct item_writer *writer, struct span bytes)
{
    buf_add_char(writer->out, '"');
    base64_write(writer->out, bytes);
    buf_add_char(writer->out, '"');
}

static void item_write_set_member(struct item_writer *writer, enum typed_tag tag,
                                  struct span member)
{
    if (tag == TYPED_BS)
        item_write_bytes(writer, member);
    else if (tag == TYPED_NS)
        buf_add_span(writer->out, member);
    else
        json_write_string(writer->out, member);
}

static bool item_print_map(struct item_writer *writer, struct json content)
{
    struct typed_members members;
    if (!typed_members(content, &writer->arena, &members))
        return false;
    item_open_bracket(writer, '{');
    for (size_t i = 0; i < members.count; i++) {
        item_separate(writer, i);
        item_write_name(writer, &members.list[i]);
        if (!item_print_value(writer, members.list[i].value))
            return false;
    }
    item_close_bracket(writer, '}', members.count);
    return true;
}

static bool item_print_value(struct item_writer *writer, struct json value)
{
    struct typed typed = typed_open(value);
    struct typed_set set;
    struct span text;
    size_t count = 0;
    switch (typed.tag) {
    case TYPED_S:
        if (json_plain_string(typed.content, &text)) {
            buf_add_span(writer->out, json_raw(typed.content));
            return true;
        }
        if (!typed_text(typed.content, &writer->arena, &text))
            return false;
        json_write_string(writer->out, text);
        return true;
    case TYPED_N: /* digit by digit */
        if (!typed_text(typed.content, &writer->arena, &text))
            return false;
        buf_add_span(writer->out, text);
        return true;
    case TYPED_B:
        if (!typed_bytes(typed.content, &writer->arena, &text))
            return false;
        item_write_bytes(writer, text);
        return true;
    case TYPED_BOOL:
        buf_add_text(writer->out, json_is(typed.content, JSON_TRUE) ? "true" : "false");
        return true;
    case TYPED_NULL:
        buf_add_text(writer->out, "null");
        return true;
    case TYPED_M:
        return item_print_map(writer, typed.content);
    case TYPED_L:
        item_open_bracket(writer, '[');
        for (struct json each = json_first(typed.content); json_present(each);
             each = json_next(each)) {
            item_separate(writer, count++);
            if (!item_print_value(writer, each))
                return false;
        }
        item_close_bracket(writer, ']', count);
        return true;
    case TYPED_SS:
    case TYPED_NS:
    case TYPED_BS:
        if (!typed_set(typed, &writer->arena, &set))
            return false;
        item_open_bracket(writer, '[');
        for (size_t i = 0; i < set.count; i++) {
            item_separate(writer, i);
            item_write_set_member(writer, typed.tag, set.list[i]);
        }
        item_close_bracket(writer, ']', set.count);
        return true;
    case TYPED_NONE:
        break;
    }
    return false;
}

/* Moves the member NAME forward to place TO; false if it is not found from there on. */
static bool item_move_up(struct typed_members *members, size_t to, const char *name)
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

static bool item_is_secret(const struct record_view *view, struct span name)
{
    for (size_t i = 0; i < view->secret_count; i++)
        if (span_is(name, view->secret[i]))
            return true;
    return false;
}

static bool item_write_item(struct item_writer *writer, struct json item,
                            const struct record_view *view)
{
    struct typed_members members;
    if (!typed_members(item, &writer->arena, &members))
        return false;
    for (size_t i = 0, placed = 0; i < view->first_count; i++)
        placed += item_move_up(&members, placed, view->first[i]);
    item_open_bracket(writer, '{');
    for (size_t i = 0; i < members.count; i++) {
        const struct typed_member *member = &members.list[i];
        item_separate(writer, i);
        item_write_name(writer, member);
        bool is_secret = item_is_secret(view, member->name);
        if (is_secret)
            json_write_string(writer->out, SPAN_LITERAL(RECORD_MASK));
        if (is_secret ? typed_open(member->value).tag == TYPED_NONE
                      : !item_print_value(writer, member->value))
            return false;
    }
    item_close_bracket(writer, '}', members.count);
    return true;
}

/* Ends the text, or restores the size BEFORE. */
static bool item_finish(struct item_writer *writer, bool ok, size_t before)
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
    struct item_writer writer = {.out = out, .compact = view->compact};
    size_t before = out->size;
    buf_reserve(out, json_raw(item).size); /* nearly always enough: the text is written once */
    return item_finish(&writer, item_write_item(&writer, item, view), before);
}

bool item_write_value(struct json typed, bool compact, struct buf *out)
{
    struct item_writer writer = {.out = out, .compact = compact};
    size_t before = out->size;
    struct typed value = typed_open(typed);
    struct span text;
    bool is_text = value.tag == TYPED_S || value.tag == TYPED_N, is_bytes = value.tag == TYPED_B;
    bool ok = is_text    ? typed_text(value.content, &writer.arena, &text)
              : is_bytes ? typed_bytes(value.content, &writer.arena, &text)
                         : item_print_value(&writer, typed);
    if (ok && is_text)
        buf_add_span(out, text);
    else if (ok && is_bytes)
        base64_write(out, text);
    return item_finish(&writer, ok, before);
}

static void item_print_typed_value(struct item_writer *writer, struct json value);

/* {"NAME":VALUE,…} in the order of the names. MASK has the secrets; it may be NULL. */
static bool item_write_typed_members(struct item_writer *writer, struct json map,
                                     const struct record_view *mask)
{
    struct typed_members members;
    if (!typed_members(map, &writer->arena, &members))
        return false;
    buf_add_char(writer->out, '{');
    for (size_t i = 0; i < members.count; i++) {
        const struct typed_member *member = &members.list[i];
        item_separate(writer, i);
        item_write_name(writer, member);
        if (mask && item_is_secret(mask, member->name))
            buf_add_text(writer->out, "{\"S\":\"" RECORD_MASK "\"}");
        else
            item_print_typed_value(writer, member->value);
    }
    buf_add_char(writer->out, '}');
    return true;
}

/* A value that is not typed, or has no members to be sorted, is copied. */
static void item_print_typed_value(struct item_writer *writer, struct json value)
{
    struct typed typed = typed_open(value);
    struct typed_set set;
    size_t before = writer->out->size, count = 0;
    bool ordered = false;
    if (typed.tag == TYPED_M) {
        buf_add_text(writer->out, "{\"M\":");
        ordered = item_write_typed_members(writer, typed.content, NULL);
    } else if (typed.tag == TYPED_L) {
        buf_add_text(writer->out, "{\"L\":[");
        for (struct json each = json_first(typed.content); json_present(each);
             each = json_next(each)) {
            item_separate(writer, count++);
            item_print_typed_value(writer, each);
        }
        buf_add_char(writer->out, ']');
        ordered = true;
    } else if ((typed.tag == TYPED_SS || typed.tag == TYPED_NS || typed.tag == TYPED_BS) &&
               typed_set(typed, &writer->arena, &set)) {
        buf_printf(writer->out, "{\"%s\":[", typed_tag_name(typed.tag));
        for (; count < set.count; count++) { /* here numbers are strings, too */
            item_separate(writer, count);
            item_write_set_member(writer, typed.tag == TYPED_BS ? TYPED_BS : TYPED_SS,
                                  set.list[count]);
        }
        buf_add_char(writer->out, ']');
        ordered = true;
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
    struct item_writer writer = {.out = out, .compact = true};
    size_t before = out->size;
    return item_finish(&writer, item_write_typed_members(&writer, item, view), before);
}

bool item_write_typed_value(struct json typed, struct buf *out)
{
    struct item_writer writer = {.out = out, .compact = true};
    size_t before = out->size;
    item_print_typed_value(&writer, typed);
    bool ok = item_finish(&writer, typed_open(typed).tag != TYPED_NONE, before);
    if (ok)
        buf_truncate(out, out->size - 1); /* the newline */
    return ok;
}

struct json item_attribute(struct json item, struct span name)
{
    return json_member_span(item, name);
}
