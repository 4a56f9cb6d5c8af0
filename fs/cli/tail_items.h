/* Changes of `ddbfs tail --fetch` that wait for their items, which the stream does not have. They
 * are delivered in their order; the items of many share a BatchGetItem. */
#ifndef DDBFS_FS_CLI_TAIL_ITEMS_H
#define DDBFS_FS_CLI_TAIL_ITEMS_H

#include "core/map/model.h"
#include "core/source/source.h"
#include "core/stream/change.h"

struct tail_items;

struct tail_items_ops {
    /* CHANGE, in its turn. WAS_READ: ITEM is the item as it was read afterwards; absent: it did not
     * exist then. May destroy the queue. */
    void (*deliver)(void *arg, const struct change *change, struct json item, bool was_read);
    /* A request failed, and is repeated later. */
    void (*trouble)(void *arg, const struct error *why);
    /* Nothing more is delivered. May destroy the queue. */
    void (*fail)(void *arg, const struct error *why);
    /* Too many changes wait: none should be added for now. Or not PAUSES: enough were delivered. */
    void (*pause)(void *arg, bool pauses);
};

struct tail_items_options {
    struct loop *loop;
    struct source *source; /* a reference is held */
    const struct model *table;
    const char *table_name;
    const struct tail_items_ops *ops;
    void *arg;
};

/* All that OPTIONS point to is borrowed. NULL when memory ran out. */
struct tail_items *tail_items_new(const struct tail_items_options *options);
void tail_items_destroy(struct tail_items *items); /* NULL is fine */

/* Delivers CHANGE, which is copied, behind those before it; with IS_WANTED after its item was read.
 * Nothing is delivered from within. */
void tail_items_add(struct tail_items *items, const struct change *change, bool is_wanted);

/* Calls FN with ARG of the options and a copy of WHY, behind all changes before it: from within, if
 * none waits or memory runs out. */
typedef void tail_items_event_fn(void *arg, const struct error *why);
void tail_items_add_event(struct tail_items *items, tail_items_event_fn *fn,
                          const struct error *why);

/* RESUME_MS of the first waiting change; without one, OTHERWISE_MS. */
int64_t tail_items_resume_ms(const struct tail_items *items, int64_t otherwise_ms);

/* The requests for items so far. */
uint64_t tail_items_requests(const struct tail_items *items);

/* Whether no change waits. */
bool tail_items_are_empty(const struct tail_items *items);

#endif
