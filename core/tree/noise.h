/* Names that programs try without anybody having asked for them: shells, editors, version
 * control, file browsers, indexers. They are answered here, at no cost. A key that is written so
 * has its first byte escaped in listings, and opens by that name. */
#ifndef DDBFS_CORE_TREE_NOISE_H
#define DDBFS_CORE_TREE_NOISE_H

#include "core/base/span.h"

bool noise_is(struct span name);

#endif
