#include "core/map/pattern.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/condition/condition.h"
#include "core/map/condition_template.h"
#include "core/map/entry_names.h"
#include "core/map/pattern_draft.h"

/* The service's limit for an expression, in bytes; and the most that a condition, a step of its
 * path and a value of its list add to one. */
enum { MAX_EXPRESSION = 4096, CONDITION_BYTES = 48, STEP_BYTES = 7, LIST_BYTES = 7 };

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

/* If the path has the table's whole partition key but reads an index, a filter on that key, which
 * every index has, excludes items of other partitions. */
static bool filter_by_partition(struct pattern_draft *draft)
{
    struct map_pattern *pattern = draft->pattern;
    const struct map_key *key = &draft->model->keys[0];
    if (!pattern->index || model_is_index_key(pattern->index, key->attribute))
        return true;
    struct stated_text stated;
    if (!pattern_draft_stated(draft, &pattern->kinds[0]->keys[0], &stated))
        return pattern_draft_fail_room(draft);
    for (size_t i = 1; i < pattern->kind_count; i++)
        if (!format_equal(&pattern->kinds[0]->keys[0], &pattern->kinds[i]->keys[0]))
            return true;
    if (!stated.stop)
        pattern->filter[pattern->filter_count++] = (struct map_cond){
            .attribute = key->attribute, .type = key->type, .op = COND_EQ, .value = stated.text};
    return true;
}

static bool filter_check_attribute(struct pattern_draft *draft, const char *attribute)
{
    const struct map_index *index = draft->pattern->index;
    if (index ? model_is_index_key(index, attribute) : model_is_key(draft->model, attribute))
        return pattern_draft_fail(
            draft, "\"filter\" on %s, a key attribute: only \"where\" can test it", attribute);
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

/* Checks a literal; a number or a flag from the path must be one whole parameter. */
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

/* The type of a value: of a literal its own, else the attribute's in "types", else the parameter's
 * in "params", else a text. */
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

/* Whether values of TYPE have the operation; else the service refuses it. */
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
    /* Several conditions under one "not" are joined by "and". */
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

static bool filter_template_compile(struct pattern_draft *draft)
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
        return pattern_draft_fail(
            draft,
            "\"filter\" is longer than one expression of the service may be; remove conditions");
    return !pattern->pick || pattern_draft_check_held(draft, "pick", pattern->pick_attribute);
}

/* The kind NAME. NULL with a finding, or without one if the kind is unreadable. */
static const struct map_kind *pattern_find_kind(struct pattern_draft *draft,
                                                const struct declared_table *table,
                                                const struct declared_name *name)
{
    const struct map_kind *kind = model_find_kind(draft->model, name->text);
    if (!kind && draft->path->list && draft->path->kind_count == 1 && strcmp(name->text, "*") == 0)
        return draft->model->any;
    const struct declared_record *record = table->records;
    while (record && strcmp(record->name, name->text) != 0)
        record = record->next;
    if (!kind && !record)
        findings_add(draft->findings, name->at,
                     "\"records\" has no kind of the name \"%s\"; add it there", name->text);
    return kind;
}

/* The kinds of the path: those that it names, or the table's only one. */
static bool pattern_find_kinds(struct pattern_draft *draft, const struct declared_table *table)
{
    const struct declared_path *path = draft->path;
    size_t count = path->kind_count ? path->kind_count : 1;
    struct map_pattern *pattern = draft->pattern;
    pattern->kinds = arena_array(draft->arena, count, sizeof *pattern->kinds);
    if (!pattern->kinds)
        return findings_no_memory(draft->findings);
    pattern->kind_count = count;
    if (path->kind_count == 0 && table->records->next)
        return findings_add(
            draft->findings, path->at,
            "the path has no kind of record; add it: \"%s\" of one of the table's \"records\"",
            path->list ? "list" : "record");
    if (path->kind_count == 0)
        pattern->kinds[0] = draft->model->kinds;
    for (size_t i = 0; i < path->kind_count; i++) {
        pattern->kinds[i] = pattern_find_kind(draft, table, &path->kinds[i]);
        if (!pattern->kinds[i])
            return false;
        for (size_t before = 0; before < i; before++)
            if (pattern->kinds[before] == pattern->kinds[i])
                return findings_add(draft->findings, path->kinds[i].at, "\"list\" has \"%s\" twice",
                                    path->kinds[i].text);
    }
    return pattern->kinds[0];
}

