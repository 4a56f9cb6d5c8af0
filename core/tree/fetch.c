/* From a place to its record: by its key, or by a query and then its key, or, for a shortened
 * name, by looking through the listing. */
#include "core/tree/fetch.h"

#include <stdlib.h>

#include "core/tree/ask.h"
#include "core/tree/bind.h"

struct fetch {
    const struct tree *tree;
    const struct place *place;
    struct source *source;
    struct arena arena; /* of the key */
    struct key key;
    int64_t ttl_limit_ms;     /* what is left of the index's word for the key */
    struct cache_wait *wait;  /* a question to the cache */
    struct search *search;    /* a shortened name being looked for */
    struct loop_timer *timer; /* a failure found at once, told later */
    struct error why;
    fetch_done_fn *done;
    void *arg;
};

/* A shortened name is compared with the name of each entry of the listing. */
struct search {
    struct fetch *fetch;
    struct read *read;
    struct source_call *call;
};

static void search_destroy(struct search *search)
{
    if (!search)
        return;
    if (search->call)
        search->fetch->source->ops->end(search->call);
    read_destroy(search->read);
    free(search);
}

static void fetch_destroy(struct fetch *fetch)
{
    if (fetch->wait)
        cache_leave(fetch->wait);
    loop_remove_timer(fetch->timer);
    search_destroy(fetch->search);
    arena_clean_up(&fetch->arena);
    free(fetch);
}

void fetch_cancel(struct fetch *fetch)
{
    if (fetch)
        fetch_destroy(fetch);
}

static void finish(struct fetch *fetch, struct record *record, int64_t ttl_left_ms,
                   const struct error *err)
{
    fetch_done_fn *done = fetch->done;
    void *arg = fetch->arg;
    struct error copy = err ? *err : (struct error){0};
    if (record)
        record_ref(record);
    fetch_destroy(fetch);
    done(arg, record, ttl_left_ms, err ? &copy : NULL);
    record_unref(record);
}

static const struct map_pattern *pattern_of(const struct fetch *fetch)
{
    return fetch->place->route->file;
}

static void write_value(struct buf *out, struct value value)
{
    size_t size = value.bytes.size;
    if (value.type == VALUE_S) {
        json_write_string(out, span_of(value.bytes.data, size > 160 ? 160 : size));
        buf_add_text(out, size > 160 ? "…" : "");
    } else {
        value_write(out, value);
    }
}

static void write_conds(struct buf *out, const struct read *read)
{
    for (size_t i = 0; i < read->where_count; i++) {
        const struct cond *cond = &read->where[i];
        buf_printf(out, "%s%.*s %s ", i ? " and " : "", (int)cond->attribute.size,
                   cond->attribute.data, cond_word(cond->op));
        write_value(out, cond->value);
        if (cond->op == COND_BETWEEN) {
            buf_add_text(out, " and ");
            write_value(out, cond->upper);
        }
    }
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* For how long a miss that has just been found may be believed. */
static int64_t missing_ttl_ms(const struct fetch *fetch)
{
    return lesser(pattern_of(fetch)->ttl_ms, MAP_MISSING_TTL_MS);
}

static void miss_by_query(struct fetch *fetch, int64_t ttl_left_ms)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    struct read *read = bind_query(fetch->place, &why);
    if (read) {
        write_conds(&words, read);
        error_set(&why, ERROR_NOT_FOUND, "%s%s%s has no record with %s", read->table,
                  read->index ? "'s index " : "", read->index ? read->index : "", buf_text(&words));
    }
    read_destroy(read);
    finish(fetch, NULL, ttl_left_ms, &why);
}

