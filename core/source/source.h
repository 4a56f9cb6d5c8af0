/* The interface of a source, which executes Reads. Responses come in pages; no page is requested
 * before the caller wants it, or wants all. See docs/internals/source.md. */
#ifndef DDBFS_CORE_SOURCE_SOURCE_H
#define DDBFS_CORE_SOURCE_SOURCE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/json/json.h"
#include "core/source/payer.h"
#include "core/source/read.h"
#include "core/source/source_bounds.h"

enum projection { PROJECTS_ALL, PROJECTS_SOME, PROJECTS_KEYS };

/* The key attributes of a table or of one index, up to four on either side. */
struct key_schema {
    struct {
        struct span name;
        enum value_type type;
    } partition[KEY_MAX_ATTRIBUTES], sort[KEY_MAX_ATTRIBUTES];
    size_t partition_count;
    size_t sort_count;
};

/* The distance of two vectors: the function, as the service names it. */
#define DISTANCE_COSINE "COSINE"
#define DISTANCE_EUCLIDEAN "EUCLIDEAN"
#define DISTANCE_DOT_PRODUCT "DOT_PRODUCT"

/* A vector index. It answers searches by a vector alone. */
struct vector_info {
    struct span name;
    struct span attribute; /* of the vectors */
    int64_t dimensions;
    struct span distance;           /* a DISTANCE_… name */
    struct span partition;          /* the attribute whose value each search must have, or empty */
    enum value_type partition_type; /* of it */
    struct span status;             /* "ACTIVE", "CREATING", … */
    bool backfilling;               /* an ACTIVE index that refuses searches */
};

/* RCU and WCU in a second; -1: not stated, or no limit. */
struct throughput {
    int64_t read, write;
};

/* The throughput of a table or a global index. */
struct throughputs {
    struct throughput provisioned; /* 0 if it is billed on demand */
    struct throughput on_demand;   /* the maximum that its owner has set */
    struct throughput warm;        /* served at once, without a time to adapt */
};

/* A copy of a global table in another region, or a witness, which has no items. */
struct replica_info {
    struct span region;
    struct span status; /* "ACTIVE", "CREATING", …; empty if not stated */
    bool is_witness;
};

struct index_info {
    struct span name;
    struct key_schema keys;
    bool local;
    enum projection projection;
    const struct span *included; /* beside the keys, of PROJECTS_SOME */
    size_t included_count;
    struct span status; /* "ACTIVE", "CREATING", …; empty if not stated, as of local indexes */
    bool backfilling;   /* it lacks items that were in the table before it was made */
    struct throughputs throughputs; /* of a global index */
};

/* The service updates its counts about every six hours. */
struct table_info {
    struct key_schema keys;
    const struct index_info *indexes;
    size_t index_count;
    const struct vector_info *vectors;
    size_t vector_count;
    int64_t item_count;       /* -1 if not stated */
    int64_t size_bytes;       /* of all items; -1 if not stated */
    int64_t created_ms;       /* since 1970; 0 if not stated */
    struct span status;       /* "ACTIVE", "CREATING", …; empty if not stated */
    struct span billing_mode; /* "PAY_PER_REQUEST", "PROVISIONED"; empty if not stated */
    struct span arn;          /* empty if not stated */
    struct throughputs throughputs;
    const struct replica_info *replicas; /* of a global table */
    size_t replica_count;
    struct span consistency; /* between the replicas: "EVENTUAL", "STRONG"; empty if not stated */
    bool stream_enabled;
    struct span stream_arn;  /* of the latest stream, which outlives its end; empty: none */
    struct span stream_view; /* "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"; empty
                              * if not stated, as of a stream that ended */
};

/* The owner of a page's memory. */
struct page_owner {
    void (*release)(struct page_owner *owner);
    size_t bytes; /* about the size of that memory */
};

