/* Typed values taken apart: tags, sorted members, sorted sets. */
#include "core/item/typed.h"

#include "tests/unit/check.h"

/* A document and the memory that what is taken from it needs. */
struct sample {
    struct json_doc doc;
    struct arena arena;
};

static void sample_clean_up(struct sample *sample)
{
    json_clean_up(&sample->doc);
    arena_clean_up(&sample->arena);
}

#define SAMPLE CLEAN_UP(sample_clean_up) struct sample

static struct json parse(struct sample *sample, const char *text)
{
    *sample = (struct sample){0};
    bool ok = json_parse(&sample->doc, span_text(text), JSON_STRICT, NULL);
    return ok ? json_root(&sample->doc) : (struct json){0};
}

static enum typed_tag tag_of(const char *text)
{
    SAMPLE s;
    return typed_open(parse(&s, text)).tag;
}

static void tags_are_told(void)
{
    CHECK_INT(tag_of("{\"S\":\"\"}"), TYPED_S);
    CHECK_INT(tag_of("{\"N\":\"1\"}"), TYPED_N);
    CHECK_INT(tag_of("{\"B\":\"\"}"), TYPED_B);
    CHECK_INT(tag_of("{\"BOOL\":false}"), TYPED_BOOL);
    CHECK_INT(tag_of("{\"NULL\":true}"), TYPED_NULL);
    CHECK_INT(tag_of("{\"M\":{}}"), TYPED_M);
    CHECK_INT(tag_of("{\"L\":[]}"), TYPED_L);
    CHECK_INT(tag_of("{\"SS\":[]}"), TYPED_SS);
    CHECK_INT(tag_of("{\"NS\":[]}"), TYPED_NS);
    CHECK_INT(tag_of("{\"B\\u0053\":[]}"), TYPED_BS);
}

static void other_values_have_no_tag(void)
{
    static const char *const bad[] = {
        "1",           "[]",          "{}",           "{\"S\":1}",  "{\"S\":\"\",\"N\":\"\"}",
        "{\"\":\"\"}", "{\"SS\":{}}", "{\"NULL\":0}", "{\"M\":[]}", "{\"bool\":true}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(tag_of(bad[i]), TYPED_NONE);
    CHECK_INT(typed_open((struct json){0}).tag, TYPED_NONE);
}

static void members_are_sorted_with_their_values(void)
{
    SAMPLE s;
    struct typed_members members;
    CHECK(typed_members(parse(&s, "{\"c\":3,\"\\u0061\":1,\"b\":2}"), &s.arena, &members));
    CHECK_INT(members.count, 3);
    CHECK_SPAN(members.list[0].name, SPAN_LITERAL("a"));
    CHECK_SPAN(json_raw(members.list[0].value), SPAN_LITERAL("1"));
    CHECK_SPAN(members.list[2].name, SPAN_LITERAL("c"));
    CHECK_SPAN(json_raw(members.list[2].value), SPAN_LITERAL("3"));
}

static void members_differ_in_name(void)
{
    SAMPLE s;
    struct typed_members members;
    struct json object = parse(&s, "{\"a\":1,\"b\":2,\"\\u0061\":3}");
    CHECK(!typed_members(object, &s.arena, &members));
    CHECK(!s.arena.failed);
}

static void only_objects_have_members(void)
{
    SAMPLE s;
    struct typed_members members;
    CHECK(!typed_members(parse(&s, "[1]"), &s.arena, &members));
}

static bool sorts(const char *text, const char *first, const char *last)
{
    SAMPLE s;
    struct typed_set set;
    return typed_set(typed_open(parse(&s, text)), &s.arena, &set) && set.count == 3 &&
           span_is(set.list[0], first) && span_is(set.list[2], last);
}

static void sets_have_the_order_of_their_type(void)
{
    CHECK(sorts("{\"SS\":[\"9\",\"10\",\"\\u0031\"]}", "1", "9"));
    CHECK(sorts("{\"NS\":[\"9\",\"10\",\"\\u0031\"]}", "1", "10"));
    CHECK(sorts("{\"BS\":[\"eg==\",\"YWI=\",\"YQ==\"]}", "a", "z"));
}

static void equal_numbers_sort_by_text(void)
{
    CHECK(sorts("{\"NS\":[\"1\",\"1.0\",\"1.00\"]}", "1", "1.00"));
}

static const struct check_test tests[] = {
    {"tags are told", tags_are_told},
    {"other values have no tag", other_values_have_no_tag},
    {"members are sorted with their values", members_are_sorted_with_their_values},
    {"members differ in name", members_differ_in_name},
    {"only objects have members", only_objects_have_members},
    {"sets have the order of their type", sets_have_the_order_of_their_type},
    {"equal numbers sort by text", equal_numbers_sort_by_text},
};
CHECK_MAIN(tests)
