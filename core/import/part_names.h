/* The names of a table's parts: those of the attributes that they come from, made such as a map
 * takes them, each another one. One attribute has one name wherever it stands, since a map takes
 * the same name for the same thing. */
#ifndef DDBFS_CORE_IMPORT_PART_NAMES_H
#define DDBFS_CORE_IMPORT_PART_NAMES_H

#include "core/base/arena.h"
#include "core/base/dict.h"
#include "core/map/format.h"

struct part_names {
    struct arena *arena; /* borrowed: the names are in it */
    struct dict by_attribute;
    struct dict taken;
};

/* False (and ARENA failed) when memory ran out; it is to be cleaned up in either case. */
bool part_names_init(struct part_names *names, struct arena *arena);
void part_names_clean_up(struct part_names *names);

/* The same of an attribute that keys hold in other letters, or with zeros in front: each way has
 * a name of its own, since a map takes a part for the same text wherever it stands. The first way
 * that is asked for has the plain name. */
const char *part_names_spelled(struct part_names *names, struct span attribute,
                               enum format_case letters, unsigned pad);

/* The part's name of ATTRIBUTE, which is not empty: itself where that is a part's name, and
 * "address_city" for "address.city". NULL when memory ran out. */
const char *part_names_of(struct part_names *names, struct span attribute);

#endif
