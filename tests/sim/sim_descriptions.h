/* The operations of DynamoDB that describe tables: DescribeTable, ListTables, and the like. */
#ifndef DDBFS_TESTS_SIM_SIM_DESCRIPTIONS_H
#define DDBFS_TESTS_SIM_SIM_DESCRIPTIONS_H

#include "tests/sim/sim_tables.h"

/* As sim_tables_answer; of an error the body is not written. False: the operation is none of these.
 */
bool sim_descriptions_answer(const char *operation, const struct sim_json *request,
                             const struct sim_mood *mood, struct sim_outcome *out);

/* Appends the member KeySchema. */
void sim_description_write_keys(struct sim_text *out, const struct sim_key_schema *key);

#endif
