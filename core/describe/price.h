/* The cost of a place: of its plan, of the files that its listing has to read beside, of a link's
 * target, and of the links on the way. */
#ifndef DDBFS_CORE_DESCRIBE_PRICE_H
#define DDBFS_CORE_DESCRIBE_PRICE_H

#include "core/read/declared_files.h"

struct price {
    const struct plan *plan;     /* the place's; NULL where the map is enough */
    struct declared_files files; /* of a directory's own files */
    struct cost target;          /* of a link's target */
    bool target_is_entry;        /* of a listing, which is searched if its name is shortened */
    struct cost cost;            /* of all, and of the way here */
};

/* False with ERR filled: no item can have the path's values, or memory ran out. To be cleaned up in
 * either case. */
bool price_init(struct price *price, const struct place *place, const struct place_options *names,
                struct error *err);
void price_clean_up(struct price *price);

#endif
