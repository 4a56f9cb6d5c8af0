/* Environments of a draft, by the names of its tables and what is said of them. */
#include "core/draft/drafted_environments.h"

#include "core/base/buf.h"
#include "core/draft/generic_view.h"
#include "tests/unit/check.h"

static struct arena arena;
static struct table_names live; /* what a listing says */
static unsigned listings;
static bool is_refused;

static bool list(void *arg, struct table_names *out)
{
    (void)arg;
    listings++;
    *out = live;
    return !is_refused;
}

static struct key_schema keys_of(const char *partition)
{
    struct key_schema keys = {.partition_count = 1};
    keys.partition[0].name = span_text(partition);
    return keys;
}

/* "NAME", or "NAME=KEY" where the partition key is not called pk. */
static struct declared_table *table_of(const char *text)
{
    size_t size = strcspn(text, "=");
    struct table_info info = {.keys = keys_of(text[size] ? text + size + 1 : "pk")};
    const char *name = arena_text(&arena, span_of(text, size));
    struct declared_table *table = name ? generic_view_declare_table(&arena, name, &info) : NULL;
    CHECK(table);
    return table;
}

static void write_names(const struct declared_map *map, const struct table_names *left_out,
                        struct buf *out)
{
    for (const struct declared_environment *each = map->environments; each; each = each->next)
        buf_printf(out, "%s:%s ", each->name, each->prefix ? each->prefix : "");
    buf_add_text(out, "|");
    for (const struct declared_table *each = map->tables; each; each = each->next)
        buf_printf(out, " %s", each->base_name);
    for (size_t i = 0; i < left_out->count; i++)
        buf_printf(out, "%s%s", i ? " " : " | ", left_out->names[i]);
}

/* TABLES, a NULL behind the last, give WANT: environments and their prefixes, tables, and what is
 * left out. */
static void check(const char *const *tables, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    const struct declared_table *described[32];
    const struct environment_origin where = {.list = list};
    struct declared_map map = {0};
    struct declared_table **last = &map.tables;
    struct table_names left_out;
    for (size_t i = 0; tables[i]; i++) {
        struct declared_table *table = table_of(tables[i]);
        described[i] = *last = table;
        last = &table->next;
    }
    CHECK(drafted_environments_add(&arena, &map, described, &where, &left_out));
    write_names(&map, &left_out, &got);
    arena_discard(&arena);
    arena = (struct arena){0};
    CHECK_TEXT(buf_text(&got), want);
}

#define CHECK_DRAFT(want, ...) check((const char *const[]){__VA_ARGS__, NULL}, want)

static void test_tables_of_several_environments(void)
{
    CHECK_DRAFT("prod:prod- staging:staging- | Jobs Shops", "prod-Jobs", "staging-Jobs",
                "prod-Shops", "staging-Shops");
    CHECK_DRAFT("prod:prod- staging:staging- | Jobs", "prod-Jobs", "staging-Jobs");
    CHECK_DRAFT("acme-prod:acme-prod- acme-qa:acme-qa- | Jobs a.b", "acme-prod-Jobs",
                "acme-prod-a.b", "acme-qa-Jobs", "acme-qa-a.b");
    CHECK_DRAFT("alice:alice_ bob:bob_ | Jobs Shops", "alice_Jobs", "alice_Shops", "bob_Shops",
                "bob_Jobs");
}

static void test_tables_of_one_environment(void)
{
    CHECK_DRAFT("prod:prod- | Jobs Shops", "prod-Jobs", "prod-Shops");
    CHECK_DRAFT("prod:prod- | a-Jobs a-Shops", "prod-a-Jobs", "prod-a-Shops");
    CHECK_DRAFT("x-y:x-y- | Jobs Shops", "x-y-Jobs", "x-y-Shops=id");
}

static void test_nothing_is_guessed(void)
{
    CHECK_DRAFT("all: | prod-Jobs", "prod-Jobs");
    CHECK_DRAFT("all: | Jobs Shops", "Jobs", "Shops");
    CHECK_DRAFT("all: | users-table orders-table", "users-table", "orders-table");
    CHECK_DRAFT("all: | Jobs prod-Jobs", "Jobs", "prod-Jobs");
    CHECK_DRAFT("all: | -Jobs -Shops", "-Jobs", "-Shops");
    CHECK_DRAFT("all: | prod- prod-Jobs", "prod-", "prod-Jobs");
}

static void test_tables_that_differ_are_others(void)
{
    CHECK_DRAFT("all: | prod-Jobs staging-Jobs", "prod-Jobs", "staging-Jobs=id");
    CHECK_DRAFT("prod:prod- staging:staging- | Jobs Shops | prod-Users staging-Users", "prod-Jobs",
                "staging-Jobs", "prod-Shops", "staging-Shops", "prod-Users", "staging-Users=id");
}

