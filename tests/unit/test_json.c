/* The JSON tape: what is accepted, what is refused and where, and what is read back. */
#include "core/json/json.h"

#include <stdint.h>

#include "tests/unit/check.h"

/* A document whose text ends where its memory ends, so that a read past it is seen. */
struct sample {
    char *text;
    struct json_doc doc;
    struct json_fault fault;
    bool ok;
};

static void sample_clean_up(struct sample *sample)
{
    json_clean_up(&sample->doc);
    free(sample->text);
}

#define SAMPLE CLEAN_UP(sample_clean_up) struct sample

static struct sample *parse_span(struct sample *sample, struct span text, unsigned flags)
{
    *sample = (struct sample){.text = malloc(text.size ? text.size : 1)};
    if (sample->text && text.size)
        memcpy(sample->text, text.data, text.size);
    sample->ok = json_parse(&sample->doc, span_of(sample->text, text.size), flags, &sample->fault);
    return sample;
}

static struct json parse(struct sample *sample, const char *text)
{
    parse_span(sample, span_text(text), JSON_STRICT);
    return sample->ok ? json_root(&sample->doc) : (struct json){0};
}

static bool accepts(struct span text, unsigned flags)
{
    SAMPLE sample;
    return parse_span(&sample, text, flags)->ok;
}

/* Where TEXT stops to be JSON, and why; an offset of -1 if it never does. */
static struct json_fault fault_of(const char *text, unsigned flags)
{
    SAMPLE sample;
    parse_span(&sample, span_text(text), flags);
    return sample.ok ? (struct json_fault){SIZE_MAX, "accepted"} : sample.fault;
}

#define CHECK_FAULT(text, at, why)                                                                 \
    do {                                                                                           \
        struct json_fault check_fault = fault_of(text, JSON_STRICT);                               \
        CHECK_INT(check_fault.offset, at);                                                         \
        CHECK_TEXT(check_fault.what, why);                                                         \
    } while (0)

/* Whether the unescaped bytes of the string TEXT are WANT. */
static bool reads_as(struct span text, struct span want)
{
    SAMPLE sample;
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    if (!parse_span(&sample, text, JSON_STRICT)->ok)
        return false;
    return json_read_string(json_root(&sample.doc), &out) && span_equal(buf_span(&out), want) &&
           json_string_is(json_root(&sample.doc), want);
}

static bool writes_as(struct span bytes, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    json_write_string(&out, bytes);
    return span_is(buf_span(&out), want);
}

#define READS(text, want) CHECK(reads_as(SPAN_LITERAL(text), SPAN_LITERAL(want)))
#define WRITES(bytes, want) CHECK(writes_as(SPAN_LITERAL(bytes), want))
#define ACCEPTS(text) CHECK(accepts(SPAN_LITERAL(text), JSON_STRICT))
#define REFUSES(text) CHECK(!accepts(SPAN_LITERAL(text), JSON_STRICT))

static void every_type_is_told(void)
{
    static const enum json_type want[] = {JSON_NULL,   JSON_FALSE, JSON_TRUE,  JSON_NUMBER,
                                          JSON_STRING, JSON_ARRAY, JSON_OBJECT};
    SAMPLE s;
    struct json value = json_first(parse(&s, "[null,false,true,-1.5e3,\"x\",[],{}]"));
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++, value = json_next(value)) {
        CHECK(json_is(value, want[i]));
        CHECK_INT(json_type(value), want[i]);
    }
    CHECK(!json_present(value));
}

static void a_scalar_is_a_document(void)
{
    ACCEPTS(" 1 ");
    ACCEPTS("\"\"");
    ACCEPTS("\r\n\tnull");
}

static void raw_text_is_kept(void)
{
    SAMPLE s;
    struct json root = parse(&s, " { \"a\" : [ 1.50 , {} ] } ");
    CHECK_SPAN(json_raw(root), SPAN_LITERAL("{ \"a\" : [ 1.50 , {} ] }"));
    struct json array = json_member(root, "a");
    CHECK_SPAN(json_raw(array), SPAN_LITERAL("[ 1.50 , {} ]"));
    CHECK_SPAN(json_raw(json_first(array)), SPAN_LITERAL("1.50"));
    CHECK_INT(json_offset(array), 9);
}

