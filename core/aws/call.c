/* The attempts of one call. The decisions to retry are those of retry.c. */
#include "core/aws/call.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/aws/aws_fault.h"
#include "core/aws/credentials_cache.h"
#include "core/aws/sigv4.h"
#include "core/base/buf.h"

enum { MS_PER_DAY = 24 * 3600 * 1000 };

enum call_state {
    CALL_DUE,         /* waits for its timer, the next attempt */
    CALL_IDENTIFYING, /* waits for credentials, or its timer, the deadline */
    CALL_SENT,        /* waits for the response; the transport has the deadline */
    CALL_OVER,        /* waits for nothing: DONE is called */
    CALL_STATES,
};

struct aws_call {
    enum call_state state; /* changed by call_move() only */
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
    struct error last; /* of the last attempt */
    int64_t sent_ms, sent_wall_ms;
    int64_t signed_skew_ms;   /* the client's, when the last attempt was signed */
    unsigned tries;           /* requests sent */
    unsigned attempt;         /* requests that count for the retry quota */
    unsigned paid;            /* by the last retry */
    bool clock_corrected;     /* once per call */
    bool credentials_dropped; /* once per call */
    bool is_retired;          /* the response under way is the last */
};

/* A call has the handles of its state, and no others. */
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

/* The one place that changes the state. A wrong move is a bug in this file: it is logged, so that
 * tests fail. */
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

