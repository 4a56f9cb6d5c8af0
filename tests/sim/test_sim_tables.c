/* The simulated tables against the rules of the AWS documentation, and against a reading of all
 * items. */
#include <stdarg.h>
#include <stdlib.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_streams.h"
#include "tests/sim/sim_tables.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"
#include "tests/unit/check.h"

/* A world with a clock alone. */
static struct {
    uint64_t seed;
    int64_t now_ms;
    struct sim_dice dice;
    struct sim_mood mood;
} test_world;

int64_t sim_now_ms(void)
{
    return test_world.now_ms;
}
int64_t sim_service_wall_ms(void)
{
    return 1790000000000 + test_world.now_ms;
}
struct sim_dice sim_dice_for(const char *purpose, uint64_t number)
{
    return sim_dice_of(test_world.seed, purpose, number);
}
void sim_tell(const char *who, const char *format, ...)
{
    (void)who;
    (void)format;
}
_Noreturn void sim_broken(const char *format, ...)
{
    puts(format);
    abort();
}
void *sim_alloc(uint64_t size)
{
    return calloc(1, size ? size : 1);
}
void *sim_grow(void *memory, uint64_t size)
{
    return realloc(memory, size);
}
char *sim_copy(const char *text)
{
    return strdup(text);
}
char *sim_vprintf(const char *format, va_list args)
{
    char *text = NULL;
    return vasprintf(&text, format, args) < 0 ? NULL : text;
}
char *sim_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = sim_vprintf(format, args);
    va_end(args);
    return text;
}
void sim_free(void *memory)
{
    free(memory);
}
bool sim_vectors_draw(struct sim_dice *dice, const struct sim_table *table,
                      struct sim_attribute *out)
{
    (void)dice;
    (void)table;
    (void)out;
    return false;
}
const struct sim_life_options *sim_life_options(void)
{
    static const struct sim_life_options none = {.cache_bytes = 256 << 20, .suffix = ""};
    return &none;
}
const char *sim_streams_view(const struct sim_table *table)
{
    (void)table;
    return "NEW_IMAGE";
}

static void ask(const char *operation, const char *body, struct sim_outcome *out)
{
    struct sim_json request;
    test_world.mood.dice = &test_world.dice;
    test_world.mood.may_scan = true;
    CHECK(sim_json_parse(&request, body, strlen(body)));
    CHECK(sim_tables_answer(operation, &request, &test_world.mood, out));
    sim_json_free(&request);
}

/* The half units of a request that succeeds. */
static uint64_t units_of(const char *operation, const char *body)
{
    struct sim_outcome out;
    ask(operation, body, &out);
    if (out.code)
        CHECK_FAIL("%s is refused: %s", body, out.message);
    uint64_t units = out.half_units;
    sim_outcome_clean_up(&out);
    return units;
}

/* Writes the item in JSON; DELETED: its key alone. */
static struct sim_version *put(struct sim_table *table, const char *text, bool deleted)
{
    struct sim_json json;
    CHECK(sim_json_parse(&json, text, strlen(text)));
    struct sim_attribute *attributes = sim_alloc(json.count * sizeof *attributes);
    for (size_t i = 0; i < json.count; i++) {
        attributes[i].name = sim_copy(json.names[i]);
        CHECK(sim_value_read(&attributes[i].value, &json.members[i]));
    }
    size_t count = json.count;
    sim_json_free(&json);
    return sim_history_put(table, attributes, count, deleted, false);
}

