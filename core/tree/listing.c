/* Listings: what the map puts into a directory, then what the source has, page by page. */
#include <stdlib.h>

#include "core/base/dict.h"
#include "core/tree/bind.h"
#include "core/tree/entries.h"
#include "core/tree/fetch.h"
#include "core/tree/file.h"
#include "core/tree/hydrate.h"
#include "core/tree/tree.h"

/* A directory that an entry brought along: another entry of the same parts brings it too. */
struct follower {
    struct dict_node node; /* first, so that a node is a follower */
    char name[];
};

/* An entry whose record must be read before it can be described. */
struct wanted {
    struct key key;
    size_t entry;
};

/* A page may hold many thousand keys, of records that together would fill the memory. So they are
 * read in slices: one request's worth of keys at first, and then as many as may bring so many
 * bytes. */
enum { SLICE_BYTES = 8 << 20, SLICE_MAX = 16 * READ_MAX_KEYS };

struct tree_listing {
    const struct tree *tree;
    const struct place *place;
    bool full;
    tree_entries_fn *fn;
    void *arg;

    struct entries entries; /* of the page in hand */
    struct loop_timer *timer;

    struct source *source; /* of the query under way */
    struct read *read;
    struct source_call *call;
    const struct map_environment *environment; /* whose tables are being asked for */
    struct place asking;                       /* for them: a place in that environment */

    struct arena keys;     /* of the page's keys, as long as their records are being read */
    struct wanted *wanted; /* owned; in the order of the entries, but for the slice in hand */
    size_t wanted_count;
    size_t wanted_from; /* where the slice in hand begins, and where it ends */
    size_t wanted_to;
    size_t described; /* records of this listing, and what their files have in bytes */
    size_t described_bytes;
    size_t told;           /* entries of the page that have been delivered */
    struct arena contents; /* of the entries that are being delivered */
    struct hydrate *hydrate;
    bool more; /* the source has a page after that in hand */

    struct fetch *fetch;   /* of the record whose attributes are listed */
    size_t listed;         /* entries that the query brought, counted for a limit */
    struct dict followers; /* owns them */
    bool unreadable;       /* an item was none */
    size_t strangers;      /* items that are no entry and no declared kind */
};

static void end_call(struct tree_listing *listing)
{
    if (listing->call)
        listing->source->ops->end(listing->call);
    listing->call = NULL;
    read_destroy(listing->read);
    listing->read = NULL;
}

static void clear_keys(struct tree_listing *listing)
{
    arena_clean_up(&listing->keys);
    free(listing->wanted);
    listing->wanted = NULL;
    listing->wanted_count = 0;
    listing->wanted_from = 0;
    listing->wanted_to = 0;
    listing->told = 0;
}

static void clear_followers(struct tree_listing *listing)
{
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(&listing->followers, &from));) {
        dict_remove(&listing->followers, node);
        free(node);
    }
    dict_clean_up(&listing->followers);
}

void tree_list_end(struct tree_listing *listing)
{
    if (!listing)
        return;
    loop_remove_timer(listing->timer);
    hydrate_cancel(listing->hydrate);
    fetch_cancel(listing->fetch);
    end_call(listing);
    clear_keys(listing);
    clear_followers(listing);
    entries_clean_up(&listing->entries);
    arena_clean_up(&listing->contents);
    free(listing);
}

static void fail(struct tree_listing *listing, const struct error *err)
{
    listing->fn(listing->arg, NULL, 0, false, err);
}

static void deliver_range(struct tree_listing *listing, size_t from, size_t count, bool more)
{
    struct error why;
    if (listing->entries.failed || listing->contents.failed) {
        error_no_memory(&why);
        fail(listing, &why);
        return;
    }
    if (listing->unreadable) {
        error_set(&why, ERROR_BAD_ANSWER, "an item of the listing is not understood");
        fail(listing, &why);
        return;
    }
    listing->fn(listing->arg, listing->entries.items + from, count, more, NULL);
}

