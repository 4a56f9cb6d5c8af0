/* The source DynamoDB: cost estimates, calls, pages on demand. */
#include "core/dynamo/dynamo.h"

#include <math.h>
#include <stdlib.h>

#include "core/aws/retry.h"
#include "core/base/printable.h"
#include "core/dynamo/hedge.h"
#include "core/dynamo/inventory.h"
#include "core/dynamo/next_page.h"
#include "core/dynamo/refusal.h"
#include "core/dynamo/request.h"
#include "core/dynamo/request_print.h"
#include "core/dynamo/verify.h"
#include "core/source/read_words.h"
#include "core/source/retries.h"

enum {
    FULL_BATCH_BYTES = 8 << 20, /* a batch ends at 16 MB, and leaves the rest unprocessed */

    /* The service counts steps of 4 KB. A page ends with the item that passes 1 MB, a batch with
     * the item that passes 16 MB; no item is larger than 400 KB. */
    STEP_BYTES = 4096,
    PAGE_BYTES = 1 << 20,
    ITEM_BYTES = 400 * 1024,
    BATCH_BYTES = 16 << 20,
    TOGETHER_BYTES = 4 << 20,
    TOGETHER_STEP_UNITS = 2, /* of a transaction, which reads each item twice, consistently */
    ITEM_STEPS = ITEM_BYTES / STEP_BYTES,

    WEIGHTS = 64, /* tables and indexes whose items' sizes are stored */
    PRIOR = 16,   /* the number of items that an average counts as against new ones */

    /* Entries of the first page that a limited payer pays for, and the growth of later pages:
     * another partition may have larger items. */
    FIRST_ENTRIES = 8,
    BOLDER = 4,
};

/* The average size of the items of one table or index. */
struct weight {
    char *name;         /* owned: the table, a line end, and the index; NULL: unused */
    double entry_bytes; /* of an item in a page */
    double key_steps;   /* of an item that is read by its key, in steps */
    unsigned long used; /* the time of its last use, as a count */
};

/* An estimate of the next request's consumption, in RCU. */
struct outlay {
    double units;
    double least;   /* without as many the request is not sent */
    double most;    /* no request of its kind consumes more */
    uint32_t limit; /* entries of a page, 0: no limit; or keys */
};

struct dynamo {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct exchange_link link;
    struct hedging hedging;
    struct weight weights[WEIGHTS]; /* the one that was not used for longest is replaced */
    unsigned long weight_uses;
    struct quotas quotas;        /* one a table */
    struct inventory *inventory; /* owned */
    int64_t deadline_ms;
    bool may_scan;
};

/* The page after the one that the reader has requested: requested before it is wanted. */
struct dynamo_ahead {
    bool is_begun;
    struct hedged *exchange; /* NULL: it is over */
    struct answer *answer;   /* owned; NULL: none has come, or the request has failed */
    struct buf position;     /* behind which it begins: JSON */
    double most;             /* RCU that its request consumes at most */
    unsigned tries;          /* its requests, once they are over */
    double doubted;          /* the most that they have consumed, if they have failed */
    int64_t deadline_at_ms, came_ms;
};

struct dynamo_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct sent_request sent;
    struct request request;
    struct verify verify;
    struct buf resume; /* JSON: the position of the next request; empty at the end */
    struct hedged *exchange;
    struct retry *retry;             /* the table's quota; given back at the end */
    struct loop_timer *timer;        /* before a batch's next round, or a refusal */
    struct payer_turn turn;          /* while the payer holds the next request */
    struct inventory_wait diagnosis; /* before an error that names what exists instead */
    struct error why;                /* that error, or a refusal */
    uint32_t wanted;                 /* entries of a Read's limit that are not requested yet */
    uint32_t bold;                   /* the most entries of the next page of a limited payer */
    bool reads_all;                  /* pages are requested before they are wanted */
    struct dynamo_ahead ahead;
    /* The page under way. */
    int64_t deadline_at_ms;
    struct answer *answer;       /* owned; the last one, until it is delivered */
    int64_t age_ms;              /* the time that the page waited before it was wanted */
    struct throttles *throttled; /* owned: since the page before */
    unsigned requests;
    unsigned lost;      /* requests for it that failed before it was wanted */
    double capacity;    /* < 0: no response has stated any */
    double doubted;     /* the most that requests without a stated consumption took beside */
    double most;        /* RCU that the last request consumes at most */
    unsigned conflicts; /* in which transactions ended */
    unsigned paid;      /* retry tokens of the last round that brought no item */
    size_t unasked;     /* keys of a batch that are unprocessed */
    size_t waiting; /* of these, those of no request yet, because the payer has too little left */
    bool is_full;   /* the last response was full: its unprocessed keys were not throttled */
};

