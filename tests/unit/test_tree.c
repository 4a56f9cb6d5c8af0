/* Files and listings through the cache, from a fake source: what is read for them, what comes of
 * it, what is kept, and that a question can be given up at any time. */
#include "core/read/tree.h"

#include "core/describe/explain.h"
#include "tests/unit/check.h"
#include "tests/unit/sample.h"
#include "tests/unit/scene.h"

static struct scene scene; /* of the test that runs */

static void open_map(const struct map *map, const struct fake_item *items)
{
    CHECK(scene_open(&scene, map, items));
}

static void open_example(void)
{
    struct error err = {0};
    open_map(sample_example(&err), scene_items);
}

static void open_table(const char *table, const struct fake_item *items)
{
    struct error err = {0};
    const struct map *map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    open_map(map, items);
}

/* Nothing that was started was left open. */
static void close_scene(void)
{
    unsigned open = scene.fake.started - scene.fake.ended;
    scene_close(&scene);
    CHECK_INT(open, 0);
}

static void check_file(const char *path, const char *want)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    CHECK(scene_read(&scene, path, &told));
    CHECK_INT(told.calls, 1);
    if (told.err.kind != ERROR_NONE)
        CHECK_FAIL("%s", told.err.text);
    CHECK_TEXT(buf_text(&told.bytes), want);
}

static void check_file_fails(const char *path, enum error_kind kind, const char *text)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    CHECK(scene_read(&scene, path, &told));
    CHECK_INT(told.calls, 1);
    CHECK_INT(told.err.kind, kind);
    CHECK_TEXT(told.err.text, text);
}

static void check_list_with(const char *path, bool full, const char *want)
{
    CLEAN_UP(told_clean_up) struct told told = {.full = full};
    CHECK(scene_list(&scene, path, &told));
    if (told.err.kind != ERROR_NONE)
        CHECK_FAIL("%s", told.err.text);
    CHECK(!told.more);
    CHECK_TEXT(buf_text(&told.bytes), want);
}

static void check_list(const char *path, const char *want)
{
    check_list_with(path, false, want);
}

static void check_list_fails(const char *path, const char *names, enum error_kind kind,
                             const char *text)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    CHECK(scene_list(&scene, path, &told));
    CHECK_TEXT(buf_text(&told.bytes), names);
    CHECK_INT(told.err.kind, kind);
    CHECK_TEXT(told.err.text, text);
}

static void fail_page(unsigned page)
{
    error_set(&scene.fake.error, ERROR_THROTTLED, "slow down");
    scene.fake.fail_at = scene.fake.pages + page;
}

#define J1                                                                                         \
    "{\n  \"pk\": \"PLATFORM#shopify#SHOP#a-b\",\n  \"sk\": \"JOB#2026-04-16T10:00:00Z#j1\",\n"    \
    "  \"created_at\": \"2026-04-16T10:00:00Z\",\n  \"job_id\": \"j1\",\n  \"n\": 1.50,\n"         \
    "  \"shop_id\": \"a-b\",\n  \"status_created_at\": \"COMPLETED#2026-04-16T10:00:00Z\"\n}\n"

#define LATEST "/prod/jobs/by-index/shopify/a-b/latest"
#define PENDING "/prod/jobs/by-index/shopify/a-b/status/PENDING"

/* Files. */

static void test_an_index_that_does_not_hold_all_is_hydrated(void)
{
    open_example();
    check_file("/prod/jobs/by-id/j1", J1);
    CHECK_INT(scene.fake.started, 2);
    CHECK_TEXT(scene.fake.last, "items prod-EcomIndexerJobsTable");
    close_scene();
}

static void test_a_key_takes_one_question(void)
{
    open_example();
    check_file(LATEST "/2026-04-16T10:00:00Z#j1", J1);
    CHECK_INT(scene.fake.started, 1);
    close_scene();
}

static void test_a_miss_of_an_index_says_what_was_looked_for(void)
{
    open_example();
    check_file_fails("/prod/jobs/by-id/none", ERROR_NOT_FOUND,
                     "prod-EcomIndexerJobsTable's index GSI_JobLookup_v2 has no item with job_id "
                     "= \"none\"");
    CHECK_INT(scene.fake.started, 1);
    close_scene();
}

static void test_a_miss_by_key_says_what_was_looked_for(void)
{
    open_example();
    check_file_fails("/prod/index-settings/kl7/none", ERROR_NOT_FOUND,
                     "prod-EcomIndexSettingsTable has no item with pk = \"kl7\" and sk = "
                     "\"INDEX#none\"");
    close_scene();
}

static void test_what_can_be_no_key_asks_nobody(void)
{
    open_example();
    check_file_fails("/prod/index-settings/kl7/a%23b", ERROR_INVALID,
                     "no index has the key \"INDEX#a#b\": none of its parts holds a \"#\"");
    check_file_fails("/prod/jobs/by-id/%FF", ERROR_INVALID,
                     "job_id is UTF-8 text, which this is not");
    CHECK_INT(scene.fake.started, 0);
    close_scene();
}

static void test_an_index_that_tells_of_a_vanished_record(void)
{
    static const struct fake_item stale[] = {
        {"prod-EcomIndexerJobsTable", "GSI_JobLookup_v2",
         "{\"pk\":{\"S\":\"PLATFORM#x#SHOP#y\"},\"sk\":{\"S\":\"JOB#d#gone\"},"
         "\"job_id\":{\"S\":\"gone\"}}"},
        {0},
    };
    open_example();
    scene.fake.items = stale;
    check_file_fails("/prod/jobs/by-id/gone", ERROR_NOT_FOUND,
                     "prod-EcomIndexerJobsTable has no item with pk = \"PLATFORM#x#SHOP#y\" and "
                     "sk = \"JOB#d#gone\"");
    close_scene();
}

static void test_an_index_without_the_table_s_keys(void)
{
    static const struct fake_item odd[] = {
        {"prod-EcomIndexerJobsTable", "GSI_JobLookup_v2", "{\"job_id\":{\"S\":\"j\"}}"},
        {0},
    };
    open_example();
    scene.fake.items = odd;
    check_file_fails("/prod/jobs/by-id/j", ERROR_INVALID,
                     "an item of prod-EcomIndexerJobsTable has no pk, a key in the map; ddbfs "
                     "check prints the table's keys");
    close_scene();
}

static void test_a_record_of_another_kind_is_a_miss(void)
{
    static const struct fake_item odd[] = {
        {"prod-EcomIndexerJobsTable", "GSI_JobLookup_v2",
         "{\"pk\":{\"S\":\"x\"},\"sk\":{\"S\":\"y\"},\"job_id\":{\"S\":\"j\"}}"},
        {0},
    };
    open_example();
    scene.fake.items = odd;
    check_file_fails("/prod/jobs/by-id/j", ERROR_NOT_FOUND,
                     "prod-EcomIndexerJobsTable's index GSI_JobLookup_v2 has no item with job_id "
                     "= \"j\"");
    close_scene();
}

static void test_pick_takes_the_greatest_of_what_the_filter_leaves(void)
{
    open_example();
    check_file("/prod/shops/s.example/access-token", "new\n");
    close_scene();
}

static void test_pick_looks_at_every_page(void)
{
    open_example();
    scene.fake.page_size = 1;
    check_file("/prod/shops/s.example/access-token", "new\n");
    CHECK_INT(scene.fake.started, 1);
    CHECK(scene.fake.pages > 3);
    close_scene();
}

#define PICKED(sk, rest)                                                                           \
    {                                                                                              \
        "prod-T", NULL, "{\"pk\":{\"S\":\"1\"},\"sk\":{\"S\":\"" sk "\"}" rest "}"                 \
    }

static const char PICKS[] = "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
                            "\"paths\":{\"{a}/least\":{\"pick\":{\"least\":\"m\"},\"attribute\":"
                            "\"sk\"},\"{a}/greatest\":{\"pick\":{\"greatest\":\"m\"},"
                            "\"attribute\":\"sk\"},\"{a}/only\":{\"attribute\":\"sk\"},"
                            "\"{a}/newest\":{\"newest\":1,\"attribute\":\"sk\"}}";

static void test_pick_compares_numbers_as_numbers(void)
{
    static const struct fake_item items[] = {
        PICKED("a", ",\"m\":{\"N\":\"9\"}"),
        PICKED("b", ",\"m\":{\"N\":\"10\"}"),
        PICKED("c", ",\"m\":{\"N\":\"-2e3\"}"),
        {0},
    };
    open_table(PICKS, items);
    check_file("/prod/t/1/greatest", "b\n");
    check_file("/prod/t/1/least", "c\n");
    close_scene();
}

#define LACKS_M                                                                                    \
    "\"pick\" compares the items of prod-T by m, but one of them lacks it (or it is not a text, "  \
    "number or binary)"

static void test_pick_needs_its_attribute_in_every_record(void)
{
    static const struct fake_item some[] = {
        PICKED("a", ""),
        PICKED("b", ",\"m\":{\"S\":\"5\"}"),
        PICKED("c", ""),
        {0},
    };
    static const struct fake_item last[] = {
        PICKED("a", ",\"m\":{\"S\":\"5\"}"), PICKED("b", ",\"m\":{\"BOOL\":true}"), {0}};
    static const struct fake_item only[] = {PICKED("a", ""), {0}};
    open_table(PICKS, some);
    check_file_fails("/prod/t/1/greatest", ERROR_INVALID, LACKS_M);
    check_file_fails("/prod/t/1/least", ERROR_INVALID, LACKS_M);
    scene.fake.items = last;
    check_file_fails("/prod/t/1/greatest", ERROR_INVALID, LACKS_M);
    scene.fake.items = only;
    check_file_fails("/prod/t/1/greatest", ERROR_INVALID, LACKS_M);
    close_scene();
}

static void test_pick_compares_one_type(void)
{
    static const struct fake_item items[] = {
        PICKED("a", ",\"m\":{\"S\":\"5\"}"), PICKED("b", ",\"m\":{\"N\":\"5\"}"), {0}};
    open_table(PICKS, items);
    check_file_fails("/prod/t/1/greatest", ERROR_INVALID,
                     "\"pick\" compares the items of prod-T by m, which is of type S in one and of "
                     "type N in another");
    close_scene();
}

static void test_two_records_for_one_file_are_ambiguous(void)
{
    static const struct fake_item items[] = {PICKED("a", ""), PICKED("b", ""), {0}};
    open_table(PICKS, items);
    check_file_fails(
        "/prod/t/1/only", ERROR_AMBIGUOUS,
        "several items of prod-T match; add \"pick\" or \"newest\": 1 to the path in the map");
    check_file("/prod/t/1/newest", "b\n");
    close_scene();
}

static void test_a_second_record_on_a_later_page_is_noticed(void)
{
    static const struct fake_item items[] = {PICKED("a", ""), PICKED("b", ""), {0}};
    open_table(PICKS, items);
    scene.fake.page_size = 1;
    check_file_fails(
        "/prod/t/1/only", ERROR_AMBIGUOUS,
        "several items of prod-T match; add \"pick\" or \"newest\": 1 to the path in the map");
    close_scene();
}

