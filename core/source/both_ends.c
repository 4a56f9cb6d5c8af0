/* Queries that are read from both ends: the front delivers its pages, the back stores them. */
#include "core/source/both_ends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/item/item.h"
#include "core/item/typed.h"
#include "core/source/retries.h"

enum {
    PAGES_BEFORE = 6, /* slow pages before the back begins. The service does not state how many
                       * pages remain; a query that had six is expected to have as many more */
    MOST_KEPT = 32 << 20,
};

struct both_ends {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct loop *loop;
    int64_t slow_ms;
    size_t most_kept;
    size_t kept_bytes; /* of all calls */
    uint64_t begun;    /* queries whose back has begun */
};

/* The sort key of the last item that the service has read at one end. */
struct end_reach {
    struct arena arena;
    struct value sort[KEY_MAX_ATTRIBUTES];
    bool known;
};

/* A stored page of the back. */
struct both_ends_page {
    struct both_ends_page *before; /* owned: stored before it, and delivered after it */
    struct page_owner *owner;      /* owned: of the items */
    const struct json *items;
    size_t item_count, scanned;
    char request_id[64];
    int64_t came_ms;
};

enum ends_state {
    ENDS_OTHER, /* a Read that is passed on unchanged */
    ENDS_ONE,   /* read from the front alone */
    ENDS_BOTH,  /* and from the back */
    ENDS_KEPT,  /* the front is over; the stored pages are delivered */
};

struct ends_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    enum ends_state state;
    struct source_call *front, *back; /* of the inner source; owned, NULL once they are over */
    struct read *reverse;             /* owned: the Read of BACK */
    bool all_wanted;
    bool front_sent;      /* a page of the front is under way */
    bool back_sent;       /* a page of the back is under way */
    bool front_over;      /* the page under way is read for its consumption alone */
    bool back_over;       /* likewise */
    bool is_waiting;      /* the caller waits for a page */
    unsigned slow;        /* the number of slow pages in a row */
    struct end_reach at;  /* of the front: all items before it have been delivered */
    struct end_reach end; /* of the back: all items behind it are stored; not known: none is */
    struct both_ends_page *kept;
    unsigned requests; /* of the back, that no page has counted yet; and their consumption */
    struct spent spent;
    size_t scanned;           /* items that were read for pages of the back that were dropped */
    bool scanned_twice;       /* a filter hides how many items both ends have read */
    struct loop_timer *timer; /* until a stored page is delivered */
};

static struct both_ends *both_ends_of(const struct ends_call *call)
{
    return (struct both_ends *)call->base.source;
}

/* The order of items. */

/* False when ITEM lacks a part of the sort key, or when memory ran out. */
static bool both_ends_read_sort(const struct read *read, struct json item, struct arena *arena,
                                struct value out[KEY_MAX_ATTRIBUTES])
{
    for (size_t i = 0; i < read->sort_count; i++)
        if (!typed_scalar(item_attribute(item, read->sort[i]), arena, &out[i]))
            return false;
    return !arena->failed;
}

static void both_ends_clear_reach(struct end_reach *reach)
{
    arena_clean_up(&reach->arena);
    *reach = (struct end_reach){0};
}

/* Moves FROM, which is empty afterwards, over TO. */
static void both_ends_move_reach(struct end_reach *to, struct end_reach *from)
{
    both_ends_clear_reach(to);
    *to = *from;
    *from = (struct end_reach){0};
}

/* TO is empty before. False, with TO empty, when memory ran out. */
static bool both_ends_copy_reach(struct end_reach *to, const struct value *sort, size_t count)
{
    to->known = true;
    for (size_t i = 0; i < count; i++) {
        to->sort[i] = sort[i];
        to->sort[i].bytes = arena_copy(&to->arena, sort[i].bytes);
    }
    if (to->arena.failed)
        both_ends_clear_reach(to);
    return to->known;
}

