/* Pages of a directory: what the map itself puts there, and what can't be listed. */
#include "core/read/entries.h"

#include "tests/unit/check.h"
#include "tests/unit/sample.h"

static const struct place_options plain = {.suffix = ""};

/* "a/ ?{x} b": the names that the map declares in PATH; a question mark is before a placeholder. */
static void check_declared_with(const struct place_options *options, const struct map *map,
                                const char *path, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    CLEAN_UP(entries_clean_up) struct entries entries = {0};
    struct error err = {0};
    struct place *place = place_resolve(map, span_text(path), options, &err);
    if (!place)
        CHECK_FAIL("%s", err.text);
    entries_add_declared(&entries, place, options);
    entries_add_files(&entries, place, options);
    for (size_t i = 0; i < entries.count; i++) {
        const struct tree_entry *entry = &entries.items[i];
        CHECK(entry->directory || !entry->placeholder);
        buf_add_text(&got, got.size ? " " : "");
        buf_add_text(&got, entry->placeholder ? "?" : "");
        buf_add_span(&got, entry->name);
        buf_add_text(&got, entry->directory && !entry->placeholder ? "/" : "");
    }
    place_destroy(place);
    CHECK_TEXT(buf_text(&got), want);
}

static void check_example(const char *path, const char *want)
{
    struct error err = {0};
    const struct map *map = sample_example(&err);
    CHECK(map != NULL);
    check_declared_with(&plain, map, path, want);
    map_unref(map);
}

static void check_table(const char *table, const char *path, const char *want)
{
    struct error err = {0};
    const struct map *map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    check_declared_with(&plain, map, path, want);
    map_unref(map);
}

static void test_the_root_has_the_environments_that_are_named(void)
{
    check_example("/", "prod/ staging/ tables/");
}

static void test_an_environment_has_the_tables(void)
{
    check_example("/prod", "jobs/ index-settings/ shops/ tables/");
    check_example("/dev-x", "jobs/ index-settings/ shops/ tables/");
}

static void test_a_table_has_its_literal_segments(void)
{
    check_example("/prod/jobs", "README by-id/ by-index/ by-status/");
    check_example("/prod/shops", "README by-account/ ?{domain}");
}

static void test_known_values_are_listed(void)
{
    check_example("/prod/jobs/by-index", "shopify/ ecom/");
    check_example("/prod/jobs/by-status/a-b", "PENDING/ IN_PROGRESS/ COMPLETED/ FAILED/");
}

static void test_a_parameter_without_values_can_not_be_listed(void)
{
    check_example("/prod/jobs/by-id", "README ?{job_id}");
    check_example("/prod/jobs/by-index/shopify", "README ?{shop_id}");
    check_example("/prod/jobs/by-index/shopify/a-b/on", "README ?{date}");
    check_example("/prod/jobs/by-index/shopify/a-b/between", "README ?{from}..{to}");
}

static void test_a_listing_declares_its_literals_only(void)
{
    check_example("/prod/index-settings/kl7", "DEFAULT_CONFIGS");
    check_example("/prod/shops/s.example", "access-token");
    check_example("/prod/jobs/by-index/shopify/a-b/latest", "");
}

static void test_files_bear_the_suffix_and_bare_values_do_not(void)
{
    static const struct place_options json = {.suffix = ".json"};
    struct error err = {0};
    const struct map *map = sample_example(&err);
    CHECK(map != NULL);
    check_declared_with(&json, map, "/prod/index-settings/kl7", "DEFAULT_CONFIGS.json");
    check_declared_with(&json, map, "/prod/shops/s.example", "access-token");
    map_unref(map);
}

static void test_values_are_encoded_and_told_once(void)
{
    check_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
                "\"params\":{\"a\":{\"values\":[\"x/y\",\".z\"]}},"
                "\"paths\":{\"{a}/\":{},\"{a}/{b}.d/\":{}}",
                "/prod/t", "README x%2Fy/ %2Ez/ ?{a}");
}

