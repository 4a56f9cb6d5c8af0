#include "fs/mount/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/list.h"
#include "core/describe/change_line.h"
#include "core/describe/follow_words.h"
#include "core/read/change_scope.h"
#include "core/read/file.h"
#include "core/sources.h"
#include "core/stream/follower.h"
#include "fs/mount/account.h"
#include "fs/mount/journal.h"
#include "fs/mount/refresh.h"
#include "fs/mount/waiting.h"

/* How long a name is valid after its look-up; and how often a failure that lasts is recorded. */
enum { CHANGES_NAME_MS = 1000, CHANGES_TROUBLE_EACH_MS = 60 * 1000 };

/* After lines were dropped, this part of the memory has lines. */
enum { CHANGES_KEPT_PARTS = 3, CHANGES_PARTS = 4 };

struct changes {
    struct mount *mount; /* borrowed */
    struct list files;   /* of struct changes_file, owned */
    struct loop_timer *timer;
};

/* The changes of one table, as its readers see them. */
struct changes_file {
    struct changes *changes;
    struct list_node node;
    struct node *parent;       /* pinned: the directory of the table */
    struct place *table;       /* owned: the same */
    struct buf path;           /* owned: of the directory */
    struct follower *follower; /* owned */
    struct account *account;   /* a reference: pays for the requests */
    pid_t pid;                 /* of the first reader */
    struct buf text;           /* owned: the lines that are kept */
    uint64_t first;            /* the number of bytes that were dropped before TEXT */
    size_t charged;            /* to the mount's budget, for TEXT */
    struct list views;         /* of struct changes_view, owned */
    struct list waiters;       /* of struct changes_waiter, owned */
    bool is_covered;           /* look-ups get their reply at once */
    bool has_ended;            /* nothing more is added */
    int64_t recorded_ms;       /* the last trouble in the journal; 0: none */
};

/* An inode: the file from a byte of its on. A reader that opens the file after lines were dropped
 * gets another one, so that no offset of an inode ever means another byte. */
struct changes_view {
    struct list_node node;
    uint64_t ino;
    uint64_t base;
    int64_t until_ms;  /* the kernel has the name until then */
    bool is_forgotten; /* the name, by the kernel; a program may have the file open */
};

/* A look-up that waits until the stream is covered. */
struct changes_waiter {
    struct waiting_lookup lookup; /* first: a pointer to it is a pointer to this */
    struct list_node node;
    struct changes_file *file;
};

struct changes *changes_new(struct mount *mount)
{
    struct changes *changes = calloc(1, sizeof *changes);
    if (changes)
        changes->mount = mount;
    return changes;
}

/* The memory of the lines is part of --cache-size. */
static void changes_charge(struct changes_file *file, size_t bytes)
{
    struct budget *budget = &file->changes->mount->budget;
    if (bytes == file->charged)
        return;
    budget_remove(budget, BUDGET_NODES, file->charged);
    file->charged = bytes;
    budget_add(budget, BUDGET_NODES, bytes);
}

static void changes_waiter_free(struct changes_waiter *waiter)
{
    list_remove(&waiter->lookup.node);
    list_remove(&waiter->node);
    free(waiter);
}

static void changes_file_free(struct changes_file *file)
{
    struct mount *mount = file->changes->mount;
    follower_destroy(file->follower);
    while (!list_is_empty(&file->waiters)) {
        struct changes_waiter *waiter = LIST_FIRST(&file->waiters, struct changes_waiter, node);
        waiting_fail(&waiter->lookup.waiting, ENOTCONN);
        changes_waiter_free(waiter);
    }
    while (!list_is_empty(&file->views)) {
        struct changes_view *view = LIST_FIRST(&file->views, struct changes_view, node);
        list_remove(&view->node);
        free(view);
    }
    list_remove(&file->node);
    account_release(file->account);
    place_destroy(file->table);
    changes_charge(file, 0);
    nodes_unpin(mount->nodes, file->parent);
    buf_clean_up(&file->path);
    buf_clean_up_secret(&file->text);
    free(file);
}

/* Releases the stream when neither the kernel nor a look-up needs it. */
static void changes_file_release(struct changes_file *file)
{
    if (list_is_empty(&file->views) && list_is_empty(&file->waiters))
        changes_file_free(file);
}

void changes_destroy(struct changes *changes)
{
    if (!changes)
        return;
    loop_remove_timer(changes->timer);
    LIST_EACH_SAFE (struct changes_file, each, &changes->files, node)
        changes_file_free(each);
    free(changes);
}

/* Lines. */

static void changes_record(struct changes_file *file, const struct error *why)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s/" PLACE_CHANGES_NAME, buf_text(&file->path));
    journal_error(file->changes->mount->journal, file->pid, buf_span(&path), error_errno(why->kind),
                  why);
}