static struct dynamo *dynamo_of(const struct dynamo_call *call)
{
    return (struct dynamo *)call->base.source;
}

static bool dynamo_request(struct dynamo_call *call);

/* Estimates, learnt from what responses state. */

/* The RCU of one step: the least that a request for an item consumes. */
static double dynamo_step_units(const struct read *read)
{
    return read->consistent ? 1 : 0.5;
}

static bool dynamo_is_weight_of(const struct weight *weight, const struct read *read)
{
    size_t size = strlen(read->table);
    return weight->name && strncmp(weight->name, read->table, size) == 0 &&
           weight->name[size] == '\n' &&
           strcmp(weight->name + size + 1, read->index ? read->index : "") == 0;
}

/* The weight of READ's table or index; a new one of one step an item, in place of the one that was
 * not used for longest. Without memory for its name it is not found again. */
static struct weight *dynamo_find_weight(struct dynamo *dynamo, const struct read *read)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct weight *found = &dynamo->weights[0];
    for (size_t i = 0; i < WEIGHTS; i++) {
        struct weight *each = &dynamo->weights[i];
        if (dynamo_is_weight_of(each, read)) {
            each->used = ++dynamo->weight_uses;
            return each;
        }
        if (each->used < found->used)
            found = each;
    }
    free(found->name);
    buf_printf(&name, "%s\n%s", read->table, read->index ? read->index : "");
    *found = (struct weight){buf_steal(&name, NULL), STEP_BYTES, 1, ++dynamo->weight_uses};
    return found;
}

/* The most that COUNT keys consume. The size of each item is rounded up to steps. */
static double dynamo_most_of_keys(size_t count, double step)
{
    double each = (double)count * ITEM_STEPS;
    double whole = (double)(BATCH_BYTES + ITEM_BYTES) / STEP_BYTES + (double)count;
    return step * (each < whole ? each : whole);
}

/* Covers as many of COUNT keys as LEFT pays for, whatever their size, but at least one. */
static struct outlay dynamo_estimate_keys(struct dynamo *dynamo, const struct read *read,
                                          size_t count, double left)
{
    double step = dynamo_step_units(read), steps = dynamo_find_weight(dynamo, read)->key_steps;
    while (count > 1 && dynamo_most_of_keys(count, step) > left)
        count--;
    return (struct outlay){.units = (double)count * step * (steps > 1 ? steps : 1),
                           .least = (double)count * step,
                           .most = dynamo_most_of_keys(count, step),
                           .limit = (uint32_t)count};
}

/* All items of a transaction, whatever the payer has left. */
static struct outlay dynamo_estimate_together(const struct read *read)
{
    double count = (double)read->part_count;
    double each = count * ITEM_STEPS, whole = (double)TOGETHER_BYTES / STEP_BYTES + count;
    return (struct outlay){.units = TOGETHER_STEP_UNITS * count,
                           .least = TOGETHER_STEP_UNITS * count,
                           .most = TOGETHER_STEP_UNITS * (each < whole ? each : whole)};
}

/* A page of COUNT entries (0: no limit). If half of LEFT does not pay for any page, the page has as
 * many entries as half of LEFT is expected to pay for, at most BOLD, at least one. LEFT suffices
 * then even if the items are twice as large as expected. */
static struct outlay dynamo_estimate_page(struct dynamo *dynamo, const struct read *read,
                                          uint32_t count, double left, uint32_t bold)
{
    const struct weight *weight = dynamo_find_weight(dynamo, read);
    double step = dynamo_step_units(read), bytes = PAGE_BYTES + weight->entry_bytes;
    uint64_t limit = count;
    if (left / 2 < step * (PAGE_BYTES + ITEM_BYTES) / STEP_BYTES) {
        uint64_t most = (uint64_t)(left / 2 / step * STEP_BYTES / weight->entry_bytes);
        most = most < 1 ? 1 : most < bold ? most : bold;
        limit = limit > 0 && limit < most ? limit : most;
    }
    if (limit > 0 && (double)limit * weight->entry_bytes < bytes)
        bytes = (double)limit * weight->entry_bytes;
    uint64_t steps = ((uint64_t)bytes + STEP_BYTES - 1) / STEP_BYTES;
    uint64_t most = PAGE_BYTES + ITEM_BYTES;
    if (limit > 0 && limit * ITEM_BYTES < most)
        most = limit * ITEM_BYTES;
    uint64_t most_steps = most / STEP_BYTES;
    return (struct outlay){
        .units = step * (double)(steps > 0 ? steps : 1),
        .least = step,
        .most = step * (double)most_steps,
        .limit = (uint32_t)limit,
    };
}

static double dynamo_mean(double known, double sum, size_t count)
{
    return (known * PRIOR + sum) / (double)(PRIOR + count);
}

