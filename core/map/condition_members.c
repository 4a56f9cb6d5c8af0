#include "core/map/condition_members.h"

#include "core/condition/condition.h"

static const struct {
    const char *word;
    enum cond_op op;
    bool of_keys;
} ops[] = {
    {"=", COND_EQ, true},
    {"begins_with", COND_BEGINS, true},
    {"between", COND_BETWEEN, true},
    {"<", COND_LT, true},
    {"<=", COND_LE, true},
    {">", COND_GT, true},
    {">=", COND_GE, true},
    {"!=", COND_NE, false},
    {"in", COND_IN, false},
    {"contains", COND_CONTAINS, false},
    {"exists", COND_EXISTS, false},
};

const char *map_condition_word(enum cond_op op)
{
    size_t i = 0;
    while (i < sizeof ops / sizeof ops[0] && ops[i].op != op)
        i++;
    if (i < sizeof ops / sizeof ops[0])
        return ops[i].word;
    return op == COND_MISSING ? "exists" : op == COND_OR ? "or" : op == COND_NOT ? "not" : "and";
}

struct condition_place {
    struct declared_condition **list; /* where the condition is appended */
    unsigned depth;                   /* of and, or and not above it */
};

static bool condition_read_filters(struct map_reader *reader, struct json value, const char *what,
                                   struct condition_place place);

/* A new condition at the end of the list; NULL when memory ran out. */
static struct declared_condition *condition_append(struct map_reader *reader, const char *target,
                                                   struct json at, struct declared_condition **last)
{
    struct declared_condition *condition = map_alloc(reader, sizeof *condition);
    if (!condition)
        return NULL;
    condition->target = target;
    condition->at = map_at(reader, at);
    MAP_APPEND(last, condition);
    return condition;
}

static bool condition_is_literal(struct json value)
{
    return json_is(value, JSON_NUMBER) || json_is(value, JSON_TRUE) || json_is(value, JSON_FALSE) ||
           (json_present(value) && json_is(value, JSON_NULL));
}

/* Reads a text, which may contain parameters, a number, true, false or null. */
static bool condition_read_operand(struct map_reader *reader, struct json value,
                                   struct declared_operand *out)
{
    if (!condition_is_literal(value) && !json_is(value, JSON_STRING))
        return map_fail(reader, value,
                        "a condition's value is a text in quotes, a number, true, false or null");
    if (!condition_is_literal(value))
        return map_read_format(reader, value, "a condition's value", &out->text);
    out->typed = true;
    out->type = json_is(value, JSON_NUMBER) ? VALUE_N
                : json_is(value, JSON_NULL) ? VALUE_NULL
                                            : VALUE_BOOL;
    if (out->type == VALUE_NULL)
        return true;
    const char *wrong = format_parse(reader->arena, json_raw(value), &out->text);
    return !wrong || map_fail(reader, value, "%s", wrong);
}

static bool condition_read_value(struct map_reader *reader, struct json value,
                                 struct declared_condition *condition)
{
    struct declared_operand operand = {0};
    if (!condition_read_operand(reader, value, &operand))
        return false;
    condition->typed = operand.typed;
    condition->type = operand.type;
    condition->value = operand.text;
    return true;
}

static bool condition_read_range(struct map_reader *reader, struct json value,
                                 struct declared_condition *condition)
{
    struct declared_operand upper = {0};
    if (!json_is(value, JSON_ARRAY) || json_count(value) != 2)
        return map_fail(reader, value, "\"between\" takes two values: [\"{from}\", \"{to}\"]");
    struct json lower = json_first(value);
    if (!condition_read_value(reader, lower, condition) ||
        !condition_read_operand(reader, json_next(lower), &upper))
        return false;
    if (condition->typed && upper.typed && condition->type != upper.type)
        return map_fail(reader, value, "both ends of a \"between\" are of one type");
    condition->typed = condition->typed || upper.typed;
    condition->type = upper.typed ? upper.type : condition->type;
    condition->upper = upper.text;
    return true;
}

