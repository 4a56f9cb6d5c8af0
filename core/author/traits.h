/* What attributes of sampled records tell beside keys: which dates a record, and which are secret.
 */
#ifndef DDBFS_CORE_AUTHOR_TRAITS_H
#define DDBFS_CORE_AUTHOR_TRAITS_H

#include "core/author/specimen.h"
#include "core/map/declaration.h"

/* Sets TABLE's "mtime" and "secret", in ARENA, and appends to NOTE a sentence on what each rests.
 */
void traits_find(const struct specimen *const *specimens, size_t count, struct arena *arena,
                 struct declared_table *table, struct buf *note);

/* Whether NAME is an attribute of a key, of the table or of one of its indexes. */
bool traits_is_key(const struct declared_table *table, struct span name);

#endif
