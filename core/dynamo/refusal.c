#include "core/dynamo/refusal.h"

#include <string.h>

#include "core/aws/arn.h"
#include "core/aws/aws_fault.h"
#include "core/aws/retry.h"
#include "core/base/buf.h"
#include "core/base/printable.h"
#include "core/json/writer.h"

/* The word of SENTENCE behind MARK; empty if MARK does not occur. */
static struct span refusal_word_behind(const char *sentence, const char *mark)
{
    const char *at = strstr(sentence, mark);
    return at ? span_of(at + strlen(mark), strcspn(at + strlen(mark), " ,;\"\\")) : span_text("");
}

/* Appends the policy statement that allows a denied request: with the action and the resource (also
 * a key of KMS) that the service names, or else with those of the request. */
static void refusal_write_statement(const struct sent_request *sent, const char *sentence,
                                    struct buf *out)
{
    bool is_of_account = dynamo_op_is_of_account(sent->op);
    struct span action = refusal_word_behind(sentence, "is not authorized to perform: ");
    struct span resource = refusal_word_behind(sentence, " on resource: ");
    CLEAN_UP(buf_clean_up) struct buf arn = {0}, own = {0};
    struct json_writer json = json_writer_to(out);
    arn_write(&arn, sent->region, NULL, is_of_account ? NULL : sent->read->table,
              sent->read->index);
    if (dynamo_op_is_of_streams(sent->op))
        buf_add_text(&arn, "/stream/*");
    buf_printf(&own, "dynamodb:%s", dynamo_op_name(sent->op));
    json_writer_begin_object(&json, NULL, JSON_SPACED);
    json_writer_add_text(&json, "Effect", "Allow");
    json_writer_add_string(&json, "Action", action.size ? action : buf_span(&own));
    json_writer_add_string(&json, "Resource",
                           resource.size && !is_of_account ? resource : buf_span(&arn));
    json_writer_end(&json);
}

/* Appends the advice for a known identity without permission. The service names the kind of policy
 * that lacks the permission, if it is not the identity's own. */
static void refusal_add_grant(const struct sent_request *sent, const char *sentence,
                              struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf statement = {0};
    static const char because[] = "because no ", allows[] = " allows";
    const char *from = strstr(sentence, because);
    const char *to = from ? strstr(from, allows) : NULL;
    refusal_write_statement(sent, sentence, &statement);
    if (strstr(sentence, "explicit deny")) {
        error_add(err, "; remove that deny: no other statement overrides it");
    } else if (to) {
        from += strlen(because);
        error_add(err, "; add to its %.*s: %s; ddbfs policy prints all that the map needs",
                  (int)(to - from), from, buf_text(&statement));
    } else {
        error_add(err, "; add to its policy: %s; ddbfs policy prints all that the map needs",
                  buf_text(&statement));
    }
}

static bool refusal_set_other(const struct sent_request *sent, const struct aws_fault *fault,
                              struct error *err)
{
    const char *table = sent->op == DYNAMO_LIST_TABLES ? "" : sent->read->table;
    if (retry_is_throttle(fault->code))
        return error_set(err, ERROR_THROTTLED,
                         "%s is throttled: %s (%s); try again later, or more slowly",
                         table[0] ? table : dynamo_op_name(sent->op), fault->sentence, fault->code);
    if (fault->status >= 500 || retry_is_transient(fault->code))
        return error_set(err, ERROR_SERVICE,
                         "the service failed (HTTP %d): %s (%s); try again later", fault->status,
                         fault->sentence, fault->code);
    if (strcmp(fault->code, "UnknownOperationException") == 0)
        return error_set(err, ERROR_INVALID,
                         "%s does not know %s (%s): local servers often lack operations; use "
                         "another endpoint",
                         sent->endpoint, dynamo_op_name(sent->op), fault->code);
    return error_set(err, ERROR_INVALID,
                     "the service refuses this %s%s%s: %s (%s); compare the map with the table: "
                     "ddbfs check",
                     dynamo_op_name(sent->op), table[0] ? " of " : "", table, fault->sentence,
                     fault->code);
}

/* Whether the service refuses a search because the index is not ready: it is built, or the search
 * endpoint does not have it yet, which happens for a short time after it became ACTIVE. */
