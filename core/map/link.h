/* Links: the places of the map that the items of a table lead to. */
#ifndef DDBFS_CORE_MAP_LINK_H
#define DDBFS_CORE_MAP_LINK_H

#include "core/map/declaration.h"
#include "core/map/route.h"

/* The beginning of a link's path that stays in the item's environment. */
#define LINK_SAME_ENVIRONMENT "{env}"

/* Compiles TABLE's links into MODEL, whose kinds are complete; links_check checks their targets.
 * WHOLE is false if parts of the table are unreadable: then parts and kinds are not checked. */
void links_compile(struct model *model, struct arena *arena, const struct declared_table *table,
                   bool whole, struct findings *findings);

/* Reports each link of MODELS that leads to no path of theirs. TABLES are all declared tables, even
 * unreadable ones. */
void links_check(const struct model *const *models, size_t count,
                 const struct declared_table *tables, struct findings *findings);

/* The step below DIRECTORY for the step WRITTEN of a link's path: one that is written the same way,
 * or one for any text; for a literal, the one that matches it. NULL for none. */
const struct route *link_step(const struct route *directory, const struct format *written);

/* Adds to OUT the values of the parameters of STEP, found by link_step in the table TARGET; VALUES
 * are the link's parts. Texts go to ARENA. False if memory ran out (ARENA->failed), or there is no
 * room. */
bool link_bind(const struct model *target, const struct route *step, const struct format *written,
               const struct bindings *values, struct arena *arena, struct bindings *out);

/* Whether items of KIND have it; NULL is an item of no declared kind. */
bool link_is_of(const struct map_link *link, const struct map_kind *kind);

/* The source of PARAM, or NULL. */
const struct map_link_source *link_source(const struct map_link *link, const char *param);

#endif
