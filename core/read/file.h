/* Files: the content of an item, its companions and its attributes, byte for byte. */
#ifndef DDBFS_CORE_READ_FILE_H
#define DDBFS_CORE_READ_FILE_H

#include "core/read/tree.h"

/* Appends the item's file: keys first, secrets masked. False when ITEM is no item, or (OUT->failed)
 * when memory ran out. */
bool file_write_record(const struct tree *tree, const struct model *table, struct json item,
                       struct buf *out);

/* Appends the attribute's bare value, masked if it is secret. False when ITEM has no such
 * attribute, or (OUT->failed) when memory ran out. */
bool file_write_attribute(const struct tree *tree, const struct model *table, struct span name,
                          struct json item, struct buf *out);

/* Fills in OUT, the file at PLACE, made of RECORD, which took FOUND_UNITS RCU to find. Its bytes go
 * to BYTES, to which OUT points. The caller sets OUT's ttl. STALE, unless NULL, is the reason why
 * the item is older than its ttl. False with ERR filled: ERROR_NOT_FOUND when the item has no such
 * attribute. */
bool file_make(const struct tree *tree, const struct place *place, struct record *record,
               const struct tree_found *found, const struct error *stale, struct buf *bytes,
               struct tree_file *out, struct error *err);

/* How the items of TABLE are shown: keys first (their names go to FIRST), secrets masked. Borrows
 * both. */
void file_view(const struct tree *tree, const struct model *table,
               const char *first[KEY_MAX_BASE_ATTRIBUTES], struct record_view *view);

/* The date that the map takes from the item; none if it takes none. */
struct instant file_mtime(const struct map_pattern *pattern, struct json item);

#endif
