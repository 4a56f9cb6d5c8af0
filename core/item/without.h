/* A typed item without some of its attributes. */
#ifndef DDBFS_CORE_ITEM_WITHOUT_H
#define DDBFS_CORE_ITEM_WITHOUT_H

#include "core/base/buf.h"
#include "core/json/json.h"

/* Appends ITEM, a typed item, without what the NAMES call: attributes, and with dots between the
 * names, what is in maps; elements of a list are passed through ("steps.at" is in each). A name
 * that has a dot in it is called as it is. Nothing else is looked at: what is no typed value is
 * copied. OUT->failed when memory ran out. */
void item_write_without(struct json item, const char *const *names, size_t count, struct buf *out);

#endif
