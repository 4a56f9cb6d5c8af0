/* Signature Version 4, stage by stage. */
#include "core/aws/sigv4.h"

#include <time.h>

#include "core/base/digest.h"

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

static bool sigv4_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Blanks at the ends go, and a run of them inside becomes one space. */
static void sigv4_add_header_value(struct buf *out, struct span value)
{
    bool pending = false, begun = false;
    for (size_t i = 0; i < value.size; i++) {
        if (sigv4_is_blank(value.data[i])) {
            pending = begun;
            continue;
        }
        if (pending)
            buf_add_char(out, ' ');
        buf_add_char(out, value.data[i]);
        pending = false;
        begun = true;
    }
}

static void sigv4_add_headers(struct buf *out, const struct sigv4_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        buf_add_text(out, request->headers[i].name);
        buf_add_char(out, ':');
        sigv4_add_header_value(out, request->headers[i].value);
        buf_add_char(out, '\n');
    }
}

static void sigv4_add_header_names(struct buf *out, const struct sigv4_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (i > 0)
            buf_add_char(out, ';');
        buf_add_text(out, request->headers[i].name);
    }
}

void sigv4_canonical_request(struct buf *out, const struct sigv4_request *request)
{
    buf_printf(out, "%s\n%s\n%s\n", request->method, request->path, request->query);
    sigv4_add_headers(out, request);
    buf_add_char(out, '\n');
    sigv4_add_header_names(out, request);
    buf_add_char(out, '\n');
    sigv4_add_digest(out, request->body);
}

static void sigv4_add_scope(struct buf *out, const struct sigv4_scope *scope)
{
    buf_printf(out, "%.*s/%s/%s/aws4_request", DAY_SIZE, scope->amz_date, scope->region,
               scope->service);
}

void sigv4_string_to_sign(struct buf *out, const struct sigv4_scope *scope, struct span canonical)
{
    buf_printf(out, "%s\n%s\n", algorithm, scope->amz_date);
    sigv4_add_scope(out, scope);
    buf_add_char(out, '\n');
    sigv4_add_digest(out, canonical);
}

/* A key of the derivation; wiped when it goes out of scope. */
struct signing_key {
    uint8_t bytes[DIGEST_SIZE];
};

static void sigv4_wipe_key(struct signing_key *key)
{
    explicit_bzero(key, sizeof *key);
}

static struct span sigv4_key_span(const struct signing_key *key)
{
    return span_of((const char *)key->bytes, sizeof key->bytes);
}

/* Replaces KEY by the HMAC of DATA under it. */
static bool sigv4_derive(struct signing_key *key, struct span data)
{
    CLEAN_UP(sigv4_wipe_key) struct signing_key next = {0};
    if (!digest_hmac_sha256(sigv4_key_span(key), data, next.bytes))
        return false;
    *key = next;
    return true;
}

/* The first key, from "AWS4" and the secret. */
static bool sigv4_derive_first(struct signing_key *key, const char *secret, struct span day)
{
    CLEAN_UP(buf_clean_up_secret) struct buf start = {0};
    /* All room at once: a buffer that grows leaves copies of a secret behind. */
    if (!buf_reserve(&start, strlen("AWS4") + strlen(secret)))
        return false;
    buf_add_text(&start, "AWS4");
    buf_add_text(&start, secret);
    return digest_hmac_sha256(buf_span(&start), day, key->bytes);
}

static bool sigv4_derive_signing_key(struct signing_key *key, const struct sigv4_scope *scope,
                                     const char *secret)
{
    return sigv4_derive_first(key, secret, span_of(scope->amz_date, DAY_SIZE)) &&
           sigv4_derive(key, span_text(scope->region)) &&
           sigv4_derive(key, span_text(scope->service)) &&
           sigv4_derive(key, SPAN_LITERAL("aws4_request"));
}

static bool sigv4_add_signature(struct buf *out, const struct sigv4_scope *scope,
                                const char *secret, struct span string_to_sign)
{
    CLEAN_UP(sigv4_wipe_key) struct signing_key key = {0};
    if (!sigv4_derive_signing_key(&key, scope, secret) || !sigv4_derive(&key, string_to_sign))
        return false;
    digest_hex(out, key.bytes, sizeof key.bytes);
    return true;
}

bool sigv4_authorization(struct buf *out, const struct sigv4_request *request,
                         const struct sigv4_scope *scope, const char *access_key_id,
                         const char *secret_access_key)
{
    /* The canonical request holds the session token. */
    CLEAN_UP(buf_clean_up_secret) struct buf canonical = {0};
    CLEAN_UP(buf_clean_up) struct buf string_to_sign = {0};
    sigv4_canonical_request(&canonical, request);
    sigv4_string_to_sign(&string_to_sign, scope, buf_span(&canonical));
    if (canonical.failed || string_to_sign.failed)
        return false;
    buf_printf(out, "%s Credential=%s/", algorithm, access_key_id);
    sigv4_add_scope(out, scope);
    buf_add_text(out, ", SignedHeaders=");
    sigv4_add_header_names(out, request);
    buf_add_text(out, ", Signature=");
    return sigv4_add_signature(out, scope, secret_access_key, buf_span(&string_to_sign)) &&
           !out->failed;
}

void sigv4_date(char out[SIGV4_DATE_SIZE], int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) ||
        strftime(out, SIGV4_DATE_SIZE, "%Y%m%dT%H%M%SZ", &parts) == 0)
        out[0] = '\0';
}
