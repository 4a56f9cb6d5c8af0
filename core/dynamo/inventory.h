/* What there is where something was looked for in vain: the account's tables, or the indexes of one
 * table. It is for words alone: the error that names them is told with or without them.
 *
 * One request tells them, once a minute at the most, however many ask: ListTables (of up to a
 * hundred names) or DescribeTable. Neither consumes read capacity. Where it is denied or fails, it
 * is not asked for again before that minute is over. */
#ifndef DDBFS_CORE_DYNAMO_INVENTORY_H
#define DDBFS_CORE_DYNAMO_INVENTORY_H

#include "core/dynamo/exchange.h"

enum {
    INVENTORY_GOOD_FOR_MS = 60 * 1000,
    INVENTORY_WAIT_MS = 2000, /* nobody is kept waiting for longer by it */
};

struct inventory;

/* LINK, by which it asks, is borrowed. NULL when memory ran out. */
struct inventory *inventory_new(struct exchange_link *link);
void inventory_destroy(struct inventory *inventory); /* NULL is fine; nobody may wait */

/* Whoever waits for what there is in one place. */
struct inventory_wait {
    struct inventory_place *place; /* NULL: it does not wait */
    struct inventory_wait *next;
    void (*over)(void *arg);
    void *arg;
};

/* Has OVER called, later, when it is known what there is in the table TABLE, or (NULL) which tables
 * there are; or when that will not be known. False when it is not to be waited for: it is known
 * already, or there was no memory. WAIT is the caller's, and must stay until then. PAYER (may be
 * NULL) pays for a request that is sent because of it. */
bool inventory_request(struct inventory *inventory, const char *table, int64_t deadline_at_ms,
                       struct payer *payer, struct inventory_wait *wait, void (*over)(void *arg),
                       void *arg);
/* Ends a wait, if it is one; OVER is not called. */
void inventory_leave(struct inventory_wait *wait);

/* Appends to ERR which tables there are, or which indexes TABLE has, and which of them WANTED may
 * have meant; nothing where that is not known. */
void inventory_report(const struct inventory *inventory, const char *table, const char *wanted,
                      struct error *err);

#endif
