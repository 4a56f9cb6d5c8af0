/* Listings: what the map puts into a directory, then what the source has, page by page, then the
 * files that the map declares and that can be opened. */
#include "core/read/listing.h"

#include <stdlib.h>

#include "core/base/instant.h"
#include "core/name/names.h"
#include "core/read/file.h"
#include "core/read/links.h"
#include "core/read/model_provider.h"
#include "core/read/moments.h"

/* Of the keys that a Scan found. */
enum { KEYS_A_PAGE = 1000 };

bool listing_open_source(struct tree_listing *listing, const struct place *place, struct error *err)
{
    const struct tree *tree = listing->tree;
    source_unref(listing->source);
    listing->source = source_ref(tree->source(tree->source_arg, place, err));
    return listing->source;
}

static void listing_end_call(struct tree_listing *listing)
{
    source_end(listing->call);
    listing->call = NULL;
    read_destroy(listing->tables);
    listing->tables = NULL;
}

void tree_list_end(struct tree_listing *listing)
{
    if (!listing)
        return;
    loop_remove_timer(listing->timer);
    fetch_cancel(listing->fetch);
    if (listing->scan_wait)
        cache_leave(listing->scan_wait);
    key_scan_unref(listing->scan);
    buf_clean_up(&listing->last_key);
    history_close(listing->history);
    similar_cancel(listing->similar);
    declared_files_clean_up(&listing->files);
    listing_query_clean_up(listing);
    listing_end_call(listing);
    tree_resolve_cancel(listing->resolution);
    place_destroy(listing->anew);
    entries_clean_up(&listing->entries);
    arena_clean_up(&listing->contents);
    source_unref(listing->source);
    free(listing);
}

void listing_fail(struct tree_listing *listing, const struct error *err)
{
    struct error copy = *err;
    listing->fn(listing->arg, NULL, 0, false, &copy);
}

/* Stores the first reason that the end reports. */
static void listing_fail_at_end(struct tree_listing *listing, const struct error *err)
{
    if (listing->failed.kind == ERROR_NONE)
        listing->failed = *err;
}

bool listing_is_alone(const struct tree_listing *listing)
{
    return listing->alone || listing->place->selection;
}

void listing_continue(struct tree_listing *listing)
{
    const struct place *place = listing->place;
    bool exists = false;
    while (!exists) {
        listing->state++;
        switch (listing->state) {
        case LISTING_NAMES:
            exists = place->kind == PLACE_TABLES;
            break;
        case LISTING_TABLES:
            exists = listing->environment;
            break;
        case LISTING_RECORD:
            exists = place->kind == PLACE_ATTRS || place->kind == PLACE_LINKS;
            break;
        case LISTING_HISTORY:
            exists = place->kind == PLACE_HISTORY;
            break;
        case LISTING_SIMILAR:
            exists = place->kind == PLACE_SIMILAR || place->kind == PLACE_SIMILAR_FILE;
            break;
        case LISTING_SCAN:
            exists = listing->scanned;
            break;
        case LISTING_QUERY:
            exists = place_is_listing(place);
            break;
        case LISTING_FILES:
            exists = listing->files.count > 0 && !listing_is_alone(listing);
            break;
        case LISTING_ENDS:
            exists = true;
            break;
        case LISTING_PLACE:
        case LISTING_DECLARED: /* entered from there alone */
        case LISTING_CONTENTS: /* entered from a page of the query alone */
            break;
        }
    }
}

/* A misspelt attribute or value matches nothing, and is no error: so the log says how many items
 * were read. */
static void listing_log_unmatched(const struct tree_listing *listing)
{
    const struct selection *selection = listing->place->selection;
    const struct log *log = listing->tree->log;
    size_t read = listing->stats.read;
    if (!selection || !selection->filter || selection->is_quiet || listing->matched > 0 ||
        !listing->plan)
        return;
    if (read == 0)
        log_line(log, LOG_LEVEL_WARNING, "there is no item to test the filter on");
    else
        log_line(log, LOG_LEVEL_WARNING,
                 "no item matches the filter, and %zu %s read%s; add \"@summary\" to the listing's "
                 "path to see the attributes and values",
                 read, read == 1 ? "was" : "were",
                 listing->stats.read_twice ? ", some of them twice" : "");
}

