/* From places to plans: conditions with values in them, keys, what is projected, what counts of an
 * answer, and what tells two plans apart. */
#include "core/plan/plan.h"

#include "core/plan/item_match.h"
#include "core/plan/item_parts.h"

#include "tests/unit/loaded.h"

static void write_value(struct buf *out, struct value value)
{
    if (value.type != VALUE_S)
        buf_printf(out, "%s:", value_type_name(value.type));
    buf_add_span(out, value.bytes);
}

static void write_conds(struct buf *out, const struct cond *conds, size_t count, const char *before)
{
    for (size_t i = 0; i < count; i++) {
        buf_add_text(out, i ? " and " : before);
        buf_add_span(out, conds[i].attribute);
        buf_printf(out, " %s ", cond_word(conds[i].op));
        write_value(out, conds[i].value);
        if (conds[i].op == COND_BETWEEN) {
            buf_add_text(out, "..");
            write_value(out, conds[i].upper);
        }
    }
}

/* "table/index: conditions; filter …; descending; limit n; only a b; consistent" */
static void write_read(struct buf *out, const struct read *read)
{
    buf_printf(out, "%s%s%s:", read->table, read->index ? "/" : "", read->index ? read->index : "");
    write_conds(out, read->where, read->where_count, " ");
    write_conds(out, read->filter, read->filter_count, "; filter ");
    if (read->descending)
        buf_add_text(out, "; descending");
    if (read->limit)
        buf_printf(out, "; limit %u", (unsigned)read->limit);
    for (size_t i = 0; i < read->attribute_count; i++) {
        buf_add_text(out, i ? " " : "; only ");
        buf_add_span(out, read->attributes[i]);
    }
    if (read->counts)
        buf_add_text(out, "; counts");
    if (read->consistent)
        buf_add_text(out, "; consistent");
}

static void check_query(const char *path, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct error err = {0};
    struct place *place = resolve(path, &plain);
    const struct plan *plan = place_plan(place, &err);
    if (!plan || !plan->query)
        CHECK_FAIL("%s: %s", path, plan ? "no query" : err.text);
    write_read(&got, plan->query);
    place_destroy(place);
    CHECK_TEXT(buf_text(&got), want);
}

static void check_no_query(const char *path, const char *want)
{
    struct error err = {0};
    struct place *place = resolve(path, &plain);
    const struct plan *plan = place_plan(place, &err);
    place_destroy(place);
    CHECK(!plan);
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_TEXT(err.text, want);
}

static void check_key(const char *path, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct error err = {0};
    struct place *place = resolve(path, &plain);
    const struct plan *plan = place_plan(place, &err);
    CHECK(!plan || (plan->kind == PLAN_KEY && !plan->query));
    for (size_t i = 0; plan && i < plan->key.count; i++) {
        buf_add_text(&got, i ? " " : "");
        buf_add_span(&got, plan->key.attributes[i].name);
        buf_add_char(&got, '=');
        write_value(&got, plan->key.attributes[i].value);
    }
    bool ok = plan;
    place_destroy(place);
    CHECK_TEXT(ok ? buf_text(&got) : err.text, want);
}

static void test_the_queries_of_the_example(void)
{
    load_example();
    check_query("/prod/jobs/by-id/1f3c",
                "prod-EcomIndexerJobsTable/GSI_JobLookup_v2: job_id = 1f3c; limit 2");
    check_query(
        "/prod/jobs/by-index/shopify/a-b/latest",
        "prod-EcomIndexerJobsTable: pk = PLATFORM#shopify#SHOP#a-b and sk begins with JOB#; "
        "descending; limit 100");
    check_query("/prod/jobs/by-index/shopify/a-b/status/PENDING",
                "prod-EcomIndexerJobsTable/GSI_JobsByStatus_v2: shop_id = a-b and "
                "status_created_at begins with PENDING#; filter pk = PLATFORM#shopify#SHOP#a-b; "
                "descending");
    check_query("/prod/jobs/by-index/ecom/a-b/between/2026-04-16..2026-04-17",
                "prod-EcomIndexerJobsTable: pk = PLATFORM#ecom#SHOP#a-b and sk between "
                "JOB#2026-04-16..JOB#2026-04-17\xF4\x8F\xBF\xBF");
    close_map();
}

static void test_a_bare_value_asks_for_little(void)
{
    load_example();
    check_query("/prod/shops/s.example/access-token",
                "prod-ShopifyEntitiesTable: pk = SHOP#s.example and sk begins with USER#; filter "
                "entity_type = SESSION; only pk sk access_token last_updated");
    close_map();
}

static void test_the_keys_of_the_example(void)
{
    load_example();
    check_key("/prod/index-settings/kl7/products", "pk=kl7 sk=INDEX#products");
    check_key("/prod/index-settings/kl7/DEFAULT_CONFIGS", "pk=kl7 sk=INDEX#DEFAULT_CONFIGS");
    check_key("/prod/shops/s.example/SETTINGS", "pk=SHOP#s.example sk=SETTINGS");
    check_key("/prod/jobs/by-index/shopify/a-b/all/2026#1",
              "pk=PLATFORM#shopify#SHOP#a-b sk=JOB#2026#1");
    check_key("/prod/jobs/by-status/a-b/PENDING/shopify#2026#1",
              "pk=PLATFORM#shopify#SHOP#a-b sk=JOB#2026#1");
    check_key("/prod/index-settings/kl7/products.d/QUERY#a#b",
              "pk=kl7 sk=INDEX#products#QUERY#a#b");
    close_map();
}