static void test_an_empty_page_is_no_miss(void)
{
    open_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
        "\"paths\":{\"{a}/x\":{\"filter\":{\"m\":\"y\"},\"attribute\":\"sk\"}}",
        (const struct fake_item[]){PICKED("a", ""), PICKED("b", ",\"m\":{\"S\":\"y\"}"), {0}});
    scene.fake.page_size = 1;
    check_file("/prod/t/1/x", "b\n");
    close_scene();
}

static void test_an_entry_is_checked_against_its_directory(void)
{
    open_example();
    check_file_fails(PENDING "/2026-04-16T10:00:00Z#j1", ERROR_NOT_FOUND,
                     "the item exists, but it is not (or no longer) in this directory");
    CHECK_INT(scene.fake.started, 1);
    close_scene();
}

static void test_a_filter_is_checked_even_when_one_attribute_is_asked_for(void)
{
    open_example();
    check_file_fails(PENDING "/2026-04-16T10:00:00Z#j1@/job_id", ERROR_NOT_FOUND,
                     "the item exists, but it is not (or no longer) in this directory");
    check_file(PENDING "/2026-04-16T11:00:00Z#j2@/job_id", "j2\n");
    close_scene();
}

/* Companions and secrets. */

static void test_one_attribute_is_its_bare_value(void)
{
    open_example();
    check_file("/prod/jobs/by-id/j1@/n", "1.50\n");
    check_file("/prod/index-settings/kl7/products@/add_docs_config", "{\n  \"batch\": 10\n}\n");
    close_scene();
}

static void test_an_attribute_that_is_not_there(void)
{
    open_example();
    check_file_fails("/prod/index-settings/kl7/products@/zz", ERROR_NOT_FOUND,
                     "the item has no attribute \"zz\"");
    close_scene();
}

static void test_a_missing_record_is_not_a_missing_attribute(void)
{
    open_example();
    check_file_fails("/prod/index-settings/kl7/none@/zz", ERROR_NOT_FOUND,
                     "prod-EcomIndexSettingsTable has no item with pk = \"kl7\" and sk = "
                     "\"INDEX#none\"");
    close_scene();
}

static void test_a_value_that_the_record_lacks(void)
{
    static const struct fake_item items[] = {PICKED("a", ""), {0}};
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
               "\"paths\":{\"{a}/x\":{\"attribute\":\"zz\"}}",
               items);
    check_file_fails("/prod/t/1/x", ERROR_NOT_FOUND, "the item has no attribute zz");
    close_scene();
}

static void test_typed_is_the_service_s_own_text_in_order(void)
{
    open_example();
    check_file("/prod/index-settings/kl7/DEFAULT_CONFIGS@typed",
               "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#DEFAULT_CONFIGS\"}}\n");
    close_scene();
}

static void test_secrets_are_masked_but_in_their_own_file(void)
{
    CLEAN_UP(told_clean_up) struct told record = {0}, typed = {0}, value = {0};
    open_example();
    CHECK(scene_read(&scene, "/prod/shops/s.example/SETTINGS", &record));
    CHECK_HAS(buf_text(&record.bytes), "\"api_key\": \"********\"");
    CHECK(!record.secret);
    CHECK(scene_read(&scene, "/prod/shops/s.example/SETTINGS@typed", &typed));
    CHECK_HAS(buf_text(&typed.bytes), "\"api_key\":{\"S\":\"********\"}");
    check_file("/prod/shops/s.example/SETTINGS@/api_key", "********\n");
    CHECK(scene_read(&scene, "/prod/shops/s.example/access-token", &value));
    CHECK_TEXT(buf_text(&value.bytes), "new\n");
    CHECK(value.secret);
    close_scene();
}

static void test_secrets_are_shown_to_who_asks(void)
{
    CLEAN_UP(told_clean_up) struct told typed = {0};
    open_example();
    scene.tree.show_secrets = true;
    check_file("/prod/shops/s.example/SETTINGS@/api_key", "hush\n");
    CHECK(scene_read(&scene, "/prod/shops/s.example/SETTINGS@typed", &typed));
    CHECK_HAS(buf_text(&typed.bytes), "\"api_key\":{\"S\":\"hush\"}");
    close_scene();
}

static void test_info_says_where_a_record_came_from(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    CHECK(scene_read(&scene, "/prod/jobs/by-id/j1@info", &told));
    const char *text = buf_text(&told.bytes);
    CHECK_HAS(text, "\"table\": \"prod-EcomIndexerJobsTable\"");
    CHECK_HAS(text, "\"index\": \"GSI_JobLookup_v2\"");
    CHECK_HAS(text, "\"fetched\": \"2026-04-16T12:00:00Z\"");
    CHECK_HAS(text, "\"capacity\": 1");
    CHECK_HAS(text, "\"request_id\": \"FAKE-REQUEST\"");
    CHECK_HAS(text, "--profile p");
    close_scene();
}

/* Outages. */

#define BY_ID "/prod/jobs/by-id/j1"

/* BY_ID has been read, and is a minute old. */
static void open_outage(enum error_kind kind)
{
    open_example();
    scene.tree.stale_ms = 3600000;
    check_file(BY_ID, J1);
    virtual_clock_pass(&scene.clock, 60000);
    error_set(&scene.fake.error, kind, "no answer");
    scene.fake.down = true;
}

static void test_a_record_is_shown_in_an_outage(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0}, after = {0};
    open_outage(ERROR_TIMED_OUT);
    CHECK(scene_read(&scene, BY_ID, &told));
    CHECK_TEXT(buf_text(&told.bytes), J1);
    CHECK_INT(told.stale.kind, ERROR_TIMED_OUT);
    CHECK_TEXT(told.stale.text, "no answer");
    CHECK_INT(told.ttl_left_ms, MAP_MISSING_TTL_MS);
    CHECK_INT(scene.fake.started, 3); /* the index was asked, in vain; the record then was not */
    scene.fake.down = false;
    CHECK(scene_read(&scene, BY_ID, &after));
    CHECK_INT(after.stale.kind, ERROR_NONE);
    CHECK_INT(after.ttl_left_ms, MAP_TTL_MS);
    close_scene();
}

static void test_its_companions_are_too_and_info_says_so(void)
{
    CLEAN_UP(told_clean_up) struct told typed = {0}, info = {0};
    open_outage(ERROR_UNREACHABLE);
    CHECK(scene_read(&scene, BY_ID "@typed", &typed));
    CHECK_HAS(buf_text(&typed.bytes), "\"n\":{\"N\":\"1.50\"}");
    CHECK_INT(typed.stale.kind, ERROR_UNREACHABLE);
    CHECK(scene_read(&scene, BY_ID "@info", &info));
    CHECK_HAS(buf_text(&info.bytes), "\"fetched\": \"2026-04-16T12:00:00Z\"");
    CHECK_HAS(buf_text(&info.bytes),
              "\"stale\": {\"since\": \"2026-04-16T12:00:10Z\", \"why\": \"no answer\"}\n}");
    close_scene();
}

static void test_without_the_option_an_outage_is_an_error(void)
{
    open_outage(ERROR_TIMED_OUT);
    scene.tree.stale_ms = 0;
    check_file_fails(BY_ID, ERROR_TIMED_OUT, "no answer");
    close_scene();
}

static void test_who_is_refused_is_shown_nothing_old(void)
{
    static const enum error_kind kinds[] = {ERROR_DENIED, ERROR_EXPIRED, ERROR_NO_TABLE,
                                            ERROR_BAD_ANSWER, ERROR_UNTRUSTED};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        open_outage(kinds[i]);
        check_file_fails(BY_ID, kinds[i], "no answer");
        close_scene();
    }
}

/* The index told of it an hour ago: that the record is gone, or another, says nothing of who bears
 * the id now. */
static void test_what_is_old_proves_no_miss(void)
{
    static const struct fake_item nothing[] = {{0}};
    CLEAN_UP(told_clean_up) struct told gone = {0};
    open_outage(ERROR_THROTTLED);
    scene.fake.down = false;
    scene.fake.items = nothing;
    CHECK(scene_read(&scene, LATEST "/2026-04-16T10:00:00Z#j1", &gone));
    CHECK_INT(gone.err.kind, ERROR_NOT_FOUND);
    scene.fake.down = true;
    check_file_fails(BY_ID, ERROR_THROTTLED, "no answer");
    close_scene();
}

static void test_what_is_in_a_listing_is_not_told_as_fresh(void)
{
    open_example();
    scene.tree.stale_ms = 3600000;
    check_list("/prod/index-settings/kl7", "products\nproducts.d/\nDEFAULT_CONFIGS\n");
    virtual_clock_pass(&scene.clock, 60000);
    error_set(&scene.fake.error, ERROR_RESET, "cut off");
    scene.fake.fail_at = scene.fake.pages + 2;
    check_list_fails("/prod/index-settings/kl7", "products\nproducts.d/\n", ERROR_RESET, "cut off");
    close_scene();
}

static void test_a_record_has_its_own_date(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    CHECK(scene_read(&scene, "/prod/shops/s.example/SETTINGS", &told));
    CHECK_INT(told.mtime.ms, 1776340800000);
    CHECK_INT(told.ttl_left_ms, MAP_TTL_MS);
    close_scene();
}

static void test_compact_is_one_line(void)
{
    open_example();
    scene.tree.compact = true;
    check_file("/prod/index-settings/kl7/DEFAULT_CONFIGS",
               "{\"pk\":\"kl7\",\"sk\":\"INDEX#DEFAULT_CONFIGS\"}\n");
    close_scene();
}

/* The cache. */

static void test_a_record_is_kept_for_its_ttl(void)
{
    open_example();
    check_file("/prod/jobs/by-id/j1", J1);
    virtual_clock_pass(&scene.clock, MAP_TTL_MS - 1);
    check_file("/prod/jobs/by-id/j1", J1);
    CHECK_INT(scene.fake.started, 2);
    virtual_clock_pass(&scene.clock, 1);
    check_file("/prod/jobs/by-id/j1", J1);
    CHECK_INT(scene.fake.started, 4);
    close_scene();
}

static void test_a_change_is_seen_after_the_ttl(void)
{
    static const struct fake_item before[] = {PICKED("a", ""), {0}},
                                  after[] = {PICKED("b", ""), {0}};
    open_table(PICKS, before);
    check_file("/prod/t/1/only", "a\n");
    scene.fake.items = after;
    check_file("/prod/t/1/only", "a\n");
    virtual_clock_pass(&scene.clock, MAP_TTL_MS);
    check_file("/prod/t/1/only", "b\n");
    close_scene();
}

static void test_a_miss_is_kept_for_a_shorter_time(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0}, again = {0}, later = {0};
    open_example();
    CHECK(scene_read(&scene, "/prod/jobs/by-id/none", &told));
    virtual_clock_pass(&scene.clock, MAP_MISSING_TTL_MS - 1);
    CHECK(scene_read(&scene, "/prod/jobs/by-id/none", &again));
    CHECK_INT(scene.fake.started, 1);
    virtual_clock_pass(&scene.clock, 1);
    CHECK(scene_read(&scene, "/prod/jobs/by-id/none", &later));
    CHECK_INT(scene.fake.started, 2);
    close_scene();
}