void listing_deliver(struct tree_listing *listing, size_t from, size_t count)
{
    struct error why;
    bool ends = listing->state == LISTING_ENDS && listing->failed.kind == ERROR_NONE;
    if (listing->entries.failed || listing->contents.failed) {
        error_no_memory(&why);
        bool unnamed = listing->entries.why.kind != ERROR_NONE;
        listing_fail(listing, unnamed ? &listing->entries.why : &why);
        return;
    }
    if (listing->refused.kind != ERROR_NONE) {
        listing_fail(listing, &listing->refused);
        return;
    }
    /* Names that a table's description led to are good for as long as the description. */
    int64_t most_ms = tree_structure_ttl_ms(listing->tree, listing->place);
    for (size_t i = from; i < from + count; i++) {
        struct tree_entry *entry = &listing->entries.items[i];
        if (entry->directory && entry->ttl_left_ms > most_ms)
            entry->ttl_left_ms = most_ms;
    }
    if (ends)
        listing_log_unmatched(listing);
    listing->fn(listing->arg, count > 0 ? listing->entries.items + from : NULL, count, !ends, NULL);
}

static void listing_deliver_all(struct tree_listing *listing)
{
    listing_deliver(listing, 0, listing->entries.count);
}

/* Delivers the page if it has entries; else begins the next part. */
static void listing_deliver_any(struct tree_listing *listing)
{
    if (listing->entries.count > 0 || listing->entries.failed)
        listing_deliver_all(listing);
    else
        listing_work(listing);
}

/* The place. */

static void listing_take_place(void *arg, struct place *place, const struct error *err)
{
    struct tree_listing *listing = arg;
    listing->resolution = NULL;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    listing->anew = place;
    listing->place = place;
    listing->state = LISTING_DECLARED;
    listing_work(listing);
}

const struct place *tree_list_place(const struct tree_listing *listing)
{
    return listing->place;
}

/* Declared names. */

/* The first environment from FROM on whose name has a parameter; NULL for none. */
static const struct map_environment *listing_next_parametric(const struct map_environment *from)
{
    while (from && format_is_literal(&from->name))
        from = from->next;
    return from;
}