/* One page of a response, borrowed for the time of the callback. */
struct page {
    const struct json *items; /* typed items: READ_ITEMS, READ_QUERY, READ_SCAN; of READ_TOGETHER
                               * one for each part, in their order, absent if it is not found; of
                               * READ_BACKUPS, READ_EXPORTS, READ_STREAM and READ_CHANGES objects of
                               * the source's own, one a backup, an export, a shard or a change; of
                               * READ_SIMILAR objects with an "Item" and its "Score", the nearest
                               * first */
    size_t item_count;
    uint64_t counted;   /* READ_QUERY that counts: the number of items; no items come */
    size_t scanned;     /* READ_QUERY: items that were read before the filter; 0: not stated */
    bool scanned_twice; /* another page may count some of these, too */
    const struct span *names; /* READ_TABLES */
    size_t name_count;
    const struct table_info *table; /* READ_TABLE */
    struct span description;        /* READ_TABLE, READ_EXPIRY, READ_RECOVERY, READ_STREAM: the JSON
                                     * object of the response, byte by byte */
    bool continues;                 /* it is a part of a page whose beginning came before, and costs
                                     * nothing more */
    bool more;                      /* a further page can be requested; this one may be empty */
    struct json position;      /* READ_QUERY with MORE: the key of the last item that was read; the
                                * next page begins behind it. READ_ITEMS with MORE: the array of the
                                * keys that are left. Absent if not known. READ_ITERATOR and
                                * READ_CHANGES: the text of the next place; absent: the shard has
                                * ended */
    struct page_owner **owner; /* a callback that sets *OWNER to NULL owns the items, and releases
                                * them; NULL: the items can't be taken over */
    int64_t took_ms;           /* from the last request to the end of its response */
    int64_t age_ms;            /* the time that the page waited before it was delivered */
    int64_t skew_ms;           /* the service's time less this machine's, if it is some minutes */
    int64_t date_ms;           /* the service's time when it responded, or up to a second earlier; 0
                                * if not stated */
    unsigned requests;         /* sent for this page, retries included; 0 for a share of a request
                                * that another caller's page counts */
    double capacity;           /* RCU it consumed, of a shared request its part; < 0: not stated */
    double doubted;            /* the most that requests without a stated consumption took beside */
    double search_bytes;       /* READ_SIMILAR: bytes it consumed; < 0: not stated */
    struct throttles *throttled; /* of these requests; borrowed; NULL: none */
    const char *request_id;      /* of the last request; may be "" */
};

/* Exactly one of PAGE and ERR is not NULL. After an error, or a page without MORE, no further page
 * follows. The callback may end the call. */
typedef void source_page_fn(void *arg, const struct page *page, const struct error *err);

struct source {
    const struct source_ops *ops;
    struct source *inner;      /* owned: the source that this one wraps; NULL: none */
    uint64_t number;           /* unique among the sources that core/sources.h opened; else 0 */
    unsigned users;            /* source_ref: pointers that are kept between calls, and calls */
    void (*unused)(void *arg); /* called when the last user is gone; may be NULL */
    void *unused_arg;
    const struct source_bounds *bounds; /* of each Read; borrowed; NULL: none */
};

/* The order in which core/sources.c stacks sources, from the service outwards. */
enum source_layer {
    SOURCE_SERVICE,
    SOURCE_BATCHING,
    SOURCE_RANGES,
    SOURCE_LIVE,
    SOURCE_RECORDING,
};

/* One Read under way. Each source embeds it, first, in a struct of its own. */
struct source_call {
    struct source *source;   /* a reference */
    const struct read *read; /* borrowed */
    struct payer *payer;     /* a reference; may be NULL */
    source_page_fn *fn;      /* of the reader; with bounds it is called behind their check */
    void *arg;
    source_page_fn *reader; /* of a source with bounds: the reader's */
    void *reader_arg;
    struct source_progress progress; /* likewise */
};

