/* Requests to services that issue tokens and credentials. */
#include "core/aws/token_call.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "core/aws/aws_fault.h"
#include "core/base/printable.h"
#include "core/net/gzip.h"

enum {
    MAX_RESPONSE = 1024 * 1024, /* the largest has some kilobytes */
    SHORTEST_SECRET = 12,
};

struct token_call {
    const char *name;
    const struct log *log;
    struct aws_call *call;
    struct buf url, path, host, query, region; /* of the request, which borrows them */
    struct buf secret, body;                   /* secrets; BODY is empty if it is open */
    struct aws_header headers[3];
    size_t header_count;
    token_call_fn *fn;
    void *arg;
};

struct aws_client token_call_client(const struct credentials_context *context)
{
    struct clock *clock = loop_clock(context->loop);
    return (struct aws_client){
        .loop = context->loop,
        .transport = context->transport,
        .log = context->log,
        .ca_bundle = context->settings->ca_bundle,
        .retry = {.tokens = RETRY_TOKENS,
                  .seed = (unsigned)clock->wall_ms(clock),
                  .attempts = context->settings->max_attempts},
    };
}

void token_call_copy_fault(struct error *to, const struct error *from)
{
    memcpy(to->code, from->code, sizeof to->code);
    memcpy(to->request_id, from->request_id, sizeof to->request_id);
    to->http_status = from->http_status;
}

static void token_call_free_call(struct token_call *call)
{
    buf_clean_up(&call->url);
    buf_clean_up(&call->path);
    buf_clean_up(&call->host);
    buf_clean_up(&call->query);
    buf_clean_up(&call->region);
    buf_clean_up_secret(&call->secret);
    buf_clean_up_secret(&call->body);
    free(call);
}

/* The response. */

/* Copies the code between a namespace and a URL, as in "ns#Code:http://…". */
static void token_call_copy_code(char out[64], const char *text)
{
    struct span code = span_of(text, strcspn(text, ":"));
    const char *hash = memrchr(code.data, '#', code.size);
    if (hash)
        code = span_from(code, (size_t)(hash - code.data) + 1);
    printable_copy(out, 64, code, PRINTABLE_WORD);
}

static const char *token_call_find_text(const struct document *document, const char *const *names)
{
    for (; document && *names; names++) {
        const char *text = document_text(document, *names);
        if (text && *text)
            return text;
    }
    return NULL;
}

/* A throttle must be recognized, because it is retried. Otherwise OAuth's own code is more specific
 * than the kind of exception. */
static void token_call_read_code(const struct http_response *response,
                                 const struct document *document, char out[64])
{
    static const char *const names[] = {"__type", "code", "Error.Code", NULL};
    static const char *const oauth[] = {"error", NULL};
    const char *header = http_header(response, "X-Amzn-Errortype");
    const char *code = header ? header : token_call_find_text(document, names);
    const char *word = token_call_find_text(document, oauth);
    out[0] = '\0';
    if (code)
        token_call_copy_code(out, code);
    if (!retry_is_throttle(out) && word)
        token_call_copy_code(out, word);
    if (response->status == 429 && !retry_is_throttle(out))
        token_call_copy_code(out, "TooManyRequestsException");
}

/* Services quote values that they refuse. Whether TEXT contains the secret, or a word that was sent
 * and is as long as a secret. */
static bool token_call_quotes_secret(const struct token_call *call, const char *text)
{
    if (call->secret.size && strstr(text, call->secret.data))
        return true;
    while (*text) {
        size_t size = 0;
        while (isalnum((unsigned char)text[size]) || (text[size] && strchr("+/=-_.", text[size])))
            size++;
        if (size >= SHORTEST_SECRET &&
            ((call->secret.size && memmem(call->secret.data, call->secret.size, text, size)) ||
             (call->body.size && memmem(call->body.data, call->body.size, text, size))))
            return true;
        text += size ? size : 1;
    }
    return false;
}

static void token_call_read_refusal(const struct token_call *call,
                                    const struct http_response *response,
                                    const struct document *document, struct error *err)
{
    static const char *const names[] = {"message", "Message", "error_description", "Error.Message",
                                        NULL};
    char code[64], sentence[320];
    const char *text = token_call_find_text(document, names);
    if (!text || token_call_quotes_secret(call, text))
        text = "no reason that could be shown";
    aws_fault_copy_sentence(sentence, sizeof sentence, span_text(text));
    token_call_read_code(response, document, code);
    bool throttled = retry_is_throttle(code), failed = response->status >= 500;
    if (!code[0] && !failed)
        error_set(err, ERROR_BAD_ANSWER,
                  "the response is not from %s (HTTP %d); check that %s is its endpoint, and that "
                  "no proxy responds in its place",
                  call->name, response->status, buf_text(&call->url));
    else
        error_set(err,
                  throttled ? ERROR_THROTTLED
                  : failed  ? ERROR_SERVICE
                            : ERROR_DENIED,
                  "%s %s: %s (%s%sHTTP %d)%s", call->name,
                  throttled ? "is throttled"
                  : failed  ? "failed"
                            : "says",
                  sentence, code, code[0] ? ", " : "", response->status,
                  throttled || failed ? "; try again later" : "");
    memcpy(err->code, code, sizeof code);
}

