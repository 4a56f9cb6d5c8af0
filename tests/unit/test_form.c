/* Forms of a listing: records go in one by one, one file comes out. */
#include "core/form/form.h"

#include "tests/unit/check.h"

static const char *const key_names[] = {"pk", "sk"};
static const char *const secret_names[] = {"token"};
static const struct record_view view = {key_names, 2, secret_names, 1, false};

static void form_clean_up(struct form **form)
{
    form_destroy(*form);
}

static bool add(struct form *form, const char *item, struct buf *out, struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    if (!json_parse(&doc, span_text(item), JSON_STRICT, NULL))
        CHECK_FAIL("no JSON: %s", item);
    return form_add(form, json_root(&doc), out, err);
}

/* Whether the records of ITEMS, which ends in NULL, become WANT. */
static bool shows(const struct form_setting *setting, const char *const *items, const char *want)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(setting);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    bool ok = form != NULL;
    for (; ok && *items; items++)
        ok = add(form, *items, &out, &err);
    ok = ok && form_end(form, &out, &err) && form_memory(form) > 0;
    bool equal = ok && span_is(buf_span(&out), want);
    if (!equal)
        printf("# %s\n# shown as <%s>\n", err.text, buf_text(&out));
    return equal;
}

#define ITEMS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_ITEMS ((const char *const[]){NULL})

static const struct form_setting jsonl = {.kind = FORM_JSONL, .view = &view};
static const struct form_setting count = {.kind = FORM_COUNT, .view = &view};

static void a_record_is_a_line(void)
{
    CHECK(shows(&jsonl,
                ITEMS("{\"a\":{\"S\":\"x\\ny\"},\"sk\":{\"N\":\"1\"},\"pk\":{\"S\":\"p\"}}",
                      "{\"token\":{\"S\":\"hush\"},\"pk\":{\"S\":\"q\"}}", "{}"),
                "{\"pk\":\"p\",\"sk\":1,\"a\":\"x\\ny\"}\n"
                "{\"pk\":\"q\",\"token\":\"********\"}\n{}\n"));
}

static void no_record_is_no_line(void)
{
    CHECK(shows(&jsonl, NO_ITEMS, ""));
}

static void a_line_is_told_at_once(void)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(&jsonl);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    CHECK(add(form, "{\"a\":{\"BOOL\":true}}", &out, &err));
    CHECK_TEXT(buf_text(&out), "{\"a\":true}\n");
}

static void what_is_no_item_is_refused_whole(void)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(&jsonl);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    buf_add_text(&out, "kept");
    CHECK(!add(form, "{\"a\":{\"S\":\"x\"},\"bad\":{\"Q\":1}}", &out, &err));
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(err.text, "\"bad\"");
    CHECK_TEXT(buf_text(&out), "kept");
}

static void a_count_is_a_number(void)
{
    CHECK(shows(&count, NO_ITEMS, "0\n"));
    CHECK(shows(&count, ITEMS("{}", "{\"pk\":{\"S\":\"a\"}}", "{}"), "3\n"));
}

static void a_setting_is_copied(void)
{
    char name[] = "hide";
    const char *names[] = {name};
    struct record_view short_lived = {.secret = names, .secret_count = 1};
    struct form_setting setting = {.kind = FORM_JSONL, .view = &short_lived};
    CLEAN_UP(form_clean_up) struct form *form = form_new(&setting);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    memset(name, 'x', sizeof name - 1);
    memset(names, 0, sizeof names);
    memset(&short_lived, 0, sizeof short_lived);
    CHECK(add(form, "{\"hide\":{\"S\":\"me\"}}", &out, &err));
    CHECK_TEXT(buf_text(&out), "{\"hide\":\"********\"}\n");
}

static const struct form_setting all_csv = {.kind = FORM_CSV, .view = &view};

static struct form_setting of_columns(enum form_kind kind, const struct span *columns,
                                      size_t number)
{
    return (struct form_setting){
        .kind = kind, .view = &view, .columns = columns, .column_count = number};
}

