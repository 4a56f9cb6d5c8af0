/* Long queries that are read in ranges: the front, then parts of one page each. Several are
 * requested at the same time, and all are delivered in their order. */
#include "core/source/ranges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/list.h"
#include "core/item/item.h"
#include "core/item/typed.h"
#include "core/source/key_scale.h"
#include "core/source/range_bounds.h"
#include "core/source/retries.h"

enum {
    PAGES_BEFORE = 2,    /* slow pages before the last key is requested */
    LEAST_LEFT = 6,      /* pages that must be left, by the estimate */
    WIDTH = 3,           /* parts that are under way or wait for their delivery */
    SAMPLES_A_PAGE = 16, /* sort keys of a page that the scale gets */
    SLOW_IN_ROW = 3,     /* pages that take as long as if they were read one by one */
    SPARE = 8,           /* see ranges_check_waste */
    REST_MS = 60000,     /* after requests beside each other did not pay */
};

static const double FULL = 0.88; /* of a page: the expected size of a part */
static const double WHOLE = 1.3; /* pages that are not divided any more */
static const double SLOWER =
    1.7; /* a page beside a request, by one alone: the server queues them */
static const double NO_GAIN = 0.8; /* of the time that the pages would take one by one */

struct ranges {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct loop *loop;
    int64_t slow_ms;
    int64_t rests_until_ms; /* no query is divided before */
    uint64_t begun;         /* queries that were divided */
};

/* A sort key of the query. */
struct ranges_key {
    struct arena arena;
    struct value value;
    bool known;
};

enum part_state {
    PART_WAITS, /* it is not requested */
    PART_SENT,  /* its page is under way */
    PART_CAME,  /* its page is stored */
    PART_HALTS, /* its next page is requested when the reader wants it */
};

struct ranges_part {
    struct list_node node;
    struct ranges_call *call;
    enum part_state state;
    struct arena arena; /* of the bounds */
    struct range_bounds bounds;
    struct read *read; /* owned */
    struct source_call *inner;
    /* The page that came. */
    struct page_owner *owner; /* owned; NULL: no page is stored */
    const struct json *items;
    size_t item_count, scanned;
    bool more; /* of the part */
    int64_t came_ms;
    char request_id[64];
};

enum ranges_state {
    RANGES_OTHER, /* a Read that is passed on unchanged */
    RANGES_FRONT, /* the query itself, page by page */
    RANGES_PARTS,
};

struct ranges_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    enum ranges_state state;
    struct source_call *front; /* owned */
    struct source_call *probe; /* owned: it reads the last key */
    struct read *last_read;    /* owned: of PROBE */
    bool probed;               /* the probe has been sent */
    bool decided;              /* whether the query is divided */
    bool all_wanted;
    bool is_waiting;          /* the caller waits for a page */
    struct loop_timer *timer; /* until a stored page is delivered */

    struct ranges_key first, at, last; /* the first key; the last delivered; the last of all */
    struct key_scale scale;
    size_t pages, items; /* of the front; items that were read */
    unsigned slow;       /* the number of slow pages in a row */
    int64_t least_ms;    /* the fastest page of the front */
    int64_t beside_ms;   /* the slowest request while the probe was under way */

    struct list parts;                  /* of struct ranges_part, in the order of the query */
    struct arena arena;                 /* of BOUNDS */
    struct range_bounds bounds;         /* of the query */
    unsigned width;                     /* 1: the parts are read one after the other */
    double recent_filled, recent_width; /* pages, and the distance that they cover */
    double density;                     /* pages, by the distance on the scale */
    double requested, filled;           /* parts; pages that they filled */
    unsigned slow_parts;                /* pages in a row that were no faster than one by one */

    unsigned requests; /* that no page has counted yet; and their consumption */
    struct spent spent;
    struct throttles *throttled; /* owned: likewise */
    size_t scanned;              /* items that were read for pages that were not delivered */
    bool scanned_twice;          /* a filter hides how many items were read twice */
};

static struct ranges *ranges_of(const struct ranges_call *call)
{
    return (struct ranges *)call->base.source;
}

static void ranges_step(struct ranges_call *call);

/* Keys. */

