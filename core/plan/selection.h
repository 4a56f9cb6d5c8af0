/* The selection of a listing: a filter, a limit, and a beginning of names, beside its path. */
#ifndef DDBFS_CORE_PLAN_SELECTION_H
#define DDBFS_CORE_PLAN_SELECTION_H

#include "core/map/model.h"

/* {0} selects all. Borrowed. */
struct selection {
    const struct cond *filter; /* NULL: every item */
    uint32_t limit;            /* the most items that match the filter; 0: all */
    struct span begins; /* the beginning of the wanted names; others may be returned, too, unless
                           the sort key has this beginning */
    bool is_quiet;      /* no warning if no item matches the filter */
};

/* Copies FROM, with everything that it borrows, into ARENA; NULL for NULL, and if memory ran out.
 */
const struct selection *selection_copy(const struct selection *from, struct arena *arena);

/* Whether the filter reveals no masked value: results of filters on a secret attribute would reveal
 * its value step by step. "exists" is allowed. False with ERR filled. */
bool selection_hides_secrets(const struct selection *selection, const struct model *table,
                             struct error *err);

/* The parts of a filter by the place where they are tested. The result is the same wherever they
 * are. */
struct selection_parts {
    struct cond sent;  /* by the source, after it has read; COND_AND of no children: nothing */
    struct cond early; /* here, on the items of the query */
    bool late; /* the whole filter is tested here, on items read again by their keys: the index
                  lacks an attribute */
};

/* Splits FILTER for a listing of PATTERN; the parts are in ARENA. The source can't test attributes
 * of the query's key, and must not test anything if the listing has a limit of its own: the filter
 * applies to those items only. ROOM is the most bytes of the expression that is sent. False with
 * ERR filled: ERROR_INVALID if the filter tests an attribute that the index lacks and no step
 * reads, or memory ran out. */
bool selection_split(const struct cond *filter, const struct map_pattern *pattern, bool reads_again,
                     size_t room, struct arena *arena, struct selection_parts *out,
                     struct error *err);

/* The most bytes of COND as an expression of the service. */
size_t selection_expression_bytes(const struct cond *cond);

#endif
