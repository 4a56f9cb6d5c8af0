/* The decisions to retry a request to AWS are in this file. `call_recover` in call.c executes them,
 * in this order:
 *   1. The clock: a refusal that a wrong clock can cause is retried at once with the service's time
 *      (retry_read_skew), once per call.
 *   2. The identity: a refusal of the credentials is retried at once with fresh ones, once per
 * call.
 *   3. The standard mode (retry_again): throttles, failures of the service and of the connection
 *      are retried after a delay, as long as the quota pays and the deadline allows.
 * Each retry counts against the limit of requests for the call (retry_attempts). */
#include "core/aws/retry.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SCALE_MS = 25,
    THROTTLE_SCALE_MS = 1000,
    MAX_DELAY_MS = 20000,
    MOST_SERVER_DELAY_MS = 5000, /* beyond ours: a peer must not block a reader */
    MAX_ROUND_TRIP_MS = 15 * 60 * 1000,
    SKEW_TOLERANCE_MS = 4 * 60 * 1000,
    /* The limit of unused quotas that are not full. Made-up names of tables must not fill the
     * memory. A quota that is freed is a full one again. */
    MOST_UNUSED_QUOTAS = 1000,
};

unsigned retry_attempts(const struct retry *retry)
{
    return retry->attempts ? retry->attempts : RETRY_ATTEMPTS;
}

static bool retry_has_code(const char *code, const char *const *codes, size_t count)
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
        /* of an item of a canceled transaction */
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
    };
    return retry_has_code(code, codes, sizeof codes / sizeof codes[0]);
}

bool retry_is_transient(const char *code)
{
    static const char *const codes[] = {
        "RequestTimeout",
        "RequestTimeoutException",
        "PriorRequestNotComplete",
        RETRY_CHECKSUM_CODE,
    };
    return retry_has_code(code, codes, sizeof codes / sizeof codes[0]);
}

int64_t retry_backoff_ms(struct retry *retry, bool throttle, unsigned attempt)
{
    int64_t bound_ms = throttle ? THROTTLE_SCALE_MS : SCALE_MS;
    for (unsigned n = 1; n < attempt && bound_ms < MAX_DELAY_MS; n++)
        bound_ms *= 2;
    if (bound_ms > MAX_DELAY_MS)
        bound_ms = MAX_DELAY_MS;
    /* The next of a sequence of well-mixed numbers; any seed is good, zero too. */
    retry->seed += 0x9e3779b9u;
    uint32_t x = retry->seed;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return (int64_t)((uint64_t)(x ^ x >> 16) * (uint64_t)(bound_ms + 1) >> 32);
}

bool retry_again(struct retry *retry, const struct error *err, unsigned attempt,
                 int64_t server_delay_ms, int64_t *delay_ms, unsigned *paid)
{
    int status = err->http_status;
    bool throttle = retry_is_throttle(err->code);
    bool service_failed = retry_is_transient(err->code) || status == 500 || status == 502 ||
                          status == 503 || status == 504;
    bool connection_failed =
        status == 0 &&
        (err->kind == ERROR_TIMED_OUT || err->kind == ERROR_UNREACHABLE ||
         err->kind == ERROR_REFUSED || err->kind == ERROR_RESET || err->kind == ERROR_TLS);
    if (attempt >= retry_attempts(retry) || !(throttle || service_failed || connection_failed))
        return false;
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

void retry_refund(struct retry *retry, unsigned paid)
{
    retry->tokens += paid ? paid : 1;
    if (retry->tokens > RETRY_TOKENS)
        retry->tokens = RETRY_TOKENS;
}

/* Quotas. */

struct quota {
    struct retry retry;    /* first: quotas_release casts a retry to its quota */
    struct dict_node node; /* by name */
    unsigned users;
    char name[];
};

static struct quota *quotas_quota_of(struct dict_node *node)
{
    return (struct quota *)((char *)node - offsetof(struct quota, node));
}

bool quotas_init(struct quotas *quotas, unsigned attempts, unsigned seed)
{
    *quotas = (struct quotas){.attempts = attempts, .seed = seed};
    return dict_init(&quotas->names);
}

void quotas_clean_up(struct quotas *quotas)
{
    size_t from = 0;
    for (struct dict_node *node; (node = dict_any(&quotas->names, &from));) {
        dict_remove(&quotas->names, node);
        free(quotas_quota_of(node));
    }
    dict_clean_up(&quotas->names);
}

struct retry *quotas_take(struct quotas *quotas, const char *name)
{
    size_t size = strlen(name);
    struct dict_node *node = dict_find(&quotas->names, span_of(name, size));
    struct quota *quota = node ? quotas_quota_of(node) : calloc(1, sizeof *quota + size + 1);
    if (!quota)
        return NULL;
    if (!node) {
        memcpy(quota->name, name, size);
        quota->node.key = span_of(quota->name, size);
        /* Two quotas must not retry at the same moments. */
        quotas->seed += 0x9e3779b9u;
        quota->retry = (struct retry){RETRY_TOKENS, quotas->seed, quotas->attempts};
        dict_add(&quotas->names, &quota->node);
    }
    quota->users++;
    return &quota->retry;
}

void quotas_release(struct quotas *quotas, struct retry *retry)
{
    struct quota *quota = (struct quota *)retry;
    if (!quota || --quota->users > 0 ||
        (retry->tokens < RETRY_TOKENS && quotas->names.count <= MOST_UNUSED_QUOTAS))
        return;
    dict_remove(&quotas->names, &quota->node);
    free(quota);
}

/* The clock. */

bool retry_read_skew(const struct http_response *response, int64_t sent_wall_ms, int64_t *skew_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const char *date = http_header(response, "Date");
    struct tm tm = {.tm_mon = -1};
    char month[4] = "";
    if (!date || http_header(response, "Age") || response->elapsed_ms > MAX_ROUND_TRIP_MS)
        return false;
    /* "Wed, 18 Nov 2026 08:34:10 GMT". Not strptime, whose month names are those of the locale. */
    if (sscanf(date, "%*3[A-Za-z], %2d %3s %4d %2d:%2d:%2d GMT", &tm.tm_mday, month, &tm.tm_year,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return false;
    for (int i = 0; i < 12; i++)
        if (memcmp(months + (ptrdiff_t)3 * i, month, 3) == 0)
            tm.tm_mon = i;
    tm.tm_year -= 1900;
    if (tm.tm_mon < 0)
        return false;
    *skew_ms = (int64_t)timegm(&tm) * 1000 - (sent_wall_ms + response->elapsed_ms / 2);
    return true;
}

bool retry_skews_differ(int64_t a_ms, int64_t b_ms)
{
    int64_t apart_ms = a_ms - b_ms;
    return apart_ms > SKEW_TOLERANCE_MS || apart_ms < -SKEW_TOLERANCE_MS;
}
