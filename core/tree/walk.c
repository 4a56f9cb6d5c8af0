#include "core/tree/walk.h"

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
    struct transcript *told;  /* holds a reference */
    size_t at;                /* its next page */
    struct json_doc doc;      /* of the page in hand */
    struct json *items;       /* owned; in there */
    struct loop_timer *timer; /* for what comes later */
    struct transcript *taken; /* holds the one reference */
    struct walk *awaited;
    bool has_waited;                 /* once is enough: what it waited for was of no use */
    bool is_dropped;                 /* what it tells may be old */
    int64_t since_ms, since_wall_ms; /* of CALL */
    bool more;                       /* of the latest page */
    bool all_wanted;
    struct transcript_cost cost; /* of records that were read again */
    struct walk *previous, *next;
};

/* A transcript that the cache has: it lets go of it when it is too old to be told. */
struct kept {
    struct walks *all;
    const struct transcript *transcript; /* to be compared alone */
    struct buf key;
    size_t memory; /* counts as if the cache had it */
    struct loop_timer *timer;
    struct kept *previous, *next;
};

struct walks {
    struct cache *cache;
    struct loop *loop;
    size_t most;
    size_t held; /* by all TAKEN */
    struct walk *newest;
    struct kept *kept;
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

static void kept_destroy(struct kept *kept)
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
        kept_destroy(walks->kept);
    free(walks);
}

static bool is_kept(const struct kept *kept)
{
    return cache_has(kept->all->cache, buf_span(&kept->key), kept->transcript);
}

static void on_expiry(void *arg)
{
    struct kept *kept = arg;
    kept->timer = NULL;
    if (is_kept(kept))
        cache_forget(kept->all->cache, buf_span(&kept->key));
    kept_destroy(kept);
}

/* What the cache has let go of needs no expiry, which may be a day away. So many more may come
 * before the next time as there are now. */
static void forget_what_went(struct walks *walks)
{
    for (struct kept *kept = walks->kept, *next; kept; kept = next) {
        next = kept->next;
        if (!is_kept(kept))
            kept_destroy(kept);
    }
    walks->kept_most = 2 * walks->kept_count + KEPT_LEAST;
}

/* Without memory for it, the transcript stays until the cache needs its room. */
static void expect_expiry(struct walks *walks, const struct transcript *transcript, struct span key,
                          int64_t left_ms)
{
    if (walks->kept_count >= walks->kept_most)
        forget_what_went(walks);
    struct kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return;
    *kept = (struct kept){.all = walks, .transcript = transcript, .next = walks->kept};
    if (kept->next)
        kept->next->previous = kept;
    walks->kept = kept;
    walks->kept_count++;
    buf_add_span(&kept->key, key);
    if (!kept->key.failed)
        kept->timer = loop_add_timer(walks->loop, left_ms, on_expiry, kept);
    if (!kept->timer) {
        kept_destroy(kept);
        return;
    }
    kept->memory = sizeof *kept + kept->key.capacity;
    cache_charge(walks->cache, kept->memory, 0);
}

static bool is_fresh(const struct walk *walk, int64_t since_ms)
{
    return loop_now_ms(walk->from.loop) < since_ms + walk->from.plan->pattern->ttl_ms;
}

static bool needs_records(const struct walk *walk)
{
    return walk->from.full && walk->from.plan->reads_again;
}

static bool begin(struct walk *walk, struct error *err);

static void begin_again(void *arg)
{
    struct walk *walk = arg;
    struct error why;
    walk->timer = NULL;
    if (!begin(walk, &why))
        walk->fn(walk->arg, NULL, &why);
}

static struct walk *find_waiting(const struct walks *walks, const struct walk *awaited)
{
    struct walk *walk = walks->newest;
    while (walk && walk->awaited != awaited)
        walk = walk->next;
    return walk;
}

/* Whoever waits for WALK does so no more. */
static void wake(struct walks *walks, const struct walk *walk)
{
    struct walk *waiting;
    struct error why;
    while ((waiting = find_waiting(walks, walk))) {
        waiting->awaited = NULL;
        waiting->timer = loop_add_timer(walks->loop, 0, begin_again, waiting);
        if (waiting->timer)
            continue;
        error_no_memory(&why);
        waiting->fn(waiting->arg, NULL, &why);
    }
}

/* What is taken down counts as if the cache had it, where it may be one day. */
static void hold(struct walks *walks, size_t more, size_t less)
{
    walks->held += more;
    walks->held -= less;
    cache_charge(walks->cache, more, less);
}

/* No transcript comes of it. */
static void let_go(struct walk *walk)
{
    struct walks *walks = walk->from.walks;
    if (!walk->taken)
        return;
    hold(walks, 0, walk->taken->memory);
    transcript_unref(walk->taken);
    walk->taken = NULL;
    wake(walks, walk);
}

