#include "tests/sim/sim_service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <zlib.h>

#include "tests/sim/sim_actors.h"
#include "tests/sim/sim_bill.h"
#include "tests/sim/sim_identity.h"
#include "tests/sim/sim_lies.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_log.h"
#include "tests/sim/sim_sigv4.h"
#include "tests/sim/sim_streams.h"
#include "tests/sim/sim_tables.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

/* The operations that the program may send: they only read. */

enum sim_endpoint { SIM_AT_TABLES, SIM_AT_STREAMS, SIM_AT_SEARCH };

struct sim_operation {
    const char *name;
    enum sim_endpoint at;
    const char *const *members; /* of a request; ends in NULL */
};

#define SIM_MEMBERS(...)                                                                           \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const struct sim_operation operations[] = {
    {"GetItem", SIM_AT_TABLES,
     SIM_MEMBERS("TableName", "Key", "ConsistentRead", "ProjectionExpression",
                 "ExpressionAttributeNames", "ReturnConsumedCapacity")},
    {"BatchGetItem", SIM_AT_TABLES, SIM_MEMBERS("RequestItems", "ReturnConsumedCapacity")},
    {"Query", SIM_AT_TABLES,
     SIM_MEMBERS("TableName", "IndexName", "Select", "Limit", "ConsistentRead",
                 "KeyConditionExpression", "FilterExpression", "ProjectionExpression",
                 "ExpressionAttributeNames", "ExpressionAttributeValues", "ScanIndexForward",
                 "ExclusiveStartKey", "ReturnConsumedCapacity")},
    {"Scan", SIM_AT_TABLES,
     SIM_MEMBERS("TableName", "IndexName", "Select", "Limit", "ConsistentRead", "FilterExpression",
                 "ProjectionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
                 "Segment", "TotalSegments", "ExclusiveStartKey", "ReturnConsumedCapacity")},
    {"TransactGetItems", SIM_AT_TABLES, SIM_MEMBERS("TransactItems", "ReturnConsumedCapacity")},
    {"DescribeTable", SIM_AT_TABLES, SIM_MEMBERS("TableName")},
    {"ListTables", SIM_AT_TABLES, SIM_MEMBERS("ExclusiveStartTableName", "Limit")},
    {"DescribeTimeToLive", SIM_AT_TABLES, SIM_MEMBERS("TableName")},
    {"DescribeContinuousBackups", SIM_AT_TABLES, SIM_MEMBERS("TableName")},
    {"ListBackups", SIM_AT_TABLES,
     SIM_MEMBERS("TableName", "Limit", "TimeRangeLowerBound", "TimeRangeUpperBound",
                 "ExclusiveStartBackupArn", "BackupType")},
    {"ListExports", SIM_AT_TABLES, SIM_MEMBERS("TableArn", "MaxResults", "NextToken")},
    {"DescribeStream", SIM_AT_STREAMS,
     SIM_MEMBERS("StreamArn", "Limit", "ExclusiveStartShardId", "ShardFilter")},
    {"GetShardIterator", SIM_AT_STREAMS,
     SIM_MEMBERS("StreamArn", "ShardId", "ShardIteratorType", "SequenceNumber")},
    {"GetRecords", SIM_AT_STREAMS, SIM_MEMBERS("ShardIterator", "Limit")},
    {"SearchVectors", SIM_AT_SEARCH,
     SIM_MEMBERS("TableName", "IndexName", "SearchVector", "TopK", "SearchConditionExpression",
                 "ProjectionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
                 "ReturnConsumedCapacity")},
};

/* One request while it is processed. */
struct sim_service {
    const struct sim_request *request;
    const struct sim_operation *operation;
    struct sim_dice dice;
    const struct sim_credentials *keys; /* that signed it */
    struct sim_json body;
    char subject[300]; /* of the story: the operation and its table */
    const char *code;  /* of a refusal; static; "" of none */
    struct sim_answer *out;
};

/* Responses. */

