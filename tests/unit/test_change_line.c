/* A change as a line of text, and as JSON. */
#include "core/describe/change_line.h"

#include "core/describe/follow_words.h"
#include "tests/unit/check.h"

#define KEYS "\"Keys\":{\"pk\":{\"S\":\"1\"}}"
#define RECORD(kind, images)                                                                       \
    "{\"eventName\":\"" kind "\",\"dynamodb\":{\"ApproximateCreationDateTime\":1763546531,"        \
    "\"SequenceNumber\":\"7\"," KEYS images "}}"
#define OLD(members) ",\"OldImage\":{\"pk\":{\"S\":\"1\"}" members "}"
#define NEW(members) ",\"NewImage\":{\"pk\":{\"S\":\"1\"}" members "}"
#define A(value) ",\"a\":{\"S\":\"" value "\"}"
#define TIME "2025-11-19T10:02:11Z "

/* A record that is read. */
struct read_change {
    struct json_doc doc;
    struct change change;
};

static const char *const first[] = {"pk"}, *const secret[] = {"token"};

static struct change_line line_of(struct read_change *read, const char *record)
{
    struct error err = {0};
    CHECK(json_parse(&read->doc, span_text(record), JSON_STRICT, NULL));
    if (!change_read(json_root(&read->doc), &read->change, &err))
        CHECK_FAIL("%s", err.text);
    read->change.shard = SPAN_LITERAL("shard-1");
    read->change.resume_ms = read->change.at_ms - 300000;
    return (struct change_line){.change = &read->change,
                                .path = SPAN_LITERAL("box/one"),
                                .view = {first, 1, secret, 1, true}};
}

static void check_line(struct change_line *line, size_t columns, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CHECK(change_line_write_text(line, columns, &out));
    CHECK_TEXT(buf_text(&out), want);
}

static void check_text(const char *record, const char *want)
{
    struct read_change read = {0};
    struct change_line line = line_of(&read, record);
    check_line(&line, 0, want);
    json_clean_up(&read.doc);
}

static void test_differences_have_signs(void)
{
    check_text(RECORD("INSERT", NEW(A("x"))), TIME "INSERT box/one   +a: \"x\"\n");
    check_text(RECORD("MODIFY", OLD(A("x")) NEW(A("y"))),
               TIME "MODIFY box/one   a: \"x\" -> \"y\"\n");
    check_text(RECORD("REMOVE", OLD(A("x"))), TIME "REMOVE box/one   -a: \"x\"\n");
    check_text(RECORD("MODIFY", OLD(A("x")) NEW(A("x"))), TIME "MODIFY box/one\n");
}

static void test_one_image_is_no_difference(void)
{
    check_text(RECORD("MODIFY", NEW(A("y"))), TIME "MODIFY box/one   now a: \"y\"\n");
    check_text(RECORD("MODIFY", OLD(A("x"))), TIME "MODIFY box/one   before a: \"x\"\n");
    check_text(RECORD("MODIFY", ""), TIME "MODIFY box/one\n");
}

static void test_controls_are_escaped(void)
{
    check_text(RECORD("INSERT", NEW(A("\\u001b[2J\\n"))),
               TIME "INSERT box/one   +a: \"\\u001b[2J\\n\"\n");
    struct read_change read = {0};
    struct change_line line = line_of(&read, RECORD("REMOVE", ""));
    line.path = SPAN_LITERAL("a\033b");
    check_line(&line, 0, TIME "REMOVE a%1Bb\n");
    json_clean_up(&read.doc);
}

#define TOKEN(value) ",\"token\":{\"M\":{\"v\":{\"S\":\"" value "\"},\"w\":{\"S\":\"" value "\"}}}"

static void test_secrets_are_one_difference(void)
{
    check_text(RECORD("MODIFY", OLD(TOKEN("x")) NEW(TOKEN("y"))),
               TIME "MODIFY box/one   token: ******** (changed)\n");
    check_text(RECORD("INSERT", NEW(TOKEN("x"))), TIME "INSERT box/one   +token: \"********\"\n");
}

static void test_a_change_without_a_path_has_its_key(void)
{
    struct read_change read = {0};
    struct change_line line = line_of(&read, RECORD("REMOVE", ""));
    line.path = span_text("");
    check_line(&line, 0, TIME "REMOVE pk = \"1\"\n");
    json_clean_up(&read.doc);
}

static void test_a_line_is_cut_by_characters(void)
{
    struct read_change read = {0};
    struct change_line line = line_of(&read, RECORD("INSERT", NEW(A("ééééé"))));
    check_line(&line, 47, TIME "INSERT box/one   +a: \"ééé…\n");
    check_line(&line, 48, TIME "INSERT box/one   +a: \"éééé…\n");
    check_line(&line, 49, TIME "INSERT box/one   +a: \"ééééé\"\n");
    json_clean_up(&read.doc);
}

