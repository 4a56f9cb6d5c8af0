/* Listings: what the map puts into a directory, then what the source has, page by page, then the
 * files that the map declares and that can be opened. */
#include <stdlib.h>

#include "core/map/groups.h"
#include "core/map/listable.h"
#include "core/plan/sieve.h"
#include "core/tree/ask.h"
#include "core/tree/census.h"
#include "core/tree/entries.h"
#include "core/tree/fetch.h"
#include "core/tree/file.h"
#include "core/tree/followers.h"
#include "core/tree/links.h"
#include "core/tree/models.h"
#include "core/tree/openings.h"
#include "core/tree/proof.h"
#include "core/tree/resolve.h"
#include "core/tree/shortened.h"
#include "core/tree/slices.h"
#include "core/tree/ties.h"
#include "core/tree/tree.h"
#include "core/tree/walk.h"

/* Of a page, or of a slice of its records. What the service gives has 1 MB, or 40; but lists within
 * lists grow by their indentation. */
enum { MOST_CONTENT_BYTES = 96 << 20 };

/* Of a census. */
enum { KEYS_A_PAGE = 1000 };

/* What comes next, in this order; what a directory has not is left out. A page of entries is
 * delivered at the end of DECLARED, after each page of QUERY or slice of CONTENTS, and after the
 * others. */
enum listing_state {
    LISTING_PLACE,    /* what the place is, if its table has to be described first */
    LISTING_DECLARED, /* the names that the map alone tells */
    LISTING_NAMES,    /* a page of the names of all tables, for PLACE_TABLES */
    LISTING_TABLES,   /* names of tables, for environments that have a parameter */
    LISTING_RECORD,   /* the record whose attributes are listed */
    LISTING_CENSUS,   /* some of the partition keys that a Scan has found */
    LISTING_QUERY,    /* a page of the query */
    LISTING_CONTENTS, /* records of the page in hand, a slice at a time; then QUERY again */
    LISTING_PROOFS,   /* files that the map declares: which of them are there */
    LISTING_ENDS,     /* the end, or the word that something here can't be listed */
};

struct tree_listing {
    const struct tree *tree;
    const struct place *place;
    struct place *anew; /* owned: PLACE, where it is no more the caller's; or NULL */
    struct tree_resolution *resolution; /* of LISTING_PLACE */
    bool full;
    bool items;      /* records are told as items, rather than as files; then FULL is set, too */
    bool named;      /* with ITEMS: by their sizes and dates, too, and ALONE by their names */
    bool alone;      /* records are told, and nothing beside them */
    bool steady;     /* whoever reads it goes on to its end at once */
    bool all_wanted; /* whoever lists reads to the end */
    tree_entries_fn *fn;
    void *arg;

    enum listing_state state;
    struct entries entries; /* of the page in hand */
    struct loop_timer *timer;

    struct plan *plan;     /* of the query; owned reference */
    struct source *source; /* of the query under way */
    struct walk *walk;     /* through the query's pages; owned */
    struct read *tables;   /* of LISTING_TABLES and LISTING_NAMES; owned */
    struct source_call *call;
    const struct map_environment *environment; /* whose tables are being asked for */
    struct place asking;                       /* for them: a place in that environment */

    struct slices slices;   /* of LISTING_CONTENTS: the page's keys */
    size_t told;            /* entries of the page that have been delivered */
    size_t found;           /* records that were read again, and are still there */
    size_t matched;         /* records that answer what is asked beside the path */
    struct ties ties;       /* of a query with ties */
    uint64_t last_tie;      /* what the last of those that are wanted has; 0 before it came */
    struct error unnamed;   /* of a record beyond the newest N, which may yet be wanted */
    struct arena contents;  /* of the entries that are being delivered */
    size_t content_bytes;   /* in there */
    struct buf texts;       /* with ITEMS: those that were read again, as one array of JSON */
    struct json_doc parsed; /* over it */
    bool more;              /* the source has a page after that in hand */

    const struct route *scanned; /* the step whose names LISTING_CENSUS tells; NULL for none */
    struct cache_wait *wait;     /* for the census */
    struct census *census;       /* owned reference; NULL before it came */
    size_t counted;              /* keys of it that have been told */

    struct fetch *fetch;      /* of LISTING_RECORD */
    struct proofs proofs;     /* of LISTING_PROOFS, and fed by the pages before */
    struct openings openings; /* of LISTING_PROOFS */
    struct error failed; /* what the end says: the first failure of a proof, or a directory that
                            could not be listed */

    struct tree_list_stats stats;
    struct followers followers;
    struct error refused; /* an item that can't be listed, and why; ERROR_NONE for none */
};

static void end_call(struct tree_listing *listing)
{
    if (listing->call)
        listing->source->ops->end(listing->call);
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
    census_unref(listing->census);
    slices_clean_up(&listing->slices); /* which may be reading, as the plan says */
    walk_end(listing->walk);
    openings_clean_up(&listing->openings);
    proofs_clean_up(&listing->proofs);
    end_call(listing);
    plan_unref(listing->plan);
    tree_resolve_cancel(listing->resolution);
    place_destroy(listing->anew);
    followers_clean_up(&listing->followers);
    entries_clean_up(&listing->entries);
    ties_clean_up(&listing->ties);
    arena_clean_up(&listing->contents);
    json_clean_up(&listing->parsed);
    buf_clean_up_secret(&listing->texts);
    free(listing);
}

