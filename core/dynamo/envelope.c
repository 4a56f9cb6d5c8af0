/* Writing and signing the headers of one attempt. */
#include "core/dynamo/envelope.h"

#include "core/aws/sigv4.h"

#define CONTENT_TYPE "application/x-amz-json-1.0"

enum { MAX_SIGNED = 5, MAX_AUTHORIZATION = 1024 };

void envelope_clean_up(struct envelope *envelope)
{
    buf_clean_up(&envelope->host);
    buf_clean_up(&envelope->date);
    buf_clean_up(&envelope->target);
    buf_clean_up_secret(&envelope->token);
    buf_clean_up_secret(&envelope->authorization);
    *envelope = (struct envelope){0};
}

/* Writes "Name: value" and gives the value back. The room is taken at once, because a buffer
 * that grows would leave copies of a secret behind. */
static struct span write_header(struct buf *out, const char *name, struct span value)
{
    buf_reserve(out, strlen(name) + 2 + value.size);
    buf_add_text(out, name);
    buf_add_text(out, ": ");
    size_t from = out->size;
    buf_add_span(out, value);
    return out->failed ? span_of("", 0) : span_from(buf_span(out), from);
}

static void add_header(struct envelope *envelope, const char *header)
{
    envelope->headers[envelope->header_count++] = header;
}

static struct span write_target(struct envelope *envelope, enum dynamo_op op)
{
    static const char name[] = "X-Amz-Target: ";
    buf_printf(&envelope->target, "%sDynamoDB_20120810.%s", name, dynamo_op_name(op));
    return envelope->target.failed ? span_of("", 0)
                                   : span_from(buf_span(&envelope->target), sizeof name - 1);
}

/* Writes the headers that are signed, and lists them in the order the signature wants. */
static size_t write_signed(struct envelope *envelope, const struct envelope_content *content,
                           const char *amz_date, struct sigv4_header out[MAX_SIGNED])
{
    const char *token = content->credentials->session_token;
    size_t count = 0;
    out[count++] = (struct sigv4_header){"content-type", SPAN_LITERAL(CONTENT_TYPE)};
    out[count++] = (struct sigv4_header){
        "host", write_header(&envelope->host, "Host", span_text(content->host))};
    out[count++] = (struct sigv4_header){
        "x-amz-date", write_header(&envelope->date, "X-Amz-Date", span_text(amz_date))};
    if (token)
        out[count++] = (struct sigv4_header){
            "x-amz-security-token",
            write_header(&envelope->token, "X-Amz-Security-Token", span_text(token))};
    out[count++] = (struct sigv4_header){"x-amz-target", write_target(envelope, content->op)};
    return count;
}

static bool sign(struct envelope *envelope, const struct envelope_content *content)
{
    char amz_date[SIGV4_DATE_SIZE];
    struct sigv4_header headers[MAX_SIGNED];
    sigv4_date(amz_date, content->wall_ms);
    struct sigv4_request request = {
        .method = "POST",
        .path = "/",
        .query = "",
        .headers = headers,
        .header_count = write_signed(envelope, content, amz_date, headers),
        .body = content->body,
    };
    struct sigv4_scope scope = {amz_date, content->region, "dynamodb"};
    buf_reserve(&envelope->authorization, MAX_AUTHORIZATION);
    buf_add_text(&envelope->authorization, "Authorization: ");
    return sigv4_authorization(&envelope->authorization, &request, &scope,
                               content->credentials->access_key_id,
                               content->credentials->secret_access_key);
}

bool envelope_init(struct envelope *envelope, const struct envelope_content *content)
{
    *envelope = (struct envelope){0};
    if (!sign(envelope, content))
        return false;
    add_header(envelope, "Content-Type: " CONTENT_TYPE);
    add_header(envelope, buf_text(&envelope->host));
    add_header(envelope, buf_text(&envelope->date));
    add_header(envelope, buf_text(&envelope->target));
    add_header(envelope, buf_text(&envelope->authorization));
    add_header(envelope, "Accept-Encoding: gzip");
    if (content->credentials->session_token)
        add_header(envelope, buf_text(&envelope->token));
    return !envelope->host.failed && !envelope->date.failed && !envelope->target.failed &&
           !envelope->token.failed && !envelope->authorization.failed;
}
