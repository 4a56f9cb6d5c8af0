#include "core/map/compile.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/condition/condition.h"
#include "core/map/link.h"
#include "core/map/listable.h"
#include "core/map/pattern.h"
#include "core/map/route.h"

/* Limits of a "match" expression. The C library does not bound its work: it follows nested groups
 * with its stack, and writes out a repeated part as often as it may be repeated, which multiplies
 * where repeats are nested. */
enum { REGEX_MAX_BYTES = 1000, REGEX_MAX_NESTING = 20, REGEX_MAX_STEPS = 1000 };

/* The size of an expression with its repeats written out. */
struct regex_size {
    unsigned long steps[REGEX_MAX_NESTING + 1]; /* of each open group */
    unsigned long last;                         /* of the last part, which a repeat multiplies */
    size_t depth;
};

static bool regex_add(struct regex_size *size, unsigned long steps)
{
    size->last = steps;
    size->steps[size->depth] += steps;
    return size->steps[size->depth] <= REGEX_MAX_STEPS;
}

/* The last part is written out TIMES times instead of once. */
static bool regex_repeat(struct regex_size *size, unsigned long times)
{
    if (times < 2)
        return true;
    unsigned long more = size->last * (times - 1); /* both are small: no overflow */
    size->last += more;
    size->steps[size->depth] += more;
    return size->steps[size->depth] <= REGEX_MAX_STEPS;
}

/* The end of the brackets that begin at AT; they count as one step. */
static const char *regex_skip_brackets(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    if (*at == ']')
        at++;
    for (; *at && *at != ']'; at++) {
        bool class = at[0] == '[' && at[1] && strchr(":.=", at[1]);
        const char closing[] = {at[1], ']', '\0'};
        const char *end = class ? strstr(at + 2, closing) : NULL;
        if (end)
            at = end + 1;
    }
    return *at ? at + 1 : at;
}

/* The repeats of "{3}", "{3,}" or "{3,5}" at AT; END gets the end of it. 0 if it is no repeat. */
static unsigned long regex_read_repeat(const char *at, const char **end)
{
    char *after;
    unsigned long least = strtoul(at + 1, &after, 10), most = least;
    if (after == at + 1 && *after != ',')
        return 0;
    if (*after == ',') {
        const char *second = after + 1;
        most = strtoul(second, &after, 10);
        if (after == second)
            most = least + 1; /* without an upper bound: one more, with a star */
    }
    if (*after != '}')
        return 0;
    *end = after + 1;
    return most > REGEX_MAX_STEPS ? REGEX_MAX_STEPS + 1 : most + (most == 0);
}

/* Adds the part at AT to SIZE; NEXT gets its end. NULL, or the reason to refuse the expression. The
 * syntax is checked by regcomp alone. */
static const char *regex_measure(struct regex_size *size, const char *at, const char **next)
{
    bool fits = true;
    *next = at + 1;
    unsigned long times = *at == '{' ? regex_read_repeat(at, next) : 0;
    if (*at == '(' && size->depth == REGEX_MAX_NESTING)
        return "it nests more than 20 groups";
    if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
        return "it refers back (\\1), which can take unlimited time";
    if (*at == '(') {
        size->depth++;
        size->steps[size->depth] = 0;
        size->last = 0;
    } else if (*at == ')' && size->depth > 0) {
        unsigned long inside = size->steps[size->depth--];
        fits = regex_add(size, inside + 1);
    } else if (times > 0) {
        fits = regex_repeat(size, times);
    } else if (*at == '+') {
        fits = regex_repeat(size, 2); /* x+ is xx* */
    } else if (*at == '[') {
        *next = regex_skip_brackets(at);
        fits = regex_add(size, 1);
    } else if (!strchr("*?|^$", *at)) {
        *next = *at == '\\' && at[1] ? at + 2 : *next;
        fits = regex_add(size, 1);
    }
    return fits ? NULL
                : "it is too large: with each repeat written out it may have 1000 characters";
}

enum regex_result { REGEX_OK, REGEX_WRONG, REGEX_NO_MEMORY };

/* Compiles EXPRESSION, POSIX extended, into OUT; the caller frees it with regfree if REGEX_OK. If
 * REGEX_WRONG, WHY of SIZE bytes gets the end of a sentence that begins with "match". */
