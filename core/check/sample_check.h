/* Some items, compared with what the map says of them: `ddbfs check --sample`. */
#ifndef DDBFS_CORE_CHECK_SAMPLE_CHECK_H
#define DDBFS_CORE_CHECK_SAMPLE_CHECK_H

#include "core/plan/plan.h"

/* What the items of one table were like so far. */
struct sample;

/* TABLE, which must stay, is what items are compared with. NULL when memory ran out. */
struct sample *sample_new(const struct model *table);
void sample_destroy(struct sample *sample); /* NULL is fine */

/* An item of each kind that PLAN (NULL: any path of the table) can return is to be seen. */
void sample_want(struct sample *sample, const struct plan *plan);

/* An item that PLAN's first or second step returned. An item that two plans returned counts once.
 * False when memory ran out. */
bool sample_add(struct sample *sample, const struct plan *plan, struct json item);

#endif
