/* Listings: what the map puts into a directory, then what the source has, page by page, then the
 * files that the map declares and that can be opened. */
#include "core/read/listing.h"

#include <stdlib.h>

#include "core/read/unlisted.h"

bool listing_open_source(struct tree_listing *listing, const struct place *place, struct error *err)
{
    const struct tree *tree = listing->tree;
    source_unref(listing->source);
    listing->source = source_ref(tree->source(tree->source_arg, place, err));
    return listing->source;
}

void listing_end_call(struct tree_listing *listing)
{
    if (listing->call)
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
    if (listing->wait)
        cache_leave(listing->wait);
    key_scan_unref(listing->census);
    hydrate_slices_clean_up(&listing->slices); /* which may be reading, as the plan says */
    walk_end(listing->walk);
    declared_files_clean_up(&listing->openings);
    proofs_clean_up(&listing->proofs);
    listing_end_call(listing);
    plan_unref(listing->plan);
    tree_resolve_cancel(listing->resolution);
    place_destroy(listing->anew);
    item_directories_clean_up(&listing->followers);
    entries_clean_up(&listing->entries);
    sort_ties_clean_up(&listing->ties);
    arena_clean_up(&listing->contents);
    json_clean_up(&listing->parsed);
    buf_clean_up_secret(&listing->texts);
    source_unref(listing->source);
    free(listing);
}

void listing_fail(struct tree_listing *listing, const struct error *err)
{
    struct error copy = *err;
    listing->fn(listing->arg, NULL, 0, false, &copy);
}

bool listing_is_alone(const struct tree_listing *listing)
{
    return listing->alone || listing->place->selection;
}

void listing_continue(struct tree_listing *listing)
{
    bool there = false;
    while (!there) {
        listing->state++;
        switch (listing->state) {
        case LISTING_NAMES:
            there = listing->place->kind == PLACE_TABLES;
            break;
        case LISTING_TABLES:
            there = listing->environment;
            break;
        case LISTING_RECORD:
            there = listing->place->kind == PLACE_ATTRS || listing->place->kind == PLACE_LINKS;
            break;
        case LISTING_CENSUS:
            there = listing->scanned;
            break;
        case LISTING_QUERY:
            there = place_is_listing(listing->place);
            break;
        case LISTING_PROOFS:
            there = listing->proofs.count > 0 && !listing_is_alone(listing);
            break;
        case LISTING_ENDS:
            there = true;
            break;
        case LISTING_PLACE:
        case LISTING_DECLARED: /* entered from there alone */
        case LISTING_CONTENTS: /* entered from a page of the query alone */
            break;
        }
    }
}

/* Whether nothing comes any more: no entry, and no error. */
static bool listing_is_end(const struct tree_listing *listing)
{
    return listing->state == LISTING_ENDS && listing->failed.kind == ERROR_NONE;
}

/* What a table's description tells is good for as long as that is. */
static void listing_shorten_ttls(struct tree_listing *listing, size_t from, size_t count)
{
    int64_t most_ms = tree_structure_ttl_ms(listing->tree, listing->place);
    for (size_t i = from; i < from + count; i++) {
        struct tree_entry *entry = &listing->entries.items[i];
        if (entry->directory && entry->ttl_left_ms > most_ms)
            entry->ttl_left_ms = most_ms;
    }
}

/* A misspelt name or value finds nothing, and is no error: so it is told how many were asked. */
static void listing_describe_unmatched(const struct tree_listing *listing)
{
    const struct selection *selection = listing->place->selection;
    size_t read = listing->stats.read;
    if (!selection || !selection->filter || listing->matched > 0 || !listing->plan)
        return;
    if (read == 0)
        log_line(listing->tree->log, LOG_LEVEL_WARNING, "there is no record to ask the filter of");
    else
        log_line(listing->tree->log, LOG_LEVEL_WARNING,
                 "no record answers the filter, and %zu %s read%s; \"@summary\" behind the "
                 "listing's path tells which attributes and values there are",
                 read, read == 1 ? "was" : "were",
                 listing->stats.read_twice ? ", some of them twice, from both ends" : "");
}

