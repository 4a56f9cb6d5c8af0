#include "fs/mount/open_listing.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/dict.h"
#include "core/base/printable.h"
#include "core/base/slots.h"
#include "core/read/resolve.h"
#include "fs/mount/account.h"
#include "fs/mount/control.h"
#include "fs/mount/journal.h"
#include "fs/mount/waiting.h"

/* An entry includes its node for this long after its TTL, the least time that the kernel caches it
 * anyway. Later it has its name only, so that nothing old is cached anew. */
enum { GRACE_MS = 100 };

enum { DOTS = 2 };

/* A reader of this many entries probably wants the rest: from there on the next page is requested
 * while the current one is read. Before that a listing costs the pages that are read. */
enum { READ_AHEAD_FROM = 1000 };

/* The allocator's own memory per allocation, roughly. */
enum { OVERHEAD = 16 };

/* An entry that has arrived; there may be a million of them. */
struct open_entry {
    union {
        struct node *node; /* pinned */
        const char *name;  /* in the arena; the kernel looks it up when it needs more */
    };
    uint32_t good_for_ms; /* from the listing's beginning */
    uint8_t name_size;
    bool has_node;
    bool is_directory;
};

/* A READDIRPLUS that waits for entries, or an OPENDIR that waits for the first page. */
struct open_reader {
    struct open_listing *listing;
    struct waiting waiting;
    bool opens;                 /* an OPENDIR, which owns one of the listing's handles; */
    struct fuse_file_info info; /* its reply */
    size_t size;
    off_t offset;
    struct list_node node;
};

/*
 *   state        entries that have arrived, and the reply behind the last one     may become
 *   IDLE         some; no page is under way: the next reader requests one         REQUESTED
 *   REQUESTED    some; a page is under way: the reader waits                      any other
 *   WHOLE        all: the end                                                     -
 *   FAILED       some: the error that ended it                                    -
 *
 * PAGES exists in IDLE and REQUESTED only (in IDLE not before the first page, and not after a page
 * was refused: then it begins anew, and repeated entries are dropped). Entries are only ever added,
 * and keep their offsets, in every state.
 */
enum open_listing_state { LISTING_IDLE, LISTING_REQUESTED, LISTING_WHOLE, LISTING_FAILED };

struct open_listing {
    struct listings *all;
    struct node *node;   /* pinned */
    struct place *place; /* owned: the node's own may be replaced; NULL in /.ddbfs */
    enum open_listing_state state;
    int error;                  /* of LISTING_FAILED */
    bool has_begun;             /* a page came that was read, or no page needs to be */
    struct tree_listing *pages; /* the source of entries; owned */
    struct account *account;    /* of the process that requested the last page; NULL: none yet */
    struct arena names;         /* of entries without a node */
    size_t names_bytes;         /* their memory */
    struct open_entry *entries; /* owned, in the order of their offsets */
    size_t count, capacity;
    struct slots slots;          /* the numbers of entries by their names */
    size_t page;                 /* the beginning of the latest page */
    size_t memory;               /* reported to the budget */
    bool is_forgotten;           /* its entries may be old: only names are used */
    bool is_refused;             /* a limit refused a page: a later reader continues from here */
    struct list readers;         /* of struct open_reader, owned; the latest first */
    unsigned handles;            /* that have it open */
    int64_t since_ms;            /* its beginning; the TTLs of entries count from here */
    bool follows;                /* a source that follows streams: these TTLs may become shorter */
    int64_t ttl_ms;              /* of the entries from EXPIRED on, when they came */
    size_t expired;              /* of the entries before it only the names are used */
    int64_t fresh_until_ms;      /* the end of sharing */
    int64_t read_ms;             /* when the oldest of its data was requested */
    int64_t stale_until_ms;      /* the end of its use in an outage */
    struct open_listing *before; /* the last whole one, for an outage meanwhile; NULL: none */
    struct open_listing *after;  /* the one whose BEFORE this is */
    struct loop_timer *timer;    /* frees it at the end of its time, while it is not open */
    struct list_node list_node;
};

struct listings {
    struct mount *mount;
    struct dict_seed seed; /* of the hashes of names */
    struct list list;      /* of struct open_listing, owned; the newest first */
};

/* NULL without one. */
static struct node *open_entry_node(const struct open_entry *entry)
{
    return entry->has_node ? entry->node : NULL;
}

static struct span open_entry_name(const struct open_entry *entry)
{
    return entry->has_node ? node_name(entry->node) : span_of(entry->name, entry->name_size);
}

static struct mount *open_listing_mount_of(const struct open_listing *listing)
{
    return listing->all->mount;
}

static int64_t open_listing_now_ms(const struct open_listing *listing)
{
    return mount_now_ms(open_listing_mount_of(listing));
}

static bool open_listing_is_over(const struct open_listing *listing)
{
    return listing->state == LISTING_WHOLE || listing->state == LISTING_FAILED;
}

/* Whether it may be used in an outage, when no fresh one can be read. */
static bool open_listing_may_substitute(const struct open_listing *listing)
{
    return listing && listing->state == LISTING_WHOLE && !listing->is_forgotten &&
           open_listing_now_ms(listing) < listing->stale_until_ms;
}