/* TO is empty before. False, with TO empty, when POSITION lacks a part or memory ran out. */
static bool both_ends_set_reach(struct end_reach *to, const struct read *read, struct json position)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct value sort[KEY_MAX_ATTRIBUTES];
    return both_ends_read_sort(read, position, &arena, sort) &&
           both_ends_copy_reach(to, sort, read->sort_count);
}

/* In the order of the query: < 0 when A comes before B. */
static int both_ends_compare(const struct read *read, const struct value *a, const struct value *b)
{
    int order = 0;
    for (size_t i = 0; i < read->sort_count && order == 0; i++)
        order = value_compare(a[i], b[i]);
    return read->descending ? -order : order;
}

/* The cut between the two ends: the front delivers all items up to it, the stored pages those
 * behind it. All behind it must be stored, and all before AT has been delivered. */
static const struct end_reach *both_ends_cut(const struct ends_call *call)
{
    bool met = both_ends_compare(call->base.read, call->end.sort, call->at.sort) < 0;
    return met ? &call->at : &call->end;
}

/* Counts the items up to CUT, of COUNT items in the order of the query, or BACKWARDS. False when an
 * item has no sort key or memory ran out. */
static bool both_ends_count_up_to(const struct read *read, const struct end_reach *cut,
                                  const struct json *items, size_t count, bool backwards,
                                  size_t *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        struct value sort[KEY_MAX_ATTRIBUTES];
        if (!both_ends_read_sort(read, items[backwards ? count - 1 - i : i], &arena, sort))
            return false;
        if (both_ends_compare(read, sort, cut->sort) > 0)
            break;
        *out = i + 1;
    }
    return true;
}

/* Stored pages. */

static void both_ends_destroy_page(struct both_ends_page *kept)
{
    if (!kept)
        return;
    kept->owner->release(kept->owner);
    free(kept);
}

static bool both_ends_is_full(const struct both_ends *ends)
{
    return ends->kept_bytes >= ends->most_kept;
}

/* Takes the page that was stored last; NULL: none. */
static struct both_ends_page *both_ends_take_kept(struct ends_call *call)
{
    struct both_ends_page *kept = call->kept;
    if (!kept)
        return NULL;
    call->kept = kept->before;
    both_ends_of(call)->kept_bytes -= kept->owner->bytes;
    kept->before = NULL;
    return kept;
}

/* Takes over the items of PAGE. False when the page has no owner or memory ran out. */
static bool both_ends_store(struct ends_call *call, const struct page *page)
{
    struct both_ends *ends = both_ends_of(call);
    struct both_ends_page *kept = page->owner && *page->owner ? calloc(1, sizeof *kept) : NULL;
    if (!kept)
        return false;
    *kept = (struct both_ends_page){
        .before = call->kept,
        .owner = *page->owner,
        .items = page->items,
        .item_count = page->item_count,
        .scanned = page->scanned,
        .came_ms = loop_now_ms(ends->loop),
    };
    strncpy(kept->request_id, page->request_id, sizeof kept->request_id - 1);
    *page->owner = NULL;
    call->kept = kept;
    ends->kept_bytes += kept->owner->bytes;
    return true;
}

/* The two ends. */

static void both_ends_drop_end(struct source_call **end)
{
    source_end(*end);
    *end = NULL;
}

/* Whether a response is awaited for its consumption alone. */
static bool both_ends_is_awaited(const struct ends_call *call)
{
    return (call->front && call->front_over) || (call->back && call->back_over);
}

/* Stops the back. The stored pages stay, if it has stored any. */
static void both_ends_end_back(struct ends_call *call)
{
    if (call->back && call->back_sent)
        call->back_over = true;
    else if (call->back)
        both_ends_drop_end(&call->back);
    call->all_wanted = false;
    if (call->state == ENDS_BOTH && !call->end.known)
        call->state = ENDS_ONE;
}

