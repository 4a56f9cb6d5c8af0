/* Typed items as plain JSON: order, exactness, masks, bare values, refusals. */
#include "core/item/item.h"

#include "tests/unit/check.h"

static const struct record_view pretty;
static const struct record_view compact = {.compact = true};

/* Parses the typed item TEXT and writes it as VIEW says. */
static bool write_text(struct span text, const struct record_view *view, struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    return json_parse(&doc, text, JSON_STRICT, NULL) && item_write(json_root(&doc), view, out);
}

static bool shows_view(const char *text, const struct record_view *view, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    bool ok = write_text(span_text(text), view, &out) && span_is(buf_span(&out), want);
    if (!ok)
        printf("# shown as <%s>\n", buf_text(&out));
    return ok;
}

static bool shows(const char *text, const char *want)
{
    return shows_view(text, &compact, want);
}

static bool refuses(const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    buf_add_text(&out, "kept");
    return !write_text(span_text(text), &compact, &out) && !out.failed &&
           span_is(buf_span(&out), "kept");
}

/* Whether the bare value of the typed value TEXT is WANT. */
static bool bare(const char *text, struct span want)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    return json_parse(&doc, span_text(text), JSON_STRICT, NULL) &&
           item_write_value(json_root(&doc), false, &out) && span_equal(buf_span(&out), want);
}

static void pretty_is_two_spaces(void)
{
    CHECK(shows_view("{\"b\":{\"L\":[{\"N\":\"1\"},{\"M\":{\"x\":{\"SS\":[\"q\"]}}}]},"
                     "\"a\":{\"S\":\"v\"}}",
                     &pretty,
                     "{\n  \"a\": \"v\",\n  \"b\": [\n    1,\n    {\n      \"x\": [\n"
                     "        \"q\"\n      ]\n    }\n  ]\n}\n"));
}

static void compact_is_one_line(void)
{
    CHECK(shows("{ \"b\" : {\"L\":[{\"N\":\"1\"}, {\"NULL\":true}]}, \"a\":{\"BOOL\":false} }",
                "{\"a\":false,\"b\":[1,null]}\n"));
}

static void empty_containers_have_no_inside(void)
{
    CHECK(shows_view("{}", &pretty, "{}\n"));
    CHECK(shows_view("{\"l\":{\"L\":[]},\"m\":{\"M\":{}}}", &pretty,
                     "{\n  \"l\": [],\n  \"m\": {}\n}\n"));
}

static void names_are_in_byte_order(void)
{
    CHECK(shows("{\"b\":{\"N\":\"1\"},\"a\\u00e9\":{\"N\":\"2\"},\"B\":{\"N\":\"3\"},"
                "\"\":{\"N\":\"4\"},\"a\":{\"N\":\"5\"},\"az\":{\"N\":\"6\"}}",
                "{\"\":4,\"B\":3,\"a\":5,\"az\":6,\"a\u00e9\":2,\"b\":1}\n"));
    CHECK(shows("{\"m\":{\"M\":{\"y\":{\"N\":\"1\"},\"x\":{\"N\":\"2\"}}}}",
                "{\"m\":{\"x\":2,\"y\":1}}\n"));
}

static void keys_come_first(void)
{
    static const char *const first[] = {"sk", "missing", "sk", "pk"};
    struct record_view view = {.first = first, .first_count = 4, .compact = true};
    CHECK(
        shows_view("{\"a\":{\"N\":\"1\"},\"pk\":{\"N\":\"2\"},\"b\":{\"N\":\"3\"},"
                   "\"sk\":{\"N\":\"4\"},\"z\":{\"M\":{\"pk\":{\"N\":\"5\"},\"a\":{\"N\":\"6\"}}}}",
                   &view, "{\"sk\":4,\"pk\":2,\"a\":1,\"b\":3,\"z\":{\"a\":6,\"pk\":5}}\n"));
}

static void numbers_keep_their_digits(void)
{
    CHECK(shows("{\"a\":{\"N\":\"12345678901234567890123456789012345678\"},"
                "\"b\":{\"N\":\"1e125\"},\"c\":{\"N\":\"-0\"},\"d\":{\"N\":\"1.500\"}}",
                "{\"a\":12345678901234567890123456789012345678,\"b\":1e125,\"c\":-0,"
                "\"d\":1.500}\n"));
}

