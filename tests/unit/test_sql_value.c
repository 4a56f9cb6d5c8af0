/* Values as SQLite stores them: no digit is lost. */
#include "core/output/sql_value.h"

#include "tests/unit/check.h"

/* Reads TYPED, and prints the value into OUT: "i 5", "r 0.5", "t …", "b …", "null". */
static void print(const char *typed, bool masked, struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    CLEAN_UP(buf_clean_up) struct buf storage = {0};
    struct sql_value value;
    CHECK(json_parse(&doc, span_text(typed), JSON_STRICT, NULL));
    if (!sql_value_read(json_root(&doc), masked, &storage, &value))
        buf_add_text(out, "no value");
    else if (value.type == SQL_INTEGER)
        buf_printf(out, "i %lld", (long long)value.integer);
    else if (value.type == SQL_REAL)
        buf_printf(out, "r %.17g", value.real);
    else if (value.type == SQL_NULL)
        buf_add_text(out, "null");
    else
        buf_printf(out, "%s %.*s", value.type == SQL_TEXT ? "t" : "b", (int)value.bytes.size,
                   value.bytes.data);
}

static void check_masked(const char *typed, bool masked, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    print(typed, masked, &got);
    if (!span_is(buf_span(&got), want))
        CHECK_FAIL("%s is <%s>, not <%s>", typed, buf_text(&got), want);
}

static void check(const char *typed, const char *want)
{
    check_masked(typed, false, want);
}

static void numbers_are_integers_if_they_fit(void)
{
    check("{\"N\":\"5\"}", "i 5");
    check("{\"N\":\"-0\"}", "i 0");
    check("{\"N\":\"0.0\"}", "i 0");
    check("{\"N\":\"1E2\"}", "i 100");
    check("{\"N\":\"1.50e1\"}", "i 15");
    check("{\"N\":\"-42.00\"}", "i -42");
    check("{\"N\":\"9223372036854775807\"}", "i 9223372036854775807");
    check("{\"N\":\"-9223372036854775808\"}", "i -9223372036854775808");
    check("{\"N\":\"9223372036854775808\"}", "t 9223372036854775808");
    check("{\"N\":\"-9223372036854775809\"}", "t -9223372036854775809");
    check("{\"N\":\"12345678901234567890\"}", "t 12345678901234567890");
}

static void numbers_are_reals_if_those_are_exact(void)
{
    check("{\"N\":\"0.5\"}", "r 0.5");
    check("{\"N\":\"0.1\"}", "r 0.10000000000000001");
    check("{\"N\":\"-1.5E-3\"}", "r -0.0015");
    check("{\"N\":\"1E20\"}", "r 1e+20");
    check("{\"N\":\"1E125\"}", "r 9.9999999999999992e+124");
    check("{\"N\":\"1E-130\"}", "r 1.0000000000000001e-130");
    check("{\"N\":\"0.30000000000000004\"}", "r 0.30000000000000004");
    check("{\"N\":\"3.141592653589793\"}", "r 3.1415926535897931");
}

static void other_numbers_are_texts_with_all_digits(void)
{
    check("{\"N\":\"0.1000000000000000055511151231257827\"}",
          "t 0.1000000000000000055511151231257827");
    check("{\"N\":\"0.30000000000000001\"}", "t 0.30000000000000001"); /* 0.3 is the same double */
    check("{\"N\":\"3.1415926535897932\"}", "t 3.1415926535897932");
    check("{\"N\":\"1E200\"}", "t 1E200"); /* the service has no such number */
    check("{\"N\":\"1234567890123456789012345678901234567890123\"}",
          "t 1234567890123456789012345678901234567890123");
}

static void texts_and_binaries(void)
{
    check("{\"S\":\"\"}", "t ");
    check("{\"S\":\"a\\u00e4\\n\"}", "t a\xc3\xa4\n");
    check("{\"S\":\"5\"}", "t 5");
    check("{\"B\":\"YWI=\"}", "b ab");
}

static void booleans_and_nulls(void)
{
    check("{\"BOOL\":true}", "i 1");
    check("{\"BOOL\":false}", "i 0");
    check("{\"NULL\":true}", "null");
}

static void documents_and_sets_are_json(void)
{
    check("{\"M\":{\"b\":{\"N\":\"1\"},\"a\":{\"S\":\"x\"}}}", "t {\"a\":\"x\",\"b\":1}");
    check("{\"L\":[{\"S\":\"x\"},{\"NULL\":true}]}", "t [\"x\",null]");
    check("{\"SS\":[\"b\",\"a\"]}", "t [\"a\",\"b\"]");
    check("{\"NS\":[\"10\",\"9\"]}", "t [9,10]");
}

static void masks(void)
{
    check_masked("{\"S\":\"secret\"}", true, "t ********");
    check_masked("{\"N\":\"5\"}", true, "t ********");
    check_masked("{\"NULL\":true}", true, "t ********");
}

static void refusals(void)
{
    check("{\"X\":\"5\"}", "no value");
    check("{\"N\":\"five\"}", "no value");
    check("{\"B\":\"*\"}", "no value");
    check("5", "no value");
}

static void absent_is_null(void)
{
    struct buf storage = {0};
    struct sql_value value = {.type = SQL_TEXT};
    CHECK(sql_value_read((struct json){NULL, 0}, true, &storage, &value));
    CHECK_INT(value.type, SQL_NULL);
}

static const struct check_test tests[] = {
    {"numbers_are_integers_if_they_fit", numbers_are_integers_if_they_fit},
    {"numbers_are_reals_if_those_are_exact", numbers_are_reals_if_those_are_exact},
    {"other_numbers_are_texts_with_all_digits", other_numbers_are_texts_with_all_digits},
    {"texts_and_binaries", texts_and_binaries},
    {"booleans_and_nulls", booleans_and_nulls},
    {"documents_and_sets_are_json", documents_and_sets_are_json},
    {"masks", masks},
    {"refusals", refusals},
    {"absent_is_null", absent_is_null},
};

CHECK_MAIN(tests)