static void test_companions_have_the_key_of_their_record(void)
{
    load_example();
    check_key("/prod/index-settings/kl7/products@info", "pk=kl7 sk=INDEX#products");
    check_key("/prod/index-settings/kl7/products@/a", "pk=kl7 sk=INDEX#products");
    close_map();
}

static void test_a_part_with_a_separator_is_no_key(void)
{
    load_example();
    check_key("/prod/index-settings/kl7/a%23b",
              "no index has the key \"INDEX#a#b\": none of its parts holds a \"#\"");
    close_map();
}

static void test_an_empty_part_is_a_key_as_long_as_the_key_is_not_empty(void)
{
    load_example();
    check_key("/prod/index-settings/kl7/%", "pk=kl7 sk=INDEX#");
    check_key("/prod/index-settings/%/x", "no key attribute (pk) is empty");
    close_map();
}

static void test_text_keys_are_utf8(void)
{
    load_example();
    check_key("/prod/index-settings/kl7/%FF", "sk is UTF-8 text, which this is not");
    check_no_query("/prod/jobs/by-id/%FF", "job_id is UTF-8 text, which this is not");
    check_no_query("/prod/jobs/by-id/%", "no key attribute (job_id) is empty");
    close_map();
}

static void test_keys_have_a_greatest_length(void)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, key = {0};
    load_example();
    buf_add_text(&path, "/prod/index-settings/kl7/");
    buf_add_text(&key, "pk=kl7 sk=INDEX#");
    buf_add_repeated(&path, 'x', 1018);
    buf_add_repeated(&key, 'x', 1018);
    check_key(buf_text(&path), buf_text(&key));
    buf_add_char(&path, 'x');
    check_key(buf_text(&path), "no sort key is longer than 1024 bytes");
    buf_add_repeated(&path, 'x', 2000);
    check_key(buf_text(&path), "no key is longer than 2048 bytes");
    close_map();
}

#define NUMBERS                                                                                    \
    "\"table\":\"T\",\"types\":{\"n\":\"N\",\"x\":\"N\"},"                                         \
    "\"records\":{\"r\":{\"pk\":\"{a}\",\"n\":\"{n}\"}},"                                          \
    "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"n\",\"projects\":\"all\"}},"

static void test_number_keys(void)
{
    load_table(NUMBERS "\"paths\":{\"{a}/\":{},\"by-x/{x}/\":{\"index\":\"I\"}}");
    check_key("/prod/t/1/5", "pk=1 n=N:5");
    check_key("/prod/t/1/-1.5e3", "pk=1 n=N:-1.5e3");
    check_key("/prod/t/1/+0100", "pk=1 n=N:100");
    check_key("/prod/t/1/-.50", "pk=1 n=N:-0.50");
    check_key("/prod/t/1/00", "pk=1 n=N:0");
    check_key("/prod/t/1/5.", "pk=1 n=N:5");
    check_key("/prod/t/1/+", "n is a number, which \"+\" is not");
    check_query("/prod/t/by-x/+01E+2", "prod-T/I: x = N:1E+2");
    check_key("/prod/t/1/five", "n is a number, which \"five\" is not");
    check_key("/prod/t/1/2*",
              "n is a number, which \"2*\" is not; numbers have no beginnings, so a "
              "range is typed: 20..29/");
    check_query("/prod/t/by-x/7", "prod-T/I: x = N:7");
    check_no_query("/prod/t/by-x/seven", "x is a number, which \"seven\" is not");
    close_map();
}

#define BOUND(value)                                                                               \
    "{d} can't be compared with \"" value                                                          \
    "\": in the key a \"#\" follows it, so the order of keys is another where a value holds it, "  \
    "a blank or any other byte before it; compare with one that does not"

/* In the order of keys "1#" stands behind "1 ", though "1" stands before it. */
static void test_a_range_of_parts_is_not_compared_with_what_comes_before_the_separator(void)
{
#define WHERE(condition) "{\"where\":{\"d\":" condition "}}"
    load_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"J#{d}#{b}\"}},\"paths\":{"
        "\"to/{a}/{x}/\":" WHERE("{\"<=\":\"{x}\"}") ",\"from/{a}/{x}/\":" WHERE(
            "{\">\":\"{x}\"}") ","
                               "\"in/{a}/{x}..{y}/\":" WHERE(
                                   "\"{x}..{y}\"") ",\"on/{a}/{x}/\":" WHERE("\"{x}*\"") "}");
    check_query("/prod/t/to/1/2-", "prod-T: pk = 1 and sk between J#..J#2-\xF4\x8F\xBF\xBF");
    check_no_query("/prod/t/to/1/2 3", BOUND("2 3"));
    check_no_query("/prod/t/from/1/2%23", BOUND("2#"));
    check_no_query("/prod/t/in/1/1!..2", BOUND("1!"));
    check_no_query("/prod/t/in/1/1..2!", BOUND("2!"));
    check_query("/prod/t/on/1/2 3", "prod-T: pk = 1 and sk begins with J#2 3");
    check_no_query(
        "/prod/t/on/1/2%233",
        "{d} can't be compared with \"2#3\": in the key a \"#\" follows it, so the order of "
        "keys is another where a value holds it; compare with one that does not");
    close_map();
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"J#{d}\"}},\"paths\":{"
               "\"to/{a}/{x}/\":" WHERE("{\"<=\":\"{x}\"}") "}");
    check_query("/prod/t/to/1/2 3", "prod-T: pk = 1 and sk between J#..J#2 3\xF4\x8F\xBF\xBF");
    close_map();
}

