/* Executes the plan of one item: read it by its key; or send a query, and then perhaps read by the
 * key that it returned; or, for a shortened name, look for the name among the listing's entries.
 * Each step goes through the cache. */
#include "core/read/fetch.h"

#include <stdlib.h>

#include "core/plan/item_match.h"
#include "core/read/links.h"
#include "core/read/near_miss.h"
#include "core/read/shortened_names.h"

/* STARTS becomes FINDS, READS or FAILS. FINDS becomes READS where items are read again by their
 * keys. Each of them may be the last. */
enum fetch_state {
    FETCH_STARTS,
    FETCH_FINDS,   /* the query is under way: WAIT */
    FETCH_READS,   /* the item is read by its key: WAIT */
    FETCH_HAS_KEY, /* fetch_find: KEY, of the path, is reported in the next round: TIMER */
    FETCH_FAILS,   /* WHY is reported in the next round of the loop: TIMER */
};

struct fetch {
    const struct tree *tree;
    const struct place *place;
    enum fetch_state state;
    const struct plan *plan;      /* holds a reference; NULL when none could be made */
    struct source *source;        /* holds a reference */
    struct arena arena;           /* of KEY, once a query has found it */
    struct key key;               /* of the item that is read */
    int64_t ttl_limit_ms;         /* the rest of the ttl of the index's entry */
    struct tree_found query_cost; /* holds a reference to its counts */
    struct cache_wait *wait;      /* of FETCH_FINDS and FETCH_READS */
    struct loop_timer *timer;     /* of FETCH_HAS_KEY and FETCH_FAILS */
    struct error why;
    struct error outage; /* with a kind: the response in hand is too old, and this is why */
    fetch_done_fn *done;
    fetch_key_fn *found; /* of fetch_find, instead of DONE; else NULL */
    void *arg;
};

/* One step under way. It belongs to the cache's flight, and may outlive the fetch that started it.
 */
struct fetch_flight {
    const struct plan *plan; /* holds a reference */
    struct source *source;   /* holds a reference */
    struct payer *payer;     /* holds a reference: of the first caller */
    struct loop *loop;
    struct read *read; /* owned; of one item by its key. NULL: the plan's query is sent */
    struct cache_flight *cache_flight;
    struct source_call *call;    /* NULL before it starts and after it ended */
    struct throttles *throttled; /* owned: of all pages so far */
    struct pick pick;
    struct place *place; /* owned; of PLAN_SEARCH, else NULL */
    struct place_options names;
};

bool fetch_is_needed(const struct place *place)
{
    if (place->kind == PLACE_LINKS || place->kind == PLACE_LINK)
        return !links_are_known(place);
    return place->kind >= PLACE_LIST_INFO || (place->kind == PLACE_DIRECTORY && place->route->list);
}

void fetch_fill_origin(struct loop *loop, const struct page *page, struct record_origin *out)
{
    struct clock *clock = loop_clock(loop);
    *out = (struct record_origin){
        .fetched_ms = clock->now_ms(clock) - page->age_ms,
        .fetched_wall_ms = clock->wall_ms(clock) - page->age_ms,
        .capacity = page->capacity,
        .doubted = page->doubted,
        .throttled = page->throttled,
    };
    strncpy(out->request_id, page->request_id, sizeof out->request_id - 1);
}

static void fetch_flight_release(void *arg)
{
    struct fetch_flight *flight = arg;
    pick_clean_up(&flight->pick);
    throttles_unref(flight->throttled);
    place_destroy(flight->place);
    read_destroy(flight->read);
    plan_unref(flight->plan);
    payer_unref(flight->payer);
    source_unref(flight->source);
    free(flight);
}

static void fetch_flight_abandon(void *arg)
{
    struct fetch_flight *flight = arg;
    if (flight->call)
        source_end(flight->call);
    flight->call = NULL;
}

static void fetch_flight_fail(struct fetch_flight *flight, const struct error *err)
{
    struct error copy = *err;
    fetch_flight_abandon(flight);
    cache_fail(flight->cache_flight, &copy);
}

static void fetch_record_ref(void *data)
{
    record_ref(data);
}

static void fetch_record_unref(void *data)
{
    record_unref(data);
}

/* Takes ITEM if its name is the shortened one that is looked for. An item whose key can't be read
 * may be that one: it ends the search in an error, as it ends the listing. */
static bool fetch_flight_search(struct fetch_flight *flight, struct json item,
                                const struct record_origin *origin, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    bool failed = false;
    bool keyed = item_match_key(flight->plan->table, item, &arena, &key);
    bool meant = keyed && shortened_names_match(flight->place, &flight->names, &key, item, &failed);
    if (failed || arena.failed)
        return error_no_memory(err);
    if (!keyed)
        return item_match_report(flight->plan->table, flight->plan->table_name, item, err);
    if (meant)
        flight->pick.best = record_new(item, origin, err);
    return !meant || flight->pick.best;
}

