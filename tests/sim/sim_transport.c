/* The transport of the program: responses come from the simulated service, late or never, whole or
 * broken. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "core/net/http.h"
#include "core/net/transport.h"
#include "tests/sim/sim_identity.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_service.h"
#include "tests/sim/sim_world.h"

/* What will happen to a transfer. */
enum sim_fate {
    SIM_FATE_ANSWER,      /* it is processed, and its response arrives */
    SIM_FATE_LOSE,        /* it is processed, and the connection is lost */
    SIM_FATE_RESET,       /* the connection is lost before */
    SIM_FATE_UNREACHABLE, /* there is no connection */
    SIM_FATE_SILENCE,     /* nothing ever comes */
};

struct sim_network {
    struct transport base; /* first: a transport is cast to it */
    struct loop *loop;
    struct transfer *first; /* under way; the newest first */
};

struct transfer {
    struct sim_network *network;
    struct transfer *next, **link;
    transport_done_fn *done;
    void *arg;
    struct loop_timer *timer; /* the next event */
    struct sim_dice dice;
    uint64_t identity; /* of the target and the body: retries have the same */
    uint64_t number;   /* of its dice */
    uint64_t resource; /* of the share */
    char *method, *url, *host;
    char **headers;
    size_t header_count;
    char *body;
    size_t size;
    size_t max_body;
    int64_t timeout_ms, sent_ms;
    int64_t skew_ms;               /* of the machine's clock, when it was sent */
    int64_t process_ms, arrive_ms; /* INT64_MAX: never */
    enum sim_fate fate;
    bool is_processed;
    bool is_of_identity; /* to a service that issues credentials */
    struct sim_answer answer;
    /* What the program gets in place of a response. */
    struct error failure;
    enum sim_fault fault;
};

static size_t transfer_count;
static uint64_t sent_count;

size_t sim_transport_count(void)
{
    return transfer_count;
}

uint64_t sim_transport_sent(void)
{
    return sent_count;
}

/* The life of a transfer. */

static void sim_transport_free(struct transfer *transfer)
{
    for (size_t i = 0; i < transfer->header_count; i++)
        sim_free(transfer->headers[i]);
    sim_free(transfer->headers);
    sim_free(transfer->method);
    sim_free(transfer->url);
    sim_free(transfer->host);
    sim_free(transfer->body);
    sim_answer_free(&transfer->answer);
    free(transfer);
}

/* The service's word for the operation: the end of the target. */
static const char *sim_transport_operation(const struct transfer *transfer)
{
    for (size_t i = 0; i < transfer->header_count; i++)
        if (strncasecmp(transfer->headers[i], "x-amz-target:", 13) == 0) {
            const char *dot = strrchr(transfer->headers[i], '.');
            return dot ? dot + 1 : transfer->headers[i];
        }
    return transfer->url;
}

static bool sim_transport_is_hit(struct transfer *transfer, enum sim_fault fault)
{
    return sim_causes_strike_at(fault, transfer->number, sim_transport_operation(transfer));
}

/* Removes the transfer from the network and the loop. */
static void sim_transport_detach(struct transfer *transfer)
{
    loop_remove_timer(transfer->timer);
    transfer->timer = NULL;
    *transfer->link = transfer->next;
    if (transfer->next)
        transfer->next->link = transfer->link;
    transfer_count--;
}

/* The service processes the request, at this moment. */
static void sim_transport_process(struct transfer *transfer)
{
    static const char target[] = "x-amz-target:";
    struct sim_request request = {
        .number = transfer->number,
        .method = transfer->method,
        .url = transfer->url,
        .host = transfer->host,
        .target = "",
        .headers = (const char *const *)transfer->headers,
        .header_count = transfer->header_count,
        .body = transfer->body,
        .size = transfer->size,
        .skew_ms = transfer->skew_ms,
    };
    for (size_t i = 0; i < transfer->header_count; i++)
        if (strncasecmp(transfer->headers[i], target, sizeof target - 1) == 0)
            request.target = transfer->headers[i] + sizeof target - 1 +
                             strspn(transfer->headers[i] + sizeof target - 1, " ");
    transfer->is_processed = true;
    if (transfer->is_of_identity)
        sim_identity_answer(&request, &transfer->answer);
    else
        sim_service_answer(&request, &transfer->answer);
}

