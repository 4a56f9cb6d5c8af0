/* From a table's description to the declaration of its generic view. */
#include "core/draft/generic_view.h"

#include "core/map/compile.h"
#include "tests/unit/check.h"
#include "tests/unit/random_tables.h"

static struct arena arena;
static const struct declared_table *table;
static const struct model *model;

static void forget(void)
{
    model_unref(model);
    arena_discard(&arena);
    model = NULL;
    table = NULL;
}

/* Describes it and compiles what comes of it, without a finding. */
static void describe(const struct table_info *info)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    table = generic_view_declare_table(&arena, "Orders", info);
    CHECK(table);
    model = compile_table(table, &findings);
    for (size_t i = 0; i < findings.count; i++)
        printf("# %s\n", findings.items[i].text);
    CHECK_INT(findings.count, 0);
    CHECK(model);
}

static const struct declared_path *path_called(const char *path)
{
    const struct declared_path *each = table->paths;
    while (each && strcmp(each->path, path) != 0)
        each = each->next;
    if (!each)
        CHECK_FAIL("there is no path %s", path);
    return each;
}

static void check_name(const char *path, const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    format_write(&path_called(path)->name, &text);
    CHECK_TEXT(buf_text(&text), name);
}

static struct key_schema keys_of(const char *partition, const char *sort)
{
    struct key_schema keys = {.partition_count = 1, .sort_count = sort ? 1 : 0};
    keys.partition[0].name = span_text(partition);
    keys.sort[0].name = span_text(sort);
    return keys;
}

static void test_a_table_of_items(void)
{
    struct table_info info = {.keys = keys_of("customerId", "orderId")};
    describe(&info);
    CHECK_TEXT(table->path_name, "Orders");
    CHECK_TEXT(table->base_name, "Orders");
    CHECK(path_called("items/{customerId}/")->list);
    CHECK_TEXT(model->keys[1].attribute, "orderId");
    forget();
}

static void test_a_partition_key_alone(void)
{
    struct table_info info = {.keys = keys_of("userId", NULL)};
    describe(&info);
    CHECK(!path_called("items/{userId}")->list);
    CHECK_INT(model->key_count, 1);
    CHECK(model->patterns->by_key);
    forget();
}

static void test_types(void)
{
    struct table_info info = {.keys = keys_of("year", "hash")};
    info.keys.partition[0].type = VALUE_N;
    info.keys.sort[0].type = VALUE_B;
    describe(&info);
    CHECK_INT(model->keys[0].type, VALUE_N);
    CHECK_INT(model->keys[1].type, VALUE_B);
    forget();
}

static void test_entries_of_an_index_say_what_the_path_does_not(void)
{
    struct index_info indexes[] = {
        {.name = SPAN_LITERAL("Status"), .keys = keys_of("status", "createdAt")},
        {.name = SPAN_LITERAL("Inverted"), .keys = keys_of("SK", "PK")},
        {.name = SPAN_LITERAL("Mine"), .keys = keys_of("PK", "date"), .local = true},
    };
    struct table_info info = {.keys = keys_of("PK", "SK"), .indexes = indexes, .index_count = 3};
    describe(&info);
    check_name("by/Status/{status}/", "{createdAt},{PK},{SK}");
    CHECK(!path_called("by/Inverted/{SK}/")->has_name);
    check_name("by/Mine/{PK}/", "{date},{SK}");
    CHECK(model_find_index(model, "Mine")->local);
    forget();
}

static void test_several_attributes_are_directories_in_key_order(void)
{
    struct index_info index = {.name = SPAN_LITERAL("Wide"), .keys = keys_of("a", "c")};
    index.keys.partition[index.keys.partition_count++].name = SPAN_LITERAL("b");
    index.keys.sort[index.keys.sort_count++].name = SPAN_LITERAL("d");
    struct table_info info = {.keys = keys_of("id", NULL), .indexes = &index, .index_count = 1};
    describe(&info);
    CHECK(path_called("by/Wide/{a}/{b}/")->groups);
    CHECK(!path_called("by/Wide/{a}/{b}/{c}/")->groups);
    forget();
}

