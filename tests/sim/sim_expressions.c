/* Expressions of DynamoDB: key conditions, filters and projections, with their names and values. */
#include "tests/sim/sim_expressions.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/sim/sim_world.h"

enum {
    SIM_MOST_EXPRESSION = 4096,
    SIM_MOST_OPERATORS = 300,
    SIM_MOST_IN = 100,
    SIM_MOST_ALIAS = 255,
    SIM_MOST_LEVELS = 32,
    SIM_MOST_PATHS = 200
};

bool sim_outcome_refuse(struct sim_outcome *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = sim_vprintf(format, args);
    va_end(args);
    sim_free(out->message);
    out->code = "ValidationException";
    out->is_wrong = true;
    out->message = line;
    return false;
}

/* Whether ALIAS is MARK and letters, digits and underscores. */
static bool sim_alias_is_legal(const char *alias, char mark)
{
    size_t size = strlen(alias);
    if (alias[0] != mark || size < 2 || size > SIM_MOST_ALIAS)
        return false;
    for (const char *at = alias + 1; *at; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    }
    return true;
}

static bool sim_expressions_read_names(struct sim_expressions *of, const struct sim_json *names)
{
    if (names->kind != SIM_JSON_OBJECT || names->count == 0)
        return sim_outcome_refuse(of->out, "ExpressionAttributeNames must not be empty");
    of->names = sim_alloc(names->count * sizeof *of->names);
    for (size_t i = 0; i < names->count; i++) {
        const struct sim_json *name = &names->members[i];
        if (!sim_alias_is_legal(names->names[i], '#'))
            return sim_outcome_refuse(of->out,
                                      "ExpressionAttributeNames contains invalid key: "
                                      "Syntax error; key: \"%s\"",
                                      names->names[i]);
        if (name->kind != SIM_JSON_STRING || name->size == 0 || strlen(name->bytes) != name->size)
            return sim_outcome_refuse(of->out, "ExpressionAttributeNames contains invalid value");
        of->names[of->name_count++] =
            (struct sim_alias){.alias = names->names[i], .name = name->bytes};
    }
    return true;
}

static bool sim_expressions_read_values(struct sim_expressions *of, const struct sim_json *values)
{
    if (values->kind != SIM_JSON_OBJECT || values->count == 0)
        return sim_outcome_refuse(of->out, "ExpressionAttributeValues must not be empty");
    of->values = sim_alloc(values->count * sizeof *of->values);
    for (size_t i = 0; i < values->count; i++) {
        struct sim_alias *value = &of->values[of->value_count];
        if (!sim_alias_is_legal(values->names[i], ':'))
            return sim_outcome_refuse(of->out,
                                      "ExpressionAttributeValues contains invalid key: "
                                      "Syntax error; key: \"%s\"",
                                      values->names[i]);
        if (!sim_value_read(&value->value, &values->members[i]))
            return sim_outcome_refuse(of->out,
                                      "ExpressionAttributeValues contains invalid value: "
                                      "Supplied AttributeValue is not valid; key: %s",
                                      values->names[i]);
        value->alias = values->names[i];
        of->value_count++;
    }
    return true;
}

bool sim_expressions_begin(struct sim_expressions *of, const struct sim_json *request,
                           struct sim_outcome *out)
{
    const struct sim_json *names = sim_json_get(request, "ExpressionAttributeNames");
    const struct sim_json *values = sim_json_get(request, "ExpressionAttributeValues");
    *of = (struct sim_expressions){.out = out};
    return (!names || sim_expressions_read_names(of, names)) &&
           (!values || sim_expressions_read_values(of, values));
}

void sim_expressions_end(struct sim_expressions *of)
{
    for (size_t i = 0; i < of->value_count; i++)
        sim_value_free(&of->values[i].value);
    for (size_t i = 0; i < of->word_count; i++)
        sim_free(of->words[i]);
    sim_free(of->words);
    sim_free(of->names);
    sim_free(of->values);
    sim_free(of->nodes);
    sim_free(of->steps);
    *of = (struct sim_expressions){0};
}