/* False, with KEY unchanged, when ITEM lacks the sort key, or memory ran out. */
static bool ranges_set_key(struct ranges_key *key, const struct read *read, struct json item)
{
    struct ranges_key set = {.known = true};
    if (!typed_scalar(item_attribute(item, read->sort[0]), &set.arena, &set.value) ||
        set.arena.failed) {
        arena_clean_up(&set.arena);
        return false;
    }
    set.value.bytes = arena_copy(&set.arena, set.value.bytes);
    if (set.arena.failed) {
        arena_clean_up(&set.arena);
        return false;
    }
    arena_clean_up(&key->arena);
    *key = set;
    return true;
}

/* In the order of the query: < 0 when A comes before B. */
static int ranges_compare(const struct ranges_call *call, struct value a, struct value b)
{
    int order = value_compare(a, b);
    return call->base.read->descending ? -order : order;
}

/* Whether ITEM is the query's, and behind all that was delivered. */
static bool ranges_is_next(const struct ranges_call *call, struct json item)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct cond *cond = read_sort_cond(call->base.read);
    struct value key;
    return typed_scalar(item_attribute(item, call->base.read->sort[0]), &arena, &key) &&
           ranges_compare(call, key, call->at.value) > 0 && (!cond || cond_admits(cond, key));
}

/* Parts. */

static void ranges_drop_page(struct ranges_part *part)
{
    if (part->owner)
        part->owner->release(part->owner);
    part->owner = NULL;
}

static void ranges_end_inner(struct ranges_part *part)
{
    source_end(part->inner);
    read_destroy(part->read);
    part->inner = NULL;
    part->read = NULL;
}

static void ranges_remove_part(struct ranges_part *part)
{
    ranges_end_inner(part);
    ranges_drop_page(part);
    list_remove(&part->node);
    arena_clean_up(&part->arena);
    free(part);
}

static struct ranges_part *ranges_first_part(const struct ranges_call *call)
{
    return LIST_FIRST(&call->parts, struct ranges_part, node);
}

/* Adds a part behind BEFORE (NULL: the first). NULL when memory ran out. */
static struct ranges_part *ranges_add_part(struct ranges_call *call, struct ranges_part *before,
                                           const struct range_bounds *bounds)
{
    struct ranges_part *part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->call = call;
    part->bounds = *bounds;
    part->bounds.low.bytes = arena_copy(&part->arena, bounds->low.bytes);
    part->bounds.high.bytes = arena_copy(&part->arena, bounds->high.bytes);
    if (part->arena.failed) {
        arena_clean_up(&part->arena);
        free(part);
        return NULL;
    }
    list_insert(&call->parts, before ? &before->node : NULL, &part->node);
    return part;
}

/* Ends the part BOUNDS at KEY in the order of the query; REST (may be NULL) begins there. */
static void ranges_divide_bounds(const struct ranges_call *call, struct range_bounds *bounds,
                                 struct value key, struct range_bounds *rest)
{
    bool descending = call->base.read->descending;
    struct range_bounds behind = *bounds;
    *(descending ? &bounds->has_low : &bounds->has_high) = true;
    *(descending ? &bounds->low : &bounds->high) = key;
    *(descending ? &behind.has_high : &behind.has_low) = true;
    *(descending ? &behind.high : &behind.low) = key;
    if (rest)
        *rest = behind;
}

/* The distance on the scale between KEY and the far end of BOUNDS; it is 0 beyond the last key. */
static double ranges_left(const struct ranges_call *call, const struct range_bounds *bounds,
                          struct value key)
{
    bool descending = call->base.read->descending;
    bool has_end = descending ? bounds->has_low : bounds->has_high;
    struct value end = descending ? bounds->low : bounds->high;
    if (!has_end || ranges_compare(call, end, call->last.value) > 0)
        end = call->last.value;
    double left = key_scale_place(&call->scale, end) - key_scale_place(&call->scale, key);
    left = descending ? -left : left;
    return left > 0 ? left : 0;
}

static struct value ranges_near_end(const struct ranges_call *call,
                                    const struct range_bounds *bounds)
{
    return call->base.read->descending ? bounds->high : bounds->low;
}

