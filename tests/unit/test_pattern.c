/* Patterns settled: which conditions a path's words become, and how entries are named. */
#include "core/map/pattern_draft.h"

#include "tests/unit/check.h"
#include "tests/unit/sample.h"

#define LAST "\xF4\x8F\xBF\xBF" /* sorts after every other text */

#define RECORDS                                                                                    \
    "\"table\":\"Table\","                                                                         \
    "\"records\":{\"job\":{\"pk\":\"P#{a}\",\"sk\":\"J#{b}#{c}\"}},"
#define INDEX(sides) "\"indexes\":{\"I\":{" sides "}},"
#define PATHS(path, body) "\"paths\":{\"" path "\":{" body "}}"

static void check_conds_of(const struct map_pattern *pattern, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    sample_write_conds(pattern, &got);
    CHECK_TEXT(buf_text(&got), want);
}

/* The conditions of the only path of a table. */
static void check_conds(const char *table, const char *want)
{
    struct error err = {0};
    const struct map *map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    check_conds_of(map->models[0]->patterns, want);
    map_unref(map);
}

static void write_names(const struct map_pattern *pattern, struct buf *out)
{
    for (size_t i = 0; i < pattern->entry_count; i++) {
        buf_printf(out, "%s%s: ", i ? ", " : "", pattern->entries[i].kind->name);
        format_write(&pattern->entries[i].name, out);
    }
}

/* How the entries of the only path of a table are named: "kind: format, kind: format". */
static void check_names(const char *table, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct error err = {0};
    const struct map *map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    write_names(map->models[0]->patterns, &got);
    map_unref(map);
    CHECK_TEXT(buf_text(&got), want);
}

/* One path of the example map: its conditions and its entries' names. */
static void check_example(const char *table, const char *path, const char *conds, const char *names)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct error err = {0};
    const struct map *map = sample_example(&err);
    CHECK(map != NULL);
    const struct map_pattern *pattern = sample_pattern(map, table, path);
    CHECK(pattern != NULL);
    check_conds_of(pattern, conds);
    write_names(pattern, &got);
    map_unref(map);
    CHECK_TEXT(buf_text(&got), names);
}

/* The example, path by path. */

static void test_job_by_id(void)
{
    check_example("jobs", "by-id/{job_id}", "job_id = {job_id}", "");
}

static void test_latest_jobs(void)
{
    check_example("jobs", "by-index/{platform}/{shop_id}/latest/",
                  "pk = PLATFORM#{platform}#SHOP#{shop_id} and sk begins with JOB#",
                  "job: {created_at}#{job_id}");
}

static void test_all_jobs(void)
{
    check_example("jobs", "by-index/{platform}/{shop_id}/all/",
                  "pk = PLATFORM#{platform}#SHOP#{shop_id} and sk begins with JOB#",
                  "job: {created_at}#{job_id}");
}

static void test_jobs_of_a_day(void)
{
    check_example("jobs", "by-index/{platform}/{shop_id}/on/{date}/",
                  "pk = PLATFORM#{platform}#SHOP#{shop_id} and sk begins with JOB#{date}",
                  "job: {created_at}#{job_id}");
}

static void test_jobs_of_a_window(void)
{
    check_example("jobs", "by-index/{platform}/{shop_id}/between/{from}..{to}/",
                  "pk = PLATFORM#{platform}#SHOP#{shop_id} and sk between JOB#{from} and "
                  "JOB#{to}" LAST,
                  "job: {created_at}#{job_id}");
}

static void test_jobs_by_status_of_one_platform(void)
{
    check_example("jobs", "by-index/{platform}/{shop_id}/status/{status}/",
                  "shop_id = {shop_id} and status_created_at begins with {status}#; filter "
                  "pk = PLATFORM#{platform}#SHOP#{shop_id}",
                  "job: {created_at}#{job_id}");
}

