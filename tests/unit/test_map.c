/* The map file: what it may say, and what is said of each thing it may not. */
#include "core/map/map.h"

#include "core/map/route.h"
#include "tests/unit/check.h"
#include "tests/unit/sample.h"

#define HEAD "{\"environments\":{\"prod\":{\"prefix\":\"prod-\"}},\n"

/* A map of one table; its inside begins on line 2. */
#define TABLE_TEXT "{\"environments\":{\"prod\":{\"prefix\":\"prod-\"}},\"tables\":{\"t\":{\n%s}}}"

/* The inside of a table that is right in all but what a test adds. */
#define RECORDS                                                                                    \
    "\"table\":\"Table\","                                                                         \
    "\"records\":{\"job\":{\"pk\":\"P#{a}\",\"sk\":\"J#{b}#{c}\"}},\n"
#define KINDS                                                                                      \
    "\"table\":\"Table\",\"records\":{\"one\":{\"pk\":\"{a}\",\"sk\":\"ONE#{b}\"},"                \
    "\"two\":{\"pk\":\"{a}\",\"sk\":\"TWO#{c}\"}},\n"
#define WHOLE "\"table\":\"Table\",\"records\":{\"job\":{\"pk\":\"P#{a}\",\"sk\":\"{b}\"}},\n"
#define INDEX "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"n\"}},"
#define KEYS_INDEX "\"indexes\":{\"I\":{\"partition\":\"x\",\"projects\":\"keys\"}},"
#define PATHS(path, body) "\"paths\":{\"" path "\":{" body "}}"

/* TEXT, a whole map, is refused; all that is wrong, a line each. */
static void write_findings(struct span text, struct buf *out)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct error err = {0};
    const struct map *map = map_parse("map.json", text, &findings, &err);
    bool parsed = map != NULL;
    map_unref(map);
    CHECK(!parsed);
    CHECK_INT(err.kind, ERROR_INVALID);
    for (size_t i = 0; i < findings.count; i++)
        buf_printf(out, "map.json:%u: %s\n", findings.items[i].at.line, findings.items[i].text);
    if (findings.left_out)
        buf_printf(out, "and %zu more\n", findings.left_out);
}

/* It is refused in exactly these words, among others perhaps: an example is no whole table. */
static void check_map(const char *text, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf got = {0}, line = {0};
    buf_printf(&line, "%s\n", want);
    write_findings(span_text(text), &got);
    CHECK_HAS(buf_text(&got), buf_text(&line));
}

/* The same for the inside of a table. Its first line is line 2. */
static void check_table(const char *table, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, TABLE_TEXT, table);
    check_map(buf_text(&text), want);
}

/* The inside of a table has this wrong, and nothing else. */
static void check_all(const char *table, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, got = {0};
    buf_printf(&text, TABLE_TEXT, table);
    write_findings(buf_span(&text), &got);
    CHECK_TEXT(buf_text(&got), want);
}

static const struct map *good_table(const char *table)
{
    struct error err = {0};
    const struct map *map = sample_table(table, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    return map;
}

static void test_the_example_loads(void)
{
    struct error err = {0};
    const struct map *map = sample_example(&err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    CHECK_TEXT(map->models[0]->path_name, "jobs");
    CHECK_TEXT(map->models[1]->path_name, "index-settings");
    CHECK_TEXT(map->models[2]->base_name, "ShopifyEntitiesTable");
    CHECK_INT(map->model_count, 3);
    map_unref(map);
}

static void test_the_example_says_what_its_tables_are(void)
{
    struct error err = {0};
    const struct map *map = sample_example(&err);
    CHECK(map != NULL);
    const struct model *jobs = map->models[0];
    const struct map_index *by_id = model_find_index(jobs, "GSI_JobLookup_v2");
    const struct map_param *shop = model_find_param(jobs, "shop_id");
    CHECK(by_id && shop);
    CHECK_INT(by_id->projects, PROJECTS_KEYS);
    CHECK_TEXT(by_id->partition[0].attribute, "job_id");
    CHECK_TEXT(shop->match, "^[^.]+$");
    CHECK_HAS(shop->hint, "kl7a9h55-shopify-e513a8-4");
    CHECK_INT(model_find_param(jobs, "platform")->value_count, 2);
    CHECK_TEXT(jobs->mtime, "created_at");
    CHECK(!model_find_index(jobs, "nothing") && !model_find_param(jobs, "nothing"));
    map_unref(map);
}

static void test_environments_keep_what_they_say(void)
{
    struct error err = {0};
    const struct map *map =
        map_parse("m",
                  span_text("{\"environments\":{\"p\":{\"prefix\":\"p-\","
                            "\"profile\":\"c\",\"region\":\"r\","
                            "\"endpoint\":\"e\"}},\"tables\":{\"t\":{" RECORDS "\"paths\":{}}}}"),
                  NULL, &err);
    if (!map)
        CHECK_FAIL("%s", err.text);
    CHECK_TEXT(map->environments->profile, "c");
    CHECK_TEXT(map->environments->region, "r");
    CHECK_TEXT(map->environments->endpoint_url, "e");
    map_unref(map);
}

static void test_comments_and_trailing_commas_are_welcome(void)
{
    const struct map *map =
        good_table("// a line\n" RECORDS "/* more */ " PATHS("{a}/", "\"ttl\": 5,"));
    CHECK_INT(map->models[0]->patterns->ttl_ms, 5000);
    CHECK_INT(map->models[0]->line, 1);
    CHECK_INT(map->models[0]->patterns->line, 4);
    map_unref(map);
}

/* Text that is no JSON. */

static void test_unbalanced_brace(void)
{
    check_map("{\n  \"environments\": {\n",
              "map.json:3: this is not JSON: the text ends too early");
}

static void test_garbage_after_the_map(void)
{
    struct error err = {0};
    const struct map *map = map_parse("map.json", span_text("{}\nx"), NULL, &err);
    CHECK(!map);
    CHECK_HAS(err.text, "map.json:2:1: ");
}

static void test_missing_comma_names_its_line(void)
{
    struct error err = {0};
    const struct map *map =
        map_parse("map.json", span_text("{\n\"$schema\": \"x\"\n\"tables\": {}}"), NULL, &err);
    CHECK(!map);
    CHECK_HAS(err.text, "map.json:3:1: ");
    CHECK_HAS(err.text, "comma");
}

static void test_an_empty_file(void)
{
    struct error err = {0};
    CHECK(!map_parse("map.json", span_text(""), NULL, &err));
    CHECK_HAS(err.text, "map.json:1:1: ");
}

static void test_a_file_that_is_not_there(void)
{
    struct error err = {0};
    CHECK(!map_load("no/such/map.json", NULL, NULL, &err));
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_TEXT(err.text, "can't read the map no/such/map.json: No such file or directory");
}

static void test_a_folder_is_no_map(void)
{
    struct error err = {0};
    CHECK(!map_load("/", NULL, NULL, &err));
    CHECK_HAS(err.text, "can't read the map /: ");
}

/* The top. */

static void test_a_map_is_an_object(void)
{
    check_map("[]", "map.json:1: a map is written as an object: { … }");
}

static void test_unknown_member_of_the_map(void)
{
    check_map("{\n\"table\": {}}", "map.json:2: a map has no member \"table\"; it may have: "
                                   "$schema, environments, prices, tables");
}

static double price_of(const struct map *map, const char *beginning)
{
    for (const struct map_environment *each = map->environments; each; each = each->next)
        if (span_is(each->name.pieces[0].literal, beginning))
            return each->price;
    return -1;
}

#define ONE_TABLE                                                                                  \
    "\"tables\":{\"t\":{\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},\"paths\":{}}}}"

static void test_prices_are_of_environments(void)
{
    struct error err = {0};
    const char *text = "{\"prices\":{\"b-{x}\":0.5,\"*\":2e0,\"c\":0},\"environments\":{\"a\":{},"
                       "\"b-{x}\":{\"prefix\":\"{x}-\"},\"c\":{}}," ONE_TABLE;
    const struct map *map = map_parse("map.json", span_text(text), NULL, &err);
    CHECK(map != NULL);
    CHECK(price_of(map, "a") == 2 && price_of(map, "b-") == 0.5 && price_of(map, "c") == 0);
    map_unref(map);
    map = map_parse("map.json", span_text(HEAD ONE_TABLE), NULL, &err);
    CHECK(map && price_of(map, "prod") == 0.125);
    map_unref(map);
}

static void test_prices_that_are_none(void)
{
    check_map(HEAD "\"prices\":{\"prd\":1}}",
              "map.json:2: \"prices\" are of environments, but there is no environment \"prd\"");
    check_map(HEAD "\"prices\":\n{\"*\":\"0.125\"}}",
              "map.json:3: a price is a number of dollars for a million RCU, 0 to 1000");
    check_map(HEAD "\"prices\":{\"prod\":1000.5}}",
              "map.json:2: a price is a number of dollars for a million RCU, 0 to 1000");
    check_map(HEAD "\"prices\":0.125}", "map.json:2: \"prices\" is written as an object: { … }");
}

static void test_repeated_member(void)
{
    check_map("{\"$schema\":\"a\",\n\"$schema\":\"b\"}", "map.json:2: a map has \"$schema\" twice");
}

static void test_a_repeated_member_in_escapes(void)
{
    check_map("{\"$schema\":\"a\",\n\"\\u0024schema\":\"b\"}",
              "map.json:2: a map has \"$schema\" twice");
}

static void test_environments_are_needed(void)
{
    check_map("{\"tables\":{}}",
              "map.json:1: a map needs \"environments\": { \"prod\": { \"prefix\": … } }");
}

static void test_tables_are_needed(void)
{
    check_map("{\"environments\":{\"p\":{}}}", "map.json:1: a map needs \"tables\"");
}

static void test_the_schema_is_a_text(void)
{
    check_map("{\"$schema\":1}", "map.json:1: \"$schema\" is written as a text in quotes");
}

/* Environments. */

static void check_environment(const char *members, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "{\"environments\":{\n%s},\"tables\":{}}", members);
    check_map(buf_text(&text), want);
}

static void test_an_environment_is_an_object(void)
{
    check_environment("\"p\":\"p-\"", "map.json:2: an environment is written as an object: { … }");
}

static void test_unknown_member_of_an_environment(void)
{
    check_environment("\"p\":{\"perfix\":\"p-\"}",
                      "map.json:2: an environment has no member \"perfix\"; it may have: prefix, "
                      "profile, region, endpoint, snapshot, snapshots, live");
}

static void test_the_same_environment_twice(void)
{
    check_environment("\"p\":{},\n\"p\":{}", "map.json:3: \"environments\" has \"p\" twice");
}

static void test_an_environment_is_one_directory(void)
{
    check_environment(
        "\"a/b\":{}",
        "map.json:2: an environment's name is one directory: at most 247 bytes, no /, %, "
        "control character or leading dot");
    check_environment(
        "\".a\":{}",
        "map.json:2: an environment's name is one directory: at most 247 bytes, no /, %, "
        "control character or leading dot");
}

static void test_a_prefix_has_the_parameters_of_the_name(void)
{
    const char *want = "map.json:2: an environment's name and its prefix have the same parameters";
    check_environment("\"dev-{b}\":{\"prefix\":\"dev-\"}", want);
    check_environment("\"dev\":{\"prefix\":\"dev-{b}-\"}", want);
}

static void test_a_prefix_is_a_format(void)
{
    check_environment("\"p\":{\"prefix\":\"{b\"}",
                      "map.json:2: \"prefix\" \"{b\": a { without its }");
    check_environment("\"p\":{\"prefix\":7}",
                      "map.json:2: \"prefix\" is written as a text in quotes");
}

static void test_two_environments_for_one_name(void)
{
    check_environment("\"dev-{b}\":{\"prefix\":\"dev-{b}-\"},\n\"{x}\":{\"prefix\":\"{x}-\"}",
                      "map.json:3: this and the environment in line 2 match the same names");
}

static void test_profile_region_and_endpoint_are_texts(void)
{
    check_environment("\"p\":{\"profile\":1}",
                      "map.json:2: \"profile\" is written as a text in quotes");
    check_environment("\"p\":{\"region\":\"\"}",
                      "map.json:2: \"region\" is written as a text in quotes");
    check_environment("\"p\":{\"endpoint\":null}",
                      "map.json:2: \"endpoint\" is written as a text in quotes");
}

static void test_no_text_holds_a_nul(void)
{
    check_environment("\"p\":{\"region\":\"a\\u0000b\"}",
                      "map.json:2: \"region\" may hold no \\u0000");
}

/* Tables. */

static void test_a_table_is_an_object(void)
{
    check_map(HEAD "\"tables\":{\n\"t\":[]}}",
              "map.json:3: a table is written as an object: { … }");
}

static void test_a_table_is_one_directory(void)
{
    check_map(HEAD "\"tables\":{\n\"a/b\":{}}}",
              "map.json:3: a table's name is one directory: at most 247 bytes, no /, %, control "
              "character or leading dot");
}

static void test_unknown_member_of_a_table(void)
{
    check_table("\"tabel\":\"x\"",
                "map.json:2: a table has no member \"tabel\"; it may have: table, records, "
                "indexes, types, params, attributes, separator, secret, mtime, ttl, links, paths");
}

static void test_a_table_needs_its_name(void)
{
    check_table("", "map.json:1: table \"t\" needs \"table\", its name without the prefix");
}

static void test_a_table_needs_records(void)
{
    check_table("\"table\":\"T\"",
                "map.json:1: table \"t\" needs \"records\", how its keys are written");
}

static void test_a_table_needs_paths(void)
{
    check_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}}",
                "map.json:1: table \"t\" has no \"paths\"");
}

