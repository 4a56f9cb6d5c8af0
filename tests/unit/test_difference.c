/* In what typed items differ, and items without some of their attributes. */
#include "core/item/difference.h"

#include "tests/unit/check.h"

/* KIND PATH NAME, a line each. */
static bool write_difference(void *arg, const struct difference *difference)
{
    struct buf *out = arg;
    buf_printf(out, "%s ", difference_word(difference->kind));
    buf_add_span(out, difference->path);
    buf_add_char(out, ' ');
    buf_add_span(out, difference->name);
    buf_add_char(out, '\n');
    return true;
}

static bool find(const char *before, const char *now, difference_fn *fn, void *arg)
{
    CLEAN_UP(json_clean_up) struct json_doc a = {0}, b = {0};
    if (!json_parse(&a, span_text(before), JSON_STRICT, NULL) ||
        !json_parse(&b, span_text(now), JSON_STRICT, NULL))
        CHECK_FAIL("no JSON");
    return difference_find(json_root(&a), json_root(&b), fn, arg);
}

#define CHECK_DIFFERENCES(before, now, want)                                                       \
    do {                                                                                           \
        CLEAN_UP(buf_clean_up) struct buf out = {0};                                               \
        CHECK(find(before, now, write_difference, &out));                                          \
        CHECK_TEXT(buf_text(&out), want);                                                          \
    } while (0)

static void attributes_are_told_by_name(void)
{
    CHECK_DIFFERENCES("{}", "{}", "");
    CHECK_DIFFERENCES("{\"c\":{\"S\":\"\"},\"a\":{\"S\":\"1\"}}",
                      "{\"b\":{\"S\":\"\"},\"a\":{\"S\":\"2\"}}",
                      "changed [\"a\"] a\nadded [\"b\"] b\nremoved [\"c\"] c\n");
}

static void types_are_never_mixed(void)
{
    CHECK_DIFFERENCES("{\"a\":{\"S\":\"1\"},\"b\":{\"SS\":[\"x\"]},\"c\":{\"NULL\":true}}",
                      "{\"a\":{\"N\":\"1\"},\"b\":{\"L\":[{\"S\":\"x\"}]},\"c\":{\"BOOL\":true}}",
                      "changed [\"a\"] a\nchanged [\"b\"] b\nchanged [\"c\"] c\n");
}

static void what_is_written_otherwise_is_the_same(void)
{
    CHECK_DIFFERENCES("{\"a\":{\"S\":\"\\u0041\"},\"b\":{\"NS\":[\"1\",\"2\"]}}",
                      "{\"b\":{\"NS\":[\"2\",\"1\"]},\"\\u0061\":{\"S\":\"A\"}}", "");
}

static void numbers_are_compared_as_they_are_shown(void)
{
    CHECK_DIFFERENCES("{\"a\":{\"N\":\"12345678901234567890123456789012345678\"}}",
                      "{\"a\":{\"N\":\"12345678901234567890123456789012345679\"}}",
                      "changed [\"a\"] a\n");
    CHECK_DIFFERENCES("{\"a\":{\"N\":\"1\"}}", "{\"a\":{\"N\":\"1.0\"}}", "changed [\"a\"] a\n");
}

static void maps_and_lists_are_looked_into(void)
{
    CHECK_DIFFERENCES("{\"m\":{\"M\":{\"a.b\":{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}}}}",
                      "{\"m\":{\"M\":{\"a.b\":{\"L\":[{\"N\":\"3\"}]}}}}",
                      "changed [\"m\",\"a.b\",0] m.a.b[0]\nremoved [\"m\",\"a.b\",1] m.a.b[1]\n");
}

static bool stop(void *arg, const struct difference *difference)
{
    (void)difference;
    ++*(int *)arg;
    return false;
}

static void who_has_enough_ends_the_search(void)
{
    int told = 0;
    CHECK(!find("{\"a\":{\"S\":\"\"},\"b\":{\"S\":\"\"}}", "{}", stop, &told));
    CHECK_INT(told, 1);
}

static void what_is_no_item_is_told(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CHECK(!find("[]", "{}", write_difference, &out));
    CHECK(!find("{\"a\":{\"S\":1}}", "{\"a\":{\"S\":\"\"}}", write_difference, &out));
    CHECK(!find("{\"a\":{\"BS\":[\"!\"]}}", "{\"a\":{\"BS\":[\"AA==\"]}}", write_difference, &out));
}

#define CHECK_WITHOUT(item, want, ...)                                                             \
    do {                                                                                           \
        static const char *const names[] = {__VA_ARGS__};                                          \
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};                                         \
        CLEAN_UP(buf_clean_up) struct buf out = {0};                                               \
        CHECK(json_parse(&doc, span_text(item), JSON_STRICT, NULL));                               \
        item_write_without(json_root(&doc), names, sizeof names / sizeof names[0], &out);          \
        CHECK_TEXT(buf_text(&out), want);                                                          \
    } while (0)

static void an_item_is_written_without_what_is_named(void)
{
    CHECK_WITHOUT("{\"a\":{\"S\":\"1\"},\"b\":{\"N\":\"2\"}}", "{\"b\":{\"N\":\"2\"}}", "a", "c");
    CHECK_WITHOUT("{\"a\":{\"S\":\"1\"}}", "{}", "a");
    CHECK_WITHOUT("{\"a\":{\"M\":{\"b\":{\"S\":\"\"},\"c\":{\"S\":\"\"}}},\"a.b\":{\"S\":\"\"}}",
                  "{\"a\":{\"M\":{\"c\":{\"S\":\"\"}}}}", "a.b");
    CHECK_WITHOUT("{\"a\":{\"L\":[{\"M\":{\"b\":{\"S\":\"\"}}},{\"SS\":[\"b\"]}]}}",
                  "{\"a\":{\"L\":[{\"M\":{}},{\"SS\":[\"b\"]}]}}", "a.b");
}

static const struct check_test tests[] = {
    {"attributes_are_told_by_name", attributes_are_told_by_name},
    {"types_are_never_mixed", types_are_never_mixed},
    {"what_is_written_otherwise_is_the_same", what_is_written_otherwise_is_the_same},
    {"numbers_are_compared_as_they_are_shown", numbers_are_compared_as_they_are_shown},
    {"maps_and_lists_are_looked_into", maps_and_lists_are_looked_into},
    {"who_has_enough_ends_the_search", who_has_enough_ends_the_search},
    {"what_is_no_item_is_told", what_is_no_item_is_told},
    {"an_item_is_written_without_what_is_named", an_item_is_written_without_what_is_named},
};

CHECK_MAIN(tests)
