/* What attributes of sampled records tell beside keys: which dates a record, and which are secret.
 */
#ifndef DDBFS_CORE_DRAFT_ATTRIBUTE_TRAITS_H
#define DDBFS_CORE_DRAFT_ATTRIBUTE_TRAITS_H

#include "core/draft/sampled_item.h"
#include "core/map/declaration.h"

/* Sets TABLE's "mtime" and "secret", in ARENA, and appends to NOTE a sentence on what each rests.
 */
void attribute_traits_find(const struct sampled_item *const *specimens, size_t count,
                           struct arena *arena, struct declared_table *table, struct buf *note);

/* Whether NAME is an attribute of a key, of the table or of one of its indexes. */
bool attribute_traits_is_key(const struct declared_table *table, struct span name);

#endif
