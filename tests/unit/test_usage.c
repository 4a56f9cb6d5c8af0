/* The sums of a mount: throttled requests by reason, resource and program. */
#include "fs/mount/usage.h"

#include "tests/unit/check.h"
#include "tests/unit/virtual_clock.h"

#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/prod-jobs/index/by-shop"

static void add(struct usage *usage, const char *program, const char *reason, const char *resource,
                unsigned requests)
{
    struct throttle throttle;
    throttle_init(&throttle, span_text(reason), span_text(resource));
    const struct expense expense = {.operation = "Query",
                                    .table = "jobs",
                                    .index = "by-id",
                                    .pattern = "",
                                    .requests = requests,
                                    .end = EXPENSE_FAILED,
                                    .throttles = &throttle,
                                    .throttle_count = 1};
    usage_add_expense(usage, span_text(program), &expense);
}

static void a_reason_has_its_resource_and_program(void)
{
    struct virtual_clock clock;
    struct usage_throttle one;
    virtual_clock_init(&clock, 1792000000000);
    struct usage *usage = usage_new(&clock.clock);
    add(usage, "cat", "Hot", ARN, 1);
    add(usage, "cat", "Hot", ARN, 1);
    add(usage, "cat", "Hot", ARN, 0); /* a share of a request that is counted already */
    add(usage, "grep", "Hot", "", 1);
    CHECK(usage_throttle_at(usage, 0, &one));
    CHECK_INT(one.requests, 2);
    CHECK_SPAN(one.table, SPAN_LITERAL("prod-jobs"));
    CHECK_SPAN(one.index, SPAN_LITERAL("by-shop"));
    CHECK_SPAN(one.program, SPAN_LITERAL("cat"));
    CHECK(usage_throttle_at(usage, 1, &one));
    CHECK_SPAN(one.table, SPAN_LITERAL("jobs"));
    CHECK_SPAN(one.index, SPAN_LITERAL("by-id"));
    CHECK(!usage_throttle_at(usage, 2, &one));
    usage_destroy(usage);
}

static void the_last_minute_passes(void)
{
    struct virtual_clock clock;
    struct usage_throttle one;
    virtual_clock_init(&clock, 1792000000000);
    struct usage *usage = usage_new(&clock.clock);
    add(usage, "cat", "Hot", ARN, 1);
    clock.now_ms += 30000;
    add(usage, "cat", "Hot", ARN, 2);
    CHECK(usage_throttle_at(usage, 0, &one) && one.minute == 3);
    clock.now_ms += 30000;
    CHECK(usage_throttle_at(usage, 0, &one) && one.minute == 2);
    add(usage, "cat", "Hot", ARN, 1); /* in the place of the first second */
    CHECK(usage_throttle_at(usage, 0, &one) && one.minute == 3);
    clock.now_ms += 60000;
    CHECK(usage_throttle_at(usage, 0, &one));
    CHECK_INT(one.minute, 0);
    CHECK_INT(one.requests, 4);
    usage_destroy(usage);
}

static void further_reasons_are_one_sum(void)
{
    struct virtual_clock clock;
    struct usage_throttle last;
    virtual_clock_init(&clock, 1792000000000);
    struct usage *usage = usage_new(&clock.clock);
    for (int i = 0; i < USAGE_MOST_THROTTLES + 200; i++) {
        char reason[16];
        snprintf(reason, sizeof reason, "R%d", i);
        add(usage, "cat", reason, ARN, 1);
    }
    CHECK(usage_throttle_at(usage, USAGE_MOST_THROTTLES, &last));
    CHECK_INT(last.requests, 200);
    CHECK_SPAN(last.reason, SPAN_LITERAL(USAGE_OTHER));
    CHECK(!usage_throttle_at(usage, USAGE_MOST_THROTTLES + 1, &last));
    usage_destroy(usage);
}

static const struct check_test tests[] = {
    {"a reason has its resource and program", a_reason_has_its_resource_and_program},
    {"the last minute passes", the_last_minute_passes},
    {"further reasons are one sum", further_reasons_are_one_sum},
};
CHECK_MAIN(tests)