/* The moments of snapshots, the newest first. */
static bool listing_add_times(struct tree_listing *listing, struct error *err)
{
    const int64_t *times;
    size_t count;
    if (!moments_list(listing->tree->names.moments, listing->place->environment, INT64_MAX, &times,
                      &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        instant_write_exact(&name, times[i]);
        listing->entries.failed = listing->entries.failed || name.failed;
        struct tree_entry *entry = entries_add(&listing->entries, buf_span(&name), true);
        if (entry)
            entry->mtime = instant_of(times[i]);
    }
    return true;
}

/* Makes the plan of the listing, and those of the files beside it, before the first page. */
static bool listing_start_declared(struct tree_listing *listing, struct error *err)
{
    const struct place *place = listing->place;
    const struct place_options *names = &listing->tree->names;
    if (place->kind == PLACE_PLACEHOLDER)
        return tree_refuse_placeholder(listing->tree, place, err);
    if (place_is_listing(place)) {
        listing->plan = plan_ref(place_plan(place, err));
        if (!listing->plan)
            return false;
        listing->full = listing->full || listing->plan->parts.late;
    }
    if (place->kind == PLACE_TIMES && !listing_add_times(listing, err))
        return false;
    if (place->kind == PLACE_DIRECTORY && (names->scan || place_scans_snapshot(place)))
        listing->scanned = place_key_step(place);
    if (place->kind == PLACE_ROOT)
        listing->environment = listing_next_parametric(place->map->environments);
    struct place directory = *place; /* borrows all that PLACE owns */
    if (listing->alone)
        directory.kind = PLACE_DIRECTORY;
    if (!declared_files_init(&listing->files, &directory, names, listing->plan, err))
        return false;
    if (!listing_is_alone(listing))
        entries_add_declared(&listing->entries, place, names);
    listing_continue(listing);
    listing_deliver_any(listing);
    return true;
}

/* Names of tables. */

static bool listing_request_tables(struct tree_listing *listing, const struct place *place,
                                   source_page_fn *take, struct error *err)
{
    if (!listing_open_source(listing, place, err))
        return false;
    listing->tables = read_new(READ_TABLES, "", NULL);
    if (!listing->tables)
        return error_no_memory(err);
    listing->call =
        source_start(listing->source, listing->tables, listing->tree->payer, take, listing);
    return listing->call || error_no_memory(err);
}

static void listing_take_names(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    const char *prefix = listing->place->table_prefix;
    for (size_t i = 0; i < page->name_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct error why;
        if (names_check_table(page->names[i], &why) &&
            !span_starts(page->names[i], span_text(prefix ? prefix : "")))
            continue;
        if (names_write_table(page->names[i], &name, &why))
            entries_add(&listing->entries, buf_span(&name), true);
        else if (why.kind == ERROR_NO_MEMORY)
            listing->entries.failed = true;
        else
            listing_fail_at_end(listing, &why);
    }
    if (page->more && listing->entries.count == 0 && !listing->entries.failed) {
        source_more(listing->call);
        return;
    }
    if (!page->more)
        listing_continue(listing);
    listing_deliver_all(listing);
}

static bool listing_start_tables(struct tree_listing *listing, struct error *err);

/* A recording without the names of the tables still has its other environments. */
static bool listing_passes_over(const struct tree_listing *listing, const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (err->kind != ERROR_NOT_STORED)
        return false;
    format_write(&listing->environment->name, &name);
    log_line(listing->tree->log, LOG_LEVEL_WARNING,
             "/%s is not listed: the names of tables are not in the recording", buf_text(&name));
    return true;
}

/* Environments whose names have a parameter are found by the names of the tables. */
static void listing_take_environments(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    struct error why;
    if (err && !listing_passes_over(listing, err)) {
        listing_fail(listing, err);
        return;
    }
    for (size_t i = 0; !err && i < page->name_count; i++)
        if (names_check_table(page->names[i], &why))
            entries_add_environment(&listing->entries, listing->place->map, listing->environment,
                                    page->names[i]);
        else
            listing_fail_at_end(listing, &why);
    if (!err && page->more) {
        source_more(listing->call);
        return;
    }
    listing_end_call(listing);
    listing->environment = listing_next_parametric(listing->environment->next);
    if (!listing->environment) {
        listing_continue(listing);
        listing_deliver_all(listing);
    } else if (!listing_start_tables(listing, &why)) {
        listing_fail(listing, &why);
    }
}

static bool listing_start_tables(struct tree_listing *listing, struct error *err)
{
    listing->prefixed = (struct place){
        .kind = PLACE_ENVIRONMENT, .map = listing->place->map, .environment = listing->environment};
    return listing_request_tables(listing, &listing->prefixed, listing_take_environments, err);
}

/* An item's attributes or links. */

/* A link that the item does not have is left out, and one that is denied. */
static void listing_add_link(struct tree_listing *listing, const struct map_link *link,
                             struct json item, int64_t ttl_left_ms)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct error why;
    struct place *target =
        links_follow(listing->place, link, item, &listing->tree->names, &bytes, &why);
    place_destroy(target);
    if (!target) {
        if (why.kind != ERROR_NOT_FOUND && why.kind != ERROR_DENIED)
            listing_fail_at_end(listing, &why);
        return;
    }
    struct tree_entry *entry = entries_add(&listing->entries, span_text(link->name), false);
    if (!entry)
        return;
    entry->link = true;
    entry->ttl_left_ms = ttl_left_ms;
    entry->size = (int64_t)bytes.size;
    entry->content = arena_adopt(&listing->contents, &bytes);
}

/* ITEM may be absent for links whose targets are known from the path. */
static void listing_deliver_links(struct tree_listing *listing, struct json item,
                                  int64_t ttl_left_ms)
{
    for (const struct map_link *each = listing->place->table->links; each; each = each->next)
        listing_add_link(listing, each, item, ttl_left_ms);
    listing_continue(listing);
    listing_deliver_all(listing);
}

