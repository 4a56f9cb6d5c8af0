/* The source and its calls: pages on demand. */
#include "core/dynamo/dynamo.h"

#include <stdlib.h>

#include "core/aws/retry.h"
#include "core/base/printable.h"
#include "core/dynamo/answer.h"
#include "core/dynamo/cli_command.h"
#include "core/dynamo/exchange.h"
#include "core/dynamo/hedge.h"
#include "core/dynamo/inventory.h"
#include "core/dynamo/request.h"
#include "core/dynamo/request_words.h"
#include "core/dynamo/verify.h"
#include "core/dynamo/weights.h"
#include "core/source/retries.h"

/* A batch of 16 MB ends where it is, and leaves the rest unprocessed. */
enum { FULL_BATCH_BYTES = 8 << 20 };

/* Of pages that are paid with care: nobody knows a partition before its first entries have come,
 * and the next may be others. */
enum { FIRST_ENTRIES = 8, BOLDER = 4 };

struct dynamo {
    struct source source; /* first, so that a source is a dynamo */
    struct exchange_link link;
    struct hedging hedging;
    struct weights weights;
    struct quotas quotas;        /* one a table; of an endpoint, as the whole source is */
    struct inventory *inventory; /* owned */
    int64_t deadline_ms;
    bool may_scan;
};

struct dynamo_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct answer_question question;
    struct request request;
    struct verify verify;
    struct buf resume; /* JSON: where the next request goes on; empty at the end */
    struct hedged *exchange;
    struct retry *retry;             /* the table's quota; given back at the end */
    struct loop_timer *timer;        /* before a batch's next round, or a refusal */
    struct payer_turn turn;          /* while the payer holds the next request */
    struct inventory_wait diagnosis; /* before an error that names what there is instead */
    struct error why;                /* that error, or what a refusal says */
    uint32_t wanted;                 /* entries of a Read's limit that were not asked for yet */
    uint32_t bold;                   /* entries of the next page, if it is paid with care */
    /* The page under way. */
    int64_t deadline_at_ms;
    struct answer *answer; /* owned; the last one, until it is handed over */
    unsigned requests;
    double capacity; /* < 0: no answer has stated any */
    double doubted;  /* that it may have consumed beside */
    unsigned paid;   /* by the last round that brought nothing */
    size_t unasked;  /* keys of a batch that are still unprocessed */
    size_t waiting;  /* of these, those that no request has asked for, as they could not be paid */
    bool is_full;    /* the last answer held as much as one may: what was left was not throttled */
};

static struct dynamo *dynamo_of(const struct dynamo_call *call)
{
    return (struct dynamo *)call->base.source;
}

static bool dynamo_request(struct dynamo_call *call);

static int64_t dynamo_now_ms(const struct dynamo_call *call)
{
    return loop_now_ms(dynamo_of(call)->link.client.loop);
}

static void dynamo_drop_answer(struct dynamo_call *call)
{
    answer_destroy(call->answer);
    call->answer = NULL;
}

static void dynamo_report_failure(struct dynamo_call *call, const struct error *err)
{
    struct error copy = *err; /* FN may end the call */
    dynamo_drop_answer(call);
    call->base.fn(call->base.arg, NULL, &copy);
}

/* Whose inventory has what ERR misses: that of the table where an index is missing, the account's
 * (NULL) where the table is. */
static const char *dynamo_searched(const struct dynamo_call *call, const struct error *err)
{
    return strcmp(err->code, "ResourceNotFoundException") == 0 ? NULL : call->base.read->table;
}

static void dynamo_on_diagnosis(void *arg)
{
    struct dynamo_call *call = arg;
    const char *table = dynamo_searched(call, &call->why);
    inventory_report(dynamo_of(call)->inventory, table,
                     table ? call->base.read->index : call->base.read->table, &call->why);
    dynamo_report_failure(call, &call->why);
}

/* The end of a page in ERR, which is told with what was asked, and where a table or an index is
 * missing with those that there are. */
