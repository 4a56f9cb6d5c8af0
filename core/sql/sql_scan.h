/* A Scan of a table, page by page. Live tables are scanned only within the limits of
 * place_options.scan. Snapshots have no limits. A recording without the Scan is an error. */
#ifndef DDBFS_CORE_SQL_SQL_SCAN_H
#define DDBFS_CORE_SQL_SQL_SCAN_H

#include "core/read/tree.h"

struct sql_scan;

/* As tree_entries_fn, for items. */
typedef void sql_scan_fn(void *arg, const struct json *items, size_t count, bool more,
                         const struct error *err);

/* PLACE is the table's directory; TREE, PLACE and FILTER (NULL: none) must stay until the end. FN
 * gets the first page later. NULL when memory ran out. */
struct sql_scan *sql_scan_start(const struct tree *tree, const struct place *place,
                                const struct cond *filter, sql_scan_fn *fn, void *arg);
void sql_scan_more(struct sql_scan *scan);
void sql_scan_end(struct sql_scan *scan); /* NULL is fine */

#endif
