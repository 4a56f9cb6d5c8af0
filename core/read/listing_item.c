/* What one record shows in a directory of its own: its attributes, or its links. */
#include "core/read/fetch.h"
#include "core/read/file.h"
#include "core/read/links.h"
#include "core/read/listing.h"

static void listing_item_take_attributes(void *arg, struct record *record, double found_units,
                                         int64_t ttl_left_ms, const struct error *err)
{
    struct tree_listing *listing = arg;
    (void)found_units;
    listing->fetch = NULL;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    struct json item = record_item(record), value;
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
        entry->secret = model_is_secret(listing->place->table, buf_span(&text));
        entry->mtime = file_mtime(listing->place->route->file, item);
        entry->ttl_left_ms = ttl_left_ms;
        if (file_write_attribute(listing->tree, listing->place->table, buf_span(&text), item,
                                 &bytes))
            entry->size = (int64_t)bytes.size;
        listing->entries.failed = listing->entries.failed || bytes.failed;
        entry->content = arena_adopt(&listing->contents, &bytes);
    }
    entries_sort(&listing->entries);
    listing_continue(listing);
    listing_deliver(listing);
}

/* A link that the record has not got is left out, and one to what nobody may read. */
static void listing_item_add_link(struct tree_listing *listing, const struct map_link *link,
                                  struct json item, int64_t ttl_left_ms)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct error why;
    struct place *target =
        links_follow(listing->place, link, item, &listing->tree->names, &bytes, &why);
    place_destroy(target);
    if (!target && (why.kind == ERROR_NOT_FOUND || why.kind == ERROR_DENIED))
        return;
    if (!target) {
        if (listing->failed.kind == ERROR_NONE)
            listing->failed = why; /* told at the end */
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

static void listing_item_report_links(struct tree_listing *listing, struct json item,
                                      int64_t ttl_left_ms)
{
    for (const struct map_link *each = listing->place->table->links; each; each = each->next)
        listing_item_add_link(listing, each, item, ttl_left_ms);
    listing_continue(listing);
    listing_deliver(listing);
}

static void listing_item_take_linked(void *arg, struct record *record, double found_units,
                                     int64_t ttl_left_ms, const struct error *err)
{
    struct tree_listing *listing = arg;
    (void)found_units;
    listing->fetch = NULL;
    if (err)
        listing_fail(listing, err);
    else
        listing_item_report_links(listing, record_item(record), ttl_left_ms);
}

/* What one record shows in a directory of its own: its attributes, or its links. */
bool listing_start_record(struct tree_listing *listing, struct error *err)
{
    struct json no_item = {0};
    bool links = listing->place->kind == PLACE_LINKS;
    if (links && !fetch_is_needed(listing->place)) {
        listing_item_report_links(listing, no_item, MAP_STRUCTURE_TTL_MS);
        return true;
    }
    listing->fetch =
        fetch_start(listing->tree, listing->place,
                    links ? listing_item_take_linked : listing_item_take_attributes, listing);
    return listing->fetch || error_no_memory(err);
}
