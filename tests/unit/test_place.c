/* Places: what a path means by the map alone, in which order siblings are tried, and the names
 * that lead back. */
#include "core/read/place.h"

#include "tests/unit/loaded.h"

static const struct place_options json = {.suffix = ".json"};

static void check_kind(const char *path, enum place_kind want)
{
    struct place *place = resolve(path, &plain);
    enum place_kind got = place->kind;
    place_destroy(place);
    if (got != want)
        CHECK_FAIL("%s is of kind %d, not %d", path, (int)got, (int)want);
}

static void check_refused_with(const struct place_options *options, const char *path,
                               enum error_kind kind, const char *text)
{
    struct error err = {0};
    struct place *place = place_resolve(map, span_text(path), options, &err);
    place_destroy(place);
    if (place)
        CHECK_FAIL("%s was resolved", path);
    CHECK_INT(err.kind, kind);
    CHECK_TEXT(err.text, text);
}

static void check_refused(const char *path, enum error_kind kind, const char *text)
{
    check_refused_with(&plain, path, kind, text);
}

/* Which pattern answers PATH, and with which values: "pattern a=x b=y". */
static void check_means_with(const struct place_options *options, const char *path,
                             const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct place *place = resolve(path, options);
    const struct route *route = place->route;
    buf_add_text(&got, route->file ? route->file->path : route->list ? route->list->path : "-");
    for (size_t i = 0; i < place->bindings.count; i++) {
        buf_printf(&got, " %s=", place->bindings.items[i].param);
        buf_add_span(&got, place->bindings.items[i].value);
    }
    place_destroy(place);
    CHECK_TEXT(buf_text(&got), want);
}

static void check_means(const char *path, const char *want)
{
    check_means_with(&plain, path, want);
}

static void test_a_branch_has_no_nul(void)
{
    load_example();
    check_refused("/dev-a%00b/jobs", ERROR_INVALID, "no table's name holds a NUL");
    check_refused("/dev-a%/jobs", ERROR_INVALID, "\"dev-a%\" is not the name of an environment");
    close_map();
}

static void test_directories_of_the_map(void)
{
    load_example();
    check_kind("", PLACE_ROOT);
    check_kind("/", PLACE_ROOT);
    check_kind("//", PLACE_ROOT);
    check_kind("/prod", PLACE_ENVIRONMENT);
    check_kind("prod/", PLACE_ENVIRONMENT);
    check_kind("/prod/jobs", PLACE_DIRECTORY);
    check_kind("/prod//jobs/by-id/", PLACE_DIRECTORY);
    close_map();
}

static void test_files(void)
{
    load_example();
    check_kind("/prod/jobs/by-id/1f3c", PLACE_RECORD);
    check_kind("/prod/jobs/by-id/1f3c@typed", PLACE_TYPED);
    check_kind("/prod/jobs/by-id/1f3c@info", PLACE_INFO);
    check_kind("/prod/jobs/by-id/1f3c@", PLACE_ATTRS);
    check_kind("/prod/jobs/by-id/1f3c@/", PLACE_ATTRS);
    check_kind("/prod/jobs/by-id/1f3c@/status", PLACE_ATTR);
    check_kind("/prod/shops/cool-store.myshopify.com/access-token", PLACE_VALUE);
    close_map();
}

static void test_only_directories_are_directories(void)
{
    load_example();
    struct place *root = resolve("/", &plain), *attrs = resolve("/prod/jobs/by-id/x@", &plain),
                 *record = resolve("/prod/jobs/by-id/x", &plain);
    bool ok = place_is_directory(root) && place_is_directory(attrs) && !place_is_directory(record);
    place_destroy(root);
    place_destroy(attrs);
    place_destroy(record);
    close_map();
    CHECK(ok);
}

