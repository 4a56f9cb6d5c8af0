/* The attempts of one call, and what is done between them. */
#include "core/aws/call.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/aws/aws_fault.h"
#include "core/aws/credentials_cache.h"
#include "core/aws/envelope.h"
#include "core/aws/skew.h"
#include "core/base/buf.h"

/* What a call waits for. */
enum call_state {
    CALL_DUE,         /* its timer, to begin the next attempt */
    CALL_IDENTIFYING, /* credentials, or its timer, which is the deadline then */
    CALL_SENT,        /* the answer; the transport keeps the deadline */
    CALL_OVER,        /* nothing: its end is being told */
    CALL_STATES,
};

struct aws_call {
    enum call_state state; /* changed by call_move() alone */
    struct aws_client *client;
    struct aws_request request; /* its body is the one below */
    struct buf body;
    int64_t deadline_at_ms;
    const struct aws_call_ops *ops;
    void *arg;
    struct loop_timer *timer;
    struct credentials_request *get; /* credentials under way */
    struct transfer *transfer;
    unsigned age;      /* of the credentials that signed the last attempt */
    struct error last; /* what the last attempt met */
    int64_t sent_ms, sent_wall_ms;
    unsigned tries;       /* requests sent */
    unsigned attempt;     /* of those that count for the retry quota */
    unsigned paid;        /* by the last retry */
    bool clock_mended;    /* once a call */
    bool identity_mended; /* once a call */
    bool is_retired;      /* the response under way is the last */
};

/* A call holds what its state waits for, and nothing else. */
static bool call_is_sound(const struct aws_call *call)
{
    bool timer = call->timer, get = call->get, transfer = call->transfer;
    switch (call->state) {
    case CALL_DUE:
        return timer && !get && !transfer;
    case CALL_IDENTIFYING:
        return timer && get && !transfer;
    case CALL_SENT:
        return !timer && !get && transfer;
    default:
        return !timer && !get && !transfer;
    }
}

/* The one place where a state changes. A wrong move would be a fault of this file: it is logged as
 * one, for tests to fail on, and goes no further. */
static void call_move(struct aws_call *call, enum call_state state)
{
    static const unsigned allowed[CALL_STATES] = {
        [CALL_DUE] = 1u << CALL_IDENTIFYING | 1u << CALL_SENT | 1u << CALL_OVER,
        [CALL_IDENTIFYING] = 1u << CALL_SENT | 1u << CALL_OVER,
        [CALL_SENT] = 1u << CALL_DUE | 1u << CALL_OVER,
    };
    bool fits = allowed[call->state] & 1u << state;
    enum call_state from = call->state;
    call->state = state;
    if (!fits || !call_is_sound(call))
        log_line(call->client->log, LOG_LEVEL_ERROR, "a call went from state %d to %d: a bug",
                 (int)from, (int)state);
}

static int64_t call_wall_ms(const struct aws_call *call)
{
    struct clock *clock = loop_clock(call->client->loop);
    return clock->wall_ms(clock);
}

/* Lets go of whatever it waits for. */
static void call_stop_waiting(struct aws_call *call)
{
    struct transport *transport = call->client->transport;
    loop_remove_timer(call->timer);
    credentials_request_cancel(call->get);
    if (call->transfer)
        transport->ops->cancel(call->transfer);
    call->timer = NULL;
    call->get = NULL;
    call->transfer = NULL;
}

static void call_free_call(struct aws_call *call)
{
    buf_clean_up_secret(&call->body); /* tokens can be in it */
    free(call);
}

void aws_call_end(struct aws_call *call)
{
    if (!call)
        return;
    call_stop_waiting(call);
    call_free_call(call);
}

void aws_call_retire(struct aws_call *call)
{
    call->is_retired = true;
    call->request.retry = NULL;
}

/* The end. */

/* The count stands at the text's end, whatever has to make way for it. */
static void call_add_tries(struct error *err, unsigned tries)
{
    char suffix[40];
    size_t size = (size_t)snprintf(suffix, sizeof suffix, " (tried %u times)", tries);
    size_t used = strlen(err->text);
    size_t most = sizeof err->text - 1 - size;
    memcpy(err->text + (used < most ? used : most), suffix, size + 1);
}

/* Exactly one of RESULT and ERR is not NULL. */
static void call_finish(struct aws_call *call, void *result, const struct error *err)
{
    struct error copy = err ? *err : (struct error){0};
    const struct aws_call_ops *ops = call->ops;
    unsigned tries = call->tries;
    void *arg = call->arg;
    if (err && tries > 1)
        call_add_tries(&copy, tries);
    call_stop_waiting(call);
    call_move(call, CALL_OVER);
    call_free_call(call);
    ops->done(arg, result, err ? &copy : NULL, tries);
}

