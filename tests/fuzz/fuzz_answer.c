/* Fuzzing of the service's answers: any status and body is an answer whose resume point can be
 * sent back, or has an error. The first three bytes say what was asked and what came with the
 * body. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/dynamo/verify.h"
#include "core/net/gzip.h"

enum { HEAD = 3, WITH_CRC = 1, WITH_GZIP = 2, WITH_TYPE = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void answer_clean_up(struct answer **answer)
{
    answer_destroy(*answer);
}

static void read_clean_up(struct read **read)
{
    read_destroy(*read);
}

static struct read *read_for(enum dynamo_op op)
{
    static const enum read_kind kinds[] = {[DYNAMO_GET_ITEM] = READ_ITEMS,
                                           [DYNAMO_BATCH_GET_ITEM] = READ_ITEMS,
                                           [DYNAMO_QUERY] = READ_QUERY,
                                           [DYNAMO_SCAN] = READ_SCAN,
                                           [DYNAMO_SEARCH_VECTORS] = READ_SIMILAR,
                                           [DYNAMO_DESCRIBE_TABLE] = READ_TABLE,
                                           [DYNAMO_LIST_TABLES] = READ_TABLES,
                                           [DYNAMO_DESCRIBE_TIME_TO_LIVE] = READ_EXPIRY,
                                           [DYNAMO_LIST_BACKUPS] = READ_BACKUPS,
                                           [DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS] = READ_RECOVERY,
                                           [DYNAMO_DESCRIBE_STREAM] = READ_STREAM,
                                           [DYNAMO_GET_SHARD_ITERATOR] = READ_ITERATOR,
                                           [DYNAMO_GET_RECORDS] = READ_CHANGES,
                                           [DYNAMO_TRANSACT_GET_ITEMS] = READ_TOGETHER,
                                           [DYNAMO_LIST_EXPORTS] = READ_EXPORTS};
    const struct read_stream stream = {.arn = SPAN_LITERAL("arn:s"),
                                       .shard = SPAN_LITERAL("shard-1"),
                                       .iterator = SPAN_LITERAL("i")};
    struct value text = {.type = VALUE_S, .bytes = SPAN_LITERAL("a")};
    struct key key = {.attributes = {{SPAN_LITERAL("pk"), text}}, .count = 1};
    struct cond cond = {.attribute = SPAN_LITERAL("pk"), .op = COND_EQ, .value = text};
    bool of_index = kinds[op] == READ_SIMILAR;
    struct read *read = read_new(kinds[op], "jobs", of_index ? "near" : NULL);
    require(read);
    if (kinds[op] == READ_ITEMS)
        read_add_key(read, &key);
    if (kinds[op] == READ_QUERY || kinds[op] == READ_SIMILAR)
        read_add_where(read, &cond);
    if (kinds[op] == READ_SIMILAR) {
        read_set_vector(read, SPAN_LITERAL("embedding"), SPAN_LITERAL("[{\"N\":\"1\"}]"));
        read->limit = 2;
    }
    if (dynamo_op_is_of_streams(op))
        read_set_stream(read, &stream);
    if (kinds[op] == READ_TOGETHER)
        read_add_part(read, read_for(DYNAMO_GET_ITEM));
    require(!read_failed(read));
    return read;
}

/* Where an answer stopped goes into the next request as it came. */
static void resume(const struct read *read, const struct answer *answer)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!json_present(answer->resume))
        return;
    struct request request;
    require(request_init(&request, read));
    require(request_write(&request, json_raw(answer->resume), &out));
    request_clean_up(&request);
    require(json_parse(&doc, buf_span(&out), JSON_STRICT, NULL));
}

static void use_answer(const struct answer *answer)
{
    for (size_t i = 0; i < answer->item_count; i++) /* of a transaction one may be absent */
        require(!json_present(answer->items[i]) || json_is(answer->items[i], JSON_OBJECT));
    for (size_t i = 0; i < answer->name_count; i++)
        require(answer->names[i].data != NULL);
    require(!answer->table || answer->table->keys.partition_count > 0);
    require(!answer->table || json_is(answer->description, JSON_OBJECT));
}

static size_t list_headers(struct http_header *headers, uint8_t flags, const char *sum)
{
    size_t count = 0;
    if (flags & WITH_CRC)
        headers[count++] = (struct http_header){"x-amz-crc32", sum};
    if (flags & WITH_GZIP)
        headers[count++] = (struct http_header){"content-encoding", "gzip"};
    if (flags & WITH_TYPE)
        headers[count++] = (struct http_header){"x-amzn-errortype", "a#ThrottlingException:http:"};
    return count;
}

static void ask(enum dynamo_op op, const struct http_response *response)
{
    CLEAN_UP(read_clean_up) struct read *read = read_for(op);
    struct sent_request sent = {
        .op = op, .read = read, .region = "eu-west-1", .endpoint = "https://ddb.test/"};
    struct error err = {0};
    CLEAN_UP(answer_clean_up) struct answer *answer = answer_new(&sent, response, NULL, &err);
    if (!answer) {
        require(err.kind != ERROR_NONE && err.text[0]);
        return;
    }
    struct verify verify = {.sent = &sent};
    use_answer(answer);
    resume(read, answer);
    bool ok = verify_answer(&verify, answer, &err);
    require(ok || err.kind != ERROR_NONE);
    require(!ok || !json_present(answer->resume) || !verify_answer(&verify, answer, &err));
    verify_clean_up(&verify);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int statuses[] = {200, 400, 403, 413, 500, 503, 302, 0};
    if (size < HEAD)
        return 0;
    struct span body = span_of((const char *)data + HEAD, size - HEAD);
    struct http_header headers[3];
    char sum[16];
    snprintf(sum, sizeof sum, "%u", (unsigned)gzip_crc32(body));
    struct http_response response = {
        .status = statuses[data[1] % 8],
        .headers = headers,
        .header_count = list_headers(headers, data[2], sum),
        .body = body,
    };
    ask((enum dynamo_op)(data[0] % DYNAMO_OPS), &response);
    return 0;
}