/* A read by key returns at most that one item. Of a query's items the pick chooses. */
static bool fetch_flight_take_item(struct fetch_flight *flight, struct json item,
                                   const struct record_origin *origin, bool *done,
                                   struct error *err)
{
    bool ok;
    if (flight->place) {
        ok = fetch_flight_search(flight, item, origin, err);
        *done = flight->pick.best;
    } else if (!flight->read) {
        ok = pick_consider(&flight->pick, item, origin, err);
        *done = pick_is_done(&flight->pick);
    } else {
        record_unref(flight->pick.best);
        flight->pick.best = record_new(item, origin, err);
        ok = flight->pick.best;
    }
    return ok;
}

static void fetch_flight_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct fetch_flight *flight = arg;
    struct record_origin origin;
    struct error why;
    bool done = false;
    if (err) {
        fetch_flight_fail(flight, err);
        return;
    }
    fetch_fill_origin(flight->loop, page, &origin);
    throttles_join(&flight->throttled, page->throttled);
    origin.throttled = flight->throttled;
    for (size_t i = 0; i < page->item_count && !done; i++) {
        if (!fetch_flight_take_item(flight, page->items[i], &origin, &done, &why)) {
            fetch_flight_fail(flight, &why);
            return;
        }
    }
    if (page->more && !done) {
        source_more(flight->call);
        return;
    }
    struct record *best = flight->pick.best;
    struct cache_value value = {
        .data = best,
        .ref = fetch_record_ref,
        .unref = fetch_record_unref,
        .memory = best ? record_memory(best) : 0,
    };
    fetch_flight_abandon(flight);
    cache_land(flight->cache_flight, &value);
}

static bool fetch_flight_start(void *arg, struct cache_flight *cache_flight, struct error *err)
{
    struct fetch_flight *flight = arg;
    const struct read *read = flight->read ? flight->read : flight->plan->query;
    flight->cache_flight = cache_flight;
    flight->call =
        source_start(flight->source, read, flight->payer, fetch_flight_take_page, flight);
    return flight->call || error_no_memory(err);
}

/* Starts a step of the plan through the cache: READ (taken, also on failure), or the plan's query
 * where READ is NULL. The cache's key identifies the Read, its source, and which items count. */
static bool fetch_request(struct fetch *fetch, struct read *read, cache_done_fn *done)
{
    const struct tree *tree = fetch->tree;
    const struct plan *plan = fetch->plan;
    bool searches = !read && plan->kind == PLAN_SEARCH;
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct fetch_flight *flight = calloc(1, sizeof *flight);
    if (!flight) {
        read_destroy(read);
        return error_no_memory(&fetch->why);
    }
    *flight = (struct fetch_flight){
        .plan = plan_ref(plan),
        .source = source_ref(fetch->source),
        .payer = payer_ref(tree->payer),
        .loop = tree->loop,
        .read = read,
        .pick = {.plan = plan},
        .place = searches ? place_copy(fetch->place) : NULL,
        .names = tree->names,
    };
    source_identity(flight->source, &key);
    if (!read)
        plan_identity(plan, &key);
    read_identity(read ? read : plan->query, &key);
    if (key.failed || (searches && !flight->place)) {
        fetch_flight_release(flight);
        return error_no_memory(&fetch->why);
    }
    int64_t ttl_ms = plan_ttl_ms(plan, fetch->source);
    bool in_outage = fetch->outage.kind != ERROR_NONE; /* a stale response needs no request */
    struct cache_lookup request = {
        .key = buf_span(&key),
        .max_age_ms = in_outage ? ttl_ms + tree->stale_ms : ttl_ms,
        .max_missing_age_ms = ttl_ms < MAP_MISSING_TTL_MS ? ttl_ms : MAP_MISSING_TTL_MS,
        .stale_ms = tree->stale_ms,
        .fetch = fetch_flight_start,
        .abandon = fetch_flight_abandon,
        .fetch_arg = flight,
        .release = fetch_flight_release,
    };
    fetch->wait = cache_read(tree->cache, &request, done, fetch);
    return fetch->wait || error_no_memory(&fetch->why);
}

static void fetch_destroy(struct fetch *fetch)
{
    if (fetch->wait)
        cache_leave(fetch->wait);
    loop_remove_timer(fetch->timer);
    arena_clean_up(&fetch->arena);
    throttles_unref(fetch->query_cost.throttled);
    source_unref(fetch->source);
    plan_unref(fetch->plan);
    free(fetch);
}

