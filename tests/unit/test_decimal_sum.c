/* Exact sums of decimals. */
#include "core/item/decimal_sum.h"

#include <stdlib.h>

#include "core/item/value.h"
#include "tests/unit/check.h"

static void check_text(const struct decimal_sum *sum, const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    decimal_sum_write(sum, &out);
    CHECK_TEXT(buf_text(&out), text);
}

/* The sum of NUMBERS, which end with NULL. */
static struct decimal_sum sum_of(const char *const *numbers)
{
    struct decimal_sum sum = {{0}};
    for (; *numbers; numbers++)
        CHECK(decimal_sum_add(&sum, span_text(*numbers), 1));
    return sum;
}

static void sums_are_exact(void)
{
    static const struct {
        const char *numbers[5];
        const char *text;
    } rows[] = {
        {{NULL}, "0"},
        {{"0.1", "0.2"}, "0.3"},
        {{"1", "-1"}, "0"},
        {{"1e40", "-1E+40", "-0.5"}, "-0.5"},
        {{"999999999", "1"}, "1000000000"},
        {{"-999999999.999999999", "-0.000000001"}, "-1000000000"},
        {{"9223372036854775807", "1"}, "9223372036854775808"},
        {{"99999999999999999999999999999999999999", "0.1"},
         "99999999999999999999999999999999999999.1"},
        {{"1e-30", "+0100", ".5"}, "100.500000000000000000000000000001"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decimal_sum sum = sum_of(rows[i].numbers);
        check_text(&sum, rows[i].text);
    }
}

static void numbers_beyond_doubles_have_no_place(void)
{
    static const char *const limits[] = {"1.7976931348623157e308", "-4.9406564584124654e-324",
                                         "0e400"},
                             *const beyond[] = {"15e400", "1e-400", "1e99999999999999999999"};
    struct decimal_sum sum = {{0}};
    for (size_t i = 0; i < 3; i++) {
        CHECK(decimal_sum_add(&sum, span_text(limits[i]), 1));
        CHECK(decimal_sum_add(&sum, span_text(limits[i]), -1));
        CHECK(!decimal_sum_add(&sum, span_text(beyond[i]), 1));
    }
    check_text(&sum, "0");
}

/* Adds random decimals of a millionth, and takes others out. The sum as millionths. */
static int64_t add_random(struct decimal_sum *sum, unsigned *seed)
{
    int64_t whole = 0;
    for (int i = 0; i < 1000; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        int64_t each = (int64_t)rand_r(seed) * (rand_r(seed) % 1000 - 500);
        int sign = rand_r(seed) % 4 ? 1 : -1;
        buf_printf(&text, "%llde-6", (long long)each);
        CHECK(decimal_sum_add(sum, buf_span(&text), sign));
        whole += sign * each;
    }
    return whole;
}

static void sums_do_not_depend_on_the_order(void)
{
    unsigned seed = 5;
    for (int turn = 0; turn < 50; turn++) {
        CLEAN_UP(buf_clean_up) struct buf is = {0}, should = {0};
        struct decimal_sum sum = {{0}};
        buf_printf(&should, "%llde-6", (long long)add_random(&sum, &seed));
        decimal_sum_write(&sum, &is);
        CHECK(number_compare(buf_span(&is), buf_span(&should)) == 0);
    }
}

static void quotients_have_all_digits_of_a_double(void)
{
    static const char *const tenths[] = {"0.1", "0.2", "0.3", NULL}, *const one[] = {"-1", NULL};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct decimal_sum sum = sum_of(tenths);
    decimal_sum_divide(&sum, 3);
    check_text(&sum, "0.2");
    sum = sum_of(one);
    decimal_sum_divide(&sum, ((uint64_t)1 << 33) - 1);
    decimal_sum_write(&sum, &text);
    CHECK(strtod(buf_text(&text), NULL) == -1.0 / 8589934591.0);
}

static const struct check_test tests[] = {
    {"sums are exact", sums_are_exact},
    {"numbers beyond doubles have no place", numbers_beyond_doubles_have_no_place},
    {"sums do not depend on the order", sums_do_not_depend_on_the_order},
    {"quotients have all digits of a double", quotients_have_all_digits_of_a_double},
};
CHECK_MAIN(tests)
