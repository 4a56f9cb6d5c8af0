#include "fs/mount/open_listing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/base/arena.h"
#include "core/base/dict.h"
#include "core/base/printable.h"
#include "core/read/resolve.h"
#include "fs/mount/account.h"
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

/* What the allocator takes beside the bytes that were asked for, about. */
enum { OVERHEAD = 16 };

/* An entry that has come; there may be a million of them. */
struct open_entry {
    struct node *node;    /* pinned; NULL: it is looked up when somebody wants more than its name */
    const char *name;     /* ended by a NUL; the node's own, or in the arena */
    uint32_t good_for_ms; /* counted from the listing's beginning */
    uint16_t name_size;
    bool is_directory;
};

/* A READDIRPLUS that waits for entries. */
struct reader {
    struct open_listing *listing;
    struct waiting waiting;
    size_t size;
    off_t offset;
    struct reader *next;
};

/*
 *   state        what has come, and what a reader gets behind the last entry     may become
 *   IDLE         some; nobody has asked for more, or who did might not: whoever
 *                reads on does                                                   ASKED
 *   ASKED        some; a page is on its way: the reader waits                    any but ASKED
 *   WHOLE        everything: the end                                             -
 *   FAILED       some: the error that ended it                                   -
 *
 * PAGES is there in IDLE and ASKED alone (in IDLE not before the first page, and not when a page
 * was refused to who asked: then it begins anew, and what comes again is told once). Entries are
 * only ever added, and keep their offsets, in every state.
 */
enum open_listing_state { LISTING_IDLE, LISTING_ASKED, LISTING_WHOLE, LISTING_FAILED };

struct open_listing {
    struct listings *all;
    struct node *node;   /* pinned */
    struct place *place; /* owned: the node's own may be replaced; NULL in /.ddbfs */
    enum open_listing_state state;
    int error;                  /* of LISTING_FAILED */
    struct tree_listing *pages; /* where entries come from; owned */
    struct account *account;    /* who asked for them last, and what they took; NULL: nobody yet */
    struct arena names;         /* of entries without a node */
    size_t names_bytes;         /* what these take */
    struct open_entry *entries; /* owned, in the order of their offsets */
    size_t count, capacity;
    uint32_t *slots;   /* owned: entries by their names, as numbers from 1 on; 0: free */
    size_t slot_count; /* a power of two, more than half of them free */
    size_t page;       /* where the latest page begins */
    size_t memory;     /* what of it has been told to the budget */
    bool is_forgotten; /* what it knows may be old: names alone are told */
    bool is_refused;   /* somebody might not read on: who tries again goes on where that was */
    struct reader *readers;
    unsigned handles;       /* that have it open */
    int64_t since_ms;       /* when it began; its entries' times count from here */
    int64_t fresh_until_ms; /* when it may be shared no more */
    int64_t read_ms;        /* when the oldest of what it tells began to be read */
    int64_t stale_until_ms; /* when it may be told no more in an outage either */
    struct open_listing
        *before; /* the last whole one, for an outage while this one is read; NULL: none */
    struct open_listing *after; /* whose BEFORE this is */
    struct loop_timer *timer;   /* frees it then, while nobody has it open */
    struct open_listing *previous, *next;
};

struct listings {
    struct mount *mount;
    struct dict_seed seed; /* of the slots */
    struct open_listing *newest;
};

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
    return listing->state != LISTING_IDLE && listing->state != LISTING_ASKED;
}

/* Whether it is worth keeping while nobody has it open. */
static bool open_listing_is_kept(const struct open_listing *listing)
{
    return open_listing_is_over(listing) || listing->is_refused;
}

static bool open_listing_is_whole(const struct open_listing *listing)
{
    return listing->state == LISTING_WHOLE;
}

/* Whether it may be told if there is none that is fresh, and nobody can be asked for one. */
static bool open_listing_may_substitute(const struct open_listing *listing)
{
    return listing && open_listing_is_whole(listing) && !listing->is_forgotten &&
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

/* No page is asked for any more. */
static void open_listing_release_account(struct open_listing *listing, int error)
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
        tree_list_end(listing->pages); /* its last page is no more needed */
        listing->pages = NULL;
        open_listing_release_account(listing, listing->error);
    }
    struct open_listing *before = open_listing_is_whole(listing) ? listing->before : NULL;
    if (!before)
        return;
    open_listing_set_before(listing, NULL);
    if (before->handles == 0)
        open_listing_free(before);
}

