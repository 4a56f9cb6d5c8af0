/* The tree: the content of a place. Directories are known from the map; files and listings come
 * from a source, through the cache. The command line and the mount both use this interface. */
#ifndef DDBFS_CORE_READ_TREE_H
#define DDBFS_CORE_READ_TREE_H

#include "core/base/instant.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/item/record.h"
#include "core/read/cache.h"
#include "core/read/place.h"
#include "core/read/walk.h"
#include "core/source/source.h"

/* Finds the source of PLACE's environment. Borrowed by the caller; NULL with ERR filled. */
typedef struct source *tree_source_fn(void *arg, const struct place *place, struct error *err);

struct model_provider;
struct model_provider_description;
struct tree;
struct tree_listing;
struct similar_found;

/* The cost of the query that found an item's key; zeroed without one. */
struct tree_found {
    double units;                /* RCU; < 0: not stated */
    struct throttles *throttled; /* NULL: no request was throttled */
};

/* Writers of the files that describe others. They are in core/describe, above this room, so the
 * tree has them in a table. Each appends to OUT, and returns false when memory ran out. */
struct tree_texts {
    /* A directory's README. DESCRIPTION, unless NULL, is the service's, of its table. */
    bool (*write_readme)(const struct place *directory, const struct place_options *names,
                         const struct model_provider_description *description, struct buf *out);
    /* An item's @info. STALE, unless NULL, is the reason why the item is older than its ttl. */
    bool (*write_item_info)(const struct tree *tree, const struct place *place,
                            const struct record *record, const struct tree_found *found,
                            const struct error *stale, struct buf *out);
    /* The @info of PLACE, a PLACE_VERSION at which the item had been deleted. */
    bool (*write_deletion_info)(const struct tree *tree, const struct place *place,
                                struct buf *out);
    /* The @info of PLACE, a PLACE_SIMILAR_FILE, whose search has found FOUND. */
    bool (*write_similar_info)(const struct tree *tree, const struct place *place,
                               const struct similar_found *found, struct buf *out);
    /* A listing's @info. LEFT_OUT, unless NULL, names a directory whose name is too long. */
    bool (*write_list_info)(const struct tree *tree, const struct place *place,
                            const struct tree_listing *listing, const struct error *left_out,
                            struct buf *out);
};

/* To charge requests to a payer, copy the tree and set PAYER. */
struct tree {
    const struct map *map; /* of the root */
    struct loop *loop;
    struct cache *cache;
    tree_source_fn *source;
    void *source_arg;
    /* The operations of PLACE's source; only those that need no open source may be called. OPTIONS
     * gets the options of an aws command that uses the same source. Opens nothing. */
    const struct source_ops *(*describe)(void *source_arg, const struct place *place,
                                         struct buf *options);
    const struct tree_texts *texts;
    const struct log *log;         /* may be NULL */
    struct model_provider *models; /* of tables that the map does not declare; may be NULL */
    struct place_options names;
    bool show_secrets;
    bool compact;
    struct walks *walks;   /* by which listings share what they read; NULL: none does */
    size_t table_width;    /* cells of a line of LIST@table, if the path names no columns */
    size_t snapshot_bytes; /* the largest file of a listing that is held in memory as a whole */
    const char *spool;     /* the folder for larger ones; NULL: these are refused */
    struct spool_limit *spool_limit; /* of these together; borrowed; NULL: none */
    int64_t stale_ms;                /* how much older than its ttl an item may be in an outage */
    struct payer *payer; /* borrowed; may be NULL. A request under way keeps its own payer. */
    size_t part_items;   /* of a page, that are processed at once; 0: all */
    bool page_by_page;   /* no page of a listing is requested before it is wanted */
};

/* A file's content, borrowed for the time of the callback. */
struct tree_file {
    struct span bytes;
    struct spool *spool;                /* NULL, or it has the bytes instead; borrowed */
    bool secret;                        /* readable by its owner alone */
    struct instant mtime;               /* none when the map does not date it */
    const struct record_origin *origin; /* NULL for a file that needs no item */
    int64_t ttl_left_ms;
    const struct error *stale; /* NULL, or the reason why this version is older than its ttl */
};

struct tree_call; /* a file on its way */

/* Exactly one of FILE and ERR is not NULL. */
typedef void tree_file_fn(void *arg, const struct tree_file *file, const struct error *err);

/* Reads the file at PLACE (a PLACE_CHANGES has no end, and is refused), which must stay until the
 * end of the call. DONE is called once, later; the call is freed before that. NULL when memory ran
 * out. */
struct tree_call *tree_read(const struct tree *tree, const struct place *place, tree_file_fn *done,
                            void *arg);
void tree_cancel(struct tree_call *call); /* before DONE; NULL is fine */
/* When the last page of a listing came for it, on the loop's clock; 0: none came. NULL is fine. */
int64_t tree_call_moved_ms(const struct tree_call *call);

struct tree_entry {
    struct span name;
    bool directory;
    bool placeholder; /* a directory in place of names that no listing shows */
    bool link;        /* a symbolic link to CONTENT */
    bool secret;
    int64_t size; /* -1 when not known */
    struct instant mtime;
    struct span content; /* of a file whose size is known */
    int64_t ttl_left_ms; /* of its own path, which may differ from the listing's */
    struct json item;    /* where the listing was started for items; else absent */
    /* Within a listing alone: */
    uint64_t ties;    /* entries that share one share their sort key */
    uint64_t rank;    /* its place among the query's entries, from 1 on; 0 without one */
    bool passed_over; /* it counts against a limit, and the selection leaves it out */
};

