#include "core/dynamo/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/printable.h"
#include "core/base/quantity.h"
#include "core/dynamo/refusal.h"

struct exchange {
    struct exchange_link *link;
    struct sent_request *sent;
    struct payer *payer; /* borrowed; a reference once the exchange is abandoned */
    double set_aside;    /* of the payer's units, until the end; no request consumes more */
    double expected;     /* of them */
    struct spent lost;   /* by requests without a valid response */
    bool is_sent;        /* a request is under way, since SENT_MS */
    unsigned tries;      /* the number of requests */
    int64_t sent_ms;
    struct throttles **throttled; /* borrowed; NULL once the exchange is abandoned */
    size_t max_answer;
    struct aws_call *call;
    struct aws_header headers[2]; /* of the call's request */
    char target[64];
    char share[EXCHANGE_SHARE_SIZE];
    exchange_done_fn *done;
    void *arg;
    double stated; /* the units of a rejected response; < 0: not stated */
    /* Of an abandoned exchange: */
    bool is_abandoned;
    struct list_node node;        /* in the link's list */
    struct loop_timer *timer;     /* until the response is given up */
    struct read *named;           /* owned: the names of its expense */
    struct sent_request own_sent; /* for NAMED */
};

/* The response to an abandoned request is read for its units alone. */
static void *exchange_decode(void *arg, const struct http_response *response, struct error *err)
{
    struct exchange *exchange = arg;
    if (!exchange->is_abandoned)
        return answer_new(exchange->sent, response, &exchange->stated, err);
    exchange->stated = answer_stated(response, exchange->max_answer);
    err->http_status = response->status;
    return NULL;
}

static void exchange_sent(void *arg)
{
    struct exchange *exchange = arg;
    exchange->link->stats.requests[exchange->sent->op]++;
    exchange->sent->region = aws_session_settings(exchange->link->session)->region;
    exchange->sent->endpoint = exchange->link->endpoint->root_url;
    exchange->sent->method = exchange->link->method;
    exchange->sent->origin = exchange->link->origin;
    exchange->is_sent = true;
    exchange->tries++;
    exchange->sent_ms = loop_now_ms(exchange->link->client.loop);
}

const struct aws_endpoint *exchange_locate(void *arg, enum aws_service service,
                                           const struct credentials *credentials, struct error *err)
{
    struct exchange_link *link = arg;
    const struct aws_endpoint *endpoint =
        aws_session_endpoint(link->session, service, credentials, err);
    link->method = credentials ? credentials->method : NULL;
    snprintf(link->origin, sizeof link->origin, "%s",
             credentials && credentials->origin ? credentials->origin : "");
    if (endpoint)
        link->endpoint = endpoint;
    return endpoint;
}

/* One line a request: exactly one of ANSWER and ERR is not NULL, unless the exchange is abandoned.
 */
static void exchange_log(const struct exchange *exchange, const struct answer *answer,
                         const struct error *err, int64_t took_ms)
{
    const struct log *log = exchange->link->client.log;
    const struct read *read = exchange->sent->read;
    if (!log_has_level(log, LOG_LEVEL_INFO))
        return;
    bool has_table = exchange->sent->op != DYNAMO_LIST_TABLES;
    char what[640], table[288] = "", index[288] = ""; /* 255 bytes, but a user may type more */
    CLEAN_UP(buf_clean_up) struct buf capacity = {0}, tables = {0}, reasons = {0};
    read_write_tables(read, ",", &tables);
    error_write_throttles(err, &reasons);
    if (has_table)
        printable_copy(table, sizeof table, buf_span(&tables), PRINTABLE_WORD);
    if (read->index)
        printable_copy(index, sizeof index, span_text(read->index), PRINTABLE_WORD);
    snprintf(what, sizeof what, "%s%s%s%s%s", dynamo_op_name(exchange->sent->op),
             has_table ? " table=" : "", table, read->index ? " index=" : "", index);
    bool searches = exchange->sent->op == DYNAMO_SEARCH_VECTORS;
    const char *unit = searches ? "search_bytes" : "capacity";
    double stated = !answer ? exchange->stated : searches ? answer->search_bytes : answer->capacity;
    decimal_write_known(stated, "unknown", &capacity);
    if (exchange->is_abandoned)
        log_line(log, LOG_LEVEL_INFO, "%s abandoned ms=%lld %s=%s", what, (long long)took_ms, unit,
                 buf_text(&capacity));
    else if (answer)
        log_line(log, LOG_LEVEL_INFO, "%s status=200 ms=%lld request=%s %s=%s", what,
                 (long long)took_ms, answer->request_id[0] ? answer->request_id : "unknown", unit,
                 buf_text(&capacity));
    else
        log_line(log, LOG_LEVEL_INFO, "%s status=%d error=%s%s%s%s%s ms=%lld request=%s", what,
                 err->http_status, error_word(err->kind), err->code[0] ? " code=" : "", err->code,
                 reasons.size ? " reason=" : "", buf_text(&reasons), (long long)took_ms,
                 err->request_id[0] ? err->request_id : "unknown");
}