/* Drops whole lines from the front, until KEPT bytes are left, or a little less. */
static void changes_drop(struct changes_file *file, size_t kept)
{
    struct buf *text = &file->text;
    size_t from = text->size - kept;
    const char *end = memchr(text->data + from, '\n', text->size - from);
    from = end ? (size_t)(end - text->data) + 1 : text->size;
    file->first += from;
    memmove(text->data, text->data + from, text->size - from);
    buf_truncate(text, text->size - from);
}

/* Adds LINE. Too many older lines are dropped; without memory for more, the older half. False when
 * that does not suffice. */
static bool changes_add(struct changes_file *file, const struct buf *line)
{
    struct buf *text = &file->text;
    size_t kept = (size_t)CHANGES_MOST_BYTES / CHANGES_PARTS * CHANGES_KEPT_PARTS;
    text->failed = false;
    if (line->failed)
        return false;
    buf_add_span(text, buf_span(line));
    while (text->failed && text->size > 0) {
        text->failed = false;
        changes_drop(file, text->size / 2);
        buf_add_span(text, buf_span(line));
    }
    if (text->size > CHANGES_MOST_BYTES)
        changes_drop(file, kept);
    changes_charge(file, text->capacity);
    return !text->failed;
}

static void changes_add_event(struct changes_file *file, const char *kind, const struct error *why)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct clock *clock = loop_clock(file->changes->mount->app->loop);
    change_line_write_event(kind, clock->wall_ms(clock), buf_span(&file->path), why->text, &line);
    file->text.failed = !changes_add(file, &line); /* then readers get an error */
    changes_record(file, why);
}

/* Nothing more is added, and the reason is the last line; look-ups that wait get it. May free FILE.
 */
static void changes_end(struct changes_file *file, const struct error *why)
{
    file->has_ended = true;
    follower_destroy(file->follower);
    file->follower = NULL;
    changes_add_event(file, "end", why);
    account_finish(file->account, error_errno(why->kind));
    while (!list_is_empty(&file->waiters)) {
        struct changes_waiter *waiter = LIST_FIRST(&file->waiters, struct changes_waiter, node);
        fuse_req_t req = waiting_take(&waiter->lookup.waiting);
        changes_waiter_free(waiter);
        if (req)
            reply_lookup_error(req, why);
    }
    changes_file_release(file);
}

/* False if an image is no typed item. Without memory OUT has failed. */
static bool changes_write_line(const struct changes_file *file, const struct change *change,
                               struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    const struct tree *tree = &file->changes->mount->app->tree;
    bool exists = json_present(change->after), existed = json_present(change->before);
    struct change_image image = {exists    ? change->after
                                 : existed ? change->before
                                           : change->keys,
                                 exists || existed};
    buf_printf(&path, "%s/", buf_text(&file->path));
    bool is_named = change_scope_write_path(file->table, &tree->names, &image, &path);
    struct change_line line = {.change = change,
                               .path = is_named ? buf_span(&path) : span_text("")};
    file_view(tree, file->table->table, first, &line.view);
    line.view.compact = true;
    bool is_typed = change_line_write_json(&line, out) || out->failed;
    out->failed = out->failed || path.failed;
    return is_typed;
}

static void changes_take(void *arg, const struct change *changes, size_t count)
{
    struct changes_file *file = arg;
    for (size_t i = 0; i < count; i++) {
        CLEAN_UP(buf_clean_up_secret) struct buf line = {0};
        struct error why;
        bool is_typed = changes_write_line(file, &changes[i], &line);
        if (is_typed && changes_add(file, &line))
            continue; /* else: no line may be missing in silence */
        if (is_typed)
            error_no_memory(&why);
        else
            error_set(&why, ERROR_BAD_ANSWER, "a change can't be shown: it has no typed item");
        changes_end(file, &why);
        return;
    }
}

static void changes_take_gap(void *arg, const struct error *why)
{
    changes_add_event(arg, "gap", why);
}

static void changes_take_trouble(void *arg, const struct error *why)
{
    struct changes_file *file = arg;
    int64_t now_ms = mount_now_ms(file->changes->mount);
    if (file->recorded_ms && now_ms - file->recorded_ms < CHANGES_TROUBLE_EACH_MS)
        return;
    file->recorded_ms = now_ms;
    changes_record(file, why);
}

/* Inodes. */

static void changes_on_timer(void *arg);

static void changes_plan(struct changes *changes)
{
    if (!changes->timer)
        changes->timer =
            loop_add_timer(changes->mount->app->loop, CHANGES_NAME_MS, changes_on_timer, changes);
}

/* The next round repeats it. */
static void changes_on_refused(void *arg, uint64_t ino)
{
    struct changes *changes = arg;
    LIST_EACH (struct changes_file, file, &changes->files, node)
        LIST_EACH (struct changes_view, view, &file->views, node)
            if (view->ino == ino)
                view->is_forgotten = false;
    changes_plan(changes);
}