static void test_a_ttl_of_zero_keeps_nothing(void)
{
    static const struct fake_item items[] = {PICKED("a", ""), {0}};
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
               "\"paths\":{\"{a}/x\":{\"attribute\":\"sk\",\"ttl\":0}}",
               items);
    check_file("/prod/t/1/x", "a\n");
    check_file("/prod/t/1/x", "a\n");
    CHECK_INT(scene.fake.started, 2);
    close_scene();
}

static void test_errors_are_not_kept(void)
{
    open_example();
    fail_page(1);
    check_file_fails("/prod/jobs/by-id/j1", ERROR_THROTTLED, "slow down");
    check_file("/prod/jobs/by-id/j1", J1);
    close_scene();
}

static void test_an_error_of_the_second_step(void)
{
    open_example();
    fail_page(2);
    check_file_fails("/prod/jobs/by-id/j1", ERROR_THROTTLED, "slow down");
    check_file("/prod/jobs/by-id/j1", J1);
    CHECK_INT(scene.fake.started, 3);
    close_scene();
}

static void test_companions_of_one_record_share_its_read(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    check_file("/prod/jobs/by-id/j1", J1);
    CHECK(scene_read(&scene, "/prod/jobs/by-id/j1@typed", &told));
    CHECK_INT(scene.fake.started, 2);
    close_scene();
}

static struct place *resolve(const char *path)
{
    struct error err = {0};
    struct place *place = place_resolve(scene.map, span_text(path), &scene.tree.names, &err);
    if (!place)
        CHECK_FAIL("%s", err.text);
    return place;
}

static void test_two_reads_at_once_are_one_question(void)
{
    CLEAN_UP(told_clean_up) struct told one = {0}, two = {0};
    open_example();
    struct place *place = resolve("/prod/jobs/by-id/j1");
    CHECK(tree_read(&scene.tree, place, scene_take_file, &one));
    CHECK(tree_read(&scene.tree, place, scene_take_file, &two));
    loop_run(scene.loop);
    place_destroy(place);
    CHECK_TEXT(buf_text(&one.bytes), J1);
    CHECK_TEXT(buf_text(&two.bytes), J1);
    CHECK_INT(scene.fake.started, 2);
    close_scene();
}

static void test_one_of_two_may_go_away(void)
{
    CLEAN_UP(told_clean_up) struct told one = {0}, two = {0};
    open_example();
    struct place *place = resolve("/prod/jobs/by-id/j1");
    struct tree_call *call = tree_read(&scene.tree, place, scene_take_file, &one);
    CHECK(call && tree_read(&scene.tree, place, scene_take_file, &two));
    tree_cancel(call);
    loop_run(scene.loop);
    place_destroy(place);
    CHECK_INT(one.calls, 0);
    CHECK_TEXT(buf_text(&two.bytes), J1);
    close_scene();
}

/* Answers never come from within the question. */
static void test_an_answer_comes_later(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    struct place *place = resolve("/prod/index-settings/kl7/a%23b");
    CHECK(tree_read(&scene.tree, place, scene_take_file, &told));
    CHECK_INT(told.calls, 0);
    loop_run(scene.loop);
    CHECK_INT(told.calls, 1);
    place_destroy(place);
    close_scene();
}

static void test_no_source_is_its_own_error(void)
{
    open_example();
    error_set(&scene.refusal, ERROR_DENIED, "no credentials");
    check_file_fails("/prod/jobs/by-id/j1", ERROR_DENIED, "no credentials");
    check_file_fails(LATEST "/2026#j1", ERROR_DENIED, "no credentials");
    check_list_fails(LATEST, "", ERROR_DENIED, "no credentials");
    close_scene();
}

/* Giving up. */

static void cancel_after(const char *path, int rounds)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    scene.fake.page_size = 1;
    struct place *place = resolve(path);
    struct tree_call *call = tree_read(&scene.tree, place, scene_take_file, &told);
    CHECK(call != NULL);
    scene_run_rounds(&scene, rounds);
    if (told.calls == 0)
        tree_cancel(call);
    loop_run(scene.loop);
    place_destroy(place);
    CHECK(told.calls <= 1);
    close_scene();
}

static void test_a_file_can_be_given_up_in_every_stage(void)
{
    for (int rounds = 0; rounds < 20; rounds++) {
        cancel_after("/prod/jobs/by-id/j1", rounds);
        cancel_after("/prod/shops/s.example/access-token", rounds);
        cancel_after("/prod/shops/s.example/USER%~0123456789abcdef0123456789abcdef", rounds);
        cancel_after("/prod/index-settings/kl7/a%23b", rounds);
    }
}

static void end_after(const char *path, bool full, int rounds, size_t part_items)
{
    CLEAN_UP(told_clean_up) struct told told = {.full = full};
    open_example();
    scene.fake.page_size = part_items ? 0 : 1;
    scene.tree.part_items = part_items;
    scene.fake.parts_with_pages = part_items > 0;
    static const char *const names[] = {"dev-a-EcomIndexerJobsTable", "x", NULL};
    scene.fake.tables = names;
    struct place *place = resolve(path);
    told.listing = tree_list(&scene.tree, place, full, scene_take_page, &told);
    CHECK(told.listing != NULL);
    for (int i = 0; i < rounds; i++) {
        scene_run_rounds(&scene, 1);
        if (told.more) {
            unsigned calls = told.calls;
            told.more = false;
            tree_list_more(told.listing);
            CHECK_INT(told.calls, calls); /* the next page comes later */
        }
    }
    tree_list_end(told.listing);
    loop_run(scene.loop);
    place_destroy(place);
    close_scene();
}

static void test_a_listing_can_be_given_up_in_every_stage(void)
{
    for (int rounds = 0; rounds < 20; rounds++) {
        end_after("/", false, rounds, 0);
        end_after(LATEST, true, rounds, 0);
        end_after(PENDING, true, rounds, 0);
        end_after("/prod/shops/s.example", false, rounds, 0);
        end_after("/prod/jobs/by-id/j1@", true, rounds, 0);
        end_after("/prod/jobs/by-id", false, rounds, 0);
        end_after(LATEST, true, rounds, 1);
        end_after("/prod/shops/s.example", false, rounds, 1);
    }
}

static void test_giving_up_nothing_is_harmless(void)
{
    tree_cancel(NULL);
    tree_list_end(NULL);
}

/* Listings. */

static void test_newest_first(void)
{
    open_example();
    check_list(LATEST, "2026-04-17T09:00:00Z#j3\n2026-04-16T11:00:00Z#j2\n"
                       "2026-04-16T10:00:00Z#j1\n");
    CHECK_INT(scene.fake.started, 1);
    close_scene();
}

static void test_a_day(void)
{
    open_example();
    check_list("/prod/jobs/by-index/shopify/a-b/on/2026-04-16",
               "2026-04-16T10:00:00Z#j1\n2026-04-16T11:00:00Z#j2\n");
    close_scene();
}

/* The parts of a page are one page in the figures. */
static void test_a_page_in_parts_is_the_same_listing(void)
{
    CLEAN_UP(told_clean_up) struct told whole = {.full = true}, parts = {.full = true};
    for (size_t part_items = 0; part_items < 5; part_items++) {
        struct told *told = part_items ? &parts : &whole;
        open_example();
        scene.fake.parts_with_pages = true;
        scene.tree.part_items = part_items;
        told_clean_up(&parts);
        parts = (struct told){.full = true};
        struct place *place = resolve("/prod/jobs/by-index/shopify/a-b/all");
        told->listing = tree_list(&scene.tree, place, true, scene_take_page, told);
        scene_run_rounds(&scene, 1);
        for (int i = 0; i < 30; i++) {
            bool more = told->more;
            told->more = false;
            if (more)
                tree_list_more(told->listing);
            scene_run_rounds(&scene, 1);
        }
        struct tree_list_stats stats = tree_list_stats(told->listing);
        CHECK(stats.pages == 1 && stats.requests == 1 && stats.read == 3 && stats.entries == 3);
        CHECK_TEXT(buf_text(&told->bytes), buf_text(&whole.bytes));
        CHECK(part_items == 0 || part_items >= 3 ? told->calls == whole.calls
                                                 : told->calls > whole.calls);
        tree_list_end(told->listing);
        loop_run(scene.loop);
        place_destroy(place);
        close_scene();
    }
}

static void test_pages_come_one_by_one(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    scene.fake.page_size = 1;
    struct place *place = resolve(LATEST);
    told.listing = tree_list(&scene.tree, place, false, scene_take_page, &told);
    CHECK(told.listing != NULL);
    loop_run(scene.loop);
    CHECK_TEXT(buf_text(&told.bytes), "2026-04-17T09:00:00Z#j3\n");
    CHECK(told.more);
    CHECK_INT(scene.fake.pages, 1);
    tree_list_more(told.listing);
    loop_run(scene.loop);
    CHECK_INT(scene.fake.pages, 2);
    tree_list_end(told.listing);
    place_destroy(place);
    close_scene();
}

static void test_empty_pages_are_passed_over(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    scene.fake.page_size = 1;
    CHECK(scene_list(&scene, "/prod/jobs/by-index/ecom/a-b/status/PENDING", &told));
    CHECK_INT(told.err.kind, ERROR_NONE);
    CHECK_INT(told.pages, 1);
    CHECK_TEXT(buf_text(&told.bytes), "");
    close_scene();
}

static void test_a_declared_file_comes_last(void)
{
    open_example();
    check_list("/prod/shops/s.example", "USER#1\nUSER#2\nUSER#3\nUSER#4\nSETTINGS\naccess-token\n");
    close_scene();
}

static void test_a_declared_record_is_listed_once(void)
{
    static const struct fake_item items[] = {
        {"prod-EcomIndexSettingsTable", "GSI_IndexRootsByName",
         "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#DEFAULT_CONFIGS\"},"
         "\"index_name\":{\"S\":\"DEFAULT_CONFIGS\"}}"},
        {"prod-EcomIndexSettingsTable", "GSI_IndexRootsByName",
         "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#shoes\"},"
         "\"index_name\":{\"S\":\"shoes\"}}"},
        {"prod-EcomIndexSettingsTable", NULL,
         "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#DEFAULT_CONFIGS\"}}"},
        {0},
    };
    open_example();
    scene.fake.items = items;
    check_list("/prod/index-settings/kl7", "shoes\nshoes.d/\nDEFAULT_CONFIGS\n");
    close_scene();
}

static void test_a_file_of_one_attribute_hides_no_record(void)
{
    static const struct fake_item items[] = {
        {"prod-T", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"X\"},\"n\":{\"S\":\"v\"}}"},
        {0},
    };
    open_table("\"table\":\"T\",\"records\":{\"x\":{\"pk\":\"{a}\",\"sk\":\"X\"}},\"paths\":{"
               "\"{a}/\":{\"list\":\"*\"},\"{a}/n\":{\"attribute\":\"n\"}}",
               items);
    check_list("/prod/t/A", "X\nn\n");
    check_file("/prod/t/A/n", "v\n");
    close_scene();
}

