#include "fs/mount/directory.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/dict.h"
#include "core/tree/entries.h"
#include "fs/mount/control.h"
#include "fs/mount/journal.h"
#include "fs/mount/waiting.h"

/* An entry is told with its node for this long after its time: the least that the kernel is told
 * anyway. Later its name alone is told, so that nothing old is believed anew. */
enum { GRACE_MS = 100 };

enum { DOTS = 2 };

/* Whoever has read so many entries is taken to want the rest: from there on the next page is asked
 * for while the one in hand is read. Before that a listing costs the pages that are read. */
enum { READ_AHEAD_FROM = 1000 };

/* An entry that has come. Without a node its name alone is told, and it is looked up when asked
 * for. */
struct dirent_kept {
    struct dict_node link; /* first; its key is the name, in the arena and ended by a NUL */
    struct node *node;     /* pinned, or NULL */
    bool directory;
    int64_t expires_ms;
};

/* A READDIRPLUS that waits. */
struct reader {
    struct directory *directory;
    struct waiting waiting;
    size_t size;
    off_t offset;
    struct reader *next;
};

struct directory {
    struct mount *mount;
    struct node *node;            /* pinned */
    struct place *place;          /* owned: the node's own may be replaced; NULL in /.ddbfs */
    struct tree_listing *listing; /* NULL before the first read, and when it is complete */
    struct arena arena;           /* owns the entries and their names */
    struct dict names;            /* of the entries: none is told twice */
    struct dirent_kept **entries; /* owned, in the order of their offsets */
    size_t count, capacity;
    size_t page; /* where the latest page begins */
    bool complete;
    bool asked;     /* a page is on its way */
    bool forgotten; /* what it knows may be old: names alone are told */
    int error;      /* met behind the last entry; 0: none */
    struct reader *readers;
    unsigned handles;         /* that have it open */
    int64_t fresh_until_ms;   /* when it may be shared no more */
    struct loop_timer *timer; /* frees it then, when nobody has it open */
    struct directory *previous, *next;
};

static int64_t now_ms(const struct directory *directory)
{
    return mount_now_ms(directory->mount);
}

/* Takes READER, whose request has its reply, out of its directory. */
static void reader_free(struct reader *reader)
{
    struct reader **at = &reader->directory->readers;
    while (*at != reader)
        at = &(*at)->next;
    *at = reader->next;
    free(reader);
}

static void end_readers(struct directory *directory, int error)
{
    while (directory->readers) {
        waiting_fail(&directory->readers->waiting, error);
        reader_free(directory->readers);
    }
}

static void directory_free(struct directory *directory)
{
    struct mount *mount = directory->mount;
    *(directory->previous ? &directory->previous->next : &mount->directories) = directory->next;
    if (directory->next)
        directory->next->previous = directory->previous;
    if (directory->node->listing == directory)
        directory->node->listing = NULL;
    loop_remove_timer(directory->timer);
    end_readers(directory, EINTR);
    tree_list_end(directory->listing);
    for (size_t i = 0; i < directory->count; i++)
        nodes_unpin(mount->nodes, directory->entries[i]->node);
    nodes_unpin(mount->nodes, directory->node);
    place_destroy(directory->place);
    dict_clean_up(&directory->names);
    arena_clean_up(&directory->arena);
    free(directory->entries);
    free(directory);
}

/* How long what records say is good in a listing of PLACE: the names that a query told, or the
 * attributes of one record; else what the map alone tells. */
static int64_t records_ttl_ms(const struct place *place)
{
    if (place->kind == PLACE_ATTRS)
        return place->route->file->ttl_ms;
    return place->kind == PLACE_DIRECTORY && place->route->list ? place->route->list->ttl_ms
                                                                : MAP_STRUCTURE_TTL_MS;
}

/* What was opened lately changes with every look-up. */
static int64_t listing_ttl_ms(const struct node *node)
{
    const struct place *place = node->place;
    return place && !entries_unlisted(place) ? records_ttl_ms(place) : 0;
}

