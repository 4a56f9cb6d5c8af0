/* Memory that runs out, at every point: the n-th allocation fails, for every n, while a map is
 * parsed, a record read, a directory listed, a path explained. Nothing crashes, nothing leaks, and
 * the answer is "out of memory" or the right one. */
#include "core/base/unified.h"
#include "core/describe/explain.h"
#include "core/describe/explain_together.h"
#include "core/describe/readme.h"
#include "core/describe/skill.h"
#include "core/draft/declare.h"
#include "core/draft/infer.h"
#include "core/dynamo/answer.h"
#include "core/item/difference.h"
#include "core/output/form.h"
#include "core/read/file.h"
#include "core/read/moments.h"
#include "core/read/resolve.h"
#include "core/read/together.h"
#include "core/source/ranges.h"
#include "core/sql/sql_lookup.h"
#include "tests/unit/check.h"
#include "tests/unit/oom.h"
#include "tests/unit/sample.h"
#include "tests/unit/scene.h"

static void check_parse(const struct map *map, const struct error *err, unsigned long n)
{
    bool parsed = map != NULL;
    map_unref(map);
    if (!parsed && err->kind != ERROR_NO_MEMORY)
        CHECK_FAIL("allocation %lu: %s", n, err->text);
}

static bool parse(unsigned long n, bool for_good)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error err = {0};
    CHECK(sample_example_text(&text));
    arm(n, for_good);
    const struct map *map = map_parse("map.json", buf_span(&text), NULL, &err);
    bool hit = disarm();
    check_parse(map, &err, n);
    return hit;
}

static void test_parsing_the_example(void)
{
    try_all(parse);
}

static bool parse_fault(unsigned long n, bool for_good)
{
    struct error err = {0};
    arm(n, for_good);
    const struct map *map =
        sample_table("\"table\":\"T\",\"params\":{\"a\":{\"match\":\"x\"}},"
                     "\"records\":{\"r\":{\"pk\":\"{a}\"}},\"paths\":{\"{b}\":{}}",
                     &err);
    bool hit = disarm();
    CHECK(!map);
    if (err.kind == ERROR_INVALID)
        CHECK_HAS(err.text, "map.json:");
    else
        CHECK_INT(err.kind, ERROR_NO_MEMORY);
    return hit;
}

static void test_parsing_a_wrong_map(void)
{
    try_all(parse_fault);
}

/* A response of READ with BODY. It may have consumed units, so its status is known. */
static bool decode(const struct read *read, enum dynamo_op op, const char *body, unsigned long n,
                   bool for_good)
{
    const struct http_header type = {"Content-Type", "application/x-amz-json-1.0"};
    const struct http_response response = {
        .status = 200, .headers = &type, .header_count = 1, .body = span_text(body)};
    const struct sent_request sent = {
        .op = op, .read = read, .region = "eu-west-1", .endpoint = "https://ddb.test/"};
    struct error err = {0};
    double stated;
    arm(n, for_good);
    struct answer *answer = answer_new(&sent, &response, &stated, &err);
    bool hit = disarm();
    if (!answer && (err.kind != ERROR_NO_MEMORY || err.http_status != 200))
        CHECK_FAIL("allocation %lu: %s, HTTP %d", n, err.text, err.http_status);
    answer_destroy(answer);
    return hit;
}

static bool decode_query(unsigned long n, bool for_good)
{
    struct read *read = read_new(READ_QUERY, "jobs", "by-id");
    bool hit = decode(read, DYNAMO_QUERY,
                      "{\"Items\":[{\"pk\":{\"S\":\"a\"}}],\"Count\":1,\"ScannedCount\":1,"
                      "\"ConsumedCapacity\":{\"TableName\":\"jobs\",\"CapacityUnits\":0.5}}",
                      n, for_good);
    read_destroy(read);
    return hit;
}

static bool decode_exports(unsigned long n, bool for_good)
{
    struct read *read = read_new(READ_EXPORTS, "jobs", NULL);
    read->table_arn = "arn:aws:dynamodb:eu-west-1:1:table/jobs";
    bool hit = decode(read, DYNAMO_LIST_EXPORTS,
                      "{\"ExportSummaries\":[{\"ExportArn\":\"arn:aws:dynamodb:eu-west-1:1:table/"
                      "jobs/export/1\"}]}",
                      n, for_good);
    read_destroy(read);
    return hit;
}

static void test_decoding_responses(void)
{
    try_all(decode_query);
    try_all(decode_exports);
}

/* The answer without a fault, to compare with. */
static struct buf right;

static void keep_right(struct span answer)
{
    buf_truncate(&right, 0);
    buf_add_span(&right, answer);
}

/* What the source of a test holds. */
static const struct fake_item *scene_data = scene_items;

static void open_scene(struct scene *scene)
{
    struct error err = {0};
    CHECK(scene_open(scene, sample_example(&err), scene_data));
    scene->fake.page_size = 2;
    scene->fake.busy = &fault.paused;
}

static void check_answer(const struct told *told, bool asked, unsigned long n)
{
    if (told->err.kind == ERROR_NO_MEMORY)
        return;
    if (!asked || told->err.kind != ERROR_NONE)
        CHECK_FAIL("allocation %lu: %s: %s", n, error_word(told->err.kind), told->err.text);
    if (!span_equal(buf_span(&told->bytes), buf_span(&right)))
        CHECK_FAIL("allocation %lu: <%s>, not <%s>", n, buf_text(&told->bytes), buf_text(&right));
}

typedef bool question_fn(struct scene *scene, const char *path, struct told *told);