static void test_the_paths_of_the_example(void)
{
    load_example();
    check_means("/prod/jobs/by-id/1f3c", "by-id/{job_id} job_id=1f3c");
    check_means("/prod/jobs/by-index/shopify/a-b/latest",
                "by-index/{platform}/{shop_id}/latest/ platform=shopify shop_id=a-b");
    check_means("/prod/jobs/by-index/shopify/a-b/between/2026-04-16..2026-04-18",
                "by-index/{platform}/{shop_id}/between/{from}..{to}/ platform=shopify shop_id=a-b "
                "from=2026-04-16 to=2026-04-18");
    check_means("/prod/index-settings/kl7/products", "{account}/ account=kl7 index_name=products");
    check_means("/prod/index-settings/kl7/products.d",
                "{account}/{index_name}.d/ account=kl7 index_name=products");
    check_means("/prod/index-settings/kl7/DEFAULT_CONFIGS",
                "{account}/DEFAULT_CONFIGS account=kl7");
    check_means("/prod/shops/s.example/SETTINGS", "{domain}/ domain=s.example sort-key=SETTINGS");
    close_map();
}

static void test_an_entry_of_a_listing_is_a_path(void)
{
    load_example();
    check_means("/prod/jobs/by-index/shopify/a-b/latest/2026-04-16T10:15:00Z#1f3c",
                "by-index/{platform}/{shop_id}/latest/ platform=shopify shop_id=a-b "
                "created_at=2026-04-16T10:15:00Z job_id=1f3c");
    close_map();
}

static void test_a_literal_beats_a_parameter(void)
{
    load_example();
    check_means("/prod/index-settings/by-account/kl7", "by-account/{account}/ account=kl7");
    check_means("/prod/index-settings/by-accounts", "{account}/ account=by-accounts");
    close_map();
}

static void test_an_escaped_name_passes_a_literal_by(void)
{
    load_example();
    check_means("/prod/index-settings/kl7/%44EFAULT_CONFIGS",
                "{account}/ account=kl7 index_name=DEFAULT_CONFIGS");
    close_map();
}

static void test_the_more_specific_parameter_wins(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},\"paths\":{"
               "\"{a}/\":{},\"x-{a}/\":{},\"x-{a}-y/\":{}}");
    check_means("/prod/t/x-1-y", "x-{a}-y/ a=1");
    check_means("/prod/t/x-1", "x-{a}/ a=1");
    check_means("/prod/t/1", "{a}/ a=1");
    close_map();
}

static void test_a_match_decides_between_siblings(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"},\"s\":{\"pk\":\"N#{n}\"}},"
               "\"params\":{\"n\":{\"match\":\"^[0-9]+$\"}},\"paths\":{"
               "\"{a}\":{\"record\":\"r\"},\"{n}\":{\"record\":\"s\"}}");
    check_means("/prod/t/12", "{n} n=12");
    check_means("/prod/t/12x", "{a} a=12x");
    close_map();
}

static void test_names_are_decoded(void)
{
    load_example();
    check_means("/prod/jobs/by-id/a%2Fb%25", "by-id/{job_id} job_id=a/b%");
    check_means("/prod/jobs/by-id/a%40typed", "by-id/{job_id} job_id=a@typed");
    check_means("/prod/jobs/by-id/a@typed", "by-id/{job_id} job_id=a");
    close_map();
}

static void test_attribute_names_are_decoded(void)
{
    load_example();
    struct place *place = resolve("/prod/jobs/by-id/x@/a%2Fb@typed", &plain);
    CHECK_SPAN(place->attribute, span_text("a/b@typed"));
    place_destroy(place);
    close_map();
}

static void test_environments_with_a_parameter(void)
{
    load_example();
    struct place *place = resolve("/dev-search-v2/jobs", &plain);
    char *name = place_table_name(place);
    CHECK_TEXT(name, "dev-search-v2-EcomIndexerJobsTable");
    CHECK_SPAN(place->environment_name, span_text("dev-search-v2"));
    CHECK_INT(place->bindings.count, 0);
    free(name);
    place_destroy(place);
    close_map();
}

