/* Names: cases one by one, then properties that hold for any byte string. The generator's seed is
 * printed; DDBFS_TEST_SEED repeats a run. */
#include "core/base/escape.h"
#include "core/map/companion.h"

#include <inttypes.h>
#include <time.h>

#include "core/base/utf8.h"
#include "tests/unit/check.h"

enum { ROUNDS = 3000, MAX_KEY = 2048 };

/* A name of one value, as far as this file goes: what else a directory asks of its names is tested
 * in test_names.c. */
static bool write_name(struct span key, size_t limit, struct buf *out)
{
    escape_add_value(out, key, span_text(""), NULL);
    return out->size <= limit || escape_shorten(out, limit, ESCAPE_MARK_FILE);
}

static bool is_shortened(struct span name, struct span *prefix)
{
    enum escape_mark mark;
    return escape_is_shortened(name, &mark, prefix) && mark == ESCAPE_MARK_FILE;
}

static void check_name(struct span key, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, back = {0};
    CHECK(write_name(key, NAME_LIMIT, &name));
    CHECK_TEXT(buf_text(&name), want);
    CHECK(escape_decode(buf_span(&name), &back));
    CHECK_SPAN(buf_span(&back), key);
}

static void check_text(const char *key, const char *want)
{
    check_name(span_text(key), want);
}

static void test_plain_keys_are_their_own_names(void)
{
    check_text("kl7a9h55-shopify-e513a8-4", "kl7a9h55-shopify-e513a8-4");
    check_text("JOB#2026-04-16T10:15:00Z#1f3c", "JOB#2026-04-16T10:15:00Z#1f3c");
    check_text("a b*c?d\\e\"f'", "a b*c?d\\e\"f'");
    check_text("gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80");
}

static void test_percent_and_slash_are_escaped(void)
{
    check_text("100%", "100%25");
    check_text("%41", "%2541");
    check_text("a/b", "a%2Fb");
}

static void test_control_characters_are_escaped(void)
{
    check_name(span_of("a\0b", 3), "a%00b");
    check_text("a\nb\x1b\x7f", "a%0Ab%1B%7F");
    check_text("\xc2\x85\xc2\xa0", "%C2%85\xc2\xa0");
}

static void test_invalid_utf8_is_escaped_byte_by_byte(void)
{
    check_text("\xff\xc3", "%FF%C3");
    check_text("\xed\xa0\x80", "%ED%A0%80");
}

static void test_dots(void)
{
    check_text(".", "%2E");
    check_text("..", "%2E.");
    check_text(".git", "%2Egit");
    check_text("a.b", "a.b");
}

static void test_the_empty_key_is_a_percent_alone(void)
{
    check_text("", "%");
    check_text("%", "%25");
}

static void test_what_turns_or_breaks_a_line_is_escaped(void)
{
    check_text("a\u202Eb", "a%E2%80%AEb");
    check_text("\u2066\u2069\u200E\u200F\u061C", "%E2%81%A6%E2%81%A9%E2%80%8E%E2%80%8F%D8%9C");
    check_text("\u2028\u2029\uFEFF", "%E2%80%A8%E2%80%A9%EF%BB%BF");
    check_text("\u200B\u200C\u200D\u2060", "\u200B\u200C\u200D\u2060");
}

static void test_stop_is_escaped_everywhere(void)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, accent = {0};
    escape_add_value(&name, span_text("a#b#"), span_text("#"), NULL);
    CHECK_TEXT(buf_text(&name), "a%23b%23");
    escape_add_value(&accent, span_text("aéè"), span_text("é"), NULL);
    CHECK_TEXT(buf_text(&accent), "a%C3%A9è");
}

static void test_more_is_escaped_character_by_character(void)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, all = {0};
    struct escape_extra second = {.one = 1, .other = SIZE_MAX}, every = {.all = true};
    escape_add_value(&name, span_text("aé%b"), span_text(""), &second);
    CHECK_TEXT(buf_text(&name), "a%C3%A9%25b");
    escape_add_value(&all, span_text("é%~"), span_text(""), &every);
    CHECK_TEXT(buf_text(&all), "%C3%A9%25%7E");
}

