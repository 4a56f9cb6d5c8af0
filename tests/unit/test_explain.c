/* What a path reads, in words, in JSON, and as commands. Nobody is asked for it. */
#include "core/describe/explain.h"

#include "tests/unit/check.h"
#include "tests/unit/sample.h"
#include "tests/unit/scene.h"

/* Appends the explanation of PATH; the source must not have been asked. */
static void explain(const char *path, bool json, struct buf *out)
{
    struct scene scene;
    struct error err = {0};
    CHECK(scene_open(&scene, sample_example(&err), scene_items));
    struct place *place = place_resolve(scene.map, span_text(path), &scene.tree.names, &err);
    if (!place)
        CHECK_FAIL("%s", err.text);
    bool ok = explain_write(&scene.tree, place, span_text(path), json, out, &err);
    unsigned asked = scene.fake.started;
    place_destroy(place);
    scene_close(&scene);
    if (!ok)
        CHECK_FAIL("%s", err.text);
    CHECK_INT(asked, 0);
}

/* The explanation of PATH as far as the line of the command. */
static void check_words(const char *path, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    explain(path, false, &got);
    const char *command = strstr(buf_text(&got), "aws    ");
    if (command)
        buf_truncate(&got, (size_t)(command - got.data));
    CHECK_TEXT(buf_text(&got), want);
}

static void check_command(const char *path, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    explain(path, false, &got);
    const char *command = strstr(buf_text(&got), "aws    ");
    CHECK(command != NULL);
    CHECK_TEXT(command + strlen("aws    "), want);
}

static void test_a_job_by_id(void)
{
    check_words("/prod/jobs/by-id/1f3c",
                "/prod/jobs/by-id/1f3c\n"
                "  job_id           \"1f3c\"\n"
                "reads  1. Query index GSI_JobLookup_v2 of prod-EcomIndexerJobsTable where job_id "
                "= \"1f3c\", at most 2\n"
                "reads  2. GetItem from prod-EcomIndexerJobsTable by the key that came back\n"
                "cost   2 requests\n"
                "       1 more a page of up to 1 MB (at most 129 RCU), only if items that do "
                "not count are in between\n"
                "       0.5 RCU if nothing is found, at most 52: about $0.0000065 on demand\n"
                "       0.5 RCU for each started 4 KB that is read\n");
}

static void test_the_command_of_two_steps_is_one(void)
{
    check_command(
        "/prod/jobs/by-id/1f3c",
        "aws dynamodb query "
        "--table-name prod-EcomIndexerJobsTable --index-name GSI_JobLookup_v2 "
        "--key-condition-expression '#n0 = :v0' --expression-attribute-names "
        "'{\"#n0\":\"job_id\"}' --expression-attribute-values '{\":v0\":{\"S\":\"1f3c\"}}' "
        "--page-size 2 --max-items 2 --profile p | jq -ac '.NextToken as $more | .Items | "
        "map(select((.\"pk\".S | "
        "test(\"\\\\APLATFORM#[^#]*#SHOP#[^#]*\\\\z\")) and (.\"sk\".S | "
        "test(\"\\\\AJOB#[^#]*#1f3c\\\\z\")))) | if $more and (length < 2) then error(\"other "
        "items "
        "are in between; leave out --page-size and --max-items\") else . end | if length > 1 "
        "then error(\"several items "
        "answer\") else .[0] // empty end | {\"pk\", \"sk\"}' | while IFS= read -r key; do "
        "aws dynamodb get-item --table-name prod-EcomIndexerJobsTable --key \"$key\" --profile p; "
        "done\n");
}

static void test_a_record_by_key(void)
{
    check_words("/prod/index-settings/kl7/products",
                "/prod/index-settings/kl7/products\n"
                "  account          \"kl7\"\n"
                "  index_name       \"products\"\n"
                "reads  1. GetItem from prod-EcomIndexSettingsTable with pk = \"kl7\" and sk = "
                "\"INDEX#products\"\n"
                "cost   1 request\n"
                "       0.5 RCU if nothing is found, at most 50: about $0.0000063 on demand\n"
                "       0.5 RCU for each started 4 KB that is read\n");
    check_command("/prod/index-settings/kl7/products",
                  "aws dynamodb get-item --table-name prod-EcomIndexSettingsTable --key "
                  "'{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#products\"}}' --profile p\n");
}

static void test_one_attribute(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    explain("/prod/index-settings/kl7/products@/add_docs_config", false, &got);
    CHECK_HAS(buf_text(&got), "\"INDEX#products\", only add_docs_config, updated_at\n");
    CHECK_HAS(buf_text(&got), "--projection-expression '#n0, #n1, #n2, #n3'");
}

