/* Links: the places that the map says an item leads to. Their parts come from the item's path, its
 * key or its attributes. */
#ifndef DDBFS_CORE_READ_LINKS_H
#define DDBFS_CORE_READ_LINKS_H

#include "core/read/place.h"

/* Whether the path of PLACE, an item's link or its links, is enough to follow them: PLACE's own
 * link, or else all links. Otherwise the item has to be read. */
bool links_are_known(const struct place *place);

/* The target of LINK of PLACE's item; PLACE is one of its links, or its directory of links. ITEM
 * may be absent if it is not needed. RELATIVE (may be NULL) gets the way there from the directory
 * of links. NULL with ERR filled: ERROR_NOT_FOUND when the item has no such link; ERROR_INVALID
 * when the map refuses a value of the target; ERROR_DENIED when the target is a secret; or memory
 * ran out. */
struct place *links_follow(const struct place *place, const struct map_link *link, struct json item,
                           const struct place_options *options, struct buf *relative,
                           struct error *err);

/* Appends the path that the PLACE_LINK leads to. Parts that only the item has are in braces. */
void links_write(const struct place *place, const struct place_options *options, struct buf *out);

/* A place like the target of the PLACE_LINK, with example values for unknown parts. NULL when
 * memory ran out. */
struct place *links_example(const struct place *place, const struct place_options *options);

#endif
