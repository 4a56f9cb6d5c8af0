/* Attributes of items that look like secrets, and that the map does not mask. */
#ifndef DDBFS_CORE_CHECK_UNMASKED_H
#define DDBFS_CORE_CHECK_UNMASKED_H

#include "core/check/mistakes.h"

/* Adds those of ITEM, called WHOSE, of TABLE to WARNINGS. False when memory ran out. */
bool unmasked_find(const struct model *table, const char *whose, struct json item,
                   struct mistakes *warnings);

#endif
