/* The payer of a statement: --max-rcu ends it, and --confirm-above prompts before it goes on. */
#ifndef DDBFS_FS_CLI_SQL_BUDGET_H
#define DDBFS_FS_CLI_SQL_BUDGET_H

#include "core/base/loop.h"
#include "fs/cli/read_budget.h"

/* Must live until all requests have ended. */
struct sql_budget {
    struct payer payer; /* first: a struct payer * is cast to this */
    struct loop *loop;
    const struct options *options;
    double price;              /* dollars for a million RCU; 0: not known */
    struct read_budget budget; /* of the current statement */
    struct spent spent;        /* by it */
    unsigned requests;         /* of it */
    double reserved;           /* RCU of the requests under way */
    struct list held;          /* of struct payer_turn, borrowed */
    struct loop_timer *timer;  /* will prompt; or NULL */
    double demand;             /* of the request that the prompt is about */
};

void sql_budget_init(struct sql_budget *budget, const struct options *options, struct loop *loop,
                     double price);

/* The sums and the limits begin anew, for the next statement. */
void sql_budget_begin(struct sql_budget *budget);

/* No prompt comes later. */
void sql_budget_end(struct sql_budget *budget);

#endif