static void test_jobs_by_status_of_all_platforms(void)
{
    check_example("jobs", "by-status/{shop_id}/{status}/",
                  "shop_id = {shop_id} and status_created_at begins with {status}#",
                  "job: {platform}#{created_at}#{job_id}");
}

static void test_index_roots(void)
{
    check_example("index-settings", "{account}/", "pk = {account}", "index: {index_name}");
}

static void test_account_defaults(void)
{
    check_example("index-settings", "{account}/DEFAULT_CONFIGS",
                  "pk = {account} and sk = INDEX#DEFAULT_CONFIGS", "");
}

static void test_records_below_an_index(void)
{
    check_example("index-settings", "{account}/{index_name}.d/",
                  "pk = {account} and sk begins with INDEX#{index_name}#",
                  "profile: PROFILE#SEARCH#{profile}, query: QUERY#{query*}, "
                  "agentic: AGENTIC_CONFIG");
}

static void test_all_records_of_an_account(void)
{
    check_example("index-settings", "by-account/{account}/",
                  "pk = {account} and sk begins with INDEX#",
                  "index: {index_name}, defaults: DEFAULT_CONFIGS, "
                  "profile: {index_name}#PROFILE#SEARCH#{profile}, "
                  "query: {index_name}#QUERY#{query*}, agentic: {index_name}#AGENTIC_CONFIG");
}

static void test_settings_by_domain(void)
{
    check_example("index-settings", "by-domain/{shopify_domain}/",
                  "shopify_domain = {shopify_domain} and sk begins with INDEX#",
                  "index: {account}#{index_name}, "
                  "profile: {account}#{index_name}#PROFILE#SEARCH#{profile}, "
                  "query: {account}#{index_name}#QUERY#{query*}, "
                  "agentic: {account}#{index_name}#AGENTIC_CONFIG");
}

static void test_all_of_a_shop(void)
{
    check_example("shops", "{domain}/", "pk = SHOP#{domain}", "*: {sort-key*}");
}

static void test_the_access_token(void)
{
    check_example("shops", "{domain}/access-token",
                  "pk = SHOP#{domain} and sk begins with USER#; filter entity_type = SESSION", "");
}

static void test_shops_of_an_account(void)
{
    check_example("shops", "by-account/{system_account_id}/",
                  "system_account_id = {system_account_id} and sk = SETTINGS",
                  "settings: {domain}");
}

/* The operators, on the first part that the path does not say. */

static void check_where(const char *path, const char *condition, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    buf_printf(&table, RECORDS "\"paths\":{\"%s\":{\"where\":{\"b\":%s}}}", path, condition);
    check_conds(buf_text(&table), want);
}

static void test_equal(void)
{
    check_where("{a}/{x}/", "\"{x}\"", "pk = P#{a} and sk begins with J#{x}#");
}

static void test_begins_with(void)
{
    check_where("{a}/{x}/", "\"{x}*\"", "pk = P#{a} and sk begins with J#{x}");
    check_where("{a}/", "\"2026*\"", "pk = P#{a} and sk begins with J#2026");
}

static void test_between(void)
{
    check_where("{a}/{x}..{y}/", "\"{x}..{y}\"", "pk = P#{a} and sk between J#{x} and J#{y}" LAST);
}

static void test_less(void)
{
    check_where("{a}/{x}/", "{\"<\":\"{x}\"}", "pk = P#{a} and sk between J# and J#{x}");
}

static void test_less_or_equal_takes_in_what_begins_so(void)
{
    check_where("{a}/{x}/", "{\"<=\":\"{x}\"}", "pk = P#{a} and sk between J# and J#{x}" LAST);
}

static void test_greater_leaves_out_what_begins_so(void)
{
    check_where("{a}/{x}/", "{\">\":\"{x}\"}",
                "pk = P#{a} and sk between J#{x}" LAST " and J#" LAST);
}