static void test_binary_keys_are_their_bytes(void)
{
    load_table("\"table\":\"T\",\"types\":{\"pk\":\"B\"},\"records\":{\"r\":{\"pk\":\"{a}\"}},"
               "\"paths\":{\"{a}\":{}}");
    check_key("/prod/t/%FFx", "pk=B:\xFFx");
    close_map();
}

static void test_a_file_by_query_asks_for_two_to_notice_a_second(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},\"paths\":{"
               "\"{a}/one\":{},\"{a}/new\":{\"newest\":1},\"{a}/top\":{\"pick\":{\"least\":\"m\"}},"
               "\"{a}/now\":{\"oldest\":1,\"consistent\":true}}");
    check_query("/prod/t/1/one", "prod-T: pk = 1; limit 2");
    check_query("/prod/t/1/new", "prod-T: pk = 1; descending; limit 1");
    check_query("/prod/t/1/top", "prod-T: pk = 1");
    check_query("/prod/t/1/now", "prod-T: pk = 1; limit 1; consistent");
    close_map();
}

/* Items and keys. */

static void parse_item(const char *text, struct json_doc *doc)
{
    CHECK(json_parse(doc, span_text(text), JSON_STRICT, NULL));
}

static struct key text_key(const char *pk, const char *sk)
{
    return (struct key){
        .attributes = {{span_text("pk"), {VALUE_S, span_text(pk)}},
                       {span_text("sk"), {VALUE_S, span_text(sk)}}},
        .count = 2,
    };
}

static bool item_has_key(const char *text)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    parse_item(text, &doc);
    return item_match_key(map->models[0], json_root(&doc), &arena, &key);
}

static void test_the_key_of_an_item(void)
{
    load_example();
    CHECK(item_has_key("{\"sk\":{\"S\":\"b\"},\"pk\":{\"S\":\"a\"},\"x\":{\"N\":\"1\"}}"));
    CHECK(!item_has_key("{\"pk\":{\"S\":\"a\"}}"));
    CHECK(!item_has_key("{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"}}"));
    CHECK(!item_has_key("{\"pk\":{\"S\":\"a\"},\"sk\":{\"NULL\":true}}"));
    close_map();
}

/* Which kind of entry of DIRECTORY the key is; "none" if none. */
static void check_entry(const char *directory, const char *pk, const char *sk, const char *want)
{
    struct bindings parts = {0};
    struct key key = text_key(pk, sk);
    struct place *place = resolve(directory, &plain);
    const struct map_entry *entry =
        item_match_entry(place->table, place->route->list, &key, &place->bindings, &parts);
    const char *got = entry ? entry->kind->name : "none";
    place_destroy(place);
    CHECK_TEXT(got, want);
}

static void test_the_path_says_how_many(void)
{
    load_table(NUMBERS "\"paths\":{\"{a}/\":{},\"{a}/newest:{count}/\":{\"newest\":\"{count}\"}}");
    check_query("/prod/t/1/newest:7", "prod-T: pk = 1; descending; limit 7");
    check_query("/prod/t/1/newest:1000000", "prod-T: pk = 1; descending; limit 1000000");
    close_map();
}

static void test_entries_are_known_by_their_keys(void)
{
    load_example();
    const char *all = "/prod/index-settings/by-account/kl7";
    check_entry(all, "kl7", "INDEX#products", "index");
    check_entry(all, "kl7", "INDEX#products#PROFILE#SEARCH#default", "profile");
    check_entry(all, "kl7", "INDEX#products#QUERY#a#b", "query");
    check_entry(all, "kl7", "INDEX#products#AGENTIC_CONFIG", "agentic");
    check_entry(all, "kl7", "OTHER#products", "none");
    check_entry(all, "kl7", "INDEX#products#PROFILE#SEARCH#a#b", "none");
    close_map();
}

static void test_a_declared_literal_is_its_own_kind(void)
{
    load_example();
    check_entry("/prod/index-settings/by-account/kl7", "kl7", "INDEX#DEFAULT_CONFIGS", "defaults");
    close_map();
}

static void test_a_key_that_contradicts_the_path_is_no_entry(void)
{
    load_example();
    check_entry("/prod/index-settings/by-account/kl7", "other", "INDEX#products", "none");
    check_entry("/prod/index-settings/kl7/products.d", "kl7", "INDEX#shoes#AGENTIC_CONFIG", "none");
    close_map();
}

static void test_a_part_that_stands_twice_agrees_with_itself(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"U#{id}\",\"sk\":\"P#{id}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"x\"}},\"paths\":{\"{x}/\":{\"index\":\"I\"}}");
    check_entry("/prod/t/1", "U#1", "P#1", "r");
    check_entry("/prod/t/1", "U#1", "P#2", "none");
    close_map();
}

/* "part=value …" of WANTED that ITEM, of kind "r", has in index I; "none" when it is not in it. */
static void check_index_parts(const char *wanted, const char *item, const char *want)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    const struct model *table = map->models[0];
    struct bindings parts = {.items = {{.param = "id", .value = SPAN_LITERAL("7")}}, .count = 1};
    struct format format;
    parse_item(item, &doc);
    CHECK(format_parse(&arena, span_text(wanted), &format) == NULL);
    bool in = item_parts_add_of_index(table, table->indexes, table->kinds, &format, json_root(&doc),
                                      &arena, &parts);
    for (size_t i = 0; i < parts.count; i++)
        buf_printf(&got, "%s%s=%.*s", i ? " " : "", parts.items[i].param,
                   (int)parts.items[i].value.size, parts.items[i].value.data);
    CHECK_TEXT(in ? buf_text(&got) : "none", want);
}

