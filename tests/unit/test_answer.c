/* Answers: what good ones hold, and what bad ones are called. */
#include "core/dynamo/answer.h"

#include <zlib.h>

#include "core/aws/retry.h"
#include "core/dynamo/refusal.h"
#include "core/net/gzip.h"
#include "tests/unit/check.h"

enum { MAX_HEADERS = 4 };

/* One response to one question, and what became of it. */
struct scene {
    struct read *read;
    struct sent_request sent;
    struct http_header headers[MAX_HEADERS];
    struct http_response response;
    struct answer *answer;
    struct error err;
};

static struct scene scene_of(enum dynamo_op op, int status, const char *body)
{
    struct scene scene = {.read = read_new(READ_QUERY, "jobs", "by-id")};
    scene.sent = (struct sent_request){
        .op = op, .read = scene.read, .region = "eu-west-1", .endpoint = "https://ddb.test/"};
    scene.response = (struct http_response){.status = status, .body = span_text(body)};
    return scene;
}

static void add_header(struct scene *scene, const char *name, const char *value)
{
    scene->headers[scene->response.header_count++] = (struct http_header){name, value};
}

static bool take(struct scene *scene)
{
    scene->response.headers = scene->headers;
    if (!http_header(&scene->response, "Content-Type"))
        add_header(scene, "Content-Type", "application/x-amz-json-1.0");
    scene->answer = answer_new(&scene->sent, &scene->response, NULL, &scene->err);
    return scene->answer != NULL;
}

static void close_scene(struct scene *scene)
{
    answer_destroy(scene->answer);
    read_destroy(scene->read);
}

/* The error of a response; the scene is closed. */
static struct error error_of(enum dynamo_op op, int status, const char *body)
{
    struct scene scene = scene_of(op, status, body);
    bool ok = take(&scene);
    close_scene(&scene);
    CHECK(!ok);
    return scene.err;
}

static void check_error(const char *code, enum error_kind kind, const char *part)
{
    char body[256];
    snprintf(body, sizeof body, "{\"__type\":\"ns#%s\",\"message\":\"The sentence.\"}", code);
    struct error err = error_of(DYNAMO_QUERY, 400, body);
    CHECK_TEXT(err.code, code);
    CHECK_INT(err.kind, kind);
    CHECK_INT(err.http_status, 400);
    CHECK_HAS(err.text, part);
}

static void an_item_is_found(void)
{
    struct scene scene =
        scene_of(DYNAMO_GET_ITEM, 200,
                 "{\"Item\":{\"pk\":{\"S\":\"a\"}},\"ConsumedCapacity\":{\"TableName\":\"t\","
                 "\"CapacityUnits\":0.5}}");
    add_header(&scene, "x-amzn-RequestId", "ID1");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 1);
    CHECK_SPAN(json_raw(scene.answer->items[0]), SPAN_LITERAL("{\"pk\":{\"S\":\"a\"}}"));
    CHECK(scene.answer->capacity == 0.5);
    CHECK_TEXT(scene.answer->request_id, "ID1");
    close_scene(&scene);
}

static void an_absent_item_is_a_proven_miss(void)
{
    struct scene scene = scene_of(DYNAMO_GET_ITEM, 200, "{}");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 0);
    CHECK(scene.answer->capacity < 0);
    close_scene(&scene);
}

static void anothers_json_is_no_miss(void)
{
    struct error err = error_of(DYNAMO_GET_ITEM, 200, "{\"status\":\"ok\"}");
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
}

static void a_page_has_items_and_a_last_key(void)
{
    struct scene scene = scene_of(DYNAMO_QUERY, 200,
                                  "{\"Count\":2,\"Items\":[{\"a\":{\"S\":\"1\"}},{}],"
                                  "\"LastEvaluatedKey\":{\"pk\":{\"S\":\"x\"}}}");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 2);
    CHECK_SPAN(json_raw(scene.answer->resume), SPAN_LITERAL("{\"pk\":{\"S\":\"x\"}}"));
    close_scene(&scene);
}

static void the_last_page_has_no_last_key(void)
{
    struct scene scene = scene_of(DYNAMO_QUERY, 200, "{\"Items\":[]}");
    CHECK(take(&scene));
    CHECK(!json_present(scene.answer->resume));
    close_scene(&scene);
}

static void a_page_of_no_objects_is_not_understood(void)
{
    CHECK_INT(error_of(DYNAMO_QUERY, 200, "{\"Items\":[1]}").kind, ERROR_BAD_ANSWER);
    CHECK_INT(error_of(DYNAMO_QUERY, 200, "{\"Items\":{}}").kind, ERROR_BAD_ANSWER);
    CHECK_INT(error_of(DYNAMO_QUERY, 200, "[]").kind, ERROR_BAD_ANSWER);
}