bool sim_expressions_check_used(struct sim_expressions *of)
{
    if (!of->any && (of->name_count || of->value_count))
        return sim_outcome_refuse(of->out, "%s can only be specified when using expressions",
                                  of->name_count ? "ExpressionAttributeNames"
                                                 : "ExpressionAttributeValues");
    for (size_t i = 0; i < of->name_count; i++) {
        if (!of->names[i].used)
            return sim_outcome_refuse(of->out,
                                      "Value provided in ExpressionAttributeNames unused in "
                                      "expressions: keys: {%s}",
                                      of->names[i].alias);
    }
    for (size_t i = 0; i < of->value_count; i++) {
        if (!of->values[i].used)
            return sim_outcome_refuse(of->out,
                                      "Value provided in ExpressionAttributeValues unused in "
                                      "expressions: keys: {%s}",
                                      of->values[i].alias);
    }
    return true;
}

/* One expression while it is parsed. */
struct sim_parser {
    struct sim_expressions *of;
    const char *member; /* "FilterExpression" */
    const char *at;
    unsigned depth;
};

static int sim_parse_or(struct sim_parser *parser);

/* -1, with the outcome failed. */
static int sim_parse_fail(struct sim_parser *parser, const char *why)
{
    if (!parser->of->out->code)
        sim_outcome_refuse(parser->of->out, "Invalid %s: %s; near: \"%.40s\"", parser->member, why,
                           parser->at);
    return -1;
}

static void sim_parse_skip(struct sim_parser *parser)
{
    while (*parser->at && strchr(" \t\r\n", *parser->at))
        parser->at++;
}

static bool sim_parse_take(struct sim_parser *parser, const char *mark)
{
    sim_parse_skip(parser);
    size_t size = strlen(mark);
    if (strncmp(parser->at, mark, size) != 0)
        return false;
    parser->at += size;
    return true;
}

static size_t sim_parse_word_size(const char *at)
{
    size_t size = 0;
    while (isalnum((unsigned char)at[size]) || at[size] == '_')
        size++;
    return size;
}

/* A keyword, in any case. */
static bool sim_parse_take_word(struct sim_parser *parser, const char *word)
{
    sim_parse_skip(parser);
    size_t size = strlen(word);
    if (sim_parse_word_size(parser->at) != size || strncasecmp(parser->at, word, size) != 0)
        return false;
    parser->at += size;
    return true;
}

static int sim_parse_add(struct sim_parser *parser, struct sim_term node)
{
    struct sim_expressions *of = parser->of;
    if (of->node_count == of->node_room) {
        of->node_room = of->node_room * 2 + 16;
        of->nodes = sim_grow(of->nodes, of->node_room * sizeof *of->nodes);
    }
    of->nodes[of->node_count] = node;
    return (int)of->node_count++;
}

static int sim_parse_add_operator(struct sim_parser *parser, enum sim_term_kind kind, int a, int b,
                                  int c)
{
    if (++parser->of->operators > SIM_MOST_OPERATORS)
        return sim_parse_fail(parser, "The expression contains too many operators");
    return sim_parse_add(parser, (struct sim_term){.kind = kind, .parts = {a, b, c}, .next = -1});
}

static void sim_parse_add_step(struct sim_parser *parser, struct sim_step step)
{
    struct sim_expressions *of = parser->of;
    if (of->step_count == of->step_room) {
        of->step_room = of->step_room * 2 + 16;
        of->steps = sim_grow(of->steps, of->step_room * sizeof *of->steps);
    }
    of->steps[of->step_count++] = step;
}

static const char *sim_parse_keep(struct sim_parser *parser, const char *word, size_t size)
{
    struct sim_expressions *of = parser->of;
    of->words = sim_grow(of->words, (of->word_count + 1) * sizeof *of->words);
    of->words[of->word_count] = sim_printf("%.*s", (int)size, word);
    return of->words[of->word_count++];
}

