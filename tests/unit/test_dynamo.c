/* The source as a whole, on a scripted transport and a virtual clock. */
#include "core/dynamo/dynamo.h"

#include <stdlib.h>
#include <time.h>

#include "core/aws/retry.h"
#include "core/aws/sigv4.h"
#include "core/dynamo/next_page.h"
#include "core/source/batching.h"
#include "tests/unit/check.h"
#include "tests/unit/counting_payer.h"
#include "tests/unit/script_transport.h"
#include "tests/unit/virtual_clock.h"

#define WALL_MS 1792000000000 /* a day in October 2026 */
#define DEADLINE_MS 10000

/* What a finished page leaves for the test to look at. */
struct seen {
    size_t items, names;
    bool more;
    unsigned requests;
    double capacity;
    int64_t age_ms;
    char first[128]; /* the first item or name */
    char throttled[256];
    char request_id[64];
};

struct scene {
    struct virtual_clock clock;
    struct loop *loop;
    struct script *script;
    struct aws_settings settings;
    struct aws_session *session;
    struct dynamo_options options;
    struct source *source;
    struct read *read;
    struct counting_payer payer; /* of all calls */
    struct source_call *call;
    struct log log;
    char logged[4096];
    struct seen pages[8];
    int page_count, error_count;
    int64_t told_ms; /* when the last of these came */
    struct error err;
    bool all; /* ask for every page, from within the callback */
    bool end; /* end the call from within the callback, before the page is looked at */
};

static void set_credentials(const char *id, const char *token)
{
    setenv("AWS_ACCESS_KEY_ID", id, 1);
    setenv("AWS_SECRET_ACCESS_KEY", "SECRETKEY", 1);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    unsetenv("AWS_PROFILE");
    unsetenv("AWS_DEFAULT_PROFILE");
    if (token)
        setenv("AWS_SESSION_TOKEN", token, 1);
    else
        unsetenv("AWS_SESSION_TOKEN");
}

static void take_line(void *arg, enum log_level level, const char *line)
{
    struct scene *scene = arg;
    size_t used = strlen(scene->logged);
    snprintf(scene->logged + used, sizeof scene->logged - used, "%d %s\n", (int)level, line);
}

static void open_scene(struct scene *scene, struct read *read)
{
    struct aws_options where = {.region = "eu-west-1", .endpoint_url = "http://localhost:8000"};
    struct error err = {0};
    *scene = (struct scene){.read = read, .log = {LOG_LEVEL_INFO, take_line, scene}};
    set_credentials("AKID1", NULL);
    virtual_clock_init(&scene->clock, WALL_MS);
    scene->loop = loop_new(&scene->clock.clock);
    scene->script = script_new(scene->loop);
    struct profiles profiles = {0};
    CHECK(aws_settings_init(&scene->settings, &where, &profiles, &err));
    struct aws_session_parts parts = {
        .loop = scene->loop, .transport = script_transport(scene->script), .log = &scene->log};
    scene->session = aws_session_new(&scene->settings, &parts);
    CHECK(scene->session);
    scene->options = (struct dynamo_options){
        .loop = scene->loop,
        .transport = script_transport(scene->script),
        .session = scene->session,
        .log = &scene->log,
        .deadline_ms = DEADLINE_MS,
        .random_seed = 3,
        .hedges = true,
    };
    scene->source = dynamo_new(&scene->options);
    CHECK(scene->source && !read_failed(read));
    counting_payer_init(&scene->payer);
}

static void end_call(struct scene *scene)
{
    if (scene->call)
        source_end(scene->call);
    scene->call = NULL;
}

/* Every request has been told to its payer, once. */
static void close_scene(struct scene *scene)
{
    end_call(scene);
    source_destroy(scene->source);
    CHECK_INT(scene->payer.requests, script_sent_count(scene->script));
    counting_payer_clean_up(&scene->payer);
    aws_session_destroy(scene->session);
    aws_settings_clean_up(&scene->settings);
    script_destroy(scene->script);
    loop_destroy(scene->loop);
    read_destroy(scene->read);
}

static struct seen seen_of(const struct page *page)
{
    struct seen seen = {.items = page->item_count,
                        .names = page->name_count,
                        .more = page->more,
                        .requests = page->requests,
                        .capacity = page->capacity,
                        .age_ms = page->age_ms};
    struct span first = page->item_count         ? json_raw(page->items[0])
                        : page->name_count       ? page->names[0]
                        : page->description.size ? page->description
                                                 : span_of("", 0);
    snprintf(seen.first, sizeof seen.first, "%.*s", (int)first.size, first.data);
    snprintf(seen.request_id, sizeof seen.request_id, "%s", page->request_id);
    const struct throttle *each;
    uint64_t requests;
    for (size_t i = 0; (each = throttles_at(page->throttled, i, &requests)); i++) {
        size_t used = strlen(seen.throttled);
        snprintf(seen.throttled + used, sizeof seen.throttled - used, "%d %s %s\n", (int)requests,
                 each->reason, each->resource);
    }
    return seen;
}

static void on_page(void *arg, const struct page *page, const struct error *err)
{
    struct scene *scene = arg;
    scene->told_ms = loop_now_ms(scene->loop);
    if (err) {
        scene->error_count++;
        scene->err = *err;
        return;
    }
    if (scene->end)
        end_call(scene);
    if (scene->all && page->more)
        source_more(scene->call);
    scene->pages[scene->page_count++] = seen_of(page);
}

static void start(struct scene *scene)
{
    scene->call = source_start(scene->source, scene->read, &scene->payer.payer, on_page, scene);
    CHECK(scene->call);
    CHECK(scene->page_count == 0 && scene->error_count == 0);
}

static void run(struct scene *scene)
{
    start(scene);
    CHECK(loop_run(scene->loop));
}

#define DYNAMOS "Content-Type: application/x-amz-json-1.0\n"

static void answer(struct scene *scene, int status, const char *body)
{
    script_answer(scene->script, status, "Content-Type: application/x-amz-json-1.0", body);
}

static const struct script_sent *sent(struct scene *scene, size_t i)
{
    return script_sent(scene->script, i);
}

static size_t sent_count(struct scene *scene)
{
    return script_sent_count(scene->script);
}

static void stop_loop(void *arg)
{
    loop_stop(arg);
}

static struct value text(const char *s)
{
    return (struct value){VALUE_S, span_text(s)};
}

static struct read *query(void)
{
    struct read *read = read_new(READ_QUERY, "jobs", NULL);
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .op = COND_EQ, .value = text("p")};
    read_add_where(read, &where);
    read_add_sort(read, SPAN_LITERAL("sk"));
    return read;
}

static struct read *items(int count)
{
    struct read *read = read_new(READ_ITEMS, "jobs", NULL);
    for (int i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        struct key key = {.attributes = {{SPAN_LITERAL("pk"), text(id)}}, .count = 1};
        read_add_key(read, &key);
    }
    return read;
}

#define ITEM(sk) "{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"" sk "\"}}"
#define PAGE(items) "{\"Items\":[" items "]}"
#define PAGE_TO(items, last) "{\"Items\":[" items "],\"LastEvaluatedKey\":" last "}"
#define ONE_ITEM PAGE(ITEM("9"))
#define TWO_AND_MORE PAGE_TO(ITEM("1") "," ITEM("2"), ITEM("2"))
#define THROTTLED "{\"__type\":\"x#ThrottlingException\",\"message\":\"Slow down.\"}"
#define FAILED "{\"__type\":\"x#InternalServerError\",\"message\":\"Oh.\"}"
#define BAD_SIGNATURE "{\"__type\":\"x#InvalidSignatureException\",\"message\":\"Expired.\"}"
#define EXPIRED "{\"__type\":\"x#ExpiredTokenException\",\"message\":\"Expired.\"}"

static struct read *together(int count)
{
    struct read *read = read_new(READ_TOGETHER, "jobs", NULL);
    for (int i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        struct read *part = read_new(READ_ITEMS, i ? "shops" : "jobs", NULL);
        struct key key = {.attributes = {{SPAN_LITERAL("pk"), text(id)}}, .count = 1};
        read_add_key(part, &key);
        read_set_pattern(part, i ? "shops" : "jobs", "{id}");
        read_add_part(read, part);
    }
    return read;
}

#define CANCELED(first, second)                                                                    \
    "{\"__type\":\"x#TransactionCanceledException\",\"Message\":\"Cancelled.\","                   \
    "\"CancellationReasons\":[{\"Code\":\"" first "\"},{\"Code\":\"" second "\"}]}"
#define CONFLICT CANCELED("None", "TransactionConflict")
#define TWO_OF_A_MOMENT                                                                            \
    "{\"Responses\":[{\"Item\":{\"pk\":{\"S\":\"0\"}}},{}],\"ConsumedCapacity\":["                 \
    "{\"TableName\":\"jobs\",\"CapacityUnits\":2},{\"TableName\":\"shops\",\"CapacityUnits\":3}]}"

static void items_of_one_moment_are_one_page_that_their_parts_pay_for(void)
{
    struct scene scene;
    struct source_stats stats = {0};
    open_scene(&scene, together(2));
    answer(&scene, 200, TWO_OF_A_MOMENT);
    run(&scene);
    CHECK_INT(scene.page_count, 1);
    CHECK(scene.pages[0].items == 2 && !scene.pages[0].more && scene.pages[0].capacity == 5);
    CHECK_TEXT(buf_text(&scene.payer.lines), "TransactGetItems jobs/ jobs/{id} answered\n"
                                             "TransactGetItems shops/ shops/{id} answered\n");
    CHECK(scene.payer.units == 5 && scene.payer.requests == 1);
    CHECK_HAS(scene.logged, "TransactGetItems table=jobs,shops status=200");
    source_add_stats(scene.source, &stats);
    CHECK(stats.items == 1 && stats.spent.units == 5);
    close_scene(&scene);
}

static void a_conflict_is_repeated_until_the_deadline(void)
{
    struct scene scene;
    open_scene(&scene, together(2));
    for (int i = 0; i < 60; i++)
        answer(&scene, 400, CONFLICT);
    run(&scene);
    CHECK_INT(scene.error_count, 1);
    CHECK_INT(scene.err.kind, ERROR_THROTTLED);
    CHECK_TEXT(scene.err.code, "TransactionConflict");
    CHECK(scene.err.part == 2);
    CHECK_TEXT(scene.err.table, "shops");
    CHECK_HAS(scene.err.text, "requests in all)");
    CHECK(sent_count(&scene) > RETRY_ATTEMPTS && sent_count(&scene) < 30);
    CHECK(scene.clock.now_ms <= 1000000 + DEADLINE_MS);
    CHECK(scene.payer.doubted == (double)sent_count(&scene) * 400);
    close_scene(&scene);
}

static void a_conflict_that_ends_is_a_page(void)
{
    struct scene scene;
    setenv("AWS_MAX_ATTEMPTS", "1", 1);
    open_scene(&scene, together(2));
    unsetenv("AWS_MAX_ATTEMPTS");
    for (int i = 0; i < 6; i++)
        answer(&scene, 400, CONFLICT);
    answer(&scene, 200, TWO_OF_A_MOMENT);
    run(&scene);
    CHECK_INT(scene.page_count, 1);
    CHECK_INT(scene.pages[0].requests, 7);
    close_scene(&scene);
}

/* A response that does not come is no other end. */
static void a_deadline_behind_a_conflict_is_a_conflict(void)
{
    struct scene scene;
    open_scene(&scene, together(2));
    answer(&scene, 400, CONFLICT);
    answer(&scene, 200, TWO_OF_A_MOMENT);
    script_delay(scene.script, 2 * DEADLINE_MS);
    run(&scene);
    CHECK_INT(scene.err.kind, ERROR_THROTTLED);
    CHECK_TEXT(scene.err.code, "TransactionConflict");
    CHECK_HAS(scene.err.text, "(2 requests in all)");
    close_scene(&scene);
}