static void test_the_parts_of_an_index_come_from_the_item(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"U#{id}\"}},\"types\":{\"n\":\"N\"},"
               "\"indexes\":{\"I\":{\"partition\":{\"p\":\"{id}\"},"
               "\"sort\":{\"s\":\"{state}#{when}\",\"n\":\"{n}\"}}},"
               "\"paths\":{\"{id}/\":{\"index\":\"I\"}}");
    const char *item = "{\"pk\":{\"S\":\"U#7\"},\"p\":{\"S\":\"8\"},\"s\":{\"S\":\"NEW#2026\"},"
                       "\"n\":{\"N\":\"5\"}}";
    check_index_parts("{when},{id}", item, "id=7 when=2026");
    check_index_parts("{n}-{state}", item, "id=7 state=NEW n=5");
    check_index_parts("{n}", "{\"p\":{\"S\":\"8\"},\"s\":{\"S\":\"NEW\"},\"n\":{\"N\":\"5\"}}",
                      "id=7 n=5"); /* whose other attribute is of no format */
    check_index_parts("{when}", "{\"p\":{\"S\":\"8\"},\"s\":{\"S\":\"NEW\"},\"n\":{\"N\":\"5\"}}",
                      "none");
    check_index_parts("{when}", "{\"s\":{\"S\":\"NEW#1\"},\"n\":{\"N\":\"5\"}}", "none");
    check_index_parts("{when}", "{\"p\":{\"S\":\"8\"},\"s\":{\"S\":\"NEW#1\"},\"n\":{\"S\":\"5\"}}",
                      "none");
    close_map();
}

static enum item_match_verdict verdict_on(const char *path, const char *item)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct matched_item matched;
    struct error err = {0};
    parse_item(item, &doc);
    struct place *place = resolve(path, &plain);
    const struct plan *plan = place_plan(place, &err);
    if (!plan)
        CHECK_FAIL("%s", err.text);
    enum item_match_verdict verdict = item_match_item(plan, json_root(&doc), &arena, &matched);
    place_destroy(place);
    return verdict;
}

#define ITEM(sk) "{\"pk\":{\"S\":\"kl7\"},\"sk\":" sk "}"

static void test_what_counts_of_a_listing(void)
{
    load_example();
    const char *path = "/prod/index-settings/kl7/products.d";
    CHECK_INT(verdict_on(path, ITEM("{\"S\":\"INDEX#products#AGENTIC_CONFIG\"}")),
              ITEM_MATCH_COUNTS);
    CHECK_INT(verdict_on(path, ITEM("{\"S\":\"INDEX#products\"}")), ITEM_MATCH_OTHER);
    CHECK_INT(verdict_on(path, ITEM("{\"S\":\"INDEX#shoes#AGENTIC_CONFIG\"}")), ITEM_MATCH_OTHER);
    CHECK_INT(verdict_on(path, ITEM("{\"S\":\"INDEX#products#NEW\"}")), ITEM_MATCH_UNDECLARED);
    CHECK_INT(verdict_on(path, ITEM("{\"N\":\"1\"}")), ITEM_MATCH_UNREADABLE);
    CHECK_INT(verdict_on(path, "{\"pk\":{\"S\":\"kl7\"}}"), ITEM_MATCH_UNREADABLE);
    close_map();
}

/* Conditions tested again on a record that was read by its key. */

static bool holds(const char *path, const char *item)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key;
    parse_item(item, &doc);
    struct place *place = resolve(path, &plain);
    CHECK(item_match_key(place->table, json_root(&doc), &arena, &key));
    struct error err = {0};
    const struct plan *plan = place_plan(place, &err);
    bool ok = plan_holds(plan, &key, json_root(&doc), &err);
    place_destroy(place);
    CHECK_INT(err.kind, ok ? ERROR_NONE : ERROR_NOT_FOUND);
    return ok;
}

#define JOB(status)                                                                                \
    "{\"pk\":{\"S\":\"PLATFORM#shopify#SHOP#a-b\"},\"sk\":{\"S\":\"JOB#2026#1\"},"                 \
    "\"shop_id\":{\"S\":\"a-b\"},\"status_created_at\":{\"S\":\"" status "#2026\"}}"

