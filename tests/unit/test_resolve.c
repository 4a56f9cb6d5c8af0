/* What a path means, when the map knows it at once and when somebody has to be asked. */
#include "core/tree/resolve.h"

#include "core/map/compile.h"
#include "core/tree/models.h"
#include "tests/unit/check.h"
#include "tests/unit/sample.h"
#include "tests/unit/scene.h"

/* Models that arrive a second after they were asked for. */
struct slow_models {
    struct models models;
    struct loop *loop;
    const struct model *model; /* what there is; NULL: no such table */
    unsigned asked, cancelled;
    char name[64]; /* what was asked for last */
};

struct models_call {
    struct slow_models *slow;
    struct loop_timer *timer;
    models_fn *fn;
    void *arg;
};

static void arrive(void *arg)
{
    struct models_call call = *(struct models_call *)arg;
    struct error none;
    free(arg);
    error_set(&none, ERROR_NOT_FOUND, "no such table");
    call.fn(call.arg, call.slow->model, call.slow->model ? NULL : &none);
}

static struct models_call *find(struct models *models, const struct place *environment,
                                struct span name, models_fn *fn, void *arg)
{
    struct slow_models *slow = (struct slow_models *)models;
    struct models_call *call = calloc(1, sizeof *call);
    CHECK(call && environment->kind == PLACE_ENVIRONMENT);
    slow->asked++;
    snprintf(slow->name, sizeof slow->name, "%.*s", (int)name.size, name.data);
    *call = (struct models_call){slow, loop_add_timer(slow->loop, 1000, arrive, call), fn, arg};
    return call;
}

static void cancel(struct models_call *call)
{
    call->slow->cancelled++;
    loop_remove_timer(call->timer);
    free(call);
}

static const struct models_ops slow_ops = {find, cancel};

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
    slow = (struct slow_models){{&slow_ops}, scene.loop, model, 0, 0, ""};
    scene.tree.models = &slow.models;
    got = (struct resolved){0};
}

static void close_scene(void)
{
    place_destroy(got.place);
    scene_close(&scene);
}

/* A table as something else than a map's file would declare it. */
static const struct model *described_model(void)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct format_piece part = {.param = "id"};
    struct declared_record record = {.name = "item", .key_count = 1};
    record.keys[0] = (struct declared_key){.attribute = "pk", .format = {&part, 1}};
    struct declared_path path = {.path = "items/{id}", .ttl_ms = -1};
    struct declared_table table = {
        .path_name = "Extra",
        .base_name = "Extra",
        .separator = '#',
        .records = &record,
        .paths = &path,
        .has_paths = true,
        .ttl_ms = MAP_TTL_MS,
    };
    const struct model *model = compile_table(&table, &findings);
    if (!model)
        CHECK_FAIL("%s", findings.count ? findings.items[0].text : "out of memory");
    return model;
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
    const struct model *model = described_model();
    struct error err;
    open_scene(model);
    struct place *unknown = NULL;
    CHECK(!tree_resolve_now(&scene.tree, NULL, span_text("/prod/Extra/items/7"), &unknown, &err));
    CHECK(!unknown);
    start("/prod/Extra/items/7");
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
    start("/prod/Nothing/x");
    loop_run(scene.loop);
    CHECK_INT(got.calls, 1);
    CHECK_INT(got.err.kind, ERROR_NOT_FOUND);
    CHECK_TEXT(got.err.text, "no such table");
    close_scene();
}

static void test_a_wait_can_be_broken_off(void)
{
    open_scene(NULL);
    struct tree_resolution *resolution = start("/prod/Nothing/x");
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
    check_failure("/prod/.git", ERROR_NOT_FOUND, "no table");
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
