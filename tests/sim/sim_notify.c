#include "tests/sim/sim_notify.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/sim/sim_causes.h"
#include "tests/sim/sim_numbers.h"
#include "tests/sim/sim_pages.h"
#include "tests/sim/sim_world.h"

/* Linux 6.16; the C library's header may be older. */
enum { NOTIFY_INC_EPOCH = 8 };

/* The name is dropped, once no request holds its directory. */
static int sim_notify_entry(uint64_t number, uint64_t child, const char *name, size_t size,
                            uint32_t flags)
{
    struct sim_inode *parent = sim_inode_find(number);
    int error = 0;
    if (!parent)
        return ENOENT;
    sim_inode_use(parent);
    sim_lock_take(&parent->lock, true, NULL, "notifies of a name in a directory that is locked");
    struct sim_dentry *directory = parent->directory_entry;
    struct sim_dentry *entry = directory ? sim_dentry_find(directory, name, size) : NULL;
    if (!S_ISDIR(parent->attr.mode))
        error = ENOTDIR;
    else if (!entry)
        error = ENOENT;
    else if (child && (!entry->inode || entry->inode->number != child))
        error = ENOENT;
    if (!error) {
        sim_dentry_use(entry);
        entry->until_ms = -1;
        if (!(flags & FUSE_EXPIRE_ONLY))
            sim_dentry_invalidate(entry);
        sim_dentry_release(entry);
    }
    sim_lock_release(&parent->lock);
    sim_inode_release(parent);
    return error;
}

/* The form of a name of SIZE bytes with its NUL, of which STATED are said to be the name. */
static int sim_notify_check_name(size_t size, uint32_t stated)
{
    if (stated > SIM_NAME_MOST)
        return ENAMETOOLONG;
    return size == (size_t)stated + 1 ? 0 : EINVAL;
}

static int sim_notify_inval_entry(const unsigned char *body, size_t size)
{
    struct fuse_notify_inval_entry_out out;
    if (size < sizeof out)
        return EINVAL;
    memcpy(&out, body, sizeof out);
    int error = sim_notify_check_name(size - sizeof out, out.namelen);
    if (error)
        return error;
    return sim_notify_entry(out.parent, 0, (const char *)body + sizeof out, out.namelen, out.flags);
}

static int sim_notify_delete(const unsigned char *body, size_t size)
{
    struct fuse_notify_delete_out out;
    if (size < sizeof out)
        return EINVAL;
    memcpy(&out, body, sizeof out);
    int error = sim_notify_check_name(size - sizeof out, out.namelen);
    if (error)
        return error;
    return sim_notify_entry(out.parent, out.child, (const char *)body + sizeof out, out.namelen, 0);
}

static int sim_notify_inval_inode(const unsigned char *body, size_t size)
{
    struct fuse_notify_inval_inode_out out;
    if (size != sizeof out)
        return EINVAL;
    memcpy(&out, body, sizeof out);
    struct sim_inode *inode = sim_inode_find(out.ino);
    if (!inode)
        return ENOENT;
    inode->attr_version = ++sim_connection.attr_version;
    inode->attr_until_ms = -1;
    if (out.off >= 0)
        sim_pages_invalidate(inode, (uint64_t)out.off / SIM_PAGE);
    return 0;
}

static int sim_notify_store(const unsigned char *body, size_t size)
{
    struct fuse_notify_store_out out;
    if (size < sizeof out)
        return EINVAL;
    memcpy(&out, body, sizeof out);
    if (size - sizeof out != out.size)
        return EINVAL;
    struct sim_inode *inode = sim_inode_find(out.nodeid);
    if (!inode)
        return ENOENT;
    sim_numbers_check_bytes(out.nodeid, out.offset, body + sizeof out, out.size, "NOTIFY_STORE");
    return sim_pages_store(inode, out.offset, body + sizeof out, out.size);
}

static int sim_notify_do(int code, const unsigned char *body, size_t size)
{
    switch (code) {
    case FUSE_NOTIFY_INVAL_ENTRY:
        return sim_notify_inval_entry(body, size);
    case FUSE_NOTIFY_DELETE:
        return sim_notify_delete(body, size);
    case FUSE_NOTIFY_INVAL_INODE:
        return sim_notify_inval_inode(body, size);
    case FUSE_NOTIFY_STORE:
        return sim_notify_store(body, size);
    case NOTIFY_INC_EPOCH:
        if (!sim_connection.knows_epochs || size > 0)
            return EINVAL;
        sim_connection.epoch++;
        return 0;
    default:
        sim_defect("kernel", "a notification of the kind %d, which no document mentions", code);
    }
}

static const char *sim_notify_name(int code)
{
    static const char *const names[] = {
        [FUSE_NOTIFY_INVAL_INODE] = "NOTIFY_INVAL_INODE",
        [FUSE_NOTIFY_INVAL_ENTRY] = "NOTIFY_INVAL_ENTRY",
        [FUSE_NOTIFY_STORE] = "NOTIFY_STORE",
        [FUSE_NOTIFY_DELETE] = "NOTIFY_DELETE",
        [NOTIFY_INC_EPOCH] = "NOTIFY_INC_EPOCH",
    };
    bool is_known = code > 0 && (size_t)code < sizeof names / sizeof names[0] && names[code];
    return is_known ? names[code] : "a notification";
}

int sim_notify(int code, const unsigned char *body, size_t size)
{
    int error;
    if (!sim_connection.is_connected)
        error = ENOENT;
    else if (sim_causes_strike(SIM_FAULT_NOTIFY, sim_notify_name(code)))
        error = ENOMEM;
    else
        error = sim_notify_do(code, body, size);
    sim_tell("kernel", "%s of %zu bytes: %d", sim_notify_name(code), size, error);
    return error;
}