/* Divides PART if more than a page is expected in it. Without memory it stays as it is. */
static void ranges_divide_part(struct ranges_call *call, struct ranges_part *part)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct range_bounds head = part->bounds, rest;
    struct value near_end = ranges_near_end(call, &part->bounds), cut;
    double left = ranges_left(call, &part->bounds, near_end);
    double step = (call->base.read->descending ? -FULL : FULL) / call->density;
    if (left * call->density <= WHOLE ||
        !key_scale_cut(&call->scale, key_scale_place(&call->scale, near_end) + step, &arena, &cut))
        return;
    ranges_divide_bounds(call, &head, cut, &rest);
    bool is_between =
        ranges_compare(call, cut, near_end) > 0 &&
        ranges_compare(call, cut, call->last.value) < 0 &&
        (!(call->base.read->descending ? part->bounds.has_low : part->bounds.has_high) ||
         ranges_compare(call, cut,
                        call->base.read->descending ? part->bounds.low : part->bounds.high) < 0);
    if (!is_between || !ranges_add_part(call, part, &rest))
        return;
    part->bounds = head;
    struct value *end = call->base.read->descending ? &part->bounds.low : &part->bounds.high;
    end->bytes = arena_copy(&part->arena, cut.bytes);
}

/* From here on the parts are read one after the other. Those that are not requested are joined. */
static void ranges_stop(struct ranges_call *call)
{
    bool descending = call->base.read->descending;
    call->width = 1;
    LIST_EACH (struct ranges_part, part, &call->parts, node) {
        struct ranges_part *next;
        while (part->state == PART_WAITS &&
               (next = LIST_NEXT(part, struct ranges_part, node)) != NULL &&
               next->state == PART_WAITS) {
            struct value *end = descending ? &part->bounds.low : &part->bounds.high;
            *end = descending ? next->bounds.low : next->bounds.high;
            end->bytes = arena_copy(&part->arena, end->bytes);
            if (descending)
                part->bounds.has_low = next->bounds.has_low;
            else
                part->bounds.has_high = next->bounds.has_high;
            ranges_remove_part(next);
        }
    }
}

static void ranges_stop_and_rest(struct ranges_call *call)
{
    struct ranges *ranges = ranges_of(call);
    ranges->rests_until_ms = loop_now_ms(ranges->loop) + REST_MS;
    ranges_stop(call);
}

/* The end of a page. */

static void ranges_deliver_error(struct ranges_call *call, const struct error *err)
{
    struct error copy = *err; /* FN may end the call */
    call->is_waiting = false;
    call->base.fn(call->base.arg, NULL, &copy);
}

static void ranges_deliver_no_memory(struct ranges_call *call)
{
    struct error err;
    error_no_memory(&err);
    ranges_deliver_error(call, &err);
}

/* Delivers PAGE. It counts all that was consumed since the last page. */
static void ranges_deliver(struct ranges_call *call, struct page *page)
{
    page->requests += call->requests;
    if (call->spent.units > 0)
        page->capacity = call->spent.units + (page->capacity > 0 ? page->capacity : 0);
    page->doubted += call->spent.doubted;
    CLEAN_UP(throttles_clean_up) struct throttles *throttled = call->throttled;
    call->throttled = NULL;
    throttles_join(&throttled, page->throttled);
    page->throttled = throttled;
    if (call->scanned > 0)
        page->scanned = call->scanned + (page->scanned ? page->scanned : page->item_count);
    page->scanned_twice = call->scanned_twice;
    call->requests = 0;
    call->spent = (struct spent){0};
    call->scanned = 0;
    call->is_waiting = false;
    call->base.fn(call->base.arg, page, NULL);
}

/* Leaves out the items of PART's page that were delivered before it, or that are not the query's.
 * False when an item has no sort key, or memory ran out. */
static bool ranges_trim(struct ranges_call *call, struct ranges_part *part)
{
    size_t before = part->item_count;
    while (part->item_count > 0 && !ranges_is_next(call, part->items[0])) {
        part->items++;
        part->item_count--;
    }
    while (part->item_count > 0 && !ranges_is_next(call, part->items[part->item_count - 1]))
        part->item_count--;
    if (call->base.read->filter_count == 0)
        part->scanned = part->item_count;
    else if (part->item_count < before)
        call->scanned_twice = true;
    return part->item_count == 0 ||
           ranges_set_key(&call->at, call->base.read, part->items[part->item_count - 1]);
}

