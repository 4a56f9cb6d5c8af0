#include "core/tree/shortened.h"

#include "core/plan/sieve.h"

bool shortened_means(const struct place *place, const struct place_options *names,
                     const struct key *key, bool *failed)
{
    const struct route *listing = place->route->parent;
    struct bindings parts = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct map_entry *entry =
        sieve_entry(place->table, listing->list, key, &place->bindings, &parts);
    const struct route *route = entry ? route_of_entry(listing, entry) : NULL;
    if (!route)
        return false;
    struct error why;
    struct span suffix = span_text(names->suffix);
    bool named = place_write_name(place, route, &parts, 1, names, &name, &why);
    struct span bare = span_of(name.data, named ? name.size - suffix.size : 0);
    *failed = *failed || (!named && why.kind == ERROR_NO_MEMORY);
    return named && names_skip_rank(route, &bare) && span_equal(bare, place->shortened);
}