void fetch_cancel(struct fetch *fetch)
{
    if (fetch)
        fetch_destroy(fetch);
}

static void fetch_finish(struct fetch *fetch, struct record *record, int64_t ttl_left_ms,
                         const struct error *err)
{
    fetch_done_fn *done = fetch->done;
    fetch_key_fn *found = fetch->found;
    void *arg = fetch->arg;
    struct tree_found query_cost = fetch->query_cost;
    fetch->query_cost.throttled = NULL;
    const struct error *why = err || fetch->outage.kind == ERROR_NONE ? err : &fetch->outage;
    struct error copy; /* of WHY, which may be the fetch's */
    if (why)
        copy = *why;
    if (record)
        record_ref(record);
    fetch_destroy(fetch);
    if (found)
        found(arg, NULL, &copy);
    else
        done(arg, record, &query_cost, ttl_left_ms, why ? &copy : NULL);
    throttles_unref(query_cost.throttled);
    record_unref(record);
}

/* The end of fetch_find. */
static void fetch_report_key(void *arg)
{
    struct fetch *fetch = arg;
    fetch->timer = NULL;
    fetch->found(fetch->arg, &fetch->key, NULL);
    fetch_destroy(fetch);
}

static int64_t fetch_lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A response that is too old proves no miss: then the fetch ends in the outage. */
static void fetch_deny(struct fetch *fetch, int64_t ttl_left_ms, const struct error *why)
{
    bool is_proven = fetch->outage.kind == ERROR_NONE;
    fetch_finish(fetch, NULL, is_proven ? ttl_left_ms : 0, is_proven ? why : &fetch->outage);
}

/* Returns false. */
static bool fetch_set_miss(const struct place *place, const char *text, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf hint = {0};
    near_miss_write(place, &hint);
    if (hint.failed)
        return error_no_memory(err);
    return error_set(err, ERROR_NOT_FOUND, "%s%s%s", text, hint.size ? "; " : "", buf_text(&hint));
}

/* The query returned no item that counts. It may have returned items of other kinds. */
static void fetch_miss_by_query(struct fetch *fetch, int64_t ttl_left_ms)
{
    const struct read *read = fetch->plan->query;
    const struct model *table = fetch->plan->table;
    const struct map_kind *kind = fetch->plan->kind_of;
    CLEAN_UP(buf_clean_up) struct buf text = {0}, where = {0}, filter = {0};
    conds_write_words(read->where, read->where_count, &where);
    conds_write_words(read->filter, read->filter_count, &filter);
    bool of_any_kind = fetch->plan->kind == PLAN_SEARCH && fetch->plan->pattern->entry_count > 1;
    bool any = of_any_kind || kind == table->any || !table->kinds->next;
    buf_printf(&text, "%s%s%s has no item with %s%s%s%s%s", read->table,
               read->index ? "'s index " : "", read->index ? read->index : "", buf_text(&where),
               any ? "" : " of the kind ", any ? "" : kind->name,
               read->filter_count ? ", and " : "", buf_text(&filter));
    struct error why;
    fetch_set_miss(fetch->place, buf_text(&text), &why);
    fetch_deny(fetch, ttl_left_ms, &why);
}

/* Returns false. */
static bool fetch_set_miss_by_key(const struct place *place, const struct plan *plan,
                                  const struct key *key, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, words = {0};
    key_write_words(key, &words);
    buf_printf(&text, "%s has no item with %s", plan->table_name, buf_text(&words));
    if (words.failed || text.failed)
        return error_no_memory(err);
    return fetch_set_miss(place, buf_text(&text), err);
}

/* An item that was found by a shortened name must still have that name: the name may contain the
 * index's key, which the item has no more. */
static bool fetch_has_its_name(const struct tree *tree, const struct place *place,
                               const struct plan *plan, const struct key *key, struct json item,
                               struct error *err)
{
    bool failed = false;
    if (plan->kind != PLAN_SEARCH || plan->entry->indexed.count == 0 ||
        shortened_names_match(place, &tree->names, key, item, &failed))
        return true;
    return failed ? error_no_memory(err)
                  : error_set(err, ERROR_NOT_FOUND,
                              "the item exists, but its name in this directory has changed");
}

/* The path must still fit an item that was read by its key: the entry of a listing by status has
 * that status. */
bool fetch_check(const struct tree *tree, const struct place *place, const struct key *key,
                 const struct record *record, struct error *err)
{
    const struct plan *plan = place_plan(place, err);
    if (!plan)
        return false;
    if (!record)
        return fetch_set_miss_by_key(place, plan, key, err);
    return plan_holds(plan, key, record_item(record), err) &&
           fetch_has_its_name(tree, place, plan, key, record_item(record), err);
}

