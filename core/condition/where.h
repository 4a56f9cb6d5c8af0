/* A filter as people type it, in the words in which conditions are printed (cond_write_words):
 * status = "FAILED" and (attempt > 2 or not (tags contains "x")). docs/semantics.md has all of it.
 */
#ifndef DDBFS_CORE_CONDITION_WHERE_H
#define DDBFS_CORE_CONDITION_WHERE_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/condition/condition.h"

/* Parses TEXT into OUT, which points into ARENA alone. False with ERR filled: ERROR_INVALID with
 * the column (from 1) and the expected text, or memory ran out. */
bool where_parse(struct span text, struct arena *arena, struct cond *out, struct error *err);

#endif
