#include "core/read/walk.h"

#include <stdlib.h>

/*
 *   how a walk gets its pages                                       it has
 *   told     of a transcript that is kept                              TOLD
 *   asked    of the source; what comes is taken for a transcript       CALL, and TAKEN while that
 * may as long as that is of use and not too large            still become one waiting  until a
 * steady walk that asks the same has come to     AWAITED its end: then it is told, or asks itself
 *
 * Nobody waits for who waits, nor for a walk that may pause, so that no walk waits for itself.
 */
struct walk {
    struct walk_from from;
    struct buf key; /* what is asked, of whom; empty where nothing is shared */
    source_page_fn *fn;
    void *arg;
    struct source_call *call; /* owned */
    struct kept_pages *told;  /* holds a reference */
    size_t at;                /* its next page */
    struct json_doc doc;      /* of the page in hand */
    struct json *items;       /* owned; in there */
    struct loop_timer *timer; /* for what comes later */
    struct kept_pages *taken; /* holds the one reference */
    struct walk *awaited;
    bool has_waited;                 /* once is enough: what it waited for was of no use */
    bool is_dropped;                 /* what it tells may be old */
    int64_t since_ms, since_wall_ms; /* of CALL */
    bool more;                       /* of the latest page */
    bool all_wanted;
    struct kept_pages_cost cost; /* of records that were read again */
    struct walk *previous, *next;
};

/* A transcript that the cache has: it lets go of it when it is too old to be told. */
struct walk_kept {
    struct walks *all;
    const struct kept_pages *transcript; /* to be compared alone */
    struct buf key;
    size_t memory; /* counts as if the cache had it */
    struct loop_timer *timer;
    struct walk_kept *previous, *next;
};

struct walks {
    struct cache *cache;
    struct loop *loop;
    size_t most;
    size_t held; /* by all TAKEN */
    struct walk *newest;
    struct walk_kept *kept;
    size_t kept_count, kept_most; /* with more of them, those whose transcripts went are ended */
};

enum { KEPT_LEAST = 64 };

struct walks *walks_new(struct cache *cache, struct loop *loop, size_t most)
{
    struct walks *walks = calloc(1, sizeof *walks);
    if (walks)
        *walks =
            (struct walks){.cache = cache, .loop = loop, .most = most, .kept_most = KEPT_LEAST};
    return walks;
}

static void walk_kept_destroy(struct walk_kept *kept)
{
    *(kept->previous ? &kept->previous->next : &kept->all->kept) = kept->next;
    if (kept->next)
        kept->next->previous = kept->previous;
    kept->all->kept_count--;
    cache_charge(kept->all->cache, 0, kept->memory);
    loop_remove_timer(kept->timer);
    buf_clean_up(&kept->key);
    free(kept);
}

void walks_destroy(struct walks *walks)
{
    while (walks && walks->kept)
        walk_kept_destroy(walks->kept);
    free(walks);
}

static bool walk_is_kept(const struct walk_kept *kept)
{
    return cache_has(kept->all->cache, buf_span(&kept->key), kept->transcript);
}

static void walk_on_expiry(void *arg)
{
    struct walk_kept *kept = arg;
    kept->timer = NULL;
    if (walk_is_kept(kept))
        cache_forget(kept->all->cache, buf_span(&kept->key));
    walk_kept_destroy(kept);
}

/* What the cache has let go of needs no expiry, which may be a day away. So many more may come
 * before the next time as there are now. */
static void walk_forget_what_went(struct walks *walks)
{
    for (struct walk_kept *kept = walks->kept, *next; kept; kept = next) {
        next = kept->next;
        if (!walk_is_kept(kept))
            walk_kept_destroy(kept);
    }
    walks->kept_most = 2 * walks->kept_count + KEPT_LEAST;
}