static void listing_deliver_attributes(struct tree_listing *listing, struct json item,
                                       int64_t ttl_left_ms)
{
    const struct place *place = listing->place;
    struct json value;
    for (struct json name = json_first(item); json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up) struct buf text = {0}, encoded = {0};
        CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
        value = json_next(name);
        json_read_string(name, &text);
        bool named = !text.failed && names_write_attribute(buf_span(&text), &encoded);
        listing->entries.failed = listing->entries.failed || !named;
        struct tree_entry *entry = entries_add(&listing->entries, buf_span(&encoded), false);
        if (!entry)
            break;
        entry->secret = model_is_secret(place->table, buf_span(&text));
        entry->mtime = file_mtime(place->route->file, item);
        entry->ttl_left_ms = ttl_left_ms;
        if (file_write_attribute(listing->tree, place->table, buf_span(&text), item, &bytes))
            entry->size = (int64_t)bytes.size;
        listing->entries.failed = listing->entries.failed || bytes.failed;
        entry->content = arena_adopt(&listing->contents, &bytes);
    }
    entries_sort(&listing->entries);
    listing_continue(listing);
    listing_deliver_all(listing);
}

static void listing_take_record(void *arg, struct record *record, const struct tree_found *found,
                                int64_t ttl_left_ms, const struct error *err)
{
    struct tree_listing *listing = arg;
    (void)found;
    listing->fetch = NULL;
    if (err)
        listing_fail(listing, err);
    else if (listing->place->kind == PLACE_LINKS)
        listing_deliver_links(listing, record_item(record), ttl_left_ms);
    else
        listing_deliver_attributes(listing, record_item(record), ttl_left_ms);
}

/* Versions of an item. */

/* Of versions that are delivered together. */
enum { VERSION_BYTES = 1 << 20, VERSIONS = 100 };

/* A deleted item is an empty file. */
static void listing_take_version(void *arg, const struct history_version *version,
                                 const struct error *err)
{
    struct tree_listing *listing = arg;
    struct entries *entries = &listing->entries;
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (err) {
        listing_fail(listing, err);
        return;
    }
    if (!version) {
        listing_continue(listing);
        listing_deliver_all(listing);
        return;
    }
    instant_write_exact(&name, version->moment_ms);
    entries->failed = entries->failed || name.failed;
    struct tree_entry *entry = entries_add(entries, buf_span(&name), false);
    if (entry) {
        entry->mtime = instant_of(version->moment_ms);
        entry->ttl_left_ms = version->ttl_left_ms;
        entry->size = (int64_t)version->bytes.size;
        entry->content = arena_copy(&listing->contents, version->bytes);
        listing->content_bytes += version->bytes.size;
    }
    if (!entries->failed && entries->count < VERSIONS && listing->content_bytes < VERSION_BYTES)
        history_more(listing->history);
    else
        listing_deliver_all(listing);
}

static bool listing_start_versions(struct tree_listing *listing, struct error *err)
{
    if (listing->history) {
        history_more(listing->history);
        return true;
    }
    listing->history =
        history_start(listing->tree, listing->place, listing_take_version, listing, err);
    return listing->history;
}

/* Items that a search has found. */

/* Adds the entry of HIT, the result number RANK, whose ITEM may be absent if it is not wanted.
 * False when an item cannot be listed. */
static bool listing_add_similar(struct tree_listing *listing, size_t rank,
                                const struct similar_hit *hit, struct json item,
                                int64_t ttl_left_ms)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    const struct place *place = listing->place;
    struct entries *entries = &listing->entries;
    similar_write_name(place, &listing->tree->names, rank, hit, &name);
    entries->failed = entries->failed || name.failed;
    struct tree_entry *entry =
        entries->failed ? NULL : entries_add(entries, buf_span(&name), false);
    if (!entry)
        return true;
    entry->ttl_left_ms = ttl_left_ms;
    if (!listing->full || !json_present(item))
        return true;
    bool ok = listing->items
                  ? similar_write_scored(place, rank, hit, item, &bytes, &listing->refused)
                  : file_write_record(listing->tree, place->table, item, &bytes) || bytes.failed ||
                        record_refuse(item, "", &listing->refused);
    entries->failed = entries->failed || bytes.failed;
    entry->size = (int64_t)bytes.size;
    entry->content = arena_adopt(&listing->contents, &bytes);
    return ok;
}

