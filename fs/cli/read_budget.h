/* --confirm-above: the RCU that a command may consume before the user confirms more. The user is
 * prompted only at the terminal where the command was typed; a script is never prompted. */
#ifndef DDBFS_FS_CLI_READ_BUDGET_H
#define DDBFS_FS_CLI_READ_BUDGET_H

#include "core/source/payer.h"
#include "fs/cli/options.h"

struct read_budget {
    double rcu;     /* consumed so far */
    double allowed; /* before the next prompt; 0: unlimited */
    bool refused;   /* by the user; also for all later reads */
};

void read_budget_init(struct read_budget *budget, const struct options *options);

/* Adds the consumption of a request, or the most of it if that is not known. */
void read_budget_charge(struct read_budget *budget, const struct expense *expense);

/* The next read, in words: "PATH: the next UNIT takes up to 178 RCU". */
struct read_demand {
    const char *of;   /* "/prod/jobs", or "the statement" */
    const char *unit; /* "page" */
    double rcu;       /* at most */
    double price;     /* dollars for a million RCU; 0: not known */
};

/* Whether DEMAND may be read. False with ERR filled. The limit is doubled by a confirmation:
 * frequent prompts would be confirmed unread. */
bool read_budget_allows(struct read_budget *budget, const struct read_demand *demand,
                        struct error *err);

#endif
