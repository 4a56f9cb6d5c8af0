#include "core/dynamo/answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/aws/aws_fault.h"
#include "core/aws/retry.h"
#include "core/dynamo/refusal.h"
#include "core/net/gzip.h"
#include "core/source/table_description.h"

/* The bounds of a response. The service bounds the size of items: 400 KB for one, 1 MB for a page
 * of a Query (and the item that passes it), 16 MB for a batch, 4 MB for a transaction. JSON is
 * longer: an escaped byte takes six, an empty text in a list counts as one byte and takes nine
 * ({"S":""},). No item takes more than ten times its size. A batch of more than four times its size
 * is refused, to bound memory. So is a response of more values than MOST_VALUES: each takes 16
 * bytes beside the text. */
enum {
    KB = 1024,
    MB = 1024 * 1024,
    ITEM_SIZE = 400 * KB,
    MOST_JSON = 10,
    BATCH_SIZE = 16 * MB,
    BATCH_JSON = 4,
    TOGETHER_SIZE = 4 * MB,
    MOST_VALUES = 8 * MB,
    BESIDES = MB, /* all but items: a position, unprocessed keys, consumed capacity */
    MAX_TABLE = 4 * MB,
    MAX_NAMES = MB,
    MAX_OBJECT = 64 * KB,         /* a small object that describes a table */
    MAX_BACKUPS = MB * 3 / 2,     /* documented: 1 MB a page */
    MAX_FOUND = 8 * MB,           /* of a search: the keys of 100 items, of 6 KB at most */
    MAX_STREAM = MB,              /* a page of 100 shards */
    MAX_CHANGES = MB + ITEM_SIZE, /* of one page, before they are written as JSON */
    MAX_EXPORTS = MB,             /* 25 ARNs a page, and a token */
    MAX_REFUSAL = MB,
    MOST_COUNTED = MB + 1, /* of a page: no item is smaller than a byte, and one passes its end */
};

size_t answer_limit(const struct sent_request *sent)
{
    size_t batch = (size_t)BATCH_SIZE * BATCH_JSON;
    size_t items = (size_t)ITEM_SIZE * MOST_JSON * sent->read->key_count;
    size_t together = (size_t)TOGETHER_SIZE * MOST_JSON;
    size_t parts = (size_t)ITEM_SIZE * MOST_JSON * sent->read->part_count;
    switch (sent->op) {
    case DYNAMO_GET_ITEM:
        return (size_t)ITEM_SIZE * MOST_JSON + BESIDES;
    case DYNAMO_BATCH_GET_ITEM:
        return (items < batch ? items : batch) + BESIDES;
    case DYNAMO_TRANSACT_GET_ITEMS:
        return (parts < together ? parts : together) + BESIDES;
    case DYNAMO_QUERY:
    case DYNAMO_SCAN:
        return (size_t)(MB + ITEM_SIZE) * MOST_JSON + BESIDES;
    case DYNAMO_SEARCH_VECTORS:
        return MAX_FOUND;
    case DYNAMO_DESCRIBE_TABLE:
        return MAX_TABLE;
    case DYNAMO_LIST_TABLES:
        return MAX_NAMES;
    case DYNAMO_LIST_BACKUPS:
        return MAX_BACKUPS;
    case DYNAMO_LIST_EXPORTS:
        return MAX_EXPORTS;
    case DYNAMO_DESCRIBE_TIME_TO_LIVE:
    case DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS:
    case DYNAMO_GET_SHARD_ITERATOR:
        return MAX_OBJECT;
    case DYNAMO_DESCRIBE_STREAM:
        return MAX_STREAM;
    case DYNAMO_GET_RECORDS: /* with both images */
        return 2 * (size_t)MAX_CHANGES * MOST_JSON;
    }
    return MAX_REFUSAL;
}

size_t answer_limit_of_rounds(const struct sent_request *sent)
{
    size_t one = answer_limit(sent);
    size_t all = (size_t)ITEM_SIZE * BATCH_JSON * sent->read->key_count;
    return one > all ? one : all;
}

