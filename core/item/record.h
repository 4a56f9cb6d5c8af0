/* A record: one version of one item, which outlives the answer it came in. */
#ifndef DDBFS_CORE_ITEM_RECORD_H
#define DDBFS_CORE_ITEM_RECORD_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/base/span.h"
#include "core/item/item.h"
#include "core/item/version.h"
#include "core/json/json.h"

/* One version of one item, reference-counted; immutable but for its count. */
struct record;

/* Where a record came from, for @info. Copied. */
struct record_origin {
    int64_t fetched_ms; /* monotonic */
    int64_t fetched_wall_ms;
    double capacity;     /* read capacity units of the answer it came in; < 0 when unknown */
    double doubted;      /* at most so many more, of requests for it whose responses state none */
    char request_id[64]; /* of that answer; "" when unknown */
};

/* Copies the item's bytes. The caller holds one reference. NULL with ERR filled when memory ran
 * out, or when ITEM is no typed item (ERROR_BAD_ANSWER). */
/* Fills ERR: why ITEM, which came with the answer REQUEST_ID, can't be shown. Returns false. */
bool record_refuse(struct json item, const char *request_id, struct error *err);

struct record *record_new(struct json item, const struct record_origin *origin, struct error *err);
struct record *record_ref(struct record *record);
void record_unref(struct record *record); /* NULL is fine */

struct json record_item(const struct record *record);  /* valid as long as the record */
struct span record_typed(const struct record *record); /* DynamoDB's own bytes */
const struct record_origin *record_origin(const struct record *record);
struct version record_version(const struct record *record);
size_t record_memory(const struct record *record); /* what it costs a cache, in bytes */

#endif