static void a_throttled_item_is_repeated_as_a_throttled_request(void)
{
    struct scene scene;
    open_scene(&scene, together(2));
    for (int i = 0; i < 60; i++)
        answer(&scene, 400, CANCELED("TransactionConflict", "ThrottlingError"));
    run(&scene);
    CHECK_INT(scene.err.kind, ERROR_THROTTLED);
    CHECK_TEXT(scene.err.code, "ThrottlingError");
    CHECK_INT(sent_count(&scene), RETRY_ATTEMPTS);
    close_scene(&scene);
}

static void an_optional_transaction_is_sent_once(void)
{
    struct scene scene;
    struct read *read = together(2);
    read->once = true;
    open_scene(&scene, read);
    answer(&scene, 400, CONFLICT);
    run(&scene);
    CHECK_INT(scene.err.kind, ERROR_THROTTLED);
    CHECK_INT(sent_count(&scene), 1);
    close_scene(&scene);
}

static void who_can_not_pay_for_a_transaction_sends_none(void)
{
    struct scene scene;
    open_scene(&scene, together(2));
    scene.payer.most = 3;
    run(&scene);
    CHECK(scene.error_count == 1 && scene.payer.refused == 1);
    CHECK_INT(sent_count(&scene), 0);
    close_scene(&scene);
}

static void an_item_comes_in_one_request(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    script_answer(scene.script, 200, DYNAMOS "x-amzn-RequestId: R1",
                  "{\"Item\":{\"pk\":{\"S\":\"0\"}},\"ConsumedCapacity\":{\"CapacityUnits\":0.5}}");
    run(&scene);
    CHECK_INT(scene.page_count, 1);
    CHECK_TEXT(scene.pages[0].first, "{\"pk\":{\"S\":\"0\"}}");
    CHECK(!scene.pages[0].more && scene.pages[0].requests == 1 && scene.pages[0].capacity == 0.5);
    CHECK_TEXT(scene.pages[0].request_id, "R1");
    close_scene(&scene);
}

static void a_missing_item_is_missing_from_the_page(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    answer(&scene, 200, "{}");
    run(&scene);
    CHECK(scene.page_count == 1 && scene.error_count == 0 && scene.pages[0].items == 0);
    CHECK(scene.pages[0].capacity < 0);
    close_scene(&scene);
}

static void a_request_is_complete_and_signed(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    set_credentials("AKID1", "TOKEN");
    answer(&scene, 200, "{}");
    run(&scene);
    const char *headers = sent(&scene, 0)->headers;
    CHECK_TEXT(sent(&scene, 0)->url, "http://localhost:8000/");
    CHECK_HAS(headers, "Content-Type: application/x-amz-json-1.0\n");
    CHECK_HAS(headers, "Host: localhost:8000\n");
    CHECK_HAS(headers, "X-Amz-Target: DynamoDB_20120810.GetItem\n");
    CHECK_HAS(headers, "X-Amz-Security-Token: TOKEN\n");
    CHECK_HAS(headers, "Accept-Encoding: gzip\n");
    CHECK_HAS(headers, "Credential=AKID1/");
    CHECK_HAS(headers, "/eu-west-1/dynamodb/aws4_request");
    CHECK_HAS(headers, "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;"
                       "x-amz-target");
    close_scene(&scene);
}

/* The signature, made here once more from what was sent. */
static void the_signature_covers_what_was_sent(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    answer(&scene, 200, "{}");
    run(&scene);
    char date[SIGV4_DATE_SIZE], want[1024];
    sigv4_date(date, WALL_MS);
    struct sigv4_header headers[] = {
        {"content-type", SPAN_LITERAL("application/x-amz-json-1.0")},
        {"host", SPAN_LITERAL("localhost:8000")},
        {"x-amz-date", span_text(date)},
        {"x-amz-target", SPAN_LITERAL("DynamoDB_20120810.GetItem")},
    };
    struct sigv4_request request = {"POST", "/", "", headers, 4, span_text(sent(&scene, 0)->body)};
    struct sigv4_scope scope = {date, "eu-west-1", "dynamodb"};
    struct buf authorization = {0};
    CHECK(sigv4_authorization(&authorization, &request, &scope, "AKID1", "SECRETKEY"));
    snprintf(want, sizeof want, "Authorization: %s\n", buf_text(&authorization));
    buf_clean_up(&authorization);
    CHECK_HAS(sent(&scene, 0)->headers, want);
    close_scene(&scene);
}

static void pages_come_on_demand(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 200, TWO_AND_MORE);
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK(scene.page_count == 1 && scene.pages[0].more && sent_count(&scene) == 1);
    source_more(scene.call);
    CHECK_INT(scene.page_count, 1);
    CHECK(loop_run(scene.loop));
    CHECK(scene.page_count == 2 && !scene.pages[1].more);
    CHECK_HAS(sent(&scene, 1)->body, "\"ExclusiveStartKey\":" ITEM("2"));
    close_scene(&scene);
}

/* Pages ahead. */

#define ITEM_PAGE(sk) PAGE_TO(ITEM(sk), ITEM(sk))

/* Starts a call whose reader wants all pages. It requests them itself. */
static void start_reading_all(struct scene *scene)
{
    start(scene);
    source_read_all(scene->call);
    CHECK(loop_run(scene->loop));
}

static void want_next(struct scene *scene)
{
    source_more(scene->call);
    CHECK(loop_run(scene->loop));
}

/* The first page begins none ahead: a reader may stop there. */
static void the_next_page_is_requested_before_it_is_wanted(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 200, ITEM_PAGE("1"));
    answer(&scene, 200, ITEM_PAGE("2"));
    answer(&scene, 200, ITEM_PAGE("3"));
    answer(&scene, 200, ITEM_PAGE("4"));
    answer(&scene, 200, PAGE(ITEM("5")));
    start_reading_all(&scene);
    CHECK(scene.page_count == 1 && sent_count(&scene) == 1);
    want_next(&scene);
    CHECK(scene.page_count == 2 && sent_count(&scene) == 3); /* one page beyond the reader's */
    CHECK_HAS(sent(&scene, 2)->body, "\"ExclusiveStartKey\":" ITEM("2"));
    want_next(&scene);
    CHECK(scene.page_count == 3 && sent_count(&scene) == 4);
    CHECK_TEXT(scene.pages[2].first, ITEM("3"));
    want_next(&scene);
    want_next(&scene);
    CHECK(scene.page_count == 5 && sent_count(&scene) == 5 && !scene.pages[4].more);
    CHECK_INT(scene.pages[3].requests, 1);
    CHECK_INT(scene.payer.answered, 5);
    close_scene(&scene);
}

/* With each of N pages taking 100 ms, the reader has them after N times that. */
static void a_reader_that_waits_gets_the_page_under_way(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.all = true;
    for (int i = 0; i < 4; i++) {
        answer(&scene, 200,
               i == 0   ? ITEM_PAGE("1")
               : i == 1 ? ITEM_PAGE("2")
               : i == 2 ? ITEM_PAGE("3")
                        : ONE_ITEM);
        script_delay(scene.script, 100);
    }
    start_reading_all(&scene);
    CHECK(scene.page_count == 4 && sent_count(&scene) == 4);
    CHECK_INT(scene.told_ms - sent(&scene, 0)->at_ms, 400);
    close_scene(&scene);
}

static void a_reader_that_may_stop_gets_page_by_page(void)
{
    for (int kind = 0; kind < 3; kind++) {
        struct scene scene;
        open_scene(&scene, query());
        answer(&scene, 200, ITEM_PAGE("1"));
        answer(&scene, 200, ITEM_PAGE("2"));
        answer(&scene, 200, ONE_ITEM);
        if (kind == 1)
            scene.read->limit = 3;
        if (kind == 2)
            scene.payer.most = 1000;
        start(&scene);
        source_read_all(scene.call);
        if (kind == 0)
            source_read_some(scene.call);
        CHECK(loop_run(scene.loop));
        want_next(&scene);
        CHECK(scene.page_count == 2 && sent_count(&scene) == 2);
        close_scene(&scene);
    }
}

static void a_page_ahead_that_is_not_wanted_is_charged(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 200, ITEM_PAGE("1"));
    answer(&scene, 200, ITEM_PAGE("2"));
    answer(&scene, 200, ITEM_PAGE("3"));
    script_delay(scene.script, 100);
    start_reading_all(&scene);
    source_more(scene.call);
    CHECK(loop_add_timer(scene.loop, 50, stop_loop, scene.loop));
    CHECK(loop_run(scene.loop));
    CHECK(scene.page_count == 2 && sent_count(&scene) == 3);
    end_call(&scene);
    CHECK(loop_run(scene.loop));
    CHECK(scene.payer.answered == 2 && scene.payer.abandoned == 1);
    close_scene(&scene);
}

/* The response has the member of that name in two places: the page ahead began behind the wrong
 * one. */
static void a_page_ahead_from_a_wrong_position_is_dropped(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.all = true;
    answer(&scene, 200, ITEM_PAGE("0"));
    answer(&scene, 200,
           "{\"LastEvaluatedKey\":" ITEM("1") ",\"Items\":[" ITEM(
               "1") "],\"ConsumedCapacity\":{\"LastEvaluatedKey\":" ITEM("5") "}}");
    answer(&scene, 200, PAGE(ITEM("2")));
    answer(&scene, 200, PAGE(ITEM("2")));
    start_reading_all(&scene);
    CHECK(scene.page_count == 3 && scene.error_count == 0);
    CHECK_INT(sent_count(&scene), 4);
    CHECK_HAS(sent(&scene, 2)->body, "\"ExclusiveStartKey\":" ITEM("5"));
    CHECK_HAS(sent(&scene, 3)->body, "\"ExclusiveStartKey\":" ITEM("1"));
    CHECK_INT(scene.pages[1].requests + scene.pages[2].requests, 3);
    CHECK_INT(scene.payer.abandoned, 1);
    close_scene(&scene);
}

/* A reader that pauses gets no failure from the time of its pause. */
static void a_page_ahead_that_failed_is_requested_again(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 200, ITEM_PAGE("1"));
    answer(&scene, 200, ITEM_PAGE("2"));
    answer(&scene, 400, "{\"__type\":\"x#AccessDeniedException\",\"message\":\"No.\"}");
    answer(&scene, 200, ONE_ITEM);
    start_reading_all(&scene);
    want_next(&scene);
    CHECK(scene.page_count == 2 && scene.error_count == 0 && sent_count(&scene) == 3);
    want_next(&scene);
    CHECK(scene.page_count == 3 && scene.pages[2].requests == 2);
    close_scene(&scene);
}

static void a_page_that_is_refused_ends_the_page_ahead(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.all = true;
    answer(&scene, 200, ITEM_PAGE("1"));
    answer(&scene, 200, PAGE_TO("7", ITEM("2")));
    answer(&scene, 200, ONE_ITEM);
    start_reading_all(&scene);
    CHECK(scene.page_count == 1 && scene.error_count == 1);
    CHECK(scene.err.kind == ERROR_BAD_ANSWER);
    close_scene(&scene);
}

static void a_page_that_waited_has_its_age(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 200, ITEM_PAGE("1"));
    answer(&scene, 200, ITEM_PAGE("2"));
    answer(&scene, 200, ONE_ITEM);
    start_reading_all(&scene);
    want_next(&scene);
    CHECK(loop_add_timer(scene.loop, 700, stop_loop, scene.loop));
    CHECK(loop_run(scene.loop));
    want_next(&scene);
    CHECK(scene.page_count == 3 && scene.pages[1].age_ms == 0 && scene.pages[2].age_ms == 700);
    close_scene(&scene);
}

