#include "core/draft/condition_writer.h"

#include "core/json/json.h"
#include "core/map/condition_members.h"

/* What was read as a number, true, false or null stands without quotes; of a range only one end may
 * have been. */
static void condition_writer_add_operand(struct arena *arena, struct json_layout *to,
                                         const char *name, bool typed, enum value_type type,
                                         const struct format *text)
{
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    format_write(text, &written);
    arena->failed = arena->failed || written.failed;
    struct span bare = buf_span(&written);
    if (typed && type == VALUE_NULL)
        json_layout_add_raw(arena, to, name, "null");
    else if (typed && (json_is_number(bare) || span_is(bare, "true") || span_is(bare, "false")))
        json_layout_add_raw(arena, to, name, buf_text(&written));
    else
        json_layout_add_text(arena, to, name, bare);
}

/* The short form of a condition: "x", "x*", "x..y". False where it would be read as another one. */
static bool condition_writer_write_short(const struct declared_condition *condition,
                                         struct buf *out)
{
    format_write(&condition->value, out);
    struct span value = buf_span(out);
    bool has_dots = strstr(buf_text(out), "..");
    if (condition->typed || value.size == 0 || has_dots)
        return false;
    if (condition->op == COND_EQ)
        return !span_ends(value, SPAN_LITERAL("*"));
    if (condition->op == COND_BEGINS) {
        buf_add_char(out, '*');
        return true;
    }
    if (condition->op != COND_BETWEEN || span_ends(value, SPAN_LITERAL(".")) ||
        condition->upper.count == 0)
        return false;
    buf_add_text(out, "..");
    format_write(&condition->upper, out);
    return true;
}

/* The operation as a member of TO: "<": 5. */
static void condition_writer_add_operation(struct arena *arena, struct json_layout *to,
                                           const struct declared_condition *condition)
{
    const char *word = map_condition_word(condition->op);
    struct json_layout *array;
    switch (condition->op) {
    case COND_EXISTS:
    case COND_MISSING:
        json_layout_add_raw(arena, to, word, condition->op == COND_EXISTS ? "true" : "false");
        return;
    case COND_BETWEEN:
        array = json_layout_add(arena, to, word, JSON_LAYOUT_ARRAY);
        if (!array)
            return;
        condition_writer_add_operand(arena, array, NULL, condition->typed, condition->type,
                                     &condition->value);
        condition_writer_add_operand(arena, array, NULL, condition->typed, condition->type,
                                     &condition->upper);
        return;
    case COND_IN:
        array = json_layout_add(arena, to, word, JSON_LAYOUT_ARRAY);
        for (size_t i = 0; array && i < condition->list_count; i++)
            condition_writer_add_operand(arena, array, NULL, condition->list[i].typed,
                                         condition->list[i].type, &condition->list[i].text);
        return;
    default:
        condition_writer_add_operand(arena, to, word, condition->typed, condition->type,
                                     &condition->value);
    }
}

/* Whether EARLIER, of the same list, has said it: one attribute is one member. */
static bool condition_writer_is_same(const struct declared_condition *a,
                                     const struct declared_condition *b)
{
    return a->target && b->target && a->whole == b->whole && strcmp(a->target, b->target) == 0;
}

/* What the condition is about. A key attribute that a part may have the name of stands in single
 * quotes, and two of them are one inside. */
static const char *condition_writer_target_of(struct arena *arena,
                                              const struct declared_condition *condition)
{
    CLEAN_UP(buf_clean_up) struct buf quoted = {0};
    if (!condition->whole)
        return condition->target;
    buf_add_char(&quoted, '\'');
    for (const char *at = condition->target; *at; at++) {
        buf_add_text(&quoted, *at == '\'' ? "'" : "");
        buf_add_char(&quoted, *at);
    }
    buf_add_char(&quoted, '\'');
    arena->failed = arena->failed || quoted.failed;
    return arena_text(arena, buf_span(&quoted));
}

static bool condition_writer_was_stated(const struct declared_condition *list,
                                        const struct declared_condition *each)
{
    for (; list != each; list = list->next)
        if (condition_writer_is_same(list, each))
            return true;
    return false;
}

static bool condition_writer_is_alone(const struct declared_condition *condition)
{
    for (const struct declared_condition *each = condition->next; each; each = each->next)
        if (condition_writer_is_same(each, condition))
            return false;
    return true;
}

/* All that is said of one attribute: the short form, or an object of operations. */
static void condition_writer_add_target(struct arena *arena, struct json_layout *to,
                                        const struct declared_condition *condition)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    bool alone = condition_writer_is_alone(condition);
    const char *target = condition_writer_target_of(arena, condition);
    if (alone && condition_writer_write_short(condition, &text)) {
        arena->failed = arena->failed || text.failed;
        json_layout_add_text(arena, to, target, buf_span(&text));
        return;
    }
    if (alone && condition->op == COND_EQ && condition->typed) {
        condition_writer_add_operand(arena, to, target, true, condition->type, &condition->value);
        return;
    }
    struct json_layout *object = json_layout_add(arena, to, target, JSON_LAYOUT_OBJECT);
    const struct declared_condition *each;
    for (each = condition; object && each; each = each->next)
        if (condition_writer_is_same(each, condition))
            condition_writer_add_operation(arena, object, each);
}

static void condition_writer_add_filters(struct arena *arena, struct json_layout *to,
                                         const struct declared_condition *conditions);

/* "or" and "and" take a list of filters, each a condition COND_AND; "not" takes one. */
static void condition_writer_add_joined(struct arena *arena, struct json_layout *to,
                                        const struct declared_condition *condition)
{
    bool one = condition->op == COND_NOT;
    struct json_layout *joined = json_layout_add(arena, to, map_condition_word(condition->op),
                                                 one ? JSON_LAYOUT_OBJECT : JSON_LAYOUT_ARRAY);
    if (joined && one)
        condition_writer_add_filters(arena, joined, condition->children);
    const struct declared_condition *child = one ? NULL : condition->children;
    for (; joined && child; child = child->next) {
        struct json_layout *filter = json_layout_add(arena, joined, NULL, JSON_LAYOUT_OBJECT);
        if (filter)
            condition_writer_add_filters(arena, filter, child->children);
    }
}

static void condition_writer_add_filters(struct arena *arena, struct json_layout *to,
                                         const struct declared_condition *conditions)
{
    for (const struct declared_condition *each = conditions; each; each = each->next) {
        if (!each->target)
            condition_writer_add_joined(arena, to, each);
        else if (!condition_writer_was_stated(conditions, each))
            condition_writer_add_target(arena, to, each);
    }
}

void write_where(struct arena *arena, struct json_layout *path,
                 const struct declared_condition *conditions)
{
    struct json_layout *where =
        conditions ? json_layout_add(arena, path, "where", JSON_LAYOUT_OBJECT) : NULL;
    if (where)
        condition_writer_add_filters(arena, where, conditions);
}

void write_filter(struct arena *arena, struct json_layout *path,
                  const struct declared_condition *conditions)
{
    struct json_layout *filter =
        conditions ? json_layout_add(arena, path, "filter", JSON_LAYOUT_OBJECT) : NULL;
    if (filter)
        condition_writer_add_filters(arena, filter, conditions);
}
