/* A name while it is written: of the ways to write it, by more escapes or fewer, the first that is
 * found to mean what it should. docs/internals/names.md tells the candidates. */
#ifndef DDBFS_CORE_NAME_NAME_CANDIDATES_H
#define DDBFS_CORE_NAME_NAME_CANDIDATES_H

#include "core/base/error.h"
#include "core/base/escape.h"
#include "core/map/format.h"

/* All borrowed. */
struct name_candidates {
    const struct format *format;
    const struct bindings *parts; /* the values of its parameters; and those of */
    const struct bindings *path;  /* the path, which may be NULL */
    struct span prefix; /* the rank, which nothing is escaped in and no digest is made of */
    const char *suffix;
    enum escape_mark mark; /* of a shortened one */
    size_t limit;          /* without the suffix */
    /* Whether NAME, suffix and all, means what the draft is of. It sets NO_MEMORY when that could
     * not be found out. */
    bool (*leads_back)(struct name_candidates *draft, struct span name);
    const void *of; /* for LEADS_BACK: what that is */
    bool no_memory;
};

/* Appends the name. False with ERR (which may be NULL) filled: ERROR_INVALID when no name means
 * that, or a value is missing; or that memory ran out. */
bool name_candidates_write(struct name_candidates *draft, struct buf *out, struct error *err);

/* Whether VALUES are those that the draft is made of: for LEADS_BACK. */
bool name_candidates_state(const struct name_candidates *draft, const struct bindings *values);

#endif