static void sim_service_add_header(struct sim_answer *out, char *line)
{
    out->headers = sim_grow(out->headers, (out->header_count + 1) * sizeof *out->headers);
    out->headers[out->header_count++] = line;
}

static char *sim_service_date(void)
{
    char date[64];
    time_t seconds = (time_t)(sim_service_wall_ms() / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(date, sizeof date, "Date: %a, %d %b %Y %H:%M:%S GMT", &parts);
    return sim_copy(date);
}

/* Replaces the body by its gzip form. */
static void sim_service_compress(struct sim_answer *out)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        sim_broken("zlib does not start");
    size_t room = deflateBound(&stream, out->size);
    char *packed = sim_alloc(room);
    stream.next_in = (Bytef *)out->body;
    stream.avail_in = (uInt)out->size;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        sim_broken("zlib does not compress");
    sim_free(out->body);
    out->body = packed;
    out->size = stream.total_out;
    deflateEnd(&stream);
}

/* The first table that the request names; NULL without one. */
static const struct sim_table *sim_service_table(const struct sim_service *service)
{
    const char *name = sim_json_text(&service->body, "TableName");
    const struct sim_json *items = sim_json_get(&service->body, "RequestItems");
    if (!name && items && items->kind == SIM_JSON_OBJECT && items->count > 0)
        name = items->names[0];
    return name ? sim_tables_find(name) : NULL;
}

static void sim_service_add_request_id(struct sim_service *service)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    char id[53] = "";
    for (size_t i = 0; i < sizeof id - 1; i++)
        id[i] = letters[sim_dice_below(&service->dice, sizeof letters - 1)];
    const char *name =
        sim_dice_chance(&service->dice, 500) ? "x-amzn-RequestId" : "X-Amzn-RequestId";
    sim_service_add_header(service->out, sim_printf("%s: %s", name, id));
    const struct sim_table *table = sim_service_table(service);
    sim_log_note_response(id, service->operation->name, table ? table->name : "", service->code);
}

/* Completes the response of DynamoDB itself; the body is in place. */
static void sim_service_seal(struct sim_service *service, int status)
{
    struct sim_answer *out = service->out;
    const char *accepts = sim_request_header(service->request, "accept-encoding");
    out->status = status;
    sim_service_add_header(out, sim_copy("Server: Server"));
    sim_service_add_header(out, sim_service_date());
    sim_service_add_header(out, sim_copy("Content-Type: application/x-amz-json-1.0"));
    if (accepts && strstr(accepts, "gzip") && out->size > 256 &&
        sim_dice_chance(&service->dice, 250)) {
        sim_service_compress(out);
        sim_service_add_header(out, sim_copy("Content-Encoding: gzip"));
    }
    sim_service_add_header(out, sim_printf("Content-Length: %zu", out->size));
    sim_service_add_header(out, sim_copy("Connection: keep-alive"));
    sim_service_add_request_id(service);
    unsigned long sum = crc32(0, (const Bytef *)out->body, (uInt)out->size);
    sim_service_add_header(out, sim_printf("x-amz-crc32: %lu", sum));
}

static void sim_service_set_body(struct sim_service *service, struct sim_text *body)
{
    service->out->body = body->bytes ? body->bytes : sim_copy("");
    service->out->size = body->size;
    *body = (struct sim_text){0};
}

/* The service's refusals have a name space, or none; a header has the code in some of them. MORE:
 * further members, with a comma in front. */
