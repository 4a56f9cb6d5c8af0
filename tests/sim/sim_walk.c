#include "tests/sim/sim_walk.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/sim/sim_world.h"

/* As in the kernel: links on one path. */
enum { LINKS_MOST = 40 };

/* Attributes. */

static int sim_walk_get_attributes(struct sim_process *process, struct sim_inode *inode,
                                   const uint64_t *fh)
{
    struct fuse_attr_out attr;
    struct fuse_getattr_in wanted = {.getattr_flags = fh ? FUSE_GETATTR_FH : 0, .fh = fh ? *fh : 0};
    struct sim_call call = {.opcode = FUSE_GETATTR,
                            .node = inode->number,
                            .process = process,
                            .reply_least = sizeof attr,
                            .reply_most = sizeof attr};
    uint64_t version = sim_connection.attr_version;
    sim_call_add(&call, &wanted, sizeof wanted);
    int error = sim_call_wait(&call);
    if (error == 0) {
        memcpy(&attr, call.reply, sizeof attr);
        sim_inode_change(inode, &attr.attr, attr.attr_valid, attr.attr_valid_nsec, version);
    }
    sim_call_clean_up(&call);
    return error;
}

int sim_walk_refresh(struct sim_process *process, struct sim_inode *inode, const uint64_t *fh)
{
    if (inode->is_bad)
        return -EIO;
    return inode->attr_until_ms < sim_now_ms() ? sim_walk_get_attributes(process, inode, fh) : 0;
}

static bool sim_walk_is_allowed(const struct sim_process *process, const struct sim_inode *inode,
                                int mask)
{
    unsigned mode = inode->attr.mode;
    bool is_directory = S_ISDIR(mode);
    if (process->uid == 0)
        return is_directory || !(mask & X_OK) || (mode & 0111);
    unsigned granted = process->uid == inode->attr.uid   ? mode >> 6
                       : process->gid == inode->attr.gid ? mode >> 3
                                                         : mode;
    return ((unsigned)mask & ~granted & 7) == 0;
}

int sim_walk_permit(struct sim_process *process, struct sim_inode *inode, int mask)
{
    if (inode->is_bad)
        return -EIO;
    if (!sim_connection.allow_other &&
        (process->uid != sim_connection.uid || process->gid != sim_connection.gid))
        return -EACCES;
    bool is_fresh = inode->attr_until_ms < sim_now_ms();
    int error = sim_walk_refresh(process, inode, NULL);
    if (error || sim_walk_is_allowed(process, inode, mask))
        return error;
    if (!is_fresh)
        error = sim_walk_get_attributes(process, inode, NULL);
    return error || sim_walk_is_allowed(process, inode, mask) ? error : -EACCES;
}

/* Names. */

static int sim_walk_send_lookup(struct sim_process *process, const struct sim_inode *directory,
                                const char *name, struct fuse_entry_out *out)
{
    struct sim_call call = {.opcode = FUSE_LOOKUP,
                            .node = directory->number,
                            .process = process,
                            .reply_least = sizeof *out,
                            .reply_most = sizeof *out};
    sim_call_add(&call, name, strlen(name) + 1);
    call.subject = (const char *)call.body; /* the dentry may get another name meanwhile */
    int error = sim_call_wait(&call);
    if (error == 0)
        memcpy(out, call.reply, sizeof *out);
    sim_call_clean_up(&call);
    return error;
}

/* Whether the name is still valid; asks the program if its time is over. 1: it is; 0: it isn't. */
static int sim_walk_revalidate(struct sim_walk *walk, struct sim_dentry *dentry)
{
    struct fuse_entry_out entry;
    struct sim_inode *inode = dentry->inode;
    if (dentry->epoch < sim_connection.epoch || (inode && inode->is_bad))
        return 0;
    if (dentry->until_ms >= sim_now_ms() && !walk->looks_up_all)
        return 1;
    if (!inode)
        return 0;
    uint64_t version = sim_connection.attr_version;
    int error = sim_walk_send_lookup(walk->process, dentry->parent->inode, dentry->name, &entry);
    if (error == -ENOMEM || error == -EINTR)
        return error;
    if (error || !entry.nodeid)
        return 0;
    if (entry.nodeid != inode->number) {
        sim_device_forget(entry.nodeid, 1);
        return 0;
    }
    inode->lookups++;
    if (sim_inode_is_stale(inode, entry.generation, &entry.attr))
        return 0;
    sim_inode_change(inode, &entry.attr, entry.attr_valid, entry.attr_valid_nsec, version);
    dentry->until_ms = sim_dentries_until_ms(entry.entry_valid, entry.entry_valid_nsec);
    return 1;
}

