#include "fs/mount/ops.h"

#include <errno.h>

#include "core/tree/entries.h"
#include "fs/mount/control.h"
#include "fs/mount/directory.h"
#include "fs/mount/journal.h"
#include "fs/mount/parked.h"
#include "fs/mount/refresh.h"

static struct mount *mount_of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

static struct directory *directory_of(const struct fuse_file_info *info)
{
    return (struct directory *)(uintptr_t)info->fh;
}

/* Whole listings come with attributes, always; the rest is what the kernel does by itself. */
static void op_init(void *arg, struct fuse_conn_info *connection)
{
    (void)arg;
    connection->want |= connection->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS);
    connection->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA);
}

/* What was found in a directory that can't be listed is shown there from now on. */
static void remember(const struct mount *mount, struct node *directory, struct span name,
                     bool is_directory)
{
    if (directory && directory->place && entries_unlisted(directory->place))
        nodes_remember(mount->nodes, directory, name, is_directory, mount_now_ms(mount));
}

/* The kernel learns of NODE, pinned by the caller; NULL when there was no memory for it. */
static void give_node(fuse_req_t req, struct node *node, int64_t ttl_ms)
{
    struct mount *mount = mount_of(req);
    if (node)
        reply_entry(req, mount, node, ttl_ms);
    else
        fuse_reply_err(req, ENOMEM);
    nodes_unpin(mount->nodes, node);
}

static void answer_lookup(struct parked *parked, fuse_req_t req, const struct tree_file *file)
{
    struct mount *mount = parked->mount;
    struct node *parent = parked->node;
    struct node_file made = {file->bytes, file->secret, file->mtime_ms};
    remember(mount, parent, parked->name, false);
    remember(mount, parent->parent, parent->name, true);
    give_node(req, nodes_file(mount->nodes, parent, parked->name, &made), file->ttl_left_ms);
}

static bool is_control(const struct node *node)
{
    return node->directory && !node->place;
}

static void look_up_control_file(fuse_req_t req, struct node *parent, struct span name)
{
    struct mount *mount = mount_of(req);
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    if (!control_write(mount, name, &bytes)) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    struct node_file made = {.bytes = buf_span(&bytes)};
    give_node(req, nodes_file(mount->nodes, parent, name, &made), 0);
}

/* Below /.ddbfs/refresh stands the whole tree once more; looking up "@now" in one of its
 * directories drops what is known of the path. */
static void look_up_refresh(fuse_req_t req, struct node *parent, struct span name)
{
    struct mount *mount = mount_of(req);
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (!span_is(name, CONTROL_NOW)) {
        give_node(req, nodes_directory(mount->nodes, parent, name, NULL), 0);
        return;
    }
    nodes_path(parent, span_text(""), &path);
    struct span rest = span_from(buf_span(&path), sizeof("/" CONTROL_NAME "/" CONTROL_REFRESH) - 1);
    refresher_drop(mount->refresher, rest.size ? rest : span_text("/"), req);
}

static void look_up_control(fuse_req_t req, struct node *parent, struct span name)
{
    struct nodes *nodes = mount_of(req)->nodes;
    if (!parent->parent)
        give_node(req, nodes_directory(nodes, parent, name, NULL), MAP_STRUCTURE_TTL_MS);
    else if (parent->parent->parent || span_is(parent->name, CONTROL_REFRESH))
        look_up_refresh(req, parent, name);
    else if (span_is(name, CONTROL_REFRESH))
        give_node(req, nodes_directory(nodes, parent, name, NULL), 0);
    else
        look_up_control_file(req, parent, name);
}

static void look_up_file(fuse_req_t req, struct node *parent, struct span name, struct place *place)
{
    pid_t pid = fuse_req_ctx(req)->pid;
    int slow_failure = parked_slow_failure(mount_of(req), parent, name, pid);
    if (slow_failure) {
        place_destroy(place);
        fuse_reply_err(req, slow_failure);
        return;
    }
    struct parked wanted = {.node = parent,
                            .place = place,
                            .name = name,
                            .answer = answer_lookup,
                            .fail = reply_lookup_error};
    parked_start(mount_of(req), req, &wanted);
}

/* A listing that is fresh knows its records whole. The kernel may have let go of them before. */
static bool look_up_listed(fuse_req_t req, struct node *parent, struct span name)
{
    int64_t ttl_left_ms;
    struct node *node = directory_told(parent, name, &ttl_left_ms);
    if (!node)
        return false;
    nodes_pin(node);
    give_node(req, node, ttl_left_ms);
    return true;
}

/* What the map alone says: it may be read again, and a secret that is withheld needs a reason. */
static void refuse_lookup(fuse_req_t req, struct node *parent, struct span name, struct error *why)
{
    struct mount *mount = mount_of(req);
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    why->ttl_left_ms = MAP_MISSING_TTL_MS;
    if (why->kind != ERROR_NOT_FOUND) {
        nodes_path(parent, name, &path);
        journal_error(mount->journal, fuse_req_ctx(req)->pid, buf_span(&path),
                      reply_errno(why->kind), why);
    }
    reply_lookup_error(req, why);
}

