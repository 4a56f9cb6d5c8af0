/* Names that no query tells: of tables, of environments that tables tell of, and of partition keys
 * that a Scan has found. */
#include "core/read/listing.h"

/* Of a census. */
enum { KEYS_A_PAGE = 1000 };

static bool listing_names_request_tables(struct tree_listing *listing, const struct place *place,
                                         source_page_fn *take, struct error *err)
{
    const struct tree *tree = listing->tree;
    if (!listing_open_source(listing, place, err))
        return false;
    listing->tables = read_new(READ_TABLES, "", NULL);
    if (!listing->tables)
        return error_no_memory(err);
    listing->call = source_start(listing->source, listing->tables, tree->payer, take, listing);
    return listing->call || error_no_memory(err);
}

/* A table that is listed is known by its name: it is described when somebody looks inside. */
static void listing_names_take_names(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    struct span prefix =
        span_text(listing->place->table_prefix ? listing->place->table_prefix : "");
    for (size_t i = 0; i < page->name_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct error why;
        if (!span_starts(page->names[i], prefix))
            continue;
        if (names_write_table(page->names[i], &name, &why)) {
            entries_add(&listing->entries, buf_span(&name), true);
        } else if (why.kind == ERROR_NO_MEMORY) {
            listing->entries.failed = true;
        } else if (listing->failed.kind == ERROR_NONE) {
            listing->failed = why;
        }
    }
    if (page->more && listing->entries.count == 0 && !listing->entries.failed) {
        source_more(listing->call);
        return;
    }
    if (!page->more)
        listing_continue(listing);
    listing_deliver(listing);
}

const struct map_environment *listing_next_parametric(const struct map_environment *from)
{
    while (from && format_is_literal(&from->name))
        from = from->next;
    return from;
}

/* Environments whose names have a parameter are found by the tables that there are. */
static void listing_names_take_table_names(void *arg, const struct page *page,
                                           const struct error *err)
{
    struct tree_listing *listing = arg;
    struct error why;
    if (err) {
        listing_fail(listing, err);
        return;
    }
    for (size_t i = 0; i < page->name_count; i++)
        if (names_check_table(page->names[i], &why))
            entries_add_environment(&listing->entries, listing->place->map, listing->environment,
                                    page->names[i]);
        else if (listing->failed.kind == ERROR_NONE)
            listing->failed = why;
    if (page->more) {
        source_more(listing->call);
        return;
    }
    listing_end_call(listing);
    listing->environment = listing_next_parametric(listing->environment->next);
    if (!listing->environment) {
        listing_continue(listing);
        listing_deliver(listing);
    } else if (!listing_start_tables(listing, &why)) {
        listing_fail(listing, &why);
    }
}

bool listing_start_tables(struct tree_listing *listing, struct error *err)
{
    listing->asking = (struct place){
        .kind = PLACE_ENVIRONMENT, .map = listing->place->map, .environment = listing->environment};
    return listing_names_request_tables(listing, &listing->asking, listing_names_take_table_names,
                                        err);
}

bool listing_start_names(struct tree_listing *listing, struct error *err)
{
    return listing_names_request_tables(listing, listing->place, listing_names_take_names, err);
}

/* A name of a key that is too long to open a directory is left out, and the end says so. False when
 * memory ran out. */
static bool listing_names_add_key(struct tree_listing *listing, struct value key)
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
    if (listing->failed.kind == ERROR_NONE)
        listing->failed = why;
    return why.kind != ERROR_NO_MEMORY;
}

void listing_report_keys(struct tree_listing *listing)
{
    const struct key_scan *census = listing->census;
    bool ok = true;
    for (int i = 0; ok && i < KEYS_A_PAGE && listing->counted < census->count; i++)
        ok = listing_names_add_key(listing, census->values[listing->counted++]);
    listing->entries.failed = listing->entries.failed || !ok;
    if (listing->counted == census->count)
        listing_continue(listing);
    listing_deliver(listing);
}

static void listing_names_take_census(void *arg, void *data, int64_t ttl_left_ms,
                                      const struct error *err)
{
    struct tree_listing *listing = arg;
    listing->wait = NULL;
    (void)ttl_left_ms; /* a directory is there whatever is in it; what is in it is asked again */
    if (!data) {
        listing_fail(listing, err);
        return;
    }
    listing->census = key_scan_ref(data);
    listing->stats.pages = listing->census->pages;
    listing->stats.requests = listing->census->requests;
    listing->stats.spent = listing->census->spent;
    if (err && listing->failed.kind == ERROR_NONE)
        listing->failed = *err; /* too old to be told as if it were not */
    listing_report_keys(listing);
}

bool listing_start_census(struct tree_listing *listing, struct error *err)
{
    listing->wait =
        key_scan_start(listing->tree, listing->place, listing_names_take_census, listing, err);
    return listing->wait;
}