static void containers_are_counted(void)
{
    SAMPLE s;
    struct json root = parse(&s, "{\"a\":[1,[2,3,4],5],\"b\":{},\"c\":\"\\n\"}");
    CHECK_INT(json_count(root), 3);
    CHECK_INT(json_count(json_member(root, "a")), 3);
    CHECK_INT(json_count(json_member(root, "b")), 0);
    CHECK_INT(json_count(json_member(root, "c")), 0);
}

static void a_walk_skips_what_is_nested(void)
{
    SAMPLE s;
    CLEAN_UP(buf_clean_up) struct buf names = {0};
    struct json root = parse(&s, "{\"a\":{\"x\":[[],{\"y\":1}]},\"b\":[[[]]],\"c\":0}");
    struct json value;
    for (struct json name = json_first(root); json_present(name); name = json_next(value)) {
        value = json_next(name);
        CHECK(json_read_string(name, &names));
    }
    CHECK_TEXT(buf_text(&names), "abc");
}

static void the_root_has_no_sibling(void)
{
    SAMPLE s;
    CHECK(!json_present(json_next(parse(&s, "[1,2]"))));
}

static void absent_has_no_type(void)
{
    struct json none = {0};
    struct span span;
    int64_t number;
    CHECK(!json_present(none) && !json_is(none, JSON_NULL));
    CHECK_INT(json_type(none), JSON_NULL);
    CHECK_INT(json_count(none), 0);
    CHECK_INT(json_raw(none).size, 0);
    CHECK(!json_present(json_first(none)) && !json_present(json_next(none)));
    CHECK(!json_present(json_member(none, "a")));
    CHECK(!json_plain_string(none, &span) && !json_read_int(none, &number));
}

static void members_are_found_by_their_bytes(void)
{
    SAMPLE s;
    struct json root = parse(&s, "{\"Key\":1,\"k\\u0065y\":2,\"key\":3,\"\":4}");
    CHECK_SPAN(json_raw(json_member(root, "key")), SPAN_LITERAL("2"));
    CHECK_SPAN(json_raw(json_member(root, "Key")), SPAN_LITERAL("1"));
    CHECK_SPAN(json_raw(json_member(root, "")), SPAN_LITERAL("4"));
    CHECK(!json_present(json_member(root, "ke")));
    CHECK(!json_present(json_member(root, "keys")));
}

static void a_name_may_hold_nul(void)
{
    SAMPLE s;
    struct json root = parse(&s, "{\"a\\u0000b\":1,\"a\\u0000c\":2}");
    CHECK_SPAN(json_raw(json_member_span(root, SPAN_LITERAL("a\0c"))), SPAN_LITERAL("2"));
    CHECK(!json_present(json_member(root, "a")));
}

static void a_value_is_no_name(void)
{
    SAMPLE s;
    CHECK(!json_present(json_member(parse(&s, "{\"a\":\"b\",\"c\":1}"), "b")));
    SAMPLE array;
    CHECK(!json_present(json_member(parse(&array, "[\"a\",\"b\"]"), "a")));
}