static void deliver(struct tree_listing *listing, bool more)
{
    deliver_range(listing, 0, listing->entries.count, more);
}

/* What the map says of the first parameter of a segment. */
static const char *hint_for(const struct place *place, const struct route *child)
{
    for (size_t i = 0; i < child->segment.count; i++) {
        const char *name = child->segment.pieces[i].param;
        const struct map_param *param = name ? model_find_param(place->table, name) : NULL;
        if (param && param->hint)
            return param->hint;
    }
    return NULL;
}

/* The end of a directory of which a part can't be listed is an error that says what to type. */
static void say_unlisted(struct tree_listing *listing, const struct route *child)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf segment = {0};
    format_write(&child->segment, &segment);
    const char *slash = child->file ? "" : "/", *hint = hint_for(listing->place, child);
    error_set(&why, ERROR_NOT_LISTABLE,
              "%s%s can't be listed, since no key leads to all of them; type one: …/%s%s%s%s",
              buf_text(&segment), slash, buf_text(&segment), slash, hint ? "; " : "",
              hint ? hint : "");
    fail(listing, &why);
}

/* A sibling that the map declares by a literal may be the same record: the whole of it, not one
 * attribute's bare value. */
static bool is_declared(struct tree_listing *listing, const struct key *key)
{
    const struct route *child = listing->place->route->children;
    for (; child; child = child->next) {
        struct error why = {0};
        struct bindings parts = {0};
        if (child->entry || !child->file || !child->file->by_key || child->file->attribute ||
            !format_is_literal(&child->segment) ||
            !bind_is_kind(listing->place, child->kind, key, &parts))
            continue;
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        struct place place = *listing->place;
        struct key declared;
        place.route = child;
        if (bind_key(&place, &arena, &declared, &why) && key_compare(&declared, key) == 0)
            return true;
        if (why.kind == ERROR_NO_MEMORY)
            listing->entries.failed = true;
    }
    return false;
}

static bool add_follower(struct tree_listing *listing, struct span name)
{
    if (dict_find(&listing->followers, name))
        return true;
    struct follower *follower = calloc(1, sizeof *follower + name.size);
    if (!follower)
        return false;
    memcpy(follower->name, name.data, name.size);
    follower->node.key = span_of(follower->name, name.size);
    dict_add(&listing->followers, &follower->node);
    return entries_add(&listing->entries, name, true);
}

static void add_followers(struct tree_listing *listing, const struct route *entry,
                          const struct bindings *parts)
{
    const struct place *place = listing->place;
    for (const struct route *child = place->route->children; child; child = child->next) {
        if (child->entry || child->file || format_is_literal(&child->segment) ||
            !entries_follow(child, entry, &place->bindings))
            continue;
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        if (!place_segment_name(place, child, parts, &listing->tree->names, &name) ||
            !add_follower(listing, buf_span(&name)))
            listing->entries.failed = true;
    }
}

/* An item that can't be shown ends the listing in an error: it must not pass for one that is
 * gone. */
static void describe(struct tree_listing *listing, struct tree_entry *entry, struct json item)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    const struct place *place = listing->place;
    if (!file_write_record(listing->tree, place->table, item, &bytes)) {
        listing->entries.failed = listing->entries.failed || bytes.failed;
        listing->unreadable = true;
        return;
    }
    entry->content = arena_copy(&listing->contents, buf_span(&bytes));
    listing->described++;
    listing->described_bytes += bytes.size;
    entry->size = (int64_t)bytes.size;
    entry->mtime_ms = file_mtime_ms(place->route->list, item);
}

static bool want(struct tree_listing *listing, const struct key *key, size_t page_size)
{
    if (!listing->wanted)
        listing->wanted = calloc(page_size, sizeof *listing->wanted);
    if (!listing->wanted)
        return false;
    listing->wanted[listing->wanted_count++] = (struct wanted){*key, listing->entries.count - 1};
    return true;
}

