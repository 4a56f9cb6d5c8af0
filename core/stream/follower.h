/* A follower of one table's stream: all of its shards, parents before their children, new shards as
 * they appear. It polls each open shard until it is destroyed. docs/internals/stream.md describes
 * the states of a shard. */
#ifndef DDBFS_CORE_STREAM_FOLLOWER_H
#define DDBFS_CORE_STREAM_FOLLOWER_H

#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/source/source.h"
#include "core/stream/change.h"

enum follow_from {
    FOLLOW_NOW,    /* changes that happen from now on */
    FOLLOW_SINCE,  /* of the last 24 hours, those since SINCE_MS */
    FOLLOW_OLDEST, /* all that the stream still has */
};

struct follower;

/* Each function may destroy the follower. ARG is that of the options. */
struct follower_ops {
    /* The table's description, before all other functions. May be NULL. */
    void (*described)(void *arg, const struct table_info *info);
    /* COUNT changes of one shard, at least one, in their order. Each is delivered once. Changes of
     * one item come in their order, also across shards. */
    void (*changes)(void *arg, const struct change *changes, size_t count);
    /* Every shard is positioned: each change from here on is delivered. Once, and again after each
     * gap. May be NULL. */
    void (*covered)(void *arg);
    /* Changes were lost, or may have been: the stream no longer has them. The follower continues.
     * WHY is for messages. May be NULL. */
    void (*gap)(void *arg, const struct error *why);
    /* A request failed past its retries; the follower repeats it later by itself. Called for each
     * failure. May be NULL. */
    void (*trouble)(void *arg, const struct error *why);
    /* Following has ended: the table has no stream (ERROR_NO_STREAM: WHY says how to enable one),
     * the service refuses, or the stream was disabled and all of its changes were delivered
     * (ERROR_NO_STREAM, too), or memory ran out so that no further event would come
     * (ERROR_NO_MEMORY). No function is called afterwards. */
    void (*ended)(void *arg, const struct error *why);
};

struct follower_options {
    struct loop *loop;
    struct source *source; /* the follower holds a reference */
    const char *table;     /* copied */
    struct payer
        *payer; /* charged with each request; the follower holds a reference; may be NULL */
    const struct log *log; /* may be NULL */
    /* The table's description, if it came a moment ago. It stays valid until DESCRIBED. NULL: it is
     * requested. */
    const struct table_info *info;
    enum follow_from from;
    int64_t since_ms; /* of FOLLOW_SINCE; wall time */
    int64_t
        poll_least_ms; /* the time between two polls of a shard after a change; it doubles with */
    int64_t poll_most_ms; /* each poll without changes, up to POLL_MOST_MS */
    const struct follower_ops *ops;
    void *arg;
};

/* Starts following: the table's description has the stream. No function of OPS is called from
 * within. NULL when memory ran out. */
struct follower *follower_new(const struct follower_options *options);
void follower_destroy(struct follower *follower); /* NULL is fine */

/* While it pauses, no further changes are requested; those under way are still delivered. */
void follower_pause(struct follower *follower, bool pauses);

/* The images that its changes have. */
enum follow_view {
    VIEW_UNKNOWN, /* the table's description has not come yet */
    VIEW_KEYS,    /* neither */
    VIEW_NEW,
    VIEW_OLD,
    VIEW_BOTH,
};
enum follow_view follower_view(const struct follower *follower);

struct follower_stats {
    size_t shards;       /* that are polled */
    size_t closed;       /* that were read to their end */
    uint64_t changes;    /* that were delivered */
    uint64_t duplicates; /* that had been delivered before, and were left out */
    uint64_t requests;   /* of all three operations, retries included */
    uint64_t gaps;
    /* Every change that was older than this on the service has been delivered: as far as the pages
     * with changes show, and under FOLLOWER_ASSUMPTION those without. Before COVERED: the time
     * since the follower was made. */
    int64_t lag_ms;
};
#define FOLLOWER_ASSUMPTION                                                                        \
    "4 empty pages of the stream in a row, over 2 s, lack no change that was made 1 s before the " \
    "last of them"
struct follower_stats follower_stats(const struct follower *follower);
/* LAG_MS alone. */
int64_t follower_lag_ms(const struct follower *follower);
/* Whether a change of the last ten minutes has shown that the assumption does not hold. Then pages
 * without changes prove nothing. */
bool follower_is_doubted(const struct follower *follower);
/* Wall time: all changes from before it were delivered, or were not wanted. It is some minutes
 * earlier than is known, because clocks differ. See also struct change. */
int64_t follower_resume_ms(const struct follower *follower);

#endif
