/* A map against the description of a live table: each difference that would make an answer wrong
 * is told, and nothing else. */
#include "core/check/table_check.h"

#include "tests/unit/check.h"
#include "tests/unit/sample.h"

/* The table of the tests, as the service would describe it; each test changes one thing. */
struct live {
    struct table_info info;
    struct index_info index;
};

static void make_live(struct live *live)
{
    *live = (struct live){0};
    live->info.keys.partition[0].name = span_text("pk");
    live->info.keys.sort[0].name = span_text("sk");
    live->info.keys.partition_count = live->info.keys.sort_count = 1;
    live->index.name = span_text("I");
    live->index.keys.partition[0].name = span_text("x");
    live->index.keys.sort[0].name = span_text("n");
    live->index.keys.partition_count = live->index.keys.sort_count = 1;
    live->index.projection = PROJECTS_ALL;
    live->info.indexes = &live->index;
    live->info.index_count = 1;
}

#define TABLE(projects)                                                                            \
    "\"table\":\"T\",\"records\":{\n\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},\"indexes\":{\n"        \
    "\"I\":{\"partition\":\"x\",\"sort\":\"n\",\"projects\":\"" projects "\"}},\"paths\":{\n"      \
    "\"{x}/\":{\"index\":\"I\"}}"

static void write_finding(void *arg, unsigned line, const char *text)
{
    buf_printf(arg, "%u: %s\n", line, text);
}

static void check_findings_of(const char *table, const struct live *live, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct error err = {0};
    const struct map *map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    table_check_run(map->models[0], "prod-T", &live->info, write_finding, &got);
    map_unref(map);
    CHECK_TEXT(buf_text(&got), want);
}

static void check_findings(const struct live *live, const char *want)
{
    check_findings_of(TABLE("all"), live, want);
}

static void test_an_index_that_is_not_ready(void)
{
    struct live live;
    make_live(&live);
    live.index.status = span_text("CREATING");
    live.index.backfilling = true;
    check_findings(&live, "4: index I of prod-T is CREATING, so that queries of it fail\n");
    live.index.status = span_text("ACTIVE");
    check_findings(&live,
                   "4: index I of prod-T is being filled (Backfilling), so that it lacks items\n");
    live.index.backfilling = false;
    check_findings(&live, "");
}

static void test_a_map_that_fits(void)
{
    struct live live;
    make_live(&live);
    check_findings(&live, "");
}

static void test_a_wrong_partition_key(void)
{
    struct live live;
    make_live(&live);
    live.info.keys.partition[0].name = span_text("PK");
    check_findings(&live, "3: the partition key of prod-T is PK, not pk\n");
}

static void test_a_wrong_sort_key(void)
{
    struct live live;
    make_live(&live);
    live.info.keys.sort[0].name = span_text("SK");
    check_findings(&live, "3: the sort key of prod-T is SK, not sk\n");
}

static void test_a_table_without_a_sort_key(void)
{
    struct live live;
    make_live(&live);
    live.info.keys.sort_count = 0;
    check_findings(&live, "3: prod-T has no sort key sk\n");
}

static void test_a_sort_key_that_the_records_do_not_say(void)
{
    struct live live;
    make_live(&live);
    check_findings_of("\"table\":\"T\",\"records\":{\n\"r\":{\"pk\":\"{a}\"}},\"paths\":{}", &live,
                      "3: prod-T has the sort key sk, which the map's \"records\" lack\n");
}

static void test_a_wrong_type(void)
{
    struct live live;
    make_live(&live);
    live.info.keys.sort[0].type = VALUE_N;
    live.index.keys.partition[0].type = VALUE_B;
    check_findings(&live,
                   "3: sk of prod-T is of type N, not S; declare \"types\": { \"sk\": \"N\" }\n"
                   "4: x of index I of prod-T is of type B, not S; declare \"types\": { \"x\": "
                   "\"B\" }\n");
}

static void test_begins_with_on_what_is_a_number(void)
{
    struct live live;
    make_live(&live);
    live.index.keys.sort[0].type = VALUE_N;
    check_findings_of(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
        "\"indexes\":{\n\"I\":{\"partition\":\"x\",\"sort\":\"n\",\"projects\":\"all\""
        "}},\"paths\":{\"{x}/{d}/\":{\"index\":\"I\",\"where\":{\"n\":\"{d}*\"}}}",
        &live,
        "3: n of index I of prod-T is of type N, not S; declare \"types\": { \"n\": \"N\" "
        "}\n");
}

