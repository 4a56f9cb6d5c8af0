/* The access patterns of a data model (import_data_model.c) as paths. A pattern's parameters are
 * the path's. A pattern that does not read by a key is left out with a note. */
#ifndef DDBFS_CORE_DRAFT_ACCESS_PATTERN_H
#define DDBFS_CORE_DRAFT_ACCESS_PATTERN_H

#include "core/draft/import_reader.h"
#include "core/draft/key_template.h"

/* Adds the path of the pattern AT, which belongs to the entity whose kind is RECORD. TABLE must
 * have all its records and indexes, and NAMES the names of all their parts. */
void access_pattern_read(struct import_reader *reader, struct declared_table *table,
                         const struct declared_record *record, struct attribute_parts *names,
                         struct json at);

/* Leaves out each of TABLE's paths that can't be compiled, so that the map can be read. False with
 * a note when the table can't be compiled without them either. */
bool access_pattern_check_paths(struct import_reader *reader, struct declared_table *table,
                                struct json at);

#endif