/* The consumption of a search. */
static void exchange_add_search(const struct exchange *exchange, const struct answer *answer,
                                bool is_doubted, struct spent *spent)
{
    if (exchange->sent->op != DYNAMO_SEARCH_VECTORS)
        return;
    if (answer && answer->search_bytes >= 0)
        spent->search_bytes = answer->search_bytes;
    else if (is_doubted)
        spent->unstated_searches = 1;
}

/* Whether a request that failed with ERR may have consumed units. A refused request has not, but a
 * transaction may be canceled after some items were read. Without a status, the response may have
 * been lost, late, too large, or without memory for it. */
static bool exchange_may_have_read(const struct error *err)
{
    bool is_unseen = err->kind == ERROR_TIMED_OUT || err->kind == ERROR_RESET ||
                     err->kind == ERROR_BAD_ANSWER || err->kind == ERROR_NO_MEMORY;
    return err->http_status == 200 || refusal_is_cancellation(err) ||
           (err->http_status == 0 && is_unseen);
}

/* The parts of a transaction are charged in equal shares. The first one counts the request. */
static void exchange_charge_parts(const struct exchange *exchange, struct expense expense)
{
    const struct read *read = exchange->sent->read;
    double count = (double)read->part_count;
    expense.spent.units /= count;
    expense.spent.doubted /= count;
    expense.expected /= count;
    for (size_t i = 0; i < read->part_count; i++) {
        expense.table = read->parts[i]->table;
        expense.pattern = read->parts[i]->pattern;
        payer_charge(exchange->payer, &expense);
        expense.requests = 0;
    }
}

/* Charges the request, which is over. STATED: the units of its response; < 0: not stated.
 * IS_DOUBTED: the request may have consumed units that are not stated. ERR: its failure, or NULL.
 */
static struct spent exchange_charge(struct exchange *exchange, enum expense_end end,
                                    const struct answer *answer, bool is_doubted, int64_t took_ms,
                                    const struct error *err)
{
    double stated = answer ? answer->capacity : exchange->stated;
    const struct read *read = exchange->sent->read;
    bool is_stated = stated >= 0;
    struct expense expense = {
        .operation = dynamo_op_name(exchange->sent->op),
        .table = exchange->sent->op == DYNAMO_LIST_TABLES ? "" : read->table,
        .index = read->index ? read->index : "",
        .pattern = read->pattern,
        .requests = 1,
        .end = end,
        .spent = {.units = is_stated ? stated : 0,
                  .doubted = !is_stated && is_doubted ? exchange->set_aside : 0},
        .expected = !is_stated && is_doubted ? exchange->expected : 0,
        .took_ms = took_ms,
        .throttles = err ? err->throttles : NULL,
        .throttle_count = err ? err->throttle_count : 0,
    };
    exchange_add_search(exchange, answer, is_doubted, &expense.spent);
    exchange->is_sent = false;
    spent_add(&exchange->link->stats.spent, &expense.spent);
    if (read->part_count > 0)
        exchange_charge_parts(exchange, expense);
    else
        payer_charge(exchange->payer, &expense);
    return expense.spent;
}

