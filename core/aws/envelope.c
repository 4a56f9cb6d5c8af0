/* Writing and signing the headers of one attempt. */
#include "core/aws/envelope.h"

#include <ctype.h>

#include "core/aws/sigv4.h"

enum { AUTHORIZATION_ROOM = 1024 };

void envelope_clean_up(struct envelope *envelope)
{
    buf_clean_up_secret(&envelope->lines);
    buf_clean_up_secret(&envelope->authorization);
    *envelope = (struct envelope){0};
}

/* A header while it is written: twice in the buffer, as "Name: value" for the wire and with its
 * name in lower case for the signature. */
struct written {
    const char *line;
    struct sigv4_header to_sign;
};

static size_t envelope_room_for(const struct aws_header *header)
{
    return 2 * strlen(header->name) + header->value.size + sizeof ": " + 2;
}

/* Into room that is there already, so that nothing moves. */
static struct written envelope_write_header(struct buf *out, const struct aws_header *header)
{
    struct written written;
    written.line = out->data + out->size;
    buf_add_text(out, header->name);
    buf_add_text(out, ": ");
    written.to_sign.value = span_of(out->data + out->size, header->value.size);
    buf_add_span(out, header->value);
    buf_add_char(out, '\0');
    written.to_sign.name = out->data + out->size;
    for (const char *at = header->name; *at; at++)
        buf_add_char(out, (char)tolower((unsigned char)*at));
    buf_add_char(out, '\0');
    return written;
}

/* The signature wants them in the order of their names. */
static void envelope_sort_in(struct sigv4_header *sorted, size_t count, struct sigv4_header header)
{
    size_t at = count;
    for (; at > 0 && strcmp(sorted[at - 1].name, header.name) > 0; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = header;
}

static bool envelope_sign(struct envelope *envelope, const struct aws_request *request,
                          const struct sigv4_header *headers, size_t count, const char *amz_date,
                          const struct credentials *credentials)
{
    struct sigv4_request to_sign = {request->method, request->path, request->query,
                                    headers,         count,         request->body};
    struct sigv4_scope scope = {amz_date, request->region, request->service};
    buf_reserve(&envelope->authorization, AUTHORIZATION_ROOM);
    buf_add_text(&envelope->authorization, "Authorization: ");
    if (!sigv4_authorization(&envelope->authorization, &to_sign, &scope, credentials->access_key_id,
                             credentials->secret_access_key))
        return false;
    envelope->headers[envelope->header_count++] = buf_text(&envelope->authorization);
    return true;
}

bool envelope_init(struct envelope *envelope, const struct aws_request *request, int64_t wall_ms,
                   const struct credentials *credentials)
{
    char amz_date[SIGV4_DATE_SIZE];
    struct aws_header all[ENVELOPE_MAX_SIGNED];
    struct sigv4_header sorted[ENVELOPE_MAX_SIGNED];
    size_t count = 0, room = 0;
    *envelope = (struct envelope){0};
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
        room += envelope_room_for(&all[i]);
    if (!buf_reserve(&envelope->lines, room))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct written written = envelope_write_header(&envelope->lines, &all[i]);
        envelope->headers[envelope->header_count++] = written.line;
        envelope_sort_in(sorted, i, written.to_sign);
    }
    envelope->headers[envelope->header_count++] = "Accept-Encoding: gzip";
    return !credentials || envelope_sign(envelope, request, sorted, count, amz_date, credentials);
}