static void test_a_listing(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    explain("/prod/jobs/by-index/shopify/a-b/latest/", false, &got);
    CHECK_HAS(buf_text(&got), "Query prod-EcomIndexerJobsTable where pk = "
                              "\"PLATFORM#shopify#SHOP#a-b\" and sk begins with \"JOB#\", in "
                              "descending order, at most 100\n");
    CHECK_HAS(buf_text(&got), "cost   1 request\n");
}

static void test_a_listing_that_hydrates(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    explain("/prod/jobs/by-index/shopify/a-b/status/PENDING", false, &got);
    CHECK_HAS(buf_text(&got), ", then keep only pk = \"PLATFORM#shopify#SHOP#a-b\"");
    CHECK_HAS(buf_text(&got), "reads  2. BatchGetItem from prod-EcomIndexerJobsTable, 100 keys a "
                              "request, for contents and sizes\n");
    CHECK_HAS(buf_text(&got), "; contents: 1 more for every 100 items\n");
}

static void test_a_window(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    explain("/prod/jobs/by-index/shopify/a-b/between/2026-04-16..2026-04-17", false, &got);
    CHECK_HAS(buf_text(&got), "sk between \"JOB#2026-04-16\" and \"JOB#2026-04-17");
    CHECK_HAS(buf_text(&got), "\\udbff\\udfff");
}

static void test_a_pick(void)
{
    check_command(
        "/prod/shops/s.example/access-token",
        "aws dynamodb query --table-name prod-ShopifyEntitiesTable --key-condition-expression '#n0 "
        "= :v0 AND begins_with(#n1, :v1)' --filter-expression '#n2 = :v2' --projection-expression "
        "'#n0, #n1, #n3, #n4, #n2' --expression-attribute-names "
        "'{\"#n0\":\"pk\",\"#n1\":\"sk\",\"#n2\":\"entity_type\",\"#n3\":\"access_token\",\"#n4\":"
        "\"last_updated\"}' --expression-attribute-values "
        "'{\":v0\":{\"S\":\"SHOP#s.example\"},\":v1\":{\"S\":\"USER#\"},\":v2\":{\"S\":\"SESSION\"}"
        "}' --profile p | jq -r '.Items | map(select((.\"sk\".S | "
        "test(\"\\\\AUSER#[^#]*\\\\z\")))) | "
        "def decimal: startswith(\"-\") as $minus | "
        "capture(\"(?<i>[0-9]*)[.]?(?<f>[0-9]*)([eE][+]?(?<e>.+))?$\") | (.i + .f | sub(\"^0+\"; "
        "\"\")) as $digits | (if $digits == \"\" then 0 elif $minus then -1 else 1 end) as $sign | "
        "[$sign, $sign * ((.e // 0 | tonumber) - (.f | length) + ($digits | length)), [($digits | "
        "sub(\"0+$\"; \"\") | explode[] * $sign), 0]]; "
        "if (map(.\"last_updated\" | keys) | unique | length) "
        "> 1 "
        "then error(\"of several types\") else reverse | max_by(.\"last_updated\".S // "
        "(.\"last_updated\".N | decimal)) // empty end | .\"access_token\" // empty | .S // .N // "
        ".B "
        "// (if has(\"BOOL\") then .BOOL elif has(\"NULL\") then null else . end)'\n");
}

static void test_a_directory_of_the_map(void)
{
    check_words("/prod/jobs", "/prod/jobs\ncost   no request: known from the map\n");
}

static void test_the_root(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    explain("/", false, &got);
    CHECK_HAS(buf_text(&got), "cost   1 request for every 100 tables");
}

static void test_a_shortened_name(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    explain("/prod/shops/s.example/USER#1%~0123456789abcdef0123456789abcdef", false, &got);
    CHECK_HAS(buf_text(&got), "sk begins with \"USER#1\"");
    CHECK_HAS(buf_text(&got), "cost   1 request a page of up to 1 MB, and 1 more\n");
    CHECK_HAS(buf_text(&got), "nothing is found, at most 178 a page and 50 more: about $0.000022 a "
                              "page on demand\n");
}

static void test_json_is_json(void)
{
    static const char *const paths[] = {"/", "/prod/jobs", "/prod/jobs/by-id/a%22b%0A",
                                        "/prod/shops/s.example/access-token",
                                        "/prod/jobs/by-index/shopify/a-b/status/PENDING"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf got = {0};
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        explain(paths[i], true, &got);
        CHECK(json_parse(&doc, buf_span(&got), JSON_STRICT, NULL));
        CHECK(json_string_is(json_member(json_root(&doc), "path"), span_text(paths[i])));
        CHECK(json_is(json_member(json_root(&doc), "reads"), JSON_ARRAY));
    }
}

