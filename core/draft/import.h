/* Models of tables that teams have written for other tools, as declarations of a map. Nothing is
 * guessed: what can't be imported is told, with where it stands and why. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_H
#define DDBFS_CORE_DRAFT_IMPORT_H

#include "core/base/error.h"
#include "core/draft/imported.h"

/* A model of more bytes, or of more values, is refused: a stranger may have written it. */
enum { IMPORT_MAX_BYTES = 16 << 20, IMPORT_MAX_VALUES = 1 << 20 };

/* Finds out which format TEXT is in and reads it. All that OUT gets is in ARENA; TEXT may go
 * afterwards. FILE names it in errors. False when it is no JSON, when no format (or more than one)
 * recognises it, when not one table came of it, or when memory ran out. */
bool import_model(struct arena *arena, const char *file, struct span text, struct imported *out,
                  struct error *err);

#endif