static enum regex_result regex_compile(const char *expression, regex_t *out, char *why, size_t size)
{
    struct regex_size measured = {0};
    const char *next,
        *wrong = strlen(expression) > REGEX_MAX_BYTES ? "it is longer than 1000 bytes" : NULL;
    for (const char *at = expression; *at && !wrong; at = next)
        wrong = regex_measure(&measured, at, &next);
    if (wrong) {
        snprintf(why, size, "can't be used: %s", wrong);
        return REGEX_WRONG;
    }
    int code = regcomp(out, expression, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return REGEX_OK;
    if (code == REG_ESPACE)
        return REGEX_NO_MEMORY;
    char reason[128];
    regerror(code, out, reason, sizeof reason);
    snprintf(why, size, "is no regular expression: %s", reason);
    return REGEX_WRONG;
}

/* A model while it is made. */
struct compiling {
    struct model *model;
    const struct declared_table *table;
    struct findings *findings;
    bool broken; /* part of the table is unreadable: do not check references to it */
};

/* Copies a text of the declaration, which does not outlive the compilation, for the model. */
static const char *compile_store(struct compiling *compiling, const char *text)
{
    return text ? arena_text(&compiling->model->arena, span_text(text)) : NULL;
}

/* The first readable record has the table's key attributes. */
static bool compile_make_keys(struct compiling *compiling)
{
    struct model *model = compiling->model;
    const struct declared_record *first = compiling->table->records;
    while (first && first->broken)
        first = first->next;
    if (!first)
        return false;
    if (first->key_count == 0)
        return findings_add(compiling->findings, first->at,
                            "record \"%s\" needs a format for each key attribute", first->name);
    for (size_t i = 0; i < first->key_count; i++)
        model->keys[model->key_count++] =
            (struct map_key){.attribute = compile_store(compiling, first->keys[i].attribute)};
    return true;
}

static bool compile_make_kind(struct compiling *compiling, const struct declared_record *record,
                              struct map_kind *kind)
{
    struct model *model = compiling->model;
    *kind = (struct map_kind){.name = compile_store(compiling, record->name),
                              .line = record->at.line,
                              .column = record->at.column};
    for (size_t k = 0; k < record->key_count; k++) {
        const struct declared_key *key = &record->keys[k];
        size_t i = 0;
        while (i < model->key_count && strcmp(model->keys[i].attribute, key->attribute) != 0)
            i++;
        if (i == model->key_count)
            return findings_add(compiling->findings, key->at,
                                "all records of a table have the same key attributes; \"%s\" is "
                                "new",
                                key->attribute);
        format_copy(&model->arena, &key->format, &kind->keys[i]);
    }
    return record->key_count == model->key_count ||
           findings_add(compiling->findings, record->at,
                        "record \"%s\" needs a format for each key attribute", record->name);
}

/* The kind of list "*", which has all items. A key attribute has the format that all kinds share,
 * or else is one open part. */
static bool compile_make_any_kind(struct compiling *compiling)
{
    struct model *model = compiling->model;
    struct map_kind *any = arena_alloc(&model->arena, sizeof *any);
    if (!any)
        return false;
    any->name = "*";
    for (size_t i = 0; i < model->key_count; i++) {
        bool shared = i == 0;
        for (struct map_kind *kind = model->kinds; kind; kind = kind->next)
            shared = shared && format_equal(&kind->keys[i], &model->kinds->keys[i]);
        if (shared)
            any->keys[i] = model->kinds->keys[i];
        else
            format_parse(&model->arena, span_text(i == 0 ? "{partition-key*}" : "{sort-key*}"),
                         &any->keys[i]);
    }
    model->any = any;
    return true;
}

/* False if no kind is readable, so that no path can be compiled. */
static bool compile_make_kinds(struct compiling *compiling)
{
    struct model *model = compiling->model;
    struct map_kind **last = &model->kinds;
    const struct declared_record *record;
    for (record = compiling->table->records; record; record = record->next) {
        struct map_kind *kind = arena_alloc(&model->arena, sizeof *kind);
        if (!kind)
            return false;
        if (record->broken || !compile_make_kind(compiling, record, kind)) {
            compiling->broken = true;
            continue;
        }
        *last = kind;
        last = &kind->next;
    }
    return model->kinds && compile_make_any_kind(compiling);
}

static void compile_make_side(struct compiling *compiling, const struct declared_key *from,
                              size_t count, struct map_key *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i].attribute = compile_store(compiling, from[i].attribute);
        format_copy(&compiling->model->arena, &from[i].format, &to[i].format);
    }
}

