/* Listings: what the map puts into a directory, then what the source has, page by page. */
#include <stdlib.h>

#include "core/bind.h"
#include "core/dict.h"
#include "core/entries.h"
#include "core/fetch.h"
#include "core/file.h"
#include "core/hydrate.h"
#include "core/tree.h"

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
    struct wanted *wanted; /* owned */
    size_t wanted_count;
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
    free(listing);
}

static void fail(struct tree_listing *listing, const struct error *err)
{
    listing->fn(listing->arg, NULL, 0, false, err);
}

static void deliver(struct tree_listing *listing, bool more)
{
    struct error why;
    if (listing->entries.failed) {
        error_no_memory(&why);
        fail(listing, &why);
        return;
    }
    if (listing->unreadable) {
        error_set(&why, ERROR_BAD_ANSWER, "an item of the listing is not understood");
        fail(listing, &why);
        return;
    }
    listing->fn(listing->arg, listing->entries.items, listing->entries.count, more, NULL);
}

/* What the map says of the first parameter of a segment. */
static const char *hint_for(const struct place *place, const struct route *child)
{
    for (size_t i = 0; i < child->segment.count; i++) {
        const char *name = child->segment.pieces[i].param;
        const struct map_param *param = name ? map_find_param(place->table, name) : NULL;
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
    if (listing->full && !map_hydrates(place->route->list))
        describe(listing, added, item);
    if (listing->full && map_hydrates(place->route->list) && !want(listing, key, page_size))
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
        bsearch(&same, listing->wanted, listing->wanted_count, sizeof same, order_wanted);
    if (found)
        describe(listing, &listing->entries.items[found->entry], item);
}

/* Entries whose records have gone since the index told of them are no entries. */
static void drop_vanished(struct tree_listing *listing)
{
    struct entries *entries = &listing->entries;
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->items[i].directory || entries->items[i].size >= 0)
            entries->items[kept++] = entries->items[i];
    entries->count = kept;
}

/* After the source's last page there may still be the word that something can't be listed. */
static bool is_last(const struct tree_listing *listing)
{
    return !listing->more && !entries_unlisted(listing->place);
}

static void take_all_records(void *arg, const struct error *err)
{
    struct tree_listing *listing = arg;
    listing->hydrate = NULL;
    if (err) {
        fail(listing, err);
        return;
    }
    drop_vanished(listing);
    clear_keys(listing);
    deliver(listing, !is_last(listing));
}

static bool start_hydrate(struct tree_listing *listing, struct error *err)
{
    size_t count = listing->wanted_count;
    struct key *keys = calloc(count, sizeof *keys);
    if (!keys)
        return error_no_memory(err);
    qsort(listing->wanted, count, sizeof *listing->wanted, order_wanted);
    for (size_t i = 0; i < count; i++)
        keys[i] = listing->wanted[i].key;
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
        entry->secret = file_attribute_is_secret(listing->place->table, buf_span(&text));
        if (file_write_attribute(listing->tree, listing->place->table, buf_span(&text), item,
                                 &bytes))
            entry->size = (int64_t)bytes.size;
        listing->entries.failed = listing->entries.failed || bytes.failed;
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
