/* How much of answers may be here at once. */
#include "core/net/admission.h"

#include "tests/unit/check.h"

enum { MB = 1 << 20, MOST = 4 * MB, MANY = 10 };

static void answers_come_in_as_long_as_there_is_room(void)
{
    struct inflow inflow;
    struct incoming some[MANY] = {{0}};
    inflow_init(&inflow, MOST);
    for (int i = 0; i < 4; i++)
        CHECK(inflow_take(&inflow, &some[i], MB));
    CHECK(!inflow_take(&inflow, &some[4], 1) && some[4].waits);
    CHECK(!inflow_take(&inflow, &some[0], 1) && some[0].waits);
    CHECK(!inflow_next(&inflow));
    CHECK_INT(inflow.bytes, MOST);
    inflow_leave(&inflow, &some[1]);
    CHECK(inflow_next(&inflow) == &some[4] && !some[4].waits);
    CHECK(inflow_take(&inflow, &some[4], MB / 2));
    CHECK(!inflow_next(&inflow)); /* too little is free by now */
    inflow_leave(&inflow, &some[2]);
    CHECK(inflow_next(&inflow) == &some[0]);
    CHECK(!inflow_next(&inflow));
    for (int i = 0; i < MANY; i++)
        inflow_leave(&inflow, &some[i]);
    CHECK(inflow.bytes == 0 && inflow.going == 0 && list_is_empty(&inflow.waiting));
}

/* One of them can always be larger than all that there is room for. */
static void one_of_them_always_goes_on(void)
{
    struct inflow inflow;
    struct incoming a = {0}, b = {0}, c = {0};
    inflow_init(&inflow, MOST);
    CHECK(inflow_take(&inflow, &a, MOST));
    CHECK(inflow_take(&inflow, &a, MOST)); /* alone */
    CHECK(!inflow_take(&inflow, &b, 1));
    CHECK(!inflow_take(&inflow, &c, 1));
    CHECK(inflow_take(&inflow, &a, 1));
    inflow_leave(&inflow, &a);
    CHECK(inflow_next(&inflow) == &b);
    CHECK(inflow_take(&inflow, &b, 2 * MOST));
    CHECK(!inflow_next(&inflow));
    CHECK(inflow_take(&inflow, &b, 1));
    inflow_leave(&inflow, &b);
    CHECK(inflow_next(&inflow) == &c && !inflow_next(&inflow));
    inflow_leave(&inflow, &c);
    CHECK(inflow.bytes == 0 && inflow.going == 0);
}

static void who_waits_may_give_up(void)
{
    struct inflow inflow;
    struct incoming a = {0}, b = {0}, c = {0}, d = {0};
    inflow_init(&inflow, MOST);
    CHECK(inflow_take(&inflow, &a, MOST));
    CHECK(!inflow_take(&inflow, &b, 1) && !inflow_take(&inflow, &c, 1) &&
          !inflow_take(&inflow, &d, 1));
    inflow_leave(&inflow, &c);
    inflow_leave(&inflow, &d);
    inflow_leave(&inflow, &a);
    CHECK(inflow_next(&inflow) == &b && !inflow_next(&inflow));
    CHECK(list_is_empty(&inflow.waiting) && !inflow.waiting.last);
    inflow_leave(&inflow, &b);
    inflow_leave(&inflow, &b); /* again is fine */
    CHECK(inflow.bytes == 0 && inflow.going == 0);
}

static const struct check_test tests[] = {
    {"answers come in as long as there is room", answers_come_in_as_long_as_there_is_room},
    {"one of them always goes on", one_of_them_always_goes_on},
    {"who waits may give up", who_waits_may_give_up},
};
CHECK_MAIN(tests)
