/* The pages of a listing's query: which items count, their names and files, the directories that
 * they bring along, and the items that are read again for them. */
#include <stdlib.h>

#include "core/item/typed.h"
#include "core/map/entry_names.h"
#include "core/map/listable.h"
#include "core/plan/item_match.h"
#include "core/plan/item_parts.h"
#include "core/read/file.h"
#include "core/read/listing.h"
#include "core/read/near_miss.h"

/* Of the files of a page, or of a slice of its items. A response has 1 MB, or 40 from several
 * requests; but lists within lists grow by their indentation. */
enum { MOST_CONTENT_BYTES = 96 << 20 };

/* A member of a set of texts. */
struct listing_text {
    struct dict_node node; /* first, so that a node is a text */
    char text[];
};

/* Adds TEXT to SET, which lacks it. False when memory ran out. */
static bool listing_query_note_text(struct dict *set, struct span text)
{
    struct listing_text *added = calloc(1, sizeof *added + text.size);
    if (!added)
        return false;
    memcpy(added->text, text.data, text.size);
    added->node.key = span_of(added->text, text.size);
    dict_add(set, &added->node);
    return true;
}

static void listing_query_free_texts(struct dict *set)
{
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(set, &from));) {
        dict_remove(set, node);
        free(node);
    }
    dict_clean_up(set);
}

void listing_query_clean_up(struct tree_listing *listing)
{
    hydrate_clean_up(&listing->hydrate); /* which may be reading by the plan */
    walk_end(listing->walk);
    plan_unref(listing->plan);
    buf_clean_up_secret(&listing->ties.last);
    buf_clean_up_secret(&listing->ties.next);
    json_clean_up(&listing->parsed);
    buf_clean_up_secret(&listing->texts);
    listing_query_free_texts(&listing->directories);
    listing_query_free_texts(&listing->moved);
}

static bool listing_query_reads_again(const struct tree_listing *listing)
{
    return listing->full && listing->plan->reads_again;
}

/* Directories. Where the map has "{index}.d/" beside "{index}", each index of the listing has one.
 */

/* Adds the directory CHILD of the place that is named by PARTS, once. A shortened name of a
 * directory can't be looked up, so such a directory is left out, and the end reports that. */
static void listing_query_add_directory(struct tree_listing *listing, const struct route *child,
                                        const struct bindings *parts)
{
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    struct entries *entries = &listing->entries;
    enum escape_mark mark;
    struct span shown;
    entries->failed =
        entries->failed || !place_write_name(listing->place, child, parts, 0, &listing->tree->names,
                                             &written, &entries->why);
    if (entries->failed)
        return;
    struct span name = buf_span(&written);
    if (escape_is_shortened(name, &mark, &shown)) {
        if (listing->failed.kind == ERROR_NONE)
            error_set(&listing->failed, ERROR_LONG_NAME,
                      "a directory is left out, whose name is longer than %d bytes and begins "
                      "with \"%.*s\"; commands take the whole name",
                      NAME_LIMIT, shown.size > 60 ? 60 : (int)shown.size, shown.data);
        return;
    }
    if (dict_find(&listing->directories, name))
        return;
    entries->failed =
        !listing_query_note_text(&listing->directories, name) || !entries_add(entries, name, true);
}

static bool listing_query_is_named_by_items(const struct route *child)
{
    return !child->entry && !child->hidden && !child->file && !format_is_literal(&child->segment);
}

/* Whether STEP, or a step below it, shows the item KEY; PARTS gets those of the key. */
static bool listing_query_shows(const struct route *step, const struct place *place,
                                const struct key *key, struct bindings *parts)
{
    const struct bindings *path = &place->bindings;
    if (step->list && item_match_entry(place->table, step->list, key, path, parts))
        return true;
    for (size_t i = 0; step->file && i < step->file->kind_count; i++)
        if (item_match_is_kind(place->table, step->file->kinds[i], key, path, parts))
            return true;
    for (const struct route *child = step->children; child; child = child->next)
        if (!child->entry && listing_query_shows(child, place, key, parts))
            return true;
    return false;
}

/* Adds the directories that show the item KEY, although it may be no entry itself: the query reads
 * the item in any case, be there an "{index}" or not. */
