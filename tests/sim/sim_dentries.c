#include "tests/sim/sim_dentries.h"

#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_numbers.h"
#include "tests/sim/sim_pages.h"
#include "tests/sim/sim_world.h"

static struct sim_dentries {
    struct sim_dict names, looked_up, inodes;
    struct sim_ring all_dentries, all_inodes;
    size_t dentry_count, inode_count;
    struct sim_dentry *root;
} sim_dentries;

/* Locks. */

struct sim_lock_waiter {
    struct sim_ring link;
    bool exclusive, is_granted;
};

static bool sim_lock_is_free(const struct sim_lock *lock, bool exclusive)
{
    return !lock->is_exclusive && (!exclusive || lock->shared == 0);
}

static void sim_lock_grant(struct sim_lock *lock, bool exclusive)
{
    if (exclusive)
        lock->is_exclusive = true;
    else
        lock->shared++;
}

static bool sim_lock_is_granted(void *arg)
{
    const struct sim_lock_waiter *waiter = arg;
    return waiter->is_granted;
}

void sim_lock_take(struct sim_lock *lock, bool exclusive, struct sim_process *process,
                   const char *what)
{
    if (sim_ring_is_empty(&lock->waiters) && sim_lock_is_free(lock, exclusive)) {
        sim_lock_grant(lock, exclusive);
        return;
    }
    struct sim_lock_waiter waiter = {.exclusive = exclusive};
    sim_ring_add(&lock->waiters, &waiter.link);
    sim_device_sleep(process, true, sim_lock_is_granted, &waiter, what);
}

void sim_lock_release(struct sim_lock *lock)
{
    struct sim_ring *link;
    if (lock->is_exclusive)
        lock->is_exclusive = false;
    else
        lock->shared--;
    while ((link = sim_ring_next(&lock->waiters, &lock->waiters))) {
        struct sim_lock_waiter *waiter = SIM_OF(link, struct sim_lock_waiter, link);
        if (!sim_lock_is_free(lock, waiter->exclusive))
            return;
        sim_lock_grant(lock, waiter->exclusive);
        sim_ring_remove(link);
        waiter->is_granted = true;
    }
}

/* Inodes. */

int64_t sim_dentries_until_ms(uint64_t seconds, uint32_t nanoseconds)
{
    const uint64_t most = INT64_MAX / 4000;
    if (!seconds && !nanoseconds)
        return -1;
    return sim_now_ms() + (int64_t)(seconds < most ? seconds : most) * 1000 +
           (nanoseconds + 999999) / 1000000;
}

static struct sim_inode *sim_inode_new(uint64_t number)
{
    struct sim_inode *inode = sim_alloc(sizeof *inode);
    inode->number = number;
    inode->uses = 1;
    inode->attr_until_ms = -1;
    sim_dict_add(&sim_dentries.inodes, &inode->by_number, number);
    sim_ring_add(&sim_dentries.all_inodes, &inode->all);
    sim_dentries.inode_count++;
    return inode;
}

struct sim_inode *sim_inode_find(uint64_t number)
{
    struct sim_dict_link *link = sim_dict_first(&sim_dentries.inodes, number);
    return link ? SIM_OF(link, struct sim_inode, by_number) : NULL;
}

void sim_inode_use(struct sim_inode *inode)
{
    inode->uses++;
}

void sim_inode_release(struct sim_inode *inode)
{
    if (--inode->uses > 0)
        return;
    sim_device_forget(inode->number, inode->lookups);
    sim_inode_drop_pages(inode, 0);
    sim_free(inode->pages);
    sim_free(inode->target);
    if (!inode->is_bad)
        sim_dict_remove(&sim_dentries.inodes, &inode->by_number);
    sim_ring_remove(&inode->all);
    sim_dentries.inode_count--;
    sim_free(inode);
}

void sim_inode_make_bad(struct sim_inode *inode)
{
    if (!inode->is_bad)
        sim_dict_remove(&sim_dentries.inodes, &inode->by_number);
    inode->is_bad = true;
}

bool sim_inode_is_stale(const struct sim_inode *inode, uint64_t generation,
                        const struct fuse_attr *attr)
{
    bool has_type = inode->attr.mode & S_IFMT;
    return inode->generation != generation ||
           (has_type && (inode->attr.mode & S_IFMT) != (attr->mode & S_IFMT));
}