static void test_a_literal_environment_comes_first(void)
{
    struct error err = {0};
    static const char text[] =
        "{\"environments\":{\"{x}\":{\"prefix\":\"any-{x}-\"},\"prod\":{\"prefix\":\"prod-\"}},"
        "\"tables\":{\"t\":{\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},\"paths\":{}}}}";
    map = map_parse("m", span_text(text), NULL, &err);
    CHECK(map != NULL);
    struct place *prod = resolve("/prod", &plain), *other = resolve("/other", &plain);
    CHECK_TEXT(prod->table_prefix, "prod-");
    CHECK_TEXT(other->table_prefix, "any-other-");
    place_destroy(prod);
    place_destroy(other);
    close_map();
}

/* What is said to who types something else. */

static void test_no_such_environment(void)
{
    load_example();
    check_refused("/production", ERROR_NOT_FOUND,
                  "the map has no environment \"production\"; it has prod, staging, dev-{branch}");
    check_refused("/dev-", ERROR_NOT_FOUND,
                  "the map has no environment \"dev-\"; it has prod, staging, dev-{branch}");
    close_map();
}

/* At the root of a map whose environments have any name. */
static void test_noise_is_no_environment(void)
{
    struct error err = {0};
    map =
        map_parse("m",
                  SPAN_LITERAL("{\"environments\":{\"{stage}\":{\"prefix\":\"{stage}-\"},\"CVS\":{"
                               "\"prefix\":\"cvs-\"}},\"tables\":{\"t\":{\"table\":\"T\","
                               "\"records\":{\"r\":{\"pk\":\"{a}\"}},\"paths\":{}}}}"),
                  NULL, &err);
    CHECK(map != NULL);
    check_refused("/.git", ERROR_NOT_FOUND,
                  "the map has no environment \".git\"; it has {stage}, CVS");
    check_refused("/Thumbs.db", ERROR_NOT_FOUND,
                  "the map has no environment \"Thumbs.db\"; it has {stage}, CVS");
    check_kind("/CVS", PLACE_ENVIRONMENT); /* is declared */
    struct place *place = resolve("/%48EAD", &plain);
    CHECK_TEXT(place->table_prefix, "HEAD-");
    place_destroy(place);
    close_map();
}

static void test_no_such_environment_but_one_like_it(void)
{
    load_example();
    check_refused("/prodd", ERROR_NOT_FOUND,
                  "the map has no environment \"prodd\" (did you mean \"prod\"?); it has prod, "
                  "staging, dev-{branch}");
    close_map();
}

static void test_no_such_table(void)
{
    load_example();
    check_refused("/prod/job", ERROR_NOT_FOUND,
                  "the map has no table \"job\" (did you mean \"jobs\"?); it has jobs, "
                  "index-settings, shops; others are in tables/");
    close_map();
}

static void test_no_such_name(void)
{
    load_example();
    check_refused("/prod/jobs/by-name", ERROR_NOT_FOUND,
                  "not found here: \"by-name\"; there is by-id/, by-index/, by-status/");
    close_map();
}

static void test_the_hint_of_a_parameter(void)
{
    load_example();
    check_refused("/prod/jobs/by-index/shopify/e513a8-4.myshopify.com/latest", ERROR_INVALID,
                  "{shop_id} does not match in \"e513a8-4.myshopify.com\"; shop_id is the account "
                  "and index name, such as kl7a9h55-shopify-e513a8-4, not the domain");
    close_map();
}

static void test_a_match_without_a_hint(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},"
               "\"params\":{\"a\":{\"match\":\"^[0-9]+$\"}},\"paths\":{\"{a}\":{}}");
    check_refused("/prod/t/x", ERROR_INVALID, "{a} does not match ^[0-9]+$ in \"x\"");
    check_refused("/prod/t/x@info", ERROR_INVALID, "{a} does not match ^[0-9]+$ in \"x@info\"");
    close_map();
}