static void listing_query_add_showing(struct tree_listing *listing, const struct key *key)
{
    const struct place *place = listing->place;
    for (const struct route *child = place->route->children; child; child = child->next) {
        struct bindings parts = {0};
        if (!listing_query_is_named_by_items(child) ||
            !listable_follows_some(child, &place->bindings) ||
            !listing_query_shows(child, place, key, &parts))
            continue;
        bool known = true;
        for (size_t i = 0; i < child->segment.count; i++) {
            const char *param = child->segment.pieces[i].param;
            known = known && (!param || bindings_find(&parts, param) ||
                              bindings_find(&place->bindings, param));
        }
        if (known)
            listing_query_add_directory(listing, child, &parts);
    }
}

/* Of a listing of directories alone ("groups"), adds those of ITEM. An item whose index key has
 * another format than the map declares is skipped. */
static void listing_query_add_groups(struct tree_listing *listing,
                                     const struct matched_item *matched, struct json item)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct place *place = listing->place;
    const struct map_index *index = place->route->list->index;
    bool all = true;
    for (const struct route *child = place->route->children; child; child = child->next) {
        struct bindings parts = matched->parts;
        if (child->hidden || !listable_is_group(child, &place->bindings))
            continue;
        bool has = !index || item_parts_add_of_index(place->table, index, matched->entry->kind,
                                                     &child->segment, item, &arena, &parts);
        if (has)
            listing_query_add_directory(listing, child, &parts);
        all = all && has;
    }
    listing->entries.failed = listing->entries.failed || arena.failed;
    listing->stats.entries += all;
    listing->stats.skipped += !all;
}

/* Items that move. An item that is read again may have another sort key in the index than when the
 * query returned it. It is listed where the query returned it, in the version that was read. */

/* Appends a text that is equal for items that share their place in the order of the query. */
static void listing_query_write_order(const struct tree_listing *listing, struct json item,
                                      struct buf *out)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct read *query = listing->plan->query;
    for (size_t i = 0; i < query->sort_count; i++) {
        struct value value;
        if (typed_scalar(item_attribute(item, query->sort[i]), &arena, &value))
            value_write_identity(value, out);
        buf_add_char(out, ',');
    }
    out->failed = out->failed || arena.failed;
}

static void listing_query_write_key(const struct key *key, struct buf *out)
{
    for (size_t i = 0; i < key->count; i++)
        value_write_identity(key->attributes[i].value, out);
}

/* Notes that the item KEY is listed, if it has left its place ORDER. False when memory ran out. */
static bool listing_query_note_moved(struct tree_listing *listing, const struct key *key,
                                     struct json item, struct span order)
{
    CLEAN_UP(buf_clean_up_secret) struct buf now = {0}, identity = {0};
    listing_query_write_order(listing, item, &now);
    if (!now.failed && span_equal(buf_span(&now), order))
        return true;
    listing_query_write_key(key, &identity);
    return !now.failed && !identity.failed &&
           (dict_find(&listing->moved, buf_span(&identity)) ||
            listing_query_note_text(&listing->moved, buf_span(&identity)));
}

/* Whether the item KEY, which the query returned, has been listed at its former place. */
static bool listing_query_has_moved(struct tree_listing *listing, const struct key *key)
{
    CLEAN_UP(buf_clean_up_secret) struct buf identity = {0};
    if (listing->moved.count == 0)
        return false;
    listing_query_write_key(key, &identity);
    listing->entries.failed = listing->entries.failed || identity.failed;
    return !identity.failed && dict_find(&listing->moved, buf_span(&identity));
}

/* Entries. */

/* Fills in an entry from its item: the file, or the item itself. An item that
 * can't be shown ends the listing in an error: it must not pass for a deleted one. */
