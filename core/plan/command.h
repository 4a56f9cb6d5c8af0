/* The command for a shell that gives what a plan gives: the plan's own requests, by the source's
 * tool, and what of the answers counts, by jq. */
#ifndef DDBFS_CORE_PLAN_COMMAND_H
#define DDBFS_CORE_PLAN_COMMAND_H

#include "core/plan/plan.h"

/* Appends it. ITEMS is the plan's Read by key, if it has one (see enum read_keys); OPTIONS is where
 * SOURCE is asked. A record is printed in its typed form, a listing as one record a line, an
 * attribute bare. Nothing is printed where there is no such file. Of a shortened name every record
 * is printed that it can stand for. */
void command_write(const struct plan *plan, const struct read *items,
                   const struct source_ops *source, const char *options, struct buf *out);

#endif
