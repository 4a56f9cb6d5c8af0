#include "core/author/write_conditions.h"

#include "core/json/json.h"
#include "core/map/conditions.h"

/* What was read as a number, true, false or null stands without quotes; of a range only one end may
 * have been. */
static void add_operand(struct arena *arena, struct layout *to, const char *name, bool typed,
                        enum value_type type, const struct format *text)
{
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    format_write(text, &written);
    arena->failed = arena->failed || written.failed;
    struct span bare = buf_span(&written);
    if (typed && type == VALUE_NULL)
        layout_add_raw(arena, to, name, "null");
    else if (typed && (json_is_number(bare) || span_is(bare, "true") || span_is(bare, "false")))
        layout_add_raw(arena, to, name, buf_text(&written));
    else
        layout_add_text(arena, to, name, bare);
}

/* The short form of a condition: "x", "x*", "x..y". False where it would be read as another one. */
static bool write_short(const struct declared_condition *condition, struct buf *out)
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
static void add_operation(struct arena *arena, struct layout *to,
                          const struct declared_condition *condition)
{
    const char *word = map_condition_word(condition->op);
    struct layout *array;
    switch (condition->op) {
    case COND_EXISTS:
    case COND_MISSING:
        layout_add_raw(arena, to, word, condition->op == COND_EXISTS ? "true" : "false");
        return;
    case COND_BETWEEN:
        array = layout_add(arena, to, word, LAYOUT_ARRAY);
        if (!array)
            return;
        add_operand(arena, array, NULL, condition->typed, condition->type, &condition->value);
        add_operand(arena, array, NULL, condition->typed, condition->type, &condition->upper);
        return;
    case COND_IN:
        array = layout_add(arena, to, word, LAYOUT_ARRAY);
        for (size_t i = 0; array && i < condition->list_count; i++)
            add_operand(arena, array, NULL, condition->list[i].typed, condition->list[i].type,
                        &condition->list[i].text);
        return;
    default:
        add_operand(arena, to, word, condition->typed, condition->type, &condition->value);
    }
}

/* Whether EARLIER, of the same list, has said it: one attribute is one member. */
static bool is_same(const struct declared_condition *a, const struct declared_condition *b)
{
    return a->target && b->target && a->whole == b->whole && strcmp(a->target, b->target) == 0;
}

/* What the condition is about. A key attribute that a part may have the name of stands in single
 * quotes, and two of them are one inside. */
static const char *target_of(struct arena *arena, const struct declared_condition *condition)
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

static bool was_said(const struct declared_condition *list, const struct declared_condition *each)
{
    for (; list != each; list = list->next)
        if (is_same(list, each))
            return true;
    return false;
}

static bool is_alone(const struct declared_condition *condition)
{
    for (const struct declared_condition *each = condition->next; each; each = each->next)
        if (is_same(each, condition))
            return false;
    return true;
}

/* All that is said of one attribute: the short form, or an object of operations. */
static void add_target(struct arena *arena, struct layout *to,
                       const struct declared_condition *condition)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    bool alone = is_alone(condition);
    const char *target = target_of(arena, condition);
    if (alone && write_short(condition, &text)) {
        arena->failed = arena->failed || text.failed;
        layout_add_text(arena, to, target, buf_span(&text));
        return;
    }
    if (alone && condition->op == COND_EQ && condition->typed) {
        add_operand(arena, to, target, true, condition->type, &condition->value);
        return;
    }
    struct layout *object = layout_add(arena, to, target, LAYOUT_OBJECT);
    const struct declared_condition *each;
    for (each = condition; object && each; each = each->next)
        if (is_same(each, condition))
            add_operation(arena, object, each);
}

static void add_filters(struct arena *arena, struct layout *to,
                        const struct declared_condition *conditions);

/* "or" and "and" take a list of filters, each a condition COND_AND; "not" takes one. */
static void add_joined(struct arena *arena, struct layout *to,
                       const struct declared_condition *condition)
{
    bool one = condition->op == COND_NOT;
    struct layout *joined = layout_add(arena, to, map_condition_word(condition->op),
                                       one ? LAYOUT_OBJECT : LAYOUT_ARRAY);
    if (joined && one)
        add_filters(arena, joined, condition->children);
    const struct declared_condition *child = one ? NULL : condition->children;
    for (; joined && child; child = child->next) {
        struct layout *filter = layout_add(arena, joined, NULL, LAYOUT_OBJECT);
        if (filter)
            add_filters(arena, filter, child->children);
    }
}

static void add_filters(struct arena *arena, struct layout *to,
                        const struct declared_condition *conditions)
{
    for (const struct declared_condition *each = conditions; each; each = each->next) {
        if (!each->target)
            add_joined(arena, to, each);
        else if (!was_said(conditions, each))
            add_target(arena, to, each);
    }
}

void write_where(struct arena *arena, struct layout *path,
                 const struct declared_condition *conditions)
{
    struct layout *where = conditions ? layout_add(arena, path, "where", LAYOUT_OBJECT) : NULL;
    if (where)
        add_filters(arena, where, conditions);
}

void write_filter(struct arena *arena, struct layout *path,
                  const struct declared_condition *conditions)
{
    struct layout *filter = conditions ? layout_add(arena, path, "filter", LAYOUT_OBJECT) : NULL;
    if (filter)
        add_filters(arena, filter, conditions);
}