/* Delivers the stored page of PART, which is the first; or drops it if it has no items and is not
 * the last one. Returns false in that case. */
static bool ranges_deliver_part(struct ranges_call *call, struct ranges_part *part)
{
    if (!ranges_trim(call, part)) {
        ranges_deliver_no_memory(call);
        return true;
    }
    struct page page = {
        .items = part->items,
        .item_count = part->item_count,
        .scanned = part->scanned,
        .capacity = -1,
        .age_ms = loop_now_ms(ranges_of(call)->loop) - part->came_ms,
    };
    struct page_owner *owner = part->owner;
    char request_id[sizeof part->request_id];
    memcpy(request_id, part->request_id, sizeof request_id);
    page.request_id = request_id;
    part->owner = NULL;
    part->state = PART_HALTS;
    if (!part->more)
        ranges_remove_part(part);
    page.more = !list_is_empty(&call->parts);
    page.owner = &owner;
    bool delivers = page.item_count > 0 || !page.more;
    if (delivers) {
        call->is_waiting = false;
        ranges_step(call); /* further requests leave before the page is processed */
        ranges_deliver(call, &page);
    } else {
        call->scanned += page.scanned;
    }
    if (owner)
        owner->release(owner);
    return delivers;
}

/* Pages of parts. */

/* FILLED pages are on WIDTH of the scale; IS_FULL: at least. The mean is one of the last few parts:
 * a gap is passed in steps that grow, and is left at once when keys come. */
static void ranges_learn_density(struct ranges_call *call, double filled, double width,
                                 bool is_full)
{
    bool is_denser = is_full && filled > call->density * width;
    call->recent_filled = (is_denser ? 0 : call->recent_filled / 2) + filled;
    call->recent_width = (is_denser ? 0 : call->recent_width / 2) + width;
    call->density = call->recent_filled / call->recent_width;
}

/* The part of PAGE, which reaches to KEY (NULL: to the part's end), in pages: learns how dense the
 * keys are, and whether requests beside each other pay. */
static void ranges_learn(struct ranges_call *call, const struct ranges_part *part,
                         const struct page *page, const struct value *key)
{
    size_t scanned = page->scanned ? page->scanned : page->item_count;
    double filled = page->more ? 1 : (double)scanned * (double)call->pages / (double)call->items;
    struct value near_end = ranges_near_end(call, &part->bounds);
    double width = ranges_left(call, &part->bounds, near_end);
    if (key)
        width -= ranges_left(call, &part->bounds, *key);
    if (width > 0)
        ranges_learn_density(call, filled, width, page->more);
    call->filled += filled;
    bool is_slow = (double)page->took_ms >= NO_GAIN * call->width * (double)call->least_ms;
    if (filled >= 0.5 && ranges_of(call)->slow_ms > 0)
        call->slow_parts = is_slow ? call->slow_parts + 1 : 0;
    if (!retries_allow_extra(page))
        ranges_stop(call);
    else if (call->slow_parts >= SLOW_IN_ROW)
        ranges_stop_and_rest(call);
}

/* Stores PAGE. The rest of its part becomes a part of its own, so that it is divided anew. False
 * when PAGE cannot be stored. */
static bool ranges_store(struct ranges_call *call, struct ranges_part *part,
                         const struct page *page)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct range_bounds head = part->bounds, rest;
    struct value key;
    if (!page->owner || !*page->owner ||
        (page->more &&
         !typed_scalar(item_attribute(page->position, call->base.read->sort[0]), &arena, &key)))
        return false;
    ranges_learn(call, part, page, page->more ? &key : NULL);
    part->more = page->more;
    bool gets_on = page->more && ranges_compare(call, key, ranges_near_end(call, &head)) > 0;
    if (gets_on && call->width > 1) {
        ranges_divide_bounds(call, &head, key, &rest);
        part->more = !ranges_add_part(call, part, &rest);
    }
    part->owner = *page->owner;
    *page->owner = NULL;
    part->items = page->items;
    part->item_count = page->item_count;
    part->scanned = page->scanned;
    part->came_ms = loop_now_ms(ranges_of(call)->loop);
    part->state = PART_CAME;
    snprintf(part->request_id, sizeof part->request_id, "%s", page->request_id);
    if (!part->more)
        ranges_end_inner(part);
    else if (call->width == 1)
        source_read_all(part->inner);
    return true;
}

