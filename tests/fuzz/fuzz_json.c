/* Fuzzing of the JSON parser and of everything that reads its tape. What it accepts is written
 * again from the tape alone, and must then mean the same. */
#include <stdint.h>
#include <stdlib.h>

#include "core/json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void write_again(struct buf *out, struct json value)
{
    bool object = json_is(value, JSON_OBJECT);
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (json_read_string(value, &text)) {
        require(json_string_is(value, buf_span(&text)));
        json_write_string(out, buf_span(&text));
        return;
    }
    if (!object && !json_is(value, JSON_ARRAY)) {
        buf_add_span(out, json_raw(value));
        return;
    }
    buf_add_char(out, object ? '{' : '[');
    size_t i = 0;
    for (struct json v = json_first(value); json_present(v); v = json_next(v), i++) {
        buf_add_text(out, i == 0 ? "" : object && i % 2 ? ":" : ",");
        write_again(out, v);
    }
    require(i == json_count(value) * (object ? 2 : 1));
    buf_add_char(out, object ? '}' : ']');
}

static void use_members(struct json object)
{
    struct json name = json_first(object);
    if (!json_is(object, JSON_OBJECT))
        return;
    for (int i = 0; i < 8 && json_present(name); i++, name = json_next(json_next(name))) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        require(json_read_string(name, &text));
        require(json_present(json_member_span(object, buf_span(&text))));
    }
}

static void use_document(const struct json_doc *doc)
{
    CLEAN_UP(buf_clean_up) struct buf once = {0};
    CLEAN_UP(buf_clean_up) struct buf twice = {0};
    CLEAN_UP(json_clean_up) struct json_doc again;
    int64_t number;
    write_again(&once, json_root(doc));
    use_members(json_root(doc));
    (void)json_read_int(json_root(doc), &number);
    require(json_parse(&again, buf_span(&once), JSON_STRICT, NULL));
    write_again(&twice, json_root(&again));
    require(span_equal(buf_span(&once), buf_span(&twice)));
}

static void parse(struct span text, unsigned flags)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    struct json_fault fault;
    struct json_position position = {0};
    if (json_parse(&doc, text, flags, &fault)) {
        use_document(&doc);
        return;
    }
    require(fault.what && fault.offset <= text.size);
    json_position_move(&position, &doc, fault.offset);
    require(position.lines + position.characters <= text.size);
}

/* Any bytes, written as a string, are a string. */
static void write_bytes(struct span bytes)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc;
    json_write_string(&out, bytes);
    require(json_parse(&doc, buf_span(&out), JSON_STRICT, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of((const char *)data, size);
    parse(text, JSON_STRICT);
    parse(text, JSON_COMMENTS);
    write_bytes(text);
    (void)json_is_number(text);
    return 0;
}