/* Keys are asked as they are spelled; what is typed may be spelled in another way. */
static void test_parts_that_keys_spell(void)
{
    load_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"U#{mail:lower}\",\"sk\":\"S#{n:05}#{id}\"}},"
        "\"indexes\":{\"I\":{\"partition\":{\"c\":\"{c:upper}\"},\"sort\":{\"s\":\"{n:05}\"}}},"
        "\"paths\":{\"{mail}/\":{},\"{mail}/of/{n}/\":{},\"{mail}/{n}/{id}\":{},"
        "\"{mail}/is/{x}/\":{\"where\":{\"n\":\"{x}\"}},\"{mail}/seven/\":{\"where\":{\"n\":7}},"
        "\"{mail}/{from}..{to}/\":{\"where\":{\"n\":\"{from}..{to}\"}},"
        "\"{mail}/under/{to}/\":{\"where\":{\"n\":{\"<\":\"{to}\"}}},"
        "\"{mail}/over/{x}/\":{\"where\":{\"n\":{\">\":\"{x}\"}}},"
        "\"by/{who}/\":{\"where\":{\"mail\":\"{who}\"}},"
        "\"in/{c}/\":{\"index\":\"I\"},\"in/{c}/{top}/\":{\"index\":\"I\",\"where\":{\"n\":{\">=\":"
        "\"{top}\"}}}}");
    check_query("/prod/t/Ann@X", "prod-T: pk = U#ann@x and sk begins with S#");
    check_query("/prod/t/ann/of/42", "prod-T: pk = U#ann and sk begins with S#00042#");
    check_query("/prod/t/ann/of/00042", "prod-T: pk = U#ann and sk begins with S#00042#");
    check_query("/prod/t/ann/is/00042", "prod-T: pk = U#ann and sk begins with S#00042#");
    check_query("/prod/t/ann/seven", "prod-T: pk = U#ann and sk begins with S#00007#");
    check_query("/prod/t/ann/5..42",
                "prod-T: pk = U#ann and sk between S#00005..S#00042\xF4\x8F\xBF\xBF");
    check_query("/prod/t/ann/under/42", "prod-T: pk = U#ann and sk between S#..S#00042");
    check_query("/prod/t/ann/over/9",
                "prod-T: pk = U#ann and sk between S#00009\xF4\x8F\xBF\xBF..S#\xF4\x8F\xBF\xBF");
    check_query("/prod/t/by/ANN", "prod-T: pk = U#ann and sk begins with S#");
    check_query("/prod/t/in/de", "prod-T/I: c = DE");
    check_query("/prod/t/in/de/12", "prod-T/I: c = DE and s between 00012..\xF4\x8F\xBF\xBF");
    check_key("/prod/t/ANN/42#7", "pk=U#ann sk=S#00042#7");
    check_key("/prod/t/ann/00042/7", "pk=U#ann sk=S#00042#7");
    check_key("/prod/t/ann/under/42/9#7", "pk=U#ann sk=S#00009#7");
    check_no_query("/prod/t/ann/is/x", "{x} can't be \"x\": the key has a number of 5 digits; type "
                                       "all of them, or none of the leading zeros");
    check_no_query("/prod/t/ann/1..123456",
                   "{to} can't be \"123456\": the key has a number of 5 digits; type all of them, "
                   "or none of the leading zeros");
    check_entry("/prod/t/ann", "U#ann", "S#00042#7", "r");
    check_entry("/prod/t/ann", "U#ann", "S#42#7", "none");
    check_entry("/prod/t/ann", "U#ann", "S#000042#7", "none");
    check_entry("/prod/t/ann", "U#Ann", "S#00042#7", "none");
    check_entry("/prod/t/ann/under/42", "U#ann", "S#00042#7",
                "none"); /* the end, which is asked for */
    check_entry("/prod/t/ann/under/00042", "U#ann", "S#00042#7", "none");
    check_entry("/prod/t/ann/under/42", "U#ann", "S#00041#7", "r");
    struct error err = {0};
    CHECK(!place_resolve(map, span_text("/prod/t/ann/123456#7"), &plain, &err));
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_TEXT(err.text, "{n} in \"123456#7\" is no value: the key has a number of 5 digits; type "
                         "all of them, or none of the leading zeros");
    close_map();
}

#define IN_INDEX(s, n)                                                                             \
    "{\"pk\":{\"S\":\"U#7\"},\"sk\":{\"S\":\"b\"},\"p\":{\"S\":\"x\"}," s "," n "}"

/* What a name tells of the index's key is tested on the record, which may have left the index. */
static void test_names_that_tell_of_the_index(void)
{
    load_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"U#{id}\",\"sk\":\"{b}\"}},"
        "\"types\":{\"n\":\"N\"},\"indexes\":{"
        "\"I\":{\"partition\":\"p\",\"sort\":{\"s\":\"{state}#{when}\",\"n\":\"{n}\"}},"
        "\"K\":{\"partition\":\"p\",\"sort\":{\"s\":\"{s*}\",\"n\":\"{n}\"}}},"
        "\"paths\":{\"{p}/\":{\"index\":\"I\",\"name\":\"{n},{when},{id},{b}\"},"
        "\"{p}/k/\":{\"index\":\"K\",\"hydrate\":false,\"name\":\"{s},{id},{b}\"},"
        "\"{p}/of/{s}/\":{\"index\":\"K\",\"hydrate\":false,\"name\":\"{n},{id},{b}\"},"
        "\"{p}/up/{to}/\":{\"index\":\"K\",\"hydrate\":false,\"where\":{\"s\":{\"<\":\"{to}\"}},"
        "\"name\":\"{s},{id},{b}\"}}");
    const char *item = IN_INDEX("\"s\":{\"S\":\"NEW#2026\"}", "\"n\":{\"N\":\"5\"}");
    CHECK(holds("/prod/t/x/5,2026,7,b", item));
    CHECK(holds("/prod/t/x/5.0,2026,7,b", item));
    CHECK(!holds("/prod/t/x/6,2026,7,b", item));
    CHECK(!holds("/prod/t/x/5,2025,7,b", item));
    CHECK(
        !holds("/prod/t/x/5,2026,7,b", IN_INDEX("\"s\":{\"S\":\"2026\"}", "\"n\":{\"N\":\"5\"}")));
    CHECK(!holds("/prod/t/x/5,2026,7,b",
                 IN_INDEX("\"s\":{\"S\":\"NEW#2026\"}", "\"n\":{\"S\":\"5\"}")));
    CHECK(!holds("/prod/t/x/5,2026,7,b",
                 IN_INDEX("\"s\":{\"S\":\"NEW#2026\"}", "\"o\":{\"N\":\"5\"}")));
    check_query("/prod/t/x/k/NEW,7,b", "prod-T/K: p = x and s = NEW; filter pk = U#7 and sk = b");
    check_query("/prod/t/x/of/NEW/05,7,b",
                "prod-T/K: p = x and s = NEW and n = N:5; filter pk = U#7 and sk = b");
    check_query("/prod/t/x/up/B/A,7,b", "prod-T/K: p = x and s = A; filter pk = U#7 and sk = b");
    CHECK_INT(verdict_on("/prod/t/x", item), ITEM_MATCH_COUNTS);
    CHECK_INT(verdict_on("/prod/t/x", IN_INDEX("\"s\":{\"S\":\"2026\"}", "\"n\":{\"N\":\"5\"}")),
              ITEM_MATCH_UNDECLARED);
    CHECK_INT(verdict_on("/prod/t/x/k/NEW,7,b", item), ITEM_MATCH_OTHER);
    CHECK_INT(verdict_on("/prod/t/x/k/NEW%232026,7,b", item), ITEM_MATCH_COUNTS);
    close_map();
}