/* The program will not see the response. The service may process the request all the same. */
static void sim_transport_lose(struct transfer *transfer)
{
    bool may_come = transfer->fate != SIM_FATE_UNREACHABLE && transfer->fate != SIM_FATE_RESET;
    if (!transfer->is_processed && may_come && sim_dice_chance(&transfer->dice, 500))
        sim_transport_process(transfer);
    if (transfer->is_processed)
        sim_service_note_lost(&transfer->answer);
}

static void sim_transport_note_end(const struct transfer *transfer, enum sim_fault fault, int error,
                                   bool is_final)
{
    sim_causes_note_attempt(&(struct sim_attempt){
        .request = transfer->identity,
        .resource = transfer->resource,
        .operation = transfer->answer.operation ? transfer->answer.operation : "",
        .fault = fault,
        .error = error,
        .is_final = is_final,
        .is_of_identity = transfer->is_of_identity,
        .sent_ms = transfer->sent_ms,
        .ended_ms = sim_now_ms(),
        .retry_after_ms = transfer->answer.retry_after_ms,
    });
}

/* Ends the transfer with its failure. The callback may destroy the transport. */
static void sim_transport_fail(struct transfer *transfer)
{
    struct error failure = transfer->failure;
    transport_done_fn *done = transfer->done;
    void *arg = transfer->arg;
    sim_transport_note_end(transfer, transfer->fault, error_errno(failure.kind), false);
    sim_transport_lose(transfer);
    sim_transport_detach(transfer);
    sim_transport_free(transfer);
    done(arg, NULL, &failure);
}

static void sim_transport_time_out(struct transfer *transfer)
{
    bool is_silent = transfer->fate == SIM_FATE_SILENCE || transfer->fate == SIM_FATE_LOSE;
    transfer->fault = is_silent ? SIM_FAULT_NO_ANSWER : SIM_FAULT_LATE;
    error_set(&transfer->failure, ERROR_TIMED_OUT,
              "no response from %s within %.1f s; check the network and try again", transfer->host,
              (double)transfer->timeout_ms / 1000);
    sim_transport_fail(transfer);
}

/* Damages of a response. */

static struct span sim_transport_header(const struct sim_answer *answer, const char *name,
                                        size_t *number)
{
    for (size_t i = 0; i < answer->header_count; i++)
        if (strncasecmp(answer->headers[i], name, strlen(name)) == 0) {
            *number = i;
            return span_text(answer->headers[i] + strlen(name));
        }
    return (struct span){0};
}

static void sim_transport_set_header(struct sim_answer *answer, size_t number, char *line)
{
    sim_free(answer->headers[number]);
    answer->headers[number] = line;
}

/* A byte of the body, or the sum itself, is changed on the way. The units stay readable: the
 * program may book what a damaged response states. */
static void sim_transport_damage(struct transfer *transfer)
{
    struct sim_answer *answer = &transfer->answer;
    size_t number;
    struct span sum = sim_transport_header(answer, "x-amz-crc32: ", &number);
    if (!sum.data)
        return;
    const char *units = memmem(answer->body, answer->size, "\"ConsumedCapacity\"", 18);
    size_t first = units ? (size_t)(units - answer->body) : answer->size;
    if (first > 0 && sim_dice_chance(&transfer->dice, 500))
        answer->body[sim_dice_below(&transfer->dice, (uint32_t)first)] ^= 0x11;
    else
        sim_transport_set_header(answer, number, sim_printf("x-amz-crc32: %s1", sum.data));
    answer->fault = SIM_FAULT_CHECKSUM;
    answer->error = EBADMSG;
    answer->is_final = false;
    sim_service_note_lost(answer);
}

/* The body lacks its end. Either the connection ended, or a party on the way has corrected the
 * length, and perhaps dropped the sum. */