static bool add_entry(struct tree_listing *listing, const struct route *entry,
                      const struct bindings *parts, const struct key *key, struct json item,
                      size_t page_size)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct place *place = listing->place;
    if (!place_entry_name(place, entry, parts, &listing->tree->names, &name))
        return false;
    struct tree_entry *added = entries_add(&listing->entries, buf_span(&name), false);
    if (!added)
        return false;
    if (listing->full && !place->route->list->hydrates)
        describe(listing, added, item);
    if (listing->full && place->route->list->hydrates && !want(listing, key, page_size))
        return false;
    listing->listed++;
    add_followers(listing, entry, parts);
    return true;
}

static bool add_item(struct tree_listing *listing, struct json item, size_t page_size)
{
    const struct place *place = listing->place;
    struct key key;
    struct bindings parts = {0};
    bool known = bind_item_key(place->table, item, &listing->keys, &key);
    const struct route *entry = known ? bind_entry(place, place->route, &key, &parts) : NULL;
    if (listing->keys.failed)
        return false;
    if (!entry) {
        listing->strangers += !known || !bind_is_declared(place->table, &key);
        return true;
    }
    return is_declared(listing, &key) || add_entry(listing, entry, &parts, &key, item, page_size);
}

static int order_wanted(const void *a, const void *b)
{
    return key_compare(&((const struct wanted *)a)->key, &((const struct wanted *)b)->key);
}

static void take_record(void *arg, struct json item)
{
    struct tree_listing *listing = arg;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct wanted same;
    if (!bind_item_key(listing->place->table, item, &arena, &same.key)) {
        listing->entries.failed = listing->entries.failed || arena.failed;
        return;
    }
    const struct wanted *found =
        bsearch(&same, listing->wanted + listing->wanted_from,
                listing->wanted_to - listing->wanted_from, sizeof same, order_wanted);
    if (found)
        describe(listing, &listing->entries.items[found->entry], item);
}

/* Takes entries whose records have gone since the index told of them out of the range, and
 * returns how many are left in it. */
static size_t drop_vanished(struct tree_listing *listing, size_t from, size_t to)
{
    struct tree_entry *items = listing->entries.items;
    size_t kept = from;
    for (size_t i = from; i < to; i++)
        if (items[i].directory || items[i].size >= 0)
            items[kept++] = items[i];
    return kept - from;
}

/* After the source's last page there may still be the word that something can't be listed. */
static bool is_last(const struct tree_listing *listing)
{
    return !listing->more && !entries_unlisted(listing->place);
}

/* The entries up to the first that waits for another slice can be told. */
static void take_all_records(void *arg, const struct error *err)
{
    struct tree_listing *listing = arg;
    listing->hydrate = NULL;
    if (err) {
        fail(listing, err);
        return;
    }
    size_t from = listing->told;
    bool last = listing->wanted_to == listing->wanted_count;
    size_t to = last ? listing->entries.count : listing->wanted[listing->wanted_to].entry;
    size_t count = drop_vanished(listing, from, to);
    listing->told = to;
    if (last)
        clear_keys(listing);
    deliver_range(listing, from, count, !last || !is_last(listing));
}

/* How many records are to be read at once, in whole requests, going by those that came. */
static size_t slice_size(const struct tree_listing *listing)
{
    if (listing->described == 0)
        return READ_MAX_KEYS;
    size_t average = listing->described_bytes / listing->described + 1;
    size_t requests = SLICE_BYTES / average / READ_MAX_KEYS;
    size_t size = (requests > 0 ? requests : 1) * READ_MAX_KEYS;
    return size < SLICE_MAX ? size : SLICE_MAX;
}

