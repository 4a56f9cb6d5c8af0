/* ES256 over OpenSSL. */
#include "core/base/es256.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "core/base/buf.h"

enum { MAX_ENCODED = 4096 };

/* An EVP_PKEY; the struct has no other inside. */
static EVP_PKEY *es256_key_of(const struct es256_key *key)
{
    return (EVP_PKEY *)(uintptr_t)key;
}

void es256_key_free(struct es256_key *key)
{
    EVP_PKEY_free(es256_key_of(key));
}

/* What stands between the lines of dashes, without blanks. */
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

/* The text is decoded here, so that it is wiped, and nobody asks the terminal for a pass phrase. */
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