static bool compile_make_indexes(struct compiling *compiling)
{
    struct model *model = compiling->model;
    struct map_index **last = &model->indexes;
    const struct declared_index *from;
    for (from = compiling->table->indexes; from; from = from->next) {
        struct map_index *index = arena_alloc(&model->arena, sizeof *index);
        if (!index)
            return false;
        compiling->broken = compiling->broken || from->broken;
        if (from->broken)
            continue;
        index->name = compile_store(compiling, from->name);
        index->partition_count = from->partition_count;
        index->sort_count = from->sort_count;
        index->projects = from->projects;
        index->includes = arena_array(&model->arena, from->include_count, sizeof *index->includes);
        for (size_t i = 0; index->includes && i < from->include_count; i++)
            index->includes[index->include_count++] = compile_store(compiling, from->includes[i]);
        index->line = from->at.line;
        index->column = from->at.column;
        index->local = from->local;
        compile_make_side(compiling, from->partition, from->partition_count, index->partition);
        compile_make_side(compiling, from->sort, from->sort_count, index->sort);
        *last = index;
        last = &index->next;
    }
    return true;
}

static bool compile_make_vectors(struct compiling *compiling)
{
    struct map_vector **last = &compiling->model->vectors;
    for (const struct map_vector *from = compiling->table->vectors; from; from = from->next) {
        struct map_vector *vector = arena_alloc(&compiling->model->arena, sizeof *vector);
        if (!vector)
            return false;
        *vector = *from;
        vector->name = compile_store(compiling, from->name);
        vector->step = compile_store(compiling, from->step);
        vector->attribute = compile_store(compiling, from->attribute);
        vector->distance = compile_store(compiling, from->distance);
        vector->partition = compile_store(compiling, from->partition);
        vector->status = compile_store(compiling, from->status);
        vector->next = NULL;
        *last = vector;
        last = &vector->next;
    }
    return true;
}

/* Formats of an index attribute that differ by kind. For a listing of "*" the attribute is one open
 * part. */
static bool compile_make_by_kind(struct compiling *compiling, const struct declared_key *from,
                                 struct map_key *to)
{
    struct model *model = compiling->model;
    CLEAN_UP(buf_clean_up) struct buf open = {0};
    size_t count = 1;
    const struct declared_kind_format *each;
    if (model_is_key(model, from->attribute))
        return findings_add(compiling->findings, from->at,
                            "%s is a key of the table, too; its formats are in \"records\"",
                            from->attribute);
    for (each = from->by_kind; each; each = each->next)
        count++;
    to->by_kind = arena_array(&model->arena, count, sizeof *to->by_kind);
    if (!to->by_kind)
        return false;
    for (each = from->by_kind; each; each = each->next) {
        struct map_kind_format *format = &to->by_kind[to->by_kind_count];
        format->kind = model_find_kind(model, each->kind);
        if (!format->kind && !compiling->broken)
            findings_add(compiling->findings, each->at,
                         "\"records\" has no kind of the name \"%s\"; add it there", each->kind);
        if (!format->kind)
            continue;
        format_copy(&model->arena, &each->format, &format->format);
        to->by_kind_count++;
    }
    struct map_kind_format *any = &to->by_kind[to->by_kind_count++];
    any->kind = model->any;
    buf_printf(&open, "{%s*}", from->attribute);
    model->arena.failed = model->arena.failed || open.failed;
    const char *wrong = format_parse(&model->arena, buf_span(&open), &any->format);
    if (wrong) /* no name of a parameter */
        format_parse(&model->arena, SPAN_LITERAL("{index-key*}"), &any->format);
    return true;
}

/* Stores the kinds of these names in OUT. Returns their number. */
static size_t compile_find_kinds(struct compiling *compiling, const struct declared_name *names,
                                 size_t count, const struct map_kind **out)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct map_kind *kind = model_find_kind(compiling->model, names[i].text);
        if (kind)
            out[found++] = kind;
        else if (!compiling->broken)
            findings_add(compiling->findings, names[i].at,
                         "\"records\" has no kind of the name \"%s\"; add it there", names[i].text);
    }
    return found;
}