static bool condition_read_list(struct map_reader *reader, struct json value,
                                struct declared_condition *condition)
{
    size_t count = json_count(value);
    if (!json_is(value, JSON_ARRAY) || count == 0 || count > COND_MAX_LIST)
        return map_fail(reader, value, "\"in\" takes a list of 1 to %d values: [\"a\", \"b\"]",
                        COND_MAX_LIST);
    condition->list = arena_array(reader->arena, count, sizeof *condition->list);
    if (!condition->list)
        return findings_no_memory(reader->findings);
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        if (!condition_read_operand(reader, each, &condition->list[condition->list_count++]))
            return false;
    return true;
}

static bool condition_fail_form(struct map_reader *reader, struct json at, bool of_keys)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (ops[i].of_keys || !of_keys)
            buf_printf(&words, "%s%s", i ? ", " : "", ops[i].word);
    if (words.failed)
        return findings_no_memory(reader->findings);
    return map_fail(reader, at, "a condition%s is a text or one of %s", of_keys ? " on a key" : "",
                    buf_text(&words));
}

/* { "<": 5 } : NAME and VALUE are the operation's. */
static bool condition_read_operation(struct map_reader *reader, struct json name, struct json value,
                                     bool of_keys, struct declared_condition *condition)
{
    size_t i = 0;
    while (i < sizeof ops / sizeof ops[0] && !json_string_is(name, span_text(ops[i].word)))
        i++;
    if (i == sizeof ops / sizeof ops[0])
        return condition_fail_form(reader, name, of_keys);
    if (of_keys && !ops[i].of_keys)
        return map_fail(
            reader, name,
            "\"%s\" can't be used on a key; use it in \"filter\", on an attribute that is no "
            "key",
            ops[i].word);
    condition->op = ops[i].op;
    switch (condition->op) {
    case COND_BETWEEN:
        return condition_read_range(reader, value, condition);
    case COND_IN:
        return condition_read_list(reader, value, condition);
    case COND_EXISTS: {
        bool exists = true;
        if (!map_read_flag(reader, value, "\"exists\"", &exists))
            return false;
        condition->op = exists ? COND_EXISTS : COND_MISSING;
        return true;
    }
    default:
        return condition_read_value(reader, value, condition);
    }
}

static bool condition_parse_half(struct map_reader *reader, struct json value, struct span text,
                                 struct format *out)
{
    const char *wrong = format_parse(reader->arena, text, out);
    if (!wrong && out->count == 0)
        wrong = "a range needs both its ends";
    return !wrong || map_fail(reader, value, "%s", wrong);
}

/* The short forms: "x*" begins with, "x..y" between, anything else equals. */
static bool condition_read_shorthand(struct map_reader *reader, struct json value,
                                     struct declared_condition *condition)
{
    const char *text;
    if (condition_is_literal(value))
        return condition_read_value(reader, value, condition);
    if (!map_read_text(reader, value, "a condition", &text))
        return false;
    struct span whole = span_text(text);
    const char *dots = strstr(text, "..");
    if (dots) {
        condition->op = COND_BETWEEN;
        size_t at = (size_t)(dots - text);
        return condition_parse_half(reader, value, span_of(text, at), &condition->value) &&
               condition_parse_half(reader, value, span_from(whole, at + 2), &condition->upper);
    }
    if (span_ends(whole, SPAN_LITERAL("*"))) {
        condition->op = COND_BEGINS;
        whole.size--;
    }
    return condition_parse_half(reader, value, whole, &condition->value);
}

