/* The position decides the meaning: a comparison begins with a name, and a value follows its
 * operator. So only "and", "or" and "not" can't be plain names of attributes. */
#include "core/condition/where.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "core/base/printable.h"
#include "core/base/utf8.h"
#include "core/condition/condition.h"
#include "core/item/typed.h"

/* The service's longest expression, and the deepest nesting of brackets. */
enum { MAX_BYTES = 4096, MAX_NESTING = 40, MAX_SHOWN_BYTES = 40 };

struct where {
    struct span text;
    size_t at;
    unsigned nesting;
    struct arena *arena;
    struct error *err;
};

#define BLANKS " \t\r\n"
#define SPECIAL BLANKS "()=<>!,\"'"

static bool where_ends(const struct where *where)
{
    return where->at == where->text.size;
}

static bool where_is_one_of(char c, const char *characters)
{
    return c && strchr(characters, c);
}

static void where_skip_blanks(struct where *where)
{
    while (!where_ends(where) && where_is_one_of(where->text.data[where->at], BLANKS))
        where->at++;
}

/* The characters up to the next one that has a meaning of its own; none, perhaps. */
static struct span where_word_here(const struct where *where)
{
    size_t end = where->at;
    while (end < where->text.size && !where_is_one_of(where->text.data[end], SPECIAL))
        end++;
    return span_of(where->text.data + where->at, end - where->at);
}

/* The text at this position, for a message on something else that was expected. */
static void where_write_here(const struct where *where, struct buf *out)
{
    struct span word = where_word_here(where);
    if (where_ends(where)) {
        buf_add_text(out, "the end");
        return;
    }
    if (word.size == 0)
        word = span_of(where->text.data + where->at, 1);
    if (word.size > MAX_SHOWN_BYTES) {
        for (word.size = MAX_SHOWN_BYTES; ((unsigned char)word.data[word.size] & 0xC0) == 0x80;)
            word.size--; /* no character is cut in two */
        printable_add(out, word, "");
        buf_add_text(out, "…");
        return;
    }
    printable_add(out, word, "");
}

static bool where_fail_at(struct where *where, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* People count characters. */
static bool where_fail_at(struct where *where, size_t at, const char *format, ...)
{
    char text[512];
    size_t column = 1;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t i = 0; i < at; i++)
        column += ((unsigned char)where->text.data[i] & 0xC0) != 0x80;
    return error_set(where->err, ERROR_INVALID, "column %zu: %s", column, text);
}

static bool where_fail_expected(struct where *where, const char *what)
{
    CLEAN_UP(buf_clean_up) struct buf here = {0};
    where_write_here(where, &here);
    if (here.failed)
        return error_no_memory(where->err);
    return where_fail_at(where, where->at, "%s was expected, not %s", what, buf_text(&here));
}

/* Takes WORD, in any case, if it is here as a word of its own. */
static bool where_take_word(struct where *where, const char *word)
{
    where_skip_blanks(where);
    struct span here = where_word_here(where);
    if (here.size != strlen(word) || strncasecmp(here.data, word, here.size) != 0)
        return false;
    where->at += here.size;
    return true;
}

/* Takes several words, or none of them. */
static bool where_take_words(struct where *where, const char *const *words)
{
    size_t before = where->at;
    for (; *words; words++) {
        if (!where_take_word(where, *words)) {
            where->at = before;
            return false;
        }
    }
    return true;
}

static bool where_take_character(struct where *where, char c)
{
    where_skip_blanks(where);
    if (where_ends(where) || where->text.data[where->at] != c)
        return false;
    where->at++;
    return true;
}

/* Where the name in quotes that begins at AT ends, behind them; or the end of the text. */
static size_t where_quoted_end(struct span text, size_t at)
{
    for (at++; at < text.size; at++) {
        if (text.data[at] != '\'')
            continue;
        if (at + 1 == text.size || text.data[at + 1] != '\'')
            return at + 1;
        at++;
    }
    return at;
}

