/* What the oracles of files, listings and errors share. Each sim_oracle_judge_… returns NULL if the
 * result is right, else why not (sim_free). */
#ifndef DDBFS_TESTS_SIM_SIM_ORACLE_H
#define DDBFS_TESTS_SIM_SIM_ORACLE_H

#include "tests/sim/sim_paths.h"
#include "tests/sim/sim_sight.h"

/* The span of time whose versions a read of PATH from FROM_MS until UNTIL_MS may return. */
struct sim_span sim_oracle_span_of_result(const char *path, const struct sim_node *node,
                                          int64_t from_ms, int64_t until_ms);

/* MESSAGE (taken) with SPAN and, unless NULL, the versions of ITEM in it. To be freed. */
char *sim_oracle_complain(const struct sim_node *node, const struct sim_item *item,
                          struct sim_span span, char *message);

/* MESSAGE (taken) with SPAN, and the items and files that NODE's path may have. To be freed. */
char *sim_oracle_report_items(const struct sim_node *node, struct sim_span span, char *message);

/* Appends the versions of ITEM in SPAN. */
void sim_oracle_tell_item(struct sim_text *out, const struct sim_node *node,
                          const struct sim_item *item, struct sim_span span);

/* The names of a directory, with "." and ".." left out. */
char *sim_oracle_judge_listing(const struct sim_model *model, const char *path,
                               const struct sim_node *node, char *const *names, size_t count,
                               int64_t from_ms, int64_t until_ms);

/* The items of a listing, one per line, and their number. BYTES end with NUL behind SIZE. */
char *sim_oracle_judge_lines(const struct sim_node *node, struct sim_span span, const char *bytes,
                             size_t size);
char *sim_oracle_judge_count(const struct sim_node *node, struct sim_span span, const char *bytes,
                             size_t size);

#endif
