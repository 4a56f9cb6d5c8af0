/* Parts that schemas name by attributes: such a part is called as its attribute, made such as a map
 * takes it, and no two have one name. One attribute has one name wherever it stands, since a map
 * takes the same name for the same thing. */
#ifndef DDBFS_CORE_DRAFT_ATTRIBUTE_PARTS_H
#define DDBFS_CORE_DRAFT_ATTRIBUTE_PARTS_H

#include "core/base/arena.h"
#include "core/base/dict.h"
#include "core/map/format.h"

struct attribute_parts {
    struct arena *arena; /* borrowed: the names are in it */
    struct dict by_attribute;
    struct dict taken;
};

/* False (and ARENA failed) when memory ran out; it is to be cleaned up in either case. */
bool attribute_parts_init(struct attribute_parts *names, struct arena *arena);
void attribute_parts_clean_up(struct attribute_parts *names);

/* The part's name of ATTRIBUTE, which is not empty: itself where that is a part's name, and
 * "address_city" for "address.city". NULL when memory ran out. */
const char *attribute_parts_of(struct attribute_parts *names, struct span attribute);

/* The same of an attribute that keys hold in other letters, or with zeros in front: each way has
 * a name of its own, since a map takes a part for the same text wherever it stands. The first way
 * that is asked for has the plain name. */
const char *attribute_parts_spelled(struct attribute_parts *names, struct span attribute,
                                    enum format_case letters, unsigned pad);

#endif