/* Where the path that begins here ends: address.city, tags[0], 'a name'.x. */
static size_t where_path_end(const struct where *where)
{
    size_t at = where->at;
    while (at < where->text.size) {
        char c = where->text.data[at];
        if (c == '\'')
            at = where_quoted_end(where->text, at);
        else if (where_is_one_of(c, SPECIAL))
            break;
        else
            at++;
    }
    return at;
}

static bool where_parse_path(struct where *where, struct cond *out)
{
    where_skip_blanks(where);
    struct operand_path path = {0};
    struct span written = span_of(where->text.data + where->at, where_path_end(where) - where->at);
    if (written.size == 0)
        return where_fail_expected(where, "the name of an attribute");
    const char *wrong = operand_parse_path(where->arena, written, &path);
    if (where->arena->failed)
        return error_no_memory(where->err);
    if (wrong)
        return where_fail_at(where, where->at, "%s", wrong);
    where->at += written.size;
    out->attribute = span_text(path.attribute);
    out->steps = path.steps;
    out->step_count = path.step_count;
    return true;
}

/* Where the JSON value that begins here with OPEN ends: a text, or an object of texts. */
static size_t where_json_end(const struct where *where)
{
    size_t at = where->at, depth = 0;
    bool in_text = false;
    for (; at < where->text.size; at++) {
        char c = where->text.data[at];
        if (in_text && c == '\\')
            at++;
        else if (c == '"')
            in_text = !in_text;
        else if (!in_text && c == '{')
            depth++;
        else if (!in_text && c == '}')
            depth--;
        if (!in_text && depth == 0)
            return at + 1;
    }
    return where->text.size;
}

/* "FAILED", or {"B":"aGk="}, the service's form of other types. */
static bool where_parse_json(struct where *where, struct value *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    size_t end = where_json_end(where);
    struct span raw = span_of(where->text.data + where->at, end - where->at);
    struct json_fault fault = {0};
    if (!json_parse(&doc, raw, JSON_STRICT, &fault))
        return where_fail_at(where, where->at + fault.offset, "a text in double quotes: %s",
                             fault.what);
    struct json root = json_root(&doc);
    bool text = json_is(root, JSON_STRING);
    bool read =
        text ? typed_text(root, where->arena, &out->bytes) : typed_scalar(root, where->arena, out);
    if (where->arena->failed)
        return error_no_memory(where->err);
    if (!read)
        return where_fail_at(where, where->at, "braces contain one typed value: {\"B\":\"aGk=\"}");
    if (text)
        out->type = VALUE_S;
    where->at = end;
    if (span_starts(span_from(where->text, end), SPAN_LITERAL("…")))
        return where_fail_at(where, end, "the printed value was shortened; type the whole value");
    return true;
}

/* Word processors and web pages make such quotes of straight ones. */
static bool where_is_curly(struct span word)
{
    static const char *const quotes[] = {"\u201c", "\u201d", "\u201e", "\u2018", "\u2019"};
    for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++)
        if (word.size >= strlen(quotes[i]) && memcmp(word.data, quotes[i], strlen(quotes[i])) == 0)
            return true;
    return false;
}

/* A number, true, false or null. */
static bool where_parse_word(struct where *where, struct value *out)
{
    struct span word = where_word_here(where);
    size_t at = where->at;
    if (number_is(word)) {
        *out = (struct value){VALUE_N, word};
        where->at += word.size;
    } else if (where_take_word(where, "true") || where_take_word(where, "false")) {
        *out = value_of_bool(strncasecmp(word.data, "t", 1) == 0);
    } else if (where_take_word(where, "null")) {
        *out = (struct value){.type = VALUE_NULL};
    } else if (!where_ends(where) && where->text.data[at] == '\'') {
        return where_fail_at(where, at, "a text is in double quotes; single quotes are for names");
    } else if (where_is_curly(word)) {
        return where_fail_at(where, at, "a text is in straight double quotes: \"");
    } else if (!where_ends(where) && where->text.data[at] == '=') {
        return where_fail_at(where, at, "write one = to test whether two values are equal");
    } else if (word.size > 0) {
        return where_fail_expected(
            where, "a value (\"text\" in double quotes, a number, true, false, null)");
    } else {
        return where_fail_expected(where, "a value");
    }
    return true;
}

