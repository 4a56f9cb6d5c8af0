/* The numbers of a statement and of the columns that it has read, which have more digits than a
 * REAL. SQLite converts the numbers of an IN list of a number column, be they texts, to REALs: such
 * a REAL may be another number than the one that was written. */
#ifndef DDBFS_CORE_SQL_SQL_LOST_H
#define DDBFS_CORE_SQL_SQL_LOST_H

#include "core/base/arena.h"
#include "core/base/dict.h"
#include "core/output/sql_value.h"

/* {0} is empty. */
struct sql_lost {
    struct dict reals; /* of nodes in ARENA; the key is a REAL's bytes */
    struct arena arena;
};

void sql_lost_clean_up(struct sql_lost *lost);

/* Adds TEXT if it is a number that is neither an INTEGER nor a REAL. False when memory ran out. */
bool sql_lost_add(struct sql_lost *lost, struct span text);

/* Adds all numbers of a statement, also those in texts. False when memory ran out. */
bool sql_lost_add_statement(struct sql_lost *lost, const char *statement);

/* Whether the INTEGER or REAL VALUE may be one of the numbers. */
bool sql_lost_has(const struct sql_lost *lost, const struct sql_value *value);

#endif
