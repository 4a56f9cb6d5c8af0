/* A typed item, {"pk":{"S":"…"},…}, printed as plain JSON: exact and in a stable order. */
#ifndef DDBFS_CORE_ITEM_ITEM_H
#define DDBFS_CORE_ITEM_ITEM_H

#include "core/base/buf.h"
#include "core/base/span.h"
#include "core/json/json.h"

/* The layout of a printed item. All of it is borrowed. */
struct record_view {
    const char *const *first; /* the key attributes, which come first, in this order */
    size_t first_count;
    const char *const *secret; /* top-level attributes whose value is shown as a mask */
    size_t secret_count;
    bool compact; /* one line, no spaces, instead of two-space indentation */
};

/* Printed instead of a secret value. */
#define RECORD_MASK "********"

/* Appends the item as plain JSON and one newline. Key attributes first, then by name in byte
 * order; nested maps by name as well. Numbers are copied digit by digit. Sets are arrays: strings
 * in byte order, numbers in numeric order, binaries as base64 ordered by their bytes. False if
 * ITEM is not a typed item (masked values are not checked), or memory ran out (OUT->failed then);
 * OUT has its old size then. */
bool item_write(struct json item, const struct record_view *view, struct buf *out);

/* Appends one attribute's bare value and one newline: strings and numbers as they are, true,
 * false and null as words, binary as base64, maps, lists and sets as plain JSON. TYPED is the
 * attribute's typed value. Nothing is masked. False as above. */
bool item_write_value(struct json typed, bool compact, struct buf *out);

/* Appends the item in DynamoDB's typed JSON, on one line, and one newline: with masked values,
 * attributes and members of maps by name, members of sets as above, because the order of the
 * service changes from response to response. False as above. */
bool item_write_typed(struct json item, const struct record_view *view, struct buf *out);

/* Appends one typed value in that form, without the newline. False as above. */
bool item_write_typed_value(struct json typed, struct buf *out);

/* The typed value of a top-level attribute; may be absent. */
struct json item_attribute(struct json item, struct span name);

#endif