static void test_a_separator_is_one_character(void)
{
    check_table("\"separator\":\"##\"", "map.json:2: \"separator\" is one character");
    check_table("\"separator\":1", "map.json:2: \"separator\" is written as a text in quotes");
}

static void test_a_ttl_is_a_day_at_most(void)
{
    const char *want = "map.json:2: \"ttl\" is a number of seconds from 0 to 86400";
    check_table("\"ttl\":-1", want);
    check_table("\"ttl\":86401", want);
    check_table("\"ttl\":1.5", want);
    check_table("\"ttl\":\"10\"", want);
}

static void test_secret_is_a_list_of_texts(void)
{
    const char *want = "map.json:2: \"secret\" is written as a list of texts: [\"…\"]";
    check_table("\"secret\":\"token\"", want);
    check_table("\"secret\":[]", want);
    check_table("\"secret\":[1]", "map.json:2: \"secret\" is written as a text in quotes");
}

static void test_mtime_is_a_text(void)
{
    check_table("\"mtime\":5", "map.json:2: \"mtime\" is written as a text in quotes");
}

/* Records. */

static void test_records_are_an_object(void)
{
    check_table("\"records\":[]", "map.json:2: \"records\" is written as an object: { … }");
}

static void test_a_record_is_an_object(void)
{
    check_table("\"records\":{\"r\":\"{a}\"}",
                "map.json:2: a record is its key attributes with their formats");
}

static void test_the_same_record_twice(void)
{
    check_table("\"records\":{\"r\":{\"pk\":\"{a}\"},\n\"r\":{\"pk\":\"{a}\"}}",
                "map.json:3: \"records\" has \"r\" twice");
}

static void test_a_record_has_keys(void)
{
    check_table("\"records\":{\"r\":{}}",
                "map.json:2: record \"r\" needs a format for each key attribute");
}

static void test_a_key_has_two_attributes_at_most(void)
{
    check_table("\"records\":{\"r\":{\"a\":\"{a}\",\"b\":\"{b}\",\n\"c\":\"{c}\"}}",
                "map.json:3: a table's key has one or two attributes");
}

static void test_all_records_have_the_same_keys(void)
{
    check_table("\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"},\n\"s\":{\"pk\":\"{a}\"}}",
                "map.json:3: record \"s\" needs a format for each key attribute");
    check_table("\"records\":{\"r\":{\"pk\":\"{a}\"},\n\"s\":{\"PK\":\"{a}\"}}",
                "map.json:3: all records of a table have the same key attributes; \"PK\" is new");
}

static void test_the_same_key_attribute_twice(void)
{
    check_table("\"records\":{\"r\":{\"pk\":\"{a}\",\n\"pk\":\"{b}\"}}",
                "map.json:3: a record has \"pk\" twice");
    check_table("\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}\"},\n"
                "\"s\":{\"pk\":\"{a}\",\n\"pk\":\"{b}\"}}",
                "map.json:4: a record has \"pk\" twice");
}

static void test_a_key_format_is_checked(void)
{
    check_table("\"records\":{\"r\":{\"pk\":\"{a}{b}\"}}",
                "map.json:2: a key's format \"{a}{b}\": two parameters need a text between them");
    check_table("\"records\":{\"r\":{\"pk\":\"a}\"}}",
                "map.json:2: a key's format \"a}\": a } without its {");
}

/* Indexes. */

static void test_indexes_are_an_object(void)
{
    check_table("\"indexes\":[]", "map.json:2: \"indexes\" is written as an object: { … }");
}

static void test_unknown_member_of_an_index(void)
{
    check_table("\"indexes\":{\"I\":{\"hash\":\"a\"}}",
                "map.json:2: an index has no member \"hash\"; it may have: partition, sort, "
                "projects, local, holds");
}

static void test_an_index_needs_its_partition(void)
{
    check_table("\"indexes\":{\n\"I\":{\"sort\":\"a\"}}",
                "map.json:3: index \"I\" needs its \"partition\" attribute");
}

static void test_projects_is_one_of_three(void)
{
    check_table(
        "\"indexes\":{\"I\":{\"partition\":\"a\",\n\"projects\":\"ALL\"}}",
        "map.json:3: \"projects\" is \"all\", \"some\", \"keys\", or a list of the attributes "
        "that are included");
}

static void test_an_index_has_four_attributes_a_side_at_most(void)
{
    const char *want = "map.json:2: a side of an index has at most four attributes";
    check_table("\"indexes\":{\"I\":{\"partition\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}}", want);
    check_table("\"indexes\":{\"I\":{\"sort\":{\"a\":\"{a}\",\"b\":\"{b}\",\"c\":\"{c}\","
                "\"d\":\"{d}\",\"e\":\"{e}\"}}}",
                want);
}

static void test_a_key_attribute_with_a_strange_name_needs_a_format(void)
{
    check_table("\"indexes\":{\"I\":{\"partition\":\"a.b\"}}",
                "map.json:2: \"a.b\" needs a format: { \"a.b\": \"{…}\" }: a parameter's name is "
                "letters, digits, _ and -");
}

static void test_a_key_attribute_is_a_text(void)
{
    check_table("\"indexes\":{\"I\":{\"partition\":7}}",
                "map.json:2: an index's key attribute is written as a text in quotes");
}

static void test_an_index_of_several_attributes(void)
{
    const struct map *map = good_table(
        RECORDS "\"indexes\":{\"I\":{\"partition\":[\"x\",\"y\"],\"sort\":{\"n\":\"N#{n}\","
                "\"m\":\"{m}\"},\"projects\":\"all\"}}," PATHS("{x}/{y}/{n}/", "\"index\":\"I\""));
    const struct map_index *index = map->models[0]->indexes;
    CHECK_INT(index->partition_count, 2);
    CHECK_INT(index->sort_count, 2);
    CHECK_TEXT(index->partition[1].attribute, "y");
    CHECK_TEXT(index->sort[0].attribute, "n");
    CHECK_INT(index->projects, PROJECTS_ALL);
    map_unref(map);
}

static void test_an_index_projects_some_unless_it_says(void)
{
    const struct map *map = good_table(RECORDS INDEX PATHS("{x}/", "\"index\":\"I\""));
    CHECK_INT(map->models[0]->indexes->projects, PROJECTS_SOME);
    CHECK(map->models[0]->patterns->hydrates);
    map_unref(map);
}

static void test_hydrate_overrules_the_projection(void)
{
    const struct map *map =
        good_table(RECORDS INDEX PATHS("{x}/", "\"index\":\"I\",\"hydrate\":false"));
    CHECK(!map->models[0]->patterns->hydrates);
    map_unref(map);
}

/* Types. */

static void test_types_are_of_key_attributes(void)
{
    check_table(RECORDS "\"types\":{\n\"zz\":\"N\"},\"paths\":{}",
                "map.json:4: \"zz\" is neither a key attribute of the table or its indexes, nor in "
                "a filter");
    check_table(WHOLE "\"types\":{\"sk\":\"BOOL\"},\"paths\":{}",
                "map.json:3: sk is a key, and so of type \"S\", \"N\" or \"B\"");
    check_table(RECORDS "\"types\":{\"sk\":\"X\"},\"paths\":{}",
                "map.json:3: a type is \"S\", \"N\", \"B\" or \"BOOL\"");
    check_table(RECORDS "\"types\":[],\"paths\":{}",
                "map.json:3: \"types\" is written as an object: { … }");
}

static void test_types_reach_the_table_and_its_indexes(void)
{
    const struct map *map =
        good_table("\"types\":{\"n\":\"N\",\"sk\":\"B\"}," WHOLE INDEX "\"paths\":{}");
    CHECK_INT(map->models[0]->keys[1].type, VALUE_B);
    CHECK_INT(map->models[0]->indexes->sort[0].type, VALUE_N);
    CHECK_INT(map->models[0]->keys[0].type, VALUE_S);
    map_unref(map);
}

/* Parameters. */

static void test_unknown_member_of_a_parameter(void)
{
    check_table("\"params\":{\"a\":{\"regex\":\"x\"}}",
                "map.json:2: a parameter has no member \"regex\"; it may have: values, only, "
                "owner, match, hint, type");
}

