/* Files that the map itself puts into a directory ("access-token"). A listing shows them only where
 * they can be opened. The listing's own items may prove that; else each file is read. */
#ifndef DDBFS_CORE_READ_DECLARED_FILES_H
#define DDBFS_CORE_READ_DECLARED_FILES_H

#include "core/plan/item_match.h"
#include "core/read/entries.h"

struct declared_file {
    struct declared_files *all;
    struct span name;        /* in the owner's arena */
    struct place *place;     /* owned */
    const struct plan *plan; /* of PLACE */
    bool listed;             /* its item has been delivered among those of the listing */
    bool covered;            /* the listing's items contain all that decides about the file */
    struct pick pick;        /* of a covered file */
    struct error failed;     /* why PICK gave up; kind ERROR_NONE when it did not */
    struct tree_call *call;  /* under way */
};

/* One file: FILE, or ERR; ERROR_NOT_FOUND is proven. */
typedef void declared_files_file_fn(void *arg, struct span name, const struct tree_file *file,
                                    const struct error *err);
typedef void declared_files_done_fn(void *arg);

/* Must stay where it is until it is cleaned up. */
struct declared_files {
    struct declared_file *items; /* owned */
    size_t count;
    struct arena arena; /* owns the names */
    size_t under_way;
    declared_files_file_fn *fn;
    declared_files_done_fn *done;
    void *arg;
};

/* Finds the files that the map declares in PLACE, a directory or the companion of one; other places
 * have no such files. LIST is the plan of its listing, or NULL. A file whose plan can't be made for
 * the path's values is left out. False with ERR filled when no name opens one, or memory ran out.
 * To be cleaned up in either case. */
bool declared_files_init(struct declared_files *files, const struct place *place,
                         const struct place_options *names, const struct plan *list,
                         struct error *err);
/* Ends the fetches under way. {0} is fine. */
void declared_files_clean_up(struct declared_files *files);

/* Looks at an item of the directory's listing. */
void declared_files_consider(struct declared_files *files, const struct key *key, struct json item,
                             const struct record_origin *origin);

/* Whether FILE can be an item of the listing under a name of its own, as far as its key decides. If
 * a filter decides, too, the listing must cover the file. */
bool declared_files_is_item(const struct declared_file *file);

/* The file that is ITEM, of KEY, under a name of its own, so that the item is no entry as well;
 * NULL for none. */
struct declared_file *declared_files_find(const struct declared_files *files, const struct key *key,
                                          struct json item);

/* Adds to COST that of the files which the listing does not cover. */
void declared_files_add_cost(const struct declared_files *files, struct cost *cost);

/* Once, at the end of the listing: calls FN for each file, the covered ones first; the others are
 * read. A covered file for which no item counts is passed over. DONE is called at the end, within
 * this call if nothing is read. TREE must stay. False with ERR filled when memory ran out. */
bool declared_files_start(struct declared_files *files, const struct tree *tree,
                          declared_files_file_fn *fn, declared_files_done_fn *done, void *arg,
                          struct error *err);

#endif