static void listing_query_describe(struct tree_listing *listing, struct tree_entry *entry,
                                   struct json item, const char *request_id)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    const struct place *place = listing->place;
    if (listing->items) {
        struct span text = json_raw(item);
        if (listing->plan->reads_again)
            entry->content =
                arena_copy(&listing->contents, text); /* ITEM is gone after this slice */
        else
            entry->item = item;
        if (!listing->described)
            entry->size = (int64_t)text.size;
        hydrate_note(&listing->hydrate, text.size);
        if (!listing->described || listing->plan->index_suffices)
            return;
    }
    if (!file_write_record(listing->tree, place->table, item, &bytes)) {
        listing->entries.failed = listing->entries.failed || bytes.failed;
        if (!bytes.failed)
            record_refuse(item, request_id, &listing->refused);
        return;
    }
    size_t size = bytes.size, held = bytes.capacity;
    entry->size = (int64_t)size;
    entry->mtime = file_mtime(place->route->list, item);
    if (listing->items)
        return;
    entry->content = arena_adopt(&listing->contents, &bytes);
    listing->content_bytes += held;
    if (listing->content_bytes > MOST_CONTENT_BYTES)
        error_set(&listing->refused, ERROR_NO_MEMORY,
                  "the files of one page of items have more than %d MB together; use \"--format "
                  "compact\", which makes them smaller, or open each by its name",
                  MOST_CONTENT_BYTES >> 20);
    hydrate_note(&listing->hydrate, size);
}

/* The rest of the ttl of an entry, on a page that waited for WAITED_MS in the source; < 0: it is
 * over. */
static int64_t listing_query_ttl_left_ms(const struct tree_listing *listing, int64_t waited_ms)
{
    int64_t ttl_ms = plan_ttl_ms(listing->plan, listing->source);
    struct walk_age age = walk_age(listing->walk);
    if (!age.is_replayed)
        return ttl_ms - waited_ms;
    int64_t left_ms = age.since_ms + ttl_ms - loop_now_ms(listing->tree->loop);
    return age.is_dropped && left_ms > 0 ? 0 : left_ms;
}

/* Adds an entry for an item that counts. OWN is the file that the map declares for it, or NULL.
 * False when memory ran out. */
static bool listing_query_add_entry(struct tree_listing *listing,
                                    const struct matched_item *matched, struct json item,
                                    struct declared_file *own, const struct page *page)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf order = {0};
    const struct place *place = listing->place;
    const struct plan *plan = listing->plan;
    const struct route *route = route_of_entry(place->route, matched->entry);
    bool reads_again = listing_query_reads_again(listing);
    bool failed = false;
    /* A listing of N existing items tests the selection on the items that are read again. */
    bool tests_later = reads_again && plan->query->limit > 0;
    if (!tests_later && !plan_may_select(plan, item, &failed)) {
        listing->entries.failed = listing->entries.failed || failed;
        listing->stats.entries++;
        return true;
    }
    listing->entries.failed = listing->entries.failed || failed;
    if (own) {
        buf_add_span(&name, own->name);
        own->listed = true;
    } else if (!listing->alone || listing->named) {
        /* The rank of an item that is read again is its place among those that still exist, and
         * replaces this 1 (listing_query_number_entry). */
        uint64_t rank = reads_again ? 1 : listing->stats.entries + 1;
        if (!place_write_name(place, route, &matched->parts, rank, &listing->tree->names, &name,
                              &listing->entries.why)) {
            listing->entries.failed = true; /* reported when the page is delivered */
            return true;
        }
    }
    struct tree_entry *added = entries_add(&listing->entries, buf_span(&name), false);
    if (!added)
        return false;
    added->ttl_left_ms = listing_query_ttl_left_ms(listing, page->age_ms);
    added->rank = own ? 0 : listing->stats.entries + 1;
    if (listing->full && !reads_again)
        listing_query_describe(listing, added, item, page->request_id);
    else if (reads_again) {
        listing_query_write_order(listing, item, &order);
        if (order.failed || !hydrate_add(&listing->hydrate, &matched->key, buf_span(&order),
                                         listing->entries.count - 1, page->item_count))
            return false;
    }
    /* A declared file comes beside the N entries of a listing. */
    listing->stats.entries += !own || place->selection;
    listing->matched += !reads_again;
    if (listing_is_alone(listing) || own)
        return true;
    for (const struct route *child = place->route->children; child; child = child->next)
        if (listing_query_is_named_by_items(child) &&
            listable_follows(child, route, &place->bindings))
            listing_query_add_directory(listing, child, &matched->parts);
    return true;
}

