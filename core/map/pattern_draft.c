#include "core/map/pattern_draft.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/condition/condition.h"
#include "core/map/condition_template.h"

bool pattern_draft_fail(struct pattern_draft *draft, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return findings_add(draft->findings, draft->path->at, "\"%s\": %s", draft->path->path, text);
}

bool pattern_draft_fail_room(struct pattern_draft *draft)
{
    if (draft->arena->failed || draft->scratch.failed)
        return findings_no_memory(draft->findings);
    return pattern_draft_fail(draft, "a key has too many parts");
}

bool pattern_draft_path_has(const struct declared_path *path, const char *param)
{
    size_t size = strlen(param);
    for (const char *at = strchr(path->path, '{'); at; at = strchr(at + 1, '{')) {
        if (strncmp(at + 1, param, size) != 0)
            continue;
        const char *end = at + 1 + size;
        if (end[0] == '}' || (end[0] == '*' && end[1] == '}'))
            return true;
    }
    return false;
}

static const struct declared_condition *pattern_draft_find_where(const struct pattern_draft *draft,
                                                                 const char *target, bool whole)
{
    const struct declared_condition *where = draft->path->wheres;
    while (where && (where->whole != whole || strcmp(where->target, target) != 0))
        where = where->next;
    return where;
}

const struct declared_condition *pattern_draft_where_part(const struct pattern_draft *draft,
                                                          const char *part)
{
    return pattern_draft_find_where(draft, part, false);
}

const struct declared_condition *pattern_draft_where_key(const struct pattern_draft *draft,
                                                         const char *attribute)
{
    const struct declared_condition *where = pattern_draft_find_where(draft, attribute, true);
    return where ? where : pattern_draft_find_where(draft, attribute, false);
}

static const struct declared_condition *pattern_draft_equality_on(const struct pattern_draft *draft,
                                                                  const char *param)
{
    const struct declared_condition *where = pattern_draft_where_part(draft, param);
    return where && where->op == COND_EQ ? where : NULL;
}

bool pattern_draft_check_known(struct pattern_draft *draft, struct finding_at at,
                               const char *target, const struct format *value)
{
    const struct map_param *param = model_find_param(draft->model, target);
    if (!param || !format_is_literal(value) || value->count == 0)
        return true;
    CLEAN_UP(buf_clean_up) struct buf text = {0}, known = {0};
    bool found = param->value_count == 0;
    if (!model_read_part(draft->model, target, format_literal(value), &text))
        buf_add_span(&text, format_literal(value));
    for (size_t i = 0; i < param->value_count; i++) {
        found = found || span_equal(param->values[i], buf_span(&text));
        buf_printf(&known, "%s\"%.*s\"", i ? ", " : "", (int)param->values[i].size,
                   param->values[i].data);
    }
    if (text.failed || known.failed)
        return findings_no_memory(draft->findings);
    if (!found)
        return findings_add(draft->findings, at,
                            "\"%s\": by \"params\" {%s} is one of %s; \"%s\" is not among them",
                            draft->path->path, target, buf_text(&known), buf_text(&text));
    return !param->match || regexec(&param->regex, buf_text(&text), 0, NULL, 0) == 0 ||
           findings_add(draft->findings, at,
                        "\"%s\": by \"params\" {%s} matches %s; \"%s\" does not", draft->path->path,
                        target, param->match, buf_text(&text));
}

bool pattern_draft_states(const struct pattern_draft *draft, const char *param)
{
    return pattern_draft_path_has(draft->path, param) || pattern_draft_equality_on(draft, param);
}

bool pattern_draft_append(struct pattern_draft *draft, struct format *format,
                          const struct format_piece *piece)
{
    struct arena *arena = &draft->scratch;
    if (!format->pieces) {
        format->pieces = arena_array(arena, FORMAT_MAX_PIECES, sizeof *format->pieces);
        if (!format->pieces)
            return false;
    }
    struct format_piece *last = format->count ? &format->pieces[format->count - 1] : NULL;
    if (last && !last->param && !piece->param) {
        CLEAN_UP(buf_clean_up) struct buf joined = {0};
        buf_add_span(&joined, last->literal);
        buf_add_span(&joined, piece->literal);
        last->literal = arena_copy(arena, buf_span(&joined));
        arena->failed = arena->failed || joined.failed;
        return !arena->failed;
    }
    if (format->count == FORMAT_MAX_PIECES)
        return false;
    format->pieces[format->count++] = *piece;
    return true;
}