static void test_only_goes_with_values(void)
{
    check_table("\"params\":{\n\"a\":{\"only\":true}}",
                "map.json:3: {a} has \"only\" but no \"values\"; add them, or remove \"only\"");
}

static void test_an_owner_is_a_kind_that_has_the_parameter(void)
{
    check_table(RECORDS "\"params\":{\"d\":{\"owner\":\"job\"}}," PATHS("{a}/", ""),
                "map.json:3: the \"owner\" of {d} must be a kind of record whose key has {d}, and "
                "\"job\" is not one");
    check_table(RECORDS "\"params\":{\"b\":{\"owner\":\"jobs\"}}," PATHS("{a}/", ""),
                "map.json:3: the \"owner\" of {b} must be a kind of record whose key has {b}, and "
                "\"jobs\" is not one");
}

static void test_values_are_a_list_of_texts(void)
{
    check_table("\"params\":{\"a\":{\"values\":\"x\"}}",
                "map.json:2: \"values\" is written as a list of texts: [\"…\"]");
}

static void test_match_is_a_regular_expression(void)
{
    check_table("\"params\":{\"a\":{\n\"match\":\"(\"}}",
                "map.json:3: \"match\" is no regular expression: Unmatched ( or \\(");
}

static void test_a_match_before_a_fault_is_freed(void)
{
    check_table("\"params\":{\"a\":{\"match\":\"^x$\"},\"b\":7}",
                "map.json:2: a parameter is written as an object: { … }");
}

/* Paths. */

static void test_unknown_member_of_a_path(void)
{
    struct error err = {0};
    CHECK(!sample_table(RECORDS PATHS("{a}/", "\"sort\":1"), &err));
    CHECK_HAS(err.text,
              "map.json:3:18: a path has no member \"sort\"; it may have: record, list, ");
}

static void test_the_same_path_text_twice(void)
{
    check_table(RECORDS "\"paths\":{\"{a}/\":{},\n\"{a}/\":{}}",
                "map.json:4: \"paths\" has \"{a}/\" twice");
}

static void test_list_and_record_fit_the_path(void)
{
    check_table(RECORDS PATHS("{a}/", "\"record\":\"job\""),
                "map.json:3: a path that ends in / is a listing: \"list\", not \"record\"");
    check_table(RECORDS PATHS("{a}", "\"list\":\"job\""),
                "map.json:3: a listing's path ends in /; \"{a}\" does not");
}

static void test_a_kind_must_be_known(void)
{
    check_table(RECORDS PATHS("{a}/", "\"list\":\"jib\""),
                "map.json:3: \"records\" has no kind of the name \"jib\"; add it there");
    check_table(RECORDS PATHS("{a}/", "\"list\":[\"job\",7]"),
                "map.json:3: a kind of record is written as a text in quotes");
    check_table(RECORDS PATHS("{a}/", "\"list\":7"),
                "map.json:3: \"list\" is a kind of record, a list of kinds, or \"*\"");
    check_table(RECORDS PATHS("{a}/", "\"list\":[]"),
                "map.json:3: \"list\" is a kind of record, a list of kinds, or \"*\"");
}

static void test_several_kinds_must_be_chosen_from(void)
{
    check_table(KINDS PATHS("{a}/", ""), "map.json:3: the path has no kind of record; add it: "
                                         "\"list\" of one of the table's \"records\"");
    check_table(KINDS PATHS("{a}/{b}", ""), "map.json:3: the path has no kind of record; add it: "
                                            "\"record\" of one of the table's \"records\"");
}

static void test_an_index_must_be_known(void)
{
    check_table(RECORDS PATHS("{a}/", "\"index\":\"J\""),
                "map.json:3: the table's \"indexes\" have no \"J\"");
}

static void test_limits(void)
{
    const char *want =
        "map.json:3: \"newest\" is a number from 1 to 1000000, \"all\", or a parameter "
        "of the path, \"{count}\"";
    check_table(RECORDS PATHS("{a}/", "\"newest\":0"), want);
    check_table(RECORDS PATHS("{a}/", "\"newest\":1000001"), want);
    check_table(RECORDS PATHS("{a}/", "\"newest\":\"some\""), want);
    check_table(RECORDS PATHS("{a}/", "\"newest\":\"1{count}\""), want);
    check_table(RECORDS PATHS("{a}/", "\"newest\":\"\""),
                "map.json:3: \"newest\" is written as a text in quotes");
    check_table(RECORDS PATHS("{a}/", "\"oldest\":1.5"),
                "map.json:3: \"oldest\" is a number from 1 to 1000000, \"all\", or a parameter of "
                "the path, \"{count}\"");
    check_table(RECORDS PATHS("{a}/", "\"newest\":3,\"oldest\":3"),
                "map.json:3: \"newest\" and \"oldest\" exclude each other");
    check_table(RECORDS PATHS("{a}/", "\"newest\":\"{n}\",\"oldest\":3"),
                "map.json:3: \"newest\" and \"oldest\" exclude each other");
}

static void test_ties_go_with_a_limit(void)
{
    const char *want = "map.json:3: \"{a}/\": \"ties\" requires a listing with \"newest\" or "
                       "\"oldest\" and a number";
    check_table(RECORDS PATHS("{a}/", "\"ties\":true"), want);
    check_table(RECORDS PATHS("{a}/", "\"ties\":true,\"newest\":\"all\""), want);
    check_table(RECORDS PATHS("{a}/", "\"ties\":1"), "map.json:3: \"ties\" is true or false");
}

static void test_groups_are_of_a_listing_of_all(void)
{
    const char *want = "map.json:3: \"{a}/\": \"groups\" requires a listing without limit, "
                       "\"name\" and \"hydrate\": it shows directories, not items";
    check_table(RECORDS PATHS("{a}/", "\"groups\":true,\"newest\":5"), want);
    check_table(RECORDS PATHS("{a}/", "\"groups\":true,\"name\":\"{b}\""), want);
    check_table(RECORDS PATHS("{a}/", "\"groups\":\"b\""),
                "map.json:3: \"groups\" is true or false");
    check_table(
        RECORDS PATHS("{a}/", "\"groups\":true"),
        "map.json:3: \"{a}/\": \"groups\" shows directories that follow from the items' keys, but "
        "no step below it is one; add a path that continues with a part of the key");
}

static void test_a_limit_of_the_path(void)
{
    check_table(
        RECORDS PATHS("{a}/", "\"newest\":\"{n}\""),
        "map.json:3: \"{a}/\": \"newest\" or \"oldest\" is {n}, which the path does not have");
    check_table(RECORDS PATHS("{a}/{b}/", "\"newest\":\"{b}\""),
                "map.json:3: \"{a}/{b}/\": {b} is the number of entries, so it can't be part of a "
                "key or a condition, too");
    check_table(
        RECORDS PATHS("{a}/{n}", "\"newest\":\"{n}\""),
        "map.json:3: \"{a}/{n}\": one file is one item: use \"newest\" or \"oldest\" with 1");
    const struct map *map = good_table(RECORDS PATHS("{a}/last:{n}/", "\"newest\":\"{n}\""));
    const struct map_pattern *pattern = map->models[0]->patterns;
    CHECK_INT(pattern->limit, 1000000);
    CHECK_TEXT(pattern->limit_param, "n");
    map_unref(map);
}

static void test_pick_says_one_thing(void)
{
    const char *want = "map.json:3: \"pick\" has one member: { \"greatest\": \"last_updated\" }";
    check_table(RECORDS PATHS("{a}", "\"pick\":{}"), want);
    check_table(RECORDS PATHS("{a}", "\"pick\":{\"greatest\":\"x\",\"least\":\"y\"}"), want);
    check_table(RECORDS PATHS("{a}", "\"pick\":{\"latest\":\"x\"}"),
                "map.json:3: \"pick\" has no member \"latest\"; it may have: greatest, least");
    check_table(RECORDS PATHS("{a}", "\"pick\":\"x\""), want);
}

static void test_flags_are_true_or_false(void)
{
    check_table(RECORDS PATHS("{a}/", "\"consistent\":1"),
                "map.json:3: \"consistent\" is true or false");
    check_table(RECORDS PATHS("{a}/", "\"hydrate\":\"no\""),
                "map.json:3: \"hydrate\" is true or false");
    check_table(RECORDS PATHS("{a}/", "\"hidden\":\"yes\""),
                "map.json:3: \"hidden\" is true or false");
}

static void test_conditions_have_a_form(void)
{
    const char *want = "map.json:3: a condition on a key is a text or one of =, begins_with, "
                       "between, <, <=, >, >=";
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":{}}"), want);
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":{\"!=\":\"x\"}}"),
                "map.json:3: \"!=\" can't be used on a key; use it in \"filter\", on an attribute "
                "that is no key");
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":{\"<\":\"x\",\">\":\"y\"}}"), want);
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":[]}"),
                "map.json:3: a condition is written as a text in quotes");
    check_table(RECORDS PATHS("{a}/", "\"where\":[]"),
                "map.json:3: \"where\" is written as an object: { … }");
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":{\"=\":true}}"),
                "map.json:3: \"{a}/\": \"where\" on b: a key is never true, false or null");
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"'b\":\"x\"}"),
                "map.json:3: a name in single quotes does not end");
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"'b'.c\":\"x\"}"),
                "map.json:3: a name in single quotes is followed by nothing");
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"'a'\":\"x\"}"),
                "map.json:3: \"{a}/\": \"where\" on 'a' can't be part of a key condition: single "
                "quotes are for a key attribute of the table or index without a value in the path");
}

#define FILTER(body) PATHS("{a}/{n}/", "\"filter\":{" body "}")
#define TYPES "\"types\":{\"age\":\"N\",\"on\":\"BOOL\",\"who\":\"S\"},"
#define LOOKS "\"or\":[{\"age\":1},{\"on\":true},{\"who\":\"x\"}],"

/* Of a filter on what TYPES and PARAMS say. */
static void check_filter(const char *body, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0}, message = {0};
    buf_printf(&table,
               WHOLE TYPES "\"params\":{\"n\":{\"type\":\"N\"},\"state\":{\"values\":[\"on\","
                           "\"off\"]}},\n\"paths\":{\"{a}/{n}/\":{\"filter\":{" LOOKS
                           "\"count\":\"{n}\",%s}}}",
               body);
    buf_printf(&message, "map.json:4: %s", want);
    if (*want)
        check_table(buf_text(&table), buf_text(&message));
    else
        map_unref(good_table(buf_text(&table)));
}

#define ON "\"{a}/{n}/\": \"filter\" on "