/* The room that TOLD needs is had before the fault. */
static bool ask(question_fn *question, const char *path, bool full, unsigned long n, bool for_good)
{
    CLEAN_UP(told_clean_up) struct told told = {.full = full};
    struct scene scene;
    open_scene(&scene);
    CHECK(buf_reserve(&told.bytes, 8192));
    arm(n, for_good);
    bool asked = question(&scene, path, &told);
    bool hit = disarm();
    unsigned open = scene.fake.started - scene.fake.ended;
    scene_close(&scene);
    CHECK_INT(open, 0);
    if (hit)
        check_answer(&told, asked, n);
    else
        keep_right(buf_span(&told.bytes));
    return hit;
}

static const char *asked_path;
static bool asked_full;

static bool attempt_read(unsigned long n, bool for_good)
{
    return ask(scene_read, asked_path, false, n, for_good);
}

static bool attempt_list(unsigned long n, bool for_good)
{
    return ask(scene_list, asked_path, asked_full, n, for_good);
}

static void try_read(const char *path)
{
    asked_path = path;
    CHECK(!attempt_read(1000000, false));
    CHECK(right.size > 0);
    try_all(attempt_read);
    buf_clean_up(&right);
}

static void try_list(const char *path, bool full)
{
    asked_path = path;
    asked_full = full;
    CHECK(!attempt_list(1000000, false));
    CHECK(right.size > 0);
    try_all(attempt_list);
    buf_clean_up(&right);
}

static void test_reading_by_an_index(void)
{
    try_read("/prod/jobs/by-id/j1");
}

static void test_reading_by_key(void)
{
    try_read("/prod/jobs/by-index/shopify/a-b/latest/2026-04-16T10:00:00Z#j1");
}

static void test_reading_what_is_picked(void)
{
    try_read("/prod/shops/s.example/access-token");
}

static void test_reading_typed_with_a_secret(void)
{
    try_read("/prod/shops/s.example/SETTINGS@typed");
}

static void test_reading_info(void)
{
    try_read("/prod/jobs/by-id/j1@info");
}

static void test_reading_an_attribute(void)
{
    try_read("/prod/index-settings/kl7/products@/add_docs_config");
}

/* The search looks at every entry until the name is found. */
static void test_reading_by_a_shortened_name(void)
{
    static char text[700];
    char filler[500];
    memset(filler, 'k', sizeof filler);
    snprintf(text, sizeof text, "{\"pk\":{\"S\":\"SHOP#s.example\"},\"sk\":{\"S\":\"%.*s\"}}",
             (int)sizeof filler, filler);
    const struct fake_item items[] = {{"prod-ShopifyEntitiesTable", NULL, text}, {0}};
    CLEAN_UP(told_clean_up) struct told names = {0};
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct scene scene;
    scene_data = items;
    open_scene(&scene);
    CHECK(scene_list(&scene, "/prod/shops/s.example", &names));
    scene_close(&scene);
    const char *name = buf_text(&names.bytes);
    CHECK(name[0] == 'k');
    buf_printf(&path, "/prod/shops/s.example/%.*s", (int)strlen(name) - 1, name);
    try_read(buf_text(&path));
    scene_data = scene_items;
}

static void test_listing_with_hydrate(void)
{
    try_list("/prod/jobs/by-index/shopify/a-b/status/PENDING", true);
}

/* Similar items: of a shop whose vector index is known. */
static bool attempt_similar(unsigned long n, bool for_good)
{
    static const struct map_vector vector = {.name = "by-meaning",
                                             .step = "by-meaning",
                                             .attribute = "meaning",
                                             .dimensions = 2,
                                             .distance = "COSINE",
                                             .status = "ACTIVE"};
#define KEY_OF(sk) "\"pk\":{\"S\":\"SHOP#s\"},\"sk\":{\"S\":\"" sk "\"}"
#define MEANING "\"meaning\":{\"L\":[{\"N\":\"1\"},{\"N\":\"0.5\"}]}"
#define RESULT(sk, score) "{\"Item\":{" KEY_OF(sk) "},\"Score\":" score "}"
    static const struct fake_item items[] = {
        {"prod-ShopifyEntitiesTable", NULL, "{" KEY_OF("SETTINGS") "," MEANING "}"},
        {"prod-ShopifyEntitiesTable", NULL, "{" KEY_OF("USER#1") ",\"v\":{\"S\":\"one\"}}"},
        {"prod-ShopifyEntitiesTable", "by-meaning", RESULT("SETTINGS", "0.0")},
        {"prod-ShopifyEntitiesTable", "by-meaning", RESULT("USER#1", "0.25")},
        {0}};
    CLEAN_UP(told_clean_up) struct told told = {.full = asked_full};
    struct scene scene;
    scene_data = items;
    open_scene(&scene);
    struct place *place =
        place_resolve(scene.map, span_text(asked_path), &scene.tree.names, &told.err);
    CHECK(place && buf_reserve(&told.bytes, 8192));
    place->vector = &vector;
    scene.tree.snapshot_bytes = 1 << 19;
    arm(n, for_good);
    bool asked = place_is_directory(place) ? scene_list_place(&scene, place, &told)
                                           : scene_read_place(&scene, place, &told);
    bool hit = disarm();
    place_destroy(place);
    scene_data = scene_items;
    unsigned open = scene.fake.started - scene.fake.ended;
    scene_close(&scene);
    CHECK_INT(open, 0);
    if (hit)
        check_answer(&told, asked, n);
    else
        keep_right(buf_span(&told.bytes));
    return hit;
}