static void a_page_that_says_two_things_is_not_understood(void)
{
    static const char *const bad[] = {
        "{\"Items\":[],\"Items\":[]}",
        "{\"Items\":[],\"\\u0049tems\":[]}",
        "{\"Items\":[],\"Count\":1}",
        "{\"Items\":[],\"Count\":\"0\"}",
        "{\"Count\":1}",
        "{\"Items\":[],\"LastEvaluatedKey\":[]}",
        "{\"Items\":[],\"ConsumedCapacity\":{\"CapacityUnits\":-1}}",
        "{\"Items\":[],\"ConsumedCapacity\":{\"CapacityUnits\":\"1\"}}",
        "{\"Items\":[],\"ConsumedCapacity\":{\"CapacityUnits\":1e999}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(error_of(DYNAMO_QUERY, 200, bad[i]).kind, ERROR_BAD_ANSWER);
}

static void a_batch_tells_what_was_left(void)
{
    struct scene scene =
        scene_of(DYNAMO_BATCH_GET_ITEM, 200,
                 "{\"Responses\":{\"jobs\":[{\"a\":{\"S\":\"1\"}}]},\"UnprocessedKeys\":{\"jobs\":{"
                 "\"Keys\":[{\"a\":{\"S\":\"2\"}}],\"ConsistentRead\":false}},"
                 "\"ConsumedCapacity\":[{\"TableName\":\"jobs\",\"CapacityUnits\":3}]}");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 1);
    CHECK_SPAN(json_raw(scene.answer->resume), SPAN_LITERAL("[{\"a\":{\"S\":\"2\"}}]"));
    CHECK(scene.answer->capacity == 3);
    close_scene(&scene);
}

static void a_batch_may_find_nothing(void)
{
    struct scene scene = scene_of(DYNAMO_BATCH_GET_ITEM, 200,
                                  "{\"Responses\":{\"jobs\":[]},\"UnprocessedKeys\":{}}");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 0);
    CHECK(!json_present(scene.answer->resume));
    close_scene(&scene);
}

/* It is no proof that none of them is there. */
static void a_batch_that_says_nothing_of_its_table_is_not_understood(void)
{
    struct scene scene =
        scene_of(DYNAMO_BATCH_GET_ITEM, 200, "{\"Responses\":{},\"UnprocessedKeys\":{}}");
    CHECK(!take(&scene));
    close_scene(&scene);
    scene = scene_of(
        DYNAMO_BATCH_GET_ITEM, 200,
        "{\"Responses\":{},\"UnprocessedKeys\":{\"jobs\":{\"Keys\":[{\"a\":{\"S\":\"1\"}}]}}}");
    CHECK(take(&scene));
    CHECK(json_present(scene.answer->resume));
    close_scene(&scene);
}

static void tables_are_named(void)
{
    struct scene scene = scene_of(DYNAMO_LIST_TABLES, 200,
                                  "{\"TableNames\":[\"a\",\"b\\u002dc\"],"
                                  "\"LastEvaluatedTableName\":\"b-c\"}");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->name_count, 2);
    CHECK_SPAN(scene.answer->names[1], SPAN_LITERAL("b-c"));
    CHECK_SPAN(json_raw(scene.answer->resume), SPAN_LITERAL("\"b-c\""));
    close_scene(&scene);
}

static const char *const table =
    "{\"Table\":{\"TableName\":\"jobs\",\"AttributeDefinitions\":["
    "{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"},"
    "{\"AttributeName\":\"shop\",\"AttributeType\":\"B\"}],"
    "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],"
    "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"g\",\"KeySchema\":["
    "{\"AttributeName\":\"shop\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"pk\",\"KeyType\":"
    "\"HASH\"},{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"x\"]}}],"
    "\"LocalSecondaryIndexes\":[{\"IndexName\":\"l\",\"KeySchema\":[{\"AttributeName\":\"pk\","
    "\"KeyType\":\"HASH\"},{\"AttributeName\":\"shop\",\"KeyType\":\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"ALL\"}}]}}";

static void a_table_has_keys(void)
{
    struct scene scene = scene_of(DYNAMO_DESCRIBE_TABLE, 200, table);
    CHECK(take(&scene));
    const struct table_info *info = scene.answer->table;
    CHECK(info->keys.partition_count == 1 && info->keys.sort_count == 1);
    CHECK_SPAN(info->keys.partition[0].name, SPAN_LITERAL("pk"));
    CHECK_INT(info->keys.partition[0].type, VALUE_S);
    CHECK_SPAN(info->keys.sort[0].name, SPAN_LITERAL("sk"));
    CHECK_INT(info->keys.sort[0].type, VALUE_N);
    close_scene(&scene);
}

static void a_table_has_indexes_of_both_kinds(void)
{
    struct scene scene = scene_of(DYNAMO_DESCRIBE_TABLE, 200, table);
    CHECK(take(&scene));
    const struct table_info *info = scene.answer->table;
    CHECK_INT(info->index_count, 2);
    CHECK_SPAN(info->indexes[0].name, SPAN_LITERAL("g"));
    CHECK_INT(info->indexes[0].projection, PROJECTS_SOME);
    CHECK_INT(info->indexes[0].included_count, 1);
    CHECK_SPAN(info->indexes[0].included[0], SPAN_LITERAL("x"));
    CHECK_INT(info->indexes[1].included_count, 0);
    CHECK_INT(info->indexes[0].keys.partition_count, 2);
    CHECK_INT(info->indexes[0].keys.partition[0].type, VALUE_B);
    CHECK_SPAN(info->indexes[0].keys.partition[1].name, SPAN_LITERAL("pk"));
    CHECK_SPAN(info->indexes[1].name, SPAN_LITERAL("l"));
    CHECK_INT(info->indexes[1].projection, PROJECTS_ALL);
    CHECK_SPAN(info->indexes[1].keys.sort[0].name, SPAN_LITERAL("shop"));
    close_scene(&scene);
}

#define KEYS                                                                                       \
    "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],"               \
    "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]"