/* ERR may be the listing's own, which ends in this call. */
static void fail(struct tree_listing *listing, const struct error *err)
{
    struct error copy = *err;
    listing->fn(listing->arg, NULL, 0, false, &copy);
}

/* Whether records are told alone, and nothing that their directory shows beside them. */
static bool is_alone(const struct tree_listing *listing)
{
    return listing->alone || listing->place->asked;
}

/* Goes on to what the directory has next. */
static void go_on(struct tree_listing *listing)
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
            there = listing->proofs.count > 0 && !is_alone(listing);
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

/* What nothing lists of the directory; who asks for some of its records does not ask for that. */
static const struct route *unlisted(const struct tree_listing *listing)
{
    return listing->place->asked ? NULL : entries_unlisted(listing->place, &listing->tree->names);
}

/* Whether nothing comes any more: no entry, and no word that something is not listed. */
static bool is_end(const struct tree_listing *listing)
{
    return listing->state == LISTING_ENDS && listing->failed.kind == ERROR_NONE &&
           listing->place->kind != PLACE_COLUMNS && !unlisted(listing);
}

/* What a table's description tells is good for as long as that is. */
static void shorten_ttls(struct tree_listing *listing, size_t from, size_t count)
{
    int64_t most_ms = tree_structure_ttl_ms(listing->tree, listing->place);
    for (size_t i = from; i < from + count; i++) {
        struct tree_entry *entry = &listing->entries.items[i];
        if (entry->directory && entry->ttl_left_ms > most_ms)
            entry->ttl_left_ms = most_ms;
    }
}

/* Records that were read again came one by one, and are told together. Directories may stand
 * between them. */
static void parse_records(struct tree_listing *listing, size_t from, size_t count)
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

/* A misspelt name or value finds nothing, and is no error: so it is told how many were asked. */
static void say_unmatched(const struct tree_listing *listing)
{
    const struct asked *asked = listing->place->asked;
    size_t read = listing->stats.read;
    if (!asked || !asked->filter || listing->matched > 0 || !listing->plan)
        return;
    if (read == 0)
        log_line(listing->tree->log, LOG_LEVEL_WARNING, "there is no record to ask the filter of");
    else
        log_line(listing->tree->log, LOG_LEVEL_WARNING,
                 "no record answers the filter, and %zu %s read; \"@summary\" behind the "
                 "listing's path tells which attributes and values there are",
                 read, read == 1 ? "was" : "were");
}

static void deliver_range(struct tree_listing *listing, size_t from, size_t count)
{
    struct error why;
    if (listing->entries.failed || listing->contents.failed) {
        error_no_memory(&why);
        bool unnamed = listing->entries.why.kind != ERROR_NONE;
        fail(listing, unnamed ? &listing->entries.why : &why);
    } else if (listing->refused.kind != ERROR_NONE) {
        fail(listing, &listing->refused);
    } else {
        shorten_ttls(listing, from, count);
        if (is_end(listing))
            say_unmatched(listing);
        listing->fn(listing->arg, listing->entries.items + from, count, !is_end(listing), NULL);
    }
}

static void deliver(struct tree_listing *listing)
{
    deliver_range(listing, 0, listing->entries.count);
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

/* Which option would list what nothing leads to; only of a table that needed no map. */
static void add_scan_option(const struct tree_listing *listing, const struct route *child,
                            struct error *why)
{
    const struct tree *tree = listing->tree;
    struct models_told told;
    if (tree->names.scan || child != census_step(listing->place))
        return;
    error_add(why, "; or --allow-scan lists them by reading the whole table");
    if (tree->models && tree->models->ops->told(tree->models, listing->place, &told) &&
        told.item_count >= 0)
        error_add(why, " (%lld item%s)", (long long)told.item_count,
                  told.item_count == 1 ? "" : "s");
}

/* The end of a directory of which a part can't be listed is an error that says what to type. */
static void say_unlisted(struct tree_listing *listing, const struct route *child)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf segment = {0};
    format_write(&child->segment, &segment);
    const char *slash = child->file ? "" : "/", *hint = hint_for(listing->place, child);
    const char *reason = listable_values(listing->place->table, child)
                             ? "is listed as far as the map knows its values, and it does not say "
                               "that these are \"only\" them"
                         : listable_follows_some(child, &listing->place->bindings) ||
                                 groups_show(child, &listing->place->bindings)
                             ? "is listed as far as entries lead to it, and there may be others"
                             : "can't be listed, since no key leads to all of them";
    error_set(&why, ERROR_NOT_LISTABLE, "%s%s %s; type one: …/%s%s%s%s", buf_text(&segment), slash,
              reason, buf_text(&segment), slash, hint ? "; " : "", hint ? hint : "");
    add_scan_option(listing, child, &why);
    fail(listing, &why);
}