/* WANTED is a part of the right answer. */
static void try_similar(const char *path, bool full, const char *wanted)
{
    asked_path = path;
    asked_full = full;
    CHECK(!attempt_similar(1000000, false));
    CHECK_HAS(buf_text(&right), wanted);
    try_all(attempt_similar);
    buf_clean_up(&right);
}

static void test_similar_items(void)
{
    try_similar("/prod/shops/s/SETTINGS@similar", false, "02_SHOP#s,USER#1");
    try_similar("/prod/shops/s/SETTINGS@similar", true, "02_SHOP#s,USER#1 ");
    try_similar("/prod/shops/s/SETTINGS@similar@jsonl", false, "\"@score\":0.25");
    try_similar("/prod/shops/s/SETTINGS@similar@info", false, "\"score\": 0.25");
}

/* Items of one moment: two whose keys are in their paths, one that a query finds, and one that is
 * not there. EXPLAINS instead of reading. */
static bool explains;

static void take_together(void *arg, const struct error *err)
{
    struct told *told = arg;
    told->calls++;
    if (err)
        told->err = *err;
}

static void tell_together(struct scene *scene, struct together_item *items, size_t count,
                          struct told *told)
{
    if (!together_check(&scene->tree, items, count, &told->err))
        return;
    if (explains) {
        explain_together_write(&scene->tree, items, count, false, &told->bytes, &told->err);
        return;
    }
    if (!together_start(&scene->tree, items, count, take_together, told)) {
        error_no_memory(&told->err);
        return;
    }
    loop_run(scene->loop);
    for (size_t i = 0; i < count && told->err.kind == ERROR_NONE; i++) {
        CLEAN_UP(buf_clean_up) struct buf bytes = {0};
        struct tree_file file;
        if (!items[i].record)
            buf_printf(&told->bytes, "%s\n", items[i].why.text);
        else if (file_make(&scene->tree, items[i].place, items[i].record,
                           &(struct tree_found){.units = -1}, NULL, &bytes, &file, &told->err))
            buf_add_span(&told->bytes, file.bytes);
    }
}

static bool attempt_together(unsigned long n, bool for_good)
{
    static const char *const paths[] = {"/prod/shops/s.example/SETTINGS", "/prod/jobs/by-id/j1",
                                        "/prod/index-settings/kl7/products@/add_docs_config",
                                        "/prod/shops/s.example/USER#none"};
    enum { COUNT = sizeof paths / sizeof paths[0] };
    CLEAN_UP(told_clean_up) struct told told = {0};
    struct together_item items[COUNT] = {{.place = NULL}};
    struct place *places[COUNT];
    struct scene scene;
    open_scene(&scene);
    CHECK(buf_reserve(&told.bytes, 16384));
    for (size_t i = 0; i < COUNT; i++) {
        places[i] = place_resolve(scene.map, span_text(paths[i]), &scene.tree.names, NULL);
        CHECK(places[i]);
        items[i].place = places[i];
        items[i].path = paths[i];
    }
    arm(n, for_good);
    tell_together(&scene, items, COUNT, &told);
    bool hit = disarm();
    unsigned open = scene.fake.started - scene.fake.ended;
    for (size_t i = 0; i < COUNT; i++) {
        record_unref(items[i].record);
        place_destroy(places[i]);
    }
    scene_close(&scene);
    CHECK_INT(open, 0);
    if (hit)
        check_answer(&told, true, n);
    else
        keep_right(buf_span(&told.bytes));
    return hit;
}

static void test_reading_items_of_one_moment(void)
{
    CHECK(!attempt_together(1000000, false));
    CHECK_HAS(buf_text(&right), "\"active_index\": \"products\"");
    CHECK_HAS(buf_text(&right), "\"job_id\": \"j1\"");
    CHECK_HAS(buf_text(&right), "has no item with");
    try_all(attempt_together);
    buf_clean_up(&right);
}

static void test_explaining_items_of_one_moment(void)
{
    explains = true;
    CHECK(!attempt_together(1000000, false));
    CHECK_HAS(buf_text(&right), "by the key that was found");
    try_all(attempt_together);
    buf_clean_up(&right);
    explains = false;
}

/* How many pages are asked for by who reads ASKED_PATH alone. */
static unsigned pages_of_one(void)
{
    struct told told = {0};
    struct scene scene;
    open_scene(&scene);
    scene.tree.snapshot_bytes = 1 << 19;
    CHECK(scene_read(&scene, asked_path, &told) && told.bytes.size > 0);
    unsigned pages = scene.fake.pages;
    told_clean_up(&told);
    scene_close(&scene);
    return pages;
}

static void open_sharing_scene(struct scene *scene)
{
    open_scene(scene);
    scene->tree.walks = walks_new(scene->cache, scene->loop, 1 << 19);
    scene->tree.snapshot_bytes = 1 << 19;
}

static void close_sharing_scene(struct scene *scene)
{
    walks_destroy(scene->tree.walks);
    CHECK_INT(scene->fake.started - scene->fake.ended, 0);
    scene_close(scene);
}

/* Asks for PLACE twice at the same time: one waits for what the other reads. */
static void read_twice(struct scene *scene, const struct place *place, struct told told[2])
{
    for (size_t i = 0; i < 2; i++)
        if (!tree_read(&scene->tree, place, scene_take_file, &told[i]))
            error_no_memory(&told[i].err);
    loop_run(scene->loop);
}