static bool sim_transport_truncate(struct transfer *transfer)
{
    struct sim_answer *answer = &transfer->answer;
    size_t number;
    if (sim_dice_chance(&transfer->dice, 600)) {
        error_set(&transfer->failure, ERROR_RESET, "the response of %s was cut short; try again",
                  transfer->host);
        transfer->fault = SIM_FAULT_TRUNCATED;
        sim_transport_fail(transfer);
        return true;
    }
    bool keeps_sum = sim_dice_chance(&transfer->dice, 500);
    bool is_success = answer->status == 200;
    answer->size = sim_dice_below(&transfer->dice, (uint32_t)answer->size);
    answer->body[answer->size] = '\0';
    if (sim_transport_header(answer, "content-length: ", &number).data)
        sim_transport_set_header(answer, number, sim_printf("Content-Length: %zu", answer->size));
    struct span sum = sim_transport_header(answer, "x-amz-crc32: ", &number);
    if (sum.data && !keeps_sum)
        sim_transport_set_header(answer, number, sim_copy("x-cut: 1"));
    /* Without its sum a success is not understood; a failure is known by a header or its status,
     * unless its compression is damaged: "A response is valid, or it is ERROR_BAD_ANSWER"
     * (docs/internals/source.md). HTTP 5xx is retried in any case. */
    bool is_stated = sim_transport_header(answer, "x-amzn-errortype: ", &number).data;
    bool is_packed = sim_transport_header(answer, "content-encoding: ", &number).data;
    bool is_known = !is_success && !is_packed && (is_stated || answer->status >= 500);
    if (!is_known || (sum.data && keeps_sum)) {
        answer->fault = SIM_FAULT_TRUNCATED;
        answer->error = EBADMSG;
        answer->is_final = !(sum.data && keeps_sum) && answer->status < 500;
    }
    sim_service_note_lost(answer);
    return false;
}

/* Delivery. */

static struct http_header *sim_transport_list_headers(const struct sim_answer *answer)
{
    struct http_header *list = sim_alloc((answer->header_count + 1) * sizeof *list);
    for (size_t i = 0; i < answer->header_count; i++) {
        char *colon = strchr(answer->headers[i], ':');
        *colon = '\0';
        list[i] = (struct http_header){answer->headers[i], colon + 1 + strspn(colon + 1, " ")};
    }
    return list;
}

/* The peer itself wrote the response: over TLS, or on this machine. */
static bool sim_transport_is_authentic(const struct transfer *transfer)
{
    return strncasecmp(transfer->url, "https:", 6) == 0 ||
           strncmp(transfer->host, "127.", 4) == 0 || strncmp(transfer->host, "[::1]", 5) == 0;
}

/* Calls back with the response. Its body can be taken, or not. */
static void sim_transport_deliver(struct transfer *transfer)
{
    struct buf holder = {0};
    struct sim_answer answer = transfer->answer;
    bool can_be_taken = sim_dice_chance(&transfer->dice, 600);
    struct http_response response = {
        .status = answer.status,
        .header_count = answer.header_count,
        .body = span_of(answer.body, answer.size),
        .elapsed_ms = sim_now_ms() - transfer->sent_ms,
        .authentic = sim_transport_is_authentic(transfer),
    };
    if (can_be_taken) {
        buf_add(&holder, answer.body, answer.size);
        response.holder = &holder;
        response.body = buf_span(&holder);
    }
    if (holder.failed || answer.size > transfer->max_body) {
        if (holder.failed)
            error_no_memory(&transfer->failure);
        else
            error_set(&transfer->failure, ERROR_BAD_ANSWER,
                      "the response of %s is larger than the limit of %zu bytes", transfer->host,
                      transfer->max_body);
        buf_clean_up(&holder);
        transfer->fault = SIM_FAULT_MEMORY;
        sim_transport_fail(transfer);
        return;
    }
    transport_done_fn *done = transfer->done;
    void *arg = transfer->arg;
    struct http_header *headers = sim_transport_list_headers(&answer);
    response.headers = headers;
    sim_transport_note_end(transfer, answer.fault, answer.error, answer.is_final);
    transfer->answer = (struct sim_answer){0};
    sim_transport_detach(transfer);
    sim_transport_free(transfer);
    done(arg, &response, NULL);
    buf_clean_up(&holder);
    sim_free(headers);
    sim_answer_free(&answer);
}

