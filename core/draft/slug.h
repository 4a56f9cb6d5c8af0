/* Words for the steps of paths, from how keys are written. */
#ifndef DDBFS_CORE_DRAFT_SLUG_H
#define DDBFS_CORE_DRAFT_SLUG_H

#include "core/base/buf.h"
#include "core/map/format.h"

/* Appends the words of TEXT in lower case, joined by "-" to what stands in OUT; nothing when it has
 * none. */
void slug_add_text(struct buf *out, struct span text);

/* The same for what FORMAT says by itself: "PLATFORM#{platform}#SHOP#{id}" is "platform-shop".
 * Where it says nothing, its parts tell. */
void slug_add_format(struct buf *out, const struct format *format);

#endif
