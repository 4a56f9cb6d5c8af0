/* The JSON writer: styles, nesting, names and escapes. */
#include "core/json/writer.h"

#include "core/json/json.h"
#include "tests/unit/check.h"

static void write_sample(struct buf *out, enum json_style outer, enum json_style inner)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, outer);
    json_writer_add_text(&json, "a", "x\"\n");
    json_writer_begin_array(&json, "b", inner);
    json_writer_add_integer(&json, NULL, -7);
    json_writer_add_bool(&json, NULL, true);
    json_writer_add_null(&json, NULL);
    json_writer_end(&json);
    json_writer_begin_object(&json, "c", inner);
    json_writer_end(&json);
    json_writer_add_name(&json, span_of("n\0", 2));
    json_writer_add_raw(&json, NULL, SPAN_LITERAL("1.50"));
    buf_add_text(json_writer_add_value(&json, "v"), "2");
    json_writer_end(&json);
}

static void test_styles(void)
{
    static const struct {
        enum json_style outer, inner;
        const char *text;
    } cases[] = {
        {JSON_TIGHT, JSON_TIGHT,
         "{\"a\":\"x\\\"\\n\",\"b\":[-7,true,null],\"c\":{},\"n\\u0000\":1.50,\"v\":2}"},
        {JSON_SPACED, JSON_TIGHT,
         "{\"a\": \"x\\\"\\n\", \"b\": [-7,true,null], \"c\": {}, \"n\\u0000\": 1.50, \"v\": 2}"},
        {JSON_LINES, JSON_SPACED,
         "{\n  \"a\": \"x\\\"\\n\",\n  \"b\": [-7, true, null],\n  \"c\": {},\n"
         "  \"n\\u0000\": 1.50,\n  \"v\": 2\n}"},
        {JSON_LINES, JSON_LINES,
         "{\n  \"a\": \"x\\\"\\n\",\n  \"b\": [\n    -7,\n    true,\n    null\n  ],\n  \"c\": {},\n"
         "  \"n\\u0000\": 1.50,\n  \"v\": 2\n}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        write_sample(&out, cases[i].outer, cases[i].inner);
        CHECK_TEXT(buf_text(&out), cases[i].text);
        CHECK(json_parse(&doc, buf_span(&out), JSON_STRICT, NULL));
    }
}

static void test_a_value_alone_has_no_comma(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct json_writer json = json_writer_to(&out);
    json_writer_add_string(&json, NULL, SPAN_LITERAL("a"));
    CHECK_TEXT(buf_text(&out), "\"a\"");
}

static void test_nesting_has_a_bound(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct json_writer json = json_writer_to(&out);
    for (int i = 0; i < JSON_WRITER_DEPTH; i++)
        json_writer_begin_array(&json, NULL, JSON_TIGHT);
    CHECK(!out.failed);
    json_writer_begin_array(&json, NULL, JSON_TIGHT);
    CHECK(out.failed);
}

static const struct check_test tests[] = {
    {"styles", test_styles},
    {"a_value_alone_has_no_comma", test_a_value_alone_has_no_comma},
    {"nesting_has_a_bound", test_nesting_has_a_bound},
};

CHECK_MAIN(tests)