/* Requests for parts of a page each may be half as many again as pages: where the keys are so
 * uneven that they are more, the parts are read one after the other. */
static void ranges_check_waste(struct ranges_call *call)
{
    if (call->requested > 2 * call->filled + SPARE)
        ranges_stop(call);
}

/* A request that is not repeated has failed with ERR. */
static void ranges_count_throttled(struct ranges_call *call, const struct error *err)
{
    for (size_t i = 0; i < err->throttle_count; i++)
        throttles_add(&call->throttled, &err->throttles[i], 1);
}

/* A failed request is repeated when its part is the first, and fails the query only then. */
static void ranges_take_part(void *arg, const struct page *page, const struct error *err)
{
    struct ranges_part *part = arg;
    struct ranges_call *call = part->call;
    struct error why;
    bool is_optional = part->read->once;
    if (page) {
        call->requests += page->requests;
        source_add_page(&call->spent, page);
        throttles_join(&call->throttled, page->throttled);
    } else if (is_optional) {
        call->requests++;
        ranges_count_throttled(call, err);
    }
    if (page && ranges_store(call, part, page)) {
        ranges_check_waste(call);
        ranges_step(call);
        return;
    }
    if (err)
        why = *err;
    else
        error_no_memory(&why);
    ranges_end_inner(part);
    part->state = PART_WAITS;
    ranges_stop(call);
    if (is_optional || !call->is_waiting)
        ranges_step(call);
    else
        ranges_deliver_error(call, &why);
}

/* Requests. */

/* Without memory the part stays unrequested. */
static bool ranges_send(struct ranges_call *call, struct ranges_part *part)
{
    bool is_first = part == ranges_first_part(call);
    if (call->width > 1)
        ranges_divide_part(call, part);
    part->read = range_bounds_read(&part->bounds, call->base.read);
    if (!part->read || part->arena.failed)
        return false;
    part->read->once = !is_first; /* it is requested again as the first, if that fails */
    part->state = PART_SENT;
    part->inner = source_start(call->base.source->inner, part->read, call->base.payer,
                               ranges_take_part, part);
    if (!part->inner) {
        part->state = PART_WAITS;
        ranges_end_inner(part);
        return false;
    }
    if (call->width == 1)
        source_read_all(part->inner);
    call->requested++;
    return true;
}

/* Requests parts, up to the width. A payer with a limit pays for one at a time, when the caller
 * waits for it. */
static void ranges_fill(struct ranges_call *call)
{
    unsigned busy = 0;
    if (call->width > 1 && !isinf(payer_left(call->base.payer)))
        ranges_stop(call);
    LIST_EACH (struct ranges_part, part, &call->parts, node)
        busy += part->state != PART_WAITS;
    LIST_EACH (struct ranges_part, part, &call->parts, node) {
        bool is_first = part == ranges_first_part(call);
        bool is_due = call->width > 1 || (is_first && call->is_waiting);
        if (part->state != PART_WAITS)
            continue;
        if (busy++ >= call->width || !is_due || !ranges_send(call, part))
            break;
    }
}

/* Delivers the next page if the caller waits for it and it has come, and requests others. */
static void ranges_step(struct ranges_call *call)
{
    struct ranges_part *first;
    ranges_fill(call);
    while (call->is_waiting && (first = ranges_first_part(call))) {
        if (first->state == PART_HALTS) {
            first->state = PART_SENT;
            source_more(first->inner);
        } else if (first->state == PART_WAITS && !ranges_send(call, first)) {
            ranges_deliver_no_memory(call);
            return;
        }
        if (first->state != PART_CAME || ranges_deliver_part(call, first))
            return;
        ranges_fill(call);
    }
}

/* The front. */

static void ranges_end_probe(struct ranges_call *call)
{
    source_end(call->probe);
    read_destroy(call->last_read);
    call->probe = NULL;
    call->last_read = NULL;
}