/* Adds a response to the weight of its table or index. The response's unprocessed keys are among
 * those of the request. */
static void dynamo_learn(struct dynamo_call *call, const struct answer *answer)
{
    const struct read *read = call->base.read;
    size_t keys = call->unasked - call->waiting - json_count(answer->resume);
    double steps = answer->capacity / dynamo_step_units(read), bytes = steps * STEP_BYTES;
    bool is_page = call->sent.op == DYNAMO_QUERY || call->sent.op == DYNAMO_SCAN;
    bool is_keys = call->sent.op == DYNAMO_GET_ITEM || call->sent.op == DYNAMO_BATCH_GET_ITEM;
    if (answer->capacity <= 0 || !(is_page || is_keys))
        return;
    struct weight *weight = dynamo_find_weight(dynamo_of(call), read);
    size_t count = is_page ? answer->read_count : keys;
    if (is_keys)
        weight->key_steps = dynamo_mean(weight->key_steps, steps, count);
    else if (count > 0 && bytes > weight->entry_bytes * (double)count)
        weight->entry_bytes = bytes / (double)count;
    else if (count > 0)
        weight->entry_bytes = dynamo_mean(weight->entry_bytes, bytes, count);
}

/* The end of a page. */

static int64_t dynamo_now_ms(const struct dynamo_call *call)
{
    return loop_now_ms(dynamo_of(call)->link.client.loop);
}

static void dynamo_drop_answer(struct dynamo_call *call)
{
    answer_destroy(call->answer);
    call->answer = NULL;
}

/* Ends the request for the page ahead. The exchange charges it. */
static void dynamo_drop_ahead(struct dynamo_call *call)
{
    hedged_end(call->ahead.exchange);
    answer_destroy(call->ahead.answer);
    buf_clean_up(&call->ahead.position);
    call->ahead = (struct dynamo_ahead){0};
}

static void dynamo_report_failure(struct dynamo_call *call, const struct error *err)
{
    struct error copy = *err; /* FN may end the call */
    dynamo_drop_answer(call);
    dynamo_drop_ahead(call);
    call->base.fn(call->base.arg, NULL, &copy);
}

/* The inventory that completes ERR: of the table if an index was not found, of the account (NULL)
 * if the table was not found. */
static const char *dynamo_inventory_of(const struct dynamo_call *call, const struct error *err)
{
    return strcmp(err->code, "ResourceNotFoundException") == 0 ? NULL : call->base.read->table;
}

/* The table that ERR is about; "" if it is one of several. */
static const char *dynamo_table_of(const struct read *read, const struct error *err)
{
    if (err->part > 0 && err->part <= read->part_count)
        return read->parts[err->part - 1]->table;
    for (size_t i = 1; read->table && i < read->part_count; i++)
        if (strcmp(read->parts[i]->table, read->table) != 0)
            return "";
    return read->table;
}

static void dynamo_on_diagnosis(void *arg)
{
    struct dynamo_call *call = arg;
    const struct read *read = call->base.read;
    const char *table = dynamo_inventory_of(call, &call->why);
    inventory_report(dynamo_of(call)->inventory, table,
                     table ? read->index : dynamo_table_of(read, &call->why), &call->why);
    dynamo_report_failure(call, &call->why);
}

/* Ends the page with ERR. If a table or an index was not found, the error names those that exist.
 */
static void dynamo_fail(struct dynamo_call *call, const struct error *err)
{
    const struct read *read = call->base.read;
    struct error *why = &call->why;
    *why = *err;
    why->operation = dynamo_op_name(call->sent.op);
    if (call->sent.op != DYNAMO_LIST_TABLES)
        printable_copy(why->table, sizeof why->table, span_text(dynamo_table_of(read, err)), "");
    printable_copy(why->index, sizeof why->index, span_text(read->index), "");
    bool searches = call->sent.op == DYNAMO_SEARCH_VECTORS; /* its error is complete */
    if (why->kind != ERROR_NO_TABLE || searches)
        dynamo_report_failure(call, why);
    else if (!inventory_load(dynamo_of(call)->inventory, dynamo_inventory_of(call, why),
                             call->deadline_at_ms, call->base.payer, &call->diagnosis,
                             dynamo_on_diagnosis, call))
        dynamo_on_diagnosis(call);
}

static void dynamo_fail_without_memory(struct dynamo_call *call)
{
    struct error err;
    error_no_memory(&err);
    dynamo_fail(call, &err);
}

static void dynamo_clean_up_owner(struct page_owner **owner)
{
    if (*owner)
        (*owner)->release(*owner);
}

static size_t dynamo_count_items(const struct answer *answer)
{
    size_t count = 0;
    for (size_t i = 0; i < answer->item_count; i++)
        count += json_present(answer->items[i]);
    return count;
}

