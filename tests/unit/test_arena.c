/* Memory freed all at once: alignment, zeroes, copies, and failure that sticks. */
#include "core/base/arena.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/unit/check.h"

static void test_memory_is_zeroed_and_aligned(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    for (size_t size = 0; size < 200; size++) {
        char *memory = arena_alloc(&arena, size);
        CHECK(memory != NULL);
        CHECK_INT((uintptr_t)memory % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            CHECK_INT(memory[i], 0);
        memset(memory, 'x', size);
    }
}

static void test_pieces_do_not_overlap(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    unsigned char *pieces[500];
    for (size_t i = 0; i < 500; i++) {
        pieces[i] = arena_alloc(&arena, 33);
        CHECK(pieces[i] != NULL);
        memset(pieces[i], (int)(i & 255), 33);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < 33; k++)
            CHECK_INT(pieces[i][k], i & 255);
}

static void test_a_piece_may_be_larger_than_a_block(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    char *large = arena_alloc(&arena, 100000);
    CHECK(large != NULL);
    large[99999] = 'x';
    CHECK(arena_alloc(&arena, 8) != NULL);
}

static void test_copies_end_in_nul(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct span copy = arena_copy(&arena, span_of("a\0bXXX", 3));
    CHECK_SPAN(copy, span_of("a\0b", 3));
    CHECK_INT(copy.data[3], '\0');
    CHECK_TEXT(arena_text(&arena, span_of("abc", 2)), "ab");
}

static void test_an_empty_span_is_copied_as_an_empty_text(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CHECK_TEXT(arena_text(&arena, span_of(NULL, 0)), "");
    CHECK(!arena.failed);
}

static void test_an_array_that_overflows_fails(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CHECK(arena_array(&arena, SIZE_MAX / 4, 16) == NULL);
    CHECK(arena.failed);
}

static void test_too_large_a_size_fails(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CHECK(arena_alloc(&arena, SIZE_MAX - 3) == NULL);
    CHECK(arena.failed);
}

static void test_failure_sticks(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CHECK(arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(arena_alloc(&arena, 1) == NULL);
    CHECK(arena_array(&arena, 1, 1) == NULL);
    CHECK(arena_text(&arena, SPAN_LITERAL("a")) == NULL);
    CHECK_INT(arena_copy(&arena, SPAN_LITERAL("a")).size, 0);
}

static void test_a_cleaned_arena_can_be_used_again(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    arena.failed = true;
    arena_clean_up(&arena);
    CHECK(!arena.failed && arena.blocks == NULL);
    CHECK_TEXT(arena_text(&arena, SPAN_LITERAL("again")), "again");
}

static void test_a_buffer_is_adopted_without_a_copy(void)
{
    for (int before = 0; before < 2; before++) {
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        CLEAN_UP(buf_clean_up) struct buf buf = {0};
        char *first = before ? arena_alloc(&arena, 16) : NULL;
        buf_add_repeated(&buf, 'x', 5000);
        const char *data = buf.data;
        size_t memory = arena_memory(&arena);
        struct span bytes = arena_adopt(&arena, &buf);
        CHECK(bytes.data == data);
        CHECK_INT(bytes.size, 5000);
        CHECK(!buf.data && !arena.failed);
        CHECK(arena_memory(&arena) >= memory + 5000);
        char *next = arena_alloc(&arena, 16);
        CHECK(next && (!before || (next > first && next - first <= 64)));
        memset(next, 'y', 16);
        CHECK_INT(bytes.data[4999], 'x');
    }
}

static void test_a_failed_buffer_is_not_adopted(void)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct buf buf = {.failed = true};
    CHECK_INT(arena_adopt(&arena, &buf).size, 0);
    CHECK(arena.failed);
}

static const struct check_test tests[] = {
    {"memory_is_zeroed_and_aligned", test_memory_is_zeroed_and_aligned},
    {"pieces_do_not_overlap", test_pieces_do_not_overlap},
    {"a_piece_may_be_larger_than_a_block", test_a_piece_may_be_larger_than_a_block},
    {"copies_end_in_nul", test_copies_end_in_nul},
    {"an_empty_span_is_copied_as_an_empty_text", test_an_empty_span_is_copied_as_an_empty_text},
    {"an_array_that_overflows_fails", test_an_array_that_overflows_fails},
    {"too_large_a_size_fails", test_too_large_a_size_fails},
    {"failure_sticks", test_failure_sticks},
    {"a_cleaned_arena_can_be_used_again", test_a_cleaned_arena_can_be_used_again},
    {"a_buffer_is_adopted_without_a_copy", test_a_buffer_is_adopted_without_a_copy},
    {"a_failed_buffer_is_not_adopted", test_a_failed_buffer_is_not_adopted},
};

CHECK_MAIN(tests)
