/* The columns of a table in SQL, and their values in items. */
#include "core/sql/sql_columns.h"

#include "core/draft/generic_view.h"
#include "core/map/compile.h"
#include "tests/unit/check.h"
#include "tests/unit/sample.h"

static const struct model *model_of(const char *table)
{
    struct error err = {0};
    const struct map *map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    const struct model *model = model_ref(map->models[0]);
    map_unref(map);
    return model;
}

static const struct model *example(const char *table)
{
    struct error err = {0};
    const struct map *map = sample_example(&err);
    const struct model *model = NULL;
    CHECK(map != NULL);
    for (size_t i = 0; i < map->model_count; i++)
        if (strcmp(map->models[i]->path_name, table) == 0)
            model = model_ref(map->models[i]);
    map_unref(map);
    CHECK(model != NULL);
    return model;
}

/* Takes over the reference. */
static struct sql_columns *columns_of(const struct model *model)
{
    struct sql_columns *columns = sql_columns_new(model, false);
    model_unref(model);
    CHECK(columns != NULL);
    return columns;
}

static void check_declaration(struct sql_columns *columns, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    sql_columns_write_declaration(columns, &text);
    CHECK_TEXT(buf_text(&text), want);
}

/* The value of COLUMN in ITEM: "5" for an INTEGER, "'5'" for a TEXT, "x" for a BLOB, "null". */
static void check_value(const struct sql_columns *columns, const char *item, const char *column,
                        const char *want)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    CLEAN_UP(sql_row_clean_up) struct sql_row row = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error err = {0};
    struct sql_value value;
    size_t number = sql_columns_find(columns, span_text(column));
    CHECK(json_parse(&doc, span_text(item), JSON_STRICT, NULL));
    CHECK(number < columns->count);
    if (!sql_row_begin(&row, columns, json_root(&doc), &err) ||
        !sql_row_read(&row, number, &value, &err))
        CHECK_FAIL("%s", err.text);
    if (value.type == SQL_INTEGER)
        buf_printf(&text, "%lld", (long long)value.integer);
    else if (value.type == SQL_NULL)
        buf_add_text(&text, "null");
    else
        buf_printf(&text, value.type == SQL_TEXT ? "'%.*s'" : "x%.*s", (int)value.bytes.size,
                   value.bytes.data);
    CHECK_TEXT(buf_text(&text), want);
}

static bool hides(const struct sql_columns *columns, const char *item, const char *column)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    CLEAN_UP(sql_row_clean_up) struct sql_row row = {0};
    struct error err = {0};
    CHECK(json_parse(&doc, span_text(item), JSON_STRICT, NULL));
    CHECK(sql_row_begin(&row, columns, json_root(&doc), &err));
    return sql_row_hides(&row, sql_columns_find(columns, span_text(column)));
}

static void columns_of_the_examples(void)
{
    struct sql_columns *columns = columns_of(example("jobs"));
    CHECK(sql_columns_add(columns, span_text("progress")));
    CHECK(sql_columns_add(columns, span_text("Job_ID"))); /* is there */
    check_declaration(columns,
                      "CREATE TABLE x(\"platform\" TEXT, \"shop_id\" TEXT, \"created_at\" TEXT, "
                      "\"job_id\" TEXT, \"status\" TEXT, \"pk\" TEXT, \"sk\" TEXT, "
                      "\"status_created_at\" TEXT, \"item\" BLOB, \"progress\" BLOB HIDDEN)");
    sql_columns_destroy(columns);
    columns = columns_of(example("shops"));
    check_declaration(columns,
                      "CREATE TABLE x(\"domain\" TEXT, \"user_id\" TEXT, \"pk\" TEXT, \"sk\" TEXT, "
                      "\"system_account_id\" TEXT, \"item\" BLOB)");
    sql_columns_destroy(columns);
}

static void parts_come_from_the_key(void)
{
    struct sql_columns *columns = columns_of(example("jobs"));
    const char *job = "{\"pk\":{\"S\":\"PLATFORM#ecom#SHOP#s\"},\"sk\":{\"S\":\"JOB#2026#j1\"},"
                      "\"shop_id\":{\"S\":\"other\"},\"status_created_at\":{\"S\":\"FAILED#2026\"},"
                      "\"status\":{\"S\":\"NEW\"},\"job_id\":{\"S\":\"j1\"}}";
    const char *other = "{\"pk\":{\"S\":\"X\"},\"sk\":{\"S\":\"JOB#2026#j1\"},"
                        "\"shop_id\":{\"S\":\"other\"}}";
    check_value(columns, job, "shop_id", "'s'");
    check_value(columns, job, "job_id", "'j1'");
    check_value(columns, job, "status", "'FAILED'");
    check_value(columns, job, "sk", "'JOB#2026#j1'");
    check_value(columns, other, "shop_id", "null");
    check_value(columns, other, "status", "null");
    CHECK(hides(columns, job, "shop_id"));
    CHECK(hides(columns, job, "status"));
    CHECK(hides(columns, other, "shop_id"));
    CHECK(!hides(columns, job, "job_id"));
    CHECK(!hides(columns, job, "platform"));
    sql_columns_destroy(columns);
}

static void secrets_are_masked(void)
{
    struct sql_columns *columns = columns_of(example("shops"));
    const char *item = "{\"pk\":{\"S\":\"SHOP#d\"},\"sk\":{\"S\":\"API_KEY\"},"
                       "\"api_key\":{\"S\":\"hush\"}}";
    CHECK(sql_columns_add(columns, span_text("api_key")));
    check_value(columns, item, "api_key", "'********'");
    check_value(columns, item, "item",
                "'{\"pk\":\"SHOP#d\",\"sk\":\"API_KEY\",\"api_key\":\"********\"}'");
    check_value(columns, item, "user_id", "null");
    struct sql_columns *shown = sql_columns_new(columns->model, true);
    CHECK(shown && sql_columns_add(shown, span_text("api_key")));
    check_value(shown, item, "api_key", "'hush'");
    sql_columns_destroy(shown);
    sql_columns_destroy(columns);
}