/* Of two replies that crossed, the older one is no news. */
void sim_inode_change(struct sim_inode *inode, const struct fuse_attr *attr, uint64_t valid_s,
                      uint32_t valid_ns, uint64_t version)
{
    if (version != 0 && inode->attr_version > version)
        return;
    bool has_other_size = inode->attr_version && attr->size != inode->attr.size;
    inode->attr = *attr;
    inode->attr_until_ms = sim_dentries_until_ms(valid_s, valid_ns);
    inode->attr_version = ++sim_connection.attr_version;
    if (S_ISREG(attr->mode) && has_other_size)
        sim_inode_drop_pages(inode, 0);
}

struct sim_inode *sim_inode_get(const struct fuse_entry_out *entry, uint64_t version)
{
    struct sim_inode *inode = sim_inode_find(entry->nodeid);
    if (inode && sim_inode_is_stale(inode, entry->generation, &entry->attr)) {
        sim_inode_make_bad(inode);
        inode = NULL;
    }
    if (inode)
        sim_inode_use(inode);
    else
        inode = sim_inode_new(entry->nodeid);
    inode->generation = entry->generation;
    inode->lookups++;
    sim_inode_change(inode, &entry->attr, entry->attr_valid, entry->attr_valid_nsec, version);
    return inode;
}

/* Dentries. */

static uint64_t sim_dentry_hash(const struct sim_dentry *parent, const char *name, size_t size)
{
    return sim_dict_hash((uint64_t)(uintptr_t)parent, name, size);
}

static struct sim_dentry *sim_dentry_search(const struct sim_dict *dict,
                                            const struct sim_dentry *parent, const char *name,
                                            size_t size)
{
    struct sim_dict_link *link = sim_dict_first(dict, sim_dentry_hash(parent, name, size));
    for (; link; link = sim_dict_next(link)) {
        struct sim_dentry *dentry = SIM_OF(link, struct sim_dentry, by_name);
        if (dentry->parent == parent && strncmp(dentry->name, name, size) == 0 &&
            !dentry->name[size])
            return dentry;
    }
    return NULL;
}

struct sim_dentry *sim_dentry_find(const struct sim_dentry *parent, const char *name, size_t size)
{
    return sim_dentry_search(&sim_dentries.names, parent, name, size);
}

static struct sim_dentry *sim_dentry_new(struct sim_dentry *parent, const char *name, size_t size)
{
    struct sim_dentry *dentry = sim_alloc(sizeof *dentry);
    dentry->name = sim_printf("%.*s", (int)size, name);
    dentry->parent = parent;
    dentry->uses = 1;
    dentry->until_ms = -1;
    sim_ring_add(&sim_dentries.all_dentries, &dentry->all);
    sim_dentries.dentry_count++;
    if (parent) {
        sim_dentry_use(parent);
        sim_ring_add(&parent->children, &dentry->of_parent);
    }
    return dentry;
}

static void sim_dentry_hash_in(struct sim_dentry *dentry)
{
    uint64_t hash = sim_dentry_hash(dentry->parent, dentry->name, strlen(dentry->name));
    sim_dict_add(&sim_dentries.names, &dentry->by_name, hash);
    dentry->is_hashed = true;
}

static void sim_dentry_unhash(struct sim_dentry *dentry)
{
    if (dentry->is_hashed)
        sim_dict_remove(&sim_dentries.names, &dentry->by_name);
    dentry->is_hashed = false;
}

static void sim_dentry_kill(struct sim_dentry *dentry)
{
    struct sim_dentry *parent = dentry->parent;
    struct sim_inode *inode = dentry->inode;
    sim_dentry_unhash(dentry);
    sim_ring_remove(&dentry->all);
    sim_ring_remove(&dentry->of_parent);
    sim_dentries.dentry_count--;
    if (inode && inode->directory_entry == dentry)
        inode->directory_entry = NULL;
    if (inode)
        sim_inode_release(inode);
    sim_free(dentry->name);
    sim_free(dentry);
    if (parent)
        sim_dentry_release(parent);
}

void sim_dentry_use(struct sim_dentry *dentry)
{
    dentry->uses++;
}