/* It could only be shown as what it is not. */
static void a_number_that_is_none_is_refused(void)
{
    static const char *const bad[] = {"abc", "", "+1", ".5", "1.", "NaN", "0x10", "1 ", "Infinity"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"a\":{\"N\":\"%s\"}}", bad[i]);
        CHECK(refuses(text));
        snprintf(text, sizeof text, "{\"a\":{\"L\":[{\"M\":{\"b\":{\"N\":\"%s\"}}}]}}", bad[i]);
        CHECK(refuses(text));
        snprintf(text, sizeof text, "{\"a\":{\"NS\":[\"1\",\"%s\"]}}", bad[i]);
        CHECK(refuses(text));
    }
    CHECK(shows("{\"a\":{\"N\":\"\\u0031\"}}", "{\"a\":1}\n"));
}

static void strings_are_escaped_anew(void)
{
    CHECK(shows("{\"a\":{\"S\":\"\\u0041\\/\\u0000\\n\\ud83d\\ude00\\u007f\"}}",
                "{\"a\":\"A/\\u0000\\n\U0001f600\x7f\"}\n"));
    CHECK(shows("{\"\\ud800\":{\"S\":\"\\udfff\"}}", "{\"\\ud800\":\"\\udfff\"}\n"));
}

static void sets_are_sorted(void)
{
    CHECK(shows("{\"a\":{\"SS\":[\"b\",\"\\u0061\",\"B\",\"ab\"]}}",
                "{\"a\":[\"B\",\"a\",\"ab\",\"b\"]}\n"));
    CHECK(shows("{\"a\":{\"NS\":[\"10\",\"9\",\"-1\",\"1e1\",\"0.5\"]}}",
                "{\"a\":[-1,0.5,9,10,1e1]}\n"));
    CHECK(shows("{\"a\":{\"BS\":[\"/w==\",\"AAA=\",\"AA==\"]}}",
                "{\"a\":[\"AA==\",\"AAA=\",\"/w==\"]}\n"));
}

static void binary_is_base64(void)
{
    CHECK(shows("{\"a\":{\"B\":\"\\/+8=\"},\"b\":{\"B\":\"\"}}", "{\"a\":\"/+8=\",\"b\":\"\"}\n"));
}

static void secrets_are_masked_at_the_top(void)
{
    static const char *const secret[] = {"token", "key"};
    struct record_view view = {.secret = secret, .secret_count = 2, .compact = true};
    CHECK(shows_view("{\"token\":{\"S\":\"hush\"},\"key\":{\"M\":{\"a\":{\"N\":\"1\"}}},"
                     "\"m\":{\"M\":{\"token\":{\"S\":\"seen\"}}}}",
                     &view,
                     "{\"key\":\"********\",\"m\":{\"token\":\"seen\"},\"token\":\"********\"}\n"));
}

static void a_masked_value_is_still_typed(void)
{
    static const char *const secret[] = {"a"};
    struct record_view view = {.secret = secret, .secret_count = 1};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CHECK(!write_text(SPAN_LITERAL("{\"a\":{\"X\":1}}"), &view, &out));
}

