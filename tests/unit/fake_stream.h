/* A stream service of tests: a source of one table, whose shards split, are trimmed and end, and
 * whose iterators expire, on the loop's clock. */
#ifndef DDBFS_TESTS_UNIT_FAKE_STREAM_H
#define DDBFS_TESTS_UNIT_FAKE_STREAM_H

#include "core/base/loop.h"
#include "core/source/source.h"

enum { FAKE_STREAM_SHARDS = 256 };

struct fake_change {
    unsigned key, version; /* of the item: version N of key K */
    int64_t at_ms;         /* wall time */
    bool is_expired;
};

struct fake_shard {
    int parent;                  /* -1: none */
    bool is_closed;              /* it gets no further changes */
    bool has_split;              /* its changes go to its children */
    int64_t shown_ms;            /* when the description has it; on the monotonic clock */
    struct fake_change *changes; /* owned */
    size_t count;
    size_t trimmed;     /* of these, the first ones are gone */
    unsigned old_polls; /* polls of old changes */
};

struct fake_stream {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct loop *loop;
    struct fake_shard shards[FAKE_STREAM_SHARDS];
    size_t shard_count;
    const char *view; /* "NEW_AND_OLD_IMAGES"; NULL: the table has no stream */
    bool is_disabled;
    const struct index_info *indexes; /* of the table */
    size_t index_count;
    int64_t created_ms;     /* of the stream; wall time; 0: not stated */
    const char *polls_fail; /* the code of each poll's error; NULL: none fails */
    int64_t skew_ms;        /* the service's time less this machine's */
    bool states_skew;       /* in its pages */
    bool states_ends;       /* open shards have an EndingSequenceNumber, as those of some servers */
    size_t page_size;       /* changes of a page; 0: 1,000 */
    size_t shards_a_page;   /* 0: 100 */
    int64_t delay_ms;       /* of each response */
    int64_t children_come_ms; /* so late the description has the children of a split */
    int64_t iterator_ms;      /* how long an iterator is valid; 0: 15 minutes */
    const int *hidden;        /* a shard that the description lacks; NULL: none */
    unsigned empty_each; /* each so many polls of old changes return none, as if there were none; 0:
                            never */
    unsigned empty_percent; /* so many polls return none, at random, as if there were none */
    uint64_t seed;
    struct error error; /* told instead of response number FAIL_AT (from 1), or of each if DOWN */
    unsigned fail_at;
    bool down;
    bool *busy; /* set while it works on its own account; may be NULL */
    unsigned responses, tables, descriptions, iterators, polls;
};

void fake_stream_init(struct fake_stream *fake, struct loop *loop);
void fake_stream_clean_up(struct fake_stream *fake);
/* Returns the number of the new shard. */
int fake_stream_add_shard(struct fake_stream *fake, int parent);
/* Closes SHARD, whose later changes are in two new ones. */
void fake_stream_split(struct fake_stream *fake, int shard);
/* Adds a change of KEY to the open shard among SHARD's line that has it. */
void fake_stream_write(struct fake_stream *fake, int shard, unsigned key, unsigned version);
/* Drops the first changes of SHARD, so that LEFT are left. */
void fake_stream_trim(struct fake_stream *fake, int shard, size_t left);

#endif
