/* What tells one version of an item from another. */
#ifndef DDBFS_CORE_ITEM_VERSION_H
#define DDBFS_CORE_ITEM_VERSION_H

#include <stdint.h>

#include "core/json/json.h"

/* Everything a version is made of, in an order of its own, so that two answers with the same
 * content and another order of members give the same digest. */
enum { VERSION_SIZE = 16 };
struct version {
    uint8_t bytes[VERSION_SIZE];
};

/* False when ITEM is not a typed item, all the way down, or when memory ran out. */
bool item_version(struct json item, struct version *out);

#endif