static void sim_service_refuse(struct sim_service *service, int status, const char *space,
                               const char *code, const char *message, const char *more)
{
    struct sim_text body = {0};
    service->code = code;
    bool has_space = sim_dice_chance(&service->dice, 800);
    bool has_header = sim_dice_chance(&service->dice, 300);
    bool has_type = !has_header || sim_dice_chance(&service->dice, 500);
    sim_text_puts(&body, "{");
    if (has_type)
        sim_text_printf(&body, "\"__type\":\"%s%s%s\",", has_space ? space : "",
                        has_space ? "#" : "", code);
    sim_text_puts(&body, sim_dice_chance(&service->dice, 700) ? "\"message\":" : "\"Message\":");
    sim_text_json_string(&body, message, strlen(message));
    sim_text_puts(&body, more);
    sim_text_puts(&body, "}");
    sim_service_set_body(service, &body);
    if (has_header) {
        const char *ending = sim_dice_chance(&service->dice, 300)
                                 ? ":http://internal.amazon.com/coral/com.amazon.coral.service/"
                                 : "";
        const char *name =
            sim_dice_chance(&service->dice, 500) ? "X-Amzn-ErrorType" : "x-amzn-errortype";
        sim_service_add_header(service->out, sim_printf("%s: %s%s", name, code, ending));
    }
    sim_service_seal(service, status);
    sim_books_refuse();
    sim_tell("service", "%s: HTTP %d %s", service->subject, status, code);
}

/* A load balancer in front of the service has a response of its own. */
static void sim_service_refuse_in_front(struct sim_service *service, int status, const char *html)
{
    struct sim_answer *out = service->out;
    out->status = status;
    out->body = sim_copy(html);
    out->size = strlen(html);
    sim_service_add_header(out, sim_service_date());
    if (sim_dice_chance(&service->dice, 800))
        sim_service_add_header(out, sim_copy("Content-Type: text/html"));
    sim_service_add_header(out, sim_printf("Content-Length: %zu", out->size));
    sim_books_refuse();
    sim_tell("service", "%s: HTTP %d of a load balancer", service->subject, status);
}

static void sim_service_blame(struct sim_service *service, enum sim_fault fault, int error,
                              bool is_final)
{
    service->out->fault = fault;
    service->out->error = error;
    service->out->is_final = is_final;
}

/* Faults before a request is processed. */

#define SIM_CORAL "com.amazon.coral.service"
#define SIM_AVAILABILITY "com.amazon.coral.availability"
#define SIM_DYNAMO "com.amazonaws.dynamodb.v20120810"

static void sim_service_demand_delay(struct sim_service *service)
{
    if (!sim_dice_chance(&service->dice, 100))
        return;
    service->out->retry_after_ms = sim_dice_between(&service->dice, 0, 2000);
    sim_service_add_header(service->out, sim_printf("x-amz-retry-after: %lld",
                                                    (long long)service->out->retry_after_ms));
}

static bool sim_service_fail(struct sim_service *service)
{
    static const int statuses[] = {500, 500, 500, 502, 503, 503, 504};
    if (!sim_causes_strike_at(SIM_FAULT_SERVER_ERROR, service->request->number, service->subject))
        return false;
    int status = statuses[sim_dice_below(&service->dice, sizeof statuses / sizeof statuses[0])];
    sim_service_demand_delay(service);
    if (status == 500)
        sim_service_refuse(service, status, SIM_DYNAMO, "InternalServerError",
                           "The request processing has failed because of an unknown error, "
                           "exception or failure.",
                           "");
    else if (status == 503 && sim_dice_chance(&service->dice, 500))
        sim_service_refuse(service, status, SIM_AVAILABILITY, "ServiceUnavailableException",
                           "Service is temporarily unavailable.", "");
    else
        sim_service_refuse_in_front(service, status,
                                    sim_dice_chance(&service->dice, 300)
                                        ? ""
                                        : "<html><body><h1>Service Unavailable</h1></body></html>");
    sim_service_blame(service, SIM_FAULT_SERVER_ERROR, EIO, false);
    return true;
}

