/* Conditions: copied, tested on items, written in words, and compared. */
#include "core/condition/condition.h"

#include <string.h>
#include <strings.h>

#include "core/base/utf8.h"
#include "core/item/item.h"
#include "core/item/typed.h"

enum { MAX_SHOWN_BYTES = 160 };

static struct value cond_copy_value(struct value value, struct arena *arena)
{
    return (struct value){.type = value.type, .bytes = arena_copy(arena, value.bytes)};
}

static const struct cond_step *cond_copy_steps(const struct cond *from, struct arena *arena)
{
    struct cond_step *steps = arena_array(arena, from->step_count, sizeof *steps);
    for (size_t i = 0; steps && i < from->step_count; i++) {
        steps[i] = from->steps[i];
        steps[i].name = arena_copy(arena, from->steps[i].name);
    }
    return steps;
}

bool cond_copy(const struct cond *from, struct arena *arena, struct cond *out)
{
    *out = (struct cond){
        .attribute = arena_copy(arena, from->attribute),
        .op = from->op,
        .value = cond_copy_value(from->value, arena),
        .upper = cond_copy_value(from->upper, arena),
        .step_count = from->step_count,
        .list_count = from->list_count,
        .child_count = from->child_count,
    };
    if (from->step_count)
        out->steps = cond_copy_steps(from, arena);
    if (from->list_count) {
        struct value *list = arena_array(arena, from->list_count, sizeof *list);
        for (size_t i = 0; list && i < from->list_count; i++)
            list[i] = cond_copy_value(from->list[i], arena);
        out->list = list;
    }
    if (from->child_count) {
        struct cond *children = arena_array(arena, from->child_count, sizeof *children);
        for (size_t i = 0; children && i < from->child_count; i++)
            cond_copy(&from->children[i], arena, &children[i]);
        out->children = children;
    }
    return !arena->failed;
}

/* Follows the condition's path into ITEM; absent when it leads nowhere. */
static struct json cond_find(const struct cond *cond, struct json item)
{
    struct json at = item_attribute(item, cond->attribute);
    for (size_t i = 0; i < cond->step_count && json_present(at); i++) {
        const struct cond_step *step = &cond->steps[i];
        struct typed typed = typed_open(at);
        at = (struct json){0};
        if (!step->is_index && typed.tag == TYPED_M)
            at = json_member_span(typed.content, step->name);
        if (!step->is_index || typed.tag != TYPED_L)
            continue;
        at = json_first(typed.content);
        for (uint32_t skipped = 0; skipped < step->index && json_present(at); skipped++)
            at = json_next(at);
    }
    return at;
}

static bool cond_equals(struct json value, struct value wanted, struct arena *arena)
{
    struct value scalar;
    return typed_scalar(value, arena, &scalar) && value_compare(scalar, wanted) == 0;
}

static bool cond_holds_text(struct span text, struct span part)
{
    return part.size == 0 ||
           (part.size <= text.size && memmem(text.data, text.size, part.data, part.size));
}

static bool cond_set_has(struct typed set, struct value wanted, struct arena *arena)
{
    struct typed_set members;
    if (!typed_set(set, arena, &members))
        return false;
    for (size_t i = 0; i < members.count; i++)
        if (value_compare((struct value){wanted.type, members.list[i]}, wanted) == 0)
            return true;
    return false;
}

static bool cond_contains(struct json value, struct value wanted, struct arena *arena)
{
    struct typed typed = typed_open(value);
    struct value scalar;
    switch (typed.tag) {
    case TYPED_S:
    case TYPED_B:
        return typed_scalar(value, arena, &scalar) && scalar.type == wanted.type &&
               cond_holds_text(scalar.bytes, wanted.bytes);
    case TYPED_SS:
        return wanted.type == VALUE_S && cond_set_has(typed, wanted, arena);
    case TYPED_NS:
        return wanted.type == VALUE_N && cond_set_has(typed, wanted, arena);
    case TYPED_BS:
        return wanted.type == VALUE_B && cond_set_has(typed, wanted, arena);
    case TYPED_L:
        for (struct json each = json_first(typed.content); json_present(each);
             each = json_next(each))
            if (cond_equals(each, wanted, arena))
                return true;
        return false;
    default:
        return false;
    }
}

/* Only strings, numbers and binaries have an order, and only among themselves. */
static bool cond_have_order(struct value a, struct value b)
{
    return a.type == b.type && a.type <= VALUE_B;
}

