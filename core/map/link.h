/* Links: to which other places of the map the records of a table lead. */
#ifndef DDBFS_CORE_MAP_LINK_H
#define DDBFS_CORE_MAP_LINK_H

#include "core/map/declaration.h"
#include "core/map/route.h"

/* What a link's path begins with, where it stays in the record's environment. */
#define LINK_SAME_ENVIRONMENT "{env}"

/* Compiles TABLE's links into MODEL, whose kinds are complete; what they lead to is links_check's
 * business. A model that is not WHOLE is not asked which parts and kinds it has. */
void links_compile(struct model *model, struct arena *arena, const struct declared_table *table,
                   bool whole, struct findings *findings);

/* Notes each link of the map's MODELS that leads to no path of theirs. TABLES are those that were
 * declared, though perhaps wrongly. */
void links_check(const struct model *const *models, size_t count,
                 const struct declared_table *tables, struct findings *findings);

/* Which step below DIRECTORY the step WRITTEN of a link's path is: one that is written alike, or
 * that takes any text; of a text, the one that has it. NULL when there is none. */
const struct route *link_step(const struct route *directory, const struct format *written);

/* Adds to OUT what the parameters of STEP, found by link_step in the table TARGET, stand for when
 * the link's parts are VALUES. Texts go to ARENA. False when memory ran out (ARENA->failed), or
 * there is no room. */
bool link_bind(const struct model *target, const struct route *step, const struct format *written,
               const struct bindings *values, struct arena *arena, struct bindings *out);

/* Whether records of KIND have it; NULL is a record of no kind that the map declares. */
bool link_is_of(const struct map_link *link, const struct map_kind *kind);

/* Whether the part PARAM of LINK is one of the key of KIND's records, and no source tells it. */
bool link_part_is_key(const struct model *model, const struct map_link *link,
                      const struct map_kind *kind, const char *param);

/* The source that tells PARAM; NULL when none does. */
const struct map_link_source *link_source(const struct map_link *link, const char *param);

#endif
