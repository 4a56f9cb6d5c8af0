/* The tree: what is at a place. Directories are known from the map; files and listings come from
 * a source, through the cache. Every face (command line, mount) asks here. */
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

/* Where an environment's questions go: the source for PLACE, which is in one. Borrowed by the
 * caller; NULL with ERR filled. */
typedef struct source *tree_source_fn(void *arg, const struct place *place, struct error *err);

struct model_provider;
struct model_provider_description;
struct tree;
struct tree_listing;

/* Writers of the files that describe others. They are in core/describe, above this room, so the
 * tree has them in a table. Each appends to OUT, and returns false when memory ran out. */
struct tree_texts {
    /* A directory's README. TOLD, unless NULL, is the service's description of its table. */
    bool (*write_readme)(const struct place *directory, const struct place_options *names,
                         const struct model_provider_description *told, struct buf *out);
    /* An item's @info. Finding it took FOUND_UNITS RCU (less than 0: not known). STALE, unless
     * NULL, is the reason why the item is older than its ttl. */
    bool (*write_item_info)(const struct tree *tree, const struct place *place,
                            const struct record *record, double found_units,
                            const struct error *stale, struct buf *out);
    /* A listing's @info. LEFT_OUT, unless NULL, names a directory whose name is too long. */
    bool (*write_list_info)(const struct tree *tree, const struct place *place,
                            const struct tree_listing *listing, const struct error *left_out,
                            struct buf *out);
};

/* Who asks for himself has a copy of his own, with PAYER in it. */
struct tree {
    const struct map *map; /* where paths from the root begin */
    struct loop *loop;
    struct cache *cache;
    tree_source_fn *source;
    void *source_arg;
    /* How PLACE's source says what it would be asked: its operations, of which those that need no
     * open source may be called, and in OPTIONS what a printed command needs to ask the same
     * source. Nothing is opened for it. */
    const struct source_ops *(*describe)(void *source_arg, const struct place *place,
                                         struct buf *options);
    const struct tree_texts *texts;
    const struct log *log;         /* may be NULL */
    struct model_provider *models; /* of tables that are known by their names alone; NULL: nobody is
                                    * asked for them */
    struct place_options names;
    bool show_secrets;
    bool compact;
    struct walks *walks;   /* by which listings share what they read; NULL: none does */
    size_t table_width;    /* cells of a line of LIST@table, if the path names no columns */
    size_t snapshot_bytes; /* how large a file made of a listing may be that is held as a whole */
    int64_t stale_ms;      /* by how much older than its ttl a record may be in an outage */
    struct payer *payer;   /* borrowed: of what is asked through this tree; NULL: nobody in
                            * particular. What is under way already for another is his. */
};

/* A file's content, borrowed for the time of the callback. */
struct tree_file {
    struct span bytes;
    bool secret;          /* readable by its owner alone */
    struct instant mtime; /* none when the map does not date it */
    struct version version;
    const struct record_origin *origin; /* NULL for what the map alone tells */
    int64_t ttl_left_ms;
    const struct error *stale; /* NULL, or why no younger version is to be had, though this one is
                                * too old */
};

struct tree_call; /* a question under way */

/* Exactly one of FILE and ERR is not NULL. */
typedef void tree_file_fn(void *arg, const struct tree_file *file, const struct error *err);

/* The content of the file at PLACE, which must stay until the end of the call. DONE is called
 * once, later; the call is gone before that. NULL when memory ran out. */
struct tree_call *tree_read(const struct tree *tree, const struct place *place, tree_file_fn *done,
                            void *arg);
void tree_cancel(struct tree_call *call); /* before DONE; NULL is fine */

struct tree_entry {
    struct span name;
    bool directory;
    bool placeholder; /* a directory that stands for names which nothing lists */
    bool link;        /* a symbolic one to what CONTENT says */
    bool secret;
    int64_t size; /* -1 when not known */
    struct instant mtime;
    struct span content; /* of a file whose size is known */
    int64_t ttl_left_ms; /* how long it may be believed: its own path's word, not the listing's */
    uint64_t ties;       /* of a listing with ties: entries that share one share their sort key */
    bool passed_over;    /* within a listing alone: it counts, and is none of those asked for */
    uint64_t rank;    /* likewise: its place among the query's entries, from 1 on; 0 without one */
    struct json item; /* of a record, where the listing was asked for items; else absent */
};

/* Some entries of a listing, borrowed; none, perhaps. Exactly one of ENTRIES and ERR is not NULL.
 * After an error, or a page without MORE, none follows. */