static void what_else_is_told_of_a_table_is_kept(void)
{
    struct scene scene =
        scene_of(DYNAMO_DESCRIBE_TABLE, 200,
                 "{ \"Table\" : {\"TableName\":\"jobs\", " KEYS ",\"TableStatus\":\"UPDATING\","
                 "\"ItemCount\":12,\"TableSizeBytes\":3456,\"CreationDateTime\":1.7E9,"
                 "\"BillingModeSummary\":{\"BillingMode\":\"PAY_PER_REQUEST\"},"
                 "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":0},"
                 "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"g\",\"IndexStatus\":\"CREATING\","
                 "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"
                 "\"Projection\":{\"ProjectionType\":\"ALL\"}}]} }");
    CHECK(take(&scene));
    const struct table_info *info = scene.answer->table;
    CHECK(info->item_count == 12 && info->size_bytes == 3456);
    CHECK(info->created_ms == 1700000000000);
    CHECK_SPAN(info->status, SPAN_LITERAL("UPDATING"));
    CHECK_SPAN(info->billing_mode, SPAN_LITERAL("PAY_PER_REQUEST"));
    CHECK_SPAN(info->indexes[0].status, SPAN_LITERAL("CREATING"));
    struct span told = json_raw(scene.answer->description);
    CHECK(span_starts(told, SPAN_LITERAL("{\"TableName\":\"jobs\", \"Attr")));
    CHECK(span_ends(told, SPAN_LITERAL("\"ProjectionType\":\"ALL\"}}]}")));
    close_scene(&scene);
}

static void what_is_not_told_of_a_table_is_called_so(void)
{
    struct scene scene =
        scene_of(DYNAMO_DESCRIBE_TABLE, 200, "{\"Table\":{\"TableName\":\"jobs\"," KEYS "}}");
    CHECK(take(&scene));
    const struct table_info *info = scene.answer->table;
    CHECK(info->item_count == -1 && info->size_bytes == -1 && info->created_ms == 0);
    CHECK(info->status.size == 0 && info->billing_mode.size == 0);
    close_scene(&scene);
    scene = scene_of(DYNAMO_DESCRIBE_TABLE, 200,
                     "{\"Table\":{\"TableName\":\"jobs\"," KEYS
                     ",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":5}}}");
    CHECK(take(&scene));
    CHECK_SPAN(scene.answer->table->billing_mode, SPAN_LITERAL("PROVISIONED"));
    close_scene(&scene);
}

static void counts_and_dates_that_are_none_are_not_understood(void)
{
    static const char *const bad[] = {"\"ItemCount\":-1",          "\"ItemCount\":\"1\"",
                                      "\"TableSizeBytes\":1.5",    "\"CreationDateTime\":\"today\"",
                                      "\"CreationDateTime\":1e99", "\"TableStatus\":7"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char body[512];
        snprintf(body, sizeof body, "{\"Table\":{\"TableName\":\"jobs\"," KEYS ",%s}}", bad[i]);
        CHECK_INT(error_of(DYNAMO_DESCRIBE_TABLE, 200, body).kind, ERROR_BAD_ANSWER);
    }
}