static struct place *resolve_asked(const struct scene *scene)
{
    struct error err = {0};
    struct place *place =
        place_resolve(scene->map, span_text(asked_path), &scene->tree.names, &err);
    CHECK(place);
    return place;
}

static bool attempt_shared(unsigned long n, bool for_good)
{
    struct told told[2] = {{0}, {0}};
    struct scene scene;
    open_sharing_scene(&scene);
    struct place *place = resolve_asked(&scene);
    CHECK(buf_reserve(&told[0].bytes, 8192) && buf_reserve(&told[1].bytes, 8192));
    arm(n, for_good);
    read_twice(&scene, place, told);
    bool hit = disarm();
    place_destroy(place);
    if (!hit) {
        CHECK_INT(scene.fake.pages, pages_of_one());
        keep_right(buf_span(&told[0].bytes));
    }
    close_sharing_scene(&scene);
    for (size_t i = 0; i < 2; i++) {
        check_answer(&told[i], true, n);
        told_clean_up(&told[i]);
    }
    return hit;
}

static void test_sharing_a_listing(void)
{
    asked_path = "/prod/jobs/by-index/shopify/a-b/status/PENDING@jsonl";
    CHECK(!attempt_shared(1000000, false));
    CHECK(right.size > 0);
    try_all(attempt_shared);
    buf_clean_up(&right);
}

static bool begin_flight(void *arg, struct cache_flight *flight, struct error *err)
{
    (void)err;
    *(struct cache_flight **)arg = flight;
    return true;
}

static struct cache_wait *refused_wait;

static void count_call(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    (void)data, (void)ttl_left_ms, (void)err;
    ++*(int *)arg;
}

static void leave_for_the_asker(void *arg, void *data, int64_t ttl_left_ms, const struct error *err)
{
    CHECK_INT(err->kind, ERROR_NO_MEMORY);
    count_call(arg, data, ttl_left_ms, err);
    cache_leave(refused_wait);
}

/* Who joined can't ask himself, and makes him leave whose question was refused. */
static void test_asking_again(void)
{
    static const struct error spent = {.kind = ERROR_SPENT};
    struct cache_flight *flight = NULL;
    const struct cache_lookup request = {
        .key = SPAN_LITERAL("k"), .fetch = begin_flight, .fetch_arg = &flight};
    int asker_calls = 0, joined_calls = 0;
    struct scene scene;
    open_scene(&scene);
    refused_wait = cache_read(scene.cache, &request, count_call, &asker_calls);
    CHECK(refused_wait && cache_read(scene.cache, &request, leave_for_the_asker, &joined_calls));
    arm(1, false);
    cache_fail(flight, &spent);
    CHECK(disarm());
    CHECK(asker_calls == 0 && joined_calls == 1);
    scene_close(&scene);
}

static void test_listing_with_sizes(void)
{
    try_list("/prod/shops/s.example", true);
}

static void test_listing_with_followers(void)
{
    try_list("/prod/index-settings/kl7", false);
}

static void test_listing_attributes(void)
{
    try_list("/prod/shops/s.example/SETTINGS@", false);
}

static void test_listing_a_directory_of_the_map(void)
{
    try_list("/prod/jobs/by-index", false);
}

struct resolved {
    unsigned calls;
    struct error err;
};

static void take_place(void *arg, struct place *place, const struct error *err)
{
    struct resolved *resolved = arg;
    resolved->calls++;
    if (err)
        resolved->err = *err;
    place_destroy(place);
}

/* A path that is resolved ends once, or does not begin. */
static bool resolve_once(unsigned long n, bool for_good)
{
    struct scene scene;
    struct resolved resolved = {0};
    open_scene(&scene);
    arm(n, for_good);
    bool begun = tree_resolve(&scene.tree, NULL, SPAN_LITERAL("/prod/shops/s.example/SETTINGS"),
                              take_place, &resolved);
    if (begun)
        loop_run(scene.loop);
    bool hit = disarm();
    scene_close(&scene);
    CHECK_INT(resolved.calls, begun ? 1 : 0);
    if (resolved.err.kind != ERROR_NONE)
        CHECK_INT(resolved.err.kind, ERROR_NO_MEMORY);
    return hit;
}

static void test_resolving(void)
{
    try_all(resolve_once);
}

static bool parse_what_is_wrong(unsigned long n, bool for_good)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    static const char text[] = "{\"environments\":{\"p\":{\"prefx\":\"p\"}},\"tables\":{\"t\":{"
                               "\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},\"ttl\":-1,"
                               "\"paths\":{\"{b}\":{},\"{a}\":{\"newest\":0}}}}}";
    struct error err = {0};
    arm(n, for_good);
    const struct map *map = map_parse("m", SPAN_LITERAL(text), &findings, &err);
    bool hit = disarm();
    CHECK(!map);
    if (err.kind == ERROR_INVALID)
        CHECK_INT(findings.count, 4);
    else
        CHECK_INT(err.kind, ERROR_NO_MEMORY);
    return hit;
}

static void test_telling_what_is_wrong_with_a_map(void)
{
    try_all(parse_what_is_wrong);
}

static bool explain_once(const char *path, bool json, unsigned long n, bool for_good)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct scene scene;
    struct error err = {0};
    open_scene(&scene);
    CHECK(buf_reserve(&out, 8192));
    arm(n, for_good);
    struct place *place = place_resolve(scene.map, span_text(path), &scene.tree.names, &err);
    bool ok = place && explain_write(&scene.tree, place, span_text(path), json, &out, &err);
    place_destroy(place);
    bool hit = disarm();
    scene_close(&scene);
    if (!ok && err.kind != ERROR_NO_MEMORY)
        CHECK_FAIL("allocation %lu: %s", n, err.text);
    if (ok && hit && !span_equal(buf_span(&out), buf_span(&right)))
        CHECK_FAIL("allocation %lu: <%s>", n, buf_text(&out));
    if (ok && !hit)
        keep_right(buf_span(&out));
    return hit;
}