static void test_conditions_hold_or_not(void)
{
    load_example();
    const char *path = "/prod/jobs/by-index/shopify/a-b/status/PENDING/2026#1";
    CHECK(holds(path, JOB("PENDING")));
    CHECK(!holds(path, JOB("COMPLETED")));
    CHECK(!holds("/prod/jobs/by-index/ecom/a-b/status/PENDING/2026#1", JOB("PENDING")));
    CHECK(!holds(path,
                 "{\"pk\":{\"S\":\"PLATFORM#shopify#SHOP#a-b\"},\"sk\":{\"S\":\"JOB#2026#1\"}}"));
    close_map();
}

/* Reads by key. */

static void check_items(const char *path, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    struct error err = {0};
    struct key key = text_key("a", "b");
    struct place *place = resolve(path, &plain);
    const struct plan *plan = place_plan(place, &err);
    struct read *read = plan_items(plan, &key, 1, &err);
    CHECK(read && read->kind == READ_ITEMS && read->key_count == 1);
    write_read(&got, read);
    read_destroy(read);
    place_destroy(place);
    CHECK_TEXT(buf_text(&got), want);
}

static void test_one_attribute_travels_with_what_is_checked(void)
{
    load_example();
    check_items("/prod/index-settings/kl7/products@/add_docs_config",
                "prod-EcomIndexSettingsTable:; only add_docs_config updated_at");
    check_items("/prod/jobs/by-status/a-b/PENDING/shopify#2026#1@/x",
                "prod-EcomIndexerJobsTable:; only x shop_id status_created_at created_at");
    check_items("/prod/jobs/by-status/a-b/PENDING/shopify#2026#1@/shop_id",
                "prod-EcomIndexerJobsTable:; only shop_id status_created_at created_at");
    check_items("/prod/jobs/by-status/a-b/PENDING/shopify#2026#1", "prod-EcomIndexerJobsTable:");
    close_map();
}

/* Shortened names. */

#define DIGEST "%~0123456789abcdef0123456789abcdef"

static void test_a_shortened_name_narrows_the_search(void)
{
    load_example();
    check_query("/prod/shops/s.example/USER%23abc" DIGEST,
                "prod-ShopifyEntitiesTable: pk = SHOP#s.example and sk begins with USER#abc");
    check_query("/prod/index-settings/kl7/products.d/QUERY#a%2Fb" DIGEST,
                "prod-EcomIndexSettingsTable: pk = kl7 and sk begins with "
                "INDEX#products#QUERY#a/b");
    close_map();
}

static void test_the_search_is_not_limited(void)
{
    load_example();
    check_query("/prod/jobs/by-index/shopify/a-b/latest/2026" DIGEST,
                "prod-EcomIndexerJobsTable: pk = PLATFORM#shopify#SHOP#a-b and sk begins with "
                "JOB#2026; descending");
    close_map();
}

static void test_the_search_of_an_index_is_the_listing(void)
{
    load_example();
    check_query("/prod/jobs/by-status/a-b/PENDING/shopify" DIGEST,
                "prod-EcomIndexerJobsTable/GSI_JobsByStatus_v2: shop_id = a-b and "
                "status_created_at begins with PENDING#; descending");
    close_map();
}

static void test_the_search_where_all_is_said_looks_for_the_name_itself(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"S#{b}\"}},"
               "\"paths\":{\"{a}/{b}/\":{}}");
    check_query("/prod/t/1/2/S#2" DIGEST, "prod-T: pk = 1 and sk begins with S#2");
    close_map();
}

/* Of which kind the record is, its shortened name does not tell: a key of kind n has more digits
 * than its name. */
static void test_the_search_of_several_kinds_is_narrowed_by_what_they_share(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"U#{r*}\"},"
               "\"s\":{\"pk\":\"{a}\",\"sk\":\"U#{s}#{t*}\"},"
               "\"n\":{\"pk\":\"{a}\",\"sk\":\"U#{n:04}#{t*}\"}},"
               "\"paths\":{\"{a}/rs/\":{\"list\":[\"r\",\"s\"]},"
               "\"{a}/rn/\":{\"list\":[\"r\",\"n\"]},\"{a}/nr/\":{\"list\":[\"n\",\"r\"]}}");
    check_query("/prod/t/1/rs/7#é" DIGEST, "prod-T: pk = 1 and sk begins with U#7#é");
    check_query("/prod/t/1/rn/7#é" DIGEST, "prod-T: pk = 1 and sk begins with U#");
    check_query("/prod/t/1/nr/7#é" DIGEST, "prod-T: pk = 1 and sk begins with U#");
    close_map();
}

