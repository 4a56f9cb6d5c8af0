/* The FUSE operations: find the node, read the tree, reply. */
#include "fs/mount/mount.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "core/read/resolve.h"
#include "fs/mount/account.h"
#include "fs/mount/changes.h"
#include "fs/mount/control.h"
#include "fs/mount/journal.h"
#include "fs/mount/open_listing.h"
#include "fs/mount/parked.h"
#include "fs/mount/read_ahead.h"
#include "fs/mount/refresh.h"
#include "fs/mount/spooled.h"

static struct mount *ops_mount_of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

static struct open_listing *ops_listing_of(const struct fuse_file_info *info)
{
    return (struct open_listing *)(uintptr_t)info->fh;
}

/* Listings always have attributes, inodes never change, and the kernel caches the targets of links.
 */
static void ops_init(void *arg, struct fuse_conn_info *connection)
{
    (void)arg;
    connection->want |= connection->capable &
                        (FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_CACHE_SYMLINKS);
    connection->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA);
}

/* Replies with NODE, whose pin is taken; NULL: memory ran out. */
static void ops_reply_node(fuse_req_t req, struct node *node, int64_t ttl_ms)
{
    struct mount *mount = ops_mount_of(req);
    if (node)
        reply_entry(req, mount, node, ttl_ms);
    else
        fuse_reply_err(req, ENOMEM);
    nodes_unpin(mount->nodes, node);
}

/* The bytes of `@info` belong to one response and cannot be read again; the target of a link is
 * never read again. */
static struct node_file ops_file_of(const struct place *place, const struct tree_file *file)
{
    return (struct node_file){
        .kind = place->kind == PLACE_LINK ? NODE_LINK : NODE_FILE,
        .bytes = file->bytes,
        .spool = file->spool,
        .keep = place->kind == PLACE_INFO || place->kind == PLACE_LIST_INFO ||
                place->kind == PLACE_LINK || place->companion == COMPANION_INFO,
        .secret = file->secret,
        .mtime = file->mtime,
    };
}

static void ops_reply_lookup_file(struct parked *parked, fuse_req_t req,
                                  const struct tree_file *file)
{
    struct mount *mount = parked->mount;
    struct node *parent = parked->node;
    struct node_file made = ops_file_of(parked->place, file);
    int64_t hold_ms = tree_hold_ms(&mount->app->tree, parked->place, file->ttl_left_ms);
    if (parked->place->kind != PLACE_README) /* the README is listed everywhere */
        recent_paths_note(mount, parent, parked->name);
    recent_paths_note(mount, parent->parent, node_name(parent));
    struct node *node = nodes_file(mount->nodes, parent, parked->name, &made);
    if (node && nodes_spool(node))
        spooled_note(mount->spooled, node, hold_ms);
    ops_reply_node(req, node, hold_ms);
}

static void ops_look_up_control_file(fuse_req_t req, struct node *parent, struct span name)
{
    struct mount *mount = ops_mount_of(req);
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    accounts_identify(mount); /* some of these files name programs */
    if (!control_write(mount, name, &bytes)) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    struct node_file made = {
        .kind = NODE_CONTROL_FILE, .bytes = buf_span(&bytes), .keep = true, .secret = true};
    ops_reply_node(req, nodes_file(mount->nodes, parent, name, &made), 0);
}

/* Below /.ddbfs/refresh is a mirror of the tree; the look-up of "@now" in one of its directories
 * refreshes the path. */
static void ops_look_up_refresh(fuse_req_t req, struct node *parent, struct span name)
{
    struct mount *mount = ops_mount_of(req);
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(parent, span_text(""), &path);
    if (path.failed || path.size + name.size > PATH_MAX) { /* a bound for the mirror */
        fuse_reply_err(req, path.failed ? ENOMEM : ENAMETOOLONG);
        return;
    }
    if (!span_is(name, CONTROL_NOW)) {
        ops_reply_node(req, nodes_directory(mount->nodes, parent, name, NODE_REFRESH, NULL), 0);
        return;
    }
    struct span rest = span_from(buf_span(&path), sizeof("/" CONTROL_NAME "/" CONTROL_REFRESH) - 1);
    refresh_path(mount->refresh, rest.size ? rest : span_text("/"), req);
}