/* False when memory ran out. */
static bool listing_query_add_item(struct tree_listing *listing, const struct page *page,
                                   struct json item)
{
    struct matched_item matched;
    struct record_origin origin;
    bool alone = listing_is_alone(listing);
    switch (item_match_item(listing->plan, item, &listing->hydrate.keys, &matched)) {
    case ITEM_MATCH_NO_MEMORY:
        return false;
    case ITEM_MATCH_UNREADABLE:
        item_match_report(listing->plan->table, listing->plan->table_name, item, &listing->refused);
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
        if (listing_query_has_moved(listing, &matched.key))
            break;
        struct declared_file *own = declared_files_find(&listing->files, &matched.key, item);
        if ((!own || listing->items || alone) &&
            !listing_query_add_entry(listing, &matched, item, own, page))
            return false;
        break;
    }
    if (alone)
        return true;
    if (!listing->entries.failed)
        listing_query_add_showing(listing, &matched.key);
    if (listing->files.count > 0) {
        struct walk_age age = walk_age(listing->walk);
        fetch_fill_origin(listing->tree->loop, page, &origin);
        if (age.is_replayed) {
            origin.fetched_ms = age.since_ms;
            origin.fetched_wall_ms = age.since_wall_ms;
        }
        declared_files_consider(&listing->files, &matched.key, item, &origin);
    }
    return true;
}

/* Pages. */

/* Compares the sort key of the next ITEM with that of the item before. False when memory ran out.
 */
static bool listing_query_take_ties(struct tree_listing *listing, struct json item)
{
    struct listing_ties *ties = &listing->ties;
    buf_truncate(&ties->next, 0);
    listing_query_write_order(listing, item, &ties->next);
    if (ties->next.failed)
        return false;
    if (ties->group > 0 && span_equal(buf_span(&ties->next), buf_span(&ties->last)))
        return true;
    struct buf before = ties->last;
    ties->last = ties->next;
    ties->next = before;
    ties->group++;
    return true;
}

/* Whether the listing wants an entry of TIES. With ties, entries behind the last one that share its
 * sort key are wanted, too. */
static bool listing_query_is_wanted(const struct tree_listing *listing, uint64_t ties)
{
    const struct read *query = listing->plan->query;
    const struct selection *selection = listing->plan->selection;
    size_t had = listing_query_reads_again(listing) ? listing->found : listing->stats.entries;
    if (selection && selection->limit > 0 && listing->matched >= selection->limit)
        return false;
    return query->limit == 0 || had < query->limit || (query->ties && ties == listing->last_tie);
}

/* Adds the page's items until the listing wants no more; then ENOUGH is set. "The latest N" are N
 * entries, and other items between them do not count. Where items are read again, some may have
 * been deleted, so all of the page are added. False when memory ran out. */
static bool listing_query_add_page(struct tree_listing *listing, const struct page *page,
                                   bool *enough)
{
    const struct read *query = listing->plan->query;
    struct tree_list_stats *stats = &listing->stats;
    stats->pages += !page->continues;
    stats->read += page->scanned ? page->scanned : page->item_count;
    stats->read_twice = stats->read_twice || page->scanned_twice;
    stats->requests += page->requests;
    source_add_page(&stats->spent, page);
    stats->entries += page->counted;
    stats->counted += page->counted;
    listing->matched += page->counted;
    for (size_t i = 0; i < page->item_count && !*enough && !listing->entries.failed; i++) {
        if (query->ties && !listing_query_take_ties(listing, page->items[i]))
            return false;
        uint64_t group = listing->ties.group;
        size_t before = listing->entries.count;
        *enough = !listing_query_is_wanted(listing, group);
        if (*enough)
            break;
        if (!listing_query_add_item(listing, page, page->items[i]))
            return false;
        for (size_t k = before; k < listing->entries.count; k++)
            listing->entries.items[k].ties = group;
        if (!listing_query_reads_again(listing) && stats->entries >= query->limit &&
            listing->last_tie == 0)
            listing->last_tie = group;
        *enough = !listing_query_is_wanted(listing, group);
    }
    return true;
}

/* Whether each item was recorded that the listing has read again. */
static bool listing_query_is_sound(const struct tree_listing *listing)
{
    return listing->failed.kind == ERROR_NONE && listing->refused.kind == ERROR_NONE &&
           !listing->entries.failed && !listing->contents.failed;
}