static void test_a_filter_that_can_never_match(void)
{
    check_filter("\"x\":{\"begins_with\":5}", ON "x: a number has no beginning");
    check_filter("\"x\":{\"begins_with\":true}", ON "x: true or false has no beginning");
    check_filter("\"x\":{\"<\":true}",
                 ON "x: true or false is neither less nor greater than another");
    check_filter("\"x\":{\">=\":null}", ON "x: null is neither less nor greater than another");
    check_filter("\"x\":{\"between\":[true,false]}",
                 ON "x: true or false is neither less nor greater than another");
    check_filter("\"x\":{\"between\":[10,9]}", ON "x: the range ends before it begins");
    check_filter("\"x\":\"b..a\"", ON "x: the range ends before it begins");
    check_filter("\"age\":\"old\"", ON "age: age is a number, which \"old\" is not");
    check_filter("\"age\":\"5*\"", ON "age: a number has no beginning");
    check_filter("\"age\":\"1{n}\"", ON "age: a number is one whole parameter, or written out");
    check_filter("\"age\":true", ON "age: by \"types\" it is a number, and so never true or false");
    check_filter("\"age\":{\"contains\":5}", ON "age: it is a number, which contains nothing");
    check_filter("\"who\":{\"contains\":5}",
                 ON "who: by \"types\" it is a text, and so never a number");
    check_filter("\"on\":\"yes\"", ON "on: on is true or false, not \"yes\"");
    check_filter("\"who\":\"{n}\"", ON "who: it is a text, but by \"params\" {n} is a number");
    check_filter("\"x\":1e126",
                 ON "x: x is a number, but 1e126 is larger than the numbers of DynamoDB, which end "
                    "below 1E+126");
    check_filter("\"x\":123456789012345678901234567890123456789", ON
                 "x: x is a number, but 123456789012345678901234567890123456789 has more than 38 "
                 "digits");
    check_filter("\"x\":{\"in\":[]}", "\"in\" takes a list of 1 to 99 values: [\"a\", \"b\"]");
    check_filter("\"or\":[]", "\"filter\" has \"or\" twice");
    check_filter("\"and\":[]",
                 "\"and\" takes a list of filters: [{ \"a\": 1 }, { \"b\": \"x*\" }]");
    check_filter("\"not\":{}", "a filter in \"not\" is empty");
    check_filter(
        "\"state\":\"onn\"",
        "\"{a}/{n}/\": by \"params\" {state} is one of \"on\", \"off\"; \"onn\" is not among them");
    check_filter(
        "\"state\":{\"in\":[\"on\",\"of\"]}",
        "\"{a}/{n}/\": by \"params\" {state} is one of \"on\", \"off\"; \"of\" is not among them");
    check_filter("\"not\":{\"sk\":\"x\"}",
                 "\"{a}/{n}/\": \"filter\" on sk, a key attribute: only \"where\" can test it");
    check_filter("\"sk.x\":\"x\"",
                 "\"{a}/{n}/\": \"filter\" on sk, a key attribute: only \"where\" can test it");
    check_filter("\"x\":{\"=\":\"{m}\"}",
                 "\"{a}/{n}/\": the condition on x uses {m}, which the path does not have");
}

static void test_a_filter_s_path_has_a_form(void)
{
    check_filter("\"a..b\":1", ON "a..b: a step of the path to an attribute is empty");
    check_filter("\"a[x]\":1", ON "a[x]: square brackets contain the number of a list's element");
    check_filter("\"a[1\":1", ON "a[1: square brackets contain the number of a list's element");
    check_filter("\"a[1]b\":1",
                 ON "a[1]b: a name in quotes is followed by a dot or a square bracket");
    check_filter("\"'a\":1", ON "'a: a name in single quotes does not end");
}

static void test_filters_that_are_good(void)
{
    check_filter("\"x.y[0].z\":5,\"'a.b'.'it''s'\":true,\"'or'\":null,\"it's\":\"x\"", "");
    check_filter("\"age\":{\">\":1,\"<\":\"{n}\",\"!=\":3},\"on\":\"true\",\"who\":\"x*\"", "");
    check_filter("\"x\":{\"in\":[1,\"a\",true,null]},\"y\":{\"exists\":false},"
                 "\"z\":{\"contains\":\"{n}\"},\"not\":{\"p\":1,\"q\":2}",
                 "");
    check_filter("\"and\":[{\"not\":{\"and\":[{\"not\":{\"a1\":1}}]}},{\"a2\":1}]", "");
}

static void test_a_filter_stays_below_what_the_service_takes(void)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    buf_add_text(&body, "\"and\":[");
    for (int i = 0; i < 78; i++)
        buf_printf(&body, "%s{\"x\":{\"!=\":%d}}", i ? "," : "", i);
    size_t before = body.size;
    buf_add_text(&body, "]");
    check_filter(buf_text(&body), "");
    buf_truncate(&body, before);
    buf_add_text(&body, ",{\"a.b.c.d.e\":{\"exists\":true}},{\"y\":1},{\"z\":{\"!=\":1}}]");
    check_filter(buf_text(&body), "\"{a}/{n}/\": \"filter\" is longer than one expression of the "
                                  "service may be; remove conditions");
}

static void test_filters_are_nested_only_so_deep(void)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    for (int i = 0; i < 9; i++)
        buf_add_text(&body, "\"not\":{");
    buf_add_text(&body, "\"x\":1}}}}}}}}}");
    check_filter(buf_text(&body), "conditions are nested at most 8 deep");
}

static void test_a_condition_on_a_key_that_can_never_match(void)
{
    check_table("\"types\":{\"sk\":\"N\"}," WHOLE PATHS("{a}/", "\"where\":{\"sk\":\"x\"}"),
                "map.json:3: \"{a}/\": \"where\" on sk: sk is a number, which \"x\" is not");
    check_table("\"types\":{\"sk\":\"N\"}," WHOLE PATHS("{a}/", "\"where\":{\"sk\":\"10..9\"}"),
                "map.json:3: \"{a}/\": \"where\" on sk: the range ends before it begins");
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":\"2026-05..2026-04\"}"),
                "map.json:3: \"{a}/\": \"where\" on b: the range ends before it begins");
    map_unref(good_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":\"2026-05..2026\"}")));
    check_table(RECORDS "\"params\":{\"a\":{\"match\":\"^[a-z]*$\"}}," PATHS(
                    "x/", "\"where\":{\"a\":\"B\"}"),
                "map.json:3: \"x/\": by \"params\" {a} matches ^[a-z]*$; \"B\" does not");
}

#define BY_KIND "\"indexes\":{\"G\":{\"partition\":{\"g\":{\"one\":\"ONE#{b}\",\"two\":\"ALL\"}}}},"

static void test_an_index_of_several_formats(void)
{
    check_table(KINDS "\"indexes\":{\"G\":{\"partition\":{\"g\":{\"on\":\"x\"}}}},\"paths\":{}",
                "map.json:3: \"records\" has no kind of the name \"on\"; add it there");
    check_table(KINDS "\"indexes\":{\"G\":{\"partition\":{\"pk\":{\"one\":\"x\"}}}},\"paths\":{}",
                "map.json:3: pk is a key of the table, too; its formats are in \"records\"");
    check_table(
        KINDS "\"indexes\":{\"G\":{\"partition\":{\"g\":{\"one\":\"ONE#{b}\"}}}}," PATHS(
            "x/", "\"list\":\"two\",\"index\":\"G\""),
        "map.json:3: \"x/\": index G has no format for g of \"two\", so it holds no such items");
    check_table(KINDS BY_KIND PATHS("x/{b}/", "\"list\":[\"one\",\"two\"],\"index\":\"G\""),
                "map.json:3: \"x/{b}/\": one listing is one partition, but its kinds differ in g");
    map_unref(good_table(KINDS BY_KIND PATHS("x/", "\"list\":\"two\",\"index\":\"G\"")));
}

#define STATES                                                                                     \
    "\"indexes\":{\"G\":{\"partition\":\"g\",\"sort\":{\"h\":\"S#{state}#{day}\"}},"               \
    "\"H\":{\"partition\":\"g\",\"sort\":{\"h\":\"{day}#{state}\"}}},"

/* What comes back from an index is known by the table's key: a part of the index's alone selects
 * only where it stands in the condition. */
static void test_a_part_of_an_index_that_selects_nothing(void)
{
    map_unref(good_table(KINDS STATES PATHS(
        "{g}/",
        "\"list\":\"one\",\"index\":\"G\",\"where\":{\"state\":\"L\",\"day\":{\">\":\"2\"}}")));
    check_table(
        KINDS STATES PATHS("{g}/", "\"list\":\"one\",\"index\":\"H\",\"where\":{\"state\":\"L\"}"),
        "map.json:3: \"{g}/\": \"where\" on state can't be part of a key condition: only the first "
        "part without a value in the path can; try \"filter\"");
    check_table(KINDS STATES PATHS("{g}/", "\"list\":[\"one\",\"two\"],\"index\":\"H\","
                                           "\"where\":{\"state\":\"L\"}"),
                "map.json:3: \"{g}/\": \"where\" on state can't be part of a key condition: only "
                "the first part without a value in the path can; try \"filter\"");
    check_table(KINDS STATES PATHS("{g}/", "\"list\":\"one\",\"index\":\"G\","
                                           "\"where\":{\"state\":\"L\",\"h\":{\"<\":\"T\"}}"),
                "map.json:3: \"{g}/\": \"where\" on state can't be part of a key condition: only "
                "the first part without a value in the path can; try \"filter\"");
    check_table(KINDS STATES PATHS("{g}/{state}/", "\"list\":\"one\",\"index\":\"H\""),
                "map.json:3: \"{g}/{state}/\": {state} selects nothing: it is neither part of the "
                "key (of each of the path's kinds) nor in a condition");
    check_table(KINDS STATES PATHS("{g}/",
                                   "\"list\":\"one\",\"index\":\"G\",\"where\":{\"state\":\"L\","
                                   "\"day\":{\"<\":\"2\"}}"),
                "map.json:3: \"{g}/\": \"<\" on day, which is a part of the index's key alone: use "
                "\"<=\", which includes texts that begin with the value");
    check_table(KINDS PATHS("{a}/{b}/", "\"list\":[\"one\",\"two\"]"),
                "map.json:3: \"{a}/{b}/\": {b} selects nothing: it is neither part of the key (of "
                "each of the path's kinds) nor in a condition");
    check_table(KINDS PATHS("{a}/", "\"list\":[\"one\",\"two\"],\"where\":{\"b\":\"1\"}"),
                "map.json:3: \"{a}/\": \"where\" on b can't be part of a key condition: only the "
                "first part without a value in the path can; try \"filter\"");
}

static void test_ranges_have_both_ends(void)
{
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":\"x..\"}"),
                "map.json:3: a range needs both its ends");
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":\"..x\"}"),
                "map.json:3: a range needs both its ends");
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":{\"between\":[\"x\"]}}"),
                "map.json:3: \"between\" takes two values: [\"{from}\", \"{to}\"]");
}

static void test_condition_texts_are_formats(void)
{
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":\"{x\"}"), "map.json:3: a { without its }");
    check_table(RECORDS PATHS("{a}/", "\"filter\":{\"b\":{\"<\":\"{x\"}}"),
                "map.json:3: a condition's value \"{x\": a { without its }");
}

