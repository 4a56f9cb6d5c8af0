/* DynamoDB Streams: the changes of tables, in shards that split and expire. */
#ifndef DDBFS_TESTS_SIM_SIM_STREAMS_H
#define DDBFS_TESTS_SIM_SIM_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/sim_tables.h"

/* The view of TABLE's stream: "NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY". */
const char *sim_streams_view(const struct sim_table *table);

/* Executes OPERATION at this moment, as sim_tables_answer does; no units are consumed. False: it is
 * none of DescribeStream, GetShardIterator, GetRecords. */
bool sim_streams_answer(const char *operation, const struct sim_json *request,
                        struct sim_dice *dice, struct sim_outcome *out);

/* The oracle of one line of TABLE's changes.jsonl: it is a change that the stream has, with its
 * kind, time, keys and images. LINE has a sequence and a shard. */
void sim_streams_check_line(const struct sim_table *table, const struct sim_json *line);

/* Makes OUT an error that a right request can have. CODE is static; MESSAGE is taken (sim_free). */
void sim_outcome_state(struct sim_outcome *out, const char *code, char *message);

#endif