/* What happens when the response should arrive. */
static void sim_transport_arrive(struct transfer *transfer)
{
    switch (transfer->fate) {
    case SIM_FATE_UNREACHABLE:
    case SIM_FATE_RESET:
    case SIM_FATE_LOSE:
        sim_transport_fail(transfer);
        return;
    case SIM_FATE_SILENCE:
        sim_broken("a response arrives that never should");
    case SIM_FATE_ANSWER:
        break;
    }
    if (transfer->answer.size > 1 && sim_transport_is_hit(transfer, SIM_FAULT_TRUNCATED)) {
        if (sim_transport_truncate(transfer))
            return;
    } else if (sim_transport_is_hit(transfer, SIM_FAULT_CHECKSUM)) {
        sim_transport_damage(transfer);
    }
    sim_transport_deliver(transfer);
}

static void sim_transport_on_timer(void *arg);

/* Sets the timer for the next event. Without memory the transfer waits for its deadline, which is
 * now. */
static bool sim_transport_wait(struct transfer *transfer)
{
    int64_t next_ms = transfer->sent_ms + transfer->timeout_ms;
    if (!transfer->is_processed && transfer->process_ms < next_ms)
        next_ms = transfer->process_ms;
    if (transfer->arrive_ms < next_ms)
        next_ms = transfer->arrive_ms;
    int64_t delay_ms = next_ms - sim_now_ms();
    transfer->timer = loop_add_timer(transfer->network->loop, delay_ms > 0 ? delay_ms : 0,
                                     sim_transport_on_timer, transfer);
    return transfer->timer;
}

/* One of the transfers whose responses arrive now: they come in any order. */
static struct transfer *sim_transport_pick(struct transfer *transfer)
{
    struct transfer *picked = transfer;
    uint32_t count = 1;
    int64_t now_ms = sim_now_ms();
    for (struct transfer *each = transfer->network->first; each; each = each->next)
        if (each != transfer && each->timer && each->arrive_ms <= now_ms &&
            each->sent_ms + each->timeout_ms > now_ms &&
            sim_dice_below(&transfer->dice, ++count) == 0)
            picked = each;
    if (picked == transfer || !sim_transport_wait(transfer))
        return transfer;
    loop_remove_timer(picked->timer);
    picked->timer = NULL;
    return picked;
}

static void sim_transport_on_timer(void *arg)
{
    struct transfer *transfer = arg;
    transfer->timer = NULL;
    int64_t now_ms = sim_now_ms();
    if (transfer->arrive_ms <= now_ms)
        transfer = sim_transport_pick(transfer);
    if (!transfer->is_processed && transfer->process_ms <= now_ms)
        sim_transport_process(transfer);
    if (transfer->arrive_ms <= now_ms) {
        sim_transport_arrive(transfer);
    } else if (now_ms >= transfer->sent_ms + transfer->timeout_ms) {
        sim_transport_time_out(transfer);
    } else if (!sim_transport_wait(transfer)) {
        error_no_memory(&transfer->failure);
        transfer->fault = SIM_FAULT_MEMORY;
        sim_transport_fail(transfer);
    }
}

/* Sending. */

static uint64_t sim_transport_digest(uint64_t start, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        start = (start ^ at[i]) * 0x100000001b3u;
    return start;
}

/* There is no connection, for one of several reasons. */
static void sim_transport_choose_failure(struct transfer *transfer)
{
    static const struct {
        enum error_kind kind;
        const char *before, *after;
    } reasons[] = {
        {ERROR_UNREACHABLE, "the name of ", " cannot be resolved; check the network"},
        {ERROR_UNREACHABLE, "no connection to ", ": Network is unreachable; check the network"},
        {ERROR_REFUSED, "no server listens at ", " (connection refused); check the endpoint"},
        {ERROR_TLS, "TLS with ", " failed; check that the endpoint speaks https"},
    };
    uint32_t i = sim_dice_below(&transfer->dice, sizeof reasons / sizeof reasons[0]);
    error_set(&transfer->failure, reasons[i].kind, "%s%s%s", reasons[i].before, transfer->host,
              reasons[i].after);
}

