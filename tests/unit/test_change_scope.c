/* Which changes of a table a path shows, and the paths of the items that changed. */
#include "core/read/change_scope.h"

#include "tests/unit/loaded.h"

#define JOB_KEY                                                                                    \
    "\"pk\":{\"S\":\"PLATFORM#shopify#SHOP#a-b\"},"                                                \
    "\"sk\":{\"S\":\"JOB#2026-04-16T10:15:00Z#1f3c\"}"
#define JOB(status)                                                                                \
    "{" JOB_KEY ",\"job_id\":{\"S\":\"1f3c\"},\"created_at\":{\"S\":\"2026-04-16T10:15:00Z\"},"    \
    "\"shop_id\":{\"S\":\"a-b\"},\"status\":{\"S\":\"" status "\"},"                               \
    "\"status_created_at\":{\"S\":\"" status "#2026-04-16T10:15:00Z\"}}"

static const char *const verdicts[] = {"other", "shown", "undecided", "no memory"};

/* Whether PATH shows ITEM, an image or ("is_whole" is false) a key. */
static void check_verdict(const char *path, const char *item, bool is_whole,
                          enum change_verdict want)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct place *place = resolve(path, &plain);
    CHECK(json_parse(&doc, span_text(item), JSON_STRICT, NULL));
    struct change_image image = {json_root(&doc), is_whole};
    enum change_verdict got = change_scope_test(place, &plain, &image);
    place_destroy(place);
    if (got != want)
        CHECK_FAIL("%s: %s, not %s", path, verdicts[got], verdicts[want]);
}

/* The item's path below PATH; "" for none. */
static void check_path(const char *path, const char *item, bool is_whole, const char *want)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct place *place = resolve(path, &plain);
    CHECK(json_parse(&doc, span_text(item), JSON_STRICT, NULL));
    struct change_image image = {json_root(&doc), is_whole};
    bool found = change_scope_write_path(place, &plain, &image, &out);
    place_destroy(place);
    CHECK(found == (want[0] != '\0'));
    CHECK_TEXT(buf_text(&out), want);
}

static void check_by_key(const char *path, const char *want)
{
    const char *attribute = "?";
    struct place *place = resolve(path, &plain);
    bool by_key = change_scope_is_by_key(place, &attribute);
    CHECK(by_key == !want);
    CHECK_TEXT(attribute ? attribute : "-", want ? want : "-");
    place_destroy(place);
}

static void test_a_table_shows_each_of_its_items(void)
{
    load_example();
    check_verdict("/prod/jobs", JOB("FAILED"), true, CHANGE_SHOWN);
    check_verdict("/prod/jobs", "{" JOB_KEY "}", false, CHANGE_SHOWN);
    check_verdict("/prod/jobs", "{\"pk\":{\"S\":\"x\"},\"sk\":{\"S\":\"of no kind\"}}", false,
                  CHANGE_SHOWN);
    close_map();
}

static void test_a_directory_shows_the_items_below_it(void)
{
    load_example();
    check_verdict("/prod/jobs/by-index/shopify", JOB("FAILED"), true, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-index/shopify/a-b", "{" JOB_KEY "}", false, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-index/shopify/a-b/latest", JOB("FAILED"), true, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-index/shopify/a-b/on/2026-04", JOB("FAILED"), true, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-index/shopify/a-b/on/2026-05", JOB("FAILED"), true, CHANGE_OTHER);
    check_verdict("/prod/jobs/by-index/ecom", JOB("FAILED"), true, CHANGE_OTHER);
    check_verdict("/prod/jobs/by-index/shopify/c-d", "{" JOB_KEY "}", false, CHANGE_OTHER);
    close_map();
}