/* Identity, and what one read tells of another. */

static void identity_of(const char *path, struct buf *out)
{
    struct error err = {0};
    struct place *place = resolve(path, &plain);
    const struct plan *plan = place_plan(place, &err);
    if (!plan)
        CHECK_FAIL("%s", err.text);
    plan_identity(plan, out);
    if (plan->query)
        read_identity(plan->query, out);
    place_destroy(place);
}

static void check_identity(const char *one, const char *other, bool same)
{
    CLEAN_UP(buf_clean_up) struct buf a = {0}, b = {0};
    identity_of(one, &a);
    identity_of(other, &b);
    CHECK_INT(span_equal(buf_span(&a), buf_span(&b)), same);
}

/* Two tables of a map may be one of the service's. */
static void test_identity_is_what_is_asked_and_not_what_it_is_called(void)
{
    struct error err = {0};
    map = map_parse("m",
                    span_text("{\"environments\":{\"e\":{\"prefix\":\"x-\"}},\"tables\":{"
                              "\"a\":{\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{p}\",\"sk\":"
                              "\"A#{s}\"}},\"paths\":{\"{p}\":{}}},"
                              "\"b\":{\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{p}\",\"sk\":"
                              "\"A#B#{s}\"}},\"paths\":{\"{p}\":{\"where\":{\"sk\":\"A#*\"}}}},"
                              "\"c\":{\"table\":\"T\",\"records\":{\"other\":{\"pk\":\"{p}\","
                              "\"sk\":\"A#{s}\"}},\"paths\":{\"{p}\":{}}}}}"),
                    NULL, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    check_identity("/e/a/1", "/e/b/1", false);
    check_identity("/e/a/1", "/e/c/1", true);
    check_identity("/e/a/1", "/e/a/2", false);
    close_map();
}

static bool covers(const char *directory, const char *file)
{
    struct error err = {0};
    struct place *list = resolve(directory, &plain), *one = resolve(file, &plain);
    const struct plan *list_plan = place_plan(list, &err), *file_plan = place_plan(one, &err);
    CHECK(list_plan && file_plan);
    bool covered = plan_covers(list_plan, file_plan);
    place_destroy(list);
    place_destroy(one);
    return covered;
}

static void test_a_listing_of_the_partition_covers_its_files(void)
{
    load_example();
    CHECK(covers("/prod/shops/s.example", "/prod/shops/s.example/access-token"));
    CHECK(covers("/prod/shops/s.example", "/prod/shops/s.example/SETTINGS"));
    CHECK(!covers("/prod/shops/s.example", "/prod/shops/other.example/SETTINGS"));
    CHECK(!covers("/prod/index-settings/kl7", "/prod/index-settings/kl7/DEFAULT_CONFIGS"));
    CHECK(
        covers("/prod/index-settings/by-account/kl7", "/prod/index-settings/kl7/DEFAULT_CONFIGS"));
    close_map();
}

/* What the listing shows of a record, its own path shows too. */
static void test_an_entry_of_an_index_that_is_not_read_again_comes_from_it(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"sk\",\"projects\":\"some\"},"
               "\"J\":{\"partition\":\"x\",\"projects\":\"some\"}},"
               "\"paths\":{\"i/{x}/\":{\"index\":\"I\",\"hydrate\":false},"
               "\"j/{x}/\":{\"index\":\"J\",\"hydrate\":false,\"newest\":5}}");
    check_query("/prod/t/i/7/1#2", "prod-T/I: x = 7 and sk = 2; filter pk = 1");
    check_query("/prod/t/j/7/1#2", "prod-T/J: x = 7; filter pk = 1 and sk = 2; descending");
    close_map();
}

/* Only how many. */

static void test_the_source_counts_where_whatever_it_gives_counts(void)
{
    load_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"U#{a}\",\"sk\":\"S#{b}#{c*}\"},"
               "\"t\":{\"pk\":\"V#{a}\",\"sk\":\"{a}\"}},"
               "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"sk\",\"projects\":\"all\"}},"
               "\"paths\":{\"all/{a}/\":{\"list\":\"*\",\"where\":{\"pk\":\"U#{a}\"}},"
               "\"r/{a}/\":{\"list\":\"r\"},\"r/{a}/{b}/\":{\"list\":\"r\"},"
               "\"few/{a}/{b}/\":{\"list\":\"r\",\"newest\":3},"
               "\"odd/{a}/{b}/\":{\"list\":\"r\",\"filter\":{\"done\":true}},"
               "\"t/{a}/\":{\"list\":\"t\"},\"i/{x}/\":{\"index\":\"I\",\"list\":\"*\"}}");
    check_query("/prod/t/all/1@count", "prod-T: pk = U#1; counts");
    check_query("/prod/t/r/1/2@count", "prod-T: pk = U#1 and sk begins with S#2#; counts");
    check_query("/prod/t/odd/1/2@count",
                "prod-T: pk = U#1 and sk begins with S#2#; filter done = BOOL:true; counts");
    check_query("/prod/t/i/1@count", "prod-T/I: x = 1; counts");
    close_map();
}