/* All of a page has been delivered. */
static void listing_query_end_page(struct tree_listing *listing)
{
    listing->state = LISTING_QUERY;
    if (listing->more)
        return;
    if (listing_query_is_sound(listing))
        walk_conclude(listing->walk);
    listing_continue(listing);
}

static void listing_query_take_page(void *arg, const struct page *page, const struct error *err)
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
    if (listing->refused.kind != ERROR_NONE || listing->entries.failed ||
        listing->contents.failed) {
        listing_deliver(listing, 0, 0); /* the reason */
        return;
    }
    listing->more = page->more && !enough;
    if (!listing->more && tree_list_note(listing, &why))
        log_line(listing->tree->log, LOG_LEVEL_WARNING, "%s", why.text);
    listing->delivered = 0;
    if (hydrate_next(&listing->hydrate, NULL)) {
        listing->state = LISTING_CONTENTS;
        if (!listing_start_slice(listing, &why))
            listing_fail(listing, &why);
        return;
    }
    hydrate_clear(&listing->hydrate);
    listing_query_end_page(listing);
    /* A reader of items decides after each page whether it wants more. */
    if (listing->entries.count > 0 || listing_is_alone(listing))
        listing_deliver(listing, 0, listing->entries.count);
    else
        listing_work(listing);
}

/* Items that are read again. */

/* The index returned the key; the item decides now whether it is in this directory, as when it is
 * looked up: the index may be behind, or hold less than a filter tests. The name is the query's,
 * even where it contains a key of the index that has changed. */
static void listing_query_take_item(void *arg, struct json item, const char *request_id)
{
    struct tree_listing *listing = arg;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    struct span order;
    size_t at;
    bool failed = false;
    if (!item_match_key(listing->place->table, item, &arena, &key)) {
        listing->entries.failed = listing->entries.failed || arena.failed;
        if (!arena.failed)
            item_match_report(listing->plan->table, listing->plan->table_name, item,
                              &listing->refused);
        return;
    }
    if (hydrate_find(&listing->hydrate, &key, &at, &order) &&
        plan_admits(listing->plan, &key, item, &failed)) {
        struct tree_entry *entry = &listing->entries.items[at];
        walk_record_item(listing->walk, &key, item);
        entry->passed_over = !plan_selects(listing->plan, item, &failed);
        listing_query_describe(listing, entry, item, request_id);
        failed = failed ||
                 (!entry->passed_over && !listing_query_note_moved(listing, &key, item, order));
    }
    listing->entries.failed = listing->entries.failed || failed;
}

/* Replaces the rank 1 in ENTRY's name by its place among the items that still exist. */
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

/* Removes entries from the range whose items no longer exist or fit, and those that are more than
 * the listing wants. Returns the number of the others, which move to the beginning of the range. */
static size_t listing_query_drop_vanished(struct tree_listing *listing, size_t from, size_t to)
{
    struct tree_entry *items = listing->entries.items;
    size_t limit = listing->plan->query->limit, kept = from;
    for (size_t i = from; i < to && listing_query_is_wanted(listing, items[i].ties); i++) {
        bool exists = items[i].size >= 0;
        listing->found += exists;
        listing->vanished += !exists && !items[i].directory;
        if (exists)
            listing_query_number_entry(listing, &items[i]);
        if (listing->found == limit && listing->last_tie == 0)
            listing->last_tie = items[i].ties;
        bool shown = exists && !items[i].passed_over;
        listing->matched += shown;
        if (items[i].directory || shown)
            items[kept++] = items[i];
    }
    return kept - from;
}

/* Items that were read again came one by one; here they become one array of JSON, whose elements
 * the entries get. Directories may be between them. */
void listing_parse_items(struct tree_listing *listing, size_t from, size_t count)
{
    struct tree_entry *entries = listing->entries.items + from;
    struct buf *texts = &listing->texts;
    json_clean_up(&listing->parsed);
    buf_truncate(texts, 0);
    buf_add_char(texts, '[');
    for (size_t i = 0; i < count; i++) {
        buf_add_text(texts, texts->size > 1 && !entries[i].directory ? "," : "");
        buf_add_span(texts, entries[i].content);
    }
    buf_add_char(texts, ']');
    /* The texts were valid JSON before: parsing fails only without memory. */
    if (texts->failed || !json_parse(&listing->parsed, buf_span(texts), JSON_STRICT, NULL)) {
        listing->entries.failed = true;
        return;
    }
    struct json item = json_first(json_root(&listing->parsed));
    for (size_t i = 0; i < count; i++) {
        if (entries[i].directory)
            continue;
        entries[i].item = item;
        item = json_next(item);
    }
}