static bool where_parse_value(struct where *where, struct value *out)
{
    where_skip_blanks(where);
    size_t at = where->at;
    char c = where_ends(where) ? '\0' : where->text.data[at];
    struct error why;
    if (!(c == '"' || c == '{' ? where_parse_json(where, out) : where_parse_word(where, out)))
        return false;
    if (!operand_check("this", out->type, out->bytes, &why))
        return where_fail_at(where, at, "%s", why.text);
    out->bytes = operand_copy(where->arena, out->type, out->bytes);
    return !where->arena->failed || error_no_memory(where->err);
}

/* An end of a range. In printed conditions "with all that begins so" may follow it. */
static bool where_parse_end(struct where *where, struct value *out)
{
    static const char *const all[] = {"with", "all", "that", "begins", "so", NULL};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!where_parse_value(where, out))
        return false;
    if (out->type != VALUE_S || !where_take_words(where, all))
        return true;
    buf_add_span(&text, out->bytes);
    buf_add_text(&text, COND_LAST_CHARACTER);
    out->bytes = arena_copy(where->arena, buf_span(&text));
    return (!text.failed && !where->arena->failed) || error_no_memory(where->err);
}

/* Whether values of the type have the operation; else the service refuses it. AT is its position.
 */
static bool where_check_operand(struct where *where, size_t at, enum cond_op op, struct value value)
{
    bool ordered = value.type <= VALUE_B;
    if (op == COND_BEGINS && (value.type == VALUE_N || !ordered))
        return where_fail_at(where, at, "a text begins with a text: \"…\" was expected");
    if (op != COND_EQ && op != COND_NE && op != COND_CONTAINS && op != COND_BEGINS && !ordered)
        return where_fail_at(where, at,
                             "a text or a number was expected: true, false and null are neither "
                             "less nor greater than another");
    return true;
}

static bool where_parse_operand(struct where *where, struct cond *out)
{
    where_skip_blanks(where);
    size_t at = where->at;
    return where_parse_end(where, &out->value) &&
           where_check_operand(where, at, out->op, out->value);
}

static bool where_parse_range(struct where *where, struct cond *out)
{
    if (!where_parse_operand(where, out))
        return false;
    if (!where_take_word(where, "and"))
        return where_fail_expected(where, "\"and\" with the upper end of the range");
    where_skip_blanks(where);
    size_t at = where->at;
    if (!where_parse_end(where, &out->upper) ||
        !where_check_operand(where, at, out->op, out->upper))
        return false;
    if (out->upper.type != out->value.type)
        return where_fail_at(where, at, "both ends of a range are of one type");
    return value_compare(out->value, out->upper) <= 0 ||
           where_fail_at(where, at, "the range ends before it begins");
}

static bool where_parse_list(struct where *where, struct cond *out)
{
    struct value *list = arena_array(where->arena, COND_MAX_LIST, sizeof *list);
    if (!list)
        return error_no_memory(where->err);
    out->list = list;
    do {
        where_skip_blanks(where);
        if (out->list_count == COND_MAX_LIST)
            return where_fail_at(where, where->at, "at most %d values may be in a list",
                                 COND_MAX_LIST);
        if (!where_parse_value(where, &list[out->list_count++]))
            return false;
    } while (where_take_character(where, ','));
    return true;
}