/* Most networks of a life are near, some are far. Services of the machine itself are always near.
 */
static int64_t sim_transport_draw_latency_ms(struct transfer *transfer)
{
    static int64_t usual_ms;
    struct sim_dice *dice = &transfer->dice;
    if (usual_ms == 0) {
        struct sim_dice network = sim_dice_for("network", 0);
        usual_ms = sim_dice_chance(&network, 750) ? 20 : sim_dice_between(&network, 30, 200);
    }
    if (transfer->is_of_identity)
        return sim_dice_between(dice, 1, 5);
    if (sim_dice_chance(dice, 950))
        return sim_dice_between(dice, usual_ms > 20 ? usual_ms / 4 : 1, usual_ms);
    return sim_dice_between(dice, usual_ms, 400);
}

static void sim_transport_draw_fate(struct transfer *transfer)
{
    struct sim_dice *dice = &transfer->dice;
    transfer->fate = SIM_FATE_ANSWER;
    transfer->fault = SIM_FAULTS;
    if (sim_transport_is_hit(transfer, SIM_FAULT_UNREACHABLE)) {
        transfer->fate = SIM_FATE_UNREACHABLE;
        transfer->fault = SIM_FAULT_UNREACHABLE;
        sim_transport_choose_failure(transfer);
    } else if (sim_transport_is_hit(transfer, SIM_FAULT_RESET_BEFORE)) {
        transfer->fate = SIM_FATE_RESET;
        transfer->fault = SIM_FAULT_RESET_BEFORE;
        error_set(&transfer->failure, ERROR_RESET,
                  "%s closed the connection without a response; try again", transfer->host);
    } else if (sim_transport_is_hit(transfer, SIM_FAULT_RESET_AFTER)) {
        transfer->fate = SIM_FATE_LOSE;
        transfer->fault = SIM_FAULT_RESET_AFTER;
        error_set(&transfer->failure, ERROR_RESET, "the connection to %s was lost; try again",
                  transfer->host);
    } else if (sim_transport_is_hit(transfer, SIM_FAULT_NO_ANSWER)) {
        transfer->fate = SIM_FATE_SILENCE;
    }
    int64_t latency_ms = sim_transport_draw_latency_ms(transfer);
    if (sim_transport_is_hit(transfer, SIM_FAULT_LATE))
        latency_ms = sim_dice_between(dice, 500, 14000);
    int64_t arrive_ms = transfer->sent_ms + latency_ms;
    if (sim_dice_chance(dice, 300)) /* several arrive at the same time */
        arrive_ms += 9 - arrive_ms % 10;
    bool comes = transfer->fate == SIM_FATE_ANSWER || transfer->fate == SIM_FATE_LOSE;
    transfer->arrive_ms = transfer->fate == SIM_FATE_SILENCE ? INT64_MAX : arrive_ms;
    transfer->process_ms = comes && sim_dice_chance(dice, 500)
                               ? sim_dice_between(dice, transfer->sent_ms, arrive_ms)
                           : comes ? arrive_ms
                                   : INT64_MAX;
}

/* Copies "host[:port]" of a URL. */
static char *sim_transport_host(const char *url)
{
    const char *from = strstr(url, "://");
    from = from ? from + 3 : url;
    return sim_printf("%.*s", (int)strcspn(from, "/?"), from);
}

static void sim_transport_copy(struct transfer *transfer, const struct http_request *request)
{
    transfer->method = sim_copy(request->method);
    transfer->url = sim_copy(request->url);
    transfer->host = sim_transport_host(request->url);
    transfer->headers = sim_alloc((request->header_count + 1) * sizeof *transfer->headers);
    for (; transfer->header_count < request->header_count; transfer->header_count++)
        transfer->headers[transfer->header_count] =
            sim_copy(request->headers[transfer->header_count]);
    transfer->body = sim_alloc(request->body.size + 1);
    if (request->body.size > 0)
        memcpy(transfer->body, request->body.data, request->body.size);
    transfer->size = request->body.size;
    transfer->max_body = request->max_body;
    transfer->timeout_ms = request->timeout_ms;
}

