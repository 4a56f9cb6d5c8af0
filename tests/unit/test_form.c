/* Forms of a listing: records go in one by one, one file comes out. */
#include "core/output/form.h"

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
    ok = ok && form_end(form, &out, NULL, &err) && form_memory(form) > 0;
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

/* Base64 is text, too. */
static void csv_tells_binary_and_bare_words_apart(void)
{
    static const struct span columns[] = {{"pk", 2}, {"sk", 2}};
    struct form_setting asked = of_columns(FORM_CSV, columns, 2);
    const char *const *items =
        ITEMS("{\"pk\":{\"B\":\"null\"},\"sk\":{\"B\":\"true\"}}",
              "{\"pk\":{\"B\":\"1234\"},\"sk\":{\"B\":\"\"}}", "{\"pk\":{\"B\":\"/+8=\"}}");
    CHECK(shows(&all_csv, items, "pk,sk\n\"null\",\"true\"\n\"1234\",\"\"\n/+8=,\n"));
    CHECK(shows(&asked, items, "pk,sk\n\"null\",\"true\"\n\"1234\",\"\"\n/+8=,\n"));
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

/* Adds records until FORM refuses one; how many it took. */
static unsigned fill(struct form *form, struct buf *out, struct error *err)
{
    unsigned taken = 0;
    while (taken < 10000 && add(form, "{\"pk\":{\"S\":\"0123456789\"}}", out, err))
        taken++;
    return taken;
}

/* Rows that are held until the end are no more than their caller can keep. */
static void rows_that_are_held_are_no_more_than_allowed(void)
{
    static const enum form_kind held[] = {FORM_CSV, FORM_TABLE, FORM_DATABASE};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        struct form_setting setting = {.kind = held[i], .view = &view, .most = 100000};
        CLEAN_UP(form_clean_up) struct form *form = form_new(&setting);
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        struct error err = {0};
        unsigned taken = fill(form, &out, &err);
        CHECK(taken > 1000 && taken < 10000);
        CHECK_INT(err.kind, ERROR_TOO_LARGE);
        CHECK(form_is_over(form));
        CHECK(form_memory(form) < 300000);
    }
}

static void rows_that_are_told_at_once_are_any_number(void)
{
    static const struct span columns[] = {{"pk", 2}};
    struct form_setting setting = of_columns(FORM_CSV, columns, 1);
    setting.most = 100000;
    CLEAN_UP(form_clean_up) struct form *form = form_new(&setting);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    CHECK_INT(fill(form, &out, &err), 10000);
}

/* One wide cell makes a column wide in all rows, and one name a column that few rows have. */
static void the_end_is_no_larger_than_allowed(void)
{
    static const enum form_kind held[] = {FORM_CSV, FORM_TABLE, FORM_DATABASE};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        struct form_setting setting = {.kind = held[i], .view = &view, .most = 80000};
        CLEAN_UP(form_clean_up) struct form *form = form_new(&setting);
        CLEAN_UP(buf_clean_up) struct buf out = {0}, wide = {0};
        struct error err = {0};
        buf_add_text(&wide, "{\"pk\":{\"S\":\"x\"}");
        for (int column = 0; column < 200; column++)
            buf_printf(&wide, ",\"c%d\":{\"S\":\"x\"}", column);
        buf_add_text(&wide, "}");
        CHECK(add(form, buf_text(&wide), &out, &err));
        for (int row = 0; row < 500; row++)
            CHECK(add(form, "{\"pk\":{\"S\":\"y\"}}", &out, &err));
        CHECK(!form_end(form, &out, NULL, &err));
        CHECK_INT(err.kind, ERROR_TOO_LARGE);
        CHECK(form_is_over(form));
        CHECK_INT(out.size, 0);
    }
}

static const struct record_view one_line = {key_names, 2, secret_names, 1, true};
static const struct form_setting brief = {.kind = FORM_SUMMARY, .view = &one_line};

