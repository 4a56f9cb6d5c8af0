/* What may stand behind -o, and where each word goes. */
#include "fs/mount/start.h"

#include <unistd.h>

#include "tests/unit/check.h"

/* The words of one or two -o, read. */
struct scene {
    struct options options;
    struct mount_options mount;
    bool ok;
};

static void open_scene(struct scene *scene, const char *first, const char *second)
{
    options_init(&scene->options);
    options_add_mount(&scene->options, first);
    if (second)
        options_add_mount(&scene->options, second);
    scene->ok = mount_options_init(&scene->mount, &scene->options);
}

static void close_scene(struct scene *scene)
{
    mount_options_clean_up(&scene->mount);
}

static void nothing_given_is_the_caller_s_own(void)
{
    struct scene scene;
    open_scene(&scene, "", NULL);
    CHECK(scene.ok && !scene.mount.allow_other);
    CHECK_INT(scene.mount.uid, getuid());
    CHECK_INT(scene.mount.gid, getgid());
    CHECK_INT(scene.mount.umask, 0);
    CHECK_TEXT(buf_text(&scene.mount.fuse), "");
    close_scene(&scene);
}

static void owner_and_mask_are_read(void)
{
    struct scene scene;
    open_scene(&scene, "uid=1000,gid=100,umask=027", NULL);
    CHECK(scene.ok);
    CHECK_INT(scene.mount.uid, 1000);
    CHECK_INT(scene.mount.gid, 100);
    CHECK_INT(scene.mount.umask, 027);
    CHECK_TEXT(buf_text(&scene.mount.fuse), "");
    close_scene(&scene);
}

static void a_type_of_its_own_would_hide_a_mount(void)
{
    struct scene scene;
    open_scene(&scene, "subtype=other", NULL);
    CHECK(!scene.ok);
    close_scene(&scene);
    open_scene(&scene, "blkdev", NULL);
    CHECK(!scene.ok);
    close_scene(&scene);
    open_scene(&scene, "subtype=ddbfs", NULL);
    CHECK(scene.ok);
    CHECK_TEXT(buf_text(&scene.mount.fuse), "subtype=ddbfs");
    close_scene(&scene);
}

static void what_is_no_number_is_refused(void)
{
    static const char *const words[] = {
        "uid=",    "uid=x",   "uid=-1", "uid=+1",    "uid= 1",    "uid=1x",
        "gid=0x1", "umask=8", "gid=",   "umask=rwx", "umask=-22",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct scene scene;
        open_scene(&scene, words[i], NULL);
        bool ok = scene.ok;
        close_scene(&scene);
        if (ok)
            CHECK_FAIL("%s is taken", words[i]);
    }
}

/* 4294967295 means "nobody is changed" to chown, and is no owner. */
static void numbers_beyond_an_owner_are_refused(void)
{
    struct scene scene;
    open_scene(&scene, "uid=4294967295", NULL);
    CHECK(!scene.ok);
    close_scene(&scene);
    open_scene(&scene, "gid=99999999999", NULL);
    CHECK(!scene.ok);
    close_scene(&scene);
    open_scene(&scene, "uid=4294967294", NULL);
    CHECK(scene.ok && scene.mount.uid == 4294967294);
    close_scene(&scene);
}

static void words_of_fstab_say_nothing_here(void)
{
    struct scene scene;
    open_scene(&scene, "defaults,noauto,user,_netdev,x-systemd.automount,comment=x,nofail,noatime",
               "ro,rw,nosuid,nodev,noexec");
    CHECK(scene.ok);
    CHECK_TEXT(buf_text(&scene.mount.fuse), "");
    close_scene(&scene);
}

static void options_of_fuse_are_handed_on_in_their_order(void)
{
    struct scene scene;
    open_scene(&scene, "fsname=prod,auto_unmount", "context=x");
    CHECK(scene.ok);
    CHECK_TEXT(buf_text(&scene.mount.fuse), "fsname=prod,auto_unmount,context=x");
    close_scene(&scene);
}

