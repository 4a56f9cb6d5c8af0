/* Look-ups and reads of a mount: what waits, what it waits for, and that each gets one reply. */
#include <errno.h>

#include "fs/mount/journal.h"
#include "tests/unit/check.h"
#include "tests/unit/kernel.h"
#include "tests/unit/sample.h"
#include "tests/unit/slow_models.h"

enum { TIMEOUT_MS = 2000 };

static struct scene scene;
static struct kernel kernel;
static struct slow_models slow;

static const struct fake_item things[] = {
    {"Extra", NULL, "{\"pk\":{\"S\":\"7\"}}"},
    {0},
};

static void open_mount(const struct fake_item *items, const struct model *model)
{
    struct error err;
    CHECK(scene_open(&scene, sample_example(&err), items));
    slow_models_init(&slow, scene.loop, model);
    scene.tree.models = &slow.models;
    kernel_mount(&kernel, &scene);
    kernel.options.timeout_ms = TIMEOUT_MS;
}

static void close_mount(void)
{
    kernel_unmount(&kernel);
    scene_close(&scene);
    CHECK_INT(scene.fake.started, scene.fake.ended);
}

static uint64_t walk(const char *path)
{
    struct fuse_req *req = kernel_walk(&kernel, path);
    CHECK_INT(req->error, 0);
    return req->entry.ino;
}

/* How long the loop takes until nothing is left to be done. */
static int64_t run(void)
{
    int64_t before = scene.clock.now_ms;
    loop_run(scene.loop);
    return scene.clock.now_ms - before;
}

/* A table that the service must describe first. */

static void a_table_may_have_to_be_described_first(void)
{
    const struct model *model = slow_models_extra();
    open_mount(things, model);
    uint64_t tables = walk("prod/tables");
    struct fuse_req *req = kernel_look_up(&kernel, tables, "Extra");
    CHECK_INT(req->replies, 0);
    CHECK_INT(run(), 1000);
    CHECK_INT(req->replies, 1);
    CHECK_INT(req->error, 0);
    CHECK(S_ISDIR(req->entry.attr.st_mode));
    CHECK_INT(walk("prod/tables/Extra"), req->entry.ino);
    CHECK_INT(kernel_walk(&kernel, "prod/tables/Extra/items/7")->error, 0);
    CHECK_INT(kernel_walk(&kernel, "prod/tables/Extra/items/8")->error, ENOENT);
    close_mount();
    model_unref(model);
}

static void that_there_is_no_such_table_comes_later_too(void)
{
    open_mount(scene_items, NULL);
    struct fuse_req *req = kernel_look_up(&kernel, walk("prod/tables"), "Nothing");
    CHECK_INT(req->replies, 0);
    run();
    CHECK_INT(req->error, ENOENT);
    CHECK(req->entry.entry_timeout > 0);
    close_mount();
}

/* Nobody takes the place that still comes, and it is let go of. */
static void a_caller_may_go_before_the_table_is_described(void)
{
    const struct model *model = slow_models_extra();
    open_mount(things, model);
    struct fuse_req *req = kernel_look_up(&kernel, walk("prod/tables"), "Extra");
    kernel_interrupt(req);
    CHECK_INT(req->error, EINTR);
    CHECK_INT(run(), 1000);
    CHECK_INT(req->replies, 1);
    CHECK_INT(slow.asked, 1);
    close_mount();
    model_unref(model);
}

static void the_end_does_not_wait_for_a_description(void)
{
    open_mount(scene_items, NULL);
    struct fuse_req *req = kernel_look_up(&kernel, walk("prod/tables"), "Extra");
    CHECK_INT(req->replies, 0);
    kernel_unmount(&kernel);
    CHECK_INT(slow.cancelled, 1);
    scene_close(&scene);
}

/* Records. */

#define JOB "prod/jobs/by-id/j1"

static void a_record_that_is_fresh_is_not_read_again(void)
{
    open_mount(scene_items, NULL);
    uint64_t ino = walk(JOB);
    CHECK_INT(scene.fake.started, 2);
    CHECK_INT(walk(JOB), ino);
    CHECK_INT(scene.fake.started, 2);
    struct fuse_req *req = kernel_read(&kernel, ino);
    CHECK_INT(req->replies, 1);
    CHECK_HAS(buf_text(&req->bytes), "\"job_id\": \"j1\"");
    close_mount();
}

/* The caller is still in /proc as long as its request waits. */
static void a_caller_is_identified_behind_its_request(void)
{
    open_mount(scene_items, NULL);
    uint64_t parent = walk("prod/jobs/by-id");
    unsigned long before = scene.fake.started;
    struct fuse_req *req = kernel_look_up(&kernel, parent, "j1");
    CHECK_INT(scene.fake.started, before + 1);
    CHECK(!list_is_empty(&kernel.mount.unnamed));
    run();
    CHECK_INT(req->replies, 1);
    CHECK(list_is_empty(&kernel.mount.unnamed));
    scene.fake.delay_ms = TIMEOUT_MS;
    req = kernel_look_up(&kernel, parent, "j2");
    CHECK(!list_is_empty(&kernel.mount.unnamed));
    kernel_interrupt(req);
    CHECK_INT(req->error, EINTR);
    CHECK(list_is_empty(&kernel.mount.unnamed));
    close_mount();
}