static void miss_by_key(struct fetch *fetch, int64_t ttl_left_ms)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    char *table = place_table_name(fetch->place);
    for (size_t i = 0; i < fetch->key.count; i++) {
        const struct key_attribute *attribute = &fetch->key.attributes[i];
        buf_printf(&words, "%s%.*s = ", i ? " and " : "", (int)attribute->name.size,
                   attribute->name.data);
        write_value(&words, attribute->value);
    }
    error_set(&why, ERROR_NOT_FOUND, "%s has no record with %s", table ? table : "the table",
              buf_text(&words));
    free(table);
    finish(fetch, NULL, ttl_left_ms, &why);
}

/* A record that was read by a key must still be what the path says: the entry of a listing by
 * status has that status. */
static void take_record(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct fetch *fetch = arg;
    struct record *record = data;
    struct error why;
    fetch->wait = NULL;
    ttl_left_ms = lesser(ttl_left_ms, fetch->ttl_limit_ms);
    if (err)
        finish(fetch, NULL, 0, err);
    else if (!record)
        miss_by_key(fetch, ttl_left_ms);
    else if (bind_holds(fetch->place, &fetch->key, record_item(record), &why))
        finish(fetch, record, ttl_left_ms, NULL);
    else
        finish(fetch, NULL, lesser(ttl_left_ms, MAP_MISSING_TTL_MS), &why);
}

static bool ask(struct fetch *fetch, struct read *read, enum map_pick pick, cache_done_fn *done)
{
    const struct map_pattern *pattern = pattern_of(fetch);
    struct ask ask = {
        .cache = fetch->tree->cache,
        .source = fetch->source,
        .read = read,
        .loop = fetch->tree->loop,
        .pick = pick,
        .pick_attribute = pattern->pick_attribute,
        .table = fetch->place->table,
        .kind = read->kind == READ_QUERY ? fetch->place->route->kind : NULL,
        .ttl_ms = pattern->ttl_ms,
    };
    fetch->wait = ask_record(&ask, done, fetch);
    return fetch->wait || error_no_memory(&fetch->why);
}

/* The one attribute that is wanted, so that no more need travel. */
static struct span wanted_attribute(const struct fetch *fetch)
{
    const struct place *place = fetch->place;
    if (place->kind == PLACE_ATTR)
        return place->attribute;
    return span_text(place->kind == PLACE_VALUE ? pattern_of(fetch)->attribute : "");
}

static bool ask_by_key(struct fetch *fetch)
{
    struct read *read =
        bind_items(fetch->place, &fetch->key, 1, wanted_attribute(fetch), &fetch->why);
    return read && ask(fetch, read, PICK_NONE, take_record);
}

static void fail_now(struct fetch *fetch)
{
    struct error why = fetch->why;
    finish(fetch, NULL, 0, &why);
}

static bool is_right_kind(struct fetch *fetch)
{
    struct bindings parts = {0};
    const struct place *place = fetch->place;
    return !place->route->kind || bind_is_kind(place, place->route->kind, &fetch->key, &parts);
}

/* What came back does not say which record it is. */
static void fail_without_key(struct fetch *fetch)
{
    if (fetch->arena.failed)
        error_no_memory(&fetch->why);
    else
        error_set(&fetch->why, ERROR_INVALID,
                  "what came back lacks the key attributes that the map names; ddbfs check tells");
    fail_now(fetch);
}

/* The index has told which record it is. */
static void take_location(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct fetch *fetch = arg;
    struct record *record = data;
    fetch->wait = NULL;
    if (err) {
        finish(fetch, NULL, 0, err);
        return;
    }
    fetch->ttl_limit_ms = ttl_left_ms;
    if (!record) {
        miss_by_query(fetch, ttl_left_ms);
        return;
    }
    if (!bind_item_key(fetch->place->table, record_item(record), &fetch->arena, &fetch->key)) {
        fail_without_key(fetch);
        return;
    }
    if (!is_right_kind(fetch))
        miss_by_query(fetch, lesser(ttl_left_ms, MAP_MISSING_TTL_MS));
    else if (!pattern_of(fetch)->hydrates)
        finish(fetch, record, ttl_left_ms, NULL);
    else if (!ask_by_key(fetch))
        fail_now(fetch);
}