/* Writes the reasons of a throttle as a member. */
static void sim_service_add_reasons(struct sim_service *service, const char *member,
                                    struct sim_text *out)
{
    static const char *const limits[] = {"ProvisionedThroughputExceeded",
                                         "KeyRangeThroughputExceeded", "AccountLimitExceeded",
                                         "MaxOnDemandThroughputExceeded"};
    const struct sim_table *table = sim_service_table(service);
    const char *index = sim_json_text(&service->body, "IndexName");
    uint32_t count = 1 + sim_dice_below(&service->dice, 2);
    if (!table || sim_dice_chance(&service->dice, 200))
        return;
    sim_text_printf(out, ",\"%s\":[", member);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t limit = (sim_dice_below(&service->dice, 2) * 2 + i) % 4;
        sim_text_printf(out, "%s{\"reason\":\"%sRead%s\",\"resource\":\"", i ? "," : "",
                        index ? "Index" : "Table", limits[limit]);
        sim_tables_write_arn(out, table);
        if (index)
            sim_text_printf(out, "/index/%s", index);
        sim_text_puts(out, "\"}");
    }
    sim_text_puts(out, "]");
}

static bool sim_service_throttle(struct sim_service *service)
{
    struct sim_text more = {0};
    if (!sim_causes_strike_at(SIM_FAULT_THROTTLE, service->request->number, service->subject))
        return false;
    sim_service_demand_delay(service);
    uint32_t kind = sim_dice_below(&service->dice, 4);
    bool is_data = sim_service_table(service) && service->operation->at == SIM_AT_TABLES &&
                   strncmp(service->operation->name, "Describe", 8) != 0;
    if (service->operation->at == SIM_AT_STREAMS) {
        sim_service_refuse(service, 400, SIM_DYNAMO, "LimitExceededException",
                           "Rate exceeded for shard reads.", "");
    } else if (is_data && kind < 2) {
        sim_service_add_reasons(service, "ThrottlingReasons", &more);
        sim_service_refuse(
            service, 400, SIM_DYNAMO, "ProvisionedThroughputExceededException",
            "The level of configured provisioned throughput for the table was exceeded. "
            "Consider increasing your provisioning level with the UpdateTable API.",
            more.bytes ? more.bytes : "");
    } else if (is_data && kind == 2) {
        sim_service_refuse(service, 400, SIM_DYNAMO, "RequestLimitExceeded",
                           "Throughput exceeds the current throughput limit for your account. "
                           "Please contact AWS Support.",
                           "");
    } else {
        if (is_data)
            sim_service_add_reasons(service, "throttlingReasons", &more);
        sim_service_refuse(service, 400, SIM_AVAILABILITY, "ThrottlingException",
                           "Rate of requests exceeds the allowed throughput.",
                           more.bytes ? more.bytes : "");
    }
    sim_text_free(&more);
    sim_service_blame(service, SIM_FAULT_THROTTLE, EAGAIN, false);
    return true;
}

/* A session's token expires, at its time or early; a key is deactivated. */
static bool sim_service_expire(struct sim_service *service)
{
    bool has_ended = service->keys->until_ms <= sim_now_ms();
    bool is_session = service->keys->session_token;
    if (has_ended)
        sim_causes_note(SIM_FAULT_EXPIRED, service->subject);
    else if (!sim_causes_strike_at(SIM_FAULT_EXPIRED, service->request->number, service->subject))
        return false;
    sim_service_refuse(service, 400, SIM_CORAL,
                       is_session ? "ExpiredTokenException" : "UnrecognizedClientException",
                       is_session ? "The security token included in the request is expired"
                                  : "The security token included in the request is invalid.",
                       "");
    sim_service_blame(service, SIM_FAULT_EXPIRED, is_session ? EKEYEXPIRED : EACCES, false);
    return true;
}

static bool sim_service_deny(struct sim_service *service)
{
    if (!sim_causes_strike_at(SIM_FAULT_DENIED, service->request->number, service->subject))
        return false;
    bool is_explicit = sim_dice_chance(&service->dice, 300);
    char *message = sim_printf(
        "User: arn:aws:iam::" SIM_ACCOUNT ":user/reader is not authorized to perform: dynamodb:%s "
        "on resource: arn:aws:dynamodb:" SIM_REGION ":" SIM_ACCOUNT ":table/%s %s",
        service->operation->name,
        sim_service_table(service) ? sim_service_table(service)->name : "*",
        is_explicit ? "with an explicit deny in an identity-based policy"
                    : "because no identity-based policy allows the action");
    sim_service_refuse(service, 400, SIM_CORAL, "AccessDeniedException", message, "");
    sim_free(message);
    sim_service_blame(service, SIM_FAULT_DENIED, EACCES, true);
    return true;
}