static const char *explained_path;
static bool explained_json;

static bool attempt_explain(unsigned long n, bool for_good)
{
    return explain_once(explained_path, explained_json, n, for_good);
}

static void try_explain(const char *path, bool json)
{
    explained_path = path;
    explained_json = json;
    CHECK(!attempt_explain(1000000, false));
    CHECK(right.size > 0);
    try_all(attempt_explain);
    buf_clean_up(&right);
}

static void test_explaining_two_steps(void)
{
    try_explain("/prod/jobs/by-id/j1", false);
}

static void test_explaining_a_pick(void)
{
    try_explain("/prod/shops/s.example/access-token", true);
}

static void test_explaining_a_listing(void)
{
    try_explain("/prod/jobs/by-index/shopify/a-b/status/PENDING", false);
}

/* Two kinds of record, and an index that both share. */
static const char sampled[] =
    "[{\"PK\":{\"S\":\"USER#1\"},\"SK\":{\"S\":\"PROFILE\"},\"GSI1PK\":{\"S\":\"EMAIL#a\"},"
    "\"updated_at\":{\"S\":\"2026-01-01\"},\"token\":{\"S\":\"x\\u00e9\"}},"
    "{\"PK\":{\"S\":\"USER#1\"},\"SK\":{\"S\":\"ORDER#7\"},\"order_id\":{\"N\":\"7\"},"
    "\"GSI1PK\":{\"S\":\"OPEN\"}}]";

static void describe(struct arena *arena, struct declared_table **out)
{
    struct declared_table *table = declare_table(arena, "t", "T");
    struct declared_record *item = declare_record(arena, table, "item");
    struct declared_index *index = declare_index(arena, table, "GSI1");
    item->keys[0] =
        (struct declared_key){.attribute = "PK", .format = declare_format(arena, "{PK*}")};
    item->keys[1] =
        (struct declared_key){.attribute = "SK", .format = declare_format(arena, "{SK*}")};
    item->key_count = 2;
    index->partition[0] =
        (struct declared_key){.attribute = "GSI1PK", .format = declare_format(arena, "{GSI1PK*}")};
    index->partition_count = 1;
    *out = table;
}

static bool infer(unsigned long n, bool for_good)
{
    struct arena described = {0}, arena = {0};
    struct declared_table *table;
    struct json_doc doc;
    describe(&described, &table);
    CHECK(json_parse(&doc, span_text(sampled), JSON_STRICT, NULL));
    arm(n, for_good);
    struct inference *inference = inference_new(table);
    struct json item = json_first(json_root(&doc));
    while (inference && json_present(item) && inference_add(inference, item))
        item = json_next(item);
    bool added = inference && !json_present(item);
    const struct declared_table *inferred = added ? inference_end(inference, &arena) : NULL;
    bool hit = disarm();
    CHECK(hit || inferred);
    if (inferred) {
        CHECK_TEXT(inferred->records->name, "profile");
        CHECK_TEXT(inferred->records->next->name, "order");
    }
    inference_destroy(inference);
    json_clean_up(&doc);
    arena_clean_up(&arena);
    arena_clean_up(&described);
    return hit;
}

static void test_inferring(void)
{
    try_all(infer);
}

static enum form_kind formed_kind;

/* All records of SAMPLED in a form: whole, or an error that says so. */
static bool form_once(unsigned long n, bool for_good)
{
    static const char *const keys[] = {"PK", "SK"}, *const secrets[] = {"token"};
    static const struct record_view view = {keys, 2, secrets, 1, false};
    const struct form_setting setting = {.kind = formed_kind, .view = &view};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    struct json_doc doc;
    CHECK(json_parse(&doc, span_text(sampled), JSON_STRICT, NULL));
    arm(n, for_good);
    struct form *form = form_new(&setting);
    bool ok = form != NULL;
    for (struct json item = json_first(json_root(&doc)); ok && json_present(item);
         item = json_next(item))
        ok = form_add(form, item, &out, &err);
    ok = ok && form_end(form, &out, NULL, &err);
    bool told = form && !ok, hit = disarm();
    form_destroy(form);
    json_clean_up(&doc);
    if (told)
        CHECK_INT(err.kind, ERROR_NO_MEMORY);
    if (ok && hit)
        CHECK_SPAN(buf_span(&out), buf_span(&right));
    if (!hit)
        keep_right(buf_span(&out));
    return hit;
}

static void test_forming(void)
{
    for (formed_kind = FORM_JSONL; formed_kind <= FORM_DATABASE; formed_kind++) {
        CHECK(!form_once(1000000, false));
        CHECK(right.size > 0);
        try_all(form_once);
        buf_clean_up(&right);
    }
}

static bool write_difference(void *arg, const struct difference *difference)
{
    struct buf *out = arg;
    buf_add_span(out, difference->path);
    buf_add_span(out, difference->name);
    return !out->failed;
}