/* What a path can't ask. */

static void test_a_partition_part_is_missing(void)
{
    check_table(RECORDS PATHS("{b}/", ""),
                "map.json:3: \"{b}/\": the partition key pk is \"P#{a}\", but the path lacks {a}");
    check_table(RECORDS INDEX PATHS("all/", "\"index\":\"I\""),
                "map.json:3: \"all/\": the partition key x is \"{x}\", but the path lacks {x}");
}

static void test_kinds_of_different_partitions(void)
{
    check_table("\"table\":\"T\",\"records\":{\"one\":{\"pk\":\"A#{a}\"},\"two\":{\"pk\":\"B#{a}\"}"
                "},\n" PATHS("{a}/", "\"list\":[\"one\",\"two\"]"),
                "map.json:3: \"{a}/\": one listing is one partition, but its kinds differ in pk");
}

static void test_a_parameter_that_selects_nothing(void)
{
    check_table(RECORDS PATHS("{a}/{zz}/", ""),
                "map.json:3: \"{a}/{zz}/\": {zz} selects nothing: it is neither part of the key "
                "(of each of the path's kinds) nor in a condition");
}

static void test_a_condition_on_what_is_no_key(void)
{
    const char *want = "map.json:3: \"{a}/\": \"where\" on zz can't be part of a key condition: "
                       "only the first part without a value in the path can; try \"filter\"";
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"zz\":\"x\"}"), want);
}

static void test_a_filter_on_a_key_of_what_is_asked(void)
{
    check_table(
        RECORDS PATHS("{a}/", "\"filter\":{\"sk\":\"x\"}"),
        "map.json:3: \"{a}/\": \"filter\" on sk, a key attribute: only \"where\" can test it");
    check_table(
        RECORDS INDEX PATHS("{x}/", "\"index\":\"I\",\"filter\":{\"n\":\"1\"}"),
        "map.json:3: \"{x}/\": \"filter\" on n, a key attribute: only \"where\" can test it");
    map_unref(
        good_table(RECORDS INDEX PATHS("{x}/", "\"index\":\"I\",\"filter\":{\"sk\":\"J#1#2\"}")));
}

static void test_an_index_of_keys_is_asked_for_no_other_attribute(void)
{
    check_table(
        RECORDS KEYS_INDEX PATHS("{x}/", "\"index\":\"I\",\"filter\":{\"status\":\"DONE\"}"),
        "map.json:3: \"{x}/\": \"filter\" looks at status, but index I holds keys alone, so no "
        "item would match");
    check_table(RECORDS KEYS_INDEX PATHS("{x}", "\"index\":\"I\",\"pick\":{\"least\":\"age\"}"),
                "map.json:3: \"{x}\": \"pick\" looks at age, but index I holds keys alone, so no "
                "item would match");
}

#define INDEX_OF(projects) "\"indexes\":{\"I\":{\"partition\":\"x\"" projects "}},"

/* The service takes what an index does not include for what the record lacks. */
static void test_a_filter_looks_at_what_the_index_is_known_to_include(void)
{
    check_table(RECORDS INDEX_OF("") PATHS("{x}/", "\"index\":\"I\",\"filter\":{\"a\":\"1\"}"),
                "map.json:3: \"{x}/\": \"filter\" looks at a, but \"projects\" of index I does not "
                "list it; list all attributes of the index: \"projects\": [\"a\"]");
    check_table(RECORDS INDEX_OF(",\"projects\":[\"b\",\"c\"]")
                    PATHS("{x}/", "\"index\":\"I\",\"filter\":{\"a\":{\"!=\":\"1\"}}"),
                "map.json:3: \"{x}/\": \"filter\" looks at a, which index I does not include");
    check_table(RECORDS INDEX_OF(",\"projects\":[\"b\"]")
                    PATHS("{x}", "\"index\":\"I\",\"pick\":{\"least\":\"a\"}"),
                "map.json:3: \"{x}\": \"pick\" looks at a, which index I does not include");
    check_table(RECORDS INDEX_OF(",\"projects\":[\"b\"]")
                    PATHS("{x}", "\"index\":\"I\",\"attribute\":\"a\",\"hydrate\":false"),
                "map.json:3: \"{x}\": \"attribute\" looks at a, which index I does not include");
    map_unref(good_table(RECORDS INDEX_OF(",\"projects\":[\"b\",\"a\"]") PATHS(
        "{x}/", "\"index\":\"I\",\"filter\":{\"a.deep\":\"1\",\"pk\":\"P\",\"b\":\"2\"}")));
}

static void test_a_part_said_twice(void)
{
    check_table(
        RECORDS PATHS("{a}/{b}/", "\"where\":{\"a\":\"x\"}"),
        "map.json:3: \"{a}/{b}/\": {a} has a value in \"where\" and in the path; remove one");
}

static void test_before_of_one_record(void)
{
    struct error err = {0};
    CHECK(!sample_table(RECORDS PATHS("{a}/{x}", "\"where\":{\"b\":{\"<\":\"{x}\"}},\"newest\":1"),
                        &err));
    CHECK_HAS(err.text, "\"<\" on a part requires a listing; for one item use \"<=\"");
    map_unref(
        good_table(RECORDS PATHS("{a}/{x}/", "\"where\":{\"b\":{\"<\":\"{x}\"}},\"newest\":1")));
}

static void test_a_name_that_could_not_be_typed(void)
{
    static const char want[] =
        "map.json:3: \"{a}/\": \"name\" holds a /, a % or a control character";
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{b}/{c}\""), want);
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{b} at {c}%41\""), want);
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{b}\\n{c}\""), want);
}

static void test_a_condition_on_a_later_part(void)
{
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"c\":\"x*\"}"),
                "map.json:3: \"{a}/\": \"where\" on c can't be part of a key condition: only the "
                "first part without a value in the path can; try \"filter\"");
}

static void test_a_condition_uses_what_the_path_lacks(void)
{
    check_table(RECORDS PATHS("{a}/", "\"where\":{\"b\":\"{x}*\"}"),
                "map.json:3: \"{a}/\": the condition on sk uses {x}, which the path does not have");
    check_table(RECORDS PATHS("{a}/", "\"filter\":{\"f\":\"{x}\"}"),
                "map.json:3: \"{a}/\": the condition on f uses {x}, which the path does not have");
}

static void test_begins_with_on_a_number(void)
{
    check_table("\"types\":{\"n\":\"N\"}," RECORDS INDEX PATHS(
                    "{x}/", "\"index\":\"I\",\"where\":{\"n\":\"1*\"}"),
                "map.json:3: \"{x}/\": n is a number: it has no beginning (x*)");
}

static void test_a_prefix_of_a_number(void)
{
    check_table("\"types\":{\"sk\":\"N\"}," RECORDS PATHS("{a}/", ""),
                "map.json:2: sk is a number, which has no parts: its format is one whole part, "
                "\"{sk}\", or a fixed value");
    check_table("\"types\":{\"x\":\"B\"}," RECORDS
                "\"indexes\":{\"I\":{\"partition\":{\"x\":\"A#{x}\"}}}," PATHS("{a}/", ""),
                "map.json:3: x is binary, which has no parts: its format is one whole part, "
                "\"{x}\", or a fixed value");
    check_table("\"types\":{\"sk\":\"N\"},\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\","
                "\"sk\":\"one\"}}," PATHS("{a}/", ""),
                "map.json:2: sk is a number, which \"one\" is not");
}

static void test_contradictions(void)
{
    check_table(RECORDS INDEX PATHS("{x}/", "\"index\":\"I\",\"consistent\":true"),
                "map.json:3: \"{x}/\": a global index can't be read consistently: remove "
                "\"consistent\", or, if the index is local, add \"local\": true to it");
    check_table(RECORDS
                "\"indexes\":{\"I\":{\"partition\":\"x\",\"local\":true}}," PATHS("{a}/", ""),
                "map.json:3: a local index has the table's partition key, which is pk");
    check_table(RECORDS PATHS("{a}/", "\"hydrate\":true"),
                "map.json:3: \"{a}/\": \"hydrate\" requires \"index\"");
    check_table(RECORDS PATHS("{a}/", "\"attribute\":\"x\""),
                "map.json:3: \"{a}/\": a listing has no \"attribute\"; remove the path's final /");
    check_table(RECORDS PATHS("{a}/", "\"pick\":{\"least\":\"x\"}"),
                "map.json:3: \"{a}/\": a listing has no \"pick\"; remove the path's final /");
    check_table(RECORDS PATHS("{a}", "\"name\":\"{b}\""),
                "map.json:3: \"{a}\": \"name\" requires a listing, whose path ends in /");
    check_table(RECORDS PATHS("{a}", "\"newest\":2"),
                "map.json:3: \"{a}\": one file is one item: use \"newest\" or \"oldest\" with 1");
    check_table(RECORDS PATHS("{a}/{b}/{c}", "\"newest\":1"),
                "map.json:3: \"{a}/{b}/{c}\": the path has the whole key, so there is one item and "
                "nothing to choose");
}

static void test_a_name_needs_every_part(void)
{
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{b}\""),
                "map.json:3: \"{a}/\": \"name\" lacks {c}, without which two keys would share a "
                "name");
}

static void test_a_name_goes_with_one_kind(void)
{
    check_table(KINDS PATHS("{a}/", "\"list\":[\"one\",\"two\"],\"name\":\"{b}\""),
                "map.json:3: \"{a}/\": \"name\" requires a path of one kind of record");
}

static void test_a_name_can_be_taken_apart(void)
{
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{b}0{c}\""),
                "map.json:3: \"{a}/\": after a parameter the text of a name can't begin with one "
                "of 0-9 or A-F; change that text in \"name\"");
}

static void test_a_rank_stands_at_the_beginning_of_a_name(void)
{
    static const char first[] =
        "map.json:3: \"{a}/\": {rank} occurs once, at the beginning of \"name\"";
    static const char more[] = "map.json:3: \"{a}/\": behind {rank} a \"name\" has a text, and "
                               "then the parts that identify the item";
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{b}#{c}#{rank}\""), first);
    check_table(RECORDS PATHS("{a}/", "\"name\":\"no {rank}#{b}#{c}\""), first);
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{rank}_{rank}_{b}#{c}\""), first);
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{rank*}_{b}#{c}\""), first);
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{rank}\""), more);
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{rank}_\""), more);
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{rank}_{b}\""),
                "map.json:3: \"{a}/\": \"name\" lacks {c}, without which two keys would share a "
                "name");
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{rank}0{b}#{c}\""),
                "map.json:3: \"{a}/\": after a parameter the text of a name can't begin with one "
                "of 0-9 or A-F; change that text in \"name\"");
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{rank}/{b}#{c}\""),
                "map.json:3: \"{a}/\": \"name\" holds a /, a % or a control character");
    check_table(
        RECORDS PATHS("{a}/", "\"name\":\"{rank} - - - - - - - - - - - - - - - - -{b}#{c}\""),
        "map.json:3: \"{a}/\": the text behind {rank} has more than 32 bytes");
}