/* Checks. */

static const struct sim_operation *sim_service_find_operation(const char *target,
                                                              enum sim_endpoint at)
{
    static const char tables[] = "DynamoDB_20120810.", streams[] = "DynamoDBStreams_20120810.";
    const char *prefix = at == SIM_AT_STREAMS ? streams : tables;
    if (strncmp(target, prefix, strlen(prefix)) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].name, target + strlen(prefix)) == 0 && operations[i].at == at)
            return &operations[i];
    return NULL;
}

/* The service at HOST; false: none. Hosts with the account are used when the caller KNOWS it. */
static bool sim_service_find_host(const char *host, bool knows, enum sim_endpoint *at)
{
    static const struct {
        const char *host;
        enum sim_endpoint at;
        bool has_account;
    } hosts[] = {
        {"dynamodb." SIM_REGION ".amazonaws.com", SIM_AT_TABLES, false},
        {SIM_ACCOUNT ".ddb." SIM_REGION ".amazonaws.com", SIM_AT_TABLES, true},
        {"streams.dynamodb." SIM_REGION ".amazonaws.com", SIM_AT_STREAMS, false},
        {"search-dynamodb." SIM_REGION ".amazonaws.com", SIM_AT_SEARCH, false},
        {SIM_ACCOUNT ".search-ddb." SIM_REGION ".amazonaws.com", SIM_AT_SEARCH, true},
    };
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        if (strcmp(host, hosts[i].host) == 0) {
            *at = hosts[i].at;
            return *at == SIM_AT_STREAMS || hosts[i].has_account == knows;
        }
    return false;
}

static _Noreturn void sim_service_defect(const struct sim_service *service, const char *why)
{
    const struct sim_request *request = service->request;
    sim_defect("service", "%s: %s %s, target %s, body %s", why, request->method, request->url,
               request->target, request->body);
}

static void sim_service_check_envelope(struct sim_service *service)
{
    const struct sim_request *request = service->request;
    const char *type = sim_request_header(request, "content-type");
    const char *host = sim_request_header(request, "host");
    char url[300];
    enum sim_endpoint at;
    snprintf(url, sizeof url, "https://%s/", request->host);
    if (strcmp(request->method, "POST") != 0)
        sim_service_defect(service, "a request is no POST");
    if (strcmp(request->url, url) != 0 || !host || strcmp(host, request->host) != 0)
        sim_service_defect(service, "the URL and the Host header differ, or the path is not /");
    service->keys = sim_identity_of(request);
    if (!service->keys)
        sim_service_defect(service, "the request is signed with no keys of this life");
    if (!sim_service_find_host(request->host, service->keys->account_id, &at))
        sim_service_defect(service, "no service of AWS that the program may call has this host");
    if (!type || strcmp(type, "application/x-amz-json-1.0") != 0)
        sim_service_defect(service, "the content type is wrong");
    service->operation = sim_service_find_operation(request->target, at);
    if (!service->operation)
        sim_service_defect(service, "the operation is not one that only reads, or not of the host");
    for (size_t i = 0; i < request->header_count; i++)
        for (size_t k = i + 1; k < request->header_count; k++)
            if (strncasecmp(request->headers[i], request->headers[k],
                            strcspn(request->headers[i], ":") + 1) == 0)
                sim_service_defect(service, "a header is sent twice");
}