/* A slice has been read: its entries are delivered, up to the first that waits for the next. */
static void listing_query_take_slice(void *arg, const struct error *err)
{
    struct tree_listing *listing = arg;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    size_t from = listing->delivered;
    bool last = !hydrate_next(&listing->hydrate, &listing->delivered);
    if (last)
        listing->delivered = listing->entries.count;
    size_t count = listing_query_drop_vanished(listing, from, listing->delivered);
    bool enough = !listing_query_is_wanted(
        listing, last ? listing->ties.group : listing->entries.items[listing->delivered].ties);
    listing->more = listing->more && !enough;
    if (last || enough) {
        hydrate_clear(&listing->hydrate);
        listing_query_end_page(listing);
    }
    if (listing->items && !listing->entries.failed && !listing->contents.failed)
        listing_parse_items(listing, from, count);
    listing_deliver(listing, from, count);
}

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
                                .items = walk_items(listing->walk),
                                .loop = listing->tree->loop,
                                .cost = walk_own_cost(listing->walk),
                                .throttled = walk_throttled(listing->walk)};
    return hydrate_start(&listing->hydrate, &from, wanted, listing_query_take_item,
                         listing_query_take_slice, listing, err);
}

/* The query. */

/* A reader that wants N items will not read all of the query. */
static void listing_query_read_all(struct tree_listing *listing)
{
    const struct selection *selection = listing->plan ? listing->plan->selection : NULL;
    if (listing->reads_all && listing->walk && !listing->tree->page_by_page &&
        !(selection && selection->limit > 0))
        walk_read_all(listing->walk);
}

void tree_list_read_all(struct tree_listing *listing)
{
    listing->reads_all = true;
    listing_query_read_all(listing);
}

void tree_list_read_some(struct tree_listing *listing)
{
    listing->reads_all = false;
}

/* A count, or a table of what the index holds, is made of items that have lately been read, if they
 * are in memory, so that it agrees with a listing of the same time. A count needs only their keys,
 * and may wait for a listing that reads them. */
static void listing_query_use_known(struct tree_listing *listing, const struct walk_from *from)
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
        plain.full = false; /* if requests are sent in the end, they cost no more than a count */
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
                             .part_items = tree->part_items,
                             .full = listing->full,
                             .steady = listing->steady};
    listing_query_use_known(listing, &from);
    from.plan = listing->plan;
    from.full = listing->full;
    listing->walk = walk_start(&from, listing_query_take_page, listing, err);
    listing_query_read_all(listing);
    return listing->walk;
}

struct tree_list_stats tree_list_stats(const struct tree_listing *listing)
{
    struct tree_list_stats stats = listing->stats;
    if (listing->walk) {
        const struct walk_cost *records = walk_known_cost(listing->walk);
        stats.age = walk_age(listing->walk);
        stats.has_records = records;
        stats.records = records ? *records : (struct walk_cost){0};
        stats.throttled = *walk_throttled(listing->walk);
    }
    return stats;
}

bool tree_list_note(const struct tree_listing *listing, struct error *out)
{
    size_t skipped = listing->stats.skipped;
    bool several = skipped > 1;
    if (listing->plan && skipped == 0 && listing->stats.entries == 0) {
        CLEAN_UP(buf_clean_up) struct buf hint = {0};
        near_miss_write(listing->place, &hint);
        if (hint.size > 0)
            error_set(out, ERROR_NOT_FOUND, "no item is listed, and %s", buf_text(&hint));
        return hint.size > 0;
    }
    if (skipped == 0)
        return false;
    error_set(out, ERROR_INVALID,
              "%zu item%s of %s fit%s none of the map's kinds and %s not listed; declare %s in "
              "\"records\", or use \"list\": \"*\"",
              skipped, several ? "s" : "", listing->plan->table_name, several ? "" : "s",
              several ? "are" : "is", several ? "them" : "it");
    return true;
}
