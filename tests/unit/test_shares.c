/* Turns by key. */
#include "core/net/admission.h"

#include "tests/unit/check.h"

enum { EACH = 16, WHOLE = 64, MANY = 100 };

/* Puts COUNT turns of one key in; how many of them were granted. */
static int enter(struct shares *shares, struct turn *turns, int count, const char *key)
{
    int granted = 0;
    for (int i = 0; i < count; i++) {
        CHECK(shares_enter(shares, &turns[i], key));
        granted += turns[i].granted;
    }
    return granted;
}

static void leave(struct shares *shares, struct turn *turns, int count)
{
    for (int i = 0; i < count; i++)
        shares_leave(shares, &turns[i]);
}

static void a_key_that_hangs_takes_its_own_share(void)
{
    struct turn hanging[MANY] = {0}, other[MANY] = {0};
    struct shares shares;
    CHECK(shares_init(&shares, EACH, WHOLE));
    CHECK_INT(enter(&shares, hanging, MANY, "a"), EACH);
    CHECK_INT(enter(&shares, other, 4, "b"), 4);
    CHECK(!shares_next(&shares));
    leave(&shares, other, 4);
    CHECK(!shares_next(&shares));
    leave(&shares, hanging, MANY);
    CHECK(!shares_next(&shares));
    CHECK(shares.keys.count == 0 && shares.granted == 0);
    shares_clean_up(&shares);
}

static void who_waits_comes_in_order(void)
{
    struct turn turns[6] = {0};
    struct shares shares;
    CHECK(shares_init(&shares, 2, 8));
    CHECK_INT(enter(&shares, turns, 6, "a"), 2);
    shares_leave(&shares, &turns[0]);
    CHECK(shares_next(&shares) == &turns[2]);
    CHECK(!shares_next(&shares));
    shares_leave(&shares, &turns[3]); /* one that waits */
    shares_leave(&shares, &turns[1]);
    shares_leave(&shares, &turns[2]);
    CHECK(shares_next(&shares) == &turns[4]);
    CHECK(shares_next(&shares) == &turns[5]);
    CHECK(!shares_next(&shares));
    leave(&shares, turns, 6);
    shares_clean_up(&shares);
}

static void the_whole_is_bounded_and_each_new_key_finds_some(void)
{
    static const int wanted[] = {16, 16, 16, 8, 4, 2, 1, 1, 0};
    struct turn turns[9][20] = {0};
    char key[] = "0";
    struct shares shares;
    CHECK(shares_init(&shares, EACH, WHOLE));
    for (int i = 0; i < 9; i++, key[0]++)
        CHECK_INT(enter(&shares, turns[i], 20, key), wanted[i]);
    CHECK_INT(shares.granted, WHOLE);
    for (int i = 0; i < 9; i++)
        leave(&shares, turns[i], 20);
    CHECK(!shares_next(&shares));
    shares_clean_up(&shares);
}

static void keys_that_wait_take_turns(void)
{
    struct turn a[4] = {0}, b[4] = {0}, c[1] = {0};
    struct shares shares;
    CHECK(shares_init(&shares, 4, 2));
    CHECK_INT(enter(&shares, c, 1, "c"), 1);
    CHECK_INT(enter(&shares, a, 4, "a"), 1);
    CHECK_INT(enter(&shares, b, 4, "b"), 0);
    shares_leave(&shares, &c[0]);
    CHECK(shares_next(&shares) == &b[0]); /* "a" has one already, and one is free */
    CHECK(!shares_next(&shares));
    shares_leave(&shares, &a[0]);
    shares_leave(&shares, &b[0]);
    CHECK(shares_next(&shares) == &a[1]);
    CHECK(shares_next(&shares) == &b[1]);
    leave(&shares, a, 4);
    leave(&shares, b, 4);
    shares_clean_up(&shares);
}

static void leaving_none_is_fine(void)
{
    struct turn turn = {0};
    struct shares shares;
    CHECK(shares_init(&shares, 1, 1));
    shares_leave(&shares, &turn);
    shares_clean_up(&shares);
}

static const struct check_test tests[] = {
    {"a key that hangs takes its own share", a_key_that_hangs_takes_its_own_share},
    {"who waits comes in order", who_waits_comes_in_order},
    {"the whole is bounded and each new key finds some",
     the_whole_is_bounded_and_each_new_key_finds_some},
    {"keys that wait take turns", keys_that_wait_take_turns},
    {"leaving none is fine", leaving_none_is_fine},
};
CHECK_MAIN(tests)