static void test_a_filter_may_ask_for_an_empty_text(void)
{
    static const struct fake_item items[] = {
        {"prod-T", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"1\"},\"note\":{\"S\":\"\"}}"},
        {"prod-T", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"2\"},\"note\":{\"S\":\"x\"}}"},
        {0},
    };
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},\"paths\":{"
               "\"{a}/{note}/\":{\"filter\":{\"note\":\"{note}\"}}}",
               items);
    check_list("/prod/t/A/%", "1\n");
    check_list("/prod/t/A/x", "2\n");
    close_scene();
}

static void test_an_entry_brings_its_directory_along(void)
{
    open_example();
    check_list("/prod/index-settings/kl7", "products\nproducts.d/\nDEFAULT_CONFIGS\n");
    check_list("/prod/index-settings/kl7/products.d", "PROFILE#SEARCH#default\n");
    close_scene();
}

static void test_a_full_listing_knows_sizes_and_dates(void)
{
    CLEAN_UP(buf_clean_up) struct buf want = {0};
    open_example();
    buf_printf(&want, "2026-04-16T10:00:00Z#j1 %zu 1776333600000\n", strlen(J1));
    buf_printf(&want, "2026-04-16T11:00:00Z#j2 %zu 1776337200000\n", strlen(J1) - 2);
    check_list_with("/prod/jobs/by-index/shopify/a-b/on/2026-04-16", true, buf_text(&want));
    CHECK_INT(scene.fake.started, 1);
    close_scene();
}

static void test_a_full_listing_of_a_thin_index_reads_the_records(void)
{
    CLEAN_UP(buf_clean_up) struct buf want = {0};
    open_example();
    buf_printf(&want, "2026-04-17T09:00:00Z#j3 %zu 1776416400000\n", strlen(J1) - 2);
    buf_printf(&want, "2026-04-16T11:00:00Z#j2 %zu 1776337200000\n", strlen(J1) - 2);
    check_list_with(PENDING, true, buf_text(&want));
    CHECK_INT(scene.fake.started, 2);
    CHECK_INT(scene.fake.keys, 2);
    close_scene();
}

static void test_a_thin_index_alone_gives_the_names(void)
{
    open_example();
    check_list(PENDING, "2026-04-17T09:00:00Z#j3\n2026-04-16T11:00:00Z#j2\n");
    CHECK_INT(scene.fake.started, 1);
    close_scene();
}

static void test_a_vanished_record_is_no_entry_of_a_full_listing(void)
{
    open_example();
    struct fake_item items[64];
    size_t count = 0;
    for (size_t i = 0; scene_items[i].text; i++)
        if (scene_items[i].index || !strstr(scene_items[i].text, "\"j2\""))
            items[count++] = scene_items[i];
    items[count] = (struct fake_item){0};
    scene.fake.items = items;
    CLEAN_UP(told_clean_up) struct told told = {.full = true};
    CHECK(scene_list(&scene, PENDING, &told));
    CHECK_HAS(buf_text(&told.bytes), "#j3 ");
    CHECK(!strstr(buf_text(&told.bytes), "#j2"));
    close_scene();
}

/* The index still says that it is pending; by its own name it is refused, too. */
static void test_a_record_that_has_moved_on_is_no_entry_of_a_full_listing(void)
{
    open_example();
    struct fake_item items[64];
    size_t count = 0;
    for (size_t i = 0; scene_items[i].text; i++)
        if (scene_items[i].index || !strstr(scene_items[i].text, "\"j2\""))
            items[count++] = scene_items[i];
    items[count++] =
        (struct fake_item){"prod-EcomIndexerJobsTable", NULL,
                           "{\"pk\":{\"S\":\"PLATFORM#shopify#SHOP#a-b\"},\"sk\":{\"S\":\"JOB#2026-"
                           "04-16T11:00:00Z#j2\"},"
                           "\"job_id\":{\"S\":\"j2\"},\"shop_id\":{\"S\":\"a-b\"},"
                           "\"status_created_at\":{\"S\":\"COMPLETED#2026-04-16T11:00:00Z\"}}"};
    items[count] = (struct fake_item){0};
    scene.fake.items = items;
    CLEAN_UP(told_clean_up) struct told told = {.full = true};
    CHECK(scene_list(&scene, PENDING, &told));
    CHECK_INT(told.err.kind, ERROR_NONE);
    CHECK_HAS(buf_text(&told.bytes), "#j3 ");
    CHECK(!strstr(buf_text(&told.bytes), "#j2"));
    check_file_fails(PENDING "/2026-04-16T11:00:00Z#j2", ERROR_NOT_FOUND,
                     "the item exists, but it is not (or no longer) in this directory");
    close_scene();
}

static void test_an_error_ends_a_listing(void)
{
    open_example();
    scene.fake.page_size = 1;
    fail_page(2);
    check_list_fails(LATEST, "2026-04-17T09:00:00Z#j3\n", ERROR_THROTTLED, "slow down");
    close_scene();
}

static void test_an_error_while_records_are_read_ends_a_listing(void)
{
    CLEAN_UP(told_clean_up) struct told told = {.full = true};
    open_example();
    fail_page(2);
    CHECK(scene_list(&scene, PENDING, &told));
    CHECK_INT(told.err.kind, ERROR_THROTTLED);
    CHECK_TEXT(buf_text(&told.bytes), "");
    close_scene();
}

static void test_a_directory_that_can_not_be_listed_says_what_to_type(void)
{
    open_example();
    check_list("/prod/jobs/by-id", "README\n{job_id}/\n");
    check_list_fails("/prod/jobs/by-id/{job_id}", "", ERROR_NOT_LISTABLE,
                     "{job_id} can't be listed, since no key leads to all of them; type one: "
                     "…/{job_id}");
    check_list("/prod/shops", "README\nby-account/\n{domain}/\n");
    check_list_fails("/prod/shops/{domain}", "", ERROR_NOT_LISTABLE,
                     "{domain}/ can't be listed, since no key leads to all of them; type one: "
                     "…/{domain}/");
    CHECK_INT(scene.fake.started, 0);
    close_scene();
}

static void check_no_place(const char *path, enum error_kind kind, const char *text)
{
    struct error err = {0};
    struct place *place = place_resolve(scene.map, span_text(path), &scene.tree.names, &err);
    CHECK(place == NULL);
    CHECK_INT(err.kind, kind);
    CHECK_HAS(err.text, text);
}

/* What would be there is not known; what programs try by themselves is never there. */
static void test_nothing_is_found_below_a_placeholder(void)
{
    open_example();
    check_no_place("/prod/jobs/by-id/{job_id}/x", ERROR_NOT_LISTABLE, "type one: …/{job_id}");
    check_no_place("/prod/shops/{domain}/SETTINGS", ERROR_NOT_LISTABLE, "type one: …/{domain}/");
    check_no_place("/prod/shops/{domain}/.git", ERROR_NOT_FOUND, "by themselves");
    check_no_place("/prod/jobs/by-id/{job_id}@info", ERROR_NOT_LISTABLE,
                   "\"{job_id}\" is a placeholder for names that can't be listed; type one of them "
                   "before @info");
    check_no_place("/prod/jobs/by-id/{job_id}@csv:a", ERROR_NOT_LISTABLE, "before @csv:a");
    check_no_place("/prod/jobs/by-index/shopify/a-b/all@table/{columns}/x", ERROR_NOT_LISTABLE,
                   "the columns of a table are typed");
    check_list("/prod/jobs/by-index/shopify/a-b/all@table", "README\n{columns}/\n");
    close_scene();
}

/* Each of them, and mixed with text as the map writes it; a key that reads so has another name. */
static void test_each_step_that_is_not_listed_has_a_placeholder(void)
{
    static const struct fake_item items[] = {
        {"prod-T", NULL, "{\"pk\":{\"S\":\"{a}\"},\"sk\":{\"S\":\"R#w-{from}..{to}\"}}"},
        {"prod-T", NULL, "{\"pk\":{\"S\":\"{a}\"},\"sk\":{\"S\":\"R#d-{x}\"}}"},
        {"prod-T", NULL, "{\"pk\":{\"S\":\"{a}\"},\"sk\":{\"S\":\"R#%64-{x}\"}}"},
        {0}};
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"R#{n*}\"},"
               "\"s\":{\"pk\":\"{a}\",\"sk\":\"S#{x}\"},\"u\":{\"pk\":\"{a}\",\"sk\":\"U#{b}\"}},"
               "\"paths\":{\"{a}/\":{\"list\":\"r\"},\"{a}/d-{x}/\":{\"list\":\"s\"},"
               "\"{a}/w-{from}..{to}/\":{\"list\":\"u\",\"where\":{\"b\":\"{from}..{to}\"}}}",
               items);
    check_list("/prod/t", "README\n{a}/\n");
    check_list("/prod/t/%7Ba}",
               "README\nw-{from}..{to}/\nd-{x}/\n%77-{from}..{to}\n%64-{x}\n%2564-{x}\n");
    scene.tree.names.omit_placeholders = true;
    check_list("/prod/t", "README\n");
    check_list_fails("/prod/t/{a}", "", ERROR_NOT_LISTABLE,
                     "{a}/ can't be listed, since no key leads to all of them; type one: …/{a}/");
    close_scene();
}

static void test_the_readme_of_a_table_asks_nobody(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    CHECK(scene_read(&scene, "/prod/jobs/README", &told));
    CHECK_HAS(buf_text(&told.bytes), "  by-id/{job_id}\n      2 requests; at most 52 RCU\n");
    CHECK_HAS(buf_text(&told.bytes), "shop_id is the account and index name");
    CHECK_INT(scene.fake.started, 0);
    close_scene();
}

static void test_the_readme_of_what_can_not_be_listed(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    CHECK(scene_read(&scene, "/prod/jobs/by-id/README", &told));
    CHECK_HAS(buf_text(&told.bytes), "{job_id} can't be listed here");
    CHECK(!strstr(buf_text(&told.bytes), "by-status"));
    close_scene();
}

static void test_noise_asks_nobody(void)
{
    static const char *const paths[] = {"/prod/jobs/by-id/.git", "/prod/jobs/by-id/HEAD",
                                        "/prod/shops/s.example/.hidden",
                                        "/prod/shops/s.example/SETTINGS~", "/prod/shops/Thumbs.db"};
    open_example();
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        CLEAN_UP(told_clean_up) struct told told = {0};
        CHECK(!scene_read(&scene, paths[i], &told));
        CHECK_INT(told.err.kind, ERROR_NOT_FOUND);
    }
    CHECK_INT(scene.fake.started, 0);
    close_scene();
}

static void test_a_record_that_is_called_like_noise_opens_by_its_listed_name(void)
{
    static const struct fake_item items[] = {
        {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"HEAD\"}}"},
        {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"README\"}}"},
        {0},
    };
    open_table("\"table\":\"Table\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
               "\"paths\":{\"x/{a}/\":{}}",
               items);
    check_list("/prod/t/x/A", "%48EAD\n%52EADME\n");
    check_file("/prod/t/x/A/%48EAD", "{\n  \"pk\": \"A\",\n  \"sk\": \"HEAD\"\n}\n");
    close_scene();
}

