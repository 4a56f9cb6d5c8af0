/* A query that is read from both ends. */
#include "core/source/both_ends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/item/item.h"
#include "core/item/typed.h"

enum {
    PAGES_BEFORE = 6, /* that were slow: how many remain the service does not state, and a query
                       * that had so many is expected to have as many more */
    MOST_KEPT = 32 << 20,
};

struct both_ends {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct source_ops ops;
    struct source *inner; /* owned */
    struct loop *loop;
    int64_t slow_ms;
    size_t most_kept;
    size_t kept_bytes; /* of all calls */
    uint64_t begun;    /* readings that began from behind, too */
};

/* How far one end has come: the sort key of the last item that the service looked at. */
struct end_reach {
    struct arena arena;
    struct value sort[KEY_MAX_ATTRIBUTES];
    bool known;
};

/* A page from behind that waits for its turn. */
struct both_ends_page {
    struct both_ends_page *before; /* owned: the page that came before it, which is told after it */
    struct page_owner *owner;      /* owned: of the items */
    const struct json *items;
    size_t item_count, scanned;
    char request_id[64];
    int64_t came_ms;
};

enum ends_state {
    ENDS_OTHER, /* a Read that is passed on as it is */
    ENDS_ONE,   /* read from the front alone */
    ENDS_BOTH,  /* and from behind, as far as it was worth it */
    ENDS_KEPT,  /* the front is over, and what came from behind is told */
};

struct source_call {
    struct both_ends *ends;
    const struct read *read;
    struct payer *payer; /* holds a reference */
    source_page_fn *fn;
    void *arg;
    enum ends_state state;
    struct source_call *front, *back; /* of the inner source; owned, NULL once they are over */
    struct read *reverse;             /* owned: what BACK asks */
    bool all_wanted;
    bool asked;           /* whoever asks waits for a page */
    bool front_asked;     /* a page from the front is under way */
    bool back_asked;      /* a page from behind is under way */
    bool front_over;      /* of the page that is under way nothing is wanted but what it consumed */
    bool back_over;       /* likewise */
    unsigned slow;        /* pages that were, one after the other */
    struct end_reach at;  /* the front's: whatever comes before it in the order has been told */
    struct end_reach end; /* whatever comes behind it is kept; not known: that is not so yet */
    struct both_ends_page *kept;
    unsigned requests; /* from behind, of which nobody has been told, and what they consumed */
    struct spent spent;
    size_t scanned;           /* items that were read for pages from behind of which none is told */
    bool scanned_twice;       /* those between the ends, where a filter hides how many they are */
    struct loop_timer *timer; /* until a kept page is told */
};

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

static void both_ends_reach_clean_up(struct end_reach *reach)
{
    arena_clean_up(&reach->arena);
    *reach = (struct end_reach){0};
}

static void both_ends_reach_move(struct end_reach *to, struct end_reach *from)
{
    *to = *from;
    *from = (struct end_reach){0};
}

/* False when memory ran out. */
static bool both_ends_reach_copy(struct end_reach *to, const struct end_reach *from, size_t count)
{
    *to = (struct end_reach){.known = true};
    for (size_t i = 0; i < count; i++) {
        to->sort[i] = from->sort[i];
        to->sort[i].bytes = arena_copy(&to->arena, from->sort[i].bytes);
    }
    return !to->arena.failed;
}

/* TO is empty before. False, and TO too, when POSITION is none, or when memory ran out. */
static bool both_ends_reach_to(struct end_reach *to, const struct read *read, struct json position)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct end_reach found = {0}, next;
    if (!both_ends_read_sort(read, position, &arena, found.sort))
        return false;
    bool ok = both_ends_reach_copy(&next, &found, read->sort_count);
    if (ok)
        both_ends_reach_move(to, &next);
    else
        both_ends_reach_clean_up(&next);
    return ok;
}

/* In the order that was asked for: < 0 when A comes before B. */
static int both_ends_compare(const struct read *read, const struct value *a, const struct value *b)
{
    int order = 0;
    for (size_t i = 0; i < read->sort_count && order == 0; i++)
        order = value_compare(a[i], b[i]);
    return read->descending ? -order : order;
}

/* Where the two ends are divided: the front tells what comes up to here, and what comes behind is
 * told of what was kept. That must be whole behind it, and not yet told up to it. */
static const struct end_reach *both_ends_cut_of(const struct source_call *call)
{
    bool met = both_ends_compare(call->read, call->end.sort, call->at.sort) < 0;
    return met ? &call->at : &call->end;
}

/* How many of COUNT items, in order, come up to CUT. False when that can't be told. */
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

/* What is kept. */

