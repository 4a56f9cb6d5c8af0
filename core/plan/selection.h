/* What somebody asks of a listing beside its path: which of its records, and how many of these. */
#ifndef DDBFS_CORE_PLAN_SELECTION_H
#define DDBFS_CORE_PLAN_SELECTION_H

#include "core/map/model.h"

/* {0} asks for all. Borrowed. */
struct selection {
    const struct cond *filter; /* NULL: every record */
    uint32_t limit;            /* at most so many of those that answer the filter; 0: all */
    struct span begins; /* no others are wanted than those whose names begin so; the source is
                         * told where the sort key does, and else they come, too */
};

/* FROM with all it borrows in ARENA; NULL for NULL, and when memory ran out. */
const struct selection *selection_copy(const struct selection *from, struct arena *arena);

/* Whether nobody learns from the answers what is masked: a filter on a secret attribute would tell
 * its value, question by question. That it is there is shown anyway. False with ERR filled. */
bool selection_hides_secrets(const struct selection *selection, const struct model *table,
                             struct error *err);

/* Who tests which part of a filter: what all of it comes to is the same, whoever does. */
struct selection_parts {
    struct cond sent;  /* by the source, after it has read; COND_AND of no children: nothing */
    struct cond early; /* here, of an item as the query gives it */
    bool late;         /* and all of it here, of the record that is read again by its key: the index
                        * does not hold what it looks at */
};

/* Parts of FILTER in a listing of PATTERN, in ARENA. The source tests no attribute of the key that
 * it is asked by, and must not where the listing counts its records: the first of those that answer
 * are others than those of the first that answer. ROOM is how long the expression may be that is
 * sent, in bytes. False with ERR filled: ERROR_INVALID when nobody who is asked has what the filter
 * looks at, or memory ran out. */
bool selection_split(const struct cond *filter, const struct map_pattern *pattern, bool reads_again,
                     size_t room, struct arena *arena, struct selection_parts *out,
                     struct error *err);

/* How long COND is as an expression of the service, at most. */
size_t selection_expression_bytes(const struct cond *cond);

#endif