/* A name in a path: an alias, or a word that is not reserved. NULL: failed. */
static const char *sim_parse_name(struct sim_parser *parser)
{
    struct sim_expressions *of = parser->of;
    sim_parse_skip(parser);
    bool is_alias = *parser->at == '#';
    const char *from = parser->at;
    size_t size = is_alias + sim_parse_word_size(from + is_alias);
    if (size == (size_t)is_alias || (!is_alias && isdigit((unsigned char)*from))) {
        sim_parse_fail(parser, "Syntax error");
        return NULL;
    }
    parser->at += size;
    const char *word = sim_parse_keep(parser, from, size);
    for (size_t i = 0; is_alias && i < of->name_count; i++) {
        if (strcmp(of->names[i].alias, word) == 0) {
            of->names[i].used = true;
            return of->names[i].name;
        }
    }
    if (is_alias || sim_word_is_reserved(word)) {
        parser->at = from;
        sim_parse_fail(parser,
                       is_alias ? "An expression attribute name used in the document path is not "
                                  "defined"
                                : "Attribute name is a reserved keyword");
        return NULL;
    }
    return word;
}

static int sim_parse_path(struct sim_parser *parser)
{
    struct sim_term node = {.kind = SIM_TERM_PATH,
                            .parts = {-1, -1, -1},
                            .next = -1,
                            .step = (unsigned)parser->of->step_count};
    const char *name = sim_parse_name(parser);
    for (;;) {
        if (!name)
            return -1;
        sim_parse_add_step(parser, (struct sim_step){.name = name});
        node.step_count++;
        while (sim_parse_take(parser, "[")) {
            char *end;
            sim_parse_skip(parser);
            if (!isdigit((unsigned char)*parser->at))
                return sim_parse_fail(parser, "Syntax error");
            size_t index = strtoul(parser->at, &end, 10);
            parser->at = end;
            if (!sim_parse_take(parser, "]"))
                return sim_parse_fail(parser, "Syntax error");
            sim_parse_add_step(parser, (struct sim_step){.index = index});
            node.step_count++;
        }
        if (node.step_count > SIM_MOST_LEVELS)
            return sim_parse_fail(parser, "The document path has too many nesting elements");
        if (!sim_parse_take(parser, "."))
            return sim_parse_add(parser, node);
        name = sim_parse_name(parser);
    }
}

static int sim_parse_value(struct sim_parser *parser)
{
    struct sim_expressions *of = parser->of;
    const char *from = parser->at;
    size_t size = 1 + sim_parse_word_size(from + 1);
    for (size_t i = 0; i < of->value_count; i++) {
        if (strlen(of->values[i].alias) != size || memcmp(of->values[i].alias, from, size) != 0)
            continue;
        parser->at += size;
        of->values[i].used = true;
        return sim_parse_add(parser, (struct sim_term){.kind = SIM_TERM_VALUE,
                                                       .parts = {-1, -1, -1},
                                                       .next = -1,
                                                       .value = &of->values[i].value});
    }
    return sim_parse_fail(parser,
                          "An expression attribute value used in expression is not defined");
}

/* A path, a value, or size(path). */
static int sim_parse_operand(struct sim_parser *parser)
{
    sim_parse_skip(parser);
    if (*parser->at == ':')
        return sim_parse_value(parser);
    if (strncmp(parser->at, "size", 4) == 0 && sim_parse_word_size(parser->at) == 4) {
        const char *from = parser->at;
        parser->at += 4;
        if (sim_parse_take(parser, "(")) {
            int path = sim_parse_path(parser);
            if (path < 0 || !sim_parse_take(parser, ")"))
                return sim_parse_fail(parser, "Syntax error");
            return sim_parse_add_operator(parser, SIM_TERM_SIZE, path, -1, -1);
        }
        parser->at = from;
    }
    return sim_parse_path(parser);
}

static const struct sim_value *sim_node_value(const struct sim_parser *parser, int node)
{
    const struct sim_term *at = &parser->of->nodes[node];
    return at->kind == SIM_TERM_VALUE ? at->value : NULL;
}

/* Comparisons by order take texts, numbers and bytes. */
static bool sim_parse_check_order(struct sim_parser *parser, int node)
{
    const struct sim_value *value = sim_node_value(parser, node);
    if (!value || value->type <= SIM_B)
        return true;
    sim_parse_fail(parser, "Incorrect operand type for operator or function");
    return false;
}

static bool sim_parse_check_bounds(struct sim_parser *parser, int low, int high)
{
    const struct sim_value *from = sim_node_value(parser, low);
    const struct sim_value *until = sim_node_value(parser, high);
    if (!sim_parse_check_order(parser, low) || !sim_parse_check_order(parser, high))
        return false;
    if (!from || !until || (from->type == until->type && sim_value_compare(from, until) <= 0))
        return true;
    sim_parse_fail(parser, "The BETWEEN operator requires upper bound to be greater than or equal "
                           "to lower bound, of the same type");
    return false;
}