static void test_directories_of_the_map_ask_nobody(void)
{
    open_example();
    check_list("/prod", "jobs/\nindex-settings/\nshops/\ntables/\n");
    check_list("/prod/jobs", "README\nby-id/\nby-index/\nby-status/\n");
    check_list("/prod/jobs/by-index", "shopify/\necom/\n");
    CHECK_INT(scene.fake.started, 0);
    close_scene();
}

static void test_the_root_finds_branches(void)
{
    static const char *const tables[] = {"dev-a-EcomIndexerJobsTable", "dev-a-ShopifyEntitiesTable",
                                         "dev-b-c-EcomIndexerJobsTable", "other", NULL};
    open_example();
    scene.fake.tables = tables;
    scene.fake.page_size = 2;
    check_list("/", "prod/\nstaging/\ntables/\ndev-a/\ndev-b-c/\n");
    CHECK_INT(scene.fake.pages, 2);
    close_scene();
}

#define TWO_KINDS                                                                                  \
    "\"table\":\"Table\",\"records\":{\"root\":{\"pk\":\"{a}\",\"sk\":\"I#{i}\"},"                 \
    "\"sub\":{\"pk\":\"{a}\",\"sk\":\"I#{i}#S\"}},"

static const struct fake_item two_kinds[] = {
    {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"I#1\"}}"},
    {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"I#1#S\"}}"},
    {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"I#2\"}}"},
    {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"I#3#S\"}}"},
    {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"I#3\"}}"},
    {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"I#4#S\"}}"},
    {0},
};

static void test_a_limit_counts_entries_only(void)
{
    open_table(TWO_KINDS "\"paths\":{\"{a}/last/\":{\"list\":\"root\",\"newest\":2}}", two_kinds);
    check_list("/prod/t/A/last", "3\n2\n");
    close_scene();
}

static void test_the_newest_record_is_one_of_its_kind(void)
{
    open_table(TWO_KINDS "\"paths\":{\"{a}/last/now\":{\"record\":\"root\",\"newest\":1}}",
               two_kinds);
    check_file("/prod/t/A/last/now", "{\n  \"pk\": \"A\",\n  \"sk\": \"I#3\"\n}\n");
    close_scene();
}

static void test_others_of_the_partition_make_no_record_ambiguous(void)
{
    open_table(TWO_KINDS "\"paths\":{\"{a}/find/{x}\":{\"record\":\"root\","
                         "\"where\":{\"i\":\"{x}*\"}}}",
               two_kinds);
    check_file("/prod/t/A/find/1", "{\n  \"pk\": \"A\",\n  \"sk\": \"I#1\"\n}\n");
    close_scene();
}

static void test_a_declared_record_is_an_entry_of_its_listing(void)
{
    open_table(TWO_KINDS "\"paths\":{\"{a}/\":{\"list\":\"root\"},"
                         "\"{a}/{i}\":{\"record\":\"root\",\"consistent\":true}}",
               two_kinds);
    check_list("/prod/t/A", "1\n2\n3\n");
    check_file("/prod/t/A/2", "{\n  \"pk\": \"A\",\n  \"sk\": \"I#2\"\n}\n");
    close_scene();
}

static void test_two_entries_bring_one_directory(void)
{
    open_table(TWO_KINDS "\"paths\":{\"{a}/\":{\"list\":[\"root\",\"sub\"]},"
                         "\"{a}/{i}.d/\":{\"list\":\"sub\"}}",
               two_kinds);
    check_list("/prod/t/A", "1\n1.d/\n1#S\n2\n2.d/\n3#S\n3.d/\n3\n4#S\n4.d/\n");
    close_scene();
}

#define LISTED_BY_INDEX(params)                                                                    \
    TWO_KINDS                                                                                      \
    "\"indexes\":{\"I\":{\"partition\":\"pk\",\"sort\":\"n\",\"projects\":\"all\"}}," params       \
    "\"paths\":{\"{a}/\":{\"list\":\"root\",\"index\":\"I\"},"                                     \
    "\"{a}/{i}.d/\":{\"list\":\"sub\"}}"

/* Nobody may think that "4.d" is not there because there is no "4". */
static void test_a_record_without_its_entry_brings_its_directory_too(void)
{
    static const struct fake_item indexed[] = {
        {"prod-Table", "I", "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"I#1\"},\"n\":{\"S\":\"1\"}}"},
        {0}};
    open_table(TWO_KINDS "\"paths\":{\"{a}/\":{\"list\":\"root\"},"
                         "\"{a}/{i}.d/\":{\"list\":\"sub\"}}",
               two_kinds);
    check_list("/prod/t/A", "1\n1.d/\n2\n2.d/\n3.d/\n3\n4.d/\n");
    close_scene();
    open_table(TWO_KINDS "\"paths\":{\"{a}/\":{\"list\":\"root\",\"newest\":1},"
                         "\"{a}/{i}.d/\":{\"list\":\"sub\"}}",
               two_kinds);
    check_list("/prod/t/A", "4.d/\n3\n3.d/\n");
    close_scene();
    open_table(LISTED_BY_INDEX(""), indexed);
    check_list("/prod/t/A", "README\n{i}.d/\n1\n1.d/\n");
    check_list_fails(
        "/prod/t/A/{i}.d", "", ERROR_NOT_LISTABLE,
        "{i}.d/ shows those that entries lead to, and there may be others; type one: …/{i}.d/");
    close_scene();
    open_table(LISTED_BY_INDEX("\"params\":{\"i\":{\"owner\":\"root\"}},"), indexed);
    check_list("/prod/t/A", "1\n1.d/\n");
    close_scene();
}

/* What the map knows of a parameter's values is all there is when it says so. */
static void test_known_values_may_not_be_all(void)
{
#define BY_PART(only)                                                                              \
    TWO_KINDS "\"params\":{\"a\":{\"values\":[\"A\",\"B\"]" only "}},"                             \
              "\"paths\":{\"x/{a}/\":{\"list\":\"root\"}}"
    open_table(BY_PART(""), two_kinds);
    check_list("/prod/t/x", "README\nA/\nB/\n{a}/\n");
    check_list_fails("/prod/t/x/{a}", "", ERROR_NOT_LISTABLE,
                     "{a}/ shows the values in the map, and without \"only\" there may be others; "
                     "type one: …/{a}/");
    check_list("/prod/t/x/C", "");
    close_scene();
    open_table(BY_PART(",\"only\":true"), two_kinds);
    check_list("/prod/t/x", "A/\nB/\n");
    check_list("/prod/t/x/C", ""); /* another one may be typed all the same */
    close_scene();
}

static void test_before_leaves_the_end_itself_out(void)
{
    static const struct fake_item items[] = {
        {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"J#1\"}}"},
        {"prod-Table", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"J#2\"}}"},
        {0},
    };
    open_table("\"table\":\"Table\",\"records\":{\"j\":{\"pk\":\"{a}\",\"sk\":\"J#{c}\"}},"
               "\"paths\":{\"{a}/before/{x}/\":{\"where\":{\"c\":{\"<\":\"{x}\"}}}}",
               items);
    check_list("/prod/t/A/before/2", "1\n");
    CLEAN_UP(told_clean_up) struct told told = {0};
    CHECK(scene_read(&scene, "/prod/t/A/before/2/2", &told));
    CHECK_INT(told.err.kind, ERROR_NOT_FOUND);
    close_scene();
}

static void test_the_attributes_of_a_record(void)
{
    open_example();
    check_list("/prod/shops/s.example/SETTINGS@", "active_index\napi_key\nlast_updated\npk\nsk\n");
    close_scene();
}

static void test_the_attributes_of_a_record_that_is_not_there(void)
{
    open_example();
    check_list_fails("/prod/index-settings/kl7/none@", "", ERROR_NOT_FOUND,
                     "prod-EcomIndexSettingsTable has no item with pk = \"kl7\" and sk = "
                     "\"INDEX#none\"");
    close_scene();
}

static void count_line(void *arg, enum log_level level, const char *line)
{
    char *text = arg;
    snprintf(text, 300, "%d %s", (int)level, line);
}

static void test_items_of_no_declared_kind_are_told_of(void)
{
    static const struct fake_item odd[] = {
        {"prod-EcomIndexSettingsTable", NULL,
         "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#a#UNKNOWN\"}}"},
        {0},
    };
    char line[300] = "";
    struct log log = {LOG_LEVEL_WARNING, count_line, line};
    open_example();
    scene.fake.items = odd;
    scene.tree.log = &log;
    check_list("/prod/index-settings/by-account/kl7", "");
    CHECK_TEXT(line,
               "1 1 item of prod-EcomIndexSettingsTable fits none of the map's kinds and is not "
               "listed; declare it in \"records\", or use \"list\": \"*\"");
    close_scene();
}

/* Many records: more than one request holds. */

enum { MANY = 2000 };

/* COUNT records, of which a thin index tells, in a full listing. */
static void check_hydrated(size_t count, unsigned requests, unsigned most_open)
{
    static char texts[2 * MANY][200];
    static struct fake_item items[2 * MANY + 1];
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i],
                 "{\"pk\":{\"S\":\"P\"},\"sk\":{\"S\":\"%04zu\"},\"x\":{\"S\":\"1\"}}", i);
        items[i] = (struct fake_item){"prod-T", "I", texts[i]};
        items[count + i] = (struct fake_item){"prod-T", NULL, texts[i]};
    }
    items[2 * count] = (struct fake_item){0};
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"P\",\"sk\":\"{b}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"x\",\"projects\":\"keys\"}},"
               "\"paths\":{\"{x}/\":{\"index\":\"I\"}}",
               items);
    CLEAN_UP(told_clean_up) struct told told = {.full = true};
    CHECK(scene_list(&scene, "/prod/t/1", &told));
    CHECK_INT(told.err.kind, ERROR_NONE);
    CHECK_HAS(buf_text(&told.bytes), "0000 ");
    CHECK(!strstr(buf_text(&told.bytes), " -1 "));
    CHECK_INT(scene.fake.started, requests);
    CHECK_INT(scene.fake.keys, count);
    CHECK_INT(scene.fake.most_open, most_open);
    size_t lines = 0;
    for (size_t i = 0; i < told.bytes.size; i++)
        lines += told.bytes.data[i] == '\n';
    CHECK_INT(lines, count);
    close_scene();
}