static void a_position_is_found_behind_the_items(void)
{
    static const struct {
        const char *body, *position;
    } rows[] = {
        {PAGE_TO(ITEM("1"), ITEM("1")), ITEM("1")},
        {"{\"Items\":[],\"LastEvaluatedKey\": {\"a\":{\"S\":\"}\\\"{\"}},\"ScannedCount\":1}",
         "{\"a\":{\"S\":\"}\\\"{\"}}"},
        {"", ""},
        {"{}", ""},
        {PAGE(ITEM("1")), ""},
        {PAGE("{\"LastEvaluatedKey\":{\"S\":\"x\"}}"), ""},
        {PAGE("{\"a\":{\"S\":\"\\\"LastEvaluatedKey\\\":{}\"}}"), ""},
        {"{\"LastEvaluatedKey\":{\"a\":{\"S\":\"x\"}},\"Items\":[]}", ""},
        {"{\"Items\":[],\"LastEvaluatedKey\":null}", ""},
        {"{\"Items\":[],\"LastEvaluatedKey\":{\"a\":{\"S\":\"x", ""},
        {"{\"Items\":[],\"LastEvaluatedKey\":", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_SPAN(next_page_find(span_text(rows[i].body)), span_text(rows[i].position));
}

static void more_may_be_asked_from_within(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.all = true;
    answer(&scene, 200, TWO_AND_MORE);
    answer(&scene, 200, PAGE_TO("", ITEM("3")));
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK_INT(scene.page_count, 3);
    CHECK_TEXT(scene.pages[0].first, ITEM("1"));
    CHECK(scene.pages[1].items == 0 && scene.pages[1].more);
    close_scene(&scene);
}

static void a_call_may_end_from_within(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.end = true;
    answer(&scene, 200, TWO_AND_MORE);
    run(&scene);
    CHECK_TEXT(scene.pages[0].first, ITEM("1"));
    close_scene(&scene);
}

static void an_ended_call_cancels_its_request(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 200, ONE_ITEM);
    start(&scene);
    end_call(&scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(sent_count(&scene), 0);
    close_scene(&scene);
}

/* Starts the scene's Read, whose response takes so long, and ends it while that is under way. */
static void abandon(struct scene *scene, int64_t delay_ms, const char *body)
{
    answer(scene, 200, body);
    script_delay(scene->script, delay_ms);
    start(scene);
    CHECK(loop_add_timer(scene->loop, 100, stop_loop, scene->loop));
    CHECK(loop_run(scene->loop));
    CHECK_INT(script_pending(scene->script), 1);
    end_call(scene);
    CHECK_INT(script_cancelled(scene->script), 0);
}

static void a_request_under_way_is_awaited_for_its_units(void)
{
    static const char *const bodies[] = {
        "{\"Items\":[],\"Count\":0,\"ConsumedCapacity\":{\"CapacityUnits\":128.5}}",
        "{\"Items\":7,\"ConsumedCapacity\":{\"CapacityUnits\":128.5}}", /* no answer to it */
    };
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        open_scene(&scene, query());
        abandon(&scene, 1000, bodies[i]);
        CHECK(loop_run(scene.loop));
        CHECK_INT(scene.page_count, 0);
        CHECK_INT(script_cancelled(scene.script), 0);
        CHECK_TEXT(buf_text(&scene.payer.lines), "Query jobs/  abandoned\n");
        CHECK(scene.payer.units == 128.5 && scene.payer.doubted == 0);
        CHECK_HAS(scene.logged, "Query table=jobs abandoned ms=1000 capacity=128.5");
        close_scene(&scene);
    }
}

static void a_response_that_takes_too_long_is_given_up(void)
{
    struct scene scene;
    open_scene(&scene, query());
    abandon(&scene, 5000, ONE_ITEM);
    CHECK(loop_run(scene.loop));
    CHECK_INT(script_cancelled(scene.script), 1);
    CHECK(scene.payer.units == 0 && scene.payer.doubted == 178);
    CHECK_INT(sent_count(&scene), 1);
    close_scene(&scene);
}

/* Of the connection alone: it may have been read, and nothing is sent again. */
static void an_abandoned_request_that_fails_is_not_sent_again(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    script_fail(scene.script, ERROR_RESET);
    script_delay(scene.script, 500);
    start(&scene);
    CHECK(loop_add_timer(scene.loop, 100, stop_loop, scene.loop));
    CHECK(loop_run(scene.loop));
    end_call(&scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(sent_count(&scene), 1);
    CHECK(scene.payer.abandoned == 1 && scene.payer.doubted == 50);
    close_scene(&scene);
}

static void a_source_that_goes_charges_what_is_under_way(void)
{
    struct scene scene;
    open_scene(&scene, items(3));
    abandon(&scene, 1000, ONE_ITEM);
    source_destroy(scene.source);
    CHECK(scene.payer.abandoned == 1 && scene.payer.doubted == 150);
    CHECK_INT(script_cancelled(scene.script), 1);
    scene.source = dynamo_new(&scene.options);
    close_scene(&scene);
}

/* A checksum that is wrong, a form that is not the service's, an item that has another key. */
static void a_rejected_response_is_charged_with_what_it_states(void)
{
    static const struct {
        const char *headers, *body;
        unsigned sent;
    } rows[] = {
        {"Content-Type: application/x-amz-json-1.0",
         "{\"Item\":7,\"ConsumedCapacity\":{\"CapacityUnits\":12.5}}", 1},
        {"Content-Type: text/html", "{\"Item\":{},\"ConsumedCapacity\":{\"CapacityUnits\":12.5}}",
         1},
        {"Content-Type: application/x-amz-json-1.0",
         "{\"Item\":{\"pk\":{\"S\":\"x\"}},\"ConsumedCapacity\":{\"CapacityUnits\":12.5}}", 1},
        {"Content-Type: application/x-amz-json-1.0\nx-amz-crc32: 7",
         "{\"Item\":{},\"ConsumedCapacity\":{\"CapacityUnits\":12.5}}", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scene scene;
        open_scene(&scene, items(1));
        script_answer(scene.script, 200, rows[i].headers, rows[i].body);
        script_answer(scene.script, 200, rows[0].headers, "{}");
        run(&scene);
        CHECK_INT(sent_count(&scene), rows[i].sent);
        CHECK_INT(scene.error_count, rows[i].sent == 1);
        CHECK(scene.payer.units == 12.5);
        CHECK(scene.payer.doubted == (rows[i].sent == 1 ? 0 : 50)); /* {} states nothing */
        close_scene(&scene);
    }
}

/* Where none of the first entries counts, the others must not be asked for one by one. */
static void a_limit_bounds_the_first_page_alone(void)
{
    struct scene scene;
    struct read *read = query();
    read->limit = 3;
    open_scene(&scene, read);
    scene.all = true;
    answer(&scene, 200, TWO_AND_MORE);
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK_HAS(sent(&scene, 0)->body, "\"Limit\":3");
    CHECK(!strstr(sent(&scene, 1)->body, "Limit"));
    CHECK(scene.page_count == 2 && scene.pages[0].items == 2 && scene.pages[1].items == 1);
    close_scene(&scene);
}

#define BATCH_LEFT                                                                                 \
    "{\"Responses\":{\"jobs\":[{\"pk\":{\"S\":\"0\"}}]},\"UnprocessedKeys\":{\"jobs\":{\"Keys\":[" \
    "{\"pk\":{\"S\":\"1\"}}]}},\"ConsumedCapacity\":[{\"CapacityUnits\":1}]}"
#define BATCH_STUCK                                                                                \
    "{\"Responses\":{\"jobs\":[]},\"UnprocessedKeys\":{\"jobs\":{\"Keys\":["                       \
    "{\"pk\":{\"S\":\"0\"}},{\"pk\":{\"S\":\"1\"}}]}}}"
#define BATCH_STILL_LEFT                                                                           \
    "{\"Responses\":{\"jobs\":[]},\"UnprocessedKeys\":{\"jobs\":{\"Keys\":["                       \
    "{\"pk\":{\"S\":\"1\"}}]}}}"
#define BATCH_REST                                                                                 \
    "{\"Responses\":{\"jobs\":[{\"pk\":{\"S\":\"1\"}}]},\"UnprocessedKeys\":{},"                   \
    "\"ConsumedCapacity\":[{\"CapacityUnits\":2}]}"

/* So that one answer at a time is held, however large the records are. */
static void each_round_of_a_batch_is_a_page(void)
{
    struct scene scene;
    open_scene(&scene, items(2));
    answer(&scene, 200, BATCH_LEFT);
    answer(&scene, 200, BATCH_REST);
    run(&scene);
    CHECK(scene.page_count == 1 && scene.pages[0].items == 1 && scene.pages[0].more);
    CHECK(scene.pages[0].requests == 1 && scene.pages[0].capacity == 1);
    CHECK_INT(sent_count(&scene), 1);
    source_more(scene.call);
    CHECK(loop_run(scene.loop));
    CHECK(scene.page_count == 2 && scene.pages[1].items == 1 && !scene.pages[1].more);
    CHECK(scene.pages[1].requests == 1 && scene.pages[1].capacity == 2);
    CHECK_HAS(sent(&scene, 1)->body, "\"Keys\":[{\"pk\":{\"S\":\"1\"}}]");
    close_scene(&scene);
}

/* Appends a batch's answer: COUNT items from number FROM on, of so many bytes each, and REST, which
 * may say what is unprocessed. */
static void write_batch(struct buf *out, int from, int count, size_t bytes, const char *rest)
{
    buf_add_text(out, "{\"Responses\":{\"jobs\":[");
    for (int i = 0; i < count; i++) {
        buf_printf(out, "%s{\"pk\":{\"S\":\"%d\"},\"x\":{\"S\":\"", i ? "," : "", from + i);
        buf_add_repeated(out, 'x', bytes);
        buf_add_text(out, "\"}}");
    }
    buf_printf(out, "]}%s}", rest);
}

/* What is left over by throttling waits a while; what an answer had no room for does not. */
static void a_full_batch_is_no_throttling(void)
{
    enum { LARGE = 3 << 20 };
    for (int full = 0; full < 2; full++) {
        struct scene scene;
        CLEAN_UP(buf_clean_up) struct buf body = {0};
        open_scene(&scene, items(READ_MAX_KEYS));
        scene.all = true;
        write_batch(&body, 2, 3, full ? LARGE : 1,
                    ",\"UnprocessedKeys\":{\"jobs\":{\"Keys\":[{\"pk\":{\"S\":\"1\"}}]}}");
        answer(&scene, 200, buf_text(&body));
        answer(&scene, 200, BATCH_REST);
        run(&scene);
        CHECK_INT(scene.page_count, 2);
        CHECK((sent(&scene, 1)->at_ms > sent(&scene, 0)->at_ms) == !full);
        close_scene(&scene);
    }
}

/* Whoever takes records of several rounds together need not fear for the memory: all rounds have a
 * bound, as one answer has. */
static void rounds_of_a_batch_have_a_bound_together(void)
{
    enum { LARGE = 7 << 19, COUNT = 12, KEYS = 40 };
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf left = {0}, first = {0}, second = {0};
    open_scene(&scene, items(KEYS));
    scene.all = true;
    for (int round = 0; round < 2; round++) {
        struct buf *body = round == 0 ? &first : &second;
        buf_truncate(&left, 0);
        buf_add_text(&left, ",\"UnprocessedKeys\":{\"jobs\":{\"Keys\":[");
        for (int key = (round + 1) * COUNT; key < KEYS; key++)
            buf_printf(&left, "%s{\"pk\":{\"S\":\"%d\"}}", key > (round + 1) * COUNT ? "," : "",
                       key);
        buf_add_text(&left, "]}}");
        write_batch(body, round * COUNT, COUNT, LARGE, buf_text(&left));
        answer(&scene, 200, buf_text(body));
    }
    run(&scene);
    CHECK_INT(scene.page_count, 1);
    CHECK_INT(scene.error_count, 1);
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(scene.err.text, "more bytes than its items can have");
    close_scene(&scene);
}

static void an_item_has_a_bound(void)
{
    enum { LARGE = 5 << 20 };
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    open_scene(&scene, items(READ_MAX_KEYS));
    write_batch(&body, 0, 1, LARGE, "");
    answer(&scene, 200, buf_text(&body));
    run(&scene);
    CHECK(scene.page_count == 0 && scene.err.kind == ERROR_BAD_ANSWER);
    close_scene(&scene);
}

static void keys_that_stay_unprocessed_are_throttled(void)
{
    struct scene scene;
    open_scene(&scene, items(2));
    for (int i = 0; i < 60; i++)
        answer(&scene, 200, BATCH_STUCK);
    run(&scene);
    CHECK(scene.page_count == 0 && scene.error_count == 1);
    CHECK_INT(scene.err.kind, ERROR_THROTTLED);
    CHECK_HAS(scene.err.text, "2 keys of 2 stayed unprocessed");
    CHECK(scene.clock.now_ms <= 1000000 + DEADLINE_MS);
    CHECK_INT(sent_count(&scene), RETRY_ATTEMPTS);
    close_scene(&scene);
}

/* Rounds of a batch and tries of a request are one count. */
static void rounds_and_tries_are_counted_together(void)
{
    struct scene scene;
    open_scene(&scene, items(2));
    answer(&scene, 500, FAILED);
    answer(&scene, 200, BATCH_STUCK);
    for (int i = 0; i < 60; i++)
        answer(&scene, 500, FAILED);
    run(&scene);
    CHECK_INT(scene.error_count, 1);
    CHECK_INT(scene.err.kind, ERROR_SERVICE);
    CHECK_INT(sent_count(&scene), RETRY_ATTEMPTS);
    close_scene(&scene);
}

/* Nor a second try: that it went on is no trouble. */
static void a_batch_that_gets_on_needs_no_quota(void)
{
    struct scene scene;
    setenv("AWS_MAX_ATTEMPTS", "1", 1);
    open_scene(&scene, items(2));
    unsetenv("AWS_MAX_ATTEMPTS");
    scene.all = true;
    answer(&scene, 200, BATCH_LEFT);
    answer(&scene, 200, BATCH_REST);
    run(&scene);
    CHECK(scene.page_count == 2 && scene.error_count == 0);
    end_call(&scene);
    scene.page_count = 0;
    answer(&scene, 500, FAILED);
    run(&scene);
    CHECK(scene.error_count == 1 && sent_count(&scene) == 3);
    close_scene(&scene);
}

static void a_later_page_of_a_batch_needs_progress_of_its_own(void)
{
    struct scene scene;
    open_scene(&scene, items(2));
    scene.all = true;
    answer(&scene, 200, BATCH_LEFT);
    script_delay(scene.script, DEADLINE_MS);
    for (int i = 0; i < 60; i++)
        answer(&scene, 200, BATCH_STILL_LEFT);
    run(&scene);
    CHECK(scene.page_count == 1 && scene.error_count == 1);
    CHECK_INT(scene.err.kind, ERROR_THROTTLED);
    close_scene(&scene);
}

/* One that shows records of others, say. */
static void an_answer_to_another_question_is_no_page(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    script_answer(scene.script, 200, DYNAMOS "x-amzn-RequestId: R1",
                  "{\"Item\":{\"pk\":{\"S\":\"1\"}}}");
    run(&scene);
    CHECK(scene.page_count == 0 && scene.error_count == 1 && sent_count(&scene) == 1);
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(scene.err.text,
              "response to GetItem of jobs is wrong: it has an item that was not requested");
    CHECK_TEXT(scene.err.request_id, "R1");
    struct source_stats stats = {0};
    source_add_stats(scene.source, &stats);
    CHECK_INT(stats.failures, 1);
    close_scene(&scene);
}

static void pages_that_lead_in_a_circle_end(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.all = true;
    for (int i = 0; i < 4; i++)
        answer(&scene, 200, PAGE_TO("", ITEM("2")));
    run(&scene);
    CHECK(scene.page_count == 1 && scene.error_count == 1 && sent_count(&scene) == 2);
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    close_scene(&scene);
}

static void tables_come_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, read_new(READ_TABLES, NULL, NULL));
    scene.all = true;
    answer(&scene, 200, "{\"TableNames\":[\"a\"],\"LastEvaluatedTableName\":\"a\"}");
    answer(&scene, 200, "{\"TableNames\":[\"b\"]}");
    run(&scene);
    CHECK(scene.page_count == 2 && scene.pages[0].more && !scene.pages[1].more);
    CHECK_TEXT(scene.pages[1].first, "b");
    CHECK_TEXT(sent(&scene, 1)->body, "{\"ExclusiveStartTableName\":\"a\"}");
    close_scene(&scene);
}

#define NO_TABLE "{\"__type\":\"x#ResourceNotFoundException\",\"message\":\"No.\"}"
#define NO_INDEX                                                                                   \
    "{\"__type\":\"x#ValidationException\",\"message\":\"The table does not have the specified "   \
    "index: by-ip\"}"
#define THREE_TABLES "{\"TableNames\":[\"dev-jobs\",\"job\",\"shops\"]}"
#define DENIED "{\"__type\":\"x#AccessDeniedException\",\"message\":\"No.\"}"
#define TABLE_WITH_INDEXES                                                                         \
    "{\"Table\":{\"TableName\":\"jobs\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":"     \
    "\"HASH\"}],"                                                                                  \
    "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],"               \
    "\"GlobalSecondaryIndexes\":[" INDEX("by-id") "," INDEX("by-status") "]}}"
#define INDEX(name)                                                                                \
    "{\"IndexName\":\"" name "\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]," \
    "\"Projection\":{\"ProjectionType\":\"ALL\"}}"

static struct read *scan(void)
{
    struct read *read = read_new(READ_SCAN, "jobs", NULL);
    read_add_attribute(read, SPAN_LITERAL("pk"));
    return read;
}

static void nothing_is_scanned_unless_it_was_allowed(void)
{
    struct scene scene;
    open_scene(&scene, scan());
    run(&scene);
    CHECK_INT(sent_count(&scene), 0);
    CHECK_INT(scene.error_count, 1);
    CHECK_INT(scene.err.kind, ERROR_INVALID);
    CHECK_HAS(scene.err.text, "jobs is not scanned");
    CHECK_HAS(scene.err.text, "--allow-scan");
    close_scene(&scene);
}

static void a_scan_that_was_allowed_comes_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, scan());
    source_destroy(scene.source);
    scene.options.may_scan = true;
    scene.source = dynamo_new(&scene.options);
    scene.all = true;
    answer(&scene, 200,
           "{\"Items\":[{\"pk\":{\"S\":\"b\"}},{\"pk\":{\"S\":\"a\"}}],\"Count\":2,"
           "\"LastEvaluatedKey\":{\"pk\":{\"S\":\"a\"}}}");
    answer(&scene, 400, "{\"__type\":\"x#ProvisionedThroughputExceededException\"}");
    answer(&scene, 200, "{\"Items\":[],\"Count\":0}");
    run(&scene);
    CHECK(scene.page_count == 2 && scene.error_count == 0);
    CHECK(scene.pages[0].items == 2 && scene.pages[1].requests == 2);
    CHECK_HAS(sent(&scene, 2)->headers, ".Scan");
    CHECK_HAS(sent(&scene, 2)->body, "\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"}}");
    close_scene(&scene);
}

