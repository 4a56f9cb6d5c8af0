/* Signature Version 4, stage by stage. */
#include "core/aws/sigv4.h"

#include <time.h>

#include "core/base/crypto.h"

enum { DAY_SIZE = 8 }; /* of 20260416T101500Z, its 20260416 */

static const char algorithm[] = "AWS4-HMAC-SHA256";

static void sigv4_add_digest(struct buf *out, struct span data)
{
    uint8_t digest[DIGEST_SIZE];
    if (digest_sha256(data, digest))
        digest_hex(out, digest, sizeof digest);
    else
        out->failed = true;
}

static void sigv4_add_header_names(struct buf *out, const struct sigv4_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (i > 0)
            buf_add_char(out, ';');
        buf_add_text(out, request->headers[i].name);
    }
}

/* Blanks at the ends are removed, and a run of blanks inside becomes one space. */
static void sigv4_add_header_value(struct buf *out, struct span value)
{
    size_t begun = out->size;
    while (value.size > 0) {
        size_t blanks = 0, plain = 0;
        while (blanks < value.size && (value.data[blanks] == ' ' || value.data[blanks] == '\t'))
            blanks++;
        value = span_from(value, blanks);
        while (plain < value.size && value.data[plain] != ' ' && value.data[plain] != '\t')
            plain++;
        if (blanks > 0 && plain > 0 && out->size > begun)
            buf_add_char(out, ' ');
        buf_add(out, value.data, plain);
        value = span_from(value, plain);
    }
}

void sigv4_canonical_request(struct buf *out, const struct sigv4_request *request)
{
    const char *const lines[] = {request->method, request->path, request->query};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        buf_add_text(out, lines[i]);
        buf_add_char(out, '\n');
    }
    for (size_t i = 0; i < request->header_count; i++) {
        buf_add_text(out, request->headers[i].name);
        buf_add_char(out, ':');
        sigv4_add_header_value(out, request->headers[i].value);
        buf_add_char(out, '\n');
    }
    buf_add_char(out, '\n');
    sigv4_add_header_names(out, request);
    buf_add_char(out, '\n');
    sigv4_add_digest(out, request->body);
}

static void sigv4_add_scope(struct buf *out, const struct sigv4_scope *scope)
{
    buf_add(out, scope->amz_date, strnlen(scope->amz_date, DAY_SIZE));
    buf_add_char(out, '/');
    buf_add_text(out, scope->region);
    buf_add_char(out, '/');
    buf_add_text(out, scope->service);
    buf_add_text(out, "/aws4_request");
}

void sigv4_string_to_sign(struct buf *out, const struct sigv4_scope *scope, struct span canonical)
{
    buf_add_text(out, algorithm);
    buf_add_char(out, '\n');
    buf_add_text(out, scope->amz_date);
    buf_add_char(out, '\n');
    sigv4_add_scope(out, scope);
    buf_add_char(out, '\n');
    sigv4_add_digest(out, canonical);
}

void sigv4_key_wipe(struct sigv4_key *key)
{
    explicit_bzero(key, sizeof *key);
}

/* Each key of the derivation is the HMAC of the next part under the key before. */
bool sigv4_key_derive(struct sigv4_key *key, const struct sigv4_scope *scope,
                      const char *secret_access_key)
{
    CLEAN_UP(buf_clean_up_secret) struct buf start = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(sigv4_key_wipe) struct sigv4_key next = {0};
    const struct span parts[] = {span_of(scope->amz_date, DAY_SIZE), span_text(scope->region),
                                 span_text(scope->service), SPAN_LITERAL("aws4_request")};
    sigv4_add_scope(&text, scope);
    if (!text.failed && text.size > 0 && strcmp(key->scope, buf_text(&text)) == 0)
        return true;
    sigv4_key_wipe(key);
    /* All room at once: a buffer that grows leaves copies of a secret behind. */
    if (text.failed || !buf_reserve(&start, strlen("AWS4") + strlen(secret_access_key)))
        return false;
    buf_add_text(&start, "AWS4");
    buf_add_text(&start, secret_access_key);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct span under =
            i == 0 ? buf_span(&start) : span_of((const char *)key->bytes, sizeof key->bytes);
        if (!digest_hmac_sha256(under, parts[i], next.bytes))
            return false;
        memcpy(key->bytes, next.bytes, sizeof key->bytes);
    }
    if (text.size < sizeof key->scope)
        memcpy(key->scope, text.data, text.size + 1);
    return true;
}

bool sigv4_sign(struct buf *out, const struct sigv4_request *request,
                const struct sigv4_scope *scope, const char *access_key_id,
                const struct sigv4_key *key)
{
    /* The canonical request holds the session token. */
    CLEAN_UP(buf_clean_up_secret) struct buf canonical = {0};
    CLEAN_UP(buf_clean_up) struct buf string_to_sign = {0};
    uint8_t signature[DIGEST_SIZE];
    sigv4_canonical_request(&canonical, request);
    sigv4_string_to_sign(&string_to_sign, scope, buf_span(&canonical));
    if (canonical.failed || string_to_sign.failed ||
        !digest_hmac_sha256(span_of((const char *)key->bytes, sizeof key->bytes),
                            buf_span(&string_to_sign), signature))
        return false;
    buf_add_text(out, algorithm);
    buf_add_text(out, " Credential=");
    buf_add_text(out, access_key_id);
    buf_add_char(out, '/');
    sigv4_add_scope(out, scope);
    buf_add_text(out, ", SignedHeaders=");
    sigv4_add_header_names(out, request);
    buf_add_text(out, ", Signature=");
    digest_hex(out, signature, sizeof signature);
    return !out->failed;
}

bool sigv4_authorization(struct buf *out, const struct sigv4_request *request,
                         const struct sigv4_scope *scope, const char *access_key_id,
                         const char *secret_access_key)
{
    CLEAN_UP(sigv4_key_wipe) struct sigv4_key key = {0};
    return sigv4_key_derive(&key, scope, secret_access_key) &&
           sigv4_sign(out, request, scope, access_key_id, &key);
}

void sigv4_date(char out[SIGV4_DATE_SIZE], int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) ||
        strftime(out, SIGV4_DATE_SIZE, "%Y%m%dT%H%M%SZ", &parts) == 0)
        out[0] = '\0';
}
