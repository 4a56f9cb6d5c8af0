/* Inodes: one per directory, one per version of a file. The inode of a file belongs to its bytes,
 * date and mode, and never changes: when the item changes, the next look-up of its name returns
 * another inode. The exception is a file that grows at its end. */
#ifndef DDBFS_FS_MOUNT_NODES_H
#define DDBFS_FS_MOUNT_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/instant.h"
#include "core/read/place.h"

/* The mount's share of --cache-size: each user reports its memory here. */
enum budget_use {
    BUDGET_NODES,    /* inodes: they live until the kernel forgets them */
    BUDGET_LISTINGS, /* complete listings that are not open are freed first */
    BUDGET_CONTENTS, /* bytes of files: the least recently used are dropped next */
    BUDGET_USES,
};

/* Frees some memory; false when nothing is left that can be freed. */
typedef bool budget_spare_fn(void *arg);

struct budget {
    size_t limit;
    size_t used[BUDGET_USES];
    budget_spare_fn *spare[BUDGET_USES]; /* NULL: nothing can be freed */
    void *arg[BUDGET_USES];
};

/* Adds BYTES, and frees memory while the sum exceeds the limit: nodes that are not pinned may go,
 * and contents with them. */
void budget_add(struct budget *budget, enum budget_use use, size_t bytes);
void budget_remove(struct budget *budget, enum budget_use use, size_t bytes);

struct open_listing;
struct nodes;

enum __attribute__((packed)) node_kind {
    NODE_DIRECTORY,    /* of the map: it has a place */
    NODE_FILE,         /* of the map: one version of it */
    NODE_CONTROL,      /* /.ddbfs */
    NODE_REFRESH,      /* /.ddbfs/refresh, and the mirror of the tree below it */
    NODE_LINK,         /* a symbolic link of the map: its bytes are the target */
    NODE_CONTROL_FILE, /* in /.ddbfs: one state of it */
    NODE_CHANGES,      /* changes.jsonl: it grows, and changes.c has its bytes */
};

/* Read by all, changed by nodes.c alone. There may be a million: each byte counts. */
struct node {
    uint64_t ino;
    struct node *parent; /* NULL for the root; kept alive by this */
    uint64_t size;       /* of a file, else 0; of one that grows, that of the last reply */
    int64_t mtime_ms;    /* of a file that is dated, else 0 */
    uint32_t hash;       /* of the parent and the name; for nodes.c alone */
    enum node_kind kind;
    uint8_t name_size;
    bool secret; /* of a file: for the owner only */
    bool dated;  /* of a file: the map dates it */
};

/* The name in the parent; a NUL follows. Valid as long as the node. */
struct span node_name(const struct node *node);
/* Of a NODE_DIRECTORY, owned by the node; NULL for any other. */
struct place *node_place(const struct node *node);
/* Of a directory: the latest, which may be shared; or NULL. */
struct open_listing *node_listing(const struct node *node);
bool node_is_directory(const struct node *node);

/* Takes ROOT_PLACE. BUDGET is borrowed. NULL when memory ran out. */
struct nodes *nodes_new(struct place *root_place, struct budget *budget);
void nodes_destroy(struct nodes *nodes); /* NULL is fine */

struct node *nodes_root(struct nodes *nodes);
/* NULL when the kernel does not know it (any more). */
struct node *nodes_find(struct nodes *nodes, uint64_t ino);

/* The directory NAME of that KIND below PARENT: the existing one, or a new one. Takes PLACE (NULL
 * except for a NODE_DIRECTORY) in either case. The caller gets a pin. NULL when memory ran out. */
struct node *nodes_directory(struct nodes *nodes, struct node *parent, struct span name,
                             enum node_kind kind, struct place *place);

/* One version of a file. */
struct node_file {
    enum node_kind kind;
    struct span bytes;   /* copied */
    struct spool *spool; /* NULL, or it has the bytes instead, and a reference is taken */
    bool keep;           /* until the node is freed: they could not be read again */
    bool secret;
    struct instant mtime;
};

/* The same for a version of a file. */
struct node *nodes_file(struct nodes *nodes, struct node *parent, struct span name,
                        const struct node_file *file);

/* A new NODE_CHANGES, of size 0, although there may be others of the name. The caller gets a pin.
 * NULL when memory ran out. */
struct node *nodes_growing(struct nodes *nodes, struct node *parent, struct span name);
/* Of such a node, which never shrinks. */
void nodes_set_size(struct node *node, uint64_t size);

/* Records that the kernel drops NAME in PARENT, as it does when a look-up fails and when it is
 * notified. Returns whether it had that name. */
bool nodes_lose_name(struct nodes *nodes, const struct node *parent, struct span name);

/* Records that the kernel drops all names. */
void nodes_lose_all_names(struct nodes *nodes);

/* A node lives while the kernel has looked it up or something here has it pinned. */
void nodes_pin(struct node *node);
void nodes_unpin(struct nodes *nodes, struct node *node); /* NULL is fine */
void nodes_look_up(struct nodes *nodes, struct node *node);
void nodes_forget(struct nodes *nodes, uint64_t ino, uint64_t lookups);

/* LISTING (NULL: none) may be shared by the next opener of the directory. */
void nodes_set_listing(struct node *node, struct open_listing *listing);

/* The temporary file that has the node's bytes; NULL: none. It is never dropped. */
const struct spool *nodes_spool(const struct node *node);

/* The file's bytes, followed by a NUL, valid until the next call that adds some; false when they
 * were dropped, or are in a temporary file. */
bool nodes_content(struct nodes *nodes, struct node *node, struct span *out);
/* The same, valid until nodes_return_content: the node is pinned. False when they were dropped, or
 * are lent already. */
bool nodes_lend_content(struct nodes *nodes, struct node *node, struct span *out);
void nodes_return_content(struct nodes *nodes, struct node *node);
/* Restores the dropped bytes of a file; false when FILE is another version. */
bool nodes_restore(struct nodes *nodes, struct node *node, const struct node_file *file);

/* Appends the path of NAME below NODE; of NODE itself when NAME is empty. */
void nodes_path(const struct node *node, struct span name, struct buf *out);

/* Whether PATH is TOP or lies below it. */
bool nodes_is_below(struct span path, struct span top);

/* Calls FN for each node except the root. FN must not change any. */
void nodes_each(struct nodes *nodes, void (*fn)(void *arg, struct node *node), void *arg);

/* Finds the place of each directory in a new map, from ROOT_PLACE (taken) on. A directory that the
 * map does not have keeps its old place. */
void nodes_relocate(struct nodes *nodes, struct place *root_place,
                    const struct place_options *names);

struct nodes_stats {
    size_t directories, files;
    size_t spooled; /* of the files: those in a temporary file */
    uint64_t spooled_bytes;
};
struct nodes_stats nodes_stats(const struct nodes *nodes);

#endif