static void test_a_nul_never_matches(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},"
               "\"params\":{\"a\":{\"match\":\"^x\"}},\"paths\":{\"{a}\":{}}");
    check_refused("/prod/t/x%00y", ERROR_INVALID, "{a} does not match ^x in \"x%00y\"");
    close_map();
}

static void test_nothing_is_below_a_record(void)
{
    load_example();
    check_refused("/prod/jobs/by-id/x/y", ERROR_NOT_DIRECTORY,
                  "an item is a file; nothing is below it");
    check_refused("/prod/jobs/by-id/x/", ERROR_NOT_DIRECTORY,
                  "an item is a file; remove the final /");
    check_refused("/prod/jobs/by-id/x@/y/z", ERROR_NOT_DIRECTORY,
                  "an item is a file; nothing is below it");
    close_map();
}

static void test_a_broken_escape_is_no_name(void)
{
    load_example();
    check_refused("/prod/jobs/by-id/a%", ERROR_INVALID,
                  "in \"a%\" two hexadecimal digits must follow each %; a % itself is written %25");
    check_refused("/prod/jobs/by-id/x@/a%", ERROR_INVALID,
                  "\"a%\" is not the name of an attribute");
    close_map();
}

static void test_a_part_that_contradicts_the_path_is_no_name(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},\"paths\":{"
               "\"{a}/\":{\"name\":\"{a}-{b}\"}}");
    check_means("/prod/t/1/1-2", "{a}/ a=1 b=2");
    check_refused("/prod/t/1/2-2", ERROR_INVALID,
                  "{a} in \"2-2\" differs from the value earlier in the path");
    check_refused("/prod/t/1/2", ERROR_NOT_FOUND, "not found here: \"2\"; there is {a}-{b}");
    close_map();
}

/* The suffix. */

static void test_records_bear_the_suffix(void)
{
    load_example();
    check_means_with(&json, "/prod/jobs/by-id/1f3c.json", "by-id/{job_id} job_id=1f3c");
    check_means_with(&json, "/prod/jobs/by-id/1f3c.json@typed", "by-id/{job_id} job_id=1f3c");
    check_means_with(&json, "/prod/jobs/by-id/a.json.json", "by-id/{job_id} job_id=a.json");
    check_refused_with(&json, "/prod/jobs/by-id/1f3c", ERROR_NOT_FOUND,
                       "not found here: \"1f3c\"; there is {job_id}, and items end in .json");
    check_refused_with(&json, "/prod/jobs/by-id/.json", ERROR_NOT_FOUND,
                       "not found here: \".json\"; there is {job_id}, and items end in .json");
    close_map();
}

static void test_directories_and_bare_values_bear_no_suffix(void)
{
    load_example();
    check_means_with(&json, "/prod/jobs/by-index/shopify/a-b/all",
                     "by-index/{platform}/{shop_id}/all/ platform=shopify shop_id=a-b");
    check_means_with(&json, "/prod/shops/s.example/access-token",
                     "{domain}/access-token domain=s.example");
    close_map();
}

static void test_the_suffix_takes_from_the_limit(void)
{
    CHECK_INT(names_limit(&plain), NAME_LIMIT);
    CHECK_INT(names_limit(&json), NAME_LIMIT - 5);
}

/* Names of entries. */

static const struct route *entry_of(const struct place *place)
{
    const struct route *child = place->route->children;
    while (child && !child->entry)
        child = child->next;
    CHECK(child != NULL);
    return child;
}

