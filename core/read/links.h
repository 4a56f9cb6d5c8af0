/* Links: where the map says that a record leads, told by its path, its key or its attributes. */
#ifndef DDBFS_CORE_READ_LINKS_H
#define DDBFS_CORE_READ_LINKS_H

#include "core/read/place.h"

/* Where LINK of the record leads of whom PLACE is a link, or whose links it is. ITEM may be absent
 * if not place_is_read. Unless it is NULL, RELATIVE gets the way there from the directory of the
 * links. NULL with ERR filled: ERROR_NOT_FOUND when the record has no such link; ERROR_INVALID when
 * the map refuses the value that it would lead to; ERROR_DENIED when that is a secret; or that
 * memory ran out. */
struct place *links_follow(const struct place *place, const struct map_link *link, struct json item,
                           const struct place_options *options, struct buf *relative,
                           struct error *err);

/* Appends the path that the PLACE_LINK leads to, as far as that is known: parts that the record has
 * to tell stand in braces. */
void links_write(const struct place *place, const struct place_options *options, struct buf *out);

/* Such a place as the PLACE_LINK leads to, where something stands in for what is not known. NULL
 * when memory ran out. */
struct place *links_example(const struct place *place, const struct place_options *options);

#endif