static bool pattern_find_index(struct pattern_draft *draft, const struct declared_table *table)
{
    const struct declared_name *name = &draft->path->index;
    if (!name->text)
        return true;
    draft->pattern->index = model_find_index(draft->model, name->text);
    const struct declared_index *index = table->indexes;
    while (index && strcmp(index->name, name->text) != 0)
        index = index->next;
    if (!draft->pattern->index && !index)
        findings_add(draft->findings, name->at, "the table's \"indexes\" have no \"%s\"",
                     name->text);
    return draft->pattern->index;
}

/* Whether PARAM is a part of the table's key for each of the path's kinds. Items are compared with
 * such a part, so it selects even without a condition. */
static bool pattern_is_part(const struct pattern_draft *draft, const char *param)
{
    for (size_t i = 0; i < draft->pattern->kind_count; i++) {
        bool found = false;
        for (size_t k = 0; k < draft->model->key_count; k++)
            found = found || format_has(&draft->pattern->kinds[i]->keys[k], param);
        if (!found)
            return false;
    }
    return true;
}

static bool pattern_is_used(const struct pattern_draft *draft,
                            const struct declared_condition *where)
{
    for (size_t i = 0; i < draft->used_count; i++)
        if (draft->used[i] == where)
            return true;
    return false;
}

/* Each "where" must be part of the key condition and contradict nothing. */
static bool pattern_check_wheres(struct pattern_draft *draft)
{
    const struct declared_condition *where;
    for (where = draft->path->wheres; where; where = where->next) {
        bool equality = where->op == COND_EQ;
        const char *whole = format_whole_param(&where->value);
        if (where->typed && where->type != VALUE_N)
            return pattern_draft_fail(draft, "\"where\" on %s: a key is never true, false or null",
                                      where->target);
        bool itself = whole && strcmp(whole, where->target) == 0;
        if (where->whole && !pattern_is_used(draft, where))
            return pattern_draft_fail(
                draft,
                "\"where\" on '%s' can't be part of a key condition: single quotes are for a key "
                "attribute of the table or index without a value in the path",
                where->target);
        if (where->whole)
            continue;
        if (equality && !pattern_draft_check_known(draft, where->at, where->target, &where->value))
            return false;
        if (equality && !itself && pattern_draft_path_has(draft->path, where->target))
            return pattern_draft_fail(
                draft, "{%s} has a value in \"where\" and in the path; remove one", where->target);
        if (!pattern_is_used(draft, where) && !(equality && pattern_is_part(draft, where->target)))
            return pattern_draft_fail(draft,
                                      "\"where\" on %s can't be part of a key condition: only the "
                                      "first part without a value in the path can; try \"filter\"",
                                      where->target);
    }
    return true;
}

static bool pattern_is_another(void *arg, const struct map_cond *cond, const char *used)
{
    const char *const *param = arg;
    (void)cond;
    return strcmp(used, *param) != 0;
}

static bool pattern_conds_have(const struct map_cond *conds, size_t count, const char *param)
{
    for (size_t i = 0; i < count; i++)
        if (!condition_each_param(&conds[i], pattern_is_another, &param))
            return true;
    return false;
}

/* Each parameter of the path must select something. */
static bool pattern_check_params(struct pattern_draft *draft)
{
    const struct map_pattern *pattern = draft->pattern;
    struct format path;
    const char *wrong = format_parse(&draft->scratch, span_text(draft->path->path), &path);
    if (draft->scratch.failed)
        return findings_no_memory(draft->findings);
    if (wrong)
        return pattern_draft_fail(draft, "%s", wrong);
    for (size_t i = 0; i < path.count; i++) {
        const char *param = path.pieces[i].param;
        bool counts = param && pattern->limit_param && strcmp(param, pattern->limit_param) == 0;
        if (param && !counts && !pattern_conds_have(pattern->where, pattern->where_count, param) &&
            !pattern_conds_have(pattern->filter, pattern->filter_count, param) &&
            !pattern_is_part(draft, param))
            return pattern_draft_fail(draft,
                                      "{%s} selects nothing: it is neither part of the key (of "
                                      "each of the path's kinds) nor in a condition",
                                      param);
    }
    return true;
}

