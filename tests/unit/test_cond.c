/* Conditions: when they hold, how they are said, and what tells them apart. */
#include "core/condition/condition.h"

#include "tests/unit/check.h"

static struct value text(const char *s)
{
    return (struct value){VALUE_S, span_text(s)};
}

static struct value number(const char *n)
{
    return (struct value){VALUE_N, span_text(n)};
}

static struct cond cond(const char *attribute, enum cond_op op, struct value value)
{
    return (struct cond){.attribute = span_text(attribute), .op = op, .value = value};
}

static bool holds(const struct cond *tested, const char *item)
{
    struct json_doc doc;
    bool ok = json_parse(&doc, span_text(item), JSON_STRICT, NULL);
    bool failed = false;
    bool held = ok && cond_holds(tested, json_root(&doc), &failed);
    json_clean_up(&doc);
    CHECK(ok && !failed);
    return held;
}

static void strings_compare_by_bytes(void)
{
    struct cond eq = cond("a", COND_EQ, text("b")), gt = cond("a", COND_GT, text("b"));
    CHECK(holds(&eq, "{\"a\":{\"S\":\"b\"}}"));
    CHECK(!holds(&eq, "{\"a\":{\"S\":\"ba\"}}"));
    CHECK(holds(&gt, "{\"a\":{\"S\":\"ba\"}}"));
    CHECK(!holds(&gt, "{\"a\":{\"S\":\"b\"}}"));
}

static void numbers_compare_exactly(void)
{
    struct cond eq = cond("a", COND_EQ, number("9007199254740993"));
    CHECK(!holds(&eq, "{\"a\":{\"N\":\"9007199254740992\"}}"));
    CHECK(holds(&eq, "{\"a\":{\"N\":\"9007199254740993.0\"}}"));
    struct cond lt = cond("a", COND_LT, number("10"));
    CHECK(holds(&lt, "{\"a\":{\"N\":\"9\"}}"));
    CHECK(!holds(&lt, "{\"a\":{\"N\":\"1e1\"}}"));
}

static void ends_of_a_range_are_included(void)
{
    struct cond between = cond("a", COND_BETWEEN, number("-1"));
    between.upper = number("2");
    CHECK(holds(&between, "{\"a\":{\"N\":\"-1\"}}"));
    CHECK(holds(&between, "{\"a\":{\"N\":\"2.0\"}}"));
    CHECK(!holds(&between, "{\"a\":{\"N\":\"2.1\"}}"));
    CHECK(!holds(&between, "{\"a\":{\"N\":\"-2\"}}"));
}

static void less_and_greater_or_equal(void)
{
    struct cond le = cond("a", COND_LE, text("m")), ge = cond("a", COND_GE, text("m"));
    CHECK(holds(&le, "{\"a\":{\"S\":\"m\"}}") && holds(&ge, "{\"a\":{\"S\":\"m\"}}"));
    CHECK(holds(&le, "{\"a\":{\"S\":\"l\"}}") && !holds(&ge, "{\"a\":{\"S\":\"l\"}}"));
    CHECK(!holds(&le, "{\"a\":{\"S\":\"n\"}}") && holds(&ge, "{\"a\":{\"S\":\"n\"}}"));
}

static void strings_begin_with_strings(void)
{
    struct cond begins = cond("a", COND_BEGINS, text("JOB#"));
    CHECK(holds(&begins, "{\"a\":{\"S\":\"JOB#1\"}}"));
    CHECK(holds(&begins, "{\"a\":{\"S\":\"JOB#\"}}"));
    CHECK(!holds(&begins, "{\"a\":{\"S\":\"JOB\"}}"));
}

static void binaries_begin_with_bytes(void)
{
    struct cond begins = cond("a", COND_BEGINS, (struct value){VALUE_B, span_of("\0\xff", 2)});
    CHECK(holds(&begins, "{\"a\":{\"B\":\"AP8B\"}}"));
    CHECK(!holds(&begins, "{\"a\":{\"B\":\"AAA=\"}}"));
    CHECK(!holds(&begins, "{\"a\":{\"S\":\"AP8B\"}}"));
}

static void numbers_do_not_begin(void)
{
    struct cond begins = cond("a", COND_BEGINS, number("1"));
    CHECK(!holds(&begins, "{\"a\":{\"N\":\"12\"}}"));
}

static void types_are_never_mixed(void)
{
    struct cond eq = cond("a", COND_EQ, text("1")), ge = cond("a", COND_GE, text("1"));
    CHECK(!holds(&eq, "{\"a\":{\"N\":\"1\"}}"));
    CHECK(!holds(&ge, "{\"a\":{\"N\":\"1\"}}"));
    CHECK(!holds(&ge, "{\"a\":{\"B\":\"MQ==\"}}"));
    struct cond between = cond("a", COND_BETWEEN, text("1"));
    between.upper = number("2");
    CHECK(!holds(&between, "{\"a\":{\"S\":\"1\"}}"));
}

