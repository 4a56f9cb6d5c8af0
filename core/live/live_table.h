/* One table that is followed while it is read: its memory, and the state of its stream. */
#ifndef DDBFS_CORE_LIVE_LIVE_TABLE_H
#define DDBFS_CORE_LIVE_LIVE_TABLE_H

#include "core/base/list.h"
#include "core/base/log.h"
#include "core/live/live_history.h"
#include "core/live/live_memory.h"
#include "core/stream/follower.h"

/*
 *   RESTS ──▶ BEGINS ──▶ FOLLOWS ──▶ RESTS (not read for a while)
 *     ▲          │          │
 *     └── LOST ◀─┴──────────┘
 */
enum live_state {
    LIVE_RESTS,   /* nothing is requested */
    LIVE_BEGINS,  /* the shards are found, or read again after a gap */
    LIVE_FOLLOWS, /* every change comes */
    LIVE_LOST,    /* WHY: it begins again after a while */
};

/* The results that were used in some time from FROM_MS on: each shows all changes until TIP_MS. */
struct live_use {
    int64_t from_ms, tip_ms;
};

/* A time in which results could not be stored. */
struct live_shortage {
    int64_t began_ms, last_ms; /* both 0: it never happened */
};
bool live_shortage_lasts(const struct live_shortage *shortage, int64_t now_ms);
void live_shortage_note(struct live_shortage *shortage, int64_t now_ms);

/* The common part of all tables of a source. All of it is borrowed. */
struct live_context {
    struct loop *loop;
    struct source *source;
    struct payer *payer;   /* of the polls; may be NULL */
    const struct log *log; /* may be NULL */
    struct live_budget *budget;
    struct live_shortage shortage; /* of room for the results of all tables */
    size_t history_bytes;          /* of all tables */
    int64_t settle_ms;             /* see struct live_options */
    uint64_t changes, gaps;        /* so far */
    unsigned followed;             /* tables with a follower */
    struct list described;         /* tables with a description, the oldest first */
};

struct live_table {
    struct dict_node node; /* by its name */
    struct live_context *context;
    enum live_state state;
    struct error why;           /* of LOST, and the last one of BEGINS */
    struct follower *follower;  /* owned; of BEGINS and FOLLOWS */
    struct live_schema *schema; /* a reference; NULL until the table is described */
    struct live_memory *memory; /* owned; likewise */
    /* The last description, if the table was not followed when it came and is not yet; else NULL:
     */
    const struct table_info *info;
    struct page_owner *info_owner; /* owned */
    struct list_node info_node;    /* in the context's list */
    int64_t info_ms;               /* when it came */
    struct live_history history;
    bool was_late;                 /* the lag was reported */
    int64_t read_ms;               /* the last Read of the table */
    int64_t covered_ms;            /* of FOLLOWS: since when */
    struct live_use uses[2];       /* the latest first: readers may hold these results */
    int64_t ended_ms;              /* when it ceased to follow; 0: not yet */
    int64_t stored_ms;             /* when results could be stored last; 0: not yet */
    struct live_shortage shortage; /* of results of this table that could not be stored */
    int64_t held_until_ms; /* the kernel may hold results that were used while it was not current */
    struct loop_timer *timer; /* of all states but RESTS: the next look at the table */
    char name[];
};

/* Its lag may not be greater where a result is used without a request. After a change the lag grows
 * to this until empty pages are a proof again (FOLLOWER_ASSUMPTION). */
enum { LIVE_MOST_LAG_MS = 5000 };

struct live_table *live_table_new(struct live_context *context, const char *name);
void live_table_destroy(struct live_table *table); /* NULL is fine */

/* The table is read now: it is followed from here on. */
void live_table_touch(struct live_table *table);

/* Whether the memory shows the table as it was LAG_MS ago, which is little. */
bool live_table_is_current(const struct live_table *table, int64_t *lag_ms);
/* The same, before a result is used. */
bool live_table_use(struct live_table *table, int64_t *lag_ms);

/* Whether there was not room for all results lately, of all tables or of this one. Then readers use
 * theirs for the ttl: else they would send more requests than without this source. */
bool live_table_is_short(const struct live_table *table);
/* How old a result may be that is used again; TTL_MS or less. */
int64_t live_table_ttl_ms(const struct live_table *table, int64_t ttl_ms);
/* The time for which the kernel may hold a result; LEFT_MS or less. */
int64_t live_table_hold_ms(struct live_table *table, int64_t left_ms);

/* Fills in all of OUT. The lag includes the time for which readers hold a result. */
void live_table_present(const struct live_table *table, struct source_present *out);

/* Whether results of a Read of INDEX (NULL: the table) that was sent at SINCE_MS may be stored: no
 * change is missing that they may lack. */
bool live_table_may_store(const struct live_table *table, const char *index, int64_t since_ms);
/* Whether every result could be stored, if the history had all changes of the last moments. */
bool live_table_is_settled(const struct live_table *table, int64_t since_ms);
/* Stores the response to a Read that was sent at SINCE_MS; see live_memory_store_item. The caller
 * has checked live_table_may_store. */
void live_table_store_item(struct live_table *table, struct span key, struct span text,
                           int64_t since_ms);
/* Takes over QUERY. */
void live_table_store_query(struct live_table *table, struct live_query *query, int64_t since_ms);

/* Drops all that is stored; the table is followed on. */
void live_table_forget(struct live_table *table);
/* PAGE describes the table. With other indexes than before, following begins anew. If the table is
 * not followed, takes the memory of PAGE over, so that a follower needs no other description. */
void live_table_take_description(struct live_table *table, const struct page *page);

#endif
