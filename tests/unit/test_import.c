/* Models of other tools: which they are, how their templates become formats, and what is said of
 * what can't be imported. */
#include "tests/unit/check.h"

#include "core/import/import.h"
#include "core/import/template.h"

static void parse_template(enum template_notation notation, const char *text, const char *want)
{
    struct arena arena = {0};
    struct part_names names;
    CHECK(part_names_init(&names, &arena));
    struct format format;
    const char *wrong = template_parse(&names, notation, span_text(text), &format);
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    if (!wrong)
        format_write(&format, &written);
    CHECK_TEXT(wrong ? wrong : buf_text(&written), want);
    part_names_clean_up(&names);
    arena_clean_up(&arena);
}

static void test_templates_become_formats(void)
{
    parse_template(TEMPLATE_DOLLAR, "USER#${id}", "USER#{id}");
    parse_template(TEMPLATE_DOLLAR, "${shop}#ORDER#${order}#", "{shop}#ORDER#{order}#");
    parse_template(TEMPLATE_DOLLAR, "PROFILE", "PROFILE");
    parse_template(TEMPLATE_DOLLAR, "${user name}|$5", "{user_name}|$5");
    parse_template(TEMPLATE_BRACES, "MENU#{category}#{product_id}", "MENU#{category}#{product_id}");
    parse_template(TEMPLATE_BRACES, "{2nd}$x", "{_2nd}$x");
}

static void test_templates_that_no_format_can_say(void)
{
    parse_template(TEMPLATE_DOLLAR, "", "it is empty");
    parse_template(TEMPLATE_DOLLAR, "USER#${id", "a { without its }");
    parse_template(TEMPLATE_DOLLAR, "USER#${}", "a part has no name");
    parse_template(TEMPLATE_DOLLAR, "{x}${id}", "a format's text can't hold { or }");
    parse_template(TEMPLATE_DOLLAR, "${a}#${a}", "a part stands twice in it");
    parse_template(TEMPLATE_DOLLAR, "${address.city}",
                   "a part comes from within another attribute");
    parse_template(TEMPLATE_BRACES, "{a}{b}",
                   "two parts have no text between them, so that no key could be taken apart");
    parse_template(TEMPLATE_BRACES, "{a}#{b}#{c}#{d}#{e}#{f}#{g}#{h}#{i}#{j}#{k}#{l}#{m}",
                   "a format has at most 24 pieces");
}

static void test_parts_have_a_name_each(void)
{
    struct arena arena = {0};
    struct part_names names;
    CHECK(part_names_init(&names, &arena));
    CHECK_TEXT(part_names_of(&names, SPAN_LITERAL("a_b")), "a_b");
    CHECK_TEXT(part_names_of(&names, SPAN_LITERAL("a b")), "a_b_2");
    CHECK_TEXT(part_names_of(&names, SPAN_LITERAL("a.b")), "a_b_3");
    CHECK_TEXT(part_names_of(&names, SPAN_LITERAL("a b")), "a_b_2");
    CHECK_TEXT(part_names_of(&names, SPAN_LITERAL("\xc3\xa9t\xc3\xa9")), "__t__");
    CHECK_TEXT(part_names_of(&names, SPAN_LITERAL("-x")), "_-x");
    part_names_clean_up(&names);
    arena_clean_up(&arena);
}

static void fails(const char *text, const char *part)
{
    struct arena arena = {0};
    struct imported imported;
    struct error err = {0};
    CHECK(!import_model(&arena, "m.json", span_text(text), &imported, &err));
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_HAS(err.text, part);
    arena_clean_up(&arena);
}

static void test_what_is_no_model(void)
{
    fails("", "m.json:1: this is no JSON: ");
    fails("{\n \"a\": 1,\n}", "m.json:3: this is no JSON: ");
    fails("{}", "m.json: this is no model that can be imported; these can:");
    fails("[]", "m.json: this is no model that can be imported; these can:");
    fails("5", "m.json: this is no model that can be imported; these can:");
}

static const struct check_test tests[] = {
    {"templates_become_formats", test_templates_become_formats},
    {"templates_that_no_format_can_say", test_templates_that_no_format_can_say},
    {"parts_have_a_name_each", test_parts_have_a_name_each},
    {"what_is_no_model", test_what_is_no_model},
};

CHECK_MAIN(tests)
