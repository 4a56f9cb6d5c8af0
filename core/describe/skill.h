/* A skill: a map as one Markdown document with front matter (SKILL.md), for agents that answer
 * questions. The same map has always the same text. Its size is bounded: a large map has less text
 * for each table, and the text says so. */
#ifndef DDBFS_CORE_DESCRIBE_SKILL_H
#define DDBFS_CORE_DESCRIBE_SKILL_H

#include "core/read/place.h"

/* It has fewer lines than this, with any map; at most this many bytes for up to four tables, and
 * this many more for each further one. */
enum { SKILL_MOST_LINES = 500, SKILL_MOST_BYTES = 12 << 10, SKILL_MOST_BYTES_A_TABLE = 2 << 10 };

/* Appends it. False when memory ran out. */
bool skill_write(const struct map *map, const struct place_options *names, struct buf *out);

#endif
