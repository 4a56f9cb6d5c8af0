/* Who pays: of questions through the tree, each request is charged once, to who asked first. */
#include "core/source/payer.h"

#include "tests/unit/check.h"
#include "tests/unit/counting_payer.h"
#include "tests/unit/sample.h"
#include "tests/unit/scene.h"

#define JOB "/prod/jobs/by-id/j1"
#define LATEST "/prod/jobs/by-index/shopify/a-b/latest"

static struct scene scene; /* of the test that runs */

/* Two people who ask the same tree. */
static struct counting_payer ann, bob;
static struct tree of_ann, of_bob;

static void open_scene(void)
{
    struct error err = {0};
    CHECK(scene_open(&scene, sample_example(&err), scene_items));
    counting_payer_init(&ann);
    counting_payer_init(&bob);
    of_ann = scene.tree;
    of_ann.payer = &ann.payer;
    of_bob = scene.tree;
    of_bob.payer = &bob.payer;
}

static void close_scene(void)
{
    scene_close(&scene);
    counting_payer_clean_up(&ann);
    counting_payer_clean_up(&bob);
}

static struct place *resolve(const char *path)
{
    struct error err = {0};
    struct place *place = place_resolve(scene.map, span_text(path), &scene.tree.names, &err);
    if (!place)
        CHECK_FAIL("%s", err.text);
    return place;
}

static void read_as(const struct tree *tree, const char *path, struct told *told)
{
    struct place *place = resolve(path);
    CHECK(tree_read(tree, place, scene_take_file, told));
    loop_run(scene.loop);
    CHECK_INT(told->calls, 1);
    place_destroy(place);
}

static void test_each_step_of_a_plan_is_charged(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_scene();
    read_as(&of_ann, JOB, &told);
    CHECK_TEXT(buf_text(&ann.lines),
               "Fake prod-EcomIndexerJobsTable/GSI_JobLookup_v2 "
               "jobs/by-id/{job_id} answered\n"
               "Fake prod-EcomIndexerJobsTable/ jobs/by-id/{job_id} answered\n");
    CHECK(ann.units == 1);
    CHECK_INT(bob.requests, 0);
    close_scene();
}

static void test_what_the_cache_knows_costs_nothing(void)
{
    CLEAN_UP(told_clean_up) struct told first = {0}, second = {0};
    open_scene();
    read_as(&of_ann, JOB, &first);
    read_as(&of_bob, JOB, &second);
    CHECK_INT(ann.requests, 2);
    CHECK_INT(bob.requests, 0);
    close_scene();
}

/* And goes on paying when he has gone away, for the other who waits. */
static void test_who_asked_first_pays(void)
{
    CLEAN_UP(told_clean_up) struct told first = {0}, second = {0};
    open_scene();
    struct place *place = resolve("/prod/shops/s.example/SETTINGS");
    struct tree_call *call = tree_read(&of_ann, place, scene_take_file, &first);
    CHECK(call && tree_read(&of_bob, place, scene_take_file, &second));
    tree_cancel(call);
    loop_run(scene.loop);
    CHECK_INT(second.calls, 1);
    CHECK_INT(ann.requests, 1);
    CHECK_INT(bob.requests, 0);
    place_destroy(place);
    close_scene();
}

static void test_what_nobody_waits_for_is_charged(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_scene();
    struct place *place = resolve(JOB);
    struct tree_call *call = tree_read(&of_ann, place, scene_take_file, &told);
    CHECK(call);
    tree_cancel(call);
    CHECK_INT(ann.abandoned, 1);
    CHECK_INT(ann.requests, 1);
    place_destroy(place);
    close_scene();
}

static void list_to_its_end(const struct tree *tree, const char *path, struct told *told)
{
    struct place *place = resolve(path);
    told->listing = tree_list(tree, place, true, scene_take_page, told);
    CHECK(told->listing);
    loop_run(scene.loop);
    while (told->more) {
        tree_list_more(told->listing);
        loop_run(scene.loop);
    }
    tree_list_end(told->listing);
    place_destroy(place);
}

static void test_pages_of_a_listing_and_its_records_are_charged(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_scene();
    list_to_its_end(&of_ann, LATEST, &told);
    CHECK_INT(told.err.kind, ERROR_NONE);
    CHECK_INT(ann.requests, scene.fake.pages);
    CHECK(ann.answered > 0 && ann.failed == 0 && ann.abandoned == 0);
    CHECK(strstr(buf_text(&ann.lines), "jobs/by-index/{platform}/{shop_id}/latest/ answered\n"));
    close_scene();
}

static void test_failures_are_charged(void)
{
    CLEAN_UP(told_clean_up) struct told told = {0};
    open_scene();
    error_set(&scene.fake.error, ERROR_THROTTLED, "slow down");
    scene.fake.down = true;
    read_as(&of_ann, JOB, &told);
    CHECK_INT(told.err.kind, ERROR_THROTTLED);
    CHECK_INT(ann.failed, 1);
    CHECK(ann.units == 0);
    close_scene();
}

static const struct check_test tests[] = {
    {"each_step_of_a_plan_is_charged", test_each_step_of_a_plan_is_charged},
    {"what_the_cache_knows_costs_nothing", test_what_the_cache_knows_costs_nothing},
    {"who_asked_first_pays", test_who_asked_first_pays},
    {"what_nobody_waits_for_is_charged", test_what_nobody_waits_for_is_charged},
    {"pages_of_a_listing_and_its_records_are_charged",
     test_pages_of_a_listing_and_its_records_are_charged},
    {"failures_are_charged", test_failures_are_charged},
};

CHECK_MAIN(tests)
