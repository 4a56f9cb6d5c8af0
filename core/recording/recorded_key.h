/* Keys of items in the columns of a recording. */
#ifndef DDBFS_CORE_RECORDING_RECORDED_KEY_H
#define DDBFS_CORE_RECORDING_RECORDED_KEY_H

#include "core/base/arena.h"
#include "core/base/database.h"
#include "core/json/json.h"
#include "core/source/read.h"

/* Appends the names and types of the attributes as JSON: [["pk","S"],["sk","N"]]. */
void recorded_key_types(const struct key *key, struct buf *out);

/* Reads the attributes NAMES of ITEM into ARENA. False if one is missing or no value of a key, or
 * memory ran out (ARENA is failed then). */
bool recorded_key_read(const struct span *names, size_t count, struct json item,
                       struct arena *arena, struct key *out);

/* Binds the values of KEY to the parameters from FIRST on. Numbers are bound as texts that sort, in
 * ARENA, which must stay until the statement is reset. False when memory ran out. */
bool recorded_key_bind(struct statement *statement, int first, const struct key *key,
                       struct arena *arena);

#endif
