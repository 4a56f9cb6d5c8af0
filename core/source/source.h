/* What executes a Read. The service is one source; an embedded file will be another. Answers
 * come in pages, and no page is fetched before it is asked for. */
#ifndef DDBFS_CORE_SOURCE_SOURCE_H
#define DDBFS_CORE_SOURCE_SOURCE_H

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/source/read.h"

enum projection { PROJECTS_ALL, PROJECTS_SOME, PROJECTS_KEYS };

enum { KEY_MAX_ATTRIBUTES = 4 };

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
    enum projection projection;
    const struct span *included; /* beside the keys, of PROJECTS_SOME */
    size_t included_count;
};

struct table_info {
    struct key_schema keys;
    const struct index_info *indexes;
    size_t index_count;
};

/* One page of an answer, borrowed for the time of the callback. */
struct page {
    const struct json *items; /* typed items: READ_ITEMS, READ_QUERY */
    size_t item_count;
    const struct span *names; /* READ_TABLES */
    size_t name_count;
    const struct table_info *table; /* READ_TABLE */
    bool more;                      /* a further page can be asked for; this one may be empty */
    unsigned requests;              /* sent for this page, retries included */
    double capacity;                /* read capacity units it consumed; < 0 when not told */
    const char *request_id;         /* of the last request; "" when there is none */
};

/* Exactly one of PAGE and ERR is not NULL. After an error, or a page without MORE, none
 * follows. It may end the call from within. */
typedef void source_page_fn(void *arg, const struct page *page, const struct error *err);

struct source {
    const struct source_ops *ops;
};

/* One Read under way; every source has its own. */
struct source_call;

struct source_ops {
    /* Starts READ, which must stay as it is until the end of the call. FN gets the first page,
     * later, never from within start. A missing item is missing from the page, a missing table
     * an error. NULL when memory ran out; FN is then never called. */
    struct source_call *(*start)(struct source *source, const struct read *read, source_page_fn *fn,
                                 void *arg);
    /* Asks for the next page: once for each page that had MORE, from within FN or later. */
    void (*more)(struct source_call *call);
    /* Ends the call, finished or not; FN never runs again. Every call is ended once. */
    void (*end)(struct source_call *call);
    /* Every call must have ended. */
    void (*destroy)(struct source *source);
};

static inline struct source_call *source_start(struct source *source, const struct read *read,
                                               source_page_fn *fn, void *arg)
{
    return source->ops->start(source, read, fn, arg);
}

#endif
