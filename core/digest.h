/* SHA-256 and HMAC over OpenSSL, for signatures, versions and shortened names. */
#ifndef DDBFS_CORE_DIGEST_H
#define DDBFS_CORE_DIGEST_H

#include <stdint.h>

#include "core/buf.h"
#include "core/span.h"

enum { DIGEST_SIZE = 32 };

/* Both return false when OpenSSL failed (out of memory); OUT is then undefined. */
bool digest_sha256(struct span data, uint8_t out[DIGEST_SIZE]);
bool digest_hmac_sha256(struct span key, struct span data, uint8_t out[DIGEST_SIZE]);

/* Appends lower-case hexadecimal. */
void digest_hex(struct buf *out, const uint8_t *bytes, size_t count);

#endif
