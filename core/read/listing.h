/* What a listing is to those who read its parts: the pages of its query (listing_query.c), the
 * names of tables, environments and partition keys (listing_names.c), and what one record shows in
 * a directory of its own (listing_record.c). Others know it by tree.h. */
#ifndef DDBFS_CORE_READ_LISTING_H
#define DDBFS_CORE_READ_LISTING_H

#include "core/read/declared_files.h"
#include "core/read/entries.h"
#include "core/read/fetch.h"
#include "core/read/file_proof.h"
#include "core/read/hydrate_slices.h"
#include "core/read/item_directories.h"
#include "core/read/key_scan.h"
#include "core/read/resolve.h"
#include "core/read/sort_ties.h"
#include "core/read/tree.h"
#include "core/read/walk.h"

/* What comes next, in this order; what a directory has not is left out. A page of entries is
 * delivered at the end of DECLARED, after each page of QUERY or slice of CONTENTS, and after the
 * others. */
enum listing_state {
    LISTING_PLACE,    /* what the place is, if its table has to be described first */
    LISTING_DECLARED, /* the names that the map alone tells */
    LISTING_NAMES,    /* a page of the names of all tables, for PLACE_TABLES */
    LISTING_TABLES,   /* names of tables, for environments that have a parameter */
    LISTING_RECORD,   /* the record whose attributes are listed */
    LISTING_CENSUS,   /* some of the partition keys that a Scan has found */
    LISTING_QUERY,    /* a page of the query */
    LISTING_CONTENTS, /* records of the page in hand, a slice at a time; then QUERY again */
    LISTING_PROOFS,   /* files that the map declares: which of them are there */
    LISTING_ENDS,     /* the end, or the first failure on the way there */
};

struct tree_listing {
    const struct tree *tree;
    const struct place *place;
    struct place *anew; /* owned: PLACE, where it is no more the caller's; or NULL */
    struct tree_resolution *resolution; /* of LISTING_PLACE */
    bool full;
    bool items;      /* records are told as items, rather than as files; then FULL is set, too */
    bool named;      /* with ITEMS: by their sizes and dates, too, and ALONE by their names */
    bool alone;      /* records are told, and nothing beside them */
    bool steady;     /* whoever reads it goes on to its end at once */
    bool all_wanted; /* whoever lists reads to the end */
    tree_entries_fn *fn;
    void *arg;

    enum listing_state state;
    struct entries entries;   /* of the page in hand */
    struct loop_timer *timer; /* until the next page is begun */

    const struct plan *plan; /* of the query; holds a reference */
    struct source *source;   /* of the query under way; holds a reference */
    struct walk *walk;       /* through the query's pages; owned */
    struct read *tables;     /* of LISTING_TABLES and LISTING_NAMES; owned */
    struct source_call *call;
    const struct map_environment *environment; /* whose tables are being asked for */
    struct place asking;                       /* for them: a place in that environment */

    struct hydrate_slices slices; /* of LISTING_CONTENTS: the page's keys */
    size_t told;                  /* entries of the page that have been delivered */
    size_t found;                 /* records that were read again, and are still there */
    size_t vanished;              /* those that are not */
    size_t matched;               /* records that answer what is asked beside the path */
    struct sort_ties ties;        /* of a query with ties */
    uint64_t last_tie;            /* what the last of those that are wanted has; 0 before it came */
    struct arena contents;        /* of the entries that are being delivered */
    size_t content_bytes;         /* in there */
    struct buf texts;             /* with ITEMS: those that were read again, as one array of JSON */
    struct json_doc parsed;       /* over it */
    bool more;                    /* the source has a page after that in hand */

    const struct route *scanned; /* the step whose names LISTING_CENSUS tells; NULL for none */
    struct cache_wait *wait;     /* for the census */
    struct key_scan *census;     /* owned reference; NULL before it came */
    size_t counted;              /* keys of it that have been told */

    struct fetch *fetch;            /* of LISTING_RECORD */
    struct proofs proofs;           /* of LISTING_PROOFS, and fed by the pages before */
    struct declared_files openings; /* of LISTING_PROOFS */
    struct error failed; /* what the end says: the first failure of a proof, or a directory that
                            could not be listed */

    struct tree_list_stats stats;
    struct item_directories followers;
    struct error refused; /* an item that can't be listed, and why; ERROR_NONE for none */
};

/* Whether records are told alone, and nothing that their directory shows beside them. */
bool listing_is_alone(const struct tree_listing *listing);

/* Goes on to what the directory has next. */
void listing_continue(struct tree_listing *listing);

/* Begins whatever is next; what comes of it is delivered. */
void listing_work(struct tree_listing *listing);

/* Tells the entries of the page in hand, all of them or some; or why they can't be told. */
void listing_deliver(struct tree_listing *listing);
void listing_deliver_range(struct tree_listing *listing, size_t from, size_t count);

/* Ends it in ERR, which may be its own. */
void listing_fail(struct tree_listing *listing, const struct error *err);

/* The next of each begins; false with ERR filled when it can't be asked for. */
bool listing_start_query(struct tree_listing *listing, struct error *err);
bool listing_start_slice(struct tree_listing *listing, struct error *err);
bool listing_start_names(struct tree_listing *listing, struct error *err);
bool listing_start_tables(struct tree_listing *listing, struct error *err);
bool listing_start_census(struct tree_listing *listing, struct error *err);
bool listing_start_record(struct tree_listing *listing, struct error *err);

/* The first environment from FROM on whose name has a parameter; NULL for none. */
const struct map_environment *listing_next_parametric(const struct map_environment *from);

/* Some more of the partition keys that have been found. */
void listing_report_keys(struct tree_listing *listing);

/* No more names of tables are asked for. */
void listing_end_call(struct tree_listing *listing);

/* From here on PLACE's source is asked; the calls of the one before have ended. False with ERR
 * filled. */
bool listing_open_source(struct tree_listing *listing, const struct place *place,
                         struct error *err);

#endif