static void call_fail_without_memory(struct aws_call *call)
{
    struct error err;
    error_no_memory(&err);
    call_finish(call, NULL, &err);
}

/* What the last attempt met says more than that the time is over. */
static void call_fail_late(struct aws_call *call)
{
    bool no_credentials = call->state == CALL_IDENTIFYING;
    if (call->last.kind == ERROR_NONE) {
        error_set(&call->last, ERROR_TIMED_OUT,
                  "the deadline passed before the request could be sent%s%s%s",
                  call->request.url ? " to " : "", call->request.url ? call->request.url : "",
                  no_credentials
                      ? ": no credentials came in time; check where they come from (a process, a "
                        "sign-in, another service)"
                      : "");
        call->last.unsigned_yet = no_credentials;
    }
    call_finish(call, NULL, &call->last);
}

/* Between attempts. */

static void call_begin_attempt(void *arg);

/* The quota that pays for this call's retries. */
static struct retry *call_retry_of(struct aws_call *call)
{
    return call->request.retry ? call->request.retry : &call->client->retry;
}

/* Every request counts, whatever it was sent again for: no trouble makes more of them. */
static bool call_has_tries_left(struct aws_call *call)
{
    unsigned attempts = retry_attempts(call_retry_of(call)), most = call->request.most_tries;
    return !call->is_retired && call->tries < (most && most < attempts ? most : attempts);
}

static void call_attempt_later(struct aws_call *call, int64_t delay_ms)
{
    call->timer = loop_add_timer(call->client->loop, delay_ms, call_begin_attempt, call);
    if (call->timer)
        call_move(call, CALL_DUE);
    else
        call_fail_without_memory(call);
}

/* The clock here is wrong, and that can be why: from now on the service's time is used. */
static bool call_mend_clock(struct aws_call *call, const struct http_response *response)
{
    struct aws_client *client = call->client;
    int64_t skew_ms;
    if (call->clock_mended || !response || !aws_fault_may_be_clock(call->last.code) ||
        !skew_read(response, call->sent_wall_ms, &skew_ms) ||
        !skew_differs(skew_ms, client->skew_ms))
        return false;
    call->clock_mended = true;
    client->skew_ms = skew_ms;
    log_line(
        client->log, LOG_LEVEL_WARNING,
        "this machine's clock differs from the service's by %lld s; signing with the service's",
        (long long)(skew_ms / 1000));
    return true;
}

/* The credentials in memory are no longer good: whoever comes next looks for others. */
static bool call_mend_identity(struct aws_call *call)
{
    if (call->identity_mended || !call->request.service ||
        !aws_fault_may_be_credentials(call->last.code))
        return false;
    call->identity_mended = true;
    return credentials_cache_refuse(call->client->credentials, call->age);
}

static int64_t call_server_delay_ms(const struct http_response *response)
{
    const char *told = response ? http_header(response, "x-amz-retry-after") : NULL;
    char *end;
    if (!told)
        return -1;
    long long delay_ms = strtoll(told, &end, 10);
    return end != told && *end == '\0' && delay_ms >= 0 ? delay_ms : -1;
}

/* A retry that could not start before the deadline is not waited for, nor paid for. */
static bool call_may_try_again(struct aws_call *call, const struct http_response *response,
                               int64_t *delay_ms)
{
    struct retry *retry = call_retry_of(call);
    unsigned paid;
    if (!retry_again(retry, &call->last, call->attempt, call_server_delay_ms(response), delay_ms,
                     &paid))
        return false;
    if (*delay_ms >= call->deadline_at_ms - loop_now_ms(call->client->loop)) {
        retry_succeeded(retry, paid);
        return false;
    }
    call->paid = paid;
    return true;
}

static void call_recover(struct aws_call *call, const struct http_response *response)
{
    int64_t delay_ms = 0;
    bool mended = call_mend_clock(call, response) || call_mend_identity(call);
    bool has_more = call_has_tries_left(call);
    if (has_more && mended) {
        call->attempt--;
        call_attempt_later(call, 0);
    } else if (has_more && call_may_try_again(call, response, &delay_ms)) {
        call_attempt_later(call, delay_ms);
    } else {
        call_finish(call, NULL, &call->last);
    }
}

/* An attempt. */

static void call_on_response(void *arg, const struct http_response *response,
                             const struct error *err)
{
    struct aws_call *call = arg;
    struct aws_attempt attempt = {.took_ms = loop_now_ms(call->client->loop) - call->sent_ms};
    void *result = NULL;
    call->transfer = NULL;
    if (response)
        result = call->ops->decode(call->arg, response, &call->last);
    else
        call->last = *err;
    attempt.result = result;
    attempt.err = result ? NULL : &call->last;
    call->ops->attempted(call->arg, &attempt);
    if (result) {
        if (!call->is_retired)
            retry_succeeded(call_retry_of(call), call->paid);
        call_finish(call, result, NULL);
    } else {
        call_recover(call, response);
    }
}

