#include "core/dynamo/refusal.h"

#include <string.h>

#include "core/aws/arn.h"
#include "core/aws/aws_fault.h"
#include "core/aws/retry.h"
#include "core/base/buf.h"
#include "core/base/printable.h"
#include "core/json/writer.h"

/* Reasons for which a transaction is canceled, by item. */
enum cancellation {
    CANCELLATION_NONE,
    CANCELLATION_CONFLICT,  /* another request writes the item at the same time */
    CANCELLATION_THROTTLED, /* the same request may succeed later */
    CANCELLATION_REFUSED,   /* it would fail again */
};

static enum cancellation refusal_find_cancellation(struct json code)
{
    if (!json_present(code) || json_is(code, JSON_NULL) || json_string_is(code, span_text("None")))
        return CANCELLATION_NONE;
    if (json_string_is(code, span_text(REFUSAL_CONFLICT_CODE)))
        return CANCELLATION_CONFLICT;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    return json_read_string(code, &text) && retry_is_throttle(buf_text(&text))
               ? CANCELLATION_THROTTLED
               : CANCELLATION_REFUSED;
}

/* The name of part I in a message: the user's path, or else the table and the key. */
static void refusal_write_part(const struct read *read, size_t i, struct buf *out)
{
    const struct read *part = read->parts[i];
    if (part->path) {
        buf_add_text(out, part->path);
        return;
    }
    buf_printf(out, "the item of %s with ", part->table);
    key_write_words(&part->keys[0], out);
}

/* The items that the same reason concerns, beside the first one. */
static void refusal_write_others(const struct read *read, struct json reasons, size_t first,
                                 enum cancellation kind, struct buf *out)
{
    enum { MOST_SHOWN = 8 };
    size_t i = 0, count = 0;
    for (struct json each = json_first(reasons); json_present(each); each = json_next(each), i++) {
        if (i <= first || refusal_find_cancellation(json_member(each, "Code")) != kind)
            continue;
        if (count++ < MOST_SHOWN) {
            buf_add_text(out, count == 1 ? "; likewise " : ", ");
            refusal_write_part(read, i, out);
        }
    }
    if (count > MOST_SHOWN)
        buf_printf(out, " and %zu more", count - MOST_SHOWN);
}

/* Fills ERR for the reasons of KIND; the first one is REASON, of part FIRST. */
static void refusal_set_cancellation(const struct read *read, struct json reasons, size_t first,
                                     struct json reason, enum cancellation kind, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf others = {0}, code = {0}, message = {0};
    char sentence[400];
    json_read_string(json_member(reason, "Code"), &code);
    if (!json_read_string(json_member(reason, "Message"), &message))
        buf_truncate(&message, 0);
    aws_fault_copy_sentence(sentence, sizeof sentence, buf_span(&message));
    refusal_write_others(read, reasons, first, kind, &others);
    if (kind == CANCELLATION_CONFLICT)
        error_set(err, ERROR_THROTTLED,
                  "is in conflict: another request writes this item at the same time (%s)%s; no "
                  "item was read; try again",
                  buf_text(&code), buf_text(&others));
    else if (kind == CANCELLATION_THROTTLED)
        error_set(err, ERROR_THROTTLED,
                  "is throttled: %s (%s)%s; no item was read; try again later, or name fewer items",
                  sentence, buf_text(&code), buf_text(&others));
    else
        error_set(err,
                  json_string_is(json_member(reason, "Code"), span_text("AccessDenied"))
                      ? ERROR_DENIED
                      : ERROR_INVALID,
                  "is refused: %s (%s)%s; no item was read; read it alone to see whether the map "
                  "and the permissions are right",
                  sentence, buf_text(&code), buf_text(&others));
    printable_copy(err->code, sizeof err->code, buf_span(&code), PRINTABLE_WORD);
    if (kind == CANCELLATION_THROTTLED)
        throttle_init(&err->throttles[err->throttle_count++], buf_span(&code), span_text(""));
    err->part = (unsigned)first + 1;
}