/* "S#x" is no record of the kind, and nobody knows how many such there are. */
static void test_what_has_to_be_looked_at_is_counted_by_its_keys(void)
{
    load_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"U#{a}\",\"sk\":\"S#{b}#{c*}\"},"
        "\"t\":{\"pk\":\"V#{a}\",\"sk\":\"{a}\"}},"
        "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"sk\",\"projects\":\"all\"}},"
        "\"paths\":{\"r/{a}/\":{\"list\":\"r\"},\"few/{a}/{b}/\":{\"list\":\"r\",\"newest\":3},"
        "\"by/{b}/{x}/\":{\"index\":\"I\",\"list\":\"r\"},"
        "\"under/{a}/{to}/\":{\"list\":\"r\",\"where\":{\"b\":{\"<\":\"{to}\"}}}}");
    check_query("/prod/t/r/1@count", "prod-T: pk = U#1 and sk begins with S#; only pk sk");
    check_query("/prod/t/few/1/2@count",
                "prod-T: pk = U#1 and sk begins with S#2#; descending; limit 3");
    check_query("/prod/t/by/1/2@count", "prod-T/I: x = 2 and sk begins with S#1#; only pk sk x");
    check_query("/prod/t/under/1/2@count", "prod-T: pk = U#1 and sk between S#..S#2; only pk sk");
    close_map();
}

static void test_a_place_has_one_plan(void)
{
    load_example();
    struct error err = {0};
    struct place *place = resolve("/prod/jobs/by-index/shopify/a-b/latest", &plain);
    unsigned long before = plan_count_made();
    const struct plan *plan = place_plan(place, &err);
    struct place *copy = place_copy(place), *csv = place_copy_as(place, COMPANION_CSV);
    struct place *count = place_copy_as(place, COMPANION_COUNT);
    CHECK(plan && copy && csv && count);
    bool shared = place_plan(place, &err) == plan && place_plan(copy, &err) == plan &&
                  place_plan(csv, &err) == plan;
    CHECK_INT(plan_count_made() - before, 1);
    bool counts = place_plan(count, &err)->counts;
    CHECK_INT(plan_count_made() - before, 2);
    place_destroy(place);
    place_destroy(copy);
    place_destroy(csv);
    place_destroy(count);
    close_map();
    CHECK(shared && counts);
}

static const struct check_test tests[] = {
    {"the_source_counts_where_whatever_it_gives_counts",
     test_the_source_counts_where_whatever_it_gives_counts},
    {"what_has_to_be_looked_at_is_counted_by_its_keys",
     test_what_has_to_be_looked_at_is_counted_by_its_keys},
    {"the_queries_of_the_example", test_the_queries_of_the_example},
    {"a_bare_value_asks_for_little", test_a_bare_value_asks_for_little},
    {"the_keys_of_the_example", test_the_keys_of_the_example},
    {"companions_have_the_key_of_their_record", test_companions_have_the_key_of_their_record},
    {"a_part_with_a_separator_is_no_key", test_a_part_with_a_separator_is_no_key},
    {"an_empty_part_is_a_key_as_long_as_the_key_is_not_empty",
     test_an_empty_part_is_a_key_as_long_as_the_key_is_not_empty},
    {"text_keys_are_utf8", test_text_keys_are_utf8},
    {"keys_have_a_greatest_length", test_keys_have_a_greatest_length},
    {"number_keys", test_number_keys},
    {"a_range_of_parts_is_not_compared_with_what_comes_before_the_separator",
     test_a_range_of_parts_is_not_compared_with_what_comes_before_the_separator},
    {"binary_keys_are_their_bytes", test_binary_keys_are_their_bytes},
    {"a_file_by_query_asks_for_two_to_notice_a_second",
     test_a_file_by_query_asks_for_two_to_notice_a_second},
    {"the_key_of_an_item", test_the_key_of_an_item},
    {"the_path_says_how_many", test_the_path_says_how_many},
    {"entries_are_known_by_their_keys", test_entries_are_known_by_their_keys},
    {"a_declared_literal_is_its_own_kind", test_a_declared_literal_is_its_own_kind},
    {"a_key_that_contradicts_the_path_is_no_entry",
     test_a_key_that_contradicts_the_path_is_no_entry},
    {"a_part_that_stands_twice_agrees_with_itself",
     test_a_part_that_stands_twice_agrees_with_itself},
    {"the_parts_of_an_index_come_from_the_item", test_the_parts_of_an_index_come_from_the_item},
    {"what_counts_of_a_listing", test_what_counts_of_a_listing},
    {"parts_that_keys_spell", test_parts_that_keys_spell},
    {"names_that_tell_of_the_index", test_names_that_tell_of_the_index},
    {"conditions_hold_or_not", test_conditions_hold_or_not},
    {"one_attribute_travels_with_what_is_checked", test_one_attribute_travels_with_what_is_checked},
    {"a_shortened_name_narrows_the_search", test_a_shortened_name_narrows_the_search},
    {"the_search_of_several_kinds_is_narrowed_by_what_they_share",
     test_the_search_of_several_kinds_is_narrowed_by_what_they_share},
    {"the_search_is_not_limited", test_the_search_is_not_limited},
    {"the_search_of_an_index_is_the_listing", test_the_search_of_an_index_is_the_listing},
    {"the_search_where_all_is_said_looks_for_the_name_itself",
     test_the_search_where_all_is_said_looks_for_the_name_itself},
    {"identity_is_what_is_asked_and_not_what_it_is_called",
     test_identity_is_what_is_asked_and_not_what_it_is_called},
    {"a_listing_of_the_partition_covers_its_files",
     test_a_listing_of_the_partition_covers_its_files},
    {"an_entry_of_an_index_that_is_not_read_again_comes_from_it",
     test_an_entry_of_an_index_that_is_not_read_again_comes_from_it},
    {"a_place_has_one_plan", test_a_place_has_one_plan},
};

CHECK_MAIN(tests)
