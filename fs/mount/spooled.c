#include "fs/mount/spooled.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "core/base/spool.h"
#include "fs/mount/journal.h"
#include "fs/mount/refresh.h"
#include "fs/mount/start.h"

enum { ROUND_MS = 5 * 1000 };
#define SPOOLED_MOST_BYTES ((uint64_t)8 << 30) /* unless --spool-size states another limit */

struct spooled_file {
    struct list_node list_node;
    uint64_t ino;
    int64_t until_ms;  /* the name is valid until then */
    bool is_forgotten; /* by the kernel; a program has the file open */
};

struct spooled {
    struct mount *mount;       /* borrowed */
    char *folder;              /* owned; NULL: none */
    struct spool_limit *limit; /* owned */
    struct list files; /* of struct spooled_file, owned: also of inodes that are gone since */
    struct loop_timer *timer;
};

static bool spooled_try_folder(struct spooled *spooled, const char *folder, struct error *err)
{
    char *path = start_absolute_path(folder);
    if (!path)
        return error_no_memory(err);
    struct spool *trial = spool_new(path, NULL, err);
    spool_unref(trial);
    if (trial)
        spooled->folder = path;
    else
        free(path);
    return trial;
}

/* XDG demands an absolute path, and another one to be ignored. */
static void spooled_find_folder(struct spooled *spooled)
{
    struct error why;
    const char *cache = getenv("XDG_CACHE_HOME");
    if ((!cache || cache[0] != '/' || !spooled_try_folder(spooled, cache, &why)) &&
        !spooled_try_folder(spooled, "/var/tmp", &why))
        log_line(&spooled->mount->app->log, LOG_LEVEL_WARNING,
                 "files of listings are limited to a quarter of --cache-size: %s", why.text);
}

/* The smaller of 8 GB and half of the free space. */
static uint64_t spooled_default_bytes(const char *folder)
{
    struct statvfs disk;
    uint64_t half = UINT64_MAX;
    if (folder && statvfs(folder, &disk) == 0)
        half = (uint64_t)disk.f_bavail * disk.f_frsize / 2;
    return half < SPOOLED_MOST_BYTES ? half : SPOOLED_MOST_BYTES;
}

struct spooled *spooled_new(struct mount *mount, const char *wanted, struct error *err)
{
    struct spooled *spooled = calloc(1, sizeof *spooled);
    if (!spooled) {
        error_no_memory(err);
        return NULL;
    }
    spooled->mount = mount;
    signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files is an error of the write */
    if (!wanted)
        spooled_find_folder(spooled);
    else if (strcmp(wanted, "no") != 0 && !spooled_try_folder(spooled, wanted, err)) {
        free(spooled);
        return NULL;
    }
    uint64_t most = mount->app->options->spool_bytes;
    spooled->limit = spool_limit_new(most ? most : spooled_default_bytes(spooled->folder));
    if (!spooled->limit) {
        error_no_memory(err);
        free(spooled->folder);
        free(spooled);
        return NULL;
    }
    mount->app->tree.spool = spooled->folder;
    mount->app->tree.spool_limit = spooled->limit;
    return spooled;
}

static void spooled_drop(struct spooled_file *file)
{
    list_remove(&file->list_node);
    free(file);
}

void spooled_destroy(struct spooled *spooled)
{
    if (!spooled)
        return;
    loop_remove_timer(spooled->timer);
    while (!list_is_empty(&spooled->files))
        spooled_drop(LIST_FIRST(&spooled->files, struct spooled_file, list_node));
    spooled->mount->app->tree.spool = NULL;
    spooled->mount->app->tree.spool_limit = NULL;
    spool_limit_unref(spooled->limit);
    free(spooled->folder);
    free(spooled);
}

/* The next round repeats it. */
static void spooled_on_refused(void *arg, uint64_t ino)
{
    struct spooled *spooled = arg;
    LIST_EACH (struct spooled_file, file, &spooled->files, list_node)
        if (file->ino == ino)
            file->is_forgotten = false;
}

/* If the kernel does not forget a name now, the next round repeats it. */
static void spooled_on_timer(void *arg)
{
    struct spooled *spooled = arg;
    struct mount *mount = spooled->mount;
    spooled->timer = NULL;
    LIST_EACH_SAFE (struct spooled_file, file, &spooled->files, list_node) {
        const struct node *node = nodes_find(mount->nodes, file->ino);
        if (!node)
            spooled_drop(file);
        else if (mount_now_ms(mount) >= file->until_ms && !file->is_forgotten)
            file->is_forgotten = refresh_forget(mount->refresh, node, spooled_on_refused, spooled);
    }
    if (!list_is_empty(&spooled->files))
        spooled->timer = loop_add_timer(mount->app->loop, ROUND_MS, spooled_on_timer, spooled);
}

/* The file of NODE; NULL: none. The name is NODE's now, and no longer that of an older version. */
static struct spooled_file *spooled_find(struct spooled *spooled, const struct node *node)
{
    struct spooled_file *found = NULL;
    LIST_EACH (struct spooled_file, file, &spooled->files, list_node) {
        const struct node *each = nodes_find(spooled->mount->nodes, file->ino);
        if (each == node)
            found = file;
        else if (each && each->parent == node->parent &&
                 span_equal(node_name(each), node_name(node)))
            file->is_forgotten = true;
    }
    return found;
}

/* Without memory for it the name stays until the kernel forgets it by itself. */
void spooled_note(struct spooled *spooled, const struct node *node, int64_t ttl_ms)
{
    struct mount *mount = spooled->mount;
    struct spooled_file *file = spooled_find(spooled, node);
    if (!file) {
        file = calloc(1, sizeof *file);
        if (!file)
            return;
        file->ino = node->ino;
        list_prepend(&spooled->files, &file->list_node);
    }
    file->until_ms = mount_now_ms(mount) + ttl_ms;
    file->is_forgotten = false;
    if (!spooled->timer)
        spooled->timer = loop_add_timer(mount->app->loop, ROUND_MS, spooled_on_timer, spooled);
}

void spooled_reply(struct spooled *spooled, fuse_req_t req, const struct node *node, size_t size,
                   uint64_t offset)
{
    struct error why;
    struct mount *mount = spooled->mount;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    char *bytes = malloc(size ? size : 1);
    if (!bytes) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    ssize_t got = spool_read(nodes_spool(node), bytes, size, offset);
    if (got >= 0) {
        fuse_reply_buf(req, bytes, (size_t)got);
    } else {
        error_set(&why, ERROR_SERVICE,
                  "the temporary file in %s can't be read: %s; check the disk, and open the file "
                  "again",
                  spooled->folder, strerror(errno));
        nodes_path(node, span_text(""), &path);
        journal_error(mount->journal, fuse_req_ctx(req)->pid, buf_span(&path), EIO, &why);
        fuse_reply_err(req, EIO);
    }
    free(bytes);
}