/* While an item moves in an index, a page may have it at both places. */
static void test_an_item_at_two_places_of_an_index_is_read_once(void)
{
#define AT(place)                                                                                  \
    "{\"pk\":{\"S\":\"P\"},\"sk\":{\"S\":\"a\"},\"x\":{\"S\":\"1\"},\"y\":{\"S\":\"" place "\"}}"
    static const struct fake_item items[] = {
        {"prod-T", "I", AT("1")}, {"prod-T", "I", AT("2")}, {"prod-T", NULL, AT("2")}, {0}};
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"P\",\"sk\":\"{b}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"y\",\"projects\":\"keys\"}},"
               "\"paths\":{\"{x}/\":{\"index\":\"I\"},"
               "\"one/{x}\":{\"index\":\"I\",\"attribute\":\"y\"}}",
               items);
    check_file("/prod/t/one/1", "2\n");
    scene.fake.keys = 0;
    CLEAN_UP(told_clean_up) struct told told = {.full = true};
    CHECK(scene_list(&scene, "/prod/t/1", &told));
    CHECK_TEXT(told.err.text, "");
    CHECK_INT(scene.fake.keys, 1);
    size_t lines = 0;
    for (size_t i = 0; i < told.bytes.size; i++)
        lines += told.bytes.data[i] == '\n';
    CHECK_INT(lines, 1);
    close_scene();
#undef AT
}

/* Of six that the index tells of two have gone, among them the newest. */
static void check_newest(const char *pattern, const char *want, enum error_kind kind)
{
#define THIN "{\"pk\":{\"S\":\"P\"},\"sk\":{\"S\":\""
#define THICK "\"},\"x\":{\"S\":\"1\"}}"
#define OLD(n)                                                                                     \
    {                                                                                              \
        "prod-T", "I", THIN n THICK                                                                \
    }
#define BOTH(n)                                                                                    \
    OLD(n),                                                                                        \
    {                                                                                              \
        "prod-T", NULL, THIN n THICK                                                               \
    }
    static const struct fake_item items[] = {BOTH("1"), BOTH("2"), BOTH("3"), OLD("4"),
                                             BOTH("5"), OLD("6"),  {0}};
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    for (size_t page_size = 0; page_size < 7; page_size++) {
        buf_truncate(&table, 0);
        buf_printf(
            &table,
            "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"P\",\"sk\":\"{b}\"}},"
            "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"sk\",\"projects\":\"keys\"}},"
            "\"paths\":{\"{x}/\":{\"index\":\"I\",%s}}",
            pattern);
        open_table(buf_text(&table), items);
        scene.fake.page_size = page_size;
        CLEAN_UP(told_clean_up) struct told told = {.full = true};
        CHECK(scene_list(&scene, "/prod/t/1", &told));
        CHECK_TEXT(buf_text(&told.bytes), want);
        CHECK_INT(told.err.kind, kind);
        close_scene();
    }
}

static void test_the_newest_are_as_many_as_are_there(void)
{
    check_newest("\"newest\":2", "5 41 0\n3 41 0\n", ERROR_NONE);
    check_newest("\"newest\":4", "5 41 0\n3 41 0\n2 41 0\n1 41 0\n", ERROR_NONE);
    check_newest("\"newest\":5", "5 41 0\n3 41 0\n2 41 0\n1 41 0\n", ERROR_NONE);
    check_newest("\"newest\":2,\"name\":\"{rank}_{b}\"", "1_5 41 0\n2_3 41 0\n", ERROR_NONE);
}

/* Of eleven that the index tells of one has gone: the tenth is the ninth then, which has a rank of
 * one digit, on whichever page it comes. */
static void test_ranks_are_of_those_that_are_there(void)
{
    static const struct fake_item items[] = {BOTH("a"), BOTH("b"), BOTH("c"), BOTH("d"),
                                             OLD("e"),  BOTH("f"), BOTH("g"), BOTH("h"),
                                             BOTH("i"), BOTH("j"), BOTH("k"), {0}};
    for (size_t page_size = 0; page_size < 12; page_size++) {
        open_table(
            "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"P\",\"sk\":\"{b}\"}},"
            "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"sk\",\"projects\":\"keys\"}},"
            "\"paths\":{\"{x}/\":{\"index\":\"I\",\"newest\":9,\"name\":\"{rank}_{b}\"}}",
            items);
        scene.fake.page_size = page_size;
        CLEAN_UP(told_clean_up) struct told told = {0};
        CLEAN_UP(told_clean_up) struct told there = {.full = true};
        CHECK(scene_list(&scene, "/prod/t/1", &told));
        CHECK_TEXT(buf_text(&told.bytes), "1_k\n2_j\n3_i\n4_h\n5_g\n6_f\n7_e\n8_d\n9_c\n");
        CHECK(scene_list(&scene, "/prod/t/1", &there));
        CHECK_TEXT(buf_text(&there.bytes),
                   "1_k 41 0\n2_j 41 0\n3_i 41 0\n4_h 41 0\n5_g 41 0\n6_f 41 0\n7_d 41 0\n"
                   "8_c 41 0\n9_b 41 0\n");
        CHECK_INT(there.err.kind, ERROR_NONE);
        close_scene();
    }
}

/* An index with two sort attributes: the first one's values are directories. */
static void check_groups(const char *path, const char *want, enum error_kind kind)
{
#define AT(n, day, hour)                                                                           \
    "{\"pk\":{\"S\":\"" n "\"},\"x\":{\"S\":\"1\"},\"d\":{\"N\":\"" day "\"},\"h\":{\"S\":\"" hour \
    "\"}}"
#define EVENT(n, day, hour)                                                                        \
    {"prod-T", "I", AT(n, day, hour)},                                                             \
    {                                                                                              \
        "prod-T", NULL, AT(n, day, hour)                                                           \
    }
    static const struct fake_item items[] = {EVENT("a", "2", "v"),
                                             EVENT("b", "2", "w"),
                                             EVENT("c", "2", "w"),
                                             EVENT("d", "10", "x/y"),
                                             EVENT("e", "10", "z"),
                                             EVENT("f", "11", "v"),
                                             {0}};
    for (size_t page_size = 0; page_size < 7; page_size++) {
        open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{b}\"}},\"types\":{\"d\":\"N\"},"
                   "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":[\"d\",\"h\"]}},"
                   "\"paths\":{\"{x}/\":{\"index\":\"I\",\"groups\":true},"
                   "\"{x}/{d}/\":{\"index\":\"I\",\"groups\":true},"
                   "\"{x}/{d}/{h}/\":{\"index\":\"I\"},"
                   "\"other/{x}/\":{\"index\":\"I\",\"groups\":true},"
                   "\"other/{x}/{b}/\":{\"index\":\"I\"},"
                   "\"other/{x}/{b}/at\":{\"filter\":{\"x\":\"{x}\"}}}",
                   items);
        scene.fake.page_size = page_size;
        CLEAN_UP(told_clean_up) struct told told = {0};
        CHECK(scene_list(&scene, path, &told));
        CHECK_TEXT(buf_text(&told.bytes), want);
        CHECK_INT(told.err.kind, kind);
        close_scene();
    }
}

static void test_groups_are_shown_once_each(void)
{
    check_groups("/prod/t/1", "2/\n10/\n11/\n", ERROR_NONE);
    check_groups("/prod/t/1/2", "v/\nw/\n", ERROR_NONE);
    check_groups("/prod/t/1/10", "x%2Fy/\nz/\n", ERROR_NONE);
    check_groups("/prod/t/1/2/w", "b\nc\n", ERROR_NONE);
    check_groups("/prod/t/1/1e1/x%2Fy", "d\n", ERROR_NONE);
}

/* The index does not lead to records that are found in the table alone. */
static void test_groups_that_are_not_all_say_so(void)
{
    check_groups("/prod/t/other/1", "README\n{b}/\na/\nb/\nc/\nd/\ne/\nf/\n", ERROR_NONE);
}

/* Eight records of three sort keys, of which the index alone knows two. */
static void check_ties(const char *pattern, bool full, const char *want)
{
#define TIED(n, time) "{\"pk\":{\"S\":\"" n "\"},\"x\":{\"S\":\"1\"},\"t\":{\"N\":\"" time "\"}}"
#define HERE(n, time)                                                                              \
    {"prod-T", "I", TIED(n, time)},                                                                \
    {                                                                                              \
        "prod-T", NULL, TIED(n, time)                                                              \
    }
#define GONE(n, time)                                                                              \
    {                                                                                              \
        "prod-T", "I", TIED(n, time)                                                               \
    }
    static const struct fake_item items[] = {
        HERE("a", "1"), HERE("b", "2"), GONE("c", "2.0"), HERE("d", "20e-1"), HERE("e", "3"),
        GONE("f", "3"), HERE("g", "3"), HERE("h", "3"),   HERE("i", "4"),     {0}};
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    for (size_t page_size = 0; page_size < 10; page_size++) {
        buf_truncate(&table, 0);
        buf_printf(&table,
                   "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{b}\"}},\"types\":{\"t\":\"N\"},"
                   "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"t\",\"projects\":\"keys\"}},"
                   "\"paths\":{\"{x}/\":{\"index\":\"I\",%s}}",
                   pattern);
        open_table(buf_text(&table), items);
        scene.fake.page_size = page_size;
        CLEAN_UP(told_clean_up) struct told told = {.full = full};
        CHECK(scene_list(&scene, "/prod/t/1", &told));
        CHECK_TEXT(buf_text(&told.bytes), want);
        CHECK_INT(told.err.kind, ERROR_NONE);
        close_scene();
    }
}

static void test_a_listing_with_ties_ends_where_the_sort_key_changes(void)
{
    check_ties("\"oldest\":1,\"ties\":true", false, "a\n");
    check_ties("\"oldest\":2,\"ties\":true", false, "a\nb\nc\nd\n");
    check_ties("\"oldest\":4,\"ties\":true", false, "a\nb\nc\nd\n");
    check_ties("\"oldest\":5,\"ties\":true", false, "a\nb\nc\nd\ne\nf\ng\nh\n");
    check_ties("\"oldest\":9,\"ties\":true", false, "a\nb\nc\nd\ne\nf\ng\nh\ni\n");
    check_ties("\"newest\":2,\"ties\":true", false, "i\nh\ng\nf\ne\n");
    check_ties("\"oldest\":2", false, "a\nb\n");
}

/* What has gone is no Nth, and no reason to end. */
static void test_ties_among_records_that_are_read_again(void)
{
#define LINE(n, size) n " " size " 0\n"
    check_ties("\"oldest\":1,\"ties\":true", true, LINE("a", "38"));
    check_ties("\"oldest\":2,\"ties\":true", true, LINE("a", "38") LINE("b", "38") LINE("d", "42"));
    check_ties("\"oldest\":3,\"ties\":true", true, LINE("a", "38") LINE("b", "38") LINE("d", "42"));
    check_ties("\"oldest\":4,\"ties\":true", true,
               LINE("a", "38") LINE("b", "38") LINE("d", "42") LINE("e", "38") LINE("g", "38")
                   LINE("h", "38"));
    check_ties("\"newest\":2,\"ties\":true", true,
               LINE("i", "38") LINE("h", "38") LINE("g", "38") LINE("e", "38"));
}

static void test_more_records_than_one_request_holds(void)
{
    check_hydrated(250, 4, 3);
}

static void test_records_are_read_in_slices(void)
{
    check_hydrated(MANY, 21, 17);
}

/* Shortened names. */

static void make_long(char *text, size_t size, const char *sk, size_t sk_size)
{
    char filler[600];
    memset(filler, 'k', sizeof filler);
    snprintf(text, size, "{\"pk\":{\"S\":\"SHOP#s.example\"},\"sk\":{\"S\":\"%s%.*s\"}}", sk,
             (int)sk_size, filler);
}