/* Without memory for it, the transcript stays until the cache needs its room. */
static void walk_expect_expiry(struct walks *walks, const struct kept_pages *transcript,
                               struct span key, int64_t left_ms)
{
    if (walks->kept_count >= walks->kept_most)
        walk_forget_what_went(walks);
    struct walk_kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return;
    *kept = (struct walk_kept){.all = walks, .transcript = transcript, .next = walks->kept};
    if (kept->next)
        kept->next->previous = kept;
    walks->kept = kept;
    walks->kept_count++;
    buf_add_span(&kept->key, key);
    if (!kept->key.failed)
        kept->timer = loop_add_timer(walks->loop, left_ms, walk_on_expiry, kept);
    if (!kept->timer) {
        walk_kept_destroy(kept);
        return;
    }
    kept->memory = sizeof *kept + kept->key.capacity;
    cache_charge(walks->cache, kept->memory, 0);
}

static bool walk_is_fresh(const struct walk *walk, int64_t since_ms)
{
    return loop_now_ms(walk->from.loop) < since_ms + walk->from.plan->pattern->ttl_ms;
}

static bool walk_needs_records(const struct walk *walk)
{
    return walk->from.full && walk->from.plan->reads_again;
}

static bool walk_begin(struct walk *walk, struct error *err);

static void walk_begin_again(void *arg)
{
    struct walk *walk = arg;
    struct error why;
    walk->timer = NULL;
    if (!walk_begin(walk, &why))
        walk->fn(walk->arg, NULL, &why);
}

static struct walk *walk_find_waiting(const struct walks *walks, const struct walk *awaited)
{
    struct walk *walk = walks->newest;
    while (walk && walk->awaited != awaited)
        walk = walk->next;
    return walk;
}

/* Whoever waits for WALK does so no more. */
static void walk_wake(struct walks *walks, const struct walk *walk)
{
    struct walk *waiting;
    struct error why;
    while ((waiting = walk_find_waiting(walks, walk))) {
        waiting->awaited = NULL;
        waiting->timer = loop_add_timer(walks->loop, 0, walk_begin_again, waiting);
        if (waiting->timer)
            continue;
        error_no_memory(&why);
        waiting->fn(waiting->arg, NULL, &why);
    }
}

/* What is taken down counts as if the cache had it, where it may be one day. */
static void walk_hold(struct walks *walks, size_t more, size_t less)
{
    walks->held += more;
    walks->held -= less;
    cache_charge(walks->cache, more, less);
}

/* No transcript comes of it. */
static void walk_release(struct walk *walk)
{
    struct walks *walks = walk->from.walks;
    if (!walk->taken)
        return;
    walk_hold(walks, 0, walk->taken->memory);
    kept_pages_unref(walk->taken);
    walk->taken = NULL;
    walk_wake(walks, walk);
}

/* One that is taken for a transcript; with OLD, for one that would be too old to be told. */
static struct walk *walk_find_taking(const struct walks *walks, bool old)
{
    struct walk *walk = walks->newest;
    while (walk && (!walk->taken || (old && walk_is_fresh(walk, walk->taken->since_ms))))
        walk = walk->next;
    return walk;
}

void walks_drop(struct walks *walks)
{
    for (struct walk *each = walks ? walks->newest : NULL; each; each = each->next)
        each->is_dropped = true;
    for (struct walk *each; walks && (each = walk_find_taking(walks, false));)
        walk_release(each);
}

/* Takes ADDED, whether something could be added to the transcript, which took BEFORE bytes then. */
static void walk_weigh(struct walk *walk, bool added, size_t before)
{
    struct walks *walks = walk->from.walks;
    walk_hold(walks, walk->taken->memory, before);
    if (!added || walks->held > walks->most || !walk_is_fresh(walk, walk->taken->since_ms))
        walk_release(walk);
}

