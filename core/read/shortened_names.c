#include "core/read/shortened_names.h"

#include "core/plan/item_match.h"
#include "core/plan/item_parts.h"

/* Whether ITEM's entry of LISTING, PLACE's route or that of its directory, has the name WANTED,
 * which is without rank and suffix. */
static bool shortened_names_compare(const struct place *place, const struct route *listing,
                                    const struct place_options *names, const struct key *key,
                                    struct json item, struct span wanted, bool *failed)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct bindings parts = {0};
    const struct map_pattern *list = listing->list;
    const struct map_entry *entry =
        item_match_entry(place->table, list, key, &place->bindings, &parts);
    const struct route *route = entry ? route_of_entry(listing, entry) : NULL;
    if (!route)
        return false;
    if (entry->indexed.count > 0 &&
        !item_parts_add_of_index(place->table, list->index, entry->kind, &entry->indexed, item,
                                 &arena, &parts)) {
        *failed = *failed || arena.failed;
        return false;
    }
    struct error why;
    struct span suffix = span_text(names->suffix);
    bool named = place_write_name(place, route, &parts, 1, names, &name, &why);
    struct span bare = span_of(name.data, named ? name.size - suffix.size : 0);
    *failed = *failed || (!named && why.kind == ERROR_NO_MEMORY);
    return named && names_skip_rank(route, &bare) && span_equal(bare, wanted);
}

bool shortened_names_match(const struct place *place, const struct place_options *names,
                           const struct key *key, struct json item, bool *failed)
{
    return shortened_names_compare(place, place->route->parent, names, key, item, place->shortened,
                                   failed);
}
