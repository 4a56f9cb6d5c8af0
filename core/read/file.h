/* Files: what a record, its companions and its attributes look like, byte for byte. */
#ifndef DDBFS_CORE_READ_FILE_H
#define DDBFS_CORE_READ_FILE_H

#include "core/read/tree.h"

/* Appends the record as its file shows it: keys first, secrets masked. False when ITEM is no
 * item, or (OUT->failed) when memory ran out. */
bool file_write_record(const struct tree *tree, const struct model *table, struct json item,
                       struct buf *out);

/* Appends the attribute's bare value as the companion directory shows it: a secret one masked.
 * False when ITEM has no such attribute, or (OUT->failed) when memory ran out. */
bool file_write_attribute(const struct tree *tree, const struct model *table, struct span name,
                          struct json item, struct buf *out);

/* The file at PLACE, made of RECORD, which it took FOUND_UNITS read units to find: its bytes go to
 * BYTES, to which OUT points. OUT's time is left to the caller. STALE, unless NULL, says why the
 * record is too old. False with ERR filled: ERROR_NOT_FOUND when the record has no such attribute.
 */
bool file_make(const struct tree *tree, const struct place *place, struct record *record,
               double found_units, const struct error *stale, struct buf *bytes,
               struct tree_file *out, struct error *err);

/* How the records of TABLE are shown: keys first (their names go to FIRST), secrets masked. Borrows
 * both. */
void file_view(const struct tree *tree, const struct model *table,
               const char *first[KEY_MAX_BASE_ATTRIBUTES], struct record_view *view);

/* The record's own date, or 0. */
struct instant file_mtime(const struct map_pattern *pattern, struct json item);

#endif