void answer_destroy(struct answer *answer)
{
    if (!answer)
        return;
    json_clean_up(&answer->doc);
    buf_clean_up_secret(&answer->body);
    arena_clean_up(&answer->arena);
    free(answer);
}

/* The checksum is that of the bytes before decompression. */
static bool answer_check_sum(const struct http_response *response, struct error *err)
{
    const char *told = http_header(response, "x-amz-crc32");
    if (!told)
        return true;
    char *end;
    unsigned long long sum = strtoull(told, &end, 10);
    if (end != told && *end == '\0' && sum == gzip_crc32(response->body))
        return true;
    error_set(
        err, ERROR_BAD_ANSWER,
        "the checksum of a response is wrong (HTTP %d, %zu bytes): it was damaged on the way; if "
        "this persists, look for a proxy that changes responses",
        response->status, response->body.size);
    memcpy(err->code, RETRY_CHECKSUM_CODE, sizeof RETRY_CHECKSUM_CODE);
    return false;
}

static bool answer_refuse_as_too_large(const struct sent_request *sent,
                                       const struct http_response *response, size_t limit,
                                       const char *unit, struct error *err)
{
    return error_set(err, ERROR_BAD_ANSWER,
                     "the response to %s is larger than any of the service (HTTP %d, more than "
                     "%zu %s); check that %s is an endpoint of DynamoDB",
                     dynamo_op_name(sent->op), response->status, limit, unit, sent->endpoint);
}

/* Takes the JSON over, or inflates it: it is in memory once. */
static bool answer_take_body(struct answer *answer, const struct sent_request *sent,
                             const struct http_response *response, struct error *err)
{
    const char *encoding = http_header(response, "Content-Encoding");
    size_t limit = response->status == 200 ? answer_limit(sent) : MAX_REFUSAL;
    enum gzip_result result = response->body.size > limit ? GZIP_TOO_LARGE : GZIP_WHOLE;
    if (result == GZIP_WHOLE && encoding && strcasecmp(encoding, "gzip") == 0)
        result = gzip_inflate(response->body, limit, &answer->body);
    else if (result == GZIP_WHOLE && response->holder)
        buf_move(&answer->body, response->holder);
    else if (result == GZIP_WHOLE)
        buf_add_span(&answer->body, response->body);
    if (result == GZIP_DAMAGED)
        return error_set(
            err, ERROR_BAD_ANSWER,
            "the compression of a response is damaged (HTTP %d, %zu bytes); try again, and "
            "look for a proxy that changes responses",
            response->status, response->body.size);
    if (result == GZIP_TOO_LARGE)
        return answer_refuse_as_too_large(sent, response, limit / MB, "MB", err);
    return result == GZIP_WHOLE && !answer->body.failed ? true : error_no_memory(err);
}

/* Invalid JSON leaves an empty document, whose root is absent. */
static bool answer_parse(struct answer *answer, const struct sent_request *sent,
                         const struct http_response *response, struct error *err)
{
    struct json_fault fault = {0};
    if (json_parse_within(&answer->doc, buf_span(&answer->body), MOST_VALUES, &fault))
        return true;
    json_clean_up(&answer->doc);
    answer->doc = (struct json_doc){0};
    if (fault.what && strcmp(fault.what, "out of memory") == 0)
        return error_no_memory(err);
    if (fault.what && strcmp(fault.what, JSON_TOO_MANY) == 0)
        return answer_refuse_as_too_large(sent, response, MOST_VALUES, "values", err);
    return true;
}

static struct json answer_root_of(const struct answer *answer)
{
    return answer->doc.count ? json_root(&answer->doc) : (struct json){0};
}

/* Copies the unescaped text into the arena. False when VALUE is no string. */
static bool answer_copy_text(struct answer *answer, struct json value, struct span *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!json_read_string(value, &text))
        return false;
    answer->arena.failed |= text.failed;
    *out = arena_copy(&answer->arena, buf_span(&text));
    return true;
}

