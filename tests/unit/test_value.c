/* Key values: exact order, typed form, base64. */
#include "core/item/value.h"

#include "tests/unit/check.h"

/* -1, 0 or 1; 99 when the order changes with the sides. */
static int compare(const char *a, const char *b)
{
    int forth = number_compare(span_text(a), span_text(b));
    int back = number_compare(span_text(b), span_text(a));
    int sign = (forth > 0) - (forth < 0);
    return sign == (back < 0) - (back > 0) ? sign : 99;
}

/* Each is less than the one that follows. */
static void numbers_are_in_order(void)
{
    static const char *const order[] = {
        "-1e126",
        "-9.9e125",
        "-99999999999999999999999999999999999999",
        "-99999999999999999999999999999999999998",
        "-10.1",
        "-10",
        "-9",
        "-1",
        "-0.5",
        "-1e-130",
        "0",
        "1e-130",
        "9.9e-130",
        "0.05",
        "0.5",
        "0.50000000000000000000000000000000000001",
        "1",
        "1.0000000000000000000000000000000000001",
        "2",
        "10",
        "9007199254740992",
        "9007199254740993",
        "12345678901234567890123456789012345678",
        "12345678901234567890123456789012345679",
        "1e125",
        "9.9999999999999999999999999999999999999e125",
        "1e400",
    };
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        for (size_t j = 0; j < sizeof order / sizeof order[0]; j++)
            CHECK_INT(compare(order[i], order[j]), i < j ? -1 : i > j);
}

static void equal_numbers_are_equal_in_any_form(void)
{
    static const char *const same[] = {"1500",  "1.5e3",    "+1500",    "1500.", "01500.000",
                                       "15E+2", "15000e-1", "0.0015e6", ".15e4", "1.50E+03"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        for (size_t j = 0; j < sizeof same / sizeof same[0]; j++)
            CHECK_INT(compare(same[i], same[j]), 0);
}

static void zero_has_no_sign(void)
{
    CHECK_INT(compare("0", "-0"), 0);
    CHECK_INT(compare("-0.000e5", "0e-9"), 0);
    CHECK_INT(compare("-0", "1e-999"), -1);
    CHECK_INT(compare("-1e-999", "0"), -1);
}

static void exponents_do_not_overflow(void)
{
    CHECK_INT(compare("1e99999999999999999999", "1"), 1);
    CHECK_INT(compare("1e-99999999999999999999", "1"), -1);
    CHECK_INT(compare("1e-99999999999999999999", "0"), 1);
    CHECK_INT(compare("-1e99999999999999999999", "-1"), -1);
    CHECK_INT(compare("1e9223372036854775807", "1e1000"), 1);
}

static void what_is_no_number_sorts_first(void)
{
    static const char *const bad[] = {"",   "-",   "+",     ".",  "e5",   "1e",  "1e+",
                                      "1x", "--1", "1.2.3", "1 ", "0x10", "NaN", "-."};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(compare(bad[i], "-1e999"), -1);
        CHECK_INT(compare(bad[i], bad[i]), 0);
    }
    CHECK_INT(compare("NaN", "abc"), -1);
}

static struct value value_of(enum value_type type, struct span bytes)
{
    return (struct value){type, bytes};
}

static void types_are_never_mixed(void)
{
    struct value s = value_of(VALUE_S, SPAN_LITERAL("1"));
    struct value n = value_of(VALUE_N, SPAN_LITERAL("1"));
    struct value b = value_of(VALUE_B, SPAN_LITERAL("1"));
    CHECK(value_compare(s, n) < 0 && value_compare(n, b) < 0 && value_compare(b, s) > 0);
    CHECK(value_compare(n, n) == 0);
}

static void each_type_has_its_order(void)
{
    struct span nine = SPAN_LITERAL("9"), ten = SPAN_LITERAL("10");
    CHECK(value_compare(value_of(VALUE_S, nine), value_of(VALUE_S, ten)) > 0);
    CHECK(value_compare(value_of(VALUE_B, nine), value_of(VALUE_B, ten)) > 0);
    CHECK(value_compare(value_of(VALUE_N, nine), value_of(VALUE_N, ten)) < 0);
}

static void strings_sort_by_bytes(void)
{
    struct value a = value_of(VALUE_S, SPAN_LITERAL("a")),
                 b = value_of(VALUE_S, span_text("a\xff"));
    struct value c = value_of(VALUE_S, SPAN_LITERAL("a\0"));
    CHECK(value_compare(a, c) < 0 && value_compare(c, b) < 0);
}

/* In all the ways in which 1, 2, 10, 12, 20, 100, 120 … can be written, and their like below one.
 */
