/* What a terminal, a log or an error shows of text that came from outside. */
#include "core/base/printable.h"

#include <stdint.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/json/json.h"
#include "tests/unit/check.h"

static void check_shown(struct span text, const char *also, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    printable_add(&out, text, also);
    CHECK_TEXT(buf_text(&out), want);
}

static void test_words_are_left_alone(void)
{
    check_shown(span_text("gr\u00fc\u00df 100% \U0001f600"), "", "gr\u00fc\u00df 100% \U0001f600");
    check_shown(span_text("\u0645\u06cc\u200c\u062e\u0648"), "", "\u0645\u06cc\u200c\u062e\u0648");
}

static void test_what_acts_is_escaped(void)
{
    check_shown(span_of("a\0\n\x1b\x7f", 5), "", "a%00%0A%1B%7F");
    check_shown(span_text("\xc2\x85\xc2\x9b"), "", "%C2%85%C2%9B");
    check_shown(span_text("\u202e\u2066\u200f\u061c"), "", "%E2%80%AE%E2%81%A6%E2%80%8F%D8%9C");
    check_shown(span_text("\u2028\u2029\ufeff"), "", "%E2%80%A8%E2%80%A9%EF%BB%BF");
    check_shown(span_text("\xff\xe2\x80"), "", "%FF%E2%80");
}

static void test_a_field_is_one_word(void)
{
    check_shown(span_text("/a b request=x"), PRINTABLE_WORD, "/a%20b%20request=x");
}

static void test_printable_text_stays_as_it_is(void)
{
    check_shown(span_text("a%0Ab%E2%80%AE"), "", "a%0Ab%E2%80%AE");
}

static void test_lines_stay_lines(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    printable_add_lines(&out, span_text("a\tb\n\nc\r\n"));
    CHECK_TEXT(buf_text(&out), "a%09b\n\nc%0D\n");
}

static void test_a_copy_is_cut_between_characters(void)
{
    char out[8];
    printable_copy(out, sizeof out, span_text("abcdef\u00e9"), "");
    CHECK_TEXT(out, "abcdef");
    printable_copy(out, sizeof out, span_text("abcde\nf"), "");
    CHECK_TEXT(out, "abcde");
    printable_copy(out, sizeof out, span_text("a b"), PRINTABLE_WORD);
    CHECK_TEXT(out, "a%20b");
}

/* Every code point of the plane in which all that acts stands. */
static void test_json_stays_the_same_values(void)
{
    for (unsigned code = 1; code < 0x10000; code++) {
        CLEAN_UP(buf_clean_up) struct buf json = {0}, shown = {0}, back = {0};
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        char bytes[3] = {(char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)),
                         (char)(0x80 | (code & 0x3f))};
        struct span text = span_of(bytes, 3);
        if (code < 0x80)
            text.size = 1, bytes[0] = (char)code;
        else if (code < 0x800)
            text.size = 2, bytes[0] = (char)(0xc0 | code >> 6), bytes[1] = bytes[2];
        if (!utf8_valid(text))
            continue;
        json_write_string(&json, text);
        json_add_printable(&shown, buf_span(&json));
        for (struct span rest = buf_span(&shown); rest.size > 0;) {
            bool safe;
            rest = span_from(rest, printable_first(rest, &safe).size);
            CHECK(safe);
        }
        CHECK(json_parse(&doc, buf_span(&shown), JSON_STRICT, NULL));
        CHECK(json_read_string(json_root(&doc), &back));
        CHECK_SPAN(buf_span(&back), text);
    }
}

static void test_an_error_is_printable_and_cut_between_characters(void)
{
    struct error err;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    error_set(&err, ERROR_INVALID, "\"%s\"", "a\n\u202eb");
    CHECK_TEXT(err.text, "\"a%0A%E2%80%AEb\"");
    for (size_t i = 0; i < sizeof err.text; i++)
        buf_add_text(&text, "\u00e9");
    error_set(&err, ERROR_INVALID, "x%s", buf_text(&text));
    CHECK(utf8_valid(span_text(err.text)));
    CHECK_INT(strlen(err.text), sizeof err.text - 1);
}

static const struct check_test tests[] = {
    {"words_are_left_alone", test_words_are_left_alone},
    {"what_acts_is_escaped", test_what_acts_is_escaped},
    {"a_field_is_one_word", test_a_field_is_one_word},
    {"printable_text_stays_as_it_is", test_printable_text_stays_as_it_is},
    {"lines_stay_lines", test_lines_stay_lines},
    {"a_copy_is_cut_between_characters", test_a_copy_is_cut_between_characters},
    {"json_stays_the_same_values", test_json_stays_the_same_values},
    {"an_error_is_printable_and_cut_between_characters",
     test_an_error_is_printable_and_cut_between_characters},
};

CHECK_MAIN(tests)