/* The file of its own that the map declares for the record here, under whose name it is told; NULL
 * for none. Where that name is a file only of records that pass a filter, and this one does not, or
 * ITEM is too little of it to know, it is an entry all the same: rather told twice than not at all.
 */
static struct proof *own_file(const struct tree_listing *listing, const struct key *key,
                              struct json item)
{
    for (size_t i = 0; i < listing->proofs.count; i++) {
        struct error ignored;
        struct proof *proof = &listing->proofs.items[i];
        const struct plan *plan = proof->plan;
        if (proof_is_record(proof) && key_compare(&plan->key, key) == 0 &&
            (plan->pattern->filter_count == 0 || plan_holds(plan, key, item, &ignored)))
            return proof;
    }
    return NULL;
}

/* The typed item goes with the entry, rather than what its file shows of it. */
static void keep_item(struct tree_listing *listing, struct tree_entry *entry, struct json item)
{
    struct span text = json_raw(item);
    if (listing->plan->reads_again)
        entry->content = arena_copy(&listing->contents, text);
    else
        entry->item = item;
    if (!listing->named)
        entry->size = (int64_t)text.size;
    slices_note(&listing->slices, text.size);
}

/* An item that can't be shown ends the listing in an error: it must not pass for one that is
 * gone. */
static void describe(struct tree_listing *listing, struct tree_entry *entry, struct json item,
                     const char *request_id)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    const struct place *place = listing->place;
    if (listing->items)
        keep_item(listing, entry, item);
    if (listing->items && !listing->named)
        return;
    if (!file_write_record(listing->tree, place->table, item, &bytes)) {
        listing->entries.failed = listing->entries.failed || bytes.failed;
        if (!bytes.failed)
            record_refuse(item, request_id, &listing->refused);
        return;
    }
    entry->size = (int64_t)bytes.size;
    entry->mtime_ms = file_mtime_ms(place->route->list, item);
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
    entry->content = arena_copy(&listing->contents, buf_span(&bytes));
    slices_note(&listing->slices, bytes.size);
}

/* Whether the listing shows an item that counts. What is tested of a record that is read again
 * waits for that, where the listing wants so many that are still there. */
static bool is_asked_for(struct tree_listing *listing, struct json item)
{
    const struct plan *plan = listing->plan;
    bool waits = listing->full && plan->reads_again && plan->query->limit > 0;
    bool failed = false;
    bool asked = waits || plan_may_ask(plan, item, &failed);
    listing->entries.failed = listing->entries.failed || failed;
    return asked;
}

/* Of records alone names are needed that tell of an index's key: the record, read again, must still
 * be called so. */
static bool needs_name(const struct tree_listing *listing, const struct sifted *sifted)
{
    return !listing->alone || listing->named ||
           (listing->plan->reads_again && sifted->entry->indexed.count > 0);
}

/* How long what the query told may be believed, on a page that waited for WAITED_MS to be told. */
static int64_t ttl_left_ms(const struct tree_listing *listing, int64_t waited_ms)
{
    int64_t ttl_ms = listing->plan->pattern->ttl_ms;
    struct walk_age age = walk_age(listing->walk);
    if (!age.is_told_again)
        return waited_ms < ttl_ms ? ttl_ms - waited_ms : 0;
    int64_t left_ms = age.since_ms + ttl_ms - loop_now_ms(listing->tree->loop);
    return left_ms > 0 && !age.is_dropped ? left_ms : 0;
}

/* OWN is the file that the map declares for the record, or NULL. */
static bool add_entry(struct tree_listing *listing, const struct sifted *sifted, struct json item,
                      struct proof *own, const struct page *page)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct place *place = listing->place;
    const struct route *route = route_of_entry(place->route, sifted->entry);
    if (!is_asked_for(listing, item)) {
        listing->stats.entries++;
        return true;
    }
    if (own) {
        buf_add_span(&name, own->name);
        own->listed = true;
    } else if (needs_name(listing, sifted) &&
               !place_write_name(place, route, &sifted->parts, listing->stats.entries + 1,
                                 &listing->tree->names, &name, &listing->entries.why)) {
        listing->entries.failed = true; /* told when the page is delivered */
        return true;
    }
    struct tree_entry *added = entries_add(&listing->entries, buf_span(&name), false);
    if (!added)
        return false;
    added->ttl_left_ms = ttl_left_ms(listing, page->age_ms);
    if (listing->full && !listing->plan->reads_again) {
        describe(listing, added, item, page->request_id);
    } else if (listing->full && !slices_add(&listing->slices, &sifted->key,
                                            listing->entries.count - 1, page->item_count)) {
        return false;
    }
    listing->stats.entries += !own || place->asked; /* it is beside those that are listed */
    listing->matched += !(listing->full && listing->plan->reads_again);
    if (!is_alone(listing) && !own)
        followers_add(&listing->followers, place, route, &sifted->parts, &listing->tree->names,
                      &listing->entries, &listing->failed);
    return true;
}