/* Counts of requests so far. */
enum { SOURCE_MAX_OPERATIONS = 16 };
struct source_stats {
    struct {
        const char *name; /* the service's name of it: "Query"; static */
        uint64_t count;   /* requests, retries included */
    } operations[SOURCE_MAX_OPERATIONS];
    size_t operation_count;
    uint64_t pages;      /* of queries and scans */
    uint64_t items;      /* in these pages, or counted by them; without pages, items read by key */
    uint64_t failures;   /* requests without the response that they were sent for */
    uint64_t throttled;  /* of these, those that the service throttled */
    struct spent spent;  /* RCU that were consumed */
    uint64_t hedged;     /* requests that were sent twice because the response was late */
    uint64_t hedges_won; /* of these, those whose second response came first */
    uint64_t parallel;   /* queries that were read in ranges */
    struct source_live { /* of streams that are followed */
        uint64_t tables; /* now */
        uint64_t late; /* of these, those whose results are not used: they begin, lag or are lost */
        int64_t lag_ms;  /* the greatest */
        uint64_t bytes;  /* of stored results, now */
        uint64_t reused; /* Reads that needed no request */
        uint64_t changes, gaps;
    } live;
};

/* Where the keys of a Read by keys come from. A Read whose keys are not known yet holds one all
 * the same, for the names and types of its attributes. */
enum read_keys {
    KEYS_OF_READ,     /* the Read holds them */
    KEY_FROM_ANSWER,  /* the one item of another Read's response */
    KEYS_FROM_ANSWER, /* every item of another Read's response */
};

/* The parts of a printed command that the Read does not hold. */
struct source_command {
    const char *options; /* for the endpoint: " --profile x --region y …", or "" */
    const char *key;     /* of a Read by one key: the shell's text for it, "$key" or "$(…)"; NULL:
                          * the key of the Read */
    const char *const *keys; /* of a READ_TOGETHER: the same for each part, or NULL; NULL: those of
                              * the Read */

    const char
        *item; /* of a READ_SIMILAR without its vector: the shell's text for the typed item */

    /* Two programs in the language of jq. With neither the response is printed unchanged. */
    const char *sift;   /* from the array of items to that of those that count; NULL: all do */
    const char *choose; /* from the latter to the output, one line a value; NULL: none */
    const char *flags;  /* of jq: "-c", or "-r" for bare texts */
    bool first_suffice; /* as far as the map knows, no item is sifted out: the command fails if its
                         * first page is not enough. Else the whole query follows that page. */
};

/* Where streams are followed, a result is reused for this long, and is then taken from the source
 * again. The kernel may hold a name for some time longer; the lag that is stated includes both. */
enum { SOURCE_REUSE_MS = 300, SOURCE_HOLD_MS = 500 };

/* How fresh a table's results are, where its stream is followed. */
struct source_present {
    const char *state;      /* "off", "starts", "live", "full", "lags", "lost"; static */
    int64_t lag_ms;         /* of LIVE and LAGS: every change that is older is shown, if */
    const char *assumption; /* holds; "" of other states; static */
    const char *why; /* of "lost" and "full", and of "lags" if it is known; else ""; borrowed */
};

struct source_ops {
    enum source_layer layer;
    size_t call_size; /* of the struct that embeds a source_call */

    /* Starts CALL, whose base is filled. FN gets the first page later, never from within. A missing
     * item is absent from the page; a missing table is an error. False when memory ran out: FN is
     * then never called, and the call is ended. */
    bool (*start)(struct source_call *call);
    /* Requests the next page. Without memory FN may run from within. */
    void (*more)(struct source_call *call);
    /* ALL: the caller will request all pages, so that they may be read ahead. Else it may stop, so
     * that no further page is. May be NULL. */
    void (*read_all)(struct source_call *call, bool all);
    /* Ends and cleans up all but the base of CALL. */
    void (*end)(struct source_call *call);
    /* Frees SOURCE, but not the inner one. */
    void (*destroy)(struct source *source);

