/* Digests over OpenSSL's one-call functions. */
#include "core/base/digest.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

void digest_skip_clean_up(void)
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

bool digest_sha256(struct span data, uint8_t out[DIGEST_SIZE])
{
    return EVP_Digest(data.data, data.size, out, NULL, EVP_sha256(), NULL) == 1;
}

bool digest_hmac_sha256(struct span key, struct span data, uint8_t out[DIGEST_SIZE])
{
    if (key.size > INT_MAX)
        return false;
    const void *bytes = key.size ? key.data : "";
    const unsigned char *text = (const unsigned char *)data.data;
    return HMAC(EVP_sha256(), bytes, (int)key.size, text, data.size, out, NULL) != NULL;
}

void digest_hex(struct buf *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        buf_add_char(out, digits[bytes[i] >> 4]);
        buf_add_char(out, digits[bytes[i] & 15]);
    }
}