static void others_are_let_in_when_asked_for(void)
{
    struct scene scene;
    open_scene(&scene, "allow_other", NULL);
    CHECK(scene.ok && scene.mount.allow_other);
    CHECK_TEXT(buf_text(&scene.mount.fuse), "allow_other");
    close_scene(&scene);
}

/* The kernel would give to everybody what root alone had asked for. */
static void root_alone_can_not_be_let_in(void)
{
    struct scene scene;
    open_scene(&scene, "allow_root", NULL);
    CHECK(!scene.ok);
    close_scene(&scene);
}

static void our_own_options_go_to_the_options(void)
{
    struct scene scene;
    open_scene(&scene, "cache-size=3M,profile=me,show-secrets,map=/a/map.json", "suffix=.json");
    CHECK(scene.ok && scene.options.show_secrets);
    CHECK_INT(scene.options.cache_bytes, 3 << 20);
    CHECK_TEXT(scene.options.profile, "me");
    CHECK_TEXT(scene.options.map, "/a/map.json");
    CHECK_TEXT(scene.options.suffix, ".json");
    CHECK_TEXT(buf_text(&scene.mount.fuse), "");
    close_scene(&scene);
}

static void our_own_options_are_checked_as_ever(void)
{
    static const char *const words[] = {"cache-size=1",  "cache-size", "show-secrets=1",
                                        "timeout=never", "format=xml", "map"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct scene scene;
        open_scene(&scene, words[i], NULL);
        bool ok = scene.ok;
        close_scene(&scene);
        if (ok)
            CHECK_FAIL("%s is taken", words[i]);
    }
}

static void an_option_of_another_command_is_not_ours(void)
{
    struct scene scene;
    open_scene(&scene, "offline", NULL);
    CHECK(!scene.ok && !scene.options.offline);
    CHECK_TEXT(buf_text(&scene.mount.fuse), "");
    close_scene(&scene);
}

static void empty_words_are_no_words(void)
{
    struct scene scene;
    open_scene(&scene, ",,ro,,fsname=x,", ",");
    CHECK(scene.ok);
    CHECK_TEXT(buf_text(&scene.mount.fuse), "fsname=x");
    close_scene(&scene);
}

static void a_value_may_hold_equal_signs(void)
{
    struct scene scene;
    open_scene(&scene, "endpoint-url=http://h/?a=b", NULL);
    CHECK(scene.ok);
    CHECK_TEXT(scene.options.endpoint_url, "http://h/?a=b");
    close_scene(&scene);
}

static const struct check_test tests[] = {
    {"nothing_given_is_the_caller_s_own", nothing_given_is_the_caller_s_own},
    {"owner_and_mask_are_read", owner_and_mask_are_read},
    {"a_type_of_its_own_would_hide_a_mount", a_type_of_its_own_would_hide_a_mount},
    {"what_is_no_number_is_refused", what_is_no_number_is_refused},
    {"numbers_beyond_an_owner_are_refused", numbers_beyond_an_owner_are_refused},
    {"words_of_fstab_say_nothing_here", words_of_fstab_say_nothing_here},
    {"options_of_fuse_are_handed_on_in_their_order", options_of_fuse_are_handed_on_in_their_order},
    {"others_are_let_in_when_asked_for", others_are_let_in_when_asked_for},
    {"root_alone_can_not_be_let_in", root_alone_can_not_be_let_in},
    {"our_own_options_go_to_the_options", our_own_options_go_to_the_options},
    {"our_own_options_are_checked_as_ever", our_own_options_are_checked_as_ever},
    {"an_option_of_another_command_is_not_ours", an_option_of_another_command_is_not_ours},
    {"empty_words_are_no_words", empty_words_are_no_words},
    {"a_value_may_hold_equal_signs", a_value_may_hold_equal_signs},
};

CHECK_MAIN(tests)