static void expiry_and_recovery_are_told_as_they_came(void)
{
    struct scene scene =
        scene_of(DYNAMO_DESCRIBE_TIME_TO_LIVE, 200,
                 "{\"TimeToLiveDescription\": {\"TimeToLiveStatus\" :\"ENABLED\"}}");
    CHECK(take(&scene));
    CHECK_SPAN(json_raw(scene.answer->description),
               SPAN_LITERAL("{\"TimeToLiveStatus\" :\"ENABLED\"}"));
    close_scene(&scene);
    scene = scene_of(DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS, 200,
                     "{\"ContinuousBackupsDescription\":{\"ContinuousBackupsStatus\":\"x\"}}");
    CHECK(take(&scene));
    CHECK_SPAN(json_raw(scene.answer->description),
               SPAN_LITERAL("{\"ContinuousBackupsStatus\":\"x\"}"));
    close_scene(&scene);
    static const struct {
        enum dynamo_op op;
        const char *body;
    } bad[] = {
        {DYNAMO_DESCRIBE_TIME_TO_LIVE, "{}"},
        {DYNAMO_DESCRIBE_TIME_TO_LIVE, "{\"TimeToLiveDescription\":{}}"},
        {DYNAMO_DESCRIBE_TIME_TO_LIVE, "{\"TimeToLiveDescription\":{\"TimeToLiveStatus\":7}}"},
        {DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS, "{\"ContinuousBackupsDescription\":[]}"},
        {DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS, "{\"ContinuousBackupsDescription\":{\"x\":1}}"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(error_of(bad[i].op, 200, bad[i].body).kind, ERROR_BAD_ANSWER);
}

static void backups_are_listed(void)
{
    struct scene scene = scene_of(DYNAMO_LIST_BACKUPS, 200,
                                  "{\"BackupSummaries\":[{\"TableName\":\"jobs\",\"x\":1}],"
                                  "\"LastEvaluatedBackupArn\":\"arn:1\"}");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 1);
    CHECK_SPAN(json_raw(scene.answer->items[0]), SPAN_LITERAL("{\"TableName\":\"jobs\",\"x\":1}"));
    CHECK_SPAN(json_raw(scene.answer->resume), SPAN_LITERAL("\"arn:1\""));
    close_scene(&scene);
    scene = scene_of(DYNAMO_LIST_BACKUPS, 200,
                     "{\"BackupSummaries\":[],\"LastEvaluatedBackupArn\":\"\"}");
    CHECK(take(&scene));
    CHECK(scene.answer->item_count == 0 && !json_present(scene.answer->resume));
    close_scene(&scene);
}

static void backups_of_another_table_are_not_taken(void)
{
    static const char *const bad[] = {
        "{\"BackupSummaries\":[{\"TableName\":\"shops\"}]}",
        "{\"BackupSummaries\":[{}]}",
        "{\"BackupSummaries\":{}}",
        "{\"BackupSummaries\":[],\"LastEvaluatedBackupArn\":7}",
        "{}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(error_of(DYNAMO_LIST_BACKUPS, 200, bad[i]).kind, ERROR_BAD_ANSWER);
}

#define EXPORT(table, id)                                                                          \
    "{\"ExportArn\":\"arn:x:table/" table "/export/" id "\",\"ExportStatus\":\"COMPLETED\"}"

static struct scene exports_of(int status, const char *body)
{
    struct scene scene = scene_of(DYNAMO_LIST_EXPORTS, status, body);
    read_set_table_arn(scene.read, "arn:x:table/jobs");
    return scene;
}

static void exports_are_listed(void)
{
    struct scene scene =
        exports_of(200, "{\"ExportSummaries\":[" EXPORT("jobs", "1") "],\"NextToken\":\"n\"}");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 1);
    CHECK_SPAN(json_raw(scene.answer->items[0]), SPAN_LITERAL(EXPORT("jobs", "1")));
    CHECK_SPAN(json_raw(scene.answer->resume), SPAN_LITERAL("\"n\""));
    close_scene(&scene);
    scene = exports_of(200, "{\"ExportSummaries\":[],\"NextToken\":\"\"}");
    CHECK(take(&scene));
    CHECK(scene.answer->item_count == 0 && !json_present(scene.answer->resume));
    close_scene(&scene);
}

static void exports_of_another_table_are_not_taken(void)
{
    static const char *const bad[] = {
        "{\"ExportSummaries\":[" EXPORT("jobs2", "1") "]}",
        "{\"ExportSummaries\":[{\"ExportArn\":\"arn:x:table/jobs\"}]}",
        "{\"ExportSummaries\":[{}]}",
        "{\"ExportSummaries\":[{\"ExportArn\":7}]}",
        "{\"ExportSummaries\":{}}",
        "{\"ExportSummaries\":[],\"NextToken\":7}",
        "{}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct scene scene = exports_of(200, bad[i]);
        CHECK(!take(&scene));
        CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
        close_scene(&scene);
    }
}

#define THROTTLE(name, reasons)                                                                    \
    "{\"__type\":\"a#" name "Exception\",\"message\":\"Too fast.\"," reasons "}"
#define INDEX_ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/jobs/index/by-id"
#define HOT "{\"reason\":\"IndexReadKeyRangeThroughputExceeded\",\"resource\":\"" INDEX_ARN "\"}"

static void the_reason_of_throttling_is_told_in_words(void)
{
    struct error err =
        error_of(DYNAMO_QUERY, 400,
                 THROTTLE("ProvisionedThroughputExceeded", "\"ThrottlingReasons\":[" HOT "]"));
    CHECK_INT(err.kind, ERROR_THROTTLED);
    CHECK_INT(err.throttle_count, 1);
    CHECK_TEXT(err.throttles[0].reason, "IndexReadKeyRangeThroughputExceeded");
    CHECK_TEXT(err.throttles[0].resource, INDEX_ARN);
    CHECK_TEXT(err.text,
               "jobs is throttled: a partition of index by-id of table jobs is hot "
               "(ProvisionedThroughputExceededException, IndexReadKeyRangeThroughputExceeded); "
               "read the items of one partition key more slowly, or fewer at once: a partition "
               "serves 3,000 RCU and 1,000 WCU per second");
    err = error_of(DYNAMO_QUERY, 400,
                   THROTTLE("Throttling", "\"throttlingReasons\":[" HOT
                                          ",{\"reason\":\"TableReadAccountLimitExceeded\"}]"));
    CHECK_INT(err.throttle_count, 2);
    CHECK_HAS(err.text, "; and the account's limit of read throughput is reached by the table (");
}

static void a_refusal_without_reasons_has_its_code(void)
{
    static const char *const none[] = {
        "\"x\":1",
        "\"ThrottlingReasons\":[]",
        "\"ThrottlingReasons\":null",
        "\"ThrottlingReasons\":[7,{},{\"reason\":7}]",
        "\"ThrottlingReasons\":{\"reason\":\"A\"}",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CLEAN_UP(buf_clean_up) struct buf body = {0};
        buf_printf(&body, "{\"__type\":\"ThrottlingException\",\"message\":\"Easy.\",%s}", none[i]);
        struct error err = error_of(DYNAMO_QUERY, 400, buf_text(&body));
        CHECK_TEXT(
            err.text,
            "jobs is throttled: Easy (ThrottlingException); try again later, or more slowly");
        CHECK_INT(err.throttle_count, 1);
        CHECK_TEXT(err.throttles[0].reason, "ThrottlingException");
        CHECK_TEXT(err.throttles[0].resource, "");
    }
}

static void as_many_reasons_are_taken_as_there_are_limits(void)
{
    struct error err = error_of(DYNAMO_QUERY, 400,
                                THROTTLE("Throttling", "\"throttlingReasons\":[{\"reason\":\"A\"},"
                                                       "{\"reason\":\"B\"},{\"reason\":\"C\"},"
                                                       "{\"reason\":\"D\"}]"));
    CHECK_INT(err.throttle_count, ERROR_MOST_THROTTLES);
    CHECK_TEXT(err.throttles[2].reason, "C");
    CHECK_HAS(err.text, "jobs is throttled: A; and B; and C (ThrottlingException, A, B, C); try");
}

static void an_operation_that_is_not_known_says_so(void)
{
    struct error err = error_of(DYNAMO_LIST_BACKUPS, 400,
                                "{\"__type\":\"a#UnknownOperationException\",\"message\":\"\"}");
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_HAS(err.text, "https://ddb.test/ does not know ListBackups");
}

static void a_key_without_a_type_is_not_understood(void)
{
    struct error err =
        error_of(DYNAMO_DESCRIBE_TABLE, 200,
                 "{\"Table\":{\"TableName\":\"jobs\",\"AttributeDefinitions\":[],\"KeySchema\":[{"
                 "\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]}}");
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
    CHECK_INT(error_of(DYNAMO_DESCRIBE_TABLE, 200, "{\"Table\":{}}").kind, ERROR_BAD_ANSWER);
}

static void five_key_attributes_are_too_many(void)
{
    struct error err = error_of(
        DYNAMO_DESCRIBE_TABLE, 200,
        "{\"Table\":{\"TableName\":\"jobs\",\"AttributeDefinitions\":[{\"AttributeName\":\"a\","
        "\"AttributeType\":\"S\"}],"
        "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"a\","
        "\"KeyType\":\"HASH\"},{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},{\"AttributeName\":"
        "\"a\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}]}}");
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
}

static void the_checksum_is_checked(void)
{
    struct scene good = scene_of(DYNAMO_GET_ITEM, 200, "{}");
    struct scene bad = scene_of(DYNAMO_GET_ITEM, 200, "{}");
    char sum[16];
    snprintf(sum, sizeof sum, "%u", (unsigned)gzip_crc32(SPAN_LITERAL("{}")));
    add_header(&good, "x-amz-crc32", sum);
    add_header(&bad, "X-Amz-Crc32", "1");
    CHECK(take(&good));
    CHECK(!take(&bad));
    CHECK_INT(bad.err.kind, ERROR_BAD_ANSWER);
    CHECK_TEXT(bad.err.code, RETRY_CHECKSUM_CODE);
    CHECK_HAS(bad.err.text, "checksum");
    close_scene(&good);
    close_scene(&bad);
}

static size_t compress_text(const char *text, unsigned char *out, size_t room)
{
    z_stream stream = {0};
    union {
        const char *borrowed;
        unsigned char *in; /* zlib only reads it */
    } input = {text};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = input.in;
    stream.avail_in = (unsigned)strlen(text);
    stream.next_out = out;
    stream.avail_out = (unsigned)room;
    deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return stream.total_out;
}

static void gzip_is_inflated_after_the_checksum(void)
{
    unsigned char bytes[256];
    size_t size = compress_text("{\"Items\":[{}]}", bytes, sizeof bytes);
    struct scene scene = scene_of(DYNAMO_QUERY, 200, "");
    char sum[16];
    scene.response.body = span_of((const char *)bytes, size);
    snprintf(sum, sizeof sum, "%u", (unsigned)gzip_crc32(scene.response.body));
    add_header(&scene, "x-amz-crc32", sum);
    add_header(&scene, "content-encoding", "gzip");
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 1);
    close_scene(&scene);
}