static void op_lookup(fuse_req_t req, fuse_ino_t ino, const char *text)
{
    struct error why;
    struct mount *mount = mount_of(req);
    struct span name = span_text(text);
    struct node *parent = nodes_find(mount->nodes, ino);
    if (!parent || !parent->directory) {
        fuse_reply_err(req, parent ? ENOTDIR : ESTALE);
        return;
    }
    if (name.size > NAME_MAX_BYTES) { /* the kernel's own limit is higher */
        fuse_reply_err(req, ENAMETOOLONG);
        return;
    }
    if (is_control(parent) || (!parent->parent && span_is(name, CONTROL_NAME))) {
        look_up_control(req, parent, name);
        return;
    }
    if (look_up_listed(req, parent, name))
        return;
    struct place *place = place_child(parent->place, name, &mount->app->tree.names, &why);
    if (!place)
        refuse_lookup(req, parent, name, &why);
    else if (place_is_directory(place))
        give_node(req, nodes_directory(mount->nodes, parent, name, place), MAP_STRUCTURE_TTL_MS);
    else
        look_up_file(req, parent, name, place);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
    nodes_forget(mount_of(req)->nodes, ino, lookups);
    fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
    for (size_t i = 0; i < count; i++)
        nodes_forget(mount_of(req)->nodes, forgets[i].ino, forgets[i].nlookup);
    fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)info;
    struct stat stat;
    struct mount *mount = mount_of(req);
    const struct node *node = nodes_find(mount->nodes, ino);
    if (!node) {
        fuse_reply_err(req, ESTALE);
        return;
    }
    reply_fill_stat(mount, node, &stat);
    /* Inodes never change. The root alone is asked for again, so that whoever looks at a mountpoint
     * to see whether the mount is well learns of its death. */
    fuse_reply_attr(req, &stat, node->parent ? 1e9 : 1);
}

/* Inodes never change, so the kernel needs nobody to open them: asked once, never again. */
static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)ino;
    (void)info;
    fuse_reply_err(req, ENOSYS);
}

/* The bytes had been dropped. If the record has changed since, its old version is gone. */
static void answer_read(struct parked *parked, fuse_req_t req, const struct tree_file *file)
{
    if (nodes_restore(parked->mount->nodes, parked->node, file->bytes))
        reply_bytes(req, file->bytes, parked->size, parked->offset);
    else
        fuse_reply_err(req, ESTALE);
}

static void fail_read(fuse_req_t req, const struct error *err)
{
    fuse_reply_err(req, err->kind == ERROR_NOT_FOUND ? ESTALE : reply_errno(err->kind));
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    (void)info;
    struct span bytes;
    struct error why;
    struct mount *mount = mount_of(req);
    struct node *node = nodes_find(mount->nodes, ino);
    if (!node || node->directory) {
        fuse_reply_err(req, node ? EISDIR : ESTALE);
        return;
    }
    if (nodes_content(mount->nodes, node, &bytes)) {
        reply_bytes(req, bytes, size, offset);
        return;
    }
    struct place *place = node->parent->place ? place_child(node->parent->place, node->name,
                                                            &mount->app->tree.names, &why)
                                              : NULL;
    if (!place || place_is_directory(place)) { /* another map has been read since */
        place_destroy(place);
        fuse_reply_err(req, ESTALE);
        return;
    }
    struct parked wanted = {.node = node,
                            .place = place,
                            .size = size,
                            .offset = offset,
                            .answer = answer_read,
                            .fail = fail_read};
    parked_start(mount, req, &wanted);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    struct mount *mount = mount_of(req);
    struct node *node = nodes_find(mount->nodes, ino);
    if (!node || !node->directory) {
        fuse_reply_err(req, node ? ENOTDIR : ESTALE);
        return;
    }
    struct directory *directory = directory_open(mount, node);
    if (!directory) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    if (node->parent && node->place)
        remember(mount, node->parent, node->name, true);
    info->fh = (uintptr_t)directory;
    if (fuse_reply_open(req, info) != 0)
        directory_close(directory);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                           struct fuse_file_info *info)
{
    (void)ino;
    directory_read(directory_of(info), req, size, offset);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)ino;
    directory_close(directory_of(info));
    fuse_reply_err(req, 0);
}

/* Some programs take a file system of no size at all for a broken one, and who watches disks raises
 * an alarm when one is full: made-up numbers, all of them free. */
static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
    (void)ino;
    enum { BLOCKS = 1 << 20 };
    struct statvfs stat = {
        .f_bsize = 4096,
        .f_frsize = 4096,
        .f_blocks = BLOCKS,
        .f_bfree = BLOCKS,
        .f_bavail = BLOCKS,
        .f_files = BLOCKS,
        .f_ffree = BLOCKS,
        .f_favail = BLOCKS,
        .f_namemax = NAME_MAX_BYTES,
        .f_flag = ST_RDONLY,
    };
    fuse_reply_statfs(req, &stat);
}

const struct fuse_lowlevel_ops ops = {
    .init = op_init,
    .lookup = op_lookup,
    .forget = op_forget,
    .forget_multi = op_forget_multi,
    .getattr = op_getattr,
    .open = op_open,
    .read = op_read,
    .opendir = op_opendir,
    .readdirplus = op_readdirplus,
    .releasedir = op_releasedir,
    .statfs = op_statfs,
};
