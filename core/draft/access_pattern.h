/* One access pattern of a data model, as a path: its parameters are the path's. A pattern that is
 * no read by a key is left out with a note. */
#ifndef DDBFS_CORE_DRAFT_ACCESS_PATTERN_H
#define DDBFS_CORE_DRAFT_ACCESS_PATTERN_H

#include "core/draft/import_reader.h"
#include "core/draft/key_template.h"

/* PATTERN belongs to the entity whose record is RECORD; TABLE has all its records and indexes, and
 * NAMES those of all its parts. */
void access_pattern_read(struct import_reader *reader, struct declared_table *table,
                         const struct declared_record *record, struct attribute_parts *names,
                         struct json pattern);

/* Leaves out what of TABLE's paths can't be compiled, so that a map of the rest can be read. False
 * with a note when the table can't be compiled without them either. */
bool access_patterns_try(struct import_reader *reader, struct declared_table *table,
                         struct json at);

#endif
