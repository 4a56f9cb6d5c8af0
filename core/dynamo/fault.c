/* Codes, sentences and advice of DynamoDB's refusals. */
#include "core/dynamo/fault.h"

#include <stdio.h>
#include <string.h>

#include "core/aws/fault.h"
#include "core/aws/retry.h"
#include "core/base/printable.h"

static bool set_missing_table(const struct answer_question *q, struct error *err)
{
    return error_set(err, ERROR_NO_TABLE,
                     "table %s does not exist in %s (asked at %s); check the environment's prefix, "
                     "profile and region",
                     q->read->table, q->region, q->endpoint);
}

static bool set_missing_index(const struct answer_question *q, struct error *err)
{
    return error_set(err, ERROR_NO_TABLE,
                     "table %s has no index %s in %s (asked at %s); check the index's name in the "
                     "map, and the environment's prefix, profile and region",
                     q->read->table, q->read->index ? q->read->index : "of that name", q->region,
                     q->endpoint);
}

static bool is_missing_index(const struct aws_fault *fault)
{
    return strcmp(fault->code, "ValidationException") == 0 &&
           strstr(fault->sentence, "does not have the specified index");
}

/* What an access policy has to grant for the question. */
static void write_needs(const struct answer_question *q, char *out, size_t size)
{
    snprintf(out, size, "dynamodb:%s on %s%s in %s", dynamo_op_name(q->op),
             q->op == DYNAMO_LIST_TABLES ? "all tables" : q->read->table,
             q->read->index ? " and its indexes" : "", q->region);
}

static bool set_refused(const struct answer_question *q, const struct aws_fault *fault,
                        struct error *err)
{
    const char *table = q->op == DYNAMO_LIST_TABLES ? "" : q->read->table;
    if (retry_is_throttle(fault->code))
        return error_set(err, ERROR_THROTTLED,
                         "%s is throttled: %s (%s); try again later, or more slowly",
                         table[0] ? table : dynamo_op_name(q->op), fault->sentence, fault->code);
    if (fault->status >= 500 || retry_is_transient(fault->code))
        return error_set(err, ERROR_SERVICE, "the service failed (HTTP %d): %s (%s)", fault->status,
                         fault->sentence, fault->code);
    return error_set(err, ERROR_INVALID, "the service refuses this %s%s%s: %s (%s)",
                     dynamo_op_name(q->op), table[0] ? " of " : "", table, fault->sentence,
                     fault->code);
}

static bool set_fault(const struct answer_question *q, const struct aws_fault *fault,
                      struct error *err)
{
    char needs[320];
    if (strcmp(fault->code, "ResourceNotFoundException") == 0)
        return set_missing_table(q, err);
    if (is_missing_index(fault))
        return set_missing_index(q, err);
    write_needs(q, needs, sizeof needs);
    if (aws_fault_of_identity(fault, q->profile, err) || aws_fault_of_permission(fault, needs, err))
        return false;
    return set_refused(q, fault, err);
}

bool fault_foreign(const struct answer_question *question, const struct http_response *response,
                   struct error *err)
{
    char type[80];
    const char *told = http_header(response, "Content-Type");
    printable_copy(type, sizeof type, span_text(told ? told : "of no content type"), "");
    return error_set(err, ERROR_BAD_ANSWER,
                     "the answer is not DynamoDB's (HTTP %d, %s%s); is %s an endpoint of DynamoDB?",
                     response->status, response->body.size ? "" : "empty, ", type,
                     question->endpoint);
}

bool fault_read(const struct answer_question *question, const struct http_response *response,
                struct json root, struct error *err)
{
    struct aws_fault fault;
    aws_fault_read(&fault, response, root);
    if (!fault.code[0])
        return fault_foreign(question, response, err);
    set_fault(question, &fault, err);
    memcpy(err->code, fault.code, sizeof err->code);
    return false;
}