/* Reads the records of the next slice. */
static bool start_hydrate(struct tree_listing *listing, struct error *err)
{
    size_t left = listing->wanted_count - listing->wanted_to, most = slice_size(listing);
    size_t count = left < most ? left : most;
    struct wanted *slice = listing->wanted + listing->wanted_to;
    struct key *keys = calloc(count, sizeof *keys);
    if (!keys)
        return error_no_memory(err);
    listing->wanted_from = listing->wanted_to;
    listing->wanted_to += count;
    qsort(slice, count, sizeof *slice, order_wanted);
    for (size_t i = 0; i < count; i++)
        keys[i] = slice[i].key;
    listing->hydrate = hydrate_start(listing->place, listing->source, keys, count, take_record,
                                     take_all_records, listing, err);
    free(keys);
    return listing->hydrate;
}

static void warn_of_strangers(const struct tree_listing *listing)
{
    bool several = listing->strangers > 1;
    if (listing->strangers)
        log_line(
            listing->tree->log, LOG_LEVEL_WARNING,
            "%zu item%s of %s fit%s none of the map's records and %s not listed; declare %s in "
            "\"records\", or list \"*\"",
            listing->strangers, several ? "s" : "", listing->read->table, several ? "" : "s",
            several ? "are" : "is", several ? "them" : "it");
}

/* "The latest N" are N entries, whatever else stands between them. */
static bool has_enough(const struct tree_listing *listing)
{
    uint32_t limit = listing->place->route->list->limit;
    return limit > 0 && listing->listed >= limit;
}

static void take_query_page(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    struct error why;
    if (err) {
        fail(listing, err);
        return;
    }
    for (size_t i = 0; i < page->item_count && !has_enough(listing); i++) {
        if (!add_item(listing, page->items[i], page->item_count)) {
            error_no_memory(&why);
            fail(listing, &why);
            return;
        }
    }
    listing->more = page->more && !has_enough(listing);
    if (!listing->more)
        warn_of_strangers(listing);
    if (listing->wanted_count > 0) {
        if (!start_hydrate(listing, &why))
            fail(listing, &why);
        return;
    }
    clear_keys(listing);
    if (listing->more && listing->entries.count == 0)
        listing->source->ops->more(listing->call);
    else
        deliver(listing, !is_last(listing));
}

static bool start_query(struct tree_listing *listing, struct error *err)
{
    const struct tree *tree = listing->tree;
    listing->read = bind_query(listing->place, err);
    if (!listing->read)
        return false;
    listing->source = tree->source(tree->source_arg, listing->place, err);
    if (!listing->source)
        return false;
    listing->call = source_start(listing->source, listing->read, take_query_page, listing);
    return listing->call || error_no_memory(err);
}

static const struct map_environment *next_parametric(const struct map_environment *from)
{
    while (from && format_is_literal(&from->name))
        from = from->next;
    return from;
}

static void ask_next_environment(struct tree_listing *listing);

static void take_table_names(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    if (err) {
        fail(listing, err);
        return;
    }
    for (size_t i = 0; i < page->name_count; i++)
        entries_add_environment(&listing->entries, listing->place->map, listing->environment,
                                page->names[i]);
    if (page->more) {
        listing->source->ops->more(listing->call);
        return;
    }
    end_call(listing);
    listing->environment = next_parametric(listing->environment->next);
    ask_next_environment(listing);
}

static bool ask_for_tables(struct tree_listing *listing, struct error *err)
{
    const struct tree *tree = listing->tree;
    listing->asking = (struct place){
        .kind = PLACE_ENVIRONMENT, .map = listing->place->map, .environment = listing->environment};
    listing->source = tree->source(tree->source_arg, &listing->asking, err);
    if (!listing->source)
        return false;
    listing->read = read_new(READ_TABLES, "", NULL);
    if (!listing->read)
        return error_no_memory(err);
    listing->call = source_start(listing->source, listing->read, take_table_names, listing);
    return listing->call || error_no_memory(err);
}