static void an_item_of_a_scan_has_its_key(void)
{
    static const char *const bad[] = {
        "{\"Items\":[{\"sk\":{\"S\":\"b\"}}]}",
        "{\"Items\":[{\"pk\":{\"BOOL\":true}}]}",
        "{\"Items\":[],\"Count\":1}",
        "{\"Count\":0}",
        "{\"Items\":[],\"LastEvaluatedKey\":{\"pk\":{\"L\":[]}}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct scene scene;
        open_scene(&scene, scan());
        source_destroy(scene.source);
        scene.options.may_scan = true;
        scene.source = dynamo_new(&scene.options);
        answer(&scene, 200, bad[i]);
        run(&scene);
        CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
        close_scene(&scene);
    }
}

#define BACKUP(n, position)                                                                        \
    "{\"BackupSummaries\":[{\"TableName\":\"jobs\",\"n\":" n                                       \
    "}],\"LastEvaluatedBackupArn\":\"" position "\"}"

static void backups_come_page_by_page_and_never_in_a_circle(void)
{
    struct scene scene;
    open_scene(&scene, read_new(READ_BACKUPS, "jobs", NULL));
    scene.all = true;
    answer(&scene, 200, BACKUP("1", "arn:1"));
    answer(&scene, 200, BACKUP("2", "arn:2"));
    answer(&scene, 200, BACKUP("3", "arn:2"));
    run(&scene);
    CHECK_INT(scene.page_count, 2);
    CHECK_TEXT(scene.pages[1].first, "{\"TableName\":\"jobs\",\"n\":2}");
    CHECK_HAS(sent(&scene, 1)->headers, ".ListBackups");
    CHECK_TEXT(sent(&scene, 1)->body,
               "{\"TableName\":\"jobs\",\"BackupType\":\"ALL\",\"ExclusiveStartBackupArn\":"
               "\"arn:1\"}");
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(scene.err.text, "LastEvaluatedBackupArn");
    close_scene(&scene);
}

#define EXPORT(n, position)                                                                        \
    "{\"ExportSummaries\":[{\"ExportArn\":\"arn:jobs/export/" n "\"}],\"NextToken\":\"" position   \
    "\"}"

static struct read *exports_of(const char *arn)
{
    struct read *read = read_new(READ_EXPORTS, "jobs", NULL);
    if (arn)
        read_set_table_arn(read, arn);
    return read;
}

static void exports_come_page_by_page_and_never_in_a_circle(void)
{
    struct scene scene;
    open_scene(&scene, exports_of("arn:jobs"));
    scene.all = true;
    answer(&scene, 200, EXPORT("1", "a"));
    answer(&scene, 200, EXPORT("2", "b"));
    answer(&scene, 200, EXPORT("3", "b"));
    run(&scene);
    CHECK_INT(scene.page_count, 2);
    CHECK_TEXT(scene.pages[1].first, "{\"ExportArn\":\"arn:jobs/export/2\"}");
    CHECK_HAS(sent(&scene, 1)->headers, ".ListExports");
    CHECK_TEXT(sent(&scene, 1)->body, "{\"TableArn\":\"arn:jobs\",\"NextToken\":\"a\"}");
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(scene.err.text, "NextToken");
    close_scene(&scene);
}

static void without_the_arn_no_exports_are_asked_for(void)
{
    struct scene scene;
    open_scene(&scene, exports_of(NULL));
    run(&scene);
    CHECK_INT(sent_count(&scene), 0);
    CHECK_INT(scene.err.kind, ERROR_INVALID);
    CHECK_HAS(scene.err.text, "the exports of jobs are not known");
    close_scene(&scene);
}

#define HOT                                                                                        \
    "{\"__type\":\"x#ThrottlingException\",\"message\":\"\",\"throttlingReasons\":[{\"reason\":"   \
    "\"TableReadKeyRangeThroughputExceeded\",\"resource\":\"arn:x:table/jobs\"}]}"

static void a_page_tells_the_requests_that_were_throttled_before_it(void)
{
    struct scene scene;
    struct source_stats stats = {0};
    open_scene(&scene, query());
    scene.all = true;
    answer(&scene, 400, HOT);
    answer(&scene, 400, THROTTLED);
    answer(&scene, 200,
           "{\"Items\":[{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"a\"}}],\"LastEvaluatedKey\":{\"pk\":"
           "{\"S\":\"p\"},\"sk\":{\"S\":\"a\"}}}");
    answer(&scene, 200, "{\"Items\":[]}");
    run(&scene);
    CHECK_INT(scene.page_count, 2);
    CHECK_TEXT(scene.pages[0].throttled,
               "1 TableReadKeyRangeThroughputExceeded arn:x:table/jobs\n1 ThrottlingException \n");
    CHECK_TEXT(scene.pages[1].throttled, "");
    CHECK_HAS(scene.logged,
              " code=ThrottlingException reason=TableReadKeyRangeThroughputExceeded ");
    CHECK_TEXT(buf_text(&scene.payer.throttled),
               "Query TableReadKeyRangeThroughputExceeded\nQuery ThrottlingException\n");
    source_add_stats(scene.source, &stats);
    CHECK_INT(stats.throttled, 2);
    close_scene(&scene);
}