static void walk_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct walk *walk = arg;
    if (err) {
        walk_release(walk);
        walk->fn(walk->arg, NULL, err);
        return;
    }
    walk->more = page->more;
    if (walk->taken) {
        size_t before = walk->taken->memory;
        walk_weigh(walk, kept_pages_add(walk->taken, page), before);
    }
    walk->fn(walk->arg, page, NULL);
}

/* Begins to take what comes for a transcript. Those that pause and have become too old, as of who
 * reads a long listing on a terminal, make room. Without memory for it, none comes of it. */
static void walk_begin_transcript(struct walk *walk, int64_t since_ms, int64_t since_wall_ms)
{
    for (struct walk *old; (old = walk_find_taking(walk->from.walks, true));)
        walk_release(old);
    walk->taken = kept_pages_new(since_ms, since_wall_ms);
    if (walk->taken)
        walk_hold(walk->from.walks, walk->taken->memory, 0);
}

static bool walk_request(struct walk *walk, struct error *err)
{
    const struct walk_from *from = &walk->from;
    struct clock *clock = loop_clock(from->loop);
    walk->since_ms = clock->now_ms(clock);
    walk->since_wall_ms = clock->wall_ms(clock);
    walk->call = source_start(from->source, from->plan->query, from->payer, walk_take_page, walk);
    if (walk->call && walk->all_wanted)
        source_read_all(walk->call);
    if (walk->call && walk->key.size > 0)
        walk_begin_transcript(walk, walk->since_ms, walk->since_wall_ms);
    return walk->call || error_no_memory(err);
}

/* Makes the next page of the transcript one that is told. False when memory ran out. */
static bool walk_make_page(struct walk *walk, struct page *out)
{
    const struct kept_pages *transcript = walk->told;
    struct kept_pages_page *page = transcript->pages[walk->at++];
    json_clean_up(&walk->doc);
    free(walk->items);
    walk->items = calloc(page->item_count + 1, sizeof *walk->items);
    if (!json_parse(&walk->doc, span_of(page->text, page->size), JSON_STRICT, NULL) || !walk->items)
        return false; /* what was JSON before is so again */
    struct json item = json_first(json_root(&walk->doc));
    for (size_t i = 0; i < page->item_count; i++, item = json_next(item))
        walk->items[i] = item;
    walk->more = walk->at < transcript->page_count || !transcript->ended;
    *out = (struct page){.items = walk->items,
                         .item_count = page->item_count,
                         .more = walk->more,
                         .requests = page->requests,
                         .capacity = page->capacity,
                         .doubted = page->doubted,
                         .request_id = page->request_id};
    if (walk->taken) {
        size_t before = walk->taken->memory;
        walk_weigh(walk, kept_pages_share(walk->taken, page), before);
    }
    return true;
}

/* A reader that needs a page behind the transcript's last one gets an error, and the next reader
 * asks the source: nothing is cut short in silence. */
static void walk_report_page(void *arg)
{
    struct walk *walk = arg;
    struct error why;
    struct page page;
    walk->timer = NULL;
    bool ok = walk->at < walk->told->page_count;
    if (!ok) {
        cache_forget(walk->from.walks->cache, buf_span(&walk->key));
        error_set(&why, ERROR_SERVICE,
                  "the listing goes on behind what was read of it a moment ago; ask again");
    } else if (!walk_make_page(walk, &page)) {
        ok = error_no_memory(&why);
    }
    walk->fn(walk->arg, ok ? &page : NULL, ok ? NULL : &why);
}

static bool walk_report(struct walk *walk, struct kept_pages *transcript, struct error *err)
{
    walk->timer = loop_add_timer(walk->from.loop, 0, walk_report_page, walk);
    if (!walk->timer)
        return error_no_memory(err);
    walk->told = kept_pages_ref(transcript);
    if (walk_needs_records(walk) && !transcript->read_again)
        walk_begin_transcript(walk, transcript->since_ms, transcript->since_wall_ms);
    return true;
}