static void ranges_take_last(void *arg, const struct page *page, const struct error *err)
{
    struct ranges_call *call = arg;
    call->requests += page ? page->requests : 1;
    if (err)
        ranges_count_throttled(call, err);
    if (page) {
        source_add_page(&call->spent, page);
        throttles_join(&call->throttled, page->throttled);
        if (page->took_ms > call->beside_ms)
            call->beside_ms = page->took_ms;
        if (page->item_count > 0)
            ranges_set_key(&call->last, call->base.read, page->items[0]);
    }
    ranges_end_probe(call);
    if (call->state == RANGES_FRONT && !call->last.known && call->front)
        source_read_all(call->front);
    if (call->state == RANGES_PARTS && call->is_waiting) {
        struct page nothing = {.capacity = -1, .request_id = ""};
        ranges_deliver(call, &nothing);
    }
}

/* Requests the last key of the query: one item, without the filter. */
static void ranges_send_probe(struct ranges_call *call)
{
    struct read *read = read_copy(call->base.read, NULL);
    call->probed = true;
    if (!read)
        return;
    read->descending = !read->descending;
    read->limit = 1;
    read->once = true;
    read->filter_count = 0;
    read->attribute_count = 0;
    read_add_attribute(read, read->sort[0]);
    call->last_read = read;
    if (!read_failed(read))
        call->probe =
            source_start(call->base.source->inner, read, call->base.payer, ranges_take_last, call);
    if (call->probe)
        source_read_some(call->front); /* its next page may be the last that it reads */
    else
        ranges_end_probe(call);
}

/* Whether the last pages show that requests beside each other are worth it. */
static bool ranges_may_probe(const struct ranges_call *call)
{
    const struct ranges *ranges = ranges_of(call);
    return !call->probed && call->all_wanted && call->slow >= PAGES_BEFORE && call->first.known &&
           call->at.known && isinf(payer_left(call->base.payer)) &&
           loop_now_ms(ranges->loop) >= ranges->rests_until_ms;
}

/* Divides the rest of the query, behind the front, if it is large enough by the estimate. */
static bool ranges_begin_parts(struct ranges_call *call)
{
    double from, at, last;
    struct range_bounds rest;
    if (!range_bounds_of(call->base.read, &call->arena, &call->bounds) ||
        !key_scale_set(&call->scale, call->first.value, call->at.value, call->last.value))
        return false;
    from = key_scale_place(&call->scale, call->first.value);
    at = key_scale_place(&call->scale, call->at.value);
    last = key_scale_place(&call->scale, call->last.value);
    call->recent_filled = (double)call->pages;
    call->recent_width = fabs(at - from);
    call->density = at == from ? 0 : call->recent_filled / call->recent_width;
    if (call->items == 0 || fabs(last - at) * call->density < LEAST_LEFT)
        return false;
    ranges_divide_bounds(call, &call->bounds, call->at.value, &rest);
    if (!ranges_add_part(call, NULL, &rest))
        return false;
    source_end(call->front);
    call->front = NULL;
    call->state = RANGES_PARTS;
    call->width = WIDTH;
    call->filled = (double)call->pages;
    call->scanned_twice = call->base.read->filter_count > 0;
    ranges_of(call)->begun++;
    return true;
}

/* The last key is known, and the front has no page under way. If the request for the key made a
 * page slower, the server answers one request at a time. */
static void ranges_decide(struct ranges_call *call)
{
    struct ranges *ranges = ranges_of(call);
    bool queues = ranges->slow_ms > 0 && (double)call->beside_ms > SLOWER * (double)call->least_ms;
    if (queues)
        ranges->rests_until_ms = loop_now_ms(ranges->loop) + REST_MS;
    if (queues || !call->all_wanted || !call->at.known || !ranges_begin_parts(call))
        source_read_all(call->front);
    else
        ranges_fill(call);
    call->decided = true;
}