/* A parameter for the number of entries must be in the path, and must select nothing. */
static bool pattern_check_limit(struct pattern_draft *draft)
{
    const char *param = draft->pattern->limit_param;
    if (!param)
        return true;
    if (!pattern_draft_path_has(draft->path, param))
        return pattern_draft_fail(
            draft, "\"newest\" or \"oldest\" is {%s}, which the path does not have", param);
    return !(pattern_is_part(draft, param) ||
             pattern_conds_have(draft->pattern->where, draft->pattern->where_count, param) ||
             pattern_conds_have(draft->pattern->filter, draft->pattern->filter_count, param)) ||
           pattern_draft_fail(
               draft,
               "{%s} is the number of entries, so it can't be part of a key or a condition, too",
               param);
}

static bool pattern_check_param(void *arg, const struct map_cond *cond, const char *param)
{
    struct pattern_draft *draft = arg;
    return pattern_draft_path_has(draft->path, param) ||
           pattern_draft_fail(draft, "the condition on %s uses {%s}, which the path does not have",
                              cond->written ? cond->written : cond->attribute, param);
}

/* Conditions may use only parameters of the path. */
static bool pattern_check_conds(struct pattern_draft *draft, const struct map_cond *conds,
                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!condition_each_param(&conds[i], pattern_check_param, draft))
            return false;
    return true;
}

/* Whether the path has the full key of one item: no query is needed. */
static bool pattern_is_full_key(const struct pattern_draft *draft)
{
    const struct map_pattern *pattern = draft->pattern;
    if (pattern->index || pattern->list || pattern->kind_count != 1)
        return false;
    for (size_t i = 0; i < pattern->where_count; i++)
        if (pattern->where[i].op != COND_EQ)
            return false;
    return pattern->where_count == draft->model->key_count;
}

static bool pattern_add_param(struct bindings *all, const char *param)
{
    return !param || bindings_find(all, param) || bindings_add(all, param, span_text(""));
}

/* The bindings of a place must have room for the path's parameters and all parts of the key. */
static bool pattern_check_room(struct pattern_draft *draft)
{
    struct format path;
    format_parse(&draft->scratch, span_text(draft->path->path), &path);
    for (size_t kind = 0; kind < draft->pattern->kind_count; kind++) {
        struct bindings all = {0};
        bool fits = true;
        for (size_t i = 0; i < path.count; i++)
            fits = fits && pattern_add_param(&all, path.pieces[i].param);
        const struct declared_condition *where;
        for (where = draft->path->wheres; where; where = where->next)
            fits = fits &&
                   (where->whole || where->op != COND_EQ || pattern_add_param(&all, where->target));
        for (size_t k = 0; k < draft->model->key_count; k++) {
            const struct format *key = &draft->pattern->kinds[kind]->keys[k];
            for (size_t i = 0; i < key->count; i++)
                fits = fits && pattern_add_param(&all, key->pieces[i].param);
        }
        for (size_t i = 0; i < draft->path->name.count; i++)
            fits = fits && pattern_add_param(&all, draft->path->name.pieces[i].param);
        if (!fits)
            return pattern_draft_fail(draft, "more than %d parameters and parts of the key",
                                      BINDINGS_MAX);
    }
    return true;
}

/* Copies VALUE in the spelling of keys. A padded number is one whole parameter, or a literal. */
static bool spelling_spell(const struct format_piece *spelling, const struct format *value,
                           struct arena *arena, struct format *out)
{
    if (!format_copy(arena, value, out))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        struct format_piece *piece = &out->pieces[i];
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        piece->letters = spelling->letters;
        piece->pad = spelling->pad;
        if (piece->param)
            continue;
        format_write_part(spelling, piece->literal, &text);
        arena->failed = arena->failed || text.failed;
        piece->literal = arena_copy(arena, buf_span(&text));
    }
    return !arena->failed;
}

/* NULL, or the reason why VALUE can't be compared with a padded number. */
static const char *spelling_unfit(const struct format_piece *spelling, const struct format *value)
{
    CLEAN_UP(buf_clean_up) struct buf plain = {0};
    if (format_whole_param(value))
        return NULL;
    if (!format_is_literal(value))
        return "a number is one whole parameter, or written out";
    return format_read_part(spelling, format_literal(value), &plain)
               ? NULL
               : "it is a number with as many digits as the key has, or without the zeros in front";
}

static const char *spelling_unfit_condition(const struct format_piece *spelling,
                                            const struct declared_condition *where)
{
    if (spelling->pad == 0)
        return NULL;
    if (where->op == COND_BEGINS)
        return "a number with zeros in front has no beginning (x*)";
    const char *wrong = spelling_unfit(spelling, &where->value);
    return wrong || where->op != COND_BETWEEN ? wrong : spelling_unfit(spelling, &where->upper);
}

