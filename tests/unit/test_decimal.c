/* Numbers as decimal text, and units of which a part is not known. */
#include "core/base/quantity.h"

#include <stdlib.h>

#include "core/source/payer.h"
#include "tests/unit/check.h"

static void numbers_are_exact_and_short(void)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {0.5, "0.5"},
        {1, "1"},
        {128500.5, "128500.5"},
        {1234567.5, "1234567.5"},
        {98765432109.5, "98765432109.5"},
        {1e15, "1000000000000000"},
        {1e16, "10000000000000000"},
        {123456789012345680, "123456789012345680"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {0.0000065, "0.0000065"},
        {0.0000160625, "0.0000160625"},
        {1e-12, "0.000000000001"},
        {-0.25, "-0.25"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        decimal_write(rows[i].value, &out);
        CHECK_TEXT(buf_text(&out), rows[i].text);
        CHECK(strtod(buf_text(&out), NULL) == rows[i].value);
    }
}

static void every_number_reads_back(void)
{
    unsigned seed = 1;
    for (int i = 0; i < 20000; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        double value = (double)rand_r(&seed) / (1 + rand_r(&seed) % 1000003);
        decimal_write(i % 2 ? value : value / 1e9, &out);
        CHECK(strtod(buf_text(&out), NULL) == (i % 2 ? value : value / 1e9));
        CHECK(!strchr(buf_text(&out), 'e'));
    }
}

static void check_spent(double units, double doubted, const char *text, const char *json)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0}, member = {0};
    const struct spent spent = {.units = units, .doubted = doubted};
    spent_write(&spent, &words);
    spent_write_json(&spent, "capacity", &member);
    CHECK_TEXT(buf_text(&words), text);
    CHECK_TEXT(buf_text(&member), json);
}

static void unknown_units_are_no_zero(void)
{
    check_spent(0, 0, "0 RCU", "\"capacity\": 0");
    check_spent(128500.5, 0, "128500.5 RCU", "\"capacity\": 128500.5");
    check_spent(0, 50, "at most 50 RCU", "\"capacity\": null, \"capacity_at_most\": 50");
    check_spent(3.5, 178, "at most 181.5 RCU", "\"capacity\": 3.5, \"capacity_at_most\": 181.5");
}

static void searches_are_counted_in_bytes(void)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0}, member = {0};
    struct spent sum = {.units = 0.5};
    const struct spent search = {.search_bytes = 1500, .unstated_searches = 1};
    spent_add(&sum, &search);
    spent_write(&sum, &words);
    spent_write_json(&sum, "capacity", &member);
    CHECK_TEXT(buf_text(&words), "0.5 RCU, 1500 search bytes, and 1 search of unknown size");
    CHECK_TEXT(buf_text(&member),
               "\"capacity\": 0.5, \"search_bytes\": 1500, \"unstated_searches\": 1");
}

static const struct check_test tests[] = {
    {"searches are counted in bytes", searches_are_counted_in_bytes},
    {"numbers are exact and short", numbers_are_exact_and_short},
    {"every number reads back", every_number_reads_back},
    {"unknown units are no zero", unknown_units_are_no_zero},
};
CHECK_MAIN(tests)
