#include "core/read/item_read.h"

#include <stdlib.h>

#include "core/plan/item_match.h"
#include "core/plan/pick.h"
#include "core/read/shortened_names.h"

/* A question under way: belongs to the cache's flight, and may outlive who asked it first. */
struct item_flight {
    const struct plan *plan; /* holds a reference */
    struct source *source;   /* holds a reference */
    struct payer *payer;     /* holds a reference: of who asked first */
    struct loop *loop;
    struct read *read; /* owned; NULL when the plan's own query is asked */
    struct cache_flight *cache_flight;
    struct source_call *call; /* NULL before it starts and after it ended */
    struct pick pick;
    struct place *place; /* owned; of PLAN_SEARCH, else NULL */
    struct place_options names;
};

static void item_read_flight_release(void *arg)
{
    struct item_flight *flight = arg;
    pick_clean_up(&flight->pick);
    place_destroy(flight->place);
    read_destroy(flight->read);
    plan_unref(flight->plan);
    payer_unref(flight->payer);
    source_unref(flight->source);
    free(flight);
}

static void item_read_flight_abandon(void *arg)
{
    struct item_flight *flight = arg;
    if (flight->call)
        source_end(flight->call);
    flight->call = NULL;
}

static void item_read_ref_record(void *data)
{
    record_ref(data);
}

static void item_read_unref_record(void *data)
{
    record_unref(data);
}

static void item_read_land(struct item_flight *flight)
{
    struct record *best = flight->pick.best;
    struct cache_value value = {
        .data = best,
        .ref = item_read_ref_record,
        .unref = item_read_unref_record,
        .memory = best ? record_memory(best) : 0,
    };
    item_read_flight_abandon(flight);
    cache_land(flight->cache_flight, &value);
}

static void item_read_fail(struct item_flight *flight, const struct error *err)
{
    struct error copy = *err;
    item_read_flight_abandon(flight);
    cache_fail(flight->cache_flight, &copy);
}

void item_read_origin(struct loop *loop, const struct page *page, struct record_origin *out)
{
    struct clock *clock = loop_clock(loop);
    *out = (struct record_origin){
        .fetched_ms = clock->now_ms(clock) - page->age_ms,
        .fetched_wall_ms = clock->wall_ms(clock) - page->age_ms,
        .capacity = page->capacity,
        .doubted = page->doubted,
    };
    strncpy(out->request_id, page->request_id, sizeof out->request_id - 1);
}

/* Takes the item in when it is the one whose name was shortened so. One that can't be taken apart
 * may be it: that ends the search, as it ends the listing. */
static bool item_read_search(struct item_flight *flight, struct json item,
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
        return item_match_report(flight->plan, item, err);
    if (meant)
        flight->pick.best = record_new(item, origin, err);
    return !meant || flight->pick.best;
}

/* A read by one key gives that one record, or none; of a query, the finder chooses, or the name
 * that is looked for. */
static bool item_read_consider(struct item_flight *flight, struct json item,
                               const struct record_origin *origin, struct error *err)
{
    if (flight->place)
        return item_read_search(flight, item, origin, err);
    if (!flight->read)
        return pick_consider(&flight->pick, item, origin, err);
    record_unref(flight->pick.best);
    flight->pick.best = record_new(item, origin, err);
    return flight->pick.best;
}

static void item_read_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct item_flight *flight = arg;
    struct record_origin origin;
    struct error why;
    if (err) {
        item_read_fail(flight, err);
        return;
    }
    item_read_origin(flight->loop, page, &origin);
    bool done = false;
    for (size_t i = 0; i < page->item_count && !done; i++) {
        if (!item_read_consider(flight, page->items[i], &origin, &why)) {
            item_read_fail(flight, &why);
            return;
        }
        done = flight->place  ? flight->pick.best != NULL
               : flight->read ? false
                              : pick_is_done(&flight->pick);
    }
    if (page->more && !done)
        source_more(flight->call);
    else
        item_read_land(flight);
}

static bool item_read_flight_fetch(void *arg, struct cache_flight *cache_flight, struct error *err)
{
    struct item_flight *flight = arg;
    const struct read *read = flight->read ? flight->read : flight->plan->query;
    flight->cache_flight = cache_flight;
    flight->call = source_start(flight->source, read, flight->payer, item_read_take_page, flight);
    return flight->call || error_no_memory(err);
}

/* Identity is what is asked, of whom, and which of the answers counts. */
static void item_read_write_key(const struct item_flight *flight, struct buf *out)
{
    source_identity(flight->source, out);
    if (!flight->read)
        plan_identity(flight->plan, out);
    read_identity(flight->read ? flight->read : flight->plan->query, out);
}

struct cache_wait *item_read_start(const struct item_read *ask, cache_done_fn *done, void *arg)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct item_flight *flight = calloc(1, sizeof *flight);
    if (!flight) {
        read_destroy(ask->read);
        return NULL;
    }
    *flight = (struct item_flight){
        .plan = plan_ref(ask->plan),
        .source = source_ref(ask->source),
        .payer = payer_ref(ask->payer),
        .loop = ask->loop,
        .read = ask->read,
        .pick = {.plan = ask->plan},
    };
    bool searches = !ask->read && ask->plan->kind == PLAN_SEARCH;
    if (searches) {
        flight->place = place_copy(ask->place);
        flight->names = *ask->names;
    }
    item_read_write_key(flight, &key);
    if (key.failed || (searches && !flight->place)) {
        item_read_flight_release(flight);
        return NULL;
    }
    int64_t ttl_ms = ask->plan->pattern->ttl_ms;
    struct cache_question question = {
        .key = buf_span(&key),
        .max_age_ms = ask->in_outage ? ttl_ms + ask->stale_ms : ttl_ms,
        .max_missing_age_ms = ttl_ms < MAP_MISSING_TTL_MS ? ttl_ms : MAP_MISSING_TTL_MS,
        .stale_ms = ask->stale_ms,
        .fetch = item_read_flight_fetch,
        .abandon = item_read_flight_abandon,
        .fetch_arg = flight,
        .release = item_read_flight_release,
    };
    return cache_request(ask->cache, &question, done, arg);
}