static void a_page_has_the_description_as_it_came(void)
{
    struct scene scene;
    open_scene(&scene, read_new(READ_EXPIRY, "jobs", NULL));
    answer(&scene, 200, "{\"TimeToLiveDescription\":{\"TimeToLiveStatus\" : \"DISABLED\"}}");
    run(&scene);
    CHECK_INT(scene.page_count, 1);
    CHECK_TEXT(scene.pages[0].first, "{\"TimeToLiveStatus\" : \"DISABLED\"}");
    CHECK_TEXT(sent(&scene, 0)->body, "{\"TableName\":\"jobs\"}");
    close_scene(&scene);
}

static struct read *of_stream(enum read_kind kind)
{
    struct read *read = read_new(kind, "jobs", NULL);
    read_set_stream(read, &(struct read_stream){.arn = SPAN_LITERAL("arn:s"),
                                                .shard = SPAN_LITERAL("s1"),
                                                .iterator = SPAN_LITERAL("place 1")});
    return read;
}

#define SHARDS(id, last)                                                                           \
    "{\"StreamDescription\":{\"StreamArn\":\"arn:s\",\"Shards\":[{\"ShardId\":\"" id "\"}]" last   \
    "}}"

static void shards_come_page_by_page(void)
{
    struct scene scene;
    open_scene(&scene, of_stream(READ_STREAM));
    scene.all = true;
    answer(&scene, 200, SHARDS("s1", ",\"LastEvaluatedShardId\":\"s1\""));
    answer(&scene, 200, SHARDS("s2", ""));
    run(&scene);
    CHECK_INT(scene.page_count, 2);
    CHECK(scene.pages[0].more && !scene.pages[1].more);
    CHECK_HAS(sent(&scene, 0)->headers, "DynamoDBStreams_20120810.DescribeStream");
    CHECK_TEXT(sent(&scene, 1)->body, "{\"StreamArn\":\"arn:s\",\"ExclusiveStartShardId\":\"s1\"}");
    close_scene(&scene);
}

static void shards_never_come_in_a_circle(void)
{
    struct scene scene;
    open_scene(&scene, of_stream(READ_STREAM));
    scene.all = true;
    answer(&scene, 200, SHARDS("s1", ",\"LastEvaluatedShardId\":\"s1\""));
    answer(&scene, 200, SHARDS("s1", ",\"LastEvaluatedShardId\":\"s1\""));
    run(&scene);
    CHECK_INT(scene.page_count, 1);
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    close_scene(&scene);
}

static void a_place_in_a_shard_is_one_page_with_a_position(void)
{
    static const char *const bodies[] = {"{\"ShardIterator\":\"place 2\"}",
                                         "{\"Records\":[],\"NextShardIterator\":\"place 2\"}"};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        open_scene(&scene, of_stream(i ? READ_CHANGES : READ_ITERATOR));
        answer(&scene, 200, bodies[i]);
        run(&scene);
        CHECK_INT(scene.page_count, 1);
        CHECK(!scene.pages[0].more);
        CHECK_HAS(sent(&scene, 0)->headers,
                  i ? "DynamoDBStreams_20120810.GetRecords" : "Streams_20120810.GetShardIterator");
        close_scene(&scene);
    }
}

static void a_response_of_another_stream_is_refused(void)
{
    static const struct {
        enum read_kind kind;
        const char *body;
    } rows[] = {
        {READ_STREAM, "{\"StreamDescription\":{\"StreamArn\":\"arn:t\",\"Shards\":[]}}"},
        {READ_STREAM, "{\"StreamDescription\":{\"StreamArn\":\"arn:s\"}}"},
        {READ_ITERATOR, "{}"},
        {READ_CHANGES, "{}"},
        {READ_CHANGES, "{\"Records\":[],\"NextShardIterator\":7}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scene scene;
        open_scene(&scene, of_stream(rows[i].kind));
        answer(&scene, 200, rows[i].body);
        run(&scene);
        CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
        close_scene(&scene);
    }
}

static void places_in_a_stream_that_have_ended(void)
{
    static const char *const codes[] = {"ExpiredIteratorException", "TrimmedDataAccessException",
                                        "ResourceNotFoundException"};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct scene scene;
        char body[128];
        snprintf(body, sizeof body, "{\"__type\":\"a#%s\",\"message\":\"over\"}", codes[i]);
        open_scene(&scene, of_stream(READ_CHANGES));
        answer(&scene, 400, body);
        run(&scene);
        CHECK_INT(scene.err.kind, ERROR_NO_STREAM);
        CHECK_TEXT(scene.err.code, codes[i]);
        CHECK_HAS(scene.err.text, "the stream of table jobs in eu-west-1");
        CHECK_INT(sent_count(&scene), 1);
        close_scene(&scene);
    }
}

static void a_denied_stream_names_its_statement(void)
{
    struct scene scene;
    open_scene(&scene, of_stream(READ_CHANGES));
    answer(
        &scene, 400,
        "{\"__type\":\"a#AccessDeniedException\",\"message\":\"User: arn:aws:iam::1:user/u is not "
        "authorized to perform: dynamodb:GetRecords\"}");
    run(&scene);
    CHECK_INT(scene.err.kind, ERROR_DENIED);
    CHECK_HAS(scene.err.text, "\"Action\": \"dynamodb:GetRecords\"");
    CHECK_HAS(scene.err.text, "table/jobs/stream/*");
    close_scene(&scene);
}

static void a_missing_table_is_an_error_that_names_those_there_are(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 400, NO_TABLE);
    answer(&scene, 200, THREE_TABLES);
    run(&scene);
    CHECK_INT(scene.err.kind, ERROR_NO_TABLE);
    CHECK_HAS(scene.err.text, "table jobs does not exist in eu-west-1");
    CHECK_HAS(scene.err.text, " (did you mean \"job\"?); there are: dev-jobs, job, shops");
    CHECK_TEXT(scene.err.operation, "Query");
    CHECK_TEXT(scene.err.table, "jobs");
    CHECK_TEXT(scene.err.code, "ResourceNotFoundException");
    CHECK_INT(sent_count(&scene), 2);
    CHECK_HAS(sent(&scene, 1)->headers, ".ListTables");
    CHECK(!strstr(scene.err.text, "tried"));
    struct source_stats sum = {0};
    source_add_stats(scene.source, &sum);
    CHECK_INT(sum.failures, 1);
    close_scene(&scene);
}

/* Runs the scene's Read once more. */
static void run_again(struct scene *scene)
{
    end_call(scene);
    scene->err = (struct error){0};
    scene->page_count = scene->error_count = 0;
    run(scene);
}

static void what_there_is_is_asked_for_once_a_minute(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 400, NO_TABLE);
    answer(&scene, 200, "{\"TableNames\":[]}");
    answer(&scene, 400, NO_TABLE);
    run(&scene);
    run_again(&scene);
    CHECK_HAS(scene.err.text, "; there are no tables");
    CHECK_INT(sent_count(&scene), 3);
    scene.clock.now_ms += 61000;
    answer(&scene, 400, NO_TABLE);
    answer(&scene, 200, THREE_TABLES);
    run_again(&scene);
    CHECK_HAS(scene.err.text, "; there are: ");
    CHECK_INT(sent_count(&scene), 5);
    close_scene(&scene);
}

/* And without a second attempt: the error is told in any case. */
static void what_there_is_is_not_asked_again_where_it_is_refused(void)
{
    static const char *const refusals[] = {DENIED, FAILED};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        open_scene(&scene, query());
        answer(&scene, 400, NO_TABLE);
        answer(&scene, i ? 500 : 400, refusals[i]);
        answer(&scene, 400, NO_TABLE);
        run(&scene);
        CHECK_INT(scene.err.kind, ERROR_NO_TABLE);
        CHECK(!strstr(scene.err.text, "; there "));
        run_again(&scene);
        CHECK_INT(scene.err.kind, ERROR_NO_TABLE);
        CHECK_INT(sent_count(&scene), 3);
        close_scene(&scene);
    }
}

static void a_missing_index_is_an_error_that_names_those_there_are(void)
{
    struct scene scene;
    struct read *read = read_new(READ_QUERY, "jobs", "by-ip");
    struct cond where = {.attribute = SPAN_LITERAL("ip"), .op = COND_EQ, .value = text("p")};
    read_add_where(read, &where);
    open_scene(&scene, read);
    answer(&scene, 400, NO_INDEX);
    answer(&scene, 200, TABLE_WITH_INDEXES);
    run(&scene);
    CHECK_INT(scene.err.kind, ERROR_NO_TABLE);
    CHECK_HAS(scene.err.text, "table jobs has no index by-ip");
    CHECK_HAS(scene.err.text, " (did you mean \"by-id\"?); there are: by-id, by-status");
    CHECK_TEXT(scene.err.index, "by-ip");
    CHECK_HAS(sent(&scene, 1)->headers, ".DescribeTable");
    CHECK_INT(sent_count(&scene), 2);
    close_scene(&scene);
}

static void nobody_waits_longer_than_two_seconds_for_what_there_is(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 400, NO_TABLE);
    answer(&scene, 200, THREE_TABLES);
    script_delay(scene.script, 9000);
    int64_t from_ms = scene.clock.now_ms;
    run(&scene);
    CHECK_INT(scene.err.kind, ERROR_NO_TABLE);
    CHECK(!strstr(scene.err.text, "; there "));
    CHECK_INT(scene.clock.now_ms - from_ms, 2000);
    close_scene(&scene);
}

static void who_goes_away_waits_no_more_for_what_there_is(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 400, NO_TABLE);
    answer(&scene, 200, THREE_TABLES);
    start(&scene);
    while (sent_count(&scene) < 2) {
        CHECK(loop_add_timer(scene.loop, 0, stop_loop, scene.loop));
        CHECK(loop_run(scene.loop));
    }
    struct source_call *other =
        source_start(scene.source, scene.read, &scene.payer.payer, on_page, &scene);
    CHECK(other);
    source_end(other);
    end_call(&scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.error_count, 0);
    close_scene(&scene);
}

/* Those who come meanwhile wait for the same answer. */
static void all_who_miss_the_same_wait_for_one_answer(void)
{
    struct scene scene;
    open_scene(&scene, query());
    for (int i = 0; i < 3; i++)
        answer(&scene, 400, NO_TABLE);
    answer(&scene, 200, THREE_TABLES);
    struct source_call *calls[3];
    for (int i = 0; i < 3; i++)
        CHECK(calls[i] =
                  source_start(scene.source, scene.read, &scene.payer.payer, on_page, &scene));
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.error_count, 3);
    CHECK_HAS(scene.err.text, "; there are: ");
    CHECK_INT(sent_count(&scene), 4);
    for (int i = 0; i < 3; i++)
        source_end(calls[i]);
    close_scene(&scene);
}

static void failures_are_tried_four_times(void)
{
    struct scene scene;
    open_scene(&scene, query());
    for (int i = 0; i < 4; i++)
        answer(&scene, 500, FAILED);
    run(&scene);
    CHECK_INT(sent_count(&scene), 4);
    CHECK_INT(scene.err.kind, ERROR_SERVICE);
    CHECK_INT(scene.err.http_status, 500);
    CHECK_TEXT(scene.err.code, "InternalServerError");
    CHECK_HAS(scene.err.text, " (tried 4 times)");
    CHECK(scene.clock.now_ms <= 1000000 + 25 + 50 + 100);
    close_scene(&scene);
}

/* A certificate that can't be trusted is asked for once; a hand-shake that failed, again. */
static void what_cannot_be_trusted_is_asked_once(void)
{
    struct scene scene;
    open_scene(&scene, query());
    script_fail(scene.script, ERROR_UNTRUSTED);
    run(&scene);
    CHECK_INT(sent_count(&scene), 1);
    CHECK_INT(scene.err.kind, ERROR_UNTRUSTED);
    close_scene(&scene);
    open_scene(&scene, query());
    script_fail(scene.script, ERROR_TLS);
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK(sent_count(&scene) == 2 && scene.page_count == 1);
    close_scene(&scene);
}

