/* Asking services that give tokens and credentials. */
#include "core/aws/token_call.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "core/aws/aws_error.h"
#include "core/base/printable.h"
#include "core/net/gzip.h"

enum {
    MAX_ANSWER = 1024 * 1024, /* the largest has some kilobytes */
    SHORTEST_SECRET = 12,
};

struct token_call {
    const char *what;
    const struct log *log;
    struct aws_call *call;
    struct buf url, path, host, query, region; /* of the request, which borrows them */
    struct buf secret, body;                   /* secrets; no BODY where that is open */
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

/* Reading. */

/* What stands between a namespace and a URL, as in "ns#Code:http://…". */
static void token_call_copy_code(char out[64], const char *text)
{
    struct span code = span_of(text, strcspn(text, ":"));
    const char *hash = memrchr(code.data, '#', code.size);
    if (hash)
        code = span_from(code, (size_t)(hash - code.data) + 1);
    printable_copy(out, 64, code, PRINTABLE_WORD);
}

static const char *token_call_first_text(const struct document *document, const char *const *names)
{
    for (; document && *names; names++) {
        const char *text = document_text(document, *names);
        if (text && *text)
            return text;
    }
    return NULL;
}

/* A throttle has to be known as one, for it is waited for; else OAuth's own word tells more than
 * the kind of exception. */
static void token_call_read_code(const struct http_response *response,
                                 const struct document *document, char out[64])
{
    static const char *const names[] = {"__type", "code", "Error.Code", NULL}, *const oauth[] = {
                                                                                   "error", NULL};
    const char *header = http_header(response, "X-Amzn-Errortype");
    const char *code = header ? header : token_call_first_text(document, names);
    const char *word = token_call_first_text(document, oauth);
    out[0] = '\0';
    if (code)
        token_call_copy_code(out, code);
    if (!retry_is_throttle(out) && word)
        token_call_copy_code(out, word);
    if (response->status == 429 && !retry_is_throttle(out))
        token_call_copy_code(out, "TooManyRequestsException");
}

/* Services quote what they refuse: whether TEXT has the secret in it, or a word that is as long as
 * one and was sent. */
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

static void token_call_set_refusal(const struct token_call *call,
                                   const struct http_response *response,
                                   const struct document *document, struct error *err)
{
    static const char *const names[] = {"message", "Message", "error_description", "Error.Message",
                                        NULL};
    char code[64], sentence[320];
    const char *told = token_call_first_text(document, names);
    if (!told || token_call_quotes_secret(call, told))
        told = "no reason that could be shown";
    aws_fault_copy_sentence(sentence, sizeof sentence, span_text(told));
    token_call_read_code(response, document, code);
    bool throttled = retry_is_throttle(code);
    if (!code[0] && response->status < 500)
        error_set(err, ERROR_BAD_ANSWER,
                  "the answer is not that of %s (HTTP %d); is %s its endpoint, or does a proxy "
                  "answer in its place?",
                  call->what, response->status, buf_text(&call->url));
    else
        error_set(err,
                  throttled                 ? ERROR_THROTTLED
                  : response->status >= 500 ? ERROR_SERVICE
                                            : ERROR_DENIED,
                  "%s %s: %s (%s%sHTTP %d)%s", call->what,
                  throttled                 ? "is throttled"
                  : response->status >= 500 ? "failed"
                                            : "says",
                  sentence, code, code[0] ? ", " : "", response->status,
                  throttled || response->status >= 500 ? "; try again later" : "");
    memcpy(err->code, code, sizeof code);
}

/* What came in place of JSON, where that can be seen. */
static void token_call_add_language(const struct token_call *call, struct span body,
                                    struct error *err)
{
    while (body.size > 0 && memchr(" \t\r\n", body.data[0], 4))
        body = span_from(body, 1);
    if (err->kind == ERROR_BAD_ANSWER && span_starts(body, SPAN_LITERAL("<")))
        error_add(
            err,
            ", but XML or HTML, though JSON was asked for; is %s its endpoint (some emulators "
            "know XML alone), or does a proxy answer in its place?",
            buf_text(&call->url));
}

static void *token_call_decode(void *arg, const struct http_response *response, struct error *err)
{
    struct token_call *call = arg;
    CLEAN_UP(buf_clean_up_secret) struct buf inflated = {0};
    struct span body = response->body;
    const char *encoding = http_header(response, "Content-Encoding");
    if (encoding && strcasecmp(encoding, "gzip") == 0) {
        gzip_inflate(body, MAX_ANSWER, &inflated); /* what fails leaves nothing, which is no JSON */
        body = buf_span(&inflated);
    }
    struct error why = {0};
    char name[64];
    snprintf(name, sizeof name, "the answer of %s", call->what);
    struct document *document = document_parse(body, name, &why);
    if (document && response->status == 200)
        return document;
    if (response->status == 200) {
        *err = why;
        token_call_add_language(call, body, err);
    } else {
        token_call_set_refusal(call, response, document, err);
    }
    err->http_status = response->status;
    aws_request_id(response, err->request_id);
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
    log_line(call->log, LOG_LEVEL_INFO, "asked %s status=%d ms=%lld%s%s", call->what,
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

struct token_call *token_call_start(struct aws_client *client,
                                    const struct token_question *question, token_call_fn *fn,
                                    void *arg)
{
    static const struct aws_call_ops ops = {token_call_decode, token_call_sent,
                                            token_call_attempted, token_call_done};
    const struct aws_endpoint *endpoint = question->endpoint;
    struct clock *clock = loop_clock(client->loop);
    struct token_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct token_call){.what = question->what, .log = client->log, .fn = fn, .arg = arg};
    bool is_root = !question->path[0];
    buf_printf(&call->url, "%s%s%s%s", is_root ? endpoint->root_url : endpoint->url, question->path,
               question->query[0] ? "?" : "", question->query);
    buf_printf(&call->path, "%s%s", is_root ? endpoint->root_path : endpoint->path, question->path);
    buf_add_text(&call->region, endpoint->signing_region);
    buf_add_text(&call->host, endpoint->host);
    buf_add_text(&call->query, question->query);
    buf_add_text(&call->secret, question->secret_value ? question->secret_value : "");
    if (!question->is_open)
        buf_add_span(&call->body, question->body);
    if (question->content_type)
        call->headers[call->header_count++] =
            (struct aws_header){"Content-Type", span_text(question->content_type)};
    if (question->accept)
        call->headers[call->header_count++] =
            (struct aws_header){"Accept", span_text(question->accept)};
    if (question->secret_name)
        call->headers[call->header_count++] =
            (struct aws_header){question->secret_name, buf_span(&call->secret)};
    struct aws_request request = {
        .service = question->service,
        .region = buf_text(&call->region),
        .url = buf_text(&call->url),
        .host = buf_text(&call->host),
        .path = buf_text(&call->path),
        .query = buf_text(&call->query),
        .method = question->method,
        .headers = call->headers,
        .header_count = call->header_count,
        .body = question->body,
        .max_answer = MAX_ANSWER,
        .share = buf_text(&call->host),
    };
    if (!call->url.failed && !call->path.failed && !call->host.failed && !call->query.failed &&
        !call->region.failed && !call->secret.failed && !call->body.failed)
        call->call = aws_call_start(client, &request, clock->now_ms(clock) + question->within_ms,
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