/* A server may state the reasons in its sentence only. */
static bool refusal_read_conflict(const struct aws_fault *fault, struct error *err)
{
    if (strcmp(fault->code, "TransactionCanceledException") != 0 ||
        !strstr(fault->sentence, REFUSAL_CONFLICT_CODE))
        return false;
    error_set(err, ERROR_THROTTLED,
              "one of the items is in conflict: another request writes it at the same time (%s); "
              "no item was read; try again",
              fault->sentence);
    memcpy(err->code, REFUSAL_CONFLICT_CODE, sizeof REFUSAL_CONFLICT_CODE);
    return true;
}

/* A canceled transaction has a reason for each item. The most lasting one decides. False if the
 * response states none. */
static bool refusal_read_cancellation(const struct sent_request *sent,
                                      const struct aws_fault *fault, struct json root,
                                      struct error *err)
{
    struct json reasons = json_member(root, "CancellationReasons"), reason = {0};
    enum cancellation worst = CANCELLATION_NONE;
    size_t first = 0, i = 0;
    if (sent->op != DYNAMO_TRANSACT_GET_ITEMS)
        return false;
    if (!json_is(reasons, JSON_ARRAY) || json_count(reasons) != sent->read->part_count)
        return refusal_read_conflict(fault, err);
    for (struct json each = json_first(reasons); json_present(each); each = json_next(each), i++) {
        enum cancellation kind = refusal_find_cancellation(json_member(each, "Code"));
        if (kind <= worst)
            continue;
        worst = kind;
        first = i;
        reason = each;
    }
    if (worst == CANCELLATION_NONE)
        return false;
    refusal_set_cancellation(sent->read, reasons, first, reason, worst, err);
    return true;
}

bool refusal_is_cancellation(const struct error *err)
{
    return err->part > 0 || strcmp(err->code, REFUSAL_CONFLICT_CODE) == 0;
}

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
    buf_printf(&own, "dynamodb:%s", dynamo_op_name(dynamo_op_permission(sent->op)));
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

/* Reads the reasons into ERR. ROOT is the refusal's JSON: the spelling of the member depends on the
 * kind of refusal. A refusal without reasons has its code as the reason. */
static void refusal_read_throttles(const struct aws_fault *fault, struct json root,
                                   struct error *err)
{
    struct json array = json_member(root, "ThrottlingReasons");
    if (!json_present(array))
        array = json_member(root, "throttlingReasons");
    for (struct json each = json_first(array); json_present(each); each = json_next(each)) {
        CLEAN_UP(buf_clean_up) struct buf reason = {0}, resource = {0};
        if (err->throttle_count == ERROR_MOST_THROTTLES ||
            !json_read_string(json_member(each, "reason"), &reason))
            continue;
        json_read_string(json_member(each, "resource"), &resource);
        throttle_init(&err->throttles[err->throttle_count++], buf_span(&reason),
                      buf_span(&resource));
    }
    if (err->throttle_count == 0)
        throttle_init(&err->throttles[err->throttle_count++], span_text(fault->code),
                      span_text(""));
}

/* The reasons in words take the place of the service's sentence, which names no limit. */
static bool refusal_set_throttled(const char *table, const struct sent_request *sent,
                                  const struct aws_fault *fault, struct json root,
                                  struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf why = {0}, codes = {0};
    struct error read = {0};
    const char *what = table[0] ? table : dynamo_op_name(sent->op);
    refusal_read_throttles(fault, root, &read);
    const struct throttle *first = &read.throttles[0];
    bool is_stated = strcmp(first->reason, fault->code) != 0;
    for (size_t i = 0; is_stated && i < read.throttle_count; i++) {
        buf_add_text(&why, i ? "; and " : "");
        throttle_write_words(&read.throttles[i], &why);
        buf_printf(&codes, ", %s", read.throttles[i].reason);
    }
    error_set(err, ERROR_THROTTLED, "%s is throttled: %s (%s%s); %s", what,
              is_stated ? buf_text(&why) : fault->sentence, fault->code, buf_text(&codes),
              throttle_advice(first));
    err->throttle_count = read.throttle_count;
    memcpy(err->throttles, read.throttles, sizeof err->throttles);
    return false;
}

