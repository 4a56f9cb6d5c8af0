/* Models of tables that other tools use, as declarations of a map. The import does not guess: each
 * part of a model that can't be imported is listed, with its place and the reason. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_H
#define DDBFS_CORE_DRAFT_IMPORT_H

#include "core/base/error.h"
#include "core/draft/imported.h"

/* Larger models are refused: a model may be from an untrusted source. */
enum { IMPORT_MAX_BYTES = 16 << 20, IMPORT_MAX_VALUES = 1 << 20 };

/* Recognizes the format of TEXT and reads it. OUT is in ARENA; TEXT is copied. FILE is its name in
 * errors. False when TEXT is no JSON, when not exactly one format recognizes it, when it has no
 * table that can be imported, or when memory ran out. */
bool import_model(struct arena *arena, const char *file, struct span text, struct imported *out,
                  struct error *err);

/* Makes the tables of IMPORTED, from the model FILE, a map without environments. Its note lists
 * the parts that were left out, and MORE (or NULL), which has whole sentences in a line each. False
 * when memory ran out. */
bool import_draft_map(struct arena *arena, const char *file, const struct imported *imported,
                      const char *more, struct declared_map *map);

#endif
