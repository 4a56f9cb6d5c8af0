/* The changes of a table's items that a path shows, and the paths of items that changed. Neither
 * needs a request. docs/internals/following.md has the rules. */
#ifndef DDBFS_CORE_READ_CHANGE_SCOPE_H
#define DDBFS_CORE_READ_CHANGE_SCOPE_H

#include "core/read/place.h"

/* An item as a change has it. */
struct change_image {
    struct json item;
    bool is_whole; /* else ITEM has its key attributes, and other attributes are not known */
};

enum change_verdict {
    CHANGE_OTHER,     /* the path does not show the item */
    CHANGE_SHOWN,     /* it does; a limit of the path ("newest") is not considered */
    CHANGE_UNDECIDED, /* that depends on attributes that the image does not have */
    CHANGE_NO_MEMORY,
};

/* Whether PLACE is a directory or an item whose changes can be followed. False with ERR filled:
 * ERROR_INVALID. */
bool change_scope_check(const struct place *place, struct error *err);

/* Whether the key of each item decides if PLACE shows it. If not, ATTRIBUTE (may be NULL) gets one
 * of the attributes that decide, too; borrowed of the model. */
bool change_scope_is_by_key(const struct place *place, const char **attribute);

/* Whether PLACE is a path of one item, and not of the one that is chosen among several. */
bool change_scope_is_one_item(const struct place *place);

/* Whether PLACE shows the item. */
enum change_verdict change_scope_test(const struct place *place, const struct place_options *names,
                                      const struct change_image *image);

/* Appends the path of the item, relative to PLACE, a directory of its table: the shortest path that
 * the map has; of equally short ones the first. False, with nothing appended, if no path is certain
 * to open the item, or memory ran out (OUT->failed). */
bool change_scope_write_path(const struct place *place, const struct place_options *names,
                             const struct change_image *image, struct buf *out);

#endif