static void open_listing_set_before(struct open_listing *listing, struct open_listing *before)
{
    if (listing->before)
        listing->before->after = NULL;
    if (before && before->after)
        before->after->before = NULL;
    if (before)
        before->after = listing;
    listing->before = before;
}

static void open_listing_free(struct open_listing *listing);

/* No page is requested any more. */
static void open_listing_end_account(struct open_listing *listing, int error)
{
    if (listing->account)
        account_finish(listing->account, error);
    account_release(listing->account);
    listing->account = NULL;
}

/* The one place where a listing's state changes. */
static void open_listing_become(struct open_listing *listing, enum open_listing_state state)
{
    listing->state = state;
    if (open_listing_is_over(listing)) {
        tree_list_end(listing->pages);
        listing->pages = NULL;
        open_listing_end_account(listing, listing->error);
        if (listing->count >= READ_AHEAD_FROM)
            malloc_trim(0); /* the memory of its pages, between those of its files */
        if (listing->place)
            place_release_plan(listing->place); /* the budget does not count it */
    }
    struct open_listing *before = state == LISTING_WHOLE ? listing->before : NULL;
    if (!before)
        return;
    open_listing_set_before(listing, NULL);
    if (before->handles == 0)
        open_listing_free(before);
}

/* Reports the memory to the budget. */
static void open_listing_count_memory(struct open_listing *listing)
{
    size_t memory = sizeof *listing + listing->capacity * sizeof *listing->entries +
                    listing->slots.capacity * sizeof(struct slot) + listing->names_bytes +
                    (size_t)3 * OVERHEAD;
    size_t before = listing->memory;
    listing->memory = memory;
    if (memory > before)
        budget_add(&open_listing_mount_of(listing)->budget, BUDGET_LISTINGS, memory - before);
}

/* Frees READER, whose request has its reply. */
static void open_reader_free(struct open_reader *reader)
{
    list_remove(&reader->node);
    free(reader);
}

/* Frees READER; its request gets ERROR, unless it has its reply. The listing stays until the next
 * round of the loop. */
static void open_reader_fail(struct open_reader *reader, int error)
{
    waiting_fail(&reader->waiting, error);
    if (reader->opens)
        open_listing_close(reader->listing);
    open_reader_free(reader);
}

static struct open_reader *open_reader_first(const struct open_listing *listing)
{
    return LIST_FIRST(&listing->readers, struct open_reader, node);
}

static void open_listing_fail_readers(struct open_listing *listing, int error)
{
    for (struct open_reader *reader; (reader = open_reader_first(listing));)
        open_reader_fail(reader, error);
}

static void open_listing_free(struct open_listing *listing)
{
    struct mount *mount = open_listing_mount_of(listing);
    list_remove(&listing->list_node);
    if (node_listing(listing->node) == listing)
        nodes_set_listing(listing->node, listing->before);
    open_listing_set_before(listing, NULL);
    if (listing->after)
        open_listing_set_before(listing->after, NULL);
    loop_remove_timer(listing->timer);
    open_listing_fail_readers(listing, EINTR);
    tree_list_end(listing->pages);
    open_listing_end_account(listing, 0);
    for (size_t i = 0; i < listing->count; i++)
        nodes_unpin(mount->nodes, open_entry_node(&listing->entries[i]));
    nodes_unpin(mount->nodes, listing->node);
    place_destroy(listing->place);
    budget_remove(&mount->budget, BUDGET_LISTINGS, listing->memory);
    arena_clean_up(&listing->names);
    slots_clean_up(&listing->slots);
    free(listing->entries);
    free(listing);
}

/* Frees the oldest listing that is not open. */
static bool open_listing_spare_oldest(void *arg)
{
    struct listings *listings = arg;
    struct open_listing *oldest = LIST_LAST(&listings->list, struct open_listing, list_node);
    while (oldest && oldest->handles > 0)
        oldest = LIST_PREVIOUS(oldest, struct open_listing, list_node);
    if (!oldest)
        return false;
    open_listing_free(oldest);
    return true;
}

struct listings *listings_new(struct mount *mount)
{
    struct listings *listings = calloc(1, sizeof *listings);
    if (!listings)
        return NULL;
    listings->mount = mount;
    listings->seed = dict_seed_new();
    mount->budget.spare[BUDGET_LISTINGS] = open_listing_spare_oldest;
    mount->budget.arg[BUDGET_LISTINGS] = listings;
    return listings;
}

void listings_destroy(struct listings *listings, int error)
{
    if (!listings)
        return;
    listings_fail_readers(listings, error);
    while (!list_is_empty(&listings->list))
        open_listing_free(LIST_FIRST(&listings->list, struct open_listing, list_node));
    listings->mount->budget.spare[BUDGET_LISTINGS] = NULL;
    free(listings);
}

void listings_fail_readers(struct listings *listings, int error)
{
    LIST_EACH (struct open_listing, each, &listings->list, list_node)
        open_listing_fail_readers(each, error);
}

