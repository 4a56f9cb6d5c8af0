/* How much of answers is in memory while they come in, all together: beyond a bound those that
 * come in wait for others to be whole, and at least one of them always goes on. */
#ifndef DDBFS_CORE_NET_INFLOW_H
#define DDBFS_CORE_NET_INFLOW_H

#include <stdbool.h>
#include <stddef.h>

/* An answer that comes in: embedded in what it belongs to. {0} has brought nothing. */
struct incoming {
    size_t bytes; /* that are here */
    bool waits;
    struct incoming *next;  /* behind it in the queue, while it waits */
    struct incoming **link; /* what points to it there */
};

/* Stays where it was initialized. */
struct inflow {
    size_t most;
    size_t bytes;   /* of all */
    unsigned going; /* how many have brought something and do not wait */
    struct incoming *first, **end;
};

void inflow_init(struct inflow *inflow, size_t most);

/* Whether INCOMING, which does not wait, may bring SIZE bytes more, which are counted then; if not,
 * it waits. */
bool inflow_take(struct inflow *inflow, struct incoming *incoming, size_t size);
/* It is whole, or given up. Fine for one that has brought nothing. */
void inflow_leave(struct inflow *inflow, struct incoming *incoming);
/* The next that may go on, and does not wait any more; NULL when none may. */
struct incoming *inflow_next(struct inflow *inflow);

#endif
