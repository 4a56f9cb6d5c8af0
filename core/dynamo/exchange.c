/* The attempts of one request, and what is done between them. */
#include "core/dynamo/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/dynamo/envelope.h"
#include "core/dynamo/fault.h"
#include "core/dynamo/skew.h"

/* An answer holds 16 MB of items at most, which escapes can make several times as long. */
enum { MAX_BODY = 128 * 1024 * 1024 };

struct exchange {
    struct exchange_link *link;
    const struct answer_question *question;
    struct buf body;
    int64_t deadline_at_ms;
    exchange_done_fn *done;
    void *arg;
    struct loop_timer *timer;
    struct transfer *transfer;
    struct error last; /* what the last attempt met */
    int64_t sent_ms, sent_wall_ms;
    unsigned tries;       /* requests sent */
    unsigned attempt;     /* of those that count for the retry quota */
    unsigned paid;        /* by the last retry */
    bool clock_mended;    /* once an exchange */
    bool identity_mended; /* once an exchange */
    bool resolving;       /* credentials are on their way and cannot be called off */
    bool ended;           /* while resolving: to be freed when they come */
};

static void attempt(void *arg);

static void free_exchange(struct exchange *exchange)
{
    buf_clean_up(&exchange->body);
    free(exchange);
}

static int64_t now_ms(const struct exchange *exchange)
{
    struct clock *clock = loop_clock(exchange->link->loop);
    return clock->now_ms(clock);
}

static int64_t wall_ms(const struct exchange *exchange)
{
    struct clock *clock = loop_clock(exchange->link->loop);
    return clock->wall_ms(clock);
}

struct exchange *exchange_start(struct exchange_link *link, const struct answer_question *question,
                                struct span body, int64_t deadline_at_ms, exchange_done_fn *done,
                                void *arg)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    exchange->link = link;
    exchange->question = question;
    exchange->deadline_at_ms = deadline_at_ms;
    exchange->done = done;
    exchange->arg = arg;
    buf_add_span(&exchange->body, body);
    if (!exchange->body.failed)
        exchange->timer = loop_add_timer(link->loop, 0, attempt, exchange);
    if (!exchange->timer) {
        free_exchange(exchange);
        return NULL;
    }
    return exchange;
}

void exchange_end(struct exchange *exchange)
{
    if (!exchange)
        return;
    loop_remove_timer(exchange->timer);
    exchange->timer = NULL;
    if (exchange->transfer)
        exchange->link->transport->ops->cancel(exchange->transfer);
    exchange->transfer = NULL;
    exchange->ended = true;
    if (!exchange->resolving)
        free_exchange(exchange);
}

/* The count stands at the text's end, whatever has to make way for it. */
static void add_tries(struct error *err, unsigned tries)
{
    char suffix[40];
    size_t size = (size_t)snprintf(suffix, sizeof suffix, " (tried %u times)", tries);
    size_t used = strlen(err->text);
    size_t most = sizeof err->text - 1 - size;
    memcpy(err->text + (used < most ? used : most), suffix, size + 1);
}

static void fail(struct exchange *exchange, const struct error *err)
{
    struct error copy = *err;
    unsigned tries = exchange->tries;
    exchange_done_fn *done = exchange->done;
    void *arg = exchange->arg;
    if (tries > 1)
        add_tries(&copy, tries);
    free_exchange(exchange);
    done(arg, NULL, &copy, tries);
}

static void fail_without_memory(struct exchange *exchange)
{
    struct error err;
    error_no_memory(&err);
    fail(exchange, &err);
}

static void succeed(struct exchange *exchange, struct answer *answer)
{
    unsigned tries = exchange->tries;
    exchange_done_fn *done = exchange->done;
    void *arg = exchange->arg;
    retry_succeeded(&exchange->link->retry, exchange->paid);
    free_exchange(exchange);
    done(arg, answer, NULL, tries);
}

static void attempt_later(struct exchange *exchange, int64_t delay_ms)
{
    exchange->timer = loop_add_timer(exchange->link->loop, delay_ms, attempt, exchange);
    if (!exchange->timer)
        fail_without_memory(exchange);
}

/* The clock here is wrong, and that can be why: once more, with the service's time. */
static bool mend_clock(struct exchange *exchange, const struct http_response *response)
{
    int64_t skew_ms;
    if (exchange->clock_mended || !response || !fault_may_be_clock(exchange->last.code) ||
        !skew_read(response, exchange->sent_wall_ms, &skew_ms) ||
        !skew_differs(skew_ms, exchange->link->skew_ms))
        return false;
    exchange->clock_mended = true;
    exchange->link->skew_ms = skew_ms;
    log_line(
        exchange->link->log, LOG_LEVEL_WARNING,
        "this machine's clock differs from the service's by %lld s; signing with the service's",
        (long long)(skew_ms / 1000));
    return true;
}

/* The credentials in memory are no longer good: once more, with what is found now. */
static bool mend_identity(struct exchange *exchange)
{
    if (exchange->identity_mended || !fault_may_be_credentials(exchange->last.code))
        return false;
    exchange->identity_mended = true;
    aws_session_forget(exchange->link->session);
    return true;
}

static int64_t server_delay_ms(const struct http_response *response)
{
    const char *told = response ? http_header(response, "x-amz-retry-after") : NULL;
    char *end;
    if (!told)
        return -1;
    long long delay_ms = strtoll(told, &end, 10);
    return end != told && *end == '\0' && delay_ms >= 0 ? delay_ms : -1;
}