/* Delivers the page. Its memory is not the call's any more: FN may end the call or request the next
 * page, and still read this page or take it over. */
static void dynamo_deliver(struct dynamo_call *call)
{
    struct answer *answer = call->answer;
    struct dynamo_stats *stats = &dynamo_of(call)->link.stats;
    bool is_list = call->base.read->kind == READ_QUERY || call->base.read->kind == READ_SCAN;
    bool is_of_stream = dynamo_op_is_of_streams(call->sent.op);
    bool is_place = is_of_stream && call->sent.op != DYNAMO_DESCRIBE_STREAM;
    CLEAN_UP(dynamo_clean_up_owner) struct page_owner *owner = &answer->owner;
    CLEAN_UP(throttles_clean_up) struct throttles *throttled = call->throttled;
    /* The response does not have the keys that wait, so its position lacks them. */
    struct json position = call->waiting > 0 ? (struct json){0} : answer->resume;
    struct page page = {
        .items = answer->items,
        .item_count = answer->item_count,
        .counted = answer->counted,
        .scanned = answer->scanned,
        .names = answer->names,
        .name_count = answer->name_count,
        .table = answer->table,
        .description = json_raw(answer->description),
        .more = call->resume.size > 0 && !is_place,
        .position = position,
        .owner = &owner,
        .took_ms = answer->took_ms,
        .skew_ms = dynamo_of(call)->link.client.skew_ms,
        .date_ms = answer->date_ms,
        .age_ms = call->age_ms,
        .requests = call->requests + call->lost,
        .capacity = call->capacity,
        .doubted = call->doubted,
        .search_bytes = call->sent.op == DYNAMO_SEARCH_VECTORS ? answer->search_bytes : 0,
        .throttled = throttled,
        .request_id = answer->request_id,
    };
    call->answer = NULL;
    call->throttled = NULL;
    stats->pages += is_list;
    if (!is_of_stream)
        *(is_list ? &stats->listed : &stats->fetched) +=
            dynamo_count_items(answer) + answer->counted;
    if (call->resume.failed)
        dynamo_fail_without_memory(call);
    else
        call->base.fn(call->base.arg, &page, NULL);
}

/* Rounds of a batch. */

static void dynamo_next_round(void *arg)
{
    struct dynamo_call *call = arg;
    call->timer = NULL;
    if (!dynamo_request(call))
        dynamo_fail_without_memory(call);
}

static bool dynamo_wait_for_round(struct dynamo_call *call, int64_t delay_ms)
{
    if (delay_ms < call->deadline_at_ms - dynamo_now_ms(call))
        call->timer =
            loop_add_timer(dynamo_of(call)->link.client.loop, delay_ms, dynamo_next_round, call);
    return call->timer != NULL;
}

/* Unprocessed keys are throttling under another name. A round that brought no item is repeated as a
 * throttled request is: after the same delay, as often, at the same price. False if it is not
 * repeated. */
static bool dynamo_retry_round(struct dynamo_call *call)
{
    static const struct error throttled = {.kind = ERROR_THROTTLED,
                                           .code = "ProvisionedThroughputExceededException"};
    int64_t delay_ms;
    if (!retry_again(call->retry, &throttled, call->requests, -1, &delay_ms, &call->paid))
        return false;
    if (dynamo_wait_for_round(call, delay_ms))
        return true;
    retry_refund(call->retry, call->paid);
    return false;
}

/* A transaction that met another request's write is repeated until the deadline, each time after a
 * longer delay. No quota pays for it: the service has not failed. ERR is stored, for the case that
 * the deadline passes. False if it is not repeated. */
static bool dynamo_retry_conflict(struct dynamo_call *call, const struct error *err, unsigned tries)
{
    if (strcmp(err->code, REFUSAL_CONFLICT_CODE) != 0)
        return false;
    call->doubted += tries * call->most;
    call->conflicts++;
    call->why = *err;
    return !call->base.read->once &&
           dynamo_wait_for_round(call, retry_backoff_ms(call->retry, false, call->conflicts));
}

/* ERR counts the requests of its exchange. If conflicts came before, theirs are counted, too, and a
 * deadline that passes is the end of the last one. */
static void dynamo_fail_after(struct dynamo_call *call, const struct error *err)
{
    struct error why = call->conflicts > 0 && err->kind == ERROR_TIMED_OUT ? call->why : *err;
    if (call->conflicts > 0 && call->requests > 1)
        error_add(&why, " (%u requests in all)", call->requests);
    dynamo_fail(call, &why);
}