/* Completes the indexes, once the table's keys and kinds are complete. */
static bool compile_join_indexes(struct compiling *compiling)
{
    struct model *model = compiling->model;
    struct map_index *index = model->indexes;
    const struct declared_index *from;
    for (from = compiling->table->indexes; from; from = from->next) {
        if (from->broken)
            continue;
        for (size_t i = 0; i < index->partition_count; i++)
            if (from->partition[i].by_kind &&
                !compile_make_by_kind(compiling, &from->partition[i], &index->partition[i]))
                return false;
        for (size_t i = 0; i < index->sort_count; i++)
            if (from->sort[i].by_kind &&
                !compile_make_by_kind(compiling, &from->sort[i], &index->sort[i]))
                return false;
        if (index->local && (index->partition_count != 1 ||
                             strcmp(index->partition[0].attribute, model->keys[0].attribute) != 0))
            findings_add(compiling->findings, FINDING_AT(index),
                         "a local index has the table's partition key, which is %s",
                         model->keys[0].attribute);
        index->has_holds = from->has_holds;
        index->holds = arena_array(&model->arena, from->hold_count, sizeof *index->holds);
        if (!index->holds)
            return false;
        index->hold_count =
            compile_find_kinds(compiling, from->holds, from->hold_count, index->holds);
        index = index->next;
    }
    return true;
}

/* Sets the type of an attribute's keys; returns their number. */
static size_t compile_set_type(struct map_key *keys, size_t count, const struct declared_type *type)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].attribute, type->attribute) == 0) {
            keys[i].type = type->type;
            found++;
        }
    }
    return found;
}

/* Whether CONDITIONS test TARGET. */
static bool compile_is_filtered(const struct declared_condition *conditions, const char *target)
{
    for (; conditions; conditions = conditions->next)
        if (compile_is_filtered(conditions->children, target) ||
            (conditions->target && strcmp(conditions->target, target) == 0))
            return true;
    return false;
}

static void compile_set_types(struct compiling *compiling)
{
    struct model *model = compiling->model;
    const struct declared_type *type;
    for (type = compiling->table->types; type; type = type->next) {
        size_t found = compile_set_type(model->keys, model->key_count, type);
        for (struct map_index *index = model->indexes; index; index = index->next)
            found += compile_set_type(index->partition, index->partition_count, type) +
                     compile_set_type(index->sort, index->sort_count, type);
        if (found > 0 && type->type > VALUE_B)
            findings_add(compiling->findings, type->at,
                         "%s is a key, and so of type \"S\", \"N\" or \"B\"", type->attribute);
        const struct declared_path *path = compiling->table->paths;
        while (path && !compile_is_filtered(path->filters, type->attribute))
            path = path->next;
        if (found == 0 && !compiling->broken && !path)
            findings_add(
                compiling->findings, type->at,
                "\"%s\" is neither a key attribute of the table or its indexes, nor in a filter",
                type->attribute);
    }
}

/* A number or a binary has no parts: its format is a whole parameter, or one fixed value. */
static void compile_set_format_type(struct compiling *compiling, const struct map_key *key,
                                    struct format *format, struct finding_at at)
{
    struct error err;
    if (format->count == 0 || key->type == VALUE_S)
        return;
    for (size_t i = 0; i < format->count; i++) {
        format->pieces[i].type = key->type;
        if (format_is_spelled(&format->pieces[i]))
            findings_add(compiling->findings, at,
                         "%s is %s, which has no spelling: remove the colon and the text behind it",
                         key->attribute, key->type == VALUE_N ? "a number" : "binary");
    }
    if (format_whole_param(format) || (format_is_literal(format) && key->type == VALUE_B))
        return;
    if (!format_is_literal(format))
        findings_add(compiling->findings, at,
                     "%s is %s, which has no parts: its format is one whole part, \"{%s}\", or a "
                     "fixed value",
                     key->attribute, key->type == VALUE_N ? "a number" : "binary", key->attribute);
    else if (!operand_check(key->attribute, key->type, format_literal(format), &err))
        findings_add(compiling->findings, at, "%s", err.text);
}

static void compile_set_side_types(struct compiling *compiling, struct map_key *keys, size_t count,
                                   struct finding_at at)
{
    for (size_t i = 0; i < count; i++) {
        compile_set_format_type(compiling, &keys[i], &keys[i].format, at);
        for (size_t k = 0; k < keys[i].by_kind_count; k++)
            compile_set_format_type(compiling, &keys[i], &keys[i].by_kind[k].format, at);
    }
}