/* Whether TRANSCRIPT has all that WALK may want. Who listed keys alone may have had enough of them
 * sooner than who reads the records, of which some may have gone. */
static bool walk_serves(const struct kept_pages *transcript, const struct walk *walk)
{
    return walk_is_fresh(walk, transcript->since_ms) &&
           (transcript->read_again || transcript->ended || !walk_needs_records(walk));
}

/* Another walk that will have read all pages that WALK wants, and lets no walk wait for it in vain.
 * Of a query with a limit, one that reads keys alone may end before a walk that needs records. */
static struct walk *walk_find_steady(const struct walk *walk)
{
    struct walk *each = walk->from.walks->newest;
    bool keys_suffice = !walk_needs_records(walk) || walk->from.plan->query->limit == 0;
    for (; each; each = each->next)
        if (each->taken && each->call && each->from.steady && walk_is_fresh(walk, each->since_ms) &&
            (walk_needs_records(each) || keys_suffice) &&
            span_equal(buf_span(&each->key), buf_span(&walk->key)))
            break;
    return each;
}

static bool walk_begin(struct walk *walk, struct error *err)
{
    if (walk->key.size == 0)
        return walk_request(walk, err);
    struct kept_pages *known = cache_find(walk->from.walks->cache, buf_span(&walk->key));
    if (known && walk_serves(known, walk))
        return walk_report(walk, known, err);
    walk->awaited = walk->has_waited ? NULL : walk_find_steady(walk);
    walk->has_waited = true;
    return walk->awaited || walk_request(walk, err);
}

/* Identity is what is asked, of whom, and what its keys are called, by which items are taken apart.
 * Of records that were read again only those are there that count for their path: another path that
 * asks the same would take what is missing for gone. A listing of N entries ends with the page that
 * completes them: another path may leave out some of these, and would lack further pages. */
static bool walk_write_key(struct walk *walk)
{
    const struct plan *plan = walk->from.plan;
    buf_add_text(&walk->key, "listing ");
    source_identity(walk->from.source, &walk->key);
    for (size_t i = 0; i < plan->table->key_count; i++)
        buf_printf(&walk->key, " %s %s", plan->table->keys[i].attribute,
                   value_type_name(plan->table->keys[i].type));
    buf_add_char(&walk->key, ' ');
    read_identity(plan->query, &walk->key);
    if (plan->pattern->hydrates || plan->query->limit > 0) {
        buf_printf(&walk->key, " %s", plan->query->pattern);
        plan_identity(plan, &walk->key);
    }
    return !walk->key.failed;
}

/* Whoever asks for some of the records, or how many they are, takes down nothing for others. */
static bool walk_is_shared(const struct walk_from *from)
{
    const struct plan *plan = from->plan;
    return from->walks && plan->pattern->ttl_ms > 0 && !plan->selection && !plan->counts;
}

bool walk_is_known(const struct walk_from *from)
{
    struct walk walk = {.from = *from};
    const struct kept_pages *known = NULL;
    if (walk_is_shared(from) && walk_write_key(&walk))
        known = cache_find(from->walks->cache, buf_span(&walk.key));
    bool serving =
        known && walk_serves(known, &walk) && (known->read_again || !walk_needs_records(&walk));
    buf_clean_up(&walk.key);
    return serving;
}

bool walk_is_coming(const struct walk_from *from)
{
    struct walk walk = {.from = *from};
    bool coming = walk_is_shared(from) && walk_write_key(&walk) && walk_find_steady(&walk);
    buf_clean_up(&walk.key);
    return coming;
}

struct walk *walk_start(const struct walk_from *from, source_page_fn *fn, void *arg,
                        struct error *err)
{
    struct walks *walks = from->walks;
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk) {
        error_no_memory(err);
        return NULL;
    }
    *walk = (struct walk){.from = *from, .fn = fn, .arg = arg};
    if (walks) {
        walk->next = walks->newest;
        if (walk->next)
            walk->next->previous = walk;
        walks->newest = walk;
    }
    bool ok = walk_is_shared(from) && !walk_write_key(walk) ? error_no_memory(err)
                                                            : walk_begin(walk, err);
    if (ok)
        return walk;
    walk_end(walk);
    return NULL;
}

