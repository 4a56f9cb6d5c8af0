/* SHA-256 and HMAC over OpenSSL, for signatures, versions and shortened names. */
#ifndef DDBFS_CORE_BASE_DIGEST_H
#define DDBFS_CORE_BASE_DIGEST_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

enum { DIGEST_SIZE = 32, DIGEST_SHA1_SIZE = 20 };

/* For programs that live for one answer, before anything else uses OpenSSL (libcurl does): leaves
 * OpenSSL's tables to the end of the process, where freeing them one by one costs as much as
 * reading a whole map. */
void digest_skip_clean_up(void);

/* Each returns false when OpenSSL failed (out of memory); OUT is then undefined. */
bool digest_sha1(struct span data, uint8_t out[DIGEST_SHA1_SIZE]); /* for names, not for trust */
bool digest_sha256(struct span data, uint8_t out[DIGEST_SIZE]);
bool digest_hmac_sha256(struct span key, struct span data, uint8_t out[DIGEST_SIZE]);

/* Appends lower-case hexadecimal. */
void digest_hex(struct buf *out, const uint8_t *bytes, size_t count);

#endif