/* An empty one, in no list yet; NULL when memory ran out. */
static struct directory *directory_alloc(const struct node *node)
{
    struct directory *directory = calloc(1, sizeof *directory);
    if (directory && node->place)
        directory->place = place_copy(node->place);
    if (directory && (directory->place || !node->place) && dict_init(&directory->names))
        return directory;
    if (directory)
        place_destroy(directory->place);
    free(directory);
    return NULL;
}

static struct directory *directory_new(struct mount *mount, struct node *node)
{
    struct directory *directory = directory_alloc(node);
    if (!directory)
        return NULL;
    directory->mount = mount;
    directory->node = node;
    directory->next = mount->directories;
    directory->fresh_until_ms = now_ms(directory) + listing_ttl_ms(node);
    nodes_pin(node);
    if (directory->next)
        directory->next->previous = directory;
    mount->directories = directory;
    struct directory *old = node->listing;
    node->listing = directory;
    if (old && old->handles == 0)
        directory_free(old);
    return directory;
}

static bool is_fresh(const struct directory *directory)
{
    return directory && !directory->error && now_ms(directory) < directory->fresh_until_ms;
}

struct directory *directory_open(struct mount *mount, struct node *node)
{
    struct directory *directory =
        is_fresh(node->listing) ? node->listing : directory_new(mount, node);
    if (!directory)
        return NULL;
    loop_remove_timer(directory->timer);
    directory->timer = NULL;
    directory->handles++;
    return directory;
}

static void on_expiry(void *arg)
{
    struct directory *directory = arg;
    directory->timer = NULL;
    directory_free(directory);
}

/* A complete listing is kept for others as long as it is fresh. */
void directory_close(struct directory *directory)
{
    bool shared = directory->node->listing == directory;
    if (--directory->handles > 0)
        return;
    if (shared && directory->complete && is_fresh(directory))
        directory->timer =
            loop_add_timer(directory->mount->app->loop,
                           directory->fresh_until_ms - now_ms(directory), on_expiry, directory);
    if (!directory->timer)
        directory_free(directory);
}

/* An entry that may have changed is told by its name alone from now on. */
static void forget_entry(struct directory *directory, struct span name)
{
    struct dirent_kept *kept = (struct dirent_kept *)dict_find(&directory->names, name);
    if (!kept)
        return;
    nodes_unpin(directory->mount->nodes, kept->node);
    kept->node = NULL;
}

/* What of PATH, which is below WHERE, comes after it. */
static struct span rest_of(struct span path, struct span where)
{
    return span_from(path, where.size + (where.size > 1));
}

void directories_forget(struct mount *mount, struct span path)
{
    struct directory *next;
    for (struct directory *each = mount->directories; each; each = next) {
        CLEAN_UP(buf_clean_up) struct buf where = {0};
        next = each->next;
        nodes_path(each->node, span_text(""), &where);
        if (nodes_is_below(buf_span(&where), path)) {
            each->node->listing = NULL;
            each->forgotten = true;
            if (each->handles == 0)
                directory_free(each);
        } else if (nodes_is_below(path, buf_span(&where))) {
            forget_entry(each, rest_of(path, buf_span(&where)));
        }
    }
}

struct node *directory_told(const struct node *node, struct span name, int64_t *ttl_left_ms)
{
    const struct directory *directory = node->listing;
    const struct dirent_kept *kept =
        directory ? (const struct dirent_kept *)dict_find(&directory->names, name) : NULL;
    if (!kept || !kept->node)
        return NULL;
    *ttl_left_ms = kept->expires_ms - now_ms(directory);
    return *ttl_left_ms > 0 ? kept->node : NULL;
}

bool directory_waits(const struct mount *mount, const struct node *node)
{
    for (const struct directory *each = mount->directories; each; each = each->next)
        if (each->node == node && each->readers)
            return true;
    return false;
}

void directories_end_readers(struct mount *mount, int error)
{
    for (struct directory *each = mount->directories; each; each = each->next)
        end_readers(each, error);
}

