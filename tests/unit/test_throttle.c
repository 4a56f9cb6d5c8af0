/* Reasons of throttling: their words, and the counts of throttled requests by reason. */
#include "core/base/throttle.h"

#include "tests/unit/check.h"

#define TABLE_ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/prod-jobs"
#define INDEX_ARN TABLE_ARN "/index/by-shop"

static struct throttle throttle_of(const char *reason, const char *resource)
{
    struct throttle throttle;
    throttle_init(&throttle, span_text(reason), span_text(resource));
    return throttle;
}

static void check_words(const char *reason, const char *resource, const char *words,
                        const char *advice)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct throttle throttle = throttle_of(reason, resource);
    throttle_write_words(&throttle, &out);
    CHECK_TEXT(buf_text(&out), words);
    CHECK_HAS(throttle_advice(&throttle), advice);
}

static void each_reason_has_its_words_and_advice(void)
{
    static const struct {
        const char *reason, *resource, *words, *advice;
    } rows[] = {
        {"TableReadProvisionedThroughputExceeded", TABLE_ARN,
         "the provisioned read throughput of table prod-jobs is used up",
         "raise its provisioned throughput"},
        {"IndexReadProvisionedThroughputExceeded", INDEX_ARN,
         "the provisioned read throughput of index by-shop of table prod-jobs is used up",
         "raise its provisioned throughput"},
        {"TableWriteProvisionedThroughputExceeded", TABLE_ARN,
         "the provisioned write throughput of table prod-jobs is used up", "raise"},
        {"TableReadAccountLimitExceeded", TABLE_ARN,
         "the account's limit of read throughput is reached by table prod-jobs", "Service Quotas"},
        {"IndexWriteAccountLimitExceeded", INDEX_ARN,
         "the account's limit of write throughput is reached by index by-shop of table prod-jobs",
         "Service Quotas"},
        {"IndexReadKeyRangeThroughputExceeded", INDEX_ARN,
         "a partition of index by-shop of table prod-jobs is hot", "one partition key more slowly"},
        {"TableWriteKeyRangeThroughputExceeded", TABLE_ARN, "a partition of table prod-jobs is hot",
         "one partition key more slowly"},
        {"TableReadMaxOnDemandThroughputExceeded", TABLE_ARN,
         "the on-demand maximum throughput for reads is reached by table prod-jobs",
         "raise its maximum throughput"},
        {"IndexWriteMaxOnDemandThroughputExceeded", INDEX_ARN,
         "the on-demand maximum throughput for writes is reached by index by-shop of table "
         "prod-jobs",
         "raise its maximum throughput"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_words(rows[i].reason, rows[i].resource, rows[i].words, rows[i].advice);
}

static void an_unknown_reason_is_shown_as_it_is(void)
{
    check_words("TableReadMoonPhaseExceeded", TABLE_ARN, "TableReadMoonPhaseExceeded of " TABLE_ARN,
                "try again later");
    check_words("Table", "", "Table", "try again later");
    check_words("IndexDeleteAccountLimitExceeded", "", "IndexDeleteAccountLimitExceeded",
                "try again later");
    check_words("a\nb", "", "a%0Ab", "try again later");
}

static void a_reason_without_an_arn_names_no_table(void)
{
    check_words("IndexReadAccountLimitExceeded", "",
                "the account's limit of read throughput is reached by an index of the table",
                "Service Quotas");
    check_words("TableReadAccountLimitExceeded", "arn:odd",
                "the account's limit of read throughput is reached by the table", "Service Quotas");
}

static void the_longest_arn_fits(void)
{
    char arn[700], name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    snprintf(arn, sizeof arn,
             "arn:aws-iso-b:dynamodb:us-isob-east-1:123456789012:table/%s/index/%s", name, name);
    struct throttle throttle = throttle_of("IndexReadAccountLimitExceeded", arn);
    CHECK_TEXT(throttle.resource, arn);
    CHECK_INT(throttle_index(&throttle).size, 255);
}

static uint64_t requests_of(const struct throttles *throttles, size_t i)
{
    uint64_t requests = 0;
    throttles_at(throttles, i, &requests);
    return requests;
}

static void requests_are_counted_by_reason_and_resource(void)
{
    CLEAN_UP(throttles_clean_up) struct throttles *sum = NULL;
    struct throttle one = throttle_of("A", "x"), other = throttle_of("A", "y");
    throttles_add(&sum, &one, 1);
    throttles_add(&sum, &other, 2);
    throttles_add(&sum, &one, 3);
    CHECK_INT(requests_of(sum, 0), 4);
    CHECK_INT(requests_of(sum, 1), 2);
    uint64_t ignored;
    CHECK(!throttles_at(sum, 2, &ignored) && !throttles_at(NULL, 0, &ignored));
}

static void an_addition_changes_no_counts_that_others_hold(void)
{
    CLEAN_UP(throttles_clean_up) struct throttles *first = NULL, *second = NULL;
    struct throttle throttle = throttle_of("A", "");
    throttles_add(&first, &throttle, 1);
    throttles_join(&second, first);
    CHECK(second == first);
    throttles_add(&second, &throttle, 5);
    CHECK_INT(requests_of(first, 0), 1);
    CHECK_INT(requests_of(second, 0), 6);
    throttles_join(&second, first);
    CHECK_INT(requests_of(second, 0), 7);
    throttles_join(&second, NULL);
    CHECK_INT(requests_of(second, 0), 7);
}

static void further_reasons_are_added_up(void)
{
    CLEAN_UP(throttles_clean_up) struct throttles *sum = NULL;
    uint64_t requests = 0;
    for (int i = 0; i < THROTTLES_MOST + 3; i++) {
        char reason[16];
        snprintf(reason, sizeof reason, "R%d", i);
        struct throttle throttle = throttle_of(reason, "");
        throttles_add(&sum, &throttle, 1);
    }
    const struct throttle *last = throttles_at(sum, THROTTLES_MOST, &requests);
    CHECK_TEXT(last->reason, THROTTLES_OTHER);
    CHECK_INT(requests, 3);
    CHECK(!throttles_at(sum, THROTTLES_MOST + 1, &requests));
    CHECK(throttles_memory(sum) > sizeof(struct throttle) * THROTTLES_MOST);
    CHECK_INT(throttles_memory(NULL), 0);
}

static const struct check_test tests[] = {
    {"each reason has its words and advice", each_reason_has_its_words_and_advice},
    {"an unknown reason is shown as it is", an_unknown_reason_is_shown_as_it_is},
    {"a reason without an ARN names no table", a_reason_without_an_arn_names_no_table},
    {"the longest ARN fits", the_longest_arn_fits},
    {"requests are counted by reason and resource", requests_are_counted_by_reason_and_resource},
    {"an addition changes no counts that others hold",
     an_addition_changes_no_counts_that_others_hold},
    {"further reasons are added up", further_reasons_are_added_up},
};
CHECK_MAIN(tests)