bool listings_wait_for(const struct listings *listings, const struct node *node)
{
    LIST_EACH (const struct open_listing, each, &listings->list, list_node)
        LIST_EACH (const struct open_reader, reader, &each->readers, node)
            if (each->node == node && !reader->opens)
                return true;
    return false;
}

/* Entries by their names. */

struct named_entry {
    const struct open_listing *listing;
    struct span name;
};

static bool open_listing_is_named(const void *wanted, uint32_t number)
{
    const struct named_entry *named = wanted;
    return span_equal(open_entry_name(&named->listing->entries[number]), named->name);
}

static uint32_t open_listing_hash_name(const struct open_listing *listing, struct span name)
{
    return (uint32_t)dict_hash(listing->all->seed, name);
}

static struct open_entry *open_listing_find_entry(const struct open_listing *listing,
                                                  struct span name)
{
    struct named_entry wanted = {listing, name};
    uint32_t number = slots_find(&listing->slots, open_listing_hash_name(listing, name),
                                 open_listing_is_named, &wanted);
    return number == SLOTS_NONE ? NULL : &listing->entries[number];
}

/* Makes room for the entry NAME, which is the next. False when memory ran out. */
static bool open_listing_make_room(struct open_listing *listing, struct span name)
{
    struct named_entry wanted = {listing, name};
    uint32_t before;
    if (listing->count == listing->capacity) {
        size_t capacity = listing->capacity ? listing->capacity * 2 : 16;
        struct open_entry *entries = realloc(listing->entries, capacity * sizeof *entries);
        if (!entries)
            return false;
        listing->entries = entries;
        listing->capacity = capacity;
    }
    return slots_put(&listing->slots, open_listing_hash_name(listing, name), open_listing_is_named,
                     &wanted, (uint32_t)listing->count, &before);
}

/* A copy of NAME for an entry without a node; NULL when memory ran out. */
static const char *open_listing_copy_name(struct open_listing *listing, struct span name)
{
    listing->names_bytes += name.size + OVERHEAD;
    return arena_text(&listing->names, name);
}

/* Adds an entry; takes the pin on NODE, which may be NULL. False when memory ran out. */
static bool open_listing_add_entry(struct open_listing *listing, struct span name,
                                   bool is_directory, struct node *node, int64_t good_until_ms)
{
    const char *text = node ? NULL : open_listing_copy_name(listing, name);
    if ((!node && !text) || !open_listing_make_room(listing, name)) {
        nodes_unpin(open_listing_mount_of(listing)->nodes, node);
        return false;
    }
    int64_t good_for_ms = good_until_ms > listing->since_ms ? good_until_ms - listing->since_ms : 0;
    struct open_entry *entry = &listing->entries[listing->count++];
    *entry = (struct open_entry){
        .good_for_ms = good_for_ms < UINT32_MAX ? (uint32_t)good_for_ms : UINT32_MAX,
        .name_size = (uint8_t)name.size,
        .has_node = node,
        .is_directory = is_directory,
    };
    if (node)
        entry->node = node;
    else
        entry->name = text;
    return true;
}

/* The TTL of items in a listing of PLACE: of the names of a query, or of what one item has; else
 * that of the map. */
static int64_t open_listing_items_ttl_ms(const struct listings *listings, const struct place *place)
{
    const struct tree *tree = &listings->mount->app->tree;
    bool is_of_item =
        place->kind == PLACE_ATTRS || place->kind == PLACE_LINKS || place->kind == PLACE_SIMILAR;
    const struct map_pattern *pattern = is_of_item                       ? place->route->file
                                        : place->kind == PLACE_DIRECTORY ? place->route->list
                                                                         : NULL;
    return pattern ? tree_items_ttl_ms(tree, place, pattern) : MAP_STRUCTURE_TTL_MS;
}

/* How much shorter the TTL of items has become since the entries came. */
static int64_t open_listing_shorter_ms(const struct open_listing *listing)
{
    int64_t ttl_ms = listing->follows ? open_listing_items_ttl_ms(listing->all, listing->place) : 0;
    return listing->follows && ttl_ms < listing->ttl_ms ? listing->ttl_ms - ttl_ms : 0;
}

/* Before further entries are added, with the TTL of now. */
static void open_listing_take_ttl(struct open_listing *listing)
{
    if (!listing->follows)
        return;
    int64_t shorter_ms = open_listing_shorter_ms(listing);
    if (shorter_ms > 0)
        listing->expired = listing->count;
    listing->fresh_until_ms -= shorter_ms;
    listing->ttl_ms = open_listing_items_ttl_ms(listing->all, listing->place);
}