static void test_a_rank_stands_in_no_path_or_condition(void)
{
    check_table(RECORDS PATHS("{a}/{rank}/", ""),
                "map.json:3: \"{a}/{rank}/\": {rank} selects nothing: it is neither part of the "
                "key (of each of the path's kinds) nor in a condition");
    check_table(
        RECORDS PATHS("{a}/", "\"where\":{\"b\":\"{rank}\"}"),
        "map.json:3: \"{a}/\": the condition on sk uses {rank}, which the path does not have");
    check_table(
        RECORDS PATHS("{a}/", "\"filter\":{\"x\":\"{rank}\"}"),
        "map.json:3: \"{a}/\": the condition on x uses {rank}, which the path does not have");
    check_table(RECORDS
                "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":{\"y\":\"{rank}\"}}}," PATHS(
                    "{x}/", "\"index\":\"I\",\"name\":\"{rank}_{a}#{b}#{c}\""),
                "map.json:3: \"{x}/\": {rank} in \"name\" is the position in the listing, but also "
                "a part of the index's key: rename that part");
}

/* A table whose keys have a part of that name has had it before there were ranks. */
static void test_rank_may_be_a_part_of_the_key(void)
{
    const struct map *map = good_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"{b}#{rank}\"}}," PATHS(
            "{a}/", "\"name\":\"{rank}_{b}\""));
    const struct map_entry *entry = &map->models[0]->patterns->entries[0];
    CHECK_INT(entry->rank.digits, 0);
    CHECK_INT(entry->name.count, 3);
    map_unref(map);
}

static void test_a_name_has_parts_of_the_key_alone(void)
{
    check_table(RECORDS PATHS("{a}/", "\"name\":\"{b}#{c}#{state}\""),
                "map.json:3: \"{a}/\": {state} in \"name\" is no part of the item's key");
    check_table(
        RECORDS "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"y\"}}," PATHS(
            "{x}/", "\"index\":\"I\",\"name\":\"{z},{a},{b}#{c}\""),
        "map.json:3: \"{x}/\": {z} in \"name\" is no part of the item's key, nor of the index's");
    check_table(RECORDS "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"y\"}}," PATHS(
                    "{x}/", "\"index\":\"I\",\"name\":\"{y},{b}#{c}\""),
                "map.json:3: \"{x}/\": \"name\" lacks {a}, without which two keys would share a "
                "name");
    check_table(RECORDS "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":\"y\"}}," PATHS(
                    "{a}/", "\"name\":\"{y},{b}#{c}\""),
                "map.json:3: \"{a}/\": {y} in \"name\" is no part of the item's key");
}

static void test_spellings_that_make_no_sense(void)
{
    check_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a:05}\"}}," PATHS("{a:05}", ""),
        "map.json:2: \"{a:05}\": the partition key pk is \"{a:05}\", but the path lacks {a}");
    check_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a:5}\"}}," PATHS("{a}", ""),
                "map.json:2: a key's format \"{a:5}\": a part's colon is followed by lower, upper, "
                "or a 0 and a number of digits up to 38 ({score:05})");
    check_table(
        "\"table\":\"T\",\"types\":{\"pk\":\"N\"},\"records\":{\"r\":{\"pk\":\"{a:05}\"}}," PATHS(
            "{a}", ""),
        "map.json:2: pk is a number, which has no spelling: remove the colon and the text behind "
        "it");
    check_table(
        "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a:lower}\",\"sk\":\"X#{a}\"}}," PATHS("{a}",
                                                                                             ""),
        "map.json:2: a part has one spelling everywhere, but this is {a} and line 2 has {a:lower}; "
        "rename one of them");
    check_table(
        "\"table\":\"T\",\"separator\":\"0\",\"records\":{\"r\":{\"pk\":\"{a:05}\"}}," PATHS("{a}",
                                                                                             ""),
        "map.json:2: {a} is padded with zeros, but the separator is a digit; choose another "
        "separator");
    check_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a:upper}\"}},"
                "\"params\":{\"a\":{\"values\":[\"DE\",\"fr\"]}}," PATHS("{a}", ""),
                "map.json:2: by its format in the key {a} is \"FR\", not \"fr\"");
    check_table("\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a:03}\"}},"
                "\"params\":{\"a\":{\"values\":[\"x\"]}}," PATHS("{a}", ""),
                "map.json:2: {a} can't be \"x\": the key has a number of 3 digits; type all of "
                "them, or none of the leading zeros");
}

#define SCORES "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\",\"sk\":\"S#{n:05}#{b}\"}},"

static void test_numbers_with_zeros_are_compared_whole(void)
{
    check_table(SCORES PATHS("{a}/{n}/", "\"where\":{\"n\":\"4*\"}"),
                "map.json:2: \"{a}/{n}/\": \"where\" on n: a number with zeros in front has no "
                "beginning (x*)");
    check_table(SCORES PATHS("{a}/{x}/", "\"where\":{\"n\":\"1..1{x}\"}"),
                "map.json:2: \"{a}/{x}/\": \"where\" on n: a number is one whole parameter, or "
                "written out");
    check_table(SCORES PATHS("{a}/", "\"where\":{\"n\":{\">\":\"123456\"}}"),
                "map.json:2: \"{a}/\": \"where\" on n: it is a number with as many digits "
                "as the key has, or without the zeros in front");
    check_table(SCORES PATHS("{a}/", "\"where\":{\"n\":\"42..5\"}"),
                "map.json:2: \"{a}/\": \"where\" on n: the range ends before it begins");
    map_unref(good_table(SCORES PATHS("{a}/", "\"where\":{\"n\":\"5..42\"}")));
}

/* What of a name only an item can tell is known when the map is read. */
static void test_parts_of_the_index_in_a_name(void)
{
    const struct map *map = good_table(
        RECORDS "\"indexes\":{\"I\":{\"partition\":\"x\",\"sort\":{\"y\":\"{s}@{t}\",\"u\":\"{u}\"}"
                "}}," PATHS("{x}/", "\"index\":\"I\",\"name\":\"{x} {u},{a},{b}#{c}-{t}\""));
    const struct map_entry *entry = &map->models[0]->patterns->entries[0];
    CLEAN_UP(buf_clean_up) struct buf indexed = {0};
    format_write(&entry->indexed, &indexed);
    CHECK_TEXT(buf_text(&indexed), "{u}{t}");
    map_unref(map);
}

static void test_too_many_parameters_in_a_path(void)
{
    struct error err = {0};
    CHECK(!sample_table(RECORDS PATHS("{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}/{j}/{k}/{l}/{m}/", ""),
                        &err));
    CHECK_HAS(err.text, "too many parameters");
}

/* Paths beside each other. */

static void test_segments_are_names(void)
{
    check_table(RECORDS PATHS("//{a}/", ""), "map.json:3: an empty segment, . or .. in a path");
    check_table(RECORDS PATHS("../{a}/", ""), "map.json:3: an empty segment, . or .. in a path");
    check_table(RECORDS PATHS("a%b/{a}/", ""),
                "map.json:3: a path can't hold %, which names use for escapes");
    check_table(
        RECORDS PATHS("{a}D/", ""),
        "map.json:3: after a parameter the text of a segment can't begin with one of 0-9 or A-F");
    check_table(RECORDS PATHS("{a}@info/", ""),
                "map.json:3: a path can't end in @, @typed, @info, @links, @history, @similar, "
                "@jsonl, @csv, @table, "
                "@count, @summary or @sqlite, which are companions of an item or of a listing");
    check_table(RECORDS PATHS("{a}@count/", ""),
                "map.json:3: a path can't end in @, @typed, @info, @links, @history, @similar, "
                "@jsonl, @csv, @table, "
                "@count, @summary or @sqlite, which are companions of an item or of a listing");
    check_table(RECORDS PATHS("{a}@/", ""),
                "map.json:3: a path can't end in @, @typed, @info, @links, @history, @similar, "
                "@jsonl, @csv, @table, "
                "@count, @summary or @sqlite, which are companions of an item or of a listing");
}

static void test_ambiguous_siblings(void)
{
    check_table(KINDS "\"paths\":{\"{a}/{b}\":{\"record\":\"one\"},\n"
                      "\"{a}/{c}\":{\"record\":\"two\"}}",
                "map.json:4: ambiguous: \"{c}\" and \"{b}\" (line 3) match the same names; use one "
                "name for both, or distinguish them by a literal or a \"match\"");
}

static void test_a_match_tells_siblings_apart(void)
{
    const struct map *map = good_table(KINDS "\"params\":{\"c\":{\"match\":\"^[0-9]\"}},"
                                             "\"paths\":{\"{a}/{b}\":{\"record\":\"one\"},\n"
                                             "\"{a}/{c}\":{\"record\":\"two\"}}");
    const struct route *first = map->models[0]->root->children->children;
    CHECK_TEXT(first->file->path, "{a}/{c}");
    CHECK_TEXT(first->next->file->path, "{a}/{b}");
    map_unref(map);
}

static void test_two_files_at_one_path(void)
{
    check_table(KINDS "\"paths\":{\"x/{a}/{b}\":{\"record\":\"one\"},\n"
                      "\"x/{a}/{b}/\":{\"list\":\"one\"}}",
                "map.json:4: \"x/{a}/{b}/\" has the same path as line 3");
}

static void test_a_file_can_not_be_a_directory_too(void)
{
    check_table(RECORDS "\"paths\":{\"{a}/{b}\":{},\n\"{a}/{b}/{c}\":{}}",
                "map.json:3: this path is a file, but line 4 makes it a directory");
}

/* Forms that mean the same. */

static void check_same_conditions(const char *one, const char *other)
{
    CLEAN_UP(buf_clean_up) struct buf first = {0}, second = {0};
    const struct map *map = good_table(one);
    sample_write_conds(map->models[0]->patterns, &first);
    map_unref(map);
    map = good_table(other);
    sample_write_conds(map->models[0]->patterns, &second);
    map_unref(map);
    CHECK_TEXT(buf_text(&second), buf_text(&first));
}

static void test_shorthands_mean_the_object_forms(void)
{
    check_same_conditions(RECORDS PATHS("{a}/{d}/", "\"where\":{\"b\":\"{d}*\"}"),
                          RECORDS PATHS("{a}/{d}/", "\"where\":{\"b\":{\"begins_with\":\"{d}\"}}"));
    check_same_conditions(
        RECORDS PATHS("{a}/{d}..{e}/", "\"where\":{\"b\":\"{d}..{e}\"}"),
        RECORDS PATHS("{a}/{d}..{e}/", "\"where\":{\"b\":{\"between\":[\"{d}\",\"{e}\"]}}"));
    check_same_conditions(RECORDS PATHS("{a}/{d}/", "\"where\":{\"b\":\"{d}\"}"),
                          RECORDS PATHS("{a}/{d}/", "\"where\":{\"b\":{\"=\":\"{d}\"}}"));
    check_same_conditions(RECORDS PATHS("{a}/", "\"filter\":{\"n\":5}"),
                          RECORDS PATHS("{a}/", "\"filter\":{\"n\":{\"=\":5}}"));
}

