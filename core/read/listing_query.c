/* The pages of a listing's query: which items count, what they are called, and the records that are
 * read again for them. */
#include "core/map/entry_names.h"
#include "core/plan/item_match.h"
#include "core/read/file.h"
#include "core/read/listing.h"
#include "core/read/near_miss.h"
#include "core/read/shortened_names.h"

/* Of a page, or of a slice of its records. What the service gives has 1 MB, or 40; but lists within
 * lists grow by their indentation. */
enum { MOST_CONTENT_BYTES = 96 << 20 };

/* Records that were read again came one by one, and are told together. Directories may stand
 * between them. */
static void listing_query_parse_records(struct tree_listing *listing, size_t from, size_t count)
{
    struct tree_entry *items = listing->entries.items + from;
    json_clean_up(&listing->parsed);
    buf_truncate(&listing->texts, 0);
    buf_add_char(&listing->texts, '[');
    for (size_t i = 0; i < count; i++) {
        buf_add_text(&listing->texts, listing->texts.size > 1 && !items[i].directory ? "," : "");
        buf_add_span(&listing->texts, items[i].content);
    }
    buf_add_char(&listing->texts, ']');
    if (listing->texts.failed ||
        !json_parse(&listing->parsed, buf_span(&listing->texts), JSON_STRICT, NULL)) {
        listing->entries.failed = true; /* what was JSON before is so again */
        return;
    }
    struct json item = json_first(json_root(&listing->parsed));
    for (size_t i = 0; i < count; i++) {
        if (items[i].directory)
            continue;
        items[i].item = item;
        item = json_next(item);
    }
}

/* The file of its own that the map declares for the record here, under whose name it is told; NULL
 * for none. Where that name is a file only of records that pass a filter, and this one does not, or
 * ITEM is too little of it to know, it is an entry all the same: rather told twice than not at all.
 */
static struct file_proof *listing_query_own_file(const struct tree_listing *listing,
                                                 const struct key *key, struct json item)
{
    for (size_t i = 0; i < listing->proofs.count; i++) {
        struct error ignored;
        struct file_proof *proof = &listing->proofs.items[i];
        const struct plan *plan = proof->plan;
        if (file_proof_is_record(proof) && key_compare(&plan->key, key) == 0 &&
            (plan->pattern->filter_count == 0 || plan_holds(plan, key, item, &ignored)))
            return proof;
    }
    return NULL;
}

/* The typed item goes with the entry, rather than what its file shows of it. */
static void listing_query_store_item(struct tree_listing *listing, struct tree_entry *entry,
                                     struct json item)
{
    struct span text = json_raw(item);
    if (listing->plan->reads_again)
        entry->content = arena_copy(&listing->contents, text);
    else
        entry->item = item;
    if (!listing->named)
        entry->size = (int64_t)text.size;
    hydrate_slices_note(&listing->slices, text.size);
}

/* An item that can't be shown ends the listing in an error: it must not pass for one that is
 * gone. */
static void listing_query_describe(struct tree_listing *listing, struct tree_entry *entry,
                                   struct json item, const char *request_id)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    const struct place *place = listing->place;
    if (listing->items)
        listing_query_store_item(listing, entry, item);
    if (listing->items && (!listing->named || listing->plan->index_suffices))
        return;
    if (!file_write_record(listing->tree, place->table, item, &bytes)) {
        listing->entries.failed = listing->entries.failed || bytes.failed;
        if (!bytes.failed)
            record_refuse(item, request_id, &listing->refused);
        return;
    }
    entry->size = (int64_t)bytes.size;
    entry->mtime = file_mtime(place->route->list, item);
    if (listing->items)
        return;
    listing->content_bytes += bytes.size;
    if (listing->content_bytes > MOST_CONTENT_BYTES) {
        error_set(&listing->refused, ERROR_NO_MEMORY,
                  "the files of one page of records have more than %d MB together; \"--format "
                  "compact\" makes them smaller, and each opens by its name",
                  MOST_CONTENT_BYTES >> 20);
        return;
    }
    entry->content = arena_adopt(&listing->contents, &bytes);
    hydrate_slices_note(&listing->slices, bytes.size);
}

/* Whether the listing shows an item that counts. What is tested of a record that is read again
 * waits for that, where the listing wants so many that are still there. */