static void check_json(struct change_line *line, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CHECK(change_line_write_json(line, &out));
    CHECK_TEXT(buf_text(&out), want);
}

#define HEAD(kind) "{\"time\":\"2025-11-19T10:02:11Z\",\"kind\":\"" kind "\",\"expired\":false,"
#define PATH "\"path\":\"box/one\",\"keys\":{\"pk\":\"1\"},"
#define TAIL "\"sequence\":\"7\",\"shard\":\"shard-1\",\"resume\":\"2025-11-19T09:57:11Z\"}\n"

static void test_json_tells_null_from_absent(void)
{
    struct read_change read = {0};
    struct change_line line = line_of(&read, RECORD("INSERT", NEW(A("x"))));
    check_json(&line, HEAD("INSERT") PATH "\"old\":null,\"new\":{\"pk\":\"1\",\"a\":\"x\"}," TAIL);
    json_clean_up(&read.doc);
    read = (struct read_change){0};
    line = line_of(&read, RECORD("MODIFY", ""));
    check_json(&line, HEAD("MODIFY") PATH TAIL);
    line.is_fetched = true;
    check_json(&line, HEAD("MODIFY") PATH "\"new\":null,\"fetched\":true," TAIL);
    line.is_fetched = false;
    line.has_left = true;
    check_json(&line, HEAD("MODIFY") "\"left\":true," PATH TAIL);
    json_clean_up(&read.doc);
}

static void test_json_keeps_digits_and_masks(void)
{
    struct read_change read = {0};
    struct change_line line = line_of(
        &read, RECORD("MODIFY", OLD(TOKEN("x")) NEW(TOKEN("y") ",\"n\":{\"N\":\"1E+125\"}")));
    check_json(&line,
               HEAD("MODIFY") PATH "\"old\":{\"pk\":\"1\",\"token\":\"********\"},"
                                   "\"new\":{\"pk\":\"1\",\"n\":1E+125,\"token\":\"********\"},"
                                   "\"changed\":[\"n\",\"token\"]," TAIL);
    json_clean_up(&read.doc);
}

static void test_an_image_that_is_no_item_is_refused(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct read_change read = {0};
    struct change_line line = line_of(&read, RECORD("INSERT", NEW(",\"a\":{\"Q\":1}")));
    buf_add_text(&out, "x");
    CHECK(!change_line_write_text(&line, 0, &out) && !out.failed);
    CHECK(!change_line_write_json(&line, &out) && !out.failed);
    CHECK_TEXT(buf_text(&out), "x");
    json_clean_up(&read.doc);
}

static void test_events_are_objects(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    change_line_write_event("gap", 0, SPAN_LITERAL("/t"), "trimmed", &out);
    CHECK_TEXT(buf_text(&out),
               "{\"time\":\"1970-01-01T00:00:00Z\",\"kind\":\"gap\",\"path\":\"/t\","
               "\"text\":\"trimmed\"}\n");
}

static void test_only_a_missing_stream_gets_options(void)
{
    struct error err;
    error_set(&err, ERROR_NO_STREAM, "…StreamViewType=NEW_AND_OLD_IMAGES");
    follow_add_options(&err, " --region r");
    CHECK_TEXT(err.text, "…StreamViewType=NEW_AND_OLD_IMAGES --region r");
    error_set(&err, ERROR_NO_STREAM, "the stream was disabled");
    follow_add_options(&err, " --region r");
    CHECK_TEXT(err.text, "the stream was disabled");
}

static const struct check_test tests[] = {
    {"differences_have_signs", test_differences_have_signs},
    {"one_image_is_no_difference", test_one_image_is_no_difference},
    {"controls_are_escaped", test_controls_are_escaped},
    {"secrets_are_one_difference", test_secrets_are_one_difference},
    {"a_change_without_a_path_has_its_key", test_a_change_without_a_path_has_its_key},
    {"a_line_is_cut_by_characters", test_a_line_is_cut_by_characters},
    {"json_tells_null_from_absent", test_json_tells_null_from_absent},
    {"json_keeps_digits_and_masks", test_json_keeps_digits_and_masks},
    {"an_image_that_is_no_item_is_refused", test_an_image_that_is_no_item_is_refused},
    {"events_are_objects", test_events_are_objects},
    {"only_a_missing_stream_gets_options", test_only_a_missing_stream_gets_options},
};

CHECK_MAIN(tests)