static void both_ends_kept_destroy(struct both_ends_page *kept)
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

static struct both_ends_page *both_ends_take_kept(struct source_call *call)
{
    struct both_ends_page *kept = call->kept;
    if (!kept)
        return NULL;
    call->kept = kept->before;
    call->ends->kept_bytes -= kept->owner->bytes;
    kept->before = NULL;
    return kept;
}

static bool both_ends_store(struct source_call *call, const struct page *page)
{
    struct both_ends_page *kept = page->owner && *page->owner ? calloc(1, sizeof *kept) : NULL;
    if (!kept)
        return false;
    *kept = (struct both_ends_page){
        .before = call->kept,
        .owner = *page->owner,
        .items = page->items,
        .item_count = page->item_count,
        .scanned = page->scanned,
        .came_ms = loop_now_ms(call->ends->loop),
    };
    strncpy(kept->request_id, page->request_id, sizeof kept->request_id - 1);
    *page->owner = NULL;
    call->kept = kept;
    call->ends->kept_bytes += kept->owner->bytes;
    return true;
}

/* The two ends. */

static void both_ends_drop_call(struct source_call *call, struct source_call **end)
{
    call->ends->inner->ops->end(*end);
    *end = NULL;
}

/* Whether a response is awaited for what it consumed alone. */
static bool both_ends_is_awaited(const struct source_call *call)
{
    return (call->front && call->front_over) || (call->back && call->back_over);
}

static void both_ends_end_front(struct source_call *call)
{
    if (call->front && call->front_asked)
        call->front_over = true;
    else if (call->front)
        both_ends_drop_call(call, &call->front);
}

/* No more is read from behind; what has been kept is still good, if anything reaches so far. */
static void both_ends_end_back(struct source_call *call)
{
    if (call->back && call->back_asked)
        call->back_over = true;
    else if (call->back)
        both_ends_drop_call(call, &call->back);
    call->all_wanted = false;
    if (call->state == ENDS_BOTH && !call->end.known)
        call->state = ENDS_ONE;
}

static void both_ends_drop_kept(struct source_call *call)
{
    struct both_ends_page *kept;
    while ((kept = both_ends_take_kept(call)))
        both_ends_kept_destroy(kept);
}

/* From here on the front tells all. */
static void both_ends_abandon(struct source_call *call)
{
    both_ends_drop_kept(call);
    both_ends_reach_clean_up(&call->end);
    both_ends_end_back(call);
    call->state = call->state == ENDS_BOTH ? ENDS_ONE : call->state;
}

static void both_ends_report_failure(struct source_call *call, const struct error *err)
{
    struct error copy = *err; /* FN may end the call */
    both_ends_abandon(call);
    call->asked = false;
    call->fn(call->arg, NULL, &copy);
}

static void both_ends_report_no_memory(struct source_call *call)
{
    struct error err;
    error_no_memory(&err);
    both_ends_report_failure(call, &err);
}

/* What was read from behind since the last page is told with this one: in the end all of it is. */
static void both_ends_report(struct source_call *call, struct page *page)
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
    call->asked = false;
    call->fn(call->arg, page, NULL);
}

/* Kept pages, when it is their turn. */

static void both_ends_clean_up_kept(struct both_ends_page **kept)
{
    both_ends_kept_destroy(*kept);
}

static void both_ends_clean_up_items(struct json **items)
{
    free(*items);
}

/* Tells the items of KEPT, now the callee's, but for the last TOLD_BEFORE, in the order that was
 * asked for. */
static void both_ends_report_items(struct source_call *call, struct both_ends_page *kept,
                                   size_t told_before)
{
    CLEAN_UP(both_ends_clean_up_kept) struct both_ends_page *owned = kept;
    size_t count = owned->item_count - told_before;
    CLEAN_UP(both_ends_clean_up_items) struct json *items = calloc(count, sizeof *items);
    if (!items) {
        both_ends_report_no_memory(call);
        return;
    }
    for (size_t i = 0; i < count; i++)
        items[i] = owned->items[count - 1 - i];
    struct page page = {
        .items = items,
        .item_count = count,
        .scanned = call->read->filter_count ? owned->scanned : count,
        .more = call->kept || both_ends_is_awaited(call),
        .capacity = -1,
        .request_id = owned->request_id,
        .age_ms = loop_now_ms(call->ends->loop) - owned->came_ms,
    };
    both_ends_report(call, &page);
}

/* A page of which the front has told all is passed over. The last page is told when each request
 * has its response, so that all that the query consumed is told with it. */