static void test_what_only_some_have_is_left_out(void)
{
    CHECK_DRAFT("prod:prod- staging:staging- | Jobs Shops | prod-New Else", "prod-Jobs",
                "prod-Shops", "prod-New", "staging-Jobs", "staging-Shops", "Else");
    /* But not most of what was asked for. */
    CHECK_DRAFT("prod:prod- | a b c staging", "prod-a", "prod-b", "prod-c", "prod-staging");
    CHECK_DRAFT("all: | prod-a prod-b prod-c staging-a", "prod-a", "prod-b", "prod-c", "staging-a");
    CHECK_DRAFT("prod:prod- | a-x b-x a-y b-y c-z", "prod-a-x", "prod-b-x", "prod-a-y", "prod-b-y",
                "prod-c-z=id");
}

static void test_what_two_environments_share(void)
{
    CHECK_DRAFT("prod:prod- qa:qa- | a b | x-a y-b", "prod-a", "prod-b", "qa-a", "qa-b", "x-a",
                "y-b");
}

/* As the sample data: a base is what the tables share as an end. */
static void check_branches(const char *want)
{
    CHECK_DRAFT(want, "prod-Jobs", "dev-fix-7-Jobs", "dev-search-v2-Jobs", "prod-Shops",
                "dev-fix-7-Shops", "dev-search-v2-Shops");
}

static void test_branches(void)
{
    static const char *names[] = {"prod-Jobs", "dev-fix-7-Jobs", "dev-fix-7-Other",
                                  "dev-other-Others", "dev-Jobs"};
    live = (struct table_names){names, 5};
    listings = 0;
    check_branches("prod:prod- dev-{branch}:dev-{branch}- | Jobs Shops");
    CHECK_INT(listings, 1);
}

static void test_branches_are_named_where_others_may_lack_tables(void)
{
    static const char *names[] = {"dev-old-Jobs"};
    live = (struct table_names){names, 1};
    check_branches("prod:prod- dev-fix-7:dev-fix-7- dev-search-v2:dev-search-v2- | Jobs Shops");
    live = (struct table_names){0};
    is_refused = true;
    check_branches("prod:prod- dev-fix-7:dev-fix-7- dev-search-v2:dev-search-v2- | Jobs Shops");
    is_refused = false;
}

static void test_one_branch_is_an_environment(void)
{
    live = (struct table_names){0};
    listings = 0;
    CHECK_DRAFT("prod:prod- dev-a:dev-a- | Jobs Shops", "prod-Jobs", "dev-a-Jobs", "prod-Shops",
                "dev-a-Shops");
    CHECK_DRAFT("dev-a:dev-a- dev-b:dev-b- | Jobs Shops", "dev-a-Jobs", "dev-b-Jobs", "dev-a-Shops",
                "dev-b-Shops");
    CHECK_INT(listings, 0);
}

static void test_names_are_told_apart(void)
{
    CHECK_DRAFT("prod:prod- prod_:prod_ qa:qa- | Jobs Shops", "prod-Jobs", "prod_Jobs", "qa-Jobs",
                "prod-Shops", "prod_Shops", "qa-Shops");
}

/* The directory of all tables is called so. */
static void test_a_table_called_tables(void)
{
    struct declared_map map = {.tables = table_of("tables")};
    const struct declared_table *described[] = {map.tables};
    struct table_names left_out;
    CHECK(drafted_environments_add(&arena, &map, described, &(struct environment_origin){0},
                                   &left_out));
    CHECK_TEXT(map.tables->path_name, "tables_");
    CHECK_TEXT(map.tables->base_name, "tables");
    arena_discard(&arena);
    arena = (struct arena){0};
}

static const struct check_test tests[] = {
    {"tables_of_several_environments", test_tables_of_several_environments},
    {"tables_of_one_environment", test_tables_of_one_environment},
    {"nothing_is_guessed", test_nothing_is_guessed},
    {"tables_that_differ_are_others", test_tables_that_differ_are_others},
    {"what_only_some_have_is_left_out", test_what_only_some_have_is_left_out},
    {"what_two_environments_share", test_what_two_environments_share},
    {"branches", test_branches},
    {"branches_are_named_where_others_may_lack_tables",
     test_branches_are_named_where_others_may_lack_tables},
    {"one_branch_is_an_environment", test_one_branch_is_an_environment},
    {"names_are_told_apart", test_names_are_told_apart},
    {"a_table_called_tables", test_a_table_called_tables},
};

CHECK_MAIN(tests)