static void test_a_name_at_the_limit_is_whole(void)
{
    char key[NAME_LIMIT + 2];
    CLEAN_UP(buf_clean_up) struct buf name = {0}, longer = {0};
    struct span prefix;
    memset(key, 'x', sizeof key);
    CHECK(write_name(span_of(key, NAME_LIMIT), NAME_LIMIT, &name));
    CHECK_SPAN(buf_span(&name), span_of(key, NAME_LIMIT));
    CHECK(write_name(span_of(key, NAME_LIMIT + 1), NAME_LIMIT, &longer));
    CHECK(is_shortened(buf_span(&longer), &prefix));
    CHECK_INT(longer.size, NAME_LIMIT);
    CHECK_SPAN(prefix, span_of(key, NAME_LIMIT - 2 - ESCAPE_DIGEST_DIGITS));
}

static void test_a_shortened_name_is_no_key(void)
{
    char key[400];
    CLEAN_UP(buf_clean_up) struct buf name = {0}, back = {0};
    memset(key, 'x', sizeof key);
    CHECK(write_name(span_of(key, sizeof key), NAME_LIMIT, &name));
    CHECK(!escape_decode(buf_span(&name), &back));
    CHECK_INT(back.size, 0);
}

static void test_shortening_cuts_no_character_and_no_escape(void)
{
    for (size_t lead = 0; lead < 16; lead++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0}, name = {0}, back = {0};
        struct span prefix;
        buf_add_repeated(&key, 'x', lead);
        for (int i = 0; i < 100; i++)
            buf_add_text(&key, "\xf0\x9f\x98\x80/\u202E");
        CHECK(write_name(buf_span(&key), NAME_LIMIT, &name));
        CHECK(is_shortened(buf_span(&name), &prefix));
        CHECK(escape_decode(prefix, &back));
        CHECK(span_starts(buf_span(&key), buf_span(&back)));
        CHECK(utf8_valid(buf_span(&back)));
        CHECK(back.size > 90);
    }
}

static void test_a_key_that_looks_shortened_is_escaped(void)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct span prefix;
    CHECK(write_name(span_text("x%~0123456789abcdef0123456789abcdef"), NAME_LIMIT, &name));
    CHECK(!is_shortened(buf_span(&name), &prefix));
}

static void test_only_a_mark_and_a_digest_is_shortened(void)
{
    struct span prefix;
    CHECK(is_shortened(span_text("a%~0123456789abcdef0123456789abcdef"), &prefix));
    CHECK_SPAN(prefix, span_text("a"));
    enum escape_mark mark;
    CHECK(escape_is_shortened(span_text("a%=0123456789abcdef0123456789abcdef"), &mark, &prefix));
    CHECK_INT(mark, ESCAPE_MARK_DIRECTORY);
    CHECK(is_shortened(span_text("%~0123456789abcdef0123456789abcdef"), &prefix));
    CHECK_INT(prefix.size, 0);
    CHECK(!is_shortened(span_text("a%~0123456789abcdef0123456789abcdeg"), &prefix));
    CHECK(!is_shortened(span_text("a%~0123"), &prefix));
    CHECK(!is_shortened(span_text("a~%0123456789abcdef0123456789abcdef"), &prefix));
}

static void test_what_is_no_escape_is_no_name(void)
{
    static const char *const wrong[] = {"a%", "%2", "%G0", "%0G", "%2G", "%G2", "%%", "a%~"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf back = {0};
        buf_add_text(&back, "before");
        if (escape_decode(span_text(wrong[i]), &back))
            CHECK_FAIL("%s was decoded", wrong[i]);
        CHECK_TEXT(buf_text(&back), "before");
    }
}

static void test_escapes_may_be_typed_in_lower_case(void)
{
    CLEAN_UP(buf_clean_up) struct buf back = {0};
    CHECK(escape_decode(span_text("a%2fb"), &back));
    CHECK_TEXT(buf_text(&back), "a/b");
}

static void check_split(const char *name, enum companion want, const char *rest)
{
    struct span left = span_text(name), columns;
    CHECK_INT(companion_split(&left, &columns), want);
    CHECK_SPAN(left, span_text(rest));
    CHECK_SPAN(columns, span_text(""));
}

static void check_columns(const char *name, enum companion want, const char *rest, const char *says)
{
    struct span left = span_text(name), columns;
    CHECK_INT(companion_split(&left, &columns), want);
    CHECK_SPAN(left, span_text(rest));
    CHECK_SPAN(columns, span_text(says));
}

