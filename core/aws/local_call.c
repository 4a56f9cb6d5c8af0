/* Tries, one after the other, until an answer will do. */
#include "core/aws/local_call.h"

#include <stdlib.h>

#include "core/aws/document.h"

enum { MAX_ANSWER = 1024 * 1024 }; /* the largest has some kilobytes */

struct local_call {
    struct loop *loop;
    struct transport *transport;
    const struct log *log;
    struct local_question question;         /* its texts are the ones below */
    struct buf url;                         /* owned */
    struct buf headers[LOCAL_CALL_HEADERS]; /* owned; secrets */
    struct loop_timer *timer;               /* between two tries */
    struct transfer *transfer;              /* during one */
    local_call_fn *fn;
    void *arg;
};

bool local_call_has_body(const struct http_response *response)
{
    return response->status == 200 && response->body.size > 0;
}

bool local_call_has_document(const struct http_response *response)
{
    CLEAN_UP(document_clean_up) struct document *document = NULL;
    struct error err = {0};
    if (local_call_has_body(response))
        document = document_parse(response->body, "the answer", &err);
    return document || err.kind == ERROR_NO_MEMORY;
}

static void local_call_free_call(struct local_call *call)
{
    for (size_t i = 0; i < LOCAL_CALL_HEADERS; i++)
        buf_clean_up_secret(&call->headers[i]);
    buf_clean_up(&call->url);
    free(call);
}

void local_call_end(struct local_call *call)
{
    if (!call)
        return;
    loop_remove_timer(call->timer);
    if (call->transfer)
        call->transport->ops->cancel(call->transfer);
    local_call_free_call(call);
}

static void local_call_report(struct local_call *call, const struct http_response *response,
                              const struct error *err)
{
    local_call_fn *fn = call->fn;
    void *arg = call->arg;
    local_call_free_call(call);
    fn(arg, response, err);
}

static bool local_call_try_once(struct local_call *call);

static void local_call_try_again(void *arg)
{
    struct local_call *call = arg;
    struct error err;
    call->timer = NULL;
    if (local_call_try_once(call))
        return;
    error_no_memory(&err);
    local_call_report(call, NULL, &err);
}

static void local_call_on_response(void *arg, const struct http_response *response,
                                   const struct error *err)
{
    struct local_call *call = arg;
    call->transfer = NULL;
    log_line(call->log, LOG_LEVEL_INFO, "asked %s status=%d%s%s", call->question.what,
             response ? response->status : 0, err ? " error=" : "",
             err ? error_word(err->kind) : "");
    bool good = response && call->question.is_good(response);
    if (!good && call->question.attempts > 0)
        call->timer =
            loop_add_timer(call->loop, call->question.pause_ms, local_call_try_again, call);
    if (!call->timer)
        local_call_report(call, response, err);
}

static bool local_call_try_once(struct local_call *call)
{
    const char *lines[LOCAL_CALL_HEADERS];
    size_t count = 0;
    for (size_t i = 0; i < LOCAL_CALL_HEADERS; i++)
        if (call->question.headers[i])
            lines[count++] = buf_text(&call->headers[i]);
    struct http_request request = {
        .method = call->question.method,
        .url = buf_text(&call->url),
        .headers = lines,
        .header_count = count,
        .timeout_ms = call->question.timeout_ms,
        .max_body = MAX_ANSWER,
        .share = call->question.what,
        .no_proxy = true,
    };
    call->question.attempts--;
    call->transfer =
        call->transport->ops->send(call->transport, &request, local_call_on_response, call);
    return call->transfer != NULL;
}

struct local_call *local_call_start(const struct credentials_context *context,
                                    const struct local_question *question, local_call_fn *fn,
                                    void *arg)
{
    struct local_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct local_call){.loop = context->loop,
                                .transport = context->transport,
                                .log = context->log,
                                .question = *question,
                                .fn = fn,
                                .arg = arg};
    bool failed = false;
    for (size_t i = 0; i < LOCAL_CALL_HEADERS; i++) {
        buf_add_text(&call->headers[i], question->headers[i] ? question->headers[i] : "");
        failed = failed || call->headers[i].failed;
    }
    buf_add_text(&call->url, question->url);
    if (!failed && !call->url.failed && local_call_try_once(call))
        return call;
    local_call_free_call(call);
    return NULL;
}
