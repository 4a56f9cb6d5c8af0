#include "core/map/filters.h"

/* A path may say the whole partition key of the table while an index is asked: what else the
 * index holds is then filtered out by that key, which every index has. */
static bool filter_by_partition(struct draft *draft)
{
    struct map_pattern *pattern = draft->pattern;
    const struct map_key *key = &draft->model->keys[0];
    if (!pattern->index || model_is_index_key(pattern->index, key->attribute))
        return true;
    struct said_text said;
    if (!draft_said(draft, &pattern->kinds[0]->keys[0], &said))
        return draft_fail_room(draft);
    for (size_t i = 1; i < pattern->kind_count; i++)
        if (!format_equal(&pattern->kinds[0]->keys[0], &pattern->kinds[i]->keys[0]))
            return true;
    if (!said.stop)
        pattern->filter[pattern->filter_count++] =
            (struct map_cond){key->attribute, key->type, COND_EQ, said.text, {0}};
    return true;
}

/* Whether what is asked may hold ATTRIBUTE: an index of keys holds those alone, and a filter on
 * anything else would leave all out. */
static bool check_held(struct draft *draft, const char *member, const char *attribute)
{
    const struct map_index *index = draft->pattern->index;
    return !index || index->projects != PROJECTS_KEYS || model_is_index_key(index, attribute) ||
           model_is_key(draft->model, attribute) ||
           draft_fail(draft,
                      "\"%s\" looks at %s, but index %s holds keys alone, so nothing would answer",
                      member, attribute, index->name);
}

static bool check_filter(struct draft *draft, const char *attribute)
{
    const struct map_index *index = draft->pattern->index;
    if (index ? model_is_index_key(index, attribute) : model_is_key(draft->model, attribute))
        return draft_fail(draft,
                          "\"filter\" on %s, a key attribute: the service lets only \"where\" look "
                          "at it",
                          attribute);
    return check_held(draft, "filter", attribute);
}

bool filters_compile(struct draft *draft)
{
    struct map_pattern *pattern = draft->pattern;
    pattern->filter = arena_array(&draft->scratch, READ_MAX_CONDS, sizeof *pattern->filter);
    if (!pattern->filter)
        return findings_no_memory(draft->findings);
    if (!filter_by_partition(draft))
        return false;
    const struct declared_condition *each;
    for (each = draft->path->filters; each; each = each->next) {
        if (pattern->filter_count == READ_MAX_CONDS)
            return draft_fail(draft, "too many filters");
        if (!check_filter(draft, each->target))
            return false;
        pattern->filter[pattern->filter_count++] =
            (struct map_cond){each->target, each->type, each->op, each->value, each->upper};
    }
    return !pattern->pick || check_held(draft, "pick", pattern->pick_attribute);
}