static bool answer_is_item(struct json value)
{
    return json_is(value, JSON_OBJECT) && json_raw(value).size <= (size_t)ITEM_SIZE * MOST_JSON;
}

/* A change has two images and the key of an item. */
static bool answer_is_change(struct json value)
{
    return json_is(value, JSON_OBJECT) && json_raw(value).size <= 3 * (size_t)ITEM_SIZE * MOST_JSON;
}

static bool answer_collect(struct answer *answer, struct json array, bool (*is_one)(struct json))
{
    if (!json_is(array, JSON_ARRAY))
        return false;
    answer->items = arena_array(&answer->arena, json_count(array), sizeof *answer->items);
    if (!answer->items)
        return true;
    for (struct json item = json_first(array); json_present(item); item = json_next(item)) {
        if (!is_one(item))
            return false;
        answer->items[answer->item_count++] = item;
    }
    return true;
}

static bool answer_collect_items(struct answer *answer, struct json array)
{
    return answer_collect(answer, array, answer_is_item);
}

/* A response without an item proves "not found" only if it has no unknown member. */
static bool answer_is_miss(struct json root)
{
    size_t known = json_present(json_member(root, "ConsumedCapacity"));
    return json_count(root) == known;
}

static bool answer_read_item(struct answer *answer, struct json root)
{
    struct json item = json_member(root, "Item");
    if (!json_present(item))
        return answer_is_miss(root);
    answer->items = arena_alloc(&answer->arena, sizeof *answer->items);
    if (answer->items)
        answer->items[answer->item_count++] = item;
    return answer_is_item(item);
}

/* One element for each part, in their order: an object with the item, or an empty one. Another
 * member, or another number of elements, proves nothing. */
static bool answer_read_together(struct answer *answer, const struct read *read, struct json root)
{
    struct json responses = json_member(root, "Responses");
    if (!json_is(responses, JSON_ARRAY) || json_count(responses) != read->part_count)
        return false;
    answer->items = arena_array(&answer->arena, read->part_count, sizeof *answer->items);
    if (!answer->items)
        return true;
    for (struct json each = json_first(responses); json_present(each); each = json_next(each)) {
        struct json item = json_member(each, "Item");
        if (!json_is(each, JSON_OBJECT) || json_count(each) != json_present(item) ||
            (json_present(item) && !answer_is_item(item)))
            return false;
        answer->items[answer->item_count++] = item;
    }
    return true;
}

/* The member of the requested table; or absent. OK is false if another table has one.
 */
static struct json answer_of_table(struct json tables, const struct read *read, bool *ok)
{
    struct json name = json_first(tables);
    if (!json_is(tables, JSON_OBJECT) || json_count(tables) > 1 ||
        (json_present(name) && !json_string_is(name, span_text(read->table))))
        *ok = false;
    return *ok && json_present(name) ? json_next(name) : (struct json){0};
}

/* Items that are not found are absent from the table's list, which may be empty. A response without
 * that list and without unprocessed keys proves nothing. */
static bool answer_read_batch(struct answer *answer, const struct read *read, struct json root)
{
    bool ok = true;
    struct json left = json_member(root, "UnprocessedKeys");
    struct json items = answer_of_table(json_member(root, "Responses"), read, &ok);
    struct json unprocessed = json_present(left) ? answer_of_table(left, read, &ok) : left;
    if (!ok || (!json_present(items) && !json_present(unprocessed)))
        return false;
    if (json_present(unprocessed)) {
        struct json keys = json_member(unprocessed, "Keys");
        if (!json_is(keys, JSON_ARRAY))
            return false;
        if (json_count(keys))
            answer->resume = keys;
    }
    return !json_present(items) || answer_collect_items(answer, items);
}

/* The position for the next page: the member NAME of TYPE. The last page lacks it, or has an empty
 * one. Any other value must not pass for the end. */