static bool sim_nodes_are_equal(const struct sim_expressions *of, int a, int b)
{
    const struct sim_term *x = &of->nodes[a], *y = &of->nodes[b];
    if (x->kind != y->kind)
        return false;
    if (x->kind == SIM_TERM_VALUE)
        return x->value == y->value;
    if (x->kind == SIM_TERM_SIZE)
        return sim_nodes_are_equal(of, x->parts[0], y->parts[0]);
    bool same = x->step_count == y->step_count;
    for (unsigned i = 0; same && i < x->step_count; i++) {
        const struct sim_step *p = &of->steps[x->step + i], *q = &of->steps[y->step + i];
        same = p->name && q->name ? strcmp(p->name, q->name) == 0
                                  : !p->name && !q->name && p->index == q->index;
    }
    return same;
}

/* IN and its list, behind LEFT. */
static int sim_parse_in(struct sim_parser *parser, int left)
{
    if (!sim_parse_take_word(parser, "IN") || !sim_parse_take(parser, "("))
        return sim_parse_fail(parser, "Syntax error");
    int first = -1, last = -1;
    for (unsigned count = 1;; count++) {
        int value = sim_parse_operand(parser);
        if (value < 0)
            return -1;
        if (count > SIM_MOST_IN)
            return sim_parse_fail(parser, "The IN operator is provided with too many operands");
        /* A chain of nodes of its own: an operand has no place for it. */
        int link = sim_parse_add(
            parser, (struct sim_term){.kind = SIM_TERM_IN, .parts = {value, -1, -1}, .next = -1});
        if (last < 0)
            first = link;
        else
            parser->of->nodes[last].next = link;
        last = link;
        if (sim_parse_take(parser, ")"))
            return sim_parse_add_operator(parser, SIM_TERM_IN, left, first, -1);
        if (!sim_parse_take(parser, ","))
            return sim_parse_fail(parser, "Syntax error");
    }
}

/* Behind the first operand of a comparison. */
static int sim_parse_comparison(struct sim_parser *parser, int left)
{
    static const struct {
        const char *mark;
        enum sim_term_kind kind;
    } marks[] = {{"<>", SIM_TERM_NOT_EQUAL}, {"<=", SIM_TERM_AT_MOST}, {">=", SIM_TERM_AT_LEAST},
                 {"=", SIM_TERM_EQUAL},      {"<", SIM_TERM_LESS},     {">", SIM_TERM_GREATER}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!sim_parse_take(parser, marks[i].mark))
            continue;
        int right = sim_parse_operand(parser);
        if (right < 0)
            return -1;
        if (sim_nodes_are_equal(parser->of, left, right))
            return sim_parse_fail(parser, "The first operand must be distinct from the remaining "
                                          "operands for this operator or function");
        bool by_order = marks[i].kind > SIM_TERM_NOT_EQUAL;
        if (by_order &&
            (!sim_parse_check_order(parser, left) || !sim_parse_check_order(parser, right)))
            return -1;
        return sim_parse_add_operator(parser, marks[i].kind, left, right, -1);
    }
    if (sim_parse_take_word(parser, "BETWEEN")) {
        int low = sim_parse_operand(parser);
        if (low < 0 || !sim_parse_take_word(parser, "AND"))
            return sim_parse_fail(parser, "Syntax error");
        int high = sim_parse_operand(parser);
        if (high < 0 || !sim_parse_check_bounds(parser, low, high))
            return -1;
        return sim_parse_add_operator(parser, SIM_TERM_BETWEEN, left, low, high);
    }
    return sim_parse_in(parser, left);
}

static bool sim_parse_check_function(struct sim_parser *parser, enum sim_term_kind kind, int path,
                                     int other)
{
    const struct sim_value *value = sim_node_value(parser, other);
    bool ok = true;
    if (kind == SIM_TERM_BEGINS)
        ok = !value || value->type == SIM_S || value->type == SIM_B;
    else if (kind == SIM_TERM_TYPE)
        ok = value && value->type == SIM_S;
    if (ok && sim_nodes_are_equal(parser->of, path, other))
        ok = false;
    if (!ok)
        sim_parse_fail(parser, "Incorrect operand for operator or function");
    return ok;
}