static void what_is_no_item_is_refused(void)
{
    static const char *const bad[] = {
        "[]",
        "1",
        "{\"a\":1}",
        "{\"a\":{}}",
        "{\"a\":{\"S\":1}}",
        "{\"a\":{\"N\":1}}",
        "{\"a\":{\"X\":\"1\"}}",
        "{\"a\":{\"s\":\"1\"}}",
        "{\"a\":{\"S\":\"1\",\"N\":\"1\"}}",
        "{\"a\":{\"BOOL\":\"true\"}}",
        "{\"a\":{\"NULL\":null}}",
        "{\"a\":{\"M\":[]}}",
        "{\"a\":{\"L\":{}}}",
        "{\"a\":{\"L\":[1]}}",
        "{\"a\":{\"L\":[{\"S\":\"x\"},{\"X\":\"y\"}]}}",
        "{\"a\":{\"M\":{\"b\":{\"S\":[]}}}}",
        "{\"a\":{\"SS\":\"x\"}}",
        "{\"a\":{\"SS\":[1]}}",
        "{\"a\":{\"NS\":[1]}}",
        "{\"a\":{\"BS\":[\"x\"]}}",
        "{\"a\":{\"B\":\"x\"}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(refuses(bad[i]));
}

static void duplicate_names_are_refused(void)
{
    CHECK(refuses("{\"a\":{\"S\":\"1\"},\"b\":{\"S\":\"1\"},\"\\u0061\":{\"S\":\"2\"}}"));
    CHECK(refuses("{\"m\":{\"M\":{\"a\":{\"S\":\"1\"},\"a\":{\"S\":\"1\"}}}}"));
}

static void absent_is_no_item(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct json none = {0};
    CHECK(!item_write(none, &pretty, &out));
    CHECK(!item_write_value(none, false, &out));
}

static void bare_values_are_bare(void)
{
    CHECK(bare("{\"S\":\"a\\n\\u0000\\\"b\"}", SPAN_LITERAL("a\n\0\"b\n")));
    CHECK(bare("{\"S\":\"\"}", SPAN_LITERAL("\n")));
    CHECK(bare("{\"N\":\"1.50\"}", SPAN_LITERAL("1.50\n")));
    CHECK(bare("{\"BOOL\":true}", SPAN_LITERAL("true\n")));
    CHECK(bare("{\"BOOL\":false}", SPAN_LITERAL("false\n")));
    CHECK(bare("{\"NULL\":true}", SPAN_LITERAL("null\n")));
    CHECK(bare("{\"B\":\"AAE=\"}", SPAN_LITERAL("AAE=\n")));
}

static void bare_containers_are_json(void)
{
    CHECK(bare("{\"L\":[{\"S\":\"a\"}]}", SPAN_LITERAL("[\n  \"a\"\n]\n")));
    CHECK(bare("{\"M\":{\"k\":{\"N\":\"1\"}}}", SPAN_LITERAL("{\n  \"k\": 1\n}\n")));
    CHECK(bare("{\"SS\":[\"b\",\"a\"]}", SPAN_LITERAL("[\n  \"a\",\n  \"b\"\n]\n")));
    CHECK(!bare("{\"X\":1}", SPAN_LITERAL("1\n")));
}

static void attributes_are_found(void)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    CHECK(json_parse(&doc, SPAN_LITERAL("{\"a\\u0000\":{\"S\":\"x\"}}"), JSON_STRICT, NULL));
    struct json item = json_root(&doc);
    CHECK_SPAN(json_raw(item_attribute(item, SPAN_LITERAL("a\0"))), SPAN_LITERAL("{\"S\":\"x\"}"));
    CHECK(!json_present(item_attribute(item, SPAN_LITERAL("a"))));
}

static void output_is_appended(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    buf_add_text(&out, "x");
    CHECK(write_text(SPAN_LITERAL("{}"), &compact, &out));
    CHECK(write_text(SPAN_LITERAL("{}"), &compact, &out));
    CHECK_TEXT(buf_text(&out), "x{}\n{}\n");
}

/* A list in a list …, LEVELS deep; two levels of JSON each. */
static void add_nested(struct buf *text, int levels)
{
    buf_add_text(text, "{\"a\":");
    for (int i = 0; i < levels; i++)
        buf_add_text(text, "{\"L\":[");
    buf_add_text(text, "{\"N\":\"1\"}");
    for (int i = 0; i < levels; i++)
        buf_add_text(text, "]}");
    buf_add_text(text, "}");
}

static bool nests(int levels)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(buf_clean_up) struct buf want = {0};
    add_nested(&text, levels);
    buf_add_text(&want, "{\"a\":");
    buf_add_repeated(&want, '[', (size_t)levels);
    buf_add_char(&want, '1');
    buf_add_repeated(&want, ']', (size_t)levels);
    buf_add_text(&want, "}\n");
    return shows(buf_text(&text), buf_text(&want));
}

static void nesting_is_followed_to_the_parser_s_end(void)
{
    CHECK(nests(32));
    CHECK(nests(200));
    CHECK(nests(255));
}