static int64_t exchange_took_ms(const struct exchange *exchange)
{
    return loop_now_ms(exchange->link->client.loop) - exchange->sent_ms;
}

static void exchange_count_throttled(struct exchange *exchange, const struct error *err)
{
    exchange->link->stats.throttled += err->throttle_count > 0;
    for (size_t i = 0; exchange->throttled && i < err->throttle_count; i++)
        throttles_add(exchange->throttled, &err->throttles[i], 1);
}

static void exchange_attempted(void *arg, const struct aws_attempt *attempt)
{
    struct exchange *exchange = arg;
    const struct answer *answer = attempt->result;
    if (exchange->is_abandoned) {
        exchange_charge(exchange, EXPENSE_ABANDONED, NULL, exchange_may_have_read(attempt->err),
                        attempt->took_ms, NULL);
    } else if (answer) {
        struct spent spent =
            exchange_charge(exchange, EXPENSE_ANSWERED, answer, true, attempt->took_ms, NULL);
        exchange->lost.doubted += spent.doubted;
    } else {
        exchange->link->stats.failures++;
        exchange_count_throttled(exchange, attempt->err);
        struct spent spent =
            exchange_charge(exchange, EXPENSE_FAILED, NULL, exchange_may_have_read(attempt->err),
                            attempt->took_ms, attempt->err);
        spent_add(&exchange->lost, &spent);
    }
    exchange_log(exchange, answer, attempt->err, attempt->took_ms);
    exchange->stated = -1;
}

static void exchange_free(struct exchange *exchange)
{
    payer_refund(exchange->payer, exchange->set_aside);
    if (exchange->is_abandoned) {
        list_remove(&exchange->node);
        payer_unref(exchange->payer);
    }
    loop_remove_timer(exchange->timer);
    read_destroy(exchange->named);
    free(exchange);
}

static void exchange_done(void *arg, void *result, const struct error *err, unsigned tries)
{
    struct exchange *exchange = arg;
    struct answer *answer = result;
    exchange_done_fn *fn = exchange->is_abandoned ? NULL : exchange->done;
    void *fn_arg = exchange->arg;
    if (exchange->is_sent)
        exchange_charge(exchange, EXPENSE_FAILED, NULL, true, exchange_took_ms(exchange), err);
    if (answer)
        answer->lost = exchange->lost;
    exchange_free(exchange);
    if (fn)
        fn(fn_arg, answer, err, tries);
}

static enum aws_service exchange_service(const struct sent_request *sent)
{
    return dynamo_op_is_of_streams(sent->op)   ? AWS_DYNAMODB_STREAMS
           : sent->op == DYNAMO_SEARCH_VECTORS ? AWS_DYNAMODB_SEARCH
                                               : AWS_DYNAMODB;
}

/* A stream has its own: polls of its shards must not delay the reads of its table. */
void exchange_share(const struct exchange_link *link, const struct sent_request *sent,
                    char out[EXCHANGE_SHARE_SIZE])
{
    const struct aws_settings *settings = aws_session_settings(link->session);
    bool is_stream = dynamo_op_is_of_streams(sent->op);
    const char *url = settings->urls[is_stream ? AWS_DYNAMODB_STREAMS : AWS_DYNAMODB];
    const char *region = settings->region ? settings->region : "the machine's region";
    snprintf(out, EXCHANGE_SHARE_SIZE, "%s %s%s", url ? url : region,
             sent->op == DYNAMO_LIST_TABLES ? "" : sent->read->table,
             dynamo_op_is_of_streams(sent->op)   ? " (stream)"
             : sent->op == DYNAMO_SEARCH_VECTORS ? " (search)"
                                                 : "");
}