/* A new listing of NODE, which becomes its latest. */
static struct open_listing *open_listing_new(struct listings *listings, struct node *node)
{
    struct open_listing *listing = calloc(1, sizeof *listing);
    const struct place *own = node_place(node);
    struct place *place = own ? place_copy(own) : NULL;
    if (!listing || (own && !place)) {
        free(listing);
        place_destroy(place);
        return NULL;
    }
    listing->all = listings;
    listing->node = node;
    listing->place = place;
    /* The environments of the map stay visible when the names of the tables cannot be read. */
    listing->has_begun = !place || place->kind == PLACE_ROOT;
    listing->since_ms = open_listing_now_ms(listing);
    listing->follows = place && tree_follows(&listings->mount->app->tree, place);
    listing->ttl_ms = place ? open_listing_items_ttl_ms(listings, place) : 0;
    listing->fresh_until_ms = listing->since_ms + listing->ttl_ms;
    listing->read_ms = listing->since_ms;
    listing->stale_until_ms =
        listing->fresh_until_ms + (place ? listings->mount->app->tree.stale_ms : 0);
    list_prepend(&listings->list, &listing->list_node);
    nodes_pin(node);
    struct open_listing *old = node_listing(node);
    nodes_set_listing(node, listing);
    if (old)
        open_listing_set_before(listing, open_listing_may_substitute(old) ? old : old->before);
    if (old && old != listing->before && old->handles == 0)
        open_listing_free(old);
    if (place)
        return listing;
    bool ok = true; /* /.ddbfs has its files, and its mirror of the tree has no entries */
    for (size_t i = 0; node->kind == NODE_CONTROL && control_names[i]; i++)
        ok = ok && open_listing_add_entry(listing, span_text(control_names[i]), false, NULL, 0);
    open_listing_become(listing, LISTING_WHOLE);
    if (!ok)
        open_listing_free(listing);
    return ok ? listing : NULL;
}

/* A failed listing is read anew by the next opener. */
static bool open_listing_is_fresh(const struct open_listing *listing)
{
    return listing && listing->state != LISTING_FAILED &&
           open_listing_now_ms(listing) <
               listing->fresh_until_ms - open_listing_shorter_ms(listing);
}

/* The fresh listing of NODE, or a new one, with one more handle, for the task PID. NULL when memory
 * ran out. */
static struct open_listing *open_listing_share(struct listings *listings, struct node *node,
                                               pid_t pid)
{
    struct open_listing *latest = node_listing(node);
    bool is_shared = open_listing_is_fresh(latest);
    struct open_listing *listing = is_shared ? latest : open_listing_new(listings, node);
    if (!listing)
        return NULL;
    if (is_shared && listing->place) {
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        nodes_path(node, span_text(""), &path);
        if (!path.failed)
            account_note_cached(listings->mount, pid, buf_span(&path), listing->place);
    }
    loop_remove_timer(listing->timer);
    listing->timer = NULL;
    listing->handles++;
    return listing;
}

static void open_listing_on_expiry(void *arg)
{
    struct open_listing *listing = arg;
    listing->timer = NULL;
    open_listing_free(listing);
}

/* The latest listing is kept for other openers while it is fresh, or may be used in an outage, if
 * it is over; or if a limit refused a page of it. Any other is freed in the next round of the loop,
 * because its own code may be under way. Without memory for the timer the budget frees it. */
void open_listing_close(struct open_listing *listing)
{
    if (--listing->handles > 0)
        return;
    bool is_latest = node_listing(listing->node) == listing || listing->after;
    bool may_substitute = open_listing_may_substitute(listing);
    bool is_kept = is_latest && (open_listing_is_over(listing) || listing->is_refused) &&
                   (open_listing_is_fresh(listing) || may_substitute);
    int64_t until_ms = may_substitute ? listing->stale_until_ms : listing->fresh_until_ms;
    listing->timer = loop_add_timer(open_listing_mount_of(listing)->app->loop,
                                    is_kept ? until_ms - open_listing_now_ms(listing) : 0,
                                    open_listing_on_expiry, listing);
}

/* SHORTER_MS: open_listing_shorter_ms. */
static int64_t open_listing_ttl_left_ms(const struct open_listing *listing,
                                        const struct open_entry *entry, int64_t now,
                                        int64_t shorter_ms)
{
    bool has_expired = entry < listing->entries + listing->expired;
    int64_t less_ms = entry->is_directory ? 0 : has_expired ? INT64_MAX / 2 : shorter_ms;
    return listing->since_ms + entry->good_for_ms - now - less_ms;
}

/* The TTL of stale entries: no longer than that of a "not found". */
static int64_t open_listing_stale_ttl_ms(const struct open_listing *listing)
{
    int64_t left_ms = listing->stale_until_ms - open_listing_now_ms(listing);
    int64_t ttl_ms = listing->place ? open_listing_items_ttl_ms(listing->all, listing->place) : 0;
    int64_t most_ms = ttl_ms < MAP_MISSING_TTL_MS ? ttl_ms : MAP_MISSING_TTL_MS;
    return left_ms < most_ms ? left_ms : most_ms;
}

struct node *open_listing_find(const struct node *node, struct span name, int64_t *left_ms)
{
    const struct open_listing *listing = node_listing(node);
    const struct open_entry *entry = listing ? open_listing_find_entry(listing, name) : NULL;
    if (!entry || !entry->has_node)
        return NULL;
    *left_ms = open_listing_ttl_left_ms(listing, entry, open_listing_now_ms(listing),
                                        open_listing_shorter_ms(listing));
    if (listing->follows && !entry->is_directory)
        *left_ms =
            tree_hold_ms(&open_listing_mount_of(listing)->app->tree, listing->place, *left_ms);
    return *left_ms > 0 ? entry->node : NULL;
}