static void an_item_of_400_kilobytes_is_whole(void)
{
    enum { SIZE = 400000 };
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    buf_add_text(&text, "{\"a\":{\"S\":\"");
    buf_add_repeated(&text, 'x', SIZE);
    buf_add_text(&text, "\"}}");
    CHECK(write_text(buf_span(&text), &compact, &out));
    CHECK_INT(out.size, SIZE + strlen("{\"a\":\"\"}\n"));
}

/* The text of an item is written into memory of the right size at once, and never moved. */
static void an_item_s_text_is_written_once(void)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "%s\"name-%d\":{\"S\":\"value-%d\"}", i ? "," : "{", i, i);
    buf_add_char(&text, '}');
    CHECK(write_text(buf_span(&text), &(struct record_view){0}, &out));
    CHECK(out.size > 10000);
    CHECK_INT(out.capacity, text.size + 1);
}

static void typed_text_is_the_same_for_every_order_of_members(void)
{
    static const char *const orders[] = {
        "{\"b\":{\"M\":{\"y\":{\"N\":\"1.50\"},\"x\":{\"S\":\"\\u00e9\"}}},\"a\":{\"NS\":[\"10\","
        "\"9\"]},"
        "\"k\":{\"S\":\"hush\"},\"l\":{\"L\":[{\"BOOL\":true},{\"B\":\"AA==\"}]}}",
        "{\"l\":{\"L\":[{\"BOOL\":true},{\"B\":\"AA==\"}]},\"k\":{\"S\":\"hush\"},\"a\":{\"NS\":["
        "\"9\",\"10\"]},"
        "\"b\":{\"M\":{\"x\":{\"S\":\"\\u00e9\"},\"y\":{\"N\":\"1.50\"}}}}",
    };
    static const char *const secrets[] = {"k"};
    struct record_view view = {.secret = secrets, .secret_count = 1};
    for (size_t i = 0; i < 2; i++) {
        CLEAN_UP(json_clean_up) struct json_doc doc;
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        CHECK(json_parse(&doc, span_text(orders[i]), JSON_STRICT, NULL));
        CHECK(item_write_typed(json_root(&doc), &view, &out));
        CHECK_TEXT(
            buf_text(&out),
            "{\"a\":{\"NS\":[\"9\",\"10\"]},\"b\":{\"M\":{\"x\":{\"S\":\"\\u00e9\"},\"y\":{\"N\":"
            "\"1.50\"}}},\"k\":{\"S\":\"********\"},\"l\":{\"L\":[{\"BOOL\":true},{\"B\":\"AA==\"}]"
            "}}\n");
    }
}

static const struct check_test tests[] = {
    {"an item's text is written once", an_item_s_text_is_written_once},
    {"typed text is the same for every order of members",
     typed_text_is_the_same_for_every_order_of_members},
    {"pretty is two spaces", pretty_is_two_spaces},
    {"compact is one line", compact_is_one_line},
    {"empty containers have no inside", empty_containers_have_no_inside},
    {"names are in byte order", names_are_in_byte_order},
    {"keys come first", keys_come_first},
    {"numbers keep their digits", numbers_keep_their_digits},
    {"a number that is none is refused", a_number_that_is_none_is_refused},
    {"strings are escaped anew", strings_are_escaped_anew},
    {"sets are sorted", sets_are_sorted},
    {"binary is base64", binary_is_base64},
    {"secrets are masked at the top", secrets_are_masked_at_the_top},
    {"a masked value is still typed", a_masked_value_is_still_typed},
    {"what is no item is refused", what_is_no_item_is_refused},
    {"duplicate names are refused", duplicate_names_are_refused},
    {"absent is no item", absent_is_no_item},
    {"bare values are bare", bare_values_are_bare},
    {"bare containers are JSON", bare_containers_are_json},
    {"attributes are found", attributes_are_found},
    {"output is appended", output_is_appended},
    {"nesting is followed to the parser's end", nesting_is_followed_to_the_parser_s_end},
    {"an item of 400 kilobytes is whole", an_item_of_400_kilobytes_is_whole},
};
CHECK_MAIN(tests)
