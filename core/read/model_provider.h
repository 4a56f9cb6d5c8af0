/* The interface of a provider of models, for tables that the map does not declare. A provider may
 * send a request first, so a model can arrive later. */
#ifndef DDBFS_CORE_READ_MODEL_PROVIDER_H
#define DDBFS_CORE_READ_MODEL_PROVIDER_H

#include "core/base/error.h"
#include "core/read/place.h"
#include "core/source/payer.h"

struct model_provider {
    const struct model_provider_ops *ops;
};

/* The service's description of a table. */
struct model_provider_description {
    struct span text; /* the response's text; empty when that was too large to store */
    int64_t item_count, size_bytes; /* -1 when not reported */
};

struct models_call; /* a request under way; every provider has its own */

/* Exactly one of MODEL and ERR is not NULL; MODEL is borrowed: take a reference to keep it. If the
 * table does not exist, ERR is ERROR_NOT_FOUND. */
typedef void model_provider_fn(void *arg, const struct model *model, const struct error *err);

struct model_provider_ops {
    /* The model of the table NAME in the environment of PLACE, if it is known and fresh, for
     * TTL_LEFT_MS (which may be NULL) more; borrowed. NULL when FIND has to be called. */
    const struct model *(*known)(struct model_provider *models, const struct place *place,
                                 struct span name, int64_t *ttl_left_ms);
    /* Finds the table NAME in the environment of PLACE; both are borrowed for this call alone.
     * PAYER (may be NULL) pays for a request. FN is called once, later, never from within; the
     * call is freed before that. NULL when memory ran out. */
    struct models_call *(*find)(struct model_provider *models, const struct place *place,
                                struct span name, struct payer *payer, model_provider_fn *fn,
                                void *arg);
    /* Before FN was called, which then never is. */
    void (*cancel)(struct models_call *call);
    /* The description of PLACE's table; PLACE has a TABLE_NAME. TEXT is borrowed until the next
     * call of the provider. False when no fresh description is known. */
    bool (*describe)(struct model_provider *models, const struct place *place,
                     struct model_provider_description *out);
};

#endif
