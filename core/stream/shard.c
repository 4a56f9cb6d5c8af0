#include "core/stream/shard.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_DELAY_MS = 1000, /* after a failure; it doubles with each further one */
    MOST_DELAY_MS = 10 * 1000,
    FULL_PAGE = 1000, /* changes */
    FULL_PAGE_BYTES = 512 * 1024,
    FRESH_MS = 5000,  /* a shard that was not polled for longer may have changes far behind it */
    PROOF_PAGES = 4,  /* empty pages in a row, */
    PROOF_MS = 2000,  /* requested over this time: then the reader is at the end of the shard */
    COMES_MS = 1000,  /* from a write to its change in the shard */
    PASSED_MS = 2000, /* a change that is as much older than an empty page was in the shard */
    DOUBT_MS = 10 * 60 * 1000,
};

struct shard *shard_new(struct shard_context *context, struct span id, struct span parent)
{
    struct shard *shard = calloc(1, sizeof *shard + id.size + parent.size);
    if (!shard)
        return NULL;
    char *texts = (char *)(shard + 1);
    memcpy(texts, id.data, id.size);
    if (parent.size)
        memcpy(texts + id.size, parent.data, parent.size);
    shard->context = context;
    shard->id = span_of(texts, id.size);
    shard->parent = span_of(texts + id.size, parent.size);
    shard->not_before_ms = INT64_MIN;
    shard->interval_ms = context->poll_least_ms;
    return shard;
}

static void shard_end_call(struct shard *shard)
{
    source_end(shard->call);
    read_destroy(shard->read);
    shard->call = NULL;
    shard->read = NULL;
}

void shard_destroy(struct shard *shard)
{
    if (!shard)
        return;
    shard_end_call(shard);
    loop_remove_timer(shard->timer);
    list_remove(&shard->node);
    buf_clean_up(&shard->iterator);
    buf_clean_up(&shard->sequence);
    free(shard);
}

bool shard_is_busy(const struct shard *shard)
{
    return shard->state == SHARD_PLACING || shard->state == SHARD_POLLING;
}

static int64_t shard_own_wall_ms(const struct shard *shard)
{
    struct clock *clock = loop_clock(shard->context->loop);
    return clock->wall_ms(clock);
}

/* The service's time, as far as it is known. */
static int64_t shard_wall_ms(const struct shard *shard)
{
    return shard_own_wall_ms(shard) + shard->context->skew_ms;
}

static void shard_queue(struct shard *shard)
{
    shard->state = SHARD_QUEUED;
    shard->context->ops->moved(shard->context->arg, shard);
}

static void shard_end_rest(void *arg)
{
    struct shard *shard = arg;
    shard->timer = NULL;
    shard_queue(shard);
}

/* Without memory for the timer it does not rest. */
static void shard_rest(struct shard *shard, int64_t delay_ms)
{
    loop_remove_timer(shard->timer);
    shard->timer = loop_add_timer(shard->context->loop, delay_ms, shard_end_rest, shard);
    shard->state = shard->timer ? SHARD_RESTS : SHARD_QUEUED;
}

static void shard_end(struct shard *shard)
{
    shard->state = SHARD_ENDED;
    shard->ended_ms = loop_now_ms(shard->context->loop);
}

/* Failures. */

static int64_t shard_delay_ms(struct shard *shard)
{
    int64_t delay_ms = FIRST_DELAY_MS;
    for (unsigned i = 0; i < shard->failures && delay_ms < MOST_DELAY_MS; i++)
        delay_ms *= 2;
    shard->failures++;
    return delay_ms < MOST_DELAY_MS ? delay_ms : MOST_DELAY_MS;
}

static void shard_suffer(struct shard *shard, const struct error *why)
{
    shard_rest(shard, shard_delay_ms(shard));
    shard->context->ops->trouble(shard->context->arg, shard, why);
}

/* No change behind an iterator of the latest place is old enough to be gone: DynamoDB Local refuses
 * such an iterator at the first change of the shard. */
static bool shard_has_read_nothing(const struct shard *shard)
{
    return shard->sequence.size == 0 && shard->at == STREAM_LATEST;
}