/* Of a listing of directories alone, those that the item brings along. */
static void add_groups(struct tree_listing *listing, const struct sifted *sifted, struct json item)
{
    bool found = followers_add_groups(&listing->followers, listing->place, sifted, item,
                                      &listing->tree->names, &listing->entries, &listing->failed);
    listing->stats.entries += found;
    listing->stats.skipped += !found;
}

/* Where what a page brought comes from: what is told again came when it was first told, at the
 * latest. */
static void note_origin(const struct tree_listing *listing, const struct page *page,
                        struct record_origin *out)
{
    struct walk_age age = walk_age(listing->walk);
    ask_origin(listing->tree->loop, page, out);
    if (!age.is_told_again)
        return;
    out->fetched_ms = age.since_ms;
    out->fetched_wall_ms = age.since_wall_ms;
}

/* False when memory ran out. */
static bool add_item(struct tree_listing *listing, const struct page *page, struct json item)
{
    struct sifted sifted;
    struct record_origin origin;
    struct proof *own;
    switch (sieve_item(listing->plan, item, &listing->slices.keys, &sifted)) {
    case SIEVE_NO_MEMORY:
        return false;
    case SIEVE_UNREADABLE:
        sieve_complain(listing->plan, item, &listing->refused);
        return true;
    case SIEVE_UNDECLARED:
        listing->stats.skipped++;
        break;
    case SIEVE_OTHER:
        break;
    case SIEVE_COUNTS:
        if (listing->plan->pattern->groups) {
            add_groups(listing, &sifted, item);
            break;
        }
        own = own_file(listing, &sifted.key, item);
        if ((!own || listing->items || is_alone(listing)) &&
            !add_entry(listing, &sifted, item, own, page))
            return false;
        break;
    }
    if (is_alone(listing))
        return true;
    if (!listing->entries.failed)
        followers_add_finding(&listing->followers, listing->place, &sifted.key,
                              &listing->tree->names, &listing->entries, &listing->failed);
    if (listing->proofs.count > 0) {
        note_origin(listing, page, &origin);
        proofs_consider(&listing->proofs, &sifted.key, item, &origin);
    }
    return true;
}

/* The index told of it; what the record itself says now decides, as when it is asked for by its
 * name: the index may be behind, or hold less than a filter looks at. */
static void take_record(void *arg, struct json item, const char *request_id)
{
    struct tree_listing *listing = arg;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    size_t entry;
    bool failed = false;
    if (!sieve_key(listing->place->table, item, &arena, &key)) {
        listing->entries.failed = listing->entries.failed || arena.failed;
        if (!arena.failed)
            sieve_complain(listing->plan, item, &listing->refused);
        return;
    }
    if (slices_find(&listing->slices, &key, &entry) &&
        plan_admits(listing->plan, &key, item, &failed) &&
        shortened_is_still(listing->place, &listing->tree->names, &key, item,
                           listing->entries.items[entry].name, &failed)) {
        walk_note(listing->walk, &key, item);
        listing->entries.items[entry].passed_over = !plan_asks(listing->plan, item, &failed);
        describe(listing, &listing->entries.items[entry], item, request_id);
    }
    listing->entries.failed = listing->entries.failed || failed;
}

/* Whether the listing goes on with an entry of TIES. The last of those that are wanted may not have
 * come yet; with ties, those that share its sort key come behind it. */
static bool is_wanted(const struct tree_listing *listing, uint64_t ties)
{
    const struct read *query = listing->plan->query;
    const struct asked *asked = listing->plan->asked;
    bool reads_again = listing->full && listing->plan->reads_again;
    size_t had = reads_again ? listing->found : listing->stats.entries;
    if (asked && asked->limit > 0 && listing->matched >= asked->limit)
        return false;
    return query->limit == 0 || had < query->limit || (query->ties && ties == listing->last_tie);
}

/* Takes entries whose records have gone, or changed, since the index told of them out of the range,
 * and those that are more than the listing wants, and returns how many are left in it. */
