/* What requests may consume: by the service's limits and its rounding. */
#include "core/plan/cost.h"

#include "tests/unit/check.h"
#include "tests/unit/sample.h"

static void test_an_item_is_rounded_up(void)
{
    CHECK(cost_bound_item(0, false) == 0.5);
    CHECK(cost_bound_item(1, true) == 1);
    CHECK(cost_bound_item(4096, false) == 0.5);
    CHECK(cost_bound_item(4097, false) == 1);
    CHECK(cost_bound_item(400 * 1024, true) == 100);
}

static void test_a_page_is_rounded_as_a_whole(void)
{
    CHECK(cost_bound_page(0, 400 * 1024, false) == 178);
    CHECK(cost_bound_page(0, 400 * 1024, true) == 356);
    CHECK(cost_bound_page(0, 1042, false) == 128.5);
    CHECK(cost_bound_page(1, 400 * 1024, false) == 50);
    CHECK(cost_bound_page(2, 1500, false) == 0.5);
    CHECK(cost_bound_page(1000000, 400 * 1024, false) == 178);
}

static void test_an_index_of_keys_alone_has_small_entries(void)
{
    struct error err = {0};
    const struct map *map = sample_example(&err);
    CHECK(map != NULL);
    const struct model *jobs = map_find_model(map, SPAN_LITERAL("jobs"));
    uint64_t keys = cost_bound_item_bytes(jobs, model_find_index(jobs, "GSI_JobLookup_v2"));
    CHECK_INT(cost_bound_item_bytes(jobs, NULL), 400 * 1024);
    CHECK_INT(cost_bound_item_bytes(jobs, model_find_index(jobs, "GSI_JobsByStatus_v2")),
              400 * 1024);
    CHECK_INT(keys, 100 + 2048 + 2 + 1024 + 2 + 2048 + 6 + 1024 + 10);
    map_unref(map);
}

static void check_written(double units, double price, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    cost_write_dollars(units, price, &got);
    CHECK_TEXT(buf_text(&got), want);
}

static void test_amounts_are_written_for_people(void)
{
    check_written(0.5, 0.125, "$0.000000062");
    check_written(52, 0.125, "$0.0000065");
    check_written(8e6, 0.125, "$1.00");
    check_written(50, 0, "$0.00");
}

static const struct check_test tests[] = {
    {"an_item_is_rounded_up", test_an_item_is_rounded_up},
    {"a_page_is_rounded_as_a_whole", test_a_page_is_rounded_as_a_whole},
    {"an_index_of_keys_alone_has_small_entries", test_an_index_of_keys_alone_has_small_entries},
    {"amounts_are_written_for_people", test_amounts_are_written_for_people},
};

CHECK_MAIN(tests)
