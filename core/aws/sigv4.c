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

void sigv4_canonical_request(struct buf *out, const struct sigv4_request *request)
{
    buf_printf(out, "%s\n%s\n%s\n", request->method, request->path, request->query);
    for (size_t i = 0; i < request->header_count; i++) {
        struct span value = request->headers[i].value;
        bool pending = false, begun = false;
        buf_add_text(out, request->headers[i].name);
        buf_add_char(out, ':');
        /* Blanks at the ends are removed, and a run of blanks inside becomes one space. */
        for (size_t k = 0; k < value.size; k++) {
            if (value.data[k] == ' ' || value.data[k] == '\t') {
                pending = begun;
                continue;
            }
            if (pending)
                buf_add_char(out, ' ');
            buf_add_char(out, value.data[k]);
            pending = false;
            begun = true;
        }
        buf_add_char(out, '\n');
    }
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

/* Each key of the derivation is the HMAC of the next part under the key before. */
static bool sigv4_add_signature(struct buf *out, const struct sigv4_scope *scope,
                                const char *secret, struct span string_to_sign)
{
    CLEAN_UP(buf_clean_up_secret) struct buf start = {0};
    CLEAN_UP(sigv4_wipe_key) struct signing_key key = {0}, next = {0};
    const struct span parts[] = {span_of(scope->amz_date, DAY_SIZE), span_text(scope->region),
                                 span_text(scope->service), SPAN_LITERAL("aws4_request"),
                                 string_to_sign};
    /* All room at once: a buffer that grows leaves copies of a secret behind. */
    if (!buf_reserve(&start, strlen("AWS4") + strlen(secret)))
        return false;
    buf_add_text(&start, "AWS4");
    buf_add_text(&start, secret);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct span under =
            i == 0 ? buf_span(&start) : span_of((const char *)key.bytes, sizeof key.bytes);
        if (!digest_hmac_sha256(under, parts[i], next.bytes))
            return false;
        key = next;
    }
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