/* The name of the listing's first kind of entry with these parts, up to a NULL, looked up again. */
static void check_entry(const char *directory, const char *const *parts, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, path = {0};
    struct place *place = resolve(directory, &plain);
    struct bindings bindings = {0};
    for (size_t i = 0; parts[i]; i += 2)
        CHECK(bindings_add(&bindings, parts[i], span_text(parts[i + 1])));
    CHECK(place_write_name(place, entry_of(place), &bindings, 1, &plain, &name, NULL));
    CHECK_TEXT(buf_text(&name), want);
    place_destroy(place);
    buf_printf(&path, "%s/%s", directory, buf_text(&name));
    place = resolve(buf_text(&path), &plain);
    CHECK(place->kind == PLACE_RECORD && place->route->entry);
    for (size_t i = 0; parts[i]; i += 2)
        CHECK_SPAN(*bindings_find(&place->bindings, parts[i]), span_text(parts[i + 1]));
    place_destroy(place);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_an_entry_name_leads_back(void)
{
    load_example();
    const char *latest = "/prod/jobs/by-index/shopify/a-b/latest";
    check_entry(latest, PARTS("created_at", "2026-04-16", "job_id", "1f3c"), "2026-04-16#1f3c");
    check_entry(latest, PARTS("created_at", "a#b", "job_id", "c#d"), "a%23b#c#d");
    check_entry(latest, PARTS("created_at", "", "job_id", ""), "%#%");
    check_entry(latest, PARTS("created_at", ".x", "job_id", "y@info"), "%2Ex#y%40info");
    close_map();
}

static void test_an_entry_like_a_sibling_is_escaped(void)
{
    load_example();
    const char *account = "/prod/index-settings/kl7";
    check_entry(account, PARTS("index_name", "products"), "products");
    check_entry(account, PARTS("index_name", "DEFAULT_CONFIGS"), "%44EFAULT_CONFIGS");
    check_entry(account, PARTS("index_name", "x.d"), "x%2Ed");
    close_map();
}

static void test_an_entry_like_a_bare_value_is_escaped(void)
{
    load_example();
    const char *shop = "/prod/shops/s.example";
    check_entry(shop, PARTS("sort-key", "SETTINGS"), "SETTINGS");
    check_entry(shop, PARTS("sort-key", "access-token"), "%61ccess-token");
    close_map();
}

static void test_entries_of_several_siblings_never_collide(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},\"paths\":{"
               "\"{a}/\":{},\"{a}/x-{b}\":{\"where\":{\"b\":\"{b}\"}},"
               "\"{a}/{b}-yy/\":{},\"{a}/x-{b}-y/\":{}}");
    check_entry("/prod/t/1", PARTS("b", "x-1"), "%78-1");
    check_entry("/prod/t/1", PARTS("b", "1-yy"), "1%2Dyy");
    check_entry("/prod/t/1", PARTS("b", "x-1-y"), "%78-1-y");
    close_map();
}

static void test_a_long_entry_is_shortened_and_found_as_such(void)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, path = {0};
    char key[600];
    load_example();
    memset(key, 'k', sizeof key);
    struct place *shop = resolve("/prod/shops/s.example", &plain);
    struct bindings parts = {0};
    CHECK(bindings_add(&parts, "sort-key", span_of(key, sizeof key)));
    CHECK(place_write_name(shop, entry_of(shop), &parts, 1, &plain, &name, NULL));
    CHECK_INT(name.size, NAME_LIMIT);
    place_destroy(shop);
    buf_printf(&path, "/prod/shops/s.example/%s@/active", buf_text(&name));
    struct place *attr = resolve(buf_text(&path), &plain);
    CHECK_INT(attr->kind, PLACE_ATTR);
    CHECK_SPAN(attr->shortened, buf_span(&name));
    CHECK_SPAN(attr->attribute, span_text("active"));
    place_destroy(attr);
    close_map();
}

static void test_a_shortened_name_needs_a_listing(void)
{
    load_example();
    check_refused("/prod/jobs/by-id/x%~0123456789abcdef0123456789abcdef", ERROR_INVALID,
                  "a shortened name opens in the listing that shows it, and nowhere else");
    close_map();
}

static void test_a_shortened_name_with_a_suffix(void)
{
    load_example();
    struct place *place =
        resolve("/prod/shops/s.example/x%~0123456789abcdef0123456789abcdef.json@info", &json);
    CHECK_INT(place->kind, PLACE_INFO);
    CHECK_SPAN(place->shortened, span_text("x%~0123456789abcdef0123456789abcdef"));
    place_destroy(place);
    close_map();
}

