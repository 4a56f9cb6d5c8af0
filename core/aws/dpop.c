/* Writing proofs of possession. */
#include "core/aws/dpop.h"

#include <stdlib.h>
#include <sys/random.h>

#include "core/base/es256.h"
#include "core/json/json.h"

static void dpop_free_key(struct es256_key **key)
{
    es256_key_free(*key);
}

/* Base64 with the alphabet of URLs, without padding (RFC 4648). */
static void dpop_add_base64url(struct buf *out, struct span bytes)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t count = bytes.size - i < 3 ? bytes.size - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < count ? (unsigned char)bytes.data[i + k] : 0);
        for (size_t k = 0; k <= count; k++)
            buf_add_char(out, letters[bits >> (18 - 6 * k) & 63]);
    }
}

static void dpop_add_bytes(struct buf *out, const uint8_t *bytes, size_t size)
{
    dpop_add_base64url(out, span_of((const char *)bytes, size));
}

static bool dpop_add_head(struct buf *out, const struct es256_key *key)
{
    CLEAN_UP(buf_clean_up) struct buf head = {0};
    uint8_t x[ES256_NUMBER], y[ES256_NUMBER];
    if (!es256_key_point(key, x, y))
        return false;
    buf_add_text(&head, "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{\"kty\":\"EC\",\"x\":\"");
    dpop_add_bytes(&head, x, sizeof x);
    buf_add_text(&head, "\",\"y\":\"");
    dpop_add_bytes(&head, y, sizeof y);
    buf_add_text(&head, "\",\"crv\":\"P-256\"}}");
    dpop_add_base64url(out, buf_span(&head));
    return !head.failed;
}

/* No two proofs are the same: each has a random number (a version 4 UUID) of its own. */
static bool dpop_add_claims(struct buf *out, const char *url, int64_t wall_ms)
{
    CLEAN_UP(buf_clean_up) struct buf claims = {0};
    uint8_t id[16];
    if (getrandom(id, sizeof id, 0) != sizeof id)
        return false;
    id[6] = (id[6] & 0x0f) | 0x40;
    id[8] = (id[8] & 0x3f) | 0x80;
    buf_add_text(&claims, "{\"htm\":\"POST\",\"htu\":");
    json_write_ascii(&claims, span_text(url));
    buf_printf(&claims, ",\"iat\":%lld,\"jti\":\"", (long long)(wall_ms / 1000));
    for (size_t i = 0; i < sizeof id; i++)
        buf_printf(&claims, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
    buf_add_text(&claims, "\"}");
    dpop_add_base64url(out, buf_span(&claims));
    return !claims.failed;
}

bool dpop_write(struct buf *out, struct span key_text, const char *url, int64_t wall_ms)
{
    CLEAN_UP(buf_clean_up) struct buf proof = {0};
    CLEAN_UP(dpop_free_key) struct es256_key *key = es256_key_read(key_text);
    uint8_t signature[ES256_SIGNATURE];
    if (!key || !dpop_add_head(&proof, key))
        return false;
    buf_add_char(&proof, '.');
    if (!dpop_add_claims(&proof, url, wall_ms) || proof.failed ||
        !es256_sign(key, buf_span(&proof), signature))
        return false;
    buf_add_char(&proof, '.');
    dpop_add_bytes(&proof, signature, sizeof signature);
    buf_add_span(out, buf_span(&proof));
    return !proof.failed && !out->failed;
}
