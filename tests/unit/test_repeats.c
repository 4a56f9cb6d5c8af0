/* What has come before is known again, up to a bound. */
#include "core/dynamo/verify.h"

#include <stdio.h>

#include "tests/unit/check.h"

static bool add(struct repeats *repeats, unsigned number)
{
    char text[16];
    bool again = false;
    snprintf(text, sizeof text, "%u", number);
    CHECK(repeats_add(repeats, span_text(text), &again));
    return again;
}

static void the_last_hundred_thousand_are_known(void)
{
    enum { MANY = 500000, KNOWN = 100000 };
    struct repeats repeats = {0};
    for (unsigned i = 0; i < MANY; i++) {
        CHECK(!add(&repeats, i));
        if (i >= KNOWN && i % 1000 == 0)
            CHECK(add(&repeats, i - KNOWN));
    }
    CHECK(add(&repeats, MANY - 1));
    repeats_clean_up(&repeats);
}

static void memory_is_bounded(void)
{
    struct repeats repeats = {0};
    for (unsigned i = 0; i < 1000000; i++)
        add(&repeats, i);
    CHECK(8 * (repeats.new.capacity + repeats.old.capacity) <= 4 << 20);
    repeats_clean_up(&repeats);
}

/* Runs of two behind one of many cost as much as runs of two. */
static void what_is_forgotten_costs_nothing_later(void)
{
    struct repeats repeats = {0};
    for (unsigned i = 0; i < 100000; i++)
        add(&repeats, i);
    repeats_clear(&repeats);
    CHECK(repeats.new.capacity <= 64);
    CHECK(!add(&repeats, 7));
    CHECK(add(&repeats, 7));
    repeats_clear(&repeats);
    CHECK(!add(&repeats, 7));
    repeats_clean_up(&repeats);
}

static const struct check_test tests[] = {
    {"the last hundred thousand are known", the_last_hundred_thousand_are_known},
    {"memory is bounded", memory_is_bounded},
    {"what is forgotten costs nothing later", what_is_forgotten_costs_nothing_later},
};
CHECK_MAIN(tests)
