/* Bodies of requests, byte by byte. */
#include "core/dynamo/request.h"

#include "tests/unit/check.h"

static struct value text(const char *s)
{
    return (struct value){VALUE_S, span_text(s)};
}

static struct cond cond(const char *attribute, enum cond_op op, const char *value)
{
    return (struct cond){.attribute = span_text(attribute), .op = op, .value = text(value)};
}

static void add_key(struct read *read, const char *pk, const char *sk)
{
    struct key key = {
        .attributes = {{SPAN_LITERAL("pk"), text(pk)}, {SPAN_LITERAL("sk"), text(sk ? sk : "")}},
        .count = sk ? 2 : 1};
    read_add_key(read, &key);
}

static struct read *query(const char *index)
{
    struct read *read = read_new(READ_QUERY, "t", index);
    struct cond where = cond("pk", COND_EQ, "p");
    read_add_where(read, &where);
    return read;
}

/* Checks the body of READ, which is destroyed. */
static void check_body_at(struct read *read, struct span resume, const char *want)
{
    static char got[4096];
    struct buf body = {0};
    struct request request;
    bool ok = request_init(&request, read) && request_write(&request, resume, &body);
    request_clean_up(&request);
    snprintf(got, sizeof got, "%s", buf_text(&body));
    buf_clean_up(&body);
    read_destroy(read);
    CHECK(ok);
    CHECK_TEXT(got, want);
}

static void check_body(struct read *read, const char *want)
{
    check_body_at(read, span_text(""), want);
}