/* As long as mount.md promises: for three answers in a row, of --timeout each. */
static void a_look_up_ends_at_its_deadline(void)
{
    open_mount(scene_items, NULL);
    uint64_t parent = walk("prod/jobs/by-id");
    scene.fake.delay_ms = 1000 * TIMEOUT_MS;
    struct fuse_req *req = kernel_look_up(&kernel, parent, "j1");
    CHECK_INT(run(), 3 * TIMEOUT_MS);
    CHECK_INT(req->replies, 1);
    CHECK_INT(req->error, ETIMEDOUT);
    CHECK_INT(scene.fake.started, scene.fake.ended); /* nobody waits for it */
    close_mount();
}

/* Answers that are slow, and none of them too slow. */
static void several_answers_in_a_row_are_waited_for(void)
{
    open_mount(scene_items, NULL);
    uint64_t parent = walk("prod/jobs/by-id");
    scene.fake.delay_ms = TIMEOUT_MS - 1;
    struct fuse_req *req = kernel_look_up(&kernel, parent, "j1");
    CHECK_INT(run(), 2 * (TIMEOUT_MS - 1));
    CHECK_INT(req->error, 0);
    close_mount();
}

static void the_next_joins_what_an_interrupted_caller_has_asked(void)
{
    open_mount(scene_items, NULL);
    uint64_t parent = walk("prod/jobs/by-id");
    scene.fake.delay_ms = 100;
    struct fuse_req *first = kernel_look_up(&kernel, parent, "j1");
    kernel_interrupt(first);
    CHECK_INT(first->error, EINTR);
    struct fuse_req *second = kernel_look_up(&kernel, parent, "j1");
    CHECK_INT(run(), 200);
    CHECK_INT(second->error, 0);
    CHECK_INT(scene.fake.started, 2);
    CHECK_INT(first->replies, 1);
    close_mount();
}

static void a_miss_is_remembered_and_a_failure_is_not(void)
{
    open_mount(scene_items, NULL);
    uint64_t parent = walk("prod/jobs/by-id");
    struct fuse_req *miss = kernel_look_up(&kernel, parent, "none");
    run();
    CHECK_INT(miss->error, ENOENT);
    CHECK(miss->entry.entry_timeout >= 1);
    error_set(&scene.fake.error, ERROR_DENIED, "no");
    scene.fake.fail_at = scene.fake.pages + 1;
    struct fuse_req *denied = kernel_look_up(&kernel, parent, "j1");
    run();
    CHECK_INT(denied->error, EACCES);
    CHECK_INT(denied->entry.entry_timeout, 0);
    struct fuse_req *next = kernel_look_up(&kernel, parent, "j1");
    run();
    CHECK_INT(next->error, 0);
    close_mount();
}

/* The kernel asks once more for a name that it knew, on behalf of the same caller. */
static void the_kernel_s_second_try_is_not_asked(void)
{
    open_mount(scene_items, NULL);
    uint64_t parent = walk("prod/jobs/by-id");
    walk(JOB);
    virtual_clock_pass(&scene.clock, 3600000);
    error_set(&scene.fake.error, ERROR_DENIED, "no");
    scene.fake.fail_at = scene.fake.pages + 1;
    struct fuse_req *denied = kernel_look_up(&kernel, parent, "j1");
    run();
    unsigned asked = scene.fake.started;
    struct fuse_req *again = kernel_look_up(&kernel, parent, "j1");
    CHECK_INT(again->replies, 1);
    CHECK_INT(denied->error, EACCES);
    CHECK_INT(again->error, EACCES);
    CHECK_INT(scene.fake.started, asked);
    close_mount();
}

/* A domain where the name of an index belongs. */
static void what_the_map_refuses_is_no_miss_and_leaves_its_reason(void)
{
    CLEAN_UP(buf_clean_up) struct buf said = {0};
    open_mount(scene_items, NULL);
    uint64_t parent = walk("prod/jobs/by-index/shopify");
    CHECK_INT(kernel_look_up(&kernel, parent, "s.example")->error, EINVAL);
    journal_write_errors(kernel.mount.journal, &said);
    CHECK_HAS(buf_text(&said), "errno=EINVAL path=/prod/jobs/by-index/shopify/s.example");
    CHECK_INT(journal_error_count(kernel.mount.journal), 1);
    CHECK_INT(kernel_look_up(&kernel, walk("prod"), ".git")->error, ENOENT);
    CHECK_INT(journal_error_count(kernel.mount.journal), 1);
    CHECK_INT(scene.fake.started, 0);
    close_mount();
}