/* It needs a new iterator: at once, but not if the last one led to no response. */
static void shard_set_placeless(struct shard *shard)
{
    bool rests = shard->was_placed_anew;
    buf_truncate(&shard->iterator, 0);
    shard->empty_pages = 0;
    shard->was_placed_anew = true;
    if (rests)
        shard_rest(shard, shard_delay_ms(shard));
    else
        shard->state = SHARD_QUEUED;
}

/* The changes behind the last one are gone: it goes on with the oldest that exists. */
static void shard_lose(struct shard *shard, const struct error *why)
{
    buf_truncate(&shard->sequence, 0);
    shard->at = STREAM_OLDEST;
    shard->tip_ms = 0;
    shard->takes_any = true;
    shard_set_placeless(shard);
    shard->context->ops->gap(shard->context->arg, shard, why);
}

/* Whether the oldest changes that are wanted may be gone, which the service does not report. */
static bool shard_is_too_late(const struct shard *shard)
{
    int64_t from_ms = shard->delivered_wall_ms > shard->not_before_ms ? shard->delivered_wall_ms
                                                                      : shard->not_before_ms;
    return shard->sequence.size == 0 && shard->at == STREAM_OLDEST && !shard->takes_any &&
           shard_wall_ms(shard) - from_ms > SHARD_KEPT_MS;
}

static void shard_lose_oldest(struct shard *shard)
{
    struct error why;
    error_set(
        &why, ERROR_NOT_STORED,
        "a stream has the changes of the last 24 hours, and older ones of a shard of table %s "
        "are wanted, too; read the table itself",
        shard->context->table);
    shard_lose(shard, &why);
}

/* The iterator is too old, as after a sleep of the machine. If no change has come yet, all that the
 * shard has is read, less those from before the last poll; after a day that may not be all. */
static void shard_place_anew(struct shard *shard)
{
    int64_t from_ms =
        shard->tip_wall_ms ? shard->tip_wall_ms : shard->since_wall_ms + shard->context->skew_ms;
    if (shard->sequence.size == 0 && shard_wall_ms(shard) - from_ms > SHARD_KEPT_MS) {
        shard_lose_oldest(shard);
        return;
    }
    if (shard_has_read_nothing(shard)) {
        shard->at = STREAM_OLDEST;
        shard->not_before_ms = from_ms - SHARD_CLOCKS_DIFFER_MS;
    }
    shard_set_placeless(shard);
    shard->context->ops->moved(shard->context->arg, shard);
}

/* The shard itself is gone. */
static void shard_vanish(struct shard *shard, const struct error *why)
{
    shard_end(shard);
    shard->context->ops->gap(shard->context->arg, shard, why);
}

static void shard_fail(struct shard *shard, const struct error *why)
{
    const struct shard_context *context = shard->context;
    bool is_trimmed = strcmp(why->code, "TrimmedDataAccessException") == 0;
    if (strcmp(why->code, "ExpiredIteratorException") == 0 ||
        (is_trimmed && shard_has_read_nothing(shard)))
        shard_place_anew(shard);
    else if (is_trimmed)
        shard_lose(shard, why);
    else if (why->kind == ERROR_NO_STREAM)
        shard_vanish(shard, why);
    else if (error_is_refusal(why))
        context->ops->refused(context->arg, shard, why);
    else
        shard_suffer(shard, why);
}

/* Changes. */

/* The changes of PAGE that are wanted, in OUT, which has room for all. False with ERR filled. */
static bool shard_sift(struct shard *shard, const struct page *page, struct change *out,
                       size_t *count, struct error *err)
{
    struct span last = buf_span(&shard->sequence);
    for (size_t i = 0; i < page->item_count; i++) {
        struct change *change = &out[*count];
        if (!change_read(page->items[i], change, err))
            return false;
        change->shard = shard->id;
        if (last.size && change_order(change->sequence, last) <= 0) {
            shard->context->duplicates++;
            continue;
        }
        last = change->sequence;
        *count += change_may_follow(change, shard->not_before_ms);
    }
    return true;
}

/* All changes before TIP_MS were delivered, as far as the last page shows. */
static void shard_set_tip(struct shard *shard, int64_t tip_ms)
{
    shard->tip_ms = tip_ms;
    shard->tip_wall_ms = shard->sent_wall_ms - (shard->sent_ms - tip_ms);
}

