#include "core/read/similar.h"

#include <stdlib.h>
#include <string.h>

#include "core/item/item.h"
#include "core/plan/item_match.h"
#include "core/plan/vector_search.h"
#include "core/read/fetch.h"

/* The states follow each other; SIMILAR_READS only if the items are wanted. Each of them may be the
 * last. */
enum similar_state {
    SIMILAR_FETCHES,  /* the item whose vector is searched for: FETCH */
    SIMILAR_SEARCHES, /* WAIT */
    SIMILAR_READS,    /* the items that were found: CALL */
    SIMILAR_REPORTS,  /* in the next round of the loop: TIMER */
};

struct similar {
    const struct tree *tree;
    const struct place *place;
    const struct plan *plan; /* a reference */
    bool items;
    enum similar_state state;
    struct place *subject; /* owned: the item whose vector is searched for */
    struct fetch *fetch;
    struct record *record; /* a reference: SUBJECT's; NULL before it came */
    double subject_units;
    struct cache_wait *wait;
    struct source *source;         /* a reference */
    struct similar_result *result; /* a reference; NULL before it came */
    struct read *read;             /* owned: of the items */
    struct source_call *call;
    struct buf texts; /* the items that came, as one array of JSON */
    struct json_doc parsed;
    struct json *found; /* owned: one for each hit */
    struct loop_timer *timer;
    int64_t ttl_left_ms;
    unsigned item_requests;
    struct spent item_spent;
    struct error why; /* with a kind: the end */
    similar_fn *fn;
    void *arg;
};

/* A search under way. It belongs to the cache's flight, and may outlive the first caller. */
struct similar_flight {
    const struct plan *plan; /* a reference */
    struct source *source;   /* a reference */
    struct payer *payer;     /* a reference: of the first caller */
    struct loop *loop;
    struct read *read; /* owned */
    struct cache_flight *cache_flight;
    struct source_call *call;
};

static struct similar_result *similar_result_ref(struct similar_result *result)
{
    result->references++;
    return result;
}

static void similar_result_unref(struct similar_result *result)
{
    if (!result || --result->references > 0)
        return;
    arena_clean_up(&result->arena);
    free(result);
}

static void similar_result_ref_data(void *data)
{
    similar_result_ref(data);
}

static void similar_result_unref_data(void *data)
{
    similar_result_unref(data);
}

static void similar_flight_release(void *arg)
{
    struct similar_flight *flight = arg;
    read_destroy(flight->read);
    payer_unref(flight->payer);
    source_unref(flight->source);
    plan_unref(flight->plan);
    free(flight);
}

static void similar_flight_abandon(void *arg)
{
    struct similar_flight *flight = arg;
    source_end(flight->call);
    flight->call = NULL;
}

/* The results of PAGE. NULL with ERR filled. */
static struct similar_result *similar_result_new(const struct similar_flight *flight,
                                                 const struct page *page, struct error *err)
{
    struct similar_result *result = calloc(1, sizeof *result);
    if (!result) {
        error_no_memory(err);
        return NULL;
    }
    result->references = 1;
    result->requests = page->requests;
    source_add_page(&result->spent, page);
    fetch_fill_origin(flight->loop, page, &result->origin);
    result->hits = arena_array(&result->arena, page->item_count + 1, sizeof *result->hits);
    for (size_t i = 0; result->hits && i < page->item_count; i++) {
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        struct json item = json_member(page->items[i], "Item");
        struct similar_hit *hit = &result->hits[result->count++];
        struct key key;
        if (!item_match_key(flight->plan->table, item, &arena, &key)) {
            if (!arena.failed && !result->arena.failed)
                item_match_report(flight->plan->table, flight->plan->table_name, item, err);
            else
                error_no_memory(err);
            similar_result_unref(result);
            return NULL;
        }
        hit->score = arena_copy(&result->arena, json_raw(json_member(page->items[i], "Score")));
        hit->key = key;
        for (size_t k = 0; k < key.count; k++) {
            struct key_attribute *attribute = &hit->key.attributes[k];
            attribute->name = arena_copy(&result->arena, attribute->name);
            attribute->value.bytes = arena_copy(&result->arena, attribute->value.bytes);
        }
    }
    if (!result->arena.failed)
        return result;
    similar_result_unref(result);
    error_no_memory(err);
    return NULL;
}