bool cond_admits(const struct cond *cond, struct value value)
{
    int order = value_compare(value, cond->value);
    bool ordered = cond_have_order(value, cond->value);
    switch (cond->op) {
    case COND_EQ:
        return order == 0;
    case COND_NE:
        return order != 0;
    case COND_BEGINS:
        return ordered && value.type != VALUE_N && span_starts(value.bytes, cond->value.bytes);
    case COND_BETWEEN:
        return ordered && order >= 0 && cond_have_order(value, cond->upper) &&
               value_compare(value, cond->upper) <= 0;
    case COND_LT:
        return ordered && order < 0;
    case COND_LE:
        return ordered && order <= 0;
    case COND_GT:
        return ordered && order > 0;
    case COND_GE:
        return ordered && order >= 0;
    case COND_IN:
        for (size_t i = 0; i < cond->list_count; i++)
            if (value_compare(value, cond->list[i]) == 0)
                return true;
        return false;
    default:
        return false;
    }
}

static bool cond_test(const struct cond *cond, struct json item, struct arena *arena)
{
    struct value scalar;
    struct json value;
    switch (cond->op) {
    case COND_AND:
    case COND_OR:
        for (size_t i = 0; i < cond->child_count; i++)
            if (cond_test(&cond->children[i], item, arena) == (cond->op == COND_OR))
                return cond->op == COND_OR;
        return cond->op == COND_AND;
    case COND_NOT:
        return !cond_test(cond->children, item, arena);
    case COND_EXISTS:
        return json_present(cond_find(cond, item));
    case COND_MISSING:
        return !json_present(cond_find(cond, item));
    case COND_CONTAINS:
        return cond_contains(cond_find(cond, item), cond->value, arena);
    default:
        value = cond_find(cond, item);
        if (!json_present(value) || !typed_scalar(value, arena, &scalar))
            return cond->op == COND_NE;
        return cond_admits(cond, scalar);
    }
}

bool cond_holds(const struct cond *cond, struct json item, bool *failed)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    bool held = cond_test(cond, item, &arena);
    *failed = *failed || arena.failed;
    return held && !arena.failed;
}

bool cond_each_attribute(const struct cond *cond, bool (*fn)(void *arg, struct span attribute),
                         void *arg)
{
    for (size_t i = 0; i < cond->child_count; i++)
        if (!cond_each_attribute(&cond->children[i], fn, arg))
            return false;
    return cond->child_count > 0 || fn(arg, cond->attribute);
}

const char *cond_word(enum cond_op op)
{
    static const char *const words[] = {
        [COND_EQ] = "=",
        [COND_BEGINS] = "begins with",
        [COND_BETWEEN] = "between",
        [COND_LT] = "<",
        [COND_LE] = "<=",
        [COND_GT] = ">",
        [COND_GE] = ">=",
        [COND_NE] = "!=",
        [COND_CONTAINS] = "contains",
        [COND_IN] = "is one of",
        [COND_EXISTS] = "exists",
        [COND_MISSING] = "does not exist",
        [COND_AND] = "and",
        [COND_OR] = "or",
        [COND_NOT] = "not",
    };
    return words[op];
}

/* Writes quotes around a name that contains a character with a function in conditions
 * (core/condition/where.h), or that is a word which joins them. */
static bool cond_is_plain(struct span name)
{
    static const char *const words[] = {"or", "and", "not"};
    for (size_t i = 0; i < name.size; i++)
        if ((unsigned char)name.data[i] <= ' ' || strchr("()=<>!,\"'.[", name.data[i]))
            return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (name.size == strlen(words[i]) && strncasecmp(name.data, words[i], name.size) == 0)
            return false;
    return name.size > 0;
}

static void cond_write_step_name(struct span name, struct buf *out)
{
    if (cond_is_plain(name)) {
        buf_add_span(out, name);
        return;
    }
    buf_add_char(out, '\'');
    for (size_t i = 0; i < name.size; i++)
        buf_add_span(out, name.data[i] == '\'' ? SPAN_LITERAL("''") : span_of(name.data + i, 1));
    buf_add_char(out, '\'');
}

void cond_write_path(const struct cond *cond, struct buf *out)
{
    cond_write_step_name(cond->attribute, out);
    for (size_t i = 0; i < cond->step_count; i++) {
        const struct cond_step *step = &cond->steps[i];
        if (step->is_index) {
            buf_printf(out, "[%u]", (unsigned)step->index);
        } else {
            buf_add_char(out, '.');
            cond_write_step_name(step->name, out);
        }
    }
}