static void test_a_shortened_entry_opens(void)
{
    static char one[800], two[800];
    make_long(one, sizeof one, "A#", 500);
    make_long(two, sizeof two, "A#", 501);
    const struct fake_item items[] = {
        {"prod-ShopifyEntitiesTable", NULL, one}, {"prod-ShopifyEntitiesTable", NULL, two}, {0}};
    CLEAN_UP(told_clean_up) struct told names = {0}, file = {0}, attribute = {0};
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    open_example();
    scene.fake.items = items;
    scene.fake.page_size = 1;
    CHECK(scene_list(&scene, "/prod/shops/s.example", &names));
    const char *second = strrchr(buf_text(&names.bytes), 'A');
    CHECK(second != NULL);
    buf_printf(&path, "/prod/shops/s.example/%.*s", (int)strlen(second) - 1, second);
    unsigned before = scene.fake.started;
    CHECK(scene_read(&scene, buf_text(&path), &file));
    if (file.err.kind != ERROR_NONE)
        CHECK_FAIL("%s", file.err.text);
    CHECK_INT(file.bytes.size,
              strlen("{\n  \"pk\": \"SHOP#s.example\",\n  \"sk\": \"A#\"\n}\n") + 501);
    buf_add_text(&path, "@/pk");
    CHECK(scene_read(&scene, buf_text(&path), &attribute));
    CHECK_TEXT(buf_text(&attribute.bytes), "SHOP#s.example\n");
    CHECK_INT(scene.fake.started, before + 3); /* the search, the record, its one attribute */
    told_clean_up(&attribute);
    attribute = (struct told){0};
    CHECK(scene_read(&scene, buf_text(&path), &attribute));
    CHECK_TEXT(buf_text(&attribute.bytes), "SHOP#s.example\n");
    CHECK_INT(scene.fake.started, before + 3);
    close_scene();
}

static void test_a_shortened_name_of_nothing(void)
{
    open_example();
    check_file_fails(
        "/prod/shops/s.example/U%~0123456789abcdef0123456789abcdef", ERROR_NOT_FOUND,
        "prod-ShopifyEntitiesTable has no item with pk = \"SHOP#s.example\" and sk begins "
        "with \"U\"");
    close_scene();
}

/* What has no key that can be read may be the one that is looked for: no proof that there is none.
 */
static void test_a_key_of_another_type_ends_the_search_for_a_shortened_name(void)
{
    static const struct fake_item items[] = {
        {"prod-T", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"1\"}}"},
        {0},
    };
    open_table("\"table\":\"T\",\"types\":{\"sk\":\"B\"},\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":"
               "\"{b}\"}},\"paths\":{\"{a}/\":{}}",
               items);
    check_file_fails("/prod/t/A/x%~0123456789abcdef0123456789abcdef", ERROR_INVALID,
                     "sk of prod-T is of type S, but of type B in the map; add \"types\": { "
                     "\"sk\": \"S\" }, as ddbfs check prints");
    close_scene();
}

static void test_a_shortened_entry_of_a_listing_where_all_is_said(void)
{
    static char text[800];
    char filler[400];
    memset(filler, 'k', sizeof filler);
    snprintf(text, sizeof text, "{\"pk\":{\"S\":\"1\"},\"sk\":{\"S\":\"S#%.*s\"}}", 300, filler);
    const struct fake_item items[] = {{"prod-T", NULL, text}, {0}};
    CLEAN_UP(told_clean_up) struct told names = {0}, file = {0};
    CLEAN_UP(buf_clean_up) struct buf folder = {0}, path = {0};
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"S#{b}\"}},"
               "\"paths\":{\"{a}/{b}/\":{}}",
               items);
    buf_printf(&folder, "/prod/t/1/%.*s", 300, filler);
    CHECK(scene_list(&scene, buf_text(&folder), &names));
    buf_printf(&path, "%s/%.*s", buf_text(&folder), (int)names.bytes.size - 1, names.bytes.data);
    CHECK(scene_read(&scene, buf_text(&path), &file));
    if (file.err.kind != ERROR_NONE)
        CHECK_FAIL("%s", file.err.text);
    close_scene();
}

/* Every name that a listing gives opens. */

static void open_each(const char *folder, struct span names)
{
    while (names.size > 0) {
        CLEAN_UP(told_clean_up) struct told told = {0};
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        const char *end = memchr(names.data, '\n', names.size);
        struct span name = span_of(names.data, (size_t)(end - names.data));
        names = span_from(names, name.size + 1);
        if (span_ends(name, SPAN_LITERAL("/")))
            continue;
        buf_printf(&path, "%s/%.*s", folder, (int)name.size, name.data);
        if (!scene_read(&scene, buf_text(&path), &told) || told.err.kind != ERROR_NONE)
            CHECK_FAIL("%s: %s", buf_text(&path), told.err.text);
    }
}

static void test_every_listed_name_opens(void)
{
    static const char *const folders[] = {LATEST,
                                          PENDING,
                                          "/prod/jobs/by-status/a-b/COMPLETED",
                                          "/prod/shops/s.example",
                                          "/prod/index-settings/kl7",
                                          "/prod/index-settings/by-account/kl7",
                                          "/prod/index-settings/kl7/products.d",
                                          "/prod/shops/s.example/SETTINGS@"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        CLEAN_UP(told_clean_up) struct told names = {0};
        open_example();
        CHECK(scene_list(&scene, folders[i], &names));
        CHECK(names.bytes.size > 0);
        open_each(folders[i], buf_span(&names.bytes));
        close_scene();
    }
}

static void test_strange_keys_are_listed_and_open(void)
{
    static const struct fake_item items[] = {
        PICKED("a/b", ""),
        PICKED(".git", ""),
        PICKED("..", ""),
        PICKED("x@typed", ""),
        PICKED("y@", ""),
        PICKED("100%", ""),
        PICKED("a\\u0000b", ""),
        PICKED("tab\\t", ""),
        PICKED("lit", ""),
        PICKED("z.d", ""),
        {0},
    };
    CLEAN_UP(told_clean_up) struct told names = {0};
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
               "\"paths\":{\"{a}/\":{},\"{a}/{b}.d/\":{},\"{a}/lit/\":{\"where\":{\"b\":\"q\"}}}",
               items);
    CHECK(scene_list(&scene, "/prod/t/1", &names));
    CHECK_INT(names.err.kind, ERROR_NONE);
    open_each("/prod/t/1", buf_span(&names.bytes));
    CHECK_HAS(buf_text(&names.bytes), "%2E.\n");
    close_scene();
}

static void test_info_of_a_listing_says_what_was_skipped(void)
{
    static const struct fake_item items[] = {
        {"prod-EcomIndexSettingsTable", NULL,
         "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#a\"}}"},
        {"prod-EcomIndexSettingsTable", NULL,
         "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#a#UNKNOWN\"}}"},
        {0},
    };
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_example();
    scene.fake.items = items;
    CHECK(scene_read(&scene, "/prod/index-settings/by-account/kl7@info", &told));
    CHECK_INT(told.err.kind, ERROR_NONE);
    CHECK(
        strstr(buf_text(&told.bytes), "\"records\": 1,\n  \"skipped\": 1,\n  \"skipped_why\": \""));
    CHECK(strstr(buf_text(&told.bytes), "\"pages\": 1,"));
    close_scene();
}

/* An item whose key is not what the map says ends the listing: it must not pass for nothing. */
static void test_a_key_of_another_type_ends_a_listing(void)
{
    static const struct fake_item items[] = {
        {"prod-T", NULL, "{\"pk\":{\"S\":\"A\"},\"sk\":{\"S\":\"1\"}}"},
        {0},
    };
    open_table("\"table\":\"T\",\"types\":{\"sk\":\"N\"},\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":"
               "\"{b}\"}},\"paths\":{\"{a}/\":{}}",
               items);
    check_list_fails("/prod/t/A", "", ERROR_INVALID,
                     "sk of prod-T is of type S, but of type N in the map; add \"types\": { "
                     "\"sk\": \"S\" }, as ddbfs check prints");
    close_scene();
}

/* Who wants it fresh does not get what another path keeps for an hour. */
static void test_each_path_has_its_own_patience(void)
{
    static const struct fake_item items[] = {
        {"prod-T", NULL, "{\"pk\":{\"S\":\"A\"}}"},
        {0},
    };
    open_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},\"paths\":{"
               "\"slow/{a}\":{\"ttl\":3600},\"fresh/{a}\":{\"ttl\":0}}",
               items);
    check_file("/prod/t/slow/A", "{\n  \"pk\": \"A\"\n}\n");
    CHECK_INT(scene.fake.started, 1);
    virtual_clock_pass(&scene.clock, 15000);
    check_file("/prod/t/slow/A", "{\n  \"pk\": \"A\"\n}\n");
    CHECK_INT(scene.fake.started, 1);
    check_file("/prod/t/fresh/A", "{\n  \"pk\": \"A\"\n}\n");
    check_file("/prod/t/fresh/A", "{\n  \"pk\": \"A\"\n}\n");
    CHECK_INT(scene.fake.started, 3);
    close_scene();
}

static void stop_after_page(void *arg, const struct tree_entry *entries, size_t count, bool more,
                            const struct error *err)
{
    (void)entries, (void)count;
    CHECK(!more && !err);
    loop_stop(arg);
}

/* Without waiting until what is kept of it expires, as scene_list does. */
static void list_for_now(const char *path)
{
    struct error err;
    struct place *place = place_resolve(scene.map, span_text(path), &scene.tree.names, &err);
    CHECK(place);
    struct tree_listing *listing =
        tree_list(&scene.tree, place, false, stop_after_page, scene.loop);
    CHECK(listing);
    loop_run(scene.loop);
    tree_list_end(listing);
    place_destroy(place);
}

/* What they took is given back with them, long before they would have expired. */
static void test_listings_that_the_cache_lets_go_of_leave_nothing(void)
{
    enum { LIMIT = 1 << 15 };
    struct error err;
    CHECK(scene_open(&scene, sample_example(&err), scene_items));
    struct cache *cache = cache_new(scene.loop, LIMIT);
    scene.tree.walks = walks_new(cache, scene.loop, LIMIT);
    CHECK(cache && scene.tree.walks);
    for (int number = 0; number < 3000; number++) {
        char path[100];
        snprintf(path, sizeof path, "/prod/jobs/by-index/shopify/shop-%d/all", number);
        list_for_now(path);
    }
    struct cache_stats stats = cache_stats(cache);
    CHECK(stats.entries > 0 && stats.evicted > 0);
    if (stats.bytes > LIMIT)
        CHECK_FAIL("%zu bytes, not %d", stats.bytes, LIMIT);
    walks_destroy(scene.tree.walks);
    cache_destroy(cache);
    scene_close(&scene);
}