/* One that is taken for a transcript; with OLD, for one that would be too old to be told. */
static struct walk *find_taking(const struct walks *walks, bool old)
{
    struct walk *walk = walks->newest;
    while (walk && (!walk->taken || (old && is_fresh(walk, walk->taken->since_ms))))
        walk = walk->next;
    return walk;
}

void walks_drop(struct walks *walks)
{
    for (struct walk *each = walks ? walks->newest : NULL; each; each = each->next)
        each->is_dropped = true;
    for (struct walk *each; walks && (each = find_taking(walks, false));)
        let_go(each);
}

/* Takes ADDED, whether something could be added to the transcript, which took BEFORE bytes then. */
static void weigh(struct walk *walk, bool added, size_t before)
{
    struct walks *walks = walk->from.walks;
    hold(walks, walk->taken->memory, before);
    if (!added || walks->held > walks->most || !is_fresh(walk, walk->taken->since_ms))
        let_go(walk);
}

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct walk *walk = arg;
    if (err) {
        let_go(walk);
        walk->fn(walk->arg, NULL, err);
        return;
    }
    walk->more = page->more;
    if (walk->taken) {
        size_t before = walk->taken->memory;
        weigh(walk, transcript_add(walk->taken, page), before);
    }
    walk->fn(walk->arg, page, NULL);
}

/* Begins to take what comes for a transcript. Those that pause and have become too old, as of who
 * reads a long listing on a terminal, make room. Without memory for it, none comes of it. */
static void begin_transcript(struct walk *walk, int64_t since_ms, int64_t since_wall_ms)
{
    for (struct walk *old; (old = find_taking(walk->from.walks, true));)
        let_go(old);
    walk->taken = transcript_new(since_ms, since_wall_ms);
    if (walk->taken)
        hold(walk->from.walks, walk->taken->memory, 0);
}

static bool ask(struct walk *walk, struct error *err)
{
    const struct walk_from *from = &walk->from;
    struct clock *clock = loop_clock(from->loop);
    walk->since_ms = clock->now_ms(clock);
    walk->since_wall_ms = clock->wall_ms(clock);
    walk->call = source_start(from->source, from->plan->query, from->payer, take_page, walk);
    if (walk->call && walk->all_wanted)
        source_want_all(from->source, walk->call);
    if (walk->call && walk->key.size > 0)
        begin_transcript(walk, walk->since_ms, walk->since_wall_ms);
    return walk->call || error_no_memory(err);
}

/* Makes the next page of the transcript one that is told. False when memory ran out. */
static bool make_page(struct walk *walk, struct page *out)
{
    const struct transcript *transcript = walk->told;
    struct transcript_page *page = transcript->pages[walk->at++];
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
        weigh(walk, transcript_share(walk->taken, page), before);
    }
    return true;
}

/* A reader that needs a page behind the transcript's last one gets an error, and the next reader
 * asks the source: nothing is cut short in silence. */
static void tell_page(void *arg)
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
    } else if (!make_page(walk, &page)) {
        ok = error_no_memory(&why);
    }
    walk->fn(walk->arg, ok ? &page : NULL, ok ? NULL : &why);
}

static bool tell(struct walk *walk, struct transcript *transcript, struct error *err)
{
    walk->timer = loop_add_timer(walk->from.loop, 0, tell_page, walk);
    if (!walk->timer)
        return error_no_memory(err);
    walk->told = transcript_ref(transcript);
    if (needs_records(walk) && !transcript->read_again)
        begin_transcript(walk, transcript->since_ms, transcript->since_wall_ms);
    return true;
}

/* Whether TRANSCRIPT has all that WALK may want. Who listed keys alone may have had enough of them
 * sooner than who reads the records, of which some may have gone. */
static bool serves(const struct transcript *transcript, const struct walk *walk)
{
    return is_fresh(walk, transcript->since_ms) &&
           (transcript->read_again || transcript->ended || !needs_records(walk));
}

/* Another walk that will have read all pages that WALK wants, and lets no walk wait for it in vain.
 * Of a query with a limit, one that reads keys alone may end before a walk that needs records. */
static struct walk *find_steady(const struct walk *walk)
{
    struct walk *each = walk->from.walks->newest;
    bool keys_suffice = !needs_records(walk) || walk->from.plan->query->limit == 0;
    for (; each; each = each->next)
        if (each->taken && each->call && each->from.steady && is_fresh(walk, each->since_ms) &&
            (needs_records(each) || keys_suffice) &&
            span_equal(buf_span(&each->key), buf_span(&walk->key)))
            break;
    return each;
}