static bool listing_query_is_requested_for(struct tree_listing *listing, struct json item)
{
    const struct plan *plan = listing->plan;
    bool waits = listing->full && plan->reads_again && plan->query->limit > 0;
    bool failed = false;
    bool selected = waits || plan_may_select(plan, item, &failed);
    listing->entries.failed = listing->entries.failed || failed;
    return selected;
}

/* Of records alone names are needed that tell of an index's key: the record, read again, must still
 * be called so. */
static bool listing_query_needs_name(const struct tree_listing *listing,
                                     const struct matched_item *matched)
{
    return !listing->alone || listing->named ||
           (listing->plan->reads_again && matched->entry->indexed.count > 0);
}

/* How long what the query told may be believed, on a page that waited for WAITED_MS to be told. */
static int64_t listing_query_ttl_left_ms(const struct tree_listing *listing, int64_t waited_ms)
{
    int64_t ttl_ms = listing->plan->pattern->ttl_ms;
    struct walk_age age = walk_age(listing->walk);
    if (!age.is_told_again)
        return waited_ms < ttl_ms ? ttl_ms - waited_ms : 0;
    int64_t left_ms = age.since_ms + ttl_ms - loop_now_ms(listing->tree->loop);
    return left_ms > 0 && !age.is_dropped ? left_ms : 0;
}

/* The rank that an entry is named with at first. Where its record is read again,
 * listing_query_drop_vanished replaces it by the place among those that are there. */
static uint64_t listing_query_first_rank(const struct tree_listing *listing)
{
    return listing->full && listing->plan->reads_again ? 1 : listing->stats.entries + 1;
}

/* OWN is the file that the map declares for the record, or NULL. */
static bool listing_query_add_entry(struct tree_listing *listing,
                                    const struct matched_item *matched, struct json item,
                                    struct file_proof *own, const struct page *page)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct place *place = listing->place;
    const struct route *route = route_of_entry(place->route, matched->entry);
    if (!listing_query_is_requested_for(listing, item)) {
        listing->stats.entries++;
        return true;
    }
    if (own) {
        buf_add_span(&name, own->name);
        own->listed = true;
    } else if (listing_query_needs_name(listing, matched) &&
               !place_write_name(place, route, &matched->parts, listing_query_first_rank(listing),
                                 &listing->tree->names, &name, &listing->entries.why)) {
        listing->entries.failed = true; /* told when the page is delivered */
        return true;
    }
    struct tree_entry *added = entries_add(&listing->entries, buf_span(&name), false);
    if (!added)
        return false;
    added->ttl_left_ms = listing_query_ttl_left_ms(listing, page->age_ms);
    added->rank = own ? 0 : listing->stats.entries + 1;
    if (listing->full && !listing->plan->reads_again) {
        listing_query_describe(listing, added, item, page->request_id);
    } else if (listing->full && !hydrate_slices_add(&listing->slices, &matched->key,
                                                    listing->entries.count - 1, page->item_count)) {
        return false;
    }
    listing->stats.entries += !own || place->selection; /* it is beside those that are listed */
    listing->matched += !(listing->full && listing->plan->reads_again);
    if (!listing_is_alone(listing) && !own)
        item_directories_add(&listing->followers, place, route, &matched->parts,
                             &listing->tree->names, &listing->entries, &listing->failed);
    return true;
}

/* Of a listing of directories alone, those that the item brings along. */
static void listing_query_add_groups(struct tree_listing *listing,
                                     const struct matched_item *matched, struct json item)
{
    bool found =
        item_directories_add_groups(&listing->followers, listing->place, matched, item,
                                    &listing->tree->names, &listing->entries, &listing->failed);
    listing->stats.entries += found;
    listing->stats.skipped += !found;
}

/* Where what a page brought comes from: what is told again came when it was first told, at the
 * latest. */
static void listing_query_note_origin(const struct tree_listing *listing, const struct page *page,
                                      struct record_origin *out)
{
    struct walk_age age = walk_age(listing->walk);
    fetch_fill_origin(listing->tree->loop, page, out);
    if (!age.is_told_again)
        return;
    out->fetched_ms = age.since_ms;
    out->fetched_wall_ms = age.since_wall_ms;
}