/* A function that is a condition. -2: there is none here. */
static int sim_parse_function(struct sim_parser *parser)
{
    static const struct {
        const char *name;
        enum sim_term_kind kind;
    } functions[] = {{"attribute_exists", SIM_TERM_EXISTS},
                     {"attribute_not_exists", SIM_TERM_NOT_EXISTS},
                     {"attribute_type", SIM_TERM_TYPE},
                     {"begins_with", SIM_TERM_BEGINS},
                     {"contains", SIM_TERM_CONTAINS}};
    sim_parse_skip(parser);
    size_t size = sim_parse_word_size(parser->at);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *from = parser->at;
        if (strlen(functions[i].name) != size || memcmp(from, functions[i].name, size) != 0)
            continue;
        parser->at += size;
        if (!sim_parse_take(parser, "(")) {
            parser->at = from;
            return -2;
        }
        int path = sim_parse_path(parser), other = -1;
        if (path < 0)
            return -1;
        if (functions[i].kind >= SIM_TERM_TYPE) {
            if (!sim_parse_take(parser, ","))
                return sim_parse_fail(parser, "Incorrect number of operands for function");
            other = sim_parse_operand(parser);
            if (other < 0 || !sim_parse_check_function(parser, functions[i].kind, path, other))
                return -1;
        }
        if (!sim_parse_take(parser, ")"))
            return sim_parse_fail(parser, "Syntax error");
        return sim_parse_add_operator(parser, functions[i].kind, path, other, -1);
    }
    return -2;
}

static int sim_parse_primary(struct sim_parser *parser)
{
    if (sim_parse_take(parser, "(")) {
        if (++parser->depth > SIM_MOST_OPERATORS)
            return sim_parse_fail(parser, "The expression is nested too deeply");
        int inner = sim_parse_or(parser);
        parser->depth--;
        if (inner < 0)
            return -1;
        if (parser->of->nodes[inner].in_brackets)
            return sim_parse_fail(parser, "The expression has redundant parentheses");
        if (!sim_parse_take(parser, ")"))
            return sim_parse_fail(parser, "Syntax error");
        parser->of->nodes[inner].in_brackets = true;
        return inner;
    }
    int function = sim_parse_function(parser);
    if (function != -2)
        return function;
    int left = sim_parse_operand(parser);
    return left < 0 ? -1 : sim_parse_comparison(parser, left);
}

static int sim_parse_not(struct sim_parser *parser)
{
    if (!sim_parse_take_word(parser, "NOT"))
        return sim_parse_primary(parser);
    int inner = sim_parse_not(parser);
    return inner < 0 ? -1 : sim_parse_add_operator(parser, SIM_TERM_NOT, inner, -1, -1);
}

static int sim_parse_and(struct sim_parser *parser)
{
    int left = sim_parse_not(parser);
    while (left >= 0 && sim_parse_take_word(parser, "AND")) {
        int right = sim_parse_not(parser);
        left = right < 0 ? -1 : sim_parse_add_operator(parser, SIM_TERM_AND, left, right, -1);
    }
    return left;
}

static int sim_parse_or(struct sim_parser *parser)
{
    int left = sim_parse_and(parser);
    while (left >= 0 && sim_parse_take_word(parser, "OR")) {
        int right = sim_parse_and(parser);
        left = right < 0 ? -1 : sim_parse_add_operator(parser, SIM_TERM_OR, left, right, -1);
    }
    return left;
}

/* The text of an expression; *TEXT is NULL if the request has none. */
static bool sim_expressions_take(struct sim_expressions *of, const struct sim_json *request,
                                 const char *member, const char **text)
{
    const struct sim_json *json = sim_json_get(request, member);
    *text = NULL;
    if (!json)
        return true;
    if (json->kind != SIM_JSON_STRING || json->size == 0 || json->size > SIM_MOST_EXPRESSION ||
        strlen(json->bytes) != json->size)
        return sim_outcome_refuse(of->out, "Invalid %s: it is empty or too long", member);
    of->any = true;
    *text = json->bytes;
    return true;
}

