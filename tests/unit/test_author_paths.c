/* Paths for a table whose records have formats. */
#include "core/draft/drafted_paths.h"

#include "core/draft/map_writer.h"
#include "core/map/compile.h"
#include "core/map/map.h"
#include "tests/unit/check.h"
#include "tests/unit/declared.h"
#include "tests/unit/random_tables.h"
#include "tests/unit/sample.h"

static struct arena arena;
static struct declared_map map;

static void forget(void)
{
    arena_discard(&arena);
}

/* The table of RECORDS and INDEXES, a map's text with single quotes, with the paths that it gets.
 */
static struct declared_table *table_of(const char *members)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    buf_printf(&text, "{'environments':{'e':{}},'tables':{'t':{'table':'T',%s,'paths':{}}}}",
               members);
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '\'')
            text.data[i] = '"';
    CHECK(declared_read(&arena, buf_span(&text), &map));
    CHECK(drafted_paths_add(&arena, map.tables));
    const struct model *model = compile_table(map.tables, &findings);
    if (!model)
        CHECK_FAIL("%s", findings.items[0].text);
    model_unref(model);
    return map.tables;
}

static const struct declared_path *find(const struct declared_table *table, const char *path)
{
    for (const struct declared_path *each = table->paths; each; each = each->next)
        if (strcmp(each->path, path) == 0)
            return each;
    CHECK_FAIL("there is no path %s", path);
}

static void show(struct declared_table *table)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct declared_map shown = {.tables = table};
    map_writer_write(&shown, &text);
    printf("%s", buf_text(&text));
}

static void test_a_single_table_design(void)
{
    const struct declared_table *table =
        table_of("'records':{'profile':{'PK':'USER#{user_id}','SK':'PROFILE'},"
                 "'order':{'PK':'USER#{user_id}','SK':'ORDER#{date}#{order_id}'}},"
                 "'indexes':{'GSI1':{'partition':{'GSI1PK':{'order':'STATUS#{status}'}},"
                 "'sort':{'GSI1SK':{'order':'{date}#{order_id}'}},'projects':'all'}}");
    const struct declared_path *all = find(table, "user/{user_id}/");
    CHECK(!all->hidden);
    CHECK_TEXT(all->kinds[0].text, "other");
    CHECK_TEXT(all->note, "All of USER#{user_id}: profile, order.");
    CHECK(find(table, "user/{user_id}/order/")->hidden);
    CHECK(find(table, "user/{user_id}/order/{from}..{to}/")->hidden);
    CHECK(find(table, "user/{user_id}/order/newest/")->hidden);
    CHECK(!find(table, "by-status/{status}/")->hidden);
    CHECK(find(table, "by-status/{status}/order/{prefix}*/")->hidden);
    CHECK(!find(table, "items/{PK}/")->hidden);
    CHECK(!find(table, "by/GSI1/{GSI1PK}/")->hidden);
    CHECK_TEXT(find(table, "items/{PK}/")->kinds[0].text, "other");
    forget();
}

static void test_a_literal_partition_is_a_directory(void)
{
    const struct declared_table *table =
        table_of("'records':{'product':{'pk':'PRODUCT#{id}','sk':'#'}},"
                 "'indexes':{'Featured':{'partition':{'f':{'product':'FEATURED'}},"
                 "'sort':{'r':{'product':'{rank_no}'}}}}");
    CHECK(!find(table, "by-featured/")->hidden);
    CHECK(find(table, "by-featured/product/last:{count}/")->hidden);
    forget();
}

/* What is known of {color} is not known of all partition keys. */
static void test_values_of_one_kind_are_not_those_of_all(void)
{
    const struct declared_table *table =
        table_of("'records':{'one':{'pk':'{color}','sk':'A#{id}'},'two':{'pk':'META','sk':'{no}'}},"
                 "'indexes':{'g':{'partition':{'gpk':{'one':'{color}','two':'M#{no}'}},"
                 "'sort':{'gsk':{'one':'{id}','two':'{no}'}},'projects':'all'}},"
                 "'params':{'color':{'values':['red','blue']}}");
    CHECK_TEXT(find(table, "meta/")->kinds[0].text, "other");
    CHECK_TEXT(find(table, "items/{pk}/")->kinds[0].text, "other");
    CHECK_TEXT(find(table, "by-m/{no}/")->kinds[0].text, "other");
    forget();
}

