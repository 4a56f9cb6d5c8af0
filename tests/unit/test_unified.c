/* Two texts as `diff -u` shows them; tests/record/test_unified.py compares with diff itself. */
#include "core/base/unified.h"

#include "tests/unit/check.h"

static bool shows(const char *from, const char *to, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct unified_text a = {SPAN_LITERAL("a"), span_text(from)};
    struct unified_text b = {SPAN_LITERAL("b"), span_text(to)};
    unified_write(&out, &a, &b);
    bool equal = !out.failed && span_is(buf_span(&out), want);
    if (!equal)
        printf("# shown as <%s>\n", buf_text(&out));
    return equal;
}

static void what_is_the_same_is_nothing(void)
{
    CHECK(shows("", "", ""));
    CHECK(shows("x\ny", "x\ny", ""));
}

static void a_changed_line_has_three_around_it(void)
{
    CHECK(shows("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nx\n6\n7\n8\n",
                "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"));
}

static void changes_near_each_other_are_one_hunk(void)
{
    CHECK(shows("x\n1\n2\n3\n4\n5\n6\ny\n", "1\n2\n3\n4\n5\n6\n",
                "--- a\n+++ b\n@@ -1,8 +1,6 @@\n-x\n 1\n 2\n 3\n 4\n 5\n 6\n-y\n"));
    CHECK(
        shows("x\n1\n2\n3\n4\n5\n6\n7\ny\n", "1\n2\n3\n4\n5\n6\n7\n",
              "--- a\n+++ b\n@@ -1,4 +1,3 @@\n-x\n 1\n 2\n 3\n@@ -6,4 +5,3 @@\n 5\n 6\n 7\n-y\n"));
}

static void an_empty_side_begins_at_no_line(void)
{
    CHECK(shows("", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n"));
    CHECK(shows("x\ny\n", "", "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-x\n-y\n"));
}

static void a_last_line_without_an_end_is_another(void)
{
    CHECK(shows("x\n", "x", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n"));
}

static void a_run_that_could_stand_in_several_places_stands_in_the_last(void)
{
    CHECK(shows("{\na\n},\n{\nb\n}\n", "{\na\n},\n{\na\n},\n{\nb\n}\n",
                "--- a\n+++ b\n@@ -2,5 +2,8 @@\n a\n },\n {\n+a\n+},\n+{\n b\n }\n"));
}

static void bytes_of_any_kind_are_lines(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct unified_text a = {SPAN_LITERAL("a"), SPAN_LITERAL("\0\xff\nb\n")};
    struct unified_text b = {SPAN_LITERAL("b"), SPAN_LITERAL("\0\xfe\nb\n")};
    unified_write(&out, &a, &b);
    CHECK_SPAN(buf_span(&out),
               SPAN_LITERAL("--- a\n+++ b\n@@ -1,2 +1,2 @@\n-\0\xff\n+\0\xfe\n b\n"));
}

/* Numbers that look random, the same in each run. */
static uint32_t next_number(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % below;
}

enum { MANY = 8000 };

/* Whether what stays is the same in both rows. */
static bool leads_over(const struct edits_row *from, const struct edits_row *to)
{
    size_t i = 0, j = 0;
    for (;;) {
        while (i < from->count && from->changed[i])
            i++;
        while (j < to->count && to->changed[j])
            j++;
        if (i == from->count || j == to->count)
            return i == from->count && j == to->count;
        if (from->items[i++] != to->items[j++])
            return false;
    }
}

static void rows_that_share_little_end_in_time_and_are_right(void)
{
    static uint32_t a[MANY], b[MANY];
    static bool gone[MANY + 1], come[MANY + 1];
    uint32_t state = 1;
    for (size_t i = 0; i < MANY; i++) {
        a[i] = next_number(&state, 500);
        b[i] = next_number(&state, 500);
    }
    struct edits_row from = {a, MANY, gone}, to = {b, MANY, come};
    CHECK(edits_find(&from, &to));
    CHECK(leads_over(&from, &to));
    CHECK(!gone[MANY] && !come[MANY]);
}

static const struct check_test tests[] = {
    {"what_is_the_same_is_nothing", what_is_the_same_is_nothing},
    {"a_changed_line_has_three_around_it", a_changed_line_has_three_around_it},
    {"changes_near_each_other_are_one_hunk", changes_near_each_other_are_one_hunk},
    {"an_empty_side_begins_at_no_line", an_empty_side_begins_at_no_line},
    {"a_last_line_without_an_end_is_another", a_last_line_without_an_end_is_another},
    {"a_run_that_could_stand_in_several_places_stands_in_the_last",
     a_run_that_could_stand_in_several_places_stands_in_the_last},
    {"bytes_of_any_kind_are_lines", bytes_of_any_kind_are_lines},
    {"rows_that_share_little_end_in_time_and_are_right",
     rows_that_share_little_end_in_time_and_are_right},
};

CHECK_MAIN(tests)