bool sim_expressions_read_condition(struct sim_expressions *of, const struct sim_json *request,
                                    const char *member, int *root)
{
    struct sim_parser parser = {.of = of, .member = member};
    *root = -1;
    if (!sim_expressions_take(of, request, member, &parser.at))
        return false;
    if (!parser.at)
        return true;
    *root = sim_parse_or(&parser);
    sim_parse_skip(&parser);
    if (*root >= 0 && *parser.at)
        *root = sim_parse_fail(&parser, "Syntax error");
    return *root >= 0;
}

/* Whether one path of a projection is the beginning of another. */
static bool sim_paths_overlap(const struct sim_expressions *of, const struct sim_term *a,
                              const struct sim_term *b)
{
    bool same = true;
    for (unsigned i = 0; same && i < a->step_count && i < b->step_count; i++) {
        const struct sim_step *p = &of->steps[a->step + i], *q = &of->steps[b->step + i];
        same = p->name && q->name ? strcmp(p->name, q->name) == 0
                                  : !p->name && !q->name && p->index == q->index;
    }
    return same;
}

bool sim_expressions_read_projection(struct sim_expressions *of, const struct sim_json *request,
                                     size_t *first, size_t *count)
{
    struct sim_parser parser = {.of = of, .member = "ProjectionExpression"};
    *first = of->node_count;
    *count = 0;
    if (!sim_expressions_take(of, request, parser.member, &parser.at))
        return false;
    if (!parser.at)
        return true;
    do {
        if (sim_parse_path(&parser) < 0)
            return false;
        if (++*count > SIM_MOST_PATHS)
            return sim_parse_fail(&parser, "The simulator has no room for so many paths") >= 0;
    } while (sim_parse_take(&parser, ","));
    sim_parse_skip(&parser);
    if (*parser.at)
        return sim_parse_fail(&parser, "Syntax error") >= 0;
    for (size_t i = 0; i < *count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (sim_paths_overlap(of, &of->nodes[*first + i], &of->nodes[*first + k]))
                return sim_outcome_refuse(of->out, "Invalid ProjectionExpression: Two document "
                                                   "paths overlap with each other");
        }
    }
    return true;
}

const char *sim_expressions_top(const struct sim_expressions *of, const struct sim_term *path)
{
    return of->steps[path->step].name;
}

bool sim_expressions_each_path(const struct sim_expressions *of, int root,
                               bool (*fn)(void *arg, const char *top), void *arg)
{
    if (root < 0)
        return true;
    const struct sim_term *node = &of->nodes[root];
    if (node->kind == SIM_TERM_PATH)
        return fn(arg, sim_expressions_top(of, node));
    bool ok = sim_expressions_each_path(of, node->next, fn, arg);
    for (unsigned i = 0; ok && i < 3; i++)
        ok = sim_expressions_each_path(of, node->parts[i], fn, arg);
    return ok;
}

/* What an expression is evaluated on. */
struct sim_operand {
    const struct sim_expressions *of;
    const struct sim_version *version;
    int index;
};

static const struct sim_value *sim_value_member(const struct sim_value *value,
                                                const struct sim_step *step)
{
    if (step->name ? value->type != SIM_M : value->type != SIM_L)
        return NULL;
    if (!step->name)
        return step->index < value->member_count ? &value->members[step->index].value : NULL;
    for (size_t i = 0; i < value->member_count; i++) {
        if (strcmp(value->members[i].name, step->name) == 0)
            return &value->members[i].value;
    }
    return NULL;
}

