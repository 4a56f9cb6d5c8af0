/* Inodes: one a directory, one a version of a file. A file's inode is made for its bytes, date and
 * mode, and never changes: when the record changes, the next look-up of its name gives another. */
#ifndef DDBFS_FS_MOUNT_NODES_H
#define DDBFS_FS_MOUNT_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/instant.h"
#include "core/read/place.h"

enum budget_use {
    BUDGET_NODES,    /* names that the kernel knows: they go when it forgets them */
    BUDGET_LISTINGS, /* complete ones that nobody has open go first */
    BUDGET_CONTENTS, /* bytes of files: the least recently used go next */
    BUDGET_USES,
};

/* Frees some of what can be spared; false when there is nothing left of it. */
typedef bool budget_spare_fn(void *arg);

struct budget {
    size_t limit;
    size_t used[BUDGET_USES];
    budget_spare_fn *spare[BUDGET_USES]; /* NULL: nothing of it can be spared */
    void *arg[BUDGET_USES];
};

/* Says that BYTES more are kept, after sparing what must be. Calls what spares: nodes that nobody
 * has pinned may go, and contents with them. */
void budget_add(struct budget *budget, enum budget_use use, size_t bytes);
void budget_remove(struct budget *budget, enum budget_use use, size_t bytes);

size_t budget_used(const struct budget *budget);

struct open_listing;
struct nodes;

enum node_kind {
    NODE_DIRECTORY,    /* of the map: it has a place */
    NODE_FILE,         /* of the map: one version of it */
    NODE_CONTROL,      /* /.ddbfs */
    NODE_REFRESH,      /* /.ddbfs/refresh, and what mirrors the tree below it */
    NODE_LINK,         /* a symbolic link of the map: its bytes say where to */
    NODE_CONTROL_FILE, /* in /.ddbfs: one state of it */
};

/* Read by everybody, changed by nodes.c alone. */
struct node {
    uint64_t ino;
    struct node *parent; /* NULL for the root; kept alive by this */
    struct span name;    /* in the parent; ended by a NUL */
    enum node_kind kind;
    struct place *place; /* of a NODE_DIRECTORY; owned */
    struct open_listing
        *listing;     /* of a directory: the one that who opens it next may share, or NULL */
    bool secret;      /* of a file: for the owner alone */
    uint64_t size;    /* of a file */
    bool dated;       /* of a file: the map dates it */
    int64_t mtime_ms; /* of a file that is dated, else 0 */
};

bool node_is_directory(const struct node *node);

/* Takes ROOT_PLACE. BUDGET is borrowed: beyond it the least recently used bytes of files are
 * dropped, and read again when asked for. NULL when memory ran out. */
struct nodes *nodes_new(struct place *root_place, struct budget *budget);
void nodes_destroy(struct nodes *nodes); /* NULL is fine */

struct node *nodes_root(struct nodes *nodes);
/* NULL when the kernel does not know it (any more). */
struct node *nodes_find(struct nodes *nodes, uint64_t ino);

/* The directory NAME of that KIND below PARENT: the one that there is, or a new one. Takes PLACE
 * (NULL but for a NODE_DIRECTORY) in either case. The caller holds a pin. NULL when memory ran
 * out. */
struct node *nodes_directory(struct nodes *nodes, struct node *parent, struct span name,
                             enum node_kind kind, struct place *place);

/* What a file is made of. */
struct node_file {
    enum node_kind kind;
    struct span bytes; /* copied */
    bool keep;         /* for as long as the node lives: they could not be read again */
    bool secret;
    struct instant mtime;
};

/* The same for that version of a file. */
struct node *nodes_file(struct nodes *nodes, struct node *parent, struct span name,
                        const struct node_file *file);

/* The kernel drops what is called NAME in PARENT, as it does when a look-up fails and when it is
 * told to forget. Returns whether it had that name. */
bool nodes_lose_name(struct nodes *nodes, const struct node *parent, struct span name);

/* The kernel drops all names. */
void nodes_lose_all_names(struct nodes *nodes);

/* A node lives while the kernel has looked it up or somebody here has it pinned. */
void nodes_pin(struct node *node);
void nodes_unpin(struct nodes *nodes, struct node *node); /* NULL is fine */
void nodes_look_up(struct nodes *nodes, struct node *node);
void nodes_forget(struct nodes *nodes, uint64_t ino, uint64_t lookups);

/* LISTING (NULL: none) is what the next to open the directory may share. */
void nodes_set_listing(struct node *node, struct open_listing *listing);

/* The file's bytes, valid until the next call that adds some; false when they were dropped. */
bool nodes_content(struct nodes *nodes, struct node *node, struct span *out);
/* Gives a dropped file its bytes again; false when FILE is another version. */
bool nodes_restore(struct nodes *nodes, struct node *node, const struct node_file *file);

/* Appends the path of NAME below NODE; of NODE itself when NAME is empty. */
void nodes_path(const struct node *node, struct span name, struct buf *out);

/* Whether PATH is TOP or stands below it. */
bool nodes_is_below(struct span path, struct span top);

/* Calls FN for every node but the root. FN may change nothing. */
void nodes_each(struct nodes *nodes, void (*fn)(void *arg, struct node *node), void *arg);

/* Finds every directory's place anew, from ROOT_PLACE (taken) on, after the map has changed. One
 * that is no more keeps its old place. */
void nodes_relocate(struct nodes *nodes, struct place *root_place,
                    const struct place_options *names);

struct nodes_stats {
    size_t directories, files;
};
struct nodes_stats nodes_stats(const struct nodes *nodes);

/* What the mount keeps of files and listings, counted against its share of --cache-size. Whoever
 * keeps something says so here; when the sum passes the limit, what nobody needs goes first. */

#endif
