/* Names that programs try without anybody having asked for them: shells, editors, version
 * control, file browsers, indexers. They are answered here, at no cost, unless the map has them. A
 * key that is written so has a character escaped in listings, and opens by that name. */
#ifndef DDBFS_CORE_NAME_PROBED_NAMES_H
#define DDBFS_CORE_NAME_PROBED_NAMES_H

#include "core/map/format.h"

bool probed_names_is(struct span name);

/* Whether a step of the map takes no NAME, as that is noise which it does not itself ask for: by
 * being a literal, or by a text of its own that begins with the dot or ends in the tilde. */
bool probed_names_is_for(const struct format *step, struct span name);

#endif
