/* The plan of one record, executed: by its key; or by a query, and then perhaps by the key that
 * came back; or, for a shortened name, by looking for the name among the listing's entries. */
#include "core/read/fetch.h"

#include <stdlib.h>

#include "core/plan/item_match.h"
#include "core/read/item_read.h"
#include "core/read/near_miss.h"
#include "core/read/shortened_names.h"

/* What is under way. Moves: STARTS → one of FINDS, READS or FAILS; FINDS → READS, where records are
 * read again. Each of them may also be the last. */
enum fetch_state {
    FETCH_STARTS,
    FETCH_FINDS, /* the query is asked, through the cache: WAIT */
    FETCH_READS, /* the record is read by its key, through the cache: WAIT */
    FETCH_FAILS, /* the reason was found at once and is told in the next round: TIMER */
};

struct fetch {
    const struct tree *tree;
    const struct place *place;
    enum fetch_state state;
    const struct plan *plan;  /* PLACE's; NULL when none could be made */
    struct source *source;    /* holds a reference */
    struct arena arena;       /* of KEY, once a query has told it */
    struct key key;           /* of the record that is read */
    int64_t ttl_limit_ms;     /* what is left of the index's word for the key */
    double found_units;       /* what the query took that found the key */
    struct cache_wait *wait;  /* of FETCH_FINDS and FETCH_READS */
    struct loop_timer *timer; /* of FETCH_FAILS */
    struct error why;
    struct error outage; /* with a kind: what was told is too old, and why */
    fetch_done_fn *done;
    void *arg;
};

static void fetch_destroy(struct fetch *fetch)
{
    if (fetch->wait)
        cache_leave(fetch->wait);
    loop_remove_timer(fetch->timer);
    arena_clean_up(&fetch->arena);
    source_unref(fetch->source);
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
    void *arg = fetch->arg;
    double found_units = fetch->found_units;
    struct error copy = err ? *err : fetch->outage;
    if (record)
        record_ref(record);
    fetch_destroy(fetch);
    done(arg, record, found_units, ttl_left_ms, copy.kind != ERROR_NONE ? &copy : NULL);
    record_unref(record);
}

static void fetch_fail(struct fetch *fetch)
{
    struct error why = fetch->why;
    fetch_finish(fetch, NULL, 0, &why);
}

static int64_t fetch_lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What an answer that is too old leads to proves nothing: then it ends in the outage. */
static void fetch_deny(struct fetch *fetch, int64_t ttl_left_ms, const struct error *why)
{
    bool is_proven = fetch->outage.kind == ERROR_NONE;
    fetch_finish(fetch, NULL, is_proven ? ttl_left_ms : 0, is_proven ? why : &fetch->outage);
}

/* A miss, to which the map may have something to add: a value that it does not know. */
static void fetch_miss(struct fetch *fetch, int64_t ttl_left_ms, const char *text)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf doubt = {0};
    near_miss_write(fetch->place, &doubt);
    error_set(&why, ERROR_NOT_FOUND, "%s%s%s", text, doubt.size ? "; " : "", buf_text(&doubt));
    fetch_deny(fetch, ttl_left_ms, &why);
}

/* The query gave no record that counts. Others there may be: of another kind, or filtered out. */
static void fetch_miss_by_query(struct fetch *fetch, int64_t ttl_left_ms)
{
    const struct read *read = fetch->plan->query;
    const struct map_kind *kind = fetch->plan->kind_of;
    CLEAN_UP(buf_clean_up) struct buf text = {0}, where = {0}, filter = {0};
    conds_write_words(read->where, read->where_count, &where);
    conds_write_words(read->filter, read->filter_count, &filter);
    bool of_any_kind = fetch->plan->kind == PLAN_SEARCH && fetch->plan->pattern->entry_count > 1;
    bool any = of_any_kind || kind == fetch->plan->table->any || !fetch->plan->table->kinds->next;
    buf_printf(&text, "%s%s%s has no record with %s%s%s%s%s", read->table,
               read->index ? "'s index " : "", read->index ? read->index : "", buf_text(&where),
               any ? "" : " that is of kind ", any ? "" : kind->name,
               read->filter_count ? ", of which " : "", buf_text(&filter));
    fetch_miss(fetch, ttl_left_ms, buf_text(&text));
}

static void fetch_miss_by_key(struct fetch *fetch, int64_t ttl_left_ms)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, words = {0};
    struct cond same[KEY_MAX_BASE_ATTRIBUTES];
    for (size_t i = 0; i < fetch->key.count; i++)
        same[i] = (struct cond){.attribute = fetch->key.attributes[i].name,
                                .op = COND_EQ,
                                .value = fetch->key.attributes[i].value};
    conds_write_words(same, fetch->key.count, &words);
    buf_printf(&text, "%s has no record with %s", fetch->plan->table_name, buf_text(&words));
    fetch_miss(fetch, ttl_left_ms, buf_text(&text));
}

