/* What `map --sample` learns of tables from their records: those of paths that were named, or,
 * where that is allowed, some of each table. */
#ifndef DDBFS_FS_CLI_MAP_SAMPLE_H
#define DDBFS_FS_CLI_MAP_SAMPLE_H

#include "core/map/declaration.h"
#include "fs/cli/app.h"

enum { MAP_SAMPLE_RECORDS = 100 }; /* of each path */

struct map_sample;

/* NULL when memory ran out. */
struct map_sample *map_sample_new(struct app *app);
void map_sample_destroy(struct map_sample *learner); /* NULL is fine */

/* The table NAME, as it is described: its records will be learnt from. DESCRIBED must stay. False
 * when memory ran out. */
bool map_sample_add_table(struct map_sample *learner, const char *name,
                          const struct declared_table *described);

/* The real name of the table whose records PATH names, to be freed; NULL after a complaint. */
char *map_sample_table_of(struct map_sample *learner, const char *path);

/* Learns from up to MAP_SAMPLE_RECORDS records of PATH: one Query page, or one GetItem, and where
 * an index does not hold whole records those are read by their keys. What goes wrong is complained
 * of; that there is no record, on standard error alone. */
void map_sample_read_path(struct map_sample *learner, const char *path);

/* How many segments a table is scanned in for COUNT items. At most twice as many requests are
 * sent, so that large items do not make one request for each. */
uint32_t map_sample_segments(uint32_t count);

/* How many items that can be: the last page may have more than are wanted still. */
size_t map_sample_most(uint32_t count);

/* Learns from about COUNT items of the table NAME, which PLACE is below, by a Scan of each of its
 * segments. The source sends it only where --allow-scan is given. */
void map_sample_scan(struct map_sample *learner, const char *name, const struct place *place,
                     uint32_t count);

/* What is known of the table NAME, in ARENA: with what its records tell, where any were read, else
 * as it was described. Says on standard error where they tell nothing of how keys are written. NULL
 * when memory ran out. */
struct declared_table *map_sample_table(struct map_sample *learner, const char *name,
                                        struct arena *arena);

/* Says on standard error what was read, and what it cost. */
void map_sample_report(const struct map_sample *learner);

#endif