static void short_escapes_are_read(void)
{
    READS("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
}

static void unicode_escapes_are_read(void)
{
    READS("\"\\u0041\\u00e9\\u20AC\\u0000|\"", "A\u00e9\u20ac\0|");
    READS("\"x\\ud83d\\ude00y\"", "x\U0001f600y");
    READS("\"\\udbff\\udfff\"", "\xf4\x8f\xbf\xbf");
}

static void lone_surrogates_are_kept(void)
{
    READS("\"\\ud83d\"", "\xed\xa0\xbd");
    READS("\"\\ude00\\ud83d\"", "\xed\xb8\x80\xed\xa0\xbd");
    READS("\"\\ude00\\ude01\"", "\xed\xb8\x80\xed\xb8\x81");
    READS("\"\\ud83d\\u0041\"", "\xed\xa0\xbd"
                                "A");
    READS("\"\\ud83d\\ud83d\\ude00\"", "\xed\xa0\xbd\U0001f600");
}

static void bad_escapes_are_refused(void)
{
    CHECK_FAULT("\"a\\x\"", 2, "an unknown escape");
    CHECK_FAULT("\"\\u12g4\"", 1, "an unknown escape");
    CHECK_FAULT("\"\\u123\"", 1, "an unknown escape");
    CHECK_FAULT("\"\\", 1, "an unknown escape");
    CHECK_FAULT("\"\\U0041\"", 1, "an unknown escape");
    REFUSES("\"\\\0\"");
}

static void a_quote_after_backslashes_counts_right(void)
{
    READS("\"\\\\\"", "\\");
    CHECK_FAULT("\"\\\\\\\"", 0, "a string without an end");
}

static void valid_utf8_is_kept(void)
{
    READS("\"\x7f\xc2\x80\u07ff\u0800\xed\x9f\xbf\ue000\uffff\U00010000\U0010ffff\"",
          "\x7f\xc2\x80\u07ff\u0800\xed\x9f\xbf\ue000\uffff\U00010000\U0010ffff");
}

static void invalid_utf8_is_refused(void)
{
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
        "\xfe",
        "\xc3",
        "\xe2\x82",
        "\xf0\x9f\x98",
        "\xc3(",
        "\xe2(\xac",
        "\xe2\x82(",
        "\xf0\x9f\x98(",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[16];
        snprintf(text, sizeof text, "\"abc%s\"", bad[i]);
        CHECK_FAULT(text, 4, "a byte that is not UTF-8");
        text[4 + strlen(bad[i])] = '\0';
        CHECK_FAULT(text, 4, "a byte that is not UTF-8");
    }
}

static void utf8_outside_strings_is_refused(void)
{
    CHECK_FAULT("\xef\xbb\xbf{}", 0, "a value expected");
    CHECK_FAULT("[1\xc2\xa0]", 2, "a comma or ] expected");
}

static void control_characters_are_refused(void)
{
    for (char c = 1; c < 0x20; c++) {
        char text[] = {'"', 'a', c, '"', '\0'};
        CHECK_FAULT(text, 2, "a control character in a string");
    }
    REFUSES("\"a\0b\"");
    ACCEPTS("\"\x7f\"");
}

/* The string scanner takes eight bytes at a time: each special byte at each place. */
static void specials_are_seen_at_each_place(void)
{
    for (size_t length = 0; length < 20; length++) {
        char text[32] = "\"";
        memset(text + 1, 'a', length);
        CHECK_INT(fault_of(text, JSON_STRICT).offset, 0);
        text[1 + length] = '\n';
        CHECK_INT(fault_of(text, JSON_STRICT).offset, 1 + length);
        text[1 + length] = '\x1f';
        CHECK_INT(fault_of(text, JSON_STRICT).offset, 1 + length);
        text[1 + length] = '\xff';
        CHECK_INT(fault_of(text, JSON_STRICT).offset, 1 + length);
        text[1 + length] = '"';
        CHECK_TEXT(fault_of(text, JSON_STRICT).what, "accepted");
        text[2 + length] = '"';
        CHECK_INT(fault_of(text, JSON_STRICT).offset, 2 + length);
        memset(text + 1 + length, 'a', 8);
        text[1 + length] = '\x1f';
        text[9 + length] = '"';
        CHECK_INT(fault_of(text, JSON_STRICT).offset, 1 + length);
    }
}

static void numbers_are_as_the_standard_says(void)
{
    static const char *const good[] = {
        "0",    "-0",      "1",     "-12",   "0.5", "1e5",
        "1E+5", "1.25e-7", "10.00", "1e125", "0e0", "99999999999999999999999999999999999999"};
    static const char *const bad[] = {"",    "-",  "+1",  "01",  "-01",      "1.",
                                      ".5",  "1e", "1e+", "0x1", "1.e5",     "NaN",
                                      "--1", "1 ", " 1",  "1,",  "Infinity", "1e5.5"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK(json_is_number(span_text(good[i])));
        CHECK(accepts(span_text(good[i]), JSON_STRICT));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!json_is_number(span_text(bad[i])));
    CHECK(!json_is_number((struct span){0}));
}

