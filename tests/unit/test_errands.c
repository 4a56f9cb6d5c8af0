/* What the kernel is brought: names to forget, and files before they are asked for. The notifier is
 * played here; so is a kernel that knows how to forget all names at once, or does not. */
#include <errno.h>

#include "fs/mount/notifier.h"
#include "fs/mount/read_ahead.h"
#include "fs/mount/refresh.h"
#include "fs/mount/waiting.h"
#include "tests/unit/check.h"
#include "tests/unit/kernel.h"
#include "tests/unit/sample.h"

enum { MANY = 1000, FEW_NAMES = 64 };

static struct scene scene;
static struct kernel kernel;

static struct fake_item items[MANY + 1];
static char texts[MANY][128];

/* The kernel. */

static bool forgets_all_at_once;
static unsigned forgotten_all, asked_to_forget_all;
static struct buf forgotten; /* "NAME " of each */
static unsigned forgotten_count;
static uint64_t given[2 * MANY];
static unsigned given_count;

bool notifier_forget_all_names(struct fuse_session *session)
{
    (void)session;
    asked_to_forget_all++;
    errno = EINVAL;
    forgotten_all += forgets_all_at_once;
    return forgets_all_at_once;
}

int fuse_lowlevel_notify_inval_entry(struct fuse_session *session, fuse_ino_t parent,
                                     const char *name, size_t size)
{
    (void)session, (void)parent;
    buf_printf(&forgotten, "%.*s ", (int)size, name);
    forgotten_count++;
    return 0;
}

int fuse_lowlevel_notify_store(struct fuse_session *session, fuse_ino_t ino, off_t offset,
                               struct fuse_bufvec *bytes, enum fuse_buf_copy_flags flags)
{
    struct span content;
    (void)session, (void)flags;
    struct node *node = nodes_find(kernel.mount.nodes, ino);
    CHECK(node && nodes_content(kernel.mount.nodes, node, &content) && offset == 0);
    CHECK_SPAN(span_of(bytes->buf[0].mem, bytes->buf[0].size), content);
    given[given_count++] = ino;
    return 0;
}

/* The notifier: on his way for COURIER_MS, or for ever. */
static int64_t courier_ms;
static struct notice *on_the_way;

static void come_back(void *arg)
{
    struct notice *notice = arg;
    on_the_way = NULL;
    notice->run(notice);
    notice->done(notice);
}

bool notifier_send(struct notifier *notifier, struct notice *notice)
{
    (void)notifier;
    on_the_way = notice;
    if (courier_ms >= 0)
        CHECK(loop_add_timer(scene.loop, courier_ms, come_back, notice));
    return true;
}

static uint64_t directory, handle; /* which is open, so that its listing stays */

/* The directory "/prod/t/b" of COUNT records. */
static void open_mount(size_t count)
{
    struct error err;
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "{\"pk\":{\"S\":\"B#b\"},\"sk\":{\"S\":\"T#%04zu\"}}",
                 i);
        items[i] = (struct fake_item){"prod-Table", NULL, texts[i]};
    }
    items[count] = (struct fake_item){0};
    const struct map *map = sample_table(
        "\"table\": \"Table\", \"records\": {\"thing\": {\"pk\": \"B#{box}\", \"sk\": "
        "\"T#{name}\"}}, \"ttl\": 3600, \"paths\": {\"{box}/\": {\"list\": \"thing\"}}",
        &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    CHECK(scene_open(&scene, map, items));
    kernel_mount(&kernel, &scene);
    kernel.mount.budget.limit = 16 << 20;
    kernel.mount.refresh = refresh_new(&kernel.mount);
    forgets_all_at_once = true;
    forgotten_all = asked_to_forget_all = forgotten_count = given_count = 0;
    courier_ms = 0;
    directory = kernel_walk(&kernel, "prod/t/b")->entry.ino;
    struct fuse_req *req = kernel_opendir(&kernel, directory);
    loop_run(scene.loop);
    handle = req->handle;
    kernel_readdir(&kernel, handle, 1 << 20, 2);
    loop_run(scene.loop);
    CHECK_INT(nodes_stats(kernel.mount.nodes).files, count);
}

static void close_mount(void)
{
    kernel_releasedir(&kernel, handle);
    kernel_unmount(&kernel);
    refresh_destroy(kernel.mount.refresh);
    scene_close(&scene);
    buf_clean_up(&forgotten);
}