static void test_a_literal_and_a_value_of_one_name_are_one_entry(void)
{
    check_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
                "\"params\":{\"a\":{\"values\":[\"x\",\"y\"],\"only\":true}},"
                "\"paths\":{\"{a}/\":{},\"x/{a}/\":{}}",
                "/prod/t", "README x/ y/");
}

#define HIDE "{\"hidden\":true}"
#define TWO "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"

/* It makes no directory partly listed, either. */
static void test_what_is_hidden_is_not_listed(void)
{
    check_table(TWO "\"paths\":{\"{a}/\":" HIDE ",\"all/{a}/\":{},\"one/{a}/{b}\":" HIDE "}",
                "/prod/t", "README all/");
    check_table(TWO "\"paths\":{\"{a}/\":{},\"{a}/FIRST\":{\"oldest\":1,\"hidden\":true},"
                    "\"{a}/LAST\":{\"newest\":1}}",
                "/prod/t/x", "LAST");
    check_table("\"params\":{\"a\":{\"values\":[\"x\"]}}," TWO "\"paths\":{\"{a}/\":" HIDE "}",
                "/prod/t", "README");
}

static void test_a_step_is_hidden_when_all_paths_below_it_are(void)
{
    check_table(TWO "\"paths\":{\"by/{a}/\":" HIDE ",\"by/{a}/x/{b}\":" HIDE "}", "/prod/t",
                "README");
    check_table(TWO "\"paths\":{\"by/{a}/\":" HIDE ",\"by/{a}/x/{b}\":{}}", "/prod/t",
                "README by/");
    check_table(TWO "\"paths\":{\"by/{a}/\":" HIDE ",\"by/{a}/x/{b}\":{}}", "/prod/t/by",
                "README ?{a}");
    check_table(TWO "\"paths\":{\"{a}/\":{},\"{a}/{b}\":" HIDE ",\"{a}/{b}.d/\":" HIDE "}",
                "/prod/t/x", "");
}

static void test_an_entry_is_added_with_an_unknown_size(void)
{
    CLEAN_UP(entries_clean_up) struct entries entries = {0};
    struct tree_entry *entry = entries_add(&entries, span_text("a"), false);
    CHECK(entry != NULL);
    CHECK_INT(entry->size, -1);
    CHECK(!entry->mtime.known);
    CHECK(!entry->secret && !entry->directory);
}

static void test_many_entries(void)
{
    CLEAN_UP(entries_clean_up) struct entries entries = {0};
    for (int i = 0; i < 1000; i++) {
        char name[16];
        int size = snprintf(name, sizeof name, "%d", i);
        CHECK(entries_add(&entries, span_of(name, (size_t)size), false));
    }
    CHECK_INT(entries.count, 1000);
    CHECK_SPAN(entries.items[0].name, span_text("0"));
    CHECK_SPAN(entries.items[999].name, span_text("999"));
    CHECK(entries_have(&entries, span_text("500")) && !entries_have(&entries, span_text("1000")));
    entries_clear(&entries);
    CHECK_INT(entries.count, 0);
    CHECK(!entries_have(&entries, span_text("500")));
}

/* Environments told by the names of tables. */

static void check_environments_of(const struct map *map, const struct map_environment *each,
                                  const char *const *tables, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    CLEAN_UP(entries_clean_up) struct entries entries = {0};
    for (size_t i = 0; tables[i]; i++)
        entries_add_environment(&entries, map, each, span_text(tables[i]));
    for (size_t i = 0; i < entries.count; i++) {
        buf_add_text(&got, i ? " " : "");
        buf_add_span(&got, entries.items[i].name);
    }
    map_unref(map);
    CHECK_TEXT(buf_text(&got), want);
}

static void check_environments(const char *const *tables, const char *want)
{
    struct error err = {0};
    const struct map *map = sample_example(&err);
    CHECK(map != NULL);
    check_environments_of(map, map->environments->next->next, tables, want);
}