/* False when memory ran out. */
static bool listing_query_add_item(struct tree_listing *listing, const struct page *page,
                                   struct json item)
{
    struct matched_item matched;
    struct record_origin origin;
    struct file_proof *own;
    switch (item_match_item(listing->plan, item, &listing->slices.keys, &matched)) {
    case ITEM_MATCH_NO_MEMORY:
        return false;
    case ITEM_MATCH_UNREADABLE:
        item_match_report(listing->plan, item, &listing->refused);
        return true;
    case ITEM_MATCH_UNDECLARED:
        listing->stats.skipped++;
        break;
    case ITEM_MATCH_OTHER:
        break;
    case ITEM_MATCH_COUNTS:
        if (listing->plan->pattern->groups) {
            listing_query_add_groups(listing, &matched, item);
            break;
        }
        own = listing_query_own_file(listing, &matched.key, item);
        if ((!own || listing->items || listing_is_alone(listing)) &&
            !listing_query_add_entry(listing, &matched, item, own, page))
            return false;
        break;
    }
    if (listing_is_alone(listing))
        return true;
    if (!listing->entries.failed)
        item_directories_add_finding(&listing->followers, listing->place, &matched.key,
                                     &listing->tree->names, &listing->entries, &listing->failed);
    if (listing->proofs.count > 0) {
        listing_query_note_origin(listing, page, &origin);
        proofs_consider(&listing->proofs, &matched.key, item, &origin);
    }
    return true;
}

/* The index told of it; what the record itself says now decides, as when it is asked for by its
 * name: the index may be behind, or hold less than a filter looks at. */
static void listing_query_take_record(void *arg, struct json item, const char *request_id)
{
    struct tree_listing *listing = arg;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    size_t entry;
    bool failed = false;
    if (!item_match_key(listing->place->table, item, &arena, &key)) {
        listing->entries.failed = listing->entries.failed || arena.failed;
        if (!arena.failed)
            item_match_report(listing->plan, item, &listing->refused);
        return;
    }
    if (hydrate_slices_find(&listing->slices, &key, &entry) &&
        plan_admits(listing->plan, &key, item, &failed) &&
        shortened_names_is_still(listing->place, &listing->tree->names, &key, item,
                                 listing->entries.items[entry].name, &failed)) {
        walk_note(listing->walk, &key, item);
        listing->entries.items[entry].passed_over = !plan_selects(listing->plan, item, &failed);
        listing_query_describe(listing, &listing->entries.items[entry], item, request_id);
    }
    listing->entries.failed = listing->entries.failed || failed;
}

/* Whether the listing goes on with an entry of TIES. The last of those that are wanted may not have
 * come yet; with ties, those that share its sort key come behind it. */
static bool listing_query_is_wanted(const struct tree_listing *listing, uint64_t ties)
{
    const struct read *query = listing->plan->query;
    const struct selection *selection = listing->plan->selection;
    bool reads_again = listing->full && listing->plan->reads_again;
    size_t had = reads_again ? listing->found : listing->stats.entries;
    if (selection && selection->limit > 0 && listing->matched >= selection->limit)
        return false;
    return query->limit == 0 || had < query->limit || (query->ties && ties == listing->last_tie);
}

/* Names ENTRY by its place among the records that are there. Its name has the rank 1. */
static void listing_query_number_entry(struct tree_listing *listing, struct tree_entry *entry)
{
    const struct map_rank *rank = &listing->plan->pattern->entries[0].rank;
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct span rest = entry->name;
    if (rank->digits == 0 || entry->rank == 0 || !rank_skip(rank, &rest))
        return;
    if (!rank_write(rank, entry->rank - listing->vanished, &name) && !name.failed)
        listing->entries.failed = !rank_refuse(rank, &listing->entries.why);
    buf_add_span(&name, rest);
    entry->name = arena_copy(&listing->entries.arena, buf_span(&name));
    listing->entries.failed =
        listing->entries.failed || name.failed || listing->entries.arena.failed;
}

/* Takes entries whose records have gone, or changed, since the index told of them out of the range,
 * and those that are more than the listing wants, and returns how many are left in it. */
static size_t listing_query_drop_vanished(struct tree_listing *listing, size_t from, size_t to)
{
    struct tree_entry *items = listing->entries.items;
    size_t limit = listing->plan->query->limit, kept = from;
    for (size_t i = from; i < to && listing_query_is_wanted(listing, items[i].ties); i++) {
        bool there = items[i].size >= 0;
        listing->found += there;
        listing->vanished += !there && !items[i].directory;
        if (there)
            listing_query_number_entry(listing, &items[i]);
        if (listing->found == limit && listing->last_tie == 0)
            listing->last_tie = items[i].ties;
        bool shown = there && !items[i].passed_over;
        listing->matched += shown;
        if (items[i].directory || shown)
            items[kept++] = items[i];
    }
    return kept - from;
}

