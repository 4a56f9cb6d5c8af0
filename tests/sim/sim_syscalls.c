/* The system calls of simulated programs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/sim_files.h"
#include "tests/sim/sim_pages.h"
#include "tests/sim/sim_walk.h"
#include "tests/sim/sim_world.h"

/* The size of an entry in a program's buffer, about. */
enum { ENTRY_BYTES = 40 };

/* An operation of Linux 6.6, which libfuse 3.14 does not have. */
enum { OPCODE_STATX = 52 };

/* Runs ACT on the inode at PATH; after ESTALE once more, and each name is looked up again. */
static int sim_sys_at(struct sim_process *process, const char *path, bool follows,
                      int (*act)(struct sim_process *, struct sim_dentry *, void *), void *arg)
{
    struct sim_dentry *dentry;
    struct sim_walk walk = {.process = process, .follows = follows};
    for (;;) {
        int error = sim_walk_path(&walk, path, &dentry);
        if (!error) {
            error = act(process, dentry, arg);
            sim_dentry_release(dentry);
        }
        if (error != -ESTALE || walk.looks_up_all)
            return error;
        walk.looks_up_all = true;
    }
}

/* stat. */

static void sim_sys_fill_stat(const struct sim_inode *inode, struct stat *out)
{
    const struct fuse_attr *attr = &inode->attr;
    *out = (struct stat){.st_ino = attr->ino,
                         .st_mode = attr->mode,
                         .st_nlink = attr->nlink,
                         .st_uid = attr->uid,
                         .st_gid = attr->gid,
                         .st_size = (off_t)attr->size,
                         .st_blksize = SIM_PAGE,
                         .st_blocks = (blkcnt_t)attr->blocks,
                         .st_atim = {(time_t)attr->atime, attr->atimensec},
                         .st_mtim = {(time_t)attr->mtime, attr->mtimensec},
                         .st_ctim = {(time_t)attr->ctime, attr->ctimensec}};
}

/* stat of today's programs also wants the time of birth, which is not known. */
static void sim_sys_send_statx(struct sim_process *process, struct sim_inode *inode)
{
    unsigned char wanted[40] = {0}; /* struct fuse_statx_in */
    struct sim_call call = {
        .opcode = OPCODE_STATX, .node = inode->number, .process = process, .reply_most = 512};
    sim_call_add(&call, wanted, sizeof wanted);
    sim_connection.no_statx = sim_call_wait(&call) == -ENOSYS || sim_connection.no_statx;
    sim_call_clean_up(&call);
}

static int sim_sys_stat_at(struct sim_process *process, struct sim_dentry *dentry, void *arg)
{
    if (!sim_connection.allow_other &&
        (process->uid != sim_connection.uid || process->gid != sim_connection.gid))
        return -EACCES;
    if (sim_connection.knows_statx && !sim_connection.no_statx)
        sim_sys_send_statx(process, dentry->inode);
    int error = sim_walk_refresh(process, dentry->inode, NULL);
    if (!error)
        sim_sys_fill_stat(dentry->inode, arg);
    return error;
}

int sim_sys_stat(struct sim_process *process, const char *path, struct stat *out)
{
    return sim_sys_at(process, path, true, sim_sys_stat_at, out);
}

int sim_sys_lstat(struct sim_process *process, const char *path, struct stat *out)
{
    return sim_sys_at(process, path, false, sim_sys_stat_at, out);
}

/* What a kernel asks besides. */

static int sim_sys_statfs_at(struct sim_process *process, struct sim_dentry *dentry, void *arg)
{
    (void)arg;
    struct sim_call call = {.opcode = FUSE_STATFS,
                            .node = dentry->inode->number,
                            .process = process,
                            .reply_least = sizeof(struct fuse_statfs_out),
                            .reply_most = sizeof(struct fuse_statfs_out)};
    if (!sim_connection.allow_other && process->uid != sim_connection.uid)
        return 0; /* nothing but the file system's type */
    int error = sim_call_wait(&call);
    sim_call_clean_up(&call);
    return error;
}

int sim_sys_statfs(struct sim_process *process, const char *path)
{
    return sim_sys_at(process, path, true, sim_sys_statfs_at, NULL);
}

/* ENOSYS is remembered for the whole mount. */
static int sim_sys_getxattr_at(struct sim_process *process, struct sim_dentry *dentry, void *arg)
{
    struct fuse_getxattr_in wanted = {.size = 0};
    struct sim_call call = {.opcode = FUSE_GETXATTR,
                            .node = dentry->inode->number,
                            .process = process,
                            .reply_least = sizeof(struct fuse_getxattr_out),
                            .reply_most = sizeof(struct fuse_getxattr_out)};
    if (sim_connection.no_getxattr)
        return -EOPNOTSUPP;
    sim_call_add(&call, &wanted, sizeof wanted);
    sim_call_add(&call, arg, strlen(arg) + 1);
    int error = sim_call_wait(&call);
    sim_call_clean_up(&call);
    sim_connection.no_getxattr = error == -ENOSYS || sim_connection.no_getxattr;
    return error == -ENOSYS ? -EOPNOTSUPP : error;
}

ssize_t sim_sys_getxattr(struct sim_process *process, const char *path, const char *name)
{
    char *copy = sim_copy(name);
    int error = sim_sys_at(process, path, true, sim_sys_getxattr_at, copy);
    sim_free(copy);
    return error;
}

struct sim_sys_link {
    char *bytes;
    size_t size, done;
};