static void two_numbers_share_an_identity_if_they_are_equal(void)
{
    static const char *const forms[] = {
        "%d",      "-%d",  "%d.0", "0%d",    "%d0",   "%d00",   "0.%d",
        "0.0%d",   "%de0", "%de1", "%dE+2",  "%de-1", "%d.0e1", "0.%de2",
        "-0.%de2", "0e%d", "%de9", "1%d.50", "1.%de", "00%d.0",
    };
    enum { FORMS = sizeof forms / sizeof forms[0], NUMBERS = 13, COUNT = FORMS * NUMBERS };
    static char texts[COUNT][24];
    static struct buf identities[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const char *form = forms[i % FORMS], *at = strchr(form, '%');
        snprintf(texts[i], sizeof texts[i], "%.*s%d%s", (int)(at - form), form, i / FORMS, at + 2);
        value_write_identity((struct value){VALUE_N, span_text(texts[i])}, &identities[i]);
    }
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++) {
            bool equal = number_compare(span_text(texts[i]), span_text(texts[k])) == 0;
            if (equal != span_equal(buf_span(&identities[i]), buf_span(&identities[k])))
                CHECK_FAIL("%s and %s are %s and %s", texts[i], texts[k], buf_text(&identities[i]),
                           buf_text(&identities[k]));
        }
    for (int i = 0; i < COUNT; i++)
        buf_clean_up(&identities[i]);
}

static void numbers_beyond_the_service_s_are_faulty(void)
{
    static const char *const good[] = {"0",
                                       "-0.0e999",
                                       "9.99e125",
                                       "1e-130",
                                       "00100",
                                       "99999999999999999999999999999999999999e88",
                                       "10000000000000000000000000000000000000000000000000000"};
    static const char *const bad[] = {"",
                                      "x",
                                      "1e126",
                                      "-1e126",
                                      "9e-131",
                                      "1e99999999999999999999",
                                      "123456789012345678901234567890123456789",
                                      "1.00000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(!number_fault(span_text(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(number_fault(span_text(bad[i])));
}

static void types_have_names(void)
{
    CHECK_TEXT(value_type_name(VALUE_S), "S");
    CHECK_TEXT(value_type_name(VALUE_N), "N");
    CHECK_TEXT(value_type_name(VALUE_B), "B");
}

static bool written_as(enum value_type type, struct span bytes, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    value_write(&out, value_of(type, bytes));
    return span_is(buf_span(&out), want);
}

static void typed_forms_are_written(void)
{
    CHECK(written_as(VALUE_S, SPAN_LITERAL("a\"\n"), "{\"S\":\"a\\\"\\n\"}"));
    CHECK(written_as(VALUE_S, SPAN_LITERAL(""), "{\"S\":\"\"}"));
    CHECK(written_as(VALUE_N, SPAN_LITERAL("-1.5"), "{\"N\":\"-1.5\"}"));
    CHECK(written_as(VALUE_B, SPAN_LITERAL("\xff\0"), "{\"B\":\"/wA=\"}"));
}

/* Reads TEXT as a typed value into STORAGE. */
static bool read_typed(const char *text, struct buf *storage, struct value *value)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    return json_parse(&doc, span_text(text), JSON_STRICT, NULL) &&
           value_read(json_root(&doc), storage, value);
}

static bool reads(const char *text, enum value_type type, struct span want)
{
    CLEAN_UP(buf_clean_up) struct buf storage = {0};
    struct value value;
    return read_typed(text, &storage, &value) && value.type == type &&
           span_equal(value.bytes, want);
}

static void typed_forms_are_read(void)
{
    CHECK(reads("{\"S\":\"a\\u0000b\"}", VALUE_S, SPAN_LITERAL("a\0b")));
    CHECK(reads("{\"S\":\"\"}", VALUE_S, SPAN_LITERAL("")));
    CHECK(reads("{\"N\":\"1e125\"}", VALUE_N, SPAN_LITERAL("1e125")));
    CHECK(reads("{\"B\":\"\\/wA=\"}", VALUE_B, SPAN_LITERAL("\xff\0")));
    CHECK(reads("{ \"B\" : \"AAEC\" }", VALUE_B, SPAN_LITERAL("\0\1\2")));
}

static void other_forms_are_refused(void)
{
    static const char *const bad[] = {
        "{}",
        "[]",
        "\"S\"",
        "{\"S\":1}",
        "{\"N\":1}",
        "{\"s\":\"\"}",
        "{\"BOOL\":true}",
        "{\"S\":\"\",\"N\":\"1\"}",
        "{\"SS\":[]}",
        "{\"B\":\"x\"}",
        "{\"S\":null}",
        "[\"S\",\"x\"]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf storage = {0};
        struct value value;
        CHECK(!read_typed(bad[i], &storage, &value));
        CHECK_INT(storage.size, 0);
    }
}

static void storage_is_appended_to(void)
{
    CLEAN_UP(buf_clean_up) struct buf storage = {0};
    struct value value;
    buf_add_text(&storage, "before");
    CHECK(read_typed("{\"S\":\"after\"}", &storage, &value));
    CHECK_TEXT(buf_text(&storage), "beforeafter");
    CHECK_SPAN(value.bytes, SPAN_LITERAL("after"));
}

