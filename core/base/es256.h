/* Keys and signatures of ES256 (ECDSA on P-256 with SHA-256, RFC 7518) over OpenSSL. */
#ifndef DDBFS_CORE_BASE_ES256_H
#define DDBFS_CORE_BASE_ES256_H

#include <stdint.h>

#include "core/base/span.h"

enum { ES256_NUMBER = 32, ES256_SIGNATURE = 64 };

struct es256_key; /* a private key */

/* Reads a key from PEM, as SEC 1 or PKCS #8 has it, without a pass phrase. NULL when TEXT is none,
 * or one of another kind. */
struct es256_key *es256_key_read(struct span text);
void es256_key_free(struct es256_key *key); /* wipes it; NULL is fine */

/* The public key's point. False when OpenSSL failed. */
bool es256_key_point(const struct es256_key *key, uint8_t x[ES256_NUMBER], uint8_t y[ES256_NUMBER]);

/* Signs TEXT: r and s, one behind the other. False when OpenSSL failed. */
bool es256_sign(const struct es256_key *key, struct span text, uint8_t out[ES256_SIGNATURE]);

#endif