static bool refusal_set_unready(const struct sent_request *sent, const struct aws_fault *fault,
                                struct error *err)
{
    bool is_built = strstr(fault->sentence, "backfilling");
    if (strcmp(fault->code, "ValidationException") != 0 ||
        (!is_built && !strstr(fault->sentence, "does not have the specified index")))
        return false;
    error_set(err, ERROR_NO_TABLE,
              "the vector index %s of table %s is not ready for searches: %s (%s); %s",
              sent->read->index, sent->read->table, fault->sentence, fault->code,
              is_built ? "wait until DescribeTable shows it as ACTIVE and not as Backfilling"
                       : "if it was created a short time ago, try again in a minute; else compare "
                         "its name with DescribeTable");
    return true;
}

/* Places in a stream end: iterators after 15 minutes, changes after 24 hours. */
static bool refusal_is_of_stream(const struct aws_fault *fault)
{
    return strcmp(fault->code, "ResourceNotFoundException") == 0 ||
           strcmp(fault->code, "ExpiredIteratorException") == 0 ||
           strcmp(fault->code, "TrimmedDataAccessException") == 0;
}

static bool refusal_set_fault(const struct sent_request *sent, const struct aws_fault *fault,
                              struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf needs = {0};
    if (sent->op == DYNAMO_SEARCH_VECTORS && refusal_set_unready(sent, fault, err))
        return false;
    if (dynamo_op_is_of_streams(sent->op) && refusal_is_of_stream(fault))
        return error_set(err, ERROR_NO_STREAM,
                         "the stream of table %s in %s has no such shard or place, or does not "
                         "exist any more (%s: %s); follow it again from now",
                         sent->read->table, sent->region, fault->code, fault->sentence);
    if (strcmp(fault->code, "ResourceNotFoundException") == 0)
        return error_set(err, ERROR_NO_TABLE,
                         "table %s does not exist in %s (endpoint %s); check its name (of a map's "
                         "table: the environment's prefix), profile and region",
                         sent->read->table, sent->region, sent->endpoint);
    if (strcmp(fault->code, "ValidationException") == 0 &&
        strstr(fault->sentence, "does not have the specified index"))
        return error_set(err, ERROR_NO_TABLE,
                         "table %s has no index %s in %s (endpoint %s); check the index's name in "
                         "the map, and the environment's prefix, profile and region",
                         sent->read->table, sent->read->index ? sent->read->index : "of that name",
                         sent->region, sent->endpoint);
    if (aws_fault_of_identity(fault, sent->method, sent->origin, sent->profile, err))
        return false;
    buf_printf(&needs, "dynamodb:%s on %s%s in %s", dynamo_op_name(sent->op),
               dynamo_op_is_of_account(sent->op) ? "all tables" : sent->read->table,
               sent->read->index                   ? " and its indexes"
               : dynamo_op_is_of_streams(sent->op) ? "'s streams"
                                                   : "",
               sent->region);
    if (!aws_fault_of_permission(fault, buf_text(&needs), err))
        return refusal_set_other(sent, fault, err);
    if (err->authenticated)
        refusal_add_grant(sent, fault->sentence, err);
    return false;
}

/* A status of 500 or more may come from a load balancer, while the service behind it is down. */
bool refusal_set_foreign(const struct sent_request *sent, const struct http_response *response,
                         struct error *err)
{
    char type[80];
    const char *stated = http_header(response, "Content-Type");
    const char *empty = response->body.size ? "" : "empty, ";
    printable_copy(type, sizeof type, span_text(stated ? stated : "of no content type"), "");
    if (response->status >= 500)
        return error_set(err, ERROR_SERVICE,
                         "the service failed (HTTP %d, %s%s); try again later, or check that %s is "
                         "an endpoint of DynamoDB",
                         response->status, empty, type, sent->endpoint);
    return error_set(err, ERROR_BAD_ANSWER,
                     "the response is not DynamoDB's (HTTP %d, %s%s); check that %s is an endpoint "
                     "of DynamoDB",
                     response->status, empty, type, sent->endpoint);
}

bool refusal_read(const struct sent_request *sent, const struct http_response *response,
                  struct json root, struct error *err)
{
    struct aws_fault fault;
    aws_fault_read(&fault, response, root);
    if (!fault.code[0])
        return refusal_set_foreign(sent, response, err);
    refusal_set_fault(sent, &fault, err);
    memcpy(err->code, fault.code, sizeof err->code);
    return false;
}
