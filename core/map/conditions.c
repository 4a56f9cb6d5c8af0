#include "core/map/conditions.h"

static const struct {
    const char *word;
    enum cond_op op;
} ops[] = {
    {"=", COND_EQ},
    {"begins_with", COND_BEGINS},
    {"between", COND_BETWEEN},
    {"<", COND_LT},
    {"<=", COND_LE},
    {">", COND_GT},
    {">=", COND_GE},
};

/* A text, or a number where the attribute is one. */
static bool read_operand(struct map_reader *reader, struct json value,
                         struct declared_condition *where, struct format *out)
{
    if (!json_is(value, JSON_NUMBER))
        return map_read_format(reader, value, "a condition's value", out);
    where->type = VALUE_N;
    const char *wrong = format_parse(reader->arena, json_raw(value), out);
    return !wrong || map_fail(reader, value, "%s", wrong);
}

static bool read_range(struct map_reader *reader, struct json value,
                       struct declared_condition *where)
{
    if (!json_is(value, JSON_ARRAY) || json_count(value) != 2)
        return map_fail(reader, value, "\"between\" takes two values: [\"{from}\", \"{to}\"]");
    struct json lower = json_first(value);
    return read_operand(reader, lower, where, &where->value) &&
           read_operand(reader, json_next(lower), where, &where->upper);
}

static bool read_operation(struct map_reader *reader, struct json object,
                           struct declared_condition *where)
{
    struct json name = json_first(object);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (!json_string_is(name, span_text(ops[i].word)) || json_count(object) != 1)
            continue;
        where->op = ops[i].op;
        return where->op == COND_BETWEEN
                   ? read_range(reader, json_next(name), where)
                   : read_operand(reader, json_next(name), where, &where->value);
    }
    return map_fail(reader, object,
                    "a condition is a text or one of =, <, <=, >, >=, begins_with, between");
}

static bool parse_half(struct map_reader *reader, struct json value, struct span text,
                       struct format *out)
{
    const char *wrong = format_parse(reader->arena, text, out);
    if (!wrong && out->count == 0)
        wrong = "a range needs both its ends";
    return !wrong || map_fail(reader, value, "%s", wrong);
}

/* The short forms: "x*" begins with, "x..y" between, anything else equals. */
static bool read_shorthand(struct map_reader *reader, struct json value,
                           struct declared_condition *where)
{
    const char *text;
    if (!map_read_text(reader, value, "a condition", &text))
        return false;
    struct span whole = span_text(text);
    const char *dots = strstr(text, "..");
    where->op = COND_EQ;
    if (dots) {
        where->op = COND_BETWEEN;
        size_t at = (size_t)(dots - text);
        return parse_half(reader, value, span_of(text, at), &where->value) &&
               parse_half(reader, value, span_from(whole, at + 2), &where->upper);
    }
    if (span_ends(whole, SPAN_LITERAL("*"))) {
        where->op = COND_BEGINS;
        whole.size--;
    }
    return parse_half(reader, value, whole, &where->value);
}

static bool read_condition(struct map_reader *reader, const char *name, struct json at,
                           struct json value, void *target)
{
    struct declared_condition **last = target;
    struct declared_condition *where = arena_alloc(reader->arena, sizeof *where);
    if (!where)
        return findings_no_memory(reader->findings);
    where->target = name;
    where->line = map_line(reader, at);
    while (*last)
        last = &(*last)->next;
    *last = where;
    if (json_is(value, JSON_OBJECT))
        return read_operation(reader, value, where);
    if (json_is(value, JSON_NUMBER))
        return read_operand(reader, value, where, &where->value);
    return read_shorthand(reader, value, where);
}

bool map_read_conditions(struct map_reader *reader, struct json value, const char *what,
                         struct declared_condition **conditions)
{
    return map_read_each(reader, value, what, read_condition, conditions);
}