/* "Made": pk, sk; a local index by n, KEYS_ONLY; a global one by g (hash) and n, INCLUDE size. */
static struct sim_table *made_table(void)
{
    static const char *const included[] = {"size"};
    struct sim_table *found = sim_history_find_table("Made");
    if (found)
        return found;
    struct sim_table table = {.name = sim_copy("Made"),
                              .key = {.names = {sim_copy("pk"), sim_copy("sk")},
                                      .types = {SIM_S, SIM_S},
                                      .hash_count = 1,
                                      .range_count = 1},
                              .index_count = 2};
    table.indexes = sim_alloc(2 * sizeof *table.indexes);
    table.indexes[0] = (struct sim_index){.name = sim_copy("local"),
                                          .is_local = true,
                                          .key = {.names = {sim_copy("pk"), sim_copy("n")},
                                                  .types = {SIM_S, SIM_N},
                                                  .hash_count = 1,
                                                  .range_count = 1},
                                          .projection = SIM_PROJECT_KEYS};
    table.indexes[1] = (struct sim_index){.name = sim_copy("global"),
                                          .key = {.names = {sim_copy("g"), sim_copy("n")},
                                                  .types = {SIM_S, SIM_N},
                                                  .hash_count = 1,
                                                  .range_count = 1},
                                          .projection = SIM_PROJECT_INCLUDE,
                                          .most_lag_ms = 10000,
                                          .included = sim_alloc(sizeof(char *)),
                                          .included_count = 1};
    table.indexes[1].included[0] = sim_copy(included[0]);
    return sim_history_add_table(table);
}