static void what_heals_is_a_page(void)
{
    struct scene scene;
    open_scene(&scene, query());
    script_fail(scene.script, ERROR_RESET);
    answer(&scene, 503, "");
    answer(&scene, 400, THROTTLED);
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK(scene.page_count == 1 && scene.pages[0].requests == 4);
    close_scene(&scene);
}

static void a_wrong_checksum_is_tried_again(void)
{
    struct scene scene;
    open_scene(&scene, query());
    for (int i = 0; i < 4; i++)
        script_answer(scene.script, 200, "x-amz-crc32: 1", ONE_ITEM);
    run(&scene);
    CHECK_INT(sent_count(&scene), 4);
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    close_scene(&scene);
}

static void html_with_a_good_status_is_final(void)
{
    struct scene scene;
    open_scene(&scene, query());
    script_answer(scene.script, 200, "Content-Type: text/html", "<p>");
    run(&scene);
    CHECK_INT(sent_count(&scene), 1);
    CHECK_HAS(scene.err.text, "HTTP 200, text/html");
    close_scene(&scene);
}

static void the_servers_delay_is_honoured(void)
{
    struct scene scene;
    open_scene(&scene, query());
    script_answer(scene.script, 400, "x-amz-retry-after: 1500", THROTTLED);
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK_INT(sent(&scene, 1)->at_ms - sent(&scene, 0)->at_ms, 1500);
    close_scene(&scene);
}

static void no_retry_is_waited_for_beyond_the_deadline(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 400, THROTTLED);
    script_delay(scene.script, DEADLINE_MS - 2000);
    script_answer(scene.script, 400, "x-amz-retry-after: 10000", THROTTLED);
    run(&scene);
    CHECK_INT(scene.err.kind, ERROR_THROTTLED);
    CHECK_HAS(scene.err.text, " (tried 2 times)");
    CHECK(scene.clock.now_ms < 1000000 + DEADLINE_MS - 2000 + 1001);
    close_scene(&scene);
}

static void each_attempt_has_what_is_left(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 500, FAILED);
    script_delay(scene.script, 4000);
    script_fail(scene.script, ERROR_RESET);
    script_delay(scene.script, 60000);
    run(&scene);
    CHECK_INT(sent(&scene, 0)->timeout_ms, DEADLINE_MS);
    CHECK_INT(sent(&scene, 1)->timeout_ms,
              DEADLINE_MS - (sent(&scene, 1)->at_ms - sent(&scene, 0)->at_ms));
    CHECK_INT(sent_count(&scene), 2);
    CHECK_INT(scene.err.kind, ERROR_TIMED_OUT);
    CHECK_INT(scene.clock.now_ms, 1000000 + DEADLINE_MS);
    close_scene(&scene);
}

static void every_page_has_a_deadline_of_its_own(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.all = true;
    answer(&scene, 200, TWO_AND_MORE);
    script_delay(scene.script, 9000);
    answer(&scene, 200, ONE_ITEM);
    script_delay(scene.script, 9000);
    run(&scene);
    CHECK_INT(scene.page_count, 2);
    CHECK_INT(sent(&scene, 1)->timeout_ms, DEADLINE_MS);
    close_scene(&scene);
}

static void each_attempt_is_signed_anew(void)
{
    struct scene scene;
    open_scene(&scene, query());
    script_answer(scene.script, 400, "x-amz-retry-after: 3000", THROTTLED);
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    char date[SIGV4_DATE_SIZE];
    sigv4_date(date, WALL_MS);
    CHECK_HAS(sent(&scene, 0)->headers, date);
    sigv4_date(date, WALL_MS + 3000);
    CHECK_HAS(sent(&scene, 1)->headers, date);
    close_scene(&scene);
}

/* The service's time is an hour ahead of WALL_MS. */
static const char *hour_ahead(void)
{
    static char header[64];
    time_t seconds = WALL_MS / 1000 + 3600;
    struct tm tm;
    strftime(header, sizeof header, "Date: %a, %d %b %Y %H:%M:%S GMT", gmtime_r(&seconds, &tm));
    return header;
}

static void a_wrong_clock_is_corrected_once_and_for_all(void)
{
    struct scene scene;
    char date[SIGV4_DATE_SIZE];
    open_scene(&scene, query());
    scene.all = true;
    script_answer(scene.script, 400, hour_ahead(), BAD_SIGNATURE);
    answer(&scene, 200, TWO_AND_MORE);
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK_INT(scene.page_count, 2);
    sigv4_date(date, WALL_MS + 3600000);
    CHECK_HAS(sent(&scene, 1)->headers, date);
    CHECK_HAS(sent(&scene, 2)->headers, date);
    CHECK_INT(sent(&scene, 1)->at_ms, sent(&scene, 0)->at_ms);
    close_scene(&scene);
}

static void a_clock_that_is_right_is_no_excuse(void)
{
    struct scene scene;
    open_scene(&scene, query());
    for (int i = 0; i < 3; i++)
        script_answer(scene.script, 400, hour_ahead(), BAD_SIGNATURE);
    run(&scene);
    CHECK_INT(sent_count(&scene), 3); /* the last with what the profile says now */
    CHECK_INT(scene.err.kind, ERROR_DENIED);
    CHECK_HAS(scene.err.text, " (tried 3 times)");
    close_scene(&scene);
}

static void a_clock_that_wavers_is_corrected_once_a_request(void)
{
    struct scene scene;
    open_scene(&scene, query());
    script_answer(scene.script, 400, hour_ahead(), BAD_SIGNATURE);
    for (int i = 0; i < 2; i++)
        script_answer(scene.script, 400, "Date: Tue, 13 Oct 2026 18:00:00 GMT", BAD_SIGNATURE);
    run(&scene);
    CHECK_INT(sent_count(&scene), 3); /* the last with what the profile says now */
    CHECK_INT(scene.err.kind, ERROR_DENIED);
    close_scene(&scene);
}

static void expired_credentials_are_resolved_afresh(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.all = true;
    answer(&scene, 200, TWO_AND_MORE);
    answer(&scene, 400, EXPIRED);
    answer(&scene, 200, ONE_ITEM);
    start(&scene);
    while (sent_count(&scene) == 0) {
        CHECK(loop_add_timer(scene.loop, 0, stop_loop, scene.loop));
        CHECK(loop_run(scene.loop));
    }
    set_credentials("AKID2", NULL);
    CHECK(loop_run(scene.loop));
    CHECK_INT(scene.page_count, 2);
    CHECK_HAS(sent(&scene, 0)->headers, "Credential=AKID1/");
    CHECK_HAS(sent(&scene, 1)->headers, "Credential=AKID1/");
    CHECK_HAS(sent(&scene, 2)->headers, "Credential=AKID2/");
    close_scene(&scene);
}

static void expired_twice_is_expired(void)
{
    struct scene scene;
    open_scene(&scene, query());
    answer(&scene, 400, EXPIRED);
    answer(&scene, 400, EXPIRED);
    run(&scene);
    CHECK_INT(sent_count(&scene), 2);
    CHECK_INT(scene.err.kind, ERROR_EXPIRED);
    CHECK_TEXT(scene.err.code, "ExpiredTokenException");
    close_scene(&scene);
}

static void without_credentials_nothing_is_sent(void)
{
    struct scene scene;
    open_scene(&scene, query());
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    run(&scene);
    CHECK_INT(sent_count(&scene), 0);
    CHECK_INT(scene.err.kind, ERROR_DENIED);
    close_scene(&scene);
}

static void an_empty_bucket_ends_retries_for_all_calls(void)
{
    struct scene scene;
    open_scene(&scene, query());
    size_t calls = 0;
    for (int i = 0; i < 60; i++)
        answer(&scene, 500, FAILED);
    for (size_t before = 0; sent_count(&scene) - before != 1; calls++) {
        before = sent_count(&scene);
        run_again(&scene);
        if (sent_count(&scene) - before == 1)
            break;
    }
    CHECK_INT(sent_count(&scene) - calls - 1, RETRY_TOKENS / RETRY_COST);
    close_scene(&scene);
}

static void a_quota_is_one_tables(void)
{
    struct scene scene;
    open_scene(&scene, query());
    for (int i = 0; i < 200; i++)
        answer(&scene, 500, FAILED);
    size_t before;
    do { /* until the quota of "jobs" is used up */
        before = sent_count(&scene);
        run_again(&scene);
    } while (sent_count(&scene) - before > 1);
    struct read *jobs = scene.read, *shops = read_new(READ_TABLE, "shops", NULL);
    scene.read = shops;
    before = sent_count(&scene);
    run_again(&scene);
    CHECK_INT(sent_count(&scene) - before, RETRY_ATTEMPTS);
    scene.read = jobs;
    read_destroy(shops);
    close_scene(&scene);
}

static void each_request_is_one_line_in_the_log(void)
{
    struct scene scene;
    struct read *read = query();
    open_scene(&scene, read);
    script_answer(scene.script, 400, "x-amz-retry-after: 5\nx-amzn-RequestId: R1", THROTTLED);
    script_answer(scene.script, 200, DYNAMOS "x-amzn-RequestId: R2",
                  "{\"Items\":[],\"ConsumedCapacity\":{\"CapacityUnits\":1.5}}");
    script_delay(scene.script, 12);
    run(&scene);
    CHECK_TEXT(scene.logged,
               "2 Query table=jobs status=400 error=throttled code=ThrottlingException ms=0 "
               "request=R1\n2 Query table=jobs status=200 ms=12 request=R2 capacity=1.5\n");
    close_scene(&scene);
}

/* Refused ones and retries included; a GetItem that finds nothing costs as much as one that does.
 */
static void each_request_is_charged(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    read_set_pattern(scene.read, "jobs", "by-id/{id}");
    answer(&scene, 400, THROTTLED);
    answer(&scene, 200, "{\"ConsumedCapacity\":{\"TableName\":\"jobs\",\"CapacityUnits\":0.5}}");
    run(&scene);
    CHECK_TEXT(buf_text(&scene.payer.lines), "GetItem jobs/ jobs/by-id/{id} failed\n"
                                             "GetItem jobs/ jobs/by-id/{id} answered\n");
    CHECK(scene.payer.units == 0.5);
    close_scene(&scene);
}

static void rounds_of_a_batch_are_charged(void)
{
    struct scene scene;
    open_scene(&scene, items(2));
    scene.all = true;
    answer(&scene, 200,
           "{\"Responses\":{\"jobs\":[{\"pk\":{\"S\":\"0\"}}]},\"UnprocessedKeys\":{\"jobs\":"
           "{\"Keys\":[{\"pk\":{\"S\":\"1\"}}]}},"
           "\"ConsumedCapacity\":[{\"TableName\":\"jobs\",\"CapacityUnits\":1.5}]}");
    answer(&scene, 200,
           "{\"Responses\":{\"jobs\":[{\"pk\":{\"S\":\"1\"}}]},\"UnprocessedKeys\":{},"
           "\"ConsumedCapacity\":[{\"TableName\":\"jobs\",\"CapacityUnits\":2}]}");
    run(&scene);
    CHECK_INT(scene.page_count, 2);
    CHECK_INT(scene.payer.answered, 2);
    CHECK(scene.payer.units == 3.5);
    close_scene(&scene);
}

/* What there is instead of a table that is missing is asked for on its account. */
static void who_misses_a_table_pays_for_the_list_of_those_there_are(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    answer(&scene, 400, "{\"__type\":\"x#ResourceNotFoundException\",\"message\":\"No.\"}");
    answer(&scene, 200, "{\"TableNames\":[\"job\"]}");
    run(&scene);
    CHECK_TEXT(buf_text(&scene.payer.lines), "GetItem jobs/  failed\nListTables /  answered\n");
    close_scene(&scene);
}

/* What may be spent. */