static void a_summary_is_for_eyes_and_programs(void)
{
    const struct form_setting setting = {.kind = FORM_SUMMARY, .view = &view, .dated_by = "at"};
    CHECK(shows(
        &setting,
        ITEMS(
            "{\"at\":{\"S\":\"2026-04-16T10:00:00.5Z\"},\"pk\":{\"S\":\"p\"},\"sk\":{\"N\":\"2\"}}",
            "{\"at\":{\"S\":\"2026-04-16T10:00:00.4Z\"},\"pk\":{\"S\":\"p\"},\"sk\":{\"N\":\"10\"}"
            "}",
            "{\"at\":{\"S\":\"later\"},\"pk\":{\"S\":\"p\"}}"),
        "{\n  \"count\": 3,\n  \"first\": {\"pk\": \"p\", \"sk\": 2},\n  \"last\": {\"pk\": "
        "\"p\"},\n"
        "  \"dated_by\": \"at\",\n"
        "  \"oldest\": {\"date\": \"2026-04-16T10:00:00.4Z\", \"key\": {\"pk\": \"p\", \"sk\": "
        "10}},\n"
        "  \"newest\": {\"date\": \"2026-04-16T10:00:00.5Z\", \"key\": {\"pk\": \"p\", \"sk\": "
        "2}},\n"
        "  \"undated\": 1,\n  \"attributes\": {\n"
        "    \"pk\": {\"count\": 3, \"types\": {\"S\": 3}, \"min\": \"p\", \"max\": \"p\", "
        "\"distinct\": 1, \"values\": [{\"value\": \"p\", \"count\": 3}]},\n"
        "    \"sk\": {\"count\": 2, \"types\": {\"N\": 2}, \"min\": 2, \"max\": 10, \"distinct\": "
        "2},\n"
        "    \"at\": {\"count\": 3, \"types\": {\"S\": 3}, \"min\": \"2026-04-16T10:00:00.4Z\", "
        "\"max\": \"later\", \"distinct\": 3}\n  }\n}\n"));
    CHECK(shows(&setting, NO_ITEMS,
                "{\n  \"count\": 0,\n  \"dated_by\": \"at\",\n  \"attributes\": {}\n}\n"));
}

static void a_summary_masks_secrets(void)
{
    const struct form_setting setting = {
        .kind = FORM_SUMMARY, .view = &one_line, .dated_by = "token"};
    CHECK(shows(&setting, ITEMS("{\"token\":{\"S\":\"2026-04-16\"}}"),
                "{\"count\":1,\"first\":{},\"last\":{},\"attributes\":{\"token\":{\"count\":1,"
                "\"types\":{\"S\":1},\"masked\":true}}}\n"));
}

/* Whether the one attribute of VALUES, typed values of "a", is told as WANT. */
static bool tells(const char *const *values, const char *want)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(&brief);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    size_t number = 0;
    for (; values[number]; number++) {
        CLEAN_UP(buf_clean_up) struct buf item = {0};
        buf_printf(&item, "{\"a\":%s}", values[number]);
        CHECK(add(form, buf_text(&item), &out, &err));
    }
    CHECK(form_end(form, &out, NULL, &err));
    const char *told = strstr(buf_text(&out), "\"a\":{\"count\"");
    CHECK(told);
    bool same = strncmp(told + 4, want, strlen(want)) == 0;
    if (!same)
        printf("# told as <%s>\n", told + 4);
    return same;
}

static void numbers_are_compared_exactly(void)
{
    CHECK(tells(ITEMS("{\"N\":\"10000000000000000000000000000000000001\"}",
                      "{\"N\":\"10000000000000000000000000000000000002\"}", "{\"N\":\"-1e3\"}",
                      "{\"N\":\"9\"}"),
                "{\"count\":4,\"types\":{\"N\":4},\"min\":-1e3,"
                "\"max\":10000000000000000000000000000000000002,\"distinct\":4}"));
    CHECK(tells(ITEMS("{\"N\":\"1.0\"}", "{\"N\":\"1\"}"),
                "{\"count\":2,\"types\":{\"N\":2},\"min\":1.0,\"max\":1.0,\"distinct\":1,"
                "\"values\":[{\"value\":1.0,\"count\":2}]}"));
}