/* As `ddbfs refresh` does; its reply. */
static struct fuse_req *refresh(const char *path)
{
    CLEAN_UP(buf_clean_up) struct buf mirror = {0};
    buf_printf(&mirror, ".ddbfs/refresh%s/@now", path);
    return kernel_walk(&kernel, buf_text(&mirror));
}

static void a_name_is_forgotten_and_no_other(void)
{
    open_mount(3);
    CHECK_INT(refresh("/prod/t/b/0001")->error, ENOENT);
    CHECK_INT(forgotten_all, 0);
    CHECK_HAS(buf_text(&forgotten), "0001 ");
    CHECK(!strstr(buf_text(&forgotten), "0002") && !strstr(buf_text(&forgotten), "b "));
    close_mount();
}

/* It may be known as one that is not there. */
static void a_name_that_has_no_inode_is_forgotten_too(void)
{
    open_mount(3);
    CHECK_INT(refresh("/prod/t/b/new")->error, ENOENT);
    CHECK_TEXT(buf_text(&forgotten), "new ");
    close_mount();
}

/* The directory itself is among them twice: as it is known, and by its name. */
static void a_few_names_are_told_one_by_one(void)
{
    open_mount(FEW_NAMES - 2);
    CHECK_INT(refresh("/prod/t/b")->error, ENOENT);
    CHECK_INT(asked_to_forget_all, 0);
    CHECK_INT(forgotten_count, FEW_NAMES);
    close_mount();
}

static void many_names_are_forgotten_at_once(void)
{
    open_mount(FEW_NAMES - 1);
    CHECK_INT(refresh("/prod/t/b")->error, ENOENT);
    CHECK_INT(forgotten_all, 1);
    CHECK_INT(forgotten_count, 0);
    close_mount();
}

static void an_older_kernel_is_told_all_names_and_asked_no_more(void)
{
    open_mount(FEW_NAMES - 1);
    forgets_all_at_once = false;
    for (unsigned times = 1; times <= 2; times++) {
        CHECK_INT(refresh("/prod/t/b")->error, ENOENT);
        CHECK_INT(forgotten_count, times * (FEW_NAMES + 1));
    }
    CHECK_INT(asked_to_forget_all, 1);
    close_mount();
}

static struct fuse_req *start_refresh(const char *mirror)
{
    return kernel_look_up(&kernel, kernel_walk(&kernel, mirror)->entry.ino, "@now");
}

static void a_refresh_that_takes_too_long_is_broken_off(void)
{
    open_mount(3);
    courier_ms = -1;
    struct fuse_req *req = start_refresh(".ddbfs/refresh/prod/t/b");
    int64_t before = scene.clock.now_ms;
    CHECK_INT(req->replies, 0);
    while (req->replies == 0)
        loop_run(scene.loop);
    CHECK_INT(req->error, ETIMEDOUT);
    CHECK_INT(scene.clock.now_ms - before, waiting_longest_ms(&kernel.mount));
    come_back(on_the_way); /* too late, with nothing told */
    CHECK_INT(forgotten_count, 0);
    close_mount();
}

static void the_end_breaks_a_refresh_off(void)
{
    open_mount(3);
    courier_ms = -1;
    struct fuse_req *req = start_refresh(".ddbfs/refresh/prod/t/b");
    refresh_cancel_all(kernel.mount.refresh);
    CHECK_INT(req->error, ENOTCONN);
    come_back(on_the_way);
    CHECK_INT(forgotten_count, 0);
    close_mount();
}

/* To have one name forgotten would mean to wait for who waits in its directory. */
static void where_somebody_waits_all_is_forgotten_at_once(void)
{
    open_mount(3);
    uint64_t mirror = kernel_walk(&kernel, ".ddbfs/refresh/prod/t/b/0001")->entry.ino;
    struct fuse_req *slow = kernel_look_up(&kernel, directory, "none");
    CHECK_INT(kernel_look_up(&kernel, mirror, "@now")->error, ENOENT);
    CHECK_INT(forgotten_all, 1);
    CHECK_INT(slow->replies, 0);
    loop_run(scene.loop);
    CHECK_INT(slow->error, ENOENT);
    close_mount();
}

