/* A change as the memory of a table needs it: the item before and after, as far as the stream has
 * them.
 */
#ifndef DDBFS_CORE_LIVE_LIVE_IMAGE_H
#define DDBFS_CORE_LIVE_LIVE_IMAGE_H

#include "core/base/span.h"
#include "core/json/json.h"

/* An absent item that is known did not exist, or does not exist any more. */
struct live_image {
    struct span key;  /* of the item: live_schema_write_key */
    uint64_t hash;    /* of KEY */
    struct json keys; /* the typed key */
    struct json before, after;
    bool before_known, after_known;
};

#endif