static const char *const typed_table =
    "\"table\":\"T\",\"types\":{\"n\":\"N\",\"b\":\"B\"},"
    "\"records\":{\"a\":{\"pk\":\"A#{email:lower}\",\"n\":\"{when}\"},"
    "             \"c\":{\"pk\":\"C#{score:05}#{when}\",\"n\":\"0\"}},"
    "\"indexes\":{\"i\":{\"partition\":\"b\",\"sort\":\"other\"}},"
    "\"paths\":{\"{email}/\":{\"list\":\"a\"}}";

static void types_of_columns(void)
{
    struct sql_columns *columns = columns_of(model_of(typed_table));
    const char *a = "{\"pk\":{\"S\":\"A#ann\"},\"n\":{\"N\":\"7\"},\"b\":{\"B\":\"YWI=\"},"
                    "\"other\":{\"N\":\"5\"}}";
    const char *c = "{\"pk\":{\"S\":\"C#00042#7\"},\"n\":{\"N\":\"0\"},\"other\":{\"S\":\"x\"}}";
    check_declaration(
        columns, "CREATE TABLE x(\"email\" TEXT, \"when\" BLOB, \"score\" NUMERIC, \"pk\" TEXT, "
                 "\"n\" NUMERIC, \"b\" BLOB, \"other\" TEXT, \"item\" BLOB)");
    check_value(columns, a, "email", "'ann'");
    check_value(columns, a, "when", "7");
    check_value(columns, a, "b", "xab");
    check_value(columns, a, "score", "null");
    check_value(columns, a, "other", "null"); /* of another type: it is not in the index */
    CHECK(hides(columns, a, "other"));
    check_value(columns, c, "score", "42");
    check_value(columns, c, "when", "'7'");
    check_value(columns, c, "other", "'x'");
    CHECK(!hides(columns, c, "other"));
    sql_columns_destroy(columns);
}

static void names_are_one_column_whatever_their_case(void)
{
    struct sql_columns *columns = columns_of(
        model_of("\"table\":\"T\",\"records\":{\"a\":{\"PK\":\"{pk}\",\"sk\":\"I#{item}\"}},"
                 "\"paths\":{\"{pk}/\":{\"list\":\"a\"}}"));
    CHECK(sql_columns_add(columns, span_text("say \"x\"")));
    check_declaration(columns, "CREATE TABLE x(\"pk\" TEXT, \"item\" TEXT, \"sk\" TEXT, "
                               "\"item_json\" BLOB, \"say \"\"x\"\"\" BLOB HIDDEN)");
    CHECK_INT(sql_columns_find(columns, span_text("Item_JSON")), columns->item);
    CHECK_INT(sql_columns_find(columns, span_text("none")), columns->count);
    CHECK_INT(sql_columns_find_part(columns, "pk"), 0);
    CHECK_INT(sql_columns_find_part(columns, "PK"), columns->count);
    sql_columns_destroy(columns);
}

static void a_table_without_a_map(void)
{
    struct arena arena = {0};
    struct findings findings = {0};
    struct table_info info = {0};
    struct index_info index = {.name = SPAN_LITERAL("byMail")};
    info.keys.partition[0].name = span_text("customer_id");
    info.keys.sort[0].name = span_text("order.id");
    info.keys.partition_count = info.keys.sort_count = 1;
    index.keys.partition[0].name = span_text("mail");
    index.keys.partition_count = 1;
    info.indexes = &index;
    info.index_count = 1;
    struct declared_table *table = generic_view_declare_table(&arena, "Orders", &info);
    const struct model *model = table ? compile_table(table, &findings) : NULL;
    CHECK(model != NULL);
    struct sql_columns *columns = columns_of(model);
    check_declaration(columns, "CREATE TABLE x(\"order_id\" TEXT, \"customer_id\" TEXT, "
                               "\"order.id\" TEXT, \"mail\" TEXT, \"item\" BLOB)");
    check_value(columns,
                "{\"customer_id\":{\"S\":\"c#1\"},\"order.id\":{\"S\":\"o#1\"},"
                "\"mail\":{\"S\":\"a@b\"}}",
                "customer_id", "'c#1'");
    sql_columns_destroy(columns);
    findings_clean_up(&findings);
    arena_clean_up(&arena);
}

static void an_item_without_its_key_is_an_error(void)
{
    struct sql_columns *columns = columns_of(example("jobs"));
    CLEAN_UP(json_clean_up) struct json_doc doc;
    struct sql_row row = {0};
    struct error err = {0};
    CHECK(json_parse(&doc, span_text("{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"}}"), 0, NULL));
    CHECK(!sql_row_begin(&row, columns, json_root(&doc), &err));
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(err.text, "an item of jobs lacks a key attribute of the map's type (pk, sk)");
    sql_row_clean_up(&row);
    sql_columns_destroy(columns);
}

static const struct check_test tests[] = {
    {"columns_of_the_examples", columns_of_the_examples},
    {"parts_come_from_the_key", parts_come_from_the_key},
    {"secrets_are_masked", secrets_are_masked},
    {"types_of_columns", types_of_columns},
    {"names_are_one_column_whatever_their_case", names_are_one_column_whatever_their_case},
    {"a_table_without_a_map", a_table_without_a_map},
    {"an_item_without_its_key_is_an_error", an_item_without_its_key_is_an_error},
};

CHECK_MAIN(tests)
