/* A cell: one attribute of one item, where items are rows. */
#ifndef DDBFS_CORE_OUTPUT_CELL_H
#define DDBFS_CORE_OUTPUT_CELL_H

#include "core/base/buf.h"
#include "core/item/item.h"
#include "core/item/typed.h"

/* Whether VIEW masks the attribute NAME. */
bool cell_is_masked(const struct record_view *view, struct span name);

/* Appends the text of an attribute's typed VALUE: strings and numbers as they are, true, false and
 * null as words, binary as base64, maps, lists and sets as compact JSON; the mask of a masked one,
 * as a string. TAG gets its type. False when VALUE is no value, or OUT failed. */
bool cell_write(struct json value, bool masked, struct buf *out, enum typed_tag *tag);

/* Appends the same as JSON: text in quotes. */
bool cell_write_json(struct json value, bool masked, struct buf *out);

#endif