static void sim_service_check_body(struct sim_service *service)
{
    const struct sim_request *request = service->request;
    if (!sim_json_parse(&service->body, request->body, request->size) ||
        service->body.kind != SIM_JSON_OBJECT)
        sim_service_defect(service, "the body is no JSON object (SerializationException)");
    for (size_t i = 0; i < service->body.count; i++) {
        const char *const *member = service->operation->members;
        while (*member && strcmp(*member, service->body.names[i]) != 0)
            member++;
        if (!*member)
            sim_service_defect(service, "the request has an unknown member");
    }
}

static void sim_service_name_subject(struct sim_service *service)
{
    const struct sim_table *table = sim_service_table(service);
    const char *index = sim_json_text(&service->body, "IndexName");
    snprintf(service->subject, sizeof service->subject, "%s%s%s%s%s", service->operation->name,
             table ? " " : "", table ? table->name : "", index ? "/" : "", index ? index : "");
}

/* A wrong date is a fault of the life if the machine's clock was ever wrong: the program may still
 * correct it, up to a day. "The response's Date differs from the time of the signature"
 * (docs/internals/aws-call.md): the clock may have been set since. Any other wrong signature is a
 * defect. */
static bool sim_service_check_signature(struct sim_service *service)
{
    const int64_t most_ms = INT64_C(24) * 3600 * 1000 - 60 * 1000;
    int64_t skew_ms = service->request->skew_ms;
    struct sim_signature signature =
        sim_sigv4_check(service->request, "/", service->keys, SIM_REGION, sim_service_wall_ms());
    if (!signature.code)
        return true;
    if (!signature.is_of_clock || !sim_causes_had(SIM_FAULT_SKEW))
        sim_service_defect(service, signature.message);
    sim_causes_note(SIM_FAULT_SKEW, service->subject);
    sim_service_refuse(service, 400, SIM_CORAL, signature.code, signature.message, "");
    sim_service_blame(service, SIM_FAULT_SKEW, EACCES, skew_ms > most_ms || skew_ms < -most_ms);
    sim_free(signature.message);
    return false;
}

/* Answers. */

/* Whether items of indexes may change between their query and the read of their contents. */
static bool sim_service_has_quick_writers(void)
{
    struct sim_dice dice = sim_dice_for("quick writers", 0);
    /* A replay does not know what was written while it was recorded. */
    return !sim_life_options()->is_replay && sim_dice_chance(&dice, 300);
}

static struct sim_mood sim_service_mood(struct sim_service *service, struct sim_dice *dice)
{
    const char *name = service->operation->name;
    bool is_page =
        strcmp(name, "Query") == 0 || strcmp(name, "Scan") == 0 || strncmp(name, "List", 4) == 0;
    bool is_batch = strcmp(name, "BatchGetItem") == 0;
    struct sim_mood mood = {
        .dice = dice,
        .may_scan = sim_life_options()->allow_scan,
        .describe_more = sim_vectors_describe,
    };
    if (is_page &&
        sim_causes_strike_at(SIM_FAULT_SHORT_PAGE, service->request->number, service->subject))
        mood.cut_after = (size_t)sim_dice_between(dice, 1, 6);
    else if (is_page && sim_life_cuts_pages())
        mood.cut_after = (size_t)sim_dice_between(dice, 2, 5);
    if (is_page &&
        sim_causes_strike_at(SIM_FAULT_EMPTY_PAGE, service->request->number, service->subject))
        mood.is_empty = true;
    if (is_batch &&
        sim_causes_strike_at(SIM_FAULT_UNPROCESSED, service->request->number, service->subject))
        mood.unprocessed = (size_t)sim_dice_between(dice, 1, 20);
    if (is_page && sim_service_has_quick_writers() && sim_dice_chance(dice, 150))
        mood.was_read = sim_history_write_read;
    return mood;
}

static bool sim_service_is_of_streams(const struct sim_outcome *outcome)
{
    return strcmp(outcome->code, "ExpiredIteratorException") == 0 ||
           strcmp(outcome->code, "TrimmedDataAccessException") == 0;
}

