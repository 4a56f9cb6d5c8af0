/* The retry quota and the backoff. */
#include "core/aws/retry.h"

#include "tests/unit/check.h"

enum { NO_SERVER_DELAY = -1 };

static struct error error_of(enum error_kind kind, int status, const char *code)
{
    struct error err = {.kind = kind, .http_status = status};
    snprintf(err.code, sizeof err.code, "%s", code);
    return err;
}

static const struct error *throttled(void)
{
    static struct error err;
    err = error_of(ERROR_THROTTLED, 400, "ThrottlingException");
    return &err;
}

static bool again(struct error err)
{
    struct retry retry = {.tokens = RETRY_TOKENS, .seed = 1};
    int64_t delay_ms;
    unsigned paid;
    return retry_again(&retry, &err, 1, NO_SERVER_DELAY, &delay_ms, &paid);
}

/* The longest delay of a thousand. */
static int64_t longest_ms(const struct error *err, unsigned attempt)
{
    struct retry retry = {.seed = 7};
    int64_t longest = -1;
    for (int i = 0; i < 1000; i++) {
        int64_t delay_ms = -1;
        unsigned paid;
        retry.tokens = RETRY_TOKENS;
        CHECK(retry_again(&retry, err, attempt, NO_SERVER_DELAY, &delay_ms, &paid));
        CHECK(delay_ms >= 0);
        longest = delay_ms > longest ? delay_ms : longest;
    }
    return longest;
}

static void server_errors_are_tried_again(void)
{
    static const int statuses[] = {500, 502, 503, 504};
    for (size_t i = 0; i < 4; i++)
        CHECK(again(error_of(ERROR_SERVICE, statuses[i], "InternalServerError")));
    CHECK(!again(error_of(ERROR_SERVICE, 501, "NotImplemented")));
}

static void lost_connections_are_tried_again(void)
{
    CHECK(again(error_of(ERROR_TIMED_OUT, 0, "")));
    CHECK(again(error_of(ERROR_UNREACHABLE, 0, "")));
    CHECK(again(error_of(ERROR_REFUSED, 0, "")));
    CHECK(again(error_of(ERROR_RESET, 0, "")));
}

static void throttles_are_tried_again(void)
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
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        CHECK(retry_is_throttle(codes[i]));
        CHECK(again(error_of(ERROR_THROTTLED, 400, codes[i])));
    }
}

static void transient_codes_are_tried_again(void)
{
    CHECK(again(error_of(ERROR_SERVICE, 400, "RequestTimeout")));
    CHECK(again(error_of(ERROR_SERVICE, 400, "RequestTimeoutException")));
    CHECK(again(error_of(ERROR_SERVICE, 400, "PriorRequestNotComplete")));
    CHECK(again(error_of(ERROR_BAD_ANSWER, 200, RETRY_CHECKSUM_CODE)));
}

static void refusals_are_final(void)
{
    CHECK(!again(error_of(ERROR_INVALID, 400, "ValidationException")));
    CHECK(!again(error_of(ERROR_DENIED, 400, "AccessDeniedException")));
    CHECK(!again(error_of(ERROR_NO_TABLE, 400, "ResourceNotFoundException")));
    CHECK(!again(error_of(ERROR_BAD_ANSWER, 200, "")));
    CHECK(!again(error_of(ERROR_NO_MEMORY, 0, "")));
}

static void a_page_of_html_is_tried_again_for_its_status(void)
{
    CHECK(again(error_of(ERROR_BAD_ANSWER, 503, "")));
    CHECK(!again(error_of(ERROR_BAD_ANSWER, 404, "")));
}

static void four_attempts_are_all(void)
{
    struct retry retry = {.tokens = RETRY_TOKENS};
    int64_t delay_ms;
    unsigned paid;
    CHECK(retry_again(&retry, throttled(), 3, NO_SERVER_DELAY, &delay_ms, &paid));
    CHECK(!retry_again(&retry, throttled(), 4, NO_SERVER_DELAY, &delay_ms, &paid));
}

static void delays_double(void)
{
    struct error failed = error_of(ERROR_SERVICE, 500, "");
    int64_t first = longest_ms(&failed, 1), third = longest_ms(&failed, 3);
    CHECK(first <= 25 && first >= 20);
    CHECK(third <= 100 && third >= 80);
}

static void throttles_wait_longer(void)
{
    int64_t first = longest_ms(throttled(), 1), third = longest_ms(throttled(), 3);
    CHECK(first <= 1000 && first >= 900);
    CHECK(third <= 4000 && third >= 3600);
}

/* Two of a seed, so that what one waits by itself tells what the other would. */
static int64_t delay_told(int64_t server_delay_ms)
{
    struct retry retry = {.tokens = RETRY_TOKENS, .seed = 5};
    int64_t delay_ms = -1;
    unsigned paid;
    CHECK(retry_again(&retry, throttled(), 1, server_delay_ms, &delay_ms, &paid));
    return delay_ms;
}

static void the_server_may_say_how_long(void)
{
    int64_t own_ms = delay_told(NO_SERVER_DELAY);
    CHECK(own_ms >= 0 && own_ms <= 1000);
    CHECK_INT(delay_told(1234), 1234);
    CHECK_INT(delay_told(own_ms + 5000), own_ms + 5000);
}

static void the_server_can_shorten_no_delay_and_stretch_it_by_so_much(void)
{
    int64_t own_ms = delay_told(NO_SERVER_DELAY);
    CHECK_INT(delay_told(0), own_ms);
    CHECK_INT(delay_told(own_ms + 5001), own_ms + 5000);
    CHECK_INT(delay_told(INT64_MAX), own_ms + 5000);
}