/* A retry that could not start before the deadline is not waited for, nor paid for. */
static bool may_try_again(struct exchange *exchange, const struct http_response *response,
                          int64_t *delay_ms)
{
    unsigned paid;
    if (!retry_again(&exchange->link->retry, &exchange->last, exchange->attempt,
                     server_delay_ms(response), delay_ms, &paid))
        return false;
    if (*delay_ms >= exchange->deadline_at_ms - now_ms(exchange)) {
        retry_succeeded(&exchange->link->retry, paid);
        return false;
    }
    exchange->paid = paid;
    return true;
}

static void recover(struct exchange *exchange, const struct http_response *response)
{
    int64_t delay_ms = 0;
    if (mend_clock(exchange, response) || mend_identity(exchange)) {
        exchange->attempt--;
        attempt_later(exchange, 0);
    } else if (may_try_again(exchange, response, &delay_ms)) {
        attempt_later(exchange, delay_ms);
    } else {
        fail(exchange, &exchange->last);
    }
}

/* "Query table=jobs index=by-id " and so on, as far as it has been said. */
static void describe(const struct answer_question *question, char *out, size_t size)
{
    const struct read *read = question->read;
    bool table = question->op != DYNAMO_LIST_TABLES;
    snprintf(out, size, "%s%s%s%s%s", dynamo_op_name(question->op), table ? " table=" : "",
             table ? read->table : "", read->index ? " index=" : "",
             read->index ? read->index : "");
}

static void log_answer(const struct exchange *exchange, const struct answer *answer)
{
    char what[600], capacity[32] = "unknown";
    describe(exchange->question, what, sizeof what);
    if (answer->capacity >= 0)
        snprintf(capacity, sizeof capacity, "%.1f", answer->capacity);
    log_line(exchange->link->log, LOG_LEVEL_INFO, "%s status=200 ms=%lld request=%s capacity=%s",
             what, (long long)(now_ms(exchange) - exchange->sent_ms),
             answer->request_id[0] ? answer->request_id : "unknown", capacity);
}

static void log_error(const struct exchange *exchange)
{
    char what[600];
    const struct error *err = &exchange->last;
    describe(exchange->question, what, sizeof what);
    log_line(exchange->link->log, LOG_LEVEL_INFO, "%s status=%d error=%s%s%s ms=%lld request=%s",
             what, err->http_status, error_word(err->kind), err->code[0] ? " code=" : "", err->code,
             (long long)(now_ms(exchange) - exchange->sent_ms),
             err->request_id[0] ? err->request_id : "unknown");
}

static void on_response(void *arg, const struct http_response *response, const struct error *err)
{
    struct exchange *exchange = arg;
    struct answer *answer = NULL;
    exchange->transfer = NULL;
    if (response)
        answer = answer_new(exchange->question, response, &exchange->last);
    else
        exchange->last = *err;
    if (answer) {
        exchange->link->stats.capacity += answer->capacity > 0 ? answer->capacity : 0;
        log_answer(exchange, answer);
        succeed(exchange, answer);
    } else {
        exchange->link->stats.failures++;
        log_error(exchange);
        recover(exchange, response);
    }
}

static bool send_envelope(struct exchange *exchange, const struct envelope *envelope)
{
    struct exchange_link *link = exchange->link;
    struct http_request request = {
        .method = "POST",
        .url = aws_session_url(link->session),
        .headers = envelope->headers,
        .header_count = envelope->header_count,
        .body = buf_span(&exchange->body),
        .timeout_ms = exchange->deadline_at_ms - now_ms(exchange),
        .max_body = MAX_BODY,
    };
    exchange->sent_ms = now_ms(exchange);
    exchange->sent_wall_ms = wall_ms(exchange);
    exchange->transfer =
        link->transport->ops->send(link->transport, &request, on_response, exchange);
    return exchange->transfer != NULL;
}

static void send_signed(struct exchange *exchange, const struct credentials *credentials)
{
    CLEAN_UP(envelope_clean_up) struct envelope envelope = {0};
    struct envelope_content content = {
        .host = aws_session_host(exchange->link->session),
        .region = aws_session_region(exchange->link->session),
        .op = exchange->question->op,
        .body = buf_span(&exchange->body),
        .wall_ms = wall_ms(exchange) + exchange->link->skew_ms,
        .credentials = credentials,
    };
    if (!envelope_init(&envelope, &content) || !send_envelope(exchange, &envelope)) {
        fail_without_memory(exchange);
        return;
    }
    exchange->tries++;
    exchange->attempt++;
    exchange->link->stats.requests[content.op]++;
}

/* What the last attempt met says more than that the time is over. */
static void fail_late(struct exchange *exchange)
{
    if (exchange->last.kind == ERROR_NONE)
        error_set(&exchange->last, ERROR_TIMED_OUT,
                  "the deadline passed before the request could be sent to %s",
                  exchange->question->endpoint);
    fail(exchange, &exchange->last);
}

static void on_credentials(void *arg, const struct credentials *credentials,
                           const struct error *err)
{
    struct exchange *exchange = arg;
    exchange->resolving = false;
    if (exchange->ended)
        free_exchange(exchange);
    else if (err)
        fail(exchange, err);
    else if (now_ms(exchange) >= exchange->deadline_at_ms)
        fail_late(exchange);
    else
        send_signed(exchange, credentials);
}

static void attempt(void *arg)
{
    struct exchange *exchange = arg;
    exchange->timer = NULL;
    exchange->resolving = true;
    aws_session_credentials(exchange->link->session, on_credentials, exchange);
}