static void test_greater_or_equal(void)
{
    check_where("{a}/{x}/", "{\">=\":\"{x}\"}", "pk = P#{a} and sk between J#{x} and J#" LAST);
}

static void test_a_part_without_a_prefix(void)
{
    static const char table[] =
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}#{c}"
        "\"}},\"paths\":{\"{a}/{x}/\":{\"where\":{\"b\":{\"%s\":\"{x}\"}}}}";
    static const struct {
        const char *op, *want;
    } cases[] = {
        {"<", "pk = {a} and sk < {x}"},
        {"<=", "pk = {a} and sk <= {x}" LAST},
        {">", "pk = {a} and sk between {x}" LAST " and " LAST},
        {">=", "pk = {a} and sk between {x} and " LAST},
        {"begins_with", "pk = {a} and sk begins with {x}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        const char *at = strstr(table, "%s");
        buf_add(&text, table, (size_t)(at - table));
        buf_add_text(&text, cases[i].op);
        buf_add_text(&text, at + 2);
        check_conds(buf_text(&text), cases[i].want);
    }
}

static void test_the_whole_attribute(void)
{
    check_conds(RECORDS PATHS("{a}/{x}/", "\"where\":{\"sk\":{\">=\":\"{x}\"}}"),
                "pk = P#{a} and sk >= {x}");
    check_conds(RECORDS PATHS("{a}/{x}..{y}/", "\"where\":{\"sk\":\"{x}..{y}\"}"),
                "pk = P#{a} and sk between {x} and {y}");
    check_conds(RECORDS PATHS("all/", "\"where\":{\"pk\":\"P#1\"}"),
                "pk = P#1 and sk begins with J#");
}

/* Where a part is called as its attribute is, single quotes say that the attribute is meant. */
static void test_the_attribute_that_a_part_is_called_like(void)
{
#define SAME "\"table\":\"Table\",\"records\":{\"order\":{\"who\":\"{who}\",\"when\":\"{when}\"}},"
    check_conds(SAME PATHS("{who}/after:{x}/", "\"where\":{\"when\":{\">\":\"{x}\"}}"),
                "who = {who} and when between {x}" LAST " and " LAST);
    check_conds(SAME PATHS("{who}/after:{x}/", "\"where\":{\"'when'\":{\">\":\"{x}\"}}"),
                "who = {who} and when > {x}");
    check_conds(SAME PATHS("{who}/{x}..{y}/", "\"where\":{\"'when'\":\"{x}..{y}\"}"),
                "who = {who} and when between {x} and {y}");
    check_conds(SAME PATHS("mine/", "\"where\":{\"'who'\":\"me\"}"), "who = me");
#undef SAME
}

static void test_an_equality_gives_a_part_of_the_partition(void)
{
    check_conds(RECORDS PATHS("mine/", "\"where\":{\"a\":\"me\"}"),
                "pk = P#me and sk begins with J#");
}

static void test_prefixes_grow_with_the_path(void)
{
    check_conds(RECORDS PATHS("{a}/", ""), "pk = P#{a} and sk begins with J#");
    check_conds(RECORDS PATHS("{a}/{b}/", ""), "pk = P#{a} and sk begins with J#{b}#");
    check_conds(RECORDS PATHS("{a}/{b}/{c}", ""), "pk = P#{a} and sk = J#{b}#{c}");
}

static void test_a_full_key_is_no_query(void)
{
    struct error err = {0};
    const struct map *map = sample_table(RECORDS "\"paths\":{\"{a}/{b}/{c}\":{},\"x/{a}/{b}\":{},"
                                                 "\"y/{a}/{b}/{c}/\":{}}",
                                         &err);
    CHECK(map != NULL);
    CHECK(map->models[0]->patterns->by_key);
    CHECK(!map->models[0]->patterns->next->by_key);
    CHECK(!map->models[0]->patterns->next->next->by_key);
    map_unref(map);
}