static void test_one_kind_in_a_list_is_that_kind(void)
{
    check_same_conditions(KINDS PATHS("{a}/", "\"list\":\"one\""),
                          KINDS PATHS("{a}/", "\"list\":[\"one\"]"));
}

static void test_a_ttl_of_the_table_is_that_of_its_paths(void)
{
    const struct map *map =
        good_table(RECORDS "\"paths\":{\"{a}/\":{},\"x/{a}/\":{\"ttl\":0}},\"mtime\":\"m\"");
    const struct map_pattern *first = map->models[0]->patterns;
    CHECK_INT(first->ttl_ms, MAP_TTL_MS);
    CHECK_INT(first->next->ttl_ms, 0);
    CHECK_TEXT(first->mtime, "m");
    map_unref(map);
}

/* What the map says could crash or hold up whoever reads it; it is bounded. */

static void check_match(const char *match, const char *why)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0}, want = {0};
    buf_printf(&table, RECORDS "\"params\":{\"a\":{\"match\":\"%s\"}},\"paths\":{}", match);
    buf_printf(&want, "map.json:3: \"match\" %s\n", why ? why : "");
    if (why)
        check_all(buf_text(&table), buf_text(&want));
    else
        map_unref(good_table(buf_text(&table)));
}

static void check_repeated_match(const char *before, const char *after, int times, const char *why)
{
    CLEAN_UP(buf_clean_up) struct buf match = {0};
    for (int i = 0; i < times; i++)
        buf_add_text(&match, before);
    buf_add_char(&match, 'a');
    for (int i = 0; i < times; i++)
        buf_add_text(&match, after);
    check_match(buf_text(&match), why);
}

static void test_a_match_is_bounded(void)
{
    static const char large[] =
        "can't be used: it is too large: with each repeat written out it may have 1000 characters";
    check_repeated_match("(", ")", 200000, "can't be used: it is longer than 1000 bytes");
    check_repeated_match("(", ")", 21, "can't be used: it nests more than 20 groups");
    check_repeated_match("(", "+)", 20, large); /* each + writes its group out twice */
    check_repeated_match("(", "{1,100})", 3, large);
    check_match("a{1,100}{1,100}", large);
    check_match("[[:alpha:]-]{2000}", large);
    check_match("(a{1,40}b){30,}", large);
    check_match("a{1001}", large);
    check_match("a{500}b{501}", large);
    check_match("(a)\\\\1", "can't be used: it refers back (\\1), which can take unlimited time");
}

static void test_a_match_of_a_sensible_size_is_none_too_large(void)
{
    check_repeated_match("(", ")", 20, NULL);
    check_match("^[a-z][]a-z0-9-]{0,254}$", NULL);
    check_match("^(([0-9]{1,3}\\\\.){3}[0-9]{1,3}|[^]]+|a{3}|[[:alnum:]_]{5,})$", NULL);
    check_match("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", NULL);
    check_match("a{,5}", NULL);
    check_match("a{1000}", NULL);
    check_match("a{999}b{0}", NULL);
    check_match("", "is written as a text in quotes");
}

static void test_a_path_is_so_deep_at_most(void)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    buf_add_text(&table, RECORDS "\"paths\":{\"");
    for (int i = 0; i < 200000; i++)
        buf_add_text(&table, "x/");
    buf_add_text(&table, "{a}/\":{}}");
    check_all(buf_text(&table), "map.json:3: a path has more than 64 segments\n");
}

static void test_an_object_has_so_many_members_at_most(void)
{
    CLEAN_UP(buf_clean_up) struct buf paths = {0}, values = {0};
    buf_add_text(&paths, RECORDS "\"paths\":{");
    buf_add_text(&values, RECORDS "\"paths\":{},\"params\":{\"a\":{\"values\":[\"x\"");
    for (int i = 0; i < 2001; i++)
        buf_printf(&paths, "\"p%d/{a}/\":{},", i);
    for (int i = 0; i < 10000; i++)
        buf_add_text(&values, ",\"x\"");
    buf_add_text(&paths, "}");
    buf_add_text(&values, "]}}");
    check_all(buf_text(&paths), "map.json:3: \"paths\" has more than 2000 members\n");
    check_all(buf_text(&values), "map.json:3: \"values\" has more than 10000 texts\n");
}

static void test_a_map_that_never_ends(void)
{
    struct error err = {0};
    CHECK(!map_load("/dev/zero", NULL, NULL, &err));
    CHECK_TEXT(err.text, "/dev/zero is not a map: it is larger than 1 MB");
}

/* Sixteen parts are known by equalities, eight is what a key condition takes. */
static void test_many_equalities(void)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    buf_add_text(&table, "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"");
    for (char c = 'a'; c < 'i'; c++)
        buf_printf(&table, "#{%c}", c);
    buf_add_text(&table, "\",\"sk\":\"");
    for (char c = 'i'; c < 'q'; c++)
        buf_printf(&table, "#{%c}", c);
    buf_add_text(&table, "\"}},\"paths\":{\"x\":{\"where\":{");
    for (char c = 'a'; c < 'q'; c++)
        buf_printf(&table, "\"%c\":\"v\",", c);
    buf_add_text(&table, "}}}");
    const struct map *map = good_table(buf_text(&table));
    CHECK_INT(map->models[0]->patterns->stated_count, 16);
    map_unref(map);
}

static void test_the_same_kind_twice_in_a_list(void)
{
    check_all(KINDS PATHS("{a}/", "\"list\":[\"one\",\"one\"]"),
              "map.json:3: \"list\" has \"one\" twice\n");
}

/* All that is wrong in one go. */

static void test_all_that_is_wrong_is_told(void)
{
    check_all(
        "\"table\":7,\n"
        "\"records\":{\"one\":{\"pk\":\"{a}\",\"sk\":\"ONE#{b}\"},\n"
        "\"two\":{\"pk\":\"{a\",\"sk\":\"TWO#{c}\"}},\n"
        "\"indexes\":{\"I\":{\"partition\":\"x\"},\n"
        "\"J\":{\"sort\":\"y\"}},\n"
        "\"params\":{\"b\":{\"match\":\"(\"}},\n"
        "\"ttl\":-1,\n"
        "\"paths\":{\"{a}/{b}\":{\"record\":\"one\",\n"
        "\"newest\":0,\"tll\":3},\n"
        "\"{a}/\":{\"list\":\"one\",\n"
        "\"index\":\"none\"},\n"
        "\"x/{a}/{z}\":{\"record\":\"one\"},\n"
        "\"y/{x}/\":{\"list\":\"one\",\"index\":\"I\",\"hydrate\":1}}",
        "map.json:2: \"table\" is written as a text in quotes\nmap.json:4: a key's format \"{a\": "
        "a { without its }\nmap.json:6: index \"J\" needs its \"partition\" attribute\nmap.json:7: "
        "\"match\" is no regular expression: Unmatched ( or \\(\nmap.json:8: \"ttl\" is a number "
        "of seconds from 0 to 86400\nmap.json:10: \"newest\" is a number from 1 to 1000000, "
        "\"all\", or a parameter of the path, \"{count}\"\nmap.json:10: a path has no member "
        "\"tll\"; it may have: record, list, index, where, filter, newest, oldest, ties, groups, "
        "pick, attribute, name, hydrate, consistent, hidden, ttl, mtime\nmap.json:12: the table's "
        "\"indexes\" have no \"none\"\nmap.json:13: \"x/{a}/{z}\": {z} selects nothing: it is "
        "neither part of the key (of each of the path's kinds) nor in a condition\nmap.json:14: "
        "\"hydrate\" is true or false\n");
}

/* One fault has no others in its wake. */
static void test_what_refers_to_a_fault_is_no_fault(void)
{
    check_all(
        KINDS "\"indexes\":{\"I\":{\"partition\":\"x\",\"projects\":\"half\"}},"
              "\"types\":{\"x\":\"N\"},"
              "\"paths\":{\"{x}\":{\"index\":\"I\",\"record\":\"one\"}}",
        "map.json:3: \"projects\" is \"all\", \"some\", \"keys\", or a list of the attributes "
        "that are included\n");
    check_all("\"table\":\"T\",\"records\":{\"one\":{\"pk\":\"{a}{b}\"}},"
              "\"types\":{\"pk\":\"N\"},"
              "\"paths\":{\"{a}/{b}\":{\"record\":\"one\"},\"x/{a}/\":{\"list\":\"*\"}}",
              "map.json:2: a key's format \"{a}{b}\": two parameters need a text between them\n");
    check_all("\"tabel\":\"T\",\"records\":{\"one\":{\"pk\":\"{a}\"}},\"paths\":{}",
              "map.json:2: a table has no member \"tabel\"; it may have: table, records, indexes, "
              "types, params, attributes, separator, secret, mtime, ttl, links, paths\n");
    check_all(KINDS "\"params\":{\"c\":{\"match\":7}},"
                    "\"paths\":{\"{a}/{b}\":{\"record\":\"one\"},"
                    "\"{a}/{c}\":{\"record\":\"two\"}}",
              "map.json:3: \"match\" is written as a text in quotes\n");
}

/* What a path itself can't be is told beside other errors; which of two paths is meant is not. */
static void test_segments_are_judged_beside_other_errors(void)
{
    check_all(KINDS "\"paths\":{\"x%/{a}/{b}\":{\"record\":\"one\"},\n"
                    "\"{a}/{b}\":{\"record\":\"one\"},\"{a}/{c}\":{\"record\":\"two\"},\n"
                    "\"y/{a}/\":{\"list\":\"three\"}}",
              "map.json:3: a path can't hold %, which names use for escapes\nmap.json:5: "
              "\"records\" has no kind of the name \"three\"; add it there\n");
}

static void test_a_map_that_is_all_wrong_is_told_in_part(void)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0}, got = {0};
    buf_add_text(&table, HEAD "\"tables\":{\"t\":{" KINDS "\"paths\":{");
    for (int i = 0; i < FINDINGS_MAX + 7; i++)
        buf_printf(&table, "%s\"p%d/{a}/\":{\"list\":\"three\"}", i ? ",\n" : "", i);
    buf_add_text(&table, "}}}}");
    write_findings(buf_span(&table), &got);
    CHECK_HAS(buf_text(&got), "\nand 7 more\n");
}

static void test_the_error_of_a_map_counts_the_others(void)
{
    struct error err = {0};
    CHECK(!sample_table("\"table\":7,\"ttl\":8,\"records\":7,\"paths\":{}", &err));
    CHECK_TEXT(err.text, "map.json:2:9: \"table\" is written as a text in quotes (and 1 more: "
                         "ddbfs check prints all)");
}