static void damaged_gzip_is_not_understood(void)
{
    struct scene scene = scene_of(DYNAMO_QUERY, 200, "no gzip");
    add_header(&scene, "Content-Encoding", "gzip");
    CHECK(!take(&scene));
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    close_scene(&scene);
}

/* The body is not copied: the answer has the very bytes that came. */
static void a_body_that_can_be_taken_is_taken(void)
{
    struct scene scene = scene_of(DYNAMO_QUERY, 200, "");
    struct buf holder = {0};
    buf_add_text(&holder, "{\"Items\":[{}]}");
    const char *bytes = holder.data;
    scene.response.body = buf_span(&holder);
    scene.response.holder = &holder;
    CHECK(take(&scene));
    CHECK(!holder.data && scene.answer->body.data == bytes);
    CHECK_INT(scene.answer->item_count, 1);
    close_scene(&scene);
}

static size_t limit_of(enum dynamo_op op, size_t keys)
{
    struct scene scene = scene_of(op, 200, "");
    for (size_t i = 0; i < keys; i++) {
        struct key key = {.attributes = {{SPAN_LITERAL("pk"), {VALUE_S, SPAN_LITERAL("k")}}},
                          .count = 1};
        read_add_key(scene.read, &key);
    }
    size_t limit = answer_limit(&scene.sent);
    close_scene(&scene);
    return limit;
}

static void limits_are_those_of_the_service(void)
{
    enum { KB = 1024, MB = 1024 * 1024 };
    CHECK(limit_of(DYNAMO_GET_ITEM, 1) >= 10 * 400 * KB && limit_of(DYNAMO_GET_ITEM, 1) <= 5 * MB);
    CHECK(limit_of(DYNAMO_QUERY, 0) >= 10 * MB && limit_of(DYNAMO_QUERY, 0) <= 16 * MB);
    CHECK(limit_of(DYNAMO_BATCH_GET_ITEM, 1) <= 5 * MB);
    CHECK(limit_of(DYNAMO_BATCH_GET_ITEM, 2) > limit_of(DYNAMO_BATCH_GET_ITEM, 1));
    CHECK(limit_of(DYNAMO_BATCH_GET_ITEM, 100) <= 65 * MB);
    CHECK(limit_of(DYNAMO_DESCRIBE_TABLE, 0) <= 4 * MB && limit_of(DYNAMO_LIST_TABLES, 0) <= MB);
}

