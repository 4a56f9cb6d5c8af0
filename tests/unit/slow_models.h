/* Tables that the service must describe first: their models arrive a second after they were asked
 * for. */
#ifndef DDBFS_TESTS_UNIT_SLOW_MODELS_H
#define DDBFS_TESTS_UNIT_SLOW_MODELS_H

#include "core/base/loop.h"
#include "core/read/model_provider.h"

struct slow_models {
    struct model_provider models; /* first: a pointer to it is a pointer to this */
    struct loop *loop;
    const struct model *model; /* what there is, borrowed; NULL: no such table */
    bool is_known;             /* MODEL has arrived, and is believed from then on */
    unsigned asked, cancelled;
    char name[64]; /* what was asked for last */
};

void slow_models_init(struct slow_models *slow, struct loop *loop, const struct model *model);

/* The table "Extra" with the path "items/{id}", as something else than a map's file would declare
 * it; the caller's to unref. */
const struct model *slow_models_extra(void);

#endif