#define TOOK(units) "\"ConsumedCapacity\":{\"CapacityUnits\":" units "}"

static void who_has_nothing_left_is_refused_before_anything_is_sent(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    scene.payer.most = 0.4;
    run(&scene);
    CHECK_INT(sent_count(&scene), 0);
    CHECK_INT(scene.err.kind, ERROR_SPENT);
    CHECK_TEXT(scene.err.operation, "GetItem");
    CHECK_TEXT(scene.err.table, "jobs");
    close_scene(&scene);
}

static void a_page_is_as_long_as_half_of_what_is_left_pays_for(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.all = true;
    scene.payer.most = 20;
    answer(&scene, 200,
           "{\"Items\":[" ITEM("1") "],\"LastEvaluatedKey\":" ITEM("1") "," TOOK("0.5") "}");
    answer(&scene, 200,
           "{\"Items\":[" ITEM("2") "],\"LastEvaluatedKey\":" ITEM("2") "," TOOK("19.5") "}");
    run(&scene);
    CHECK_INT(sent_count(&scene), 2);
    CHECK_HAS(sent(&scene, 0)->body, "\"Limit\":8,"); /* before anything is known of it */
    CHECK_HAS(sent(&scene, 1)->body, "\"Limit\":19,");
    CHECK(scene.page_count == 2 && scene.err.kind == ERROR_SPENT);
    CHECK(scene.payer.units == 20);
    close_scene(&scene);
}

static void who_may_read_much_has_whole_pages(void)
{
    struct scene scene;
    open_scene(&scene, query());
    scene.payer.most = 400;
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK(!strstr(sent(&scene, 0)->body, "Limit"));
    close_scene(&scene);
}

/* What is wanted beyond a page that was cut is asked for, and no more. */
static void a_limit_is_reached_in_pieces(void)
{
    struct scene scene;
    struct read *read = query();
    read->limit = 30;
    open_scene(&scene, read);
    scene.all = true;
    scene.payer.most = 20;
    answer(&scene, 200,
           "{\"Items\":[" ITEM("1") "],\"LastEvaluatedKey\":" ITEM("1") "," TOOK("0.5") "}");
    answer(&scene, 200,
           "{\"Items\":[" ITEM("2") "],\"LastEvaluatedKey\":" ITEM("2") "," TOOK("0.5") "}");
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK_HAS(sent(&scene, 0)->body, "\"Limit\":8,");
    CHECK_HAS(sent(&scene, 1)->body, "\"Limit\":19,");
    CHECK_HAS(sent(&scene, 2)->body, "\"Limit\":3,");
    close_scene(&scene);
}

#define BATCH(items, left, took)                                                                   \
    "{\"Responses\":{\"jobs\":[" items "]},\"UnprocessedKeys\":{" left "},"                        \
    "\"ConsumedCapacity\":[{\"TableName\":\"jobs\",\"CapacityUnits\":" took "}]}"
#define KEY(id) "{\"pk\":{\"S\":\"" id "\"}}"

/* As many keys as are paid for if each item is as large as one may be, one at the least. Keys that
 * are left unprocessed are asked for again before those that wait. */
static void a_batch_is_cut_to_what_is_left(void)
{
    struct scene scene;
    open_scene(&scene, items(5));
    scene.all = true;
    scene.payer.most = 100;
    answer(&scene, 200, BATCH(KEY("0"), "\"jobs\":{\"Keys\":[" KEY("1") "]}", "50"));
    answer(&scene, 200, BATCH(KEY("1"), "", "0.5"));
    answer(&scene, 200, BATCH("", "", "0.5")); /* the third is not there */
    answer(&scene, 200, BATCH(KEY("3"), "", "48.5"));
    answer(&scene, 200, BATCH(KEY("4"), "", "50"));
    run(&scene);
    CHECK_HAS(sent(&scene, 0)->body, "\"Keys\":[" KEY("0") "," KEY("1") "]");
    CHECK_HAS(sent(&scene, 1)->body, "\"Keys\":[" KEY("1") "]");
    CHECK_HAS(sent(&scene, 2)->body, "\"Keys\":[" KEY("2") "]");
    CHECK_HAS(sent(&scene, 3)->body, "\"Keys\":[" KEY("3") "]");
    CHECK_HAS(sent(&scene, 4)->body, "\"Keys\":[" KEY("4") "]");
    CHECK_INT(sent_count(&scene), 5);
    CHECK_INT(scene.page_count, 5);
    CHECK(!scene.pages[4].more && scene.payer.units == 149.5);
    close_scene(&scene);
}

static void a_batch_whose_rest_can_not_be_paid_is_refused(void)
{
    struct scene scene;
    open_scene(&scene, items(3));
    scene.all = true;
    scene.payer.most = 1;
    answer(&scene, 200, BATCH(KEY("0"), "", "0.5"));
    answer(&scene, 200, BATCH(KEY("1"), "", "50"));
    run(&scene);
    CHECK(sent_count(&scene) == 2 && scene.page_count == 2 && scene.err.kind == ERROR_SPENT);
    close_scene(&scene);
}

enum { CALLERS = 4 };

struct caller {
    struct read *read;
    struct source_call *call;
    int answers;
    size_t items;
    enum error_kind error;
};

static void on_item(void *arg, const struct page *page, const struct error *err)
{
    struct caller *caller = arg;
    caller->answers++;
    caller->items = page ? page->item_count : 0;
    caller->error = err ? err->kind : ERROR_NONE;
}

/* Keys that a batch has not sent yet, since they can not be paid for at once, are not absent. */
static void members_of_a_batch_that_was_cut_are_not_absent(void)
{
    struct scene scene;
    struct caller callers[CALLERS] = {0};
    open_scene(&scene, items(1));
    scene.payer.most = 100;
    struct batching_options options = {
        .source = scene.source, .loop = scene.loop, .log = &scene.log, .deadline_ms = DEADLINE_MS};
    scene.source = batching_new(&options);
    CHECK(scene.source);
    answer(&scene, 200, BATCH(KEY("0"), "\"jobs\":{\"Keys\":[" KEY("1") "]}", "0.5"));
    answer(&scene, 200, "{\"Item\":" KEY("1") "," TOOK("0.5") "}");
    answer(&scene, 200, BATCH(KEY("2"), "", "0.5"));
    answer(&scene, 200, "{\"Item\":" KEY("3") "," TOOK("0.5") "}");
    for (int i = 0; i < CALLERS; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        struct key key = {.attributes = {{SPAN_LITERAL("pk"), text(id)}}, .count = 1};
        callers[i].read = read_new(READ_ITEMS, "jobs", NULL);
        read_add_key(callers[i].read, &key);
        callers[i].call =
            source_start(scene.source, callers[i].read, &scene.payer.payer, on_item, &callers[i]);
        CHECK(callers[i].call);
    }
    CHECK(loop_run(scene.loop));
    for (int i = 0; i < CALLERS; i++) {
        CHECK_INT(callers[i].answers, 1);
        CHECK_INT(callers[i].error, ERROR_NONE);
        CHECK_INT(callers[i].items, 1);
        source_end(callers[i].call);
        read_destroy(callers[i].read);
    }
    close_scene(&scene);
}

/* Nobody knows what the service has read for it. */
static void what_nobody_waited_for_counts_as_it_was_expected(void)
{
    struct scene scene;
    open_scene(&scene, items(4));
    scene.payer.most = 1000;
    answer(&scene, 200, "{}");
    script_delay(scene.script, 5000);
    start(&scene);
    CHECK(loop_add_timer(scene.loop, 100, stop_loop, scene.loop));
    CHECK(loop_run(scene.loop));
    CHECK(scene.payer.set_aside == 200);
    end_call(&scene);
    CHECK(scene.payer.set_aside == 200);
    CHECK(loop_run(scene.loop));
    CHECK(scene.payer.expected == 2 && scene.payer.units == 0 && scene.payer.set_aside == 0);
    close_scene(&scene);
}

static void a_request_that_the_service_refused_took_nothing(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    scene.payer.most = 10;
    answer(&scene, 400, THROTTLED);
    script_fail(scene.script, ERROR_REFUSED);
    script_fail(scene.script, ERROR_RESET);
    answer(&scene, 200, "{\"Item\":{\"pk\":{\"S\":\"0\"}}," TOOK("0.5") "}");
    run(&scene);
    CHECK(scene.payer.expected == 0.5 &&
          scene.payer.doubted == 50); /* of the connection that was lost */
    CHECK(scene.payer.units == 0.5);
    close_scene(&scene);
}

static void no_secret_is_logged(void)
{
    struct scene scene;
    open_scene(&scene, query());
    set_credentials("AKID1", "TOKEN");
    script_answer(scene.script, 400, hour_ahead(), BAD_SIGNATURE);
    answer(&scene, 200, ONE_ITEM);
    run(&scene);
    CHECK_HAS(scene.logged, "clock");
    CHECK(!strstr(scene.logged, "TOKEN") && !strstr(scene.logged, "SECRETKEY"));
    close_scene(&scene);
}

/* Late answers. */

#define GOT "{\"Item\":{\"pk\":{\"S\":\"0\"}},\"ConsumedCapacity\":{\"CapacityUnits\":0.5}}"

/* The next request's answer takes so long. */
static void answer_after(struct scene *scene, int64_t ms, int status, const char *body)
{
    answer(scene, status, body);
    script_delay(scene->script, ms);
}

/* Asks once; how long that takes. */
static int64_t ask_once(struct scene *scene)
{
    int64_t began_ms = loop_now_ms(scene->loop);
    end_call(scene);
    scene->page_count = scene->error_count = 0;
    run(scene);
    return scene->told_ms - began_ms;
}

/* So many answers that take 20 ms each. */
static void see_answers(struct scene *scene, int count)
{
    for (int i = 0; i < count; i++) {
        answer_after(scene, 20, 200, GOT);
        ask_once(scene);
        CHECK_INT(scene->page_count, 1);
    }
}

static struct source_stats stats_of(const struct scene *scene)
{
    struct source_stats stats = {0};
    source_add_stats(scene->source, &stats);
    return stats;
}

static void a_late_answer_is_asked_for_once_more(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    see_answers(&scene, 64);
    answer_after(&scene, 5000, 200, GOT);
    answer_after(&scene, 30, 200, GOT);
    CHECK_INT(ask_once(&scene), 21 + 30);
    CHECK_INT(sent_count(&scene), 66);
    CHECK_TEXT(sent(&scene, 65)->body, sent(&scene, 64)->body);
    CHECK_INT(scene.page_count, 1);
    CHECK_INT(scene.pages[0].requests, 2);
    CHECK(scene.pages[0].capacity == 0.5);
    CHECK(stats_of(&scene).hedged == 1 && stats_of(&scene).hedges_won == 1);
    CHECK_INT(scene.payer.requests, 66);
    CHECK_INT(scene.payer.abandoned, 1);
    close_scene(&scene);
}

static void the_first_answer_counts_whichever_it_is(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    see_answers(&scene, 64);
    answer_after(&scene, 40, 200, GOT);
    answer_after(&scene, 5000, 200, GOT);
    CHECK_INT(ask_once(&scene), 40);
    CHECK_INT(sent_count(&scene), 66);
    CHECK(stats_of(&scene).hedged == 1 && stats_of(&scene).hedges_won == 0);
    close_scene(&scene);
}

static void nothing_is_late_before_enough_has_been_seen(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    see_answers(&scene, 63);
    answer_after(&scene, 5000, 200, GOT);
    CHECK_INT(ask_once(&scene), 5000);
    CHECK_INT(sent_count(&scene), 64);
    close_scene(&scene);
}

static void no_more_than_two_of_a_hundred_are_asked_twice(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    see_answers(&scene, 64);
    answer_after(&scene, 5000, 200, GOT);
    answer_after(&scene, 20, 200, GOT);
    CHECK_INT(ask_once(&scene), 21 + 20);
    answer_after(&scene, 500, 200, GOT);
    CHECK_INT(ask_once(&scene), 500); /* of 65 requests one was sent twice */
    see_answers(&scene, 34);
    answer_after(&scene, 5000, 200, GOT);
    answer_after(&scene, 20, 200, GOT);
    CHECK_INT(ask_once(&scene), 21 + 20);
    CHECK_INT(stats_of(&scene).hedged, 2);
    close_scene(&scene);
}

