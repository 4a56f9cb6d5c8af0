/* The form of an item that comes from a file: typed at all depths, each name once, valid numbers.
 */
#ifndef DDBFS_CORE_ITEM_ITEM_FAULT_H
#define DDBFS_CORE_ITEM_ITEM_FAULT_H

#include "core/base/buf.h"
#include "core/json/json.h"

/* A part of an item that is not valid. */
struct item_fault {
    struct json at;   /* the value, or the name that comes twice */
    const char *what; /* a static phrase; "out of memory", too */
};

/* Whether ITEM is valid; else FAULT is filled. SCRATCH is overwritten. TIGHT, which is set only for
 * a valid item, is false if blanks are between its parts. */
bool item_is_valid(struct json item, struct buf *scratch, bool *tight, struct item_fault *fault);

/* Appends the JSON text of VALUE without blanks between its parts. */
void item_write_tight(struct json value, struct buf *out);

#endif
