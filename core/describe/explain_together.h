/* Items that are read at one moment, in words: the request, its cost, and the equal `aws` command.
 * Sends no request. */
#ifndef DDBFS_CORE_DESCRIBE_EXPLAIN_TOGETHER_H
#define DDBFS_CORE_DESCRIBE_EXPLAIN_TOGETHER_H

#include "core/read/together.h"

/* Appends the explanation of COUNT items, for which together_check holds, for a person, or as one
 * JSON object. False with ERR filled. */
bool explain_together_write(const struct tree *tree, const struct together_item *items,
                            size_t count, bool json, struct buf *out, struct error *err);

#endif