/* Whether the reader is at the end of the shard: the last pages were all empty. */
static bool shard_is_at_end(const struct shard *shard)
{
    return shard->empty_pages >= PROOF_PAGES && shard->sent_ms - shard->run_ms >= PROOF_MS;
}

/* The run of empty pages ends with a page that has changes, or when polling was interrupted. */
static void shard_count_page(struct shard *shard, const struct page *page)
{
    bool was_interrupted = shard->sent_ms - shard->paged_ms > FRESH_MS;
    if (page->item_count > 0 || was_interrupted)
        shard->empty_pages = 0;
    if (shard->empty_pages == 0)
        shard->run_ms = shard->sent_ms;
    shard->empty_pages += page->item_count == 0;
    shard->paged_ms = shard->sent_ms;
}

bool shard_context_is_doubted(const struct shard_context *context)
{
    return context->doubted_ms && loop_now_ms(context->loop) - context->doubted_ms < DOUBT_MS;
}

/* FIRST is the oldest new change of PAGE. The empty page before it, at the end of the shard, should
 * have had it if it was old enough then: both times are the service's. If it was, no more is
 * certain than that all changes before FIRST were delivered. */
static void shard_test_proof(struct shard *shard, const struct page *page,
                             const struct change *first)
{
    struct shard_context *context = shard->context;
    int64_t age_ms = page->date_ms - first->at_ms;
    if (!shard->empty_date_ms || change_may_follow(first, shard->empty_date_ms - PASSED_MS))
        return;
    context->doubted_ms = loop_now_ms(context->loop);
    if (shard->sent_ms - age_ms < shard->tip_ms)
        shard_set_tip(shard, shard->sent_ms - age_ms);
}

/* The time up to which PAGE proves that all changes were delivered; 0: none. Its last change, whose
 * time is rounded down, is from LAST_MS; a time ahead of this machine's clock proves nothing. An
 * empty page counts at the end of the shard. */
static int64_t shard_read_proof(struct shard *shard, const struct page *page, int64_t last_ms)
{
    int64_t age_ms = shard->sent_wall_ms - last_ms;
    bool begins = !shard->tip_ms && shard_has_read_nothing(shard);
    shard->empty_date_ms = 0;
    if (page->item_count > 0)
        return age_ms < 0 ? 0 : shard->sent_ms - age_ms;
    if (!begins && !shard_is_at_end(shard))
        return 0;
    shard->empty_date_ms = page->date_ms;
    return begins || !shard_context_is_doubted(shard->context) ? shard->sent_ms - COMES_MS : 0;
}

static void shard_move_tip(struct shard *shard, const struct page *page, int64_t last_ms)
{
    int64_t proof_ms = shard_read_proof(shard, page, last_ms);
    if (proof_ms > shard->tip_ms)
        shard_set_tip(shard, proof_ms);
}

/* A large page is one of many. */
static bool shard_is_full(const struct page *page)
{
    size_t bytes = 0;
    for (size_t i = 0; i < page->item_count; i++)
        bytes += json_raw(page->items[i]).size;
    return page->item_count >= FULL_PAGE || bytes >= FULL_PAGE_BYTES;
}

static int64_t shard_choose_interval(struct shard *shard, const struct page *page)
{
    const struct shard_context *context = shard->context;
    int64_t interval_ms = shard_is_at_end(shard) ? shard->interval_ms : context->poll_least_ms;
    shard->interval_ms =
        2 * interval_ms < context->poll_most_ms ? 2 * interval_ms : context->poll_most_ms;
    return shard_is_full(page) ? 0 : interval_ms;
}

static void shard_set_text(struct buf *to, struct buf *from)
{
    buf_clean_up(to);
    buf_move(to, from);
}

/* Stores the place behind PAGE. False when memory ran out. */
static bool shard_store_place(struct shard *shard, const struct page *page,
                              const struct change *last)
{
    CLEAN_UP(buf_clean_up) struct buf iterator = {0}, sequence = {0};
    if (json_present(page->position))
        json_read_string(page->position, &iterator);
    if (last)
        buf_add_span(&sequence, last->sequence);
    if (iterator.failed || sequence.failed)
        return false;
    shard_set_text(&shard->iterator, &iterator);
    if (last)
        shard_set_text(&shard->sequence, &sequence);
    return true;
}