static bool answer_read_resume(struct answer *answer, struct json root, const char *name,
                               enum json_type type)
{
    struct json last = json_member(root, name);
    if (!json_present(last) || json_is(last, JSON_NULL))
        return true;
    if (json_is(last, type) && (type == JSON_STRING || json_count(last) > 0))
        answer->resume = last;
    return json_is(last, type);
}

/* Whether the member NAME is absent, or the number COUNT. */
static bool answer_agrees(struct json root, const char *name, size_t count)
{
    int64_t told;
    struct json value = json_member(root, name);
    return !json_present(value) || (json_read_int(value, &told) && told == (int64_t)count);
}

/* The number of items that were read for a page of COUNT: without a filter COUNT, because a local
 * server may count the first item of the next page, too, or state no number. */
static size_t answer_scanned_of(const struct read *read, struct json root, size_t count)
{
    int64_t told;
    bool is_told = read->filter_count && json_read_int(json_member(root, "ScannedCount"), &told);
    return is_told && told > (int64_t)count ? (size_t)told : count;
}

static bool answer_read_items(struct answer *answer, const struct read *read, struct json root)
{
    bool ok = answer_read_resume(answer, root, "LastEvaluatedKey", JSON_OBJECT) &&
              answer_collect_items(answer, json_member(root, "Items")) &&
              (answer->arena.failed || answer_agrees(root, "Count", answer->item_count));
    answer->scanned = answer_scanned_of(read, root, answer->item_count);
    return ok;
}

static bool answer_read_number(struct json root, const char *name, int64_t *out)
{
    return json_read_int(json_member(root, name), out) && *out >= 0 && *out <= MOST_COUNTED;
}

/* Whether COUNT of SCANNED items can have passed the filter; without one that is all. dynoxide
 * counts the first item of a further page as scanned, too. */
static bool answer_is_left_of(const struct read *read, const struct answer *answer, int64_t count,
                              int64_t scanned)
{
    bool again = json_present(answer->resume);
    return read->filter_count ? count <= scanned
                              : count == scanned || (again && count + 1 == scanned);
}

/* A count has no items: a server that sends items, or no number, did not understand the request. */
static bool answer_count_items(struct answer *answer, const struct read *read, struct json root)
{
    struct json items = json_member(root, "Items");
    int64_t count, scanned;
    if (!answer_read_resume(answer, root, "LastEvaluatedKey", JSON_OBJECT) ||
        !answer_read_number(root, "Count", &count) ||
        !answer_read_number(root, "ScannedCount", &scanned))
        return false;
    answer->counted = (uint64_t)count;
    answer->scanned = answer_scanned_of(read, root, (size_t)count);
    bool none = !json_present(items) || (json_is(items, JSON_ARRAY) && json_count(items) == 0);
    return none && answer_is_left_of(read, answer, count, scanned);
}

/* Counts the items that were read, also those that the filter left out. */
static size_t answer_read_count_of(const struct answer *answer, struct json root)
{
    int64_t told;
    bool is_told = json_read_int(json_member(root, "ScannedCount"), &told);
    return is_told && told > (int64_t)answer->item_count ? (size_t)told : answer->item_count;
}

/* A value that is no text becomes a name that no table can have. */
static void answer_copy_name(struct answer *answer, struct json value, struct span *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (answer_copy_text(answer, value, out))
        return;
    buf_printf(&text, "(%.*s)", (int)json_raw(value).size, json_raw(value).data);
    answer->arena.failed |= text.failed;
    *out = arena_copy(&answer->arena, buf_span(&text));
}

static bool answer_read_names(struct answer *answer, struct json root)
{
    struct json array = json_member(root, "TableNames");
    if (!json_is(array, JSON_ARRAY) ||
        !answer_read_resume(answer, root, "LastEvaluatedTableName", JSON_STRING))
        return false;
    answer->names = arena_array(&answer->arena, json_count(array), sizeof *answer->names);
    if (!answer->names)
        return true;
    for (struct json name = json_first(array); json_present(name); name = json_next(name))
        answer_copy_name(answer, name, &answer->names[answer->name_count++]);
    return true;
}