static void compile_set_format_types(struct compiling *compiling)
{
    struct model *model = compiling->model;
    for (struct map_kind *kind = model->kinds; kind; kind = kind->next)
        for (size_t i = 0; i < model->key_count; i++)
            compile_set_format_type(compiling, &model->keys[i], &kind->keys[i], FINDING_AT(kind));
    for (size_t i = 0; i < model->key_count; i++)
        compile_set_format_type(compiling, &model->keys[i], &model->any->keys[i],
                                FINDING_AT(model));
    for (struct map_index *index = model->indexes; index; index = index->next) {
        compile_set_side_types(compiling, index->partition, index->partition_count,
                               FINDING_AT(index));
        compile_set_side_types(compiling, index->sort, index->sort_count, FINDING_AT(index));
    }
}

static bool compile_make_match(struct compiling *compiling, const struct declared_param *from,
                               struct map_param *param)
{
    char why[200];
    switch (regex_compile(from->match, &param->regex, why, sizeof why)) {
    case REGEX_OK:
        param->match = compile_store(compiling, from->match);
        if (!param->match)
            regfree(&param->regex);
        return param->match;
    case REGEX_NO_MEMORY:
        return findings_no_memory(compiling->findings);
    case REGEX_WRONG:
        break;
    }
    compiling->broken = true;
    findings_add(compiling->findings, from->match_at, "\"match\" %s", why);
    return true;
}

static bool compile_make_params(struct compiling *compiling)
{
    struct model *model = compiling->model;
    struct map_param **last = &model->params;
    const struct declared_param *from;
    for (from = compiling->table->params; from; from = from->next) {
        struct map_param *param = arena_alloc(&model->arena, sizeof *param);
        struct span *values = arena_array(&model->arena, from->value_count, sizeof *values);
        if (!param || !values)
            return false;
        for (size_t i = 0; i < from->value_count; i++)
            values[i] = arena_copy(&model->arena, span_text(from->values[i]));
        param->name = compile_store(compiling, from->name);
        param->values = values;
        param->value_count = from->value_count;
        param->only = from->only;
        param->owner = compile_store(compiling, from->owner);
        param->hint = compile_store(compiling, from->hint);
        param->typed = from->typed;
        param->type = from->type;
        param->line = from->at.line;
        param->column = from->at.column;
        compiling->broken = compiling->broken || from->broken;
        *last = param;
        last = &param->next;
        if (from->match && !compile_make_match(compiling, from, param))
            return false;
    }
    return true;
}

/* The key of the owner has the parameter, so that a listing of these items has all of its values.
 */
static void compile_check_owners(struct compiling *compiling)
{
    struct model *model = compiling->model;
    for (const struct map_param *param = model->params; param; param = param->next) {
        const struct map_kind *kind = param->owner ? model_find_kind(model, param->owner) : NULL;
        bool stated = false;
        for (size_t i = 0; kind && i < model->key_count; i++)
            stated = stated || format_has(&kind->keys[i], param->name);
        if (param->owner && !stated && !compiling->broken)
            findings_add(compiling->findings, FINDING_AT(param),
                         "the \"owner\" of {%s} must be a kind of record whose key has {%s}, and "
                         "\"%s\" is not one",
                         param->name, param->name, param->owner);
    }
}

struct spelling_collection {
    struct model *model;
    struct arena *arena;
    struct findings *findings;
    struct format_piece *spelled; /* room for all spelled pieces */
    unsigned *lines;
};

/* Calls FN for each format of a key of type S. */
static void spelling_each_format(struct spelling_collection *collection,
                                 void (*fn)(struct spelling_collection *, const struct format *,
                                            struct finding_at at))
{
    const struct model *model = collection->model;
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        for (size_t i = 0; i < model->key_count; i++)
            if (model->keys[i].type == VALUE_S)
                fn(collection, &kind->keys[i], FINDING_AT(kind));
    for (const struct map_index *index = model->indexes; index; index = index->next) {
        const struct map_key *key;
        for (size_t i = 0; (key = model_index_key(index, i)); i++) {
            if (key->type != VALUE_S)
                continue;
            fn(collection, &key->format, FINDING_AT(index));
            for (size_t k = 0; k < key->by_kind_count; k++)
                if (key->by_kind[k].kind != model->any)
                    fn(collection, &key->by_kind[k].format, FINDING_AT(index));
        }
    }
}

