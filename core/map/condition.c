#include "core/map/condition.h"

#include "core/base/utf8.h"
#include "core/map/spelling.h"

enum { MAX_PARTITION_BYTES = 2048, MAX_SHOWN_BYTES = 200 };

/* Reads the name at the start of TEXT up to what ends it; USED gets its length, quotes included. */
static const char *parse_name(struct arena *arena, struct span text, struct span *name,
                              size_t *used)
{
    CLEAN_UP(buf_clean_up) struct buf plain = {0};
    bool quoted = text.size > 0 && text.data[0] == '\'', closed = !quoted;
    size_t at = quoted;
    for (; at < text.size; at++) {
        char c = text.data[at];
        if (!quoted && (c == '.' || c == '['))
            break;
        if (quoted && c == '\'') {
            if (at + 1 == text.size || text.data[at + 1] != '\'') {
                closed = true;
                at++;
                break;
            }
            at++;
        }
        buf_add_char(&plain, c);
    }
    *used = at;
    arena->failed = arena->failed || plain.failed;
    if (arena->failed)
        return "out of memory";
    if (!closed)
        return "a name in single quotes does not end";
    if (plain.size == 0)
        return "a step of the path to an attribute is empty";
    *name = arena_copy(arena, buf_span(&plain));
    return NULL;
}

static const char *parse_index(struct span text, struct cond_step *step, size_t *used)
{
    const char *end = memchr(text.data, ']', text.size);
    size_t digits = end ? (size_t)(end - text.data) - 1 : 0;
    if (digits == 0 || digits > 6)
        return "in square brackets stands the number of a list's element";
    for (size_t i = 1; i <= digits; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return "in square brackets stands the number of a list's element";
        step->index = step->index * 10 + (uint32_t)(text.data[i] - '0');
    }
    step->is_index = true;
    *used = digits + 2;
    return NULL;
}

const char *condition_parse_path(struct arena *arena, struct span text, struct map_cond *out)
{
    struct span name;
    size_t used;
    const char *wrong = parse_name(arena, text, &name, &used);
    if (wrong)
        return wrong;
    struct cond_step *steps = arena_array(arena, COND_MAX_STEPS, sizeof *steps);
    out->attribute = arena_text(arena, name);
    out->steps = steps;
    for (text = span_from(text, used); steps && text.size > 0; text = span_from(text, used)) {
        if (out->step_count == COND_MAX_STEPS)
            return "the path to an attribute has too many steps";
        struct cond_step *step = &steps[out->step_count++];
        if (text.data[0] == '[') {
            wrong = parse_index(text, step, &used);
        } else if (text.data[0] == '.') {
            wrong = parse_name(arena, span_from(text, 1), &step->name, &used);
            used++;
        } else {
            wrong = "behind a name in quotes stands a dot or a square bracket";
        }
        if (wrong)
            return wrong;
    }
    return arena->failed ? "out of memory" : NULL;
}

const char *condition_parse_name(struct arena *arena, struct span text, const char **out)
{
    struct map_cond cond = {0};
    const char *wrong = condition_parse_path(arena, text, &cond);
    *out = cond.attribute;
    return wrong || cond.step_count == 0 ? wrong : "behind a name in single quotes stands nothing";
}

bool condition_check_value(const char *what, enum value_type type, struct span text,
                           struct error *err)
{
    int size = text.size > MAX_SHOWN_BYTES ? MAX_SHOWN_BYTES : (int)text.size;
    const char *fault = NULL;
    switch (type) {
    case VALUE_S:
        return utf8_valid(text) ||
               error_set(err, ERROR_INVALID, "%s is UTF-8 text, which this is not", what);
    case VALUE_N:
        fault = number_fault(text);
        if (fault && !number_is(text))
            return error_set(err, ERROR_INVALID, "%s is a number, which \"%.*s\" is not", what,
                             size, text.data);
        return !fault || error_set(err, ERROR_INVALID, "%s is a number, but %.*s %s", what, size,
                                   text.data, fault);
    case VALUE_BOOL:
        return span_is(text, "true") || span_is(text, "false") ||
               error_set(err, ERROR_INVALID, "%s is true or false, not \"%.*s\"", what, size,
                         text.data);
    case VALUE_B:
    case VALUE_NULL:
        break;
    }
    return true;
}

bool condition_check_key(const char *attribute, enum value_type type, struct span text,
                         struct error *err)
{
    if (text.size == 0)
        return error_set(err, ERROR_INVALID, "no key attribute (%s) is empty", attribute);
    if (!condition_check_value(attribute, type, text, err)) {
        if (type == VALUE_N && text.data[text.size - 1] == '*') /* what begins so, of a text */
            error_add(err, "; numbers have no beginnings, so a range is typed: 20..29/");
        return false;
    }
    return text.size <= MAX_PARTITION_BYTES ||
           error_set(err, ERROR_INVALID, "no key is longer than %d bytes", MAX_PARTITION_BYTES);
}

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
                bound->param, text.size > MAX_SHOWN_BYTES ? MAX_SHOWN_BYTES : (int)text.size,
                text.data, bound->end,
                bound->begins ? "it" : "it, a blank or what else comes before it");
    }
    return true;
}

struct span condition_keep_value(struct arena *arena, enum value_type type, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf number = {0};
    if (type != VALUE_N)
        return arena_copy(arena, text);
    number_write(text, &number);
    arena->failed = arena->failed || number.failed;
    return arena_copy(arena, buf_span(&number));
}

static bool expand_value(const struct map_cond *cond, enum value_type type,
                         const struct format *text, const struct bindings *path,
                         struct arena *arena, struct value *out, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf value = {0};
    if (!spelling_check(text, path, err))
        return false;
    if (!format_expand(text, path, &value))
        return error_set(err, ERROR_INVALID, "the path does not say all that is asked for");
    if (value.failed)
        return error_no_memory(err);
    const char *what = cond->written ? cond->written : cond->attribute;
    if (!(cond->on_key ? condition_check_key(what, type, buf_span(&value), err)
                       : condition_check_value(what, type, buf_span(&value), err)))
        return false;
    *out = (struct value){type, condition_keep_value(arena, type, buf_span(&value))};
    return !arena->failed || error_no_memory(err);
}

static bool expand_children(const struct map_cond *from, const struct bindings *path,
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
        return expand_children(from, path, arena, out, err);
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
        if (!expand_value(from, from->list[i].type, &from->list[i].text, path, arena, &list[i],
                          err))
            return false;
    if (from->op == COND_IN || from->op == COND_EXISTS || from->op == COND_MISSING)
        return true;
    if (!expand_value(from, from->type, &from->value, path, arena, &out->value, err))
        return false;
    if (from->op != COND_BETWEEN)
        return true;
    return expand_value(from, from->type, &from->upper, path, arena, &out->upper, err) &&
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

static bool each_param_of(const struct map_cond *cond, const struct format *text,
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
        if (!each_param_of(cond, &cond->list[i].text, fn, arg))
            return false;
    return each_param_of(cond, &cond->value, fn, arg) && each_param_of(cond, &cond->upper, fn, arg);
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