static bool where_parse_bracketed_list(struct where *where, struct cond *out)
{
    if (!where_take_character(where, '('))
        return where_fail_expected(where, "a list of values in brackets: (\"a\", \"b\")");
    if (!where_parse_list(where, out))
        return false;
    return where_take_character(where, ')') ||
           where_fail_expected(where, "a comma, or the ) of the list,");
}

static bool where_take_sign(struct where *where, enum cond_op *op)
{
    static const struct {
        const char *sign;
        enum cond_op op;
    } signs[] = {
        {"<>", COND_NE}, {"!=", COND_NE}, {"<=", COND_LE}, {">=", COND_GE},
        {"=", COND_EQ},  {"<", COND_LT},  {">", COND_GT},
    };
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        struct span sign = span_text(signs[i].sign);
        if (!span_starts(span_from(where->text, where->at), sign))
            continue;
        *op = signs[i].op;
        where->at += sign.size;
        return true;
    }
    return false;
}

/* The operator and the operands behind a name. */
static bool where_parse_comparison(struct where *where, struct cond *out)
{
    static const char *const begins[] = {"begins", "with", NULL};
    static const char *const is_one[] = {"is", "one", "of", NULL};
    static const char *const missing[] = {"does", "not", "exist", NULL};
    where_skip_blanks(where);
    if (where_take_sign(where, &out->op))
        return where_parse_operand(where, out);
    if (where_take_words(where, begins)) {
        out->op = COND_BEGINS;
        return where_parse_operand(where, out);
    }
    if (where_take_word(where, "contains")) {
        out->op = COND_CONTAINS;
        return where_parse_operand(where, out);
    }
    if (where_take_word(where, "between")) {
        out->op = COND_BETWEEN;
        return where_parse_range(where, out);
    }
    out->op = COND_IN;
    if (where_take_word(where, "in"))
        return where_parse_bracketed_list(where, out);
    if (where_take_words(where, is_one))
        return where_parse_list(where, out);
    bool exists = where_take_word(where, "exists");
    out->op = exists ? COND_EXISTS : COND_MISSING;
    return exists || where_take_words(where, missing) ||
           where_fail_expected(where,
                               "=, !=, <, <=, >, >=, between, in, begins with, contains, exists or "
                               "does not exist");
}

/* begins_with(name, "x"), as in expressions of the service. False if there is no function here. */
static bool where_take_function(struct where *where, enum cond_op *op, bool *known)
{
    static const struct {
        const char *name;
        enum cond_op op;
    } functions[] = {
        {"begins_with", COND_BEGINS}, {"contains", COND_CONTAINS},
        {"exists", COND_EXISTS},      {"attribute_exists", COND_EXISTS},
        {"missing", COND_MISSING},    {"attribute_not_exists", COND_MISSING},
    };
    size_t before = where->at;
    struct span name = where_word_here(where);
    where->at += name.size;
    bool bracket = name.size > 0 && where_take_character(where, '(');
    *known = false;
    for (size_t i = 0; bracket && !*known && i < sizeof functions / sizeof functions[0]; i++) {
        *op = functions[i].op;
        *known = name.size == strlen(functions[i].name) &&
                 strncasecmp(name.data, functions[i].name, name.size) == 0;
    }
    if (!bracket || !*known)
        where->at = before;
    return bracket;
}

static bool where_parse_function(struct where *where, struct cond *out)
{
    if (!where_parse_path(where, out))
        return false;
    if (out->op == COND_BEGINS || out->op == COND_CONTAINS) {
        if (!where_take_character(where, ','))
            return where_fail_expected(where, "a comma and a value");
        if (!where_parse_operand(where, out))
            return false;
    }
    return where_take_character(where, ')') || where_fail_expected(where, "the ) of the function");
}