bool pattern_draft_append_all(struct pattern_draft *draft, struct format *format,
                              const struct format *more)
{
    for (size_t i = 0; i < more->count; i++)
        if (!pattern_draft_append(draft, format, &more->pieces[i]))
            return false;
    return true;
}

bool pattern_draft_stated(struct pattern_draft *draft, const struct format *format,
                          struct stated_text *out)
{
    *out = (struct stated_text){0};
    for (size_t i = 0; i < format->count; i++, out->pieces++) {
        const struct format_piece *piece = &format->pieces[i];
        const struct declared_condition *equal =
            piece->param ? pattern_draft_equality_on(draft, piece->param) : NULL;
        if (piece->param && !pattern_draft_states(draft, piece->param)) {
            out->stop = piece->param;
            return true;
        }
        if (!(equal ? pattern_draft_append_all(draft, &out->text, &equal->value)
                    : pattern_draft_append(draft, &out->text, piece)))
            return false;
    }
    return true;
}

struct span pattern_draft_cut_after_separator(const struct pattern_draft *draft, struct span text)
{
    while (text.size > 0 && text.data[text.size - 1] != draft->model->separator)
        text.size--;
    return text;
}

bool pattern_draft_common(struct pattern_draft *draft, const struct format *a,
                          const struct format *b, struct format *out)
{
    *out = (struct format){0};
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        const struct format_piece *left = &a->pieces[i], *right = &b->pieces[i];
        bool same = left->param && right->param ? strcmp(left->param, right->param) == 0
                                                : !left->param && !right->param &&
                                                      span_equal(left->literal, right->literal);
        if (!same) {
            size_t shared = 0; /* bytes; a parameter's literal is empty */
            while (shared < left->literal.size && shared < right->literal.size &&
                   left->literal.data[shared] == right->literal.data[shared])
                shared++;
            struct format_piece part = {.literal = pattern_draft_cut_after_separator(
                                            draft, span_of(left->literal.data, shared))};
            return part.literal.size == 0 || pattern_draft_append(draft, out, &part);
        }
        if (!pattern_draft_append(draft, out, left))
            return false;
    }
    return true;
}

bool pattern_draft_check_held(struct pattern_draft *draft, const char *member,
                              const char *attribute)
{
    const struct map_index *index = draft->pattern->index;
    if (!index || model_index_holds(draft->model, index, attribute))
        return true;
    if (index->projects == PROJECTS_KEYS)
        return pattern_draft_fail(
            draft, "\"%s\" looks at %s, but index %s holds keys alone, so no item would match",
            member, attribute, index->name);
    if (index->include_count > 0)
        return pattern_draft_fail(draft, "\"%s\" looks at %s, which index %s does not include",
                                  member, attribute, index->name);
    return pattern_draft_fail(
        draft,
        "\"%s\" looks at %s, but \"projects\" of index %s does not list it; list all attributes of "
        "the index: \"projects\": [\"%s\"]",
        member, attribute, index->name, attribute);
}

static bool pattern_draft_add_cond(struct pattern_draft *draft, const struct map_cond *cond)
{
    struct map_pattern *pattern = draft->pattern;
    if (pattern->where_count == READ_MAX_CONDS)
        return pattern_draft_fail(draft, "too many conditions");
    pattern->where[pattern->where_count] = *cond;
    pattern->where[pattern->where_count++].on_key = true;
    return true;
}

static bool pattern_draft_add_equality(struct pattern_draft *draft, const struct map_key *key,
                                       const struct format *value)
{
    struct map_cond cond = {
        .attribute = key->attribute, .type = key->type, .op = COND_EQ, .value = *value};
    return pattern_draft_add_cond(draft, &cond);
}

/* The format of KEY for KIND; NULL with a finding if the index has no items of KIND. */
static const struct format *pattern_draft_format_for(struct pattern_draft *draft,
                                                     const struct map_key *key,
                                                     const struct map_kind *kind)
{
    const struct format *format = model_key_format(draft->model, key, kind);
    if (!format)
        pattern_draft_fail(draft,
                           "index %s has no format for %s of \"%s\", so it holds no such items",
                           draft->pattern->index->name, key->attribute, kind->name);
    return format;
}