static void test_a_missing_index(void)
{
    struct live live;
    make_live(&live);
    live.info.index_count = 0;
    check_findings(&live, "4: prod-T has no index I\n");
}

static void test_a_wrong_key_of_an_index(void)
{
    struct live live;
    make_live(&live);
    live.index.keys.partition[0].name = span_text("y");
    live.index.keys.sort[0].name = span_text("m");
    check_findings(&live, "4: the partition key of index I of prod-T is y, not x\n"
                          "4: the sort key of index I of prod-T is m, not n\n");
}

static void test_an_index_without_the_sort_key(void)
{
    struct live live;
    make_live(&live);
    live.index.keys.sort_count = 0;
    check_findings(&live, "4: index I of prod-T has no sort key n\n");
}

static void test_an_index_of_more_partition_attributes(void)
{
    struct live live;
    make_live(&live);
    live.index.keys.partition[1].name = span_text("y");
    live.index.keys.partition_count = 2;
    check_findings(
        &live, "4: the partition key of index I of prod-T has 2 attributes, but 1 in the map\n");
}

static void test_records_from_an_index_that_does_not_hold_them(void)
{
    struct live live;
    make_live(&live);
    live.index.projection = PROJECTS_KEYS;
    check_findings(
        &live,
        "5: \"{x}/\" would show incomplete items, because index I of prod-T does not project all "
        "attributes; it must be hydrated: declare \"projects\": \"keys\" in the index\n");
    live.index.projection = PROJECTS_SOME;
    check_findings(
        &live,
        "5: \"{x}/\" would show incomplete items, because index I of prod-T does not project all "
        "attributes; it must be hydrated: declare \"projects\": \"some\" in the index\n");
}

static void test_a_hydrated_index_may_hold_little(void)
{
    struct live live;
    make_live(&live);
    live.index.projection = PROJECTS_KEYS;
    check_findings_of(TABLE("some"), &live, "");
    check_findings_of(TABLE("keys"), &live, "");
}

static void test_a_filter_on_what_the_index_does_not_hold(void)
{
    static const char table[] =
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},\"indexes\":{"
        "\"I\":{\"partition\":\"x\",\"sort\":\"n\",\"projects\":[\"e\",\"f\"]}},\"paths\":{\n"
        "\"{x}/\":{\"index\":\"I\",\"filter\":{\"e\":\"1\",\"sk\":\"2\"}},\n"
        "\"{x}/most\":{\"index\":\"I\",\"pick\":{\"greatest\":\"f\"}}}";
    static const struct span both[] = {{"e", 1}, {"f", 1}};
    struct live live;
    make_live(&live);
    live.index.projection = PROJECTS_SOME;
    check_findings_of(table, &live,
                      "2: index I of prod-T does not include e\n"
                      "2: index I of prod-T does not include f\n"
                      "3: \"filter\" of \"{x}/\" tests e, which index I of prod-T does not hold, "
                      "so that each item would seem to lack it\n"
                      "4: \"pick\" of \"{x}/most\" tests f, which index I of prod-T does not hold, "
                      "so that each item would seem to lack it\n");
    live.index.included = both;
    live.index.included_count = 2;
    check_findings_of(table, &live, "");
    live.index.projection = PROJECTS_ALL;
    live.index.included_count = 0;
    check_findings_of(table, &live, "");
}

static const struct check_test tests[] = {
    {"a_filter_on_what_the_index_does_not_hold", test_a_filter_on_what_the_index_does_not_hold},
    {"an index that is not ready", test_an_index_that_is_not_ready},
    {"a_map_that_fits", test_a_map_that_fits},
    {"a_wrong_partition_key", test_a_wrong_partition_key},
    {"a_wrong_sort_key", test_a_wrong_sort_key},
    {"a_table_without_a_sort_key", test_a_table_without_a_sort_key},
    {"a_sort_key_that_the_records_do_not_say", test_a_sort_key_that_the_records_do_not_say},
    {"a_wrong_type", test_a_wrong_type},
    {"begins_with_on_what_is_a_number", test_begins_with_on_what_is_a_number},
    {"a_missing_index", test_a_missing_index},
    {"a_wrong_key_of_an_index", test_a_wrong_key_of_an_index},
    {"an_index_without_the_sort_key", test_an_index_without_the_sort_key},
    {"an_index_of_more_partition_attributes", test_an_index_of_more_partition_attributes},
    {"records_from_an_index_that_does_not_hold_them",
     test_records_from_an_index_that_does_not_hold_them},
    {"a_hydrated_index_may_hold_little", test_a_hydrated_index_may_hold_little},
};

CHECK_MAIN(tests)
