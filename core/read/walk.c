#include "core/read/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/list.h"

/* A walk gets its pages in one of three ways:
 *
 * - from a stored transcript (REPLAYED);
 * - from the source (CALL); RECORDED has them while the recording can still become a transcript;
 * - after a steady walk of the same query has ended (AWAITED): from its transcript, or by requests
 *   of its own.
 *
 * No walk waits for one that waits itself or that may pause, so no two walks wait for each other.
 */
struct walk {
    struct list_node node;
    struct walk_from from;
    struct buf key; /* of the query and its source; empty where nothing is shared */
    source_page_fn *fn;
    void *arg;
    struct source_call *call;         /* owned */
    struct walk_transcript *replayed; /* holds a reference */
    size_t at;                        /* its next page */
    struct json_doc doc;              /* of the page in hand */
    struct json *items;               /* owned; in there */
    struct loop_timer *timer;         /* for a delivery in a later round */
    struct walk_transcript *recorded; /* holds the one reference */
    struct walk *awaited;
    bool has_waited;                 /* a walk waits only once */
    bool is_dropped;                 /* its data is from before walks_drop */
    int64_t since_ms, since_wall_ms; /* of CALL */
    bool more;                       /* of the latest page */
    bool reads_all;
    struct page rest; /* of the page in hand: its items that are not delivered; none: nothing */
    struct page_owner *rest_owner; /* owned: of its items, unless they are in DOC */
    int64_t rest_since_ms;
    char request_id[64];         /* of REST */
    struct walk_cost cost;       /* of items that were read again */
    struct throttles *throttled; /* owned: of all pages, and of reading items again */
};

/* One page of the query. Counted: a later transcript may share those of an earlier one. The text
 * may be secret, so it is wiped. */
struct walk_page {
    size_t references;
    size_t item_count;
    unsigned requests;
    double capacity, doubted;
    char request_id[64];
    size_t size;
    char text[]; /* the items, as one array of JSON */
};

struct walk_item {
    struct key key;
    struct span text;
};

/* Counted; constant once it is complete. */
struct walk_transcript {
    size_t references;
    int64_t since_ms, since_wall_ms; /* when the request for its first page was sent */
    int64_t took_ms;                 /* until it was complete */
    struct walk_page **pages;        /* owned, each by a reference */
    size_t page_count, page_capacity;
    bool ended;                  /* the source had no further page */
    bool read_again;             /* ITEMS has all that the listing wanted */
    struct walk_cost cost;       /* of ITEMS */
    struct throttles *throttled; /* owned: of PAGES and ITEMS */
    struct walk_item *items;     /* owned; sorted by their keys, once it is complete */
    size_t item_count, item_capacity;
    struct arena arena; /* of the items */
    size_t memory;      /* all that it takes, shared pages included */
};

/* Removes a transcript from the cache when its ttl is over. */
struct walk_expiry {
    struct list_node node;
    struct walks *all;
    const struct walk_transcript *transcript; /* only compared: the cache may have freed it */
    struct buf key;
    size_t memory; /* charged to the cache */
    struct loop_timer *timer;
};

struct walks {
    struct cache *cache;
    struct loop *loop;
    size_t most;
    size_t recorded;   /* bytes of all recordings */
    struct list walks; /* the newest first */
    struct list expiries;
    size_t expiry_count, expiry_most; /* at more, those whose transcripts are gone are removed */
};

enum { EXPIRIES_LEAST = 64 };

/* Transcripts. */

static void walk_transcript_ref(void *data)
{
    struct walk_transcript *transcript = data;
    transcript->references++;
}

static void walk_page_unref(struct walk_page *page)
{
    if (--page->references > 0)
        return;
    explicit_bzero(page->text, page->size);
    free(page);
}

static void walk_transcript_unref(void *data)
{
    struct walk_transcript *transcript = data;
    if (!transcript || --transcript->references > 0)
        return;
    for (size_t i = 0; i < transcript->page_count; i++)
        walk_page_unref(transcript->pages[i]);
    free(transcript->pages);
    free(transcript->items);
    throttles_unref(transcript->throttled);
    arena_clean_up(&transcript->arena);
    free(transcript);
}

