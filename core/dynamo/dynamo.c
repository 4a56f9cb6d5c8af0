/* The source and its calls: pages on demand, batches merged. */
#include "core/dynamo/dynamo.h"

#include <stdlib.h>

#include "core/aws/retry.h"
#include "core/dynamo/answer.h"
#include "core/dynamo/command.h"
#include "core/dynamo/exchange.h"
#include "core/dynamo/request.h"
#include "core/dynamo/verify.h"
#include "core/dynamo/words.h"

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
    struct answer *first, *last; /* owned; more than one for a batch */
    unsigned requests;
    double capacity;
    unsigned round; /* of a batch, since there was progress */
    unsigned paid;  /* by the last round */
    size_t asked;   /* keys of a batch that the page began with */
    size_t unasked; /* keys of a batch that are still unprocessed */
};

static bool ask(struct source_call *call);

static int64_t now_ms(const struct source_call *call)
{
    struct clock *clock = loop_clock(call->dynamo->link.client.loop);
    return clock->now_ms(clock);
}

static void destroy_answers(struct answer **first)
{
    struct answer *next;
    for (struct answer *answer = *first; answer; answer = next) {
        next = answer->next;
        answer_destroy(answer);
    }
    *first = NULL;
}

static void drop_page(struct source_call *call)
{
    destroy_answers(&call->first);
    call->last = NULL;
}

static void fail(struct source_call *call, const struct error *err)
{
    drop_page(call);
    call->fn(call->arg, NULL, err);
}

static void fail_without_memory(struct source_call *call)
{
    struct error err;
    error_no_memory(&err);
    fail(call, &err);
}

static size_t count_items(const struct answer *first)
{
    size_t count = 0;
    for (const struct answer *answer = first; answer; answer = answer->next)
        count += answer->item_count;
    return count;
}

/* The items of several answers side by side; NULL when memory ran out. */
static struct json *gather_items(const struct answer *first)
{
    struct json *items = calloc(count_items(first) + 1, sizeof *items);
    size_t count = 0;
    for (const struct answer *answer = first; items && answer; answer = answer->next)
        for (size_t i = 0; i < answer->item_count; i++)
            items[count++] = answer->items[i];
    return items;
}

static void free_items(struct json **items)
{
    free(*items);
}

/* Hands the page over. Its memory is no longer the call's: FN may end the call, or ask for more,
 * and still read the page. */
static void deliver(struct source_call *call)
{
    CLEAN_UP(destroy_answers) struct answer *first = call->first;
    CLEAN_UP(free_items) struct json *items = gather_items(first);
    struct page page = {
        .items = items,
        .item_count = count_items(first),
        .names = first->names,
        .name_count = first->name_count,
        .table = first->table,
        .requests = call->requests,
        .capacity = call->capacity,
        .request_id = call->last->request_id,
    };
    call->first = NULL;
    call->last = NULL;
    if (!items || call->resume.failed) {
        fail_without_memory(call);
        return;
    }
    page.more = call->resume.size > 0;
    call->fn(call->arg, &page, NULL);
}

static void next_round(void *arg)
{
    struct source_call *call = arg;
    call->timer = NULL;
    if (!ask(call))
        fail_without_memory(call);
}

/* Unprocessed keys are throttling that is not called so. Rounds without progress wait longer and
 * longer; their number is bounded by the deadline alone, for every other key is answered. */
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
    memcpy(err.request_id, call->last->request_id, sizeof err.request_id);
    err.http_status = 200;
    fail(call, &err);
}

/* What came is a page with MORE when time runs out; an absent key is never made up. */
static void go_on_with_batch(struct source_call *call, const struct answer *answer)
{
    size_t unasked = json_count(answer->resume);
    call->round = unasked < call->unasked ? 1 : call->round + 1;
    call->unasked = unasked;
    if (unasked && wait_for_round(call))
        return;
    if (!unasked && call->paid)
        retry_succeeded(&call->dynamo->link.client.retry, call->paid);
    if (unasked && unasked >= call->asked)
        fail_unprocessed(call);
    else
        deliver(call);
}

static void keep_answer(struct source_call *call, struct answer *answer)
{
    *(call->last ? &call->last->next : &call->first) = answer;
    call->last = answer;
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
        go_on_with_batch(call, answer);
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
    call->round = 0;
    call->paid = 0;
    call->asked = call->unasked;
    return ask(call);
}

static void dynamo_end(struct source_call *call)
{
    exchange_end(call->exchange);
    loop_remove_timer(call->timer);
    drop_page(call);
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
