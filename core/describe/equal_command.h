/* The command for a shell that gives what a plan gives: the plan's own requests, by the source's
 * tool, and what of the answers counts, by jq. */
#ifndef DDBFS_CORE_DESCRIBE_EQUAL_COMMAND_H
#define DDBFS_CORE_DESCRIBE_EQUAL_COMMAND_H

#include "core/plan/plan.h"

struct command_of {
    const struct plan *plan;
    const struct read *items; /* the plan's Read by key (see enum read_keys); NULL: it has none */
    const struct source_ops *source;
    const char *options;           /* where SOURCE is asked */
    const struct plan *const *own; /* of a listing: records that are no entries of it, since the
                                    * map gives them names of their own beside; of PLAN_KEY */
    size_t own_count;
};

/* Appends it. All is borrowed. A record is printed in its typed form, a listing as one record a
 * line or as their number, an attribute bare. Nothing is printed where there is no such file. Of a
 * shortened name every record is printed that it can stand for. */
void command_write(const struct command_of *command, struct buf *out);

#endif
