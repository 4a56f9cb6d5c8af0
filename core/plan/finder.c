#include "core/plan/finder.h"

#include "core/plan/sieve.h"

void finder_clean_up(struct finder *finder)
{
    record_unref(finder->best);
    finder->best = NULL;
}

/* Whether ITEM goes before the best so far. All must have the attribute, in one type: else which of
 * them the map means can't be said. */
static bool compare(const struct finder *finder, struct json item, bool *better, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf mine = {0}, theirs = {0};
    const struct map_pattern *pattern = finder->plan->pattern;
    struct span name = span_text(pattern->pick_attribute);
    struct value candidate, best;
    *better = true;
    if (!value_read(item_attribute(item, name), &mine, &candidate))
        return mine.failed
                   ? error_no_memory(err)
                   : error_set(err, ERROR_INVALID,
                               "the map picks a record of %s by %s, which one of them lacks "
                               "(or it is no text, number or binary)",
                               finder->plan->table_name, pattern->pick_attribute);
    if (!finder->best)
        return true;
    if (!value_read(item_attribute(record_item(finder->best), name), &theirs, &best))
        return error_no_memory(err); /* it was read before */
    if (candidate.type != best.type)
        return error_set(
            err, ERROR_INVALID,
            "the map picks a record of %s by %s, which is of type %s in one and of type "
            "%s in another",
            finder->plan->table_name, pattern->pick_attribute, value_type_name(best.type),
            value_type_name(candidate.type));
    int order = value_compare(candidate, best);
    *better = pattern->pick == PICK_GREATEST ? order > 0 : order < 0;
    return true;
}

/* Whether the first item that counts, in the plan's order, is the answer. */
static bool is_first_meant(const struct finder *finder)
{
    const struct plan *plan = finder->plan;
    return !plan->pattern->pick && plan->query && plan->query->limit == 1;
}

bool finder_consider(struct finder *finder, struct json item, const struct record_origin *origin,
                     struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct map_pattern *pattern = finder->plan->pattern;
    struct sifted sifted;
    bool better = true;
    switch (sieve_item(finder->plan, item, &arena, &sifted)) {
    case SIEVE_NO_MEMORY:
        return error_no_memory(err);
    case SIEVE_UNREADABLE:
        return sieve_complain(finder->plan, item, err);
    case SIEVE_OTHER:
    case SIEVE_UNDECLARED:
        finder->passed_over++;
        return true;
    case SIEVE_COUNTS:
        break;
    }
    finder->found++;
    if (pattern->pick && !compare(finder, item, &better, err))
        return false;
    if (!pattern->pick && finder->found > 1 && !(finder->backwards && is_first_meant(finder)))
        return error_set(err, ERROR_AMBIGUOUS,
                         "several records of %s answer; let the map say which, with \"pick\" or "
                         "\"newest\": 1",
                         finder->plan->table_name);
    if (!better)
        return true;
    record_unref(finder->best);
    finder->best = record_new(item, origin, err);
    return finder->best;
}

bool finder_is_done(const struct finder *finder)
{
    return is_first_meant(finder) && finder->found > 0 && !finder->backwards;
}