static int sim_sys_readlink_at(struct sim_process *process, struct sim_dentry *dentry, void *arg)
{
    struct sim_sys_link *link = arg;
    const char *target;
    if (!S_ISLNK(dentry->inode->attr.mode))
        return -EINVAL;
    int error = sim_walk_read_link(process, dentry->inode, &target);
    if (error)
        return error;
    link->done = strlen(target) < link->size ? strlen(target) : link->size;
    memcpy(link->bytes, target, link->done);
    return 0;
}

ssize_t sim_sys_readlink(struct sim_process *process, const char *path, char *out, size_t size)
{
    struct sim_sys_link link = {out, size, 0};
    int error = sim_sys_at(process, path, false, sim_sys_readlink_at, &link);
    return error ? error : (ssize_t)link.done;
}

/* Open files. */

struct sim_sys_opening {
    bool wants_directory;
    int fd;
};

static int sim_sys_open_at(struct sim_process *process, struct sim_dentry *dentry, void *arg)
{
    struct sim_sys_opening *opening = arg;
    struct sim_inode *inode = dentry->inode;
    if (opening->wants_directory && !S_ISDIR(inode->attr.mode))
        return -ENOTDIR;
    int error = sim_walk_permit(process, inode, R_OK);
    return error ? error : sim_file_open(process, dentry, opening->wants_directory, &opening->fd);
}

int sim_sys_open(struct sim_process *process, const char *path)
{
    struct sim_sys_opening opening = {0};
    int error = sim_sys_at(process, path, true, sim_sys_open_at, &opening);
    return error ? error : opening.fd;
}

int sim_sys_opendir(struct sim_process *process, const char *path)
{
    struct sim_sys_opening opening = {.wants_directory = true};
    int error = sim_sys_at(process, path, true, sim_sys_open_at, &opening);
    return error ? error : opening.fd;
}

ssize_t sim_sys_pread(struct sim_process *process, int fd, void *bytes, size_t size, off_t offset)
{
    struct sim_file *file = sim_file_find(fd);
    if (!file || offset < 0)
        return file ? -EINVAL : -EBADF;
    struct sim_inode *inode = file->dentry->inode;
    if (S_ISDIR(inode->attr.mode))
        return -EISDIR;
    if (inode->is_bad)
        return -EIO;
    file->uses++;
    int error = 0;
    if (sim_connection.auto_inval_data || (uint64_t)offset + size > inode->attr.size)
        error = sim_walk_refresh(process, inode, sim_file_handle(file));
    ssize_t got = error ? error
                        : sim_pages_read(process, inode, file->fh, &file->ahead, bytes, size,
                                         (uint64_t)offset);
    sim_file_release(file);
    return got;
}

ssize_t sim_sys_getdents(struct sim_process *process, int fd, struct sim_entry *out, size_t count)
{
    struct sim_file *file = sim_file_find(fd);
    if (!file || !file->is_directory)
        return file ? -ENOTDIR : -EBADF;
    struct sim_inode *inode = file->dentry->inode;
    if (inode->is_bad)
        return -EIO;
    file->uses++;
    sim_lock_take(&file->position_lock, true, process, "waits for another reader of its directory");
    sim_lock_take(&inode->lock, false, process, "waits for the lock of a directory");
    ssize_t got = sim_file_read_entries(process, file, out, count, count * ENTRY_BYTES);
    sim_lock_release(&inode->lock);
    sim_lock_release(&file->position_lock);
    sim_file_release(file);
    return got;
}

int sim_sys_seekdir(struct sim_process *process, int fd, int64_t cookie)
{
    struct sim_file *file = sim_file_find(fd);
    if (!file || !file->is_directory || cookie < 0)
        return file ? -EINVAL : -EBADF;
    file->uses++;
    sim_lock_take(&file->position_lock, true, process, "waits for another reader of its directory");
    file->position = (uint64_t)cookie;
    sim_lock_release(&file->position_lock);
    sim_file_release(file);
    return 0;
}

int sim_sys_close(struct sim_process *process, int fd)
{
    struct sim_file *file = sim_file_find(fd);
    if (!file)
        return -EBADF;
    sim_file_forget_number(file);
    sim_file_flush(process, file);
    sim_file_release(file);
    return 0;
}

/* Writes: the mount is read-only, so that none of them is a request of its own. */

static int sim_sys_refuse_at(struct sim_process *process, struct sim_dentry *dentry, void *arg)
{
    bool is_truncate = arg != NULL;
    (void)process;
    if (is_truncate && !S_ISREG(dentry->inode->attr.mode))
        return S_ISDIR(dentry->inode->attr.mode) ? -EISDIR : -EINVAL;
    return -EROFS;
}

static int sim_sys_refuse_in_parent(struct sim_process *process, const char *path)
{
    struct sim_dentry *parent;
    struct sim_walk walk = {.process = process, .wants_parent = true};
    int error = sim_walk_path(&walk, path, &parent);
    if (error)
        return error;
    error = S_ISDIR(parent->inode->attr.mode) ? -EROFS : -ENOTDIR;
    sim_dentry_release(parent);
    return error;
}

int sim_sys_write_attempt(struct sim_process *process, const char *path, unsigned kind)
{
    static char is_truncate;
    char *name;
    int error;
    switch (kind % 6) {
    case 0: /* open for writing */
    case 4: /* chmod */
        return sim_sys_at(process, path, true, sim_sys_refuse_at, NULL);
    case 3:
        return sim_sys_at(process, path, true, sim_sys_refuse_at, &is_truncate);
    case 2: /* a directory of a name that is never found: it is looked up */
        name = sim_printf("%s/.new-directory", path);
        error = sim_sys_at(process, name, false, sim_sys_refuse_at, NULL);
        sim_free(name);
        return error == -ENOENT ? -EROFS : error;
    default: /* unlink, rename */
        return sim_sys_refuse_in_parent(process, path);
    }
}
