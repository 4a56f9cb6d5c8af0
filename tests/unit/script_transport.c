/* Steps, transfers, and what was sent. */
#include "tests/unit/script_transport.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/buf.h"

enum { MAX_STEPS = 256, MAX_HEADERS = 16, MAX_HEAD = 4096 };

struct step {
    int status; /* 0: no answer */
    enum error_kind kind;
    const char *headers;
    struct span body;
    int64_t delay_ms;
    bool doubted;
};

struct script {
    struct transport transport; /* first: a transport is a script */
    struct loop *loop;
    struct step steps[MAX_STEPS];
    size_t step_count;
    struct script_sent sent[MAX_STEPS];
    size_t sent_count;
    size_t cancelled;
    size_t pending;
};

struct transfer {
    struct script *script;
    struct step step;
    struct loop_timer *timer;
    transport_done_fn *done;
    void *arg;
};

static char *joined(const struct http_request *request)
{
    struct buf text = {0};
    for (size_t i = 0; i < request->header_count; i++) {
        buf_add_text(&text, request->headers[i]);
        buf_add_char(&text, '\n');
    }
    return buf_steal(&text, NULL);
}

static void remember(struct script *script, const struct http_request *request)
{
    struct clock *clock = loop_clock(script->loop);
    if (script->sent_count == MAX_STEPS)
        return;
    script->sent[script->sent_count++] = (struct script_sent){
        .at_ms = clock->now_ms(clock),
        .timeout_ms = request->timeout_ms,
        .no_proxy = request->no_proxy,
        .method = strdup(request->method),
        .url = strdup(request->url),
        .headers = joined(request),
        .body = strndup(request->body.size ? request->body.data : "", request->body.size),
        .ca_bundle = request->ca_bundle ? strdup(request->ca_bundle) : NULL,
    };
}

static struct step next_step(const struct script *script)
{
    if (script->sent_count > script->step_count)
        return (struct step){.kind = ERROR_BAD_ANSWER};
    return script->steps[script->sent_count - 1];
}

static size_t split_headers(char *text, struct http_header *out)
{
    size_t count = 0;
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line && count < MAX_HEADERS;
         line = strtok_r(NULL, "\n", &rest)) {
        char *colon = strstr(line, ": ");
        if (!colon)
            continue;
        *colon = '\0';
        out[count++] = (struct http_header){line, colon + 2};
    }
    return count;
}

static void answer(const struct transfer *transfer)
{
    struct http_header headers[MAX_HEADERS];
    char text[MAX_HEAD];
    snprintf(text, sizeof text, "%s", transfer->step.headers);
    struct http_response response = {
        .status = transfer->step.status,
        .headers = headers,
        .header_count = split_headers(text, headers),
        .body = transfer->step.body,
        .elapsed_ms = transfer->step.delay_ms,
        .authentic = !transfer->step.doubted,
    };
    transfer->done(transfer->arg, &response, NULL);
}

static void finish(void *arg)
{
    struct transfer transfer = *(struct transfer *)arg;
    transfer.script->pending--;
    free(arg);
    if (transfer.step.status) {
        answer(&transfer);
        return;
    }
    struct error err;
    error_set(&err, transfer.step.kind, "no answer: the script says %s",
              error_word(transfer.step.kind));
    transfer.done(transfer.arg, NULL, &err);
}

static struct transfer *script_send(struct transport *transport, const struct http_request *request,
                                    transport_done_fn *done, void *arg)
{
    struct script *script = (struct script *)transport;
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer)
        return NULL;
    remember(script, request);
    *transfer =
        (struct transfer){.script = script, .step = next_step(script), .done = done, .arg = arg};
    if (transfer->step.delay_ms > request->timeout_ms)
        transfer->step = (struct step){.kind = ERROR_TIMED_OUT, .delay_ms = request->timeout_ms};
    transfer->timer = loop_add_timer(script->loop, transfer->step.delay_ms, finish, transfer);
    if (!transfer->timer) {
        free(transfer);
        return NULL;
    }
    script->pending++;
    return transfer;
}

static void script_cancel(struct transfer *transfer)
{
    transfer->script->cancelled++;
    transfer->script->pending--;
    loop_remove_timer(transfer->timer);
    free(transfer);
}

static void script_destroy_transport(struct transport *transport)
{
    script_destroy((struct script *)transport);
}

struct script *script_new(struct loop *loop)
{
    static const struct transport_ops ops = {script_send, script_cancel, script_destroy_transport};
    struct script *script = calloc(1, sizeof *script);
    if (!script)
        return NULL;
    script->transport.ops = &ops;
    script->loop = loop;
    return script;
}

void script_destroy(struct script *script)
{
    if (!script)
        return;
    for (size_t i = 0; i < script->sent_count; i++) {
        free(script->sent[i].method);
        free(script->sent[i].url);
        free(script->sent[i].headers);
        free(script->sent[i].body);
        free(script->sent[i].ca_bundle);
    }
    free(script);
}

struct transport *script_transport(struct script *script)
{
    return &script->transport;
}

static void add_step(struct script *script, struct step step)
{
    if (script->step_count < MAX_STEPS)
        script->steps[script->step_count++] = step;
}

void script_answer_bytes(struct script *script, int status, const char *headers, struct span body)
{
    add_step(script, (struct step){.status = status, .headers = headers, .body = body});
}

void script_answer(struct script *script, int status, const char *headers, const char *body)
{
    script_answer_bytes(script, status, headers, span_text(body));
}

void script_doubt(struct script *script)
{
    script->steps[script->step_count - 1].doubted = true;
}

void script_fail(struct script *script, enum error_kind kind)
{
    add_step(script, (struct step){.kind = kind});
}

void script_delay(struct script *script, int64_t delay_ms)
{
    if (script->step_count)
        script->steps[script->step_count - 1].delay_ms = delay_ms;
}

size_t script_sent_count(const struct script *script)
{
    return script->sent_count;
}

const struct script_sent *script_sent(const struct script *script, size_t i)
{
    static char nothing[] = "";
    static const struct script_sent none = {
        .method = nothing, .url = nothing, .headers = nothing, .body = nothing};
    return i < script->sent_count ? &script->sent[i] : &none;
}

size_t script_cancelled(const struct script *script)
{
    return script->cancelled;
}

size_t script_pending(const struct script *script)
{
    return script->pending;
}