struct node *open_listing_find_stale(const struct node *node, struct span name, int64_t *left_ms,
                                     int64_t *read_ms)
{
    const struct open_listing *listing = node_listing(node);
    if (listing && !open_listing_may_substitute(listing))
        listing = listing->before;
    const struct open_entry *entry =
        open_listing_may_substitute(listing) ? open_listing_find_entry(listing, name) : NULL;
    if (!entry || !entry->has_node)
        return NULL;
    *left_ms = open_listing_stale_ttl_ms(listing);
    *read_ms = listing->read_ms;
    return entry->node;
}

/* The entry NAME may have changed: from now on only its name is used. When memory runs out, it
 * stays as it is for the rest of its time. */
static void open_listing_forget_entry(struct open_listing *listing, struct span name)
{
    struct open_entry *entry = open_listing_find_entry(listing, name);
    const char *text = entry && entry->has_node ? open_listing_copy_name(listing, name) : NULL;
    if (!text)
        return;
    nodes_unpin(open_listing_mount_of(listing)->nodes, entry->node);
    entry->has_node = false;
    entry->name = text;
}

void listings_forget(struct listings *listings, struct span path)
{
    LIST_EACH_SAFE (struct open_listing, each, &listings->list, list_node) {
        CLEAN_UP(buf_clean_up) struct buf own = {0};
        nodes_path(each->node, span_text(""), &own);
        if (nodes_is_below(buf_span(&own), path)) {
            open_listing_set_before(each, NULL);
            if (each->after)
                open_listing_set_before(each->after, NULL);
            nodes_set_listing(each->node, NULL);
            each->is_forgotten = true;
            if (each->handles == 0)
                open_listing_free(each);
        } else if (nodes_is_below(path, buf_span(&own))) {
            open_listing_forget_entry(each, span_from(path, own.size + (own.size > 1)));
        }
    }
}

/* Replies to the kernel. */

/* Whether the reply has the entry's node, and not only its name. */
static bool open_listing_has_valid_node(const struct open_listing *listing,
                                        const struct open_entry *entry, int64_t now,
                                        int64_t shorter_ms)
{
    return entry->has_node && !listing->is_forgotten &&
           open_listing_ttl_left_ms(listing, entry, now, shorter_ms) > -GRACE_MS;
}

/* A reply in the making. All of its entries are as of one time. */
struct open_reply {
    fuse_req_t req;
    int64_t now_ms;
    int64_t shorter_ms; /* open_listing_shorter_ms */
    int64_t hold_ms;    /* the most for a file */
    char *bytes;        /* owned */
    size_t size, used;
};

/* Adds the entry at AT; "." and ".." come first, which the kernel does not look up. False when it
 * does not fit. */
static bool open_reply_add(struct open_reply *reply, struct open_listing *listing, off_t at)
{
    struct mount *mount = open_listing_mount_of(listing);
    const struct node *node = listing->node, *parent = node->parent ? node->parent : node;
    const struct open_entry *entry = at < DOTS ? NULL : &listing->entries[at - DOTS];
    const char *name = entry ? open_entry_name(entry).data : at == 0 ? "." : "..";
    size_t room = reply->size - reply->used;
    struct fuse_entry_param param = {
        .attr = {.st_ino = at == 0 ? node->ino : parent->ino, .st_mode = S_IFDIR}};
    if (entry && open_listing_has_valid_node(listing, entry, reply->now_ms, reply->shorter_ms)) {
        int64_t left_ms =
            open_listing_ttl_left_ms(listing, entry, reply->now_ms, reply->shorter_ms);
        if (!entry->is_directory && left_ms > reply->hold_ms)
            left_ms = reply->hold_ms;
        reply_fill_entry(mount, entry->node, left_ms, &param);
    } else if (entry)
        param.attr = (struct stat){.st_ino = entry->has_node ? entry->node->ino : UINT32_MAX,
                                   .st_mode = entry->is_directory ? S_IFDIR : S_IFREG};
    size_t added =
        fuse_add_direntry_plus(reply->req, reply->bytes + reply->used, room, name, &param, at + 1);
    if (added > room)
        return false;
    reply->used += added;
    if (param.ino)
        nodes_look_up(mount->nodes, entry->node);
    return true;
}

/* Whether there is a reply from OFFSET on; if not, more entries may come. */
static bool open_listing_has_reply(const struct open_listing *listing, off_t offset)
{
    return offset < (off_t)listing->count + DOTS || open_listing_is_over(listing);
}

/* Whether an OPENDIR has a reply: the first page, the end, or an error. */
static bool open_listing_may_open(const struct open_listing *listing)
{
    return listing->has_begun || open_listing_is_over(listing);
}

/* Replies to an OPENDIR, which owns a handle. A listing that failed before its first page does not
 * open: some programs report no error of readdir. A name that is not found is an error here, and
 * ESTALE would make the kernel repeat the request. */
