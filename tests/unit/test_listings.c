/* Listings of a mount: what is told of entries, when more of them are asked for, and how one ends.
 */
#include "fs/mount/open_listing.h"

#include <errno.h>

#include "fs/mount/journal.h"
#include "tests/unit/check.h"
#include "tests/unit/kernel.h"
#include "tests/unit/sample.h"

/* Behind the dots, which are told before anything is asked for. */
enum { FIRST = 2 };

enum { MANY = 2000, TTL_MS = 60000, ROOM = 1 << 20 };

static struct scene scene;
static struct kernel kernel;

static struct fake_item items[MANY + 1];
static char texts[MANY][96];

static void make_items(size_t count, const char *note)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i],
                 "{\"pk\":{\"S\":\"B#b\"},\"sk\":{\"S\":\"T#%04zu\"},\"note\":{\"S\":\"%s\"}}", i,
                 note);
        items[i] = (struct fake_item){"prod-Table", NULL, texts[i]};
    }
    items[count] = (struct fake_item){0};
}

static size_t listing_bytes(void)
{
    return kernel.mount.budget.used[BUDGET_LISTINGS];
}

static uint64_t directory;

/* The directory of COUNT records, in pages of so many. */
static void open_mount(size_t count, size_t page_size)
{
    struct error err;
    make_items(count, "old");
    const struct map *map =
        sample_table("\"table\": \"Table\", \"records\": {\"thing\": {\"pk\": \"B#{box}\", \"sk\": "
                     "\"T#{name}\"}}, "
                     "\"ttl\": 60, \"paths\": {\"{box}/\": {\"list\": \"thing\"}}",
                     &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    CHECK(scene_open(&scene, map, items));
    scene.fake.page_size = page_size;
    kernel_mount(&kernel, &scene);
    struct fuse_req *req = kernel_walk(&kernel, "prod/t/b");
    CHECK_INT(req->error, 0);
    directory = req->entry.ino;
}

static void close_mount(void)
{
    kernel_unmount(&kernel);
    scene_close(&scene);
    CHECK_INT(scene.fake.started, scene.fake.ended);
}

static void stop(void *loop)
{
    loop_stop(loop);
}

static void pass(int64_t ms)
{
    CHECK(loop_add_timer(scene.loop, ms, stop, scene.loop));
    CHECK(loop_run(scene.loop));
}

/* Runs the loop, in which no time passes. */
static struct fuse_req *try_to_open(void)
{
    struct fuse_req *req = kernel_opendir(&kernel, directory);
    while (req->replies == 0)
        pass(0);
    return req;
}

static uint64_t open_directory(void)
{
    struct fuse_req *req = try_to_open();
    CHECK_INT(req->error, 0);
    return req->handle;
}

static struct fuse_req *read_from(uint64_t handle, size_t size, off_t offset)
{
    struct fuse_req *req = kernel_readdir(&kernel, handle, size, offset);
    loop_run(scene.loop);
    CHECK_INT(req->replies, 1);
    return req;
}

static size_t lines_of(const struct fuse_req *req)
{
    size_t lines = 0;
    for (const char *at = buf_text(&req->bytes); (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

/* Reads from OFFSET to the end, or the error that is there instead; how many entries there were,
 * the two dots among them. */
static size_t read_all(uint64_t handle, off_t offset, int *error)
{
    size_t lines = 0;
    struct fuse_req *req;
    while ((req = read_from(handle, ROOM, offset))->bytes.size > 0) {
        lines += lines_of(req);
        offset = req->next;
    }
    *error = req->error;
    return lines;
}

/* The line of an entry: "NAME INODE MODE". */
static uint64_t told_inode(const struct fuse_req *req, const char *name)
{
    const char *at = strstr(buf_text(&req->bytes), name);
    CHECK(at);
    return strtoull(at + strlen(name), NULL, 10);
}

static void pages_come_as_they_are_read(void)
{
    int error;
    open_mount(250, 100);
    uint64_t handle = open_directory();
    CHECK_INT(scene.fake.pages, 1);
    struct fuse_req *first = read_from(handle, ROOM, FIRST);
    CHECK_INT(lines_of(first), 100);
    CHECK_INT(scene.fake.pages, 1);
    CHECK_INT(read_all(handle, first->next, &error), 150);
    CHECK_INT(error, 0);
    CHECK_INT(scene.fake.pages, 3);
    CHECK_INT(read_all(handle, 0, &error), 252); /* offsets stay what they were */
    CHECK_INT(scene.fake.pages, 3);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

/* Whoever has read a thousand entries is taken to want the rest, and nobody before. */
static void a_long_listing_is_read_ahead(void)
{
    open_mount(MANY, 500);
    uint64_t handle = open_directory();
    off_t offset = FIRST;
    for (unsigned page = 1; page <= 2; page++) {
        offset = read_from(handle, ROOM, offset)->next;
        CHECK_INT(scene.fake.pages, page);
    }
    struct fuse_req *third = read_from(handle, 100, offset);
    CHECK_INT(scene.fake.pages, 3);
    read_from(handle, 100, third->next); /* of what is there */
    CHECK_INT(scene.fake.pages, 4);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

static void a_small_buffer_is_filled_and_gone_on_from(void)
{
    open_mount(50, 0);
    uint64_t handle = open_directory();
    size_t lines = 0;
    off_t offset = 0;
    for (struct fuse_req *req; (req = read_from(handle, 64, offset))->bytes.size > 0;) {
        CHECK(req->bytes.size <= 64);
        lines += lines_of(req);
        offset = req->next;
    }
    CHECK_INT(lines, 52);
    CHECK_INT(offset, 52);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

static void a_fresh_listing_is_shared_and_a_stale_one_is_not(void)
{
    int error;
    open_mount(10, 0);
    uint64_t first = open_directory();
    read_all(first, 0, &error);
    uint64_t second = open_directory();
    CHECK(first == second);
    kernel_releasedir(&kernel, second);
    virtual_clock_pass(&scene.clock, TTL_MS);
    uint64_t third = open_directory();
    CHECK(first != third);
    CHECK_INT(read_all(third, 0, &error), 12);
    CHECK_INT(scene.fake.pages, 2);
    kernel_releasedir(&kernel, first);
    kernel_releasedir(&kernel, third);
    close_mount();
}

static void look_up_listed(const char *name, unsigned pages)
{
    struct fuse_req *req = kernel_look_up(&kernel, directory, name);
    loop_run(scene.loop);
    CHECK_INT(req->error, 0);
    CHECK_INT(scene.fake.pages, pages);
}

/* Its records are whole, so they cost nothing while it is open, and good. */
static void a_listing_answers_look_ups(void)
{
    int error;
    open_mount(10, 0);
    uint64_t handle = open_directory();
    read_all(handle, 0, &error);
    look_up_listed("0003", 1);
    virtual_clock_pass(&scene.clock, TTL_MS);
    look_up_listed("0003", 2);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

/* What is told a little later than it is good for is told as if it were good: the kernel is never
 * told less than a tenth of a second anyway. Then names alone are told. */
static void what_is_no_longer_good_is_told_by_its_name_alone(void)
{
    int error;
    open_mount(10, 0);
    uint64_t handle = open_directory();
    read_all(handle, 0, &error);
    virtual_clock_pass(&scene.clock, TTL_MS + 99);
    CHECK(told_inode(read_from(handle, ROOM, 0), "0003") != 0);
    virtual_clock_pass(&scene.clock, 1);
    CHECK_INT(told_inode(read_from(handle, ROOM, 0), "0003"), 0);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

static void after_a_refresh_of_it_names_alone_are_told(void)
{
    int error;
    open_mount(10, 0);
    uint64_t handle = open_directory();
    read_all(handle, 0, &error);
    listings_forget(kernel.mount.listings, span_text("/prod"));
    struct fuse_req *req = read_from(handle, ROOM, 0);
    CHECK_INT(lines_of(req), 12);
    CHECK_INT(told_inode(req, "0003"), 0);
    CHECK_INT(told_inode(req, "0009"), 0);
    uint64_t next = open_directory();
    CHECK(next != handle);
    CHECK(told_inode(read_from(next, ROOM, FIRST), "0003") != 0);
    kernel_releasedir(&kernel, handle);
    kernel_releasedir(&kernel, next);
    close_mount();
}

/* And another directory's has nothing to do with it. */
static void after_a_refresh_of_one_entry_the_others_are_told_as_before(void)
{
    int error;
    open_mount(10, 0);
    uint64_t handle = open_directory();
    read_all(handle, 0, &error);
    listings_forget(kernel.mount.listings, span_text("/prod/t/bb"));
    listings_forget(kernel.mount.listings, span_text("/prod/t/other/0004"));
    listings_forget(kernel.mount.listings, span_text("/prod/t/b/none"));
    CHECK(told_inode(read_from(handle, ROOM, 0), "0003") != 0);
    listings_forget(kernel.mount.listings, span_text("/prod/t/b/0003"));
    struct fuse_req *req = read_from(handle, ROOM, 0);
    CHECK_INT(told_inode(req, "0003"), 0);
    CHECK(told_inode(req, "0002") != 0 && told_inode(req, "0004") != 0);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

static void as_many_entries_as_are_allowed(void)
{
    int error;
    open_mount(10, 0);
    kernel.options.max_entries = 10;
    uint64_t handle = open_directory();
    CHECK_INT(read_all(handle, 0, &error), 12);
    CHECK_INT(error, 0);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

static void one_entry_more_than_is_allowed(void)
{
    int error;
    open_mount(11, 0);
    kernel.options.max_entries = 10;
    uint64_t handle = open_directory();
    read_all(handle, 0, &error);
    CHECK_INT(error, EFBIG);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

static void a_page_that_fails_ends_it_in_an_error(void)
{
    int error;
    open_mount(250, 100);
    error_set(&scene.fake.error, ERROR_THROTTLED, "later");
    scene.fake.fail_at = 2;
    uint64_t handle = open_directory();
    CHECK_INT(read_all(handle, 0, &error), 102);
    CHECK_INT(error, EAGAIN);
    kernel_releasedir(&kernel, handle);
    uint64_t next = open_directory();
    CHECK_INT(read_all(next, 0, &error), 252);
    CHECK_INT(error, 0);
    kernel_releasedir(&kernel, next);
    close_mount();
}

static void one_of_two_waiting_readers_is_interrupted(void)
{
    open_mount(20, 10);
    uint64_t handle = open_directory();
    scene.fake.delay_ms = 1000;
    struct fuse_req *req = kernel_readdir(&kernel, handle, ROOM, FIRST + 10);
    kernel_readdir(&kernel, handle, ROOM, FIRST + 10);
    CHECK_INT(req->replies, 0);
    kernel_interrupt(req);
    CHECK_INT(req->error, EINTR);
    loop_run(scene.loop);
    CHECK_INT(lines_of(read_from(handle, ROOM, FIRST + 10)), 10);
    CHECK_INT(scene.fake.pages, 2);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

static void one_of_two_openers_is_interrupted(void)
{
    open_mount(10, 0);
    scene.fake.delay_ms = 1000;
    struct fuse_req *first = kernel_opendir(&kernel, directory);
    struct fuse_req *second = kernel_opendir(&kernel, directory);
    pass(500);
    kernel_interrupt(first);
    CHECK_INT(first->error, EINTR);
    pass(500);
    CHECK_INT(second->replies, 1);
    CHECK_INT(second->error, 0);
    CHECK_INT(lines_of(read_from(second->handle, ROOM, FIRST)), 10);
    CHECK_INT(scene.fake.started, 1);
    kernel_releasedir(&kernel, second->handle);
    close_mount();
}

static void the_last_opener_ends_its_request(void)
{
    open_mount(10, 0);
    scene.fake.delay_ms = 1000;
    struct fuse_req *req = kernel_opendir(&kernel, directory);
    pass(500);
    CHECK_INT(scene.fake.started, 1);
    kernel_interrupt(req);
    pass(0);
    CHECK_INT(scene.fake.ended, 1);
    CHECK_INT(listing_bytes(), 0);
    close_mount();
}

static struct fuse_req *opening;

static void interrupt_opening(void *arg)
{
    (void)arg;
    kernel_interrupt(opening);
}

/* The page comes in the round of the loop in which the last opener goes, and the memory is full. */
static void a_page_that_comes_as_the_last_opener_goes(void)
{
    open_mount(10, 0);
    kernel.mount.budget.limit = 1;
    scene.fake.delay_ms = 1000;
    CHECK(loop_add_timer(scene.loop, 1000, interrupt_opening, NULL));
    opening = kernel_opendir(&kernel, directory);
    pass(2000);
    CHECK_INT(opening->error, EINTR);
    CHECK_INT(listing_bytes(), 0);
    close_mount();
}

static void a_first_page_that_fails_fails_opendir(void)
{
    open_mount(10, 0);
    error_set(&scene.fake.error, ERROR_DENIED, "no");
    scene.fake.down = true;
    CHECK_INT(try_to_open()->error, EACCES);
    CHECK_INT(try_to_open()->error, EACCES);
    CHECK_INT(scene.fake.started, 2); /* an error is never shared */
    scene.fake.down = false;
    kernel_releasedir(&kernel, open_directory());
    close_mount();
}

/* The kernel repeats an OPENDIR after ESTALE. */
static void a_directory_that_is_gone_is_not_found(void)
{
    open_mount(10, 0);
    error_set(&scene.fake.error, ERROR_NOT_FOUND, "gone");
    scene.fake.down = true;
    CHECK_INT(try_to_open()->error, ENOENT);
    close_mount();
}

static void an_opener_that_is_gone_leaves_no_handle(void)
{
    open_mount(10, 0);
    kernel.outcome = -ENOENT;
    try_to_open();
    kernel.outcome = 0;
    loop_run(scene.loop);
    CHECK_INT(listing_bytes(), 0);
    close_mount();
}

static void a_page_that_takes_too_long_ends_the_wait(void)
{
    open_mount(10, 0);
    scene.fake.delay_ms = 1000 * kernel.options.timeout_ms;
    struct fuse_req *req = kernel_opendir(&kernel, directory);
    while (req->replies == 0)
        loop_run(scene.loop);
    CHECK_INT(req->error, ETIMEDOUT);
    close_mount();
}

/* What the kernel has not got, it will not say that it forgets. */
static void an_answer_that_is_not_taken_leaves_no_inode_behind(void)
{
    open_mount(10, 0);
    uint64_t handle = open_directory();
    kernel.outcome = -ENOENT;
    CHECK_INT(lines_of(read_from(handle, ROOM, FIRST)), 10);
    kernel.outcome = 0;
    kernel_releasedir(&kernel, handle);
    listings_forget(kernel.mount.listings, span_text("/"));
    CHECK_INT(nodes_stats(kernel.mount.nodes).files, 0);
    close_mount();
}

static void an_answer_that_is_taken_keeps_its_inodes(void)
{
    open_mount(10, 0);
    uint64_t handle = open_directory();
    uint64_t ino = told_inode(read_from(handle, ROOM, FIRST), "0003");
    kernel_releasedir(&kernel, handle);
    listings_forget(kernel.mount.listings, span_text("/"));
    CHECK_INT(nodes_stats(kernel.mount.nodes).files, 10);
    kernel_forget(&kernel, ino, 1);
    CHECK_INT(nodes_stats(kernel.mount.nodes).files, 9);
    close_mount();
}

/* What listings take. */

static void a_listing_counts_against_the_cache(void)
{
    int error;
    open_mount(MANY, 0);
    CHECK_INT(listing_bytes(), 0);
    uint64_t handle = open_directory();
    CHECK_INT(read_all(handle, 0, &error), MANY + 2);
    CHECK(listing_bytes() >= MANY * sizeof(void *));
    kernel_releasedir(&kernel, handle);
    virtual_clock_pass(&scene.clock, TTL_MS);
    scene.fake.items = items + MANY;              /* none */
    kernel_releasedir(&kernel, open_directory()); /* which replaces it */
    CHECK(listing_bytes() < MANY);
    close_mount();
    CHECK_INT(listing_bytes(), 0);
}

/* It is kept for whoever comes next only as long as its room is not wanted. */
static void a_listing_that_nobody_has_open_makes_room(void)
{
    int error;
    open_mount(MANY, 0);
    uint64_t first = open_directory(), next;
    read_all(first, 0, &error);
    kernel_releasedir(&kernel, first);
    next = open_directory();
    CHECK_INT(read_all(next, 0, &error), MANY + 2);
    CHECK_INT(scene.fake.pages, 1); /* it was kept */
    kernel.mount.budget.limit = 1;
    budget_add(&kernel.mount.budget, BUDGET_NODES, 0);
    CHECK(listing_bytes() > MANY); /* and is not taken from who has it open */
    kernel_releasedir(&kernel, next);
    budget_add(&kernel.mount.budget, BUDGET_NODES, 0);
    CHECK_INT(listing_bytes(), 0);
    close_mount();
}

/* It goes by itself when it is good no more. */
static void a_listing_is_kept_while_it_is_fresh(void)
{
    int error;
    open_mount(10, 0);
    uint64_t handle = open_directory();
    read_all(handle, 0, &error);
    kernel_releasedir(&kernel, handle);
    CHECK(listing_bytes() > 0);
    int64_t before = scene.clock.now_ms;
    loop_run(scene.loop);
    CHECK_INT(scene.clock.now_ms - before, TTL_MS);
    CHECK_INT(listing_bytes(), 0);
    close_mount();
}

/* Outages. */

enum { STALE_MS = 3600000 };

/* COUNT records, whose listing is known, but too old. */
static uint64_t open_outage(size_t count, size_t page_size)
{
    int error;
    open_mount(count, page_size);
    kernel.app.tree.stale_ms = STALE_MS;
    uint64_t handle = open_directory();
    read_all(handle, 0, &error);
    CHECK_INT(error, 0);
    virtual_clock_pass(&scene.clock, 2 * TTL_MS);
    error_set(&scene.fake.error, ERROR_TIMED_OUT, "no answer");
    scene.fake.down = true;
    return handle;
}

static void close_outage(uint64_t handle, uint64_t other)
{
    kernel_releasedir(&kernel, handle);
    kernel_releasedir(&kernel, other);
    close_mount();
}

static void in_an_outage_the_last_whole_listing_is_told(void)
{
    CLEAN_UP(buf_clean_up) struct buf said = {0};
    uint64_t old = open_outage(10, 0), handle = open_directory();
    CHECK(handle != old);
    struct fuse_req *req = read_from(handle, ROOM, FIRST);
    CHECK_INT(req->error, 0);
    CHECK_INT(lines_of(req), 10);
    CHECK(told_inode(req, "0003") != 0);
    CHECK_INT(read_from(handle, ROOM, req->next)->bytes.size, 0);
    journal_write_errors(kernel.mount.journal, &said);
    CHECK_HAS(buf_text(&said), "note path=/prod/t/b: the data of 2026-04-16T12:00:00Z was "
                               "returned, because: no answer\n");
    CHECK_INT(journal_stale_count(kernel.mount.journal), 1);
    close_outage(old, handle);
}

/* And it grows no younger by being told. */
static void it_is_told_again_and_again_up_to_its_bound(void)
{
    int error;
    uint64_t handle = open_outage(10, 0);
    for (int64_t age = 2 * TTL_MS; age < TTL_MS + STALE_MS; age += STALE_MS / 3) {
        uint64_t next = open_directory();
        CHECK_INT(read_all(next, 0, &error), 12);
        CHECK_INT(error, 0);
        kernel_releasedir(&kernel, handle);
        handle = next;
        virtual_clock_pass(&scene.clock, STALE_MS / 3);
    }
    CHECK_INT(journal_stale_count(kernel.mount.journal), 3);
    CHECK_INT(try_to_open()->error, ETIMEDOUT);
    kernel_releasedir(&kernel, handle);
    close_mount();
}

static void look_up_in_outage(const char *name, int error)
{
    struct fuse_req *req = kernel_look_up(&kernel, directory, name);
    loop_run(scene.loop);
    CHECK_INT(req->replies, 1);
    CHECK_INT(req->error, error);
    if (error == 0)
        CHECK_INT(req->entry.entry_timeout, MAP_MISSING_TTL_MS / 1000);
}

/* It was brought by the listing, and read by nobody. */
static void its_names_are_found(void)
{
    uint64_t old = open_outage(10, 0);
    look_up_in_outage("0003", 0);
    uint64_t handle = open_directory();
    look_up_in_outage("0004", 0);
    look_up_in_outage("none", ETIMEDOUT);
    struct fuse_req *req = read_from(handle, ROOM, FIRST);
    CHECK_HAS(buf_text(&kernel_read(&kernel, told_inode(req, "0003"))->bytes), "old");
    CHECK_INT(journal_stale_count(kernel.mount.journal), 2);
    close_outage(old, handle);
}

static void what_was_refreshed_by_hand_is_not_told(void)
{
    uint64_t old = open_outage(10, 0);
    listings_forget(kernel.mount.listings, span_text("/prod/t/b/0003"));
    look_up_in_outage("0003", ETIMEDOUT);
    look_up_in_outage("0004", 0);
    listings_forget(kernel.mount.listings, span_text("/prod/t/b"));
    look_up_in_outage("0004", ETIMEDOUT);
    CHECK_INT(try_to_open()->error, ETIMEDOUT);
    kernel_releasedir(&kernel, old);
    close_mount();
}

static void one_that_is_denied_is_not_told(void)
{
    uint64_t old = open_outage(10, 0);
    error_set(&scene.fake.error, ERROR_DENIED, "no");
    look_up_in_outage("0003", EACCES);
    CHECK_INT(try_to_open()->error, EACCES);
    CHECK_INT(journal_stale_count(kernel.mount.journal), 0);
    kernel_releasedir(&kernel, old);
    close_mount();
}

/* Its first pages are as they were: the rest of the old one goes on from there. */
static void an_outage_in_its_midst(void)
{
    uint64_t old = open_outage(250, 100);
    scene.fake.down = false;
    scene.fake.fail_at = scene.fake.pages + 2;
    uint64_t handle = open_directory();
    struct fuse_req *first = read_from(handle, ROOM, FIRST);
    CHECK_INT(lines_of(first), 100);
    struct fuse_req *rest = read_from(handle, ROOM, first->next);
    CHECK_INT(lines_of(rest), 150);
    CHECK_INT(read_from(handle, ROOM, rest->next)->error, 0);
    close_outage(old, handle);
}

static void another_beginning_goes_on_with_no_old_one(void)
{
    uint64_t old = open_outage(250, 100);
    scene.fake.down = false;
    scene.fake.items = items + 1;
    scene.fake.fail_at = scene.fake.pages + 2;
    uint64_t handle = open_directory();
    struct fuse_req *first = read_from(handle, ROOM, FIRST);
    CHECK_INT(lines_of(first), 100);
    CHECK_INT(read_from(handle, ROOM, first->next)->error, ETIMEDOUT);
    close_outage(old, handle);
}

/* Nobody has it open, and it is there when it is needed; a fresh one takes its place. */
static void it_is_kept_for_an_outage_and_makes_room(void)
{
    uint64_t old = open_outage(10, 0);
    kernel_releasedir(&kernel, old);
    size_t one = listing_bytes();
    scene.fake.down = false;
    uint64_t handle = open_directory();
    CHECK(listing_bytes() < one + one / 2);
    virtual_clock_pass(&scene.clock, 2 * TTL_MS);
    scene.fake.down = true;
    struct fuse_req *req = kernel_opendir(&kernel, directory);
    kernel_releasedir(&kernel, handle);
    struct budget *budget = &kernel.mount.budget;
    CHECK(budget->spare[BUDGET_LISTINGS](budget->arg[BUDGET_LISTINGS]));
    while (req->replies == 0)
        pass(0);
    CHECK_INT(req->error, ETIMEDOUT);
    pass(0);
    CHECK_INT(listing_bytes(), 0);
    close_mount();
}

/* It comes with its inode and its mode, so that the kernel does not look it up; and does not open.
 */
/* One file of a listing, for several callers. */

static uint64_t table; /* the directory with the file */

static void open_file_mount(unsigned timeout_ms, int64_t delay_ms)
{
    open_mount(4, 2);
    table = kernel_walk(&kernel, "prod/t")->entry.ino;
    kernel.options.timeout_ms = timeout_ms;
    kernel.app.tree.snapshot_bytes = ROOM;
    scene.fake.delay_ms = delay_ms;
}

static struct fuse_req *look_up_file(void)
{
    return kernel_look_up(&kernel, table, "b@jsonl");
}

/* The first page would be older than the ttl when the last caller asks. */
static void a_caller_gets_no_file_that_was_begun_before_the_ttl(void)
{
    open_file_mount(TTL_MS, TTL_MS - 1);
    struct fuse_req *first = look_up_file();
    pass(TTL_MS - 2);
    struct fuse_req *second = look_up_file();
    pass(2);
    CHECK_INT(scene.fake.started, 1);
    struct fuse_req *last = look_up_file();
    loop_run(scene.loop);
    CHECK(first->error == 0 && second->error == 0 && last->error == 0);
    CHECK(first->replies == 1 && second->replies == 1 && last->replies == 1);
    CHECK_INT(scene.fake.started, 2);
    close_mount();
}

static void one_that_nobody_waits_for_is_not_begun_again(void)
{
    open_file_mount(2000, TTL_MS);
    struct fuse_req *first = look_up_file();
    pass(5500);
    struct fuse_req *second = look_up_file();
    pass(100);
    kernel_interrupt(second);
    loop_run(scene.loop);
    CHECK(first->error == ETIMEDOUT && second->error == EINTR);
    CHECK_INT(scene.fake.started, 1);
    close_mount();
}

static void a_placeholder_is_told_with_its_node_and_does_not_open(void)
{
    open_mount(3, 2);
    struct fuse_req *above = kernel_opendir(&kernel, kernel_walk(&kernel, "prod/t")->entry.ino);
    pass(0);
    CHECK_INT(above->replies, 1);
    CHECK_INT(above->error, 0);
    struct fuse_req *req = read_from(above->handle, ROOM, FIRST);
    uint64_t inode = told_inode(req, "{box} ");
    CHECK(inode != 0);
    CHECK_HAS(buf_text(&req->bytes), " 40555\n");
    req = kernel_opendir(&kernel, inode);
    CHECK_INT(req->error, EOPNOTSUPP);
    req = kernel_look_up(&kernel, inode, "x");
    CHECK_INT(req->replies, 1);
    CHECK_INT(req->error, EOPNOTSUPP);
    req = kernel_look_up(&kernel, inode, ".git");
    CHECK_INT(req->error, ENOENT);
    CHECK_INT(scene.fake.started, 0);
    kernel_releasedir(&kernel, above->handle);
    close_mount();
}

static const struct check_test tests[] = {
    {"a_caller_gets_no_file_that_was_begun_before_the_ttl",
     a_caller_gets_no_file_that_was_begun_before_the_ttl},
    {"one_that_nobody_waits_for_is_not_begun_again", one_that_nobody_waits_for_is_not_begun_again},
    {"a_placeholder_is_told_with_its_node_and_does_not_open",
     a_placeholder_is_told_with_its_node_and_does_not_open},
    {"in_an_outage_the_last_whole_listing_is_told", in_an_outage_the_last_whole_listing_is_told},
    {"it_is_told_again_and_again_up_to_its_bound", it_is_told_again_and_again_up_to_its_bound},
    {"its_names_are_found", its_names_are_found},
    {"what_was_refreshed_by_hand_is_not_told", what_was_refreshed_by_hand_is_not_told},
    {"one_that_is_denied_is_not_told", one_that_is_denied_is_not_told},
    {"an_outage_in_its_midst", an_outage_in_its_midst},
    {"another_beginning_goes_on_with_no_old_one", another_beginning_goes_on_with_no_old_one},
    {"it_is_kept_for_an_outage_and_makes_room", it_is_kept_for_an_outage_and_makes_room},
    {"pages_come_as_they_are_read", pages_come_as_they_are_read},
    {"a_long_listing_is_read_ahead", a_long_listing_is_read_ahead},
    {"a_small_buffer_is_filled_and_gone_on_from", a_small_buffer_is_filled_and_gone_on_from},
    {"a_fresh_listing_is_shared_and_a_stale_one_is_not",
     a_fresh_listing_is_shared_and_a_stale_one_is_not},
    {"a_listing_answers_look_ups", a_listing_answers_look_ups},
    {"what_is_no_longer_good_is_told_by_its_name_alone",
     what_is_no_longer_good_is_told_by_its_name_alone},
    {"after_a_refresh_of_it_names_alone_are_told", after_a_refresh_of_it_names_alone_are_told},
    {"after_a_refresh_of_one_entry_the_others_are_told_as_before",
     after_a_refresh_of_one_entry_the_others_are_told_as_before},
    {"as_many_entries_as_are_allowed", as_many_entries_as_are_allowed},
    {"one_entry_more_than_is_allowed", one_entry_more_than_is_allowed},
    {"a_page_that_fails_ends_it_in_an_error", a_page_that_fails_ends_it_in_an_error},
    {"one_of_two_waiting_readers_is_interrupted", one_of_two_waiting_readers_is_interrupted},
    {"one_of_two_openers_is_interrupted", one_of_two_openers_is_interrupted},
    {"the_last_opener_ends_its_request", the_last_opener_ends_its_request},
    {"a_page_that_comes_as_the_last_opener_goes", a_page_that_comes_as_the_last_opener_goes},
    {"a_first_page_that_fails_fails_opendir", a_first_page_that_fails_fails_opendir},
    {"a_directory_that_is_gone_is_not_found", a_directory_that_is_gone_is_not_found},
    {"an_opener_that_is_gone_leaves_no_handle", an_opener_that_is_gone_leaves_no_handle},
    {"a_page_that_takes_too_long_ends_the_wait", a_page_that_takes_too_long_ends_the_wait},
    {"an_answer_that_is_not_taken_leaves_no_inode_behind",
     an_answer_that_is_not_taken_leaves_no_inode_behind},
    {"a_listing_counts_against_the_cache", a_listing_counts_against_the_cache},
    {"a_listing_that_nobody_has_open_makes_room", a_listing_that_nobody_has_open_makes_room},
    {"a_listing_is_kept_while_it_is_fresh", a_listing_is_kept_while_it_is_fresh},
    {"an_answer_that_is_taken_keeps_its_inodes", an_answer_that_is_taken_keeps_its_inodes},
};

CHECK_MAIN(tests)