void listing_deliver_range(struct tree_listing *listing, size_t from, size_t count)
{
    struct error why;
    if (listing->entries.failed || listing->contents.failed) {
        error_no_memory(&why);
        bool unnamed = listing->entries.why.kind != ERROR_NONE;
        listing_fail(listing, unnamed ? &listing->entries.why : &why);
    } else if (listing->refused.kind != ERROR_NONE) {
        listing_fail(listing, &listing->refused);
    } else {
        listing_shorten_ttls(listing, from, count);
        if (listing_is_end(listing))
            listing_describe_unmatched(listing);
        listing->fn(listing->arg, listing->entries.items + from, count, !listing_is_end(listing),
                    NULL);
    }
}

void listing_deliver(struct tree_listing *listing)
{
    listing_deliver_range(listing, 0, listing->entries.count);
}

/* Whether NAME is of a record that has been told among the others. */
static bool listing_is_reported(const struct tree_listing *listing, struct span name)
{
    for (size_t i = 0; i < listing->proofs.count; i++)
        if (span_equal(listing->proofs.items[i].name, name))
            return listing->proofs.items[i].listed;
    return false;
}

/* A file that is proven not to be there is left out; that this can't be told is no less an error
 * than if it had been asked for by its name. */
static void listing_take_proof(void *arg, struct span name, const struct tree_file *file,
                               const struct error *err)
{
    struct tree_listing *listing = arg;
    if (file && file->stale)
        err = file->stale; /* its entry would be told as if it were not too old */
    if (!file || file->stale) {
        if (err->kind != ERROR_NOT_FOUND && listing->failed.kind == ERROR_NONE)
            listing->failed = *err;
        return;
    }
    struct tree_entry *entry =
        listing_is_reported(listing, name) ? NULL : entries_add(&listing->entries, name, false);
    if (!entry)
        return;
    entry->secret = file->secret;
    entry->mtime = file->mtime;
    entry->ttl_left_ms = file->ttl_left_ms;
    entry->size = (int64_t)file->bytes.size;
    entry->content = arena_copy(&listing->contents, file->bytes);
}

static void listing_take_all_proofs(void *arg)
{
    struct tree_listing *listing = arg;
    entries_sort(&listing->entries);
    listing_continue(listing);
    if (listing->entries.count > 0 || listing->entries.failed)
        listing_deliver(listing);
    else
        listing_work(listing);
}

/* The plan of the listing, and the files beside it, are found before the first page. */
static bool listing_prepare(struct tree_listing *listing, struct error *err)
{
    const struct place *place = listing->place;
    if (place->kind == PLACE_PLACEHOLDER)
        return unlisted_refuse(listing->tree, place, err);
    if (place_is_listing(place)) {
        listing->plan = plan_ref(place_plan(place, err));
        if (!listing->plan)
            return false;
        listing->full = listing->full || listing->plan->parts.late;
    }
    if (place->kind == PLACE_DIRECTORY && listing->tree->names.scan)
        listing->scanned = place_key_step(place);
    if (place->kind == PLACE_ROOT)
        listing->environment = listing_next_parametric(place->map->environments);
    struct place directory = *place; /* borrows all that PLACE owns */
    if (listing->alone)
        directory.kind = PLACE_DIRECTORY;
    return proofs_init(&listing->proofs, &directory, &listing->tree->names, listing->plan, err);
}

static bool listing_start_declared(struct tree_listing *listing, struct error *err)
{
    if (!listing_prepare(listing, err))
        return false;
    if (!listing_is_alone(listing))
        entries_add_declared(&listing->entries, listing->place, &listing->tree->names);
    listing_continue(listing);
    if (listing->entries.count > 0 || listing->entries.failed)
        listing_deliver(listing);
    else
        listing_work(listing);
    return true;
}

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

