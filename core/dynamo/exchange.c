/* DynamoDB's side of a call. */
#include "core/dynamo/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/printable.h"

struct exchange {
    struct exchange_link *link;
    struct answer_question *question;
    struct payer *payer; /* borrowed; holds a reference once this is abandoned */
    double set_aside;    /* of the payer's units, until this is over; no request takes more */
    double expected;     /* of them */
    struct spent lost;   /* by requests that brought no answer */
    bool is_sent;        /* and not over yet: since SENT_MS */
    unsigned tries;      /* requests sent */
    int64_t sent_ms;
    size_t max_answer;
    struct aws_call *call;
    struct aws_header headers[2]; /* of the call's request */
    char target[64];
    char share[EXCHANGE_SHARE_SIZE];
    exchange_done_fn *done;
    void *arg;
    double stated; /* by a response that was rejected; < 0: nothing */
    /* Of one that is abandoned, on its link's list: */
    bool is_abandoned;
    struct list_node node;               /* in the link's list */
    struct loop_timer *timer;            /* until it is given up */
    struct read *named;                  /* owned: the names that an expense has */
    struct answer_question own_question; /* for NAMED */
};

/* Of a response to an abandoned request nothing is read but its units. */
static void *exchange_decode(void *arg, const struct http_response *response, struct error *err)
{
    struct exchange *exchange = arg;
    if (!exchange->is_abandoned)
        return answer_new(exchange->question, response, &exchange->stated, err);
    exchange->stated = answer_stated(response, exchange->max_answer);
    err->http_status = response->status;
    return NULL;
}

static void exchange_sent(void *arg)
{
    struct exchange *exchange = arg;
    exchange->link->stats.requests[exchange->question->op]++;
    exchange->question->region = aws_session_settings(exchange->link->session)->region;
    exchange->question->endpoint = exchange->link->endpoint->root_url;
    exchange->question->method = exchange->link->method;
    exchange->question->origin = exchange->link->origin;
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
    snprintf(link->origin, sizeof link->origin, "%s",
             credentials && credentials->origin ? credentials->origin : "");
    if (endpoint)
        link->endpoint = endpoint;
    return endpoint;
}

/* "Query table=jobs index=by-id " and so on, as far as it has been said. */
static void exchange_describe(const struct answer_question *question, char *out, size_t size)
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

static void exchange_log_answer(const struct exchange *exchange, const struct answer *answer,
                                int64_t took_ms)
{
    char what[640];
    CLEAN_UP(buf_clean_up) struct buf capacity = {0};
    exchange_describe(exchange->question, what, sizeof what);
    decimal_write_known(answer->capacity, "unknown", &capacity);
    log_line(exchange->link->client.log, LOG_LEVEL_INFO,
             "%s status=200 ms=%lld request=%s capacity=%s", what, (long long)took_ms,
             answer->request_id[0] ? answer->request_id : "unknown", buf_text(&capacity));
}

static void exchange_log_error(const struct exchange *exchange, const struct error *err,
                               int64_t took_ms)
{
    char what[640];
    exchange_describe(exchange->question, what, sizeof what);
    log_line(exchange->link->client.log, LOG_LEVEL_INFO,
             "%s status=%d error=%s%s%s ms=%lld request=%s", what, err->http_status,
             error_word(err->kind), err->code[0] ? " code=" : "", err->code, (long long)took_ms,
             err->request_id[0] ? err->request_id : "unknown");
}

static void exchange_log_abandoned(const struct exchange *exchange, int64_t took_ms)
{
    char what[640];
    CLEAN_UP(buf_clean_up) struct buf capacity = {0};
    exchange_describe(exchange->question, what, sizeof what);
    decimal_write_known(exchange->stated, "unknown", &capacity);
    log_line(exchange->link->client.log, LOG_LEVEL_INFO, "%s abandoned ms=%lld capacity=%s", what,
             (long long)took_ms, buf_text(&capacity));
}

/* Whether the service may have read for a request that failed: not where it said no. */
static bool exchange_may_have_read(const struct error *err)
{
    return err->http_status == 200 ||
           (err->http_status == 0 && (err->kind == ERROR_TIMED_OUT || err->kind == ERROR_RESET));
}

/* The request is over. STATED are the units that its response states; < 0: none, and IS_DOUBTED if
 * the service may have read for it all the same. */