static void ops_reply_directory(fuse_req_t req, struct node *parent, struct span name,
                                struct place *place)
{
    struct mount *mount = ops_mount_of(req);
    int64_t ttl_ms = tree_structure_ttl_ms(&mount->app->tree, place);
    ops_reply_node(req, nodes_directory(mount->nodes, parent, name, NODE_DIRECTORY, place), ttl_ms);
}

static void ops_reply_parked_directory(struct parked *parked, fuse_req_t req, struct place *place)
{
    if (place->kind == PLACE_CHANGES)
        changes_look_up(parked->mount->changes, req, parked->node, place, parked->waiting.since_ms);
    else
        ops_reply_directory(req, parked->node, parked->name, place);
}

/* A fresh listing has whole items, also after the kernel has forgotten them. */
static bool ops_look_up_listed(fuse_req_t req, struct node *parent, struct span name)
{
    int64_t ttl_left_ms;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct node *node = open_listing_find(parent, name, &ttl_left_ms);
    if (!node)
        return false;
    nodes_path(parent, name, &path);
    if (!path.failed)
        account_note_cached(ops_mount_of(req), fuse_req_ctx(req)->pid, buf_span(&path),
                            node_place(parent));
    nodes_pin(node);
    ops_reply_node(req, node, ttl_left_ms);
    return true;
}

/* Whether NAME in PARENT is of the past. Then a name that is not found has a reason worth reading:
 * the times that there are. */
static bool ops_is_of_past(struct node *parent, struct span name)
{
    const struct place *place = node_place(parent);
    bool at =
        place && place->kind == PLACE_ROOT && span_ends(name, SPAN_LITERAL(PLACE_TIMES_ENDING));
    bool history = span_ends(name, span_text(companion_ending(COMPANION_HISTORY)));
    return at || history || (place && place->kind == PLACE_TIMES && !names_is_probed(name));
}

/* An error of the map. It has a TTL, because the map may be read again. */
static void ops_reply_map_error(fuse_req_t req, struct node *parent, struct span name,
                                struct error *why)
{
    struct mount *mount = ops_mount_of(req);
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    why->ttl_left_ms = MAP_MISSING_TTL_MS;
    if (why->kind != ERROR_NOT_FOUND || ops_is_of_past(parent, name)) {
        nodes_path(parent, name, &path);
        journal_error(mount->journal, fuse_req_ctx(req)->pid, buf_span(&path),
                      error_errno(why->kind), why);
    }
    reply_lookup_error(req, why);
}

/* The map resolves the name at once, except for tables that the service must describe first. */
static void ops_look_up_in_map(fuse_req_t req, struct node *parent, struct span name)
{
    struct error why;
    struct mount *mount = ops_mount_of(req);
    struct place *place = NULL;
    if (ops_look_up_listed(req, parent, name))
        return;
    bool is_known = tree_resolve_now(&mount->app->tree, node_place(parent), name, &place, &why);
    if (is_known && !place) {
        ops_reply_map_error(req, parent, name, &why);
        return;
    }
    if (is_known && place_is_directory(place)) {
        ops_reply_directory(req, parent, name, place);
        return;
    }
    if (is_known && place->kind == PLACE_CHANGES) {
        changes_look_up(mount->changes, req, parent, place, mount_now_ms(mount));
        return;
    }
    struct parked wanted = {.node = parent,
                            .place = place,
                            .name = name,
                            .reply_file = ops_reply_lookup_file,
                            .reply_directory = ops_reply_parked_directory,
                            .reply_error = reply_lookup_error};
    parked_start(mount, req, &wanted);
}

