/* Codes, sentences and advice of failed requests. */
#include "core/dynamo/fault.h"

#include <stdio.h>
#include <string.h>

#include "core/dynamo/retry.h"

/* What is said of one refusal. */
struct fault {
    const struct answer_question *question;
    char code[64];
    char sentence[320]; /* the service's own, cut where a secret could stand */
    int status;
};

/* Copies what is printable; anything from a peer may end in a terminal. */
static void copy_printable(char *out, size_t size, struct span text)
{
    size_t used = 0;
    for (size_t i = 0; i < text.size && used + 1 < size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        out[used++] = c < ' ' || c == 0x7f ? '?' : text.data[i];
    }
    out[used] = '\0';
}

void fault_request_id(const struct http_response *response, char out[64])
{
    copy_printable(out, 64, span_text(http_header(response, "x-amzn-requestid")));
}

/* What stands between a namespace and a URL: "ns#Code:http://…". */
static struct span bare_code(struct span text)
{
    const char *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    if (colon)
        text.size = (size_t)(colon - text.data);
    const char *hash = text.size ? memrchr(text.data, '#', text.size) : NULL;
    return hash ? span_from(text, (size_t)(hash - text.data) + 1) : text;
}

static void read_code(struct fault *fault, const struct http_response *response, struct json root)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const char *header = http_header(response, "X-Amzn-Errortype");
    if (header)
        buf_add_text(&text, header);
    else if (!json_read_string(json_member(root, "__type"), &text))
        json_read_string(json_member(root, "code"), &text);
    copy_printable(fault->code, sizeof fault->code, bare_code(buf_span(&text)));
}

/* Where the sentence must end. Refusals of a signature go on with the canonical request, and
 * so with the session token; others quote the Authorization header. */
static struct span without_secrets(struct span text)
{
    const char *line = text.size ? memchr(text.data, '\n', text.size) : NULL;
    if (line)
        text.size = (size_t)(line - text.data);
    static const char *const marks[] = {"Authorization=", "security-token:"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *mark = text.size ? memmem(text.data, text.size, marks[i], strlen(marks[i])) : 0;
        if (mark)
            text.size = (size_t)(mark - text.data);
    }
    while (text.size && strchr(". ", text.data[text.size - 1]))
        text.size--;
    return text;
}

static void read_sentence(struct fault *fault, struct json root)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!json_read_string(json_member(root, "message"), &text) &&
        !json_read_string(json_member(root, "Message"), &text))
        buf_add_text(&text, "the service says no more");
    copy_printable(fault->sentence, sizeof fault->sentence, without_secrets(buf_span(&text)));
    if (!fault->sentence[0])
        snprintf(fault->sentence, sizeof fault->sentence, "the service says no more");
}