/* Keys first, though the first record lacks one; then all that any has, by name. */
static void csv_has_all_columns(void)
{
    CHECK(shows(&all_csv,
                ITEMS("{\"z\":{\"N\":\"1.50\"},\"pk\":{\"S\":\"p\"}}",
                      "{\"pk\":{\"S\":\"q\"},\"sk\":{\"S\":\"s\"},\"a\":{\"BOOL\":true},"
                      "\"B\":{\"B\":\"/+8=\"}}"),
                "pk,sk,B,a,z\np,,,,1.50\nq,s,/+8=,true,\n"));
}

static void csv_of_no_record_is_a_header(void)
{
    static const struct span columns[] = {{"b", 1}, {"a", 1}};
    struct form_setting asked = of_columns(FORM_CSV, columns, 2);
    CHECK(shows(&all_csv, NO_ITEMS, "pk,sk\n"));
    CHECK(shows(&asked, NO_ITEMS, "b,a\n"));
}

static void csv_has_columns_as_asked(void)
{
    static const struct span columns[] = {{"b", 1}, {"none", 4}, {"a", 1}, {"b", 1}};
    struct form_setting asked = of_columns(FORM_CSV, columns, 4);
    CHECK(shows(&asked,
                ITEMS("{\"a\":{\"N\":\"1\"},\"b\":{\"S\":\"x\"},\"pk\":{\"S\":\"p\"}}", "{}"),
                "b,none,a\nx,,1\n,,\n"));
}

static void csv_as_asked_is_told_row_by_row(void)
{
    static const struct span columns[] = {{"a", 1}};
    struct form_setting asked = of_columns(FORM_CSV, columns, 1);
    CLEAN_UP(form_clean_up) struct form *form = form_new(&asked);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    CHECK(add(form, "{\"a\":{\"N\":\"1\"}}", &out, &err));
    CHECK_TEXT(buf_text(&out), "a\n1\n");
    size_t memory = form_memory(form);
    for (int i = 0; i < 100; i++)
        CHECK(add(form, "{\"a\":{\"N\":\"1\"}}", &out, &err));
    CHECK_INT(form_memory(form), memory);
}

/* What a record has not, what is null and what is empty are three things. */
static void csv_tells_missing_null_and_empty_apart(void)
{
    CHECK(shows(&all_csv,
                ITEMS("{\"pk\":{\"S\":\"\"},\"sk\":{\"NULL\":true}}", "{\"pk\":{\"S\":\"null\"}}"),
                "pk,sk\n\"\",null\n\"null\",\n"));
    CHECK(shows(&all_csv,
                ITEMS("{\"pk\":{\"S\":\"12\"},\"sk\":{\"N\":\"12\"}}",
                      "{\"pk\":{\"S\":\"true\"},\"sk\":{\"BOOL\":true}}"),
                "pk,sk\n\"12\",12\n\"true\",true\n"));
}

static void csv_of_one_column_has_no_empty_line(void)
{
    static const struct span columns[] = {{"a", 1}};
    struct form_setting asked = of_columns(FORM_CSV, columns, 1);
    CHECK(shows(&asked, ITEMS("{}", "{\"a\":{\"S\":\"\"}}"), "a\n\"\"\n\"\"\n"));
}

static void csv_quotes_what_would_not_be_one_field(void)
{
    static const struct span columns[] = {{"a,\"b\"", 5}, {"c", 1}};
    struct form_setting asked = of_columns(FORM_CSV, columns, 2);
    CHECK(shows(&asked,
                ITEMS("{\"a,\\\"b\\\"\":{\"S\":\"x,\\\"y\\\"\\r\\nz\"},\"c\":{\"S\":\" blank\"}}",
                      "{\"c\":{\"S\":\"#no comment\"}}"),
                "\"a,\"\"b\"\"\",c\n\"x,\"\"y\"\"\r\nz\",\" blank\"\n,\"#no comment\"\n"));
}

static void csv_nests_as_json(void)
{
    CHECK(shows(
        &all_csv,
        ITEMS("{\"pk\":{\"M\":{\"b\":{\"L\":[{\"N\":\"1\"},{\"S\":\"x\"}]},"
              "\"a\":{\"NULL\":true}}},\"sk\":{\"SS\":[\"b\",\"a\"]},\"l\":{\"L\":[]}}"),
        "pk,sk,l\n\"{\"\"a\"\":null,\"\"b\"\":[1,\"\"x\"\"]}\",\"[\"\"a\"\",\"\"b\"\"]\",[]\n"));
}

