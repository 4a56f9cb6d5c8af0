/* Two limits of a transport: `shares`, the requests that are sent at once, and `inflow`, the bytes
 * of unfinished responses in memory. */
#ifndef DDBFS_CORE_NET_ADMISSION_H
#define DDBFS_CORE_NET_ADMISSION_H

#include "core/base/dict.h"
#include "core/base/list.h"

/* A request that is sent or waits, embedded in its owner. {0} is in no share. */
struct turn {
    struct share *share; /* NULL if it is in none */
    bool granted;
    struct list_node node; /* of the share's queue, while it waits */
};

/* Each key (a table and its region, say) has a share of the limit of all turns, so that a key whose
 * requests hang does not block the others. */
struct shares {
    struct dict keys; /* owns the shares */
    unsigned each;    /* the limit of turns of one key */
    unsigned whole;   /* the limit of all turns */
    unsigned granted;
    struct list waiting; /* the shares with waiting turns, the next one first */
};

/* False when memory ran out. */
bool shares_init(struct shares *shares, unsigned each, unsigned whole);
/* All turns must have left. */
void shares_clean_up(struct shares *shares);

/* Puts TURN, which is in no share, into the share of KEY: it is granted at once, or waits. False
 * when memory ran out. */
bool shares_enter(struct shares *shares, struct turn *turn, const char *key);
/* Returns a turn, or a place in the queue. Fine for a turn that is in no share. */
void shares_leave(struct shares *shares, struct turn *turn);
/* Grants the next turn after others left, one key after the other; NULL without one. */
struct turn *shares_next(struct shares *shares);

/* A response that is received, embedded in its owner. {0} has no bytes. */
struct incoming {
    size_t bytes; /* in memory */
    bool waits;
    struct list_node node; /* of the queue, while it waits */
};

/* Beyond the limit, responses wait until others are complete; at least one of them always goes on.
 */
struct inflow {
    size_t most;
    size_t bytes;        /* of all */
    unsigned going;      /* the number of responses with bytes that do not wait */
    struct list waiting; /* responses */
};

void inflow_init(struct inflow *inflow, size_t most);

/* Counts SIZE more bytes of INCOMING, which does not wait. False if it must wait for them. */
bool inflow_take(struct inflow *inflow, struct incoming *incoming, size_t size);
/* The response is complete, or dropped. Fine for one without bytes. */
void inflow_leave(struct inflow *inflow, struct incoming *incoming);
/* Removes the next response that can go on from the queue; NULL without one. */
struct incoming *inflow_next(struct inflow *inflow);

#endif