static void check_too_large(int status, struct span body, const char *encoding)
{
    struct scene scene = scene_of(DYNAMO_LIST_TABLES, status, "");
    scene.response.body = body;
    if (encoding)
        add_header(&scene, "Content-Encoding", encoding);
    CHECK(!take(&scene));
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(scene.err.text, "the response to ListTables is larger than any of the service");
    close_scene(&scene);
}

static void what_is_too_large_is_refused(void)
{
    enum { LARGE = 2 * 1024 * 1024 };
    CLEAN_UP(buf_clean_up) struct buf text = {0}, packed = {0};
    buf_add_repeated(&text, ' ', LARGE);
    check_too_large(200, buf_span(&text), NULL);
    check_too_large(400, buf_span(&text), NULL);
    buf_reserve(&packed, LARGE);
    size_t size = compress_text(buf_text(&text), (unsigned char *)packed.data, LARGE);
    CHECK(size < 10000);
    check_too_large(200, span_of(packed.data, size), "gzip");
    check_too_large(500, span_of(packed.data, size), "gzip");
}

/* A value may have two bytes in the text, and takes sixteen more. */
static void too_many_values_are_refused(void)
{
    enum { COUNT = 9 << 20 };
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_text(&text, "{\"Responses\":{\"jobs\":[0");
    for (int i = 0; i < COUNT; i++)
        buf_add_text(&text, ",0");
    buf_add_text(&text, "]}}");
    struct scene scene = scene_of(DYNAMO_BATCH_GET_ITEM, 200, "");
    for (int i = 0; i < READ_MAX_KEYS; i++) {
        struct key key = {.attributes = {{SPAN_LITERAL("pk"), {VALUE_S, SPAN_LITERAL("k")}}},
                          .count = 1};
        read_add_key(scene.read, &key);
    }
    scene.response.body = buf_span(&text);
    CHECK(text.size < answer_limit(&scene.sent));
    CHECK(!take(&scene));
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(scene.err.text, "more than 8388608 values");
    close_scene(&scene);
}

/* As much JSON as 400 KB can honestly be: an empty text in a list counts as one byte. */
static void the_longest_honest_item_is_read(void)
{
    enum { ELEMENTS = 400 * 1024 };
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_text(&text, "{\"Item\":{\"l\":{\"L\":[");
    for (int i = 0; i < ELEMENTS; i++)
        buf_add_text(&text, i ? ",{\"S\":\"\"}" : "{\"S\":\"\"}");
    buf_add_text(&text, "]}}}");
    struct scene scene = scene_of(DYNAMO_GET_ITEM, 200, "");
    scene.response.body = buf_span(&text);
    CHECK(take(&scene));
    CHECK_INT(scene.answer->item_count, 1);
    close_scene(&scene);
}

static void html_is_named_with_its_endpoint(void)
{
    struct scene scene = scene_of(DYNAMO_QUERY, 200, "<html>");
    add_header(&scene, "Content-Type", "text/html");
    CHECK(!take(&scene));
    CHECK_INT(scene.err.kind, ERROR_BAD_ANSWER);
    CHECK_TEXT(scene.err.text, "the response is not DynamoDB's (HTTP 200, text/html); check that "
                               "https://ddb.test/ is an endpoint of DynamoDB");
    close_scene(&scene);
}

static void an_empty_answer_is_not_understood(void)
{
    struct error err = error_of(DYNAMO_QUERY, 403, "");
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
    CHECK_INT(err.http_status, 403);
    CHECK_HAS(err.text, "HTTP 403, empty");
}

static void a_balancer_s_answer_is_a_failing_service(void)
{
    struct error err = error_of(DYNAMO_QUERY, 503, "");
    CHECK_INT(err.kind, ERROR_SERVICE);
    CHECK_INT(err.http_status, 503);
    CHECK_HAS(err.text, "the service failed (HTTP 503, empty");
    CHECK_INT(error_of(DYNAMO_QUERY, 502, "<html>").kind, ERROR_SERVICE);
}

static void a_code_may_stand_in_the_header(void)
{
    struct scene scene = scene_of(DYNAMO_QUERY, 400, "{\"__type\":\"a#Other\"}");
    add_header(&scene, "X-Amzn-ErrorType", "ns#ThrottlingException:http://errors.test/x#y");
    CHECK(!take(&scene));
    CHECK_TEXT(scene.err.code, "ThrottlingException");
    CHECK_INT(scene.err.kind, ERROR_THROTTLED);
    close_scene(&scene);
}

static void a_code_may_be_called_code(void)
{
    struct error err = error_of(DYNAMO_QUERY, 400, "{\"code\":\"SlowDown\",\"Message\":\"Easy.\"}");
    CHECK_INT(err.kind, ERROR_THROTTLED);
    CHECK_HAS(err.text, "Easy (SlowDown)");
}

static void a_missing_table_is_named(void)
{
    check_error("ResourceNotFoundException", ERROR_NO_TABLE,
                "table jobs does not exist in eu-west-1");
    check_error("ResourceNotFoundException", ERROR_NO_TABLE,
                "check its name (of a map's table: the environment's prefix), profile and region");
}

