/* The inside of a listing, for listing.c (its parts in order) and listing_query.c (the pages of its
 * query). The interface is in tree.h. */
#ifndef DDBFS_CORE_READ_LISTING_H
#define DDBFS_CORE_READ_LISTING_H

#include "core/base/dict.h"
#include "core/read/declared_files.h"
#include "core/read/entries.h"
#include "core/read/fetch.h"
#include "core/read/history.h"
#include "core/read/hydrate.h"
#include "core/read/key_scan.h"
#include "core/read/resolve.h"
#include "core/read/similar.h"
#include "core/read/tree.h"

/* The parts of a listing, in this order; a directory may lack any of them. Entries are delivered at
 * the end of DECLARED, after each page of QUERY or slice of CONTENTS, and after the others. */
enum listing_state {
    LISTING_PLACE,    /* the place is found anew, if its table's description is stale */
    LISTING_DECLARED, /* the names that are known from the map */
    LISTING_NAMES,    /* a page of the names of all tables, for PLACE_TABLES */
    LISTING_TABLES,   /* names of tables, for environments that have a parameter */
    LISTING_RECORD,   /* the item whose attributes or links are listed */
    LISTING_HISTORY,  /* some of an item's versions */
    LISTING_SIMILAR,  /* the items that a search has found */
    LISTING_SCAN,     /* some of the partition keys that a Scan has found */
    LISTING_QUERY,    /* a page of the query */
    LISTING_CONTENTS, /* items of the page in hand, a slice at a time; then QUERY again */
    LISTING_FILES,    /* files that the map declares, if they exist */
    LISTING_ENDS,     /* the end, or the first failure on the way there */
};

struct tree_listing {
    const struct tree *tree;
    const struct place *place;
    struct place *anew;                 /* owned: PLACE, once it was found anew; or NULL */
    struct tree_resolution *resolution; /* of LISTING_PLACE */
    bool full;
    bool items;     /* entries have items instead of files; implies FULL */
    bool named;     /* with ITEMS and ALONE: also names */
    bool described; /* with ITEMS: also sizes and dates */
    bool alone;     /* nothing but items is listed */
    bool steady;    /* the reader never pauses */
    bool reads_all; /* the reader wants all pages */
    bool has_read;  /* a part behind LISTING_DECLARED was begun */
    tree_entries_fn *fn;
    void *arg;

    enum listing_state state;
    struct entries entries;   /* of the page in hand */
    struct loop_timer *timer; /* until the next page is begun */
    struct arena contents;    /* of the entries that are being delivered */
    size_t content_bytes;     /* in there */

    struct source *source; /* holds a reference */
    struct read
        *tables; /* of LISTING_TABLES, LISTING_NAMES, and LISTING_SCAN of a snapshot; owned */
    struct source_call *call;
    const struct map_environment *environment; /* of LISTING_TABLES: whose tables are read */
    struct place prefixed;                     /* a place in it */

    const struct route *scanned;  /* the step whose names LISTING_SCAN lists; NULL for none */
    struct cache_wait *scan_wait; /* for the Scan */
    struct key_scan *scan;        /* owned reference; NULL before it came */
    size_t scan_at;               /* keys of it that have been delivered */
    struct buf last_key;          /* of a Scan in the order of keys: the identity of the last one */
    struct history *history;      /* of LISTING_HISTORY; owned */
    struct similar *similar;      /* of LISTING_SIMILAR; owned */
    struct fetch *fetch;          /* of LISTING_RECORD */
    struct declared_files files;  /* of LISTING_FILES, and fed by the pages before */

    const struct plan *plan; /* of the query; holds a reference */
    struct walk *walk;       /* through the query's pages; owned */
    bool more;               /* the query has a page after that in hand */
    struct hydrate hydrate;  /* of LISTING_CONTENTS: the page's keys */
    size_t delivered;        /* entries of the page */
    size_t found;            /* items that were read again, and still exist */
    size_t vanished;         /* those that no longer exist */
    size_t matched;          /* items that fit the selection */
    struct listing_ties {    /* of a query with ties; the texts of two sort keys */
        uint64_t group;      /* of the latest item: items share one if they share the sort key */
        struct buf last, next;
    } ties;
    uint64_t last_tie;       /* of the last wanted item; 0 before it came */
    struct buf texts;        /* with ITEMS: those that were read again, as one array of JSON */
    struct json_doc parsed;  /* of TEXTS */
    struct dict directories; /* names of those that items brought along; owns its nodes */
    struct dict moved;       /* keys of entries that have another place in the query than when it
                              * returned them, and may come again there; owns its nodes */

    struct tree_list_stats stats;
    struct error refused; /* an item that can't be listed, and why; ERROR_NONE for none */
    struct error failed;  /* the reason that the end reports: a declared file that could not be
                           * read, or an entry that was left out */
};

/* Whether only items are listed, and nothing else that the directory shows. */
bool listing_is_alone(const struct tree_listing *listing);

/* Moves on to the directory's next part. */
void listing_continue(struct tree_listing *listing);

/* Begins the next page of the part; its entries are delivered. */
void listing_work(struct tree_listing *listing);

/* Delivers COUNT entries of the page in hand, or the reason why they can't be delivered. */
void listing_deliver(struct tree_listing *listing, size_t from, size_t count);

/* Ends the listing in ERR, which may be its own. */
void listing_fail(struct tree_listing *listing, const struct error *err);

/* Opens PLACE's source; the calls of the one before must have ended. False with ERR filled. */
bool listing_open_source(struct tree_listing *listing, const struct place *place,
                         struct error *err);

/* Begins the query, or its next slice of items. False with ERR filled. */
bool listing_start_query(struct tree_listing *listing, struct error *err);
bool listing_start_slice(struct tree_listing *listing, struct error *err);

/* Gives each of COUNT entries from FROM on its ITEM, whose typed text is its CONTENT. Directories
 * may be between them. */
void listing_parse_items(struct tree_listing *listing, size_t from, size_t count);

/* Ends the query, and frees all that belongs to it. */
void listing_query_clean_up(struct tree_listing *listing);

#endif