static void test_companions_are_split_off(void)
{
    check_split("a@typed", COMPANION_TYPED, "a");
    check_split("a@info", COMPANION_INFO, "a");
    check_split("a@", COMPANION_ATTRS, "a");
    check_split("a", COMPANION_NONE, "a");
    check_split("@typed", COMPANION_NONE, "@typed");
    check_split("@", COMPANION_NONE, "@");
    check_split("a@info@typed", COMPANION_TYPED, "a@info");
}

static void test_companions_of_listings_are_split_off(void)
{
    check_split("a@jsonl", COMPANION_JSONL, "a");
    check_split("a@csv", COMPANION_CSV, "a");
    check_split("a@table", COMPANION_TABLE, "a");
    check_split("a@count", COMPANION_COUNT, "a");
    check_split("a@summary", COMPANION_SUMMARY, "a");
    check_split("a@sqlite", COMPANION_SQLITE, "a");
    check_split("a@sqlite-wal", COMPANION_NONE, "a@sqlite-wal");
    check_split("@jsonl", COMPANION_NONE, "@jsonl");
    check_columns("a@csv:b,c", COMPANION_CSV, "a", "b,c");
    check_columns("a@table:b:c", COMPANION_TABLE, "a", "b:c");
    check_columns("a@csv:b@csv:c", COMPANION_CSV, "a@csv:b", "c");
    check_columns("newest:5@csv:b", COMPANION_CSV, "newest:5", "b");
    check_split("a@csv:", COMPANION_NONE, "a@csv:");
    check_split("@csv:b", COMPANION_NONE, "@csv:b");
    check_split("a@count:b", COMPANION_NONE, "a@count:b");
}

/* The generator: xorshift, seeded once. */
static uint64_t state;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

static void seed(void)
{
    const char *given = getenv("DDBFS_TEST_SEED");
    uint64_t start = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    state = start * 0x9E3779B97F4A7C15u + 1;
    printf("# DDBFS_TEST_SEED=%" PRIu64 "\n", start);
}

/* Pieces that names treat specially, between bytes of any kind. */
static void add_random_piece(struct buf *key)
{
    static const char *const pieces[] = {
        "%",  "/",   ".", "..",       "@",    "@typed",   "@info",    "\n",
        "%~", "%25", "#", "\xc2\x85", "\xff", "\xc3\xa9", "\xe2\x82", "\xf0\x9f\x98\x80"};
    if (random_below(3) == 0)
        buf_add_text(key, pieces[random_below(sizeof pieces / sizeof pieces[0])]);
    else
        buf_add_char(key, (char)(random_below(2) ? random_below(256) : 'a' + random_below(26)));
}

static void make_key(struct buf *key)
{
    size_t size = random_below(2) ? random_below(12) : random_below(MAX_KEY);
    while (key->size < size)
        add_random_piece(key);
    buf_truncate(key, MAX_KEY);
}

static bool is_legal(struct span name)
{
    if (name.size == 0 || name.size > NAME_LIMIT || name.data[0] == '.')
        return false;
    for (size_t i = 0; i < name.size; i++) {
        unsigned char byte = (unsigned char)name.data[i];
        if (byte == '/' || byte < 0x20 || byte == 0x7F)
            return false;
    }
    return name.size + strlen("@typed") <= NAME_MAX_BYTES;
}

static void show(const char *what, struct span bytes)
{
    printf("# %s:", what);
    for (size_t i = 0; i < bytes.size; i++)
        printf(" %02x", (unsigned char)bytes.data[i]);
    printf("\n");
}

static void test_any_key_has_a_legal_name(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0}, name = {0};
        make_key(&key);
        CHECK(write_name(buf_span(&key), NAME_LIMIT, &name));
        if (is_legal(buf_span(&name)))
            continue;
        show("key", buf_span(&key));
        CHECK_FAIL("<%s> is no legal name", buf_text(&name));
    }
}

static void check_leads_back(struct span key, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf back = {0};
    struct span prefix = name;
    bool whole = !is_shortened(name, &prefix);
    bool ok = escape_decode(prefix, &back);
    if (whole ? ok && span_equal(buf_span(&back), key) : ok && span_starts(key, buf_span(&back)))
        return;
    show("key", key);
    CHECK_FAIL("<%.*s> does not lead back", (int)name.size, name.data);
}