static void dynamo_fail_unprocessed(struct dynamo_call *call)
{
    struct error err;
    error_set(&err, ERROR_THROTTLED,
              "table %s is throttled: %zu keys of %zu stayed unprocessed after %u "
              "request%s; try again later, or read fewer items at once",
              call->base.read->table, call->unasked, call->base.read->key_count, call->requests,
              call->requests == 1 ? "" : "s");
    memcpy(err.request_id, call->answer->request_id, sizeof err.request_id);
    err.http_status = 200;
    dynamo_fail(call, &err);
}

/* Each round that brought an item is a page of its own, so that one response at a time is in
 * memory. No key is reported as not found because of a round without items. */
static void dynamo_continue_with_batch(struct dynamo_call *call)
{
    size_t left = json_count(call->answer->resume) + call->waiting;
    bool got_on = left < call->unasked;
    call->is_full =
        call->answer->body.size >= FULL_BATCH_BYTES || !json_present(call->answer->resume);
    call->unasked = left;
    if (call->waiting > 0 && call->resume.size == 0)
        buf_add_text(&call->resume, "[]"); /* dynamo_choose_keys fills it */
    if (got_on) {
        if (call->paid)
            retry_refund(call->retry, call->paid);
        call->paid = 0;
        dynamo_deliver(call);
        return;
    }
    if (!dynamo_retry_round(call))
        dynamo_fail_unprocessed(call);
}

/* Replaces the response of the round before, which brought no item. */
static void dynamo_store_answer(struct dynamo_call *call, struct answer *answer)
{
    dynamo_drop_answer(call);
    call->answer = answer;
    if (answer->capacity >= 0)
        call->capacity = answer->capacity + (call->capacity >= 0 ? call->capacity : 0);
    if (answer->lost.units > 0)
        call->capacity = answer->lost.units + (call->capacity >= 0 ? call->capacity : 0);
    call->doubted += answer->lost.doubted;
    buf_truncate(&call->resume, 0);
    if (json_present(answer->resume))
        buf_add_span(&call->resume, json_raw(answer->resume));
}

/* The parsed page has the true position. If the page ahead begins elsewhere, it is abandoned. */
static void dynamo_check_ahead(struct dynamo_call *call)
{
    if (!call->ahead.is_begun ||
        span_equal(buf_span(&call->resume), buf_span(&call->ahead.position)))
        return;
    unsigned tries = call->ahead.exchange ? hedged_tries(call->ahead.exchange) : call->ahead.tries;
    call->requests += tries;
    call->doubted += tries * call->ahead.most;
    dynamo_drop_ahead(call);
}

/* Checks and delivers the page, or the round of a batch. */
static void dynamo_take_answer(struct dynamo_call *call, struct answer *answer)
{
    struct error why;
    dynamo_store_answer(call, answer);
    if (!verify_answer(&call->verify, answer, &why)) {
        memcpy(why.request_id, answer->request_id, sizeof why.request_id);
        why.http_status = 200;
        dynamo_of(call)->link.stats.failures++;
        dynamo_fail(call, &why);
        return;
    }
    dynamo_learn(call, answer);
    dynamo_check_ahead(call);
    if (call->sent.op == DYNAMO_BATCH_GET_ITEM)
        dynamo_continue_with_batch(call);
    else
        dynamo_deliver(call);
}

/* The page ahead is over before it is wanted. A failure is not stored: the page is requested again
 * when it is wanted. */
static void dynamo_store_ahead(struct dynamo_call *call, struct answer *answer,
                               const struct error *err, unsigned tries)
{
    struct dynamo_ahead *ahead = &call->ahead;
    bool may_have_read = err && (err->http_status == 200 || err->http_status == 0);
    ahead->exchange = NULL;
    ahead->answer = answer;
    ahead->tries = tries;
    ahead->doubted = may_have_read ? tries * ahead->most : 0;
    ahead->came_ms = dynamo_now_ms(call);
}

/* While the page under way has an exchange, that one ends first: the request ahead leaves when its
 * response arrives. */
static void dynamo_on_answer(void *arg, struct answer *answer, const struct error *err,
                             unsigned tries)
{
    struct dynamo_call *call = arg;
    if (!call->exchange) {
        dynamo_store_ahead(call, answer, err, tries);
        return;
    }
    call->exchange = NULL;
    call->requests += tries;
    if (!err)
        dynamo_take_answer(call, answer);
    else if (!dynamo_retry_conflict(call, err, tries))
        dynamo_fail_after(call, err);
}

static void dynamo_on_refusal(void *arg)
{
    struct dynamo_call *call = arg;
    call->timer = NULL;
    dynamo_fail(call, &call->why);
}

