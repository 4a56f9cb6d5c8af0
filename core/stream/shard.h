/* One shard of a stream while it is read: where the reader is, and when it polls again. The
 * follower (follower.h) decides which shards there are, and when one may start. */
#ifndef DDBFS_CORE_STREAM_SHARD_H
#define DDBFS_CORE_STREAM_SHARD_H

#include "core/base/dict.h"
#include "core/base/list.h"
#include "core/base/loop.h"
#include "core/source/source.h"
#include "core/stream/change.h"

/*
 *   WAITS ──▶ QUEUED ──▶ PLACING ──▶ POLLING ──▶ ENDED
 *               ▲           │ ▲         │
 *               └── RESTS ◀─┴─┼─────────┘
 *                     └───────┘
 */
enum shard_state {
    SHARD_WAITS,   /* for its parent to end */
    SHARD_QUEUED,  /* for a request of another shard to end */
    SHARD_PLACING, /* its iterator is requested */
    SHARD_POLLING, /* the changes behind the iterator are requested */
    SHARD_RESTS,   /* until the next poll */
    SHARD_ENDED,   /* all of its changes were delivered, or are not wanted */
};

struct shard;

/* The reports of a shard to its follower, in its new state. Each may destroy the shard, and may
 * send the next request. */
struct shard_ops {
    /* COUNT changes, at least one, in their order, each for the first time. They lack RESUME_MS. */
    void (*changes)(void *arg, struct shard *shard, struct change *changes, size_t count);
    /* Some changes are gone for ever. The shard goes on with the oldest one, or ends. */
    void (*gap)(void *arg, struct shard *shard, const struct error *why);
    /* A request failed; the shard tries again later. */
    void (*trouble)(void *arg, struct shard *shard, const struct error *why);
    /* A request was refused for good. The shard does nothing more. */
    void (*refused)(void *arg, struct shard *shard, const struct error *why);
    /* None of these: it rests, has ended, or is queued. */
    void (*moved)(void *arg, struct shard *shard);
};

/* Clocks differ by no more, beside the difference that a page states: signatures would fail. */
enum { SHARD_CLOCKS_DIFFER_MS = 5 * 60 * 1000 };

/* How long a stream has each change. */
enum { SHARD_KEPT_MS = 24 * 60 * 60 * 1000 };

/* The common part of all shards of a follower. Borrowed by the shards. */
struct shard_context {
    struct loop *loop;
    struct source *source;
    const char *table;
    struct span stream; /* the ARN */
    struct payer *payer;
    int64_t poll_least_ms, poll_most_ms;
    uint64_t requests, duplicates; /* of all shards so far */
    int64_t skew_ms;               /* of the last page: the service's time less this machine's */
    int64_t doubted_ms; /* when an empty page was last found to have passed over a change;
                         * 0: never */
    const struct shard_ops *ops;
    void *arg;
};

/* Whether empty pages prove nothing, because one has passed over a change a while ago. */
bool shard_context_is_doubted(const struct shard_context *context);

struct shard {
    struct dict_node by_id; /* first: a pointer to it is a pointer to this */
    struct list_node node;  /* in the follower's list */
    struct shard_context *context;
    enum shard_state state;
    struct span id, parent; /* PARENT may be empty; in the same allocation */
    int64_t seen_ms;        /* the last description that had it */
    int64_t ended_ms;       /* of ENDED */
    bool has_children;      /* or has ended too long ago to get any */
    enum stream_at at;      /* the place of the first iterator */
    int64_t not_before_ms;  /* older changes are not delivered; wall time, or INT64_MIN */
    struct buf iterator;    /* the place of the next poll; empty: none is known */
    struct buf sequence;    /* of the last change that came */
    int64_t since_wall_ms; /* when the first iterator was requested, on this machine's clock; 0: not
                              yet */
    int64_t tip_ms, tip_wall_ms;   /* all changes before this were delivered; 0: not known. The
                                    * wall time is the service's, as far as it is known */
    int64_t delivered_wall_ms;     /* likewise, without the changes of the last response */
    bool takes_any;                /* missing changes were reported, or none can be missing */
    int64_t interval_ms;           /* to the next poll */
    unsigned failures;             /* in sequence */
    unsigned empty_pages;          /* likewise, behind the last page with changes; */
    int64_t run_ms, paged_ms;      /* when the first of them was requested, and the last page */
    int64_t empty_date_ms;         /* the service's time of the last page, if that was a proof
                                    * without changes; else 0 */
    bool was_placed_anew;          /* since the last response with a place */
    int64_t sent_ms, sent_wall_ms; /* of the request under way; behind it, in the service's time */
    struct read *read;             /* likewise; owned */
    struct source_call *call;      /* likewise; owned */
    struct loop_timer *timer;      /* of RESTS */
};

/* ID and PARENT are copied. It waits. NULL when memory ran out. */
struct shard *shard_new(struct shard_context *context, struct span id, struct span parent);
void shard_destroy(struct shard *shard); /* NULL is fine; removes it from its list */

/* Sends the next request of a QUEUED shard. Calls no function of the follower from within: without
 * memory the shard rests. */
void shard_send(struct shard *shard);
/* Whether a request is under way. */
bool shard_is_busy(const struct shard *shard);

#endif