/* Tells the budget how much there is of it by now. */
static void open_listing_count_memory(struct open_listing *listing)
{
    size_t memory = sizeof *listing + listing->capacity * sizeof *listing->entries +
                    listing->slot_count * sizeof *listing->slots + listing->names_bytes +
                    (size_t)3 * OVERHEAD;
    size_t before = listing->memory;
    listing->memory = memory;
    if (memory > before)
        budget_add(&open_listing_mount_of(listing)->budget, BUDGET_LISTINGS, memory - before);
}

/* Takes READER, whose request has its reply, out of its listing. */
static void open_listing_reader_free(struct reader *reader)
{
    struct reader **at = &reader->listing->readers;
    while (*at != reader)
        at = &(*at)->next;
    *at = reader->next;
    free(reader);
}

static void open_listing_fail_readers(struct open_listing *listing, int error)
{
    while (listing->readers) {
        waiting_fail(&listing->readers->waiting, error);
        open_listing_reader_free(listing->readers);
    }
}

static void open_listing_free(struct open_listing *listing)
{
    struct mount *mount = open_listing_mount_of(listing);
    *(listing->previous ? &listing->previous->next : &listing->all->newest) = listing->next;
    if (listing->next)
        listing->next->previous = listing->previous;
    if (listing->node->listing == listing)
        nodes_set_listing(listing->node, listing->before);
    open_listing_set_before(listing, NULL);
    if (listing->after)
        open_listing_set_before(listing->after, NULL);
    loop_remove_timer(listing->timer);
    open_listing_fail_readers(listing, EINTR);
    tree_list_end(listing->pages);
    open_listing_release_account(listing, 0);
    for (size_t i = 0; i < listing->count; i++)
        nodes_unpin(mount->nodes, listing->entries[i].node);
    nodes_unpin(mount->nodes, listing->node);
    place_destroy(listing->place);
    budget_remove(&mount->budget, BUDGET_LISTINGS, listing->memory);
    arena_clean_up(&listing->names);
    free(listing->slots);
    free(listing->entries);
    free(listing);
}

/* Frees the oldest of those that nobody has open. */
static bool open_listing_spare_oldest(void *arg)
{
    struct listings *listings = arg;
    struct open_listing *oldest = NULL;
    for (struct open_listing *each = listings->newest; each; each = each->next)
        if (each->handles == 0)
            oldest = each;
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
    if (getrandom(&listings->seed, sizeof listings->seed, 0) != (ssize_t)sizeof listings->seed)
        listings->seed = (struct dict_seed){0}; /* it works as well */
    mount->budget.spare[BUDGET_LISTINGS] = open_listing_spare_oldest;
    mount->budget.arg[BUDGET_LISTINGS] = listings;
    return listings;
}

void listings_destroy(struct listings *listings, int error)
{
    if (!listings)
        return;
    listings_fail_readers(listings, error);
    while (listings->newest)
        open_listing_free(listings->newest);
    listings->mount->budget.spare[BUDGET_LISTINGS] = NULL;
    free(listings);
}

void listings_fail_readers(struct listings *listings, int error)
{
    for (struct open_listing *each = listings->newest; each; each = each->next)
        open_listing_fail_readers(each, error);
}

bool listings_wait_for(const struct listings *listings, const struct node *node)
{
    for (const struct open_listing *each = listings->newest; each; each = each->next)
        if (each->node == node && each->readers)
            return true;
    return false;
}

/* How long what records say is good in a listing of PLACE: the names that a query told, or the
 * attributes of one record; else what the map alone tells. */
static int64_t open_listing_records_ttl_ms(const struct place *place)
{
    if (place->kind == PLACE_ATTRS)
        return place->route->file->ttl_ms;
    return place->kind == PLACE_DIRECTORY && place->route->list ? place->route->list->ttl_ms
                                                                : MAP_STRUCTURE_TTL_MS;
}

/* What /.ddbfs has is known; its refresh is not shown. */
static bool open_listing_list_control(struct open_listing *listing);