static void spelling_write(const struct format_piece *spelling, struct buf *out)
{
    struct format_piece piece = *spelling;
    piece.open = false;
    format_write(&(struct format){&piece, 1}, out);
}

static void spelling_count(struct spelling_collection *collection, const struct format *format,
                           struct finding_at at)
{
    (void)at;
    for (size_t i = 0; i < format->count; i++)
        collection->model->spelled_count +=
            format->pieces[i].param && format_is_spelled(&format->pieces[i]);
}

static void spelling_add(struct spelling_collection *collection, const struct format *format,
                         struct finding_at at)
{
    struct model *model = collection->model;
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        if (!piece->param || !format_is_spelled(piece))
            continue;
        if (piece->pad && model->separator >= '0' && model->separator <= '9')
            findings_add(
                collection->findings, at,
                "{%s} is padded with zeros, but the separator is a digit; choose another separator",
                piece->param);
        if (model_spelling(model, piece->param))
            continue;
        collection->lines[model->spelled_count] = at.line;
        collection->spelled[model->spelled_count++] = *piece;
    }
}

static void spelling_compare(struct spelling_collection *collection, const struct format *format,
                             struct finding_at at)
{
    const struct model *model = collection->model;
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        const struct format_piece *spelling =
            piece->param ? model_spelling(model, piece->param) : NULL;
        if (!spelling || (spelling->letters == piece->letters && spelling->pad == piece->pad))
            continue;
        CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
        spelling_write(piece, &one);
        spelling_write(spelling, &other);
        findings_add(
            collection->findings, at,
            "a part has one spelling everywhere, but this is %s and line %u has %s; rename one "
            "of them",
            buf_text(&one), collection->lines[spelling - model->spelled], buf_text(&other));
    }
}

/* A known value that no key can contain would never be found. */
static void spelling_check_values(const struct spelling_collection *collection)
{
    const struct model *model = collection->model;
    for (const struct map_param *param = model->params; param; param = param->next) {
        for (size_t i = 0; i < param->value_count; i++) {
            CLEAN_UP(buf_clean_up) struct buf value = {0};
            struct error err;
            const struct format_piece *spelling = model_spelling(model, param->name);
            if (!spelling || (format_read_part(spelling, param->values[i], &value) &&
                              span_equal(buf_span(&value), param->values[i])))
                continue;
            if (value.size > 0)
                findings_add(collection->findings, FINDING_AT(param),
                             "by its format in the key {%s} is \"%s\", not \"%.*s\"", param->name,
                             buf_text(&value), (int)param->values[i].size, param->values[i].data);
            else if (!format_refuse_part(spelling, param->values[i], &err))
                findings_add(collection->findings, FINDING_AT(param), "%s", err.text);
        }
    }
}

/* Collects the spelled parts of the formats of MODEL, whose kinds, indexes and parameters are
 * complete. Reports a part with two spellings, and a known value that its part cannot have. */
static void spelling_collect(struct model *model, struct arena *arena, struct findings *findings)
{
    struct spelling_collection collection = {.model = model, .arena = arena, .findings = findings};
    spelling_each_format(&collection, spelling_count);
    if (model->spelled_count == 0)
        return;
    collection.spelled = arena_array(arena, model->spelled_count, sizeof *collection.spelled);
    collection.lines = arena_array(arena, model->spelled_count, sizeof *collection.lines);
    model->spelled_count = 0;
    model->spelled = collection.spelled;
    if (!collection.spelled || !collection.lines)
        return;
    spelling_each_format(&collection, spelling_add);
    spelling_each_format(&collection, spelling_compare);
    spelling_check_values(&collection);
}

static void compile_make_patterns(struct compiling *compiling)
{
    struct model *model = compiling->model;
    struct map_pattern **last = &model->patterns;
    const struct declared_path *path;
    for (path = compiling->table->paths; path; path = path->next) {
        *last = pattern_compile(model, &model->arena, compiling->table, path, compiling->findings);
        if (*last)
            last = &(*last)->next;
        else
            compiling->broken = true;
    }
}