static void no_delay_is_longer_than_twenty_seconds(void)
{
    struct retry retry = {.seed = 7};
    int64_t longest_ms = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t delay_ms = retry_backoff_ms(&retry, true, 1000);
        longest_ms = delay_ms > longest_ms ? delay_ms : longest_ms;
    }
    CHECK(longest_ms <= 20000 && longest_ms >= 19000);
}

static void more_attempts_or_fewer_can_be_asked_for(void)
{
    struct retry one = {.tokens = RETRY_TOKENS, .attempts = 1};
    struct retry seven = {.tokens = RETRY_TOKENS, .attempts = 7};
    int64_t delay_ms;
    unsigned paid;
    CHECK(!retry_again(&one, throttled(), 1, NO_SERVER_DELAY, &delay_ms, &paid));
    CHECK(retry_again(&seven, throttled(), 6, NO_SERVER_DELAY, &delay_ms, &paid));
    CHECK(!retry_again(&seven, throttled(), 7, NO_SERVER_DELAY, &delay_ms, &paid));
}

static void jitter_differs_from_time_to_time_and_by_seed(void)
{
    struct retry a = {.tokens = RETRY_TOKENS, .seed = 1}, b = {.tokens = RETRY_TOKENS, .seed = 2};
    int64_t first, second, other;
    unsigned paid;
    retry_again(&a, throttled(), 3, NO_SERVER_DELAY, &first, &paid);
    retry_again(&a, throttled(), 3, NO_SERVER_DELAY, &second, &paid);
    retry_again(&b, throttled(), 3, NO_SERVER_DELAY, &other, &paid);
    CHECK(first != second && first != other);
}

static void retries_cost_tokens(void)
{
    struct retry retry = {.tokens = RETRY_TOKENS};
    struct error failed = error_of(ERROR_SERVICE, 500, "");
    int64_t delay_ms;
    unsigned paid = 0;
    CHECK(retry_again(&retry, &failed, 1, NO_SERVER_DELAY, &delay_ms, &paid));
    CHECK_INT(paid, RETRY_COST);
    CHECK_INT(retry.tokens, RETRY_TOKENS - RETRY_COST);
    CHECK(retry_again(&retry, throttled(), 1, NO_SERVER_DELAY, &delay_ms, &paid));
    CHECK_INT(paid, RETRY_THROTTLE_COST);
    CHECK_INT(retry.tokens, RETRY_TOKENS - RETRY_COST - RETRY_THROTTLE_COST);
}

static void an_empty_bucket_stops_retries(void)
{
    struct retry retry = {.tokens = RETRY_COST - 1};
    struct error failed = error_of(ERROR_SERVICE, 500, "");
    int64_t delay_ms;
    unsigned paid;
    CHECK(!retry_again(&retry, &failed, 1, NO_SERVER_DELAY, &delay_ms, &paid));
    CHECK_INT(retry.tokens, RETRY_COST - 1);
    CHECK(retry_again(&retry, throttled(), 1, NO_SERVER_DELAY, &delay_ms, &paid));
}

static void a_refusal_costs_nothing(void)
{
    struct retry retry = {.tokens = RETRY_TOKENS};
    struct error refused = error_of(ERROR_INVALID, 400, "ValidationException");
    int64_t delay_ms;
    unsigned paid;
    retry_again(&retry, &refused, 1, NO_SERVER_DELAY, &delay_ms, &paid);
    CHECK_INT(retry.tokens, RETRY_TOKENS);
}

static void success_gives_back(void)
{
    struct retry retry = {.tokens = 100};
    retry_refund(&retry, RETRY_COST);
    CHECK_INT(retry.tokens, 100 + RETRY_COST);
    retry_refund(&retry, 0);
    CHECK_INT(retry.tokens, 101 + RETRY_COST);
}

static void the_bucket_does_not_overflow(void)
{
    struct retry retry = {.tokens = RETRY_TOKENS - 1};
    retry_refund(&retry, RETRY_COST);
    CHECK_INT(retry.tokens, RETRY_TOKENS);
}

static const struct check_test tests[] = {
    {"server errors are tried again", server_errors_are_tried_again},
    {"lost connections are tried again", lost_connections_are_tried_again},
    {"throttles are tried again", throttles_are_tried_again},
    {"transient codes are tried again", transient_codes_are_tried_again},
    {"refusals are final", refusals_are_final},
    {"a page of HTML is tried again for its status", a_page_of_html_is_tried_again_for_its_status},
    {"four attempts are all", four_attempts_are_all},
    {"delays double", delays_double},
    {"throttles wait longer", throttles_wait_longer},
    {"the server may say how long", the_server_may_say_how_long},
    {"the server can shorten no delay and stretch it by so much",
     the_server_can_shorten_no_delay_and_stretch_it_by_so_much},
    {"no delay is longer than twenty seconds", no_delay_is_longer_than_twenty_seconds},
    {"more attempts or fewer can be asked for", more_attempts_or_fewer_can_be_asked_for},
    {"jitter differs from time to time and by seed", jitter_differs_from_time_to_time_and_by_seed},
    {"retries cost tokens", retries_cost_tokens},
    {"an empty bucket stops retries", an_empty_bucket_stops_retries},
    {"a refusal costs nothing", a_refusal_costs_nothing},
    {"success gives back", success_gives_back},
    {"the bucket does not overflow", the_bucket_does_not_overflow},
};
CHECK_MAIN(tests)