static void similar_flight_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct similar_flight *flight = arg;
    struct error why;
    struct similar_result *result = NULL;
    if (err)
        why = *err;
    else if (page->item_count == 0) /* an index that has the item finds at least that */
        error_set(&why, ERROR_NO_TABLE,
                  "the vector index %s of table %s has found no item, and not even this one: it "
                  "does not have it yet; try again in some seconds",
                  flight->read->index, flight->plan->table_name);
    else
        result = similar_result_new(flight, page, &why);
    similar_flight_abandon(flight);
    if (!result) {
        cache_fail(flight->cache_flight, &why);
        return;
    }
    struct cache_value value = {result, similar_result_ref_data, similar_result_unref_data,
                                sizeof *result + arena_memory(&result->arena)};
    cache_land(flight->cache_flight, &value);
    similar_result_unref(result);
}

static bool similar_flight_start(void *arg, struct cache_flight *cache_flight, struct error *err)
{
    struct similar_flight *flight = arg;
    flight->cache_flight = cache_flight;
    flight->call =
        source_start(flight->source, flight->read, flight->payer, similar_flight_take_page, flight);
    return flight->call || error_no_memory(err);
}

static void similar_destroy(struct similar *similar)
{
    fetch_cancel(similar->fetch);
    if (similar->wait)
        cache_leave(similar->wait);
    source_end(similar->call);
    loop_remove_timer(similar->timer);
    read_destroy(similar->read);
    json_clean_up(&similar->parsed);
    buf_clean_up_secret(&similar->texts);
    free(similar->found);
    similar_result_unref(similar->result);
    source_unref(similar->source);
    plan_unref(similar->plan);
    record_unref(similar->record);
    place_destroy(similar->subject);
    free(similar);
}

void similar_cancel(struct similar *similar)
{
    if (similar)
        similar_destroy(similar);
}

/* Reports the result, or WHY, and frees SIMILAR. */
static void similar_report(struct similar *similar)
{
    const struct similar_found found = {
        .subject = similar->record,
        .subject_units = similar->subject_units,
        .result = similar->result,
        .items = similar->items ? similar->found : NULL,
        .item_requests = similar->item_requests,
        .item_spent = similar->item_spent,
        .ttl_left_ms = similar->ttl_left_ms,
    };
    bool ok = similar->why.kind == ERROR_NONE;
    if (similar->why.kind == ERROR_NOT_FOUND && similar->why.ttl_left_ms == 0)
        similar->why.ttl_left_ms = MAP_MISSING_TTL_MS;
    similar->fn(similar->arg, ok ? &found : NULL, ok ? NULL : &similar->why);
    similar_destroy(similar);
}

static void similar_fail(struct similar *similar, const struct error *err)
{
    similar->why = *err;
    similar_report(similar);
}

/* The items. */

/* Adds the items of PAGE. */
static void similar_add_items(struct similar *similar, const struct page *page)
{
    similar->item_requests += page->requests;
    source_add_page(&similar->item_spent, page);
    for (size_t i = 0; i < page->item_count; i++) {
        buf_add_char(&similar->texts, similar->texts.size > 0 ? ',' : '[');
        buf_add_span(&similar->texts, json_raw(page->items[i]));
    }
}

/* Finds the item of each hit among those that came. False with WHY filled. */
static bool similar_sort_items(struct similar *similar)
{
    const struct similar_result *result = similar->result;
    if (similar->texts.size == 0 && !similar->texts.failed)
        return true;
    buf_add_char(&similar->texts, ']');
    /* The texts were valid JSON before: parsing fails only without memory. */
    if (similar->texts.failed ||
        !json_parse(&similar->parsed, buf_span(&similar->texts), JSON_STRICT, NULL))
        return error_no_memory(&similar->why);
    for (struct json item = json_first(json_root(&similar->parsed)); json_present(item);
         item = json_next(item)) {
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        struct key key;
        if (!item_match_key(similar->plan->table, item, &arena, &key))
            return arena.failed ? error_no_memory(&similar->why)
                                : item_match_report(similar->plan->table, similar->plan->table_name,
                                                    item, &similar->why);
        for (size_t i = 0; i < result->count; i++)
            if (key_compare(&result->hits[i].key, &key) == 0)
                similar->found[i] = item;
    }
    return true;
}

