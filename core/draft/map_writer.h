/* A map's text, laid out for people, with comments. */
#ifndef DDBFS_CORE_DRAFT_MAP_WRITER_H
#define DDBFS_CORE_DRAFT_MAP_WRITER_H

#include "core/base/buf.h"
#include "core/map/declaration.h"

/* Appends MAP's text, with its notes as comments. map_parse reads the same declarations from it, in
 * the same order, without the notes. OUT is marked as failed when memory ran out. */
void map_writer_write(const struct declared_map *map, struct buf *out);

/* Adds the comments of a first map: notes for MAP and its first table, which keep their own notes.
 */
void map_writer_add_comments(struct declared_map *map);

#endif