/* An item that no longer exists is left out, where the items are read. */
static void listing_take_similar(void *arg, const struct similar_found *found,
                                 const struct error *err)
{
    struct tree_listing *listing = arg;
    struct tree_list_stats *stats = &listing->stats;
    listing->similar = NULL;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    stats->entries = found->result->count;
    stats->requests = found->result->requests + found->item_requests;
    stats->spent = found->result->spent;
    spent_add(&stats->spent, &found->item_spent);
    for (size_t i = 0; i < found->result->count; i++) {
        struct json item = found->items ? found->items[i] : (struct json){0};
        if (found->items && !json_present(item))
            continue;
        if (!listing_add_similar(listing, i + 1, &found->result->hits[i], item, found->ttl_left_ms))
            break;
    }
    if (listing->items && !listing->entries.failed && listing->refused.kind == ERROR_NONE)
        listing_parse_items(listing, 0, listing->entries.count);
    listing_continue(listing);
    listing_deliver_all(listing);
}

static bool listing_start_similar(struct tree_listing *listing, struct error *err)
{
    bool items = listing->full && listing->place->companion != COMPANION_COUNT;
    listing->similar =
        similar_start(listing->tree, listing->place, items, listing_take_similar, listing);
    return listing->similar || error_no_memory(err);
}

/* Partition keys of a snapshot, page by page. */

/* A key whose name is too long for a directory is left out, and the end reports that. False when
 * memory ran out. */
static bool listing_add_key(struct tree_listing *listing, struct value key)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct place *place = listing->place;
    const struct route *step = listing->scanned;
    struct bindings parts = {0};
    struct error why;
    if (!format_match_key(&place->table->kinds->keys[0], key.bytes, place->table->separator,
                          &parts))
        return true;
    if (place_write_name(place, step, &parts, 0, &listing->tree->names, &name, &why))
        return entries_add(&listing->entries, buf_span(&name), !step->file);
    listing_fail_at_end(listing, &why);
    return why.kind != ERROR_NO_MEMORY;
}

/* A page has items in the order of keys, so an equal partition key follows the first. */
static void listing_take_keys(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    struct entries *entries = &listing->entries;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    struct span name = listing->tables->attributes[0];
    listing->stats.pages++;
    for (size_t i = 0; i < page->item_count && !entries->failed; i++) {
        CLEAN_UP(buf_clean_up) struct buf bytes = {0}, identity = {0};
        struct value key;
        bool ok = value_read(item_attribute(page->items[i], name), &bytes, &key);
        if (ok)
            value_write_identity(key, &identity);
        entries->failed = !ok || identity.failed;
        if (entries->failed || span_equal(buf_span(&identity), buf_span(&listing->last_key)))
            continue;
        buf_truncate(&listing->last_key, 0);
        buf_add_span(&listing->last_key, buf_span(&identity));
        entries->failed = listing->last_key.failed || !listing_add_key(listing, key);
    }
    if (page->more && entries->count == 0 && !entries->failed) {
        source_more(listing->call);
        return;
    }
    if (!page->more)
        listing_continue(listing);
    listing_deliver_all(listing);
}

static bool listing_request_keys(struct tree_listing *listing, struct error *err)
{
    if (!listing_open_source(listing, listing->place, err))
        return false;
    listing->tables = key_scan_read(listing->place);
    if (!listing->tables)
        return error_no_memory(err);
    listing->call = source_start(listing->source, listing->tables, listing->tree->payer,
                                 listing_take_keys, listing);
    return listing->call || error_no_memory(err);
}

/* Partition keys that a Scan found. */

static void listing_deliver_keys(struct tree_listing *listing)
{
    const struct key_scan *scan = listing->scan;
    bool ok = true;
    for (int i = 0; ok && i < KEYS_A_PAGE && listing->scan_at < scan->count; i++)
        ok = listing_add_key(listing, scan->values[listing->scan_at++]);
    listing->entries.failed = listing->entries.failed || !ok;
    if (listing->scan_at == scan->count)
        listing_continue(listing);
    listing_deliver_all(listing);
}

/* A directory exists with or without items, so the scan's ttl is not that of the names. */
static void listing_take_scan(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct tree_listing *listing = arg;
    listing->scan_wait = NULL;
    (void)ttl_left_ms;
    if (!data) {
        listing_fail(listing, err);
        return;
    }
    listing->scan = key_scan_ref(data);
    listing->stats.pages = listing->scan->pages;
    listing->stats.requests = listing->scan->requests;
    listing->stats.spent = listing->scan->spent;
    if (err)
        listing_fail_at_end(listing, err); /* the scan is older than its ttl */
    listing_deliver_keys(listing);
}

