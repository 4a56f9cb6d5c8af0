/* Digests over OpenSSL. */
#include "core/base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

void digest_skip_clean_up(void)
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

bool digest_sha1(struct span data, uint8_t out[DIGEST_SHA1_SIZE])
{
    return EVP_Digest(data.data, data.size, out, NULL, EVP_sha1(), NULL) == 1;
}

/* Looked up once, and kept: what EVP_sha256() gives is looked up anew by each digest, which costs
 * more than that of a few blocks. */
static const EVP_MD *digest_sha256_it(void)
{
    static EVP_MD *found;
    if (!found)
        found = EVP_MD_fetch(NULL, "SHA256", NULL);
    return found;
}

bool digest_sha256(struct span data, uint8_t out[DIGEST_SIZE])
{
    return EVP_Digest(data.data, data.size, out, NULL, digest_sha256_it(), NULL) == 1;
}

enum { BLOCK_SIZE = 64 }; /* of SHA-256 */

/* The digest of the block PAD and of DATA behind it. */
static bool digest_behind(EVP_MD_CTX *context, const uint8_t pad[BLOCK_SIZE], struct span data,
                          uint8_t out[DIGEST_SIZE])
{
    return EVP_DigestInit_ex(context, digest_sha256_it(), NULL) == 1 &&
           EVP_DigestUpdate(context, pad, BLOCK_SIZE) == 1 &&
           EVP_DigestUpdate(context, data.data, data.size) == 1 &&
           EVP_DigestFinal_ex(context, out, NULL) == 1;
}

/* HMAC by its definition (RFC 2104): OpenSSL's own looks its method up anew each time, which costs
 * more than all the rest of a signature. */
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
        buf_add_char(out, digits[bytes[i] >> 4]);
        buf_add_char(out, digits[bytes[i] & 15]);
    }
}
