/* The shell command whose output is that of a plan: the plan's own requests, by the source's tool,
 * and the items of the responses that count, by jq. */
#ifndef DDBFS_CORE_DESCRIBE_EQUAL_COMMAND_H
#define DDBFS_CORE_DESCRIBE_EQUAL_COMMAND_H

#include "core/plan/plan.h"

struct equal_command {
    const struct plan *plan;
    const struct read *items; /* the plan's Read by key (see enum read_keys); or NULL */
    const struct source_ops *source;
    const char *options;           /* of SOURCE's tool */
    const struct plan *const *own; /* of a listing: items that are no entries of it, since the map
                                    * gives them names of their own; each is a PLAN_KEY */
    size_t own_count;
    bool keys_alone; /* of a plan of one item: only its key is printed */
};

/* Appends it. All is borrowed. The command prints an item in its typed form, a listing as one item
 * a line or as their number, an attribute bare, and nothing for a file that does not exist. For a
 * shortened name it prints each item that the name can mean, and for similar items each result: its
 * key and its score. */
void equal_command_write(const struct equal_command *command, struct buf *out);

/* Appends the command of COUNT files that items of READ, a READ_TOGETHER, make: each prints what
 * its own command prints. PART_OF has the number of each one's part, from 1 on. Keys that READ
 * lacks are found before. Appends nothing if a name is shortened, which may mean several keys. */
void equal_command_write_together(const struct equal_command *commands, const size_t *part_of,
                                  size_t count, const struct read *read, struct buf *out);

#endif
