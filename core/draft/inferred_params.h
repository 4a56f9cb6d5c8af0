/* The parameters whose values are few: parts that say one of some words in many records. */
#ifndef DDBFS_CORE_DRAFT_INFERRED_PARAMS_H
#define DDBFS_CORE_DRAFT_INFERRED_PARAMS_H

#include "core/draft/inference.h"

/* Declares them, once all parts of all kinds are settled. Never one that is named like a secret.
 * False when memory ran out. */
bool inferred_params_find(struct inferring *inferring);

#endif
