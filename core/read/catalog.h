/* The models of tables that are known by their names alone: what DescribeTable says of a table,
 * made into a model, and believed for as long as the rest of a tree's structure. */
#ifndef DDBFS_CORE_READ_CATALOG_H
#define DDBFS_CORE_READ_CATALOG_H

#include "core/base/loop.h"
#include "core/read/model_provider.h"
#include "core/read/tree.h"

enum { CATALOG_MOST_TABLES = 256 };

struct catalog;

struct catalog_options {
    struct loop *loop;
    tree_source_fn *source; /* where a place's questions go; sources outlive the catalog */
    void *source_arg;
    int64_t stale_ms; /* by how much older than its time a description may be in an outage */
};

/* OPTIONS is copied, what it points to borrowed. NULL when memory ran out. */
struct catalog *catalog_new(const struct catalog_options *options);
/* Every question must have ended. NULL is fine. */
void catalog_destroy(struct catalog *catalog);

/* The catalog as a provider of models; as long as it lives. */
struct model_provider *catalog_models(struct catalog *catalog);

/* Whoever asks from now on is told what the service says then. Where that is the same as before,
 * the model stays the same object. NULL is fine. */
void catalog_forget(struct catalog *catalog);

#endif
