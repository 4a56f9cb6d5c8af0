/* A statement while it is typed: its end, and the word in front of the cursor. */
#include "fs/cli/sql_text.h"

#include "tests/unit/check.h"

static struct sql_text scan(const char *text)
{
    return sql_text_scan(span_text(text));
}

static void check_word(const char *text, const char *word)
{
    struct span whole = span_text(text);
    CHECK_SPAN(span_from(whole, scan(text).word), span_text(word));
}

static void test_a_semicolon_ends_a_statement(void)
{
    CHECK(scan("select 1;").is_ended);
    CHECK(scan("select 1; \n -- done\n /* ; */").is_ended);
    CHECK(scan("select 1; -- done").is_ended);
    CHECK(!scan("select 1; select 2").is_ended);
    CHECK(!scan("").is_ended && !scan("-- ;").is_ended);
}

static void test_a_semicolon_in_quotes_ends_nothing(void)
{
    CHECK(!scan("select ';").is_ended && scan("select ';").is_in_string);
    CHECK(!scan("select ';'").is_ended);
    CHECK(!scan("select 'it''s;").is_ended);
    CHECK(scan("select 'it''s';").is_ended);
    CHECK(!scan("select \"a;").is_ended && !scan("select [a;").is_ended);
    CHECK(!scan("select `a;").is_ended);
    CHECK(!scan("select 1 -- ;\n").is_ended);
    CHECK(!scan("select 1; /* ").is_ended);
    CHECK(scan("select 1 -- ;\n;").is_ended);
}

static void test_lines_with_a_meaning(void)
{
    CHECK(!scan("select 1,\n2;\n").has_lines);
    CHECK(scan("select 'a\nb';\n").has_lines);
    CHECK(scan("select 1 -- one\n;\n").has_lines);
    CHECK(!scan("select 'a' /* one */,\n2;\n").has_lines);
}

static void test_blanks_and_comments(void)
{
    CHECK(scan(" \n-- nothing").is_blank && scan("/* */").is_blank && scan("").is_blank);
    CHECK(!scan(";").is_blank && !scan("'").is_blank);
}

static void test_the_last_word_is_a_name(void)
{
    check_word("select stat", "stat");
    check_word("select a.b", "a.b");
    check_word("select count(st", "st");
    check_word("select 'x'", "");
    check_word("from prod.\"index-set", "prod.\"index-set");
    check_word("from \"prod@at/2026-04-16\".jo", "\"prod@at/2026-04-16\".jo");
    check_word("where a = 'x'and b", "b");
    check_word("select \xc3\xbc", "\xc3\xbc");
    check_word("select ", "");
    check_word(".ta", ".ta");
}

static const struct check_test tests[] = {
    {"a_semicolon_ends_a_statement", test_a_semicolon_ends_a_statement},
    {"a_semicolon_in_quotes_ends_nothing", test_a_semicolon_in_quotes_ends_nothing},
    {"lines_with_a_meaning", test_lines_with_a_meaning},
    {"blanks_and_comments", test_blanks_and_comments},
    {"the_last_word_is_a_name", test_the_last_word_is_a_name},
};

CHECK_MAIN(tests)
