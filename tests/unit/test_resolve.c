/* What a path means, when the map knows it at once and when somebody has to be asked. */
#include "core/read/resolve.h"

#include "tests/unit/check.h"
#include "tests/unit/sample.h"
#include "tests/unit/scene.h"
#include "tests/unit/slow_models.h"

static struct scene scene;
static struct slow_models slow;

static struct resolved {
    unsigned calls;
    struct place *place;
    struct error err;
} got;

static void take(void *arg, struct place *place, const struct error *err)
{
    (void)arg;
    CHECK((place != NULL) != (err != NULL));
    got.calls++;
    got.place = place;
    if (err)
        got.err = *err;
}

static void open_scene(const struct model *model)
{
    struct error err;
    CHECK(scene_open(&scene, sample_example(&err), scene_items));
    slow_models_init(&slow, scene.loop, model);
    scene.tree.models = &slow.models;
    got = (struct resolved){0};
}

static void close_scene(void)
{
    place_destroy(got.place);
    scene_close(&scene);
}

static struct tree_resolution *start(const char *path)
{
    struct tree_resolution *resolution =
        tree_resolve(&scene.tree, NULL, span_text(path), take, NULL);
    CHECK(resolution != NULL);
    return resolution;
}

static void test_what_the_map_knows_comes_in_the_next_round(void)
{
    open_scene(NULL);
    start("/prod/jobs/by-id/j1");
    CHECK_INT(got.calls, 0);
    int64_t before = scene.clock.now_ms;
    loop_run(scene.loop);
    CHECK_INT(got.calls, 1);
    CHECK_INT(got.place->kind, PLACE_RECORD);
    CHECK_INT(scene.clock.now_ms - before, 0);
    CHECK_INT(slow.asked, 0);
    close_scene();
}

static void check_failure(const char *path, enum error_kind kind, const char *part)
{
    open_scene(NULL);
    start(path);
    CHECK_INT(got.calls, 0);
    loop_run(scene.loop);
    CHECK_INT(got.calls, 1);
    CHECK_INT(got.err.kind, kind);
    CHECK_HAS(got.err.text, part);
    close_scene();
}

static void test_a_failure_comes_later_too(void)
{
    check_failure("/nowhere", ERROR_NOT_FOUND, "no environment");
    check_failure("/prod/jobs/by-id/j1/", ERROR_NOT_DIRECTORY, "final /");
    check_failure("/prod/jobs/by-id/j1/x", ERROR_NOT_DIRECTORY, "nothing is below it");
}

static void test_from_a_place(void)
{
    struct error err;
    struct place *jobs = NULL;
    open_scene(NULL);
    CHECK(tree_resolve_now(&scene.tree, NULL, span_text("/prod/jobs"), &jobs, &err) && jobs);
    CHECK(tree_resolve(&scene.tree, jobs, span_text("by-id/j1"), take, NULL) != NULL);
    place_destroy(jobs);
    loop_run(scene.loop);
    CHECK_INT(got.place->kind, PLACE_RECORD);
    close_scene();
}

static void test_a_model_may_arrive_later(void)
{
    const struct model *model = slow_models_extra();
    CHECK(model);
    struct error err;
    open_scene(model);
    struct place *unknown = NULL;
    CHECK(!tree_resolve_now(&scene.tree, NULL, span_text("/prod/tables/Extra/items/7"), &unknown,
                            &err));
    CHECK(!unknown);
    start("/prod/tables/Extra/items/7");
    int64_t before = scene.clock.now_ms;
    loop_run(scene.loop);
    CHECK_INT(scene.clock.now_ms - before, 1000);
    CHECK_INT(slow.asked, 1);
    CHECK_TEXT(slow.name, "Extra");
    CHECK_INT(got.calls, 1);
    CHECK_INT(got.place->kind, PLACE_RECORD);
    CHECK_SPAN(*bindings_find(&got.place->bindings, "id"), SPAN_LITERAL("7"));
    model_unref(model); /* whoever made it forgets it: the place holds its own */
    CHECK_TEXT(got.place->table->base_name, "Extra");
    CHECK_TEXT(got.place->route->file->path, "items/{id}");
    close_scene();
}

static void test_there_is_no_such_table(void)
{
    open_scene(NULL);
    start("/prod/tables/Nothing/x");
    loop_run(scene.loop);
    CHECK_INT(got.calls, 1);
    CHECK_INT(got.err.kind, ERROR_NOT_FOUND);
    CHECK_TEXT(got.err.text, "no such table");
    close_scene();
}

static void test_a_wait_can_be_broken_off(void)
{
    open_scene(NULL);
    struct tree_resolution *resolution = start("/prod/tables/Nothing/x");
    tree_resolve_cancel(resolution);
    tree_resolve_cancel(start("/prod/jobs"));
    tree_resolve_cancel(NULL);
    loop_run(scene.loop);
    CHECK_INT(got.calls, 0);
    CHECK_INT(slow.cancelled, 1);
    close_scene();
}

/* Nobody is asked for what shells and file browsers try by themselves. */
static void test_noise_asks_nobody(void)
{
    check_failure("/prod/tables/.git", ERROR_NOT_FOUND, "by themselves");
    CHECK_INT(slow.asked, 0);
}

static const struct check_test tests[] = {
    {"what_the_map_knows_comes_in_the_next_round", test_what_the_map_knows_comes_in_the_next_round},
    {"a_failure_comes_later_too", test_a_failure_comes_later_too},
    {"from_a_place", test_from_a_place},
    {"a_model_may_arrive_later", test_a_model_may_arrive_later},
    {"there_is_no_such_table", test_there_is_no_such_table},
    {"a_wait_can_be_broken_off", test_a_wait_can_be_broken_off},
    {"noise_asks_nobody", test_noise_asks_nobody},
};

CHECK_MAIN(tests)
