#include "core/plan/needed_operations.h"

#include "core/plan/cost.h"

void needed_operations_of_table(const struct model *table, struct needed_operations *out)
{
    *out = (struct needed_operations){0};
    for (const struct map_pattern *each = table->patterns; each; each = each->next) {
        bool queries = each->list || !each->by_key;
        /* An entry of a listing is looked up by its own key, unless it shows what the index has. */
        bool has_entries = each->list && !cost_index_alone(each);
        out->query |= queries && !each->index;
        out->one |= !queries || each->hydrates || has_entries;
        out->many |= each->list && each->hydrates;
    }
    out->many |= out->one; /* those who ask for one each may leave together */
}

bool needed_operations_index(const struct model *table, const struct map_index *index)
{
    for (const struct map_pattern *each = table->patterns; each; each = each->next)
        if (each->index == index)
            return true;
    return false;
}