/* THINGS, with room for one more than COUNT of SIZE bytes each; NULL when memory ran out. */
static void *walk_make_room(void *things, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return things;
    size_t more = *capacity ? *capacity * 2 : 16;
    void *grown = reallocarray(things, more, size);
    if (grown)
        *capacity = more;
    return grown;
}

/* Adds PAGE, and takes a reference of its own. False when memory ran out. */
static bool walk_transcript_share(struct walk_transcript *transcript, struct walk_page *page)
{
    struct walk_page **pages =
        walk_make_room(transcript->pages, transcript->page_count, &transcript->page_capacity,
                       sizeof(*transcript->pages));
    if (!pages)
        return false;
    page->references++;
    transcript->pages = pages;
    transcript->pages[transcript->page_count++] = page;
    transcript->memory += sizeof *page + page->size + sizeof(*transcript->pages);
    return true;
}

/* The bytes of the items of PAGE as one array. */
static size_t walk_page_size(const struct page *page)
{
    size_t size = 2;
    for (size_t i = 0; i < page->item_count; i++)
        size += (i > 0) + json_raw(page->items[i]).size;
    return size;
}

/* Adds a copy of PAGE. False when memory ran out. */
static bool walk_transcript_add_page(struct walk_transcript *transcript, const struct page *page,
                                     size_t size)
{
    struct walk_page *copy = malloc(sizeof *copy + size);
    if (!copy)
        return false;
    *copy = (struct walk_page){.references = 1,
                               .item_count = page->item_count,
                               .requests = page->requests,
                               .capacity = page->capacity,
                               .doubted = page->doubted,
                               .size = size};
    strncpy(copy->request_id, page->request_id, sizeof copy->request_id - 1);
    char *out = copy->text;
    *out++ = '[';
    for (size_t i = 0; i < page->item_count; i++) {
        struct span text = json_raw(page->items[i]);
        if (i > 0)
            *out++ = ',';
        memcpy(out, text.data, text.size);
        out += text.size;
    }
    *out = ']';
    bool ok = walk_transcript_share(transcript, copy);
    walk_page_unref(copy);
    return ok;
}

/* Adds a copy of ITEM. False when memory ran out. */
static bool walk_transcript_add_item(struct walk_transcript *transcript, const struct key *key,
                                     struct json item)
{
    struct arena *arena = &transcript->arena;
    struct walk_item *items = walk_make_room(transcript->items, transcript->item_count,
                                             &transcript->item_capacity, sizeof *items);
    if (!items)
        return false;
    transcript->items = items;
    struct walk_item *added = &items[transcript->item_count++];
    *added = (struct walk_item){.key = *key, .text = arena_copy(arena, json_raw(item))};
    size_t bytes = sizeof *added + added->text.size;
    for (size_t i = 0; i < key->count; i++) {
        const struct key_attribute *from = &key->attributes[i];
        struct key_attribute *to = &added->key.attributes[i];
        to->name = arena_copy(arena, from->name);
        to->value.bytes = arena_copy(arena, from->value.bytes);
        bytes += from->name.size + from->value.bytes.size;
    }
    transcript->memory += bytes;
    return !arena->failed;
}

static int walk_order_items(const void *a, const void *b)
{
    const struct walk_item *x = a, *y = b;
    return key_compare(&x->key, &y->key);
}

struct span walk_transcript_find(const struct walk_transcript *transcript, const struct key *key)
{
    const struct walk_item wanted = {.key = *key};
    const struct walk_item *found =
        transcript->item_count > 0 ? bsearch(&wanted, transcript->items, transcript->item_count,
                                             sizeof wanted, walk_order_items)
                                   : NULL;
    return found ? found->text : span_text("");
}

/* The end of a transcript's ttl. */

static void walk_expiry_destroy(struct walk_expiry *expiry)
{
    list_remove(&expiry->node);
    expiry->all->expiry_count--;
    cache_charge(expiry->all->cache, 0, expiry->memory);
    loop_remove_timer(expiry->timer);
    buf_clean_up(&expiry->key);
    free(expiry);
}

static bool walk_expiry_is_needed(const struct walk_expiry *expiry)
{
    return cache_has(expiry->all->cache, buf_span(&expiry->key), expiry->transcript);
}