static void test_numbers(void)
{
    static const struct {
        const char *text, *canonical; /* NULL: no number */
    } rows[] = {
        {"1E+2", "100"},
        {"-0", "0"},
        {"0.10", "0.1"},
        {"00012", "12"},
        {"+7", "7"},
        {"1e-7", "0.0000001"},
        {"-1.50E1", "-15"},
        {".5", "0.5"},
        {"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
        {"123456789012345678901234567890123456789", NULL},
        {"1E126", NULL},
        {"1E-131", NULL},
        {"", NULL},
        {"1e", NULL},
        {"1x", NULL},
        {"--1", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_text text = {0};
        CHECK_INT(sim_number_write(&text, rows[i].text, strlen(rows[i].text)),
                  rows[i].canonical != NULL);
        if (rows[i].canonical)
            CHECK_TEXT(text.bytes, rows[i].canonical);
        sim_text_free(&text);
    }
    static const char *const rising[] = {"-100", "-12",  "-1.5", "-0.1", "0",  "0.01",
                                         "0.1",  "0.12", "1",    "9",    "10", "100.5"};
    for (size_t i = 0; i + 1 < sizeof rising / sizeof *rising; i++) {
        char first[8], second[8];
        strcpy(first, rising[i]);
        strcpy(second, rising[i + 1]);
        struct sim_value a = {.type = SIM_N, .bytes = first, .size = strlen(first)};
        struct sim_value b = {.type = SIM_N, .bytes = second, .size = strlen(second)};
        CHECK(sim_value_compare(&a, &b) < 0 && sim_value_compare(&b, &a) > 0);
    }
}

/* "DynamoDB item sizes and formats". */
static void test_sizes(void)
{
    static const struct {
        const char *json;
        size_t size;
    } rows[] = {
        {"{\"S\":\"\\u00fc1\"}", 3},
        {"{\"B\":\"AAAA\"}", 3},
        {"{\"N\":\"1234\"}", 3},
        {"{\"N\":\"12300\"}", 3},
        {"{\"N\":\"0\"}", 1},
        {"{\"BOOL\":true}", 1},
        {"{\"NULL\":true}", 1},
        {"{\"L\":[]}", 3},
        {"{\"M\":{\"ab\":{\"S\":\"c\"}}}", 3 + 2 + 1 + 1},
        {"{\"L\":[{\"BOOL\":true},{\"S\":\"xy\"}]}", 3 + 1 + 1 + 2 + 1},
        {"{\"SS\":[\"a\",\"bc\"]}", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_json json;
        struct sim_value value;
        CHECK(sim_json_parse(&json, rows[i].json, strlen(rows[i].json)));
        CHECK(sim_value_read(&value, &json));
        CHECK_INT(sim_value_size(&value), rows[i].size);
        struct sim_text text = {0};
        sim_value_write(&text, &value);
        if (i > 0) /* the first has an escape that is not written again */
            CHECK_TEXT(text.bytes, rows[i].json);
        sim_text_free(&text);
        sim_value_free(&value);
        sim_json_free(&json);
    }
}

#define KEY "\"Key\":{\"pk\":{\"S\":\"u\"},\"sk\":{\"S\":\"%s\"}}"
#define OF_U                                                                                       \
    "\"KeyConditionExpression\":\"pk = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"u\"}}"

static uint64_t units_of_get(const char *sk, const char *more)
{
    char *body = sim_printf("{\"TableName\":\"Made\"," KEY "%s}", sk, more);
    uint64_t units = units_of("GetItem", body);
    sim_free(body);
    return units;
}

static void test_units(void)
{
    struct sim_table *table = made_table();
    struct sim_text item = {0};
    /* 4,096 bytes: "pk" + "u" + "sk" + "a" + "x" + 4,089 */
    for (unsigned extra = 0; extra < 2; extra++) {
        sim_text_printf(&item, "{\"pk\":{\"S\":\"u\"},\"sk\":{\"S\":\"%c\"},\"x\":{\"S\":\"",
                        'a' + (char)extra);
        for (unsigned i = 0; i < 4089 + extra; i++)
            sim_text_puts(&item, "x");
        sim_text_puts(&item, "\"}}");
        CHECK_INT(put(table, item.bytes, false)->item_size, 4096 + extra);
        sim_text_free(&item);
    }
    CHECK_INT(units_of_get("a", ""), 1);
    CHECK_INT(units_of_get("b", ""), 2);
    CHECK_INT(units_of_get("a", ",\"ConsistentRead\":true"), 2);
    CHECK_INT(units_of_get("b", ",\"ConsistentRead\":true"), 4);
    CHECK_INT(units_of_get("none", ""), 1);
    CHECK_INT(units_of_get("b", ",\"ProjectionExpression\":\"sk\""), 2);
    CHECK_INT(units_of("TransactGetItems",
                       "{\"TransactItems\":[{\"Get\":{\"TableName\":\"Made\","
                       "\"Key\":{\"pk\":{\"S\":\"u\"},\"sk\":{\"S\":\"b\"}}}}]}"),
              8);
    /* 8,193 bytes: a Query rounds the sum, a batch each item. */
    CHECK_INT(units_of("Query", "{\"TableName\":\"Made\"," OF_U "}"), 3);
    CHECK_INT(units_of("BatchGetItem", "{\"RequestItems\":{\"Made\":{\"Keys\":["
                                       "{\"pk\":{\"S\":\"u\"},\"sk\":{\"S\":\"a\"}},"
                                       "{\"pk\":{\"S\":\"u\"},\"sk\":{\"S\":\"b\"}},"
                                       "{\"pk\":{\"S\":\"u\"},\"sk\":{\"S\":\"c\"}}]}}}"),
              1 + 2 + 1);
    CHECK_INT(units_of("Query", "{\"TableName\":\"Made\",\"KeyConditionExpression\":\"pk = :p\","
                                "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"nobody\"}}}"),
              1);
    CHECK_INT(units_of("Query", "{\"TableName\":\"Made\"," OF_U ",\"Limit\":1}"), 1);
    /* A local index holds keys alone; other attributes are read from the table, item by item. */
    put(table,
        "{\"pk\":{\"S\":\"v\"},\"sk\":{\"S\":\"a\"},\"n\":{\"N\":\"1\"},\"x\":{\"S\":\"y\"}}",
        false);
    put(table,
        "{\"pk\":{\"S\":\"v\"},\"sk\":{\"S\":\"b\"},\"n\":{\"N\":\"2\"},\"x\":{\"S\":\"y\"}}",
        false);
#define OF_V                                                                                       \
    "{\"TableName\":\"Made\",\"IndexName\":\"local\",\"KeyConditionExpression\":\"pk = :p\","      \
    "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"v\"}}"
    CHECK_INT(units_of("Query", OF_V "}"), 1);
    CHECK_INT(units_of("Query", OF_V ",\"ProjectionExpression\":\"x\"}"), 3);
    CHECK_INT(units_of("Query", OF_V ",\"Select\":\"ALL_ATTRIBUTES\"}"), 3);
}

static void test_refusals(void)
{
#define P "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"x\"}}"
#define K "\"KeyConditionExpression\":\"pk = :p\""
#define NAMED "\"ExpressionAttributeNames\":{\"#s\":\"status\"}"
    static const struct {
        const char *members;
        bool ok;
    } rows[] = {
        {K "," P, true},
        {"\"KeyConditionExpression\":\"(pk = :p) AND (begins_with(sk, :p))\"," P, true},
        {K "," P ",\"FilterExpression\":\"#s = :p\"," NAMED, true},
        {K "," P ",\"FilterExpression\":\"(a = :p OR NOT b.c[0] < :p) AND d IN (:p)\"", true},
        {K "," P ",\"FilterExpression\":\"size(a) = size(b) AND attribute_type(a, :p)\"", true},
        {K "," P ",\"Select\":\"COUNT\"", true},
        {K "," P ",\"ProjectionExpression\":\"a.b, a.c[0], d\"", true},
        {K "," P ",\"ExclusiveStartKey\":{\"pk\":{\"S\":\"x\"},\"sk\":{\"S\":\"y\"}}", true},
        {K "," P ",\"FilterExpression\":\"status = :p\"", false},
        {K "," P ",\"FilterExpression\":\"Status = :p\"", false},
        {K "," P "," NAMED, false},
        {K "," P ",\"FilterExpression\":\"sk = :p\"", false},
        {K "," P ",\"FilterExpression\":\"((a = :p))\"", false},
        {K "," P ",\"FilterExpression\":\"a = :q\"", false},
        {K "," P ",\"FilterExpression\":\"#s = :p\"", false},
        {K "," P ",\"FilterExpression\":\"a = a\"", false},
        {K "," P ",\"FilterExpression\":\"a = :p AND\"", false},
        {K "," P ",\"FilterExpression\":\"\"", false},
        {K "," P ",\"Unknown\":1", false},
        {K "," P ",\"Limit\":0", false},
        {K "," P ",\"IndexName\":\"none\"", false},
        {K "," P ",\"Select\":\"COUNT\",\"ProjectionExpression\":\"a\"", false},
        {K "," P ",\"ProjectionExpression\":\"a, a.b\"", false},
        {K "," P ",\"ExclusiveStartKey\":{\"pk\":{\"S\":\"x\"}}", false},
        {K "," P ",\"ExclusiveStartKey\":{\"pk\":{\"S\":\"y\"},\"sk\":{\"S\":\"y\"}}", false},
        {K ",\"ExpressionAttributeValues\":{\":p\":{\"N\":\"1\"}}", false},
        {K ",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"\"}}", false},
        {K ",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"x\",\"N\":\"1\"}}", false},
        {K ",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"x\"},\":q\":{\"S\":\"x\"}}", false},
        {"\"KeyConditionExpression\":\"pk > :p\"," P, false},
        {"\"KeyConditionExpression\":\"sk = :p\"," P, false},
        {"\"KeyConditionExpression\":\"pk = :p OR sk = :p\"," P, false},
        {"\"KeyConditionExpression\":\"pk = :p AND sk <> :p\"," P, false},
        {"\"KeyConditionExpression\":\"pk = :p AND a = :p\"," P, false},
        {"\"KeyConditionExpression\":\"pk = :p AND sk BETWEEN :p AND :q\","
         "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"x\"},\":q\":{\"S\":\"a\"}}",
         false},
        {"\"IndexName\":\"global\",\"KeyConditionExpression\":\"g = :p\"," P, true},
        {"\"IndexName\":\"global\",\"KeyConditionExpression\":\"g = :p\",\"ConsistentRead\":true,"
         "" P,
         false},
        {"\"IndexName\":\"global\",\"KeyConditionExpression\":\"g = :p\","
         "\"ProjectionExpression\":\"x\"," P,
         false},
        {"\"IndexName\":\"global\",\"KeyConditionExpression\":\"g = :p\","
         "\"Select\":\"ALL_ATTRIBUTES\"," P,
         false},
        {P, false},
    };
    made_table();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_outcome out;
        char *body = sim_printf("{\"TableName\":\"Made\",%s}", rows[i].members);
        ask("Query", body, &out);
        if (out.is_wrong == rows[i].ok)
            CHECK_FAIL("%s: %s", body, out.message ? out.message : "is taken");
        CHECK_INT(out.code != NULL, out.is_wrong);
        sim_outcome_clean_up(&out);
        sim_free(body);
    }
}

/* How many items the global index shows with g = x. */
static size_t count_of_global(const char *g)
{
    struct sim_outcome out;
    char *body = sim_printf("{\"TableName\":\"Made\",\"IndexName\":\"global\","
                            "\"KeyConditionExpression\":\"g = :g\","
                            "\"ExpressionAttributeValues\":{\":g\":{\"S\":\"%s\"}}}",
                            g);
    ask("Query", body, &out);
    size_t count = out.items;
    sim_outcome_clean_up(&out);
    sim_free(body);
    return count;
}

#define MOVER(g)                                                                                   \
    "{\"pk\":{\"S\":\"m\"},\"sk\":{\"S\":\"m\"},\"n\":{\"N\":\"1\"},\"g\":{\"S\":\"" g "\"}}"

static void test_lag(void)
{
    struct sim_table *table = made_table();
    bool seen_late = false, seen_both = false;
    for (unsigned i = 0; i < 200; i++) {
        put(table, MOVER("old"), false);
        test_world.now_ms += 20000;
        CHECK_INT(count_of_global("old"), 1);
        struct sim_version *version = put(table, MOVER("new"), false);
        CHECK(version->index_ms[1] >= version->from_ms &&
              version->index_ms[1] <= version->gone_ms[1] &&
              version->gone_ms[1] <= version->from_ms + 5000);
        seen_late = seen_late || version->index_ms[1] > version->from_ms;
        seen_both = seen_both || version->gone_ms[1] > version->index_ms[1];
        test_world.now_ms += 20000;
        CHECK_INT(count_of_global("old"), 0);
        CHECK_INT(count_of_global("new"), 1);
        put(table, "{\"pk\":{\"S\":\"m\"},\"sk\":{\"S\":\"m\"}}", true);
        test_world.now_ms += 20000;
        CHECK_INT(count_of_global("new"), 0);
    }
    CHECK(seen_late && seen_both);
}

/* The member NAME of a response, as text. Owned by the caller. */
static char *member_of(const struct sim_text *body, const char *name)
{
    struct sim_text mark = {0};
    sim_text_printf(&mark, ",\"%s\":{", name);
    char *last = NULL;
    for (char *at = body->bytes; (at = strstr(at, mark.bytes)); at++)
        last = at + mark.size - 1;
    sim_text_free(&mark);
    if (!last)
        return NULL;
    /* It is the last member: no units are wanted. */
    return sim_printf("%.*s", (int)(body->bytes + body->size - 1 - last), last);
}

/* The items of a partition, in pages that are cut at random. */
static size_t count_in_pages(const struct sim_order *order, const struct sim_partition *partition,
                             bool backward)
{
    const struct sim_key_schema *key = order->key;
    struct sim_text fixed = {0}, condition = {0}, names = {0}, values = {0};
    for (unsigned i = 0; i < key->hash_count; i++) {
        sim_text_printf(&condition, "%s#n%u = :v%u", i ? " AND " : "", i, i);
        sim_text_printf(&names, "%s\"#n%u\":", i ? "," : "", i);
        sim_text_json_string(&names, key->names[i], strlen(key->names[i]));
        sim_text_printf(&values, "%s\":v%u\":", i ? "," : "", i);
        sim_value_write(&values, sim_version_get(partition->like, key->names[i]));
    }
    sim_text_printf(&fixed,
                    "{\"TableName\":\"%s\",\"ScanIndexForward\":%s,\"KeyConditionExpression\":"
                    "\"%s\",\"ExpressionAttributeNames\":{%s},\"ExpressionAttributeValues\":{%s}",
                    order->table->name, backward ? "false" : "true", condition.bytes, names.bytes,
                    values.bytes);
    if (order->index >= 0)
        sim_text_printf(&fixed, ",\"IndexName\":\"%s\"", order->table->indexes[order->index].name);
    size_t count = 0, pages = 0;
    char *position = NULL;
    do {
        struct sim_outcome out;
        char *body = position ? sim_printf("%s,\"ExclusiveStartKey\":%s}", fixed.bytes, position)
                              : sim_printf("%s}", fixed.bytes);
        bool cuts = sim_dice_chance(&test_world.dice, 300);
        test_world.mood.cut_after = cuts ? 1 + sim_dice_below(&test_world.dice, 5) : 0;
        test_world.mood.is_empty = sim_dice_chance(&test_world.dice, 300);
        ask("Query", body, &out);
        if (out.code)
            CHECK_FAIL("%s is refused: %s", body, out.message);
        count += out.items;
        sim_free(body);
        sim_free(position);
        position = member_of(&out.body, "LastEvaluatedKey");
        sim_outcome_clean_up(&out);
        CHECK(++pages < 5000);
    } while (position);
    test_world.mood = (struct sim_mood){0};
    sim_text_free(&fixed);
    sim_text_free(&condition);
    sim_text_free(&names);
    sim_text_free(&values);
    return count;
}

/* Each partition of each index of a drawn life, after many writes. */
static void test_pages(void)
{
    test_world.seed = 7;
    sim_history_draw();
    for (unsigned i = 0; i < 1000; i++) {
        struct sim_dice dice = sim_dice_for("write", i);
        test_world.now_ms += sim_dice_below(&dice, 100);
        sim_history_write_one(&dice);
    }
    test_world.now_ms += 60000; /* all lags are over, but those of replicas */
    size_t partitions = 0, items = 0;
    for (struct sim_table *table = sim_history_tables(); table; table = table->next) {
        for (int index = -1; index < (int)table->index_count; index++) {
            const struct sim_order *order = sim_history_order(table, index);
            for (size_t i = 0; i < order->partition_count; i++) {
                const struct sim_partition *partition = order->partitions[i];
                size_t expected = 0;
                for (size_t k = 0; k < partition->place_count; k++)
                    expected +=
                        sim_place_version(partition->places[k], order, test_world.now_ms) != NULL;
                CHECK_INT(count_in_pages(order, partition, i % 2), expected);
                partitions++;
                items += expected;
            }
        }
    }
    CHECK(partitions > 50 && items > 100);
}

static void test_json(void)
{
    static const char *const wrong[] = {
        "",   "{",   "{\"a\":1,}", "[1 2]",  "\"\\x\"", "\"\\ud800\"", "{\"a\":1,\"a\":2}",
        "01", "nul", "\"\xff\"",   "\"\n\"", "1 2"};
    struct sim_json json;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!sim_json_parse(&json, wrong[i], strlen(wrong[i])));
    const char *text = " {\"a\":[1.5e3,\"\\u0000\\ud83d\\ude00\",null,{}]} ";
    CHECK(sim_json_parse(&json, text, strlen(text)));
    const struct sim_json *list = sim_json_get(&json, "a");
    CHECK_INT(list->count, 4);
    CHECK_TEXT(list->members[0].bytes, "1.5e3");
    CHECK_SPAN(span_of(list->members[1].bytes, list->members[1].size),
               span_of("\0\xF0\x9F\x98\x80", 5));
    sim_json_free(&json);
    for (size_t size = 0; size < 5; size++) {
        struct sim_text encoded = {0}, decoded = {0};
        sim_text_base64(&encoded, "\xff\0\x7f-", size);
        CHECK(sim_text_from_base64(&decoded, encoded.bytes, encoded.size));
        CHECK_INT(decoded.size, size);
        sim_text_free(&encoded);
        sim_text_free(&decoded);
    }
}

static const struct check_test tests[] = {
    {"numbers", test_numbers},   {"sizes", test_sizes}, {"units", test_units},
    {"refusals", test_refusals}, {"lag", test_lag},     {"pages", test_pages},
    {"json", test_json},
};

CHECK_MAIN(tests)