/* Environments whose names have a parameter are found by the tables that there are. */
static void ask_next_environment(struct tree_listing *listing)
{
    struct error why;
    if (!listing->environment)
        deliver(listing, false);
    else if (!ask_for_tables(listing, &why))
        fail(listing, &why);
}

void tree_list_more(struct tree_listing *listing)
{
    struct error why;
    const struct route *unlisted = entries_unlisted(listing->place);
    arena_clean_up(&listing->contents);
    if (listing->wanted_to < listing->wanted_count) {
        if (!start_hydrate(listing, &why))
            fail(listing, &why);
        return;
    }
    entries_clear(&listing->entries);
    if (listing->more)
        listing->source->ops->more(listing->call);
    else if (listing->environment)
        ask_next_environment(listing);
    else if (!listing->call && listing->place->kind == PLACE_DIRECTORY &&
             listing->place->route->list) {
        if (!start_query(listing, &why))
            fail(listing, &why);
    } else if (unlisted)
        say_unlisted(listing, unlisted);
    else
        deliver(listing, false);
}

static int order_names(const void *a, const void *b)
{
    return span_compare(((const struct tree_entry *)a)->name, ((const struct tree_entry *)b)->name);
}

static void take_attributes(void *arg, struct record *record, int64_t ttl_left_ms,
                            const struct error *err)
{
    struct tree_listing *listing = arg;
    (void)ttl_left_ms;
    listing->fetch = NULL;
    if (err) {
        fail(listing, err);
        return;
    }
    struct json item = record_item(record), value;
    for (struct json name = json_first(item); json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up) struct buf text = {0}, encoded = {0};
        CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
        value = json_next(name);
        json_read_string(name, &text);
        bool named = name_encode(buf_span(&text), NAME_LIMIT, &encoded) && !text.failed;
        listing->entries.failed = listing->entries.failed || !named;
        struct tree_entry *entry = entries_add(&listing->entries, buf_span(&encoded), false);
        if (!entry)
            break;
        entry->secret = model_is_secret(listing->place->table, buf_span(&text));
        if (file_write_attribute(listing->tree, listing->place->table, buf_span(&text), item,
                                 &bytes))
            entry->size = (int64_t)bytes.size;
        listing->entries.failed = listing->entries.failed || bytes.failed;
        entry->content = arena_copy(&listing->contents, buf_span(&bytes));
    }
    qsort(listing->entries.items, listing->entries.count, sizeof *listing->entries.items,
          order_names);
    deliver(listing, false);
}

static void begin(void *arg)
{
    struct tree_listing *listing = arg;
    const struct place *place = listing->place;
    listing->timer = NULL;
    entries_add_declared(&listing->entries, place, &listing->tree->names);
    if (place->kind == PLACE_ROOT) {
        listing->environment = next_parametric(place->map->environments);
        deliver(listing, listing->environment);
    } else if (place->kind == PLACE_ATTRS) {
        struct error why;
        listing->fetch = fetch_start(listing->tree, place, take_attributes, listing);
        if (!listing->fetch) {
            error_no_memory(&why);
            fail(listing, &why);
        }
    } else if (listing->entries.count > 0) {
        bool query = place->kind == PLACE_DIRECTORY && place->route->list;
        deliver(listing, query || entries_unlisted(place));
    } else {
        tree_list_more(listing);
    }
}

struct tree_listing *tree_list(const struct tree *tree, const struct place *place, bool full,
                               tree_entries_fn *fn, void *arg)
{
    struct tree_listing *listing = calloc(1, sizeof *listing);
    if (!listing)
        return NULL;
    *listing =
        (struct tree_listing){.tree = tree, .place = place, .full = full, .fn = fn, .arg = arg};
    if (dict_init(&listing->followers))
        listing->timer = loop_add_timer(tree->loop, 0, begin, listing);
    if (listing->timer)
        return listing;
    tree_list_end(listing);
    return NULL;
}
