/* Two texts beside each other, as `diff -u` shows them. */
#ifndef DDBFS_CORE_BASE_UNIFIED_H
#define DDBFS_CORE_BASE_UNIFIED_H

#include "core/base/buf.h"
#include "core/base/span.h"

/* A text under the name that is shown for it. */
struct unified_text {
    struct span label;
    struct span text;
};

/* Appends the lines in which FROM and TO differ, with three around them; nothing where they are the
 * same. OUT->failed when memory ran out. */
void unified_write(struct buf *out, const struct unified_text *from, const struct unified_text *to);

#endif