void directories_end_all(struct mount *mount, int error)
{
    directories_end_readers(mount, error);
    while (mount->directories)
        directory_free(mount->directories);
}

/* The node of an entry whose content the listing brought; NULL where it brought none. */
static struct node *node_of(struct directory *directory, const struct tree_entry *entry)
{
    struct nodes *nodes = directory->mount->nodes;
    const struct tree *tree = &directory->mount->app->tree;
    struct error ignored;
    if (entry->directory) {
        struct place *place =
            place_child(directory->node->place, entry->name, &tree->names, &ignored);
        if (place && place_is_directory(place))
            return nodes_directory(nodes, directory->node, entry->name, place);
        place_destroy(place);
        return NULL;
    }
    struct node_file file = {entry->content, entry->secret, entry->mtime_ms};
    return entry->size >= 0 ? nodes_file(nodes, directory->node, entry->name, &file) : NULL;
}

static bool make_room(struct directory *directory)
{
    if (directory->count < directory->capacity)
        return true;
    size_t capacity = directory->capacity ? directory->capacity * 2 : 16;
    struct dirent_kept **grown =
        realloc(directory->entries, capacity * sizeof(struct dirent_kept *));
    if (!grown)
        return false;
    directory->entries = grown;
    directory->capacity = capacity;
    return true;
}

static int64_t entry_ttl_ms(const struct directory *directory, const struct tree_entry *entry)
{
    return entry->directory ? MAP_STRUCTURE_TTL_MS : records_ttl_ms(directory->place);
}

/* The entry NAME, without a node; NULL when memory ran out. */
static struct dirent_kept *add_entry(struct directory *directory, struct span name,
                                     bool is_directory)
{
    struct dirent_kept *kept = arena_alloc(&directory->arena, sizeof *kept);
    const char *text = arena_text(&directory->arena, name);
    if (!kept || !text || !make_room(directory))
        return NULL;
    *kept = (struct dirent_kept){.link.key = span_of(text, name.size), .directory = is_directory};
    dict_add(&directory->names, &kept->link);
    directory->entries[directory->count++] = kept;
    return kept;
}

/* A record that moved while its listing was read comes twice; it is told once. */
static bool keep_entry(struct directory *directory, const struct tree_entry *entry)
{
    if (entry->name.size > NAME_MAX_BYTES || dict_find(&directory->names, entry->name))
        return true;
    struct dirent_kept *kept = add_entry(directory, entry->name, entry->directory);
    if (!kept)
        return false;
    kept->node = node_of(directory, entry);
    kept->expires_ms = now_ms(directory) + entry_ttl_ms(directory, entry);
    return true;
}

static bool keep_entries(struct directory *directory, const struct tree_entry *entries,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!keep_entry(directory, &entries[i]))
            return false;
    return true;
}

/* Names without nodes: they are looked up when somebody wants more of them. */
static bool keep_name(struct directory *directory, struct span name, bool is_directory)
{
    return dict_find(&directory->names, name) || add_entry(directory, name, is_directory);
}

static bool keep_recent(struct directory *directory)
{
    struct node_recent recent[NODES_RECENT];
    size_t count = nodes_recent(directory->node, now_ms(directory), recent);
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok = keep_name(directory, recent[i].name, recent[i].directory) && ok;
    return ok;
}

/* What /.ddbfs has is known; its refresh is not shown. */
static void list_control(struct directory *directory)
{
    bool top = directory->node->parent && !directory->node->parent->parent;
    directory->complete = true;
    for (size_t i = 0; top && control_names[i]; i++)
        if (!keep_name(directory, span_text(control_names[i]), false))
            directory->error = ENOMEM;
}

/* Whether the kernel is told of the entry's node, and not of its name alone. */
static bool is_told(const struct directory *directory, const struct dirent_kept *kept, int64_t now)
{
    return kept->node && !directory->forgotten && now < kept->expires_ms + GRACE_MS;
}

