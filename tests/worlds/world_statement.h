/* Random SELECTs, for the product and for the reference. */
#ifndef DDBFS_TESTS_WORLDS_WORLD_STATEMENT_H
#define DDBFS_TESTS_WORLDS_WORLD_STATEMENT_H

#include "tests/worlds/world_reference.h"

struct world_statement {
    struct world_text text, plain; /* owned */
    bool is_ordered;
    bool is_keyed; /* its conditions lead to the rows of each table: it must not be refused */
};

void world_statement_make(struct world_statement *out, struct world_dice *dice,
                          struct world_reference *reference, const struct world_from *froms,
                          unsigned from_count);
void world_statement_free(struct world_statement *statement);

#endif