static bool call_send_envelope(struct aws_call *call, const struct aws_request *to,
                               const struct envelope *envelope)
{
    struct transport *transport = call->client->transport;
    struct http_request request = {
        .method = to->method,
        .url = to->url,
        .headers = envelope->headers,
        .header_count = envelope->header_count,
        .body = buf_span(&call->body),
        .timeout_ms = call->deadline_at_ms - loop_now_ms(call->client->loop),
        .connect_timeout_ms = call->request.connect_timeout_ms,
        .max_body = call->request.max_answer,
        .share = call->request.share,
        .no_proxy = call->request.no_proxy,
        .ca_bundle = call->client->ca_bundle,
    };
    call->sent_ms = loop_now_ms(call->client->loop);
    call->sent_wall_ms = call_wall_ms(call);
    call->transfer = transport->ops->send(transport, &request, call_on_response, call);
    return call->transfer != NULL;
}

/* Fills in the address and what goes with it. */
static bool call_locate(const struct aws_call *call, const struct credentials *credentials,
                        struct aws_request *request, struct error *err)
{
    const struct aws_client *client = call->client;
    const struct aws_endpoint *endpoint = client->locate(client->locate_arg, credentials, err);
    if (!endpoint)
        return false;
    request->url = endpoint->root_url;
    request->host = endpoint->host;
    request->path = endpoint->root_path;
    request->region = endpoint->signing_region;
    return true;
}

/* CREDENTIALS are NULL for a request that is not signed. */
static void call_send_attempt(struct aws_call *call, const struct credentials *credentials)
{
    CLEAN_UP(envelope_clean_up) struct envelope envelope = {0};
    struct aws_request request = call->request;
    struct error err;
    if (loop_now_ms(call->client->loop) >= call->deadline_at_ms) {
        call_fail_late(call);
        return;
    }
    if (!request.url && !call_locate(call, credentials, &request, &err)) {
        call_finish(call, NULL, &err);
        return;
    }
    int64_t service_ms = call_wall_ms(call) + call->client->skew_ms;
    if (!envelope_init(&envelope, &request, service_ms, credentials) ||
        !call_send_envelope(call, &request, &envelope)) {
        call_fail_without_memory(call);
        return;
    }
    loop_remove_timer(call->timer);
    call->timer = NULL;
    call_move(call, CALL_SENT);
    call->tries++;
    call->attempt++;
    call->ops->sent(call->arg);
}

static void call_on_credentials(void *arg, const struct credentials_result *result)
{
    struct aws_call *call = arg;
    call->get = NULL;
    credentials_cache_held(call->client->credentials, &call->age);
    if (result->found == CREDENTIALS_FOUND)
        call_send_attempt(call, &result->credentials);
    else
        call_finish(call, NULL, &result->err);
}

static void call_on_deadline(void *arg)
{
    struct aws_call *call = arg;
    call->timer = NULL;
    call_fail_late(call);
}

static void call_begin_attempt(void *arg)
{
    struct aws_call *call = arg;
    struct credentials_provider *provider = call->client->credentials;
    call->timer = NULL;
    if (!call->request.service) {
        call_send_attempt(call, NULL);
        return;
    }
    const struct credentials *held = credentials_cache_held(provider, &call->age);
    if (held) {
        call_send_attempt(call, held);
        return;
    }
    call->timer =
        loop_add_timer(call->client->loop, call->deadline_at_ms - loop_now_ms(call->client->loop),
                       call_on_deadline, call);
    call->get = credentials_request_start(provider, call_on_credentials, call);
    if (call->timer && call->get)
        call_move(call, CALL_IDENTIFYING);
    else
        call_fail_without_memory(call);
}

struct aws_call *aws_call_start(struct aws_client *client, const struct aws_request *request,
                                int64_t deadline_at_ms, const struct aws_call_ops *ops, void *arg)
{
    struct aws_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct aws_call){
        .state = CALL_DUE,
        .client = client,
        .request = *request,
        .deadline_at_ms = deadline_at_ms,
        .ops = ops,
        .arg = arg,
    };
    buf_add_span(&call->body, request->body);
    call->request.body = buf_span(&call->body);
    if (!call->body.failed)
        call->timer = loop_add_timer(client->loop, 0, call_begin_attempt, call);
    if (call->timer)
        return call;
    call_free_call(call);
    return NULL;
}
