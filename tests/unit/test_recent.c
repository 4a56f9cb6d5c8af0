/* Paths that were opened lately. */
#include "fs/mount/control.h"

#include "tests/unit/check.h"

#define CHECK_RECENT(recent, want)                                                                 \
    do {                                                                                           \
        CLEAN_UP(buf_clean_up) struct buf check_told = {0};                                        \
        recent_paths_write((recent), &check_told);                                                 \
        CHECK_SPAN(buf_span(&check_told), span_text(want));                                        \
    } while (0)

static void the_newest_is_told_first(void)
{
    struct recent_paths *recent = recent_paths_new();
    CHECK_RECENT(recent, "");
    recent_paths_add(recent, span_text("/a"));
    recent_paths_add(recent, span_text("/b"));
    recent_paths_add(recent, span_text("/c"));
    CHECK_RECENT(recent, "/c\n/b\n/a\n");
    recent_paths_destroy(recent);
}

/* Wherever it stood before. */
static void a_path_that_is_opened_again_is_told_once_and_first(void)
{
    static const struct {
        const char *again, *want;
    } cases[] = {
        {"/a", "/a\n/c\n/b\n"},
        {"/b", "/b\n/c\n/a\n"},
        {"/c", "/c\n/b\n/a\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct recent_paths *recent = recent_paths_new();
        recent_paths_add(recent, span_text("/a"));
        recent_paths_add(recent, span_text("/b"));
        recent_paths_add(recent, span_text("/c"));
        recent_paths_add(recent, span_text(cases[i].again));
        CHECK_RECENT(recent, cases[i].want);
        recent_paths_destroy(recent);
    }
}

static void the_oldest_makes_room_for_the_newest(void)
{
    CLEAN_UP(buf_clean_up) struct buf want = {0};
    struct recent_paths *recent = recent_paths_new();
    for (int i = 0; i < RECENT_PATHS_MOST + 2; i++) {
        CLEAN_UP(buf_clean_up) struct buf path = {0};
        buf_printf(&path, "/%d", i);
        recent_paths_add(recent, buf_span(&path));
    }
    recent_paths_add(recent, span_text("/9")); /* which takes nobody's place */
    buf_add_text(&want, "/9\n");
    for (int i = RECENT_PATHS_MOST + 1; i >= 2; i--)
        if (i != 9)
            buf_printf(&want, "/%d\n", i);
    CHECK_RECENT(recent, buf_text(&want));
    recent_paths_destroy(recent);
}

static const struct check_test tests[] = {
    {"the_newest_is_told_first", the_newest_is_told_first},
    {"a_path_that_is_opened_again_is_told_once_and_first",
     a_path_that_is_opened_again_is_told_once_and_first},
    {"the_oldest_makes_room_for_the_newest", the_oldest_makes_room_for_the_newest},
};

CHECK_MAIN(tests)