/* Two records without some of their attributes, in what they differ, and what of their lines. */
static bool compare_once(unsigned long n, bool for_good)
{
    static const char before[] =
        "{\"a\":{\"M\":{\"b\":{\"L\":[{\"S\":\"\\u0041\"},{\"NS\":[\"1\",\"2\"]}]},"
        "\"c\":{\"S\":\"\"}}},\n\"d\":{\"N\":\"1\"}}\n";
    static const char now[] = "{\"a\":{\"M\":{\"b\":{\"L\":[{\"S\":\"B\"},{\"NS\":[\"1\",\"3\"]}]},"
                              "\"c\":{\"S\":\"\"}}},\n\"e\":{\"N\":\"1\"}}\n";
    static const char *const names[] = {"a.c", "f"};
    const struct unified_text from = {SPAN_LITERAL("a"), span_text(before)};
    const struct unified_text to = {SPAN_LITERAL("b"), span_text(now)};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CLEAN_UP(json_clean_up) struct json_doc a, b;
    CHECK(json_parse(&a, span_text(before), JSON_STRICT, NULL));
    CHECK(json_parse(&b, span_text(now), JSON_STRICT, NULL));
    arm(n, for_good);
    item_write_without(json_root(&a), names, 2, &out);
    bool found = difference_find(json_root(&a), json_root(&b), write_difference, &out);
    unified_write(&out, &from, &to);
    bool hit = disarm(), ok = found && !out.failed;
    CHECK(ok || hit);
    if (ok && hit)
        CHECK_SPAN(buf_span(&out), buf_span(&right));
    if (!hit)
        keep_right(buf_span(&out));
    return hit;
}

static void test_comparing(void)
{
    CHECK(!compare_once(1000000, false));
    CHECK(right.size > 0);
    try_all(compare_once);
    buf_clean_up(&right);
}

/* What is made of the map alone: whole, or nobody takes it for that. */
static bool write_once(bool skill, const char *path, unsigned long n, bool for_good)
{
    const struct place_options names = {.suffix = ""};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    const struct map *map = sample_example(&err);
    struct place *place = place_resolve(map, span_text(path), &names, &err);
    CHECK(map && place);
    arm(n, for_good);
    bool ok = skill ? skill_write(map, &names, &out) : readme_write(place, &names, NULL, &out);
    bool hit = disarm();
    place_destroy(place);
    map_unref(map);
    CHECK(ok || hit);
    if (ok && hit)
        CHECK_SPAN(buf_span(&out), buf_span(&right));
    if (!hit)
        keep_right(buf_span(&out));
    return hit;
}

static bool write_skill_once(unsigned long n, bool for_good)
{
    return write_once(true, "/", n, for_good);
}

static bool write_root_readme_once(unsigned long n, bool for_good)
{
    return write_once(false, "/prod/README", n, for_good);
}

static bool write_readme_once(unsigned long n, bool for_good)
{
    return write_once(false, "/prod/jobs/by-id/README", n, for_good);
}

static void test_writing_a_skill(void)
{
    CHECK(!write_skill_once(1000000, false));
    CHECK(right.size > 0);
    try_all(write_skill_once);
    buf_clean_up(&right);
}

static bool write_listings_readme_once(unsigned long n, bool for_good)
{
    return write_once(false, "/prod/jobs/by-index/README", n, for_good);
}

static void test_writing_readmes(void)
{
    CHECK(!write_listings_readme_once(1000000, false));
    try_all(write_listings_readme_once);
    CHECK(!write_root_readme_once(1000000, false));
    try_all(write_root_readme_once);
    CHECK(!write_readme_once(1000000, false));
    try_all(write_readme_once);
    buf_clean_up(&right);
}

/* A query that is read in ranges. */

enum { RANGE_ITEMS = 60 };

struct range_reader {
    struct source_call *call;
    int count; /* items that came in their order */
    bool is_over, is_wrong;
    struct error err;
};

static void take_range_page(void *arg, const struct page *page, const struct error *err)
{
    struct range_reader *reader = arg;
    reader->is_over = err || !page->more;
    reader->is_wrong = reader->is_wrong || reader->err.kind != ERROR_NONE;
    if (err) {
        reader->err = *err;
        return;
    }
    for (size_t i = 0; i < page->item_count; i++) {
        struct span key = span_text("");
        json_plain_string(json_member(json_member(page->items[i], "sk"), "S"), &key);
        reader->is_wrong = reader->is_wrong || key.size != 2 ||
                           (key.data[0] - '0') * 10 + key.data[1] - '0' != reader->count;
        reader->count++;
    }
    if (page->more)
        source_more(reader->call);
}

static bool read_ranges(unsigned long n, bool for_good)
{
    static char texts[RANGE_ITEMS][64];
    struct fake_item items[RANGE_ITEMS + 1] = {0};
    struct range_reader reader = {0};
    struct virtual_clock clock;
    struct fake_source fake;
    for (int i = 0; i < RANGE_ITEMS; i++) {
        snprintf(texts[i], sizeof texts[i], "{\"pk\":{\"S\":\"x\"},\"sk\":{\"S\":\"%02d\"}}", i);
        items[i] = (struct fake_item){"T", NULL, texts[i]};
    }
    virtual_clock_init(&clock, 1792000000000);
    struct loop *loop = loop_new(&clock.clock);
    fake_source_init(&fake, loop, items);
    fake.parts_with_pages = true;
    fake.page_size = 4;
    fake.busy = &fault.paused;
    struct source *source =
        ranges_new(&(struct ranges_options){.source = &fake.source, .loop = loop});
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .value = {VALUE_S, SPAN_LITERAL("x")}};
    struct read *read = read_new(READ_QUERY, "T", NULL);
    read_add_where(read, &where);
    read_add_sort(read, SPAN_LITERAL("sk"));
    CHECK(loop && source && !read_failed(read));
    arm(n, for_good);
    reader.call = source_start(source, read, NULL, take_range_page, &reader);
    if (reader.call) {
        source_read_all(reader.call);
        loop_run(loop);
    }
    bool hit = disarm();
    bool is_whole = reader.call && reader.is_over && reader.err.kind == ERROR_NONE;
    struct source_stats stats = {0};
    source_add_stats(source, &stats);
    if (!hit)
        CHECK_INT(stats.parallel, 1);
    source_end(reader.call);
    read_destroy(read);
    source_destroy(source);
    loop_destroy(loop);
    CHECK_INT(fake.held, 0);
    CHECK_INT(fake.started, fake.ended);
    if (reader.is_wrong || (is_whole && reader.count != RANGE_ITEMS) ||
        (reader.call && !reader.is_over) ||
        (reader.err.kind != ERROR_NONE && reader.err.kind != ERROR_NO_MEMORY))
        CHECK_FAIL("allocation %lu: %d items, %s", n, reader.count, reader.err.text);
    return hit;
}