/* Copies PATH with the values of its "where" in the spelling of the keys that they are compared
 * with; new values are in ARENA. False with a finding. */
static bool spelling_of_wheres(const struct model *model, const struct declared_path *path,
                               struct arena *arena, struct findings *findings,
                               struct declared_path *out)
{
    bool ok = true;
    struct declared_condition **last = &out->wheres;
    const struct declared_condition *where;
    *out = *path;
    *last = NULL;
    for (where = path->wheres; where; where = where->next) {
        struct declared_condition *copy = arena_alloc(arena, sizeof *copy);
        const struct format_piece *spelling =
            where->whole ? NULL : model_spelling(model, where->target);
        if (!copy)
            return findings_no_memory(findings);
        *copy = *where;
        copy->next = NULL;
        *last = copy;
        last = &copy->next;
        const char *wrong = spelling ? spelling_unfit_condition(spelling, where) : NULL;
        if (wrong)
            ok = findings_add(findings, where->at, "\"%s\": \"where\" on %s: %s", path->path,
                              where->target, wrong);
        if (spelling && (!spelling_spell(spelling, &where->value, arena, &copy->value) ||
                         !spelling_spell(spelling, &where->upper, arena, &copy->upper)))
            return findings_no_memory(findings);
    }
    return ok;
}

/* A message on members that exclude each other, or NULL. */
static const char *pattern_contradiction(const struct pattern_draft *draft)
{
    const struct map_pattern *pattern = draft->pattern;
    if (pattern->consistent && pattern->index && !pattern->index->local)
        return "a global index can't be read consistently: remove \"consistent\", or, if the index "
               "is local, add \"local\": true to it";
    if (draft->path->hydrate != CHOICE_UNSAID && !pattern->index)
        return "\"hydrate\" requires \"index\"";
    if (pattern->list && pattern->attribute)
        return "a listing has no \"attribute\"; remove the path's final /";
    if (pattern->list && pattern->pick)
        return "a listing has no \"pick\"; remove the path's final /";
    if (!pattern->list && draft->path->has_name)
        return "\"name\" requires a listing, whose path ends in /";
    if (!pattern->list && pattern->limit > 1)
        return "one file is one item: use \"newest\" or \"oldest\" with 1";
    if (pattern->groups && (!pattern->list || pattern->limit || draft->path->has_name ||
                            draft->path->hydrate != CHOICE_UNSAID))
        return "\"groups\" requires a listing without limit, \"name\" and \"hydrate\": it shows "
               "directories, not items";
    if (pattern->ties && !(pattern->list && pattern->limit))
        return "\"ties\" requires a listing with \"newest\" or \"oldest\" and a number";
    if (pattern->by_key && (pattern->limit || pattern->pick || pattern->descending))
        return "the path has the whole key, so there is one item and nothing to choose";
    return NULL;
}

static const char *pattern_store_text(struct arena *arena, const char *text)
{
    return text ? arena_text(arena, span_text(text)) : NULL;
}

/* Copies the conditions into ARENA. */
static struct map_cond *pattern_store_conds(struct arena *arena, const struct map_cond *conds,
                                            size_t count)
{
    struct map_cond *kept = arena_array(arena, count, sizeof *kept);
    for (size_t i = 0; kept && i < count; i++)
        condition_copy(arena, &conds[i], &kept[i]);
    return kept;
}

/* The parts that "where" compares with OP: names and listings use them. */
static struct map_part *pattern_store_parts(struct pattern_draft *draft, enum cond_op op,
                                            size_t *count)
{
    const struct declared_condition *where;
    size_t most = 0;
    for (where = draft->path->wheres; where; where = where->next)
        most += where->op == op && !where->whole;
    struct map_part *parts = arena_array(draft->arena, most, sizeof *parts);
    for (where = draft->path->wheres; parts && where; where = where->next) {
        if (where->op != op || where->whole)
            continue;
        parts[*count].param = pattern_store_text(draft->arena, where->target);
        format_copy(draft->arena, &where->value, &parts[(*count)++].value);
    }
    return parts;
}

/* Copies what the pattern shares with the declaration and the scratch arena into the model's arena.
 */
