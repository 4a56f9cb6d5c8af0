/* DynamoDB's side of a call. */
#include "core/dynamo/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/printable.h"

struct exchange {
    struct exchange_link *link;
    struct answer_question *question;
    struct payer *payer; /* borrowed */
    double set_aside;    /* of the payer's units, until this is over */
    bool is_sent;        /* and not over yet: since SENT_MS */
    unsigned tries;      /* requests sent */
    int64_t sent_ms;
    struct aws_call *call;
    struct aws_header headers[2]; /* of the call's request */
    char target[64];
    char share[EXCHANGE_SHARE_SIZE];
    exchange_done_fn *done;
    void *arg;
};

static void *decode(void *arg, const struct http_response *response, struct error *err)
{
    struct exchange *exchange = arg;
    return answer_new(exchange->question, response, err);
}

static void sent(void *arg)
{
    struct exchange *exchange = arg;
    exchange->link->stats.requests[exchange->question->op]++;
    exchange->question->region = aws_session_settings(exchange->link->session)->region;
    exchange->question->endpoint = exchange->link->endpoint->root_url;
    exchange->question->method = exchange->link->method;
    exchange->is_sent = true;
    exchange->tries++;
    exchange->sent_ms = loop_now_ms(exchange->link->client.loop);
}

const struct aws_endpoint *exchange_locate(void *arg, const struct credentials *credentials,
                                           struct error *err)
{
    struct exchange_link *link = arg;
    const struct aws_endpoint *endpoint = aws_session_endpoint(link->session, credentials, err);
    link->method = credentials ? credentials->method : NULL;
    if (endpoint)
        link->endpoint = endpoint;
    return endpoint;
}

/* "Query table=jobs index=by-id " and so on, as far as it has been said. */
static void describe(const struct answer_question *question, char *out, size_t size)
{
    const struct read *read = question->read;
    char table[288] = "", index[288] = ""; /* at most 255 bytes, but for what a user may type */
    bool has_table = question->op != DYNAMO_LIST_TABLES;
    if (has_table)
        printable_copy(table, sizeof table, span_text(read->table), PRINTABLE_WORD);
    if (read->index)
        printable_copy(index, sizeof index, span_text(read->index), PRINTABLE_WORD);
    snprintf(out, size, "%s%s%s%s%s", dynamo_op_name(question->op), has_table ? " table=" : "",
             table, read->index ? " index=" : "", index);
}

static void log_answer(const struct exchange *exchange, const struct answer *answer,
                       int64_t took_ms)
{
    char what[640], capacity[32] = "unknown";
    describe(exchange->question, what, sizeof what);
    if (answer->capacity >= 0)
        snprintf(capacity, sizeof capacity, "%.1f", answer->capacity);
    log_line(exchange->link->client.log, LOG_LEVEL_INFO,
             "%s status=200 ms=%lld request=%s capacity=%s", what, (long long)took_ms,
             answer->request_id[0] ? answer->request_id : "unknown", capacity);
}

static void log_error(const struct exchange *exchange, const struct error *err, int64_t took_ms)
{
    char what[640];
    describe(exchange->question, what, sizeof what);
    log_line(exchange->link->client.log, LOG_LEVEL_INFO,
             "%s status=%d error=%s%s%s ms=%lld request=%s", what, err->http_status,
             error_word(err->kind), err->code[0] ? " code=" : "", err->code, (long long)took_ms,
             err->request_id[0] ? err->request_id : "unknown");
}

/* Whether the service may have read for a request that failed: not where it said no. */
static bool may_have_read(const struct error *err)
{
    return err->http_status == 200 ||
           (err->http_status == 0 && (err->kind == ERROR_TIMED_OUT || err->kind == ERROR_RESET));
}

/* The request is over. */
static void charge(struct exchange *exchange, enum expense_end end, double units, double doubted,
                   int64_t took_ms)
{
    const struct read *read = exchange->question->read;
    struct expense expense = {
        .operation = dynamo_op_name(exchange->question->op),
        .table = exchange->question->op == DYNAMO_LIST_TABLES ? "" : read->table,
        .index = read->index ? read->index : "",
        .pattern = read->pattern,
        .requests = 1,
        .end = end,
        .units = units > 0 ? units : 0,
        .doubted = doubted,
        .took_ms = took_ms,
    };
    exchange->is_sent = false;
    payer_charge(exchange->payer, &expense);
}

static void charge_unanswered(struct exchange *exchange, enum expense_end end)
{
    charge(exchange, end, 0, exchange->set_aside,
           loop_now_ms(exchange->link->client.loop) - exchange->sent_ms);
}

static void attempted(void *arg, const struct aws_attempt *attempt)
{
    struct exchange *exchange = arg;
    struct dynamo_stats *stats = &exchange->link->stats;
    const struct answer *answer = attempt->result;
    if (answer) {
        stats->capacity += answer->capacity > 0 ? answer->capacity : 0;
        charge(exchange, EXPENSE_ANSWERED, answer->capacity, 0, attempt->took_ms);
        log_answer(exchange, answer, attempt->took_ms);
    } else {
        stats->failures++;
        charge(exchange, EXPENSE_FAILED, 0, may_have_read(attempt->err) ? exchange->set_aside : 0,
               attempt->took_ms);
        log_error(exchange, attempt->err, attempt->took_ms);
    }
}

static void done(void *arg, void *result, const struct error *err, unsigned tries)
{
    struct exchange exchange = *(struct exchange *)arg;
    free(arg);
    if (exchange.is_sent)
        charge_unanswered(&exchange, EXPENSE_FAILED);
    payer_give_back(exchange.payer, exchange.set_aside);
    exchange.done(exchange.arg, result, err, tries);
}

void exchange_share(const struct exchange_link *link, const struct answer_question *question,
                    char out[EXCHANGE_SHARE_SIZE])
{
    const struct aws_settings *settings = aws_session_settings(link->session);
    const char *url = aws_settings_endpoint_url(settings);
    const char *region = settings->region ? settings->region : "the machine's region";
    snprintf(out, EXCHANGE_SHARE_SIZE, "%s %s", url ? url : region,
             question->op == DYNAMO_LIST_TABLES ? "" : question->read->table);
}

struct exchange *exchange_start(struct exchange_link *link, const struct exchange_request *wanted,
                                exchange_done_fn *fn, void *arg)
{
    static const struct aws_call_ops ops = {decode, sent, attempted, done};
    struct answer_question *question = wanted->question;
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    *exchange = (struct exchange){.link = link,
                                  .question = question,
                                  .payer = wanted->payer,
                                  .set_aside = wanted->set_aside,
                                  .done = fn,
                                  .arg = arg};
    snprintf(exchange->target, sizeof exchange->target, "DynamoDB_20120810.%s",
             dynamo_op_name(question->op));
    exchange_share(link, question, exchange->share);
    exchange->headers[0] =
        (struct aws_header){"Content-Type", SPAN_LITERAL("application/x-amz-json-1.0")};
    exchange->headers[1] = (struct aws_header){"X-Amz-Target", span_text(exchange->target)};
    struct aws_request request = {
        .service = "dynamodb",
        .query = "",
        .method = "POST",
        .headers = exchange->headers,
        .header_count = 2,
        .body = wanted->body,
        .max_answer = answer_limit(question),
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

void exchange_end(struct exchange *exchange)
{
    if (!exchange)
        return;
    aws_call_end(exchange->call);
    if (exchange->is_sent)
        charge_unanswered(exchange, EXPENSE_ABANDONED);
    payer_give_back(exchange->payer, exchange->set_aside);
    free(exchange);
}