static void test_without_a_sort_key_it_is_a_file(void)
{
    const struct declared_table *table =
        table_of("'records':{'user':{'id':'USER#{user_id}'},'config':{'id':'CONFIG'}}");
    CHECK_TEXT(find(table, "user/{user_id}")->kinds[0].text, "user");
    CHECK_TEXT(find(table, "config")->kinds[0].text, "config");
    CHECK(find(table, "items/{id}"));
    forget();
}

/* Each tree has a name that no other path begins with. */
static void test_names_of_trees(void)
{
    const struct declared_table *table =
        table_of("'records':{'a':{'pk':'ITEMS#{x}','sk':'A'},'b':{'pk':'ITEMS#{x}#{y}','sk':'B'},"
                 "'c':{'pk':'{z}','sk':'C#{u}'},'d':{'pk':'{x}|{y}','sk':'D'}}");
    find(table, "items-2/{x}/");
    find(table, "items-3/{x}/{y}/");
    find(table, "z/{z}/");
    find(table, "x-y/{x}/{y}/");
    forget();
}

/* Paths that are there stay, and go on meaning the kind that was the only one. */
static void test_paths_that_are_there_stay(void)
{
    const struct declared_table *table = table_of("'records':{'a':{'pk':'A#{x}','sk':'B#{y}'}}");
    struct declared_path mine = {
        .path = "a/{x}", .list = false, .ttl_ms = -1, .ordered = true, .limit = 1};
    struct declared_table again = *table;
    struct declared_record one = *table->records;
    one.next = NULL;
    again.records = &one;
    again.paths = &mine;
    CHECK(drafted_paths_add(&arena, &again));
    CHECK(again.paths == &mine);
    CHECK_TEXT(mine.kinds[0].text, "a");
    find(&again, "a-2/{x}/");
    forget();
}

static void test_the_example(void)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CHECK(sample_example_text(&text));
    CHECK(declared_read(&arena, buf_span(&text), &map));
    for (struct declared_table *table = map.tables; table; table = table->next) {
        CLEAN_UP(findings_clean_up) struct findings findings = {0};
        table->paths = NULL;
        CHECK(drafted_paths_add(&arena, table));
        const struct model *model = compile_table(table, &findings);
        if (!model)
            CHECK_FAIL("%s", findings.items[0].text);
        model_unref(model);
    }
    find(map.tables, "platform-shop/{platform}/{shop_id}/job/{from}..{to}/");
    find(map.tables, "by-shop-id/{shop_id}/job/{prefix}*/");
    forget();
}

/* Whatever the formats are: what was fine before has no findings with the paths. */
static void test_no_findings_ever(void)
{
    size_t tried = 0, seeds = check_cases(4000);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        CLEAN_UP(findings_clean_up) struct findings before = {0}, after = {0};
        struct declared_table *table = random_kinds(&arena, seed);
        const struct model *model = compile_table(table, &before);
        if (model) {
            model_unref(model);
            tried++;
            CHECK(drafted_paths_add(&arena, table));
            model = compile_table(table, &after);
            if (!model)
                show(table);
            if (!model)
                CHECK_FAIL("seed %llu: %s", (unsigned long long)seed, after.items[0].text);
            model_unref(model);
        }
        forget();
    }
    printf("# %zu tables\n", tried);
    CHECK(tried > seeds / 2);
}

static const struct check_test tests[] = {
    {"a_single_table_design", test_a_single_table_design},
    {"a_literal_partition_is_a_directory", test_a_literal_partition_is_a_directory},
    {"values_of_one_kind_are_not_those_of_all", test_values_of_one_kind_are_not_those_of_all},
    {"without_a_sort_key_it_is_a_file", test_without_a_sort_key_it_is_a_file},
    {"names_of_trees", test_names_of_trees},
    {"paths_that_are_there_stay", test_paths_that_are_there_stay},
    {"the_example", test_the_example},
    {"no_findings_ever", test_no_findings_ever},
};

CHECK_MAIN(tests)
