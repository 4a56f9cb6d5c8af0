/* SHA-256, HMAC, MD5, and signatures of ES256 (ECDSA on P-256 with SHA-256, RFC 7518), over
 * OpenSSL. */
#ifndef DDBFS_CORE_BASE_CRYPTO_H
#define DDBFS_CORE_BASE_CRYPTO_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

enum { DIGEST_SIZE = 32, DIGEST_SHA1_SIZE = 20, DIGEST_MD5_SIZE = 16 };

/* For short programs, before any other use of OpenSSL (libcurl uses it): leaves OpenSSL's tables to
 * the end of the process. Freeing them takes as long as reading a whole map. */
void digest_skip_clean_up(void);

/* Each returns false, with OUT undefined, when OpenSSL failed (out of memory). */
bool digest_sha1(struct span data, uint8_t out[DIGEST_SHA1_SIZE]); /* for names of files only */
bool digest_sha256(struct span data, uint8_t out[DIGEST_SIZE]);
bool digest_hmac_sha256(struct span key, struct span data, uint8_t out[DIGEST_SIZE]);

/* A digest of data that come in parts: SHA-256. */
struct digest;
struct digest *digest_begin(void); /* NULL when OpenSSL failed */
/* The same for MD5, with DIGEST_MD5_SIZE bytes: it finds damage, and proves nothing else. */
struct digest *digest_begin_md5(void);
bool digest_add(struct digest *digest, struct span data);
bool digest_end(struct digest *digest, uint8_t *out); /* DIGEST_SIZE bytes */
void digest_free(struct digest *digest);              /* NULL is fine */

/* Appends lower-case hexadecimal. */
void digest_hex(struct buf *out, const uint8_t *bytes, size_t count);

enum { ES256_NUMBER = 32, ES256_SIGNATURE = 64 };

struct es256_key; /* a private key */

/* Reads a key from PEM (SEC 1 or PKCS #8) without a pass phrase. NULL if TEXT is not such a key. */
struct es256_key *es256_key_read(struct span text);
void es256_key_free(struct es256_key *key); /* wipes it; NULL is fine */

/* The public key's point. False when OpenSSL failed. */
bool es256_key_point(const struct es256_key *key, uint8_t x[ES256_NUMBER], uint8_t y[ES256_NUMBER]);

/* Signs TEXT: r followed by s. False when OpenSSL failed. */
bool es256_sign(const struct es256_key *key, struct span text, uint8_t out[ES256_SIGNATURE]);

#endif
