#include "core/map/pattern_draft.h"

#include <stdarg.h>
#include <stdio.h>

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
                            "\"%s\": by \"params\" {%s} is one of %s; \"%s\" is none of them",
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
                          struct said_text *out)
{
    *out = (struct said_text){0};
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
            draft, "\"%s\" looks at %s, but index %s holds keys alone, so nothing would answer",
            member, attribute, index->name);
    if (index->include_count > 0)
        return pattern_draft_fail(draft, "\"%s\" looks at %s, which index %s does not include",
                                  member, attribute, index->name);
    return pattern_draft_fail(
        draft,
        "\"%s\" looks at %s, and the map does not say that index %s includes it; say "
        "all that it includes: \"projects\": [\"%s\"]",
        member, attribute, index->name, attribute);
}