static void one_key_is_get_item(void)
{
    struct read *read = read_new(READ_ITEMS, "t", NULL);
    add_key(read, "a\"b", "s");
    CHECK_INT(request_op(read), DYNAMO_GET_ITEM);
    check_body(read,
               "{\"TableName\":\"t\",\"Key\":{\"pk\":{\"S\":\"a\\\"b\"},\"sk\":{\"S\":\"s\"}},"
               "\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void a_key_may_be_one_number(void)
{
    struct read *read = read_new(READ_ITEMS, "t", NULL);
    struct key key = {.attributes = {{SPAN_LITERAL("id"), {VALUE_N, SPAN_LITERAL("1.50")}}},
                      .count = 1};
    read_add_key(read, &key);
    read->consistent = true;
    check_body(read, "{\"TableName\":\"t\",\"Key\":{\"id\":{\"N\":\"1.50\"}},"
                     "\"ConsistentRead\":true,\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void several_keys_are_batch_get_item(void)
{
    struct read *read = read_new(READ_ITEMS, "t", NULL);
    add_key(read, "1", NULL);
    add_key(read, "2", NULL);
    read_add_attribute(read, SPAN_LITERAL("name"));
    CHECK_INT(request_op(read), DYNAMO_BATCH_GET_ITEM);
    check_body(read, "{\"RequestItems\":{\"t\":{\"Keys\":[{\"pk\":{\"S\":\"1\"}},{\"pk\":{\"S\":"
                     "\"2\"}}],\"ProjectionExpression\":\"#n0, #n1\",\"ExpressionAttributeNames\":{"
                     "\"#n0\":\"name\",\"#n1\":\"pk\"}}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void a_batch_goes_on_with_what_was_left(void)
{
    struct read *read = read_new(READ_ITEMS, "t", NULL);
    add_key(read, "1", NULL);
    add_key(read, "2", NULL);
    check_body_at(read, SPAN_LITERAL("[{\"pk\":{\"S\":\"2\"}}]"),
                  "{\"RequestItems\":{\"t\":{\"Keys\":[{\"pk\":{\"S\":\"2\"}}]}},"
                  "\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void a_query_by_partition(void)
{
    check_body(query(NULL),
               "{\"TableName\":\"t\",\"KeyConditionExpression\":\"#n0 = :v0\","
               "\"ExpressionAttributeNames\":{\"#n0\":\"pk\"},\"ExpressionAttributeValues\":{"
               "\":v0\":{\"S\":\"p\"}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void a_query_of_an_index_descending(void)
{
    struct read *read = query("by-status");
    struct cond sort = cond("sk", COND_BEGINS, "JOB#");
    read_add_where(read, &sort);
    read->descending = true;
    read->limit = 7;
    check_body(read, "{\"TableName\":\"t\",\"IndexName\":\"by-status\",\"KeyConditionExpression\":"
                     "\"#n0 = :v0 AND begins_with(#n1, :v1)\",\"ExpressionAttributeNames\":{"
                     "\"#n0\":\"pk\",\"#n1\":\"sk\"},\"ExpressionAttributeValues\":{\":v0\":{\"S\":"
                     "\"p\"},\":v1\":{\"S\":\"JOB#\"}},\"ScanIndexForward\":false,\"Limit\":7,"
                     "\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void a_range_has_two_values(void)
{
    struct read *read = query(NULL);
    struct cond sort = cond("sk", COND_BETWEEN, "a");
    sort.upper = text("b");
    read_add_where(read, &sort);
    check_body(read,
               "{\"TableName\":\"t\",\"KeyConditionExpression\":\"#n0 = :v0 AND #n1 BETWEEN :v1 "
               "AND :v2\",\"ExpressionAttributeNames\":{\"#n0\":\"pk\",\"#n1\":\"sk\"},"
               "\"ExpressionAttributeValues\":{\":v0\":{\"S\":\"p\"},\":v1\":{\"S\":\"a\"},"
               "\":v2\":{\"S\":\"b\"}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void check_comparison(enum cond_op op, const char *want)
{
    struct read *read = query(NULL);
    struct cond sort = cond("sk", op, "a");
    struct buf body = {0};
    char got[1024];
    read_add_where(read, &sort);
    struct request request;
    CHECK(request_init(&request, read) && request_write(&request, span_text(""), &body));
    request_clean_up(&request);
    snprintf(got, sizeof got, "%s", buf_text(&body));
    buf_clean_up(&body);
    read_destroy(read);
    CHECK_HAS(got, want);
}

static void comparisons_are_written_as_they_are(void)
{
    check_comparison(COND_EQ, "#n1 = :v1\"");
    check_comparison(COND_LT, "#n1 < :v1\"");
    check_comparison(COND_LE, "#n1 <= :v1\"");
    check_comparison(COND_GT, "#n1 > :v1\"");
    check_comparison(COND_GE, "#n1 >= :v1\"");
}

static void a_filter_goes_without_a_limit(void)
{
    struct read *read = query(NULL);
    struct cond filter = cond("entity_type", COND_EQ, "SESSION");
    read_add_filter(read, &filter);
    read->limit = 5;
    check_body(read, "{\"TableName\":\"t\",\"KeyConditionExpression\":\"#n0 = :v0\","
                     "\"FilterExpression\":\"#n1 = :v1\",\"ExpressionAttributeNames\":{\"#n0\":"
                     "\"pk\",\"#n1\":\"entity_type\"},\"ExpressionAttributeValues\":{\":v0\":{"
                     "\"S\":\"p\"},\":v1\":{\"S\":\"SESSION\"}},\"ReturnConsumedCapacity\":"
                     "\"TOTAL\"}");
}

/* What tells whether an item was asked for comes without being asked for. */
static void an_attribute_has_one_alias_and_is_asked_for_once(void)
{
    struct read *read = query(NULL);
    read_add_attribute(read, SPAN_LITERAL("size"));
    read_add_attribute(read, SPAN_LITERAL("size"));
    check_body(read, "{\"TableName\":\"t\",\"KeyConditionExpression\":\"#n0 = :v0\","
                     "\"ProjectionExpression\":\"#n1, #n0\",\"ExpressionAttributeNames\":{\"#n0\":"
                     "\"pk\",\"#n1\":\"size\"},\"ExpressionAttributeValues\":{\":v0\":{\"S\":"
                     "\"p\"}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void a_query_goes_on_from_the_last_key(void)
{
    struct read *read = query(NULL);
    read->limit = 2;
    check_body_at(read, SPAN_LITERAL("{\"pk\":{\"S\":\"p\"}}"),
                  "{\"TableName\":\"t\",\"KeyConditionExpression\":\"#n0 = :v0\","
                  "\"ExpressionAttributeNames\":{\"#n0\":\"pk\"},\"ExpressionAttributeValues\":{"
                  "\":v0\":{\"S\":\"p\"}},\"ExclusiveStartKey\":{\"pk\":{\"S\":\"p\"}},"
                  "\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

/* Which indexes can be read so is for the map to know; the service refuses the others. */
static void consistency_is_asked_wherever_the_read_says_so(void)
{
    struct read *read = query("local");
    read->consistent = true;
    check_body(read, "{\"TableName\":\"t\",\"IndexName\":\"local\",\"KeyConditionExpression\":"
                     "\"#n0 = :v0\",\"ExpressionAttributeNames\":{\"#n0\":\"pk\"},"
                     "\"ExpressionAttributeValues\":{\":v0\":{\"S\":\"p\"}},\"ConsistentRead\":"
                     "true,\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void tables_are_listed_and_described(void)
{
    struct read *tables = read_new(READ_TABLES, NULL, NULL);
    struct read *table = read_new(READ_TABLE, "t", NULL);
    CHECK_INT(request_op(tables), DYNAMO_LIST_TABLES);
    CHECK_INT(request_op(table), DYNAMO_DESCRIBE_TABLE);
    check_body(tables, "{}");
    check_body(table, "{\"TableName\":\"t\"}");
    check_body_at(read_new(READ_TABLES, NULL, NULL), SPAN_LITERAL("\"last\""),
                  "{\"ExclusiveStartTableName\":\"last\"}");
}

static void what_is_said_of_a_table_is_asked_by_its_name(void)
{
    check_body(read_new(READ_EXPIRY, "t", NULL), "{\"TableName\":\"t\"}");
    check_body(read_new(READ_RECOVERY, "t", NULL), "{\"TableName\":\"t\"}");
    check_body(read_new(READ_BACKUPS, "t", NULL), "{\"TableName\":\"t\",\"BackupType\":\"ALL\"}");
    check_body_at(read_new(READ_BACKUPS, "t", NULL), SPAN_LITERAL("\"arn\""),
                  "{\"TableName\":\"t\",\"BackupType\":\"ALL\",\"ExclusiveStartBackupArn\":"
                  "\"arn\"}");
}

static struct read *exports_of(const char *arn)
{
    struct read *read = read_new(READ_EXPORTS, "t", NULL);
    read_set_table_arn(read, arn);
    return read;
}

static void exports_are_listed_by_the_arn_of_the_table(void)
{
    check_body(exports_of("arn:t"), "{\"TableArn\":\"arn:t\"}");
    check_body_at(exports_of("arn:t"), SPAN_LITERAL("\"next\""),
                  "{\"TableArn\":\"arn:t\",\"NextToken\":\"next\"}");
}

static void a_segment_of_a_table_is_scanned_for_keys(void)
{
    struct read *read = read_new(READ_SCAN, "t", NULL);
    read_add_attribute(read, SPAN_LITERAL("pk"));
    read->segment = 2;
    read->segments = 4;
    check_body_at(read, SPAN_LITERAL("{\"pk\":{\"S\":\"a\"}}"),
                  "{\"TableName\":\"t\",\"ProjectionExpression\":\"#n0\","
                  "\"ExpressionAttributeNames\":{\"#n0\":\"pk\"},\"Segment\":2,\"TotalSegments\":4,"
                  "\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"}},\"ReturnConsumedCapacity\":"
                  "\"TOTAL\"}");
}

static void each_page_of_a_sample_has_its_limit(void)
{
    struct read *read = read_new(READ_SCAN, "t", NULL);
    read->limit = 25;
    check_body_at(read, SPAN_LITERAL("{\"pk\":{\"S\":\"a\"}}"),
                  "{\"TableName\":\"t\",\"ExclusiveStartKey\":{\"pk\":{\"S\":\"a\"}},"
                  "\"Limit\":25,\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static struct read *of_stream(enum read_kind kind, enum stream_at at)
{
    struct read *read = read_new(kind, "t", NULL);
    struct read_stream stream = {.arn = SPAN_LITERAL("arn:s"),
                                 .shard = SPAN_LITERAL("shard-1"),
                                 .at = at,
                                 .sequence = SPAN_LITERAL("100"),
                                 .iterator = SPAN_LITERAL("arn:s|1|\"x")};
    read_set_stream(read, &stream);
    return read;
}

static void a_stream_is_read_by_its_arn_and_shards_by_iterators(void)
{
    check_body(of_stream(READ_STREAM, STREAM_OLDEST), "{\"StreamArn\":\"arn:s\"}");
    check_body_at(of_stream(READ_STREAM, STREAM_OLDEST), SPAN_LITERAL("\"shard-9\""),
                  "{\"StreamArn\":\"arn:s\",\"ExclusiveStartShardId\":\"shard-9\"}");
    check_body(of_stream(READ_ITERATOR, STREAM_OLDEST),
               "{\"StreamArn\":\"arn:s\",\"ShardId\":\"shard-1\",\"ShardIteratorType\":"
               "\"TRIM_HORIZON\"}");
    check_body(of_stream(READ_ITERATOR, STREAM_LATEST),
               "{\"StreamArn\":\"arn:s\",\"ShardId\":\"shard-1\",\"ShardIteratorType\":"
               "\"LATEST\"}");
    check_body(of_stream(READ_ITERATOR, STREAM_AFTER),
               "{\"StreamArn\":\"arn:s\",\"ShardId\":\"shard-1\",\"ShardIteratorType\":"
               "\"AFTER_SEQUENCE_NUMBER\",\"SequenceNumber\":\"100\"}");
    check_body(of_stream(READ_CHANGES, STREAM_OLDEST), "{\"ShardIterator\":\"arn:s|1|\\\"x\"}");
}

static void the_set_of_operations_is_closed(void)
{
    CHECK_TEXT(dynamo_op_name(DYNAMO_GET_ITEM), "GetItem");
    CHECK_TEXT(dynamo_op_name(DYNAMO_BATCH_GET_ITEM), "BatchGetItem");
    CHECK_TEXT(dynamo_op_name(DYNAMO_QUERY), "Query");
    CHECK_TEXT(dynamo_op_name(DYNAMO_DESCRIBE_TABLE), "DescribeTable");
    CHECK_TEXT(dynamo_op_name(DYNAMO_LIST_TABLES), "ListTables");
    CHECK_TEXT(dynamo_op_name(DYNAMO_DESCRIBE_TIME_TO_LIVE), "DescribeTimeToLive");
    CHECK_TEXT(dynamo_op_name(DYNAMO_LIST_BACKUPS), "ListBackups");
    CHECK_TEXT(dynamo_op_name(DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS), "DescribeContinuousBackups");
    CHECK_TEXT(dynamo_op_name(DYNAMO_SCAN), "Scan");
    CHECK_TEXT(dynamo_op_name(DYNAMO_SEARCH_VECTORS), "SearchVectors");
    CHECK_TEXT(dynamo_op_name(DYNAMO_DESCRIBE_STREAM), "DescribeStream");
    CHECK_TEXT(dynamo_op_name(DYNAMO_GET_SHARD_ITERATOR), "GetShardIterator");
    CHECK_TEXT(dynamo_op_name(DYNAMO_GET_RECORDS), "GetRecords");
    CHECK_TEXT(dynamo_op_name(DYNAMO_TRANSACT_GET_ITEMS), "TransactGetItems");
    CHECK_TEXT(dynamo_op_name(DYNAMO_LIST_EXPORTS), "ListExports");
    CHECK_INT(DYNAMO_OPS, 15);
}

static struct read *search(void)
{
    struct read *read = read_new(READ_SIMILAR, "t", "vectors");
    struct cond where = cond("lang", COND_EQ, "en");
    read_add_attribute(read, SPAN_LITERAL("pk"));
    read_add_where(read, &where);
    read->limit = 7;
    read_set_vector(read, SPAN_LITERAL("v"), SPAN_LITERAL("[{\"N\":\"1\"},{\"N\":\"-0.5\"}]"));
    return read;
}

static void a_search_has_its_vector_as_the_item_has_it(void)
{
    check_body(search(),
               "{\"TableName\":\"t\",\"IndexName\":\"vectors\","
               "\"SearchVector\":[{\"N\":\"1\"},{\"N\":\"-0.5\"}],\"TopK\":7,"
               "\"SearchConditionExpression\":\"#n0 = :v0\",\"ProjectionExpression\":\"#n1, #n0\","
               "\"ExpressionAttributeNames\":{\"#n0\":\"lang\",\"#n1\":\"pk\"},"
               "\"ExpressionAttributeValues\":{\":v0\":{\"S\":\"en\"}},"
               "\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void searches_of_other_vectors_are_other_reads(void)
{
    CLEAN_UP(buf_clean_up) struct buf one = {0}, same = {0}, other = {0};
    struct read *read = search(), *copy = read_copy(read, NULL);
    read_identity(read, &one);
    read_identity(copy, &same);
    read_set_vector(copy, SPAN_LITERAL("v"), SPAN_LITERAL("[{\"N\":\"1\"},{\"N\":\"0.5\"}]"));
    read_identity(copy, &other);
    CHECK(span_equal(buf_span(&one), buf_span(&same)));
    CHECK(!span_equal(buf_span(&one), buf_span(&other)));
    read_destroy(copy);
    read_destroy(read);
}

static struct read *part(const char *table, const char *pk)
{
    struct read *read = read_new(READ_ITEMS, table, NULL);
    add_key(read, pk, NULL);
    return read;
}

/* A transaction has no ConsistentRead, and no permission of its own. */
static void items_of_one_moment_have_a_projection_each(void)
{
    struct read *read = read_new(READ_TOGETHER, "t", NULL), *other = part("u", "b");
    read_add_part(read, part("t", "a"));
    read_add_attribute(other, SPAN_LITERAL("x"));
    other->consistent = true;
    read_add_part(read, other);
    CHECK_INT(request_op(read), DYNAMO_TRANSACT_GET_ITEMS);
    CHECK_INT(dynamo_op_permission(DYNAMO_TRANSACT_GET_ITEMS), DYNAMO_GET_ITEM);
    CHECK_INT(dynamo_op_permission(DYNAMO_QUERY), DYNAMO_QUERY);
    check_body(read,
               "{\"TransactItems\":[{\"Get\":{\"TableName\":\"t\",\"Key\":{\"pk\":{\"S\":\"a\"}}}},"
               "{\"Get\":{\"TableName\":\"u\",\"Key\":{\"pk\":{\"S\":\"b\"}},"
               "\"ProjectionExpression\":\"#n0, #n1\","
               "\"ExpressionAttributeNames\":{\"#n0\":\"x\",\"#n1\":\"pk\"}}}],"
               "\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static void what_is_only_counted_does_not_come(void)
{
    struct read *read = query("i");
    read->counts = true;
    check_body(read, "{\"TableName\":\"t\",\"IndexName\":\"i\",\"Select\":\"COUNT\","
                     "\"KeyConditionExpression\":\"#n0 = :v0\",\"ExpressionAttributeNames\":{"
                     "\"#n0\":\"pk\"},\"ExpressionAttributeValues\":{\":v0\":{\"S\":\"p\"}},"
                     "\"ReturnConsumedCapacity\":\"TOTAL\"}");
}

static const struct check_test tests[] = {
    {"a search has its vector as the item has it", a_search_has_its_vector_as_the_item_has_it},
    {"searches of other vectors are other Reads", searches_of_other_vectors_are_other_reads},
    {"what is only counted does not come", what_is_only_counted_does_not_come},
    {"one key is GetItem", one_key_is_get_item},
    {"a key may be one number", a_key_may_be_one_number},
    {"several keys are BatchGetItem", several_keys_are_batch_get_item},
    {"a batch goes on with what was left", a_batch_goes_on_with_what_was_left},
    {"a query by partition", a_query_by_partition},
    {"a query of an index, descending", a_query_of_an_index_descending},
    {"a range has two values", a_range_has_two_values},
    {"comparisons are written as they are", comparisons_are_written_as_they_are},
    {"a filter goes without a limit", a_filter_goes_without_a_limit},
    {"an attribute has one alias and is asked for once",
     an_attribute_has_one_alias_and_is_asked_for_once},
    {"a query goes on from the last key", a_query_goes_on_from_the_last_key},
    {"consistency is asked wherever the Read says so",
     consistency_is_asked_wherever_the_read_says_so},
    {"tables are listed and described", tables_are_listed_and_described},
    {"what is said of a table is asked by its name", what_is_said_of_a_table_is_asked_by_its_name},
    {"exports are listed by the ARN of the table", exports_are_listed_by_the_arn_of_the_table},
    {"a segment of a table is scanned for keys", a_segment_of_a_table_is_scanned_for_keys},
    {"each page of a sample has its limit", each_page_of_a_sample_has_its_limit},
    {"a stream is read by its arn, and shards by iterators",
     a_stream_is_read_by_its_arn_and_shards_by_iterators},
    {"the set of operations is closed", the_set_of_operations_is_closed},
    {"items of one moment have a projection each", items_of_one_moment_have_a_projection_each},
};
CHECK_MAIN(tests)
