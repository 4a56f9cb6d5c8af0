/* A scan of all partition keys of a table, each once. It reads only the partition key of each item.
 * It runs only if scanning is allowed (place_options.scan), and not for a table beyond its limits.
 */
#ifndef DDBFS_CORE_READ_KEY_SCAN_H
#define DDBFS_CORE_READ_KEY_SCAN_H

#include "core/base/arena.h"
#include "core/read/tree.h"

enum { KEY_SCAN_SEGMENTS = 4 };

/* Constant once complete, and reference-counted. */
struct key_scan {
    size_t references;
    struct arena arena;         /* owns the values */
    const struct value *values; /* in the order of keys */
    size_t count;
    unsigned pages, requests; /* of all segments */
    struct spent spent;
};

struct key_scan *key_scan_ref(struct key_scan *scan);
void key_scan_unref(struct key_scan *scan); /* NULL is fine */

/* The Read that all segments together make; the caller destroys it. NULL when memory ran out. */
struct read *key_scan_read(const struct place *place);

/* Scans through the cache. FN is called once, later, with a struct key_scan as DATA, unless
 * cache_leave ends it. NULL with ERR filled. */
struct cache_wait *key_scan_start(const struct tree *tree, const struct place *place,
                                  cache_done_fn *fn, void *arg, struct error *err);

#endif