static void cond_write_value_words(struct value value, struct buf *out)
{
    size_t size = value.bytes.size < MAX_SHOWN_BYTES ? value.bytes.size : MAX_SHOWN_BYTES;
    while (value.type == VALUE_S && size > 0 && size < value.bytes.size &&
           ((unsigned char)value.bytes.data[size] & 0xC0) == 0x80)
        size--; /* no character is cut in two */
    struct span shown = span_of(value.bytes.data, size);
    switch (value.type) {
    case VALUE_S:
        json_write_string(out, shown);
        break;
    case VALUE_N:
    case VALUE_BOOL:
        buf_add_span(out, shown);
        break;
    case VALUE_B:
        value_write(out, (struct value){VALUE_B, shown});
        break;
    case VALUE_NULL:
        buf_add_text(out, "null");
        break;
    }
    if (size < value.bytes.size)
        buf_add_text(out, "…");
}

/* An end of a range. The last character represents all texts that begin with the end. */
static void cond_write_end_words(struct value value, struct buf *out)
{
    struct span last = SPAN_LITERAL(COND_LAST_CHARACTER);
    bool all = value.type == VALUE_S && span_ends(value.bytes, last);
    if (all)
        value.bytes.size -= last.size;
    cond_write_value_words(value, out);
    buf_add_text(out, all ? " with all that begins so" : "");
}

/* Brackets around children of another word, so that precedence does not matter. */
static void cond_write_children_words(const struct cond *cond, struct buf *out)
{
    for (size_t i = 0; i < cond->child_count; i++) {
        const struct cond *child = &cond->children[i];
        bool brackets = child->child_count > 1 && child->op != cond->op;
        buf_printf(out, "%s%s%s%s", i ? " " : "", i ? cond_word(cond->op) : "", i ? " " : "",
                   brackets ? "(" : "");
        cond_write_words(child, out);
        buf_add_text(out, brackets ? ")" : "");
    }
}

void cond_write_words(const struct cond *cond, struct buf *out)
{
    switch (cond->op) {
    case COND_NOT:
        buf_add_text(out, "not (");
        cond_write_words(cond->children, out);
        buf_add_char(out, ')');
        return;
    case COND_AND:
    case COND_OR:
        cond_write_children_words(cond, out);
        return;
    default:
        break;
    }
    cond_write_path(cond, out);
    buf_printf(out, " %s", cond_word(cond->op));
    if (cond->op == COND_EXISTS || cond->op == COND_MISSING)
        return;
    for (size_t i = 0; cond->op == COND_IN && i < cond->list_count; i++) {
        buf_add_text(out, i ? ", " : " ");
        cond_write_value_words(cond->list[i], out);
    }
    if (cond->op == COND_IN)
        return;
    buf_add_char(out, ' ');
    cond_write_end_words(cond->value, out);
    if (cond->op == COND_BETWEEN) {
        buf_add_text(out, " and ");
        cond_write_end_words(cond->upper, out);
    }
}

void conds_write_words(const struct cond *conds, size_t count, struct buf *out)
{
    if (count == 1) {
        cond_write_words(conds, out);
        return;
    }
    cond_write_children_words(
        &(struct cond){.op = COND_AND, .children = conds, .child_count = count}, out);
}

/* Texts go into an identity with their length in front, so that no text can pass for two. */
static void cond_add_sized(struct span text, struct buf *out)
{
    buf_printf(out, "%zu:", text.size);
    buf_add_span(out, text);
}

void cond_write_identity(const struct cond *cond, struct buf *out)
{
    buf_printf(out, "%d/%zu/%zu/%zu ", (int)cond->op, cond->step_count, cond->list_count,
               cond->child_count);
    cond_add_sized(cond->attribute, out);
    for (size_t i = 0; i < cond->step_count; i++) {
        if (cond->steps[i].is_index)
            buf_printf(out, "[%u]", (unsigned)cond->steps[i].index);
        else
            cond_add_sized(cond->steps[i].name, out);
    }
    value_write_identity(cond->value, out);
    if (cond->op == COND_BETWEEN)
        value_write_identity(cond->upper, out);
    for (size_t i = 0; i < cond->list_count; i++)
        value_write_identity(cond->list[i], out);
    for (size_t i = 0; i < cond->child_count; i++)
        cond_write_identity(&cond->children[i], out);
}

enum { MAX_PARTITION_BYTES = 2048 };

/* Parses the name at the start of TEXT; USED gets its length, with quotes. */
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
        return "square brackets contain the number of a list's element";
    for (size_t i = 1; i <= digits; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return "square brackets contain the number of a list's element";
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
            wrong = "a name in quotes is followed by a dot or a square bracket";
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
    return wrong || path.step_count == 0 ? wrong : "a name in single quotes is followed by nothing";
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
        if (type == VALUE_N && text.data[text.size - 1] == '*') /* the beginning of a text */
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
