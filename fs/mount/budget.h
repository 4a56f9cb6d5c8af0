/* What the mount keeps of files and listings, counted against its share of --cache-size. Whoever
 * keeps something says so here; when the sum passes the limit, what nobody needs goes first. */
#ifndef DDBFS_FS_MOUNT_BUDGET_H
#define DDBFS_FS_MOUNT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

enum budget_use {
    BUDGET_NODES,    /* names that the kernel knows: they go when it forgets them */
    BUDGET_LISTINGS, /* complete ones that nobody has open go first */
    BUDGET_CONTENTS, /* bytes of files: the least recently used go next */
    BUDGET_USES,
};

/* Frees some of what can be spared; false when there is nothing left of it. */
typedef bool budget_spare_fn(void *arg);

struct budget {
    size_t limit;
    size_t used[BUDGET_USES];
    budget_spare_fn *spare[BUDGET_USES]; /* NULL: nothing of it can be spared */
    void *arg[BUDGET_USES];
};

/* Says that BYTES more are kept, after sparing what must be. Calls what spares: nodes that nobody
 * has pinned may go, and contents with them. */
void budget_add(struct budget *budget, enum budget_use use, size_t bytes);
void budget_remove(struct budget *budget, enum budget_use use, size_t bytes);

size_t budget_used(const struct budget *budget);

#endif
