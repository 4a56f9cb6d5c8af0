/* An imported model as a map that somebody will edit: with words at its top for what it is, and for
 * what had to be left out. */
#ifndef DDBFS_CORE_DRAFT_IMPORTED_MAP_H
#define DDBFS_CORE_DRAFT_IMPORTED_MAP_H

#include "core/draft/imported.h"

/* Makes the tables of IMPORTED, which came of the model FILE, a map: MAP has no environment yet.
 * What is told beside what was left out, whole sentences in a line each, may be added as MORE (or
 * NULL). False when memory ran out. */
bool import_draft(struct arena *arena, const char *file, const struct imported *imported,
                  const char *more, struct declared_map *map);

#endif
