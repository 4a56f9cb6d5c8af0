#include "core/condition/operand.h"

#include <string.h>

#include "core/base/utf8.h"

enum { MAX_PARTITION_BYTES = 2048 };

/* Reads the name at the start of TEXT up to what ends it; USED gets its length, quotes included. */
static const char *operand_parse_step(struct arena *arena, struct span text, struct span *name,
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

static const char *operand_parse_index(struct span text, struct cond_step *step, size_t *used)
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

const char *operand_parse_path(struct arena *arena, struct span text, struct operand_path *out)
{
    struct span name;
    size_t used;
    const char *wrong = operand_parse_step(arena, text, &name, &used);
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
            wrong = operand_parse_index(text, step, &used);
        } else if (text.data[0] == '.') {
            wrong = operand_parse_step(arena, span_from(text, 1), &step->name, &used);
            used++;
        } else {
            wrong = "behind a name in quotes stands a dot or a square bracket";
        }
        if (wrong)
            return wrong;
    }
    return arena->failed ? "out of memory" : NULL;
}

const char *operand_parse_name(struct arena *arena, struct span text, const char **out)
{
    struct operand_path path = {0};
    const char *wrong = operand_parse_path(arena, text, &path);
    *out = path.attribute;
    return wrong || path.step_count == 0 ? wrong : "behind a name in single quotes stands nothing";
}

bool operand_check(const char *what, enum value_type type, struct span text, struct error *err)
{
    int size = text.size > OPERAND_MAX_SHOWN_BYTES ? OPERAND_MAX_SHOWN_BYTES : (int)text.size;
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

bool operand_check_key(const char *attribute, enum value_type type, struct span text,
                       struct error *err)
{
    if (text.size == 0)
        return error_set(err, ERROR_INVALID, "no key attribute (%s) is empty", attribute);
    if (!operand_check(attribute, type, text, err)) {
        if (type == VALUE_N && text.data[text.size - 1] == '*') /* what begins so, of a text */
            error_add(err, "; numbers have no beginnings, so a range is typed: 20..29/");
        return false;
    }
    return text.size <= MAX_PARTITION_BYTES ||
           error_set(err, ERROR_INVALID, "no key is longer than %d bytes", MAX_PARTITION_BYTES);
}

struct span operand_copy(struct arena *arena, enum value_type type, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf number = {0};
    if (type != VALUE_N)
        return arena_copy(arena, text);
    number_write(text, &number);
    arena->failed = arena->failed || number.failed;
    return arena_copy(arena, buf_span(&number));
}