static void fill_entry(const struct directory *directory, const struct dirent_kept *kept,
                       int64_t now, struct fuse_entry_param *out)
{
    if (is_told(directory, kept, now)) {
        reply_fill_entry(directory->mount, kept->node, kept->expires_ms - now, out);
        return;
    }
    *out = (struct fuse_entry_param){.attr = {.st_ino = kept->node ? kept->node->ino : UINT32_MAX,
                                              .st_mode = kept->directory ? S_IFDIR : S_IFREG}};
}

/* "." and "..", which the kernel does not look up. */
static void fill_dots(const struct directory *directory, off_t at, struct fuse_entry_param *out)
{
    const struct node *node = directory->node;
    const struct node *shown = at == 1 && node->parent ? node->parent : node;
    *out = (struct fuse_entry_param){.attr = {.st_ino = shown->ino, .st_mode = S_IFDIR}};
}

/* An answer in the making. All of its entries are told as of one time. */
struct telling {
    fuse_req_t req;
    int64_t now_ms;
    char *bytes; /* owned */
    size_t size, used;
};

/* False when the entry at AT does not fit any more. */
static bool tell(struct directory *directory, struct telling *telling, off_t at)
{
    struct fuse_entry_param entry;
    const char *name = at == 0 ? "." : "..";
    size_t room = telling->size - telling->used;
    const struct dirent_kept *kept = at < DOTS ? NULL : directory->entries[at - DOTS];
    if (kept) {
        name = kept->link.key.data;
        fill_entry(directory, kept, telling->now_ms, &entry);
    } else {
        fill_dots(directory, at, &entry);
    }
    size_t added = fuse_add_direntry_plus(telling->req, telling->bytes + telling->used, room, name,
                                          &entry, at + 1);
    if (added > room)
        return false;
    telling->used += added;
    if (entry.ino)
        nodes_look_up(kept->node);
    return true;
}

/* The kernel has not got the entries from FROM to END: it knows nothing of them. */
static void take_back(struct directory *directory, const struct telling *telling, off_t from,
                      off_t end)
{
    for (off_t at = from < DOTS ? DOTS : from; at < end; at++) {
        const struct dirent_kept *kept = directory->entries[at - DOTS];
        if (is_told(directory, kept, telling->now_ms))
            nodes_forget(directory->mount->nodes, kept->node->ino, 1);
    }
}

static void tell_all(struct directory *directory, struct telling *telling, off_t from, off_t end)
{
    off_t at = from;
    while (at < end && tell(directory, telling, at))
        at++;
    if (fuse_reply_buf(telling->req, telling->bytes, telling->used) != 0)
        take_back(directory, telling, from, at);
}

/* Whether there is an answer from OFFSET on; if not, more may come. */
static bool is_there(const struct directory *directory, off_t offset)
{
    return offset < (off_t)directory->count + DOTS || directory->error || directory->complete;
}

/* Answers with what is there from OFFSET on. */
static void answer(struct directory *directory, fuse_req_t req, size_t size, off_t offset)
{
    off_t end = (off_t)directory->count + DOTS;
    if (offset >= end && directory->error) {
        fuse_reply_err(req, directory->error);
        return;
    }
    struct telling telling = {
        .req = req, .now_ms = now_ms(directory), .bytes = malloc(size), .size = size};
    if (telling.bytes)
        tell_all(directory, &telling, offset < 0 ? 0 : offset, end);
    else
        fuse_reply_err(req, ENOMEM);
    free(telling.bytes);
}

static void ask_more(struct directory *directory);

/* One line for each wait: who listed what, and how long that took. */
static void note_wait(const struct reader *reader)
{
    const struct directory *directory = reader->directory;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(directory->node, span_text(""), &path);
    log_line(&directory->mount->app->log, LOG_LEVEL_INFO, "pid=%d path=%s listed=%zu %s ms=%lld",
             (int)reader->waiting.pid, buf_text(&path), directory->count,
             directory->error ? strerrorname_np(directory->error) : "ok",
             (long long)(now_ms(directory) - reader->waiting.since_ms));
}