static void walk_expiry_end(void *arg)
{
    struct walk_expiry *expiry = arg;
    expiry->timer = NULL;
    if (walk_expiry_is_needed(expiry))
        cache_forget(expiry->all->cache, buf_span(&expiry->key));
    walk_expiry_destroy(expiry);
}

/* Without memory for it, the transcript stays until the cache needs its room. A ttl may be a day,
 * so expiries of transcripts that the cache has dropped are removed whenever their number doubled.
 */
static void walk_expect_expiry(struct walks *walks, const struct walk_transcript *transcript,
                               struct span key, int64_t left_ms)
{
    if (walks->expiry_count >= walks->expiry_most) {
        LIST_EACH_SAFE (struct walk_expiry, each, &walks->expiries, node)
            if (!walk_expiry_is_needed(each))
                walk_expiry_destroy(each);
        walks->expiry_most = 2 * walks->expiry_count + EXPIRIES_LEAST;
    }
    struct walk_expiry *expiry = calloc(1, sizeof *expiry);
    if (!expiry)
        return;
    *expiry = (struct walk_expiry){.all = walks, .transcript = transcript};
    list_prepend(&walks->expiries, &expiry->node);
    walks->expiry_count++;
    buf_add_span(&expiry->key, key);
    if (!expiry->key.failed)
        expiry->timer = loop_add_timer(walks->loop, left_ms, walk_expiry_end, expiry);
    if (!expiry->timer) {
        walk_expiry_destroy(expiry);
        return;
    }
    expiry->memory = sizeof *expiry + expiry->key.capacity;
    cache_charge(walks->cache, expiry->memory, 0);
}

struct walks *walks_new(struct cache *cache, struct loop *loop, size_t most)
{
    struct walks *walks = calloc(1, sizeof *walks);
    if (walks)
        *walks = (struct walks){
            .cache = cache, .loop = loop, .most = most, .expiry_most = EXPIRIES_LEAST};
    return walks;
}

void walks_destroy(struct walks *walks)
{
    while (walks && !list_is_empty(&walks->expiries))
        walk_expiry_destroy(LIST_FIRST(&walks->expiries, struct walk_expiry, node));
    free(walks);
}

/* Recordings. */

static bool walk_is_fresh(const struct walk *walk, int64_t since_ms)
{
    return loop_now_ms(walk->from.loop) <
           since_ms + plan_ttl_ms(walk->from.plan, walk->from.source);
}

static bool walk_needs_items(const struct walk *walk)
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
    LIST_EACH (struct walk, each, &walks->walks, node)
        if (each->awaited == awaited)
            return each;
    return NULL;
}

/* Starts each walk that waits for WALK. One that fails may end others, so the search begins anew.
 */
static void walk_wake_waiting(struct walks *walks, const struct walk *walk)
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

/* Recordings count as if the cache had them already. */
static void walk_charge(struct walks *walks, size_t more, size_t less)
{
    walks->recorded += more;
    walks->recorded -= less;
    cache_charge(walks->cache, more, less);
}

/* Drops the recording, if there is one. */
static void walk_drop_recording(struct walk *walk)
{
    struct walks *walks = walk->from.walks;
    if (!walk->recorded)
        return;
    walk_charge(walks, 0, walk->recorded->memory);
    walk_transcript_unref(walk->recorded);
    walk->recorded = NULL;
    walk_wake_waiting(walks, walk);
}

/* A walk that is recorded; with STALE, one whose recording has outlived its ttl. */
static struct walk *walk_find_recorded(const struct walks *walks, bool stale)
{
    LIST_EACH (struct walk, each, &walks->walks, node)
        if (each->recorded && !(stale && walk_is_fresh(each, each->recorded->since_ms)))
            return each;
    return NULL;
}

void walks_drop(struct walks *walks)
{
    if (!walks)
        return;
    LIST_EACH (struct walk, each, &walks->walks, node)
        each->is_dropped = true;
    for (struct walk *each; (each = walk_find_recorded(walks, false));)
        walk_drop_recording(each);
}

/* After an addition to the recording, which had BEFORE bytes. ADDED is false when memory ran out,
 * or the recording would be too large. */
static void walk_check_recording(struct walk *walk, bool added, size_t before)
{
    struct walks *walks = walk->from.walks;
    walk_charge(walks, walk->recorded->memory, before);
    if (!added || walks->recorded > walks->most || !walk_is_fresh(walk, walk->recorded->since_ms))
        walk_drop_recording(walk);
}

