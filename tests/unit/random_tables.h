/* Descriptions of tables as nobody would make them, one for each seed. */
#ifndef DDBFS_TESTS_UNIT_RANDOM_TABLES_H
#define DDBFS_TESTS_UNIT_RANDOM_TABLES_H

#include <stdint.h>

#include "core/base/arena.h"
#include "core/map/declaration.h"

struct random {
    uint64_t state;
};

/* A number from 0 to LIMIT - 1. */
size_t random_below(struct random *random, size_t limit);

/* The description that SEED stands for, in ARENA: attributes with dots, blanks, reserved words and
 * each other's part names, all mixes of types, indexes with up to four attributes on a side, local
 * ones, inverted ones, and such as share some of the table's key or all of it. */
const struct table_info *random_table(struct arena *arena, uint64_t seed);

/* Such a table with up to five kinds of record, whose keys are written in formats of which some are
 * odd, and indexes that some kinds are in, each in its way. It has no paths. It may be one that
 * does not compile. */
struct declared_table *random_kinds(struct arena *arena, uint64_t seed);

#endif
