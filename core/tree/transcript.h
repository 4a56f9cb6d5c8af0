/* A transcript: the pages that a listing's query was answered with, as they came, and the records
 * that were read again for them, so that the listing can be told once more without asking anybody.
 * Counted; constant once it is whole. */
#ifndef DDBFS_CORE_TREE_TRANSCRIPT_H
#define DDBFS_CORE_TREE_TRANSCRIPT_H

#include "core/base/arena.h"
#include "core/source/source.h"

/* Of the query. Counted: a later transcript may share those of an earlier one. */
struct transcript_page {
    size_t references;
    size_t item_count;
    unsigned requests;
    double capacity, doubted;
    char request_id[64];
    size_t size;
    char text[]; /* the items, as one array of JSON */
};

struct transcript_record {
    struct key key;
    struct span text;
};

/* What reading the records again took. */
struct transcript_cost {
    unsigned requests;
    struct spent spent;
};

struct transcript {
    size_t references;
    int64_t since_ms, since_wall_ms; /* when its first page was asked for */
    int64_t took_ms;                 /* until it was whole */
    struct transcript_page **pages;  /* owned, each by a reference */
    size_t page_count, page_capacity;
    bool ended;                        /* the source had no further page */
    bool read_again;                   /* RECORDS has all that the listing wanted */
    struct transcript_cost cost;       /* of RECORDS */
    struct transcript_record *records; /* owned; by their keys, once it is whole */
    size_t record_count, record_capacity;
    struct arena arena; /* of the records */
    size_t memory;      /* all that it takes, shared pages included */
};

struct transcript *transcript_new(int64_t since_ms, int64_t since_wall_ms); /* NULL: no memory */
struct transcript *transcript_ref(struct transcript *transcript);
void transcript_unref(struct transcript *transcript); /* NULL is fine */

/* Each copies what it is given, but the second, which shares it. False when memory ran out. */
bool transcript_add(struct transcript *transcript, const struct page *page);
bool transcript_share(struct transcript *transcript, struct transcript_page *page);
bool transcript_add_record(struct transcript *transcript, const struct key *key, struct json item);

/* Nothing is added any more: records are found from now on. */
void transcript_close(struct transcript *transcript);
/* The text of the record of that key; empty when it has none: it was gone. */
struct span transcript_find(const struct transcript *transcript, const struct key *key);

#endif