static void unfinished_numbers_are_refused(void)
{
    CHECK_FAULT("[1,-]", 3, "a number that is not finished");
    CHECK_FAULT("1.", 0, "a number that is not finished");
    CHECK_FAULT("2e+", 0, "a number that is not finished");
    CHECK_FAULT("01", 1, "more text after the value");
}

static bool int_of(const char *text, int64_t *out)
{
    SAMPLE sample;
    return json_read_int(parse(&sample, text), out);
}

static void whole_numbers_are_read(void)
{
    int64_t n = 7;
    CHECK(int_of("0", &n) && n == 0);
    CHECK(int_of("-0", &n) && n == 0);
    CHECK(int_of("9223372036854775807", &n) && n == INT64_MAX);
    CHECK(int_of("-9223372036854775808", &n) && n == INT64_MIN);
    n = 7;
    CHECK(!int_of("9223372036854775808", &n));
    CHECK(!int_of("-9223372036854775809", &n));
    CHECK(!int_of("1.0", &n) && !int_of("1e3", &n) && !int_of("\"1\"", &n));
    CHECK_INT(n, 7);
}

static void words_are_exact(void)
{
    CHECK_FAULT("nul", 0, "an unknown word");
    CHECK_FAULT("tru", 0, "an unknown word");
    CHECK_FAULT("nulll", 4, "more text after the value");
    CHECK_FAULT("True", 0, "a value expected");
}

static void structure_faults_say_where(void)
{
    CHECK_FAULT("", 0, "the text ends too early");
    CHECK_FAULT("  ", 2, "the text ends too early");
    CHECK_FAULT("[", 1, "the text ends too early");
    CHECK_FAULT("[1", 2, "the text ends too early");
    CHECK_FAULT("{\"a\"", 4, "the text ends too early");
    CHECK_FAULT("{\"a\":", 5, "the text ends too early");
    CHECK_FAULT("[1 2]", 3, "a comma or ] expected");
    CHECK_FAULT("[1}", 2, "a comma or ] expected");
    CHECK_FAULT("{\"a\":1]", 6, "a comma or } expected");
    CHECK_FAULT("{\"a\" 1}", 5, "a colon expected");
    CHECK_FAULT("{1:2}", 1, "a name in quotes expected");
    CHECK_FAULT("{a:2}", 1, "a name in quotes expected");
    CHECK_FAULT("]", 0, "a value expected");
    CHECK_FAULT("[,1]", 1, "a value expected");
    CHECK_FAULT("{} {}", 3, "more text after the value");
    CHECK_FAULT("{}x", 2, "more text after the value");
}

static void strict_has_no_extras(void)
{
    CHECK_FAULT("[1,]", 3, "a value expected");
    CHECK_FAULT("{\"a\":1,}", 7, "a name in quotes expected");
    CHECK_FAULT("// x\n1", 0, "a / outside of a string");
    CHECK_FAULT("[1/**/]", 2, "a / outside of a string");
}

static void comments_are_accepted_when_asked_for(void)
{
    static const char text[] = "// first\n{ /* a */ \"a\" /* b */ : // c\n [1, 2, /**/ ], "
                               "/* \"x\": 2, */ \"b\": \"// no comment\", } // last";
    SAMPLE s;
    CHECK(parse_span(&s, SPAN_LITERAL(text), JSON_COMMENTS)->ok);
    struct json root = json_root(&s.doc);
    CHECK_INT(json_count(root), 2);
    CHECK_INT(json_count(json_member(root, "a")), 2);
    CHECK(json_string_is(json_member(root, "b"), SPAN_LITERAL("// no comment")));
}

static void comments_have_limits(void)
{
    CHECK_INT(fault_of("[1, /* x ]", JSON_COMMENTS).offset, 4);
    CHECK_INT(fault_of("[/*/ 1]", JSON_COMMENTS).offset, 1);
    CHECK_INT(fault_of("[,]", JSON_COMMENTS).offset, 1);
    CHECK_INT(fault_of("[1,,]", JSON_COMMENTS).offset, 3);
    CHECK_INT(fault_of("{,}", JSON_COMMENTS).offset, 1);
    CHECK_INT(fault_of("1 /", JSON_COMMENTS).offset, 2);
    CHECK_INT(fault_of("1,", JSON_COMMENTS).offset, 1);
    CHECK(accepts(SPAN_LITERAL("1//"), JSON_COMMENTS));
    CHECK(!accepts(SPAN_LITERAL("//"), JSON_COMMENTS));
}

