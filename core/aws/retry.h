/* When to try again, and after how long: the standard mode of the AWS SDKs. Pure: it reads no
 * clock and starts no timer. */
#ifndef DDBFS_CORE_AWS_RETRY_H
#define DDBFS_CORE_AWS_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

enum {
    RETRY_ATTEMPTS = 4,
    RETRY_TOKENS = 500,
    RETRY_COST = 14,
    RETRY_THROTTLE_COST = 5,
};

/* The code that an answer with a wrong checksum gets, as in the SDKs of AWS. */
#define RETRY_CHECKSUM_CODE "CRC32CheckFailed"

/* Whether the service's error code asks for fewer requests, or for the same one again. */
bool retry_is_throttle(const char *code);
bool retry_is_transient(const char *code);

/* A quota, shared by all who ask for the same: of DynamoDB, one table in one region (quotas.h). */
struct retry {
    unsigned tokens;
    unsigned seed;     /* of the jitter */
    unsigned attempts; /* how often a request may be sent, all in all; 0: RETRY_ATTEMPTS */
};

unsigned retry_attempts(const struct retry *retry);

/* How long to wait behind the attempt ATTEMPT (1 is the first): anything from nothing to a bound
 * that doubles with each attempt, and is longer where the service throttles. */
int64_t retry_backoff_ms(struct retry *retry, bool throttle, unsigned attempt);

/* Whether ERR, met by the attempt ATTEMPT (1 is the first), deserves another one. If so, pays
 * for it and sets DELAY_MS; SERVER_DELAY_MS is what the server asked for, or negative. It makes the
 * delay longer than it would be, and by 5 s at the most. PAID gets what success gives back. */
bool retry_again(struct retry *retry, const struct error *err, unsigned attempt,
                 int64_t server_delay_ms, int64_t *delay_ms, unsigned *paid);

/* After a success: gives back what the last retry paid (1 when there was none). Also for a retry
 * that was paid for and then not made. */
void retry_succeeded(struct retry *retry, unsigned paid);

#endif
