/* Maps for tests: the example that ships, and texts cut to one question. */
#ifndef DDBFS_TESTS_UNIT_SAMPLE_H
#define DDBFS_TESTS_UNIT_SAMPLE_H

#include "core/map/map.h"

/* The example map of docs/examples; NULL with ERR filled. */
const struct map *sample_example(struct error *err);

/* The text of that file, to be cleaned up by the caller. */
bool sample_example_text(struct buf *out);

/* A map with the environment "prod" and one table "t" called "Table": TABLE is what stands between
 * its braces, "paths" included. */
const struct map *sample_table(const char *table, struct error *err);

/* The pattern of that path; NULL when there is none. */
const struct map_pattern *sample_pattern(const struct map *map, const char *table,
                                         const char *path);

/* Appends the pattern's conditions: "pk = A#{a} and sk begins with B#; filter x = y". */
void sample_write_conds(const struct map_pattern *pattern, struct buf *out);

#endif