/* The outlay of the next request, and how much of the Read it covers. */
static struct outlay dynamo_estimate(struct dynamo_call *call)
{
    struct dynamo *dynamo = dynamo_of(call);
    double left = payer_left(call->base.payer);
    switch (call->sent.op) {
    case DYNAMO_QUERY:
    case DYNAMO_SCAN:
        return dynamo_estimate_page(dynamo, call->base.read, call->wanted, left, call->bold);
    case DYNAMO_GET_ITEM:
    case DYNAMO_BATCH_GET_ITEM:
        return dynamo_estimate_keys(dynamo, call->base.read, call->unasked, left);
    case DYNAMO_TRANSACT_GET_ITEMS:
        return dynamo_estimate_together(call->base.read);
    default:
        return (struct outlay){0}; /* it consumes nothing */
    }
}

/* Chooses the first COUNT of the unprocessed keys for the next request; the others wait. */
static void dynamo_choose_keys(struct dynamo_call *call, size_t count)
{
    size_t chosen = 0;
    struct json_writer json = json_writer_to(&call->resume);
    if (call->waiting == 0 && count == call->unasked)
        return;
    buf_truncate(&call->resume, 0);
    json_writer_begin_array(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; i < call->base.read->key_count; i++) {
        enum key_state *state = &call->verify.keys[i];
        if (*state != KEY_ASKED && *state != KEY_WAITS)
            continue;
        *state = chosen++ < count ? KEY_ASKED : KEY_WAITS;
        if (*state == KEY_ASKED)
            request_write_key(&call->base.read->keys[i], json_writer_add_value(&json, NULL));
    }
    json_writer_end(&json);
    call->waiting = call->unasked - count;
}

/* Sends the request for the page behind POSITION. NULL when memory ran out. */
static struct hedged *dynamo_send(struct dynamo_call *call, const struct outlay *outlay,
                                  const struct buf *position, int64_t deadline_at_ms, unsigned sent)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    struct dynamo *dynamo = dynamo_of(call);
    if (position->failed || !request_write(&call->request, buf_span(position), &body))
        return NULL;
    struct exchange_request request = {
        .sent = &call->sent,
        .body = buf_span(&body),
        .retry = call->retry,
        .payer = call->base.payer,
        .set_aside = outlay->most,
        .expected = outlay->units,
        /* a round after a conflict is no retry */
        .most_tries =
            retries_left(call->base.read, retry_attempts(call->retry), call->conflicts ? 0 : sent),
        .deadline_at_ms = deadline_at_ms,
        .throttled = &call->throttled,
    };
    return hedged_start(&dynamo->hedging, &dynamo->link, &request, dynamo_on_answer, call);
}

/* The payer may agree now. The time that a request was held does not count against its deadline. */
static void dynamo_on_turn(void *arg)
{
    struct dynamo_call *call = arg;
    call->deadline_at_ms = dynamo_now_ms(call) + dynamo_of(call)->deadline_ms;
    call->timer = loop_add_timer(dynamo_of(call)->link.client.loop, 0, dynamo_next_round, call);
    if (!call->timer)
        dynamo_fail_without_memory(call);
}

/* Sends the page's next request, or the part of it that can be paid. False when memory ran out. */
static bool dynamo_request(struct dynamo_call *call)
{
    struct outlay outlay = dynamo_estimate(call);
    if (call->sent.op == DYNAMO_SEARCH_VECTORS &&
        !payer_allows_search(call->base.payer, &call->why)) {
        call->timer = loop_add_timer(dynamo_of(call)->link.client.loop, 0, dynamo_on_refusal, call);
        return call->timer;
    }
    call->turn = (struct payer_turn){.again = dynamo_on_turn, .arg = call};
    switch (outlay.most > 0 ? payer_set_aside(call->base.payer, outlay.least, outlay.most,
                                              &call->turn, &call->why)
                            : PAYER_AGREES) {
    case PAYER_HOLDS:
        return true;
    case PAYER_REFUSES:
        call->timer = loop_add_timer(dynamo_of(call)->link.client.loop, 0, dynamo_on_refusal, call);
        return call->timer;
    case PAYER_AGREES:
        break;
    }
    call->most = outlay.most;
    if (call->sent.op == DYNAMO_BATCH_GET_ITEM) {
        dynamo_choose_keys(call, outlay.limit);
    } else if (call->sent.op !=
               DYNAMO_GET_ITEM) { /* the rest of the limit follows with later pages */
        call->bold = call->bold < UINT32_MAX / BOLDER ? call->bold * BOLDER : call->bold;
        call->request.page = outlay.limit;
        call->wanted = outlay.limit < call->wanted ? call->wanted - outlay.limit : 0;
    }
    call->exchange =
        dynamo_send(call, &outlay, &call->resume, call->deadline_at_ms, call->requests);
    if (call->exchange)
        return true;
    payer_refund(call->base.payer, outlay.most);
    return false;
}

/* Requests the page behind POSITION, although the reader does not want it yet. Without memory the
 * page is requested when it is wanted. A payer with a limit pays for wanted pages alone. */
