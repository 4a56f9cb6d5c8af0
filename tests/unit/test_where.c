/* Filters as people type them: what they come to, that what is printed can be typed, and what is
 * said of those that are wrong. */
#include "core/condition/where.h"

#include "tests/unit/check.h"

/* What is printed of what TEXT says; or the error. */
static void check_printed(const char *text, const char *printed)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    struct cond cond;
    struct error err = {0};
    if (where_parse(span_text(text), &arena, &cond, &err))
        cond_write_words(&cond, &words);
    else
        buf_add_text(&words, err.text);
    CHECK_TEXT(buf_text(&words), printed);
}

/* It is printed as it was typed. */
static void check_same(const char *text)
{
    check_printed(text, text);
}

static void what_is_printed_can_be_typed(void)
{
    check_same("status = \"FAILED\" and attempt > 2");
    check_same("a = 1 or (b != true and not (c < -1.5)) or d = null");
    check_same("not ((n > 5 or 'or' is one of \"a\", true) and a.'b.c'[1] does not exist)");
    check_same("name begins with \"a\\\"\\\\\\u0001é\" and tags contains \"x\"");
    check_same("total between 5 and 500 and open exists");
    check_same("day between \"2026\" and \"2027\" with all that begins so");
    check_same("day <= \"2026\" with all that begins so");
    check_same("raw = {\"B\":\"AP8B\"}");
    check_same("'a b'.'it''s' = 1");
    check_same("x-y#1 = 1 and 2fa = true and é.ü[0][12].z >= 0");
    check_same("exists exists and in = 1 and between = 2 and begins = 3 and null = null");
}

static void the_service_s_own_forms_are_understood(void)
{
    check_printed("begins_with(a, \"x\") AND contains(b.c, 5)",
                  "a begins with \"x\" and b.c contains 5");
    check_printed("attribute_exists(a) or attribute_not_exists(b)", "a exists or b does not exist");
    check_printed("exists(a) or missing ( b )", "a exists or b does not exist");
    check_printed("a <> 1", "a != 1");
    check_printed("a IN (1, \"x\" ,true)", "a is one of 1, \"x\", true");
    check_printed("NOT a BETWEEN 1 AND 2 OR b=TRUE", "not (a between 1 and 2) or b = true");
    check_printed("a = {\"S\":\"x\"}", "a = \"x\"");
}

static void and_binds_closer_than_or_and_not_closest(void)
{
    check_printed("a=1 or b=2 and c=3", "a = 1 or (b = 2 and c = 3)");
    check_printed("not a=1 and b=2", "not (a = 1) and b = 2");
    check_printed("not (a=1 and b=2)", "not (a = 1 and b = 2)");
    check_printed("((a=1))", "a = 1");
    check_printed("a=1 and (b=2 and (c=3))", "a = 1 and b = 2 and c = 3");
}

static void a_number_keeps_its_digits_and_has_one_spelling(void)
{
    check_printed("n = 12345678901234567890123456789012345678",
                  "n = 12345678901234567890123456789012345678");
    check_printed("n = 1E2", "n = 1E2");
    check_printed("n = +0100", "n = 100");
}

static void what_is_wrong_is_told_with_its_column(void)
{
    check_printed("", "column 1: the name of an attribute was expected, not the end");
    check_printed(
        "a", "column 2: =, !=, <, <=, >, >=, between, in, begins with, contains, exists or does "
             "not exist was expected, not the end");
    check_printed("a = FAILED",
                  "column 5: a value (\"text\" in double quotes, a number, true, false, null) "
                  "was expected, not FAILED");
    check_printed("a = 'FAILED'",
                  "column 5: a text is in double quotes; single quotes are for names");
    check_printed("a = 1 b = 2", "column 7: and, or, or the end was expected, not b");
    check_printed("é = 1 and \"b\" = 2",
                  "column 11: the name of an attribute was expected, not \"");
    check_printed("(a = 1", "column 7: and, or, or a ) was expected, not the end");
    check_printed("a = 1)", "column 6: and, or, or the end was expected, not )");
    check_printed("size(a) = 1",
                  "column 1: begins_with, contains, exists or missing was expected, not size");
    check_printed("a = \"x", "column 5: a text in double quotes: a string without an end");
    check_printed("a begins with 5", "column 15: a text begins with a text: \"…\" was expected");
    check_printed("a < true",
                  "column 5: a text or a number was expected: true, false and null are neither "
                  "less nor greater than another");
    check_printed("a between 5 and 1", "column 17: the range ends before it begins");
    check_printed("a between 5 and \"6\"", "column 17: both ends of a range are of one type");
    check_printed("a between 5, 6",
                  "column 12: \"and\" with the upper end of the range was expected, not ,");
    check_printed("a in 5",
                  "column 6: a list of values in brackets: (\"a\", \"b\") was expected, not 5");
    check_printed("a in (5", "column 8: a comma, or the ) of the list, was expected, not the end");
    check_printed("begins_with(a)", "column 14: a comma and a value was expected, not )");
    check_printed("'a = 1", "column 1: a name in single quotes does not end");
    check_printed("a[x] = 1", "column 1: square brackets contain the number of a list's element");
    check_printed("a = 1e999", "column 5: this is a number, but 1e999 is larger than the numbers "
                               "of DynamoDB, which end below 1E+126");
    check_printed("a = \"x\"…", "column 8: the printed value was shortened; type the whole value");
    check_printed("a = {\"M\":{}}", "column 5: braces contain one typed value: {\"B\":\"aGk=\"}");
    check_printed("a = \xff", "it is not UTF-8");
}

static void it_is_bounded(void)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, deep = {0}, list = {0};
    buf_add_repeated(&text, 'a', 4097);
    check_printed(buf_text(&text), "it has 4097 bytes, and may have 4096");
    buf_add_repeated(&deep, '(', 41);
    check_printed(buf_text(&deep), "column 42: too many brackets");
    check_printed("not not not not not not not not not a = 1",
                  "conditions are nested at most 8 deep");
    buf_add_text(&list, "a in (1");
    for (int i = 1; i < 100; i++)
        buf_add_text(&list, ",1");
    buf_add_char(&list, ')');
    check_printed(buf_text(&list), "column 205: at most 99 values may be in a list");
}

static const struct check_test tests[] = {
    {"what is printed can be typed", what_is_printed_can_be_typed},
    {"the service's own forms are understood", the_service_s_own_forms_are_understood},
    {"and binds closer than or and not closest", and_binds_closer_than_or_and_not_closest},
    {"a number keeps its digits and has one spelling",
     a_number_keeps_its_digits_and_has_one_spelling},
    {"what is wrong is told with its column", what_is_wrong_is_told_with_its_column},
    {"it is bounded", it_is_bounded},
};
CHECK_MAIN(tests)