static void a_missing_index_is_named(void)
{
    struct error err =
        error_of(DYNAMO_QUERY, 400,
                 "{\"__type\":\"com.amazon.coral.validate#ValidationException\",\"message\":"
                 "\"The table does not have the specified index: by-id\"}");
    CHECK_INT(err.kind, ERROR_NO_TABLE);
    CHECK_HAS(err.text, "table jobs has no index by-id");
}

static void refusals_keep_the_services_sentence(void)
{
    check_error("ValidationException", ERROR_INVALID, "The sentence (ValidationException)");
    check_error("SerializationException", ERROR_INVALID, "The sentence");
}

static void denials_say_what_to_do(void)
{
    check_error("AccessDeniedException", ERROR_DENIED, "needs dynamodb:Query on jobs");
    check_error("InvalidSignatureException", ERROR_DENIED, "this machine's clock");
    check_error("UnrecognizedClientException", ERROR_DENIED, "the access key");
    check_error("MissingAuthenticationToken", ERROR_DENIED, "without credentials");
    check_error("AccessDeniedException", ERROR_DENIED, "The sentence (");
}

static void expiry_says_how_to_sign_in(void)
{
    struct scene scene = scene_of(DYNAMO_QUERY, 400, "{\"__type\":\"ExpiredTokenException\"}");
    scene.sent.profile = "prod";
    CHECK(!take(&scene));
    CHECK_INT(scene.err.kind, ERROR_EXPIRED);
    CHECK_HAS(scene.err.text, "sign in again, as with: aws sso login --profile prod");
    close_scene(&scene);
    scene = scene_of(DYNAMO_QUERY, 400, "{\"__type\":\"ExpiredTokenException\"}");
    scene.sent.profile = "a b";
    scene.sent.method = "sso";
    CHECK(!take(&scene));
    CHECK_HAS(scene.err.text, "; sign in again: aws sso login --profile 'a b'");
    close_scene(&scene);
}

static void failures_of_the_service_are_its_own(void)
{
    struct error err = error_of(DYNAMO_QUERY, 500, "{\"__type\":\"InternalServerError\"}");
    CHECK_INT(err.kind, ERROR_SERVICE);
    CHECK_INT(err.http_status, 500);
}

/* What the service says of a bad signature goes on with the request, session token and all. */
static void no_secret_gets_into_the_text(void)
{
    struct error err = error_of(DYNAMO_QUERY, 400,
                                "{\"__type\":\"InvalidSignatureException\",\"message\":\"It does "
                                "not match.\\n\\nThe Canonical String\\nx-amz-security-token:"
                                "SECRET\"}");
    CHECK_HAS(err.text, "It does not match");
    CHECK(!strstr(err.text, "SECRET") && !strstr(err.text, "Canonical"));
    err = error_of(DYNAMO_QUERY, 400,
                   "{\"__type\":\"IncompleteSignature\",\"message\":\"Header requires 'Date'. "
                   "Authorization=SECRET\"}");
    CHECK_HAS(err.text, "Header requires");
    CHECK(!strstr(err.text, "SECRET"));
}

static void control_characters_do_not_reach_a_terminal(void)
{
    struct error err = error_of(DYNAMO_QUERY, 400,
                                "{\"__type\":\"ValidationException\",\"message\":\"a\\u001bb\"}");
    CHECK_HAS(err.text, "a%1Bb");
}

static bool skew_of(const char *date, const char *age, int64_t elapsed_ms, int64_t *skew_ms)
{
    struct http_header headers[] = {{"date", date}, {"age", age}};
    struct http_response response = {
        .headers = headers, .header_count = age ? 2 : 1, .elapsed_ms = elapsed_ms};
    return retry_read_skew(&response, 0, skew_ms);
}

static void skew_is_measured_from_the_middle(void)
{
    int64_t skew_ms = 0;
    CHECK(skew_of("Thu, 01 Jan 1970 00:10:00 GMT", NULL, 2000, &skew_ms));
    CHECK_INT(skew_ms, 599000);
    CHECK(skew_of("Sun, 29 Feb 2032 23:59:59 GMT", NULL, 0, &skew_ms));
    CHECK_INT(skew_ms, 1961711999000);
}

static void skew_needs_a_fresh_and_readable_date(void)
{
    int64_t skew_ms = 0;
    CHECK(!skew_of("Thu, 01 Jan 1970 00:10:00 GMT", "5", 0, &skew_ms));
    CHECK(!skew_of("Thu, 01 Jan 1970 00:10:00 GMT", NULL, 15 * 60 * 1000 + 1, &skew_ms));
    CHECK(!skew_of("yesterday", NULL, 0, &skew_ms));
    CHECK(!skew_of("Thu, 01 Foo 1970 00:10:00 GMT", NULL, 0, &skew_ms));
}

static void skews_differ_beyond_four_minutes(void)
{
    CHECK(!retry_skews_differ(0, 240000) && !retry_skews_differ(240000, 0));
    CHECK(retry_skews_differ(0, 240001) && retry_skews_differ(240001, 0));
}

static bool is_count(const char *body, uint64_t *count)
{
    struct scene scene = scene_of(DYNAMO_QUERY, 200, body);
    scene.read->counts = true;
    bool ok = take(&scene);
    *count = ok ? scene.answer->counted : 0;
    close_scene(&scene);
    CHECK(ok || scene.err.kind == ERROR_BAD_ANSWER);
    return ok;
}