/* Drops the back and its pages: the front delivers all from here on. */
static void both_ends_drop_back(struct ends_call *call)
{
    struct both_ends_page *kept;
    while ((kept = both_ends_take_kept(call)))
        both_ends_destroy_page(kept);
    both_ends_clear_reach(&call->end);
    both_ends_end_back(call);
    call->state = call->state == ENDS_BOTH ? ENDS_ONE : call->state;
}

static void both_ends_deliver_error(struct ends_call *call, const struct error *err)
{
    struct error copy = *err; /* FN may end the call */
    both_ends_drop_back(call);
    call->is_waiting = false;
    call->base.fn(call->base.arg, NULL, &copy);
}

static void both_ends_deliver_no_memory(struct ends_call *call)
{
    struct error err;
    error_no_memory(&err);
    both_ends_deliver_error(call, &err);
}

/* Delivers PAGE. It counts all that the back has consumed since the last page. */
static void both_ends_deliver(struct ends_call *call, struct page *page)
{
    page->requests += call->requests;
    if (call->spent.units > 0)
        page->capacity = call->spent.units + (page->capacity > 0 ? page->capacity : 0);
    page->doubted += call->spent.doubted;
    if (call->scanned > 0)
        page->scanned = call->scanned + (page->scanned ? page->scanned : page->item_count);
    page->scanned_twice = call->scanned_twice;
    call->requests = 0;
    call->spent = (struct spent){0};
    call->scanned = 0;
    call->is_waiting = false;
    call->base.fn(call->base.arg, page, NULL);
}

/* Delivers the items of KEPT in the order of the query, without the last DELIVERED. */
static void both_ends_deliver_items(struct ends_call *call, const struct both_ends_page *kept,
                                    size_t delivered)
{
    size_t count = kept->item_count - delivered;
    struct json *items = calloc(count, sizeof *items);
    if (!items) {
        both_ends_deliver_no_memory(call);
        return;
    }
    for (size_t i = 0; i < count; i++)
        items[i] = kept->items[count - 1 - i];
    struct page page = {
        .items = items,
        .item_count = count,
        .scanned = call->base.read->filter_count ? kept->scanned : count,
        .more = call->kept || both_ends_is_awaited(call),
        .capacity = -1,
        .request_id = kept->request_id,
        .age_ms = loop_now_ms(both_ends_of(call)->loop) - kept->came_ms,
    };
    both_ends_deliver(call, &page);
    free(items);
}

/* Delivers the next stored page. A page that the front has delivered is dropped. The last page
 * waits for all responses, so that it counts all that the query has consumed. */
static void both_ends_deliver_kept(void *arg)
{
    struct ends_call *call = arg;
    struct page nothing = {.capacity = -1, .request_id = ""};
    struct both_ends_page *kept;
    size_t delivered;
    call->timer = NULL;
    while ((kept = both_ends_take_kept(call))) {
        bool ok = both_ends_count_up_to(call->base.read, &call->at, kept->items, kept->item_count,
                                        true, &delivered);
        if (!ok || delivered < kept->item_count) {
            if (ok)
                both_ends_deliver_items(call, kept, delivered);
            else
                both_ends_deliver_no_memory(call);
            both_ends_destroy_page(kept);
            return;
        }
        call->scanned += call->base.read->filter_count ? kept->scanned : 0;
        both_ends_destroy_page(kept);
    }
    if (!both_ends_is_awaited(call))
        both_ends_deliver(call, &nothing);
}

/* PAGE (NULL: an error) came for its consumption alone. */
static void both_ends_count_consumed(struct ends_call *call, const struct page *page)
{
    if (page) {
        call->requests += page->requests;
        source_add_page(&call->spent, page);
    }
    if (call->state == ENDS_KEPT && call->is_waiting && !call->timer)
        both_ends_deliver_kept(call);
}

/* The front has delivered all up to AT, and all behind it is stored. */
static void both_ends_finish_front(struct ends_call *call)
{
    if (call->front && call->front_sent)
        call->front_over = true;
    else
        both_ends_drop_end(&call->front);
    both_ends_end_back(call);
    call->state = ENDS_KEPT;
}

