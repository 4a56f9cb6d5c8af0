/* What executes a Read. The service is one source; an embedded file will be another. Answers
 * come in pages, and no page is fetched before it is asked for. */
#ifndef DDBFS_CORE_SOURCE_SOURCE_H
#define DDBFS_CORE_SOURCE_SOURCE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/json/json.h"
#include "core/source/payer.h"
#include "core/source/read.h"
#include "core/source/spent.h"

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

struct index_info {
    struct span name;
    struct key_schema keys;
    bool local;
    enum projection projection;
    const struct span *included; /* beside the keys, of PROJECTS_SOME */
    size_t included_count;
    struct span status; /* "ACTIVE", "CREATING", …; empty where none is told, as of local ones */
};

/* Counts are some six hours old when they are told. */
struct table_info {
    struct key_schema keys;
    const struct index_info *indexes;
    size_t index_count;
    int64_t item_count;       /* -1 when not told */
    int64_t size_bytes;       /* of all items; -1 when not told */
    int64_t created_ms;       /* since 1970; 0 when not told */
    struct span status;       /* "ACTIVE", "CREATING", …; empty when not told */
    struct span billing_mode; /* "PAY_PER_REQUEST", "PROVISIONED"; empty when not told */
};

/* What the memory of a page belongs to. */
struct page_owner {
    void (*release)(struct page_owner *owner);
    size_t bytes; /* about so many it takes */
};

/* One page of an answer, borrowed for the time of the callback. */
struct page {
    const struct json *items; /* typed items: READ_ITEMS, READ_QUERY, READ_SCAN; of READ_BACKUPS
                               * objects of the source's own, one a backup */
    size_t item_count;
    uint64_t counted; /* READ_QUERY that counts: how many items there are, of which none comes */
    size_t scanned; /* READ_QUERY: how many were read, of which these passed the filter; 0: not told
                     */
    bool scanned_twice;       /* some of these may also be among those of another page */
    const struct span *names; /* READ_TABLES */
    size_t name_count;
    const struct table_info *table; /* READ_TABLE */
    struct span description;        /* READ_TABLE, READ_EXPIRY, READ_RECOVERY: the JSON object that
                                     * the source answered with, byte by byte */
    bool more;                      /* a further page can be asked for; this one may be empty */
    struct json position;      /* READ_QUERY with MORE: the key of the item, be it shown or not,
                                * after which the next page begins. READ_ITEMS with MORE: the array
                                * of the keys that are left. Absent where it is not told */
    struct page_owner **owner; /* whoever puts NULL there releases it, and until then has the
                                * items; NULL: it can't be had */
    int64_t took_ms;           /* from the last request to the end of its answer */
    int64_t age_ms;            /* so long the page has waited to be told */
    unsigned requests;         /* sent for this page, retries included; 0 where others who
                                * asked together with this one are told of them */
    double capacity;           /* read capacity units it consumed, of a request that others
                                * share its part of them; < 0 when not told */
    double doubted; /* at most so many more, of requests for this page whose responses state none */
    const char *request_id; /* of the last request; "" when there is none */
};

/* Exactly one of PAGE and ERR is not NULL. After an error, or a page without MORE, none
 * follows. It may end the call from within. */
typedef void source_page_fn(void *arg, const struct page *page, const struct error *err);

struct source {
    const struct source_ops *ops;
    uint64_t number; /* no other source of the process that is opened by sources.h has it; 0 else */
    unsigned users;  /* those that keep a pointer to it between calls: source_ref */
    void (*unused)(void *arg); /* called when the last user is gone; may be NULL */
    void *unused_arg;
};

/* What has been asked of sources so far. */
enum { SOURCE_MAX_OPERATIONS = 16 };
struct source_stats {
    struct {
        const char *name; /* as the source calls it: "Query"; static */
        uint64_t count;   /* requests, retries included */
    } operations[SOURCE_MAX_OPERATIONS];
    size_t operation_count;
    uint64_t pages;      /* of queries and scans, and */
    uint64_t items;      /* what they held, or were counted to hold; else what keys led to */
    uint64_t failures;   /* requests that were not answered with what was asked for */
    struct spent spent;  /* read units that were consumed */
    uint64_t hedged;     /* requests that were sent again because their answer was late */
    uint64_t hedges_won; /* of these, those that were answered first */
    uint64_t both_ends;  /* queries that were read from both ends */
};

