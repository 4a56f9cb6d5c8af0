/* Whatever knows models of tables that the map does not describe. It may have to ask for them, so
 * a model comes later. */
#ifndef DDBFS_CORE_TREE_MODELS_H
#define DDBFS_CORE_TREE_MODELS_H

#include "core/base/error.h"
#include "core/tree/place.h"

struct models {
    const struct models_ops *ops;
};

struct models_call; /* a question under way; every provider has its own */

/* Exactly one of MODEL and ERR is not NULL; MODEL is borrowed: take a reference to keep it. That
 * there is no such table is ERROR_NOT_FOUND. */
typedef void models_fn(void *arg, const struct model *model, const struct error *err);

struct models_ops {
    /* Finds what is called NAME in ENVIRONMENT; both are borrowed until the end of the call. FN is
     * called once, later, never from within; the call is gone before that. NULL when memory ran
     * out. */
    struct models_call *(*find)(struct models *models, const struct place *environment,
                                struct span name, models_fn *fn, void *arg);
    /* Before FN was called, which then never is. */
    void (*cancel)(struct models_call *call);
};

#endif