struct exchange *exchange_start(struct exchange_link *link, const struct exchange_request *wanted,
                                exchange_done_fn *fn, void *arg)
{
    static const struct aws_call_ops ops = {exchange_decode, exchange_sent, exchange_attempted,
                                            exchange_done};
    struct sent_request *sent = wanted->sent;
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    *exchange = (struct exchange){.link = link,
                                  .sent = sent,
                                  .payer = wanted->payer,
                                  .set_aside = wanted->set_aside,
                                  .expected = wanted->expected,
                                  .max_answer = answer_limit(sent),
                                  .stated = -1,
                                  .throttled = wanted->throttled,
                                  .done = fn,
                                  .arg = arg};
    snprintf(exchange->target, sizeof exchange->target, "%s_20120810.%s",
             dynamo_op_is_of_streams(sent->op) ? "DynamoDBStreams" : "DynamoDB",
             dynamo_op_name(sent->op));
    exchange_share(link, sent, exchange->share);
    exchange->headers[0] =
        (struct aws_header){"Content-Type", SPAN_LITERAL("application/x-amz-json-1.0")};
    exchange->headers[1] = (struct aws_header){"X-Amz-Target", span_text(exchange->target)};
    struct aws_request request = {
        .service = "dynamodb",
        .service_at = exchange_service(sent),
        .query = "",
        .method = "POST",
        .headers = exchange->headers,
        .header_count = 2,
        .body = wanted->body,
        .max_answer = exchange->max_answer,
        .share = exchange->share,
        .retry = wanted->retry,
        .most_tries = wanted->most_tries,
    };
    exchange->call =
        aws_call_start(&link->client, &request, wanted->deadline_at_ms, &ops, exchange);
    if (exchange->call)
        return exchange;
    free(exchange);
    return NULL;
}

unsigned exchange_tries(const struct exchange *exchange)
{
    return exchange->tries;
}

bool exchange_waits_for_first(const struct exchange *exchange)
{
    return exchange->is_sent && exchange->tries == 1;
}

/* The timer of an abandoned exchange, and the end of one that need not be awaited. */
static void exchange_give_up(void *arg)
{
    struct exchange *exchange = arg;
    if (exchange->call)
        aws_call_end(exchange->call);
    if (exchange->is_sent)
        exchange_charge(exchange, EXPENSE_ABANDONED, NULL, true, exchange_took_ms(exchange), NULL);
    if (exchange->is_abandoned)
        exchange->timer = NULL; /* it runs */
    exchange_free(exchange);
}

/* Copies all of the caller that the expense needs. False when memory ran out. */
static bool exchange_abandon(struct exchange *exchange)
{
    const struct read *read = exchange->sent->read;
    struct exchange_link *link = exchange->link;
    exchange->named = read_new(read->kind, read->table, read->index);
    if (exchange->named)
        exchange->named->pattern = arena_text(&exchange->named->arena, span_text(read->pattern));
    if (!exchange->named || !exchange->named->pattern || read_failed(exchange->named))
        return false;
    exchange->timer =
        loop_add_timer(link->client.loop, EXCHANGE_AWAITED_MS, exchange_give_up, exchange);
    if (!exchange->timer)
        return false;
    exchange->own_sent = *exchange->sent;
    exchange->own_sent.read = exchange->named;
    exchange->own_sent.arrived = NULL; /* of the caller, which ends */
    exchange->sent = &exchange->own_sent;
    exchange->is_abandoned = true;
    exchange->throttled = NULL;
    payer_ref(exchange->payer);
    list_prepend(&link->abandoned, &exchange->node);
    aws_call_retire(exchange->call);
    return true;
}

/* A request that consumes nothing is not awaited. */
void exchange_end(struct exchange *exchange)
{
    if (!exchange)
        return;
    bool consumes = exchange->is_sent &&
                    (exchange->set_aside > 0 || exchange->sent->op == DYNAMO_SEARCH_VECTORS);
    if (!consumes || !exchange_abandon(exchange))
        exchange_give_up(exchange);
}

void exchange_link_clean_up(struct exchange_link *link)
{
    LIST_EACH_SAFE (struct exchange, each, &link->abandoned, node) {
        loop_remove_timer(each->timer);
        exchange_give_up(each);
    }
}
