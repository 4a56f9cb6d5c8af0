#include "core/plan/pick.h"

#include "core/plan/item_match.h"

void pick_clean_up(struct pick *pick)
{
    record_unref(pick->best);
    pick->best = NULL;
}

/* Whether ITEM goes before the best so far. All must have the attribute, in one type: else which of
 * them the map means can't be said. */
static bool pick_compare(const struct pick *pick, struct json item, bool *better, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf mine = {0}, theirs = {0};
    const struct map_pattern *pattern = pick->plan->pattern;
    struct span name = span_text(pattern->pick_attribute);
    struct value candidate, best;
    *better = true;
    if (!value_read(item_attribute(item, name), &mine, &candidate))
        return mine.failed
                   ? error_no_memory(err)
                   : error_set(err, ERROR_INVALID,
                               "the map picks a record of %s by %s, which one of them lacks "
                               "(or it is no text, number or binary)",
                               pick->plan->table_name, pattern->pick_attribute);
    if (!pick->best)
        return true;
    if (!value_read(item_attribute(record_item(pick->best), name), &theirs, &best))
        return error_no_memory(err); /* it was read before */
    if (candidate.type != best.type)
        return error_set(
            err, ERROR_INVALID,
            "the map picks a record of %s by %s, which is of type %s in one and of type "
            "%s in another",
            pick->plan->table_name, pattern->pick_attribute, value_type_name(best.type),
            value_type_name(candidate.type));
    int order = value_compare(candidate, best);
    *better = pattern->pick == PICK_GREATEST ? order > 0 : order < 0;
    return true;
}

/* Whether the first item that counts, in the plan's order, is the answer. */
static bool pick_is_first_meant(const struct pick *pick)
{
    const struct plan *plan = pick->plan;
    return !plan->pattern->pick && plan->query && plan->query->limit == 1;
}

bool pick_consider(struct pick *pick, struct json item, const struct record_origin *origin,
                   struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct map_pattern *pattern = pick->plan->pattern;
    struct matched_item matched;
    bool better = true;
    switch (item_match_item(pick->plan, item, &arena, &matched)) {
    case ITEM_MATCH_NO_MEMORY:
        return error_no_memory(err);
    case ITEM_MATCH_UNREADABLE:
        return item_match_report(pick->plan, item, err);
    case ITEM_MATCH_OTHER:
    case ITEM_MATCH_UNDECLARED:
        pick->passed_over++;
        return true;
    case ITEM_MATCH_COUNTS:
        break;
    }
    pick->found++;
    if (pattern->pick && !pick_compare(pick, item, &better, err))
        return false;
    if (!pattern->pick && pick->found > 1 && !(pick->backwards && pick_is_first_meant(pick)))
        return error_set(err, ERROR_AMBIGUOUS,
                         "several records of %s answer; let the map say which, with \"pick\" or "
                         "\"newest\": 1",
                         pick->plan->table_name);
    if (!better)
        return true;
    record_unref(pick->best);
    pick->best = record_new(item, origin, err);
    return pick->best;
}

bool pick_is_done(const struct pick *pick)
{
    return pick_is_first_meant(pick) && pick->found > 0 && !pick->backwards;
}