/* A formula stays what the record says: nothing is altered for a spreadsheet's sake. */
static void csv_alters_nothing(void)
{
    CHECK(shows(&all_csv, ITEMS("{\"pk\":{\"S\":\"=1+1\"},\"sk\":{\"S\":\"@x\"}}"),
                "pk,sk\n=1+1,@x\n"));
    CHECK(shows(&all_csv, ITEMS("{\"pk\":{\"N\":\"12345678901234567890123456789012345678\"}}"),
                "pk,sk\n12345678901234567890123456789012345678,\n"));
}

static void csv_masks_secrets(void)
{
    static const struct span columns[] = {{"token", 5}};
    struct form_setting asked = of_columns(FORM_CSV, columns, 1);
    const char *const *items = ITEMS("{\"token\":{\"M\":{\"x\":{\"S\":\"hush\"}}}}");
    CHECK(shows(&asked, items, "token\n********\n"));
    CHECK(shows(&all_csv, items, "pk,sk,token\n,,********\n"));
}

static const enum form_kind of_items[] = {FORM_JSONL, FORM_CSV, FORM_TABLE};

static void what_is_no_item_is_refused_by_all_but_a_count(void)
{
    static const char *const bad[] = {
        "[]",
        "{\"bad\":{\"N\":\"x\"}}",
        "{\"bad\":{\"L\":[{\"Q\":\"x\"}]}}",
        "{\"bad\":\"x\"}",
    };
    for (size_t i = 0; i < sizeof of_items / sizeof of_items[0] * 2; i++) {
        static const struct span columns[] = {{"bad", 3}};
        struct form_setting setting = of_columns(of_items[i / 2], columns, i % 2);
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
            CLEAN_UP(form_clean_up) struct form *form = form_new(&setting);
            CLEAN_UP(buf_clean_up) struct buf out = {0};
            struct error err = {0};
            CHECK(!add(form, bad[k], &out, &err));
            CHECK_INT(err.kind, ERROR_BAD_ANSWER);
            CHECK_INT(out.size, 0);
        }
    }
}

static const struct form_setting table = {.kind = FORM_TABLE, .view = &view};

static void a_table_is_aligned(void)
{
    CHECK(shows(&table,
                ITEMS("{\"pk\":{\"S\":\"long key\"},\"sk\":{\"N\":\"7\"},\"b\":{\"S\":\"\"}}",
                      "{\"pk\":{\"S\":\"k\"},\"sk\":{\"N\":\"1000\"},\"a\":{\"NULL\":true}}"),
                "pk          sk  a     b\n"
                "long key     7  -     \n"
                "k         1000  null  -\n"));
}

static void a_table_has_columns_as_asked(void)
{
    static const struct span columns[] = {{"b", 1}, {"pk", 2}, {"b", 1}};
    struct form_setting asked = of_columns(FORM_TABLE, columns, 3);
    CHECK(shows(&asked, ITEMS("{\"pk\":{\"S\":\"k\"},\"a\":{\"S\":\"x\"},\"token\":{\"S\":\"t\"}}"),
                "b  pk\n-  k\n"));
    CHECK(shows(&asked, NO_ITEMS, "b  pk\n"));
    CHECK(shows(&table, NO_ITEMS, "pk  sk\n"));
}

static void a_table_masks_secrets(void)
{
    CHECK(shows(&table,
                ITEMS("{\"pk\":{\"S\":\"k\"},\"sk\":{\"S\":\"s\"},\"token\":{\"S\":\"t\"}}"),
                "pk  sk  token\nk   s   ********\n"));
}

/* Wide characters take two cells, and marks that stand on others none. */
static void a_table_counts_cells_of_the_terminal(void)
{
    CHECK(shows(&table,
                ITEMS("{\"pk\":{\"S\":\"\u65e5\u672c\"},\"sk\":{\"S\":\"s\"}}",
                      "{\"pk\":{\"S\":\"e\u0301\"},\"sk\":{\"S\":\"s\"}}"),
                "pk    sk\n\u65e5\u672c  s\ne\u0301     s\n"));
}