/* In the order of jq. */
static void numbers_come_before_strings(void)
{
    CHECK(tells(
        ITEMS("{\"S\":\"1\"}", "{\"N\":\"7\"}", "{\"BOOL\":true}", "{\"NULL\":true}", "{\"L\":[]}",
              "{\"N\":\"1\"}", "{\"S\":\"1\"}"),
        "{\"count\":7,\"types\":{\"S\":2,\"N\":2,\"BOOL\":1,\"NULL\":1,\"L\":1},\"min\":1,"
        "\"max\":\"1\",\"distinct\":4,\"values\":[{\"value\":\"1\",\"count\":2},"
        "{\"value\":true,\"count\":1},{\"value\":1,\"count\":1},{\"value\":7,\"count\":1}]}"));
}

static void the_commonest_value_is_first(void)
{
    CHECK(tells(
        ITEMS("{\"S\":\"b\"}", "{\"S\":\"c\"}", "{\"S\":\"a\"}", "{\"S\":\"c\"}"),
        "{\"count\":4,\"types\":{\"S\":4},\"min\":\"a\",\"max\":\"c\",\"distinct\":3,\"values\":["
        "{\"value\":\"c\",\"count\":2},{\"value\":\"a\",\"count\":1},{\"value\":\"b\",\"count\":1}]"
        "}"));
}

/* The summary of COUNT records whose "a" is a number and the bytes of FILLER. */
static void summarise(unsigned records, size_t filler, struct buf *out, size_t *memory)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(&brief);
    struct error err = {0};
    for (unsigned i = 0; i < records; i++) {
        CLEAN_UP(buf_clean_up) struct buf item = {0};
        buf_add_text(&item, "{\"a\":{\"S\":\"");
        buf_add_repeated(&item, 'x', filler);
        buf_printf(&item, "%u\"}}", i);
        CHECK(add(form, buf_text(&item), out, &err));
    }
    *memory = form_memory(form);
    CHECK(form_end(form, out, NULL, &err));
}

static void what_is_not_counted_is_said(void)
{
    CLEAN_UP(buf_clean_up) struct buf few = {0}, many = {0}, long_ones = {0};
    size_t memory;
    summarise(32, 0, &few, &memory);
    CHECK_HAS(buf_text(&few), "\"distinct\":32}");
    summarise(33, 0, &many, &memory);
    CHECK_HAS(buf_text(&many), "\"min\":\"0\",\"max\":\"9\",\"distinct\":\"more than 32\"}");
    summarise(2, 256, &long_ones, &memory);
    CHECK_HAS(buf_text(&long_ones),
              "\"distinct\":\"not counted: some are longer than 256 bytes\"}");
    CHECK_HAS(buf_text(&long_ones), "\"min_begins\":\"xxxx");
    CHECK_HAS(buf_text(&long_ones), "x\",\"max_begins\":\"xxxx");
    CHECK(!strstr(buf_text(&long_ones), "\"min\""));
}

static void a_summary_takes_no_more_memory_for_more_records(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    size_t some, more;
    summarise(100, 300, &out, &some);
    summarise(2000, 300, &out, &more);
    CHECK_INT(more, some);
}
/* Adds 3,000 records of a kilobyte to FORM. */
static void add_many(struct form *form)
{
    struct buf none = {0};
    struct error err = {0};
    for (int i = 0; i < 3000; i++) {
        CLEAN_UP(buf_clean_up) struct buf item = {0};
        buf_printf(&item, "{\"pk\":{\"S\":\"%04d\"},\"a\":{\"S\":\"", i);
        buf_add_repeated(&item, 'x', 1000);
        buf_add_text(&item, "\"}}");
        CHECK(add(form, buf_text(&item), &none, &err));
    }
    CHECK_INT(none.size, 0);
}

/* Who waits for the loop meanwhile waits for a megabyte and no longer. */
static void what_only_the_last_record_tells_comes_in_pieces(void)
{
    static const enum form_kind held[] = {FORM_CSV, FORM_TABLE, FORM_DATABASE};
    for (int i = 0; i < 3; i++) {
        struct form_setting setting = {.kind = held[i], .view = &view};
        CLEAN_UP(form_clean_up) struct form *one = form_new(&setting), *other = form_new(&setting);
        CLEAN_UP(buf_clean_up) struct buf whole = {0}, pieces = {0};
        struct error err = {0};
        bool more = true;
        int told = 0;
        add_many(one);
        add_many(other);
        CHECK(form_end(one, &whole, NULL, &err));
        for (; more; told++) {
            size_t before = pieces.size;
            CHECK(form_end(other, &pieces, &more, &err));
            CHECK(pieces.size - before < (1 << 20) + 2000);
        }
        CHECK(span_equal(buf_span(&whole), buf_span(&pieces)));
        CHECK(held[i] == FORM_CSV ? told == 3 : told > 0);
    }
}