/* Notes the keys, the size and the time of a page of the front. */
static void ranges_note_front(struct ranges_call *call, const struct page *page)
{
    const struct read *read = call->base.read;
    bool is_slow = page->took_ms >= ranges_of(call)->slow_ms && page->requests == 1;
    bool can_be_stored = page->owner && *page->owner;
    call->pages++;
    call->items += page->scanned ? page->scanned : page->item_count;
    call->slow = is_slow && can_be_stored ? call->slow + 1 : 0;
    int64_t *slowest = &call->beside_ms;
    if (call->probed && page->took_ms > *slowest)
        *slowest = page->took_ms;
    else if (!call->probed && (call->pages == 1 || page->took_ms < call->least_ms))
        call->least_ms = page->took_ms;
    if (!call->first.known && page->item_count > 0)
        ranges_set_key(&call->first, read, page->items[0]);
    if (!ranges_set_key(&call->at, read, page->position))
        call->at.known = false;
    for (size_t i = 0; !call->probed && i < SAMPLES_A_PAGE && page->item_count > 0; i++) {
        struct ranges_key key = {0};
        if (ranges_set_key(&key, read, page->items[i * page->item_count / SAMPLES_A_PAGE]))
            key_scale_add(&call->scale, key.value);
        arena_clean_up(&key.arena);
    }
}

static void ranges_take_front(void *arg, const struct page *page, const struct error *err)
{
    struct ranges_call *call = arg;
    if (err) {
        ranges_deliver_error(call, err);
        return;
    }
    struct page own = *page;
    if (page->more) {
        ranges_note_front(call, page);
        if (call->last.known && !call->decided)
            ranges_decide(call);
        else if (ranges_may_probe(call))
            ranges_send_probe(call);
    } else if (call->probe) { /* its response must be counted */
        own.more = true;
        call->state = RANGES_PARTS;
    }
    ranges_deliver(call, &own);
}

/* The source. */

static void ranges_end(struct source_call *base)
{
    struct ranges_call *call = (struct ranges_call *)base;
    struct ranges_part *part;
    loop_remove_timer(call->timer);
    throttles_unref(call->throttled);
    while ((part = ranges_first_part(call)))
        ranges_remove_part(part);
    source_end(call->front);
    ranges_end_probe(call);
    arena_clean_up(&call->first.arena);
    arena_clean_up(&call->at.arena);
    arena_clean_up(&call->last.arena);
    arena_clean_up(&call->arena);
}

static bool ranges_start(struct source_call *base)
{
    struct ranges_call *call = (struct ranges_call *)base;
    bool divides = read_is_divisible(base->read);
    call->state = divides ? RANGES_FRONT : RANGES_OTHER;
    call->is_waiting = true;
    call->front = source_start(base->source->inner, base->read, base->payer,
                               divides ? ranges_take_front : base->fn, divides ? call : base->arg);
    return call->front;
}

static void ranges_on_timer(void *arg)
{
    struct ranges_call *call = arg;
    call->timer = NULL;
    if (list_is_empty(&call->parts) && call->is_waiting && !call->probe) {
        struct page nothing = {.capacity = -1, .request_id = ""};
        ranges_deliver(call, &nothing);
        return;
    }
    ranges_step(call);
}

static void ranges_more(struct source_call *base)
{
    struct ranges_call *call = (struct ranges_call *)base;
    call->is_waiting = true;
    if (call->state != RANGES_PARTS) {
        source_more(call->front);
        return;
    }
    if (!call->timer)
        call->timer = loop_add_timer(ranges_of(call)->loop, 0, ranges_on_timer, call);
    if (!call->timer)
        ranges_deliver_no_memory(call);
}

static void ranges_read_all(struct source_call *base, bool all)
{
    struct ranges_call *call = (struct ranges_call *)base;
    call->all_wanted = all;
    if (!call->front)
        return;
    if (all)
        source_read_all(call->front);
    else
        source_read_some(call->front);
}

static void ranges_destroy(struct source *source)
{
    free(source);
}

static void ranges_add_stats(const struct source *source, struct source_stats *sum)
{
    sum->parallel += ((const struct ranges *)source)->begun;
}

struct source *ranges_new(const struct ranges_options *options)
{
    static const struct source_ops ops = {
        .layer = SOURCE_RANGES,
        .call_size = sizeof(struct ranges_call),
        .start = ranges_start,
        .more = ranges_more,
        .read_all = ranges_read_all,
        .end = ranges_end,
        .destroy = ranges_destroy,
        .add_stats = ranges_add_stats,
    };
    struct ranges *ranges = calloc(1, sizeof *ranges);
    if (!ranges)
        return NULL;
    *ranges = (struct ranges){.source = {.ops = &ops, .inner = options->source},
                              .loop = options->loop,
                              .slow_ms = options->slow_ms};
    return &ranges->source;
}
