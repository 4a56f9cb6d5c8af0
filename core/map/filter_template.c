/* The filters of a path: what each value is, by what is written and by what the map says of the
 * attribute and of the parameter; and that none of them is one that nothing could answer. */
#include "core/map/filter_template.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/condition/operand.h"

/* The service takes expressions of up to 4 KB. What a condition adds to one at most, with all that
 * may join it to the others; and what each step of its path and each value of its list add. */
enum { MAX_EXPRESSION = 4096, CONDITION_BYTES = 48, STEP_BYTES = 7, LIST_BYTES = 7 };

/* The filters of one path while they are compiled. */
struct filtering {
    struct pattern_draft *draft;
    size_t expression; /* bytes, at most */
};

static bool filter_fail(const struct filtering *filtering, const struct declared_condition *from,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool filter_fail(const struct filtering *filtering, const struct declared_condition *from,
                        const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return findings_add(filtering->draft->findings, from->at, "\"%s\": \"filter\" on %s: %s",
                        filtering->draft->path->path, from->target, text);
}

/* A path may say the whole partition key of the table while an index is asked: what else the
 * index holds is then filtered out by that key, which every index has. */
static bool filter_by_partition(struct pattern_draft *draft)
{
    struct map_pattern *pattern = draft->pattern;
    const struct map_key *key = &draft->model->keys[0];
    if (!pattern->index || model_is_index_key(pattern->index, key->attribute))
        return true;
    struct said_text said;
    if (!pattern_draft_stated(draft, &pattern->kinds[0]->keys[0], &said))
        return pattern_draft_fail_room(draft);
    for (size_t i = 1; i < pattern->kind_count; i++)
        if (!format_equal(&pattern->kinds[0]->keys[0], &pattern->kinds[i]->keys[0]))
            return true;
    if (!said.stop)
        pattern->filter[pattern->filter_count++] = (struct map_cond){
            .attribute = key->attribute, .type = key->type, .op = COND_EQ, .value = said.text};
    return true;
}

static bool filter_check_attribute(struct pattern_draft *draft, const char *attribute)
{
    const struct map_index *index = draft->pattern->index;
    if (index ? model_is_index_key(index, attribute) : model_is_key(draft->model, attribute))
        return pattern_draft_fail(
            draft,
            "\"filter\" on %s, a key attribute: the service lets only \"where\" look "
            "at it",
            attribute);
    return pattern_draft_check_held(draft, "filter", attribute);
}

static const char *filter_type_word(enum value_type type)
{
    static const char *const words[] = {
        [VALUE_S] = "a text",           [VALUE_N] = "a number", [VALUE_B] = "binary",
        [VALUE_BOOL] = "true or false", [VALUE_NULL] = "null",
    };
    return words[type];
}

static const struct declared_type *filter_declared_type(const struct filtering *filtering,
                                                        const char *target)
{
    const struct declared_type *type = filtering->draft->table->types;
    while (type && strcmp(type->attribute, target) != 0)
        type = type->next;
    return type;
}

/* A value that stands in the map itself can be checked here and now; a number or a flag that a path
 * says is one parameter and nothing else. */
static bool filter_check_text(struct filtering *filtering, const struct declared_condition *from,
                              enum value_type type, const struct format *text)
{
    struct error err;
    if (!format_is_literal(text))
        return type == VALUE_S || type == VALUE_B || format_whole_param(text) ||
               filter_fail(filtering, from, "%s is one whole parameter, or written out",
                           filter_type_word(type));
    return operand_check(from->target, type, format_literal(text), &err) ||
           filter_fail(filtering, from, "%s", err.text);
}

/* Finds out what a value is: by how it is written, else by what "types" says of the attribute, else
 * by what "params" says of the parameter; a text where nobody says anything. */
static bool filter_find_type(struct filtering *filtering, const struct declared_condition *from,
                             bool typed, enum value_type written, const struct format *text,
                             enum value_type *out)
{
    const struct declared_type *attribute = filter_declared_type(filtering, from->target);
    const char *name = typed ? NULL : format_whole_param(text);
    const struct map_param *param = name ? model_find_param(filtering->draft->model, name) : NULL;
    bool contains = from->op == COND_CONTAINS;
    *out = typed                   ? written
           : attribute             ? attribute->type
           : param && param->typed ? param->type
                                   : VALUE_S;
    if (contains && attribute && attribute->type != VALUE_S && attribute->type != VALUE_B)
        return filter_fail(filtering, from, "it is %s, which contains nothing",
                           filter_type_word(attribute->type));
    if (attribute && *out != attribute->type && (contains || *out != VALUE_NULL))
        return filter_fail(filtering, from, "by \"types\" it is %s, and so never %s",
                           filter_type_word(attribute->type), filter_type_word(*out));
    if (param && param->typed && param->type != *out)
        return filter_fail(filtering, from, "it is %s, but by \"params\" {%s} is %s",
                           filter_type_word(*out), name, filter_type_word(param->type));
    if (*out == VALUE_NULL)
        return true;
    return filter_check_text(filtering, from, *out, text);
}

/* Whether values of TYPE can be compared so at all; the service refuses it else. */
static bool filter_check_op(struct filtering *filtering, const struct declared_condition *from,
                            enum value_type type)
{
    bool ordered = type <= VALUE_B;
    switch (from->op) {
    case COND_BEGINS:
        return (ordered && type != VALUE_N) ||
               filter_fail(filtering, from, "%s has no beginning", filter_type_word(type));
    case COND_BETWEEN:
    case COND_LT:
    case COND_LE:
    case COND_GT:
    case COND_GE:
        return ordered ||
               filter_fail(filtering, from, "%s is neither less nor greater than another",
                           filter_type_word(type));
    default:
        return true;
    }
}

static bool filter_compile_range(struct filtering *filtering, const struct declared_condition *from,
                                 struct map_cond *out)
{
    enum value_type upper;
    if (!filter_find_type(filtering, from, from->typed, from->type, &from->upper, &upper))
        return false;
    if (upper != out->type)
        return filter_fail(filtering, from, "the ends of \"between\" are %s and %s",
                           filter_type_word(out->type), filter_type_word(upper));
    out->upper = from->upper;
    struct value low = {out->type, format_literal(&out->value)};
    struct value high = {out->type, format_literal(&out->upper)};
    return !format_is_literal(&out->value) || !format_is_literal(&out->upper) ||
           value_compare(low, high) <= 0 ||
           filter_fail(filtering, from, "the range ends before it begins");
}

static bool filter_compile_list(struct filtering *filtering, const struct declared_condition *from,
                                struct map_cond *out)
{
    struct map_operand *list =
        arena_array(&filtering->draft->scratch, from->list_count, sizeof *list);
    if (!list)
        return findings_no_memory(filtering->draft->findings);
    for (size_t i = 0; i < from->list_count; i++) {
        const struct declared_operand *operand = &from->list[i];
        list[i].text = operand->text;
        if (!filter_find_type(filtering, from, operand->typed, operand->type, &operand->text,
                              &list[i].type) ||
            !pattern_draft_check_known(filtering->draft, from->at, from->target, &operand->text))
            return false;
    }
    out->list = list;
    out->list_count = from->list_count;
    filtering->expression += LIST_BYTES * from->list_count;
    return true;
}

static bool filter_compile_term(struct filtering *filtering, const struct declared_condition *from,
                                struct map_cond *out)
{
    struct pattern_draft *draft = filtering->draft;
    *out = (struct map_cond){.op = from->op, .written = from->target};
    struct operand_path path = {0};
    const char *wrong = operand_parse_path(&draft->scratch, span_text(from->target), &path);
    if (draft->scratch.failed)
        return findings_no_memory(draft->findings);
    if (wrong)
        return filter_fail(filtering, from, "%s", wrong);
    out->attribute = path.attribute;
    out->steps = path.steps;
    out->step_count = path.step_count;
    if (!filter_check_attribute(draft, out->attribute))
        return false;
    filtering->expression += CONDITION_BYTES + STEP_BYTES * out->step_count;
    if (from->op == COND_EXISTS || from->op == COND_MISSING)
        return true;
    if (from->op == COND_IN)
        return filter_compile_list(filtering, from, out);
    out->value = from->value;
    if (!filter_find_type(filtering, from, from->typed, from->type, &from->value, &out->type) ||
        !filter_check_op(filtering, from, out->type))
        return false;
    if (from->op == COND_EQ &&
        !pattern_draft_check_known(draft, from->at, from->target, &from->value))
        return false;
    return from->op != COND_BETWEEN || filter_compile_range(filtering, from, out);
}

static bool filter_compile(struct filtering *filtering, const struct declared_condition *from,
                           struct map_cond *out)
{
    struct pattern_draft *draft = filtering->draft;
    size_t count = 0;
    const struct declared_condition *each;
    for (each = from->children; each; each = each->next)
        count++;
    if (count == 0)
        return filter_compile_term(filtering, from, out);
    if (count == 1 && from->op != COND_NOT)
        return filter_compile(filtering, from->children, out);
    struct map_cond *children = arena_array(&draft->scratch, count, sizeof *children);
    if (!children)
        return findings_no_memory(draft->findings);
    *out = (struct map_cond){.op = from->op, .children = children, .child_count = count};
    filtering->expression += STEP_BYTES;
    /* What stands under one "not" has to hold together: that is what is denied. */
    if (from->op == COND_NOT && count > 1) {
        struct map_cond *joined = arena_alloc(&draft->scratch, sizeof *joined);
        if (!joined)
            return findings_no_memory(draft->findings);
        *joined = (struct map_cond){.op = COND_AND, .children = children, .child_count = count};
        out->children = joined;
        out->child_count = 1;
    }
    for (each = from->children; each; each = each->next)
        if (!filter_compile(filtering, each, children++))
            return false;
    return true;
}

bool filter_template_compile(struct pattern_draft *draft)
{
    struct map_pattern *pattern = draft->pattern;
    struct filtering filtering = {.draft = draft};
    pattern->filter = arena_array(&draft->scratch, READ_MAX_CONDS, sizeof *pattern->filter);
    if (!pattern->filter)
        return findings_no_memory(draft->findings);
    if (!filter_by_partition(draft))
        return false;
    const struct declared_condition *each;
    for (each = draft->path->filters; each; each = each->next) {
        if (pattern->filter_count == READ_MAX_CONDS)
            return pattern_draft_fail(draft, "more than %d filters; join some by \"and\"",
                                      READ_MAX_CONDS);
        if (!filter_compile(&filtering, each, &pattern->filter[pattern->filter_count]))
            return false;
        pattern->filter_count++;
    }
    if (filtering.expression > MAX_EXPRESSION)
        return pattern_draft_fail(draft,
                                  "\"filter\" says more than the service takes in one expression");
    return !pattern->pick || pattern_draft_check_held(draft, "pick", pattern->pick_attribute);
}