/* Some entries of a listing, borrowed; there may be none. Exactly one of ENTRIES and ERR is not
 * NULL. An error, or a page without MORE, is the last. */
typedef void tree_entries_fn(void *arg, const struct tree_entry *entries, size_t count, bool more,
                             const struct error *err);

/* The directory that is listed: PLACE, or the same place after its table was described anew. */
const struct place *tree_list_place(const struct tree_listing *listing);

/* Lists the directory at PLACE, which must stay until the end of the listing. With FULL, sizes and
 * dates are known, which may cost further requests. FN gets the first entries later. NULL when
 * memory ran out. */
struct tree_listing *tree_list(const struct tree *tree, const struct place *place, bool full,
                               tree_entries_fn *fn, void *arg);
enum tree_names { TREE_UNNAMED, TREE_NAMED, TREE_DESCRIBED };

/* Only the items of the listing at PLACE, a companion of one or itself, in its order: whole items,
 * even where the index has less of them. Entries have their ITEM; from TREE_NAMED on their name,
 * with TREE_DESCRIBED also size and date; their other fields mean nothing. FN is called for each
 * page of the query, also without an entry. If only the count is wanted (COMPANION_COUNT), items
 * may have their keys alone, or not come at all: tree_list_stats returns the number that the source
 * has counted. */
struct tree_listing *tree_list_records(const struct tree *tree, const struct place *place,
                                       enum tree_names names, tree_entries_fn *fn, void *arg);
/* As tree_list, FULL, but an entry of an item has its ITEM instead of its file. An item for which
 * the map declares a file of its own comes among the others, under that name. */
struct tree_listing *tree_list_items(const struct tree *tree, const struct place *place,
                                     tree_entries_fn *fn, void *arg);
/* Before the first entries: the reader always wants the next ones at once, up to the end, so that
 * other listings of the same may wait for this one. */
void tree_list_set_steady(struct tree_listing *listing);
/* At any time: the reader wants all pages, so that the source may read ahead. tree_list_records
 * implies it. */
void tree_list_read_all(struct tree_listing *listing);
/* Before the first entries: the reader may stop, unless tree_list_read_all follows. */
void tree_list_read_some(struct tree_listing *listing);
/* Starts the next entries, once for each page with MORE. FN gets them later, never from within
 * this call, unless memory ran out. */
void tree_list_more(struct tree_listing *listing);

/* The cost of a listing so far. */
struct tree_list_stats {
    size_t entries;      /* items of the query that count */
    uint64_t counted;    /* of these, those that the source only counted */
    size_t read;         /* all that the source read */
    bool read_twice;     /* some of these may have been read twice */
    size_t skipped;      /* whole items of no kind that the map declares */
    unsigned pages;      /* of the query */
    unsigned requests;   /* for these pages, retries included */
    struct spent spent;  /* RCU of these requests */
    struct walk_age age; /* of a query; zeroed before it is sent */
    bool has_records;    /* its items have lately been read again, at this cost: */
    struct walk_cost records;
    const struct throttles *throttled; /* of all these requests; the listing's; NULL: none */
};
struct tree_list_stats tree_list_stats(const struct tree_listing *listing);

/* Whether a complete listing needs a note beside its entries, which OUT gets: it left out whole
 * items of no kind that the map declares; or it is empty, and the path has a value that the map
 * does not know. */
bool tree_list_note(const struct tree_listing *listing, struct error *out);
/* Whether a listing of items has no page behind the one that was delivered; its end may still have
 * to be requested, which costs nothing. */
bool tree_list_is_ending(const struct tree_listing *listing);
/* Whether entries have come that the map does not declare, or none of these exist. */
bool tree_list_has_read(const struct tree_listing *listing);
/* Ends the listing, finished or not; once for each tree_list. */
void tree_list_end(struct tree_listing *listing);

/* Fills ERR with ERROR_NOT_LISTABLE: why no directory lists the names of PLACE, a placeholder; the
 * path to type; and the option by which a Scan would list them. Returns false. */
bool tree_refuse_placeholder(const struct tree *tree, const struct place *place, struct error *err);
/* True if PLACE, a directory or its companion, has no placeholder. Else false, with the same ERR
 * for all of its placeholders. */
bool tree_lists_all(const struct tree *tree, const struct place *place, struct error *err);

/* A file that is made of a listing's items (PLACE_LIST_FILE), or of similar items, piece by piece,
 * while they are read. It holds no more than its form needs. */
struct tree_stream;

struct tree_piece {
    struct span bytes; /* borrowed; may be empty */
    bool more;         /* further pieces follow */
    /* Of the last piece: */
    struct instant mtime; /* of the youngest item; none when the map dates none */
    int64_t ttl_left_ms;
};

/* Exactly one of PIECE and ERR is not NULL. An error, or a piece without MORE, is the last. */
typedef void tree_piece_fn(void *arg, const struct tree_piece *piece, const struct error *err);

/* Starts the file at PLACE, which must stay until the end. FN gets the first piece later. NULL when
 * memory ran out. */
struct tree_stream *tree_stream(const struct tree *tree, const struct place *place,
                                tree_piece_fn *fn, void *arg);
void tree_stream_set_steady(struct tree_stream *stream); /* as tree_list_set_steady */
/* The bytes of heap that it holds between two pieces. */
size_t tree_stream_memory(const struct tree_stream *stream);
/* Starts the next piece, once for each piece with MORE. FN gets it later, as above. */
void tree_stream_more(struct tree_stream *stream);
/* Ends it, finished or not; FN is not called again. NULL is fine. */
void tree_stream_end(struct tree_stream *stream);

#endif
