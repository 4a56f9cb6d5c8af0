/* A map, compared with the live tables: keys, indexes and projections. */
#ifndef DDBFS_CORE_CHECK_TABLE_CHECK_H
#define DDBFS_CORE_CHECK_TABLE_CHECK_H

#include "core/map/model.h"
#include "core/source/source.h"

/* LINE is of the map; TEXT is borrowed for the time of the call. */
typedef void check_finding_fn(void *arg, unsigned line, const char *text);

/* Compares TABLE with INFO, the description of the table called NAME. Reports each difference that
 * would make a result wrong. */
void table_check_run(const struct model *table, const char *name, const struct table_info *info,
                     check_finding_fn *fn, void *arg);

#endif