    /* Of a source that follows streams; else NULL. TTL_MS, the time for which a result of TABLE may
     * be used again, or less if this source has the result itself and keeps it up to date. */
    int64_t (*ttl_ms)(struct source *source, const char *table, int64_t ttl_ms);
    void (*present)(struct source *source, const char *table, struct source_present *out);
    /* LEFT_MS, or the shorter time for which the kernel may hold a result of TABLE. */
    int64_t (*hold_ms)(struct source *source, const char *table, int64_t left_ms);

    /* Adds to SUM the counts of SOURCE, without the inner one. With NULL for SOURCE the operations
     * are added with counts of 0. */
    void (*add_stats)(const struct source *source, struct source_stats *sum);

    /* A Read in words. Neither function needs an open source or credentials. A source that wraps
     * others has NULL for both. */

    /* Appends "Query index X of T where …, in descending order, at most N". */
    void (*write_words)(const struct read *read, enum read_keys keys, struct buf *out);
    /* Appends the shell command that sends the same request. NULL: the source sends none. */
    void (*write_command)(const struct read *read, const struct source_command *how,
                          struct buf *out);
};

/* Starts READ, which must stay unchanged until the end of the call. FN gets the first page later,
 * never from within. PAYER (may be NULL) is charged with each request. NULL when memory ran out; FN
 * is then never called. */
struct source_call *source_start(struct source *source, const struct read *read,
                                 struct payer *payer, source_page_fn *fn, void *arg);
/* Requests the next page: once for each page that had MORE, from within FN or later. */
void source_more(struct source_call *call);
/* The caller will request all pages: the next one may be requested before it is wanted. */
void source_read_all(struct source_call *call);
/* The caller may stop: no further page is requested before it is wanted. */
void source_read_some(struct source_call *call);
/* Ends the call, finished or not; FN never runs again. Each call is ended once. NULL is fine. */
void source_end(struct source_call *call);

/* Destroys SOURCE and those that it wraps. Every call must have ended. */
void source_destroy(struct source *source);

/* Adds the counts of SOURCE and of those that it wraps. */
void source_add_stats(const struct source *source, struct source_stats *sum);

/* For how long a result of TABLE may be used again, which is TTL_MS or less. */
int64_t source_ttl_ms(struct source *source, const char *table, int64_t ttl_ms);
/* The time for which the kernel may hold a result of TABLE, whose ttl has LEFT_MS left. The kernel
 * does not learn that the ttl becomes shorter, which it does when the stream is followed. */
int64_t source_hold_ms(struct source *source, const char *table, int64_t left_ms);
/* Whether SOURCE follows streams. */
bool source_follows(const struct source *source);
/* False if SOURCE follows no streams. */
bool source_read_present(struct source *source, const char *table, struct source_present *out);

/* Whether each source wraps one of a lower layer only. */
bool source_is_stacked(const struct source *source);

/* Adds the consumption of PAGE. */
void source_add_page(struct spent *sum, const struct page *page);

/* Adds COUNT requests to the operation NAME (static) of SUM. */
void source_stats_add(struct source_stats *sum, const char *name, uint64_t count);

/* A user that keeps SOURCE between calls holds a reference. When the settings of an environment
 * change, its source is destroyed after the last user is gone. NULL is fine. */
static inline struct source *source_ref(struct source *source)
{
    if (source)
        source->users++;
    return source;
}

/* The user's calls must have ended. */
static inline void source_unref(struct source *source)
{
    if (source && --source->users == 0 && source->unused)
        source->unused(source->unused_arg);
}

/* Appends a text that no other source shares, not even an earlier one at the same address. */
static inline void source_identity(const struct source *source, struct buf *out)
{
    buf_printf(out, "%p.%llu", (const void *)source, (unsigned long long)source->number);
}

#endif