static void test_a_table_with_a_partition_key_only(void)
{
    check_conds("\"table\":\"T\",\"records\":{\"user\":{\"userId\":\"{id}\"}}," PATHS("{id}", ""),
                "userId = {id}");
}

static void test_a_later_part_alone_is_no_prefix(void)
{
    check_conds(RECORDS PATHS("{a}/{c}", ""), "pk = P#{a} and sk begins with J#");
}

/* Numbers. */

static void test_number_keys(void)
{
    check_conds("\"table\":\"T\",\"types\":{\"n\":\"N\"},\"records\":{\"r\":{\"pk\":\"{a}\",\"n\":"
                "\"{n}\"}}," PATHS("{a}/{n}", ""),
                "pk = {a} and n = N:{n}");
    check_conds("\"table\":\"T\",\"types\":{\"n\":\"N\"},\"records\":{\"r\":{\"pk\":\"{a}\",\"n\":"
                "\"{n}\"}}," PATHS("{a}/", "\"where\":{\"n\":{\">\":5}}"),
                "pk = {a} and n > N:5");
    check_conds("\"table\":\"T\",\"types\":{\"n\":\"N\"},\"records\":{\"r\":{\"pk\":\"{a}\",\"n\":"
                "\"{n}\"}}," PATHS("{a}/{x}..{y}/", "\"where\":{\"n\":\"{x}..{y}\"}"),
                "pk = {a} and n between N:{x} and {y}");
}

static void test_a_number_in_a_filter_is_a_number(void)
{
    check_conds(RECORDS PATHS("{a}/", "\"filter\":{\"n\":{\"<=\":5},\"m\":\"5\"}"),
                "pk = P#{a} and sk begins with J#; filter n <= N:5 and m = 5");
}

/* Indexes. */

static void test_an_index_of_several_attributes(void)
{
    static const char sides[] = "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},\"indexes\":{"
                                "\"I\":{\"partition\":[\"x\",\"y\"],\"sort\":[\"n\",\"m\"]}},";
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s" PATHS("{x}/{y}/", "\"index\":\"I\""), sides);
    check_conds(buf_text(&text), "x = {x} and y = {y}");
    buf_truncate(&text, 0);
    buf_printf(&text, "%s" PATHS("{x}/{y}/{n}/", "\"index\":\"I\""), sides);
    check_conds(buf_text(&text), "x = {x} and y = {y} and n = {n}");
    buf_truncate(&text, 0);
    buf_printf(&text, "%s" PATHS("{x}/{y}/{n}/{q}/", "\"index\":\"I\",\"where\":{\"m\":\"{q}*\"}"),
               sides);
    check_conds(buf_text(&text), "x = {x} and y = {y} and n = {n} and m begins with {q}");
}

static void test_a_second_sort_attribute_needs_the_first(void)
{
    struct error err = {0};
    CHECK(!sample_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},\"indexes\":{\"I\":{"
                        "\"partition\":\"x\",\"sort\":[\"n\",\"m\"]}}," PATHS(
                            "{x}/{q}/", "\"index\":\"I\",\"where\":{\"m\":\"{q}*\"}"),
                        &err));
    CHECK_HAS(err.text, "\"where\" on m can't be part of a key condition");
}

static void test_an_index_by_the_table_s_own_attribute_uses_its_format(void)
{
    check_conds(RECORDS INDEX("\"partition\":\"x\",\"sort\":\"sk\"")
                    PATHS("{x}/{b}/", "\"index\":\"I\""),
                "x = {x} and sk begins with J#{b}#");
}

static void test_the_table_s_partition_filters_an_index_that_lacks_it(void)
{
    check_conds(RECORDS INDEX("\"partition\":\"x\"") PATHS("{x}/{a}/", "\"index\":\"I\""),
                "x = {x}; filter pk = P#{a}");
    check_conds(RECORDS INDEX("\"partition\":\"x\"") PATHS("{x}/", "\"index\":\"I\""), "x = {x}");
    check_conds(RECORDS INDEX("\"partition\":\"pk\",\"sort\":\"n\"")
                    PATHS("{a}/", "\"index\":\"I\""),
                "pk = P#{a}");
}