static void ops_lookup(fuse_req_t req, fuse_ino_t ino, const char *text)
{
    struct nodes *nodes = ops_mount_of(req)->nodes;
    struct span name = span_text(text);
    struct node *parent = nodes_find(nodes, ino);
    if (!parent) {
        fuse_reply_err(req, ESTALE);
        return;
    }
    if (name.size > NAME_MAX_BYTES) { /* the kernel's own limit is higher */
        fuse_reply_err(req, ENAMETOOLONG);
        return;
    }
    /* The kernel may not check modes in a mount that another process made. */
    uid_t caller = fuse_req_ctx(req)->uid;
    if ((parent->kind == NODE_CONTROL || parent->kind == NODE_REFRESH) && caller != 0 &&
        caller != getuid() && caller != ops_mount_of(req)->uid) {
        fuse_reply_err(req, EACCES);
        return;
    }
    switch (parent->kind) {
    case NODE_DIRECTORY:
        if (!parent->parent && span_is(name, CONTROL_NAME))
            ops_reply_node(req, nodes_directory(nodes, parent, name, NODE_CONTROL, NULL),
                           MAP_STRUCTURE_TTL_MS);
        else
            ops_look_up_in_map(req, parent, name);
        break;
    case NODE_CONTROL:
        if (span_is(name, CONTROL_REFRESH))
            ops_reply_node(req, nodes_directory(nodes, parent, name, NODE_REFRESH, NULL), 0);
        else
            ops_look_up_control_file(req, parent, name);
        break;
    case NODE_REFRESH:
        ops_look_up_refresh(req, parent, name);
        break;
    case NODE_FILE:
    case NODE_LINK:
    case NODE_CONTROL_FILE:
    case NODE_CHANGES:
        fuse_reply_err(req, ENOTDIR);
        break;
    }
}

static void ops_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
    struct mount *mount = ops_mount_of(req);
    nodes_forget(mount->nodes, ino, lookups);
    changes_note_forget(mount->changes, ino);
    fuse_reply_none(req);
}

static void ops_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
    struct mount *mount = ops_mount_of(req);
    for (size_t i = 0; i < count; i++) {
        nodes_forget(mount->nodes, forgets[i].ino, forgets[i].nlookup);
        changes_note_forget(mount->changes, forgets[i].ino);
    }
    fuse_reply_none(req);
}

static void ops_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)info;
    struct stat stat;
    struct mount *mount = ops_mount_of(req);
    struct node *node = nodes_find(mount->nodes, ino);
    if (!node) {
        fuse_reply_err(req, ESTALE);
        return;
    }
    bool grows = node->kind == NODE_CHANGES;
    if (grows)
        changes_measure(mount->changes, node);
    reply_fill_stat(mount, node, &stat);
    /* Other inodes never change. The root's attributes expire, so that a stat of the mountpoint
     * shows the death of the mount. */
    fuse_reply_attr(req, &stat, grows ? 0 : node->parent ? 1e9 : 1);
}

/* Inodes never change, so the kernel may open files by itself: ENOSYS ends these requests. */
static void ops_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)ino;
    (void)info;
    fuse_reply_err(req, ENOSYS);
}

/* The bytes were dropped. If the item has changed since, its old version is gone. */
static void ops_reply_read(struct parked *parked, fuse_req_t req, const struct tree_file *file)
{
    struct node_file read = ops_file_of(parked->place, file);
    if (nodes_restore(parked->mount->nodes, parked->node, &read))
        reply_bytes(req, file->bytes, parked->size, parked->offset);
    else
        fuse_reply_err(req, ESTALE);
}

/* The map has been read again since. */
static void ops_reply_stale_directory(struct parked *parked, fuse_req_t req, struct place *place)
{
    (void)parked;
    place_destroy(place);
    fuse_reply_err(req, ESTALE);
}

static void ops_reply_read_error(fuse_req_t req, const struct error *err)
{
    fuse_reply_err(req, err->kind == ERROR_NOT_FOUND ? ESTALE : error_errno(err->kind));
}