static bool ask_location(struct fetch *fetch)
{
    struct read *read = bind_query(fetch->place, &fetch->why);
    return read && ask(fetch, read, pattern_of(fetch)->pick, take_location);
}

/* Whether the key is the one whose name was shortened to the place's. FAILED is set when memory ran
 * out. */
static bool has_shortened_name(struct fetch *fetch, const struct key *key, bool *failed)
{
    struct bindings parts = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const struct place *place = fetch->place;
    const struct route *entry = bind_entry(place, place->route->parent, key, &parts);
    struct span suffix = span_text(fetch->tree->names.suffix);
    if (!entry)
        return false;
    *failed = !place_entry_name(place, entry, &parts, &fetch->tree->names, &name);
    return !*failed && span_equal(span_of(name.data, name.size - suffix.size), place->shortened);
}

/* Whether ITEM is what is looked for; its key is then the fetch's. */
static bool is_found(struct fetch *fetch, struct json item, bool *failed)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    bool same = bind_item_key(fetch->place->table, item, &arena, &key) &&
                has_shortened_name(fetch, &key, failed);
    if (same)
        bind_item_key(fetch->place->table, item, &fetch->arena, &fetch->key);
    *failed = *failed || arena.failed || fetch->arena.failed;
    return same;
}

/* The search is over: its record is read by its key, unless memory ran out. */
static void end_search(struct fetch *fetch, bool failed)
{
    search_destroy(fetch->search);
    fetch->search = NULL;
    if (failed)
        error_no_memory(&fetch->why);
    if (failed || !ask_by_key(fetch))
        fail_now(fetch);
}

static void take_search_page(void *arg, const struct page *page, const struct error *err)
{
    struct search *search = arg;
    struct fetch *fetch = search->fetch;
    if (err) {
        finish(fetch, NULL, 0, err);
        return;
    }
    for (size_t i = 0; i < page->item_count; i++) {
        bool failed = false;
        if (is_found(fetch, page->items[i], &failed) || failed) {
            end_search(fetch, failed);
            return;
        }
    }
    if (page->more)
        fetch->source->ops->more(search->call);
    else
        miss_by_query(fetch, missing_ttl_ms(fetch));
}

static bool start_search(struct fetch *fetch)
{
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        return error_no_memory(&fetch->why);
    fetch->search = search;
    search->fetch = fetch;
    search->read = bind_search(fetch->place, &fetch->why);
    if (!search->read)
        return false;
    search->call = source_start(fetch->source, search->read, take_search_page, search);
    return search->call || error_no_memory(&fetch->why);
}

static bool begin(struct fetch *fetch)
{
    const struct tree *tree = fetch->tree;
    if (bind_has_key(fetch->place)) {
        if (!bind_key(fetch->place, &fetch->arena, &fetch->key, &fetch->why))
            return false;
        fetch->source = tree->source(tree->source_arg, fetch->place, &fetch->why);
        return fetch->source && ask_by_key(fetch);
    }
    fetch->source = tree->source(tree->source_arg, fetch->place, &fetch->why);
    if (!fetch->source)
        return false;
    return fetch->place->shortened.size ? start_search(fetch) : ask_location(fetch);
}

static void tell_failure(void *arg)
{
    struct fetch *fetch = arg;
    fetch->timer = NULL;
    fail_now(fetch);
}

struct fetch *fetch_start(const struct tree *tree, const struct place *place, fetch_done_fn *done,
                          void *arg)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch)
        return NULL;
    *fetch = (struct fetch){
        .tree = tree, .place = place, .ttl_limit_ms = INT64_MAX, .done = done, .arg = arg};
    if (begin(fetch))
        return fetch;
    fetch->timer = loop_add_timer(tree->loop, 0, tell_failure, fetch);
    if (fetch->timer)
        return fetch;
    fetch_destroy(fetch);
    return NULL;
}
