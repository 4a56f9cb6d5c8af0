/* How a place is read, with all that is read beside, and what that costs: found once, for whoever
 * prints it. */
#ifndef DDBFS_CORE_DESCRIBE_PRICE_H
#define DDBFS_CORE_DESCRIBE_PRICE_H

#include "core/read/declared_files.h"

struct price {
    const struct plan *plan;     /* the place's; NULL where the map alone tells what is there */
    struct declared_files files; /* of a directory's own files */
    struct cost target;          /* of what a link leads to */
    bool target_is_entry;        /* of a listing, which is searched where its name is shortened */
    struct cost cost;            /* of all, and of the way here */
};

/* False with ERR filled: nothing can have the values that the path gives, or memory ran out. To be
 * cleaned up in either case. */
bool price_init(struct price *price, const struct place *place, const struct place_options *names,
                struct error *err);
void price_clean_up(struct price *price);

#endif