static void dynamo_fail(struct dynamo_call *call, const struct error *err)
{
    const struct read *read = call->base.read;
    struct error *why = &call->why;
    *why = *err;
    why->operation = dynamo_op_name(call->question.op);
    if (call->question.op != DYNAMO_LIST_TABLES)
        printable_copy(why->table, sizeof why->table, span_text(read->table), "");
    printable_copy(why->index, sizeof why->index, span_text(read->index), "");
    if (why->kind != ERROR_NO_TABLE) {
        dynamo_report_failure(call, why);
        return;
    }
    if (!inventory_request(dynamo_of(call)->inventory, dynamo_searched(call, why),
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

static void dynamo_count_items(struct dynamo_stats *stats, enum read_kind kind,
                               const struct answer *answer)
{
    bool is_page = kind == READ_QUERY || kind == READ_SCAN;
    stats->pages += is_page;
    *(is_page ? &stats->listed : &stats->fetched) += answer->item_count + answer->counted;
}

/* Hands the page over. Its memory is no longer the call's: FN may end the call, or ask for more,
 * and still read the page, or keep it. */
static void dynamo_deliver(struct dynamo_call *call)
{
    struct answer *answer = call->answer;
    CLEAN_UP(dynamo_clean_up_owner) struct page_owner *owner = &answer->owner;
    /* Keys that wait are not in the answer, so that it does not state all that are left. */
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
        .more = call->resume.size > 0,
        .position = position,
        .owner = &owner,
        .took_ms = answer->took_ms,
        .requests = call->requests,
        .capacity = call->capacity,
        .doubted = call->doubted,
        .request_id = answer->request_id,
    };
    call->answer = NULL;
    dynamo_count_items(&dynamo_of(call)->link.stats, call->base.read->kind, answer);
    if (call->resume.failed)
        dynamo_fail_without_memory(call);
    else
        call->base.fn(call->base.arg, &page, NULL);
}

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

/* Keys that stay unprocessed are throttling that is not called so. A round that brought nothing is
 * tried again as a request that was throttled is: after as long, as often and at the same price.
 * False when it is not. */
static bool dynamo_try_round_again(struct dynamo_call *call)
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

static void dynamo_fail_unprocessed(struct dynamo_call *call)
{
    struct error err;
    error_set(
        &err, ERROR_THROTTLED,
        "table %s is throttled: %zu keys of %zu stayed unprocessed, tried %u time%s; try again "
        "later, or more slowly",
        call->base.read->table, call->unasked, call->base.read->key_count, call->requests,
        call->requests == 1 ? "" : "s");
    memcpy(err.request_id, call->answer->request_id, sizeof err.request_id);
    err.http_status = 200;
    dynamo_fail(call, &err);
}

/* Each round of a batch that got on is a page of its own, so that one answer at a time is held. One
 * that did not has nothing to tell; no key is ever taken for absent because of that. */
static void dynamo_continue_with_batch(struct dynamo_call *call)
{
    size_t left = json_count(call->answer->resume) + call->waiting;
    bool got_on = left < call->unasked;
    call->is_full =
        call->answer->body.size >= FULL_BATCH_BYTES || !json_present(call->answer->resume);
    call->unasked = left;
    if (call->waiting > 0 && call->resume.size == 0)
        buf_add_text(&call->resume, "[]"); /* the keys are chosen when they are asked for */
    if (got_on) {
        if (call->paid)
            retry_refund(call->retry, call->paid);
        call->paid = 0;
        dynamo_deliver(call);
        return;
    }
    if (!dynamo_try_round_again(call))
        dynamo_fail_unprocessed(call);
}

/* What the answer took tells what the next will. */
static void dynamo_learn(struct dynamo_call *call, const struct answer *answer)
{
    struct weights *weights = &dynamo_of(call)->weights;
    if (answer->capacity <= 0)
        return;
    switch (call->question.op) {
    case DYNAMO_GET_ITEM:
    case DYNAMO_BATCH_GET_ITEM:
        weights_learn_keys(weights, call->base.read,
                           call->unasked - call->waiting - json_count(answer->resume),
                           answer->capacity);
        break;
    case DYNAMO_QUERY:
    case DYNAMO_SCAN:
        weights_learn_page(weights, call->base.read, answer->read_count, answer->capacity);
        break;
    default:
        break;
    }
}

/* The answer of the round before, if there was one, had nothing to tell. */
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

static void dynamo_on_answer(void *arg, struct answer *answer, const struct error *err,
                             unsigned tries)
{
    struct dynamo_call *call = arg;
    struct error why;
    call->exchange = NULL;
    call->requests += tries;
    if (err) {
        dynamo_fail(call, err);
        return;
    }
    dynamo_store_answer(call, answer);
    if (!verify_answer(&call->verify, answer, &why)) {
        memcpy(why.request_id, answer->request_id, sizeof why.request_id);
        why.http_status = 200;
        dynamo_of(call)->link.stats.failures++;
        dynamo_fail(call, &why);
        return;
    }
    dynamo_learn(call, answer); /* its unprocessed keys are among those of the request */
    if (call->question.op == DYNAMO_BATCH_GET_ITEM)
        dynamo_continue_with_batch(call);
    else
        dynamo_deliver(call);
}

static void dynamo_on_refusal(void *arg)
{
    struct dynamo_call *call = arg;
    call->timer = NULL;
    dynamo_fail(call, &call->why);
}

/* What the next request is expected to consume, and how much of the Read it asks for. */
static struct outlay dynamo_outlay_of(struct dynamo_call *call)
{
    struct weights *weights = &dynamo_of(call)->weights;
    double left = payer_left(call->base.payer);
    switch (call->question.op) {
    case DYNAMO_QUERY:
    case DYNAMO_SCAN:
        return weights_of_page(weights, call->base.read, call->wanted, left, call->bold);
    case DYNAMO_GET_ITEM:
    case DYNAMO_BATCH_GET_ITEM:
        return weights_of_keys(weights, call->base.read, call->unasked, left);
    default:
        return (struct outlay){0}; /* it consumes nothing */
    }
}

/* The next page has LIMIT entries. What is wanted beyond it is asked for with the page after it. */
static void dynamo_cut_page(struct dynamo_call *call, uint32_t limit)
{
    call->bold = call->bold < UINT32_MAX / BOLDER ? call->bold * BOLDER : call->bold;
    call->request.page = limit;
    call->wanted = limit < call->wanted ? call->wanted - limit : 0;
}

/* Asks for the first COUNT of the keys that have not been read yet; the others wait. */
static void dynamo_cut_batch(struct dynamo_call *call, size_t count)
{
    size_t chosen = 0;
    if (call->waiting == 0 && count == call->unasked)
        return;
    buf_truncate(&call->resume, 0);
    for (size_t i = 0; i < call->base.read->key_count; i++) {
        enum key_state *state = &call->verify.keys[i];
        if (*state != KEY_ASKED && *state != KEY_WAITS)
            continue;
        *state = chosen < count ? KEY_ASKED : KEY_WAITS;
        if (*state == KEY_ASKED) {
            buf_add_char(&call->resume, chosen ? ',' : '[');
            request_write_key(&call->base.read->keys[i], &call->resume);
        }
        chosen++;
    }
    buf_add_char(&call->resume, ']');
    call->waiting = call->unasked - count;
}

static bool dynamo_send(struct dynamo_call *call, const struct outlay *outlay)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    struct dynamo *dynamo = dynamo_of(call);
    if (call->resume.failed || !request_write(&call->request, buf_span(&call->resume), &body))
        return false;
    struct exchange_request request = {
        .question = &call->question,
        .body = buf_span(&body),
        .retry = call->retry,
        .payer = call->base.payer,
        .set_aside = outlay->most,
        .expected = outlay->units,
        .most_tries = retries_left(call->base.read, retry_attempts(call->retry), call->requests),
        .deadline_at_ms = call->deadline_at_ms,
    };
    call->exchange =
        hedged_start(&dynamo->hedging, &dynamo->link, &request, dynamo_on_answer, call);
    return call->exchange != NULL;
}

/* The payer may be asked again. Time that a request was held is none of its own. */
static void dynamo_on_turn(void *arg)
{
    struct dynamo_call *call = arg;
    call->deadline_at_ms = dynamo_now_ms(call) + dynamo_of(call)->deadline_ms;
    call->timer = loop_add_timer(dynamo_of(call)->link.client.loop, 0, dynamo_next_round, call);
    if (!call->timer)
        dynamo_fail_without_memory(call);
}

/* Sends what the page still needs, as far as that can be paid. False when memory ran out. */
static bool dynamo_request(struct dynamo_call *call)
{
    struct outlay outlay = dynamo_outlay_of(call);
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
    if (call->question.op == DYNAMO_BATCH_GET_ITEM)
        dynamo_cut_batch(call, outlay.limit);
    else if (call->question.op != DYNAMO_GET_ITEM)
        dynamo_cut_page(call, outlay.limit);
    if (dynamo_send(call, &outlay))
        return true;
    payer_refund(call->base.payer, outlay.most);
    return false;
}

static bool dynamo_begin_page(struct dynamo_call *call)
{
    call->deadline_at_ms = dynamo_now_ms(call) + dynamo_of(call)->deadline_ms;
    call->requests = 0;
    call->capacity = -1;
    call->doubted = 0;
    call->paid = 0;
    /* What is left of a batch because the answer was full can be asked for at once; else the
     * service wants to be asked more slowly. The round before got on, so this is no retry to be
     * paid for, and a page's time always has room for it. */
    if (call->question.op != DYNAMO_BATCH_GET_ITEM || call->resume.size == 0 || call->is_full)
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
    call->question = (struct answer_question){
        .op = request_op(base->read),
        .read = base->read,
        .region = "",
        .endpoint = "",
        .profile = aws_settings_profile(settings),
    };
    call->verify.question = &call->question;
    call->unasked = base->read->key_count;
    exchange_share(&dynamo->link, &call->question, share);
    call->retry = quotas_take(&dynamo->quotas, share);
    if (!call->retry || !request_init(&call->request, base->read))
        return false;
    call->wanted = call->request.limit;
    call->bold = FIRST_ENTRIES;
    if (call->question.op != DYNAMO_SCAN || dynamo->may_scan) /* the one place that allows a Scan */
        return dynamo_begin_page(call);
    error_set(&call->why, ERROR_INVALID, "%s is not scanned: nobody has allowed it (--allow-scan)",
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

static void dynamo_destroy(struct source *source)
{
    struct dynamo *dynamo = (struct dynamo *)source;
    inventory_destroy(dynamo->inventory);
    exchange_link_clean_up(&dynamo->link);
    quotas_clean_up(&dynamo->quotas);
    weights_clean_up(&dynamo->weights);
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
    spent_add(&sum->spent, &stats->spent);
    sum->hedged += dynamo->hedging.sent;
    sum->hedges_won += dynamo->hedging.won;
}

const struct source_ops dynamo_ops = {
    .layer = SOURCE_SERVICE,
    .call_size = sizeof(struct dynamo_call),
    .start = dynamo_start,
    .more = dynamo_more,
    .end = dynamo_end,
    .destroy = dynamo_destroy,
    .add_stats = dynamo_add_stats,
    .write_words = dynamo_write_words,
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