static void test_a_listing_of_an_index_shows_by_the_image(void)
{
    load_example();
    check_verdict("/prod/jobs/by-status/a-b/FAILED", JOB("FAILED"), true, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-status/a-b/FAILED", JOB("PENDING"), true, CHANGE_OTHER);
    check_verdict("/prod/jobs/by-status/a-b/FAILED", "{" JOB_KEY "}", false, CHANGE_UNDECIDED);
    check_verdict("/prod/jobs/by-status/c-d/FAILED", "{" JOB_KEY "}", false, CHANGE_OTHER);
    check_verdict("/prod/jobs/by-status/a-b", "{" JOB_KEY "}", false, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-status/a-b/FAILED", "{" JOB_KEY "}", true, CHANGE_OTHER);
    close_map();
}

static void test_an_item_shows_itself(void)
{
    load_example();
    const char *name = "/prod/jobs/by-index/shopify/a-b/latest/2026-04-16T10:15:00Z#1f3c";
    check_verdict(name, "{" JOB_KEY "}", false, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-id/1f3c", JOB("FAILED"), true, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-id/1f3c", "{" JOB_KEY "}", false, CHANGE_SHOWN);
    check_verdict("/prod/jobs/by-id/1f3d", JOB("FAILED"), true, CHANGE_OTHER);
    check_verdict("/prod/jobs/by-id/1f3d", "{" JOB_KEY "}", false, CHANGE_OTHER);
    close_map();
}

static void test_a_value_shows_all_items_that_may_have_it(void)
{
    load_example();
    const char *path = "/prod/shops/s.example/access-token";
    check_verdict(path,
                  "{\"pk\":{\"S\":\"SHOP#s.example\"},\"sk\":{\"S\":\"USER#1\"},"
                  "\"entity_type\":{\"S\":\"SESSION\"}}",
                  true, CHANGE_SHOWN);
    check_verdict(path, "{\"pk\":{\"S\":\"SHOP#s.example\"},\"sk\":{\"S\":\"SETTINGS\"}}", true,
                  CHANGE_OTHER);
    close_map();
}

static void test_paths_are_the_shortest_of_the_map(void)
{
    load_example();
    check_path("/prod/jobs", JOB("FAILED"), true, "by-id/1f3c");
    check_path("/prod/jobs", "{" JOB_KEY "}", false, "by-id/1f3c");
    check_path("/prod/jobs/by-index", JOB("FAILED"), true,
               "shopify/a-b/latest/2026-04-16T10:15:00Z#1f3c");
    check_path("/prod/jobs/by-index/shopify/a-b", JOB("FAILED"), true,
               "latest/2026-04-16T10:15:00Z#1f3c");
    check_path("/prod/jobs/by-index/shopify/a-b/on/2026-04-16", JOB("FAILED"), true,
               "2026-04-16T10:15:00Z#1f3c");
    check_path("/prod/jobs/by-status/a-b/FAILED", JOB("FAILED"), true,
               "shopify#2026-04-16T10:15:00Z#1f3c");
    check_path("/prod/jobs/by-status/a-b", JOB("FAILED"), true,
               "FAILED/shopify#2026-04-16T10:15:00Z#1f3c");
    close_map();
}

static void test_no_path_is_guessed(void)
{
    load_example();
    check_path("/prod/jobs/by-status/a-b/FAILED", JOB("PENDING"), true, "");
    check_path("/prod/jobs/by-status/a-b/FAILED", "{" JOB_KEY "}", false, "");
    check_path("/prod/jobs", "{\"pk\":{\"S\":\"x\"},\"sk\":{\"S\":\"of no kind\"}}", true, "");
    check_path("/prod/jobs/by-index/ecom", JOB("FAILED"), true, "");
    close_map();
}

static void test_the_attributes_that_decide(void)
{
    load_example();
    check_by_key("/prod/jobs", NULL);
    check_by_key("/prod/jobs/by-index/shopify/a-b", NULL);
    check_by_key("/prod/jobs/by-index/shopify/a-b/latest", NULL);
    check_by_key("/prod/jobs/by-id/1f3c", NULL);
    check_by_key("/prod/shops/s.example", NULL);
    check_by_key("/prod/jobs/by-status/a-b", NULL);
    check_by_key("/prod/jobs/by-status/a-b/FAILED", "status_created_at");
    check_by_key("/prod/shops/s.example/access-token", "entity_type");
    check_by_key("/prod/index-settings/by-domain/s.example", "shopify_domain");
    close_map();
}

#define TWO_KEYS "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
#define ITEM "{\"pk\":{\"S\":\"1\"},\"sk\":{\"S\":\"2\"},\"open\":{\"BOOL\":true}}"

static void test_only_paths_of_one_item_are_names(void)
{
    load_table(TWO_KEYS "\"paths\":{\"top/{a}\":{\"newest\":1},\"{a}/value/{b}\":{"
                        "\"attribute\":\"open\"},\"ranked/{a}/\":{\"name\":\"{rank}_{b}\"},"
                        "\"sorted/{a}/all/\":{}}");
    check_path("/prod/t", ITEM, true, "sorted/1/all/2");
    check_path("/prod/t/ranked", ITEM, true, "");
    close_map();
}

static void test_a_filter_of_the_map_decides_too(void)
{
    load_table(TWO_KEYS "\"paths\":{\"{a}/open/\":{\"filter\":{\"open\":true}},"
                        "\"{a}/\":{}}");
    check_verdict("/prod/t/1/open", ITEM, true, CHANGE_SHOWN);
    check_verdict("/prod/t/1/open", ITEM, false, CHANGE_UNDECIDED);
    check_verdict("/prod/t/1/open", "{\"pk\":{\"S\":\"1\"},\"sk\":{\"S\":\"2\"}}", true,
                  CHANGE_OTHER);
    check_by_key("/prod/t/1/open", "open");
    check_by_key("/prod/t/1", NULL);
    check_path("/prod/t/1/open", ITEM, true, "2");
    close_map();
}

static void test_a_long_name_is_compared(void)
{
    CLEAN_UP(buf_clean_up) struct buf item = {0}, name = {0}, path = {0};
    load_table(TWO_KEYS "\"paths\":{\"{a}/\":{}}");
    buf_add_text(&item, "{\"pk\":{\"S\":\"1\"},\"sk\":{\"S\":\"");
    buf_add_repeated(&item, 'x', 400);
    buf_add_text(&item, "\"}}");
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CHECK(json_parse(&doc, buf_span(&item), JSON_STRICT, NULL));
    struct change_image image = {json_root(&doc), false};
    struct place *listing = resolve("/prod/t/1", &plain);
    CHECK(change_scope_write_path(listing, &plain, &image, &name));
    place_destroy(listing);
    CHECK(name.size < 256);
    buf_printf(&path, "/prod/t/1/%s", buf_text(&name));
    check_verdict(buf_text(&path), buf_text(&item), false, CHANGE_SHOWN);
    buf_truncate(&item, item.size - 3);
    buf_add_text(&item, "y\"}}");
    check_verdict(buf_text(&path), buf_text(&item), false, CHANGE_OTHER);
    close_map();
}

static void check_refused(const char *path, const char *text)
{
    struct error err = {0};
    struct place *place = resolve(path, &plain);
    bool ok = change_scope_check(place, &err);
    place_destroy(place);
    CHECK(ok == !text);
    if (text)
        CHECK_TEXT(err.text, text);
}

static void test_other_places_are_refused(void)
{
    load_example();
    check_refused("/prod/jobs", NULL);
    check_refused("/prod/jobs/by-id/1f3c@typed", NULL);
    check_refused("/prod", "has several tables, and each has a stream of its own; name tables, or "
                           "directories or items of them");
    check_refused("/prod/jobs/by-id/1f3c@",
                  "is neither a directory nor an item of a table; name one of these");
    close_map();
}

static const struct check_test tests[] = {
    {"a_table_shows_each_of_its_items", test_a_table_shows_each_of_its_items},
    {"a_directory_shows_the_items_below_it", test_a_directory_shows_the_items_below_it},
    {"a_listing_of_an_index_shows_by_the_image", test_a_listing_of_an_index_shows_by_the_image},
    {"an_item_shows_itself", test_an_item_shows_itself},
    {"a_value_shows_all_items_that_may_have_it", test_a_value_shows_all_items_that_may_have_it},
    {"paths_are_the_shortest_of_the_map", test_paths_are_the_shortest_of_the_map},
    {"no_path_is_guessed", test_no_path_is_guessed},
    {"the_attributes_that_decide", test_the_attributes_that_decide},
    {"only_paths_of_one_item_are_names", test_only_paths_of_one_item_are_names},
    {"a_filter_of_the_map_decides_too", test_a_filter_of_the_map_decides_too},
    {"a_long_name_is_compared", test_a_long_name_is_compared},
    {"other_places_are_refused", test_other_places_are_refused},
};

CHECK_MAIN(tests)