/* A string that ends where the kept part ends is less than one that goes on. */
static void a_string_that_goes_on_is_greater(void)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, longer = {0}, want = {0};
    buf_add_text(&whole, "{\"S\":\"");
    buf_add_repeated(&whole, 'x', 254);
    buf_add_text(&longer, buf_text(&whole));
    buf_add_text(&whole, "yz\"}");
    buf_add_text(&longer, "yz\u00e9\"}");
    buf_add_text(&want, "{\"count\":2,\"types\":{\"S\":2},\"min\":\"");
    buf_add_repeated(&want, 'x', 254);
    buf_add_text(&want, "yz\",\"max_begins\":\"");
    buf_add_repeated(&want, 'x', 254);
    buf_add_text(&want, "yz\",\"distinct\":");
    CHECK(tells(ITEMS(buf_text(&whole), buf_text(&longer)), buf_text(&want)));
    CHECK(tells(ITEMS(buf_text(&longer), buf_text(&whole)), buf_text(&want)));
}

static void a_character_is_not_cut_in_two(void)
{
    CLEAN_UP(buf_clean_up) struct buf value = {0}, want = {0};
    buf_add_text(&value, "{\"S\":\"");
    buf_add_repeated(&value, 'x', 255);
    buf_add_text(&value, "\u00e9\"}");
    buf_add_text(&want, "{\"count\":1,\"types\":{\"S\":1},\"min_begins\":\"");
    buf_add_repeated(&want, 'x', 255);
    buf_add_text(&want, "\",\"max_begins\":\"");
    CHECK(tells(ITEMS(buf_text(&value)), buf_text(&want)));
}

static void attributes_without_end_are_not_counted(void)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(&brief);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    for (unsigned i = 0; i < 1001; i++) {
        char item[40];
        snprintf(item, sizeof item, "{\"a%u\":{\"NULL\":true}}", i);
        CHECK(add(form, item, &out, &err));
    }
    CHECK(form_end(form, &out, NULL, &err));
    CHECK_HAS(buf_text(&out), "{\"count\":1001,");
    CHECK_HAS(buf_text(&out), "\"a999\":{");
    CHECK(!strstr(buf_text(&out), "\"a1000\""));
    CHECK_HAS(buf_text(&out),
              ",\"not_counted\":\"attributes beyond the first 1000 different ones\"}\n");
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
    {"csv tells binary and bare words apart", csv_tells_binary_and_bare_words_apart},
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
    {"rows that are held are no more than allowed", rows_that_are_held_are_no_more_than_allowed},
    {"rows that are told at once are any number", rows_that_are_told_at_once_are_any_number},
    {"the end is no larger than allowed", the_end_is_no_larger_than_allowed},
    {"a summary is for eyes and programs", a_summary_is_for_eyes_and_programs},
    {"a summary masks secrets", a_summary_masks_secrets},
    {"numbers are compared exactly", numbers_are_compared_exactly},
    {"numbers come before strings", numbers_come_before_strings},
    {"the commonest value is first", the_commonest_value_is_first},
    {"what is not counted is said", what_is_not_counted_is_said},
    {"a summary takes no more memory for more records",
     a_summary_takes_no_more_memory_for_more_records},
    {"a string that goes on is greater", a_string_that_goes_on_is_greater},
    {"a character is not cut in two", a_character_is_not_cut_in_two},
    {"attributes without end are not counted", attributes_without_end_are_not_counted},
    {"what only the last record tells comes in pieces",
     what_only_the_last_record_tells_comes_in_pieces},
    {"nothing is destroyed in peace", nothing_is_destroyed_in_peace},
};

CHECK_MAIN(tests)
