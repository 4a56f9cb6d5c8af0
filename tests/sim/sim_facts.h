/* The oracle of the files that show what the service states about a table: schema.json, ttl.json,
 * and the like (docs/semantics.md, "Facts and partition keys"). */
#ifndef DDBFS_TESTS_SIM_SIM_FACTS_H
#define DDBFS_TESTS_SIM_SIM_FACTS_H

#include <stddef.h>

#include "tests/sim/sim_history.h"

/* The names of those whose contents are known, in a list that ends in NULL. */
extern const char *const sim_fact_names[];

/* What is wrong with the file NAME of TABLE, owned by the caller; NULL: nothing. */
char *sim_fact_judge(const struct sim_table *table, const char *name, const char *bytes,
                     size_t size);

#endif
