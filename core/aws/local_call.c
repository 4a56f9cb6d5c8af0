/* Requests to services of the machine itself. */
#include "core/aws/local_call.h"

#include <stdlib.h>

#include "core/aws/document.h"

enum { MAX_RESPONSE = 1024 * 1024 }; /* the largest has some kilobytes */

struct local_call {
    const struct credentials_context *context;
    struct local_request request;           /* its url and headers are the ones below */
    struct buf url;                         /* owned */
    struct buf headers[LOCAL_CALL_HEADERS]; /* owned; secrets */
    struct loop_timer *timer;               /* between two attempts */
    struct transfer *transfer;              /* during an attempt */
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
        document = document_parse(response->body, "the response", &err);
    return document || err.kind == ERROR_NO_MEMORY;
}

void local_call_end(struct local_call *call)
{
    if (!call)
        return;
    loop_remove_timer(call->timer);
    if (call->transfer)
        call->context->transport->ops->cancel(call->transfer);
    for (size_t i = 0; i < LOCAL_CALL_HEADERS; i++)
        buf_clean_up_secret(&call->headers[i]);
    buf_clean_up(&call->url);
    free(call);
}

static void local_call_report(struct local_call *call, const struct http_response *response,
                              const struct error *err)
{
    local_call_fn *fn = call->fn;
    void *arg = call->arg;
    local_call_end(call);
    fn(arg, response, err);
}

static bool local_call_send(struct local_call *call);

static void local_call_retry(void *arg)
{
    struct local_call *call = arg;
    struct error err;
    call->timer = NULL;
    if (local_call_send(call))
        return;
    error_no_memory(&err);
    local_call_report(call, NULL, &err);
}

static void local_call_on_response(void *arg, const struct http_response *response,
                                   const struct error *err)
{
    struct local_call *call = arg;
    const struct credentials_context *context = call->context;
    call->transfer = NULL;
    log_line(context->log, LOG_LEVEL_INFO, "request to %s status=%d%s%s", call->request.name,
             response ? response->status : 0, err ? " error=" : "",
             err ? error_word(err->kind) : "");
    bool good = response && call->request.is_good(response);
    if (!good && call->request.attempts > 0)
        call->timer = loop_add_timer(context->loop, call->request.pause_ms, local_call_retry, call);
    if (!call->timer)
        local_call_report(call, response, err);
}

static bool local_call_send(struct local_call *call)
{
    struct transport *transport = call->context->transport;
    const char *lines[LOCAL_CALL_HEADERS];
    size_t count = 0;
    for (size_t i = 0; i < LOCAL_CALL_HEADERS; i++)
        if (call->headers[i].size > 0)
            lines[count++] = buf_text(&call->headers[i]);
    struct http_request request = {
        .method = call->request.method,
        .url = buf_text(&call->url),
        .headers = lines,
        .header_count = count,
        .timeout_ms = call->request.timeout_ms,
        .max_body = MAX_RESPONSE,
        .share = call->request.name,
        .no_proxy = true,
    };
    call->request.attempts--;
    call->transfer = transport->ops->send(transport, &request, local_call_on_response, call);
    return call->transfer != NULL;
}

struct local_call *local_call_start(const struct credentials_context *context,
                                    const struct local_request *request, local_call_fn *fn,
                                    void *arg)
{
    struct local_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct local_call){.context = context, .request = *request, .fn = fn, .arg = arg};
    bool failed = false;
    for (size_t i = 0; i < LOCAL_CALL_HEADERS; i++) {
        buf_add_text(&call->headers[i], request->headers[i] ? request->headers[i] : "");
        failed = failed || call->headers[i].failed;
    }
    buf_add_text(&call->url, request->url);
    if (!failed && !call->url.failed && local_call_send(call))
        return call;
    local_call_end(call);
    return NULL;
}