/* Pages of the back. */

/* Stores PAGE, and sets the back's reach: of the last page to the front's, because then all behind
 * the front is stored. False if the page can't be used: the state is unchanged. */
static bool both_ends_take_over(struct ends_call *call, const struct page *page)
{
    struct end_reach reach = {0};
    const struct read *read = call->base.read;
    bool ok = page->more ? both_ends_set_reach(&reach, read, page->position)
                         : both_ends_copy_reach(&reach, call->at.sort, read->sort_count);
    if (ok && (page->item_count == 0 || both_ends_store(call, page))) {
        call->scanned += page->item_count == 0 ? page->scanned : 0;
        both_ends_move_reach(&call->end, &reach);
        return true;
    }
    both_ends_clear_reach(&reach);
    return false;
}

/* The query does not fail with the back: the front can read all items. */
static void both_ends_take_back(void *arg, const struct page *page, const struct error *err)
{
    struct ends_call *call = arg;
    const struct read *read = call->base.read;
    call->back_sent = false;
    if (call->back_over) {
        both_ends_drop_end(&call->back);
        both_ends_count_consumed(call, page);
        return;
    }
    if (page) {
        call->requests += page->requests;
        source_add_page(&call->spent, page);
    }
    if (err || !both_ends_take_over(call, page)) {
        both_ends_end_back(call);
        return;
    }
    int order = both_ends_compare(read, call->end.sort, call->at.sort);
    bool met = order <= 0;
    call->scanned_twice = call->scanned_twice || (order < 0 && read->filter_count > 0);
    if (met || both_ends_is_full(both_ends_of(call)))
        both_ends_end_back(call);
    if (!met)
        return;
    both_ends_finish_front(call);
    if (call->is_waiting)
        both_ends_deliver_kept(call);
}

/* Without memory for the back the front reads all. */
static void both_ends_begin_back(struct ends_call *call)
{
    call->reverse = read_reversed(call->base.read);
    if (call->reverse)
        call->back = source_start(call->base.source->inner, call->reverse, call->base.payer,
                                  both_ends_take_back, call);
    call->all_wanted = false;
    if (!call->back)
        return;
    call->state = ENDS_BOTH;
    call->back_sent = true;
    both_ends_of(call)->begun++;
}

/* Pages of the front. */

/* Shortens PAGE, which reaches to NEXT, to the front's part of it. Returns whether the front is
 * over then; NEXT is the cut in that case. */
static bool both_ends_divide(struct ends_call *call, struct page *page, struct end_reach *next)
{
    const struct read *read = call->base.read;
    const struct end_reach *cut = both_ends_cut(call);
    int order = both_ends_compare(read, next->sort, cut->sort);
    size_t count = page->item_count;
    if (order > 0 && !both_ends_count_up_to(read, cut, page->items, count, false, &count)) {
        both_ends_drop_back(call);
        return false;
    }
    page->item_count = count;
    if (read->filter_count == 0)
        page->scanned = count; /* the stored pages count the others */
    else if (order > 0)
        call->scanned_twice = true;
    if (order < 0)
        return false;
    both_ends_move_reach(next, cut == &call->end ? &call->end : &call->at);
    return true;
}

static void both_ends_advance_front(struct ends_call *call, struct page *page)
{
    struct end_reach next = {0};
    if (!both_ends_set_reach(&next, call->base.read, page->position)) {
        both_ends_drop_back(call);
        return;
    }
    bool over = call->end.known && both_ends_divide(call, page, &next);
    both_ends_move_reach(&call->at, &next);
    if (!over)
        return;
    both_ends_finish_front(call);
    page->more = call->kept || both_ends_is_awaited(call);
}