static bool where_parse_leaf(struct where *where, struct cond *out)
{
    bool known;
    where_skip_blanks(where);
    *out = (struct cond){0};
    if (!where_take_function(where, &out->op, &known))
        return where_parse_path(where, out) && where_parse_comparison(where, out);
    return known ? where_parse_function(where, out)
                 : where_fail_expected(where, "begins_with, contains, exists or missing");
}

static bool where_parse_joined(struct where *where, enum cond_op op, struct cond *out);

static bool where_parse_bracketed(struct where *where, struct cond *out)
{
    if (++where->nesting > MAX_NESTING)
        return where_fail_at(where, where->at, "too many brackets");
    if (!where_parse_joined(where, COND_OR, out))
        return false;
    where->nesting--;
    return where_take_character(where, ')') || where_fail_expected(where, "and, or, or a )");
}

static bool where_parse_term(struct where *where, struct cond *out)
{
    where_skip_blanks(where);
    if (where_take_character(where, '('))
        return where_parse_bracketed(where, out);
    if (!where_take_word(where, "not"))
        return where_parse_leaf(where, out);
    struct cond *denied = arena_alloc(where->arena, sizeof *denied);
    if (!denied)
        return error_no_memory(where->err);
    if (++where->nesting > MAX_NESTING)
        return where_fail_at(where, where->at, "too many nots in a row");
    if (!where_parse_term(where, denied))
        return false;
    where->nesting--;
    *out = (struct cond){.op = COND_NOT, .children = denied, .child_count = 1};
    return true;
}

/* Children of a condition while they are being found; room doubles. */
struct children {
    struct cond *items;
    size_t count, room;
};

static bool where_add_child(struct arena *arena, struct children *children,
                            const struct cond *child)
{
    if (children->count == children->room) {
        size_t room = children->room ? children->room * 2 : 4;
        struct cond *grown = arena_array(arena, room, sizeof *grown);
        if (!grown)
            return false;
        for (size_t i = 0; i < children->count; i++)
            grown[i] = children->items[i];
        children->items = grown;
        children->room = room;
    }
    children->items[children->count++] = *child;
    return true;
}

/* Terms joined by "and", or these joined by "or". A bracket with the same word becomes part of its
 * parent. */
static bool where_parse_joined(struct where *where, enum cond_op op, struct cond *out)
{
    struct children children = {0};
    do {
        struct cond child;
        if (!(op == COND_OR ? where_parse_joined(where, COND_AND, &child)
                            : where_parse_term(where, &child)))
            return false;
        bool same = child.op == op;
        for (size_t i = 0; i < (same ? child.child_count : 1); i++)
            if (!where_add_child(where->arena, &children, same ? &child.children[i] : &child))
                return error_no_memory(where->err);
    } while (where_take_word(where, op == COND_OR ? "or" : "and"));
    *out = children.items[0];
    if (children.count > 1)
        *out = (struct cond){.op = op, .children = children.items, .child_count = children.count};
    return true;
}

static unsigned where_depth_of(const struct cond *cond)
{
    unsigned deepest = 0;
    for (size_t i = 0; i < cond->child_count; i++) {
        unsigned depth = 1 + where_depth_of(&cond->children[i]);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

bool where_parse(struct span text, struct arena *arena, struct cond *out, struct error *err)
{
    struct where where = {.text = text, .arena = arena, .err = err};
    if (!utf8_valid(text) || memchr(text.data, '\0', text.size))
        return error_set(err, ERROR_INVALID, "it is not UTF-8");
    if (text.size > MAX_BYTES)
        return error_set(err, ERROR_INVALID, "it has %zu bytes, and may have %d", text.size,
                         MAX_BYTES);
    if (!where_parse_joined(&where, COND_OR, out))
        return false;
    where_skip_blanks(&where);
    if (!where_ends(&where))
        return where_fail_expected(&where, "and, or, or the end");
    return where_depth_of(out) <= COND_MAX_DEPTH ||
           error_set(err, ERROR_INVALID, "conditions are nested at most %d deep", COND_MAX_DEPTH);
}