/* Looks up the name of DENTRY, which is under way, and takes the use of it. */
static int sim_walk_look_up(struct sim_walk *walk, struct sim_dentry *dentry,
                            struct sim_dentry **out)
{
    struct fuse_entry_out entry = {0};
    struct sim_inode *directory = dentry->parent->inode, *inode = NULL;
    uint64_t epoch = sim_connection.epoch, version = sim_connection.attr_version;
    if (!sim_connection.parallel_dirops)
        sim_lock_take(&directory->one_by_one, true, walk->process, "waits for another look-up");
    int error = sim_walk_send_lookup(walk->process, directory, dentry->name, &entry);
    if (!sim_connection.parallel_dirops)
        sim_lock_release(&directory->one_by_one);
    bool has_time = error == 0;
    if (error == 0 && entry.nodeid)
        inode = sim_inode_get(&entry, version);
    if (error && error != -ENOENT) {
        sim_dentry_give_up(dentry);
        sim_dentry_release(dentry);
        return error;
    }
    struct sim_dentry *found = sim_dentry_splice(dentry, inode);
    if (!found) {
        sim_dentry_release(dentry);
        return -ELOOP;
    }
    found->epoch = epoch;
    found->until_ms =
        has_time ? sim_dentries_until_ms(entry.entry_valid, entry.entry_valid_nsec) : -1;
    *out = found;
    return 0;
}

/* As sim_walk_revalidate of DENTRY, used by the caller. If it is valid, it is *OUT; else the use
 * ends. */
static int sim_walk_use_valid(struct sim_walk *walk, struct sim_dentry *dentry,
                              struct sim_dentry **out)
{
    int valid = sim_walk_revalidate(walk, dentry);
    if (valid > 0) {
        *out = dentry;
        return valid;
    }
    if (valid == 0)
        sim_dentry_invalidate(dentry);
    sim_dentry_release(dentry);
    return valid;
}

/* With the directory's lock, which look-ups share. */
static int sim_walk_find_locked(struct sim_walk *walk, struct sim_dentry *directory,
                                const char *name, size_t size, struct sim_dentry **out)
{
    for (;;) {
        struct sim_dentry *dentry = sim_dentry_alloc(walk->process, directory, name, size);
        if (dentry->is_looked_up)
            return sim_walk_look_up(walk, dentry, out);
        int valid = sim_walk_use_valid(walk, dentry, out);
        if (valid != 0)
            return valid < 0 ? valid : 0;
    }
}

/* The dentry NAME, used by the caller; it may be negative. */
static int sim_walk_find(struct sim_walk *walk, struct sim_dentry *directory, const char *name,
                         size_t size, struct sim_dentry **out)
{
    struct sim_dentry *dentry = sim_dentry_find(directory, name, size);
    if (dentry) {
        sim_dentry_use(dentry);
        int valid = sim_walk_use_valid(walk, dentry, out);
        if (valid != 0)
            return valid < 0 ? valid : 0;
    }
    if (size > SIM_NAME_MOST)
        return -ENAMETOOLONG;
    sim_lock_take(&directory->inode->lock, false, walk->process,
                  "waits for the lock of a directory");
    int error = sim_walk_find_locked(walk, directory, name, size, out);
    sim_lock_release(&directory->inode->lock);
    return error;
}

/* Links. */

static int sim_walk_send_readlink(struct sim_process *process, struct sim_inode *inode)
{
    struct sim_call call = {.opcode = FUSE_READLINK,
                            .node = inode->number,
                            .process = process,
                            .reply_most = SIM_PAGE - 1};
    int error = sim_call_wait(&call);
    if (error == 0) {
        sim_free(inode->target);
        inode->target = sim_printf("%.*s", (int)call.reply_size, (const char *)call.reply);
    }
    sim_call_clean_up(&call);
    return error;
}