static void both_ends_report_kept(void *arg)
{
    struct source_call *call = arg;
    struct page nothing = {.capacity = -1, .request_id = ""};
    struct both_ends_page *kept;
    size_t told;
    call->timer = NULL;
    while ((kept = both_ends_take_kept(call))) {
        if (!both_ends_count_up_to(call->read, &call->at, kept->items, kept->item_count, true,
                                   &told)) {
            both_ends_kept_destroy(kept);
            both_ends_report_no_memory(call);
            return;
        }
        if (told < kept->item_count) {
            both_ends_report_items(call, kept, told);
            return;
        }
        call->scanned += call->read->filter_count ? kept->scanned : 0;
        both_ends_kept_destroy(kept);
    }
    if (!both_ends_is_awaited(call))
        both_ends_report(call, &nothing);
}

/* A page of which nothing is wanted but what it consumed. */
static void both_ends_take_consumed(struct source_call *call, const struct page *page)
{
    if (page) {
        call->requests += page->requests;
        source_add_page(&call->spent, page);
    }
    if (call->state == ENDS_KEPT && call->asked && !call->timer)
        both_ends_report_kept(call);
}

/* The front has told all up to AT, and all behind that is kept. */
static void both_ends_finish_front(struct source_call *call)
{
    both_ends_end_front(call);
    both_ends_end_back(call);
    call->state = ENDS_KEPT;
}

/* Pages from behind. */

/* Takes over a page, and how far it reaches: the last one to the beginning, so that all behind the
 * front is kept. False when that can't be done: then it is as if the page had not come. */
static bool both_ends_take_over(struct source_call *call, const struct page *page)
{
    struct end_reach reach = {0};
    bool ok = page->more ? both_ends_reach_to(&reach, call->read, page->position)
                         : both_ends_reach_copy(&reach, &call->at, call->read->sort_count);
    if (ok && (page->item_count == 0 || both_ends_store(call, page))) {
        call->scanned += page->item_count == 0 ? page->scanned : 0;
        both_ends_reach_clean_up(&call->end);
        call->end = reach;
        return true;
    }
    both_ends_reach_clean_up(&reach);
    return false;
}