static bool compile_make_secrets(struct compiling *compiling)
{
    struct model *model = compiling->model;
    size_t count = compiling->table->secret_count;
    model->secrets = arena_array(&model->arena, count, sizeof *model->secrets);
    for (size_t i = 0; model->secrets && i < count; i++)
        model->secrets[model->secret_count++] =
            compile_store(compiling, compiling->table->secrets[i]);
    return model->secrets;
}

/* Whether some key of the table or an index has the part. */
static bool compile_has_part(const struct model *model, const char *param)
{
    const struct map_key *key;
    const struct format *format;
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next) {
        for (size_t i = 0; i < model->key_count; i++)
            if (format_has(&kind->keys[i], param))
                return true;
        for (const struct map_index *index = model->indexes; index; index = index->next)
            for (size_t i = 0; (key = model_index_key(index, i)); i++)
                if ((format = model_key_format(model, key, kind)) && format_has(format, param))
                    return true;
    }
    return false;
}

static void compile_make_attributes(struct compiling *compiling)
{
    struct model *model = compiling->model;
    struct map_attribute **last = &model->attributes;
    const struct declared_attribute *from;
    for (from = compiling->table->attributes; from; from = from->next) {
        struct map_attribute *made = arena_alloc(&model->arena, sizeof *made);
        const struct map_kind **kinds = arena_array(&model->arena, from->kind_count, sizeof *kinds);
        if (!made || !kinds)
            return;
        *made = (struct map_attribute){compile_store(compiling, from->name), kinds, 0, NULL};
        if (!compiling->broken && !compile_has_part(model, from->name))
            findings_add(compiling->findings, from->at,
                         "\"attributes\" is about parts of keys, and no key has the part {%s}",
                         from->name);
        made->kind_count = compile_find_kinds(compiling, from->kinds, from->kind_count, kinds);
        *last = made;
        last = &made->next;
    }
}

/* Members that a table needs. They are reported last: an unreadable member is reported instead. */
static void compile_check_members(const struct compiling *compiling)
{
    const struct declared_table *table = compiling->table;
    if (!table->base_name && !table->broken)
        findings_add(compiling->findings, table->at,
                     "table \"%s\" needs \"table\", its name without the prefix", table->path_name);
    if (!table->records && !table->broken)
        findings_add(compiling->findings, table->at,
                     "table \"%s\" needs \"records\", how its keys are written", table->path_name);
    if (!table->has_paths && !table->broken)
        findings_add(compiling->findings, table->at, "table \"%s\" has no \"paths\"",
                     table->path_name);
}

static bool compile_make(struct compiling *compiling)
{
    const struct declared_table *table = compiling->table;
    struct model *model = compiling->model;
    model->path_name = compile_store(compiling, table->path_name);
    model->base_name = compile_store(compiling, table->base_name);
    model->arn = compile_store(compiling, table->arn);
    model->separator = table->separator;
    model->mtime = compile_store(compiling, table->mtime);
    model->ttl_ms = table->ttl_ms;
    model->line = table->at.line;
    model->column = table->at.column;
    if (!compile_make_secrets(compiling) || !compile_make_params(compiling) ||
        !compile_make_indexes(compiling) || !compile_make_vectors(compiling) ||
        !compile_make_keys(compiling) || !compile_make_kinds(compiling) ||
        !compile_join_indexes(compiling))
        return false;
    compile_set_types(compiling);
    compile_set_format_types(compiling);
    compile_check_owners(compiling);
    compile_make_attributes(compiling);
    spelling_collect(model, &model->arena, compiling->findings);
    links_compile(model, &model->arena, table, !compiling->broken, compiling->findings);
    compile_make_patterns(compiling);
    model->root = route_build(model, &model->arena, !compiling->broken, compiling->findings);
    return model->root &&
           (compiling->broken || listable_check_groups(model->root, compiling->findings));
}

const struct model *compile_table(const struct declared_table *table, struct findings *findings)
{
    struct compiling compiling = {.model = model_new(), .table = table, .findings = findings};
    if (!compiling.model) {
        findings_no_memory(findings);
        return NULL;
    }
    size_t before = findings->count + findings->left_out;
    bool ok = compile_make(&compiling);
    compile_check_members(&compiling);
    /* Checked once, instead of for each text. */
    if (compiling.model->arena.failed)
        findings_no_memory(findings);
    if (ok && !compiling.model->arena.failed && findings->count + findings->left_out == before)
        return compiling.model;
    model_unref(compiling.model);
    return NULL;
}
