/* UTF-8: what is a character, and what only looks like one. */
#include "core/base/utf8.h"

#include <stdint.h>

#include "tests/unit/check.h"

static void check_length(const char *text, size_t want)
{
    CHECK_INT(utf8_length(span_text(text)), want);
}

static void test_ascii_is_one_byte(void)
{
    check_length("a", 1);
    check_length("\x7f", 1);
    CHECK_INT(utf8_length(span_of("\0", 1)), 1);
}

static void test_nothing_has_no_length(void)
{
    CHECK_INT(utf8_length(span_of("", 0)), 0);
}

static void test_the_first_and_last_of_each_length(void)
{
    check_length("\xc2\x80", 2);
    check_length("\xdf\xbf", 2);
    check_length("\xe0\xa0\x80", 3);
    check_length("\xef\xbf\xbf", 3);
    check_length("\xf0\x90\x80\x80", 4);
    check_length("\xf4\x8f\xbf\xbf", 4);
}

static void test_overlong_forms_are_no_characters(void)
{
    check_length("\xc0\xaf", 0);
    check_length("\xc1\xbf", 0);
    check_length("\xe0\x9f\xbf", 0);
    check_length("\xf0\x8f\xbf\xbf", 0);
}

static void test_surrogates_are_no_characters(void)
{
    check_length("\xed\xa0\x80", 0);
    check_length("\xed\xbf\xbf", 0);
    check_length("\xed\x9f\xbf", 3);
    check_length("\xee\x80\x80", 3);
}

static void test_beyond_the_last_plane_is_no_character(void)
{
    check_length("\xf4\x90\x80\x80", 0);
    check_length("\xf5\x80\x80\x80", 0);
    check_length("\xff", 0);
}

static void test_a_cut_character_is_none(void)
{
    check_length("\xc3", 0);
    check_length("\xe2\x82", 0);
    check_length("\xf0\x9f\x98", 0);
    check_length("\xe2(\x82", 0);
}

static void test_a_continuation_alone_is_none(void)
{
    check_length("\x80", 0);
    check_length("\xbf", 0);
}

static void test_valid_looks_at_every_character(void)
{
    CHECK(utf8_valid(span_text("")));
    CHECK(utf8_valid(span_text("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80")));
    CHECK(!utf8_valid(span_text("ok\xff")));
    CHECK(!utf8_valid(span_text("ok\xe2\x82")));
}

/* Each code point, written by the definition, is one character; no surrogate is. */
static void test_every_code_point(void)
{
    for (uint32_t code = 0x800; code < 0x110000; code += code < 0x10000 ? 1 : 97) {
        char text[4] = {(char)(0xF0 | code >> 18), (char)(0x80 | (code >> 12 & 0x3F)),
                        (char)(0x80 | (code >> 6 & 0x3F)), (char)(0x80 | (code & 0x3F))};
        size_t want = code < 0x10000 ? 3 : 4;
        if (want == 3)
            text[1] = (char)(0xE0 | code >> 12);
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        CHECK_INT(utf8_length(span_of(text + 4 - want, want)), surrogate ? 0 : want);
    }
}

static const struct check_test tests[] = {
    {"ascii_is_one_byte", test_ascii_is_one_byte},
    {"nothing_has_no_length", test_nothing_has_no_length},
    {"the_first_and_last_of_each_length", test_the_first_and_last_of_each_length},
    {"overlong_forms_are_no_characters", test_overlong_forms_are_no_characters},
    {"surrogates_are_no_characters", test_surrogates_are_no_characters},
    {"beyond_the_last_plane_is_no_character", test_beyond_the_last_plane_is_no_character},
    {"a_cut_character_is_none", test_a_cut_character_is_none},
    {"a_continuation_alone_is_none", test_a_continuation_alone_is_none},
    {"valid_looks_at_every_character", test_valid_looks_at_every_character},
    {"every_code_point", test_every_code_point},
};

CHECK_MAIN(tests)
