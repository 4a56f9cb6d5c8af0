#include "core/base/crypto.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

enum { BLOCK_SIZE = 64 /* of SHA-256 */, MAX_ENCODED = 4096 /* bytes of a key in PEM */ };

/* Digests. */

void digest_skip_clean_up(void)
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

bool digest_sha1(struct span data, uint8_t out[DIGEST_SHA1_SIZE])
{
    return EVP_Digest(data.data, data.size, out, NULL, EVP_sha1(), NULL) == 1;
}

/* Fetched once: with EVP_sha256() OpenSSL fetches the method for each digest, which costs more than
 * the digest of a few blocks. */
static const EVP_MD *digest_method(void)
{
    static EVP_MD *found;
    if (!found)
        found = EVP_MD_fetch(NULL, "SHA256", NULL);
    return found;
}

bool digest_sha256(struct span data, uint8_t out[DIGEST_SIZE])
{
    return EVP_Digest(data.data, data.size, out, NULL, digest_method(), NULL) == 1;
}

/* A struct digest is an EVP_MD_CTX. */
static struct digest *digest_begin_with(const EVP_MD *method)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context && EVP_DigestInit_ex(context, method, NULL) == 1)
        return (struct digest *)context;
    EVP_MD_CTX_free(context);
    return NULL;
}

struct digest *digest_begin(void)
{
    return digest_begin_with(digest_method());
}

struct digest *digest_begin_md5(void)
{
    return digest_begin_with(EVP_md5());
}

bool digest_add(struct digest *digest, struct span data)
{
    return EVP_DigestUpdate((EVP_MD_CTX *)digest, data.data, data.size) == 1;
}

bool digest_end(struct digest *digest, uint8_t *out)
{
    return EVP_DigestFinal_ex((EVP_MD_CTX *)digest, out, NULL) == 1;
}

void digest_free(struct digest *digest)
{
    EVP_MD_CTX_free((EVP_MD_CTX *)digest);
}

/* The digest of the block PAD followed by DATA. */
static bool digest_behind(EVP_MD_CTX *context, const uint8_t pad[BLOCK_SIZE], struct span data,
                          uint8_t out[DIGEST_SIZE])
{
    return EVP_DigestInit_ex(context, digest_method(), NULL) == 1 &&
           EVP_DigestUpdate(context, pad, BLOCK_SIZE) == 1 &&
           EVP_DigestUpdate(context, data.data, data.size) == 1 &&
           EVP_DigestFinal_ex(context, out, NULL) == 1;
}

/* HMAC by its definition (RFC 2104): OpenSSL's own fetches its method each time, which costs more
 * than the rest of a signature. */
bool digest_hmac_sha256(struct span key, struct span data, uint8_t out[DIGEST_SIZE])
{
    uint8_t inner[BLOCK_SIZE] = {0}, outer[BLOCK_SIZE], digest[DIGEST_SIZE];
    bool ok = true;
    if (key.size > sizeof inner)
        ok = digest_sha256(key, inner);
    else if (key.size)
        memcpy(inner, key.data, key.size);
    for (size_t i = 0; i < sizeof inner; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    ok = ok && context && digest_behind(context, inner, data, digest) &&
         digest_behind(context, outer, span_of((const char *)digest, sizeof digest), out);
    EVP_MD_CTX_free(context);
    explicit_bzero(inner, sizeof inner);
    explicit_bzero(outer, sizeof outer);
    explicit_bzero(digest, sizeof digest);
    return ok;
}

void digest_hex(struct buf *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        const char pair[] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        buf_add(out, pair, sizeof pair);
    }
}

/* ES256. */

/* A struct es256_key is an EVP_PKEY. */
static EVP_PKEY *es256_key_of(const struct es256_key *key)
{
    return (EVP_PKEY *)(uintptr_t)key;
}

void es256_key_free(struct es256_key *key)
{
    EVP_PKEY_free(es256_key_of(key));
}

/* Appends the text between the lines of dashes, without blanks. */
static void es256_add_encoded(struct buf *out, struct span text)
{
    while (text.size > 0) {
        const char *end = memchr(text.data, '\n', text.size);
        struct span line = span_of(text.data, end ? (size_t)(end - text.data) : text.size);
        text = span_from(text, line.size + (end ? 1 : 0));
        if (span_starts(line, SPAN_LITERAL("-----")))
            continue;
        for (size_t i = 0; i < line.size; i++)
            if (!memchr(" \t\r", line.data[i], 3))
                buf_add_char(out, line.data[i]);
    }
}

static bool es256_is_p256(EVP_PKEY *key)
{
    char group[64];
    size_t size;
    return key && EVP_PKEY_is_a(key, "EC") &&
           EVP_PKEY_get_group_name(key, group, sizeof group, &size) == 1 &&
           strcmp(group, "prime256v1") == 0;
}

/* OpenSSL's own PEM reader would not wipe the text, and may prompt for a pass phrase. */
struct es256_key *es256_key_read(struct span text)
{
    CLEAN_UP(buf_clean_up_secret) struct buf encoded = {0}, bytes = {0};
    if (text.size > MAX_ENCODED)
        return NULL;
    buf_reserve(&encoded, text.size);
    es256_add_encoded(&encoded, text);
    if (encoded.failed || encoded.size == 0 || !buf_reserve(&bytes, encoded.size))
        return NULL;
    int size = EVP_DecodeBlock((unsigned char *)bytes.data, (const unsigned char *)encoded.data,
                               (int)encoded.size);
    const unsigned char *from = (const unsigned char *)bytes.data;
    bytes.size = size > 0 ? (size_t)size : 0;
    EVP_PKEY *key = size > 0 ? d2i_AutoPrivateKey(NULL, &from, size) : NULL;
    if (es256_is_p256(key))
        return (struct es256_key *)key;
    EVP_PKEY_free(key);
    return NULL;
}

static bool es256_read_number(const struct es256_key *key, const char *name,
                              uint8_t out[ES256_NUMBER])
{
    BIGNUM *number = NULL;
    bool ok = EVP_PKEY_get_bn_param(es256_key_of(key), name, &number) == 1 &&
              BN_bn2binpad(number, out, ES256_NUMBER) == ES256_NUMBER;
    BN_free(number);
    return ok;
}

bool es256_key_point(const struct es256_key *key, uint8_t x[ES256_NUMBER], uint8_t y[ES256_NUMBER])
{
    return es256_read_number(key, OSSL_PKEY_PARAM_EC_PUB_X, x) &&
           es256_read_number(key, OSSL_PKEY_PARAM_EC_PUB_Y, y);
}

/* OpenSSL wraps both numbers in DER. */
static bool es256_unwrap(const unsigned char *der, size_t size, uint8_t out[ES256_SIGNATURE])
{
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)size);
    bool ok =
        signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), out, ES256_NUMBER) == ES256_NUMBER &&
        BN_bn2binpad(ECDSA_SIG_get0_s(signature), out + ES256_NUMBER, ES256_NUMBER) == ES256_NUMBER;
    ECDSA_SIG_free(signature);
    return ok;
}

bool es256_sign(const struct es256_key *key, struct span text, uint8_t out[ES256_SIGNATURE])
{
    unsigned char der[128];
    size_t size = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok =
        context && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, es256_key_of(key)) == 1 &&
        EVP_DigestSign(context, der, &size, (const unsigned char *)text.data, text.size) == 1 &&
        es256_unwrap(der, size, out);
    EVP_MD_CTX_free(context);
    return ok;
}
