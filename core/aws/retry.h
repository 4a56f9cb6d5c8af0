/* The retries of requests to AWS: which failed attempt is repeated, after which delay, and the
 * quotas that pay for it. It is the standard mode of the AWS SDKs. No function starts a timer. */
#ifndef DDBFS_CORE_AWS_RETRY_H
#define DDBFS_CORE_AWS_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/dict.h"
#include "core/base/error.h"
#include "core/net/transport.h"

enum {
    RETRY_ATTEMPTS = 4,
    RETRY_TOKENS = 500,
    RETRY_COST = 14,
    RETRY_THROTTLE_COST = 5,
};

/* The error code of a response with a wrong checksum, as in the AWS SDKs. */
#define RETRY_CHECKSUM_CODE "CRC32CheckFailed"

/* Whether the service's error code demands fewer requests, or the same request again. */
bool retry_is_throttle(const char *code);
bool retry_is_transient(const char *code);

/* A quota, shared by all requests to the same resource: a table in a region, for DynamoDB. */
struct retry {
    unsigned tokens;
    unsigned seed;     /* of the jitter */
    unsigned attempts; /* the limit of requests for one call; 0: RETRY_ATTEMPTS */
};

unsigned retry_attempts(const struct retry *retry);

/* The delay after attempt ATTEMPT (1 is the first): random, up to a limit that doubles with each
 * attempt and is higher for throttles. */
int64_t retry_backoff_ms(struct retry *retry, bool throttle, unsigned attempt);

/* Whether attempt ATTEMPT (1 is the first), which failed with ERR, is repeated. If so, pays for the
 * retry and sets DELAY_MS. SERVER_DELAY_MS is the delay that the server demands, or negative; it
 * can lengthen the delay by at most 5 s. PAID gets the refund that a success earns. */
bool retry_again(struct retry *retry, const struct error *err, unsigned attempt,
                 int64_t server_delay_ms, int64_t *delay_ms, unsigned *paid);

/* Refunds PAID (0: one token) after a success, or after a retry that was paid but not made. */
void retry_refund(struct retry *retry, unsigned paid);

/* Quotas by name. A throttled table does not use up the retries of another one. */
struct quotas {
    struct dict names; /* owns the quotas */
    unsigned attempts; /* of each quota */
    unsigned seed;
};

/* ATTEMPTS may be 0: RETRY_ATTEMPTS. False when memory ran out. */
bool quotas_init(struct quotas *quotas, unsigned attempts, unsigned seed);
/* Every quota must have been released. */
void quotas_clean_up(struct quotas *quotas);

/* The quota of NAME, to be released once per call. NULL when memory ran out. */
struct retry *quotas_take(struct quotas *quotas, const char *name);
/* A full quota without users is freed. NULL is fine. */
void quotas_release(struct quotas *quotas, struct retry *retry);

/* Sets SKEW_MS to the service's time less this machine's: the Date of RESPONSE less the middle of
 * the request, which was sent at SENT_WALL_MS. False if the response has no readable Date, is from
 * a cache (Age), or took more than 15 minutes. */
bool retry_read_skew(const struct http_response *response, int64_t sent_wall_ms, int64_t *skew_ms);

/* Whether two skews differ by more than 4 minutes, so that a signature can fail. */
bool retry_skews_differ(int64_t a_ms, int64_t b_ms);

#endif