typedef void tree_entries_fn(void *arg, const struct tree_entry *entries, size_t count, bool more,
                             const struct error *err);

struct tree_listing;

/* The directory that is listed: PLACE, or the same place as the service describes its table by now.
 */
const struct place *tree_list_place(const struct tree_listing *listing);

/* Lists the directory at PLACE, which must stay until the end of the listing; with FULL, sizes
 * and dates are known, which may cost further requests. FN gets the first entries later. NULL
 * when memory ran out. */
struct tree_listing *tree_list(const struct tree *tree, const struct place *place, bool full,
                               tree_entries_fn *fn, void *arg);
/* The records of the listing at PLACE, a companion of one or itself, in its order and no others:
 * whole ones, where the index has less of them. Entries have their ITEM, and with NAMED their name,
 * size and date; what else they tell means nothing. Each page of the query is told, be there an
 * entry in it or not. Where no more is wanted than how many they are (COMPANION_COUNT), items may
 * have their keys alone, or not come at all: tree_list_stats says how many the source has counted.
 */
struct tree_listing *tree_list_records(const struct tree *tree, const struct place *place,
                                       bool named, tree_entries_fn *fn, void *arg);
/* As tree_list, FULL, but a record comes as its ITEM instead of as a file, be it one for which the
 * map declares a file of its own: then it stands among the others, under that name. */
struct tree_listing *tree_list_items(const struct tree *tree, const struct place *place,
                                     tree_entries_fn *fn, void *arg);
/* Before the first entries: whoever asks for the next ones does so at once, up to the end, so that
 * others who list the same may wait for that. */
void tree_list_hold_on(struct tree_listing *listing);
/* Whoever lists will read to the end, so that the source may read before he asks; to be said at any
 * time. Of records alone it is known. */
void tree_list_read_all(struct tree_listing *listing);
/* Asks for the next entries, once for each page with MORE. FN gets them later, never from within
 * this call, unless memory ran out. */
void tree_list_more(struct tree_listing *listing);
/* What a listing took so far. */
struct tree_list_stats {
    size_t entries;      /* records that the query brought and that count */
    uint64_t counted;    /* of these, those that the source has counted and nobody has seen */
    size_t read;         /* all that it read, be they told or not */
    bool read_twice;     /* some of these may have been read twice, from both ends */
    size_t skipped;      /* whole records of no kind that the map declares */
    unsigned pages;      /* of the query */
    unsigned requests;   /* for these pages, retries included */
    struct spent spent;  /* read units that these requests consumed */
    struct walk_age age; /* of a query; zeroed before it is asked */
    bool has_records;    /* its records were read again, lately, which took: */
    struct kept_pages_cost records;
};
struct tree_list_stats tree_list_stats(const struct tree_listing *listing);

/* Whether something is to be said of the listing, which is complete, beside its entries: it has
 * passed over whole records because they are of no kind that the map declares, and OUT says how
 * many, and the cure; or it has none, and the path gives a value that the map does not know. */
bool tree_list_note(const struct tree_listing *listing, struct error *out);
/* Ends the listing, finished or not; once for each tree_list. */
void tree_list_end(struct tree_listing *listing);

/* A file that is made of a listing's records (PLACE_LIST_FILE), piece by piece, while they are
 * read. Nothing of it is held but what its form needs. */
struct tree_stream;

struct tree_piece {
    struct span bytes; /* borrowed; none, perhaps */
    bool more;         /* further pieces can be asked for */
    /* Once there is no more of it: */
    struct instant mtime; /* of the youngest record; none when the map dates none */
    int64_t ttl_left_ms;
};

/* Exactly one of PIECE and ERR is not NULL. After an error, or a piece without MORE, none follows.
 */
typedef void tree_piece_fn(void *arg, const struct tree_piece *piece, const struct error *err);

/* Begins the file at PLACE, which must stay until the end. FN gets the first piece later. NULL when
 * memory ran out. */
struct tree_stream *tree_stream(const struct tree *tree, const struct place *place,
                                tree_piece_fn *fn, void *arg);
void tree_stream_hold_on(struct tree_stream *stream); /* as tree_list_hold_on */
/* The bytes of heap that it holds for what comes later, and for the piece in hand. */
size_t tree_stream_memory(const struct tree_stream *stream);
/* Asks for the next piece, once for each piece with MORE. FN gets it later, as above. */
void tree_stream_more(struct tree_stream *stream);
/* Ends it, finished or not; FN is not called any more. NULL is fine. */
void tree_stream_end(struct tree_stream *stream);

#endif