/* The place is stored before the changes are delivered: delivery may destroy the shard, and moving
 * on is the last step for the same reason. The page outlives the call. */
static void shard_take_changes(struct shard *shard, const struct page *page)
{
    struct error err;
    struct change last = {0};
    size_t count = 0;
    struct change *changes = calloc(page->item_count + 1, sizeof *changes);
    bool ok = changes ? shard_sift(shard, page, changes, &count, &err) : error_no_memory(&err);
    bool has_last =
        ok && page->item_count > 0 && change_read(page->items[page->item_count - 1], &last, &err);
    if (ok && !shard_store_place(shard, page, has_last ? &last : NULL))
        ok = error_no_memory(&err);
    if (!ok) {
        free(changes);
        shard_suffer(shard, &err);
        return;
    }
    const struct shard_context *context = shard->context;
    bool has_ended = !json_present(page->position);
    shard->failures = 0;
    shard->was_placed_anew = false;
    if (shard->tip_wall_ms > shard->delivered_wall_ms)
        shard->delivered_wall_ms = shard->tip_wall_ms;
    shard_count_page(shard, page);
    if (count)
        shard_test_proof(shard, page, &changes[0]);
    if (page->item_count || !has_ended) /* later changes may be in its children */
        shard_move_tip(shard, page, last.at_ms);
    int64_t delay_ms = shard_choose_interval(shard, page);
    if (has_ended)
        shard_end(shard);
    else
        shard_rest(shard, delay_ms);
    if (count)
        context->ops->changes(context->arg, shard, changes, count);
    else
        context->ops->moved(context->arg, shard);
    free(changes);
}

/* Requests. */

static void shard_on_page(void *arg, const struct page *page, const struct error *err)
{
    struct shard *shard = arg;
    struct shard_context *context = shard->context;
    bool is_placing = shard->state == SHARD_PLACING;
    context->requests += page ? page->requests : 1;
    if (page) {
        shard->sent_wall_ms += page->skew_ms;
        context->skew_ms = page->skew_ms;
    }
    shard_end_call(shard);
    if (err) {
        shard_fail(shard, err);
        return;
    }
    if (!is_placing) {
        shard_take_changes(shard, page);
        return;
    }
    struct error no_memory;
    CLEAN_UP(buf_clean_up) struct buf iterator = {0};
    json_read_string(page->position, &iterator);
    if (iterator.failed) {
        error_no_memory(&no_memory);
        shard_suffer(shard, &no_memory);
        return;
    }
    shard_set_text(&shard->iterator, &iterator);
    if (shard_is_too_late(shard))
        shard_lose_oldest(shard);
    else
        shard_queue(shard);
}

/* The place of an iterator: behind the last change, if there is one. */
static struct read_stream shard_place(const struct shard *shard)
{
    return (struct read_stream){
        .arn = shard->context->stream,
        .shard = shard->id,
        .at = shard->sequence.size ? STREAM_AFTER : shard->at,
        .sequence = buf_span(&shard->sequence),
    };
}

void shard_send(struct shard *shard)
{
    struct shard_context *context = shard->context;
    bool has_place = shard->iterator.size > 0;
    struct read_stream at = shard_place(shard);
    if (has_place)
        at = (struct read_stream){.iterator = buf_span(&shard->iterator)};
    shard->sent_ms = loop_now_ms(context->loop);
    shard->sent_wall_ms = shard_own_wall_ms(shard);
    if (!shard->since_wall_ms)
        shard->since_wall_ms = shard->sent_wall_ms;
    shard->read = read_new(has_place ? READ_CHANGES : READ_ITERATOR, context->table, NULL);
    if (shard->read)
        read_set_stream(shard->read, &at);
    if (shard->read && !read_failed(shard->read))
        shard->call =
            source_start(context->source, shard->read, context->payer, shard_on_page, shard);
    if (shard->call) {
        shard->state = has_place ? SHARD_POLLING : SHARD_PLACING;
        return;
    }
    shard_end_call(shard);
    shard_rest(shard, shard_delay_ms(shard));
}