/* What comes after a page of the query, all of which has been told. */
static void listing_query_end_page(struct tree_listing *listing)
{
    listing->state = LISTING_QUERY;
    if (listing->more)
        return;
    if (listing->failed.kind == ERROR_NONE)
        walk_conclude(listing->walk);
    listing_continue(listing);
}

/* The entries up to the first that waits for another slice can be told. */
static void listing_query_take_all_records(void *arg, const struct error *err)
{
    struct tree_listing *listing = arg;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    size_t from = listing->told;
    bool last = !hydrate_slices_next(&listing->slices, &listing->told);
    if (last)
        listing->told = listing->entries.count;
    size_t count = listing_query_drop_vanished(listing, from, listing->told);
    bool enough = !listing_query_is_wanted(
        listing, last ? listing->ties.group : listing->entries.items[listing->told].ties);
    listing->more = listing->more && !enough;
    if (last || enough) {
        hydrate_slices_clear(&listing->slices);
        listing_query_end_page(listing);
    }
    if (listing->items && !listing->entries.failed)
        listing_query_parse_records(listing, from, count);
    listing_deliver_range(listing, from, count);
}

/* Reads the records of the next slice of the page. */
bool listing_start_slice(struct tree_listing *listing, struct error *err)
{
    const struct selection *selection = listing->plan->selection;
    size_t limit = listing->plan->query->limit;
    size_t wanted = listing->found < limit ? limit - listing->found : 0;
    if (selection && selection->limit > 0 &&
        (wanted == 0 || selection->limit - listing->matched < wanted))
        wanted = selection->limit - listing->matched;
    struct hydrate_from from = {.plan = listing->plan,
                                .source = listing->source,
                                .payer = listing->tree->payer,
                                .kept = walk_records(listing->walk),
                                .loop = listing->tree->loop,
                                .cost = walk_cost(listing->walk)};
    return hydrate_slices_start(&listing->slices, &from, wanted, listing_query_take_record,
                                listing_query_take_all_records, listing, err);
}

struct tree_list_stats tree_list_stats(const struct tree_listing *listing)
{
    struct tree_list_stats stats = listing->stats;
    if (listing->walk) {
        const struct kept_pages_cost *records = walk_known_cost(listing->walk);
        stats.age = walk_age(listing->walk);
        stats.has_records = records;
        stats.records = records ? *records : (struct kept_pages_cost){0};
    }
    return stats;
}

bool tree_list_note(const struct tree_listing *listing, struct error *out)
{
    bool several = listing->stats.skipped > 1;
    if (listing->plan && listing->stats.skipped == 0 && listing->stats.entries == 0) {
        CLEAN_UP(buf_clean_up) struct buf doubt = {0};
        near_miss_write(listing->place, &doubt);
        if (doubt.size > 0)
            error_set(out, ERROR_NOT_FOUND, "no record is listed, and %s", buf_text(&doubt));
        return doubt.size > 0;
    }
    if (listing->stats.skipped == 0)
        return false;
    error_set(out, ERROR_INVALID,
              "%zu record%s of %s fit%s none of the map's kinds and %s not listed; declare %s in "
              "\"records\", or say \"list\": \"*\"",
              listing->stats.skipped, several ? "s" : "", listing->plan->table_name,
              several ? "" : "s", several ? "are" : "is", several ? "them" : "it");
    return true;
}

/* Takes an item of the page in. ENOUGH is set when no further one is wanted, or, with ties, not
 * even this one. False when memory ran out. */
static bool listing_query_add_next_item(struct tree_listing *listing, const struct page *page,
                                        struct json item, bool *enough)
{
    const struct read *query = listing->plan->query;
    bool may_have_gone = listing->full && listing->plan->reads_again;
    if (query->ties && !sort_ties_take(&listing->ties, query, item))
        return false;
    uint64_t group = listing->ties.group;
    *enough = !listing_query_is_wanted(listing, group);
    if (*enough)
        return true;
    size_t before = listing->entries.count;
    if (!listing_query_add_item(listing, page, item))
        return false;
    for (size_t i = before; i < listing->entries.count; i++)
        listing->entries.items[i].ties = group;
    if (!may_have_gone && listing->stats.entries >= query->limit && listing->last_tie == 0)
        listing->last_tie = group;
    *enough = !listing_query_is_wanted(listing, group);
    return true;
}

