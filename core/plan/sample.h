/* Some records, compared with what the map says of them: `ddbfs check --sample`. */
#ifndef DDBFS_CORE_PLAN_SAMPLE_H
#define DDBFS_CORE_PLAN_SAMPLE_H

#include "core/map/check.h"
#include "core/plan/plan.h"

/* What the records of one table were like so far. */
struct sample;

/* TABLE, which must stay, is what records are compared with; FN is told each difference once. NULL
 * when memory ran out. */
struct sample *sample_new(const struct model *table, check_finding_fn *fn, void *arg);

/* A record that PLAN's first or second step gave. What it alone contradicts is told at once, with
 * its key: no kind of the map's records has such a key, an index's attribute is written in
 * another way, a date is none, a pick has nothing to compare. False when memory ran out. */
bool sample_add(struct sample *sample, const struct plan *plan, struct json item);

/* Tells what is wrong with all of them together: an attribute that a path shows, a filter looks
 * at, or the map calls secret, and that none of them has. */
void sample_end(struct sample *sample);

void sample_destroy(struct sample *sample); /* NULL is fine */

#endif
