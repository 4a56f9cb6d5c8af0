#include "core/map/pattern.h"

#include "core/map/condition_template.h"
#include "core/map/entry_limit.h"
#include "core/map/entry_names.h"
#include "core/map/filter_template.h"
#include "core/map/key_conditions.h"
#include "core/map/pattern_draft.h"
#include "core/map/spelling.h"

static const struct declared_record *pattern_declared_record(const struct declared_table *table,
                                                             const char *name)
{
    const struct declared_record *record = table->records;
    while (record && strcmp(record->name, name) != 0)
        record = record->next;
    return record;
}

static const struct declared_index *pattern_declared_index(const struct declared_table *table,
                                                           const char *name)
{
    const struct declared_index *index = table->indexes;
    while (index && strcmp(index->name, name) != 0)
        index = index->next;
    return index;
}

/* The kind called NAME. NULL with a finding, or without one when it could not be read. */
static const struct map_kind *pattern_find_kind(struct pattern_draft *draft,
                                                const struct declared_table *table,
                                                const struct declared_name *name)
{
    const struct map_kind *kind = model_find_kind(draft->model, name->text);
    if (!kind && draft->path->list && draft->path->kind_count == 1 && strcmp(name->text, "*") == 0)
        return draft->model->any;
    if (!kind && !pattern_declared_record(table, name->text))
        findings_add(draft->findings, name->at,
                     "no kind of record is called \"%s\"; see \"records\" above", name->text);
    return kind;
}

/* Which kinds of records the path gives: those that it names, or the table's only one. */
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
        return findings_add(draft->findings, path->at,
                            "say which kind: \"%s\" of one of the table's \"records\"",
                            path->list ? "list" : "record");
    if (path->kind_count == 0)
        pattern->kinds[0] = draft->model->kinds;
    for (size_t i = 0; i < path->kind_count; i++) {
        pattern->kinds[i] = pattern_find_kind(draft, table, &path->kinds[i]);
        if (!pattern->kinds[i])
            return false;
        for (size_t before = 0; before < i; before++)
            if (pattern->kinds[before] == pattern->kinds[i])
                return findings_add(draft->findings, path->kinds[i].at,
                                    "\"list\" says \"%s\" twice", path->kinds[i].text);
    }
    return pattern->kinds[0];
}

static bool pattern_find_index(struct pattern_draft *draft, const struct declared_table *table)
{
    const struct declared_name *name = &draft->path->index;
    if (!name->text)
        return true;
    draft->pattern->index = model_find_index(draft->model, name->text);
    if (!draft->pattern->index && !pattern_declared_index(table, name->text))
        findings_add(draft->findings, name->at, "the table's \"indexes\" have no \"%s\"",
                     name->text);
    return draft->pattern->index;
}

/* Whether PARAM is a part of the table's own key, for each kind that the path gives. What comes
 * back is compared with such a part, so it selects even where no condition can be made of it. */
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

/* Each "where" became part of the key condition and contradicts nothing. */
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
                "\"where\" on '%s' can't be part of a key condition: in single quotes "
                "stands a key attribute of what is asked that the path does not say",
                where->target);
        if (where->whole)
            continue;
        if (equality && !pattern_draft_check_known(draft, where->at, where->target, &where->value))
            return false;
        if (equality && !itself && pattern_draft_path_has(draft->path, where->target))
            return pattern_draft_fail(
                draft, "\"where\" says what {%s} is, but so does the path; take one away",
                where->target);
        if (!pattern_is_used(draft, where) && !(equality && pattern_is_part(draft, where->target)))
            return pattern_draft_fail(
                draft,
                "\"where\" on %s can't be part of a key condition: only the first "
                "part that the path does not say can; try \"filter\"",
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

/* Each parameter of the path selects something. */
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
            return pattern_draft_fail(
                draft,
                "{%s} selects nothing: it is no part of a key (of each kind that the "
                "path gives) and in no condition",
                param);
    }
    return true;
}

/* A parameter that says how many is a number of the path's, and nothing else. */
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
               draft, "{%s} says how many, so it can't be part of a key or a condition, too",
               param);
}

static bool pattern_check_param(void *arg, const struct map_cond *cond, const char *param)
{
    struct pattern_draft *draft = arg;
    return pattern_draft_path_has(draft->path, param) ||
           pattern_draft_fail(draft, "the condition on %s uses {%s}, which the path does not have",
                              cond->written ? cond->written : cond->attribute, param);
}

/* No condition uses what the path does not have. */
static bool pattern_check_conds(struct pattern_draft *draft, const struct map_cond *conds,
                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!condition_each_param(&conds[i], pattern_check_param, draft))
            return false;
    return true;
}

/* Whether the path says the full key of one record, so that it is read without a query. */
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

/* A place has room for the values of the path's parameters, and of all parts of the key: one
 * without would never be found. */
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

/* Members that exclude each other; NULL when none do. */
static const char *pattern_contradiction(const struct pattern_draft *draft)
{
    const struct map_pattern *pattern = draft->pattern;
    if (pattern->consistent && pattern->index && !pattern->index->local)
        return "a global index can't be read consistently: take \"consistent\" away, or, if it is "
               "a "
               "local one, say \"local\": true of the index";
    if (draft->path->hydrate != CHOICE_UNSAID && !pattern->index)
        return "\"hydrate\" goes with \"index\"";
    if (pattern->list && pattern->attribute)
        return "a listing has no \"attribute\"; take the path's final / away";
    if (pattern->list && pattern->pick)
        return "a listing has no \"pick\"; take the path's final / away";
    if (!pattern->list && draft->path->has_name)
        return "\"name\" goes with a listing, whose path ends in /";
    if (!pattern->list && pattern->limit > 1)
        return "one file is one record: \"newest\" or \"oldest\" 1";
    if (pattern->groups && (!pattern->list || pattern->limit || draft->path->has_name ||
                            draft->path->hydrate != CHOICE_UNSAID))
        return "\"groups\" goes with a listing of all, and without \"name\" and \"hydrate\": it "
               "shows directories, not records";
    if (pattern->ties && !(pattern->list && pattern->limit))
        return "\"ties\" goes with a listing of the \"newest\" or \"oldest\" N";
    if (pattern->by_key && (pattern->limit || pattern->pick || pattern->descending))
        return "the path says the whole key, so there is one record and nothing to choose";
    return NULL;
}

static const char *pattern_store_text(struct arena *arena, const char *text)
{
    return text ? arena_text(arena, span_text(text)) : NULL;
}

/* The conditions once more, in the model's arena. */
static struct map_cond *pattern_store_conds(struct arena *arena, const struct map_cond *conds,
                                            size_t count)
{
    struct map_cond *kept = arena_array(arena, count, sizeof *kept);
    for (size_t i = 0; kept && i < count; i++)
        condition_copy(arena, &conds[i], &kept[i]);
    return kept;
}

/* What "where" says of parts with OP, which names and listings go by as well. */
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

/* Takes what the pattern shares with the declaration and the scratch into the model's arena. */
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
    pattern->said = pattern_store_parts(draft, COND_EQ, &pattern->said_count);
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

static bool pattern_compile_it(struct pattern_draft *draft, const struct declared_table *table)
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
        !key_conditions_compile(draft) || !filter_template_compile(draft) ||
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
         pattern_compile_it(&draft, table);
    arena_discard(&draft.scratch);
    return ok ? draft.pattern : NULL;
}
