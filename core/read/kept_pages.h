/* A transcript: the pages that a listing's query was answered with, as they came, and the records
 * that were read again for them, so that the listing can be told once more without asking anybody.
 * Counted; constant once it is whole. */
#ifndef DDBFS_CORE_READ_KEPT_PAGES_H
#define DDBFS_CORE_READ_KEPT_PAGES_H

#include "core/base/arena.h"
#include "core/source/source.h"

/* Of the query. Counted: a later transcript may share those of an earlier one. */
struct kept_pages_page {
    size_t references;
    size_t item_count;
    unsigned requests;
    double capacity, doubted;
    char request_id[64];
    size_t size;
    char text[]; /* the items, as one array of JSON */
};

struct kept_pages_record {
    struct key key;
    struct span text;
};

/* What reading the records again took. */
struct kept_pages_cost {
    unsigned requests;
    struct spent spent;
};

struct kept_pages {
    size_t references;
    int64_t since_ms, since_wall_ms; /* when its first page was asked for */
    int64_t took_ms;                 /* until it was whole */
    struct kept_pages_page **pages;  /* owned, each by a reference */
    size_t page_count, page_capacity;
    bool ended;                        /* the source had no further page */
    bool read_again;                   /* RECORDS has all that the listing wanted */
    struct kept_pages_cost cost;       /* of RECORDS */
    struct kept_pages_record *records; /* owned; by their keys, once it is whole */
    size_t record_count, record_capacity;
    struct arena arena; /* of the records */
    size_t memory;      /* all that it takes, shared pages included */
};

struct kept_pages *kept_pages_new(int64_t since_ms, int64_t since_wall_ms); /* NULL: no memory */
struct kept_pages *kept_pages_ref(struct kept_pages *transcript);
void kept_pages_unref(struct kept_pages *transcript); /* NULL is fine */

/* Each copies what it is given, but the second, which shares it. False when memory ran out. */
bool kept_pages_add(struct kept_pages *transcript, const struct page *page);
bool kept_pages_share(struct kept_pages *transcript, struct kept_pages_page *page);
bool kept_pages_add_record(struct kept_pages *transcript, const struct key *key, struct json item);

/* Nothing is added any more: records are found from now on. */
void kept_pages_close(struct kept_pages *transcript);
/* The text of the record of that key; empty when it has none: it was gone. */
struct span kept_pages_find(const struct kept_pages *transcript, const struct key *key);

#endif
