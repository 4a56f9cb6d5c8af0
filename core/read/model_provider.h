/* Whatever knows models of tables that the map does not describe. It may have to ask for them, so
 * a model comes later. */
#ifndef DDBFS_CORE_READ_MODEL_PROVIDER_H
#define DDBFS_CORE_READ_MODEL_PROVIDER_H

#include "core/base/error.h"
#include "core/read/place.h"
#include "core/source/payer.h"

struct model_provider {
    const struct model_provider_ops *ops;
};

/* What the service said of a table. */
struct model_provider_told {
    struct span text;               /* as it said it; empty when that was too much to be kept */
    int64_t item_count, size_bytes; /* -1 when not told */
};

struct models_call; /* a question under way; every provider has its own */

/* Exactly one of MODEL and ERR is not NULL; MODEL is borrowed: take a reference to keep it. That
 * there is no such table is ERROR_NOT_FOUND. */
typedef void model_provider_fn(void *arg, const struct model *model, const struct error *err);

struct model_provider_ops {
    /* What is known of the table NAME in the environment of PLACE and young enough to be believed,
     * for TTL_LEFT_MS (which may be NULL) more; borrowed. NULL when somebody has to be asked. */
    const struct model *(*known)(struct model_provider *models, const struct place *place,
                                 struct span name, int64_t *ttl_left_ms);
    /* Finds what is called NAME in the environment of PLACE; both are borrowed for this call alone.
     * PAYER (may be NULL) pays for what has to be asked. FN is called once, later, never from
     * within; the call is gone before that. NULL when memory ran out. */
    struct models_call *(*find)(struct model_provider *models, const struct place *place,
                                struct span name, struct payer *payer, model_provider_fn *fn,
                                void *arg);
    /* Before FN was called, which then never is. */
    void (*cancel)(struct models_call *call);
    /* What was said of the table of PLACE, which has a TABLE_NAME; TEXT is borrowed until anything
     * else is asked. False when somebody has to be asked. */
    bool (*told)(struct model_provider *models, const struct place *place,
                 struct model_provider_told *out);
};

#endif