/* Recordings that are too old, of readers that pause, make room. Without memory, the walk
 * goes on without a recording. */
static void walk_begin_recording(struct walk *walk, int64_t since_ms, int64_t since_wall_ms)
{
    for (struct walk *old; (old = walk_find_recorded(walk->from.walks, true));)
        walk_drop_recording(old);
    walk->recorded = calloc(1, sizeof *walk->recorded);
    if (!walk->recorded)
        return;
    *walk->recorded = (struct walk_transcript){.references = 1,
                                               .since_ms = since_ms,
                                               .since_wall_ms = since_wall_ms,
                                               .memory = sizeof *walk->recorded};
    walk_charge(walk->from.walks, walk->recorded->memory, 0);
}

void walk_record_item(struct walk *walk, const struct key *key, struct json item)
{
    if (!walk->recorded)
        return;
    size_t before = walk->recorded->memory;
    walk_check_recording(walk, walk_transcript_add_item(walk->recorded, key, item), before);
}

/* Pages. A page may have thousands of items, whose names and files take the loop some 15 ms. Where
 * other requests wait meanwhile, it is delivered in parts. */

/* Delivers the next items of the page in hand. */
static void walk_deliver_part(void *arg)
{
    struct walk *walk = arg;
    struct page *rest = &walk->rest, part = *rest;
    struct page_owner *owner = NULL;
    walk->timer = NULL;
    part.age_ms += loop_now_ms(walk->from.loop) - walk->rest_since_ms;
    if (part.item_count > walk->from.part_items) {
        part.item_count = walk->from.part_items;
        part.scanned = part.scanned > 0 ? part.item_count : 0;
        part.more = true;
    } else {
        owner = walk->rest_owner;
        walk->rest_owner = NULL;
    }
    rest->items += part.item_count;
    rest->item_count -= part.item_count;
    rest->scanned -= part.scanned;
    rest->continues = true;
    rest->requests = 0;
    rest->capacity = -1;
    rest->doubted = 0;
    rest->throttled = NULL;
    walk->fn(walk->arg, &part, NULL); /* may end the walk */
    if (owner)
        owner->release(owner);
}

/* Items that are read again have slices of their own. The walk's own items stay by themselves. */
static void walk_deliver(struct walk *walk, const struct page *page)
{
    bool is_own = walk->replayed, can_be_stored = page->owner && *page->owner;
    if (page->item_count <= walk->from.part_items || walk->from.part_items == 0 ||
        walk_needs_items(walk) || (!is_own && !can_be_stored)) {
        walk->fn(walk->arg, page, NULL);
        return;
    }
    if (!is_own) {
        walk->rest_owner = *page->owner;
        *page->owner = NULL;
    }
    walk->rest = *page;
    walk->rest.owner = NULL;
    walk->rest.position = (struct json){0};
    walk->rest_since_ms = loop_now_ms(walk->from.loop);
    snprintf(walk->request_id, sizeof walk->request_id, "%s", page->request_id);
    walk->rest.request_id = walk->request_id;
    walk_deliver_part(walk);
}

static void walk_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct walk *walk = arg;
    if (err) {
        walk_drop_recording(walk);
        walk->fn(walk->arg, NULL, err);
        return;
    }
    walk->more = page->more;
    throttles_join(&walk->throttled, page->throttled);
    if (walk->recorded) {
        size_t before = walk->recorded->memory, size = walk_page_size(page);
        bool fits = walk->from.walks->recorded + size <= walk->from.walks->most;
        walk_check_recording(walk, fits && walk_transcript_add_page(walk->recorded, page, size),
                             before);
    }
    walk_deliver(walk, page);
}

static bool walk_request(struct walk *walk, struct error *err)
{
    const struct walk_from *from = &walk->from;
    struct clock *clock = loop_clock(from->loop);
    walk->since_ms = clock->now_ms(clock);
    walk->since_wall_ms = clock->wall_ms(clock);
    walk->call = source_start(from->source, from->plan->query, from->payer, walk_take_page, walk);
    if (walk->call && walk->reads_all)
        source_read_all(walk->call);
    if (walk->call && walk->key.size > 0)
        walk_begin_recording(walk, walk->since_ms, walk->since_wall_ms);
    return walk->call || error_no_memory(err);
}

