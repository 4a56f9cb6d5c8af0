/* What `map --sample` learns of tables from their records: those of paths that were named, or,
 * where that is allowed, some of each table. */
#ifndef DDBFS_FS_CLI_LEARNER_H
#define DDBFS_FS_CLI_LEARNER_H

#include "core/map/declaration.h"
#include "fs/cli/app.h"

enum { LEARNER_RECORDS = 100 }; /* of each path */

struct learner;

/* NULL when memory ran out. */
struct learner *learner_new(struct app *app);
void learner_destroy(struct learner *learner); /* NULL is fine */

/* The table NAME, as it is described: its records will be learnt from. DESCRIBED must stay. False
 * when memory ran out. */
bool learner_add_table(struct learner *learner, const char *name,
                       const struct declared_table *described);

/* The real name of the table whose records PATH names, to be freed; NULL after a complaint. */
char *learner_table_of(struct learner *learner, const char *path);

/* Learns from up to LEARNER_RECORDS records of PATH: one Query page, or one GetItem, and where an
 * index does not hold whole records those are read by their keys. What goes wrong is complained of;
 * that there is no record, on standard error alone. */
void learner_read_path(struct learner *learner, const char *path);

/* How many segments a table is scanned in for COUNT items. At most twice as many requests are
 * sent, so that large items do not make one request for each. */
uint32_t learner_segments(uint32_t count);

/* How many items that can be: the last page may have more than are wanted still. */
size_t learner_most(uint32_t count);

/* Learns from about COUNT items of the table NAME, which PLACE is below, by a Scan of each of its
 * segments. The source sends it only where --allow-scan is given. */
void learner_scan(struct learner *learner, const char *name, const struct place *place,
                  uint32_t count);

/* What is known of the table NAME, in ARENA: with what its records tell, where any were read, else
 * as it was described. Says on standard error where they tell nothing of how keys are written. NULL
 * when memory ran out. */
struct declared_table *learner_table(struct learner *learner, const char *name,
                                     struct arena *arena);

/* Says on standard error what was read, and what it cost. */
void learner_tell(const struct learner *learner);

#endif
