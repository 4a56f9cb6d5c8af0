/* What the simulated kernel keeps of the tree: names (dentries) with their times, and inodes with
 * their look-up counts, attributes and locks. */
#ifndef DDBFS_TESTS_SIM_SIM_DENTRIES_H
#define DDBFS_TESTS_SIM_SIM_DENTRIES_H

#include "tests/sim/sim_device.h"

/* A lock that many share or one has; who waits is served in order. */
struct sim_lock {
    unsigned shared;
    bool is_exclusive;
    struct sim_ring waiters;
};

/* Waits if it must, deaf to signals. WHAT is told if it can never be had. */
void sim_lock_take(struct sim_lock *lock, bool exclusive, struct sim_process *process,
                   const char *what);
void sim_lock_release(struct sim_lock *lock);

struct sim_page;

struct sim_inode {
    struct sim_dict_link by_number;
    struct sim_ring all;
    uint64_t number, generation;
    uint64_t lookups; /* that the program counts for this inode */
    struct fuse_attr attr;
    int64_t attr_until_ms; /* the attributes are valid until then */
    uint64_t attr_version;
    bool is_bad;    /* its number has become another's; it is in no dictionary */
    bool has_btime; /* whether there is one is known */
    unsigned uses;  /* dentries, and requests of its own */
    struct sim_dentry *directory_entry; /* of a directory: the only one */
    struct sim_lock lock;               /* of a directory: look-ups and listings share it */
    struct sim_lock one_by_one;         /* without parallel look-ups: one request at a time */
    struct sim_page **pages;            /* owned; NULL: not in memory */
    size_t page_room, page_count;
    char *target; /* owned: of a link; NULL: not in memory */
};

struct sim_dentry {
    struct sim_dict_link by_name; /* in the dictionary of names, or of look-ups under way */
    struct sim_ring all, of_parent;
    struct sim_dentry *parent; /* NULL: the root */
    char *name;                /* owned */
    struct sim_inode *inode;   /* NULL: there is no such name */
    int64_t until_ms;          /* the name is valid until then */
    uint64_t epoch;
    unsigned uses; /* children, walks, open files */
    bool is_hashed, is_looked_up;
    int64_t waited_since_ms; /* the first caller of those that look the name up one by one */
    struct sim_ring children;
};

struct sim_dentry *sim_dentries_root(void);
/* Makes the root, without attributes. */
void sim_dentries_begin(void);

void sim_inode_use(struct sim_inode *inode);
/* The last release forgets the inode. */
void sim_inode_release(struct sim_inode *inode);
/* The inode that the program's NUMBER means; NULL: it is not in memory. */
struct sim_inode *sim_inode_find(uint64_t number);
/* The inode of an entry that the program has replied with: it counts a look-up and is used once.
 * VERSION is sim_connection.attr_version when the request was made. */
struct sim_inode *sim_inode_get(const struct fuse_entry_out *entry, uint64_t version);
void sim_inode_change(struct sim_inode *inode, const struct fuse_attr *attr, uint64_t valid_s,
                      uint32_t valid_ns, uint64_t version);
/* Whether an entry with its number means another inode. */
bool sim_inode_is_stale(const struct sim_inode *inode, uint64_t generation,
                        const struct fuse_attr *attr);
void sim_inode_make_bad(struct sim_inode *inode);
/* The time until which something is valid that the program has just sent. */
int64_t sim_dentries_until_ms(uint64_t seconds, uint32_t nanoseconds);

/* The name as it is in the cache; NULL: it isn't. Not used. */
struct sim_dentry *sim_dentry_find(const struct sim_dentry *parent, const char *name, size_t size);
void sim_dentry_use(struct sim_dentry *dentry);
void sim_dentry_release(struct sim_dentry *dentry);
/* The name, used: one in the cache, or a new one that is looked up by the caller (is_looked_up). If
 * another looks it up, waits for it. */
struct sim_dentry *sim_dentry_alloc(struct sim_process *process, struct sim_dentry *parent,
                                    const char *name, size_t size);
/* The look-up has an end: with INODE (NULL: there is none), which is taken. Returns the dentry to
 * use instead (an older one of the same directory) or DENTRY. Either is used by the caller. NULL: a
 * directory would be below itself. */
struct sim_dentry *sim_dentry_splice(struct sim_dentry *dentry, struct sim_inode *inode);
/* The look-up has failed; a waiter begins anew. */
void sim_dentry_give_up(struct sim_dentry *dentry);
/* The name is no longer known, nor what is below it and not used. */
void sim_dentry_invalidate(struct sim_dentry *dentry);

/* Links an entry of READDIRPLUS. */
void sim_dentries_link(struct sim_process *process, struct sim_dentry *parent, const char *name,
                       size_t size, const struct fuse_entry_out *entry, uint64_t version);

struct sim_dentries_counts {
    size_t dentries, inodes;
    uint64_t lookups;
};
struct sim_dentries_counts sim_dentries_count(void);

#endif