static bool answer_read_table(struct answer *answer, const struct read *read, struct json root)
{
    struct json table = json_member(root, "Table");
    answer->table = table_description_read(table, &answer->arena);
    answer->description = table;
    return answer->arena.failed || (answer->table && json_string_is(json_member(table, "TableName"),
                                                                    span_text(read->table)));
}

/* One object that describes a table, which is stored as it came. It has a STATUS. */
static bool answer_read_description(struct answer *answer, struct json root, const char *name,
                                    const char *status)
{
    answer->description = json_member(root, name);
    return json_is(answer->description, JSON_OBJECT) &&
           json_is(json_member(answer->description, status), JSON_STRING);
}

/* An empty position is the end, too. Backups of another table must not pass for this one's. */
static bool answer_read_backups(struct answer *answer, const struct read *read, struct json root)
{
    if (!answer_read_resume(answer, root, "LastEvaluatedBackupArn", JSON_STRING) ||
        !answer_collect_items(answer, json_member(root, "BackupSummaries")))
        return false;
    if (json_string_is(answer->resume, span_text("")))
        answer->resume = (struct json){0};
    for (size_t i = 0; i < answer->item_count; i++)
        if (!json_string_is(json_member(answer->items[i], "TableName"), span_text(read->table)))
            return false;
    return true;
}

/* Each result has an item and its score. */
static bool answer_read_found(struct answer *answer, struct json root)
{
    if (!answer_collect_items(answer, json_member(root, "SearchResults")))
        return false;
    for (size_t i = 0; i < answer->item_count; i++)
        if (!json_is(json_member(answer->items[i], "Item"), JSON_OBJECT) ||
            !json_is(json_member(answer->items[i], "Score"), JSON_NUMBER))
            return false;
    return true;
}

/* The ARN of an export begins with that of its table: "TABLE_ARN/export/ID". */
static bool answer_is_export_of(struct answer *answer, const char *table_arn, struct json arn)
{
    CLEAN_UP(buf_clean_up) struct buf prefix = {0}, text = {0};
    buf_printf(&prefix, "%s/export/", table_arn);
    bool is_text = json_read_string(arn, &text);
    answer->arena.failed = answer->arena.failed || prefix.failed || text.failed;
    return is_text && span_starts(buf_span(&text), buf_span(&prefix));
}

/* An empty token is the end, too. Exports of another table must not pass for this one's. */
static bool answer_read_exports(struct answer *answer, const struct read *read, struct json root)
{
    if (!answer_read_resume(answer, root, "NextToken", JSON_STRING) ||
        !answer_collect_items(answer, json_member(root, "ExportSummaries")))
        return false;
    if (json_string_is(answer->resume, span_text("")))
        answer->resume = (struct json){0};
    for (size_t i = 0; i < answer->item_count; i++)
        if (!answer_is_export_of(answer, read->table_arn,
                                 json_member(answer->items[i], "ExportArn")))
            return false;
    return true;
}

/* The shards of another stream must not pass for this one's. A page without shards is valid: a
 * stream may have no shard yet. */
static bool answer_read_stream(struct answer *answer, const struct read *read, struct json root)
{
    struct json stream = json_member(root, "StreamDescription");
    answer->description = stream;
    return json_string_is(json_member(stream, "StreamArn"), read->stream.arn) &&
           answer_read_resume(answer, stream, "LastEvaluatedShardId", JSON_STRING) &&
           answer_collect_items(answer, json_member(stream, "Shards"));
}

/* An empty text leads nowhere. */
static bool answer_read_iterator(struct answer *answer, struct json root, const char *name)
{
    return answer_read_resume(answer, root, name, JSON_STRING) &&
           !json_string_is(answer->resume, span_text(""));
}

/* The text of the place behind the changes is absent if the shard has ended. */
static bool answer_read_changes(struct answer *answer, struct json root)
{
    return answer_read_iterator(answer, root, "NextShardIterator") &&
           answer_collect(answer, json_member(root, "Records"), answer_is_change);
}

