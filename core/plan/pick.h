/* The one record that a path means, among those that a query gives. */
#ifndef DDBFS_CORE_PLAN_PICK_H
#define DDBFS_CORE_PLAN_PICK_H

#include "core/item/record.h"
#include "core/plan/plan.h"

/* {.plan = …} has found nothing yet. */
struct pick {
    const struct plan *plan; /* borrowed */
    struct record *best;     /* owned reference; NULL when none counts so far */
    unsigned found;          /* how many counted */
    unsigned passed_over;    /* items that did not */
    bool backwards; /* items come in the opposite of the plan's order: where that would end with the
                     * first that counts, the last one is meant */
};

void pick_clean_up(struct pick *pick);

/* Looks at one more item. False with ERR filled when no further item can make the answer right:
 * several records answer where one is meant, one lacks what the map picks by, or is not understood.
 * An item of another kind is passed over. */
bool pick_consider(struct pick *pick, struct json item, const struct record_origin *origin,
                   struct error *err);

/* Whether no further item can change the answer. */
bool pick_is_done(const struct pick *pick);

#endif