static void values_of_strangers_are_counted(void)
{
    struct json_doc doc;
    struct json_fault fault;
    struct span text = SPAN_LITERAL("{\"a\":[1,2]}");
    CHECK(json_parse_within(&doc, text, 5, &fault));
    CHECK_INT(json_count(json_root(&doc)), 1);
    json_clean_up(&doc);
    CHECK(!json_parse_within(&doc, text, 4, &fault));
    CHECK_TEXT(fault.what, JSON_TOO_MANY);
    CHECK_INT(fault.offset, 8);
    json_clean_up(&doc);
}

static void nesting_ends_at_512(void)
{
    char text[2 * 513];
    memset(text, '[', 513);
    memset(text + 513, ']', 513);
    CHECK(accepts(span_of(text + 1, 1024), JSON_STRICT));
    SAMPLE s;
    CHECK(!parse_span(&s, span_of(text, sizeof text), JSON_STRICT)->ok);
    CHECK_INT(s.fault.offset, 512);
    CHECK_TEXT(s.fault.what, "nested deeper than 512 levels");
}

static void a_failed_document_has_no_root(void)
{
    SAMPLE s;
    CHECK(!json_present(parse(&s, "")));
    CHECK(!json_present(json_root(&s.doc)));
    struct json_doc doc;
    CHECK(!json_parse(&doc, (struct span){0}, JSON_STRICT, NULL));
    json_clean_up(&doc);
    json_clean_up(&doc);
}

static void plain_strings_are_in_place(void)
{
    SAMPLE s;
    struct span span;
    struct json value = json_first(parse(&s, "[\"caf\u00e9\",\"\\n\",1]"));
    CHECK(json_plain_string(value, &span));
    CHECK_SPAN(span, SPAN_LITERAL("caf\u00e9"));
    CHECK(span.data == s.text + 2);
    CHECK(!json_plain_string(json_next(value), &span));
    CHECK(!json_plain_string(json_next(json_next(value)), &span));
}

static void string_comparison_sees_every_byte(void)
{
    SAMPLE s;
    struct json value = json_first(parse(&s, "[\"a\\tb\",\"ab\"]"));
    CHECK(json_string_is(value, SPAN_LITERAL("a\tb")));
    CHECK(!json_string_is(value, SPAN_LITERAL("a\t")));
    CHECK(!json_string_is(value, SPAN_LITERAL("a\tbc")));
    CHECK(!json_string_is(value, SPAN_LITERAL("a\\tb")));
    CHECK(json_string_is(json_next(value), SPAN_LITERAL("ab")));
    CHECK(!json_string_is(json_next(value), SPAN_LITERAL("aB")));
}

static void a_string_is_appended(void)
{
    SAMPLE s;
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct json value = json_first(parse(&s, "[\"b\",1]"));
    buf_add_text(&out, "a");
    CHECK(json_read_string(value, &out) && !json_read_string(json_next(value), &out));
    CHECK_TEXT(buf_text(&out), "ab");
}