static void what_is_missing_never_answers(void)
{
    struct cond le = cond("a", COND_LE, text("z"));
    CHECK(!holds(&le, "{\"b\":{\"S\":\"a\"}}"));
    CHECK(!holds(&le, "{\"a\":{\"NULL\":true}}"));
    CHECK(!holds(&le, "{\"a\":{\"L\":[]}}"));
    CHECK(!holds(&le, "[]"));
}

/* tests/record/test_conditions.py compares many more with what servers answer. */
static void a_missing_attribute_differs_from_everything(void)
{
    struct cond ne = cond("a", COND_NE, text("x")), missing = {.attribute = SPAN_LITERAL("a")};
    CHECK(holds(&ne, "{\"b\":{\"S\":\"x\"}}"));
    CHECK(holds(&ne, "{\"a\":{\"N\":\"1\"}}"));
    CHECK(holds(&ne, "{\"a\":{\"L\":[]}}"));
    CHECK(!holds(&ne, "{\"a\":{\"S\":\"x\"}}"));
    missing.op = COND_MISSING;
    CHECK(holds(&missing, "{\"b\":{\"S\":\"x\"}}"));
    CHECK(!holds(&missing, "{\"a\":{\"NULL\":true}}"));
}

static void paths_lead_into_maps_and_lists(void)
{
    struct cond_step steps[] = {{.name = SPAN_LITERAL("b.c")}, {.is_index = true, .index = 1}};
    struct cond deep = cond("a", COND_EQ, text("x"));
    deep.steps = steps;
    deep.step_count = 2;
    CHECK(holds(&deep, "{\"a\":{\"M\":{\"b.c\":{\"L\":[{\"N\":\"1\"},{\"S\":\"x\"}]}}}}"));
    CHECK(!holds(&deep, "{\"a\":{\"M\":{\"b.c\":{\"L\":[{\"S\":\"x\"}]}}}}"));
    CHECK(!holds(&deep, "{\"a\":{\"M\":{\"b\":{\"M\":{\"c\":{\"S\":\"x\"}}}}}}"));
    CHECK(!holds(&deep, "{\"a\":{\"M\":{\"b.c\":{\"SS\":[\"w\",\"x\"]}}}}"));
    CHECK(!holds(&deep, "{\"a\":{\"S\":\"x\"}}"));
}

static void check_words(const struct cond *said, const char *want)
{
    struct buf got = {0};
    cond_write_words(said, &got);
    CHECK_TEXT(buf_text(&got), want);
    buf_clean_up(&got);
}

static void conditions_in_words(void)
{
    struct value list[] = {text("a"), value_of_bool(true)};
    struct cond_step steps[] = {{.name = SPAN_LITERAL("b.c")}, {.is_index = true, .index = 1}};
    struct cond each[] = {
        cond("n", COND_GT, number("5")),
        {.attribute = SPAN_LITERAL("or"), .op = COND_IN, .list = list, .list_count = 2},
        {.attribute = SPAN_LITERAL("a"), .op = COND_MISSING, .steps = steps, .step_count = 2},
    };
    struct cond either = {.op = COND_OR, .children = each, .child_count = 2};
    struct cond both[] = {either, each[2]};
    struct cond all = {.op = COND_AND, .children = both, .child_count = 2};
    struct cond no = {.op = COND_NOT, .children = &all, .child_count = 1};
    check_words(&each[0], "n > 5");
    check_words(&no, "not ((n > 5 or 'or' is one of \"a\", true) and a.'b.c'[1] does not exist)");
}

static void a_copy_owns_all_of_it(void)
{
    char name[] = "name", word[] = "word", step[] = "step";
    struct value list[] = {text(word)};
    struct cond_step steps[] = {{.name = span_text(step)}};
    struct cond child = {.attribute = span_text(name),
                         .op = COND_IN,
                         .list = list,
                         .list_count = 1,
                         .steps = steps,
                         .step_count = 1};
    struct cond no = {.op = COND_NOT, .children = &child, .child_count = 1}, copy;
    struct arena arena = {0};
    CHECK(cond_copy(&no, &arena, &copy));
    memset(name, 'x', 4);
    memset(word, 'x', 4);
    memset(step, 'x', 4);
    memset(list, 0, sizeof list);
    memset(steps, 0, sizeof steps);
    memset(&child, 0, sizeof child);
    check_words(&copy, "not (name.step is one of \"word\")");
    arena_clean_up(&arena);
}

static const struct check_test tests[] = {
    {"strings compare by bytes", strings_compare_by_bytes},
    {"numbers compare exactly", numbers_compare_exactly},
    {"ends of a range are included", ends_of_a_range_are_included},
    {"less and greater or equal", less_and_greater_or_equal},
    {"strings begin with strings", strings_begin_with_strings},
    {"binaries begin with bytes", binaries_begin_with_bytes},
    {"numbers do not begin", numbers_do_not_begin},
    {"types are never mixed", types_are_never_mixed},
    {"what is missing never answers", what_is_missing_never_answers},
    {"a missing attribute differs from everything", a_missing_attribute_differs_from_everything},
    {"paths lead into maps and lists", paths_lead_into_maps_and_lists},
    {"conditions in words", conditions_in_words},
    {"a copy owns all of it", a_copy_owns_all_of_it},
};
CHECK_MAIN(tests)
