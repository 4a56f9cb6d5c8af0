/* The names that exist where a table or an index was not found: the account's tables, or the
 * indexes of one table. They serve only the words of an error, which is reported with or without
 * them.
 *
 * One request (ListTables, of up to a hundred names, or DescribeTable) serves all errors of a
 * minute. Neither consumes capacity. If it fails, it is not repeated before that minute is over. */
#ifndef DDBFS_CORE_DYNAMO_INVENTORY_H
#define DDBFS_CORE_DYNAMO_INVENTORY_H

#include "core/dynamo/exchange.h"

enum {
    INVENTORY_GOOD_FOR_MS = 60 * 1000,
    INVENTORY_WAIT_MS = 2000, /* the longest that an error waits for the names */
};

struct inventory;

/* LINK is borrowed. NULL when memory ran out. */
struct inventory *inventory_new(struct exchange_link *link);
void inventory_destroy(struct inventory *inventory); /* every wait must have ended; NULL is fine */

/* A wait for the names of one place. {0} waits for none. */
struct inventory_wait {
    struct list_node node; /* in the list of the place */
    void (*over)(void *arg);
    void *arg;
};

/* Loads the indexes of TABLE, or (NULL) the tables of the account. OVER is called later, when they
 * are known or the request has failed. False if there is nothing to wait for: they are known, or
 * memory ran out. WAIT is the caller's, and must stay until then. PAYER (may be NULL) is charged
 * with a request that is sent. */
bool inventory_load(struct inventory *inventory, const char *table, int64_t deadline_at_ms,
                    struct payer *payer, struct inventory_wait *wait, void (*over)(void *arg),
                    void *arg);
/* Ends WAIT without calling OVER; does nothing if it waits for none. */
void inventory_leave(struct inventory_wait *wait);

/* Appends to ERR the names of the tables, or of the indexes of TABLE, and the one that is nearest
 * to WANTED. Appends nothing if they are not known. */
void inventory_report(const struct inventory *inventory, const char *table, const char *wanted,
                      struct error *err);

#endif
