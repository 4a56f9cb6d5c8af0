/* What a query says of the items that it lets through, so that nobody has to look at them. Errs on
 * the side of saying less. */
#ifndef DDBFS_CORE_PLAN_IMPLIED_H
#define DDBFS_CORE_PLAN_IMPLIED_H

#include "core/map/model.h"
#include "core/source/read.h"

/* Whether attribute number I of every item's key is as KIND has it, and contradicts no value of
 * PATH. */
bool implied_by_key(const struct model *table, const struct read *query,
                    const struct map_kind *kind, size_t i, const struct bindings *path);

/* How often the part PARAM stands in KIND's keys. */
size_t implied_count_param(const struct model *table, const struct map_kind *kind,
                           const char *param);

/* Whether a part of KIND's keys that PATH does not say stands in them twice. */
bool implied_repeats_parts(const struct model *table, const struct map_kind *kind,
                           const struct bindings *path);

/* Whether every item is one that the listing PATTERN has, so that it can be counted unseen. */
bool implied_all_count(const struct map_pattern *pattern, const struct read *query,
                       const struct bindings *path);

#endif