/* A new listing of NODE's, which the next to open it may share. */
static struct open_listing *open_listing_new(struct listings *listings, struct node *node)
{
    struct open_listing *listing = calloc(1, sizeof *listing);
    struct place *place = node->place ? place_copy(node->place) : NULL;
    if (!listing || (node->place && !place)) {
        free(listing);
        place_destroy(place);
        return NULL;
    }
    listing->all = listings;
    listing->node = node;
    listing->place = place;
    listing->since_ms = open_listing_now_ms(listing);
    listing->fresh_until_ms = listing->since_ms + (place ? open_listing_records_ttl_ms(place) : 0);
    listing->read_ms = listing->since_ms;
    listing->stale_until_ms =
        listing->fresh_until_ms + (place ? open_listing_mount_of(listing)->app->tree.stale_ms : 0);
    listing->next = listings->newest;
    if (listing->next)
        listing->next->previous = listing;
    listings->newest = listing;
    nodes_pin(node);
    struct open_listing *old = node->listing;
    nodes_set_listing(node, listing);
    if (old)
        open_listing_set_before(listing, open_listing_may_substitute(old) ? old : old->before);
    if (old && old != listing->before && old->handles == 0)
        open_listing_free(old);
    if (!place && !open_listing_list_control(listing)) {
        open_listing_free(listing);
        return NULL;
    }
    return listing;
}

/* One that met an error is asked for anew by whoever comes next. */
static bool open_listing_is_fresh(const struct open_listing *listing)
{
    return listing && listing->state != LISTING_FAILED &&
           open_listing_now_ms(listing) < listing->fresh_until_ms;
}

/* Who shares what another has read is told from memory. */
static void open_listing_note_shared(const struct open_listing *listing, pid_t pid)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(listing->node, span_text(""), &path);
    if (listing->place && !path.failed)
        account_note_cached(open_listing_mount_of(listing), pid, buf_span(&path), listing->place);
}