/* A refusal by right: the table does not exist, the iterator is too old. */
static void sim_service_refuse_by_right(struct sim_service *service, struct sim_outcome *outcome)
{
    if (outcome->is_wrong)
        sim_defect("service", "the service refuses a request (%s: %s): target %s, body %s",
                   outcome->code, outcome->message, service->request->target,
                   service->request->body);
    if (sim_service_is_of_streams(outcome))
        sim_causes_note(SIM_FAULT_STREAM, outcome->code);
    service->code = outcome->code;
    sim_service_set_body(service, &outcome->body);
    sim_service_seal(service, 400);
    sim_books_refuse();
    sim_tell("service", "%s: HTTP 400 %s: %s", service->subject, outcome->code, outcome->message);
}

/* The response may be untrue: then it is EBADMSG, and no retry helps. The program may book what it
 * states, or the most that it can have consumed. */
static void sim_service_lie(struct sim_service *service, struct sim_outcome *outcome)
{
    struct sim_dice dice = sim_dice_for("lie", service->request->number);
    if (!sim_causes_is_under(SIM_FAULT_LIE) ||
        !sim_causes_strike_at(SIM_FAULT_LIE, service->request->number, service->subject) ||
        !sim_lies_tell(service->operation->name, &service->body, &dice, &outcome->body))
        return;
    service->out->fault = SIM_FAULT_LIE;
    service->out->error = EBADMSG;
    service->out->is_final = true;
    sim_service_note_lost(service->out);
}

static void sim_service_execute(struct sim_service *service)
{
    struct sim_outcome outcome = {0};
    uint64_t search_bytes = 0;
    struct sim_dice dice = sim_dice_for("mood", service->request->number);
    const char *name = service->operation->name;
    if (service->operation->at == SIM_AT_SEARCH) {
        sim_vectors_answer(&service->body, &dice, &outcome, &search_bytes);
    } else if (service->operation->at == SIM_AT_STREAMS) {
        sim_streams_answer(name, &service->body, &dice, &outcome);
    } else {
        struct sim_mood mood = sim_service_mood(service, &dice);
        if (!sim_tables_answer(name, &service->body, &mood, &outcome))
            sim_broken("the simulated tables do not know %s", name);
    }
    if (outcome.code) {
        sim_service_refuse_by_right(service, &outcome);
    } else {
        service->out->bill = sim_books_charge(&outcome, search_bytes);
        sim_service_lie(service, &outcome);
        sim_digest(outcome.body.bytes, outcome.body.size);
        sim_tell("service", "%s: %zu items, %llu half units", service->subject, outcome.items,
                 (unsigned long long)outcome.half_units);
        sim_service_set_body(service, &outcome.body);
        sim_service_seal(service, 200);
    }
    sim_outcome_clean_up(&outcome);
}

void sim_service_answer(const struct sim_request *request, struct sim_answer *out)
{
    *out = (struct sim_answer){.fault = SIM_FAULTS, .operation = ""};
    struct sim_service service = {.request = request,
                                  .dice = sim_dice_for("answer", request->number),
                                  .code = "",
                                  .out = out};
    sim_service_check_envelope(&service);
    out->operation = service.operation->name;
    sim_service_check_body(&service);
    sim_service_name_subject(&service);
    sim_tell("service", "gets %s %.400s", service.operation->name, request->body);
    sim_sharing_note_request(service.operation->name, request->body);
    bool is_refused = sim_service_fail(&service) || !sim_service_check_signature(&service) ||
                      sim_service_expire(&service) || sim_service_deny(&service) ||
                      sim_service_throttle(&service);
    if (!is_refused)
        sim_service_execute(&service);
    sim_json_free(&service.body);
}

void sim_answer_free(struct sim_answer *answer)
{
    for (size_t i = 0; i < answer->header_count; i++)
        sim_free(answer->headers[i]);
    sim_free(answer->headers);
    sim_free(answer->body);
    sim_free(answer->bill);
    *answer = (struct sim_answer){.fault = SIM_FAULTS, .operation = ""};
}