/* What a query has found by a shortened name must have that name still: it may tell of the index's
 * key, which the record has no more. */
static bool fetch_has_its_name(const struct fetch *fetch, struct json item, struct error *err)
{
    bool failed = false;
    const struct plan *plan = fetch->plan;
    if (plan->kind != PLAN_SEARCH || plan->entry->indexed.count == 0 ||
        shortened_names_match(fetch->place, &fetch->tree->names, &fetch->key, item, &failed))
        return true;
    return failed ? error_no_memory(err)
                  : error_set(err, ERROR_NOT_FOUND,
                              "the record is there, but no longer called so in this directory");
}

/* A record that was read by a key must still be what the path says: the entry of a listing by
 * status has that status. */
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
    else if (!record)
        fetch_miss_by_key(fetch, ttl_left_ms);
    else if (plan_holds(fetch->plan, &fetch->key, record_item(record), &why) &&
             fetch_has_its_name(fetch, record_item(record), &why))
        fetch_finish(fetch, record, ttl_left_ms, NULL);
    else
        fetch_deny(fetch, fetch_lesser(ttl_left_ms, MAP_MISSING_TTL_MS), &why);
}

static bool fetch_request(struct fetch *fetch, struct read *read, cache_done_fn *done)
{
    struct item_read ask = {
        .cache = fetch->tree->cache,
        .source = fetch->source,
        .loop = fetch->tree->loop,
        .payer = fetch->tree->payer,
        .stale_ms = fetch->tree->stale_ms,
        .in_outage = fetch->outage.kind != ERROR_NONE,
        .plan = fetch->plan,
        .read = read,
        .place = fetch->place,
        .names = &fetch->tree->names,
    };
    fetch->wait = item_read_start(&ask, done, fetch);
    return fetch->wait || error_no_memory(&fetch->why);
}

static bool fetch_read_by_key(struct fetch *fetch)
{
    fetch->state = FETCH_READS;
    struct read *read = plan_items(fetch->plan, &fetch->key, 1, &fetch->why);
    return read && fetch_request(fetch, read, fetch_take_record);
}

/* The query has told which record it is. */
static void fetch_take_found(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    struct fetch *fetch = arg;
    struct record *record = data;
    fetch->wait = NULL;
    if (err)
        fetch->outage = *err;
    if (err && !record) {
        fetch_finish(fetch, NULL, 0, err);
    } else if (!record) {
        fetch_miss_by_query(fetch, ttl_left_ms);
    } else if (!fetch->plan->reads_again) {
        fetch_finish(fetch, record, ttl_left_ms, NULL);
    } else {
        fetch->ttl_limit_ms = ttl_left_ms;
        fetch->found_units = record_origin(record)->capacity;
        /* It counted, so it has a key: only memory can be missing. */
        bool known =
            item_match_key(fetch->plan->table, record_item(record), &fetch->arena, &fetch->key);
        if (!known)
            error_no_memory(&fetch->why);
        if (!known || !fetch_read_by_key(fetch))
            fetch_fail(fetch);
    }
}

static bool fetch_begin(struct fetch *fetch)
{
    const struct tree *tree = fetch->tree;
    fetch->plan = place_plan(fetch->place, &fetch->why);
    if (!fetch->plan)
        return false;
    fetch->source = source_ref(tree->source(tree->source_arg, fetch->place, &fetch->why));
    if (!fetch->source)
        return false;
    switch (fetch->plan->kind) {
    case PLAN_KEY:
        fetch->key = fetch->plan->key;
        return fetch_read_by_key(fetch);
    case PLAN_SEARCH:
    case PLAN_FIND:
    case PLAN_LIST: /* of directories, which are not fetched */
        break;
    }
    fetch->state = FETCH_FINDS;
    return fetch_request(fetch, NULL, fetch_take_found);
}

static void fetch_report_failure(void *arg)
{
    struct fetch *fetch = arg;
    fetch->timer = NULL;
    fetch_fail(fetch);
}

struct fetch *fetch_start(const struct tree *tree, const struct place *place, fetch_done_fn *done,
                          void *arg)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch)
        return NULL;
    *fetch = (struct fetch){
        .tree = tree, .place = place, .ttl_limit_ms = INT64_MAX, .done = done, .arg = arg};
    if (fetch_begin(fetch))
        return fetch;
    fetch->state = FETCH_FAILS;
    fetch->timer = loop_add_timer(tree->loop, 0, fetch_report_failure, fetch);
    if (fetch->timer)
        return fetch;
    fetch_destroy(fetch);
    return NULL;
}