/* Whether the key can have VALUE, if that is a literal. */
static bool pattern_draft_check_literal(struct pattern_draft *draft, const struct map_key *key,
                                        const struct declared_condition *where,
                                        const struct format *value)
{
    struct error err;
    if (where->typed && key->type == VALUE_B)
        return pattern_draft_fail(draft, "\"where\" on %s: it is binary, and so never a number",
                                  where->target);
    if (!format_is_literal(value))
        return key->type != VALUE_N || format_whole_param(value) ||
               pattern_draft_fail(
                   draft, "\"where\" on %s: a number is one whole parameter, or written out",
                   where->target);
    return operand_check(where->target, key->type, format_literal(value), &err) ||
           pattern_draft_fail(draft, "\"where\" on %s: %s", where->target, err.text);
}

/* Whether the ends of a literal range are in order. Of a part, the upper end includes texts that
 * begin with it. */
static bool pattern_draft_check_range(struct pattern_draft *draft, const struct map_key *key,
                                      const struct declared_condition *where, bool of_part)
{
    if (where->op != COND_BETWEEN || !format_is_literal(&where->value) ||
        !format_is_literal(&where->upper))
        return true;
    struct span low = format_literal(&where->value), high = format_literal(&where->upper);
    int order = key->type == VALUE_N ? number_compare(low, high) : span_compare(low, high);
    return order <= 0 || (of_part && span_starts(low, high)) ||
           pattern_draft_fail(draft, "\"where\" on %s: the range ends before it begins",
                              where->target);
}

static void pattern_draft_mark_used(struct pattern_draft *draft,
                                    const struct declared_condition *where)
{
    if (draft->used_count < READ_MAX_CONDS)
        draft->used[draft->used_count++] = where;
}

/* Marks the equalities of "where" that a key's stated text uses. */
static void pattern_draft_mark_stated(struct pattern_draft *draft, const struct format *format,
                                      const struct stated_text *stated)
{
    for (size_t i = 0; i < stated->pieces; i++) {
        const char *param = format->pieces[i].param;
        const struct declared_condition *where =
            param ? pattern_draft_where_part(draft, param) : NULL;
        if (where && where->op == COND_EQ)
            pattern_draft_mark_used(draft, where);
    }
}

/* A condition on the whole attribute, as in the map. */
static bool pattern_draft_add_plain(struct pattern_draft *draft, const struct map_key *key,
                                    const struct declared_condition *where)
{
    pattern_draft_mark_used(draft, where);
    if (where->op == COND_BEGINS && key->type == VALUE_N)
        return pattern_draft_fail(draft, "%s is a number: it has no beginning (x*)",
                                  key->attribute);
    if (!pattern_draft_check_literal(draft, key, where, &where->value) ||
        (where->op == COND_BETWEEN &&
         !pattern_draft_check_literal(draft, key, where, &where->upper)) ||
        !pattern_draft_check_range(draft, key, where, false))
        return false;
    struct map_cond cond = {.attribute = key->attribute,
                            .type = key->type,
                            .op = where->op,
                            .value = where->value,
                            .upper = where->upper};
    return pattern_draft_add_cond(draft, &cond);
}

static bool pattern_draft_compile_partition_key(struct pattern_draft *draft,
                                                const struct map_key *key)
{
    struct map_pattern *pattern = draft->pattern;
    const struct declared_condition *where = pattern_draft_where_key(draft, key->attribute);
    if (where && where->op == COND_EQ)
        return pattern_draft_add_plain(draft, key, where);
    struct stated_text first, other;
    const struct format *format = pattern_draft_format_for(draft, key, pattern->kinds[0]);
    if (!format)
        return false;
    if (!pattern_draft_stated(draft, format, &first))
        return pattern_draft_fail_room(draft);
    if (first.stop) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        format_write(format, &text);
        return pattern_draft_fail(draft, "the partition key %s is \"%s\", but the path lacks {%s}",
                                  key->attribute, buf_text(&text), first.stop);
    }
    for (size_t i = 1; i < pattern->kind_count; i++) {
        format = pattern_draft_format_for(draft, key, pattern->kinds[i]);
        if (!format)
            return false;
        if (!pattern_draft_stated(draft, format, &other))
            return pattern_draft_fail_room(draft);
        if (other.stop || !format_equal(&first.text, &other.text))
            return pattern_draft_fail(
                draft, "one listing is one partition, but its kinds differ in %s", key->attribute);
    }
    pattern_draft_mark_stated(draft, model_key_format(draft->model, key, pattern->kinds[0]),
                              &first);
    return pattern_draft_add_equality(draft, key, &first.text);
}