/* Several kinds in one listing. */

static void test_kinds_share_their_prefix_up_to_a_separator(void)
{
    static const char records[] =
        "\"table\":\"T\",\"records\":{\"one\":{\"pk\":\"{a}\",\"sk\":\"X#ABC#{b}\"},"
        "\"two\":{\"pk\":\"{a}\",\"sk\":\"X#ABD#{b}\"}},";
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s" PATHS("{a}/", "\"list\":[\"one\",\"two\"]"), records);
    check_conds(buf_text(&text), "pk = {a} and sk begins with X#");
    check_names(buf_text(&text), "one: ABC#{b}, two: ABD#{b}");
}

static void test_kinds_without_a_common_prefix(void)
{
    static const char table[] =
        "\"table\":\"T\",\"records\":{\"one\":{\"pk\":\"{a}\",\"sk\":\"ABC\"},"
        "\"two\":{\"pk\":\"{a}\",\"sk\":\"ABD\"}}," PATHS("{a}/", "\"list\":[\"one\",\"two\"]");
    check_conds(table, "pk = {a}");
    check_names(table, "one: ABC, two: ABD");
}

static void test_another_separator(void)
{
    static const char table[] = "\"table\":\"T\",\"separator\":\"|\",\"records\":{\"one\":{\"pk\":"
                                "\"{a}\",\"sk\":\"X|A#1|{b}"
                                "\"},\"two\":{\"pk\":\"{a}\",\"sk\":\"X|A#2|{b}\"}}," PATHS(
                                    "{a}/", "\"list\":[\"one\",\"two\"]");
    check_conds(table, "pk = {a} and sk begins with X|");
    check_names(table, "one: A#1|{b}, two: A#2|{b}");
}

/* Names of entries. */

static void test_a_name_is_the_parts_not_said(void)
{
    check_names(RECORDS PATHS("{a}/", ""), "job: {b}#{c}");
    check_names(RECORDS PATHS("{a}/{b}/", ""), "job: {c}");
    check_names(RECORDS PATHS("{a}/{c}/", ""), "job: {b}");
    check_names(RECORDS INDEX("\"partition\":\"x\"") PATHS("{x}/", "\"index\":\"I\""),
                "job: {a}#{b}#{c}");
}

static void test_when_all_is_said_the_name_is_the_sort_key(void)
{
    check_names(RECORDS PATHS("{a}/{b}/{c}/", ""), "job: J#{b}#{c}");
}

static void test_a_name_of_the_map_s_own(void)
{
    check_names(RECORDS PATHS("{a}/", "\"name\":\"{c} at {b}\""), "job: {c} at {b}");
}

static void test_a_partition_key_alone_names_its_entries(void)
{
    check_names("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"U#{a}\"}},"
                "\"indexes\":{\"I\":{\"partition\":\"x\"}}," PATHS("{x}/", "\"index\":\"I\""),
                "r: {a}");
}

static void test_a_slash_in_a_key_is_escaped_in_names(void)
{
    check_names("\"table\":\"T\",\"separator\":\"/\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":"
                "\"{b}/{c}\"}}," PATHS("{a}/", ""),
                "r: {b}%2F{c}");
}

static void test_path_has_finds_whole_names(void)
{
    struct declared_path path = {.path = "x/{shop_id}/{query*}/"};
    CHECK(pattern_draft_path_has(&path, "shop_id"));
    CHECK(pattern_draft_path_has(&path, "query"));
    CHECK(!pattern_draft_path_has(&path, "shop"));
    CHECK(!pattern_draft_path_has(&path, "x"));
    CHECK(!pattern_draft_path_has(&path, "hop_id"));
}

