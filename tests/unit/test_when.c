/* Dates in records, read and written. */
#include "core/item/when.h"

#include "core/base/instant.h"

#include "tests/unit/check.h"

static int64_t parse(const char *text)
{
    return instant_parse(span_text(text));
}

static int64_t read_typed(const char *text)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CHECK(json_parse(&doc, span_text(text), JSON_STRICT, NULL));
    return when_read(json_root(&doc));
}

static const int64_t NOON_MS = 1776340800000; /* 2026-04-16T12:00:00Z */

static void test_iso_with_zulu(void)
{
    CHECK_INT(parse("2026-04-16T12:00:00Z"), NOON_MS);
    CHECK_INT(parse("1970-01-02T00:00:00Z"), 86400000);
}

static void test_iso_with_fractions(void)
{
    CHECK_INT(parse("2026-04-16T12:00:00.5Z"), NOON_MS + 500);
    CHECK_INT(parse("2026-04-16T12:00:00.123456789Z"), NOON_MS + 123);
}

static void test_iso_with_a_zone(void)
{
    CHECK_INT(parse("2026-04-16T14:00:00+02:00"), NOON_MS);
    CHECK_INT(parse("2026-04-16T06:30:00-0530"), NOON_MS);
}

static void test_iso_without_a_zone_is_utc(void)
{
    CHECK_INT(parse("2026-04-16T12:00:00"), NOON_MS);
    CHECK_INT(parse("2026-04-16 12:00:00"), NOON_MS);
}

static void test_a_date_alone_is_its_midnight(void)
{
    CHECK_INT(parse("2026-04-16"), NOON_MS - 43200000);
}

static void test_what_is_no_date_is_zero(void)
{
    static const char *const wrong[] = {
        "",
        "yesterday",
        "2026-04",
        "2026-13-01",
        "2026-00-01",
        "2026-04-32",
        "2026-04-00",
        "2026-04-16T25:00:00",
        "2026-04-16T12:61:00Z",
        "2026-04-16x",
        "2026-04-16T12:00:00Zx",
        "2026-04-16T12:00:00+02:00x",
        "2026-04-16T12:00",
        "2026-04-16T12:00:00?02:00",
        "+026-04-16",
        "2026- 4-16",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (parse(wrong[i]) != 0)
            CHECK_FAIL("\"%s\" was taken for a date", wrong[i]);
}

static void test_a_nul_inside_is_no_date(void)
{
    CHECK_INT(instant_parse(span_of("2026-04-16\0Z", 12)), 0);
}

static void test_a_long_text_is_no_date(void)
{
    char text[100];
    memset(text, '1', sizeof text);
    CHECK_INT(instant_parse(span_of(text, sizeof text)), 0);
}

static void test_numbers_are_seconds_or_milliseconds(void)
{
    CHECK_INT(read_typed("{\"N\":\"1776340800\"}"), NOON_MS);
    CHECK_INT(read_typed("{\"N\":\"1776340800123\"}"), NOON_MS + 123);
    CHECK_INT(read_typed("{\"N\":\"1776340800.75\"}"), NOON_MS);
}

static void test_numbers_out_of_range_are_no_dates(void)
{
    CHECK_INT(read_typed("{\"N\":\"99999999999999999999\"}"), 0);
    CHECK_INT(read_typed("{\"N\":\"-99999999999999999999\"}"), 0);
    CHECK_INT(read_typed("{\"N\":\"9223372036854775807\"}"), 0);
    CHECK_INT(read_typed("{\"N\":\"12345678901234567890123456789012345678\"}"), 0);
}

static void test_typed_texts_are_read(void)
{
    CHECK_INT(read_typed("{\"S\":\"2026-04-16T12:00:00Z\"}"), NOON_MS);
}

static void test_other_types_are_no_dates(void)
{
    CHECK_INT(read_typed("{\"B\":\"MjAyNi0wNC0xNg==\"}"), 0);
    CHECK_INT(read_typed("{\"BOOL\":true}"), 0);
    CHECK_INT(read_typed("{}"), 0);
}

static void test_absent_is_no_date(void)
{
    struct json absent = {0};
    CHECK_INT(when_read(absent), 0);
}

static void test_write_is_iso_in_utc(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    instant_write(&out, NOON_MS + 999);
    CHECK_TEXT(buf_text(&out), "2026-04-16T12:00:00Z");
    CHECK_INT(instant_parse(buf_span(&out)), NOON_MS);
}

static const struct check_test tests[] = {
    {"iso_with_zulu", test_iso_with_zulu},
    {"iso_with_fractions", test_iso_with_fractions},
    {"iso_with_a_zone", test_iso_with_a_zone},
    {"iso_without_a_zone_is_utc", test_iso_without_a_zone_is_utc},
    {"a_date_alone_is_its_midnight", test_a_date_alone_is_its_midnight},
    {"what_is_no_date_is_zero", test_what_is_no_date_is_zero},
    {"a_nul_inside_is_no_date", test_a_nul_inside_is_no_date},
    {"a_long_text_is_no_date", test_a_long_text_is_no_date},
    {"numbers_are_seconds_or_milliseconds", test_numbers_are_seconds_or_milliseconds},
    {"numbers_out_of_range_are_no_dates", test_numbers_out_of_range_are_no_dates},
    {"typed_texts_are_read", test_typed_texts_are_read},
    {"other_types_are_no_dates", test_other_types_are_no_dates},
    {"absent_is_no_date", test_absent_is_no_date},
    {"write_is_iso_in_utc", test_write_is_iso_in_utc},
};

CHECK_MAIN(tests)