/* Where the keys of a Read by keys come from. A Read whose keys are not known yet holds one all
 * the same, for the names and types of its attributes. */
enum read_keys {
    KEYS_OF_READ,     /* the Read holds them */
    KEY_FROM_ANSWER,  /* the one record of another Read's answer */
    KEYS_FROM_ANSWER, /* every record of another Read's answer */
};

/* What is to stand in a printed command beside the Read. */
struct source_command {
    const char *options; /* where to ask: " --profile x --region y …", or "" */
    const char *key;     /* of a Read by one key: what the shell puts in its place, "$key" or
                          * "$(…)"; NULL: the key of the Read */

    /* What becomes of the items that come, in the language of jq; with neither, the answer is
     * printed as it is. */
    const char *sift;   /* from the array of items to that of those that count; NULL: all do */
    const char *choose; /* from the latter to what is printed, one a line; NULL: nothing is done */
    const char *flags;  /* of jq: "-c", or "-r" for bare texts */
    bool first_suffice; /* the Read's limit may be told although items are sifted: as far as the map
                         * knows, none is sifted out. The command fails when it was wrong. */
};

/* One Read under way; every source has its own. */
struct source_call;

struct source_ops {
    /* Starts READ, which must stay as it is until the end of the call. FN gets the first page,
     * later, never from within start. A missing item is missing from the page, a missing table
     * an error. PAYER (NULL: nobody in particular) is told of each request; the call keeps a
     * reference. NULL when memory ran out; FN is then never called. */
    struct source_call *(*start)(struct source *source, const struct read *read,
                                 struct payer *payer, source_page_fn *fn, void *arg);
    /* Asks for the next page: once for each page that had MORE, from within FN or later. */
    void (*more)(struct source_call *call);
    /* Whoever asks will ask for all pages, so that they may be read before he does. NULL: nothing
     * comes of it. */
    void (*read_all)(struct source_call *call);
    /* Ends the call, finished or not; FN never runs again. Every call is ended once. */
    void (*end)(struct source_call *call);
    /* Every call must have ended. */
    void (*destroy)(struct source *source);

    /* Adds to SUM what SOURCE has been asked. With NULL only the operations are named, so that
     * who shows them can show that nobody asked yet. */
    void (*add_stats)(const struct source *source, struct source_stats *sum);

    /* What a Read asks, told to people. Neither needs a source that is open, or anybody's
     * credentials: both are made of the request that would be sent. */

    /* Appends "Query index X of T where …, in descending order, at most N". */
    void (*write_words)(const struct read *read, enum read_keys keys, struct buf *out);
    /* Appends the one command for a shell that asks the same. */
    void (*write_command)(const struct read *read, const struct source_command *how,
                          struct buf *out);
};

/* Adds what the requests for PAGE have consumed. */
void source_add_page(struct spent *sum, const struct page *page);

/* Adds COUNT requests to what SUM has of the operation NAME (static). */
void source_stats_add(struct source_stats *sum, const char *name, uint64_t count);

/* A user that keeps SOURCE after the settings that lead to it may have changed holds a reference:
 * it may be destroyed, later, when the last user is gone. NULL is fine. */
static inline struct source *source_ref(struct source *source)
{
    if (source)
        source->users++;
    return source;
}

/* Its calls must have ended. */
static inline void source_unref(struct source *source)
{
    if (source && --source->users == 0 && source->unused)
        source->unused(source->unused_arg);
}

/* Appends what tells SOURCE from every other, also from one that had its memory before. */
static inline void source_identity(const struct source *source, struct buf *out)
{
    buf_printf(out, "%p.%llu", (const void *)source, (unsigned long long)source->number);
}

static inline struct source_call *source_start(struct source *source, const struct read *read,
                                               struct payer *payer, source_page_fn *fn, void *arg)
{
    return source->ops->start(source, read, payer, fn, arg);
}

static inline void source_read_all(struct source *source, struct source_call *call)
{
    if (source->ops->read_all)
        source->ops->read_all(call);
}

#endif