static void test_an_open_part_may_stand_in_a_path(void)
{
    check_conds(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a*}\",\"sk\":\"S\"}}," PATHS("{a*}/x", ""),
        "pk = {a*} and sk = S");
}

static const struct check_test tests[] = {
    {"job_by_id", test_job_by_id},
    {"latest_jobs", test_latest_jobs},
    {"all_jobs", test_all_jobs},
    {"jobs_of_a_day", test_jobs_of_a_day},
    {"jobs_of_a_window", test_jobs_of_a_window},
    {"jobs_by_status_of_one_platform", test_jobs_by_status_of_one_platform},
    {"jobs_by_status_of_all_platforms", test_jobs_by_status_of_all_platforms},
    {"index_roots", test_index_roots},
    {"account_defaults", test_account_defaults},
    {"records_below_an_index", test_records_below_an_index},
    {"all_records_of_an_account", test_all_records_of_an_account},
    {"settings_by_domain", test_settings_by_domain},
    {"all_of_a_shop", test_all_of_a_shop},
    {"the_access_token", test_the_access_token},
    {"shops_of_an_account", test_shops_of_an_account},
    {"equal", test_equal},
    {"begins_with", test_begins_with},
    {"between", test_between},
    {"less", test_less},
    {"less_or_equal_takes_in_what_begins_so", test_less_or_equal_takes_in_what_begins_so},
    {"greater_leaves_out_what_begins_so", test_greater_leaves_out_what_begins_so},
    {"greater_or_equal", test_greater_or_equal},
    {"a_part_without_a_prefix", test_a_part_without_a_prefix},
    {"the_whole_attribute", test_the_whole_attribute},
    {"the_attribute_that_a_part_is_called_like", test_the_attribute_that_a_part_is_called_like},
    {"an_equality_gives_a_part_of_the_partition", test_an_equality_gives_a_part_of_the_partition},
    {"prefixes_grow_with_the_path", test_prefixes_grow_with_the_path},
    {"a_full_key_is_no_query", test_a_full_key_is_no_query},
    {"a_table_with_a_partition_key_only", test_a_table_with_a_partition_key_only},
    {"a_later_part_alone_is_no_prefix", test_a_later_part_alone_is_no_prefix},
    {"number_keys", test_number_keys},
    {"a_number_in_a_filter_is_a_number", test_a_number_in_a_filter_is_a_number},
    {"an_index_of_several_attributes", test_an_index_of_several_attributes},
    {"a_second_sort_attribute_needs_the_first", test_a_second_sort_attribute_needs_the_first},
    {"an_index_by_the_table_s_own_attribute_uses_its_format",
     test_an_index_by_the_table_s_own_attribute_uses_its_format},
    {"the_table_s_partition_filters_an_index_that_lacks_it",
     test_the_table_s_partition_filters_an_index_that_lacks_it},
    {"kinds_share_their_prefix_up_to_a_separator", test_kinds_share_their_prefix_up_to_a_separator},
    {"kinds_without_a_common_prefix", test_kinds_without_a_common_prefix},
    {"another_separator", test_another_separator},
    {"a_name_is_the_parts_not_said", test_a_name_is_the_parts_not_said},
    {"when_all_is_said_the_name_is_the_sort_key", test_when_all_is_said_the_name_is_the_sort_key},
    {"a_name_of_the_map_s_own", test_a_name_of_the_map_s_own},
    {"a_partition_key_alone_names_its_entries", test_a_partition_key_alone_names_its_entries},
    {"a_slash_in_a_key_is_escaped_in_names", test_a_slash_in_a_key_is_escaped_in_names},
    {"path_has_finds_whole_names", test_path_has_finds_whole_names},
    {"an_open_part_may_stand_in_a_path", test_an_open_part_may_stand_in_a_path},
};

CHECK_MAIN(tests)
