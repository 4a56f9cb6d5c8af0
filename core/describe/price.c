#include "core/describe/price.h"

#include "core/plan/cost.h"
#include "core/read/fact.h"
#include "core/read/fetch.h"
#include "core/read/key_scan.h"
#include "core/read/links.h"

void price_clean_up(struct price *price)
{
    declared_files_clean_up(&price->files);
    *price = (struct price){0};
}

static bool price_sum(struct price *price, const struct place *place,
                      const struct place_options *names, struct error *err)
{
    if (fetch_is_needed(place)) {
        price->plan = place_plan(place, err);
        if (!price->plan)
            return false;
        price->cost = price->plan->cost;
    }
    cost_add(&price->cost, &place->way);
    if (place->kind == PLACE_LINK) {
        struct error why = {0};
        struct place *target = links_example(place, names);
        const struct plan *plan =
            target && fetch_is_needed(target) ? place_plan(target, &why) : NULL;
        if (plan)
            cost_add(&price->target, &plan->cost);
        price->target_is_entry = plan && plan->entry && fetch_is_needed(place);
        bool known = target && why.kind != ERROR_NO_MEMORY;
        place_destroy(target);
        if (!known)
            return error_no_memory(err);
    }
    cost_add(&price->cost, &price->target);
    if (place->kind == PLACE_ROOT)
        for (const struct map_environment *each = place->map->environments; each; each = each->next)
            price->cost.tables |= !format_is_literal(&each->name);
    price->cost.tables |= place->kind == PLACE_TABLES;
    price->cost.described = place->table_name || place->kind >= PLACE_SIMILAR;
    /* The schema is part of the description. */
    if (place->kind == PLACE_FACT && place->fact != FACT_SCHEMA)
        price->cost.requests = (unsigned)fact_read_count(place->fact);
    if (place->kind == PLACE_CHANGES) /* the table, and the first shards; explain has the rest */
        price->cost.requests = 2;
    bool scans = place->kind == PLACE_DIRECTORY && names->scan && place_key_step(place);
    if (scans && !place->is_snapshot) {
        price->cost.scans = KEY_SCAN_SEGMENTS;
        price->cost.rcu.scan = cost_bound_scan(names->scan->bytes, KEY_SCAN_SEGMENTS);
        price->cost.rcu.least = KEY_SCAN_SEGMENTS * cost_bound_item(0, false);
    }
    if (place->selection) /* without the directory's other entries */
        return true;
    if (!declared_files_init(&price->files, place, names, price->plan, err))
        return false;
    declared_files_add_cost(&price->files, &price->cost);
    return true;
}

bool price_init(struct price *price, const struct place *place, const struct place_options *names,
                struct error *err)
{
    *price = (struct price){0};
    bool ok = price_sum(price, place, names, err);
    if (place->is_snapshot) { /* a live link may lead there */
        price->target = (struct cost){.is_free = true};
        price->cost = place->way;
        price->cost.is_free = place->way.requests == 0 && place->way.pages == 0;
    }
    return ok;
}