static void a_table_lets_no_terminal_act(void)
{
    CHECK(shows(&table, ITEMS("{\"pk\":{\"S\":\"a\\u001b[1m\\n\"},\"sk\":{\"S\":\"\\u202e\"}}"),
                "pk          sk\na%1B[1m%0A  %E2%80%AE\n"));
}

static void a_table_cuts_long_cells(void)
{
    CLEAN_UP(buf_clean_up) struct buf item = {0}, want = {0};
    buf_add_text(&item, "{\"pk\":{\"S\":\"");
    buf_add_repeated(&item, 'x', 61);
    buf_add_text(&item, "\"},\"sk\":{\"S\":\"");
    buf_add_repeated(&item, 'y', 60);
    buf_add_text(&item, "\"}}");
    buf_add_text(&want, "pk");
    buf_add_repeated(&want, ' ', 60);
    buf_add_text(&want, "sk\n");
    buf_add_repeated(&want, 'x', 59);
    buf_add_text(&want, "\u2026  ");
    buf_add_repeated(&want, 'y', 60);
    buf_add_text(&want, "\n");
    CHECK(shows(&table, ITEMS(buf_text(&item)), buf_text(&want)));
}

/* What is told at the end alone may be larger than its caller can keep. */
static void the_end_is_no_larger_than_allowed(void)
{
    for (size_t i = 1; i < sizeof of_items / sizeof of_items[0]; i++) {
        struct form_setting setting = {.kind = of_items[i], .view = &view, .most = 20};
        CLEAN_UP(form_clean_up) struct form *form = form_new(&setting);
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        struct error err = {0};
        CHECK(add(form, "{\"pk\":{\"S\":\"0123456789\"},\"sk\":{\"N\":\"0\"}}", &out, &err));
        CHECK(add(form, "{\"pk\":{\"S\":\"0123456789\"},\"sk\":{\"N\":\"0\"}}", &out, &err));
        CHECK(!form_end(form, &out, &err));
        CHECK_INT(err.kind, ERROR_TOO_LARGE);
        CHECK_INT(out.size, 0);
    }
}

static void nothing_is_destroyed_in_peace(void)
{
    form_destroy(NULL);
}

static const struct check_test tests[] = {
    {"a record is a line", a_record_is_a_line},
    {"no record is no line", no_record_is_no_line},
    {"a line is told at once", a_line_is_told_at_once},
    {"what is no item is refused whole", what_is_no_item_is_refused_whole},
    {"a count is a number", a_count_is_a_number},
    {"a setting is copied", a_setting_is_copied},
    {"csv has all columns", csv_has_all_columns},
    {"csv of no record is a header", csv_of_no_record_is_a_header},
    {"csv has columns as asked", csv_has_columns_as_asked},
    {"csv as asked is told row by row", csv_as_asked_is_told_row_by_row},
    {"csv tells missing null and empty apart", csv_tells_missing_null_and_empty_apart},
    {"csv of one column has no empty line", csv_of_one_column_has_no_empty_line},
    {"csv quotes what would not be one field", csv_quotes_what_would_not_be_one_field},
    {"csv nests as json", csv_nests_as_json},
    {"csv alters nothing", csv_alters_nothing},
    {"csv masks secrets", csv_masks_secrets},
    {"what is no item is refused by all but a count",
     what_is_no_item_is_refused_by_all_but_a_count},
    {"a table is aligned", a_table_is_aligned},
    {"a table has columns as asked", a_table_has_columns_as_asked},
    {"a table masks secrets", a_table_masks_secrets},
    {"a table counts cells of the terminal", a_table_counts_cells_of_the_terminal},
    {"a table lets no terminal act", a_table_lets_no_terminal_act},
    {"a table cuts long cells", a_table_cuts_long_cells},
    {"the end is no larger than allowed", the_end_is_no_larger_than_allowed},
    {"nothing is destroyed in peace", nothing_is_destroyed_in_peace},
};

CHECK_MAIN(tests)
