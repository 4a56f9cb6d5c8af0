/* How many entries a listing shows, where its path says it: "newest:{count}/". */
#ifndef DDBFS_CORE_MAP_ENTRY_LIMIT_H
#define DDBFS_CORE_MAP_ENTRY_LIMIT_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/base/span.h"

enum { ENTRY_LIMIT_MOST = 1000000 };

/* Whether TEXT is meant as such a number: it has digits and nothing else. */
bool entry_limit_is(struct span text);

/* False with ERR (which may be NULL) filled, ERROR_INVALID, when TEXT is none from 1 to
 * ENTRY_LIMIT_MOST; PARAM is what the path calls it. */
bool entry_limit_parse(const char *param, struct span text, uint32_t *out, struct error *err);

#endif