static const struct check_test tests[] = {
    {"a_match_is_bounded", test_a_match_is_bounded},
    {"a_match_of_a_sensible_size_is_none_too_large",
     test_a_match_of_a_sensible_size_is_none_too_large},
    {"a_path_is_so_deep_at_most", test_a_path_is_so_deep_at_most},
    {"an_object_has_so_many_members_at_most", test_an_object_has_so_many_members_at_most},
    {"a_map_that_never_ends", test_a_map_that_never_ends},
    {"many_equalities", test_many_equalities},
    {"the_same_kind_twice_in_a_list", test_the_same_kind_twice_in_a_list},
    {"all_that_is_wrong_is_told", test_all_that_is_wrong_is_told},
    {"what_refers_to_a_fault_is_no_fault", test_what_refers_to_a_fault_is_no_fault},
    {"segments_are_judged_beside_other_errors", test_segments_are_judged_beside_other_errors},
    {"a_map_that_is_all_wrong_is_told_in_part", test_a_map_that_is_all_wrong_is_told_in_part},
    {"the_error_of_a_map_counts_the_others", test_the_error_of_a_map_counts_the_others},
    {"the_example_loads", test_the_example_loads},
    {"the_example_says_what_its_tables_are", test_the_example_says_what_its_tables_are},
    {"environments_keep_what_they_say", test_environments_keep_what_they_say},
    {"comments_and_trailing_commas_are_welcome", test_comments_and_trailing_commas_are_welcome},
    {"unbalanced_brace", test_unbalanced_brace},
    {"garbage_after_the_map", test_garbage_after_the_map},
    {"missing_comma_names_its_line", test_missing_comma_names_its_line},
    {"an_empty_file", test_an_empty_file},
    {"a_file_that_is_not_there", test_a_file_that_is_not_there},
    {"a_folder_is_no_map", test_a_folder_is_no_map},
    {"a_map_is_an_object", test_a_map_is_an_object},
    {"unknown_member_of_the_map", test_unknown_member_of_the_map},
    {"prices_are_of_environments", test_prices_are_of_environments},
    {"prices_that_are_none", test_prices_that_are_none},
    {"repeated_member", test_repeated_member},
    {"a_repeated_member_in_escapes", test_a_repeated_member_in_escapes},
    {"environments_are_needed", test_environments_are_needed},
    {"tables_are_needed", test_tables_are_needed},
    {"the_schema_is_a_text", test_the_schema_is_a_text},
    {"an_environment_is_an_object", test_an_environment_is_an_object},
    {"unknown_member_of_an_environment", test_unknown_member_of_an_environment},
    {"the_same_environment_twice", test_the_same_environment_twice},
    {"an_environment_is_one_directory", test_an_environment_is_one_directory},
    {"a_prefix_has_the_parameters_of_the_name", test_a_prefix_has_the_parameters_of_the_name},
    {"a_prefix_is_a_format", test_a_prefix_is_a_format},
    {"two_environments_for_one_name", test_two_environments_for_one_name},
    {"profile_region_and_endpoint_are_texts", test_profile_region_and_endpoint_are_texts},
    {"no_text_holds_a_nul", test_no_text_holds_a_nul},
    {"a_table_is_an_object", test_a_table_is_an_object},
    {"a_table_is_one_directory", test_a_table_is_one_directory},
    {"unknown_member_of_a_table", test_unknown_member_of_a_table},
    {"a_table_needs_its_name", test_a_table_needs_its_name},
    {"a_table_needs_records", test_a_table_needs_records},
    {"a_table_needs_paths", test_a_table_needs_paths},
    {"a_separator_is_one_character", test_a_separator_is_one_character},
    {"a_ttl_is_a_day_at_most", test_a_ttl_is_a_day_at_most},
    {"secret_is_a_list_of_texts", test_secret_is_a_list_of_texts},
    {"mtime_is_a_text", test_mtime_is_a_text},
    {"records_are_an_object", test_records_are_an_object},
    {"a_record_is_an_object", test_a_record_is_an_object},
    {"the_same_record_twice", test_the_same_record_twice},
    {"a_record_has_keys", test_a_record_has_keys},
    {"a_key_has_two_attributes_at_most", test_a_key_has_two_attributes_at_most},
    {"all_records_have_the_same_keys", test_all_records_have_the_same_keys},
    {"the_same_key_attribute_twice", test_the_same_key_attribute_twice},
    {"a_key_format_is_checked", test_a_key_format_is_checked},
    {"indexes_are_an_object", test_indexes_are_an_object},
    {"unknown_member_of_an_index", test_unknown_member_of_an_index},
    {"an_index_needs_its_partition", test_an_index_needs_its_partition},
    {"projects_is_one_of_three", test_projects_is_one_of_three},
    {"a_filter_looks_at_what_the_index_is_known_to_include",
     test_a_filter_looks_at_what_the_index_is_known_to_include},
    {"an_index_has_four_attributes_a_side_at_most",
     test_an_index_has_four_attributes_a_side_at_most},
    {"a_key_attribute_with_a_strange_name_needs_a_format",
     test_a_key_attribute_with_a_strange_name_needs_a_format},
    {"a_key_attribute_is_a_text", test_a_key_attribute_is_a_text},
    {"an_index_of_several_attributes", test_an_index_of_several_attributes},
    {"an_index_projects_some_unless_it_says", test_an_index_projects_some_unless_it_says},
    {"hydrate_overrules_the_projection", test_hydrate_overrules_the_projection},
    {"types_are_of_key_attributes", test_types_are_of_key_attributes},
    {"types_reach_the_table_and_its_indexes", test_types_reach_the_table_and_its_indexes},
    {"unknown_member_of_a_parameter", test_unknown_member_of_a_parameter},
    {"only_goes_with_values", test_only_goes_with_values},
    {"an_owner_is_a_kind_that_has_the_parameter", test_an_owner_is_a_kind_that_has_the_parameter},
    {"values_are_a_list_of_texts", test_values_are_a_list_of_texts},
    {"match_is_a_regular_expression", test_match_is_a_regular_expression},
    {"a_match_before_a_fault_is_freed", test_a_match_before_a_fault_is_freed},
    {"unknown_member_of_a_path", test_unknown_member_of_a_path},
    {"the_same_path_text_twice", test_the_same_path_text_twice},
    {"list_and_record_fit_the_path", test_list_and_record_fit_the_path},
    {"a_kind_must_be_known", test_a_kind_must_be_known},
    {"several_kinds_must_be_chosen_from", test_several_kinds_must_be_chosen_from},
    {"an_index_must_be_known", test_an_index_must_be_known},
    {"limits", test_limits},
    {"ties_go_with_a_limit", test_ties_go_with_a_limit},
    {"groups_are_of_a_listing_of_all", test_groups_are_of_a_listing_of_all},
    {"a_limit_of_the_path", test_a_limit_of_the_path},
    {"pick_says_one_thing", test_pick_says_one_thing},
    {"flags_are_true_or_false", test_flags_are_true_or_false},
    {"conditions_have_a_form", test_conditions_have_a_form},
    {"a_filter_that_can_never_match", test_a_filter_that_can_never_match},
    {"a_filter_s_path_has_a_form", test_a_filter_s_path_has_a_form},
    {"filters_that_are_good", test_filters_that_are_good},
    {"a_filter_stays_below_what_the_service_takes",
     test_a_filter_stays_below_what_the_service_takes},
    {"filters_are_nested_only_so_deep", test_filters_are_nested_only_so_deep},
    {"a_condition_on_a_key_that_can_never_match", test_a_condition_on_a_key_that_can_never_match},
    {"an_index_of_several_formats", test_an_index_of_several_formats},
    {"a_part_of_an_index_that_selects_nothing", test_a_part_of_an_index_that_selects_nothing},
    {"ranges_have_both_ends", test_ranges_have_both_ends},
    {"condition_texts_are_formats", test_condition_texts_are_formats},
    {"a_partition_part_is_missing", test_a_partition_part_is_missing},
    {"kinds_of_different_partitions", test_kinds_of_different_partitions},
    {"a_parameter_that_selects_nothing", test_a_parameter_that_selects_nothing},
    {"a_condition_on_what_is_no_key", test_a_condition_on_what_is_no_key},
    {"a_filter_on_a_key_of_what_is_asked", test_a_filter_on_a_key_of_what_is_asked},
    {"an_index_of_keys_is_asked_for_no_other_attribute",
     test_an_index_of_keys_is_asked_for_no_other_attribute},
    {"a_part_said_twice", test_a_part_said_twice},
    {"before_of_one_record", test_before_of_one_record},
    {"a_name_that_could_not_be_typed", test_a_name_that_could_not_be_typed},
    {"a_condition_on_a_later_part", test_a_condition_on_a_later_part},
    {"a_condition_uses_what_the_path_lacks", test_a_condition_uses_what_the_path_lacks},
    {"begins_with_on_a_number", test_begins_with_on_a_number},
    {"a_prefix_of_a_number", test_a_prefix_of_a_number},
    {"contradictions", test_contradictions},
    {"a_name_needs_every_part", test_a_name_needs_every_part},
    {"a_name_goes_with_one_kind", test_a_name_goes_with_one_kind},
    {"a_name_can_be_taken_apart", test_a_name_can_be_taken_apart},
    {"a_rank_stands_at_the_beginning_of_a_name", test_a_rank_stands_at_the_beginning_of_a_name},
    {"a_rank_stands_in_no_path_or_condition", test_a_rank_stands_in_no_path_or_condition},
    {"rank_may_be_a_part_of_the_key", test_rank_may_be_a_part_of_the_key},
    {"a_name_has_parts_of_the_key_alone", test_a_name_has_parts_of_the_key_alone},
    {"parts_of_the_index_in_a_name", test_parts_of_the_index_in_a_name},
    {"spellings_that_make_no_sense", test_spellings_that_make_no_sense},
    {"numbers_with_zeros_are_compared_whole", test_numbers_with_zeros_are_compared_whole},
    {"too_many_parameters_in_a_path", test_too_many_parameters_in_a_path},
    {"segments_are_names", test_segments_are_names},
    {"ambiguous_siblings", test_ambiguous_siblings},
    {"a_match_tells_siblings_apart", test_a_match_tells_siblings_apart},
    {"two_files_at_one_path", test_two_files_at_one_path},
    {"a_file_can_not_be_a_directory_too", test_a_file_can_not_be_a_directory_too},
    {"shorthands_mean_the_object_forms", test_shorthands_mean_the_object_forms},
    {"one_kind_in_a_list_is_that_kind", test_one_kind_in_a_list_is_that_kind},
    {"a_ttl_of_the_table_is_that_of_its_paths", test_a_ttl_of_the_table_is_that_of_its_paths},
};

CHECK_MAIN(tests)
