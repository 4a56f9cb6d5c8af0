/* A skill: what a program that answers questions has to know of a map, as one Markdown document
 * with front matter (SKILL.md). It is made of the map alone, the same text for the same map, and
 * bounded: of large maps it tells less of each table, and that it does. */
#ifndef DDBFS_CORE_DESCRIBE_SKILL_H
#define DDBFS_CORE_DESCRIBE_SKILL_H

#include "core/read/place.h"

/* It has fewer lines than this, whatever the map; so many bytes at most for up to four tables, and
 * so many more for each further one. */
enum { SKILL_MOST_LINES = 500, SKILL_MOST_BYTES = 12 << 10, SKILL_MOST_BYTES_A_TABLE = 2 << 10 };

/* Appends it. False when memory ran out. */
bool skill_write(const struct map *map, const struct place_options *names, struct buf *out);

#endif