static bool begin(struct walk *walk, struct error *err)
{
    if (walk->key.size == 0)
        return ask(walk, err);
    struct transcript *known = cache_find(walk->from.walks->cache, buf_span(&walk->key));
    if (known && serves(known, walk))
        return tell(walk, known, err);
    walk->awaited = walk->has_waited ? NULL : find_steady(walk);
    walk->has_waited = true;
    return walk->awaited || ask(walk, err);
}

/* Identity is what is asked, of whom, and what its keys are called, by which items are taken apart.
 * Of records that were read again only those are there that count for their path: another path that
 * asks the same would take what is missing for gone. A listing of N entries ends with the page that
 * completes them: another path may leave out some of these, and would lack further pages. */
static bool write_key(struct walk *walk)
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
static bool is_shared(const struct walk_from *from)
{
    const struct plan *plan = from->plan;
    return from->walks && plan->pattern->ttl_ms > 0 && !plan->asked && !plan->counts;
}

bool walk_is_known(const struct walk_from *from)
{
    struct walk walk = {.from = *from};
    const struct transcript *known = NULL;
    if (is_shared(from) && write_key(&walk))
        known = cache_find(from->walks->cache, buf_span(&walk.key));
    bool serving = known && serves(known, &walk) && (known->read_again || !needs_records(&walk));
    buf_clean_up(&walk.key);
    return serving;
}

bool walk_is_coming(const struct walk_from *from)
{
    struct walk walk = {.from = *from};
    bool coming = is_shared(from) && write_key(&walk) && find_steady(&walk);
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
    bool ok = is_shared(from) && !write_key(walk) ? error_no_memory(err) : begin(walk, err);
    if (ok)
        return walk;
    walk_end(walk);
    return NULL;
}

void walk_want_all(struct walk *walk)
{
    walk->all_wanted = true;
    if (walk->call)
        source_want_all(walk->from.source, walk->call);
}

void walk_more(struct walk *walk)
{
    struct error why;
    if (walk->call) {
        walk->from.source->ops->more(walk->call);
        return;
    }
    walk->timer = loop_add_timer(walk->from.loop, 0, tell_page, walk);
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
        walk->from.source->ops->end(walk->call);
    walk->call = NULL;
    let_go(walk);
    if (walks)
        *(walk->previous ? &walk->previous->next : &walks->newest) = walk->next;
    if (walk->next)
        walk->next->previous = walk->previous;
    loop_remove_timer(walk->timer);
    json_clean_up(&walk->doc);
    free(walk->items);
    transcript_unref(walk->told);
    buf_clean_up(&walk->key);
    free(walk);
}

void walk_note(struct walk *walk, const struct key *key, struct json item)
{
    if (!walk->taken)
        return;
    size_t before = walk->taken->memory;
    weigh(walk, transcript_add_record(walk->taken, key, item), before);
}

static void ref(void *data)
{
    transcript_ref(data);
}

static void unref(void *data)
{
    transcript_unref(data);
}

static void keep(struct walk *walk, struct transcript *transcript)
{
    struct walks *walks = walk->from.walks;
    const struct cache_value value = {transcript, ref, unref, transcript->memory};
    int64_t left_ms =
        transcript->since_ms + walk->from.plan->pattern->ttl_ms - loop_now_ms(walks->loop);
    if (left_ms <= 0)
        return;
    cache_keep(walks->cache, buf_span(&walk->key), &value);
    expect_expiry(walks, transcript, buf_span(&walk->key), left_ms);
}

struct transcript_cost *walk_cost(struct walk *walk)
{
    return &walk->cost;
}

const struct transcript_cost *walk_known_cost(const struct walk *walk)
{
    if (walk->told && walk->told->read_again)
        return &walk->told->cost;
    return walk->cost.requests > 0 ? &walk->cost : NULL;
}

void walk_conclude(struct walk *walk)
{
    struct transcript *transcript = walk->taken;
    if (!transcript)
        return;
    transcript->ended = !walk->more;
    transcript->read_again = needs_records(walk);
    transcript->cost = walk->cost;
    transcript->took_ms = walk_age(walk).took_ms;
    transcript_close(transcript);
    walk->taken = NULL;
    hold(walk->from.walks, 0, transcript->memory);
    keep(walk, transcript);
    transcript_unref(transcript);
    wake(walk->from.walks, walk);
}

const struct transcript *walk_records(const struct walk *walk)
{
    return walk->told && walk->told->read_again ? walk->told : NULL;
}

struct walk_age walk_age(const struct walk *walk)
{
    const struct transcript *told = walk->told;
    if (told)
        return (struct walk_age){true, walk->is_dropped, told->since_ms, told->since_wall_ms,
                                 told->took_ms};
    return (struct walk_age){.is_dropped = walk->is_dropped,
                             .since_ms = walk->since_ms,
                             .since_wall_ms = walk->since_wall_ms,
                             .took_ms = loop_now_ms(walk->from.loop) - walk->since_ms};
}
