/* A record: a counted copy of one version of an item, which outlives its response. */
#ifndef DDBFS_CORE_ITEM_RECORD_H
#define DDBFS_CORE_ITEM_RECORD_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/base/span.h"
#include "core/base/throttle.h"
#include "core/item/item.h"
#include "core/json/json.h"

/* A digest of an item's content: equal for equal content, in any order of the members. */
enum { VERSION_SIZE = 16 };
struct version {
    uint8_t bytes[VERSION_SIZE];
};

/* False if ITEM is not a typed item at all depths, or memory ran out. */
bool item_version(struct json item, struct version *out);

/* Reference-counted; immutable but for its count. */
struct record;

/* The response of a record, for @info. Copied. */
struct record_origin {
    int64_t fetched_ms; /* monotonic */
    int64_t fetched_wall_ms;
    double capacity; /* RCU of the response; < 0: not known */
    double doubted;  /* the most that requests without a stated consumption took beside */
    struct throttles *throttled; /* of its requests; a record takes a reference; NULL: none */
    char request_id[64];         /* "" if not known */
};

/* Fills ERR with the reason why ITEM, of the response REQUEST_ID, is not a typed item. Returns
 * false. */
bool record_refuse(struct json item, const char *request_id, struct error *err);

/* Copies the item's bytes. The caller holds one reference. NULL with ERR filled when memory ran
 * out, or if ITEM is not a typed item (ERROR_BAD_ANSWER). */
struct record *record_new(struct json item, const struct record_origin *origin, struct error *err);
struct record *record_ref(struct record *record);
void record_unref(struct record *record); /* NULL is fine */

struct json record_item(const struct record *record);  /* valid as long as the record */
struct span record_typed(const struct record *record); /* the bytes of the response */
const struct record_origin *record_origin(const struct record *record);
size_t record_memory(const struct record *record); /* its bytes of heap */

#endif