/* PREFIX followed by VALUE, and by the last character if TO_THE_END. */
static bool pattern_draft_bound(struct pattern_draft *draft, const struct format *prefix,
                                const struct format *value, bool to_the_end, struct format *out)
{
    struct format_piece last = {.literal = SPAN_LITERAL(COND_LAST_CHARACTER)};
    *out = (struct format){0};
    return (pattern_draft_append_all(draft, out, prefix) &&
            (!value || pattern_draft_append_all(draft, out, value)) &&
            (!to_the_end || pattern_draft_append(draft, out, &last))) ||
           pattern_draft_fail_room(draft);
}

/* If text follows the part in the key, the key's order is the part's own only for values without
 * bytes before that text: "1#" is behind "1 ", although "1" is before it. */
static bool pattern_draft_add_bound(struct pattern_draft *draft, const struct format *format,
                                    const struct stated_text *stated, const struct format *value,
                                    bool begins)
{
    struct map_pattern *pattern = draft->pattern;
    if (stated->pieces + 1 >= format->count)
        return true; /* the key ends with the part */
    const struct format_piece *part = &format->pieces[stated->pieces];
    struct map_bound bound = {.param = part->param,
                              .value = *value,
                              .end = format->pieces[stated->pieces + 1].literal.data[0],
                              .begins = begins};
    if ((begins && part->open) || part->pad)
        return true; /* padded numbers have one length, and so the part's own order */
    pattern->bounds[pattern->bound_count++] = bound;
    struct error err;
    return !format_is_literal(value) ||
           condition_check_bound(&bound, format_literal(value), &err) ||
           pattern_draft_fail(draft, "\"where\" on %s: %s", part->param, err.text);
}

/* A condition on the first part without a value becomes one on the whole sort key. A range that is
 * open on one side ends with the prefix. A part is compared by its beginning: "to 2026-04-16"
 * includes that day. */
static bool pattern_draft_compile_range(struct pattern_draft *draft, const struct map_key *key,
                                        const struct format *format,
                                        const struct stated_text *stated,
                                        const struct declared_condition *where)
{
    const struct format *prefix = &stated->text, *value = &where->value;
    struct map_cond cond = {.attribute = key->attribute, .type = key->type, .op = COND_BETWEEN};
    pattern_draft_mark_used(draft, where);
    if (key->type != VALUE_S)
        return prefix->count == 0
                   ? pattern_draft_add_plain(draft, key, where)
                   : pattern_draft_fail(draft, "%s is not a text: it has no parts", key->attribute);
    if (!pattern_draft_check_range(draft, key, where, true) ||
        !pattern_draft_add_bound(draft, format, stated, value, where->op == COND_BEGINS) ||
        (where->op == COND_BETWEEN &&
         !pattern_draft_add_bound(draft, format, stated, &where->upper, false)))
        return false;
    bool is_base_part = false;
    for (size_t i = 0; i < draft->model->key_count; i++)
        is_base_part =
            is_base_part || format_has(&draft->pattern->kinds[0]->keys[i], where->target);
    /* A range with a prefix includes its end. A listing removes such items from the result
     * (pattern->excluded); a path of one item can't. */
    if (where->op == COND_LT && prefix->count > 0 && !draft->path->list)
        return pattern_draft_fail(draft,
                                  "\"<\" on a part requires a listing; for one item use \"<=\"");
    if (where->op == COND_LT && prefix->count > 0 && !is_base_part)
        return pattern_draft_fail(draft,
                                  "\"<\" on %s, which is a part of the index's key alone: use "
                                  "\"<=\", which includes texts that begin with the value",
                                  where->target);
    bool ok = true;
    switch (where->op) {
    case COND_EQ: /* included in the prefix */
    case COND_BEGINS:
        cond.op = COND_BEGINS;
        ok = pattern_draft_bound(draft, prefix, value, false, &cond.value);
        break;
    case COND_BETWEEN:
        ok = pattern_draft_bound(draft, prefix, value, false, &cond.value) &&
             pattern_draft_bound(draft, prefix, &where->upper, true, &cond.upper);
        break;
    case COND_LT:
    case COND_LE:
        ok = pattern_draft_bound(draft, prefix, NULL, false, &cond.value) &&
             pattern_draft_bound(draft, prefix, value, where->op == COND_LE, &cond.upper);
        break;
    case COND_GT:
    case COND_GE:
        ok = pattern_draft_bound(draft, prefix, value, where->op == COND_GT, &cond.value) &&
             pattern_draft_bound(draft, prefix, NULL, true, &cond.upper);
        break;
    default: /* "where" has no other */
        break;
    }
    if (cond.op == COND_BETWEEN && cond.value.count == 0) {
        cond.op = where->op == COND_LT ? COND_LT : COND_LE;
        cond.value = cond.upper;
    }
    return ok && pattern_draft_add_cond(draft, &cond);
}

