/* The models of tables that are known only by their names. Each is made of the response to
 * DescribeTable, and is fresh for as long as the rest of a tree's structure. */
#ifndef DDBFS_CORE_READ_CATALOG_H
#define DDBFS_CORE_READ_CATALOG_H

#include "core/base/loop.h"
#include "core/read/model_provider.h"
#include "core/read/tree.h"

enum { CATALOG_MOST_TABLES = 256 };

struct catalog;

struct catalog_options {
    struct loop *loop;
    tree_source_fn *source; /* finds a place's source; sources outlive the catalog */
    void *source_arg;
    int64_t stale_ms; /* how much older than its ttl a description may be in an outage */
};

/* OPTIONS is copied; the loop and SOURCE_ARG are borrowed. NULL when memory ran out. */
struct catalog *catalog_new(const struct catalog_options *options);
/* Every request must have ended. NULL is fine. */
void catalog_destroy(struct catalog *catalog);

/* The catalog as a provider of models; it lives as long as the catalog. */
struct model_provider *catalog_models(struct catalog *catalog);

/* Makes every description stale, so that the next lookup sends a request. If the response is the
 * same as before, the model stays the same object. NULL is fine. */
void catalog_forget(struct catalog *catalog);

#endif
