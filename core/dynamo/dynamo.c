/* The source and its calls: pages on demand. */
#include "core/dynamo/dynamo.h"

#include <stdlib.h>

#include "core/aws/retry.h"
#include "core/dynamo/answer.h"
#include "core/dynamo/command.h"
#include "core/dynamo/exchange.h"
#include "core/dynamo/request.h"
#include "core/dynamo/verify.h"
#include "core/dynamo/words.h"

/* A batch of 16 MB ends where it is, and leaves the rest unprocessed. */
enum { FULL_BATCH_BYTES = 8 << 20 };

struct dynamo {
    struct source source; /* first, so that a source is a dynamo */
    struct exchange_link link;
    int64_t deadline_ms;
};

struct source_call {
    struct dynamo *dynamo;
    const struct read *read;
    source_page_fn *fn;
    void *arg;
    struct answer_question question;
    struct request request;
    struct verify verify;
    struct buf resume; /* JSON: where the next request goes on; empty at the end */
    struct exchange *exchange;
    struct loop_timer *timer; /* before a batch's next round */
    /* The page under way. */
    int64_t deadline_at_ms;
    struct answer *answer; /* owned; the last one, until it is handed over */
    unsigned requests;
    double capacity;
    unsigned round; /* of a batch, since there was progress */
    unsigned paid;  /* by the last round */
    size_t unasked; /* keys of a batch that are still unprocessed */
    bool is_full;   /* the last answer held as much as one may: what was left was not throttled */
};

static bool ask(struct source_call *call);

static int64_t now_ms(const struct source_call *call)
{
    struct clock *clock = loop_clock(call->dynamo->link.client.loop);
    return clock->now_ms(clock);
}

static void drop_answer(struct source_call *call)
{
    answer_destroy(call->answer);
    call->answer = NULL;
}

static void fail(struct source_call *call, const struct error *err)
{
    drop_answer(call);
    call->fn(call->arg, NULL, err);
}

static void fail_without_memory(struct source_call *call)
{
    struct error err;
    error_no_memory(&err);
    fail(call, &err);
}

static void clean_up_answer(struct answer **answer)
{
    answer_destroy(*answer);
}

/* Hands the page over. Its memory is no longer the call's: FN may end the call, or ask for more,
 * and still read the page. */
static void deliver(struct source_call *call)
{
    CLEAN_UP(clean_up_answer) struct answer *answer = call->answer;
    struct page page = {
        .items = answer->items,
        .item_count = answer->item_count,
        .names = answer->names,
        .name_count = answer->name_count,
        .table = answer->table,
        .more = call->resume.size > 0,
        .requests = call->requests,
        .capacity = call->capacity,
        .request_id = answer->request_id,
    };
    call->answer = NULL;
    if (call->resume.failed)
        fail_without_memory(call);
    else
        call->fn(call->arg, &page, NULL);
}

static void next_round(void *arg)
{
    struct source_call *call = arg;
    call->timer = NULL;
    if (!ask(call))
        fail_without_memory(call);
}

/* Keys that stay unprocessed are throttling that is not called so: the next round waits, the longer
 * the more of them made no progress. False when it is not to be waited for. */
static bool wait_for_round(struct source_call *call)
{
    static const struct error throttled = {.kind = ERROR_THROTTLED,
                                           .code = "ProvisionedThroughputExceededException"};
    struct retry *retry = &call->dynamo->link.client.retry;
    unsigned attempt = call->round < RETRY_ATTEMPTS ? call->round : RETRY_ATTEMPTS - 1;
    int64_t delay_ms;
    if (!retry_again(retry, &throttled, attempt, -1, &delay_ms, &call->paid))
        return false;
    if (delay_ms < call->deadline_at_ms - now_ms(call))
        call->timer = loop_add_timer(call->dynamo->link.client.loop, delay_ms, next_round, call);
    else
        retry_succeeded(retry, call->paid);
    return call->timer != NULL;
}

static void fail_unprocessed(struct source_call *call)
{
    struct error err;
    error_set(
        &err, ERROR_THROTTLED,
        "table %s is throttled: %zu keys of %zu stayed unprocessed, tried %u times; try again "
        "later, or more slowly",
        call->read->table, call->unasked, call->read->key_count, call->requests);
    memcpy(err.request_id, call->answer->request_id, sizeof err.request_id);
    err.http_status = 200;
    fail(call, &err);
}

/* Each round of a batch that got on is a page of its own, so that one answer at a time is held. One
 * that did not has nothing to tell, and is tried again until the page's time is over; no key is
 * ever taken for absent because of that. */
