/* Records: what they copy, what they cost, how long they live. */
#include "core/item/record.h"

#include "tests/unit/check.h"

static const char ITEM[] = "{ \"pk\" : {\"S\":\"a\"}, \"n\":{\"N\":\"1.50\"} }";

static const struct record_origin ORIGIN = {
    .fetched_ms = 7, .fetched_wall_ms = 1700000000123, .capacity = 0.5, .request_id = "R1"};

static void record_clean_up(struct record **record)
{
    record_unref(*record);
}

#define RECORD CLEAN_UP(record_clean_up) struct record

/* A record of TEXT, whose memory is gone when it returns. */
static struct record *record_of(const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf copy = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc;
    buf_printf(&copy, "{\"Item\":%s}", text);
    if (!json_parse(&doc, buf_span(&copy), JSON_STRICT, NULL))
        return NULL;
    return record_new(json_member(json_root(&doc), "Item"), &ORIGIN, NULL);
}

static void bytes_outlive_their_answer(void)
{
    RECORD *record = record_of(ITEM);
    CHECK(record);
    CHECK_SPAN(record_typed(record), span_text(ITEM));
    CHECK_SPAN(json_raw(record_item(record)), span_text(ITEM));
}

static void the_item_can_be_read(void)
{
    RECORD *record = record_of(ITEM);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct record_view view = {.compact = true};
    CHECK(record && item_write(record_item(record), &view, &out));
    CHECK_TEXT(buf_text(&out), "{\"n\":1.50,\"pk\":\"a\"}\n");
}

static void the_origin_is_kept(void)
{
    RECORD *record = record_of(ITEM);
    CHECK(record);
    CHECK_INT(record_origin(record)->fetched_ms, 7);
    CHECK_INT(record_origin(record)->fetched_wall_ms, 1700000000123);
    CHECK(record_origin(record)->capacity == 0.5);
    CHECK_TEXT(record_origin(record)->request_id, "R1");
}

static void the_version_is_the_item_s(void)
{
    RECORD *record = record_of(ITEM);
    RECORD *turned = record_of("{\"n\":{\"N\":\"1.50\"},\"pk\":{\"S\":\"a\"}}");
    RECORD *other = record_of("{\"n\":{\"N\":\"1.5\"},\"pk\":{\"S\":\"a\"}}");
    CHECK(record && turned && other);
    struct version a, b, c;
    CHECK(item_version(record_item(record), &a) && item_version(record_item(turned), &b) &&
          item_version(record_item(other), &c));
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK(memcmp(&a, &c, sizeof a) != 0);
}

static void a_reference_keeps_it(void)
{
    struct record *record = record_of(ITEM);
    CHECK(record && record_ref(record) == record);
    record_unref(record);
    CHECK_SPAN(record_typed(record), span_text(ITEM));
    record_unref(record);
    record_unref(NULL);
}

static void what_is_no_item_is_no_record(void)
{
    CHECK(!record_of("[]"));
    CHECK(!record_of("{\"a\":1}"));
    CHECK(!record_of("{\"a\":{\"S\":\"1\"},\"a\":{\"S\":\"2\"}}"));
    CHECK(!record_new((struct json){0}, &ORIGIN, NULL));
}

static void an_empty_item_is_a_record(void)
{
    RECORD *record = record_of("{}");
    CHECK(record);
    CHECK_INT(json_count(record_item(record)), 0);
}

static void memory_counts_text_and_tape(void)
{
    RECORD *little = record_of(ITEM);
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_text(&text, "{\"a\":{\"S\":\"");
    buf_add_repeated(&text, 'x', 10000);
    buf_add_text(&text, "\"}}");
    RECORD *large = record_of(buf_text(&text));
    CHECK(little && large);
    CHECK(record_memory(little) > sizeof ITEM + 7 * 16);
    CHECK(record_memory(large) > text.size && record_memory(large) < text.size + 1000);
}

/* Who has to look for it wants to know where. */
static void what_is_not_understood_is_named(void)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    struct error err = {0};
    static const char text[] = "{\"a\":{\"S\":\"x\"},\"b c\":{\"N\":\"abc\"}}";
    CHECK(json_parse(&doc, span_text(text), JSON_STRICT, NULL));
    CHECK(!record_new(json_root(&doc), &ORIGIN, &err));
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
    CHECK_TEXT(err.text,
               "the item that came is not understood: its attribute \"b c\" has no value of "
               "DynamoDB's");
    CHECK_TEXT(err.request_id, "R1");
}

static const struct check_test tests[] = {
    {"what is not understood is named", what_is_not_understood_is_named},
    {"bytes outlive their answer", bytes_outlive_their_answer},
    {"the item can be read", the_item_can_be_read},
    {"the origin is kept", the_origin_is_kept},
    {"the version is the item's", the_version_is_the_item_s},
    {"a reference keeps it", a_reference_keeps_it},
    {"what is no item is no record", what_is_no_item_is_no_record},
    {"an empty item is a record", an_empty_item_is_a_record},
    {"memory counts text and tape", memory_counts_text_and_tape},
};
CHECK_MAIN(tests)
