/* Codes, sentences and advice of DynamoDB's refusals. */
#include "core/dynamo/refusal.h"

#include <string.h>

#include "core/aws/arn.h"
#include "core/aws/aws_fault.h"
#include "core/aws/retry.h"
#include "core/base/buf.h"
#include "core/base/printable.h"

static bool refusal_set_missing_table(const struct answer_question *q, struct error *err)
{
    return error_set(err, ERROR_NO_TABLE,
                     "table %s does not exist in %s (asked at %s); check its name (of a map's "
                     "table: the environment's prefix), profile and region",
                     q->read->table, q->region, q->endpoint);
}

static bool refusal_set_missing_index(const struct answer_question *q, struct error *err)
{
    return error_set(err, ERROR_NO_TABLE,
                     "table %s has no index %s in %s (asked at %s); check the index's name in the "
                     "map, and the environment's prefix, profile and region",
                     q->read->table, q->read->index ? q->read->index : "of that name", q->region,
                     q->endpoint);
}

static bool refusal_is_missing_index(const struct aws_fault *fault)
{
    return strcmp(fault->code, "ValidationException") == 0 &&
           strstr(fault->sentence, "does not have the specified index");
}

/* What an access policy has to grant for the question. */
static void refusal_write_needs(const struct answer_question *q, struct buf *out)
{
    buf_printf(out, "dynamodb:%s on %s%s in %s", dynamo_op_name(q->op),
               dynamo_op_is_of_account(q->op) ? "all tables" : q->read->table,
               q->read->index ? " and its indexes" : "", q->region);
}

/* The word of SENTENCE behind MARK; empty when there is none. */
static struct span refusal_word_behind(const char *sentence, const char *mark)
{
    const char *at = strstr(sentence, mark);
    return at ? span_of(at + strlen(mark), strcspn(at + strlen(mark), " ,;\"\\")) : span_text("");
}

/* The statement that grants what was denied: as the service calls action and resource (which may be
 * a key of KMS), or else as the question does. */
static void refusal_write_statement(const struct answer_question *q, const char *sentence,
                                    struct buf *out)
{
    struct span action = refusal_word_behind(sentence, "is not authorized to perform: ");
    struct span resource = refusal_word_behind(sentence, " on resource: ");
    CLEAN_UP(buf_clean_up) struct buf arn = {0};
    arn_write(&arn, q->region, NULL, dynamo_op_is_of_account(q->op) ? NULL : q->read->table,
              q->read->index);
    buf_add_text(out, "{\"Effect\": \"Allow\", \"Action\": \"");
    if (action.size)
        buf_add_span(out, action);
    else
        buf_printf(out, "dynamodb:%s", dynamo_op_name(q->op));
    buf_add_text(out, "\", \"Resource\": \"");
    buf_add_span(out, resource.size && !dynamo_op_is_of_account(q->op) ? resource : buf_span(&arn));
    buf_add_text(out, "\"}");
}

/* What to do where the identity is known and may not do this. The service says which policy is in
 * the way, when it is not the identity's own. */
static void refusal_add_grant(const struct answer_question *q, const char *sentence,
                              struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf statement = {0};
    static const char because[] = "because no ", allows[] = " allows";
    const char *from = strstr(sentence, because);
    const char *to = from ? strstr(from, allows) : NULL;
    refusal_write_statement(q, sentence, &statement);
    if (strstr(sentence, "explicit deny")) {
        error_add(err, "; no other statement helps as long as that deny stands");
    } else if (to) {
        from += strlen(because);
        error_add(err, "; grant it in its %.*s: %s; ddbfs policy prints all that the map needs",
                  (int)(to - from), from, buf_text(&statement));
    } else {
        error_add(err, "; grant it: %s; ddbfs policy prints all that the map needs",
                  buf_text(&statement));
    }
}

static bool refusal_set_refused(const struct answer_question *q, const struct aws_fault *fault,
                                struct error *err)
{
    const char *table = q->op == DYNAMO_LIST_TABLES ? "" : q->read->table;
    if (retry_is_throttle(fault->code))
        return error_set(err, ERROR_THROTTLED,
                         "%s is throttled: %s (%s); try again later, or more slowly",
                         table[0] ? table : dynamo_op_name(q->op), fault->sentence, fault->code);
    if (fault->status >= 500 || retry_is_transient(fault->code))
        return error_set(err, ERROR_SERVICE,
                         "the service failed (HTTP %d): %s (%s); try again later", fault->status,
                         fault->sentence, fault->code);
    if (strcmp(fault->code, "UnknownOperationException") == 0)
        return error_set(err, ERROR_INVALID,
                         "%s does not know %s (%s): a local server often knows less than the "
                         "service does",
                         q->endpoint, dynamo_op_name(q->op), fault->code);
    return error_set(err, ERROR_INVALID,
                     "the service refuses this %s%s%s: %s (%s); ddbfs check tells whether the map "
                     "fits the table",
                     dynamo_op_name(q->op), table[0] ? " of " : "", table, fault->sentence,
                     fault->code);
}

static bool refusal_set_fault(const struct answer_question *q, const struct aws_fault *fault,
                              struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf needs = {0};
    if (strcmp(fault->code, "ResourceNotFoundException") == 0)
        return refusal_set_missing_table(q, err);
    if (refusal_is_missing_index(fault))
        return refusal_set_missing_index(q, err);
    if (aws_fault_of_identity(fault, q->method, q->origin, q->profile, err))
        return false;
    refusal_write_needs(q, &needs);
    if (aws_fault_of_permission(fault, buf_text(&needs), err)) {
        if (err->authenticated)
            refusal_add_grant(q, fault->sentence, err);
        return false;
    }
    return refusal_set_refused(q, fault, err);
}

bool fault_foreign(const struct answer_question *question, const struct http_response *response,
                   struct error *err)
{
    char type[80];
    const char *told = http_header(response, "Content-Type");
    const char *empty = response->body.size ? "" : "empty, ";
    printable_copy(type, sizeof type, span_text(told ? told : "of no content type"), "");
    if (response->status >= 500) /* a balancer's, while the service behind it is away */
        return error_set(err, ERROR_SERVICE,
                         "the service failed (HTTP %d, %s%s); try again later, or check that %s is "
                         "an endpoint of DynamoDB",
                         response->status, empty, type, question->endpoint);
    return error_set(err, ERROR_BAD_ANSWER,
                     "the answer is not DynamoDB's (HTTP %d, %s%s); is %s an endpoint of DynamoDB?",
                     response->status, empty, type, question->endpoint);
}

bool fault_read(const struct answer_question *question, const struct http_response *response,
                struct json root, struct error *err)
{
    struct aws_fault fault;
    aws_fault_read(&fault, response, root);
    if (!fault.code[0])
        return fault_foreign(question, response, err);
    refusal_set_fault(question, &fault, err);
    memcpy(err->code, fault.code, sizeof err->code);
    return false;
}