static size_t drop_vanished(struct tree_listing *listing, size_t from, size_t to)
{
    struct tree_entry *items = listing->entries.items;
    size_t limit = listing->plan->query->limit, kept = from;
    for (size_t i = from; i < to && is_wanted(listing, items[i].ties); i++) {
        bool there = items[i].size >= 0;
        listing->found += there;
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
static void end_page(struct tree_listing *listing)
{
    listing->state = LISTING_QUERY;
    if (listing->more)
        return;
    if (listing->failed.kind == ERROR_NONE)
        walk_conclude(listing->walk);
    go_on(listing);
}

/* The entries up to the first that waits for another slice can be told. */
static void take_all_records(void *arg, const struct error *err)
{
    struct tree_listing *listing = arg;
    if (err) {
        fail(listing, err);
        return;
    }
    size_t from = listing->told;
    bool last = !slices_next(&listing->slices, &listing->told);
    if (last)
        listing->told = listing->entries.count;
    size_t count = drop_vanished(listing, from, listing->told);
    bool enough = !is_wanted(listing, last ? listing->ties.group
                                           : listing->entries.items[listing->told].ties);
    bool cut = !enough && last && listing->unnamed.kind != ERROR_NONE;
    if (cut)
        listing->failed = listing->unnamed;
    listing->more = listing->more && !enough && !cut;
    if (last || enough) {
        slices_clear(&listing->slices);
        end_page(listing);
    }
    if (listing->items && !listing->entries.failed)
        parse_records(listing, from, count);
    deliver_range(listing, from, count);
}

/* Reads the records of the next slice of the page. */
static bool start_slice(struct tree_listing *listing, struct error *err)
{
    const struct asked *asked = listing->plan->asked;
    size_t limit = listing->plan->query->limit;
    size_t wanted = listing->found < limit ? limit - listing->found : 0;
    if (asked && asked->limit > 0 && (wanted == 0 || asked->limit - listing->matched < wanted))
        wanted = asked->limit - listing->matched;
    struct hydrate_from from = {.plan = listing->plan,
                                .source = listing->source,
                                .payer = listing->tree->payer,
                                .kept = walk_records(listing->walk),
                                .loop = listing->tree->loop};
    return slices_start(&listing->slices, &from, wanted, take_record, take_all_records, listing,
                        err);
}

struct tree_list_stats tree_list_stats(const struct tree_listing *listing)
{
    struct tree_list_stats stats = listing->stats;
    if (listing->walk)
        stats.age = walk_age(listing->walk);
    return stats;
}

bool tree_list_note(const struct tree_listing *listing, struct error *out)
{
    bool several = listing->stats.skipped > 1;
    if (listing->plan && listing->stats.skipped == 0 && listing->stats.entries == 0) {
        CLEAN_UP(buf_clean_up) struct buf doubt = {0};
        place_write_doubt(listing->place, &doubt);
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

static void work(struct tree_listing *listing);

/* Takes an item of the page in. ENOUGH is set when no further one is wanted, or, with ties, not
 * even this one. False when memory ran out. */
static bool add_next_item(struct tree_listing *listing, const struct page *page, struct json item,
                          bool *enough)
{
    const struct read *query = listing->plan->query;
    bool may_have_gone = listing->full && listing->plan->reads_again;
    if (query->ties && !ties_take(&listing->ties, query, item))
        return false;
    uint64_t group = listing->ties.group;
    *enough = !is_wanted(listing, group);
    if (*enough)
        return true;
    size_t before = listing->entries.count;
    if (!add_item(listing, page, item))
        return false;
    for (size_t i = before; i < listing->entries.count; i++)
        listing->entries.items[i].ties = group;
    if (!may_have_gone && listing->stats.entries >= query->limit && listing->last_tie == 0)
        listing->last_tie = group;
    *enough = !is_wanted(listing, group);
    return true;
}

/* Takes the page's items in; ENOUGH is set when no further one is wanted. "The latest N" are N
 * entries, whatever else stands between them. Where records are read again, some of these may have
 * gone, so all of the page are taken in, and read until N are there. False when memory ran out. */
static bool add_page(struct tree_listing *listing, const struct page *page, bool *enough)
{
    uint32_t limit = listing->plan->query->limit;
    bool may_have_gone = listing->full && listing->plan->reads_again;
    listing->stats.pages++;
    listing->stats.read += page->scanned ? page->scanned : page->item_count;
    listing->stats.requests += page->requests;
    if (page->capacity >= 0)
        listing->stats.capacity += page->capacity;
    listing->stats.entries += page->counted;
    listing->stats.counted += page->counted;
    listing->matched += page->counted;
    for (size_t i = 0; i < page->item_count && !*enough && !listing->entries.failed; i++) {
        if (!add_next_item(listing, page, page->items[i], enough))
            return false;
        if (may_have_gone && limit > 0 && listing->stats.entries >= limit &&
            listing->entries.why.kind == ERROR_INVALID) {
            /* Its rank does not fit, say, which matters when it is wanted. */
            listing->unnamed = listing->entries.why;
            listing->entries.why = (struct error){0};
            listing->entries.failed = false;
            break;
        }
    }
    return true;
}

static void take_query_page(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    struct error why;
    bool enough = false;
    if (err) {
        fail(listing, err);
        return;
    }
    if (!add_page(listing, page, &enough)) {
        error_no_memory(&why);
        fail(listing, &why);
        return;
    }
    if (listing->refused.kind != ERROR_NONE || listing->entries.failed) {
        deliver(listing); /* the reason */
        return;
    }
    listing->more = page->more && !enough;
    if (!listing->more && tree_list_note(listing, &why))
        log_line(listing->tree->log, LOG_LEVEL_WARNING, "%s", why.text);
    listing->told = 0;
    if (slices_next(&listing->slices, NULL)) {
        listing->state = LISTING_CONTENTS;
        if (!start_slice(listing, &why))
            fail(listing, &why);
        return;
    }
    slices_clear(&listing->slices);
    end_page(listing);
    /* Who asks for records may have to decide what is read for them: he is told of each page. */
    if (listing->entries.count > 0 || is_alone(listing))
        deliver(listing);
    else
        work(listing);
}

/* Who asks for no more than so many will not read all of the query. */
static void say_all_wanted(struct tree_listing *listing)
{
    const struct asked *asked = listing->plan ? listing->plan->asked : NULL;
    if (listing->all_wanted && listing->walk && !(asked && asked->limit > 0))
        walk_want_all(listing->walk);
}

void tree_list_want_all(struct tree_listing *listing)
{
    listing->all_wanted = true;
    say_all_wanted(listing);
}

/* Who wants to know how many records there are counts those that have lately been read, where he
 * can, as whoever lists them would. */
static void count_what_is_known(struct tree_listing *listing, const struct walk_from *from)
{
    struct place listed = *listing->place; /* borrows all that it owns */
    struct walk_from plain = *from;
    if (!listing->plan->counts)
        return;
    listed.kind = PLACE_DIRECTORY;
    struct plan *plan = place_plan(&listed, NULL);
    plain.plan = plan;
    if (!plan || !walk_is_known(&plain)) {
        plan_unref(plan);
        return;
    }
    plan_unref(listing->plan);
    listing->plan = plan;
}

static bool start_query(struct tree_listing *listing, struct error *err)
{
    const struct tree *tree = listing->tree;
    listing->source = tree->source(tree->source_arg, listing->place, err);
    if (!listing->source)
        return false;
    struct walk_from from = {.walks = tree->walks,
                             .plan = listing->plan,
                             .source = listing->source,
                             .payer = tree->payer,
                             .loop = tree->loop,
                             .full = listing->full,
                             .steady = listing->steady};
    count_what_is_known(listing, &from);
    from.plan = listing->plan;
    listing->walk = walk_start(&from, take_query_page, listing, err);
    say_all_wanted(listing);
    return listing->walk;
}

static bool ask_tables(struct tree_listing *listing, const struct place *place,
                       source_page_fn *take, struct error *err)
{
    const struct tree *tree = listing->tree;
    listing->source = tree->source(tree->source_arg, place, err);
    if (!listing->source)
        return false;
    listing->tables = read_new(READ_TABLES, "", NULL);
    if (!listing->tables)
        return error_no_memory(err);
    listing->call = source_start(listing->source, listing->tables, tree->payer, take, listing);
    return listing->call || error_no_memory(err);
}

/* A table that is listed is known by its name: it is described when somebody looks inside. */
static void take_names(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    if (err) {
        fail(listing, err);
        return;
    }
    for (size_t i = 0; i < page->name_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct error why;
        if (names_write_table(page->names[i], &name, &why)) {
            entries_add(&listing->entries, buf_span(&name), true);
        } else if (why.kind == ERROR_NO_MEMORY) {
            listing->entries.failed = true;
        } else if (listing->failed.kind == ERROR_NONE) {
            listing->failed = why;
        }
    }
    if (!page->more)
        go_on(listing);
    deliver(listing);
}

static const struct map_environment *next_parametric(const struct map_environment *from)
{
    while (from && format_is_literal(&from->name))
        from = from->next;
    return from;
}

static bool start_tables(struct tree_listing *listing, struct error *err);

/* Environments whose names have a parameter are found by the tables that there are. */
static void take_table_names(void *arg, const struct page *page, const struct error *err)
{
    struct tree_listing *listing = arg;
    struct error why;
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
    if (!listing->environment) {
        go_on(listing);
        deliver(listing);
    } else if (!start_tables(listing, &why)) {
        fail(listing, &why);
    }
}

static bool start_tables(struct tree_listing *listing, struct error *err)
{
    listing->asking = (struct place){
        .kind = PLACE_ENVIRONMENT, .map = listing->place->map, .environment = listing->environment};
    return ask_tables(listing, &listing->asking, take_table_names, err);
}

static int order_names(const void *a, const void *b)
{
    return span_compare(((const struct tree_entry *)a)->name, ((const struct tree_entry *)b)->name);
}

static void take_attributes(void *arg, struct record *record, double found_units,
                            int64_t ttl_left_ms, const struct error *err)
{
    struct tree_listing *listing = arg;
    (void)found_units;
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
        bool named = !text.failed && names_write_attribute(buf_span(&text), &encoded);
        listing->entries.failed = listing->entries.failed || !named;
        struct tree_entry *entry = entries_add(&listing->entries, buf_span(&encoded), false);
        if (!entry)
            break;
        entry->secret = model_is_secret(listing->place->table, buf_span(&text));
        entry->mtime_ms = file_mtime_ms(listing->place->route->file, item);
        entry->ttl_left_ms = ttl_left_ms;
        if (file_write_attribute(listing->tree, listing->place->table, buf_span(&text), item,
                                 &bytes))
            entry->size = (int64_t)bytes.size;
        listing->entries.failed = listing->entries.failed || bytes.failed;
        entry->content = arena_copy(&listing->contents, buf_span(&bytes));
    }
    if (listing->entries.count > 0)
        qsort(listing->entries.items, listing->entries.count, sizeof *listing->entries.items,
              order_names);
    go_on(listing);
    deliver(listing);
}

/* A link that the record has not got is left out, and one to what nobody may read. */
static void add_link(struct tree_listing *listing, const struct map_link *link, struct json item,
                     int64_t ttl_left_ms)
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
    entry->content = arena_copy(&listing->contents, buf_span(&bytes));
}

static void tell_links(struct tree_listing *listing, struct json item, int64_t ttl_left_ms)
{
    for (const struct map_link *each = listing->place->table->links; each; each = each->next)
        add_link(listing, each, item, ttl_left_ms);
    go_on(listing);
    deliver(listing);
}

static void take_linked(void *arg, struct record *record, double found_units, int64_t ttl_left_ms,
                        const struct error *err)
{
    struct tree_listing *listing = arg;
    (void)found_units;
    listing->fetch = NULL;
    if (err)
        fail(listing, err);
    else
        tell_links(listing, record_item(record), ttl_left_ms);
}

/* What one record shows in a directory of its own: its attributes, or its links. */
static bool start_record(struct tree_listing *listing, struct error *err)
{
    struct json no_item = {0};
    bool links = listing->place->kind == PLACE_LINKS;
    if (links && !place_is_read(listing->place)) {
        tell_links(listing, no_item, MAP_STRUCTURE_TTL_MS);
        return true;
    }
    listing->fetch =
        fetch_start(listing->tree, listing->place, links ? take_linked : take_attributes, listing);
    return listing->fetch || error_no_memory(err);
}

/* Whether NAME is of a record that has been told among the others. */
static bool is_told(const struct tree_listing *listing, struct span name)
{
    for (size_t i = 0; i < listing->proofs.count; i++)
        if (span_equal(listing->proofs.items[i].name, name))
            return listing->proofs.items[i].listed;
    return false;
}

/* A file that is proven not to be there is left out; that this can't be told is no less an error
 * than if it had been asked for by its name. */
static void take_proof(void *arg, struct span name, const struct tree_file *file,
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
        is_told(listing, name) ? NULL : entries_add(&listing->entries, name, false);
    if (!entry)
        return;
    entry->secret = file->secret;
    entry->mtime_ms = file->mtime_ms;
    entry->ttl_left_ms = file->ttl_left_ms;
    entry->size = (int64_t)file->bytes.size;
    entry->content = arena_copy(&listing->contents, file->bytes);
}

static void take_all_proofs(void *arg)
{
    struct tree_listing *listing = arg;
    if (listing->entries.count > 0)
        qsort(listing->entries.items, listing->entries.count, sizeof *listing->entries.items,
              order_names);
    go_on(listing);
    if (listing->entries.count > 0 || listing->entries.failed)
        deliver(listing);
    else
        work(listing);
}

/* The plan of the listing, and the files beside it, are found before the first page. */
static bool prepare(struct tree_listing *listing, struct error *err)
{
    const struct place *place = listing->place;
    if (place_is_listing(place)) {
        listing->plan = place_plan(place, err);
        if (!listing->plan)
            return false;
        listing->full = listing->full || listing->plan->parts.late;
    }
    if (place->kind == PLACE_DIRECTORY && listing->tree->names.scan)
        listing->scanned = census_step(place);
    if (place->kind == PLACE_ROOT)
        listing->environment = next_parametric(place->map->environments);
    struct place directory = *place; /* borrows all that PLACE owns */
    if (listing->alone)
        directory.kind = PLACE_DIRECTORY;
    return proofs_init(&listing->proofs, &directory, &listing->tree->names, listing->plan, err);
}

static bool start_declared(struct tree_listing *listing, struct error *err)
{
    if (!prepare(listing, err))
        return false;
    if (!is_alone(listing))
        entries_add_declared(&listing->entries, listing->place, &listing->tree->names);
    go_on(listing);
    if (listing->entries.count > 0 || listing->entries.failed)
        deliver(listing);
    else
        work(listing);
    return true;
}

/* A name of a key that is too long to open a directory is left out, and the end says so. False when
 * memory ran out. */
static bool add_key(struct tree_listing *listing, struct value key)
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

static void tell_census(struct tree_listing *listing)
{
    const struct census *census = listing->census;
    bool ok = true;
    for (int i = 0; ok && i < KEYS_A_PAGE && listing->counted < census->count; i++)
        ok = add_key(listing, census->values[listing->counted++]);
    listing->entries.failed = listing->entries.failed || !ok;
    if (listing->counted == census->count)
        go_on(listing);
    deliver(listing);
}

static void take_census(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct tree_listing *listing = arg;
    listing->wait = NULL;
    (void)ttl_left_ms; /* a directory is there whatever is in it; what is in it is asked again */
    if (!data) {
        fail(listing, err);
        return;
    }
    listing->census = census_ref(data);
    listing->stats.pages = listing->census->pages;
    listing->stats.requests = listing->census->requests;
    listing->stats.capacity = listing->census->capacity;
    if (err && listing->failed.kind == ERROR_NONE)
        listing->failed = *err; /* too old to be told as if it were not */
    tell_census(listing);
}

static bool start_census(struct tree_listing *listing, struct error *err)
{
    listing->wait = census_ask(listing->tree, listing->place, take_census, listing, err);
    return listing->wait;
}

static void take_place(void *arg, struct place *place, const struct error *err)
{
    struct tree_listing *listing = arg;
    listing->resolution = NULL;
    if (err) {
        fail(listing, err);
        return;
    }
    listing->anew = place;
    listing->place = place;
    listing->state = LISTING_DECLARED;
    work(listing);
}

/* A place that was found by a description which is believed no more is found anew. */
static bool start_place(struct tree_listing *listing, struct error *err)
{
    if (tree_is_current(listing->tree, listing->place)) {
        listing->state = LISTING_DECLARED;
        work(listing);
        return true;
    }
    listing->resolution =
        tree_resolve(listing->tree, listing->place, span_text(""), take_place, listing);
    return listing->resolution || error_no_memory(err);
}

const struct place *tree_list_place(const struct tree_listing *listing)
{
    return listing->place;
}

/* What could be a column, nobody knows who has not read all records. */
static void say_columns(struct tree_listing *listing)
{
    struct error why;
    error_set(&why, ERROR_NOT_LISTABLE,
              "the columns of a table are typed: …@table/status,created_at, with attributes of the "
              "records in place of these; …@summary tells which there are");
    fail(listing, &why);
}

/* The listing has been read: says what it lacks, or that it is whole. */
static void conclude(struct tree_listing *listing)
{
    const struct route *child = unlisted(listing);
    if (listing->failed.kind != ERROR_NONE)
        fail(listing, &listing->failed);
    else if (listing->place->kind == PLACE_COLUMNS)
        say_columns(listing);
    else if (child)
        say_unlisted(listing, child);
    else
        deliver(listing);
}

/* Asks for the next page of a call, or begins it. */
static bool go_on_with(struct tree_listing *listing, struct error *why)
{
    if (listing->call) {
        listing->source->ops->more(listing->call);
        return true;
    }
    if (listing->walk) {
        walk_more(listing->walk);
        return true;
    }
    return listing->state == LISTING_QUERY ? start_query(listing, why)
                                           : ask_tables(listing, listing->place, take_names, why);
}

/* Begins whatever is next; what comes of it is delivered. */
static void work(struct tree_listing *listing)
{
    struct error why;
    bool ok = true;
    switch (listing->state) {
    case LISTING_PLACE:
        ok = start_place(listing, &why);
        break;
    case LISTING_NAMES:
    case LISTING_QUERY:
        ok = go_on_with(listing, &why);
        break;
    case LISTING_DECLARED:
        ok = start_declared(listing, &why);
        break;
    case LISTING_TABLES:
        ok = start_tables(listing, &why);
        break;
    case LISTING_RECORD:
        ok = start_record(listing, &why);
        break;
    case LISTING_CENSUS:
        if (listing->census)
            tell_census(listing);
        else
            ok = start_census(listing, &why);
        break;
    case LISTING_CONTENTS:
        ok = start_slice(listing, &why);
        break;
    case LISTING_PROOFS:
        ok = openings_start(&listing->openings, &listing->proofs, listing->tree, take_proof,
                            take_all_proofs, listing, &why);
        break;
    case LISTING_ENDS:
        conclude(listing);
        break;
    }
    if (!ok)
        fail(listing, &why);
}

void tree_list_more(struct tree_listing *listing)
{
    arena_clean_up(&listing->contents);
    listing->content_bytes = 0;
    if (listing->state != LISTING_CONTENTS)
        entries_clear(&listing->entries);
    work(listing);
}

void tree_list_hold_on(struct tree_listing *listing)
{
    listing->steady = true;
}

static void begin(void *arg)
{
    struct tree_listing *listing = arg;
    listing->timer = NULL;
    work(listing);
}

static struct tree_listing *start(const struct tree_listing *wanted)
{
    struct tree_listing *listing = calloc(1, sizeof *listing);
    if (!listing)
        return NULL;
    *listing = *wanted;
    if (followers_init(&listing->followers))
        listing->timer = loop_add_timer(wanted->tree->loop, 0, begin, listing);
    if (listing->timer)
        return listing;
    tree_list_end(listing);
    return NULL;
}

struct tree_listing *tree_list(const struct tree *tree, const struct place *place, bool full,
                               tree_entries_fn *fn, void *arg)
{
    return start(
        &(struct tree_listing){.tree = tree, .place = place, .full = full, .fn = fn, .arg = arg});
}

struct tree_listing *tree_list_records(const struct tree *tree, const struct place *place,
                                       bool named, tree_entries_fn *fn, void *arg)
{
    return start(&(struct tree_listing){.tree = tree,
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
    return start(&(struct tree_listing){
        .tree = tree, .place = place, .full = true, .items = true, .fn = fn, .arg = arg});
}