/* If the kernel can't forget a name now, the next round repeats it. */
static void changes_on_timer(void *arg)
{
    struct changes *changes = arg;
    struct mount *mount = changes->mount;
    bool is_needed = false;
    changes->timer = NULL;
    LIST_EACH (struct changes_file, file, &changes->files, node)
        LIST_EACH (struct changes_view, view, &file->views, node) {
            const struct node *node = nodes_find(mount->nodes, view->ino);
            if (node && !view->is_forgotten && mount_now_ms(mount) >= view->until_ms)
                view->is_forgotten =
                    refresh_forget(mount->refresh, node, changes_on_refused, changes);
            is_needed = is_needed || !view->is_forgotten;
        }
    if (is_needed)
        changes_plan(changes);
}

static struct changes_view *changes_find_view(const struct changes *changes, uint64_t ino,
                                              struct changes_file **file)
{
    LIST_EACH (struct changes_file, each, &changes->files, node)
        LIST_EACH (struct changes_view, view, &each->views, node)
            if (view->ino == ino) {
                *file = each;
                return view;
            }
    return NULL;
}

/* The view of a reader that begins now; NULL when memory ran out. */
static struct changes_view *changes_view_now(struct changes_file *file, struct node **node)
{
    struct nodes *nodes = file->changes->mount->nodes;
    LIST_EACH (struct changes_view, each, &file->views, node) {
        *node = each->base == file->first ? nodes_find(nodes, each->ino) : NULL;
        if (*node) {
            nodes_pin(*node);
            return each;
        }
    }
    struct changes_view *view = calloc(1, sizeof *view);
    *node = view ? nodes_growing(nodes, file->parent, SPAN_LITERAL(PLACE_CHANGES_NAME)) : NULL;
    if (!*node) {
        free(view);
        return NULL;
    }
    view->ino = (*node)->ino;
    view->base = file->first;
    list_append(&file->views, &view->node);
    return view;
}

/* The name has another inode now; the kernel lets go of the older one when it is closed. */
static void changes_file_reply(struct changes_file *file, fuse_req_t req)
{
    struct mount *mount = file->changes->mount;
    struct node *node;
    struct changes_view *view = changes_view_now(file, &node);
    if (!view) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    view->until_ms = mount_now_ms(mount) + CHANGES_NAME_MS;
    view->is_forgotten = false;
    changes_measure(file->changes, node);
    account_finish(file->account, 0);
    reply_entry(req, mount, node, 0);
    nodes_unpin(mount->nodes, node);
    changes_plan(file->changes);
}

void changes_measure(struct changes *changes, struct node *node)
{
    struct changes_file *file;
    const struct changes_view *view = changes_find_view(changes, node->ino, &file);
    if (view)
        nodes_set_size(node, file->first + file->text.size - view->base);
}

void changes_reply(struct changes *changes, fuse_req_t req, const struct node *node, size_t size,
                   off_t offset)
{
    struct changes_file *file;
    struct error why;
    const struct changes_view *view = changes_find_view(changes, node->ino, &file);
    if (!view || offset < 0) {
        fuse_reply_err(req, view ? EINVAL : ESTALE);
        return;
    }
    if (file->text.failed) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    uint64_t from = view->base + (uint64_t)offset;
    if (from >= file->first) {
        reply_bytes(req, buf_span(&file->text), size, (off_t)(from - file->first));
        return;
    }
    error_set(&why, ERROR_REPLACED,
              "the reader is more than %d MB behind, and the lines are no longer in memory; open "
              "the file again, or use ddbfs tail --since",
              CHANGES_MOST_BYTES >> 20);
    changes_record(file, &why);
    fuse_reply_err(req, error_errno(why.kind));
}

void changes_note_forget(struct changes *changes, uint64_t ino)
{
    struct changes_file *file;
    struct changes_view *view = changes_find_view(changes, ino, &file);
    if (!view || nodes_find(changes->mount->nodes, ino))
        return;
    list_remove(&view->node);
    free(view);
    changes_file_release(file);
}

/* Look-ups. */

static void changes_take_covered(void *arg)
{
    struct changes_file *file = arg;
    file->is_covered = true;
    file->recorded_ms = 0;
    while (!list_is_empty(&file->waiters)) {
        struct changes_waiter *waiter = LIST_FIRST(&file->waiters, struct changes_waiter, node);
        fuse_req_t req = waiting_take(&waiter->lookup.waiting);
        changes_waiter_free(waiter);
        if (req)
            changes_file_reply(file, req);
    }
    changes_file_release(file);
}