static void test_a_whole_name_decodes_to_its_key_and_a_short_one_to_a_prefix(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0}, name = {0};
        make_key(&key);
        CHECK(write_name(buf_span(&key), NAME_LIMIT, &name));
        check_leads_back(buf_span(&key), buf_span(&name));
    }
}

/* A key and a near relative of it: one byte other, one more, or one less. */
static void make_relative(struct span key, struct buf *other)
{
    buf_add_span(other, key);
    switch (random_below(3)) {
    case 0:
        buf_add_char(other, (char)random_below(256));
        break;
    case 1:
        buf_truncate(other, other->size ? other->size - 1 : 0);
        break;
    default:
        if (other->size)
            other->data[random_below((uint32_t)other->size)] ^= (char)(1 + random_below(255));
    }
}

static void test_two_keys_never_share_a_name(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0}, other = {0}, one = {0}, two = {0};
        make_key(&key);
        make_relative(buf_span(&key), &other);
        CHECK(write_name(buf_span(&key), NAME_LIMIT, &one));
        CHECK(write_name(buf_span(&other), NAME_LIMIT, &two));
        bool same = span_equal(buf_span(&key), buf_span(&other));
        if (span_equal(buf_span(&one), buf_span(&two)) == same)
            continue;
        show("key", buf_span(&key));
        show("other", buf_span(&other));
        CHECK_FAIL("both are <%s>", buf_text(&one));
    }
}

static void test_a_smaller_limit_is_kept_too(void)
{
    for (int i = 0; i < ROUNDS / 10; i++) {
        CLEAN_UP(buf_clean_up) struct buf key = {0}, name = {0};
        size_t limit = 40 + random_below(200);
        make_key(&key);
        CHECK(write_name(buf_span(&key), limit, &name));
        CHECK(name.size <= limit);
        check_leads_back(buf_span(&key), buf_span(&name));
    }
}

static const struct check_test tests[] = {
    {"plain_keys_are_their_own_names", test_plain_keys_are_their_own_names},
    {"percent_and_slash_are_escaped", test_percent_and_slash_are_escaped},
    {"control_characters_are_escaped", test_control_characters_are_escaped},
    {"invalid_utf8_is_escaped_byte_by_byte", test_invalid_utf8_is_escaped_byte_by_byte},
    {"dots", test_dots},
    {"the_empty_key_is_a_percent_alone", test_the_empty_key_is_a_percent_alone},
    {"what_turns_or_breaks_a_line_is_escaped", test_what_turns_or_breaks_a_line_is_escaped},
    {"stop_is_escaped_everywhere", test_stop_is_escaped_everywhere},
    {"a_name_at_the_limit_is_whole", test_a_name_at_the_limit_is_whole},
    {"a_shortened_name_is_no_key", test_a_shortened_name_is_no_key},
    {"shortening_cuts_no_character_and_no_escape", test_shortening_cuts_no_character_and_no_escape},
    {"a_key_that_looks_shortened_is_escaped", test_a_key_that_looks_shortened_is_escaped},
    {"only_a_mark_and_a_digest_is_shortened", test_only_a_mark_and_a_digest_is_shortened},
    {"what_is_no_escape_is_no_name", test_what_is_no_escape_is_no_name},
    {"escapes_may_be_typed_in_lower_case", test_escapes_may_be_typed_in_lower_case},
    {"more_is_escaped_character_by_character", test_more_is_escaped_character_by_character},
    {"companions_are_split_off", test_companions_are_split_off},
    {"companions_of_listings_are_split_off", test_companions_of_listings_are_split_off},
    {"any_key_has_a_legal_name", test_any_key_has_a_legal_name},
    {"a_whole_name_decodes_to_its_key_and_a_short_one_to_a_prefix",
     test_a_whole_name_decodes_to_its_key_and_a_short_one_to_a_prefix},
    {"two_keys_never_share_a_name", test_two_keys_never_share_a_name},
    {"a_smaller_limit_is_kept_too", test_a_smaller_limit_is_kept_too},
};

int main(int argc, char **argv)
{
    seed();
    return check_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
