/* Reasons for which the service throttles requests, and the throttled requests of a read by reason.
 * A reason is a word of the service, such as IndexReadKeyRangeThroughputExceeded, and the ARN of
 * the table or index. */
#ifndef DDBFS_CORE_BASE_THROTTLE_H
#define DDBFS_CORE_BASE_THROTTLE_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

struct throttle {
    char reason[64];    /* unknown ones as they came; the error's code if the service stated none */
    char resource[640]; /* "" if not stated */
};

/* RESOURCE may be empty. Unprintable characters are escaped, and long texts are cut. */
void throttle_init(struct throttle *throttle, struct span reason, struct span resource);

/* The names in the ARN of a table or an index; empty without one. */
struct span throttle_table(const struct throttle *throttle);
struct span throttle_index(const struct throttle *throttle);

/* Whether the reason is one that the service documents. */
bool throttle_is_known(const struct throttle *throttle);

/* Appends "a partition of index X of table T is hot". Of an unknown reason: the reason, and the
 * ARN.
 */
void throttle_write_words(const struct throttle *throttle, struct buf *out);

/* The advice to the reader, in one clause. */
const char *throttle_advice(const struct throttle *throttle);

/* Numbers of throttled requests. Reference-counted, because the items of one response share them:
 * an addition to a shared object makes a copy first. NULL: no request was throttled. */
struct throttles;

enum { THROTTLES_MOST = 8 }; /* reasons; further ones are counted as THROTTLES_OTHER */
#define THROTTLES_OTHER "(other)"

struct throttles *throttles_ref(struct throttles *throttles); /* NULL is fine */
void throttles_unref(struct throttles *throttles);            /* NULL is fine */
void throttles_clean_up(struct throttles **throttles);        /* for CLEAN_UP */

size_t throttles_memory(const struct throttles *throttles); /* its bytes of heap */

/* Adds REQUESTS to *SUM. When memory runs out, they are not counted. */
void throttles_add(struct throttles **sum, const struct throttle *throttle, uint64_t requests);
/* Adds all of MORE (may be NULL) to *SUM. */
void throttles_join(struct throttles **sum, struct throttles *more);

/* The I-th reason; NULL when there are no more. */
const struct throttle *throttles_at(const struct throttles *throttles, size_t i,
                                    uint64_t *requests);

#endif