static void on_an_older_kernel_who_waits_is_sent_back_once(void)
{
    open_mount(3);
    forgets_all_at_once = false;
    uint64_t mirror = kernel_walk(&kernel, ".ddbfs/refresh/prod/t/b/0001")->entry.ino;
    struct fuse_req *first = kernel_look_up(&kernel, directory, "none");
    struct fuse_req *refreshed = kernel_look_up(&kernel, mirror, "@now");
    CHECK_INT(first->error, ESTALE);
    struct fuse_req *again = kernel_look_up(&kernel, directory, "none");
    kernel_look_up(&kernel, mirror, "@now");
    CHECK_INT(again->replies, 0);
    loop_run(scene.loop);
    CHECK_INT(again->error, ENOENT);
    CHECK_INT(refreshed->error, ENOENT);
    close_mount();
}

/* Reading ahead. */

static uint64_t ino_of(unsigned number)
{
    char name[8];
    snprintf(name, sizeof name, "%04u", number);
    return kernel_look_up(&kernel, directory, name)->entry.ino;
}

static void read_file(unsigned number)
{
    CHECK_INT(kernel_read(&kernel, ino_of(number))->replies, 1);
    loop_run(scene.loop);
}

static void after_four_in_a_row_the_next_are_given(void)
{
    open_mount(200);
    for (unsigned i = 0; i < 3; i++)
        read_file(i);
    CHECK_INT(given_count, 0);
    read_file(3);
    CHECK_INT(given_count, 32);
    CHECK_INT(read_ahead_count(kernel.mount.ahead), 32);
    for (unsigned i = 0; i < 32; i++)
        CHECK_INT(given[i], ino_of(4 + i));
    close_mount();
}

/* The kernel asks for none of those that it has been given. */
static void twice_as_many_are_given_each_time_and_none_twice(void)
{
    static const unsigned in_all[] = {32, 96, 224, 480, 736};
    open_mount(MANY);
    for (unsigned i = 0; i < 4; i++)
        read_file(i);
    for (unsigned i = 1; i < sizeof in_all / sizeof in_all[0]; i++) {
        read_file(3 + i + in_all[i - 1]); /* the first that it has not been given */
        CHECK_INT(given_count, in_all[i]);
    }
    for (unsigned i = 1; i < given_count; i++)
        CHECK(given[i] > given[i - 1]);
    close_mount();
}

static void backwards_as_well(void)
{
    open_mount(200);
    for (unsigned i = 0; i < 4; i++)
        read_file(100 - i);
    CHECK_INT(given_count, 32);
    CHECK_INT(given[0], ino_of(96));
    CHECK_INT(given[31], ino_of(65));
    close_mount();
}

static void at_an_end_nothing_is_left_to_give(void)
{
    open_mount(200);
    for (unsigned i = 190; i < 200; i++)
        read_file(i);
    CHECK_INT(given_count, 6);
    CHECK_INT(given[5], ino_of(199));
    close_mount();
}

static void files_here_and_there_are_no_run(void)
{
    open_mount(200);
    for (unsigned i = 0; i < 20; i++)
        read_file(i * 9 % 190);
    for (unsigned i = 0; i < 20; i++)
        read_file(i % 2 ? 100 + i : 10);
    CHECK_INT(given_count, 0);
    close_mount();
}

static const struct check_test tests[] = {
    {"a_name_is_forgotten_and_no_other", a_name_is_forgotten_and_no_other},
    {"a_name_that_has_no_inode_is_forgotten_too", a_name_that_has_no_inode_is_forgotten_too},
    {"a_few_names_are_told_one_by_one", a_few_names_are_told_one_by_one},
    {"many_names_are_forgotten_at_once", many_names_are_forgotten_at_once},
    {"an_older_kernel_is_told_all_names_and_asked_no_more",
     an_older_kernel_is_told_all_names_and_asked_no_more},
    {"a_refresh_that_takes_too_long_is_broken_off", a_refresh_that_takes_too_long_is_broken_off},
    {"the_end_breaks_a_refresh_off", the_end_breaks_a_refresh_off},
    {"where_somebody_waits_all_is_forgotten_at_once",
     where_somebody_waits_all_is_forgotten_at_once},
    {"on_an_older_kernel_who_waits_is_sent_back_once",
     on_an_older_kernel_who_waits_is_sent_back_once},
    {"after_four_in_a_row_the_next_are_given", after_four_in_a_row_the_next_are_given},
    {"twice_as_many_are_given_each_time_and_none_twice",
     twice_as_many_are_given_each_time_and_none_twice},
    {"backwards_as_well", backwards_as_well},
    {"at_an_end_nothing_is_left_to_give", at_an_end_nothing_is_left_to_give},
    {"files_here_and_there_are_no_run", files_here_and_there_are_no_run},
};

CHECK_MAIN(tests)
