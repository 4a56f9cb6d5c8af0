#include "fs/mount/budget.h"

/* However many names the kernel knows, so much is left to contents: one part of so many. Without it
 * every look-up would drop what the one before it had brought. */
enum { LEAST_SHARE = 4 };

size_t budget_used(const struct budget *budget)
{
    size_t sum = 0;
    for (int use = 0; use < BUDGET_USES; use++)
        sum += budget->used[use];
    return sum;
}

static bool budget_spare(struct budget *budget, enum budget_use use)
{
    return budget->spare[use] && budget->spare[use](budget->arg[use]);
}

void budget_add(struct budget *budget, enum budget_use use, size_t bytes)
{
    budget->used[use] += bytes;
    while (budget_used(budget) > budget->limit) {
        if (budget_spare(budget, BUDGET_LISTINGS))
            continue;
        if (budget->used[BUDGET_CONTENTS] <= budget->limit / LEAST_SHARE ||
            !budget_spare(budget, BUDGET_CONTENTS))
            return;
    }
}

void budget_remove(struct budget *budget, enum budget_use use, size_t bytes)
{
    budget->used[use] -= bytes;
}