static void ops_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                     struct fuse_file_info *info)
{
    (void)info;
    struct span bytes;
    struct error why;
    struct mount *mount = ops_mount_of(req);
    struct node *node = nodes_find(mount->nodes, ino);
    if (!node || node_is_directory(node)) {
        fuse_reply_err(req, node ? EISDIR : ESTALE);
        return;
    }
    if (node->kind == NODE_CHANGES) {
        changes_reply(mount->changes, req, node, size, offset);
        return;
    }
    if (nodes_spool(node)) {
        spooled_reply(mount->spooled, req, node, size, (uint64_t)offset);
        return;
    }
    if (nodes_content(mount->nodes, node, &bytes)) {
        reply_bytes(req, bytes, size, offset);
        read_ahead_note(mount->ahead, node);
        return;
    }
    struct place *place = NULL;
    bool is_known =
        node->kind == NODE_FILE && tree_resolve_now(&mount->app->tree, node_place(node->parent),
                                                    node_name(node), &place, &why);
    if (node->kind != NODE_FILE || (is_known && (!place || place_is_directory(place)))) {
        place_destroy(place); /* the map has been read again since */
        fuse_reply_err(req, ESTALE);
        return;
    }
    struct parked wanted = {.node = node,
                            .place = place,
                            .size = size,
                            .offset = offset,
                            .reply_file = ops_reply_read,
                            .reply_directory = ops_reply_stale_directory,
                            .reply_error = ops_reply_read_error};
    parked_start(mount, req, &wanted);
}

/* The bytes of a link are absent only if memory ran out. */
static void ops_readlink(fuse_req_t req, fuse_ino_t ino)
{
    struct span bytes;
    struct mount *mount = ops_mount_of(req);
    struct node *node = nodes_find(mount->nodes, ino);
    if (!node || node->kind != NODE_LINK) {
        fuse_reply_err(req, node ? EINVAL : ESTALE);
        return;
    }
    if (nodes_content(mount->nodes, node, &bytes) && bytes.size > 0)
        fuse_reply_readlink(req, bytes.data);
    else
        fuse_reply_err(req, ENOMEM);
}

static void ops_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    struct mount *mount = ops_mount_of(req);
    struct node *node = nodes_find(mount->nodes, ino);
    if (!node || !node_is_directory(node)) {
        fuse_reply_err(req, node ? ENOTDIR : ESTALE);
        return;
    }
    const struct place *own = node_place(node);
    if (own && own->kind == PLACE_PLACEHOLDER) {
        /* the error and its reason say that no listing shows these names */
        struct error why;
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        tree_refuse_placeholder(&mount->app->tree, own, &why);
        nodes_path(node, span_text(""), &path);
        journal_error(mount->journal, fuse_req_ctx(req)->pid, buf_span(&path),
                      error_errno(why.kind), &why);
        fuse_reply_err(req, error_errno(why.kind));
        return;
    }
    open_listing_open(mount->listings, node, req, info);
}

static void ops_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                            struct fuse_file_info *info)
{
    (void)ino;
    open_listing_read(ops_listing_of(info), req, size, offset);
}

static void ops_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)ino;
    open_listing_close(ops_listing_of(info));
    fuse_reply_err(req, 0);
}

/* Some programs consider a file system without a size broken, and monitors raise an alarm when one
 * is full: invented numbers, all of them free. */
static void ops_statfs(fuse_req_t req, fuse_ino_t ino)
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

const struct fuse_lowlevel_ops mount_ops = {
    .init = ops_init,
    .lookup = ops_lookup,
    .forget = ops_forget,
    .forget_multi = ops_forget_multi,
    .getattr = ops_getattr,
    .readlink = ops_readlink,
    .open = ops_open,
    .read = ops_read,
    .opendir = ops_opendir,
    .readdirplus = ops_readdirplus,
    .releasedir = ops_releasedir,
    .statfs = ops_statfs,
};
