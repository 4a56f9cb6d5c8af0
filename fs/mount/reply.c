#include "fs/mount/reply.h"

/* A timeout of zero would make the kernel look up each step of a path again. */
#define LEAST_TIMEOUT 0.1
#define FOR_EVER 1e9

/* Items are for all users that the kernel admits. Secrets, and figures about the programs of users,
 * are for the owner only. */
static mode_t reply_permissions(const struct node *node)
{
    bool owners = node->secret || node->kind == NODE_CONTROL || node->kind == NODE_REFRESH;
    mode_t readable = owners ? S_IRUSR : S_IRUSR | S_IRGRP | S_IROTH;
    if (node->kind == NODE_LINK) /* its permissions are never checked */
        return S_IFLNK | S_IRWXU | S_IRWXG | S_IRWXO;
    mode_t searchable = owners ? S_IXUSR : S_IXUSR | S_IXGRP | S_IXOTH;
    return node_is_directory(node) ? S_IFDIR | readable | searchable : S_IFREG | readable;
}

void reply_fill_stat(const struct mount *mount, const struct node *node, struct stat *out)
{
    struct timespec date = instant_timespec(node->dated ? node->mtime_ms : mount->dated_ms);
    *out = (struct stat){
        .st_ino = node->ino,
        .st_mode = node->kind == NODE_LINK ? reply_permissions(node)
                                           : reply_permissions(node) & ~mount->umask,
        .st_nlink = 1, /* so that find never takes a directory for a leaf */
        .st_uid = mount->uid,
        .st_gid = mount->gid,
        .st_size = (off_t)node->size,
        .st_blksize = 4096,
        .st_blocks = (blkcnt_t)((node->size + 511) / 512),
        .st_atim = date,
        .st_mtim = date,
        .st_ctim = date,
    };
}

void reply_fill_entry(const struct mount *mount, const struct node *node, int64_t ttl_ms,
                      struct fuse_entry_param *out)
{
    double seconds = (double)ttl_ms / 1000;
    *out = (struct fuse_entry_param){
        .ino = node->ino,
        /* An inode never changes, unless it grows: then a program sees each size. */
        .attr_timeout = node->kind == NODE_CHANGES ? 0 : FOR_EVER,
        .entry_timeout = seconds > LEAST_TIMEOUT ? seconds : LEAST_TIMEOUT,
    };
    reply_fill_stat(mount, node, &out->attr);
}

void reply_entry(fuse_req_t req, const struct mount *mount, struct node *node, int64_t ttl_ms)
{
    struct fuse_entry_param entry;
    reply_fill_entry(mount, node, ttl_ms, &entry);
    if (fuse_reply_entry(req, &entry) == 0)
        nodes_look_up(mount->nodes, node);
}

void reply_lookup_error(fuse_req_t req, const struct error *err)
{
    double seconds = (double)err->ttl_left_ms / 1000;
    struct fuse_entry_param missing = {.entry_timeout =
                                           seconds > LEAST_TIMEOUT ? seconds : LEAST_TIMEOUT};
    if (err->kind == ERROR_NOT_FOUND)
        fuse_reply_entry(req, &missing);
    else
        fuse_reply_err(req, error_errno(err->kind));
}

void reply_bytes(fuse_req_t req, struct span bytes, size_t size, off_t offset)
{
    size_t from = offset < 0 || (uint64_t)offset > bytes.size ? bytes.size : (size_t)offset;
    size_t left = bytes.size - from;
    fuse_reply_buf(req, bytes.data + from, left < size ? left : size);
}