static bool answer_read_content(struct answer *answer, const struct sent_request *sent,
                                struct json root)
{
    const struct read *read = sent->read;
    switch (sent->op) {
    case DYNAMO_GET_ITEM:
        return answer_read_item(answer, root);
    case DYNAMO_BATCH_GET_ITEM:
        return answer_read_batch(answer, read, root);
    case DYNAMO_TRANSACT_GET_ITEMS:
        return answer_read_together(answer, read, root);
    case DYNAMO_QUERY:
    case DYNAMO_SCAN:
        return read->counts ? answer_count_items(answer, read, root)
                            : answer_read_items(answer, read, root);
    case DYNAMO_SEARCH_VECTORS:
        return answer_read_found(answer, root);
    case DYNAMO_DESCRIBE_TABLE:
        return answer_read_table(answer, read, root);
    case DYNAMO_LIST_TABLES:
        return answer_read_names(answer, root);
    case DYNAMO_DESCRIBE_TIME_TO_LIVE:
        return answer_read_description(answer, root, "TimeToLiveDescription", "TimeToLiveStatus");
    case DYNAMO_LIST_BACKUPS:
        return answer_read_backups(answer, read, root);
    case DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS:
        return answer_read_description(answer, root, "ContinuousBackupsDescription",
                                       "ContinuousBackupsStatus");
    case DYNAMO_DESCRIBE_STREAM:
        return answer_read_stream(answer, read, root);
    case DYNAMO_GET_SHARD_ITERATOR:
        return answer_read_iterator(answer, root, "ShardIterator") && json_present(answer->resume);
    case DYNAMO_GET_RECORDS:
        return answer_read_changes(answer, root);
    case DYNAMO_LIST_EXPORTS:
        return answer_read_exports(answer, read, root);
    }
    return false;
}

static bool answer_add_capacity(struct answer *answer, struct json consumed)
{
    double units;
    struct json told = json_member(consumed, "CapacityUnits");
    if (!json_present(told))
        return true;
    if (!json_read_double(told, &units) || units < 0)
        return false;
    answer->capacity = units + (answer->capacity >= 0 ? answer->capacity : 0);
    return true;
}

/* One object; for a batch or a transaction an array with one for each table. False if a number is
 * invalid. */
static bool answer_read_capacity(struct answer *answer, struct json root)
{
    struct json consumed = json_member(root, "ConsumedCapacity");
    if (!json_is(consumed, JSON_ARRAY))
        return answer_add_capacity(answer, consumed);
    for (struct json each = json_first(consumed); json_present(each); each = json_next(each))
        if (!answer_add_capacity(answer, each))
            return false;
    return true;
}

/* A search consumes bytes, and no RCU. False if the number is invalid. */
static bool answer_read_search_bytes(struct answer *answer, struct json root)
{
    struct json bytes =
        json_member(json_member(root, "ConsumedCapacity"), "VectorSearchRequestBytes");
    answer->capacity = 0;
    return !json_present(bytes) ||
           (json_read_double(bytes, &answer->search_bytes) && answer->search_bytes >= 0);
}

/* DynamoDB's own content type: the JSON of another server may look like an empty response. */
static bool answer_is_dynamos(const struct http_response *response)
{
    static const char type[] = "application/x-amz-json-1.0";
    const char *told = http_header(response, "Content-Type");
    return told && strncasecmp(told, type, sizeof type - 1) == 0 &&
           strchr("; ", told[sizeof type - 1]);
}

/* Two members of one name are refused: another reader might take the other one. */
static bool answer_members_differ(struct answer *answer, struct json root)
{
    enum { MAX_MEMBERS = 16 };
    if (json_count(root) > MAX_MEMBERS)
        return false;
    struct json name = json_first(root), value;
    for (; json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        value = json_next(name);
        bool is_text = json_read_string(name, &text);
        answer->arena.failed = answer->arena.failed || text.failed;
        if (!is_text || json_member_span(root, buf_span(&text)).at != value.at)
            return false;
    }
    return true;
}