/* Takes the page's items in; ENOUGH is set when no further one is wanted. "The latest N" are N
 * entries, whatever else stands between them. Where records are read again, some of these may have
 * gone, so all of the page are taken in, and read until N are there. False when memory ran out. */
static bool listing_query_add_page(struct tree_listing *listing, const struct page *page,
                                   bool *enough)
{
    listing->stats.pages++;
    listing->stats.read += page->scanned ? page->scanned : page->item_count;
    listing->stats.read_twice = listing->stats.read_twice || page->scanned_twice;
    listing->stats.requests += page->requests;
    source_add_page(&listing->stats.spent, page);
    listing->stats.entries += page->counted;
    listing->stats.counted += page->counted;
    listing->matched += page->counted;
    for (size_t i = 0; i < page->item_count && !*enough && !listing->entries.failed; i++)
        if (!listing_query_add_next_item(listing, page, page->items[i], enough))
            return false;
    return true;
}

static void listing_query_take_query_page(void *arg, const struct page *page,
                                          const struct error *err)
{
    struct tree_listing *listing = arg;
    struct error why;
    bool enough = false;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    if (!listing_query_add_page(listing, page, &enough)) {
        error_no_memory(&why);
        listing_fail(listing, &why);
        return;
    }
    if (listing->refused.kind != ERROR_NONE || listing->entries.failed) {
        listing_deliver(listing); /* the reason */
        return;
    }
    listing->more = page->more && !enough;
    if (!listing->more && tree_list_note(listing, &why))
        log_line(listing->tree->log, LOG_LEVEL_WARNING, "%s", why.text);
    listing->told = 0;
    if (hydrate_slices_next(&listing->slices, NULL)) {
        listing->state = LISTING_CONTENTS;
        if (!listing_start_slice(listing, &why))
            listing_fail(listing, &why);
        return;
    }
    hydrate_slices_clear(&listing->slices);
    listing_query_end_page(listing);
    /* Who asks for records may have to decide what is read for them: he is told of each page. */
    if (listing->entries.count > 0 || listing_is_alone(listing))
        listing_deliver(listing);
    else
        listing_work(listing);
}

/* Who asks for no more than so many will not read all of the query. */
static void listing_query_describe_all_wanted(struct tree_listing *listing)
{
    const struct selection *selection = listing->plan ? listing->plan->selection : NULL;
    if (listing->all_wanted && listing->walk && !(selection && selection->limit > 0))
        walk_read_all(listing->walk);
}

void tree_list_read_all(struct tree_listing *listing)
{
    listing->all_wanted = true;
    listing_query_describe_all_wanted(listing);
}

/* A count, or a table of what the index holds, is made of records that have lately been read, where
 * memory has them, so that it agrees with a listing of the same time. For a count their keys
 * suffice, also those that another listing is about to read. */
static void listing_query_use_what_is_known(struct tree_listing *listing,
                                            const struct walk_from *from)
{
    struct walk_from plain = *from;
    if (!listing->plan->counts && !listing->plan->index_suffices)
        return;
    struct place *listed = place_copy_as(listing->place, COMPANION_NONE);
    if (listed)
        place_set_columns(listed, span_text(""));
    const struct plan *plan = listed ? plan_ref(place_plan(listed, NULL)) : NULL;
    place_destroy(listed);
    plain.plan = plan;
    bool known = plan && walk_is_known(&plain);
    if (!known && plan && listing->plan->counts) {
        plain.full = false; /* if the source is asked after all, that costs what a count costs */
        known = walk_is_known(&plain) || walk_is_coming(&plain);
    }
    if (!known) {
        plan_unref(plan);
        return;
    }
    listing->full = plain.full;
    plan_unref(listing->plan);
    listing->plan = plan;
}

bool listing_start_query(struct tree_listing *listing, struct error *err)
{
    const struct tree *tree = listing->tree;
    if (!listing_open_source(listing, listing->place, err))
        return false;
    struct walk_from from = {.walks = tree->walks,
                             .plan = listing->plan,
                             .source = listing->source,
                             .payer = tree->payer,
                             .loop = tree->loop,
                             .full = listing->full,
                             .steady = listing->steady};
    listing_query_use_what_is_known(listing, &from);
    from.plan = listing->plan;
    from.full = listing->full;
    listing->walk = walk_start(&from, listing_query_take_query_page, listing, err);
    listing_query_describe_all_wanted(listing);
    return listing->walk;
}