/* Fills in the next page of the transcript. False when memory ran out. */
static bool walk_make_page(struct walk *walk, struct page *out)
{
    const struct walk_transcript *transcript = walk->replayed;
    struct walk_page *page = transcript->pages[walk->at++];
    json_clean_up(&walk->doc);
    free(walk->items);
    walk->items = calloc(page->item_count + 1, sizeof *walk->items);
    /* The text was valid JSON before: parsing fails only without memory. */
    if (!json_parse(&walk->doc, span_of(page->text, page->size), JSON_STRICT, NULL) || !walk->items)
        return false;
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
    if (walk->recorded) {
        size_t before = walk->recorded->memory;
        walk_check_recording(walk, walk_transcript_share(walk->recorded, page), before);
    }
    return true;
}

/* A reader that needs a page behind the transcript's last one gets an error, and the next reader
 * sends a request: no listing is cut short in silence. */
static void walk_report_page(void *arg)
{
    struct walk *walk = arg;
    struct error why;
    struct page page = {0};
    walk->timer = NULL;
    bool ok = walk->at < walk->replayed->page_count;
    if (!ok) {
        cache_forget(walk->from.walks->cache, buf_span(&walk->key));
        error_set(&why, ERROR_SERVICE,
                  "the listing has more pages than were read of it a moment ago; list it again");
    } else if (!walk_make_page(walk, &page)) {
        ok = error_no_memory(&why);
    }
    if (ok)
        walk_deliver(walk, &page);
    else
        walk->fn(walk->arg, NULL, &why);
}

/* Whether TRANSCRIPT has all that WALK may want. A listing of N keys may end sooner than one that
 * reads the items, since some of these may no longer exist. */
static bool walk_is_served(const struct walk *walk, const struct walk_transcript *transcript)
{
    return walk_is_fresh(walk, transcript->since_ms) &&
           (transcript->read_again || transcript->ended || !walk_needs_items(walk));
}

/* Another walk that will have read all pages that WALK wants, and for which WALK may wait. Of a
 * query with a limit, a walk that reads keys alone may end before one that needs items. */
static struct walk *walk_find_steady(const struct walk *walk)
{
    bool keys_suffice = !walk_needs_items(walk) || walk->from.plan->query->limit == 0;
    LIST_EACH (struct walk, each, &walk->from.walks->walks, node)
        if (each->recorded && each->call && each->from.steady &&
            walk_is_fresh(walk, each->since_ms) && (walk_needs_items(each) || keys_suffice) &&
            span_equal(buf_span(&each->key), buf_span(&walk->key)))
            return each;
    return NULL;
}

static bool walk_begin(struct walk *walk, struct error *err)
{
    if (walk->key.size == 0)
        return walk_request(walk, err);
    struct walk_transcript *known = cache_find(walk->from.walks->cache, buf_span(&walk->key));
    if (!known || !walk_is_served(walk, known)) {
        walk->awaited = walk->has_waited ? NULL : walk_find_steady(walk);
        walk->has_waited = true;
        return walk->awaited || walk_request(walk, err);
    }
    walk->timer = loop_add_timer(walk->from.loop, 0, walk_report_page, walk);
    if (!walk->timer)
        return error_no_memory(err);
    walk_transcript_ref(known);
    walk->replayed = known;
    throttles_join(&walk->throttled, known->throttled);
    if (walk_needs_items(walk) && !known->read_again)
        walk_begin_recording(walk, known->since_ms, known->since_wall_ms);
    return true;
}

/* The key identifies the query, its source, and the key attributes that take items apart.
 * - A transcript has only those hydrated items that count for their path: another path with the
 * same query would take the others for deleted ones.
 * - A listing of N entries ends with the page that completes them: another path may leave out some
 *   of these, and would lack further pages. */
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

/* Selections and counts are not recorded. */
static bool walk_is_shared(const struct walk_from *from)
{
    const struct plan *plan = from->plan;
    return from->walks && plan->pattern->ttl_ms > 0 && !plan->selection && !plan->counts;
}