int sim_walk_read_link(struct sim_process *process, struct sim_inode *inode, const char **out)
{
    int error = 0;
    if (inode->is_bad)
        return -EIO;
    if (!inode->target || !sim_connection.caches_symlinks)
        error = sim_walk_send_readlink(process, inode);
    *out = inode->target;
    return error;
}

/* Paths. */

/* What is left of a path; links put their targets in front. */
struct sim_rest {
    struct sim_walk *walk;
    struct sim_dentry *at; /* used */
    char *path;            /* owned */
    size_t from;
    unsigned links;
};

static void sim_rest_go(struct sim_rest *rest, struct sim_dentry *to)
{
    sim_dentry_release(rest->at);
    rest->at = to;
}

/* LINK, which is used, is followed. */
static int sim_rest_follow(struct sim_rest *rest, struct sim_dentry *link)
{
    const char *target;
    int error = ++rest->links > LINKS_MOST
                    ? -ELOOP
                    : sim_walk_read_link(rest->walk->process, link->inode, &target);
    if (!error && target[0] == '/')
        error = -EXDEV; /* ADR 29: links are relative */
    if (!error) {
        char *path = sim_printf("%s%s", target, rest->path + rest->from);
        sim_free(rest->path);
        rest->path = path;
        rest->from = 0;
    }
    sim_dentry_release(link);
    return error;
}

/* A step to the name of SIZE bytes at NAME. IS_LAST: nothing but slashes follows. */
static int sim_rest_step(struct sim_rest *rest, const char *name, size_t size, bool is_last)
{
    struct sim_dentry *next;
    int error = S_ISDIR(rest->at->inode->attr.mode)
                    ? sim_walk_permit(rest->walk->process, rest->at->inode, X_OK)
                    : -ENOTDIR;
    if (error || (size == 1 && name[0] == '.'))
        return error;
    if (size == 2 && memcmp(name, "..", 2) == 0) {
        if (rest->at->parent) {
            sim_dentry_use(rest->at->parent);
            sim_rest_go(rest, rest->at->parent);
        }
        return 0;
    }
    error = sim_walk_find(rest->walk, rest->at, name, size, &next);
    if (error)
        return error;
    if (!next->inode) {
        sim_dentry_release(next);
        return -ENOENT;
    }
    bool ends_in_slash = name[size] == '/';
    if (S_ISLNK(next->inode->attr.mode) && (!is_last || rest->walk->follows || ends_in_slash))
        return sim_rest_follow(rest, next);
    sim_rest_go(rest, next);
    return is_last && ends_in_slash && !S_ISDIR(next->inode->attr.mode) ? -ENOTDIR : 0;
}

static int sim_walk_once(struct sim_walk *walk, const char *path, struct sim_dentry **out)
{
    struct sim_rest rest = {.walk = walk, .at = sim_dentries_root(), .path = sim_copy(path)};
    int error = 0;
    sim_dentry_use(rest.at);
    while (!error) {
        while (rest.path[rest.from] == '/')
            rest.from++;
        char *name = rest.path + rest.from;
        size_t size = strcspn(name, "/");
        if (size == 0)
            break;
        bool is_last = name[size + strspn(name + size, "/")] == '\0';
        if (is_last && walk->wants_parent) {
            error = size > SIM_NAME_MOST ? -ENAMETOOLONG : 0;
            memcpy(walk->name, name, error ? 0 : size);
            walk->name[error ? 0 : size] = '\0';
            break;
        }
        rest.from += size;
        error = sim_rest_step(&rest, name, size, is_last);
    }
    sim_free(rest.path);
    if (error)
        sim_dentry_release(rest.at);
    *out = error ? NULL : rest.at;
    return error;
}

int sim_walk_path(struct sim_walk *walk, const char *path, struct sim_dentry **out)
{
    bool looks_up_all = walk->looks_up_all;
    int error = sim_walk_once(walk, path, out);
    if (error != -ESTALE)
        return error;
    walk->looks_up_all = true;
    error = sim_walk_once(walk, path, out);
    walk->looks_up_all = looks_up_all;
    return error;
}
