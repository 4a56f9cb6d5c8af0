/* Payers: a Read's requests are charged to a payer. The source charges each request once, when the
 * request is over: answered, failed, or abandoned by its caller. A request may outlive the call
 * that it was sent for, so payers are counted. */
#ifndef DDBFS_CORE_SOURCE_PAYER_H
#define DDBFS_CORE_SOURCE_PAYER_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/list.h"
#include "core/base/span.h"
#include "core/json/writer.h"

/* The consumption of requests: RCU that responses state, an upper bound of those that no response
 * stated, and the bytes of searches. */
struct spent {
    double units;   /* stated */
    double doubted; /* the most that requests of unknown consumption took beside */
    /* Searches consume bytes, and no RCU. No upper bound of them is documented. */
    double search_bytes;        /* stated */
    uint64_t unstated_searches; /* whose bytes no response stated */
};

/* The fewest bytes that a search consumes. */
enum { SEARCH_LEAST_BYTES = 1024 };

void spent_add(struct spent *sum, const struct spent *more);

/* Appends "52 RCU", or "at most 180.5 RCU" if a part is not known; and behind it ", 1024 search
 * bytes" if there are any. */
void spent_write(const struct spent *spent, struct buf *out);

/* Appends the member NAME with the stated units; null if none are known. If a part is not known,
 * appends the member NAME_at_most with the upper bound of all. Of searches the members search_bytes
 * and unstated_searches follow, unless they are 0. */
void spent_write_members(const struct spent *spent, const char *name, struct json_writer *json);
/* The same members without a writer, in the style JSON_SPACED. */
void spent_write_json(const struct spent *spent, const char *name, struct buf *out);

enum expense_end {
    EXPENSE_ANSWERED,  /* with a response of status 200, even if its checks fail later */
    EXPENSE_FAILED,    /* refused, or without a response; a retry is another expense */
    EXPENSE_ABANDONED, /* the caller had ended; the response is read for its units alone */
};

/* The cost of one request. The texts are borrowed for the time of the call. */
struct expense {
    const char *operation; /* the service's name of it: "Query"; static */
    const char *table;     /* the service's name of it; "" for an operation without a table */
    const char *index;     /* "": the table itself */
    const char *pattern;   /* the map's path that the Read is for: "jobs/by-id/{job_id}"; or "" */
    unsigned requests;     /* 1; 0 for a share of a request that another expense counts */
    enum expense_end end;
    struct spent spent; /* RCU; of a share its part of them */
    double expected;    /* an estimate of the doubted units, from earlier requests */
    int64_t took_ms;
    const struct throttle *throttles; /* the reasons for which the service throttled it */
    size_t throttle_count;
};

struct payer {
    const struct payer_ops *ops;
    size_t references;
};

enum payer_word {
    PAYER_AGREES,  /* the request may be sent */
    PAYER_REFUSES, /* too little is left, whatever the requests under way consume */
    PAYER_HOLDS,   /* it depends on the requests under way: the source repeats set_aside after its
                      turn */
};

/* The place of a held request in the payer's queue. list_remove takes it out. {0} is in no queue.
 */
struct payer_turn {
    void (*again)(void *arg); /* called when the source may repeat set_aside, in a later round */
    void *arg;
    const void *behind;    /* the payer's: other requests of it must not overtake this one */
    struct list_node node; /* in the payer's queue, or in none */
};

struct payer_ops {
    /* Must neither start nor end a call. */
    void (*charge)(struct payer *payer, const struct expense *expense);
    /* The last reference is gone. */
    void (*release)(struct payer *payer);

    /* The three functions of a payer with a limit; else NULL. Before a source sends a request, it
     * sets aside the most that such a request takes. It gives that back when the request is over,
     * and charges the real cost. See docs/internals/limits.md. */

    /* RCU that are left; INFINITY: no limit. */
    double (*left)(const struct payer *payer);
    /* Sets MOST aside for a request that takes at least LEAST. If the payer refuses, ERR is filled
     * (error_is_of_caller). If it holds the request, it queues TURN, unless that is NULL. */
    enum payer_word (*set_aside)(struct payer *payer, double least, double most,
                                 struct payer_turn *turn, struct error *err);
    void (*give_back)(struct payer *payer, double units);

    /* Whether one more search may be sent; else ERR is filled. The bytes of a search are known only
     * when it is over. May be NULL. */
    bool (*allow_search)(struct payer *payer, struct error *err);

    /* The user's path that the requests are sent for, borrowed; for recordings: empty if it may
     * have a secret in it. May be NULL. */
    struct span (*path)(const struct payer *payer);
};

/* PAYER may be NULL for all of them: no payer. */
struct payer *payer_ref(struct payer *payer);
void payer_unref(struct payer *payer);
void payer_charge(struct payer *payer, const struct expense *expense);
double payer_left(const struct payer *payer);
enum payer_word payer_set_aside(struct payer *payer, double least, double most,
                                struct payer_turn *turn, struct error *err);
void payer_refund(struct payer *payer, double units);
bool payer_allows_search(struct payer *payer, struct error *err);
struct span payer_path(const struct payer *payer); /* empty: not known */

#endif