static void go_on_with_batch(struct source_call *call)
{
    size_t left = json_count(call->answer->resume);
    bool got_on = left < call->unasked;
    call->is_full = call->answer->body.size >= FULL_BATCH_BYTES;
    call->unasked = left;
    if (got_on) {
        if (call->paid)
            retry_succeeded(&call->dynamo->link.client.retry, call->paid);
        call->paid = 0;
        deliver(call);
        return;
    }
    call->round++;
    if (!wait_for_round(call))
        fail_unprocessed(call);
}

/* The answer of the round before, if there was one, had nothing to tell. */
static void keep_answer(struct source_call *call, struct answer *answer)
{
    drop_answer(call);
    call->answer = answer;
    if (answer->capacity >= 0)
        call->capacity = answer->capacity + (call->capacity >= 0 ? call->capacity : 0);
    buf_truncate(&call->resume, 0);
    if (json_present(answer->resume))
        buf_add_span(&call->resume, json_raw(answer->resume));
}

static void on_answer(void *arg, struct answer *answer, const struct error *err, unsigned tries)
{
    struct source_call *call = arg;
    struct error why;
    call->exchange = NULL;
    call->requests += tries;
    if (err) {
        fail(call, err);
        return;
    }
    keep_answer(call, answer);
    if (!verify_answer(&call->verify, answer, &why)) {
        memcpy(why.request_id, answer->request_id, sizeof why.request_id);
        why.http_status = 200;
        call->dynamo->link.stats.failures++;
        fail(call, &why);
        return;
    }
    if (call->question.op == DYNAMO_BATCH_GET_ITEM)
        go_on_with_batch(call);
    else
        deliver(call);
}

/* Sends what the page still needs. False when memory ran out. */
static bool ask(struct source_call *call)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    if (call->resume.failed || !request_write(&call->request, buf_span(&call->resume), &body))
        return false;
    call->exchange = exchange_start(&call->dynamo->link, &call->question, buf_span(&body),
                                    call->deadline_at_ms, on_answer, call);
    return call->exchange != NULL;
}

static bool begin_page(struct source_call *call)
{
    call->deadline_at_ms = now_ms(call) + call->dynamo->deadline_ms;
    call->requests = 0;
    call->capacity = -1;
    call->paid = 0;
    /* What is left because the answer was full can be asked for at once. */
    bool throttled =
        call->question.op == DYNAMO_BATCH_GET_ITEM && call->resume.size > 0 && !call->is_full;
    call->round = throttled;
    return (throttled && wait_for_round(call)) || ask(call);
}

static void dynamo_end(struct source_call *call)
{
    exchange_end(call->exchange);
    loop_remove_timer(call->timer);
    drop_answer(call);
    request_clean_up(&call->request);
    verify_clean_up(&call->verify);
    buf_clean_up(&call->resume);
    free(call);
}

static struct answer_question question_of(const struct dynamo *dynamo, const struct read *read)
{
    const struct aws_settings *settings = dynamo->link.settings;
    return (struct answer_question){
        .op = request_op(read),
        .read = read,
        .region = settings->region,
        .endpoint = settings->url,
        .profile = aws_settings_profile(settings),
    };
}

static struct source_call *dynamo_start(struct source *source, const struct read *read,
                                        source_page_fn *fn, void *arg)
{
    struct source_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->dynamo = (struct dynamo *)source;
    call->read = read;
    call->fn = fn;
    call->arg = arg;
    call->question = question_of(call->dynamo, read);
    call->verify.question = &call->question;
    call->unasked = read->key_count;
    if (!request_init(&call->request, read) || !begin_page(call)) {
        dynamo_end(call);
        return NULL;
    }
    return call;
}

/* Only a lack of memory makes FN run from within. */
static void dynamo_more(struct source_call *call)
{
    if (!begin_page(call))
        fail_without_memory(call);
}

static void dynamo_destroy(struct source *source)
{
    free(source);
}

static void dynamo_add_stats(const struct source *source, struct source_stats *sum)
{
    static const struct dynamo_stats none = {0};
    const struct dynamo_stats *stats =
        source ? &((const struct dynamo *)source)->link.stats : &none;
    for (unsigned op = 0; op < DYNAMO_OPS; op++)
        source_stats_add(sum, dynamo_op_name((enum dynamo_op)op), stats->requests[op]);
    sum->failures += stats->failures;
    sum->capacity += stats->capacity;
}

const struct source_ops dynamo_ops = {
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
    dynamo->link.settings = aws_session_settings(options->session);
    dynamo->link.client = (struct aws_client){
        .loop = options->loop,
        .transport = options->transport,
        .credentials = aws_session_credentials(options->session),
        .log = options->log,
        .retry = {.tokens = RETRY_TOKENS, .seed = options->random_seed},
    };
    dynamo->deadline_ms = options->deadline_ms;
    return &dynamo->source;
}
