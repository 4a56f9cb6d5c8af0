#include "core/draft/access_filter.h"

static const char no_memory[] = "out of memory";

static struct json access_filter_find_declared(const struct access_filter *filter, struct json name)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct json each;
    json_read_string(name, &text);
    for (each = json_first(filter->declared); json_present(each); each = json_next(each))
        if (json_string_is(json_member(each, "name"), buf_span(&text)))
            break;
    return each;
}

/* Texts stand for themselves. */
static bool access_filter_find_type(struct json parameter, enum value_type *type)
{
    struct json text = json_member(parameter, "type");
    bool number = json_string_is(text, SPAN_LITERAL("integer")) ||
                  json_string_is(text, SPAN_LITERAL("decimal"));
    *type = number ? VALUE_N : VALUE_BOOL;
    return number || json_string_is(text, SPAN_LITERAL("boolean"));
}

static void access_filter_take_out(struct access_filter *filter, size_t at)
{
    for (--*filter->count; at < *filter->count; at++)
        filter->parameters[at] = filter->parameters[at + 1];
}

/* The parameter NAME of the pattern as a whole VALUE. */
static const char *access_filter_value(struct access_filter *filter, struct json name,
                                       struct format *value)
{
    struct import_reader *reader = filter->reader;
    const char *text = import_reader_text(reader, name);
    const char *part = text ? attribute_parts_find(filter->names, span_text(text)) : NULL;
    struct json parameter = access_filter_find_declared(filter, name);
    enum value_type type;
    size_t at = 0;
    while (part && at < *filter->count && strcmp(filter->parameters[at], part) != 0)
        at++;
    if (!part || at == *filter->count)
        return "its filter uses what is no parameter of the pattern, or uses one twice";
    access_filter_take_out(filter, at);
    part = filter->name(filter->context, part);
    value->pieces = arena_array(reader->arena, 1, sizeof *value->pieces);
    if (!part || !value->pieces)
        return no_memory;
    value->pieces[value->count++] = (struct format_piece){.param = part};
    if (access_filter_find_type(parameter, &type) &&
        !import_reader_add_param_type(reader, filter->table, part, type))
        return "its filter's parameter is of another type elsewhere in the table";
    return NULL;
}

static const char *access_filter_read_value(struct access_filter *filter, struct json condition,
                                            struct format *value)
{
    const char *wrong = access_filter_value(filter, json_member(condition, "param"), value);
    if (!wrong)
        buf_printf(&filter->steps, "/{%s}", value->pieces[0].param);
    return wrong;
}

static const char *access_filter_read_range(struct access_filter *filter, struct json condition,
                                            struct declared_condition *out)
{
    const char *wrong = access_filter_value(filter, json_member(condition, "param"), &out->value);
    if (!wrong)
        wrong = access_filter_value(filter, json_member(condition, "param2"), &out->upper);
    if (!wrong)
        buf_printf(&filter->steps, "/{%s}..{%s}", out->value.pieces[0].param,
                   out->upper.pieces[0].param);
    return wrong;
}

static const char *access_filter_read_list(struct access_filter *filter, struct json condition,
                                           struct declared_condition *out)
{
    struct json params = json_member(condition, "params");
    const char *wrong = json_count(params) ? NULL : "its filter's \"in\" has no \"params\"";
    out->list = arena_array(filter->reader->arena, json_count(params), sizeof *out->list);
    if (!wrong && !out->list)
        return no_memory;
    for (struct json each = json_first(params); !wrong && json_present(each);
         each = json_next(each)) {
        struct format *value = &out->list[out->list_count++].text;
        wrong = access_filter_value(filter, each, value);
        if (!wrong)
            buf_printf(&filter->steps, "/{%s}", value->pieces[0].param);
    }
    return wrong;
}

/* The word of a condition: its function, or else its operator. */
static bool access_filter_find_op(struct json condition, enum cond_op *op)
{
    static const struct {
        const char *word;
        enum cond_op op;
    } ops[] = {
        {"=", COND_EQ},
        {"<>", COND_NE},
        {"<", COND_LT},
        {"<=", COND_LE},
        {">", COND_GT},
        {">=", COND_GE},
        {"between", COND_BETWEEN},
        {"in", COND_IN},
        {"begins_with", COND_BEGINS},
        {"contains", COND_CONTAINS},
        {"attribute_exists", COND_EXISTS},
        {"attribute_not_exists", COND_MISSING},
    };
    struct json function = json_member(condition, "function");
    struct json word = json_present(function) ? function : json_member(condition, "operator");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (json_string_is(word, span_text(ops[i].word))) {
            *op = ops[i].op;
            return true;
        }
    return false;
}

static const char *access_filter_read_condition(struct access_filter *filter, struct json condition,
                                                struct declared_condition *out)
{
    out->target = import_reader_text(filter->reader, json_member(condition, "field"));
    if (!out->target || !access_filter_find_op(condition, &out->op))
        return "its filter has a condition that a map does not have";
    switch (out->op) {
    case COND_EXISTS:
    case COND_MISSING:
        return NULL;
    case COND_BETWEEN:
        return access_filter_read_range(filter, condition, out);
    case COND_IN:
        return access_filter_read_list(filter, condition, out);
    default:
        return access_filter_read_value(filter, condition, &out->value);
    }
}

/* COND_OR takes one child for each alternative. */
static const char *access_filter_join(struct access_filter *filter,
                                      struct declared_condition *conditions)
{
    struct declared_condition *either = arena_alloc(filter->reader->arena, sizeof *either);
    struct declared_condition **last = either ? &either->children : NULL;
    if (!either)
        return no_memory;
    either->op = COND_OR;
    for (struct declared_condition *next; conditions; conditions = next) {
        struct declared_condition *one = arena_alloc(filter->reader->arena, sizeof *one);
        if (!one)
            return no_memory;
        next = conditions->next;
        conditions->next = NULL;
        *one = (struct declared_condition){.op = COND_AND, .children = conditions};
        *last = one;
        last = &one->next;
    }
    filter->conditions = either;
    return NULL;
}

const char *access_filter_read(struct access_filter *filter, struct json expression)
{
    struct json conditions = json_member(expression, "conditions");
    struct json joint = json_member(expression, "logical_operator");
    bool either = json_string_is(joint, SPAN_LITERAL("OR"));
    struct declared_condition **last = &filter->conditions;
    const char *wrong = json_count(conditions) ? NULL : "its filter has no \"conditions\"";
    if (json_present(joint) && !either && !json_string_is(joint, SPAN_LITERAL("AND")))
        wrong = "its filter joins its conditions neither by AND nor by OR";
    for (struct json each = json_first(conditions); !wrong && json_present(each);
         each = json_next(each)) {
        *last = arena_alloc(filter->reader->arena, sizeof **last);
        if (!*last)
            return no_memory;
        wrong = access_filter_read_condition(filter, each, *last);
        last = &(*last)->next;
    }
    if (!wrong && either && json_count(conditions) > 1)
        wrong = access_filter_join(filter, filter->conditions);
    return wrong;
}