static void dynamo_read_ahead(struct dynamo_call *call, struct span position)
{
    struct dynamo_ahead *ahead = &call->ahead;
    struct error ignored;
    if (!call->reads_all || call->sent.op != DYNAMO_QUERY || position.size == 0 ||
        call->base.read->limit > 0 || ahead->is_begun || !isinf(payer_left(call->base.payer)))
        return;
    struct outlay outlay = dynamo_estimate(call);
    if (payer_set_aside(call->base.payer, outlay.least, outlay.most, NULL, &ignored) !=
        PAYER_AGREES)
        return;
    call->request.page = outlay.limit;
    buf_add_span(&ahead->position, position);
    ahead->most = outlay.most;
    ahead->deadline_at_ms = dynamo_now_ms(call) + dynamo_of(call)->deadline_ms;
    ahead->exchange = dynamo_send(call, &outlay, &ahead->position, ahead->deadline_at_ms, 0);
    ahead->is_begun = ahead->exchange;
    if (ahead->is_begun)
        return;
    payer_refund(call->base.payer, outlay.most);
    dynamo_drop_ahead(call);
}

/* The response of the page under way has arrived. That of the page ahead begins no other: at most
 * one page is read beyond the reader's. The first page begins none: its reader may stop, as head
 * does. */
static void dynamo_on_arrival(void *arg, struct span body)
{
    struct dynamo_call *call = arg;
    if (call->exchange && call->reads_all && call->verify.positions > 0)
        dynamo_read_ahead(call, next_page_find(body));
}

static void dynamo_deliver_ahead(void *arg)
{
    struct dynamo_call *call = arg;
    struct answer *answer = call->answer;
    call->timer = NULL;
    call->answer = NULL;
    dynamo_take_answer(call, answer);
}

/* The page ahead becomes the page under way. False when memory ran out, or if its requests have
 * failed: they are counted, and the page is requested again. */
static bool dynamo_turn_to_ahead(struct dynamo_call *call)
{
    struct dynamo_ahead ahead = call->ahead;
    buf_clean_up(&call->ahead.position);
    call->ahead = (struct dynamo_ahead){0};
    call->deadline_at_ms = ahead.deadline_at_ms;
    call->exchange = ahead.exchange;
    if (call->exchange)
        return true;
    call->lost = ahead.answer ? 0 : ahead.tries;
    call->doubted = ahead.doubted;
    if (!ahead.answer)
        return false;
    call->requests = ahead.tries;
    call->age_ms = dynamo_now_ms(call) - ahead.came_ms;
    call->answer = ahead.answer;
    dynamo_read_ahead(call, json_raw(ahead.answer->resume));
    call->timer = loop_add_timer(dynamo_of(call)->link.client.loop, 0, dynamo_deliver_ahead, call);
    if (!call->timer)
        dynamo_drop_answer(call);
    return call->timer;
}

static bool dynamo_begin_page(struct dynamo_call *call)
{
    call->requests = 0;
    call->lost = 0;
    call->capacity = -1;
    call->age_ms = 0;
    call->doubted = 0;
    call->conflicts = 0;
    call->paid = 0;
    if (call->ahead.is_begun && dynamo_turn_to_ahead(call))
        return true;
    call->deadline_at_ms = dynamo_now_ms(call) + dynamo_of(call)->deadline_ms;
    /* Keys that a full response left over are requested at once, other unprocessed keys more
     * slowly. The round before brought items: this is no retry that a quota pays for, and the delay
     * always fits into the page's deadline. */
    if (call->sent.op != DYNAMO_BATCH_GET_ITEM || call->resume.size == 0 || call->is_full)
        return dynamo_request(call);
    int64_t delay_ms = retry_backoff_ms(call->retry, true, 1),
            most_ms = dynamo_of(call)->deadline_ms / 4;
    return dynamo_wait_for_round(call, delay_ms < most_ms ? delay_ms : most_ms);
}

static void dynamo_end(struct source_call *base)
{
    struct dynamo_call *call = (struct dynamo_call *)base;
    list_remove(&call->turn.node);
    hedged_end(call->exchange);
    loop_remove_timer(call->timer);
    inventory_leave(&call->diagnosis);
    dynamo_drop_answer(call);
    dynamo_drop_ahead(call);
    throttles_unref(call->throttled);
    quotas_release(&dynamo_of(call)->quotas, call->retry);
    request_clean_up(&call->request);
    verify_clean_up(&call->verify);
    buf_clean_up(&call->resume);
}