/* The value of an operand; NULL: there is none. SIZE is storage for size(). */
static const struct sim_value *sim_view_operand(const struct sim_operand *view, int node,
                                                struct sim_value *size, char *digits)
{
    const struct sim_term *at = &view->of->nodes[node];
    if (at->kind == SIM_TERM_VALUE)
        return at->value;
    if (at->kind == SIM_TERM_SIZE) {
        const struct sim_value *of = sim_view_operand(view, at->parts[0], NULL, NULL);
        if (!of || of->type == SIM_N || of->type == SIM_BOOL || of->type == SIM_NULL)
            return NULL;
        size_t count = of->type >= SIM_M   ? of->member_count
                       : of->type == SIM_S ? sim_text_count_utf8(of->bytes, of->size)
                                           : of->size;
        *size = (struct sim_value){
            .type = SIM_N, .bytes = digits, .size = (size_t)sprintf(digits, "%zu", count)};
        return size;
    }
    const struct sim_step *steps = &view->of->steps[at->step];
    if (!sim_index_has(view->version->item->table, view->index, steps[0].name))
        return NULL;
    const struct sim_value *value = sim_version_get(view->version, steps[0].name);
    for (unsigned i = 1; value && i < at->step_count; i++)
        value = sim_value_member(value, &steps[i]);
    return value;
}

static bool sim_value_contains(const struct sim_value *value, const struct sim_value *piece)
{
    if (value->type == SIM_S || value->type == SIM_B)
        return piece->type == value->type &&
               (piece->size == 0 ||
                memmem(value->bytes, value->size, piece->bytes, piece->size) != NULL);
    bool found = false;
    for (size_t i = 0; !found && value->type >= SIM_L && i < value->member_count; i++)
        found = sim_value_equal(&value->members[i].value, piece);
    return found;
}

static bool sim_value_begins(const struct sim_value *value, const struct sim_value *prefix)
{
    return value->type == prefix->type && (value->type == SIM_S || value->type == SIM_B) &&
           value->size >= prefix->size && memcmp(value->bytes, prefix->bytes, prefix->size) == 0;
}

static bool sim_values_are_ordered(const struct sim_value *a, const struct sim_value *b)
{
    return a->type == b->type && a->type <= SIM_B;
}

static bool sim_view_compare(const struct sim_operand *view, const struct sim_term *node)
{
    struct sim_value sizes[3];
    char digits[3][24];
    const struct sim_value *values[3] = {0};
    for (unsigned i = 0; i < 3; i++) {
        if (node->parts[i] >= 0 && !(node->kind == SIM_TERM_IN && i > 0))
            values[i] = sim_view_operand(view, node->parts[i], &sizes[i], digits[i]);
    }
    const struct sim_value *a = values[0], *b = values[1], *c = values[2];
    if (node->kind == SIM_TERM_EXISTS || node->kind == SIM_TERM_NOT_EXISTS)
        return (a != NULL) == (node->kind == SIM_TERM_EXISTS);
    if (node->kind == SIM_TERM_NOT_EQUAL)
        return !a || !b || !sim_value_equal(a, b);
    if (!a)
        return false;
    bool found = false;
    for (int link = node->kind == SIM_TERM_IN ? node->parts[1] : -1; !found && link >= 0;
         link = view->of->nodes[link].next) {
        b = sim_view_operand(view, view->of->nodes[link].parts[0], &sizes[1], digits[1]);
        found = b && sim_value_equal(a, b);
    }
    if (node->kind == SIM_TERM_IN || !b)
        return found;
    switch (node->kind) {
    case SIM_TERM_EQUAL:
        return sim_value_equal(a, b);
    case SIM_TERM_TYPE:
        return strcmp(sim_type_name(a->type), b->bytes) == 0;
    case SIM_TERM_BEGINS:
        return sim_value_begins(a, b);
    case SIM_TERM_CONTAINS:
        return sim_value_contains(a, b);
    case SIM_TERM_LESS:
        return sim_values_are_ordered(a, b) && sim_value_compare(a, b) < 0;
    case SIM_TERM_AT_MOST:
        return sim_values_are_ordered(a, b) && sim_value_compare(a, b) <= 0;
    case SIM_TERM_GREATER:
        return sim_values_are_ordered(a, b) && sim_value_compare(a, b) > 0;
    case SIM_TERM_AT_LEAST:
        return sim_values_are_ordered(a, b) && sim_value_compare(a, b) >= 0;
    case SIM_TERM_BETWEEN:
        return c && sim_values_are_ordered(a, b) && sim_values_are_ordered(a, c) &&
               sim_value_compare(a, b) >= 0 && sim_value_compare(a, c) <= 0;
    default:
        return false;
    }
}