static bool pattern_draft_add_prefix(struct pattern_draft *draft, const struct map_key *key,
                                     const struct format *prefix)
{
    if (prefix->count == 0)
        return true;
    if (key->type == VALUE_N)
        return pattern_draft_fail(draft, "%s is a number: a part of it can't be looked up",
                                  key->attribute);
    struct map_cond cond = {
        .attribute = key->attribute, .type = key->type, .op = COND_BEGINS, .value = *prefix};
    return pattern_draft_add_cond(draft, &cond);
}

/* The prefix that the sort keys of all kinds share. */
static bool pattern_draft_compile_sort_key_of_several(struct pattern_draft *draft,
                                                      const struct map_key *key)
{
    struct map_pattern *pattern = draft->pattern;
    struct stated_text stated;
    struct format common = {0};
    for (size_t i = 0; i < pattern->kind_count; i++) {
        struct format before = common;
        const struct format *format = pattern_draft_format_for(draft, key, pattern->kinds[i]);
        if (!format)
            return false;
        if (!pattern_draft_stated(draft, format, &stated) ||
            !pattern_draft_common(draft, i ? &before : &stated.text, &stated.text, &common))
            return pattern_draft_fail_room(draft);
    }
    return pattern_draft_add_prefix(draft, key, &common);
}

/* DONE is set if no further sort attribute can have a condition. */
static bool pattern_draft_compile_sort_key(struct pattern_draft *draft, const struct map_key *key,
                                           bool *done)
{
    struct map_pattern *pattern = draft->pattern;
    const struct declared_condition *where = pattern_draft_where_key(draft, key->attribute);
    struct stated_text stated;
    const struct format *format = pattern_draft_format_for(draft, key, pattern->kinds[0]);
    if (!format)
        return false;
    if (!pattern_draft_stated(draft, format, &stated))
        return pattern_draft_fail_room(draft);
    *done = true;
    if (pattern->kind_count > 1 && !where)
        return pattern_draft_compile_sort_key_of_several(draft, key);
    bool by_part = stated.stop && pattern_draft_where_part(draft, stated.stop) == where;
    if (where && !by_part && where->op != COND_EQ)
        return pattern_draft_add_plain(draft, key, where);
    if (!stated.stop) {
        *done = false;
        pattern_draft_mark_stated(draft, format, &stated);
        return pattern_draft_add_equality(draft, key, &stated.text);
    }
    if (where && where->op == COND_EQ) {
        *done = false;
        return pattern_draft_add_plain(draft, key, where);
    }
    pattern_draft_mark_stated(draft, format, &stated);
    where = pattern_draft_where_part(draft, stated.stop);
    return where ? pattern_draft_compile_range(draft, key, format, &stated, where)
                 : pattern_draft_add_prefix(draft, key, &stated.text);
}

bool pattern_draft_compile_keys(struct pattern_draft *draft)
{
    const struct model *model = draft->model;
    const struct map_index *index = draft->pattern->index;
    const struct map_key *partition = index ? index->partition : model->keys;
    const struct map_key *sort = index ? index->sort : model->keys + 1;
    size_t partition_count = index ? index->partition_count : 1;
    size_t sort_count = index ? index->sort_count : model->key_count - 1;
    draft->pattern->where = arena_array(&draft->scratch, READ_MAX_CONDS, sizeof(struct map_cond));
    if (!draft->pattern->where)
        return findings_no_memory(draft->findings);
    for (size_t i = 0; i < partition_count; i++)
        if (!pattern_draft_compile_partition_key(draft, &partition[i]))
            return false;
    bool done = false;
    for (size_t i = 0; i < sort_count && !done; i++)
        if (!pattern_draft_compile_sort_key(draft, &sort[i], &done))
            return false;
    return true;
}
