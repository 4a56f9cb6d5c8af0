/* Documents of AWS's tools: what cJSON would lose or let through, and what is kept of it. */
#include "core/aws/document.h"

#include "tests/unit/check.h"

static struct document *parse(const char *text)
{
    struct error err = {0};
    struct document *document = document_parse(span_text(text), "a cache", &err);
    if (!document)
        CHECK_FAIL("<%s>: %s", text, err.text);
    return document;
}

static void check_written(const struct document *document, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    document_write(&out, document);
    CHECK_TEXT(buf_text(&out), want);
}

static void check_refused(struct span text)
{
    struct error err = {0};
    struct document *document = document_parse(text, "a cache", &err);
    if (document)
        CHECK_FAIL("<%.*s> is taken for a document", (int)text.size, text.data);
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
    CHECK_TEXT(err.text, "a cache is no JSON object");
}

static void members_by_path(void)
{
    CLEAN_UP(document_clean_up)
    struct document *document = parse(
        " {\"a\":{\"b\":{\"c\":\"deep\"}},\"B\":\"\",\"n\":7,\"z\":null,\"l\":[{\"b\":1}]}\n");
    CHECK_TEXT(document_text(document, "a.b.c"), "deep");
    CHECK_TEXT(document_text(document, "B"), "");
    CHECK(!document_text(document, "b") && !document_text(document, "a.B"));
    CHECK(!document_text(document, "n") && !document_text(document, "a"));
    CHECK(!document_text(document, "l.b") && !document_text(document, "B.b"));
    CHECK(document_has(document, "l") && document_has(document, "a.b") &&
          !document_has(document, "z") && !document_has(document, "a.c"));
    char longest[200];
    memset(longest, 'x', sizeof longest);
    memcpy(longest + sizeof longest - 3, ".b", 3);
    CHECK(!document_has(document, longest));
}

/* Of two members of one name Python takes the last one, and cJSON the first. */
static void the_last_of_a_name_counts(void)
{
    CLEAN_UP(document_clean_up)
    struct document *document = parse("{\"t\":\"old\",\"T\":\"other\",\"t\":\"new\"}");
    CHECK_TEXT(document_text(document, "t"), "new");
    CHECK(document_set_text(document, "t", "set"));
    check_written(document, "{\"T\":\"other\",\"t\":\"set\"}");
}

static void whole_numbers_or_none(void)
{
    int64_t n = -1;
    CLEAN_UP(document_clean_up)
    struct document *document =
        parse("{\"a\":1792000000000,\"b\":1.5,\"c\":\"7\",\"d\":1e400,\"e\":9007199254740993,"
              "\"f\":-3,\"g\":2e3}");
    CHECK(document_number(document, "a", &n) && n == 1792000000000);
    CHECK(document_number(document, "f", &n) && n == -3);
    CHECK(document_number(document, "g", &n) && n == 2000);
    CHECK(!document_number(document, "b", &n) && !document_number(document, "c", &n));
    CHECK(!document_number(document, "d", &n) && !document_number(document, "x", &n));
    CHECK_INT(n, 2000);
}

static void what_is_not_known_survives(void)
{
    static const char text[] =
        "{\"accessToken\":\"old\",\"big\":9007199254740993,\"huge\":1e400,\"exact\":1.50,"
        "\"tiny\":-0.0,\"1-2\":\"3 -4 \\\" 5\",\"l\":[12345678901234567890,{\"n\":1E+2},[]],"
        "\"t\":true,\"z\":null,\"u\":\"\u00e9\"}";
    CLEAN_UP(document_clean_up) struct document *document = parse(text);
    check_written(document, text);
    check_written(document, text); /* and once more */
    CHECK(document_set_text(document, "accessToken", "new\n\"\\"));
    check_written(document,
                  "{\"big\":9007199254740993,\"huge\":1e400,\"exact\":1.50,\"tiny\":-0.0,"
                  "\"1-2\":\"3 -4 \\\" 5\",\"l\":[12345678901234567890,{\"n\":1E+2},[]],"
                  "\"t\":true,\"z\":null,\"u\":\"\u00e9\",\"accessToken\":\"new\\n\\\"\\\\\"}");
}

static void objects_inside(void)
{
    CLEAN_UP(document_clean_up)
    struct document *document = parse("{\"a\":{\"keep\":1},\"b\":\"text\"}");
    CHECK(!document_set_text(document, "none.x", "1") && !document_set_text(document, "b.x", "1"));
    CHECK(document_set_object(document, "a") && document_set_text(document, "a.x", "1"));
    CHECK(document_set_object(document, "b") && document_set_text(document, "b.x", "2"));
    document_remove(document, "nobody");
    check_written(document, "{\"a\":{\"keep\":1,\"x\":\"1\"},\"b\":{\"x\":\"2\"}}");
    document_remove(document, "a");
    check_written(document, "{\"b\":{\"x\":\"2\"}}");
}

static void nothing_but_an_object(void)
{
    static const char *const bad[] = {
        "",
        " ",
        "[]",
        "\"text\"",
        "7",
        "null",
        "{",
        "{}{}",
        "{} x",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\":-}",
        "{\"a\":\"x",
        "{}\\n",
        "{\"\"",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"b\\u0000c\"}",
        "{\"a\\u0000b\":1}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":'b'}",
        "{\"a\":tru}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_refused(span_text(bad[i]));
    check_refused(SPAN_LITERAL("{\"a\":\"b\0c\"}"));
    check_refused(SPAN_LITERAL("{}\0"));
    check_refused(SPAN_LITERAL("\x7f\x45\x4c\x46\x02\x01\x01\0\0"));
}

/* A backslash before "u0000" that is itself escaped. */
static void letters_that_look_like_a_zero(void)
{
    CLEAN_UP(document_clean_up) struct document *document = parse("{\"a\":\"C:\\\\u0000\"}");
    CHECK_TEXT(document_text(document, "a"), "C:\\u0000");
}

static void deep_and_large(void)
{
    CLEAN_UP(buf_clean_up) struct buf deep = {0}, large = {0};
    for (int i = 0; i < 100000; i++)
        buf_add_text(&deep, "{\"a\":");
    check_refused(buf_span(&deep));
    buf_add_text(&large, "{\"a\":\"");
    buf_add_repeated(&large, 'x', 1000000);
    buf_add_text(&large, "\"}");
    CLEAN_UP(document_clean_up) struct document *document = parse(buf_text(&large));
    CHECK_INT(strlen(document_text(document, "a")), 1000000);
}

static const struct check_test tests[] = {
    {"members by path", members_by_path},
    {"the last of a name counts", the_last_of_a_name_counts},
    {"whole numbers or none", whole_numbers_or_none},
    {"what is not known survives", what_is_not_known_survives},
    {"objects inside", objects_inside},
    {"nothing but an object", nothing_but_an_object},
    {"letters that look like a zero", letters_that_look_like_a_zero},
    {"deep and large", deep_and_large},
};
CHECK_MAIN(tests)