static bool condition_read_where(struct map_reader *reader, const char *name, struct json at,
                                 struct json value, void *target)
{
    struct declared_condition *condition = condition_append(reader, name, at, target);
    if (!condition)
        return false;
    condition->whole = name[0] == '\'';
    const char *wrong = condition->whole
                            ? operand_parse_name(reader->arena, span_text(name), &condition->target)
                            : NULL;
    if (wrong)
        return map_fail(reader, at, "%s", wrong);
    if (!json_is(value, JSON_OBJECT))
        return condition_read_shorthand(reader, value, condition);
    if (json_count(value) != 1)
        return condition_fail_form(reader, value, true);
    struct json word = json_first(value);
    return condition_read_operation(reader, word, json_next(word), true, condition);
}

/* The children of "or" and "and": objects like "filter" itself. */
static bool condition_read_several(struct map_reader *reader, struct json value, const char *what,
                                   struct declared_condition *condition, unsigned depth)
{
    if (!json_is(value, JSON_ARRAY) || json_count(value) == 0)
        return map_fail(reader, value,
                        "%s takes a list of filters: [{ \"a\": 1 }, { \"b\": \"x*\" }]", what);
    for (struct json each = json_first(value); json_present(each); each = json_next(each)) {
        struct declared_condition *child =
            condition_append(reader, NULL, each, &condition->children);
        if (!child)
            return false;
        child->op = COND_AND;
        if (!condition_read_filters(reader, each, what,
                                    (struct condition_place){&child->children, depth}))
            return false;
        if (!child->children)
            return map_fail(reader, each, "a filter in %s is empty", what);
    }
    return true;
}

static bool condition_read_joined(struct map_reader *reader, struct json at, struct json value,
                                  enum cond_op op, struct condition_place place)
{
    const char *what = op == COND_OR ? "\"or\"" : op == COND_AND ? "\"and\"" : "\"not\"";
    struct declared_condition *condition = condition_append(reader, NULL, at, place.list);
    if (!condition)
        return false;
    condition->op = op;
    if (place.depth >= COND_MAX_DEPTH)
        return map_fail(reader, at, "conditions are nested at most %d deep", COND_MAX_DEPTH);
    if (op != COND_NOT)
        return condition_read_several(reader, value, what, condition, place.depth + 1);
    if (!condition_read_filters(reader, value, what,
                                (struct condition_place){&condition->children, place.depth + 1}))
        return false;
    return condition->children || map_fail(reader, value, "a filter in %s is empty", what);
}

/* One member of a filter. An attribute of the name "or" is written "'or'". */
static bool condition_read_filter(struct map_reader *reader, const char *name, struct json at,
                                  struct json value, void *target)
{
    struct condition_place place = *(struct condition_place *)target;
    if (strcmp(name, "or") == 0)
        return condition_read_joined(reader, at, value, COND_OR, place);
    if (strcmp(name, "and") == 0)
        return condition_read_joined(reader, at, value, COND_AND, place);
    if (strcmp(name, "not") == 0)
        return condition_read_joined(reader, at, value, COND_NOT, place);
    if (!json_is(value, JSON_OBJECT)) {
        struct declared_condition *condition = condition_append(reader, name, at, place.list);
        return condition && condition_read_shorthand(reader, value, condition);
    }
    if (json_count(value) == 0)
        return condition_fail_form(reader, value, false);
    for (struct json word = json_first(value), operand; json_present(word);
         word = json_next(operand)) {
        operand = json_next(word);
        struct declared_condition *condition = condition_append(reader, name, word, place.list);
        if (!condition || !condition_read_operation(reader, word, operand, false, condition))
            return false;
    }
    return true;
}

static bool condition_read_filters(struct map_reader *reader, struct json value, const char *what,
                                   struct condition_place place)
{
    return map_read_each(reader, value, what, condition_read_filter, &place);
}

bool map_read_where(struct map_reader *reader, struct json value, const char *what, void *out)
{
    return map_read_each(reader, value, what, condition_read_where, out);
}

bool map_read_filter(struct map_reader *reader, struct json value, const char *what, void *out)
{
    return condition_read_filters(reader, value, what, (struct condition_place){out, 0});
}