/* Declared files. */

/* A file that is proven not to exist is left out. Any other failure is an error of the listing, as
 * it would be one of a lookup by name. */
static void listing_take_file(void *arg, struct span name, const struct tree_file *file,
                              const struct error *err)
{
    struct tree_listing *listing = arg;
    if (file && file->stale)
        err = file->stale; /* an entry has no mark for that */
    if (!file || file->stale) {
        if (err->kind != ERROR_NOT_FOUND)
            listing_fail_at_end(listing, err);
        return;
    }
    for (size_t i = 0; i < listing->files.count; i++)
        if (listing->files.items[i].listed && span_equal(listing->files.items[i].name, name))
            return;
    struct tree_entry *entry = entries_add(&listing->entries, name, false);
    if (!entry)
        return;
    entry->secret = file->secret;
    entry->mtime = file->mtime;
    entry->ttl_left_ms = file->ttl_left_ms;
    entry->size = (int64_t)file->bytes.size;
    entry->content = arena_copy(&listing->contents, file->bytes);
}

static void listing_end_files(void *arg)
{
    struct tree_listing *listing = arg;
    entries_sort(&listing->entries);
    listing_continue(listing);
    listing_deliver_any(listing);
}

/* The order of all parts. */

static bool listing_start_next_page(struct tree_listing *listing, struct error *why)
{
    if (listing->call) {
        source_more(listing->call);
        return true;
    }
    if (listing->walk) {
        walk_more(listing->walk);
        return true;
    }
    if (listing->state == LISTING_SCAN)
        return listing_request_keys(listing, why);
    return listing->state == LISTING_QUERY
               ? listing_start_query(listing, why)
               : listing_request_tables(listing, listing->place, listing_take_names, why);
}

/* Partition keys: of a snapshot page by page, else of a Scan that is complete. */
static bool listing_start_keys(struct tree_listing *listing, struct error *why)
{
    if (place_scans_snapshot(listing->place))
        return listing_start_next_page(listing, why);
    if (listing->scan) {
        listing_deliver_keys(listing);
        return true;
    }
    listing->scan_wait =
        key_scan_start(listing->tree, listing->place, listing_take_scan, listing, why);
    return listing->scan_wait;
}

void listing_work(struct tree_listing *listing)
{
    struct error why;
    bool ok = true;
    listing->has_read = listing->state > LISTING_DECLARED;
    switch (listing->state) {
    case LISTING_PLACE:
        if (!tree_is_current(listing->tree, listing->place)) {
            listing->resolution = tree_resolve(listing->tree, listing->place, span_text(""),
                                               listing_take_place, listing);
            ok = listing->resolution || error_no_memory(&why);
            break;
        }
        listing->state = LISTING_DECLARED;
        ok = listing_start_declared(listing, &why);
        break;
    case LISTING_NAMES:
    case LISTING_QUERY:
        ok = listing_start_next_page(listing, &why);
        break;
    case LISTING_DECLARED:
        ok = listing_start_declared(listing, &why);
        break;
    case LISTING_TABLES:
        ok = listing_start_tables(listing, &why);
        break;
    case LISTING_RECORD:
        if (listing->place->kind == PLACE_LINKS && !fetch_is_needed(listing->place)) {
            listing_deliver_links(listing, (struct json){0}, MAP_STRUCTURE_TTL_MS);
            break;
        }
        listing->fetch = fetch_start(listing->tree, listing->place, listing_take_record, listing);
        ok = listing->fetch || error_no_memory(&why);
        break;
    case LISTING_HISTORY:
        ok = listing_start_versions(listing, &why);
        break;
    case LISTING_SIMILAR:
        ok = listing_start_similar(listing, &why);
        break;
    case LISTING_SCAN:
        ok = listing_start_keys(listing, &why);
        break;
    case LISTING_CONTENTS:
        ok = listing_start_slice(listing, &why);
        break;
    case LISTING_FILES:
        ok = declared_files_start(&listing->files, listing->tree, listing_take_file,
                                  listing_end_files, listing, &why);
        break;
    case LISTING_ENDS:
        ok = listing->failed.kind == ERROR_NONE;
        why = listing->failed;
        if (ok)
            listing_deliver_all(listing);
        break;
    }
    if (!ok)
        listing_fail(listing, &why);
}