static void both_ends_take_front(void *arg, const struct page *page, const struct error *err)
{
    struct ends_call *call = arg;
    call->front_sent = false;
    if (call->front_over) {
        both_ends_drop_end(&call->front);
        both_ends_count_consumed(call, page);
        return;
    }
    if (err) {
        both_ends_deliver_error(call, err);
        return;
    }
    struct page own = *page;
    own.owner = NULL;
    bool is_slow = page->took_ms >= both_ends_of(call)->slow_ms && page->requests == 1;
    call->slow = is_slow ? call->slow + 1 : 0;
    if (call->state == ENDS_BOTH && !retries_allow_extra(page))
        both_ends_end_back(call);
    if (page->more)
        both_ends_advance_front(call, &own);
    else
        both_ends_drop_back(call);
    if (!own.more && both_ends_is_awaited(call)) {
        call->state = ENDS_KEPT;
        own.more = true;
    }
    both_ends_deliver(call, &own);
}

/* The source. */

static void both_ends_end(struct source_call *base)
{
    struct ends_call *call = (struct ends_call *)base;
    loop_remove_timer(call->timer);
    both_ends_drop_back(call);
    both_ends_drop_end(&call->front);
    both_ends_drop_end(&call->back);
    both_ends_clear_reach(&call->at);
    read_destroy(call->reverse);
}

static bool both_ends_start(struct source_call *base)
{
    struct ends_call *call = (struct ends_call *)base;
    bool two = read_has_two_ends(base->read);
    call->state = two ? ENDS_ONE : ENDS_OTHER;
    call->is_waiting = true;
    call->front_sent = true;
    call->front = source_start(base->source->inner, base->read, base->payer,
                               two ? both_ends_take_front : base->fn, two ? call : base->arg);
    return call->front;
}

/* A page of the back is requested only together with one of the front: a reader that stops stops
 * both. */
static void both_ends_more(struct source_call *base)
{
    struct ends_call *call = (struct ends_call *)base;
    struct both_ends *ends = both_ends_of(call);
    call->is_waiting = true;
    if (call->state == ENDS_KEPT && !call->kept && both_ends_is_awaited(call))
        return; /* the awaited response delivers the last page */
    if (call->state == ENDS_KEPT) {
        call->timer = loop_add_timer(ends->loop, 0, both_ends_deliver_kept, call);
        if (!call->timer)
            both_ends_deliver_no_memory(call);
        return;
    }
    /* The back begins once at most. A payer with a limit pays for the front alone. */
    bool may_begin = !call->reverse && call->at.known && !both_ends_is_full(ends) &&
                     isinf(payer_left(base->payer));
    if (call->state == ENDS_ONE && call->all_wanted && call->slow >= PAGES_BEFORE && may_begin) {
        both_ends_begin_back(call);
    } else if (call->back && !call->back_sent && !call->back_over) {
        call->back_sent = true;
        source_more(call->back);
    }
    call->front_sent = true;
    source_more(call->front);
}

static void both_ends_read_all(struct source_call *base, bool all)
{
    struct ends_call *call = (struct ends_call *)base;
    call->all_wanted = all && call->state == ENDS_ONE;
    if (call->state == ENDS_OTHER && all)
        source_read_all(call->front);
}

static void both_ends_destroy(struct source *source)
{
    free(source);
}

static void both_ends_add_stats(const struct source *source, struct source_stats *sum)
{
    sum->both_ends += ((const struct both_ends *)source)->begun;
}

struct source *both_ends_new(const struct both_ends_options *options)
{
    static const struct source_ops ops = {
        .layer = SOURCE_BOTH_ENDS,
        .call_size = sizeof(struct ends_call),
        .start = both_ends_start,
        .more = both_ends_more,
        .read_all = both_ends_read_all,
        .end = both_ends_end,
        .destroy = both_ends_destroy,
        .add_stats = both_ends_add_stats,
    };
    struct both_ends *ends = calloc(1, sizeof *ends);
    if (!ends)
        return NULL;
    *ends = (struct both_ends){.source = {.ops = &ops, .inner = options->source},
                               .loop = options->loop,
                               .slow_ms = options->slow_ms,
                               .most_kept = options->most_kept ? options->most_kept : MOST_KEPT};
    return &ends->source;
}
