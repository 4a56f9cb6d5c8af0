/* A map's text, as a person would write it. */
#ifndef DDBFS_CORE_DRAFT_MAP_WRITER_H
#define DDBFS_CORE_DRAFT_MAP_WRITER_H

#include "core/base/buf.h"
#include "core/map/declaration.h"

/* Appends MAP's text, with its notes as comments: map_parse reads the same declarations from it,
 * notes apart, in the same order. OUT is marked as failed when memory ran out. */
void author_write(const struct declared_map *map, struct buf *out);

#endif