void walk_read_all(struct walk *walk)
{
    walk->all_wanted = true;
    if (walk->call)
        source_read_all(walk->call);
}

void walk_more(struct walk *walk)
{
    struct error why;
    if (walk->call) {
        source_more(walk->call);
        return;
    }
    walk->timer = loop_add_timer(walk->from.loop, 0, walk_report_page, walk);
    if (walk->timer)
        return;
    error_no_memory(&why);
    walk->fn(walk->arg, NULL, &why);
}

void walk_end(struct walk *walk)
{
    if (!walk)
        return;
    struct walks *walks = walk->from.walks;
    if (walk->call)
        source_end(walk->call);
    walk->call = NULL;
    walk_release(walk);
    if (walks)
        *(walk->previous ? &walk->previous->next : &walks->newest) = walk->next;
    if (walk->next)
        walk->next->previous = walk->previous;
    loop_remove_timer(walk->timer);
    json_clean_up(&walk->doc);
    free(walk->items);
    kept_pages_unref(walk->told);
    buf_clean_up(&walk->key);
    free(walk);
}

void walk_note(struct walk *walk, const struct key *key, struct json item)
{
    if (!walk->taken)
        return;
    size_t before = walk->taken->memory;
    walk_weigh(walk, kept_pages_add_record(walk->taken, key, item), before);
}

static void walk_ref(void *data)
{
    kept_pages_ref(data);
}

static void walk_unref(void *data)
{
    kept_pages_unref(data);
}

static void walk_store(struct walk *walk, struct kept_pages *transcript)
{
    struct walks *walks = walk->from.walks;
    const struct cache_value value = {transcript, walk_ref, walk_unref, transcript->memory};
    int64_t left_ms =
        transcript->since_ms + walk->from.plan->pattern->ttl_ms - loop_now_ms(walks->loop);
    if (left_ms <= 0)
        return;
    cache_store(walks->cache, buf_span(&walk->key), &value);
    walk_expect_expiry(walks, transcript, buf_span(&walk->key), left_ms);
}

struct kept_pages_cost *walk_cost(struct walk *walk)
{
    return &walk->cost;
}

const struct kept_pages_cost *walk_known_cost(const struct walk *walk)
{
    if (walk->told && walk->told->read_again)
        return &walk->told->cost;
    return walk->cost.requests > 0 ? &walk->cost : NULL;
}

void walk_conclude(struct walk *walk)
{
    struct kept_pages *transcript = walk->taken;
    if (!transcript)
        return;
    transcript->ended = !walk->more;
    transcript->read_again = walk_needs_records(walk);
    transcript->cost = walk->cost;
    transcript->took_ms = walk_age(walk).took_ms;
    kept_pages_close(transcript);
    walk->taken = NULL;
    walk_hold(walk->from.walks, 0, transcript->memory);
    walk_store(walk, transcript);
    kept_pages_unref(transcript);
    walk_wake(walk->from.walks, walk);
}

const struct kept_pages *walk_records(const struct walk *walk)
{
    return walk->told && walk->told->read_again ? walk->told : NULL;
}

struct walk_age walk_age(const struct walk *walk)
{
    const struct kept_pages *told = walk->told;
    if (told)
        return (struct walk_age){true, walk->is_dropped, told->since_ms, told->since_wall_ms,
                                 told->took_ms};
    return (struct walk_age){.is_dropped = walk->is_dropped,
                             .since_ms = walk->since_ms,
                             .since_wall_ms = walk->since_wall_ms,
                             .took_ms = loop_now_ms(walk->from.loop) - walk->since_ms};
}