static void an_error_waits_for_the_other_answer(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    see_answers(&scene, 120);
    answer_after(&scene, 30, 400, "{\"__type\":\"x#ValidationException\",\"message\":\"No.\"}");
    answer_after(&scene, 30, 200, GOT);
    CHECK_INT(ask_once(&scene), 21 + 30);
    CHECK(scene.page_count == 1 && scene.error_count == 0);
    answer_after(&scene, 90, 400, "{\"__type\":\"x#ValidationException\",\"message\":\"No.\"}");
    answer_after(&scene, 10, 500, FAILED); /* is not tried again: the first one is under way */
    CHECK_INT(ask_once(&scene), 90);
    CHECK(scene.page_count == 0 && scene.error_count == 1);
    CHECK_INT(sent_count(&scene), 124);
    close_scene(&scene);
}

static void a_retry_is_not_asked_twice(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    see_answers(&scene, 64);
    answer_after(&scene, 10, 400, THROTTLED);
    answer_after(&scene, 900, 200, GOT);
    ask_once(&scene);
    CHECK_INT(sent_count(&scene), 66);
    CHECK_INT(stats_of(&scene).hedged, 0);
    close_scene(&scene);
}

static void batches_are_not_asked_twice(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    see_answers(&scene, 64);
    read_destroy(scene.read);
    scene.read = items(2);
    end_call(&scene);
    answer_after(&scene, 5000, 200, "{\"Responses\":{\"jobs\":[]}}");
    CHECK_INT(ask_once(&scene), 5000);
    CHECK_INT(sent_count(&scene), 65);
    close_scene(&scene);
}

static void nothing_is_asked_twice_where_nobody_wants_it(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    source_destroy(scene.source);
    scene.options.hedges = false;
    scene.source = dynamo_new(&scene.options);
    see_answers(&scene, 64);
    answer_after(&scene, 5000, 200, GOT);
    CHECK_INT(ask_once(&scene), 5000);
    CHECK_INT(sent_count(&scene), 65);
    close_scene(&scene);
}

static void both_requests_end_with_their_call(void)
{
    struct scene scene;
    open_scene(&scene, items(1));
    see_answers(&scene, 64);
    answer_after(&scene, 5000, 200, GOT);
    answer_after(&scene, 5000, 200, GOT);
    end_call(&scene);
    scene.page_count = 0;
    start(&scene);
    CHECK(loop_add_timer(scene.loop, 100, stop_loop, scene.loop));
    CHECK(loop_run(scene.loop));
    CHECK_INT(sent_count(&scene), 66);
    end_call(&scene);
    CHECK(loop_run(scene.loop));
    CHECK_INT(script_cancelled(scene.script), 2);
    CHECK_INT(scene.payer.abandoned, 2);
    CHECK_INT(script_pending(scene.script), 0);
    close_scene(&scene);
}

static const struct check_test tests[] = {
    {"a late answer is asked for once more", a_late_answer_is_asked_for_once_more},
    {"the first answer counts, whichever it is", the_first_answer_counts_whichever_it_is},
    {"nothing is late before enough has been seen", nothing_is_late_before_enough_has_been_seen},
    {"no more than two of a hundred are asked twice",
     no_more_than_two_of_a_hundred_are_asked_twice},
    {"an error waits for the other answer", an_error_waits_for_the_other_answer},
    {"a retry is not asked twice", a_retry_is_not_asked_twice},
    {"batches are not asked twice", batches_are_not_asked_twice},
    {"nothing is asked twice where nobody wants it", nothing_is_asked_twice_where_nobody_wants_it},
    {"both requests end with their call", both_requests_end_with_their_call},
    {"an item comes in one request", an_item_comes_in_one_request},
    {"a missing item is missing from the page", a_missing_item_is_missing_from_the_page},
    {"a request is complete and signed", a_request_is_complete_and_signed},
    {"the signature covers what was sent", the_signature_covers_what_was_sent},
    {"pages come on demand", pages_come_on_demand},
    {"more may be asked from within", more_may_be_asked_from_within},
    {"the next page is requested before it is wanted",
     the_next_page_is_requested_before_it_is_wanted},
    {"a reader that waits gets the page under way", a_reader_that_waits_gets_the_page_under_way},
    {"a reader that may stop gets page by page", a_reader_that_may_stop_gets_page_by_page},
    {"a page ahead that is not wanted is charged", a_page_ahead_that_is_not_wanted_is_charged},
    {"a page ahead from a wrong position is dropped",
     a_page_ahead_from_a_wrong_position_is_dropped},
    {"a page ahead that failed is requested again", a_page_ahead_that_failed_is_requested_again},
    {"a page that is refused ends the page ahead", a_page_that_is_refused_ends_the_page_ahead},
    {"a page that waited has its age", a_page_that_waited_has_its_age},
    {"a position is found behind the items", a_position_is_found_behind_the_items},
    {"a call may end from within", a_call_may_end_from_within},
    {"an ended call cancels its request", an_ended_call_cancels_its_request},
    {"a request under way is awaited for its units", a_request_under_way_is_awaited_for_its_units},
    {"a response that takes too long is given up", a_response_that_takes_too_long_is_given_up},
    {"an abandoned request that fails is not sent again",
     an_abandoned_request_that_fails_is_not_sent_again},
    {"a source that goes charges what is under way", a_source_that_goes_charges_what_is_under_way},
    {"a rejected response is charged with what it states",
     a_rejected_response_is_charged_with_what_it_states},
    {"a limit bounds the first page alone", a_limit_bounds_the_first_page_alone},
    {"each round of a batch is a page", each_round_of_a_batch_is_a_page},
    {"a full batch is no throttling", a_full_batch_is_no_throttling},
    {"rounds of a batch have a bound together", rounds_of_a_batch_have_a_bound_together},
    {"an item has a bound", an_item_has_a_bound},
    {"keys that stay unprocessed are throttled", keys_that_stay_unprocessed_are_throttled},
    {"rounds and tries are counted together", rounds_and_tries_are_counted_together},
    {"a batch that gets on needs no quota", a_batch_that_gets_on_needs_no_quota},
    {"a later page of a batch needs progress of its own",
     a_later_page_of_a_batch_needs_progress_of_its_own},
    {"an answer to another question is no page", an_answer_to_another_question_is_no_page},
    {"pages that lead in a circle end", pages_that_lead_in_a_circle_end},
    {"tables come page by page", tables_come_page_by_page},
    {"nothing is scanned unless it was allowed", nothing_is_scanned_unless_it_was_allowed},
    {"a scan that was allowed comes page by page", a_scan_that_was_allowed_comes_page_by_page},
    {"an item of a scan has its key", an_item_of_a_scan_has_its_key},
    {"exports come page by page and never in a circle",
     exports_come_page_by_page_and_never_in_a_circle},
    {"without the ARN no exports are asked for", without_the_arn_no_exports_are_asked_for},
    {"a page tells the requests that were throttled before it",
     a_page_tells_the_requests_that_were_throttled_before_it},
    {"backups come page by page and never in a circle",
     backups_come_page_by_page_and_never_in_a_circle},
    {"a page has the description as it came", a_page_has_the_description_as_it_came},
    {"shards come page by page", shards_come_page_by_page},
    {"shards never come in a circle", shards_never_come_in_a_circle},
    {"a place in a shard is one page with a position",
     a_place_in_a_shard_is_one_page_with_a_position},
    {"a response of another stream is refused", a_response_of_another_stream_is_refused},
    {"places in a stream that have ended", places_in_a_stream_that_have_ended},
    {"a denied stream names its statement", a_denied_stream_names_its_statement},
    {"a missing table is an error that names those there are",
     a_missing_table_is_an_error_that_names_those_there_are},
    {"what there is is asked for once a minute", what_there_is_is_asked_for_once_a_minute},
    {"what there is is not asked again where it is refused",
     what_there_is_is_not_asked_again_where_it_is_refused},
    {"a missing index is an error that names those there are",
     a_missing_index_is_an_error_that_names_those_there_are},
    {"nobody waits longer than two seconds for what there is",
     nobody_waits_longer_than_two_seconds_for_what_there_is},
    {"who goes away waits no more for what there is",
     who_goes_away_waits_no_more_for_what_there_is},
    {"all who miss the same wait for one answer", all_who_miss_the_same_wait_for_one_answer},
    {"failures are tried four times", failures_are_tried_four_times},
    {"what cannot be trusted is asked once", what_cannot_be_trusted_is_asked_once},
    {"what heals is a page", what_heals_is_a_page},
    {"a wrong checksum is tried again", a_wrong_checksum_is_tried_again},
    {"HTML with a good status is final", html_with_a_good_status_is_final},
    {"the server's delay is honoured", the_servers_delay_is_honoured},
    {"no retry is waited for beyond the deadline", no_retry_is_waited_for_beyond_the_deadline},
    {"each attempt has what is left", each_attempt_has_what_is_left},
    {"every page has a deadline of its own", every_page_has_a_deadline_of_its_own},
    {"each attempt is signed anew", each_attempt_is_signed_anew},
    {"a wrong clock is corrected once and for all", a_wrong_clock_is_corrected_once_and_for_all},
    {"a clock that is right is no excuse", a_clock_that_is_right_is_no_excuse},
    {"a clock that wavers is corrected once a request",
     a_clock_that_wavers_is_corrected_once_a_request},
    {"expired credentials are resolved afresh", expired_credentials_are_resolved_afresh},
    {"expired twice is expired", expired_twice_is_expired},
    {"without credentials nothing is sent", without_credentials_nothing_is_sent},
    {"an empty bucket ends retries for all calls", an_empty_bucket_ends_retries_for_all_calls},
    {"a quota is one table's", a_quota_is_one_tables},
    {"each request is one line in the log", each_request_is_one_line_in_the_log},
    {"each request is charged", each_request_is_charged},
    {"who has nothing left is refused before anything is sent",
     who_has_nothing_left_is_refused_before_anything_is_sent},
    {"a page is as long as half of what is left pays for",
     a_page_is_as_long_as_half_of_what_is_left_pays_for},
    {"who may read much has whole pages", who_may_read_much_has_whole_pages},
    {"a limit is reached in pieces", a_limit_is_reached_in_pieces},
    {"a batch is cut to what is left", a_batch_is_cut_to_what_is_left},
    {"a batch whose rest can not be paid is refused",
     a_batch_whose_rest_can_not_be_paid_is_refused},
    {"members of a batch that was cut are not absent",
     members_of_a_batch_that_was_cut_are_not_absent},
    {"what nobody waited for counts as it was expected",
     what_nobody_waited_for_counts_as_it_was_expected},
    {"a request that the service refused took nothing",
     a_request_that_the_service_refused_took_nothing},
    {"rounds of a batch are charged", rounds_of_a_batch_are_charged},
    {"items of one moment are one page that their parts pay for",
     items_of_one_moment_are_one_page_that_their_parts_pay_for},
    {"a conflict is repeated until the deadline", a_conflict_is_repeated_until_the_deadline},
    {"a conflict that ends is a page", a_conflict_that_ends_is_a_page},
    {"a deadline behind a conflict is a conflict", a_deadline_behind_a_conflict_is_a_conflict},
    {"a throttled item is repeated as a throttled request",
     a_throttled_item_is_repeated_as_a_throttled_request},
    {"an optional transaction is sent once", an_optional_transaction_is_sent_once},
    {"who can not pay for a transaction sends none", who_can_not_pay_for_a_transaction_sends_none},
    {"who misses a table pays for the list of those there are",
     who_misses_a_table_pays_for_the_list_of_those_there_are},
    {"no secret is logged", no_secret_is_logged},
};
CHECK_MAIN(tests)