static void answer_readers(struct directory *directory)
{
    struct reader *next;
    for (struct reader *reader = directory->readers; reader; reader = next) {
        next = reader->next;
        if (!is_there(directory, reader->offset))
            continue;
        note_wait(reader);
        answer(directory, waiting_take(&reader->waiting), reader->size, reader->offset);
        reader_free(reader);
    }
    if (directory->readers)
        ask_more(directory);
}

static void note_failure(const struct directory *directory, pid_t pid, int error,
                         const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(directory->node, span_text(""), &path);
    journal_error(directory->mount->journal, pid, buf_span(&path), error, err);
}

static void note_error(const struct directory *directory, const struct error *err)
{
    pid_t pid = directory->readers ? directory->readers->waiting.pid : 0;
    note_failure(directory, pid, directory->error, err);
}

/* The C library takes ENOENT for a directory's end: what is missing would look empty. */
static int listing_errno(enum error_kind kind)
{
    return kind == ERROR_NOT_FOUND ? ESTALE : reply_errno(kind);
}

/* A listing is whole, or it ends in an error: too many entries would fill the memory. */
static void fail_when_too_large(struct directory *directory)
{
    struct error why;
    uint32_t most = directory->mount->app->options->max_entries;
    if (directory->error || directory->count <= most)
        return;
    directory->error = EOVERFLOW;
    directory->complete = true;
    error_set(&why, ERROR_INVALID,
              "more than %u entries; ask for fewer of them, or allow more with --max-entries",
              (unsigned)most);
    note_error(directory, &why);
}

static void take_entries(void *arg, const struct tree_entry *entries, size_t count, bool more,
                         const struct error *err)
{
    struct directory *directory = arg;
    directory->asked = false;
    directory->complete = !more;
    directory->page = directory->count;
    if (err && err->kind != ERROR_NOT_LISTABLE)
        directory->error = listing_errno(err->kind);
    else if (err ? !keep_recent(directory) : !keep_entries(directory, entries, count))
        directory->error = ENOMEM;
    if (directory->error && err)
        note_error(directory, err);
    fail_when_too_large(directory);
    if (directory->complete) {
        tree_list_end(directory->listing); /* its last page is no more needed */
        directory->listing = NULL;
    }
    answer_readers(directory);
}

static void ask_more(struct directory *directory)
{
    if (directory->asked || directory->complete)
        return;
    directory->asked = true;
    if (directory->listing) {
        tree_list_more(directory->listing);
        return;
    }
    directory->listing =
        tree_list(&directory->mount->app->tree, directory->place, true, take_entries, directory);
    directory->asked = directory->listing;
    if (!directory->listing)
        end_readers(directory, ENOMEM);
}

/* The page that it waited for still comes, and is kept for the next reader. */
static void give_up(void *arg, int error)
{
    struct reader *reader = arg;
    struct error why;
    error_set(&why, ERROR_TIMED_OUT, "no answer in time");
    if (error == ETIMEDOUT)
        note_failure(reader->directory, reader->waiting.pid, ETIMEDOUT, &why);
    reader_free(reader);
}

static void wait_for_entries(struct directory *directory, fuse_req_t req, size_t size, off_t offset)
{
    struct mount *mount = directory->mount;
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    *reader = (struct reader){
        .directory = directory, .size = size, .offset = offset, .next = directory->readers};
    directory->readers = reader;
    if (!waiting_start(&reader->waiting, mount, req, mount_deadline_ms(mount), give_up, reader)) {
        reader_free(reader);
        return;
    }
    ask_more(directory); /* which may answer it at once; and the reader may be gone already */
}

static void read_ahead(struct directory *directory, off_t offset)
{
    if (directory->page >= READ_AHEAD_FROM && offset >= (off_t)directory->page && !directory->error)
        ask_more(directory);
}

void directory_read(struct directory *directory, fuse_req_t req, size_t size, off_t offset)
{
    if (!directory->node->place && !directory->complete)
        list_control(directory);
    if (!is_there(directory, offset)) {
        wait_for_entries(directory, req, size, offset);
        return;
    }
    answer(directory, req, size, offset);
    read_ahead(directory, offset);
}