static bool sim_view_match(const struct sim_operand *view, int root)
{
    const struct sim_term *node = &view->of->nodes[root];
    switch (node->kind) {
    case SIM_TERM_AND:
        return sim_view_match(view, node->parts[0]) && sim_view_match(view, node->parts[1]);
    case SIM_TERM_OR:
        return sim_view_match(view, node->parts[0]) || sim_view_match(view, node->parts[1]);
    case SIM_TERM_NOT:
        return !sim_view_match(view, node->parts[0]);
    default:
        return sim_view_compare(view, node);
    }
}

bool sim_expressions_match(const struct sim_expressions *of, int root,
                           const struct sim_version *version, int index)
{
    struct sim_operand view = {.of = of, .version = version, .index = index};
    return root < 0 || sim_view_match(&view, root);
}

/* The paths of a projection that lead to or through one value: those whose first DEPTH steps led
 * here.
 */
struct sim_selection {
    const struct sim_expressions *of;
    const struct sim_term *paths[SIM_MOST_PATHS];
    size_t count;
    unsigned depth;
};

/* The paths that go on with the member; false: none. *WHOLE: one ends with it. */
static bool sim_selection_enter(const struct sim_selection *in, const char *name, size_t index,
                                struct sim_selection *out, bool *whole)
{
    out->of = in->of;
    out->count = 0;
    out->depth = in->depth + 1;
    *whole = false;
    for (size_t i = 0; i < in->count; i++) {
        const struct sim_step *step = &in->of->steps[in->paths[i]->step + in->depth];
        if (name ? !step->name || strcmp(step->name, name) != 0
                 : step->name || step->index != index)
            continue;
        *whole = *whole || in->paths[i]->step_count == out->depth;
        out->paths[out->count++] = in->paths[i];
    }
    return out->count > 0;
}

/* Whether the paths lead to something in VALUE. */
static bool sim_selection_write(const struct sim_selection *in, const struct sim_value *value,
                                struct sim_text *out)
{
    if (value->type != SIM_M && value->type != SIM_L)
        return false;
    bool any = false, is_map = value->type == SIM_M;
    struct sim_text inside = {0};
    for (size_t i = 0; i < value->member_count; i++) {
        struct sim_selection next;
        bool whole;
        const struct sim_attribute *member = &value->members[i];
        if (!sim_selection_enter(in, member->name, i, &next, &whole))
            continue;
        struct sim_text text = {0};
        if (whole)
            sim_value_write(&text, &member->value);
        if (whole || sim_selection_write(&next, &member->value, &text)) {
            sim_text_puts(&inside, any ? "," : "");
            if (is_map) {
                sim_text_json_string(&inside, member->name, strlen(member->name));
                sim_text_puts(&inside, ":");
            }
            sim_text_add(&inside, text.bytes, text.size);
            any = true;
        }
        sim_text_free(&text);
    }
    if (any)
        sim_text_printf(out, is_map ? "{\"M\":{%s}}" : "{\"L\":[%s]}", inside.bytes);
    sim_text_free(&inside);
    return any;
}

void sim_expressions_write_item(const struct sim_expressions *of, size_t first, size_t count,
                                const struct sim_version *version, int index, struct sim_text *out)
{
    struct sim_selection all = {.of = of, .count = count};
    for (size_t i = 0; i < count; i++)
        all.paths[i] = &of->nodes[first + i];
    bool any = false;
    sim_text_puts(out, "{");
    /* The order of attributes is unspecified: each version has its own. */
    for (size_t i = 0; i < version->attribute_count; i++) {
        const struct sim_attribute *at =
            &version->attributes[(i + version->number) % version->attribute_count];
        struct sim_selection next;
        bool whole = count == 0;
        if (!sim_index_has(version->item->table, index, at->name) ||
            (count && !sim_selection_enter(&all, at->name, 0, &next, &whole)))
            continue;
        struct sim_text text = {0};
        if (whole || sim_selection_write(&next, &at->value, &text)) {
            sim_text_puts(out, any ? "," : "");
            sim_text_json_string(out, at->name, strlen(at->name));
            sim_text_puts(out, ":");
            if (whole)
                sim_value_write(out, &at->value);
            else
                sim_text_add(out, text.bytes, text.size);
            any = true;
        }
        sim_text_free(&text);
    }
    sim_text_puts(out, "}");
}