static bool base64_pair(struct span bytes, const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf encoded = {0};
    CLEAN_UP(buf_clean_up) struct buf decoded = {0};
    base64_write(&encoded, bytes);
    return span_is(buf_span(&encoded), text) && base64_read(span_text(text), &decoded) &&
           span_equal(buf_span(&decoded), bytes);
}

/* The test vectors of RFC 4648. */
static void base64_is_the_standard_one(void)
{
    CHECK(base64_pair(SPAN_LITERAL(""), ""));
    CHECK(base64_pair(SPAN_LITERAL("f"), "Zg=="));
    CHECK(base64_pair(SPAN_LITERAL("fo"), "Zm8="));
    CHECK(base64_pair(SPAN_LITERAL("foo"), "Zm9v"));
    CHECK(base64_pair(SPAN_LITERAL("foob"), "Zm9vYg=="));
    CHECK(base64_pair(SPAN_LITERAL("fooba"), "Zm9vYmE="));
    CHECK(base64_pair(SPAN_LITERAL("foobar"), "Zm9vYmFy"));
    CHECK(base64_pair(SPAN_LITERAL("\xfb\xff\xbf\0"), "+/+/AA=="));
}

static void every_byte_survives_base64(void)
{
    CLEAN_UP(buf_clean_up) struct buf encoded = {0};
    CLEAN_UP(buf_clean_up) struct buf decoded = {0};
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    base64_write(&encoded, span_of(bytes, sizeof bytes));
    CHECK(base64_read(buf_span(&encoded), &decoded));
    CHECK(span_equal(buf_span(&decoded), span_of(bytes, sizeof bytes)));
}

static void other_base64_is_refused(void)
{
    static const char *const bad[] = {
        "A",    "AA",    "AAA",  "AAAAA", "A===",     "====", "AA=A",       "=AAA",    "AA-_",
        "AA A", "AAA\n", "QR==", "QUJ=",  "QQ==QQ==", "Zg",   "\xc3\xa9==", "AAAAA==="};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        buf_add_text(&out, "kept");
        CHECK(!base64_read(span_text(bad[i]), &out));
        CHECK_TEXT(buf_text(&out), "kept");
    }
}

static const char *typed(const char *text, struct buf *out)
{
    buf_truncate(out, 0);
    return base64_read_typed(span_text(text), out);
}

static void base64_is_read_as_people_type_it(void)
{
    static const char *const same[] = {"+/+/AA==", "-_-_AA==", "+/+/AA", "-_-_AA", "+_-/AA"};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        CHECK(typed(same[i], &out) == NULL);
        CHECK(span_equal(buf_span(&out), span_of("\xfb\xff\xbf\0", 4)));
    }
    CHECK(typed("", &out) == NULL && out.size == 0);
    CHECK_TEXT(typed("AAAAA", &out), "a character is missing or too many");
    CHECK_TEXT(typed("A", &out), "a character is missing or too many");
    CHECK_TEXT(typed("AA=", &out), "the = at its end do not fill it up to four characters");
    CHECK_TEXT(typed("AA=A", &out), "a character is not in A-Z, a-z, 0-9, + and / (or - and _)");
    CHECK_TEXT(typed("A A=", &out), "a character is not in A-Z, a-z, 0-9, + and / (or - and _)");
    CHECK_TEXT(typed("QR", &out), "its last character has bits that no byte uses");
    CHECK_INT(out.size, 0);
}

static const struct check_test tests[] = {
    {"numbers are in order", numbers_are_in_order},
    {"equal numbers are equal in any form", equal_numbers_are_equal_in_any_form},
    {"zero has no sign", zero_has_no_sign},
    {"exponents do not overflow", exponents_do_not_overflow},
    {"what is no number sorts first", what_is_no_number_sorts_first},
    {"types are never mixed", types_are_never_mixed},
    {"each type has its order", each_type_has_its_order},
    {"strings sort by bytes", strings_sort_by_bytes},
    {"two numbers share an identity if they are equal",
     two_numbers_share_an_identity_if_they_are_equal},
    {"numbers beyond the service's are faulty", numbers_beyond_the_service_s_are_faulty},
    {"types have names", types_have_names},
    {"typed forms are written", typed_forms_are_written},
    {"typed forms are read", typed_forms_are_read},
    {"other forms are refused", other_forms_are_refused},
    {"storage is appended to", storage_is_appended_to},
    {"base64 is the standard one", base64_is_the_standard_one},
    {"every byte survives base64", every_byte_survives_base64},
    {"other base64 is refused", other_base64_is_refused},
    {"base64 is read as people type it", base64_is_read_as_people_type_it},
};
CHECK_MAIN(tests)
