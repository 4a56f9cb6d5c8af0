/* Who pays for what a source is asked. Each request that was sent for a Read is told to its payer
 * once, when it is over: with its answer, with a refusal, or because nobody waited for it any more.
 * A request may outlive the question that it was sent for, so payers are counted. */
#ifndef DDBFS_CORE_SOURCE_PAYER_H
#define DDBFS_CORE_SOURCE_PAYER_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "core/source/spent.h"

enum expense_end {
    EXPENSE_ANSWERED,  /* as the service answers, though what it said may be refused afterwards */
    EXPENSE_FAILED,    /* refused, or not answered; it may be tried again, which is a new expense */
    EXPENSE_ABANDONED, /* its caller had ended; the response is awaited for its units alone */
};

/* What one request took. The texts are borrowed for the time of the call. */
struct expense {
    const char *operation; /* as the source calls it: "Query"; static */
    const char *table;     /* as the service knows it; "" where none is named */
    const char *index;     /* "": the table itself */
    const char *pattern;   /* of the map, that the Read is for: "jobs/by-id/{job_id}"; "": none */
    unsigned requests;     /* 1; 0 for a share of a request that another's expense counts */
    enum expense_end end;
    struct spent spent; /* read units; of a share its part of them */
    double expected;    /* of the doubted units: so many, by what such requests took so far */
    int64_t took_ms;
};

struct payer {
    const struct payer_ops *ops;
    size_t references;
};

enum payer_word {
    PAYER_AGREES,  /* the request may be sent */
    PAYER_REFUSES, /* too little is left, whatever the requests under way consume */
    PAYER_HOLDS,   /* that depends on the requests under way: the payer is to be asked again */
};

/* The place of a held request in the payer's queue. list_remove takes it out. {0} is in no queue.
 */
struct payer_turn {
    void (*again)(void *arg); /* the payer may be asked again, in a later round of the loop */
    void *arg;
    const void *behind;    /* the payer's: which others must not overtake it */
    struct list_node node; /* in the payer's queue, or in none */
};

struct payer_ops {
    /* May neither ask nor end anything. */
    void (*charge)(struct payer *payer, const struct expense *expense);
    /* The last reference is gone. */
    void (*release)(struct payer *payer);

    /* Of a payer with a limit; all three, or none. Before a source sends a request, it sets aside
     * the most that such a request takes, and gives that back when the request is over. What the
     * request took is charged as ever. docs/internals/limits.md describes the rest. */

    /* Read units that have not been consumed yet; INFINITY: no limit. */
    double (*left)(const struct payer *payer);
    /* Sets MOST aside for a request that takes LEAST whatever comes. ERR is filled
     * (error_is_of_caller) when the payer refuses. When it holds the request, TURN is put into its
     * queue, unless that is NULL. */
    enum payer_word (*set_aside)(struct payer *payer, double least, double most,
                                 struct payer_turn *turn, struct error *err);
    void (*give_back)(struct payer *payer, double units);
};

/* NULL, nobody in particular, is fine for all of them. */
struct payer *payer_ref(struct payer *payer);
void payer_unref(struct payer *payer);
void payer_charge(struct payer *payer, const struct expense *expense);
double payer_left(const struct payer *payer);
enum payer_word payer_set_aside(struct payer *payer, double least, double most,
                                struct payer_turn *turn, struct error *err);
void payer_refund(struct payer *payer, double units);

#endif