static void open_listing_reply_open(struct open_listing *listing, fuse_req_t req,
                                    struct fuse_file_info *info)
{
    const struct node *node = listing->node;
    bool ok = listing->has_begun || listing->state != LISTING_FAILED;
    if (ok && node->kind == NODE_DIRECTORY)
        recent_paths_note(open_listing_mount_of(listing), node->parent, node_name(node));
    info->fh = (uintptr_t)listing;
    if (!ok)
        fuse_reply_err(req, listing->error);
    if (!ok || fuse_reply_open(req, info) != 0)
        open_listing_close(listing);
}

/* Replies with the entries from OFFSET on. */
static void open_listing_reply(struct open_listing *listing, fuse_req_t req, size_t size,
                               off_t offset)
{
    off_t from = offset < 0 ? 0 : offset, at = from, end = (off_t)listing->count + DOTS;
    if (from >= end && listing->state == LISTING_FAILED) {
        /* the C library takes ENOENT for the end of a directory: it would look empty */
        fuse_reply_err(req, listing->error == ENOENT ? ESTALE : listing->error);
        return;
    }
    const struct tree *tree = &open_listing_mount_of(listing)->app->tree;
    struct open_reply reply = {
        .req = req,
        .now_ms = open_listing_now_ms(listing),
        .shorter_ms = open_listing_shorter_ms(listing),
        .hold_ms = listing->follows ? tree_hold_ms(tree, listing->place, INT64_MAX / 2) : INT64_MAX,
        .bytes = malloc(size),
        .size = size,
    };
    if (!reply.bytes) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    while (at < end && open_reply_add(&reply, listing, at))
        at++;
    bool ok = fuse_reply_buf(req, reply.bytes, reply.used) == 0;
    free(reply.bytes);
    for (off_t lost = from < DOTS ? DOTS : from; !ok && lost < at; lost++) {
        const struct open_entry *entry = &listing->entries[lost - DOTS];
        if (open_listing_has_valid_node(listing, entry, reply.now_ms, reply.shorter_ms))
            nodes_forget(open_listing_mount_of(listing)->nodes, entry->node->ino, 1);
    }
}

/* Entries as they come. */

static void open_listing_request_page(struct open_listing *listing, pid_t pid);

/* Adds a failure of the process PID to the journal. */
static void open_listing_note_failure(const struct open_listing *listing, pid_t pid, int error,
                                      const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(listing->node, span_text(""), &path);
    journal_error(open_listing_mount_of(listing)->journal, pid, buf_span(&path), error, err);
}

static pid_t open_listing_pid_of_reader(const struct open_listing *listing)
{
    const struct open_reader *reader = open_reader_first(listing);
    return reader ? reader->waiting.pid : 0;
}

/* Replies to the readers with entries, and requests more for the others. Each wait has a line in
 * the log. */
static void open_listing_reply_to_readers(struct open_listing *listing)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, word = {0};
    nodes_path(listing->node, span_text(""), &path);
    printable_add(&word, buf_span(&path), PRINTABLE_WORD);
    LIST_EACH_SAFE (struct open_reader, reader, &listing->readers, node) {
        if (reader->opens ? !open_listing_may_open(listing)
                          : !open_listing_has_reply(listing, reader->offset))
            continue;
        log_line(&open_listing_mount_of(listing)->app->log, LOG_LEVEL_INFO,
                 "pid=%d path=%s listed=%zu %s ms=%lld", (int)reader->waiting.pid, buf_text(&word),
                 listing->count, listing->error ? strerrorname_np(listing->error) : "ok",
                 (long long)(open_listing_now_ms(listing) - reader->waiting.since_ms));
        fuse_req_t req = waiting_take(&reader->waiting);
        if (reader->opens)
            open_listing_reply_open(listing, req, &reader->info);
        else
            open_listing_reply(listing, req, reader->size, reader->offset);
        open_reader_free(reader);
    }
    if (!list_is_empty(&listing->readers))
        open_listing_request_page(listing, open_listing_pid_of_reader(listing));
}

static void open_listing_fail(struct open_listing *listing, int error, const struct error *err)
{
    listing->error = error;
    open_listing_become(listing, LISTING_FAILED);
    open_listing_note_failure(listing, open_listing_pid_of_reader(listing), error, err);
}

/* The node of an entry whose content the listing has; NULL without content. */
static struct node *open_listing_node_of(struct open_listing *listing,
                                         const struct tree_entry *entry)
{
    struct mount *mount = open_listing_mount_of(listing);
    struct error ignored;
    if (entry->directory) {
        struct place *place = place_child(tree_list_place(listing->pages), entry->name,
                                          &mount->app->tree.names, &ignored);
        if (place && place_is_directory(place))
            return nodes_directory(mount->nodes, listing->node, entry->name, NODE_DIRECTORY, place);
        place_destroy(place);
        return NULL;
    }
    struct node_file file = {.kind = entry->link ? NODE_LINK : NODE_FILE,
                             .bytes = entry->content,
                             .keep = entry->link,
                             .secret = entry->secret,
                             .mtime = entry->mtime};
    return entry->size >= 0 ? nodes_file(mount->nodes, listing->node, entry->name, &file) : NULL;
}

/* An item that moved while its listing was read comes twice; it is listed once. False with ERR
 * filled. */