static void fetch_take_record(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct fetch *fetch = arg;
    struct record *record = data;
    struct error why;
    fetch->wait = NULL;
    ttl_left_ms = fetch_lesser(ttl_left_ms, fetch->ttl_limit_ms);
    if (err)
        fetch->outage = *err;
    if (err && !record)
        fetch_finish(fetch, NULL, 0, err);
    else if (fetch_check(fetch->tree, fetch->place, &fetch->key, record, &why))
        fetch_finish(fetch, record, ttl_left_ms, NULL);
    else
        fetch_deny(fetch, record ? fetch_lesser(ttl_left_ms, MAP_MISSING_TTL_MS) : ttl_left_ms,
                   &why);
}

static bool fetch_read_by_key(struct fetch *fetch)
{
    fetch->state = FETCH_READS;
    struct read *read = plan_items(fetch->plan, &fetch->key, 1, &fetch->why);
    return read && fetch_request(fetch, read, fetch_take_record);
}

/* The item counted, so its key can be read: only memory can be missing. */
static bool fetch_read_key(struct fetch *fetch, const struct record *record)
{
    return item_match_key(fetch->plan->table, record_item(record), &fetch->arena, &fetch->key) ||
           error_no_memory(&fetch->why);
}

static void fetch_take_found(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct fetch *fetch = arg;
    struct record *record = data;
    fetch->wait = NULL;
    if (err)
        fetch->outage = *err;
    if (err && (!record || fetch->found)) {
        fetch_finish(fetch, NULL, 0, err);
    } else if (!record) {
        fetch_miss_by_query(fetch, ttl_left_ms);
    } else if (fetch->found && fetch_read_key(fetch, record)) {
        fetch_report_key(fetch);
    } else if (!fetch->found && !fetch->plan->reads_again) {
        fetch_finish(fetch, record, ttl_left_ms, NULL);
    } else {
        fetch->ttl_limit_ms = ttl_left_ms;
        fetch->query_cost.units = record_origin(record)->capacity;
        fetch->query_cost.throttled = throttles_ref(record_origin(record)->throttled);
        if (fetch->found || !fetch_read_key(fetch, record) || !fetch_read_by_key(fetch)) {
            struct error why = fetch->why;
            fetch_finish(fetch, NULL, 0, &why);
        }
    }
}

static bool fetch_begin(struct fetch *fetch)
{
    const struct tree *tree = fetch->tree;
    fetch->plan = plan_ref(place_plan(fetch->place, &fetch->why));
    if (!fetch->plan)
        return false;
    fetch->source = source_ref(tree->source(tree->source_arg, fetch->place, &fetch->why));
    if (!fetch->source)
        return false;
    if (fetch->plan->kind == PLAN_KEY) {
        fetch->key = fetch->plan->key;
        if (!fetch->found)
            return fetch_read_by_key(fetch);
        fetch->state = FETCH_HAS_KEY;
        fetch->timer = loop_add_timer(fetch->tree->loop, 0, fetch_report_key, fetch);
        return fetch->timer || error_no_memory(&fetch->why);
    }
    fetch->state = FETCH_FINDS;
    return fetch_request(fetch, NULL, fetch_take_found);
}

static void fetch_report_failure(void *arg)
{
    struct fetch *fetch = arg;
    struct error why = fetch->why;
    fetch->timer = NULL;
    fetch_finish(fetch, NULL, 0, &why);
}

static struct fetch *fetch_start_one(const struct fetch *from)
{
    const struct tree *tree = from->tree;
    struct fetch *fetch = malloc(sizeof *fetch);
    if (!fetch)
        return NULL;
    *fetch = *from;
    if (fetch_begin(fetch))
        return fetch;
    fetch->state = FETCH_FAILS;
    fetch->timer = loop_add_timer(tree->loop, 0, fetch_report_failure, fetch);
    if (fetch->timer)
        return fetch;
    fetch_destroy(fetch);
    return NULL;
}

struct fetch *fetch_start(const struct tree *tree, const struct place *place, fetch_done_fn *done,
                          void *arg)
{
    return fetch_start_one(&(struct fetch){
        .tree = tree, .place = place, .ttl_limit_ms = INT64_MAX, .done = done, .arg = arg});
}

struct fetch *fetch_find(const struct tree *tree, const struct place *place, fetch_key_fn *fn,
                         void *arg)
{
    return fetch_start_one(&(struct fetch){
        .tree = tree, .place = place, .ttl_limit_ms = INT64_MAX, .found = fn, .arg = arg});
}