static void test_reading_in_ranges(void)
{
    try_all(read_ranges);
}

/* The past: three moments, at which the table is empty, has two items, and has one of them changed
 * and the other one deleted. */

static struct fake_source past_sources[3]; /* the newest first */

static bool past_list(void *arg, const struct map_environment *environment, const int64_t **times,
                      size_t *count, struct error *err)
{
    static const int64_t all[] = {3000, 2000, 1000};
    (void)arg, (void)environment, (void)err;
    *times = all;
    *count = 3;
    return true;
}

static bool past_is_no(void *arg, const struct map_environment *environment)
{
    (void)arg, (void)environment;
    return false;
}

static void past_write_origin(void *arg, const struct place *place, struct buf *out)
{
    (void)arg;
    buf_printf(out, "moment %d", (int)place->at_ms);
}

static struct source *past_source(void *arg, const struct place *place, struct error *err)
{
    (void)arg, (void)err;
    CHECK(place->is_past);
    return &past_sources[place->at_ms >= 3000 ? 0 : place->at_ms >= 2000 ? 1 : 2].source;
}

static bool past_asks_list;

static bool attempt_past(unsigned long n, bool for_good)
{
    static const struct moments moments = {.is_snapshot = past_is_no,
                                           .is_recording = past_is_no,
                                           .list = past_list,
                                           .write_origin = past_write_origin};
#define SHOP_ITEM(sk, value)                                                                       \
    {                                                                                              \
        "prod-ShopifyEntitiesTable", NULL,                                                         \
            "{\"pk\":{\"S\":\"SHOP#s\"},\"sk\":{\"S\":\"" sk "\"},\"v\":{\"S\":\"" value "\"}}"    \
    }
    static const struct fake_item states[3][3] = {
        {SHOP_ITEM("SETTINGS", "new"), {0}},
        {SHOP_ITEM("SETTINGS", "old"), SHOP_ITEM("USER#1", "gone"), {0}},
        {{0}}};
    CLEAN_UP(told_clean_up) struct told told = {.full = true};
    struct scene scene;
    unsigned open = 0;
    open_scene(&scene);
    for (size_t i = 0; i < 3; i++)
        fake_source_init(&past_sources[i], scene.loop, states[i]);
    scene.tree.source = past_source;
    scene.tree.names.moments = &moments;
    CHECK(buf_reserve(&told.bytes, 8192));
    arm(n, for_good);
    bool asked = (past_asks_list ? scene_list : scene_read)(&scene, asked_path, &told);
    bool hit = disarm();
    scene_close(&scene);
    for (size_t i = 0; i < 3; i++)
        open += past_sources[i].started - past_sources[i].ended;
    CHECK_INT(open, 0);
    if (hit)
        check_answer(&told, asked, n);
    else
        keep_right(buf_span(&told.bytes));
    return hit;
}

/* WANTED is a part of the right answer. */
static void try_past(const char *path, bool list, const char *wanted)
{
    asked_path = path;
    past_asks_list = list;
    CHECK(!attempt_past(1000000, false));
    CHECK_HAS(buf_text(&right), wanted);
    try_all(attempt_past);
    buf_clean_up(&right);
}

#define THIRD "1970-01-01T00:00:03Z"
#define SECOND "1970-01-01T00:00:02Z"

static void test_the_moments_of_an_environment(void)
{
    try_past("/prod@at", true, THIRD);
    try_past("/prod@at/" SECOND "/shops/s/SETTINGS", false, "\"old\"");
}

static void test_the_history_of_an_item(void)
{
    try_past("/prod/shops/s/SETTINGS@history", true, THIRD);
    try_past("/prod/shops/s/USER#1@history", true, THIRD " 0 ");
    try_past("/prod/shops/s/SETTINGS@history/" SECOND, false, "\"old\"");
    try_past("/prod/shops/s/SETTINGS@history/README", false, "net changes");
}

static void test_the_companions_of_a_version(void)
{
    try_past("/prod/shops/s/USER#1@history/" THIRD "@info", false, "\"deleted\": true");
    try_past("/prod/shops/s/SETTINGS@history/" SECOND "@info", false, "moment 2000");
    try_past("/prod/shops/s/SETTINGS@history/" SECOND "@typed", false, "{\"S\":\"old\"}");
}

/* A statement over the example's jobs: its columns, its way to the rows, and one row. */
struct selecting {
    struct sql_columns *columns;
    struct arena arena;
    struct sql_row row;
    struct json_doc doc;
};

