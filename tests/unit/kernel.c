/* Libfuse's replies are replaced here by ones that take notes. */
#include "tests/unit/kernel.h"

#include <errno.h>
#include <fcntl.h>

#include "fs/mount/account.h"
#include "fs/mount/changes.h"
#include "fs/mount/control.h"
#include "fs/mount/failures.h"
#include "fs/mount/journal.h"
#include "fs/mount/open_listing.h"
#include "fs/mount/parked.h"
#include "fs/mount/read_ahead.h"
#include "tests/unit/check.h"

static struct kernel *the_kernel;

void *fuse_req_userdata(fuse_req_t req)
{
    return req->mount;
}

const struct fuse_ctx *fuse_req_ctx(fuse_req_t req)
{
    return &req->context;
}

int fuse_req_interrupted(fuse_req_t req)
{
    (void)req;
    return 0;
}

void fuse_req_interrupt_func(fuse_req_t req, fuse_interrupt_func_t func, void *data)
{
    req->interrupt = func;
    req->interrupt_arg = data;
}

static int replied(fuse_req_t req, int error)
{
    req->replies++;
    req->error = error;
    return the_kernel->outcome;
}

int fuse_reply_err(fuse_req_t req, int error)
{
    return replied(req, error);
}

void fuse_reply_none(fuse_req_t req)
{
    replied(req, 0);
}

int fuse_reply_entry(fuse_req_t req, const struct fuse_entry_param *entry)
{
    req->entry = *entry;
    return replied(req, entry->ino ? 0 : ENOENT);
}

int fuse_reply_buf(fuse_req_t req, const char *bytes, size_t size)
{
    buf_add(&req->bytes, bytes, size);
    return replied(req, 0);
}

int fuse_reply_open(fuse_req_t req, const struct fuse_file_info *info)
{
    req->handle = info->fh;
    return replied(req, 0);
}

size_t fuse_add_direntry_plus(fuse_req_t req, char *bytes, size_t room, const char *name,
                              const struct fuse_entry_param *entry, off_t next)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    buf_printf(&line, "%s %llu %o\n", name, (unsigned long long)entry->ino, entry->attr.st_mode);
    if (line.size <= room) {
        memcpy(bytes, line.data, line.size);
        req->next = next;
    }
    return line.size;
}

void kernel_mount(struct kernel *kernel, struct scene *scene)
{
    *kernel = (struct kernel){.scene = scene};
    options_init(&kernel->options);
    kernel->app = (struct app){
        .options = &kernel->options,
        .log = {LOG_LEVEL_ERROR, NULL, NULL},
        .map = scene->map,
        .loop = scene->loop,
        .cache = scene->cache,
        .tree = scene->tree,
    };
    struct mount *mount = &kernel->mount;
    mount->app = &kernel->app;
    mount->budget.limit = 1 << 20;
    mount->nodes = nodes_new(place_root(scene->map), &mount->budget);
    mount->listings = listings_new(mount);
    mount->changes = changes_new(mount);
    mount->failures = failures_new();
    mount->recent = recent_paths_new();
    mount->journal = journal_new(&scene->clock.clock, "/nowhere");
    struct error why;
    CHECK(accounts_open(mount, NULL, &why));
    mount->ahead = read_ahead_new(mount);
    CHECK(mount->nodes && mount->listings && mount->changes && mount->failures && mount->recent &&
          mount->journal && mount->ahead);
    the_kernel = kernel;
}

void kernel_unmount(struct kernel *kernel)
{
    struct mount *mount = &kernel->mount;
    parked_end_all(mount, ENOTCONN);
    changes_destroy(mount->changes);
    listings_destroy(mount->listings, ENOTCONN);
    accounts_leave_loop(mount);
    read_ahead_destroy(mount->ahead);
    nodes_destroy(mount->nodes);
    failures_destroy(mount->failures);
    recent_paths_destroy(mount->recent);
    journal_destroy(mount->journal);
    CHECK(list_is_empty(&mount->accounts));
    accounts_close(mount);
    while (kernel->newest) {
        struct fuse_req *req = kernel->newest;
        kernel->newest = req->older;
        buf_clean_up(&req->bytes);
        CHECK_INT(req->replies, 1);
        free(req);
    }
}

static struct fuse_req *request(struct kernel *kernel)
{
    struct fuse_req *req = calloc(1, sizeof *req);
    CHECK(req);
    req->mount = &kernel->mount;
    req->context = (struct fuse_ctx){.pid = KERNEL_CALLER};
    req->older = kernel->newest;
    kernel->newest = req;
    return req;
}

struct fuse_req *kernel_look_up(struct kernel *kernel, uint64_t parent, const char *name)
{
    struct fuse_req *req = request(kernel);
    mount_ops.lookup(req, parent, name);
    return req;
}

struct fuse_req *kernel_read(struct kernel *kernel, uint64_t ino)
{
    struct fuse_req *req = request(kernel);
    mount_ops.read(req, ino, 1 << 16, 0, NULL);
    return req;
}

struct fuse_req *kernel_opendir(struct kernel *kernel, uint64_t ino)
{
    struct fuse_req *req = request(kernel);
    struct fuse_file_info info = {.flags = O_DIRECTORY};
    mount_ops.opendir(req, ino, &info);
    return req;
}

struct fuse_req *kernel_readdir(struct kernel *kernel, uint64_t handle, size_t size, off_t offset)
{
    struct fuse_req *req = request(kernel);
    struct fuse_file_info info = {.fh = handle};
    req->next = offset;
    mount_ops.readdirplus(req, 0, size, offset, &info);
    return req;
}

void kernel_releasedir(struct kernel *kernel, uint64_t handle)
{
    struct fuse_file_info info = {.fh = handle};
    mount_ops.releasedir(request(kernel), 0, &info);
}

void kernel_forget(struct kernel *kernel, uint64_t ino, uint64_t lookups)
{
    mount_ops.forget(request(kernel), ino, lookups);
}

void kernel_interrupt(struct fuse_req *req)
{
    CHECK(req->replies == 0 && req->interrupt);
    req->interrupt(req, req->interrupt_arg);
}

struct fuse_req *kernel_walk(struct kernel *kernel, const char *path)
{
    struct span rest = span_text(path), name;
    struct fuse_req *req = NULL;
    uint64_t ino = FUSE_ROOT_ID;
    while (place_next_segment(&rest, &name)) {
        char text[256];
        snprintf(text, sizeof text, "%.*s", (int)name.size, name.data);
        req = kernel_look_up(kernel, ino, text);
        loop_run(kernel->scene->loop);
        CHECK_INT(req->replies, 1);
        ino = req->entry.ino;
    }
    return req;
}
