/* The retry quota, the backoff, and what deserves another attempt. */
#include "core/aws/retry.h"

#include <stddef.h>
#include <string.h>

enum {
    SCALE_MS = 25,
    THROTTLE_SCALE_MS = 1000,
    MAX_DELAY_MS = 20000,
    MOST_SERVER_DELAY_MS = 5000, /* more than ours: a peer's word must not hang a reader */
};

unsigned retry_attempts(const struct retry *retry)
{
    return retry->attempts ? retry->attempts : RETRY_ATTEMPTS;
}

static bool retry_is_among(const char *code, const char *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(code, codes[i]) == 0)
            return true;
    return false;
}

bool retry_is_throttle(const char *code)
{
    static const char *const codes[] = {
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "RequestThrottled",
        "RequestThrottledException",
        "TooManyRequestsException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "LimitExceededException",
        "TransactionInProgressException",
        "BandwidthLimitExceeded",
        "SlowDown",
    };
    return retry_is_among(code, codes, sizeof codes / sizeof codes[0]);
}

bool retry_is_transient(const char *code)
{
    static const char *const codes[] = {
        "RequestTimeout",
        "RequestTimeoutException",
        "PriorRequestNotComplete",
        RETRY_CHECKSUM_CODE,
    };
    return retry_is_among(code, codes, sizeof codes / sizeof codes[0]);
}

static bool retry_is_transient_status(int status)
{
    return status == 500 || status == 502 || status == 503 || status == 504;
}

static bool retry_is_connection_error(const struct error *err)
{
    switch (err->kind) {
    case ERROR_TIMED_OUT:
    case ERROR_UNREACHABLE:
    case ERROR_REFUSED:
    case ERROR_RESET:
    case ERROR_TLS:
        return err->http_status == 0;
    default:
        return false;
    }
}

static bool retry_deserves_another(const struct error *err)
{
    return retry_is_throttle(err->code) || retry_is_transient(err->code) ||
           retry_is_transient_status(err->http_status) || retry_is_connection_error(err);
}

/* The next of a sequence of well-mixed numbers; any seed will do, zero too. */
static unsigned retry_next_random(unsigned *seed)
{
    *seed += 0x9e3779b9u;
    uint32_t x = *seed;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

int64_t retry_backoff_ms(struct retry *retry, bool throttle, unsigned attempt)
{
    int64_t bound_ms = throttle ? THROTTLE_SCALE_MS : SCALE_MS;
    for (unsigned n = 1; n < attempt && bound_ms < MAX_DELAY_MS; n++)
        bound_ms *= 2;
    if (bound_ms > MAX_DELAY_MS)
        bound_ms = MAX_DELAY_MS;
    return (int64_t)((uint64_t)retry_next_random(&retry->seed) * (uint64_t)(bound_ms + 1) >> 32);
}

bool retry_again(struct retry *retry, const struct error *err, unsigned attempt,
                 int64_t server_delay_ms, int64_t *delay_ms, unsigned *paid)
{
    if (attempt >= retry_attempts(retry) || !retry_deserves_another(err))
        return false;
    bool throttle = retry_is_throttle(err->code);
    unsigned cost = throttle ? RETRY_THROTTLE_COST : RETRY_COST;
    if (retry->tokens < cost)
        return false;
    retry->tokens -= cost;
    *paid = cost;
    *delay_ms = retry_backoff_ms(retry, throttle, attempt);
    if (server_delay_ms > *delay_ms + MOST_SERVER_DELAY_MS)
        server_delay_ms = *delay_ms + MOST_SERVER_DELAY_MS;
    if (server_delay_ms > *delay_ms)
        *delay_ms = server_delay_ms;
    return true;
}

void retry_succeeded(struct retry *retry, unsigned paid)
{
    retry->tokens += paid ? paid : 1;
    if (retry->tokens > RETRY_TOKENS)
        retry->tokens = RETRY_TOKENS;
}