static void strings_are_written_shortest(void)
{
    WRITES("", "\"\"");
    WRITES("a/b\"\\", "\"a/b\\\"\\\\\"");
    WRITES("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
    WRITES("\0\x1f\x0b\x7f", "\"\\u0000\\u001f\\u000b\x7f\"");
    WRITES("\u00e9\u2028\U0001f600", "\"\u00e9\u2028\U0001f600\"");
    CHECK(writes_as((struct span){0}, "\"\""));
}

static void lone_surrogates_are_written_as_escapes(void)
{
    WRITES("\xed\xa0\xbd", "\"\\ud83d\"");
    WRITES("a\xed\xbf\xbf", "\"a\\udfff\"");
}

static void bad_bytes_are_written_as_replacement(void)
{
    WRITES("a\xff", "\"a\\ufffd\"");
    WRITES("\xc3", "\"\\ufffd\"");
    WRITES("\xed\xa0", "\"\\ufffd\\ufffd\"");
    WRITES("\xc0\x80", "\"\\ufffd\\ufffd\"");
}

static void check_position(const struct sample *s, struct json_position *at, size_t offset,
                           unsigned lines, unsigned characters)
{
    json_position_move(at, &s->doc, offset);
    CHECK_INT(at->lines, lines);
    CHECK_INT(at->characters, characters);
}

static void positions_count_lines_and_characters(void)
{
    SAMPLE s;
    struct json root = parse(&s, "[1,\n2, \"\xc3\xa4\",\n\n 3]");
    struct json second = json_next(json_first(root)), third = json_next(second);
    struct json_position at = {0};
    check_position(&s, &at, json_offset(second), 1, 0);
    check_position(&s, &at, json_offset(third), 1, 3);
    check_position(&s, &at, json_offset(json_next(third)), 3, 1);
    check_position(&s, &at, json_offset(second), 1, 0);
    check_position(&s, &at, 1000, 3, 3);
    check_position(&s, &at, 0, 0, 0);
}

static void a_wide_document_grows_the_tape(void)
{
    enum { COUNT = 100000 };
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    SAMPLE s;
    buf_add_char(&text, '[');
    for (int i = 0; i < COUNT; i++)
        buf_add_text(&text, i ? ",1" : "1");
    buf_add_char(&text, ']');
    CHECK(parse_span(&s, buf_span(&text), JSON_STRICT)->ok);
    CHECK_INT(json_count(json_root(&s.doc)), COUNT);
    size_t walked = 0;
    for (struct json v = json_first(json_root(&s.doc)); json_present(v); v = json_next(v))
        walked++;
    CHECK_INT(walked, COUNT);
}

/* A small generator whose sequence is known from its seed. */
static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void add_random_string(struct buf *out, uint64_t *state)
{
    static const char *const parts[] = {"a",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "",
                                        "\u00e9",
                                        "\U0001f600",
                                        "\xed\xa0\x80",
                                        "plain text of some length",
                                        "\x01"};
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    for (uint32_t n = next_random(state) % 5; n; n--)
        buf_add_text(&bytes, parts[next_random(state) % 10]);
    json_write_string(out, buf_span(&bytes));
}

static void add_random_scalar(struct buf *out, uint64_t *state)
{
    static const char *const words[] = {"null", "true", "false", "0", "-1.5e-7", "1e125"};
    uint32_t pick = next_random(state) % 9;
    if (pick < 6)
        buf_add_text(out, words[pick]);
    else
        add_random_string(out, state);
}

static void add_random_value(struct buf *out, uint64_t *state, int depth)
{
    uint32_t kind = next_random(state) % 5;
    if (depth == 0 || kind > 2) {
        add_random_scalar(out, state);
        return;
    }
    buf_add_char(out, kind ? '{' : '[');
    for (uint32_t n = next_random(state) % 5, i = 0; i < n; i++) {
        buf_add_text(out, i ? " , " : "");
        if (kind) {
            add_random_string(out, state);
            buf_add_text(out, " :");
        }
        add_random_value(out, state, depth - 1);
    }
    buf_add_char(out, kind ? '}' : ']');
}

/* Writes a parsed value again, by the readers of the tape alone. */
static void write_again(struct buf *out, struct json value)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    bool object = json_is(value, JSON_OBJECT);
    if (json_read_string(value, &text)) {
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
        buf_add_text(out, i == 0 ? "" : object && i % 2 ? " :" : " , ");
        write_again(out, v);
    }
    buf_add_char(out, object ? '}' : ']');
}