static void similar_take_items(void *arg, const struct page *page, const struct error *err)
{
    struct similar *similar = arg;
    if (err) {
        similar_fail(similar, err);
        return;
    }
    similar_add_items(similar, page);
    if (page->more) {
        source_more(similar->call);
        return;
    }
    similar_sort_items(similar);
    similar_report(similar);
}

/* Reads all items that were found. False with WHY filled. */
static bool similar_read_items(struct similar *similar)
{
    const struct similar_result *result = similar->result;
    similar->state = SIMILAR_READS;
    similar->found = calloc(result->count, sizeof *similar->found);
    similar->read = read_new(READ_ITEMS, similar->plan->table_name, NULL);
    if (!similar->found || !similar->read)
        return error_no_memory(&similar->why);
    similar->read->secrets = similar->plan->search->secrets;
    similar->read->secret_count = similar->plan->search->secret_count;
    read_set_pattern(similar->read, similar->plan->table->path_name, similar->plan->pattern->path);
    similar->read->unstored = similar->plan->pattern->ttl_ms == 0;
    for (size_t i = 0; i < result->count; i++)
        read_add_key(similar->read, &result->hits[i].key);
    if (!read_failed(similar->read))
        similar->call = source_start(similar->source, similar->read, similar->tree->payer,
                                     similar_take_items, similar);
    return similar->call || error_no_memory(&similar->why);
}

/* The search. */

static void similar_take_result(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct similar *similar = arg;
    similar->wait = NULL;
    if (err) {
        similar_fail(similar, err);
        return;
    }
    similar->result = similar_result_ref(data);
    if (ttl_left_ms < similar->ttl_left_ms)
        similar->ttl_left_ms = ttl_left_ms;
    if (!similar->items || similar->result->count == 0 || !similar_read_items(similar))
        similar_report(similar);
}

/* Searches through the cache. READ is taken, also on failure. False with WHY filled. */
static bool similar_search(struct similar *similar, struct read *read)
{
    const struct tree *tree = similar->tree;
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct similar_flight *flight = calloc(1, sizeof *flight);
    similar->state = SIMILAR_SEARCHES;
    if (!flight) {
        read_destroy(read);
        return error_no_memory(&similar->why);
    }
    *flight = (struct similar_flight){
        .plan = plan_ref(similar->plan),
        .source = source_ref(similar->source),
        .payer = payer_ref(tree->payer),
        .loop = tree->loop,
        .read = read,
    };
    source_identity(similar->source, &key);
    read_identity(read, &key);
    if (key.failed) {
        similar_flight_release(flight);
        return error_no_memory(&similar->why);
    }
    similar->wait = cache_read(tree->cache,
                               &(struct cache_lookup){
                                   .key = buf_span(&key),
                                   .max_age_ms = similar->plan->pattern->ttl_ms,
                                   .fetch = similar_flight_start,
                                   .abandon = similar_flight_abandon,
                                   .fetch_arg = flight,
                                   .release = similar_flight_release,
                               },
                               similar_take_result, similar);
    return similar->wait || error_no_memory(&similar->why);
}

/* An item that is older than its ttl is not searched for. */
static void similar_take_subject(void *arg, struct record *record, const struct tree_found *found,
                                 int64_t ttl_left_ms, const struct error *err)
{
    struct similar *similar = arg;
    similar->fetch = NULL;
    if (err) {
        similar_fail(similar, err);
        return;
    }
    similar->record = record_ref(record);
    similar->subject_units = found->units;
    similar->ttl_left_ms = ttl_left_ms;
    struct read *read = vector_search_from(similar->plan->search, similar->place->vector,
                                           record_item(record), &similar->why);
    if (!read || !similar_search(similar, read))
        similar_report(similar);
}

static void similar_report_later(void *arg)
{
    struct similar *similar = arg;
    similar->timer = NULL;
    similar_report(similar);
}