struct open_listing *open_listing_open(struct listings *listings, struct node *node, pid_t pid)
{
    bool is_shared = open_listing_is_fresh(node->listing);
    struct open_listing *listing = is_shared ? node->listing : open_listing_new(listings, node);
    if (!listing)
        return NULL;
    if (is_shared)
        open_listing_note_shared(listing, pid);
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

/* One to which nothing will be added is kept for others as long as it is fresh, or may stand in for
 * one that is; and one that nobody could pay for yet. */
void open_listing_close(struct open_listing *listing)
{
    if (--listing->handles > 0)
        return;
    bool is_latest = listing->node->listing == listing || listing->after;
    int64_t until_ms =
        open_listing_may_substitute(listing) ? listing->stale_until_ms : listing->fresh_until_ms;
    if (is_latest && open_listing_is_kept(listing) &&
        (open_listing_is_fresh(listing) || open_listing_may_substitute(listing)))
        listing->timer = loop_add_timer(open_listing_mount_of(listing)->app->loop,
                                        until_ms - open_listing_now_ms(listing),
                                        open_listing_on_expiry, listing);
    if (!listing->timer)
        open_listing_free(listing);
}

/* Entries by their names. */

static struct span open_listing_name_of(const struct open_entry *entry)
{
    return span_of(entry->name, entry->name_size);
}

/* The slot that has the entry NAME, or the free one where it belongs. */
static uint32_t *open_listing_slot_of(const struct open_listing *listing, struct span name)
{
    size_t mask = listing->slot_count - 1;
    size_t at = dict_hash(listing->all->seed, name) & mask;
    while (listing->slots[at] &&
           !span_equal(open_listing_name_of(&listing->entries[listing->slots[at] - 1]), name))
        at = (at + 1) & mask;
    return &listing->slots[at];
}

static struct open_entry *open_listing_find_entry(const struct open_listing *listing,
                                                  struct span name)
{
    uint32_t number = listing->slot_count ? *open_listing_slot_of(listing, name) : 0;
    return number ? &listing->entries[number - 1] : NULL;
}

static bool open_listing_make_room(struct open_listing *listing)
{
    if (listing->count < listing->capacity)
        return true;
    size_t capacity = listing->capacity ? listing->capacity * 2 : 16;
    struct open_entry *entries = realloc(listing->entries, capacity * sizeof *entries);
    if (entries)
        listing->entries = entries;
    uint32_t *slots = calloc(capacity * 2, sizeof *slots);
    if (!entries || !slots) {
        free(slots);
        return false;
    }
    free(listing->slots);
    listing->slots = slots;
    listing->slot_count = capacity * 2;
    listing->capacity = capacity;
    for (size_t i = 0; i < listing->count; i++)
        *open_listing_slot_of(listing, open_listing_name_of(&listing->entries[i])) =
            (uint32_t)i + 1;
    return true;
}

/* A copy of NAME for an entry without a node; NULL when memory ran out. */
static const char *open_listing_store_name(struct open_listing *listing, struct span name)
{
    listing->names_bytes += name.size + OVERHEAD;
    return arena_text(&listing->names, name);
}

/* Adds an entry; takes the pin on NODE, which may be NULL. False when memory ran out. */
static bool open_listing_add_entry(struct open_listing *listing, struct span name,
                                   bool is_directory, struct node *node, int64_t good_until_ms)
{
    const char *text = node ? node->name.data : open_listing_store_name(listing, name);
    if (!text || !open_listing_make_room(listing)) {
        nodes_unpin(open_listing_mount_of(listing)->nodes, node);
        return false;
    }
    int64_t good_for_ms = good_until_ms - listing->since_ms;
    listing->entries[listing->count++] = (struct open_entry){
        .node = node,
        .name = text,
        .good_for_ms = good_for_ms < UINT32_MAX ? (uint32_t)good_for_ms : UINT32_MAX,
        .name_size = (uint16_t)name.size,
        .is_directory = is_directory,
    };
    *open_listing_slot_of(listing, name) = (uint32_t)listing->count;
    return true;
}

static int64_t open_listing_ttl_left_ms(const struct open_listing *listing,
                                        const struct open_entry *entry, int64_t now)
{
    return listing->since_ms + entry->good_for_ms - now;
}

/* For how long what is too old is believed: no longer than a miss. */
static int64_t open_listing_stale_ttl_ms(const struct open_listing *listing)
{
    int64_t left_ms = listing->stale_until_ms - open_listing_now_ms(listing);
    int64_t ttl_ms = listing->place ? open_listing_records_ttl_ms(listing->place) : 0;
    int64_t most_ms = ttl_ms < MAP_MISSING_TTL_MS ? ttl_ms : MAP_MISSING_TTL_MS;
    return left_ms < most_ms ? left_ms : most_ms;
}

struct node *open_listing_find(const struct node *node, struct span name, int64_t *left_ms)
{
    const struct open_listing *listing = node->listing;
    const struct open_entry *entry = listing ? open_listing_find_entry(listing, name) : NULL;
    if (!entry || !entry->node)
        return NULL;
    *left_ms = open_listing_ttl_left_ms(listing, entry, open_listing_now_ms(listing));
    return *left_ms > 0 ? entry->node : NULL;
}

struct node *open_listing_find_stale(const struct node *node, struct span name, int64_t *left_ms,
                                     int64_t *read_ms)
{
    const struct open_listing *listing = node->listing;
    if (listing && !open_listing_may_substitute(listing))
        listing = listing->before;
    const struct open_entry *entry =
        open_listing_may_substitute(listing) ? open_listing_find_entry(listing, name) : NULL;
    if (!entry || !entry->node)
        return NULL;
    *left_ms = open_listing_stale_ttl_ms(listing);
    *read_ms = listing->read_ms;
    return entry->node;
}

/* The entry NAME may have changed: it is told by its name alone from now on. Without memory for
 * that name it is told as before, for what is left of its time. */
static void open_listing_forget_entry(struct open_listing *listing, struct span name)
{
    struct open_entry *entry = open_listing_find_entry(listing, name);
    const char *text = entry && entry->node ? open_listing_store_name(listing, name) : NULL;
    if (!text)
        return;
    nodes_unpin(open_listing_mount_of(listing)->nodes, entry->node);
    entry->node = NULL;
    entry->name = text;
}

void listings_forget(struct listings *listings, struct span path)
{
    struct open_listing *next;
    for (struct open_listing *each = listings->newest; each; each = next) {
        CLEAN_UP(buf_clean_up) struct buf where = {0};
        next = each->next;
        nodes_path(each->node, span_text(""), &where);
        if (nodes_is_below(buf_span(&where), path)) {
            open_listing_set_before(each, NULL);
            if (each->after)
                open_listing_set_before(each->after, NULL);
            nodes_set_listing(each->node, NULL);
            each->is_forgotten = true;
            if (each->handles == 0)
                open_listing_free(each);
        } else if (nodes_is_below(path, buf_span(&where))) {
            open_listing_forget_entry(each, span_from(path, where.size + (where.size > 1)));
        }
    }
}

/* Telling the kernel. */

/* Whether the kernel is told of the entry's node, and not of its name alone. */
static bool open_listing_is_reported(const struct open_listing *listing,
                                     const struct open_entry *entry, int64_t now)
{
    return entry->node && !listing->is_forgotten &&
           open_listing_ttl_left_ms(listing, entry, now) > -GRACE_MS;
}

static void open_listing_fill_entry(const struct open_listing *listing,
                                    const struct open_entry *entry, int64_t now,
                                    struct fuse_entry_param *out)
{
    if (open_listing_is_reported(listing, entry, now)) {
        reply_fill_entry(open_listing_mount_of(listing), entry->node,
                         open_listing_ttl_left_ms(listing, entry, now), out);
        return;
    }
    *out = (struct fuse_entry_param){.attr = {.st_ino = entry->node ? entry->node->ino : UINT32_MAX,
                                              .st_mode = entry->is_directory ? S_IFDIR : S_IFREG}};
}

/* "." and "..", which the kernel does not look up. */
static void open_listing_fill_dots(const struct open_listing *listing, off_t at,
                                   struct fuse_entry_param *out)
{
    const struct node *node = listing->node;
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
static bool open_listing_report(struct open_listing *listing, struct telling *telling, off_t at)
{
    struct fuse_entry_param param;
    const char *name = at == 0 ? "." : "..";
    size_t room = telling->size - telling->used;
    const struct open_entry *entry = at < DOTS ? NULL : &listing->entries[at - DOTS];
    if (entry) {
        name = entry->name;
        open_listing_fill_entry(listing, entry, telling->now_ms, &param);
    } else {
        open_listing_fill_dots(listing, at, &param);
    }
    size_t added = fuse_add_direntry_plus(telling->req, telling->bytes + telling->used, room, name,
                                          &param, at + 1);
    if (added > room)
        return false;
    telling->used += added;
    if (param.ino)
        nodes_look_up(open_listing_mount_of(listing)->nodes, entry->node);
    return true;
}

/* The kernel has not got the entries from FROM to END: it knows nothing of them. */
static void open_listing_take_back(struct open_listing *listing, const struct telling *telling,
                                   off_t from, off_t end)
{
    for (off_t at = from < DOTS ? DOTS : from; at < end; at++) {
        const struct open_entry *entry = &listing->entries[at - DOTS];
        if (open_listing_is_reported(listing, entry, telling->now_ms))
            nodes_forget(open_listing_mount_of(listing)->nodes, entry->node->ino, 1);
    }
}

/* Whether there is an answer from OFFSET on; if not, more may come. */
static bool open_listing_has_answer(const struct open_listing *listing, off_t offset)
{
    return offset < (off_t)listing->count + DOTS || open_listing_is_over(listing);
}

/* Answers with what is there from OFFSET on. */
static void open_listing_answer(struct open_listing *listing, fuse_req_t req, size_t size,
                                off_t offset)
{
    off_t from = offset < 0 ? 0 : offset, at = from, end = (off_t)listing->count + DOTS;
    if (from >= end && listing->state == LISTING_FAILED) {
        fuse_reply_err(req, listing->error);
        return;
    }
    struct telling telling = {
        .req = req, .now_ms = open_listing_now_ms(listing), .bytes = malloc(size), .size = size};
    if (!telling.bytes) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    while (at < end && open_listing_report(listing, &telling, at))
        at++;
    if (fuse_reply_buf(req, telling.bytes, telling.used) != 0)
        open_listing_take_back(listing, &telling, from, at);
    free(telling.bytes);
}

/* Entries as they come. */

static void open_listing_request_more(struct open_listing *listing, pid_t pid);

/* One line for each wait: who listed what, and how long that took. */
static void open_listing_note_wait(const struct reader *reader)
{
    const struct open_listing *listing = reader->listing;
    CLEAN_UP(buf_clean_up) struct buf path = {0}, word = {0};
    nodes_path(listing->node, span_text(""), &path);
    printable_add(&word, buf_span(&path), PRINTABLE_WORD);
    log_line(&open_listing_mount_of(listing)->app->log, LOG_LEVEL_INFO,
             "pid=%d path=%s listed=%zu %s ms=%lld", (int)reader->waiting.pid, buf_text(&word),
             listing->count, listing->error ? strerrorname_np(listing->error) : "ok",
             (long long)(open_listing_now_ms(listing) - reader->waiting.since_ms));
}

/* A failure that the process PID met leaves its reason. */
static void open_listing_note_failure(const struct open_listing *listing, pid_t pid, int error,
                                      const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(listing->node, span_text(""), &path);
    journal_error(open_listing_mount_of(listing)->journal, pid, buf_span(&path), error, err);
}

static pid_t open_listing_pid_of_reader(const struct open_listing *listing)
{
    return listing->readers ? listing->readers->waiting.pid : 0;
}

static void open_listing_answer_readers(struct open_listing *listing)
{
    struct reader *next;
    for (struct reader *reader = listing->readers; reader; reader = next) {
        next = reader->next;
        if (!open_listing_has_answer(listing, reader->offset))
            continue;
        open_listing_note_wait(reader);
        open_listing_answer(listing, waiting_take(&reader->waiting), reader->size, reader->offset);
        open_listing_reader_free(reader);
    }
    if (listing->readers)
        open_listing_request_more(listing, open_listing_pid_of_reader(listing));
}

static void open_listing_fail(struct open_listing *listing, int error, const struct error *err)
{
    listing->error = error;
    open_listing_become(listing, LISTING_FAILED);
    open_listing_note_failure(listing, open_listing_pid_of_reader(listing), error, err);
}

static void open_listing_note_stale(const struct open_listing *listing, const struct error *err)
{
    struct mount *mount = open_listing_mount_of(listing);
    struct clock *clock = loop_clock(mount->app->loop);
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    nodes_path(listing->node, span_text(""), &path);
    journal_stale(mount->journal, open_listing_pid_of_reader(listing), buf_span(&path),
                  clock->wall_ms(clock) - (open_listing_now_ms(listing) - listing->read_ms), err);
}

/* The C library takes ENOENT for a directory's end: what is missing would look empty. */
static int open_listing_errno(enum error_kind kind)
{
    return kind == ERROR_NOT_FOUND ? ESTALE : error_errno(kind);
}

/* The node of an entry whose content the listing brought; NULL where it brought none. */
static struct node *open_listing_node_of(struct open_listing *listing,
                                         const struct tree_entry *entry)
{
    struct nodes *nodes = open_listing_mount_of(listing)->nodes;
    const struct tree *tree = &open_listing_mount_of(listing)->app->tree;
    struct error ignored;
    if (entry->directory) {
        const struct place *directory = tree_list_place(listing->pages);
        struct place *place = place_child(directory, entry->name, &tree->names, &ignored);
        if (place && place_is_directory(place))
            return nodes_directory(nodes, listing->node, entry->name, NODE_DIRECTORY, place);
        place_destroy(place);
        return NULL;
    }
    struct node_file file = {.kind = entry->link ? NODE_LINK : NODE_FILE,
                             .bytes = entry->content,
                             .keep = entry->link,
                             .secret = entry->secret,
                             .mtime = entry->mtime};
    return entry->size >= 0 ? nodes_file(nodes, listing->node, entry->name, &file) : NULL;
}

/* A record that moved while its listing was read comes twice; it is told once. False with ERR
 * filled when the entry can't be told. */
static bool open_listing_store_entry(struct open_listing *listing, const struct tree_entry *entry,
                                     struct error *err)
{
    if (entry->name.size > NAME_MAX_BYTES)
        return error_set(err, ERROR_BAD_ANSWER, "a name is longer than a file's can be");
    if (open_listing_find_entry(listing, entry->name))
        return true;
    return open_listing_add_entry(listing, entry->name, entry->directory,
                                  open_listing_node_of(listing, entry),
                                  open_listing_now_ms(listing) + entry->ttl_left_ms) ||
           error_no_memory(err);
}

/* A listing is whole, or it ends in an error: too many entries would fill the memory. Not in
 * EOVERFLOW, after which `ls` reads on, and on. */
static void open_listing_fail_when_too_large(struct open_listing *listing)
{
    struct error why;
    uint32_t most = open_listing_mount_of(listing)->app->options->max_entries;
    if (listing->state == LISTING_FAILED || listing->count <= most)
        return;
    error_set(&why, ERROR_INVALID,
              "more than %u entries; ask for fewer of them, or allow more with --max-entries",
              (unsigned)most);
    open_listing_fail(listing, EFBIG, &why);
}

/* Goes on with what the whole listing before told, if all that has come so far is how that one
 * began. Nothing is added to the budget meanwhile, which might free it. */
static bool open_listing_substitute(struct open_listing *listing, const struct error *err)
{
    const struct open_listing *before = listing->before;
    if (!open_listing_may_substitute(before) || listing->is_forgotten ||
        listing->count > before->count)
        return false;
    for (size_t i = 0; i < listing->count; i++)
        if (!span_equal(open_listing_name_of(&listing->entries[i]),
                        open_listing_name_of(&before->entries[i])))
            return false;
    int64_t until_ms = open_listing_now_ms(listing) + open_listing_stale_ttl_ms(before);
    for (size_t i = listing->count; i < before->count; i++) {
        const struct open_entry *entry = &before->entries[i];
        if (entry->node)
            nodes_pin(entry->node);
        if (!open_listing_add_entry(listing, open_listing_name_of(entry), entry->is_directory,
                                    entry->node, until_ms))
            return false;
    }
    listing->fresh_until_ms = until_ms;
    listing->read_ms = before->read_ms;
    listing->stale_until_ms = before->stale_until_ms;
    open_listing_note_stale(listing, err);
    open_listing_become(listing, LISTING_WHOLE);
    return true;
}

/* What has been read before, for somebody else, is as old as it was then. */
static void open_listing_note_age(struct open_listing *listing)
{
    struct walk_age age = tree_list_stats(listing->pages).age;
    int64_t older_ms = age.is_told_again ? listing->read_ms - age.since_ms : 0;
    if (older_ms <= 0)
        return;
    listing->read_ms -= older_ms;
    listing->fresh_until_ms -= older_ms;
    listing->stale_until_ms -= older_ms;
}

/* What a table's description tells is shared for as long as that is believed. */
static void open_listing_shorten_freshness(struct open_listing *listing)
{
    const struct tree *tree = &open_listing_mount_of(listing)->app->tree;
    const struct place *place = tree_list_place(listing->pages);
    int64_t most_ms = open_listing_now_ms(listing) + tree_structure_ttl_ms(tree, place);
    if (place->table_name && listing->fresh_until_ms > most_ms)
        listing->fresh_until_ms = most_ms;
}

/* Who asked for the page may not read so much; others may, and what has come stays. PID is his, if
 * he has not been answered before. */
static void open_listing_refuse(struct open_listing *listing, pid_t pid, const struct error *err)
{
    struct reader *next;
    int error = error_errno(err->kind);
    listing->is_refused = true;
    open_listing_become(listing, LISTING_IDLE);
    for (struct reader *reader = listing->readers; reader; reader = next) {
        next = reader->next;
        if (reader->waiting.pid != pid && err->kind != ERROR_TOO_FAST &&
            !account_shares_limit(listing->account, reader->waiting.pid))
            continue;
        open_listing_note_failure(listing, reader->waiting.pid, error, err);
        waiting_fail(&reader->waiting, error);
        open_listing_reader_free(reader);
    }
    account_refuse(listing->account, error);
}

/* A page was refused: where its pages stood is not known any more. */
static void open_listing_refuse_page(struct open_listing *listing, const struct error *err)
{
    open_listing_refuse(listing, listing->account->process.id.pid, err);
    tree_list_end(listing->pages);
    listing->pages = NULL;
    open_listing_release_account(listing, 0);
}

static void open_listing_take_entries(void *arg, const struct tree_entry *entries, size_t count,
                                      bool more, const struct error *err)
{
    struct open_listing *listing = arg;
    struct error why;
    bool ok = !err;
    open_listing_shorten_freshness(listing);
    open_listing_note_age(listing);
    listing->page = listing->count;
    for (size_t i = 0; ok && i < count; i++)
        ok = open_listing_store_entry(listing, &entries[i], &why);
    if (!err && !ok)
        err = &why;
    if (!err)
        open_listing_become(listing, more ? LISTING_IDLE : LISTING_WHOLE);
    else if (error_is_of_caller(err))
        open_listing_refuse_page(listing, err);
    else if (!error_is_outage(err) || !open_listing_substitute(listing, err))
        open_listing_fail(listing, open_listing_errno(err->kind), err);
    open_listing_fail_when_too_large(listing);
    open_listing_count_memory(listing);
    open_listing_answer_readers(listing);
}

/* Whoever wants the next page pays for it. */
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

/* Whether the account's asker may have a further page; where he may not, those who wait and may are
 * served. */
static bool open_listing_may_continue(struct open_listing *listing, pid_t pid)
{
    struct error why;
    if (!listing->pages || !place_is_listing(listing->place) ||
        account_may_continue(listing->account, &why))
        return true;
    open_listing_refuse(listing, pid, &why);
    if (listing->readers)
        open_listing_request_more(listing, open_listing_pid_of_reader(listing));
    return false;
}

/* For the task PID. */
static void open_listing_request_more(struct open_listing *listing, pid_t pid)
{
    if (listing->state != LISTING_IDLE)
        return;
    bool is_paid = open_listing_open_account(listing, pid);
    if (is_paid && !open_listing_may_continue(listing, pid))
        return;
    open_listing_become(listing, LISTING_ASKED);
    if (listing->pages && is_paid) {
        if (listing->page >= READ_AHEAD_FROM) /* who has come so far reads to the end */
            tree_list_read_all(listing->pages);
        tree_list_more(listing->pages);
        return;
    }
    if (is_paid)
        listing->pages = tree_list(&listing->account->tree, listing->place, true,
                                   open_listing_take_entries, listing);
    if (!listing->pages) {
        open_listing_become(listing, LISTING_IDLE);
        open_listing_fail_readers(listing, ENOMEM);
    }
}

static bool open_listing_list_control(struct open_listing *listing)
{
    bool ok = true;
    for (size_t i = 0; listing->node->kind == NODE_CONTROL && control_names[i]; i++)
        ok = ok && open_listing_add_entry(listing, span_text(control_names[i]), false, NULL, 0);
    open_listing_become(listing, LISTING_WHOLE);
    return ok;
}

/* The page that it waited for still comes, and is kept for the next reader. */
static void open_listing_abandon(void *arg, int error)
{
    struct reader *reader = arg;
    struct error why;
    error_set(&why, ERROR_TIMED_OUT, "no response in time");
    if (error == ETIMEDOUT)
        open_listing_note_failure(reader->listing, reader->waiting.pid, ETIMEDOUT, &why);
    open_listing_reader_free(reader);
}

static void open_listing_wait_for_entries(struct open_listing *listing, fuse_req_t req, size_t size,
                                          off_t offset)
{
    struct mount *mount = open_listing_mount_of(listing);
    struct reader *reader = calloc(1, sizeof *reader);
    pid_t pid = fuse_req_ctx(req)->pid; /* which may be answered, and gone, before it is needed */
    if (!reader) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    *reader = (struct reader){
        .listing = listing, .size = size, .offset = offset, .next = listing->readers};
    listing->readers = reader;
    if (!waiting_start(&reader->waiting, mount, req, open_listing_now_ms(listing),
                       open_listing_abandon, reader)) {
        open_listing_reader_free(reader);
        return;
    }
    open_listing_request_more(
        listing, pid); /* which may answer it at once; and the reader may be gone already */
}

void open_listing_read(struct open_listing *listing, fuse_req_t req, size_t size, off_t offset)
{
    if (!open_listing_has_answer(listing, offset)) {
        open_listing_wait_for_entries(listing, req, size, offset);
        return;
    }
    pid_t pid = fuse_req_ctx(req)->pid; /* the reply is the request's end */
    open_listing_answer(listing, req, size, offset);
    if (listing->page >= READ_AHEAD_FROM && offset >= (off_t)listing->page)
        open_listing_request_more(listing, pid);
}