void sim_dentry_release(struct sim_dentry *dentry)
{
    if (--dentry->uses == 0 && !dentry->is_hashed)
        sim_dentry_kill(dentry);
}

struct sim_dentry *sim_dentries_root(void)
{
    return sim_dentries.root;
}

void sim_dentries_begin(void)
{
    struct sim_dentry *root = sim_dentry_new(NULL, "", 0);
    root->inode = sim_inode_new(FUSE_ROOT_ID);
    root->inode->attr.mode = S_IFDIR;
    root->inode->directory_entry = root;
    root->until_ms = INT64_MAX;
    sim_dentries.root = root;
}

static bool sim_dentry_is_found(void *arg)
{
    const struct sim_dentry *dentry = arg;
    return !dentry->is_looked_up;
}

struct sim_dentry *sim_dentry_alloc(struct sim_process *process, struct sim_dentry *parent,
                                    const char *name, size_t size)
{
    struct sim_dentry *dentry;
    int64_t since_ms = sim_now_ms();
    for (;;) {
        dentry = sim_dentry_find(parent, name, size);
        if (dentry) {
            sim_dentry_use(dentry);
            return dentry;
        }
        dentry = sim_dentry_search(&sim_dentries.looked_up, parent, name, size);
        if (!dentry)
            break;
        sim_dentry_use(dentry);
        sim_device_sleep(process, true, sim_dentry_is_found, dentry,
                         "waits for another look-up of the name");
        if (dentry->waited_since_ms < since_ms)
            since_ms = dentry->waited_since_ms;
        sim_causes_note_queue(since_ms);
        sim_dentry_release(dentry);
    }
    dentry = sim_dentry_new(parent, name, size);
    dentry->is_looked_up = true;
    dentry->waited_since_ms = since_ms;
    sim_dict_add(&sim_dentries.looked_up, &dentry->by_name, sim_dentry_hash(parent, name, size));
    return dentry;
}

static void sim_dentry_end_lookup(struct sim_dentry *dentry)
{
    sim_dict_remove(&sim_dentries.looked_up, &dentry->by_name);
    dentry->is_looked_up = false;
}

void sim_dentry_give_up(struct sim_dentry *dentry)
{
    sim_dentry_end_lookup(dentry);
}

static bool sim_dentry_is_above(const struct sim_dentry *upper, const struct sim_dentry *lower)
{
    while (lower && lower != upper)
        lower = lower->parent;
    return lower;
}

/* A directory has one dentry: it moves to where it was found. */
static struct sim_dentry *sim_dentry_move(struct sim_dentry *alias, struct sim_dentry *to)
{
    struct sim_dentry *before = alias->parent;
    sim_dentry_use(alias);
    sim_dentry_unhash(alias);
    sim_free(alias->name);
    alias->name = sim_copy(to->name);
    sim_ring_remove(&alias->of_parent);
    sim_ring_add(&to->parent->children, &alias->of_parent);
    sim_dentry_use(to->parent);
    alias->parent = to->parent;
    sim_dentry_release(before);
    sim_dentry_hash_in(alias);
    sim_dentry_end_lookup(to);
    sim_dentry_release(to);
    return alias;
}

struct sim_dentry *sim_dentry_splice(struct sim_dentry *dentry, struct sim_inode *inode)
{
    struct sim_dentry *alias = inode ? inode->directory_entry : NULL;
    if (alias && sim_dentry_is_above(alias, dentry->parent)) {
        sim_inode_release(inode);
        sim_dentry_end_lookup(dentry);
        return NULL;
    }
    if (alias) {
        sim_inode_release(inode);
        return sim_dentry_move(alias, dentry);
    }
    dentry->inode = inode;
    if (inode && S_ISDIR(inode->attr.mode))
        inode->directory_entry = dentry;
    sim_dentry_end_lookup(dentry);
    sim_dentry_hash_in(dentry);
    return dentry;
}

static void sim_dentry_prune(struct sim_dentry *dentry)
{
    struct sim_ring *next;
    for (struct sim_ring *at = sim_ring_next(&dentry->children, &dentry->children); at; at = next) {
        struct sim_dentry *child = SIM_OF(at, struct sim_dentry, of_parent);
        sim_dentry_use(child);
        sim_dentry_prune(child);
        next = sim_ring_next(&dentry->children, at);
        if (--child->uses == 0)
            sim_dentry_kill(child);
    }
}

