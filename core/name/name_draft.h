/* Writes a name from the values of its parts, with more escapes than it needs where the plain name
 * would open something else. */
#ifndef DDBFS_CORE_NAME_NAME_DRAFT_H
#define DDBFS_CORE_NAME_NAME_DRAFT_H

#include "core/base/error.h"
#include "core/base/escape.h"
#include "core/map/format.h"

/* All borrowed. */
struct name_draft {
    const struct format *format;
    const struct bindings *parts; /* values of FORMAT's parameters; PATH has the others */
    const struct bindings *path;  /* may be NULL */
    struct span prefix;           /* the rank, which is neither escaped nor part of a digest */
    const char *suffix;
    enum escape_mark mark; /* of a shortened name */
    size_t limit;          /* without the suffix */
    /* Whether NAME, suffix included, opens the thing that the draft is of. Sets NO_MEMORY if memory
     * ran out. */
    bool (*leads_back)(struct name_draft *draft, struct span name);
    const void *of; /* that thing, for LEADS_BACK */
    bool no_memory;
};

/* Appends the name. False with ERR (which may be NULL) filled: ERROR_INVALID if no name leads back
 * or a value is missing; or memory ran out. */
bool name_draft_write(struct name_draft *draft, struct buf *out, struct error *err);

/* Whether VALUES are those of the draft: for LEADS_BACK. */
bool name_draft_has(const struct name_draft *draft, const struct bindings *values);

#endif
