/* What a request may consume at most, in read units: by the sizes that the service allows and by
 * how it rounds, as it documents both. */
#ifndef DDBFS_CORE_PLAN_CAPACITY_BOUNDS_H
#define DDBFS_CORE_PLAN_CAPACITY_BOUNDS_H

#include "core/base/buf.h"
#include "core/map/model.h"

/* Of an item that is read by its key, be it there or not: what has no bytes is paid as what has
 * few. */
double capacity_bounds_of_item(uint64_t bytes, bool consistent);

/* As large as an item may be; and in INDEX (NULL: the table), which may hold keys alone. */
uint64_t capacity_bounds_item_bytes(const struct model *table, const struct map_index *index);

/* Of one page of a query of items of up to ITEM_BYTES each, of which it is asked for COUNT (0: as
 * many as there are). A filter saves nothing, nor do attributes that are not asked for. */
double capacity_bounds_of_page(uint64_t count, uint64_t item_bytes, bool consistent);

/* Of a Scan in SEGMENTS that is ended when it has read more than LIMIT_BYTES. */
double capacity_bounds_of_scan(uint64_t limit_bytes, unsigned segments);

/* Appends what RCU cost at PRICE dollars a million, to two digits: "$0.0000065". */
void capacity_bounds_write_dollars(double rcu, double price, struct buf *out);

#endif