static bool select_find(struct selecting *selecting, size_t *lookups, struct error *err)
{
    struct sql_columns *columns = selecting->columns;
    const struct sql_constraint constraints[] = {
        {sql_columns_find(columns, span_text("shop_id")), SQL_OP_EQ, true, false},
        {sql_columns_find(columns, span_text("status")), SQL_OP_EQ, true, false},
        {sql_columns_find(columns, span_text("created_at")), SQL_OP_GE, true, false},
        {sql_columns_find(columns, span_text("done")), SQL_OP_LIKE, true, false}};
    const struct sql_value values[] = {{.type = SQL_TEXT, .bytes = SPAN_LITERAL("s")},
                                       {.type = SQL_TEXT, .bytes = SPAN_LITERAL("FAILED")},
                                       {.type = SQL_REAL, .real = 2026},
                                       {.type = SQL_TEXT, .bytes = SPAN_LITERAL("y%")}};
    bool used[20] = {false};
    struct sql_wanted wanted = {columns, "prod.jobs", NULL, constraints, 4, NULL, 0, used, false};
    const struct sql_access *access = sql_access_find(&wanted, &selecting->arena, err);
    struct sql_lookup *list;
    return access && sql_access_bind(access, values, &selecting->arena, &list, lookups, err);
}

static bool select_read(struct selecting *selecting, struct error *err)
{
    bool ok = sql_row_begin(&selecting->row, selecting->columns, json_root(&selecting->doc), err);
    for (size_t i = 0; ok && i < selecting->columns->count; i++) {
        struct sql_value value;
        ok = sql_row_read(&selecting->row, i, &value, err);
    }
    return ok;
}

static bool select_refuse(struct selecting *selecting, struct error *err)
{
    bool used[20] = {false};
    struct sql_wanted wanted = {
        selecting->columns, "prod.jobs", NULL, NULL, 0, NULL, 0, used, false};
    CHECK(!sql_access_find(&wanted, &selecting->arena, err));
    return err->kind == ERROR_INVALID;
}

static bool select_once(unsigned long n, bool for_good)
{
    struct error err = {0};
    struct selecting selecting = {0};
    size_t lookups = 0;
    const struct map *map = sample_example(&err);
    CHECK(map && json_parse(&selecting.doc,
                            span_text("{\"pk\":{\"S\":\"PLATFORM#p#SHOP#s\"},"
                                      "\"sk\":{\"S\":\"JOB#2026#j\"},\"done\":{\"N\":\"1\"},"
                                      "\"status_created_at\":{\"S\":\"FAILED#2026\"}}"),
                            JSON_STRICT, NULL));
    arm(n, for_good);
    selecting.columns = sql_columns_new(map->models[0], false);
    bool ok = selecting.columns && sql_columns_add(selecting.columns, span_text("done"));
    bool no_columns = !ok;
    ok = ok && select_find(&selecting, &lookups, &err) && select_read(&selecting, &err) &&
         select_refuse(&selecting, &err);
    bool hit = disarm();
    CHECK(ok || no_columns || err.kind == ERROR_NO_MEMORY);
    CHECK(!ok || lookups == 1);
    sql_row_clean_up(&selecting.row);
    json_clean_up(&selecting.doc);
    arena_clean_up(&selecting.arena);
    sql_columns_destroy(selecting.columns);
    map_unref(map);
    return hit;
}

static void test_selecting(void)
{
    try_all(select_once);
}

static const struct check_test tests[] = {
    {"selecting", test_selecting},
    {"the_moments_of_an_environment", test_the_moments_of_an_environment},
    {"the_history_of_an_item", test_the_history_of_an_item},
    {"the_companions_of_a_version", test_the_companions_of_a_version},
    {"reading_in_ranges", test_reading_in_ranges},
    {"writing_a_skill", test_writing_a_skill},
    {"writing_readmes", test_writing_readmes},
    {"comparing", test_comparing},
    {"forming", test_forming},
    {"inferring", test_inferring},
    {"resolving", test_resolving},
    {"telling_what_is_wrong_with_a_map", test_telling_what_is_wrong_with_a_map},
    {"parsing_the_example", test_parsing_the_example},
    {"parsing_a_wrong_map", test_parsing_a_wrong_map},
    {"decoding_responses", test_decoding_responses},
    {"reading_by_an_index", test_reading_by_an_index},
    {"reading_by_key", test_reading_by_key},
    {"reading_what_is_picked", test_reading_what_is_picked},
    {"similar_items", test_similar_items},
    {"reading_items_of_one_moment", test_reading_items_of_one_moment},
    {"explaining_items_of_one_moment", test_explaining_items_of_one_moment},
    {"reading_typed_with_a_secret", test_reading_typed_with_a_secret},
    {"reading_info", test_reading_info},
    {"reading_an_attribute", test_reading_an_attribute},
    {"reading_by_a_shortened_name", test_reading_by_a_shortened_name},
    {"listing_with_hydrate", test_listing_with_hydrate},
    {"sharing_a_listing", test_sharing_a_listing},
    {"asking_again", test_asking_again},
    {"listing_with_sizes", test_listing_with_sizes},
    {"listing_with_followers", test_listing_with_followers},
    {"listing_attributes", test_listing_attributes},
    {"listing_a_directory_of_the_map", test_listing_a_directory_of_the_map},
    {"explaining_two_steps", test_explaining_two_steps},
    {"explaining_a_pick", test_explaining_a_pick},
    {"explaining_a_listing", test_explaining_a_listing},
};

CHECK_MAIN(tests)