static void test_what_an_index_holds(void)
{
    struct span included[] = {SPAN_LITERAL("total"), SPAN_LITERAL("a.b")};
    struct index_info indexes[] = {
        {.name = SPAN_LITERAL("All"), .keys = keys_of("x", NULL)},
        {.name = SPAN_LITERAL("Keys"), .keys = keys_of("x", NULL), .projection = PROJECTS_KEYS},
        {.name = SPAN_LITERAL("Some"),
         .keys = keys_of("x", NULL),
         .projection = PROJECTS_SOME,
         .included = included,
         .included_count = 2},
    };
    struct table_info info = {.keys = keys_of("id", NULL), .indexes = indexes, .index_count = 3};
    describe(&info);
    CHECK_INT(model_find_index(model, "All")->projects, PROJECTS_ALL);
    CHECK_INT(model_find_index(model, "Keys")->projects, PROJECTS_KEYS);
    CHECK(model_index_holds(model, model_find_index(model, "Some"), "a.b"));
    CHECK(!model_index_holds(model, model_find_index(model, "Some"), "c"));
    forget();
}

/* Parts are letters, digits and _, and no two attributes share one. */
static void test_parts_of_odd_attributes(void)
{
    struct index_info index = {.name = SPAN_LITERAL("I"), .keys = keys_of("my_key", "rank")};
    struct table_info info = {
        .keys = keys_of("my.key", "2nd place"), .indexes = &index, .index_count = 1};
    describe(&info);
    path_called("items/{my_key_key}/");
    check_name("by/I/{my_key}/", "{rank_key},{my_key_key},{_2nd_place}");
    CHECK_TEXT(table->indexes->sort[0].format.pieces[0].param, "rank_key");
    forget();
}

/* Windows are typed, and no listing shows them. */
static void test_windows(void)
{
    struct index_info index = {.name = SPAN_LITERAL("I"), .keys = keys_of("status", "score")};
    struct table_info info = {.keys = keys_of("from", "key"), .indexes = &index, .index_count = 1};
    index.keys.sort[0].type = VALUE_N;
    describe(&info);
    static const char *const windows[] = {
        "items/{from}/{prefix}*/",
        "items/{from}/{from_value}..{to}/",
        "items/{from}/last/",
        "items/{from}/last:{count}/",
        "items/{from}/first/",
        "items/{from}/first:{count}/",
        "items/{from}/after:{key_value}/",
        "by/I/{status}/{from_value}..{to}/",
        "by/I/{status}/last/",
        "by/I/{status}/last:{count}/",
        "by/I/{status}/first/",
        "by/I/{status}/first:{count}/",
        "by/I/{status}/after:{key_value}/",
    };
    size_t listings = 0, count = 0;
    for (const struct declared_path *path = table->paths; path; path = path->next, count++)
        listings += !path->hidden;
    CHECK_INT(listings, 2);
    CHECK_INT(count, 2 + sizeof windows / sizeof windows[0]);
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
        CHECK(path_called(windows[i])->hidden);
    CHECK(path_called("items/{from}/after:{key_value}/")->wheres->whole);
    CHECK(!path_called("items/{from}/after:{key_value}/")->ties); /* no two share a key */
    CHECK(path_called("by/I/{status}/after:{key_value}/")->ties);
    CHECK_INT(path_called("items/{from}/last/")->limit, 100);
    forget();
}

static void test_whatever_a_table_is(void)
{
    for (uint64_t seed = 0; seed < check_cases(5000); seed++) {
        CLEAN_UP(arena_discard) struct arena own = {0};
        CLEAN_UP(findings_clean_up) struct findings findings = {0};
        const struct table_info *info = random_table(&own, seed);
        table = generic_view_declare_table(&arena, "Orders", info);
        CHECK(table);
        model = compile_table(table, &findings);
        if (!model || findings.count > 0)
            CHECK_FAIL("seed %llu: %s", (unsigned long long)seed, findings.items[0].text);
        forget();
    }
}

static const struct check_test tests[] = {
    {"a_table_of_items", test_a_table_of_items},
    {"a_partition_key_alone", test_a_partition_key_alone},
    {"types", test_types},
    {"entries_of_an_index_say_what_the_path_does_not",
     test_entries_of_an_index_say_what_the_path_does_not},
    {"several_attributes_are_directories_in_key_order",
     test_several_attributes_are_directories_in_key_order},
    {"what_an_index_holds", test_what_an_index_holds},
    {"parts_of_odd_attributes", test_parts_of_odd_attributes},
    {"windows", test_windows},
    {"whatever_a_table_is", test_whatever_a_table_is},
};

CHECK_MAIN(tests)
