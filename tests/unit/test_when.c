/* Dates in records, read and written. */
#include "core/item/typed.h"

#include "core/base/instant.h"

#include "tests/unit/check.h"

enum { NONE = -1 }; /* of milliseconds; no test needs the one before 1970 */

static int64_t parse(const char *text)
{
    struct instant instant = instant_parse(span_text(text));
    return instant.known ? instant.ms : NONE;
}

static int64_t read_typed(const char *text)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CHECK(json_parse(&doc, span_text(text), JSON_STRICT, NULL));
    struct instant instant = when_read(json_root(&doc));
    return instant.known ? instant.ms : NONE;
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

static void test_what_is_no_date_is_none(void)
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
        "2026-02-29",
        "2026-02-31",
        "1900-02-29",
        "2026-04-31",
        "2026-04-16T12:00:00+24:00",
        "2026-04-16T12:00:00+99:99",
        "2026-04-16T12:00:00-01:60",
        "0000-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (parse(wrong[i]) != NONE)
            CHECK_FAIL("\"%s\" was taken for a date", wrong[i]);
}

static void test_dates_of_the_calendar(void)
{
    static const struct {
        const char *text, *written;
        int64_t ms;
    } rows[] = {
        {"1970-01-01", "1970-01-01T00:00:00Z", 0},
        {"1970-01-01T01:00:00+01:00", "1970-01-01T00:00:00Z", 0},
        {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z", -1},
        {"1969-12-31T23:59:58.001Z", "1969-12-31T23:59:58Z", -1999},
        {"1960-01-01T00:00:00.5Z", "1960-01-01T00:00:00Z", -315619199500},
        {"2000-02-29", "2000-02-29T00:00:00Z", 951782400000},
        {"2024-02-29T23:00:00-23:59", "2024-03-01T22:59:00Z", 1709333940000},
        {"0001-01-01", "0001-01-01T00:00:00Z", -62135596800000},
        {"0000-02-29", "0000-02-29T00:00:00Z", -62162121600000},
        {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59Z", 253402300799999},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        struct instant instant = instant_parse(span_text(rows[i].text));
        instant_write(&out, instant.ms);
        if (!instant.known || instant.ms != rows[i].ms ||
            strcmp(buf_text(&out), rows[i].written) != 0)
            CHECK_FAIL("%s is %s, %lld", rows[i].text, buf_text(&out), (long long)instant.ms);
    }
}

static void test_a_nul_inside_is_no_date(void)
{
    CHECK(!instant_parse(span_of("2026-04-16\0Z", 12)).known);
}

static void test_a_long_text_is_no_date(void)
{
    char text[100];
    memset(text, '1', sizeof text);
    CHECK(!instant_parse(span_of(text, sizeof text)).known);
}

static void test_numbers_are_seconds_or_milliseconds(void)
{
    CHECK_INT(read_typed("{\"N\":\"1776340800\"}"), NOON_MS);
    CHECK_INT(read_typed("{\"N\":\"1776340800123\"}"), NOON_MS + 123);
    CHECK_INT(read_typed("{\"N\":\"1776340800.75\"}"), NOON_MS);
    CHECK_INT(read_typed("{\"N\":\"1776340800.1234567890123456789012345678\"}"), NOON_MS);
    CHECK_INT(read_typed("{\"N\":\"1.7763408E+9\"}"), NOON_MS);
    CHECK_INT(read_typed("{\"N\":\"0\"}"), 0);
    CHECK_INT(read_typed("{\"N\":\"-0.5\"}"), -1000);
    CHECK_INT(read_typed("{\"N\":\"-86400\"}"), -86400000);
    CHECK_INT(read_typed("{\"N\":\"-315619199500\"}"), -315619199500);
}

static void test_numbers_out_of_range_are_no_dates(void)
{
    CHECK_INT(read_typed("{\"N\":\"99999999999999999999\"}"), NONE);
    CHECK_INT(read_typed("{\"N\":\"-99999999999999999999\"}"), NONE);
    CHECK_INT(read_typed("{\"N\":\"9223372036854775807\"}"), NONE);
    CHECK_INT(read_typed("{\"N\":\"12345678901234567890123456789012345678\"}"), NONE);
    CHECK_INT(read_typed("{\"N\":\"253402300800000\"}"), NONE);
    CHECK_INT(read_typed("{\"N\":\"-62167219200001\"}"), NONE);
    CHECK_INT(read_typed("{\"N\":\"1E+125\"}"), NONE);
    CHECK_INT(read_typed("{\"N\":\"\"}"), NONE);
}

static void test_typed_texts_are_read(void)
{
    CHECK_INT(read_typed("{\"S\":\"2026-04-16T12:00:00Z\"}"), NOON_MS);
}

static void test_other_types_are_no_dates(void)
{
    CHECK_INT(read_typed("{\"B\":\"MjAyNi0wNC0xNg==\"}"), NONE);
    CHECK_INT(read_typed("{\"BOOL\":true}"), NONE);
    CHECK_INT(read_typed("{}"), NONE);
}

static void test_absent_is_no_date(void)
{
    struct json absent = {0};
    CHECK(!when_read(absent).known);
}

static void test_write_is_iso_in_utc(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    instant_write(&out, NOON_MS + 999);
    CHECK_TEXT(buf_text(&out), "2026-04-16T12:00:00Z");
    CHECK_INT(instant_parse(buf_span(&out)).ms, NOON_MS);
}

/* The beginning of a time is that time up to its end. */
static void test_a_prefix_includes_its_end(void)
{
    static const struct {
        const char *text, *end;
    } rows[] = {
        {"2026", "2026-12-31T23:59:59.999Z"},
        {"2026-02", "2026-02-28T23:59:59.999Z"},
        {"2028-02", "2028-02-29T23:59:59.999Z"},
        {"2026-12", "2026-12-31T23:59:59.999Z"},
        {"2026-12-31", "2026-12-31T23:59:59.999Z"},
        {"2026-11-02T06", "2026-11-02T06:59:59.999Z"},
        {"2026-11-02T06Z", "2026-11-02T06:59:59.999Z"},
        {"2026-11-02 06:05", "2026-11-02T06:05:59.999Z"},
        {"2026-11-02T06:05:04", "2026-11-02T06:05:04.999Z"},
        {"2026-11-02T06:05:04Z", "2026-11-02T06:05:04.999Z"},
        {"2026-11-02T06:05:04+02:00", "2026-11-02T04:05:04.999Z"},
        {"2026-11-02T06:05:04.1", "2026-11-02T06:05:04.199Z"},
        {"2026-11-02T06:05:04.12Z", "2026-11-02T06:05:04.129Z"},
        {"2026-11-02T06:05:04.123Z", "2026-11-02T06:05:04.123Z"},
        {"2026-11-02T06:05:04.000Z", "2026-11-02T06:05:04Z"},
        {"2026-11-02T06:05:04.123456Z", "2026-11-02T06:05:04.123Z"},
        {"1969-12-31", "1969-12-31T23:59:59.999Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf end = {0};
        int64_t last_ms = 0;
        CHECK(instant_parse_prefix(span_text(rows[i].text), &last_ms));
        instant_write_exact(&end, last_ms);
        CHECK_TEXT(buf_text(&end), rows[i].end);
    }
}

static void test_a_prefix_begins_with_its_first_millisecond(void)
{
    static const struct {
        const char *text, *begin;
    } rows[] = {
        {"2026", "2026-01-01T00:00:00Z"},
        {"2026-11", "2026-11-01T00:00:00Z"},
        {"2026-11-02", "2026-11-02T00:00:00Z"},
        {"2026-11-02T06", "2026-11-02T06:00:00Z"},
        {"2026-11-02 06:05", "2026-11-02T06:05:00Z"},
        {"2026-11-02T06:05+02:00", "2026-11-02T04:05:00Z"},
        {"2026-11-02T06:05:04.12Z", "2026-11-02T06:05:04.120Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf begin = {0};
        struct instant first = instant_parse_first(span_text(rows[i].text));
        CHECK(first.known);
        instant_write_exact(&begin, first.ms);
        CHECK_TEXT(buf_text(&begin), rows[i].begin);
    }
    CHECK(!instant_parse_first(SPAN_LITERAL("soon")).known);
}

static void test_a_part_of_a_field_is_no_prefix(void)
{
    static const char *const texts[] = {"",
                                        "2",
                                        "202",
                                        "2026-",
                                        "2026-1",
                                        "2026-13",
                                        "2026-00",
                                        "2026-11-",
                                        "2026-11-31",
                                        "2026-11-00",
                                        "2026-02-29",
                                        "2026-11-02T",
                                        "2026-11-02T6",
                                        "2026-11-02T24",
                                        "2026-11-02T06:",
                                        "2026-11-02T06:60",
                                        "2026-11-02T06:05:",
                                        "2026-11-02T06:05:04.",
                                        "2026-11-02T06:05:04.Z",
                                        "2026Z",
                                        "2026-11-02Z",
                                        "2026-11-02+02:00",
                                        "2026-11-02T06:05:04+",
                                        "now",
                                        "2026-11-02T06:05:04x",
                                        "2026-11-02T06:05:04ZZ",
                                        "20261102",
                                        " 2026"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t last_ms;
        CHECK(!instant_parse_prefix(span_text(texts[i]), &last_ms));
    }
}

static const struct check_test tests[] = {
    {"a_prefix_includes_its_end", test_a_prefix_includes_its_end},
    {"a_prefix_begins_with_its_first_millisecond", test_a_prefix_begins_with_its_first_millisecond},
    {"a_part_of_a_field_is_no_prefix", test_a_part_of_a_field_is_no_prefix},
    {"iso_with_zulu", test_iso_with_zulu},
    {"iso_with_fractions", test_iso_with_fractions},
    {"iso_with_a_zone", test_iso_with_a_zone},
    {"iso_without_a_zone_is_utc", test_iso_without_a_zone_is_utc},
    {"a_date_alone_is_its_midnight", test_a_date_alone_is_its_midnight},
    {"what_is_no_date_is_none", test_what_is_no_date_is_none},
    {"dates_of_the_calendar", test_dates_of_the_calendar},
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