static struct spent exchange_charge(struct exchange *exchange, enum expense_end end, double stated,
                                    bool is_doubted, int64_t took_ms)
{
    const struct read *read = exchange->question->read;
    bool is_stated = stated >= 0;
    struct expense expense = {
        .operation = dynamo_op_name(exchange->question->op),
        .table = exchange->question->op == DYNAMO_LIST_TABLES ? "" : read->table,
        .index = read->index ? read->index : "",
        .pattern = read->pattern,
        .requests = 1,
        .end = end,
        .spent = {.units = is_stated ? stated : 0,
                  .doubted = !is_stated && is_doubted ? exchange->set_aside : 0},
        .expected = !is_stated && is_doubted ? exchange->expected : 0,
        .took_ms = took_ms,
    };
    exchange->is_sent = false;
    spent_add(&exchange->link->stats.spent, &expense.spent);
    payer_charge(exchange->payer, &expense);
    return expense.spent;
}

static int64_t exchange_took_ms(const struct exchange *exchange)
{
    return loop_now_ms(exchange->link->client.loop) - exchange->sent_ms;
}

static void exchange_attempted(void *arg, const struct aws_attempt *attempt)
{
    struct exchange *exchange = arg;
    const struct answer *answer = attempt->result;
    if (exchange->is_abandoned) {
        exchange_log_abandoned(exchange, attempt->took_ms);
        exchange_charge(exchange, EXPENSE_ABANDONED, exchange->stated,
                        exchange_may_have_read(attempt->err), attempt->took_ms);
    } else if (answer) {
        struct spent spent =
            exchange_charge(exchange, EXPENSE_ANSWERED, answer->capacity, true, attempt->took_ms);
        exchange->lost.doubted += spent.doubted;
        exchange_log_answer(exchange, answer, attempt->took_ms);
    } else {
        exchange->link->stats.failures++;
        struct spent spent =
            exchange_charge(exchange, EXPENSE_FAILED, exchange->stated,
                            exchange_may_have_read(attempt->err), attempt->took_ms);
        spent_add(&exchange->lost, &spent);
        exchange_log_error(exchange, attempt->err, attempt->took_ms);
    }
    exchange->stated = -1;
}

static void exchange_free_exchange(struct exchange *exchange)
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
        exchange_charge(exchange, EXPENSE_FAILED, -1, true, exchange_took_ms(exchange));
    if (answer)
        answer->lost = exchange->lost;
    exchange_free_exchange(exchange);
    if (fn)
        fn(fn_arg, answer, err, tries);
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
    static const struct aws_call_ops ops = {exchange_decode, exchange_sent, exchange_attempted,
                                            exchange_done};
    struct answer_question *question = wanted->question;
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    *exchange = (struct exchange){.link = link,
                                  .question = question,
                                  .payer = wanted->payer,
                                  .set_aside = wanted->set_aside,
                                  .expected = wanted->expected,
                                  .max_answer = answer_limit(question),
                                  .stated = -1,
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

static void exchange_abandon(void *arg)
{
    struct exchange *exchange = arg;
    if (exchange->call)
        aws_call_end(exchange->call);
    if (exchange->is_sent)
        exchange_charge(exchange, EXPENSE_ABANDONED, -1, true, exchange_took_ms(exchange));
    if (exchange->is_abandoned)
        exchange->timer = NULL; /* it runs */
    exchange_free_exchange(exchange);
}

/* Keeps what the expense needs of its caller. False when memory ran out. */
static bool exchange_abandon_it(struct exchange *exchange)
{
    const struct read *read = exchange->question->read;
    struct exchange_link *link = exchange->link;
    exchange->named = read_new(read->kind, read->table, read->index);
    if (exchange->named)
        exchange->named->pattern = arena_text(&exchange->named->arena, span_text(read->pattern));
    if (!exchange->named || !exchange->named->pattern || read_failed(exchange->named))
        return false;
    exchange->timer =
        loop_add_timer(link->client.loop, EXCHANGE_AWAITED_MS, exchange_abandon, exchange);
    if (!exchange->timer)
        return false;
    exchange->own_question = *exchange->question;
    exchange->own_question.read = exchange->named;
    exchange->question = &exchange->own_question;
    exchange->is_abandoned = true;
    payer_ref(exchange->payer);
    list_prepend(&link->abandoned, &exchange->node);
    aws_call_retire(exchange->call);
    return true;
}

/* What consumes nothing is not awaited. */
void exchange_end(struct exchange *exchange)
{
    if (!exchange)
        return;
    bool consumes = exchange->is_sent && exchange->set_aside > 0;
    if (!consumes || !exchange_abandon_it(exchange))
        exchange_abandon(exchange);
}

void exchange_link_clean_up(struct exchange_link *link)
{
    LIST_EACH_SAFE (struct exchange, each, &link->abandoned, node) {
        loop_remove_timer(each->timer);
        exchange_abandon(each);
    }
}
