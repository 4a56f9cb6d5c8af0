#include "core/map/condition_template.h"

#include "core/condition/condition.h"

bool condition_check_bound(const struct map_bound *bound, struct span text, struct error *err)
{
    for (size_t i = 0; i < text.size; i++) {
        bool harms = bound->begins ? text.data[i] == bound->end
                                   : (unsigned char)text.data[i] <= (unsigned char)bound->end;
        if (harms)
            return error_set(
                err, ERROR_INVALID,
                "{%s} can't be compared with \"%.*s\": in the key a \"%c\" follows it, so "
                "the order of keys is another where a value holds %s; compare with one "
                "that does not",
                bound->param,
                text.size > OPERAND_MAX_SHOWN_BYTES ? OPERAND_MAX_SHOWN_BYTES : (int)text.size,
                text.data, bound->end,
                bound->begins ? "it" : "it, a blank or any other byte before it");
    }
    return true;
}

static bool template_expand_value(const struct map_cond *cond, enum value_type type,
                                  const struct format *text, const struct bindings *path,
                                  struct arena *arena, struct value *out, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf value = {0};
    if (!format_check_parts(text, path, err))
        return false;
    if (!format_expand(text, path, &value))
        return error_set(err, ERROR_INVALID, "the path lacks a value of a condition");
    if (value.failed)
        return error_no_memory(err);
    const char *what = cond->written ? cond->written : cond->attribute;
    if (!(cond->on_key ? operand_check_key(what, type, buf_span(&value), err)
                       : operand_check(what, type, buf_span(&value), err)))
        return false;
    *out = (struct value){type, operand_copy(arena, type, buf_span(&value))};
    return !arena->failed || error_no_memory(err);
}

static bool template_expand_children(const struct map_cond *from, const struct bindings *path,
                                     struct arena *arena, struct cond *out, struct error *err)
{
    struct cond *children = arena_array(arena, from->child_count, sizeof *children);
    if (!children)
        return error_no_memory(err);
    for (size_t i = 0; i < from->child_count; i++)
        if (!condition_expand(&from->children[i], path, arena, &children[i], err))
            return false;
    *out = (struct cond){.op = from->op, .children = children, .child_count = from->child_count};
    return true;
}

bool condition_expand(const struct map_cond *from, const struct bindings *path, struct arena *arena,
                      struct cond *out, struct error *err)
{
    if (from->child_count)
        return template_expand_children(from, path, arena, out, err);
    *out = (struct cond){
        .attribute = span_text(from->attribute),
        .op = from->op,
        .steps = from->steps,
        .step_count = from->step_count,
        .list_count = from->list_count,
    };
    struct value *list = arena_array(arena, from->list_count, sizeof *list);
    out->list = list;
    if (!list)
        return error_no_memory(err);
    for (size_t i = 0; i < from->list_count; i++)
        if (!template_expand_value(from, from->list[i].type, &from->list[i].text, path, arena,
                                   &list[i], err))
            return false;
    if (from->op == COND_IN || from->op == COND_EXISTS || from->op == COND_MISSING)
        return true;
    if (!template_expand_value(from, from->type, &from->value, path, arena, &out->value, err))
        return false;
    if (from->op != COND_BETWEEN)
        return true;
    return template_expand_value(from, from->type, &from->upper, path, arena, &out->upper, err) &&
           (value_compare(out->value, out->upper) <= 0 ||
            error_set(err, ERROR_INVALID, "the range of %s ends before it begins",
                      from->attribute));
}

bool condition_each_attribute(const struct map_cond *cond, condition_attribute_fn *fn, void *arg)
{
    for (size_t i = 0; i < cond->child_count; i++)
        if (!condition_each_attribute(&cond->children[i], fn, arg))
            return false;
    return cond->child_count || fn(arg, cond->attribute);
}

static bool template_each_param_of(const struct map_cond *cond, const struct format *text,
                                   condition_param_fn *fn, void *arg)
{
    for (size_t i = 0; i < text->count; i++)
        if (text->pieces[i].param && !fn(arg, cond, text->pieces[i].param))
            return false;
    return true;
}

bool condition_each_param(const struct map_cond *cond, condition_param_fn *fn, void *arg)
{
    for (size_t i = 0; i < cond->child_count; i++)
        if (!condition_each_param(&cond->children[i], fn, arg))
            return false;
    for (size_t i = 0; i < cond->list_count; i++)
        if (!template_each_param_of(cond, &cond->list[i].text, fn, arg))
            return false;
    return template_each_param_of(cond, &cond->value, fn, arg) &&
           template_each_param_of(cond, &cond->upper, fn, arg);
}

bool condition_copy(struct arena *arena, const struct map_cond *from, struct map_cond *out)
{
    struct cond_step *steps = arena_array(arena, from->step_count, sizeof *steps);
    struct map_operand *list = arena_array(arena, from->list_count, sizeof *list);
    struct map_cond *children = arena_array(arena, from->child_count, sizeof *children);
    if (!steps || !list || !children)
        return false;
    *out = *from;
    out->steps = steps;
    out->list = list;
    out->children = children;
    out->attribute = from->attribute ? arena_text(arena, span_text(from->attribute)) : NULL;
    out->written = from->written ? arena_text(arena, span_text(from->written)) : NULL;
    format_copy(arena, &from->value, &out->value);
    format_copy(arena, &from->upper, &out->upper);
    for (size_t i = 0; i < from->step_count; i++) {
        steps[i] = from->steps[i];
        steps[i].name = arena_copy(arena, from->steps[i].name);
    }
    for (size_t i = 0; i < from->list_count; i++) {
        list[i].type = from->list[i].type;
        format_copy(arena, &from->list[i].text, &list[i].text);
    }
    for (size_t i = 0; i < from->child_count; i++)
        condition_copy(arena, &from->children[i], &children[i]);
    return !arena->failed;
}
