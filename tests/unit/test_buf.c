/* The growing buffer: content, failure that sticks, and what is handed over. */
#include "core/base/buf.h"

#include <stdint.h>

#include "tests/unit/check.h"

static void test_an_empty_buffer_is_an_empty_text(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    CHECK_TEXT(buf_text(&buf), "");
    CHECK_INT(buf_span(&buf).size, 0);
    CHECK(buf_span(&buf).data != NULL);
}

static void test_additions_follow_each_other(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    buf_add(&buf, "ab", 2);
    buf_add_text(&buf, "cd");
    buf_add_span(&buf, SPAN_LITERAL("ef"));
    buf_add_char(&buf, 'g');
    buf_add_repeated(&buf, '-', 3);
    buf_printf(&buf, "%d%s", 42, "!");
    CHECK_TEXT(buf_text(&buf), "abcdefg---42!");
}

static void test_nul_bytes_are_kept(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    buf_add(&buf, "a\0b", 3);
    buf_add_char(&buf, '\0');
    CHECK_SPAN(buf_span(&buf), span_of("a\0b\0", 4));
}

static void test_nul_stands_after_every_size(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    for (size_t size = 1; size < 300; size++) {
        buf_add_char(&buf, 'x');
        CHECK_INT(buf.size, size);
        CHECK_INT(buf.data[size], '\0');
        CHECK(buf.capacity > size);
    }
}

static void test_adding_nothing_makes_a_text(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    buf_add(&buf, NULL, 0);
    CHECK(!buf.failed);
    CHECK_TEXT(buf_text(&buf), "");
}

static void test_printf_grows_over_the_capacity(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    buf_printf(&buf, "%500d", 7);
    CHECK_INT(buf.size, 500);
    CHECK_INT(buf.data[499], '7');
}

static void test_too_large_a_size_fails_instead_of_wrapping(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    buf_add_text(&buf, "abc");
    CHECK(!buf_reserve(&buf, SIZE_MAX - 2));
    CHECK(buf.failed);
}

static void test_a_failed_buffer_takes_nothing_more(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    buf_add_text(&buf, "abc");
    CHECK(!buf_reserve(&buf, SIZE_MAX));
    buf_add_text(&buf, "d");
    buf_add_repeated(&buf, 'e', 9);
    buf_printf(&buf, "f");
    CHECK_INT(buf.size, 3);
    CHECK_TEXT(buf_text(&buf), "");
    CHECK_INT(buf_span(&buf).size, 0);
}

static void test_truncate_keeps_the_memory(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    buf_add_text(&buf, "abcdef");
    size_t capacity = buf.capacity;
    buf_truncate(&buf, 2);
    CHECK_TEXT(buf_text(&buf), "ab");
    CHECK_INT(buf.capacity, capacity);
}

static void test_truncate_never_lengthens(void)
{
    CLEAN_UP(buf_clean_up) struct buf buf = {0};
    buf_truncate(&buf, 5);
    CHECK_INT(buf.size, 0);
    buf_add_text(&buf, "ab");
    buf_truncate(&buf, 5);
    CHECK_TEXT(buf_text(&buf), "ab");
}

static void test_steal_hands_over_and_empties(void)
{
    struct buf buf = {0};
    size_t size = 0;
    buf_add(&buf, "a\0b", 3);
    char *data = buf_steal(&buf, &size);
    CHECK(data != NULL && buf.data == NULL);
    CHECK_SPAN(span_of(data, size), span_of("a\0b", 3));
    CHECK_INT(data[3], '\0');
    free(data);
}

static void test_steal_of_an_empty_buffer_is_an_empty_text(void)
{
    struct buf buf = {0};
    char *data = buf_steal(&buf, NULL);
    CHECK_TEXT(data, "");
    free(data);
}

static void test_steal_of_a_failed_buffer_is_null(void)
{
    struct buf buf = {0};
    buf_add_text(&buf, "abc");
    buf.failed = true;
    CHECK(buf_steal(&buf, NULL) == NULL);
    CHECK(buf.data == NULL && !buf.failed);
}

static void test_clean_up_twice_is_harmless(void)
{
    struct buf buf = {0};
    buf_add_text(&buf, "secret");
    buf_clean_up_secret(&buf);
    CHECK(buf.data == NULL && buf.size == 0);
    buf_clean_up_secret(&buf);
    buf_clean_up(&buf);
}

static const struct check_test tests[] = {
    {"an_empty_buffer_is_an_empty_text", test_an_empty_buffer_is_an_empty_text},
    {"additions_follow_each_other", test_additions_follow_each_other},
    {"nul_bytes_are_kept", test_nul_bytes_are_kept},
    {"nul_stands_after_every_size", test_nul_stands_after_every_size},
    {"adding_nothing_makes_a_text", test_adding_nothing_makes_a_text},
    {"printf_grows_over_the_capacity", test_printf_grows_over_the_capacity},
    {"too_large_a_size_fails_instead_of_wrapping", test_too_large_a_size_fails_instead_of_wrapping},
    {"a_failed_buffer_takes_nothing_more", test_a_failed_buffer_takes_nothing_more},
    {"truncate_keeps_the_memory", test_truncate_keeps_the_memory},
    {"truncate_never_lengthens", test_truncate_never_lengthens},
    {"steal_hands_over_and_empties", test_steal_hands_over_and_empties},
    {"steal_of_an_empty_buffer_is_an_empty_text", test_steal_of_an_empty_buffer_is_an_empty_text},
    {"steal_of_a_failed_buffer_is_null", test_steal_of_a_failed_buffer_is_null},
    {"clean_up_twice_is_harmless", test_clean_up_twice_is_harmless},
};

CHECK_MAIN(tests)