static void a_count_comes_without_items(void)
{
    uint64_t count;
    CHECK(is_count("{\"Count\":3,\"ScannedCount\":3}", &count));
    CHECK_INT(count, 3);
    CHECK(is_count("{\"Count\":0,\"ScannedCount\":0,\"Items\":[]}", &count));
    CHECK(is_count("{\"Count\":3,\"ScannedCount\":4,\"LastEvaluatedKey\":{\"a\":{\"S\":\"1\"}}}",
                   &count));
    CHECK_INT(count, 3);
}

static void a_count_that_can_not_be_is_not_understood(void)
{
    static const char *const bad[] = {
        "{}",
        "{\"Count\":1}",
        "{\"Count\":-1,\"ScannedCount\":-1}",
        "{\"Count\":1.5,\"ScannedCount\":1.5}",
        "{\"Count\":\"1\",\"ScannedCount\":\"1\"}",
        "{\"Count\":1,\"ScannedCount\":2}",
        "{\"Count\":2,\"ScannedCount\":1,\"LastEvaluatedKey\":{\"a\":{\"S\":\"1\"}}}",
        "{\"Count\":1,\"ScannedCount\":3,\"LastEvaluatedKey\":{\"a\":{\"S\":\"1\"}}}",
        "{\"Count\":9000000,\"ScannedCount\":9000000}",
        "{\"Count\":1,\"ScannedCount\":1,\"Items\":[{}]}",
        "{\"Count\":1,\"ScannedCount\":1,\"LastEvaluatedKey\":1}",
    };
    uint64_t count;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (is_count(bad[i], &count))
            CHECK_FAIL("%s", bad[i]);
}

static const struct check_test tests[] = {
    {"a count comes without items", a_count_comes_without_items},
    {"a count that can not be is not understood", a_count_that_can_not_be_is_not_understood},
    {"an item is found", an_item_is_found},
    {"an absent item is a proven miss", an_absent_item_is_a_proven_miss},
    {"another's JSON is no miss", anothers_json_is_no_miss},
    {"a page has items and a last key", a_page_has_items_and_a_last_key},
    {"the last page has no last key", the_last_page_has_no_last_key},
    {"a page of no objects is not understood", a_page_of_no_objects_is_not_understood},
    {"a page that says two things is not understood",
     a_page_that_says_two_things_is_not_understood},
    {"a batch tells what was left", a_batch_tells_what_was_left},
    {"a batch may find nothing", a_batch_may_find_nothing},
    {"a batch that says nothing of its table is not understood",
     a_batch_that_says_nothing_of_its_table_is_not_understood},
    {"tables are named", tables_are_named},
    {"a table has keys", a_table_has_keys},
    {"a table has indexes of both kinds", a_table_has_indexes_of_both_kinds},
    {"what else is told of a table is kept", what_else_is_told_of_a_table_is_kept},
    {"what is not told of a table is called so", what_is_not_told_of_a_table_is_called_so},
    {"counts and dates that are none are not understood",
     counts_and_dates_that_are_none_are_not_understood},
    {"expiry and recovery are told as they came", expiry_and_recovery_are_told_as_they_came},
    {"backups are listed", backups_are_listed},
    {"backups of another table are not taken", backups_of_another_table_are_not_taken},
    {"exports are listed", exports_are_listed},
    {"exports of another table are not taken", exports_of_another_table_are_not_taken},
    {"the reason of throttling is told in words", the_reason_of_throttling_is_told_in_words},
    {"a refusal without reasons has its code", a_refusal_without_reasons_has_its_code},
    {"as many reasons are taken as there are limits",
     as_many_reasons_are_taken_as_there_are_limits},
    {"an operation that is not known says so", an_operation_that_is_not_known_says_so},
    {"a key without a type is not understood", a_key_without_a_type_is_not_understood},
    {"five key attributes are too many", five_key_attributes_are_too_many},
    {"the checksum is checked", the_checksum_is_checked},
    {"gzip is inflated after the checksum", gzip_is_inflated_after_the_checksum},
    {"damaged gzip is not understood", damaged_gzip_is_not_understood},
    {"a body that can be taken is taken", a_body_that_can_be_taken_is_taken},
    {"limits are those of the service", limits_are_those_of_the_service},
    {"what is too large is refused", what_is_too_large_is_refused},
    {"too many values are refused", too_many_values_are_refused},
    {"the longest honest item is read", the_longest_honest_item_is_read},
    {"HTML is named with its endpoint", html_is_named_with_its_endpoint},
    {"an empty answer is not understood", an_empty_answer_is_not_understood},
    {"a balancer's answer is a failing service", a_balancer_s_answer_is_a_failing_service},
    {"a code may stand in the header", a_code_may_stand_in_the_header},
    {"a code may be called code", a_code_may_be_called_code},
    {"a missing table is named", a_missing_table_is_named},
    {"a missing index is named", a_missing_index_is_named},
    {"refusals keep the service's sentence", refusals_keep_the_services_sentence},
    {"denials say what to do", denials_say_what_to_do},
    {"expiry says how to sign in", expiry_says_how_to_sign_in},
    {"failures of the service are its own", failures_of_the_service_are_its_own},
    {"no secret gets into the text", no_secret_gets_into_the_text},
    {"control characters do not reach a terminal", control_characters_do_not_reach_a_terminal},
    {"skew is measured from the middle", skew_is_measured_from_the_middle},
    {"skew needs a fresh and readable date", skew_needs_a_fresh_and_readable_date},
    {"skews differ beyond four minutes", skews_differ_beyond_four_minutes},
};
CHECK_MAIN(tests)
