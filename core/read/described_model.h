/* The model of a table that is known by its description alone: of its generic view, with what the
 * map keeps secret of the table. */
#ifndef DDBFS_CORE_READ_DESCRIBED_MODEL_H
#define DDBFS_CORE_READ_DESCRIBED_MODEL_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/map/map.h"
#include "core/map/model.h"

struct table_info;

/* {0} is one that has no model yet. */
struct described_model {
    const struct model *model; /* holds a reference */
    struct buf identity;       /* owned: what MODEL was made of */
};

/* Makes the model of the table NAME as INFO tells it; where that is what was told before, the model
 * stays the same object. False with ERR filled, and DESCRIBED as it was. */
bool described_model_learn(struct described_model *described, const char *name,
                           const struct table_info *info, const struct map *map, struct error *err);

void described_model_clean_up(struct described_model *described);

#endif