/* The time that the request is signed for; -1: none. */
static int64_t sim_transport_date_ms(const struct http_request *request)
{
    struct tm tm = {0};
    for (size_t i = 0; i < request->header_count; i++)
        if (sscanf(request->headers[i], "X-Amz-Date: %4d%2d%2dT%2d%2d%2dZ", &tm.tm_year, &tm.tm_mon,
                   &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec) == 6) {
            tm.tm_year -= 1900;
            tm.tm_mon--;
            return (int64_t)timegm(&tm) * 1000;
        }
    return -1;
}

/* "The clock is corrected by 24 hours at most." */
static void sim_transport_check_clock(const struct http_request *request)
{
    enum { MINUTE = 60 * 1000, DAY = 24 * 60 * MINUTE };
    int64_t skew_ms = llabs(sim_wall_ms() - sim_service_wall_ms());
    int64_t date_ms = sim_transport_date_ms(request);
    if (skew_ms > DAY + MINUTE && date_ms >= 0 &&
        llabs(date_ms - sim_service_wall_ms()) < 15 * MINUTE)
        sim_defect("clock",
                   "a request has the right date, although the machine's clock differs by "
                   "%lld hours",
                   (long long)(skew_ms / MINUTE / 60));
}

static struct transfer *sim_transport_send(struct transport *transport,
                                           const struct http_request *request,
                                           transport_done_fn *done, void *arg)
{
    struct sim_network *network = (struct sim_network *)transport;
    sim_transport_check_clock(request);
    struct transfer *transfer = malloc(sizeof *transfer); /* the program's memory, which may fail */
    if (!transfer)
        return NULL;
    *transfer = (struct transfer){.network = network, .done = done, .arg = arg};
    sim_transport_copy(transfer, request);
    const char *what = sim_transport_operation(transfer);
    const char *share = request->share ? request->share : "";
    uint64_t start = sim_transport_digest(0xcbf29ce484222325u, what, strlen(what));
    transfer->identity = sim_transport_digest(start, transfer->body, transfer->size);
    transfer->resource = sim_transport_digest(0xcbf29ce484222325u, share, strlen(share));
    transfer->number =
        transfer->identity + 0x9e3779b97f4a7c15u * sim_causes_count(transfer->identity);
    transfer->dice = sim_dice_for("transfer", transfer->number);
    transfer->sent_ms = sim_now_ms();
    transfer->skew_ms = sim_wall_ms() - sim_service_wall_ms();
    transfer->is_of_identity = sim_identity_has(request->url);
    if (!transfer->is_of_identity && request->timeout_ms > sim_life_options()->timeout_ms)
        sim_defect("deadline", "%s may take %lld ms; --timeout is %lld ms", what,
                   (long long)request->timeout_ms, (long long)sim_life_options()->timeout_ms);
    sim_transport_draw_fate(transfer);
    if (!sim_transport_wait(transfer)) {
        sim_transport_free(transfer);
        return NULL;
    }
    transfer->next = network->first;
    transfer->link = &network->first;
    if (network->first)
        network->first->link = &transfer->next;
    network->first = transfer;
    transfer_count++;
    if (!transfer->is_of_identity) {
        sent_count++;
    }
    return transfer;
}

static void sim_transport_cancel(struct transfer *transfer)
{
    sim_transport_lose(transfer);
    sim_transport_detach(transfer);
    sim_transport_free(transfer);
}

static void sim_transport_destroy(struct transport *transport)
{
    struct sim_network *network = (struct sim_network *)transport;
    while (network->first)
        sim_transport_cancel(network->first);
    free(network);
}

struct transport *http_new(struct loop *loop, const struct http_options *options, struct error *err)
{
    static const struct transport_ops ops = {sim_transport_send, sim_transport_cancel,
                                             sim_transport_destroy};
    (void)options;
    struct sim_network *network = malloc(sizeof *network);
    if (!network) {
        error_no_memory(err);
        return NULL;
    }
    *network = (struct sim_network){.base.ops = &ops, .loop = loop};
    return &network->base;
}