static bool answer_read_success(struct answer *answer, const struct sent_request *sent,
                                const struct http_response *response, struct error *err)
{
    struct json root = answer_root_of(answer);
    if (!answer_is_dynamos(response) || !json_is(root, JSON_OBJECT) ||
        !answer_members_differ(answer, root) || !answer_read_content(answer, sent, root) ||
        !(sent->op == DYNAMO_SEARCH_VECTORS ? answer_read_search_bytes(answer, root)
                                            : answer_read_capacity(answer, root)))
        return answer->arena.failed ? error_no_memory(err)
                                    : refusal_set_foreign(sent, response, err);
    answer->read_count = answer_read_count_of(answer, root);
    return answer->arena.failed ? error_no_memory(err) : true;
}

static bool answer_read_response(struct answer *answer, const struct sent_request *sent,
                                 const struct http_response *response, struct error *err)
{
    if (!answer_check_sum(response, err) || !answer_take_body(answer, sent, response, err))
        return false;
    if (response->status == 200 && sent->arrived)
        sent->arrived(sent->arrived_arg, buf_span(&answer->body));
    if (!answer_parse(answer, sent, response, err))
        return false;
    if (response->status == 200)
        return answer_read_success(answer, sent, response, err);
    return refusal_read(sent, response, answer_root_of(answer), err);
}

/* Parses RESPONSE as far as that has not been done yet. */
static double answer_stated_in(struct answer *answer, const struct http_response *response,
                               size_t most)
{
    const char *encoding = http_header(response, "Content-Encoding");
    bool is_taken = answer->body.size > 0, is_gzip = encoding && !strcasecmp(encoding, "gzip");
    struct json_fault fault = {0};
    if (!is_taken && is_gzip && gzip_inflate(response->body, most, &answer->body) != GZIP_WHOLE)
        return -1;
    if (!is_taken && !is_gzip && response->body.size <= most)
        buf_add_span(&answer->body, response->body);
    if (answer->doc.count == 0 &&
        !json_parse_within(&answer->doc, buf_span(&answer->body), MOST_VALUES, &fault)) {
        json_clean_up(&answer->doc);
        answer->doc = (struct json_doc){0};
    }
    answer->capacity = -1;
    return answer_read_capacity(answer, answer_root_of(answer)) ? answer->capacity : -1;
}

double answer_stated(const struct http_response *response, size_t most)
{
    struct answer answer = {0};
    double units = answer_stated_in(&answer, response, most);
    json_clean_up(&answer.doc);
    buf_clean_up_secret(&answer.body);
    return units;
}

static void answer_release(struct page_owner *owner)
{
    answer_destroy((struct answer *)owner);
}

struct answer *answer_new(const struct sent_request *sent, const struct http_response *response,
                          double *stated, struct error *err)
{
    struct answer *answer = calloc(1, sizeof *answer);
    if (stated)
        *stated = -1;
    if (!answer) {
        error_no_memory(err);
        err->http_status = response->status; /* it may have consumed units */
        return NULL;
    }
    answer->owner.release = answer_release;
    answer->took_ms = response->elapsed_ms;
    if (!retry_read_skew(response, 0, &answer->date_ms)) /* the skew of 1970 is the time */
        answer->date_ms = 0;
    answer->capacity = -1;
    answer->search_bytes = -1;
    aws_fault_read_request_id(response, answer->request_id);
    if (answer_read_response(answer, sent, response, err)) {
        answer->owner.bytes = sizeof *answer + answer->body.capacity + json_memory(&answer->doc) +
                              arena_memory(&answer->arena);
        return answer;
    }
    err->http_status = response->status;
    memcpy(err->request_id, answer->request_id, sizeof err->request_id);
    if (stated)
        *stated = answer_stated_in(answer, response, answer_limit(sent));
    answer_destroy(answer);
    return NULL;
}