/* Exactly one of RESULT and ERR is not NULL. */
static void call_finish(struct aws_call *call, void *result, const struct error *err)
{
    struct error copy; /* of ERR, which may be the call's */
    const struct aws_call_ops *ops = call->ops;
    unsigned tries = call->tries;
    void *arg = call->arg;
    if (err)
        copy = *err;
    if (err && tries > 1) { /* the count is at the text's end, even if the text must be cut */
        char suffix[40];
        size_t size = (size_t)snprintf(suffix, sizeof suffix, " (tried %u times)", tries);
        size_t used = strlen(copy.text), most = sizeof copy.text - 1 - size;
        memcpy(copy.text + (used < most ? used : most), suffix, size + 1);
    }
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

/* The error of the last attempt is more specific than the deadline. */
static void call_fail_late(struct aws_call *call)
{
    bool no_credentials = call->state == CALL_IDENTIFYING;
    if (call->last.kind == ERROR_NONE) {
        error_set(&call->last, ERROR_TIMED_OUT,
                  "the deadline passed before the request could be sent%s%s%s",
                  call->request.url ? " to " : "", call->request.url ? call->request.url : "",
                  no_credentials
                      ? ": there were no credentials in time; check their source (a process, a "
                        "sign-in, another service)"
                      : "");
        call->last.unsigned_yet = no_credentials;
    }
    call_finish(call, NULL, &call->last);
}

/* Between attempts. */

static void call_begin_attempt(void *arg);

static struct retry *call_retry_of(struct aws_call *call)
{
    return call->request.retry ? call->request.retry : &call->client->retry;
}

static void call_attempt_later(struct aws_call *call, int64_t delay_ms)
{
    call->timer = loop_add_timer(call->client->loop, delay_ms, call_begin_attempt, call);
    if (call->timer)
        call_move(call, CALL_DUE);
    else
        call_fail_without_memory(call);
}

/* Other credentials do not help a request that the clock alone makes invalid. */
static void call_blame_clock(struct aws_call *call, int64_t skew_ms)
{
    call->credentials_dropped = true;
    call->last.kind = ERROR_DENIED;
    snprintf(call->last.text, sizeof call->last.text,
             "the service refuses the signature (%s), because this machine's clock is %.1f days %s "
             "the service's; set this machine's clock",
             call->last.code, (double)llabs(skew_ms) / MS_PER_DAY,
             skew_ms > 0 ? "behind" : "ahead of");
}

/* If a wrong clock can be the cause, the service's time is used from now on; another call may have
 * found it since this attempt was signed. A date that another party may have written could make
 * signatures that are valid at a time of its choice. */
static bool call_correct_clock(struct aws_call *call, const struct http_response *response)
{
    struct aws_client *client = call->client;
    int64_t skew_ms;
    if (call->clock_corrected || !response || !response->authentic ||
        !aws_fault_may_be_clock(call->last.code) ||
        !retry_read_skew(response, call->sent_wall_ms, &skew_ms) ||
        !retry_skews_differ(skew_ms, call->signed_skew_ms))
        return false;
    if (skew_ms > MS_PER_DAY || skew_ms < -MS_PER_DAY) {
        call_blame_clock(call, skew_ms);
        return false;
    }
    call->clock_corrected = true;
    if (!retry_skews_differ(skew_ms, client->skew_ms))
        return true;
    client->skew_ms = skew_ms;
    log_line(
        client->log, LOG_LEVEL_WARNING,
        "this machine's clock differs from the service's by %lld s; signing with the service's",
        (long long)(skew_ms / 1000));
    return true;
}

/* Refused credentials are dropped, so that the next attempt uses others. */
static bool call_drop_credentials(struct aws_call *call)
{
    if (call->credentials_dropped || !call->request.service ||
        !aws_fault_may_be_credentials(call->last.code))
        return false;
    call->credentials_dropped = true;
    return credentials_cache_refuse(call->client->credentials, call->age);
}

/* A retry that could not start before the deadline is neither made nor paid. */
static bool call_may_try_again(struct aws_call *call, const struct http_response *response,
                               int64_t *delay_ms)
{
    struct retry *retry = call_retry_of(call);
    const char *text = response ? http_header(response, "x-amz-retry-after") : NULL;
    int64_t server_ms = -1;
    unsigned paid;
    if (text) {
        char *end;
        server_ms = strtoll(text, &end, 10);
        if (end == text || *end != '\0' || server_ms < 0)
            server_ms = -1;
    }
    if (!retry_again(retry, &call->last, call->attempt, server_ms, delay_ms, &paid))
        return false;
    if (*delay_ms >= call->deadline_at_ms - loop_now_ms(call->client->loop)) {
        retry_refund(retry, paid);
        return false;
    }
    call->paid = paid;
    return true;
}

static void call_recover(struct aws_call *call, const struct http_response *response)
{
    int64_t delay_ms = 0;
    bool corrected = call_correct_clock(call, response) || call_drop_credentials(call);
    /* Each request counts, whatever the reason of its retry. */
    unsigned attempts = retry_attempts(call_retry_of(call)), most = call->request.most_tries;
    bool has_more = !call->is_retired && call->tries < (most && most < attempts ? most : attempts);
    if (has_more && corrected) {
        call->attempt--;
        call_attempt_later(call, 0);
    } else if (has_more && call_may_try_again(call, response, &delay_ms)) {
        call_attempt_later(call, delay_ms);
    } else {
        call_finish(call, NULL, &call->last);
    }
}

/* The headers that carry one attempt, its signature among them. */

enum {
    MAX_SIGNED = AWS_MAX_HEADERS + 3, /* Host, X-Amz-Date, X-Amz-Security-Token */
    MAX_LINES = MAX_SIGNED + 2,       /* Authorization, Accept-Encoding */
    AUTHORIZATION_ROOM = 1024,
};

struct envelope {
    const char *headers[MAX_LINES]; /* "Name: value", in the buffers below */
    size_t header_count;
    struct buf lines;         /* a secret: the session token is in it */
    struct buf authorization; /* a secret */
};

static void envelope_clean_up(struct envelope *envelope)
{
    buf_clean_up_secret(&envelope->lines);
    buf_clean_up_secret(&envelope->authorization);
}

/* Writes HEADER twice, as "Name: value" and with its name in lower case for the signature, and puts
 * it into SORTED by its name. The room is reserved, so that no text moves. */
static void envelope_write_header(struct envelope *envelope, const struct aws_header *header,
                                  struct sigv4_header *sorted, size_t count)
{
    struct buf *out = &envelope->lines;
    struct sigv4_header to_sign;
    size_t at = count;
    envelope->headers[envelope->header_count++] = out->data + out->size;
    buf_add_text(out, header->name);
    buf_add_text(out, ": ");
    to_sign.value = span_of(out->data + out->size, header->value.size);
    buf_add_span(out, header->value);
    buf_add_char(out, '\0');
    to_sign.name = out->data + out->size;
    for (const char *c = header->name; *c; c++)
        buf_add_char(out, (char)tolower((unsigned char)*c));
    buf_add_char(out, '\0');
    for (; at > 0 && strcmp(sorted[at - 1].name, to_sign.name) > 0; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = to_sign;
}

static bool envelope_sign(struct envelope *envelope, const struct sigv4_request *request,
                          const struct sigv4_scope *scope, const struct credentials *credentials,
                          struct sigv4_key *key)
{
    buf_reserve(&envelope->authorization, AUTHORIZATION_ROOM);
    buf_add_text(&envelope->authorization, "Authorization: ");
    if (!sigv4_key_derive(key, scope, credentials->secret_access_key) ||
        !sigv4_sign(&envelope->authorization, request, scope, credentials->access_key_id, key))
        return false;
    envelope->headers[envelope->header_count++] = buf_text(&envelope->authorization);
    return true;
}

/* WALL_MS is the service's time. CREDENTIALS are NULL for an unsigned request; KEY is the place for
 * a key that they yield. False when OpenSSL or memory failed. ENVELOPE, {0} before, needs clean-up
 * in either case. */
static bool envelope_write(struct envelope *envelope, const struct aws_request *request,
                           int64_t wall_ms, const struct credentials *credentials,
                           struct sigv4_key *key)
{
    char amz_date[SIGV4_DATE_SIZE];
    struct aws_header all[MAX_SIGNED];
    struct sigv4_header sorted[MAX_SIGNED];
    size_t count = 0, room = 0;
    for (; count < request->header_count && count < AWS_MAX_HEADERS; count++)
        all[count] = request->headers[count];
    all[count++] = (struct aws_header){"Host", span_text(request->host)};
    if (credentials) {
        sigv4_date(amz_date, wall_ms);
        all[count++] = (struct aws_header){"X-Amz-Date", span_text(amz_date)};
        if (credentials->session_token)
            all[count++] =
                (struct aws_header){"X-Amz-Security-Token", span_text(credentials->session_token)};
    }
    /* All room at once: a buffer that grows would leave copies of a secret behind. */
    for (size_t i = 0; i < count; i++)
        room += 2 * strlen(all[i].name) + all[i].value.size + sizeof ": " + 2;
    if (!buf_reserve(&envelope->lines, room))
        return false;
    for (size_t i = 0; i < count; i++)
        envelope_write_header(envelope, &all[i], sorted, i);
    envelope->headers[envelope->header_count++] = "Accept-Encoding: gzip";
    if (!credentials)
        return true;
    struct sigv4_request to_sign = {request->method, request->path, request->query,
                                    sorted,          count,         request->body};
    struct sigv4_scope scope = {amz_date, request->region, request->service};
    return envelope_sign(envelope, &to_sign, &scope, credentials, key);
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
            retry_refund(call_retry_of(call), call->paid);
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

/* Fills in the address and its parts. */
static bool call_locate(const struct aws_call *call, const struct credentials *credentials,
                        struct aws_request *request, struct error *err)
{
    const struct aws_client *client = call->client;
    const struct aws_endpoint *endpoint =
        client->locate(client->locate_arg, request->service_at, credentials, err);
    if (!endpoint)
        return false;
    request->url = endpoint->root_url;
    request->host = endpoint->host;
    request->path = endpoint->root_path;
    request->region = endpoint->signing_region;
    return true;
}

/* Signs and sends. CREDENTIALS are NULL for an unsigned request. False with ERR filled. */
static bool call_sign_and_send(struct aws_call *call, const struct credentials *credentials,
                               struct error *err)
{
    CLEAN_UP(envelope_clean_up) struct envelope envelope = {0};
    CLEAN_UP(sigv4_key_wipe) struct sigv4_key own = {0};
    struct aws_request request = call->request;
    struct sigv4_key *key =
        credentials ? credentials_cache_key(call->client->credentials, credentials) : NULL;
    if (!request.url && !call_locate(call, credentials, &request, err))
        return false;
    call->signed_skew_ms = call->client->skew_ms;
    int64_t service_ms = call_wall_ms(call) + call->signed_skew_ms;
    if (!envelope_write(&envelope, &request, service_ms, credentials, key ? key : &own) ||
        !call_send_envelope(call, &request, &envelope))
        return error_no_memory(err);
    loop_remove_timer(call->timer);
    call->timer = NULL;
    call_move(call, CALL_SENT);
    call->tries++;
    call->attempt++;
    call->ops->sent(call->arg);
    return true;
}

static void call_send_attempt(struct aws_call *call, const struct credentials *credentials)
{
    struct error err;
    if (loop_now_ms(call->client->loop) >= call->deadline_at_ms)
        call_fail_late(call);
    else if (!call_sign_and_send(call, credentials, &err))
        call_finish(call, NULL, &err);
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

/* Sends the first attempt at once if nothing is missing for it. After a failure the timer's attempt
 * reports the reason. */
static bool call_send_first(struct aws_call *call)
{
    struct error ignored;
    struct aws_client *client = call->client;
    const struct credentials *held =
        call->request.service ? credentials_cache_held(client->credentials, &call->age) : NULL;
    return (held || !call->request.service) && loop_now_ms(client->loop) < call->deadline_at_ms &&
           call_sign_and_send(call, held, &ignored);
}

struct aws_call *aws_call_start(struct aws_client *client, const struct aws_request *request,
                                int64_t deadline_at_ms, const struct aws_call_ops *ops, void *arg)
{
    struct aws_call *call = malloc(sizeof *call);
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
    if (!call->body.failed && call_send_first(call))
        return call;
    if (!call->body.failed)
        call->timer = loop_add_timer(client->loop, 0, call_begin_attempt, call);
    if (call->timer)
        return call;
    call_free_call(call);
    return NULL;
}