/* The stream can't be followed. All look-ups get the reason; readers find it in the last line. */
static void changes_take_end(void *arg, const struct error *why)
{
    struct changes_file *file = arg;
    struct mount *mount = file->changes->mount;
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    struct error err = *why;
    sources_describe(mount->app->sources, file->table, &options);
    follow_add_options(&err, buf_text(&options));
    changes_end(file, &err);
}

/* The caller has gone, or waits no longer. */
static void changes_on_over(void *arg, int error)
{
    struct changes_waiter *waiter = arg;
    struct changes_file *file = waiter->file;
    account_finish(file->account, error);
    changes_waiter_free(waiter);
    changes_file_release(file);
}

/* The directory of the table whose changes PLACE shows. That of its node may lack the table's
 * model: a listing of tables/ and a new map do not wait for descriptions. */
static struct place *changes_find_directory(const struct place *place)
{
    struct place *named = place_undescribed(place);
    struct place *directory = named ? place_table(named, place->table) : NULL;
    place_destroy(named);
    return directory;
}

/* PLACE is the file. */
static bool changes_file_start(struct changes_file *file, const struct place *place,
                               struct error *err)
{
    static const struct follower_ops ops = {.changes = changes_take,
                                            .covered = changes_take_covered,
                                            .gap = changes_take_gap,
                                            .trouble = changes_take_trouble,
                                            .ended = changes_take_end};
    struct mount *mount = file->changes->mount;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s/" PLACE_CHANGES_NAME, buf_text(&file->path));
    file->table = changes_find_directory(place);
    file->account = account_new(mount, file->pid, buf_span(&path));
    if (!file->table || !file->account || file->path.failed || path.failed)
        return error_no_memory(err);
    const struct follower_options options = {
        .loop = mount->app->loop,
        .source = sources_for(mount->app->sources, place, err),
        .table = place->table_name,
        .payer = &file->account->payer,
        .log = &mount->app->log,
        .from = FOLLOW_NOW,
        .poll_least_ms = FOLLOW_POLL_LEAST_MS,
        .poll_most_ms = FOLLOW_POLL_MOST_MS,
        .ops = &ops,
        .arg = file,
    };
    if (!options.source)
        return false;
    file->follower = follower_new(&options);
    return file->follower || error_no_memory(err);
}

/* NULL with ERR filled. */
static struct changes_file *changes_add_file(struct changes *changes, pid_t pid,
                                             struct node *parent, const struct place *place,
                                             struct error *err)
{
    size_t count = 0;
    LIST_EACH (const struct changes_file, each, &changes->files, node)
        count++;
    if (count >= CHANGES_MOST_FILES) {
        error_set(err, ERROR_THROTTLED,
                  "%d tables are followed in this mount already; close one of them, or use ddbfs "
                  "tail",
                  CHANGES_MOST_FILES);
        return NULL;
    }
    struct changes_file *file = calloc(1, sizeof *file);
    if (!file) {
        error_no_memory(err);
        return NULL;
    }
    file->changes = changes;
    file->parent = parent;
    file->pid = pid;
    nodes_pin(parent);
    nodes_path(parent, span_text(""), &file->path);
    list_append(&changes->files, &file->node);
    if (changes_file_start(file, place, err))
        return file;
    if (file->account)
        account_finish(file->account, error_errno(err->kind));
    changes_record(file, err);
    changes_file_free(file);
    return NULL;
}

static struct changes_file *changes_find(const struct changes *changes, const struct node *parent)
{
    LIST_EACH (struct changes_file, each, &changes->files, node)
        if (each->parent == parent && !each->has_ended)
            return each;
    return NULL;
}

/* REQ, which has waited since SINCE_MS, waits for the stream. */
static void changes_wait(struct changes_file *file, fuse_req_t req, int64_t since_ms)
{
    struct mount *mount = file->changes->mount;
    struct changes_waiter *waiter = calloc(1, sizeof *waiter);
    if (!waiter) {
        fuse_reply_err(req, ENOMEM);
        changes_file_release(file);
        return;
    }
    waiter->file = file;
    waiter->lookup.directory = file->parent;
    list_append(&file->waiters, &waiter->node);
    list_append(&mount->lookups, &waiter->lookup.node);
    if (waiting_start(&waiter->lookup.waiting, mount, req, since_ms, changes_on_over, waiter))
        return;
    changes_waiter_free(waiter);
    changes_file_release(file);
}

void changes_look_up(struct changes *changes, fuse_req_t req, struct node *parent,
                     struct place *place, int64_t since_ms)
{
    struct error why;
    pid_t pid = fuse_req_ctx(req)->pid;
    struct changes_file *file = changes_find(changes, parent);
    if (!file)
        file = changes_add_file(changes, pid, parent, place, &why);
    place_destroy(place);
    if (!file)
        reply_lookup_error(req, &why);
    else if (file->is_covered)
        changes_file_reply(file, req);
    else
        changes_wait(file, req, since_ms);
}