static void test_a_name_without_its_parts_can_not_be_written(void)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct bindings nothing = {0};
    load_example();
    struct place *place = resolve("/prod/index-settings/kl7", &plain);
    CHECK(!place_write_name(place, entry_of(place), &nothing, 1, &plain, &name, NULL));
    place_destroy(place);
    close_map();
}

static void test_destroying_nothing_is_harmless(void)
{
    place_destroy(NULL);
}

/* Who holds a place needs no map beside it: not when it is read again, nor when it is gone. */
static void test_a_place_outlives_its_map(void)
{
    size_t before = map_count();
    load_example();
    struct place *jobs = resolve("/prod/jobs", &plain);
    map_unref(map);
    CHECK_INT(map_count(), before + 1);
    struct error err;
    struct place *by_id = place_child(jobs, span_text("by-id"), &plain, &err);
    CHECK(by_id != NULL);
    struct place *copy = place_copy(by_id);
    place_destroy(by_id);
    place_destroy(jobs);
    CHECK_INT(map_count(), before + 1);
    CHECK_TEXT(copy->table->path_name, "jobs");
    CHECK_SPAN(copy->environment->prefix.pieces[0].literal, SPAN_LITERAL("prod-"));
    place_destroy(copy);
    CHECK_INT(map_count(), before);
}

static void test_a_map_that_is_read_again_and_again_is_there_once(void)
{
    size_t before = map_count();
    load_example();
    struct place *place = resolve("/prod/jobs/by-id/j1", &plain);
    for (int i = 0; i < 300; i++) {
        map_unref(map);
        load_example();
        CHECK_INT(map_count(), before + 2); /* this one, and the one that the place is of */
    }
    place_destroy(place);
    CHECK_INT(map_count(), before + 1);
    map_unref(map);
    CHECK_INT(map_count(), before);
}

/* Bytes may be typed in base64 wherever they stand in a path; nothing else may. */
static void test_bytes_in_base64(void)
{
    load_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
        "\"types\":{\"sk\":\"B\",\"digest\":\"B\"},"
        "\"indexes\":{\"I\":{\"partition\":\"digest\"}},"
        "\"paths\":{\"{a}/\":{},\"{a}/of/{from}..{to}/\":{\"where\":{\"sk\":\"{from}..{to}\"}},"
        "\"by/{digest}/\":{\"index\":\"I\",\"name\":\"{b}, {a}\"}}");
    check_means("/prod/t/x/base64:YWJj", "{a}/ a=x b=abc");
    check_means("/prod/t/x/base64:YS9i", "{a}/ a=x b=a/b");
    check_means("/prod/t/x/base64:Pz8_", "{a}/ a=x b=?\?\?");
    check_means("/prod/t/x/base64:Pz8%2F", "{a}/ a=x b=?\?\?");
    check_means("/prod/t/x/base64:YQ==", "{a}/ a=x b=a");
    check_means("/prod/t/x/base64:YQ", "{a}/ a=x b=a");
    check_means("/prod/t/x/%62ase64:YQ", "{a}/ a=x b=base64:YQ");
    check_means("/prod/t/x/Base64:YQ", "{a}/ a=x b=Base64:YQ");
    check_means("/prod/t/base64:YQ/b", "{a}/ a=base64:YQ b=b"); /* which is text */
    check_means("/prod/t/x/of/base64:YQ..base64:Yg", "{a}/of/{from}..{to}/ a=x from=a to=b");
    check_means("/prod/t/by/base64:YQ/base64:Yg, x", "by/{digest}/ digest=a b=b a=x");
    check_refused("/prod/t/x/base64:YQQ!", ERROR_INVALID,
                  "{b} in \"base64:YQQ!\" is not base64: a character is not in A-Z, a-z, 0-9, + "
                  "and / (or - and _); a value that begins with \"base64:\" is typed %62ase64:");
    check_refused("/prod/t/x/of/a..base64:A", ERROR_INVALID,
                  "{to} in \"a..base64:A\" is not base64: a character is missing or too many; a "
                  "value that begins with \"base64:\" is typed %62ase64:");
    check_refused(
        "/prod/t/x/base64:%2", ERROR_INVALID,
        "in \"base64:%2\" two hexadecimal digits must follow each %; a % itself is written "
        "%25");
    close_map();
}

