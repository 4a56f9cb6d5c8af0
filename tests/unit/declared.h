/* A map's text as the declarations that it makes, for tests of who writes such texts. */
#ifndef DDBFS_TESTS_UNIT_DECLARED_H
#define DDBFS_TESTS_UNIT_DECLARED_H

#include "core/map/declaration.h"

/* Reads TEXT; all of OUT is in ARENA. False, with what is wrong printed, when it is no map; whether
 * its tables compile is another question. */
bool declared_read(struct arena *arena, struct span text, struct declared_map *out);

#endif