static bool is_one_of(const char *code, const char *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(code, codes[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(code, codes) is_one_of((code), (codes), sizeof(codes) / sizeof(codes)[0])

static const char *const signature_codes[] = {
    "InvalidSignatureException",    "InvalidSignature",
    "SignatureDoesNotMatch",        "IncompleteSignature",
    "IncompleteSignatureException", "RequestTimeTooSkewed",
    "RequestInTheFuture",           "AuthFailure",
};

static const char *const unknown_key_codes[] = {
    "UnrecognizedClientException",
    "InvalidClientTokenId",
    "InvalidAccessKeyId",
};

static const char *const missing_token_codes[] = {
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
};

static const char *const denied_codes[] = {
    "AccessDenied",           "AccessDeniedException", "NotAuthorized",
    "NotAuthorizedException", "UnauthorizedOperation",
};

static const char *const expired_codes[] = {
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpired",
};

bool fault_may_be_clock(const char *code)
{
    static const char *const denials[] = {"AccessDenied", "AccessDeniedException",
                                          "RequestExpired"};
    return IS_ONE_OF(code, signature_codes) || IS_ONE_OF(code, denials);
}

bool fault_may_be_credentials(const char *code)
{
    return IS_ONE_OF(code, expired_codes) || IS_ONE_OF(code, unknown_key_codes);
}

static bool set_missing_table(const struct fault *fault, struct error *err)
{
    const struct answer_question *q = fault->question;
    return error_set(err, ERROR_NO_TABLE,
                     "table %s does not exist in %s (asked at %s); check the environment's prefix, "
                     "profile and region",
                     q->read->table, q->region, q->endpoint);
}

static bool set_missing_index(const struct fault *fault, struct error *err)
{
    const struct answer_question *q = fault->question;
    return error_set(err, ERROR_NO_TABLE,
                     "table %s has no index %s in %s (asked at %s); check the index's name in the "
                     "map, and the environment's prefix, profile and region",
                     q->read->table, q->read->index ? q->read->index : "of that name", q->region,
                     q->endpoint);
}

static bool set_expired(const struct fault *fault, struct error *err)
{
    const char *profile = fault->question->profile;
    return error_set(err, ERROR_EXPIRED,
                     "the session has expired: %s (%s); sign in again, as with: aws sso login%s%s",
                     fault->sentence, fault->code, profile ? " --profile " : "",
                     profile ? profile : "");
}

static bool set_denied(const struct fault *fault, const char *advice, struct error *err)
{
    return error_set(err, ERROR_DENIED, "%s (%s); %s", fault->sentence,
                     fault->code[0] ? fault->code : "no code", advice);
}

static bool set_access_denied(const struct fault *fault, struct error *err)
{
    char advice[320];
    const struct answer_question *q = fault->question;
    snprintf(advice, sizeof advice, "the identity in use needs dynamodb:%s on %s%s in %s",
             dynamo_op_name(q->op), q->op == DYNAMO_LIST_TABLES ? "all tables" : q->read->table,
             q->read->index ? " and its indexes" : "", q->region);
    return set_denied(fault, advice, err);
}

static bool set_identity_fault(const struct fault *fault, struct error *err)
{
    if (IS_ONE_OF(fault->code, signature_codes))
        return set_denied(fault, "check the secret access key and this machine's clock", err);
    if (IS_ONE_OF(fault->code, unknown_key_codes))
        return set_denied(fault,
                          "the access key or its session token is not valid here: check the "
                          "profile's credentials and the region",
                          err);
    return set_denied(fault, "the request carried no credentials: is a proxy dropping headers?",
                      err);
}

static bool is_identity_fault(const struct fault *fault)
{
    return IS_ONE_OF(fault->code, signature_codes) || IS_ONE_OF(fault->code, unknown_key_codes) ||
           IS_ONE_OF(fault->code, missing_token_codes);
}

static bool is_access_denied(const struct fault *fault)
{
    return IS_ONE_OF(fault->code, denied_codes) || fault->status == 401 || fault->status == 403;
}

static bool is_missing_index(const struct fault *fault)
{
    return strcmp(fault->code, "ValidationException") == 0 &&
           strstr(fault->sentence, "does not have the specified index");
}

static bool set_refused(const struct fault *fault, struct error *err)
{
    const struct answer_question *q = fault->question;
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

static bool set_fault(const struct fault *fault, struct error *err)
{
    if (strcmp(fault->code, "ResourceNotFoundException") == 0)
        return set_missing_table(fault, err);
    if (is_missing_index(fault))
        return set_missing_index(fault, err);
    if (IS_ONE_OF(fault->code, expired_codes))
        return set_expired(fault, err);
    if (is_identity_fault(fault))
        return set_identity_fault(fault, err);
    if (!retry_is_throttle(fault->code) && is_access_denied(fault))
        return set_access_denied(fault, err);
    return set_refused(fault, err);
}

bool fault_foreign(const struct answer_question *question, const struct http_response *response,
                   struct error *err)
{
    char type[80];
    const char *told = http_header(response, "Content-Type");
    copy_printable(type, sizeof type, span_text(told ? told : "of no content type"));
    return error_set(err, ERROR_BAD_ANSWER,
                     "the answer is not DynamoDB's (HTTP %d, %s%s); is %s an endpoint of DynamoDB?",
                     response->status, response->body.size ? "" : "empty, ", type,
                     question->endpoint);
}

bool fault_read(const struct answer_question *question, const struct http_response *response,
                struct json root, struct error *err)
{
    struct fault fault = {.question = question, .status = response->status};
    read_code(&fault, response, root);
    if (!fault.code[0])
        return fault_foreign(question, response, err);
    read_sentence(&fault, root);
    set_fault(&fault, err);
    memcpy(err->code, fault.code, sizeof err->code);
    return false;
}