static const struct check_test tests[] = {
    {"a_place_outlives_its_map", test_a_place_outlives_its_map},
    {"a_map_that_is_read_again_and_again_is_there_once",
     test_a_map_that_is_read_again_and_again_is_there_once},
    {"a_branch_has_no_nul", test_a_branch_has_no_nul},
    {"directories_of_the_map", test_directories_of_the_map},
    {"files", test_files},
    {"only_directories_are_directories", test_only_directories_are_directories},
    {"the_paths_of_the_example", test_the_paths_of_the_example},
    {"an_entry_of_a_listing_is_a_path", test_an_entry_of_a_listing_is_a_path},
    {"a_literal_beats_a_parameter", test_a_literal_beats_a_parameter},
    {"an_escaped_name_passes_a_literal_by", test_an_escaped_name_passes_a_literal_by},
    {"the_more_specific_parameter_wins", test_the_more_specific_parameter_wins},
    {"a_match_decides_between_siblings", test_a_match_decides_between_siblings},
    {"names_are_decoded", test_names_are_decoded},
    {"bytes_in_base64", test_bytes_in_base64},
    {"attribute_names_are_decoded", test_attribute_names_are_decoded},
    {"environments_with_a_parameter", test_environments_with_a_parameter},
    {"a_literal_environment_comes_first", test_a_literal_environment_comes_first},
    {"no_such_environment", test_no_such_environment},
    {"noise_is_no_environment", test_noise_is_no_environment},
    {"no_such_environment_but_one_like_it", test_no_such_environment_but_one_like_it},
    {"no_such_table", test_no_such_table},
    {"no_such_name", test_no_such_name},
    {"the_hint_of_a_parameter", test_the_hint_of_a_parameter},
    {"a_match_without_a_hint", test_a_match_without_a_hint},
    {"a_nul_never_matches", test_a_nul_never_matches},
    {"nothing_is_below_a_record", test_nothing_is_below_a_record},
    {"a_broken_escape_is_no_name", test_a_broken_escape_is_no_name},
    {"a_part_that_contradicts_the_path_is_no_name",
     test_a_part_that_contradicts_the_path_is_no_name},
    {"records_bear_the_suffix", test_records_bear_the_suffix},
    {"directories_and_bare_values_bear_no_suffix", test_directories_and_bare_values_bear_no_suffix},
    {"the_suffix_takes_from_the_limit", test_the_suffix_takes_from_the_limit},
    {"an_entry_name_leads_back", test_an_entry_name_leads_back},
    {"an_entry_like_a_sibling_is_escaped", test_an_entry_like_a_sibling_is_escaped},
    {"an_entry_like_a_bare_value_is_escaped", test_an_entry_like_a_bare_value_is_escaped},
    {"entries_of_several_siblings_never_collide", test_entries_of_several_siblings_never_collide},
    {"a_long_entry_is_shortened_and_found_as_such",
     test_a_long_entry_is_shortened_and_found_as_such},
    {"a_shortened_name_needs_a_listing", test_a_shortened_name_needs_a_listing},
    {"a_shortened_name_with_a_suffix", test_a_shortened_name_with_a_suffix},
    {"a_name_without_its_parts_can_not_be_written",
     test_a_name_without_its_parts_can_not_be_written},
    {"destroying_nothing_is_harmless", test_destroying_nothing_is_harmless},
};

CHECK_MAIN(tests)