static void test_json_says_what_the_path_says(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    explain("/prod/jobs/by-id/1f3c", true, &got);
    CHECK(json_parse(&doc, buf_span(&got), JSON_STRICT, NULL));
    struct json root = json_root(&doc);
    CHECK(json_string_is(json_member(json_member(root, "says"), "job_id"), span_text("1f3c")));
    CHECK_INT(json_count(json_member(root, "reads")), 2);
    CHECK(json_string_is(json_member(root, "cost"), span_text("2 requests")));
    CHECK_HAS(buf_text(&got), "\"units\": {\"least\": 0.5, \"most\": 52, \"most_a_page\": 129}");
    CHECK_HAS(buf_text(&got), "\"dollars\": {\"a_million_units\": 0.125, \"least\": 0.0000000625, "
                              "\"most\": 0.0000065, \"most_a_page\": 0.000016125}");
}

static void test_what_can_be_no_key_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct scene scene;
    struct error err = {0};
    CHECK(scene_open(&scene, sample_example(&err), scene_items));
    struct span path = span_text("/prod/index-settings/kl7/a%23b");
    struct place *place = place_resolve(scene.map, path, &scene.tree.names, &err);
    CHECK(place != NULL);
    bool ok = explain_write(&scene.tree, place, path, false, &got, &err);
    place_destroy(place);
    scene_close(&scene);
    CHECK(!ok);
    CHECK_INT(err.kind, ERROR_INVALID);
}

static void test_a_filter_may_cost_every_page(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct scene scene;
    struct error err = {0};
    const struct map *map =
        sample_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
                     "\"paths\":{\"{a}\":{\"filter\":{\"x\":\"y\"},\"newest\":1}}",
                     &err);
    CHECK(scene_open(&scene, map, NULL));
    struct place *place = place_resolve(scene.map, span_text("/prod/t/A"), &scene.tree.names, &err);
    CHECK(place && explain_write(&scene.tree, place, span_text("/prod/t/A"), false, &got, &err));
    place_destroy(place);
    scene_close(&scene);
    CHECK_HAS(buf_text(&got), "cost   1 request a page of up to 1 MB\n");
    CHECK_HAS(buf_text(&got), "       0.5 RCU for each started 4 KB that is read, whether it is "
                              "shown or not\n");
}

static void test_consistent_reads_cost_more(void)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct scene scene;
    struct error err = {0};
    const struct map *map =
        sample_table("\"table\":\"T\",\"types\":{\"pk\":\"B\"},\"records\":{\"r\":{"
                     "\"pk\":\"{a}\"}},\"paths\":{\"{a}\":{\"consistent\":true}}",
                     &err);
    CHECK(scene_open(&scene, map, NULL));
    struct place *place =
        place_resolve(scene.map, span_text("/prod/t/%FF"), &scene.tree.names, &err);
    CHECK(place && explain_write(&scene.tree, place, span_text("/prod/t/%FF"), false, &got, &err));
    place_destroy(place);
    scene_close(&scene);
    CHECK_HAS(buf_text(&got), "with pk = {\"B\":\"/w==\"}, consistently\n");
    CHECK_HAS(buf_text(&got), "       1 RCU for each");
    CHECK_HAS(buf_text(&got), "       1 RCU if nothing is found, at most 100: about");
}

static const struct check_test tests[] = {
    {"a_job_by_id", test_a_job_by_id},
    {"the_command_of_two_steps_is_one", test_the_command_of_two_steps_is_one},
    {"a_record_by_key", test_a_record_by_key},
    {"one_attribute", test_one_attribute},
    {"a_listing", test_a_listing},
    {"a_listing_that_hydrates", test_a_listing_that_hydrates},
    {"a_window", test_a_window},
    {"a_pick", test_a_pick},
    {"a_directory_of_the_map", test_a_directory_of_the_map},
    {"the_root", test_the_root},
    {"a_shortened_name", test_a_shortened_name},
    {"json_is_json", test_json_is_json},
    {"json_says_what_the_path_says", test_json_says_what_the_path_says},
    {"what_can_be_no_key_is_refused", test_what_can_be_no_key_is_refused},
    {"a_filter_may_cost_every_page", test_a_filter_may_cost_every_page},
    {"consistent_reads_cost_more", test_consistent_reads_cost_more},
};

CHECK_MAIN(tests)
