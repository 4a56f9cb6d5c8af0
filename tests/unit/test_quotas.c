/* One quota a table. */
#include "core/aws/retry.h"

#include "tests/unit/check.h"

static void each_name_has_its_own(void)
{
    CLEAN_UP(quotas_clean_up) struct quotas quotas;
    CHECK(quotas_init(&quotas, 0, 1));
    struct retry *jobs = quotas_take(&quotas, "jobs"), *shops = quotas_take(&quotas, "shops");
    CHECK(jobs && shops && jobs != shops && jobs == quotas_take(&quotas, "jobs"));
    jobs->tokens = 0;
    CHECK_INT(shops->tokens, RETRY_TOKENS);
    CHECK(jobs->seed != shops->seed);
}

static void what_was_used_up_is_remembered(void)
{
    CLEAN_UP(quotas_clean_up) struct quotas quotas;
    CHECK(quotas_init(&quotas, 0, 1));
    struct retry *jobs = quotas_take(&quotas, "jobs");
    jobs->tokens = 7;
    quotas_release(&quotas, jobs);
    jobs = quotas_take(&quotas, "jobs");
    CHECK_INT(jobs->tokens, 7);
    jobs->tokens = RETRY_TOKENS;
    quotas_release(&quotas, jobs);
    CHECK_INT(quotas.names.count, 0);
}

static void names_that_are_made_up_fill_no_memory(void)
{
    CLEAN_UP(quotas_clean_up) struct quotas quotas;
    CHECK(quotas_init(&quotas, 0, 1));
    for (int i = 0; i < 5000; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        struct retry *retry = quotas_take(&quotas, name);
        retry->tokens = 0;
        quotas_release(&quotas, retry);
    }
    CHECK(quotas.names.count <= 1000);
}

static void attempts_are_handed_on(void)
{
    CLEAN_UP(quotas_clean_up) struct quotas quotas;
    CHECK(quotas_init(&quotas, 6, 1));
    CHECK_INT(retry_attempts(quotas_take(&quotas, "jobs")), 6);
    quotas_release(&quotas, NULL);
}

static const struct check_test tests[] = {
    {"each name has its own", each_name_has_its_own},
    {"what was used up is remembered", what_was_used_up_is_remembered},
    {"names that are made up fill no memory", names_that_are_made_up_fill_no_memory},
    {"attempts are handed on", attempts_are_handed_on},
};
CHECK_MAIN(tests)