/* Where nothing knows its parent any more. */
static void what_the_kernel_has_forgotten_is_stale(void)
{
    open_mount(scene_items, NULL);
    uint64_t ino = walk(JOB);
    kernel_forget(&kernel, ino, 1);
    CHECK_INT(kernel_read(&kernel, ino)->error, ESTALE);
    CHECK_INT(kernel_look_up(&kernel, ino, "x")->error, ESTALE);
    CHECK_INT(kernel_opendir(&kernel, ino)->error, ESTALE);
    close_mount();
}

static void a_file_is_no_directory_and_the_other_way_round(void)
{
    open_mount(scene_items, NULL);
    uint64_t file = walk(JOB), directory = walk("prod/jobs/by-id");
    CHECK_INT(kernel_look_up(&kernel, file, "x")->error, ENOTDIR);
    CHECK_INT(kernel_opendir(&kernel, file)->error, ENOTDIR);
    CHECK_INT(kernel_read(&kernel, directory)->error, EISDIR);
    close_mount();
}

/* Reads of bytes that had been dropped. */

static void drop_contents(void)
{
    struct budget *budget = &kernel.mount.budget;
    while (budget->spare[BUDGET_CONTENTS](budget->arg[BUDGET_CONTENTS]))
        ;
    virtual_clock_pass(&scene.clock, 3600000);
}

static void dropped_bytes_are_read_again(void)
{
    open_mount(scene_items, NULL);
    uint64_t ino = walk(JOB);
    drop_contents();
    unsigned asked = scene.fake.started;
    struct fuse_req *req = kernel_read(&kernel, ino);
    CHECK_INT(req->replies, 0);
    run();
    CHECK_HAS(buf_text(&req->bytes), "\"job_id\": \"j1\"");
    CHECK_INT(scene.fake.started, asked + 2);
    CHECK_INT(kernel_read(&kernel, ino)->replies, 1); /* they are kept again */
    close_mount();
}

static void a_record_that_has_changed_or_gone_meanwhile_is_stale(void)
{
    static const struct fake_item nothing[] = {{0}};
    static const struct fake_item changed[] = {
        {"prod-ShopifyEntitiesTable", NULL,
         "{\"pk\":{\"S\":\"SHOP#s.example\"},\"sk\":{\"S\":\"SETTINGS\"}}"},
        {0},
    };
    const struct fake_item *const now[] = {nothing, changed};
    for (size_t i = 0; i < sizeof now / sizeof now[0]; i++) {
        open_mount(scene_items, NULL);
        uint64_t ino = walk("prod/shops/s.example/SETTINGS");
        drop_contents();
        scene.fake.items = now[i];
        struct fuse_req *req = kernel_read(&kernel, ino);
        run();
        CHECK_INT(req->error, ESTALE);
        close_mount();
    }
}

static void a_read_that_fails_says_why(void)
{
    open_mount(scene_items, NULL);
    uint64_t ino = walk(JOB);
    drop_contents();
    error_set(&scene.fake.error, ERROR_THROTTLED, "later");
    scene.fake.fail_at = scene.fake.pages + 1;
    struct fuse_req *req = kernel_read(&kernel, ino);
    run();
    CHECK_INT(req->error, EAGAIN);
    close_mount();
}

static const struct check_test tests[] = {
    {"a_table_may_have_to_be_described_first", a_table_may_have_to_be_described_first},
    {"that_there_is_no_such_table_comes_later_too", that_there_is_no_such_table_comes_later_too},
    {"a_caller_may_go_before_the_table_is_described",
     a_caller_may_go_before_the_table_is_described},
    {"the_end_does_not_wait_for_a_description", the_end_does_not_wait_for_a_description},
    {"a_record_that_is_fresh_is_not_read_again", a_record_that_is_fresh_is_not_read_again},
    {"a_caller_is_identified_behind_its_request", a_caller_is_identified_behind_its_request},
    {"a_look_up_ends_at_its_deadline", a_look_up_ends_at_its_deadline},
    {"several_answers_in_a_row_are_waited_for", several_answers_in_a_row_are_waited_for},
    {"the_next_joins_what_an_interrupted_caller_has_asked",
     the_next_joins_what_an_interrupted_caller_has_asked},
    {"a_miss_is_remembered_and_a_failure_is_not", a_miss_is_remembered_and_a_failure_is_not},
    {"the_kernel_s_second_try_is_not_asked", the_kernel_s_second_try_is_not_asked},
    {"what_the_map_refuses_is_no_miss_and_leaves_its_reason",
     what_the_map_refuses_is_no_miss_and_leaves_its_reason},
    {"what_the_kernel_has_forgotten_is_stale", what_the_kernel_has_forgotten_is_stale},
    {"a_file_is_no_directory_and_the_other_way_round",
     a_file_is_no_directory_and_the_other_way_round},
    {"dropped_bytes_are_read_again", dropped_bytes_are_read_again},
    {"a_record_that_has_changed_or_gone_meanwhile_is_stale",
     a_record_that_has_changed_or_gone_meanwhile_is_stale},
    {"a_read_that_fails_says_why", a_read_that_fails_says_why},
};

CHECK_MAIN(tests)