static void test_a_place_that_is_billed_read_and_explained_has_one_plan(void)
{
    CLEAN_UP(told_clean_up) struct told file = {0}, listing = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error err;
    open_example();
    struct place *place = resolve("/prod/jobs/by-id/j1");
    unsigned long before = plan_count_made();
    const struct plan *billed = place_plan(place, &err);
    CHECK(tree_read(&scene.tree, place, scene_take_file, &file));
    loop_run(scene.loop);
    CHECK(explain_write(&scene.tree, place, span_text("/"), false, &text, &err));
    CHECK(place_plan(place, &err) == billed);
    place_destroy(place);
    CHECK_TEXT(buf_text(&file.bytes), J1);
    CHECK_INT(plan_count_made() - before, 1);
    CHECK(scene_list(&scene, "/prod/jobs/by-index/shopify/acme/latest", &listing));
    CHECK_INT(plan_count_made() - before, 2);
    close_scene();
}

static const struct check_test tests[] = {
    {"listings_that_the_cache_lets_go_of_leave_nothing",
     test_listings_that_the_cache_lets_go_of_leave_nothing},
    {"an_item_at_two_places_of_an_index_is_read_once",
     test_an_item_at_two_places_of_an_index_is_read_once},
    {"an_index_that_does_not_hold_all_is_hydrated",
     test_an_index_that_does_not_hold_all_is_hydrated},
    {"a_key_takes_one_question", test_a_key_takes_one_question},
    {"a_miss_of_an_index_says_what_was_looked_for",
     test_a_miss_of_an_index_says_what_was_looked_for},
    {"a_miss_by_key_says_what_was_looked_for", test_a_miss_by_key_says_what_was_looked_for},
    {"what_can_be_no_key_asks_nobody", test_what_can_be_no_key_asks_nobody},
    {"an_index_that_tells_of_a_vanished_record", test_an_index_that_tells_of_a_vanished_record},
    {"an_index_without_the_table_s_keys", test_an_index_without_the_table_s_keys},
    {"a_record_of_another_kind_is_a_miss", test_a_record_of_another_kind_is_a_miss},
    {"pick_takes_the_greatest_of_what_the_filter_leaves",
     test_pick_takes_the_greatest_of_what_the_filter_leaves},
    {"pick_looks_at_every_page", test_pick_looks_at_every_page},
    {"pick_compares_numbers_as_numbers", test_pick_compares_numbers_as_numbers},
    {"pick_needs_its_attribute_in_every_record", test_pick_needs_its_attribute_in_every_record},
    {"pick_compares_one_type", test_pick_compares_one_type},
    {"two_records_for_one_file_are_ambiguous", test_two_records_for_one_file_are_ambiguous},
    {"a_second_record_on_a_later_page_is_noticed", test_a_second_record_on_a_later_page_is_noticed},
    {"an_empty_page_is_no_miss", test_an_empty_page_is_no_miss},
    {"an_entry_is_checked_against_its_directory", test_an_entry_is_checked_against_its_directory},
    {"a_filter_is_checked_even_when_one_attribute_is_asked_for",
     test_a_filter_is_checked_even_when_one_attribute_is_asked_for},
    {"one_attribute_is_its_bare_value", test_one_attribute_is_its_bare_value},
    {"an_attribute_that_is_not_there", test_an_attribute_that_is_not_there},
    {"a_missing_record_is_not_a_missing_attribute",
     test_a_missing_record_is_not_a_missing_attribute},
    {"a_value_that_the_record_lacks", test_a_value_that_the_record_lacks},
    {"typed_is_the_service_s_own_text_in_order", test_typed_is_the_service_s_own_text_in_order},
    {"secrets_are_masked_but_in_their_own_file", test_secrets_are_masked_but_in_their_own_file},
    {"secrets_are_shown_to_who_asks", test_secrets_are_shown_to_who_asks},
    {"a_record_is_shown_in_an_outage", test_a_record_is_shown_in_an_outage},
    {"its_companions_are_too_and_info_says_so", test_its_companions_are_too_and_info_says_so},
    {"without_the_option_an_outage_is_an_error", test_without_the_option_an_outage_is_an_error},
    {"who_is_refused_is_shown_nothing_old", test_who_is_refused_is_shown_nothing_old},
    {"what_is_old_proves_no_miss", test_what_is_old_proves_no_miss},
    {"what_is_in_a_listing_is_not_told_as_fresh", test_what_is_in_a_listing_is_not_told_as_fresh},
    {"info_says_where_a_record_came_from", test_info_says_where_a_record_came_from},
    {"a_record_has_its_own_date", test_a_record_has_its_own_date},
    {"compact_is_one_line", test_compact_is_one_line},
    {"a_record_is_kept_for_its_ttl", test_a_record_is_kept_for_its_ttl},
    {"a_change_is_seen_after_the_ttl", test_a_change_is_seen_after_the_ttl},
    {"a_miss_is_kept_for_a_shorter_time", test_a_miss_is_kept_for_a_shorter_time},
    {"a_ttl_of_zero_keeps_nothing", test_a_ttl_of_zero_keeps_nothing},
    {"errors_are_not_kept", test_errors_are_not_kept},
    {"an_error_of_the_second_step", test_an_error_of_the_second_step},
    {"companions_of_one_record_share_its_read", test_companions_of_one_record_share_its_read},
    {"two_reads_at_once_are_one_question", test_two_reads_at_once_are_one_question},
    {"one_of_two_may_go_away", test_one_of_two_may_go_away},
    {"an_answer_comes_later", test_an_answer_comes_later},
    {"no_source_is_its_own_error", test_no_source_is_its_own_error},
    {"a_file_can_be_given_up_in_every_stage", test_a_file_can_be_given_up_in_every_stage},
    {"a_listing_can_be_given_up_in_every_stage", test_a_listing_can_be_given_up_in_every_stage},
    {"giving_up_nothing_is_harmless", test_giving_up_nothing_is_harmless},
    {"newest_first", test_newest_first},
    {"a_day", test_a_day},
    {"a page in parts is the same listing", test_a_page_in_parts_is_the_same_listing},
    {"pages_come_one_by_one", test_pages_come_one_by_one},
    {"empty_pages_are_passed_over", test_empty_pages_are_passed_over},
    {"a_declared_file_comes_last", test_a_declared_file_comes_last},
    {"a_declared_record_is_listed_once", test_a_declared_record_is_listed_once},
    {"a_file_of_one_attribute_hides_no_record", test_a_file_of_one_attribute_hides_no_record},
    {"a_filter_may_ask_for_an_empty_text", test_a_filter_may_ask_for_an_empty_text},
    {"an_entry_brings_its_directory_along", test_an_entry_brings_its_directory_along},
    {"a_full_listing_knows_sizes_and_dates", test_a_full_listing_knows_sizes_and_dates},
    {"a_full_listing_of_a_thin_index_reads_the_records",
     test_a_full_listing_of_a_thin_index_reads_the_records},
    {"a_thin_index_alone_gives_the_names", test_a_thin_index_alone_gives_the_names},
    {"groups_are_shown_once_each", test_groups_are_shown_once_each},
    {"groups_that_are_not_all_say_so", test_groups_that_are_not_all_say_so},
    {"a_listing_with_ties_ends_where_the_sort_key_changes",
     test_a_listing_with_ties_ends_where_the_sort_key_changes},
    {"ties_among_records_that_are_read_again", test_ties_among_records_that_are_read_again},
    {"a_vanished_record_is_no_entry_of_a_full_listing",
     test_a_vanished_record_is_no_entry_of_a_full_listing},
    {"a_record_that_has_moved_on_is_no_entry_of_a_full_listing",
     test_a_record_that_has_moved_on_is_no_entry_of_a_full_listing},
    {"an_error_ends_a_listing", test_an_error_ends_a_listing},
    {"an_error_while_records_are_read_ends_a_listing",
     test_an_error_while_records_are_read_ends_a_listing},
    {"a_directory_that_can_not_be_listed_says_what_to_type",
     test_a_directory_that_can_not_be_listed_says_what_to_type},
    {"nothing_is_found_below_a_placeholder", test_nothing_is_found_below_a_placeholder},
    {"each_step_that_is_not_listed_has_a_placeholder",
     test_each_step_that_is_not_listed_has_a_placeholder},
    {"the_readme_of_a_table_asks_nobody", test_the_readme_of_a_table_asks_nobody},
    {"the_readme_of_what_can_not_be_listed", test_the_readme_of_what_can_not_be_listed},
    {"noise_asks_nobody", test_noise_asks_nobody},
    {"a_record_that_is_called_like_noise_opens_by_its_listed_name",
     test_a_record_that_is_called_like_noise_opens_by_its_listed_name},
    {"directories_of_the_map_ask_nobody", test_directories_of_the_map_ask_nobody},
    {"the_root_finds_branches", test_the_root_finds_branches},
    {"a_limit_counts_entries_only", test_a_limit_counts_entries_only},
    {"the_newest_record_is_one_of_its_kind", test_the_newest_record_is_one_of_its_kind},
    {"others_of_the_partition_make_no_record_ambiguous",
     test_others_of_the_partition_make_no_record_ambiguous},
    {"a_declared_record_is_an_entry_of_its_listing",
     test_a_declared_record_is_an_entry_of_its_listing},
    {"two_entries_bring_one_directory", test_two_entries_bring_one_directory},
    {"a_record_without_its_entry_brings_its_directory_too",
     test_a_record_without_its_entry_brings_its_directory_too},
    {"known_values_may_not_be_all", test_known_values_may_not_be_all},
    {"before_leaves_the_end_itself_out", test_before_leaves_the_end_itself_out},
    {"the_attributes_of_a_record", test_the_attributes_of_a_record},
    {"the_attributes_of_a_record_that_is_not_there",
     test_the_attributes_of_a_record_that_is_not_there},
    {"items_of_no_declared_kind_are_told_of", test_items_of_no_declared_kind_are_told_of},
    {"ranks_are_of_those_that_are_there", test_ranks_are_of_those_that_are_there},
    {"the_newest_are_as_many_as_are_there", test_the_newest_are_as_many_as_are_there},
    {"more_records_than_one_request_holds", test_more_records_than_one_request_holds},
    {"records_are_read_in_slices", test_records_are_read_in_slices},
    {"a_shortened_entry_opens", test_a_shortened_entry_opens},
    {"a_shortened_name_of_nothing", test_a_shortened_name_of_nothing},
    {"a_key_of_another_type_ends_the_search_for_a_shortened_name",
     test_a_key_of_another_type_ends_the_search_for_a_shortened_name},
    {"a_shortened_entry_of_a_listing_where_all_is_said",
     test_a_shortened_entry_of_a_listing_where_all_is_said},
    {"every_listed_name_opens", test_every_listed_name_opens},
    {"strange_keys_are_listed_and_open", test_strange_keys_are_listed_and_open},
    {"info_of_a_listing_says_what_was_skipped", test_info_of_a_listing_says_what_was_skipped},
    {"a_key_of_another_type_ends_a_listing", test_a_key_of_another_type_ends_a_listing},
    {"each_path_has_its_own_patience", test_each_path_has_its_own_patience},
    {"a_place_that_is_billed_read_and_explained_has_one_plan",
     test_a_place_that_is_billed_read_and_explained_has_one_plan},
};

CHECK_MAIN(tests)