static bool open_listing_store_entry(struct open_listing *listing, const struct tree_entry *entry,
                                     struct error *err)
{
    if (entry->name.size > NAME_MAX_BYTES)
        return error_set(err, ERROR_BAD_ANSWER, "a name is longer than a file name can be");
    if (open_listing_find_entry(listing, entry->name))
        return true;
    return open_listing_add_entry(listing, entry->name, entry->directory,
                                  open_listing_node_of(listing, entry),
                                  open_listing_now_ms(listing) + entry->ttl_left_ms) ||
           error_no_memory(err);
}

/* Completes the listing with the rest of the whole listing before it, if that one begins with the
 * same entries. The budget does not change meanwhile: that might free it. */
static bool open_listing_substitute(struct open_listing *listing, const struct error *err)
{
    const struct open_listing *before = listing->before;
    struct mount *mount = open_listing_mount_of(listing);
    struct clock *clock = loop_clock(mount->app->loop);
    if (!open_listing_may_substitute(before) || listing->is_forgotten ||
        listing->count > before->count)
        return false;
    for (size_t i = 0; i < listing->count; i++)
        if (!span_equal(open_entry_name(&listing->entries[i]),
                        open_entry_name(&before->entries[i])))
            return false;
    int64_t until_ms = open_listing_now_ms(listing) + open_listing_stale_ttl_ms(before);
    for (size_t i = listing->count; i < before->count; i++) {
        const struct open_entry *entry = &before->entries[i];
        if (entry->has_node)
            nodes_pin(entry->node);
        if (!open_listing_add_entry(listing, open_entry_name(entry), entry->is_directory,
                                    open_entry_node(entry), until_ms))
            return false;
    }
    listing->fresh_until_ms = until_ms;
    listing->read_ms = before->read_ms;
    listing->stale_until_ms = before->stale_until_ms;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(listing->node, span_text(""), &path);
    journal_stale(mount->journal, open_listing_pid_of_reader(listing), buf_span(&path),
                  clock->wall_ms(clock) - (open_listing_now_ms(listing) - listing->read_ms), err);
    open_listing_become(listing, LISTING_WHOLE);
    return true;
}

/* Pages that were read earlier, for another reader, are as old as they were then. A table's
 * description limits the TTL of a listing that depends on it. */
static void open_listing_limit_freshness(struct open_listing *listing)
{
    const struct tree *tree = &open_listing_mount_of(listing)->app->tree;
    const struct place *place = tree_list_place(listing->pages);
    int64_t most_ms = open_listing_now_ms(listing) + tree_structure_ttl_ms(tree, place);
    if (place->table_name && listing->fresh_until_ms > most_ms)
        listing->fresh_until_ms = most_ms;
    struct walk_age age = tree_list_stats(listing->pages).age;
    int64_t older_ms = age.is_replayed ? listing->read_ms - age.since_ms : 0;
    if (older_ms <= 0)
        return;
    listing->read_ms -= older_ms;
    listing->fresh_until_ms -= older_ms;
    listing->stale_until_ms -= older_ms;
}

/* A limit refuses the page for the process PID, which may have its reply already. Readers with
 * another limit wait on, and the entries stay. */
static void open_listing_refuse(struct open_listing *listing, pid_t pid, const struct error *err)
{
    int error = error_errno(err->kind);
    listing->is_refused = true;
    open_listing_become(listing, LISTING_IDLE);
    LIST_EACH_SAFE (struct open_reader, reader, &listing->readers, node) {
        if (reader->waiting.pid != pid && err->kind != ERROR_TOO_FAST &&
            !account_shares_limit(listing->account, reader->waiting.pid))
            continue;
        open_listing_note_failure(listing, reader->waiting.pid, error, err);
        open_reader_fail(reader, error);
    }
    account_refuse(listing->account, error);
}

/* Ends the use of a handle by the code of LISTING itself. If another close has set its timer, that
 * frees it. */
static void open_listing_let_go(struct open_listing *listing)
{
    if (listing->timer)
        listing->handles--;
    else
        open_listing_close(listing);
}

static void open_listing_on_entries(void *arg, const struct tree_entry *entries, size_t count,
                                    bool more, const struct error *err)
{
    struct open_listing *listing = arg;
    struct error why;
    bool ok = !err;
    listing->handles++; /* if it was closed meanwhile, the budget would free it while it grows */
    uint32_t most = open_listing_mount_of(listing)->app->options->max_entries;
    open_listing_limit_freshness(listing);
    open_listing_take_ttl(listing);
    listing->page = listing->count;
    for (size_t i = 0; ok && i < count; i++)
        ok = open_listing_store_entry(listing, &entries[i], &why);
    if (!err && !ok)
        err = &why;
    if (!err) {
        listing->has_begun = listing->has_begun || tree_list_has_read(listing->pages);
        open_listing_become(listing, more ? LISTING_IDLE : LISTING_WHOLE);
    } else if (error_is_of_caller(err)) {
        open_listing_refuse(listing, listing->account->task, err);
        tree_list_end(listing->pages); /* its position is lost with the refused page */
        listing->pages = NULL;
        open_listing_end_account(listing, 0);
    } else if (!error_is_outage(err) || !open_listing_substitute(listing, err)) {
        open_listing_fail(listing, error_errno(err->kind), err);
    }
    /* Too many entries would fill the memory. The error is not EOVERFLOW, after which `ls` reads on
     * without an end. */
    if (listing->state != LISTING_FAILED && listing->count > most) {
        error_set(&why, ERROR_INVALID,
                  "the directory has more than %u entries; list a part of it, or raise "
                  "--max-entries",
                  (unsigned)most);
        open_listing_fail(listing, EFBIG, &why);
    }
    open_listing_count_memory(listing);
    accounts_identify(open_listing_mount_of(listing)); /* a page from memory charges nothing */
    open_listing_reply_to_readers(listing);
    open_listing_let_go(listing);
}