static bool refusal_set_other(const struct sent_request *sent, const struct aws_fault *fault,
                              struct json root, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf tables = {0};
    if (sent->op != DYNAMO_LIST_TABLES)
        read_write_tables(sent->read, ", ", &tables);
    const char *table = buf_text(&tables);
    if (retry_is_throttle(fault->code))
        return refusal_set_throttled(table, sent, fault, root, err);
    if (fault->status >= 500 || retry_is_transient(fault->code))
        return error_set(err, ERROR_SERVICE,
                         "the service failed (HTTP %d): %s (%s); try again later", fault->status,
                         fault->sentence, fault->code);
    if (strcmp(fault->code, "UnknownOperationException") == 0)
        return error_set(err, ERROR_INVALID,
                         "%s does not know %s (%s): local servers often lack operations; use "
                         "another endpoint",
                         sent->endpoint, dynamo_op_name(sent->op), fault->code);
    return error_set(err, ERROR_INVALID, "the service refuses this %s%s%s: %s (%s); %s",
                     dynamo_op_name(sent->op), table[0] ? " of " : "", table, fault->sentence,
                     fault->code,
                     sent->op == DYNAMO_TRANSACT_GET_ITEMS
                         ? "one request reads at most 100 items of 4 MB together: name fewer, or "
                           "read them without --together"
                         : "compare the map with the table: ddbfs check");
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
                              struct json root, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf needs = {0}, tables = {0};
    read_write_tables(sent->read, ", ", &tables);
    bool one = strcmp(buf_text(&tables), sent->read->table) == 0;
    if (sent->op == DYNAMO_SEARCH_VECTORS && refusal_set_unready(sent, fault, err))
        return false;
    if (dynamo_op_is_of_streams(sent->op) && refusal_is_of_stream(fault))
        return error_set(err, ERROR_NO_STREAM,
                         "the stream of table %s in %s has no such shard or place, or does not "
                         "exist any more (%s: %s); follow it again from now",
                         sent->read->table, sent->region, fault->code, fault->sentence);
    if (strcmp(fault->code, "ResourceNotFoundException") == 0)
        return error_set(err, ERROR_NO_TABLE,
                         "%s %s does not exist in %s (endpoint %s); check its name (of a map's "
                         "table: the environment's prefix), profile and region",
                         one ? "table" : "one of the tables", buf_text(&tables), sent->region,
                         sent->endpoint);
    if (strcmp(fault->code, "ValidationException") == 0 &&
        strstr(fault->sentence, "does not have the specified index"))
        return error_set(err, ERROR_NO_TABLE,
                         "table %s has no index %s in %s (endpoint %s); check the index's name in "
                         "the map, and the environment's prefix, profile and region",
                         sent->read->table, sent->read->index ? sent->read->index : "of that name",
                         sent->region, sent->endpoint);
    if (aws_fault_of_identity(fault, sent->method, sent->origin, sent->profile, err))
        return false;
    buf_printf(&needs, "dynamodb:%s on %s%s in %s", dynamo_op_name(dynamo_op_permission(sent->op)),
               dynamo_op_is_of_account(sent->op) ? "all tables" : buf_text(&tables),
               sent->read->index                   ? " and its indexes"
               : dynamo_op_is_of_streams(sent->op) ? "'s streams"
                                                   : "",
               sent->region);
    if (!aws_fault_of_permission(fault, buf_text(&needs), err))
        return refusal_set_other(sent, fault, root, err);
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
    if (refusal_read_cancellation(sent, &fault, root, err))
        return false;
    refusal_set_fault(sent, &fault, root, err);
    memcpy(err->code, fault.code, sizeof err->code);
    return false;
}
