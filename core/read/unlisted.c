#include "core/read/unlisted.h"

#include "core/name/names.h"
#include "core/read/model_provider.h"

/* Of STEP, below the directory that PLACE is, or stands in. */
static bool unlisted_refuse_step(const struct tree *tree, const struct place *place,
                                 const struct route *step, struct error *err)
{
    struct model_provider_description told;
    struct place directory = *place; /* borrows all that PLACE owns */
    directory.route = step->parent;
    names_refuse_unlisted(place->table, step, &place->bindings, err);
    if (tree->names.scan || step != place_key_step(&directory))
        return false;
    error_add(err, "; or --allow-scan lists them by reading the whole table");
    if (tree->models && tree->models->ops->describe(tree->models, place, &told) &&
        told.item_count >= 0)
        error_add(err, " (%lld item%s)", (long long)told.item_count,
                  told.item_count == 1 ? "" : "s");
    return false;
}

bool unlisted_refuse(const struct tree *tree, const struct place *place, struct error *err)
{
    return place->companion == COMPANION_TABLE
               ? names_refuse_columns(err)
               : unlisted_refuse_step(tree, place, place->route, err);
}

bool unlisted_is_none(const struct tree *tree, const struct place *place, struct error *err)
{
    const struct route *step = place_next_unlisted(place, &tree->names, NULL);
    if (!step)
        return true;
    unlisted_refuse_step(tree, place, step, err);
    while ((step = place_next_unlisted(place, &tree->names, step))) {
        struct error other;
        unlisted_refuse_step(tree, place, step, &other);
        error_add(err, "; %s", other.text);
    }
    return false;
}