/* A place that was found by a description which is believed no more is found anew. */
static bool listing_start_place(struct tree_listing *listing, struct error *err)
{
    if (tree_is_current(listing->tree, listing->place)) {
        listing->state = LISTING_DECLARED;
        listing_work(listing);
        return true;
    }
    listing->resolution =
        tree_resolve(listing->tree, listing->place, span_text(""), listing_take_place, listing);
    return listing->resolution || error_no_memory(err);
}

const struct place *tree_list_place(const struct tree_listing *listing)
{
    return listing->place;
}

/* The listing has been read: ends in what failed on the way, or whole. */
static void listing_conclude(struct tree_listing *listing)
{
    if (listing->failed.kind != ERROR_NONE)
        listing_fail(listing, &listing->failed);
    else
        listing_deliver(listing);
}

/* Asks for the next page of a call, or begins it. */
static bool listing_continue_with(struct tree_listing *listing, struct error *why)
{
    if (listing->call) {
        source_more(listing->call);
        return true;
    }
    if (listing->walk) {
        walk_more(listing->walk);
        return true;
    }
    return listing->state == LISTING_QUERY ? listing_start_query(listing, why)
                                           : listing_start_names(listing, why);
}

void listing_work(struct tree_listing *listing)
{
    struct error why;
    bool ok = true;
    switch (listing->state) {
    case LISTING_PLACE:
        ok = listing_start_place(listing, &why);
        break;
    case LISTING_NAMES:
    case LISTING_QUERY:
        ok = listing_continue_with(listing, &why);
        break;
    case LISTING_DECLARED:
        ok = listing_start_declared(listing, &why);
        break;
    case LISTING_TABLES:
        ok = listing_start_tables(listing, &why);
        break;
    case LISTING_RECORD:
        ok = listing_start_record(listing, &why);
        break;
    case LISTING_CENSUS:
        if (listing->census)
            listing_report_keys(listing);
        else
            ok = listing_start_census(listing, &why);
        break;
    case LISTING_CONTENTS:
        ok = listing_start_slice(listing, &why);
        break;
    case LISTING_PROOFS:
        ok = declared_files_start(&listing->openings, &listing->proofs, listing->tree,
                                  listing_take_proof, listing_take_all_proofs, listing, &why);
        break;
    case LISTING_ENDS:
        listing_conclude(listing);
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

void tree_list_hold_on(struct tree_listing *listing)
{
    listing->steady = true;
}

static struct tree_listing *listing_start(const struct tree_listing *wanted)
{
    struct tree_listing *listing = calloc(1, sizeof *listing);
    if (!listing)
        return NULL;
    *listing = *wanted;
    if (item_directories_init(&listing->followers))
        listing->timer = loop_add_timer(wanted->tree->loop, 0, listing_turn_page, listing);
    if (listing->timer)
        return listing;
    tree_list_end(listing);
    return NULL;
}

struct tree_listing *tree_list(const struct tree *tree, const struct place *place, bool full,
                               tree_entries_fn *fn, void *arg)
{
    return listing_start(
        &(struct tree_listing){.tree = tree, .place = place, .full = full, .fn = fn, .arg = arg});
}

struct tree_listing *tree_list_records(const struct tree *tree, const struct place *place,
                                       bool named, tree_entries_fn *fn, void *arg)
{
    return listing_start(&(struct tree_listing){.tree = tree,
                                                .place = place,
                                                .full = true,
                                                .items = true,
                                                .alone = true,
                                                .named = named,
                                                .all_wanted = true,
                                                .fn = fn,
                                                .arg = arg});
}

struct tree_listing *tree_list_items(const struct tree *tree, const struct place *place,
                                     tree_entries_fn *fn, void *arg)
{
    return listing_start(&(struct tree_listing){
        .tree = tree, .place = place, .full = true, .items = true, .fn = fn, .arg = arg});
}
