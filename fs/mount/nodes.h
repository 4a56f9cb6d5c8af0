/* Inodes: one a directory, one a version of a file. A file's inode is made for its bytes and
 * never changes: when the record changes, the next look-up of its name gives another inode. */
#ifndef DDBFS_FS_MOUNT_NODES_H
#define DDBFS_FS_MOUNT_NODES_H

#include "core/item/version.h"
#include "core/tree/place.h"

struct nodes;

/* Read by everybody, changed by nodes.c alone. */
struct node {
    uint64_t ino;
    struct node *parent; /* NULL for the root; kept alive by this */
    struct span name;    /* in the parent */
    bool directory;
    struct directory *listing; /* the latest, while it is fresh; kept by fs/mount/directory.c */
    struct place *place;       /* of a directory of the map; owned; NULL for one of /.ddbfs */
    bool secret;               /* of a file: for the owner alone */
    uint64_t size;             /* of a file */
    int64_t mtime_ms;          /* of a file; 0 when the map does not date it */
    struct version version;    /* of a file: a digest of its bytes */
};

/* Takes ROOT_PLACE. CONTENT_LIMIT is how many bytes of files are kept; beyond it the least
 * recently used are dropped, and read again when asked for. NULL when memory ran out. */
struct nodes *nodes_new(struct place *root_place, size_t content_limit);
void nodes_destroy(struct nodes *nodes); /* NULL is fine */

struct node *nodes_root(struct nodes *nodes);
/* NULL when the kernel does not know it (any more). */
struct node *nodes_find(struct nodes *nodes, uint64_t ino);

/* The directory NAME below PARENT: the one that there is, or a new one. Takes PLACE (NULL for one
 * of /.ddbfs) in either case. The caller holds a pin. NULL when memory ran out. */
struct node *nodes_directory(struct nodes *nodes, struct node *parent, struct span name,
                             struct place *place);

/* What a file is made of. */
struct node_file {
    struct span bytes; /* copied */
    bool secret;
    int64_t mtime_ms;
};

/* The same for that version of a file. */
struct node *nodes_file(struct nodes *nodes, struct node *parent, struct span name,
                        const struct node_file *file);

/* A node lives while the kernel has looked it up or somebody here has it pinned. */
void nodes_pin(struct node *node);
void nodes_unpin(struct nodes *nodes, struct node *node); /* NULL is fine */
void nodes_look_up(struct node *node);
void nodes_forget(struct nodes *nodes, uint64_t ino, uint64_t lookups);

/* The file's bytes, valid until the next call that adds some; false when they were dropped. */
bool nodes_content(struct nodes *nodes, struct node *node, struct span *out);
/* Gives a dropped file its bytes again; false when these are of another version. */
bool nodes_restore(struct nodes *nodes, struct node *node, struct span bytes);

/* Appends the path of NAME below NODE; of NODE itself when NAME is empty. */
void nodes_path(const struct node *node, struct span name, struct buf *out);

/* Whether PATH is TOP or stands below it. */
bool nodes_is_below(struct span path, struct span top);

/* Remembers that NAME was opened in DIRECTORY, one of which a part can't be listed. The directory
 * is kept for it, as long as not too many others have been opened since. */
void nodes_remember(struct nodes *nodes, struct node *directory, struct span name,
                    bool is_directory, int64_t now_ms);

/* What was opened there in the last while, the latest first. */
struct node_recent {
    struct span name;
    bool directory;
};
enum { NODES_RECENT = 32 };
size_t nodes_recent(const struct node *directory, int64_t now_ms,
                    struct node_recent out[NODES_RECENT]);

/* Calls FN for every node but the root. FN may change nothing. */
void nodes_each(struct nodes *nodes, void (*fn)(void *arg, struct node *node), void *arg);

/* Finds every directory's place anew, from ROOT_PLACE (taken) on, after the map has changed. One
 * that is no more keeps its old place. */
void nodes_relocate(struct nodes *nodes, struct place *root_place,
                    const struct place_options *names);

struct nodes_stats {
    size_t directories, files;
    size_t content_bytes;
};
struct nodes_stats nodes_stats(const struct nodes *nodes);

#endif