static bool similar_begin(struct similar *similar)
{
    const struct tree *tree = similar->tree;
    const struct place *place = similar->place;
    if (!place->vector)
        return error_set(&similar->why, ERROR_NO_TABLE,
                         "the vector indexes of the table are not known; open the path again");
    similar->plan = plan_ref(place_plan(place, &similar->why));
    similar->source =
        similar->plan ? source_ref(tree->source(tree->source_arg, place, &similar->why)) : NULL;
    if (!similar->source)
        return false;
    similar->subject = place_copy_subject(place);
    if (similar->subject)
        similar->fetch = fetch_start(tree, similar->subject, similar_take_subject, similar);
    return similar->fetch || error_no_memory(&similar->why);
}

struct similar *similar_start(const struct tree *tree, const struct place *place, bool items,
                              similar_fn *fn, void *arg)
{
    struct similar *similar = calloc(1, sizeof *similar);
    if (!similar)
        return NULL;
    *similar = (struct similar){.tree = tree, .place = place, .items = items, .fn = fn, .arg = arg};
    if (similar_begin(similar))
        return similar;
    similar->state = SIMILAR_REPORTS;
    similar->timer = loop_add_timer(tree->loop, 0, similar_report_later, similar);
    if (similar->timer)
        return similar;
    similar_destroy(similar);
    return NULL;
}

/* Names and files. */

/* As many digits as the last rank has. */
static int similar_rank_digits(const struct place *place)
{
    return place->top >= 100 ? 3 : place->top >= 10 ? 2 : 1;
}

/* Escapes each @ that begins what looks like a companion's ending. */
static void similar_escape_endings(struct buf *name)
{
    for (struct span base = buf_span(name), columns;
         !name->failed && companion_split(&base, &columns) != COMPANION_NONE;
         base = buf_span(name)) {
        CLEAN_UP(buf_clean_up) struct buf rest = {0};
        size_t at = companion_find_at(buf_span(name));
        buf_add_span(&rest, span_from(buf_span(name), at + 1));
        buf_truncate(name, at);
        buf_add_text(name, "%40");
        buf_add_span(name, buf_span(&rest));
        name->failed = name->failed || rest.failed;
    }
}

void similar_write_name(const struct place *place, const struct place_options *names, size_t rank,
                        const struct similar_hit *hit, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    buf_printf(&name, "%0*zu_", similar_rank_digits(place), rank);
    for (size_t i = 0; i < hit->key.count; i++) {
        bool is_last = i + 1 == hit->key.count;
        escape_add_value(&name, hit->key.attributes[i].value.bytes,
                         is_last ? span_text("") : SPAN_LITERAL(","), NULL);
        buf_add_text(&name, is_last ? "" : ",");
    }
    similar_escape_endings(&name);
    if (name.size > names_limit(names) &&
        !escape_shorten(&name, names_limit(names), ESCAPE_MARK_FILE))
        name.failed = true;
    out->failed = out->failed || name.failed;
    buf_add_span(out, buf_span(&name));
    buf_add_text(out, names->suffix);
}

/* The attributes that a scored item has beside its own. */
static const char *const similar_columns[] = {"@rank", "@score", "@distance"};

bool similar_write_scored(const struct place *place, size_t rank, const struct similar_hit *hit,
                          struct json item, struct buf *out, struct error *err)
{
    for (size_t i = 0; i < sizeof similar_columns / sizeof similar_columns[0]; i++)
        if (json_present(item_attribute(item, span_text(similar_columns[i]))))
            return error_set(err, ERROR_INVALID,
                             "an item has the attribute \"%s\", which is the name of a column of "
                             "similar items; open the items one by one",
                             similar_columns[i]);
    buf_printf(out, "{\"@rank\":{\"N\":\"%zu\"},\"@score\":{\"N\":\"%.*s\"},", rank,
               (int)hit->score.size, hit->score.data);
    buf_printf(out, "\"@distance\":{\"S\":\"%s\"}", place->vector->distance);
    struct span members = json_raw(item);
    buf_add_text(out, json_count(item) > 0 ? "," : "");
    buf_add_span(out, span_from(members, 1)); /* behind its brace */
    return true;
}