static bool pattern_store(struct pattern_draft *draft)
{
    struct map_pattern *pattern = draft->pattern;
    struct arena *arena = draft->arena;
    pattern->path = pattern_store_text(arena, pattern->path);
    pattern->attribute = pattern_store_text(arena, pattern->attribute);
    pattern->pick_attribute = pattern_store_text(arena, pattern->pick_attribute);
    pattern->mtime = pattern_store_text(arena, pattern->mtime);
    pattern->limit_param = pattern_store_text(arena, pattern->limit_param);
    pattern->where = pattern_store_conds(arena, pattern->where, pattern->where_count);
    pattern->filter = pattern_store_conds(arena, pattern->filter, pattern->filter_count);
    pattern->stated = pattern_store_parts(draft, COND_EQ, &pattern->stated_count);
    pattern->excluded = pattern_store_parts(draft, COND_LT, &pattern->excluded_count);
    for (size_t i = 0; i < pattern->bound_count; i++) {
        struct map_bound *bound = &pattern->bounds[i];
        struct format value = bound->value;
        bound->param = pattern_store_text(arena, bound->param);
        format_copy(arena, &value, &bound->value);
    }
    for (size_t i = 0; i < pattern->entry_count; i++) {
        struct map_entry *entry = &pattern->entries[i];
        struct format name = entry->name, prefix = entry->sort_prefix, indexed = entry->indexed;
        format_copy(arena, &name, &entry->name);
        format_copy(arena, &indexed, &entry->indexed);
        format_copy(arena, &prefix, &entry->sort_prefix);
        entry->rank.behind = arena_copy(arena, entry->rank.behind);
    }
    return !(arena->failed || draft->scratch.failed) || findings_no_memory(draft->findings);
}

static bool pattern_compile_path(struct pattern_draft *draft, const struct declared_table *table)
{
    struct map_pattern *pattern = draft->pattern;
    const struct declared_path *path = draft->path;
    *pattern = (struct map_pattern){
        .path = path->path,
        .line = path->at.line,
        .column = path->at.column,
        .list = path->list,
        .hidden = path->hidden,
        .whole = path->list && !path->groups && !path->index.text && !path->limit &&
                 !path->limit_param && !path->wheres && !path->filters,
        .table = draft->model,
        .descending = path->descending,
        .limit = path->limit_param ? ENTRY_LIMIT_MOST : path->limit,
        .limit_param = path->limit_param,
        .ties = path->ties,
        .groups = path->groups,
        .narrowed = path->wheres != NULL,
        .pick = path->pick,
        .pick_attribute = path->pick_attribute,
        .attribute = path->attribute,
        .consistent = path->consistent,
        .ttl_ms = path->ttl_ms < 0 ? table->ttl_ms : path->ttl_ms,
        .mtime = path->mtime ? path->mtime : table->mtime,
    };
    if (!pattern_find_kinds(draft, table) || !pattern_find_index(draft, table) ||
        !pattern_draft_compile_keys(draft) || !filter_template_compile(draft) ||
        !pattern_check_wheres(draft) || !pattern_check_params(draft) ||
        !pattern_check_limit(draft) || !pattern_check_room(draft) ||
        !pattern_check_conds(draft, pattern->where, pattern->where_count) ||
        !pattern_check_conds(draft, pattern->filter, pattern->filter_count))
        return false;
    pattern->by_key = pattern_is_full_key(draft);
    pattern->hydrates = pattern->index && !pattern->groups &&
                        (path->hydrate == CHOICE_UNSAID ? pattern->index->projects != PROJECTS_ALL
                                                        : path->hydrate == CHOICE_YES);
    const char *wrong = pattern_contradiction(draft);
    if (wrong)
        return pattern_draft_fail(draft, "%s", wrong);
    if (pattern->attribute && !pattern->hydrates &&
        !pattern_draft_check_held(draft, "attribute", pattern->attribute))
        return false;
    return (!pattern->list || entry_names_compile(draft)) && pattern_store(draft);
}

struct map_pattern *pattern_compile(const struct model *model, struct arena *arena,
                                    const struct declared_table *table,
                                    const struct declared_path *path, struct findings *findings)
{
    struct pattern_draft draft = {
        .table = table, .model = model, .arena = arena, .findings = findings};
    struct declared_path spelled;
    draft.path = &spelled;
    draft.pattern = arena_alloc(arena, sizeof *draft.pattern);
    bool ok = draft.pattern || findings_no_memory(findings);
    ok = ok && spelling_of_wheres(model, path, &draft.scratch, findings, &spelled) &&
         pattern_compile_path(&draft, table);
    arena_discard(&draft.scratch);
    return ok ? draft.pattern : NULL;
}
