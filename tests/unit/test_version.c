/* Versions: what makes two items the same, and what does not. */
#include "core/item/record.h"

#include "tests/unit/check.h"

static bool version_of(const char *text, struct version *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    return json_parse(&doc, span_text(text), JSON_STRICT, NULL) &&
           item_version(json_root(&doc), out);
}

static bool same(const char *a, const char *b)
{
    struct version x, y;
    if (!version_of(a, &x) || !version_of(b, &y))
        CHECK_FAIL("<%s> or <%s> has no version", a, b);
    return memcmp(&x, &y, sizeof x) == 0;
}

static void order_and_spelling_do_not_matter(void)
{
    CHECK(same("{\"a\":{\"S\":\"1\"},\"b\":{\"S\":\"2\"}}",
               "{\"b\":{\"S\":\"2\"},\"a\":{\"S\":\"1\"}}"));
    CHECK(same("{\"m\":{\"M\":{\"a\":{\"S\":\"1\"},\"b\":{\"S\":\"2\"}}}}",
               "{\"m\":{\"M\":{\"b\":{\"S\":\"2\"},\"a\":{\"S\":\"1\"}}}}"));
    CHECK(same("{\"a\":{\"SS\":[\"x\",\"y\"]}}", "{\"a\":{\"SS\":[\"y\",\"x\"]}}"));
    CHECK(same("{\"a\":{\"NS\":[\"1\",\"1.0\"]}}", "{\"a\":{\"NS\":[\"1.0\",\"1\"]}}"));
    CHECK(same("{\"a\":{\"S\":\"/\"}}", "{ \"\\u0061\" : { \"S\" : \"\\/\" } }"));
}

static void types_differ(void)
{
    static const char *const all[] = {
        "{\"a\":{\"S\":\"1\"}}",   "{\"a\":{\"N\":\"1\"}}",    "{\"a\":{\"B\":\"\"}}",
        "{\"a\":{\"BOOL\":true}}", "{\"a\":{\"BOOL\":false}}", "{\"a\":{\"NULL\":true}}",
        "{\"a\":{\"M\":{}}}",      "{\"a\":{\"L\":[]}}",       "{\"a\":{\"SS\":[]}}",
        "{\"a\":{\"NS\":[]}}",     "{\"a\":{\"BS\":[]}}",      "{}",
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (size_t j = 0; j < sizeof all / sizeof all[0]; j++)
            CHECK(same(all[i], all[j]) == (i == j));
}

static void content_differs(void)
{
    CHECK(!same("{\"a\":{\"S\":\"1\"}}", "{\"a\":{\"N\":\"1\"}}"));
    CHECK(!same("{\"a\":{\"N\":\"1\"}}", "{\"a\":{\"N\":\"1.0\"}}"));
    CHECK(!same("{\"a\":{\"S\":\"1\"}}", "{\"b\":{\"S\":\"1\"}}"));
    CHECK(!same("{\"a\":{\"S\":\"x\\u0000\"}}", "{\"a\":{\"S\":\"x\"}}"));
    CHECK(!same("{\"a\":{\"L\":[{\"S\":\"1\"},{\"S\":\"2\"}]}}",
                "{\"a\":{\"L\":[{\"S\":\"2\"},{\"S\":\"1\"}]}}"));
}

static void borders_between_parts_count(void)
{
    CHECK(!same("{\"a\":{\"SS\":[\"ab\",\"c\"]}}", "{\"a\":{\"SS\":[\"a\",\"bc\"]}}"));
    CHECK(!same("{\"a\":{\"L\":[{\"L\":[]},{\"S\":\"x\"}]}}",
                "{\"a\":{\"L\":[{\"L\":[{\"S\":\"x\"}]}]}}"));
    CHECK(!same("{\"a\":{\"M\":{}},\"b\":{\"S\":\"x\"}}", "{\"a\":{\"M\":{\"b\":{\"S\":\"x\"}}}}"));
}

static void what_is_no_item_has_none(void)
{
    struct version version;
    CHECK(!version_of("[]", &version));
    CHECK(!version_of("{\"a\":{\"X\":\"1\"}}", &version));
    CHECK(!version_of("{\"a\":{\"S\":\"1\"},\"a\":{\"S\":\"1\"}}", &version));
    CHECK(!item_version((struct json){0}, &version));
}

/* The digest of no attributes: SHA-256 of four zero bytes. */
static void the_form_is_pinned(void)
{
    static const uint8_t want[VERSION_SIZE] = {0xdf, 0x3f, 0x61, 0x98, 0x04, 0xa9, 0x2f, 0xdb,
                                               0x40, 0x57, 0x19, 0x2d, 0xc4, 0x3d, 0xd7, 0x48};
    struct version version;
    CHECK(version_of("{}", &version));
    CHECK(memcmp(version.bytes, want, sizeof want) == 0);
}

static const struct check_test tests[] = {
    {"order and spelling do not matter", order_and_spelling_do_not_matter},
    {"types differ", types_differ},
    {"content differs", content_differs},
    {"borders between parts count", borders_between_parts_count},
    {"what is no item has none", what_is_no_item_has_none},
    {"the form is pinned", the_form_is_pinned},
};
CHECK_MAIN(tests)
