/* Paths as a document shows them: real ones of the map, in which braces stand for what only the
 * reader knows. */
#ifndef DDBFS_CORE_DESCRIBE_SKILL_EXAMPLE_H
#define DDBFS_CORE_DESCRIBE_SKILL_EXAMPLE_H

#include "core/read/place.h"

/* The first of MAP's environments whose name is a text; else the first. NULL where it has none. */
const struct map_environment *skill_example_environment(const struct map *map);
/* The next one behind FIRST whose name is a text, to compare with; or NULL. */
const struct map_environment *skill_example_other_environment(const struct map_environment *first);

/* The directory of MODEL's table in ENVIRONMENT. NULL when memory ran out. */
struct place *skill_example_table(const struct map *map, const struct map_environment *environment,
                                  const struct model *model);

/* Appends the path of ROUTE, a record or a listing of MODEL's table: "/prod/jobs/by-id/{job_id}".
 * The first of the values that the map knows of a parameter stands in for it. */
void skill_example_path(const struct map_environment *environment, const struct model *model,
                        const struct route *route, const struct place_options *names,
                        struct buf *out);

/* Appends PATH as one word of a shell's line. */
void skill_example_add_word(struct span path, struct buf *out);

#endif