/* The account for the next page, of the task PID. False when memory ran out. */
static bool open_listing_open_account(struct open_listing *listing, pid_t pid)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (listing->account) {
        account_pass_on(listing->account, pid);
        return true;
    }
    nodes_path(listing->node, span_text(""), &path);
    if (!path.failed)
        listing->account = account_new(open_listing_mount_of(listing), pid, buf_span(&path));
    if (listing->account)
        account_note_read(listing->account, listing->place);
    return listing->account;
}

/* For the task PID. If its limits refuse the page, the next reader that still waits requests it. */
static void open_listing_request_page(struct open_listing *listing, pid_t pid)
{
    struct error why;
    if (listing->state != LISTING_IDLE)
        return;
    bool is_paid = open_listing_open_account(listing, pid);
    if (is_paid && listing->pages && place_is_listing(listing->place) &&
        !account_may_continue(listing->account, &why)) {
        open_listing_refuse(listing, pid, &why);
        if (!list_is_empty(&listing->readers))
            open_listing_request_page(listing, open_listing_pid_of_reader(listing));
        return;
    }
    open_listing_become(listing, LISTING_REQUESTED);
    if (listing->pages && is_paid) {
        if (listing->page >= READ_AHEAD_FROM)
            tree_list_read_all(listing->pages);
        tree_list_more(listing->pages);
        return;
    }
    if (is_paid)
        listing->pages = tree_list(&listing->account->tree, listing->place, true,
                                   open_listing_on_entries, listing);
    accounts_identify_soon(open_listing_mount_of(listing));
    if (!listing->pages) {
        open_listing_become(listing, LISTING_IDLE);
        open_listing_fail_readers(listing, ENOMEM);
    }
}

/* The page for the reader still comes, and is kept for the next reader. */
static void open_reader_on_over(void *arg, int error)
{
    struct open_reader *reader = arg;
    struct error why;
    error_set(&why, ERROR_TIMED_OUT, "no response in time");
    if (error == ETIMEDOUT)
        open_listing_note_failure(reader->listing, reader->waiting.pid, ETIMEDOUT, &why);
    open_reader_fail(reader, error);
}

/* REQ, which WANTED describes, waits for a page. */
static void open_listing_wait(struct open_listing *listing, fuse_req_t req,
                              const struct open_reader *wanted)
{
    pid_t pid = fuse_req_ctx(req)->pid; /* the request ends with its reply */
    struct open_reader *reader = malloc(sizeof *reader);
    if (!reader) {
        fuse_reply_err(req, ENOMEM);
        if (wanted->opens)
            open_listing_close(listing);
        return;
    }
    *reader = *wanted;
    reader->listing = listing;
    list_prepend(&listing->readers, &reader->node);
    if (waiting_start(&reader->waiting, open_listing_mount_of(listing), req,
                      open_listing_now_ms(listing), open_reader_on_over, reader))
        open_listing_request_page(listing, pid); /* which may free the reader */
    else
        open_reader_fail(reader, ENOMEM);
}

/* opendir of the C libraries has O_DIRECTORY. Programs that open any path, to change to it or to
 * lock it, do not, and read no entry: ADR 67. */
void open_listing_open(struct listings *listings, struct node *node, fuse_req_t req,
                       const struct fuse_file_info *info)
{
    struct open_listing *listing = open_listing_share(listings, node, fuse_req_ctx(req)->pid);
    struct open_reader wanted = {.opens = true, .info = *info};
    bool will_read = info->flags & O_DIRECTORY;
    if (!listing)
        fuse_reply_err(req, ENOMEM);
    else if (!will_read || open_listing_may_open(listing))
        open_listing_reply_open(listing, req, &wanted.info);
    else
        open_listing_wait(listing, req, &wanted);
}

void open_listing_read(struct open_listing *listing, fuse_req_t req, size_t size, off_t offset)
{
    pid_t pid = fuse_req_ctx(req)->pid; /* the request ends with its reply */
    if (!open_listing_has_reply(listing, offset)) {
        open_listing_wait(listing, req, &(struct open_reader){.size = size, .offset = offset});
        return;
    }
    open_listing_reply(listing, req, size, offset);
    if (listing->page >= READ_AHEAD_FROM && offset >= (off_t)listing->page)
        open_listing_request_page(listing, pid);
}