static void *token_call_decode(void *arg, const struct http_response *response, struct error *err)
{
    struct token_call *call = arg;
    CLEAN_UP(buf_clean_up_secret) struct buf inflated = {0};
    struct span body = response->body;
    const char *encoding = http_header(response, "Content-Encoding");
    if (encoding && strcasecmp(encoding, "gzip") == 0) {
        gzip_inflate(body, MAX_RESPONSE, &inflated); /* empty on failure, which is no JSON */
        body = buf_span(&inflated);
    }
    struct error why = {0};
    char what[64];
    snprintf(what, sizeof what, "the response of %s", call->name);
    struct document *document = document_parse(body, what, &why);
    if (document && response->status == 200)
        return document;
    if (response->status == 200) {
        *err = why;
        while (body.size > 0 && memchr(" \t\r\n", body.data[0], 4))
            body = span_from(body, 1);
        if (err->kind == ERROR_BAD_ANSWER && span_starts(body, SPAN_LITERAL("<")))
            error_add(err,
                      ", but XML or HTML, although the request accepts JSON only; check that %s is "
                      "its endpoint (some emulators know XML only), and that no proxy responds in "
                      "its place",
                      buf_text(&call->url));
    } else {
        token_call_read_refusal(call, response, document, err);
    }
    err->http_status = response->status;
    aws_fault_read_request_id(response, err->request_id);
    document_free(document);
    return NULL;
}

/* The call. */

static void token_call_sent(void *arg)
{
    (void)arg;
}

static void token_call_attempted(void *arg, const struct aws_attempt *attempt)
{
    struct token_call *call = arg;
    log_line(call->log, LOG_LEVEL_INFO, "request to %s status=%d ms=%lld%s%s", call->name,
             attempt->err ? attempt->err->http_status : 200, (long long)attempt->took_ms,
             attempt->err ? " error=" : "", attempt->err ? error_word(attempt->err->kind) : "");
}

static void token_call_done(void *arg, void *result, const struct error *err, unsigned tries)
{
    struct token_call *call = arg;
    token_call_fn *fn = call->fn;
    void *fn_arg = call->arg;
    (void)tries;
    token_call_free_call(call);
    fn(fn_arg, result, err);
}

static void token_call_add_header(struct token_call *call, const char *name, struct span value)
{
    call->headers[call->header_count++] = (struct aws_header){name, value};
}

struct token_call *token_call_start(struct aws_client *client, const struct token_request *request,
                                    token_call_fn *fn, void *arg)
{
    static const struct aws_call_ops ops = {token_call_decode, token_call_sent,
                                            token_call_attempted, token_call_done};
    const struct aws_endpoint *endpoint = request->endpoint;
    struct clock *clock = loop_clock(client->loop);
    struct token_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct token_call){.name = request->name, .log = client->log, .fn = fn, .arg = arg};
    bool is_root = !request->path[0];
    buf_printf(&call->url, "%s%s%s%s", is_root ? endpoint->root_url : endpoint->url, request->path,
               request->query[0] ? "?" : "", request->query);
    buf_printf(&call->path, "%s%s", is_root ? endpoint->root_path : endpoint->path, request->path);
    buf_add_text(&call->region, endpoint->signing_region);
    buf_add_text(&call->host, endpoint->host);
    buf_add_text(&call->query, request->query);
    buf_add_text(&call->secret, request->secret_value ? request->secret_value : "");
    if (!request->is_open)
        buf_add_span(&call->body, request->body);
    if (request->content_type)
        token_call_add_header(call, "Content-Type", span_text(request->content_type));
    if (request->accept)
        token_call_add_header(call, "Accept", span_text(request->accept));
    if (request->secret_name)
        token_call_add_header(call, request->secret_name, buf_span(&call->secret));
    struct aws_request to_send = {
        .service = request->service,
        .region = buf_text(&call->region),
        .url = buf_text(&call->url),
        .host = buf_text(&call->host),
        .path = buf_text(&call->path),
        .query = buf_text(&call->query),
        .method = request->method,
        .headers = call->headers,
        .header_count = call->header_count,
        .body = request->body,
        .max_answer = MAX_RESPONSE,
        .share = buf_text(&call->host),
    };
    if (!call->url.failed && !call->path.failed && !call->host.failed && !call->query.failed &&
        !call->region.failed && !call->secret.failed && !call->body.failed)
        call->call = aws_call_start(client, &to_send, clock->now_ms(clock) + request->timeout_ms,
                                    &ops, call);
    if (call->call)
        return call;
    token_call_free_call(call);
    return NULL;
}

void token_call_end(struct token_call *call)
{
    if (!call)
        return;
    aws_call_end(call->call);
    token_call_free_call(call);
}