/* Drops the page in hand, and begins the next. */
static void listing_turn_page(void *arg)
{
    struct tree_listing *listing = arg;
    listing->timer = NULL;
    arena_clean_up(&listing->contents);
    listing->content_bytes = 0;
    if (listing->state != LISTING_CONTENTS)
        entries_clear(&listing->entries);
    listing_work(listing);
}

void tree_list_more(struct tree_listing *listing)
{
    struct error why;
    listing->timer = loop_add_timer(listing->tree->loop, 0, listing_turn_page, listing);
    if (listing->timer)
        return;
    error_no_memory(&why);
    listing_fail(listing, &why);
}

bool tree_list_has_read(const struct tree_listing *listing)
{
    return listing->has_read;
}

bool tree_list_is_ending(const struct tree_listing *listing)
{
    return listing->state == LISTING_ENDS;
}

void tree_list_set_steady(struct tree_listing *listing)
{
    listing->steady = true;
}

static struct tree_listing *listing_new(const struct tree_listing *like)
{
    struct tree_listing *listing = calloc(1, sizeof *listing);
    if (!listing)
        return NULL;
    *listing = *like;
    if (dict_init(&listing->directories) && dict_init(&listing->moved))
        listing->timer = loop_add_timer(like->tree->loop, 0, listing_turn_page, listing);
    if (listing->timer)
        return listing;
    tree_list_end(listing);
    return NULL;
}

struct tree_listing *tree_list(const struct tree *tree, const struct place *place, bool full,
                               tree_entries_fn *fn, void *arg)
{
    return listing_new(
        &(struct tree_listing){.tree = tree, .place = place, .full = full, .fn = fn, .arg = arg});
}

struct tree_listing *tree_list_records(const struct tree *tree, const struct place *place,
                                       enum tree_names names, tree_entries_fn *fn, void *arg)
{
    return listing_new(&(struct tree_listing){.tree = tree,
                                              .place = place,
                                              .full = true,
                                              .items = true,
                                              .alone = true,
                                              .named = names != TREE_UNNAMED,
                                              .described = names == TREE_DESCRIBED,
                                              .reads_all = true,
                                              .fn = fn,
                                              .arg = arg});
}

struct tree_listing *tree_list_items(const struct tree *tree, const struct place *place,
                                     tree_entries_fn *fn, void *arg)
{
    return listing_new(&(struct tree_listing){
        .tree = tree, .place = place, .full = true, .items = true, .fn = fn, .arg = arg});
}

/* Placeholders. */

/* Of STEP, below the directory that PLACE is, or is in. */
static bool listing_refuse_step(const struct tree *tree, const struct place *place,
                                const struct route *step, struct error *err)
{
    struct model_provider_description description;
    struct place directory = *place; /* borrows all that PLACE owns */
    directory.route = step->parent;
    names_refuse_unlisted(place->table, step, &place->bindings, err);
    if (tree->names.scan || place_scans_snapshot(place) || step != place_key_step(&directory))
        return false;
    error_add(err, "; or --allow-scan lists them by reading the whole table");
    if (tree->models && tree->models->ops->describe(tree->models, place, &description) &&
        description.item_count >= 0)
        error_add(err, " (%lld item%s)", (long long)description.item_count,
                  description.item_count == 1 ? "" : "s");
    return false;
}

bool tree_refuse_placeholder(const struct tree *tree, const struct place *place, struct error *err)
{
    return place->companion == COMPANION_TABLE
               ? names_refuse_columns(err)
               : listing_refuse_step(tree, place, place->route, err);
}

bool tree_lists_all(const struct tree *tree, const struct place *place, struct error *err)
{
    const struct route *step = place_next_unlisted(place, &tree->names, NULL);
    if (!step)
        return true;
    listing_refuse_step(tree, place, step, err);
    while ((step = place_next_unlisted(place, &tree->names, step))) {
        struct error other;
        listing_refuse_step(tree, place, step, &other);
        error_add(err, "; %s", other.text);
    }
    return false;
}