static uint64_t seed_of_this_run(void)
{
    const char *given = getenv("DDBFS_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20260101;
    printf("# DDBFS_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static void random_documents_come_back(void)
{
    uint64_t state = seed_of_this_run();
    for (int i = 0; i < 5000; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        CLEAN_UP(buf_clean_up) struct buf again = {0};
        SAMPLE s;
        add_random_value(&text, &state, 6);
        bool ok = parse_span(&s, buf_span(&text), JSON_STRICT)->ok;
        if (ok)
            write_again(&again, json_root(&s.doc));
        ok = ok && span_equal(buf_span(&again), buf_span(&text));
        if (!ok)
            printf("# document %d\n", i);
        CHECK(ok);
    }
}

static void mutate(struct buf *text, uint64_t *state)
{
    static const char bytes[] = "\"\\{}[],:/*0e-\n\x80\xed\xff";
    for (uint32_t n = next_random(state) % 4 + 1; n && text->size; n--) {
        char *at = text->data + next_random(state) % text->size;
        *at = next_random(state) % 2 ? bytes[next_random(state) % (sizeof bytes - 1)]
                                     : (char)next_random(state);
    }
    if (next_random(state) % 3 == 0)
        buf_truncate(text, next_random(state) % (text->size + 1));
}

/* What is accepted is walked from end to end; the sanitizers watch. */
static void mutated_documents_do_no_harm(void)
{
    uint64_t state = seed_of_this_run();
    int accepted = 0;
    for (int i = 0; i < 20000; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        CLEAN_UP(buf_clean_up) struct buf again = {0};
        SAMPLE s;
        add_random_value(&text, &state, 5);
        mutate(&text, &state);
        if (parse_span(&s, buf_span(&text), i % 2 ? JSON_COMMENTS : JSON_STRICT)->ok) {
            accepted++;
            write_again(&again, json_root(&s.doc));
        } else {
            CHECK(s.fault.offset <= text.size && s.fault.what);
        }
    }
    CHECK(accepted > 0 && accepted < 20000);
}

static const struct check_test tests[] = {
    {"every type is told", every_type_is_told},
    {"a scalar is a document", a_scalar_is_a_document},
    {"raw text is kept", raw_text_is_kept},
    {"containers are counted", containers_are_counted},
    {"a walk skips what is nested", a_walk_skips_what_is_nested},
    {"the root has no sibling", the_root_has_no_sibling},
    {"absent has no type", absent_has_no_type},
    {"members are found by their bytes", members_are_found_by_their_bytes},
    {"a name may hold NUL", a_name_may_hold_nul},
    {"a value is no name", a_value_is_no_name},
    {"short escapes are read", short_escapes_are_read},
    {"unicode escapes are read", unicode_escapes_are_read},
    {"lone surrogates are kept", lone_surrogates_are_kept},
    {"bad escapes are refused", bad_escapes_are_refused},
    {"a quote after backslashes counts right", a_quote_after_backslashes_counts_right},
    {"valid UTF-8 is kept", valid_utf8_is_kept},
    {"invalid UTF-8 is refused", invalid_utf8_is_refused},
    {"UTF-8 outside strings is refused", utf8_outside_strings_is_refused},
    {"control characters are refused", control_characters_are_refused},
    {"specials are seen at each place", specials_are_seen_at_each_place},
    {"numbers are as the standard says", numbers_are_as_the_standard_says},
    {"unfinished numbers are refused", unfinished_numbers_are_refused},
    {"whole numbers are read", whole_numbers_are_read},
    {"words are exact", words_are_exact},
    {"structure faults say where", structure_faults_say_where},
    {"strict has no extras", strict_has_no_extras},
    {"comments are accepted when asked for", comments_are_accepted_when_asked_for},
    {"comments have limits", comments_have_limits},
    {"values of strangers are counted", values_of_strangers_are_counted},
    {"nesting ends at 512", nesting_ends_at_512},
    {"a failed document has no root", a_failed_document_has_no_root},
    {"plain strings are in place", plain_strings_are_in_place},
    {"string comparison sees every byte", string_comparison_sees_every_byte},
    {"a string is appended", a_string_is_appended},
    {"strings are written shortest", strings_are_written_shortest},
    {"lone surrogates are written as escapes", lone_surrogates_are_written_as_escapes},
    {"bad bytes are written as replacement", bad_bytes_are_written_as_replacement},
    {"lines start at one", positions_count_lines_and_characters},
    {"a wide document grows the tape", a_wide_document_grows_the_tape},
    {"random documents come back", random_documents_come_back},
    {"mutated documents do no harm", mutated_documents_do_no_harm},
};
CHECK_MAIN(tests)