bool walk_is_known(const struct walk_from *from)
{
    struct walk walk = {.from = *from};
    const struct walk_transcript *known = NULL;
    if (walk_is_shared(from) && walk_write_key(&walk))
        known = cache_find(from->walks->cache, buf_span(&walk.key));
    bool is_known =
        known && walk_is_served(&walk, known) && (known->read_again || !walk_needs_items(&walk));
    buf_clean_up(&walk.key);
    return is_known;
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
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk) {
        error_no_memory(err);
        return NULL;
    }
    *walk = (struct walk){.from = *from, .fn = fn, .arg = arg};
    if (from->walks)
        list_prepend(&from->walks->walks, &walk->node);
    bool ok = walk_is_shared(from) && !walk_write_key(walk) ? error_no_memory(err)
                                                            : walk_begin(walk, err);
    if (ok)
        return walk;
    walk_end(walk);
    return NULL;
}

void walk_read_all(struct walk *walk)
{
    walk->reads_all = true;
    if (walk->call)
        source_read_all(walk->call);
}

void walk_more(struct walk *walk)
{
    struct error why;
    bool has_rest = walk->rest.item_count > 0;
    if (walk->call && !has_rest) {
        source_more(walk->call);
        return;
    }
    walk->timer =
        loop_add_timer(walk->from.loop, 0, has_rest ? walk_deliver_part : walk_report_page, walk);
    if (walk->timer)
        return;
    error_no_memory(&why);
    walk->fn(walk->arg, NULL, &why);
}

void walk_end(struct walk *walk)
{
    if (!walk)
        return;
    if (walk->call)
        source_end(walk->call);
    walk->call = NULL;
    walk_drop_recording(walk);
    list_remove(&walk->node);
    loop_remove_timer(walk->timer);
    if (walk->rest_owner)
        walk->rest_owner->release(walk->rest_owner);
    json_clean_up(&walk->doc);
    free(walk->items);
    walk_transcript_unref(walk->replayed);
    throttles_unref(walk->throttled);
    buf_clean_up(&walk->key);
    free(walk);
}

struct walk_cost *walk_own_cost(struct walk *walk)
{
    return &walk->cost;
}

struct throttles **walk_throttled(struct walk *walk)
{
    return &walk->throttled;
}

const struct walk_cost *walk_known_cost(const struct walk *walk)
{
    if (walk->replayed && walk->replayed->read_again)
        return &walk->replayed->cost;
    return walk->cost.requests > 0 ? &walk->cost : NULL;
}

void walk_conclude(struct walk *walk)
{
    struct walks *walks = walk->from.walks;
    struct walk_transcript *transcript = walk->recorded;
    if (!transcript)
        return;
    transcript->ended = !walk->more;
    transcript->read_again = walk_needs_items(walk);
    transcript->cost = walk->cost;
    transcript->throttled = throttles_ref(walk->throttled);
    transcript->took_ms = walk_age(walk).took_ms;
    if (transcript->item_count > 0)
        qsort(transcript->items, transcript->item_count, sizeof *transcript->items,
              walk_order_items);
    walk->recorded = NULL;
    walk_charge(walks, 0, transcript->memory);
    transcript->memory += throttles_memory(transcript->throttled);
    int64_t left_ms = transcript->since_ms + plan_ttl_ms(walk->from.plan, walk->from.source) -
                      loop_now_ms(walks->loop);
    if (left_ms > 0) {
        const struct cache_value value = {transcript, walk_transcript_ref, walk_transcript_unref,
                                          transcript->memory};
        cache_store(walks->cache, buf_span(&walk->key), &value);
        walk_expect_expiry(walks, transcript, buf_span(&walk->key), left_ms);
    }
    walk_transcript_unref(transcript);
    walk_wake_waiting(walks, walk);
}

const struct walk_transcript *walk_items(const struct walk *walk)
{
    return walk->replayed && walk->replayed->read_again ? walk->replayed : NULL;
}

struct walk_age walk_age(const struct walk *walk)
{
    const struct walk_transcript *replayed = walk->replayed;
    if (replayed)
        return (struct walk_age){true, walk->is_dropped, replayed->since_ms,
                                 replayed->since_wall_ms, replayed->took_ms};
    return (struct walk_age){.is_dropped = walk->is_dropped,
                             .since_ms = walk->since_ms,
                             .since_wall_ms = walk->since_wall_ms,
                             .took_ms = loop_now_ms(walk->from.loop) - walk->since_ms};
}