static bool dynamo_start(struct source_call *base)
{
    struct dynamo_call *call = (struct dynamo_call *)base;
    struct dynamo *dynamo = dynamo_of(call);
    const struct aws_settings *settings = aws_session_settings(dynamo->link.session);
    char share[EXCHANGE_SHARE_SIZE];
    call->sent = (struct sent_request){
        .op = request_op(base->read),
        .read = base->read,
        .region = "",
        .endpoint = "",
        .profile = aws_settings_profile(settings),
        .arrived = dynamo_on_arrival,
        .arrived_arg = call,
    };
    call->verify.sent = &call->sent;
    call->unasked = base->read->key_count;
    exchange_share(&dynamo->link, &call->sent, share);
    call->retry = quotas_take(&dynamo->quotas, share);
    if (!call->retry || !request_init(&call->request, base->read))
        return false;
    call->wanted = call->request.limit;
    call->bold = FIRST_ENTRIES;
    bool is_forbidden =
        call->sent.op == DYNAMO_SCAN && !dynamo->may_scan; /* the one place of this rule */
    bool lacks_arn = call->sent.op == DYNAMO_LIST_EXPORTS && !base->read->table_arn;
    if (!is_forbidden && !lacks_arn)
        return dynamo_begin_page(call);
    if (is_forbidden)
        error_set(&call->why, ERROR_INVALID,
                  "%s is not scanned: scans are off; pass --allow-scan to allow them",
                  base->read->table);
    else
        error_set(&call->why, ERROR_INVALID,
                  "the exports of %s are not known: ListExports takes the table's ARN, which its "
                  "description lacks; use another endpoint",
                  base->read->table);
    call->timer = loop_add_timer(dynamo->link.client.loop, 0, dynamo_on_refusal, call);
    return call->timer != NULL;
}

static void dynamo_more(struct source_call *base)
{
    struct dynamo_call *call = (struct dynamo_call *)base;
    if (!dynamo_begin_page(call))
        dynamo_fail_without_memory(call);
}

static void dynamo_read_all(struct source_call *base, bool all)
{
    struct dynamo_call *call = (struct dynamo_call *)base;
    call->reads_all = all;
    if (all && !call->exchange && call->verify.positions > 0)
        dynamo_read_ahead(call, buf_span(&call->resume));
}

static void dynamo_destroy(struct source *source)
{
    struct dynamo *dynamo = (struct dynamo *)source;
    inventory_destroy(dynamo->inventory);
    exchange_link_clean_up(&dynamo->link);
    quotas_clean_up(&dynamo->quotas);
    for (size_t i = 0; i < WEIGHTS; i++)
        free(dynamo->weights[i].name);
    free(dynamo);
}

static void dynamo_add_stats(const struct source *source, struct source_stats *sum)
{
    static const struct dynamo none = {0};
    const struct dynamo *dynamo = source ? (const struct dynamo *)source : &none;
    const struct dynamo_stats *stats = &dynamo->link.stats;
    for (unsigned op = 0; op < DYNAMO_OPS; op++)
        source_stats_add(sum, dynamo_op_name((enum dynamo_op)op), stats->requests[op]);
    sum->pages += stats->pages;
    sum->items += stats->pages > 0 ? stats->listed : stats->fetched;
    sum->failures += stats->failures;
    sum->throttled += stats->throttled;
    spent_add(&sum->spent, &stats->spent);
    sum->hedged += dynamo->hedging.sent;
    sum->hedges_won += dynamo->hedging.won;
}

const struct source_ops dynamo_ops = {
    .layer = SOURCE_SERVICE,
    .call_size = sizeof(struct dynamo_call),
    .start = dynamo_start,
    .more = dynamo_more,
    .read_all = dynamo_read_all,
    .end = dynamo_end,
    .destroy = dynamo_destroy,
    .add_stats = dynamo_add_stats,
    .write_words = read_write_words,
    .write_command = dynamo_write_command,
};

struct source *dynamo_new(const struct dynamo_options *options)
{
    struct dynamo *dynamo = calloc(1, sizeof *dynamo);
    if (!dynamo)
        return NULL;
    dynamo->source.ops = &dynamo_ops;
    dynamo->link.session = options->session;
    if (!quotas_init(&dynamo->quotas, aws_session_settings(options->session)->max_attempts,
                     options->random_seed)) {
        free(dynamo);
        return NULL;
    }
    dynamo->link.client = (struct aws_client){
        .loop = options->loop,
        .transport = options->transport,
        .credentials = aws_session_credentials(options->session),
        .log = options->log,
        .locate = exchange_locate,
        .locate_arg = &dynamo->link,
        .ca_bundle = aws_session_settings(options->session)->ca_bundle,
    };
    dynamo->deadline_ms = options->deadline_ms;
    dynamo->may_scan = options->may_scan;
    dynamo->hedging.on = options->hedges;
    dynamo->inventory = inventory_new(&dynamo->link);
    if (dynamo->inventory)
        return &dynamo->source;
    dynamo_destroy(&dynamo->source);
    return NULL;
}