/* Who reads from the front can do without what comes from behind, and be it an error. */
static void both_ends_take_back(void *arg, const struct page *page, const struct error *err)
{
    struct source_call *call = arg;
    const struct read *read = call->read;
    call->back_asked = false;
    if (call->back_over) {
        both_ends_drop_call(call, &call->back);
        both_ends_take_consumed(call, page);
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
    if (met || both_ends_is_full(call->ends))
        both_ends_end_back(call);
    if (!met)
        return;
    both_ends_finish_front(call);
    if (call->asked)
        both_ends_report_kept(call);
}

/* Begins to read from behind. Without memory for it the front does it alone. */
static void both_ends_begin_back(struct source_call *call)
{
    call->reverse = read_reversed(call->read);
    if (call->reverse)
        call->back =
            source_start(call->ends->inner, call->reverse, call->payer, both_ends_take_back, call);
    call->all_wanted = false;
    if (!call->back)
        return;
    call->state = ENDS_BOTH;
    call->back_asked = true;
    call->ends->begun++;
}

/* Pages from the front. */

/* Leaves in PAGE what the front is to tell of it, and says whether the front is over then. */
static bool both_ends_divide(struct source_call *call, struct page *page, struct end_reach *next)
{
    const struct end_reach *cut = both_ends_cut_of(call);
    int order = both_ends_compare(call->read, next->sort, cut->sort);
    size_t count = page->item_count;
    if (order > 0 && !both_ends_count_up_to(call->read, cut, page->items, count, false, &count)) {
        both_ends_abandon(call);
        return false;
    }
    page->item_count = count;
    if (call->read->filter_count == 0)
        page->scanned = count; /* the others are told, and counted, from behind */
    else if (order > 0)
        call->scanned_twice = true;
    if (order < 0)
        return false;
    if (cut == &call->end) {
        both_ends_reach_clean_up(next);
        both_ends_reach_move(next, &call->end);
    } else {
        both_ends_reach_clean_up(next);
        both_ends_reach_move(next, &call->at);
    }
    return true;
}

static void both_ends_continue_from(struct source_call *call, struct page *page)
{
    struct end_reach next = {0};
    if (!both_ends_reach_to(&next, call->read, page->position)) {
        both_ends_abandon(call);
        return;
    }
    bool over = call->end.known && both_ends_divide(call, page, &next);
    both_ends_reach_clean_up(&call->at);
    call->at = next;
    if (!over)
        return;
    both_ends_finish_front(call);
    page->more = call->kept || both_ends_is_awaited(call);
}

static void both_ends_take_front(void *arg, const struct page *page, const struct error *err)
{
    struct source_call *call = arg;
    call->front_asked = false;
    if (call->front_over) {
        both_ends_drop_call(call, &call->front);
        both_ends_take_consumed(call, page);
        return;
    }
    if (err) {
        both_ends_report_failure(call, err);
        return;
    }
    struct page own = *page;
    own.owner = NULL;
    bool slow = page->took_ms >= call->ends->slow_ms && page->requests == 1;
    call->slow = slow ? call->slow + 1 : 0;
    if (page->requests > 1 && call->state == ENDS_BOTH)
        both_ends_end_back(
            call); /* a table that is throttled is not asked for more than it has to be */
    if (page->more)
        both_ends_continue_from(call, &own);
    else
        both_ends_abandon(call);
    if (!own.more && both_ends_is_awaited(call)) {
        call->state = ENDS_KEPT;
        own.more = true;
    }
    both_ends_report(call, &own);
}

/* Calls. */

static void both_ends_end(struct source_call *call)
{
    loop_remove_timer(call->timer);
    both_ends_abandon(call);
    if (call->front)
        both_ends_drop_call(call, &call->front);
    if (call->back)
        both_ends_drop_call(call, &call->back);
    both_ends_reach_clean_up(&call->at);
    read_destroy(call->reverse);
    payer_unref(call->payer);
    struct source *source = &call->ends->source;
    free(call);
    source_unref(source);
}

static struct source_call *both_ends_start(struct source *source, const struct read *read,
                                           struct payer *payer, source_page_fn *fn, void *arg)
{
    struct both_ends *ends = (struct both_ends *)source;
    struct source_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    source_ref(source);
    bool two = read_has_two_ends(read);
    *call = (struct source_call){
        .ends = ends,
        .read = read,
        .payer = payer_ref(payer),
        .fn = fn,
        .arg = arg,
        .state = two ? ENDS_ONE : ENDS_OTHER,
        .asked = true,
        .front_asked = true,
    };
    call->front =
        source_start(ends->inner, read, payer, two ? both_ends_take_front : fn, two ? call : arg);
    if (call->front)
        return call;
    both_ends_end(call);
    return NULL;
}

/* A page from behind is asked for only together with one from the front: who stops reading stops
 * both. */
static void both_ends_more(struct source_call *call)
{
    const struct source_ops *ops = call->ends->inner->ops;
    call->asked = true;
    if (call->state == ENDS_KEPT && !call->kept && both_ends_is_awaited(call))
        return; /* the response tells the end */
    if (call->state == ENDS_KEPT) {
        call->timer = loop_add_timer(call->ends->loop, 0, both_ends_report_kept, call);
        if (!call->timer)
            both_ends_report_no_memory(call);
        return;
    }
    /* Who has begun once does not begin again. What may not be spent at will is left to the front.
     */
    bool first = !call->reverse && call->at.known && !both_ends_is_full(call->ends) &&
                 isinf(payer_left(call->payer));
    if (call->state == ENDS_ONE && call->all_wanted && call->slow >= PAGES_BEFORE && first) {
        both_ends_begin_back(call);
    } else if (call->back && !call->back_asked && !call->back_over) {
        call->back_asked = true;
        ops->more(call->back);
    }
    call->front_asked = true;
    ops->more(call->front);
}

static void both_ends_want_all(struct source_call *call)
{
    call->all_wanted = call->state == ENDS_ONE;
}

/* The source. */

static void both_ends_destroy(struct source *source)
{
    struct both_ends *ends = (struct both_ends *)source;
    ends->inner->ops->destroy(ends->inner);
    free(ends);
}

static void both_ends_add_stats(const struct source *source, struct source_stats *sum)
{
    const struct both_ends *ends = (const struct both_ends *)source;
    ends->inner->ops->add_stats(ends->inner, sum);
    sum->both_ends += ends->begun;
}

struct source *both_ends_new(const struct both_ends_options *options)
{
    struct both_ends *ends = calloc(1, sizeof *ends);
    if (!ends)
        return NULL;
    const struct source_ops *inner = options->source->ops;
    ends->ops = (struct source_ops){
        .start = both_ends_start,
        .more = both_ends_more,
        .read_all = both_ends_want_all,
        .end = both_ends_end,
        .destroy = both_ends_destroy,
        .add_stats = both_ends_add_stats,
        .write_words = inner->write_words,
        .write_command = inner->write_command,
    };
    ends->source.ops = &ends->ops;
    ends->inner = options->source;
    ends->loop = options->loop;
    ends->slow_ms = options->slow_ms;
    ends->most_kept = options->most_kept ? options->most_kept : MOST_KEPT;
    return &ends->source;
}