/* A listed name opens; what programs try by themselves does not. */
static void test_a_stage_that_is_called_like_noise_is_escaped(void)
{
    struct error err = {0};
    const struct map *map = map_parse(
        "m",
        SPAN_LITERAL("{\"environments\":{\"{stage}\":{\"prefix\":\"{stage}-\"}},\"tables\":{\"t\":{"
                     "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},\"paths\":{}}}}"),
        NULL, &err);
    CHECK(map != NULL);
    check_environments_of(map, map->environments,
                          (const char *const[]){"HEAD-T", ".git-T", "..-T", "a-T", NULL},
                          "%48EAD %2Egit %2E. a");
}

static void test_branches_are_found_once_each(void)
{
    check_environments((const char *const[]){"dev-a-ShopifyEntitiesTable",
                                             "dev-a-EcomIndexerJobsTable",
                                             "dev-search-v2-EcomIndexerJobsTable", NULL},
                       "dev-a dev-search-v2");
}

static void test_other_tables_are_no_branches(void)
{
    check_environments((const char *const[]){"prod-EcomIndexerJobsTable", "dev-x-Other",
                                             "dev--EcomIndexerJobsTable", "EcomIndexerJobsTable",
                                             NULL},
                       "");
}

/* Windows on records that are all listed hide none; another kind's directory does. */
static void test_a_directory_with_windows_on_its_own_records_is_whole(void)
{
    static const char table[] =
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"R#{b}\"},"
        "\"s\":{\"pk\":\"{a}\",\"sk\":\"S#{c}\"}},\"paths\":{"
        "\"{a}/\":{\"list\":\"r\"},"
        "\"{a}/{from}..{to}/\":{\"list\":\"r\",\"where\":{\"b\":\"{from}..{to}\"}},"
        "\"x/{a}/\":{\"list\":\"r\"},"
        "\"x/{a}/s-{c}/\":{\"list\":\"s\"},"
        "\"y/{a}/\":{\"list\":\"r\",\"newest\":5},"
        "\"y/{a}/{from}..{to}/\":{\"list\":\"r\",\"where\":{\"b\":\"{from}..{to}\"}}}";
    check_table(table, "/prod/t/1", "");
    check_table(table, "/prod/t/x/1", "README ?s-{c}");
    check_table(table, "/prod/t/y/1", "README ?{from}..{to}");
}

static const struct check_test tests[] = {
    {"what_is_hidden_is_not_listed", test_what_is_hidden_is_not_listed},
    {"a_step_is_hidden_when_all_paths_below_it_are",
     test_a_step_is_hidden_when_all_paths_below_it_are},
    {"the_root_has_the_environments_that_are_named",
     test_the_root_has_the_environments_that_are_named},
    {"an_environment_has_the_tables", test_an_environment_has_the_tables},
    {"a_table_has_its_literal_segments", test_a_table_has_its_literal_segments},
    {"known_values_are_listed", test_known_values_are_listed},
    {"a_parameter_without_values_can_not_be_listed",
     test_a_parameter_without_values_can_not_be_listed},
    {"a_listing_declares_its_literals_only", test_a_listing_declares_its_literals_only},
    {"files_bear_the_suffix_and_bare_values_do_not",
     test_files_bear_the_suffix_and_bare_values_do_not},
    {"values_are_encoded_and_told_once", test_values_are_encoded_and_told_once},
    {"a_literal_and_a_value_of_one_name_are_one_entry",
     test_a_literal_and_a_value_of_one_name_are_one_entry},
    {"an_entry_is_added_with_an_unknown_size", test_an_entry_is_added_with_an_unknown_size},
    {"many_entries", test_many_entries},
    {"a_stage_that_is_called_like_noise_is_escaped",
     test_a_stage_that_is_called_like_noise_is_escaped},
    {"branches_are_found_once_each", test_branches_are_found_once_each},
    {"other_tables_are_no_branches", test_other_tables_are_no_branches},
    {"a_directory_with_windows_on_its_own_records_is_whole",
     test_a_directory_with_windows_on_its_own_records_is_whole},
};

CHECK_MAIN(tests)