void sim_dentry_invalidate(struct sim_dentry *dentry)
{
    if (!dentry->is_hashed)
        return;
    sim_dentry_use(dentry);
    sim_dentry_unhash(dentry);
    if (dentry->inode)
        sim_dentry_prune(dentry);
    sim_dentry_release(dentry);
}

/* Whether DENTRY has the entry's inode already; it counts the look-up then. Otherwise the name is
 * dropped. */
static bool sim_dentries_renew(struct sim_dentry *dentry, const struct fuse_entry_out *entry,
                               uint64_t version)
{
    struct sim_inode *inode = dentry->inode;
    if (inode && inode->number != entry->nodeid)
        inode = NULL;
    if (!inode || sim_inode_is_stale(inode, entry->generation, &entry->attr)) {
        if (inode)
            sim_inode_make_bad(inode);
        sim_dentry_invalidate(dentry);
        return false;
    }
    inode->lookups++;
    sim_inode_change(inode, &entry->attr, entry->attr_valid, entry->attr_valid_nsec, version);
    return true;
}

void sim_dentries_link(struct sim_process *process, struct sim_dentry *parent, const char *name,
                       size_t size, const struct fuse_entry_out *entry, uint64_t version)
{
    uint64_t epoch = sim_connection.epoch;
    struct sim_dentry *dentry = sim_dentry_alloc(process, parent, name, size);
    while (!dentry->is_looked_up && !sim_dentries_renew(dentry, entry, version)) {
        sim_dentry_release(dentry);
        dentry = sim_dentry_alloc(process, parent, name, size);
    }
    if (dentry->is_looked_up) {
        struct sim_dentry *found = sim_dentry_splice(dentry, sim_inode_get(entry, version));
        if (!found) {
            sim_dentry_release(dentry);
            return;
        }
        dentry = found;
    }
    dentry->epoch = epoch;
    dentry->until_ms = sim_dentries_until_ms(entry->entry_valid, entry->entry_valid_nsec);
    sim_dentry_release(dentry);
}

/* Drops some names that are not used. Their directories are unused afterwards, at the earliest. */
static size_t sim_dentries_shrink_once(struct sim_dice *dice, unsigned per_mille)
{
    size_t count = 0;
    struct sim_ring *head = &sim_dentries.all_dentries;
    struct sim_dentry **unused = sim_alloc(sim_dentries.dentry_count * sizeof *unused);
    for (struct sim_ring *at = sim_ring_next(head, head); at; at = sim_ring_next(head, at)) {
        struct sim_dentry *dentry = SIM_OF(at, struct sim_dentry, all);
        if (dentry->uses == 0 && sim_dice_chance(dice, per_mille))
            unused[count++] = dentry;
    }
    for (size_t i = 0; i < count; i++)
        sim_dentry_kill(unused[i]);
    sim_free(unused);
    return count;
}

void sim_kernel_shrink(unsigned per_mille)
{
    struct sim_dice dice = sim_dice_for("shrink", sim_device_count().requests);
    while (sim_dentries_shrink_once(&dice, per_mille) && per_mille >= 1000)
        ;
    struct sim_ring *head = &sim_dentries.all_inodes;
    for (struct sim_ring *at = sim_ring_next(head, head); at; at = sim_ring_next(head, at))
        if (sim_dice_chance(&dice, per_mille))
            sim_inode_drop_pages(SIM_OF(at, struct sim_inode, all), 0);
    sim_tell("kernel",
             "drops %u of 1000 unused: %zu names and %zu inodes are left; the program counts %llu "
             "look-ups",
             per_mille, sim_dentries.dentry_count, sim_dentries.inode_count,
             (unsigned long long)sim_numbers_lookups());
}

struct sim_dentries_counts sim_dentries_count(void)
{
    struct sim_dentries_counts counts = {.dentries = sim_dentries.dentry_count,
                                         .inodes = sim_dentries.inode_count};
    struct sim_ring *head = &sim_dentries.all_inodes;
    for (struct sim_ring *at = sim_ring_next(head, head); at; at = sim_ring_next(head, at))
        counts.lookups += SIM_OF(at, struct sim_inode, all)->lookups;
    return counts;
}
