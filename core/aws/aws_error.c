/* Codes and sentences of refusals, and what to say of those about identity. */
#include "core/aws/aws_error.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/aws/retry.h"
#include "core/aws/sign_in.h"
#include "core/base/buf.h"
#include "core/base/printable.h"

void aws_request_id(const struct http_response *response, char out[64])
{
    const char *id = http_header(response, "x-amzn-requestid");
    printable_copy(out, 64, span_text(id ? id : http_header(response, "x-amz-request-id")),
                   PRINTABLE_WORD);
}

/* What stands between a namespace and a URL: "ns#Code:http://…". */
static struct span aws_error_bare_code(struct span text)
{
    const char *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    if (colon)
        text.size = (size_t)(colon - text.data);
    const char *hash = text.size ? memrchr(text.data, '#', text.size) : NULL;
    return hash ? span_from(text, (size_t)(hash - text.data) + 1) : text;
}

static void aws_error_read_code(struct aws_fault *fault, const struct http_response *response,
                                struct json root)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const char *header = http_header(response, "X-Amzn-Errortype");
    if (header)
        buf_add_text(&text, header);
    else if (!json_read_string(json_member(root, "__type"), &text))
        json_read_string(json_member(root, "code"), &text);
    printable_copy(fault->code, sizeof fault->code, aws_error_bare_code(buf_span(&text)),
                   PRINTABLE_WORD);
}

/* Case does not count. The size of TEXT when MARK is not in it. */
static size_t aws_error_find_mark(struct span text, const char *mark)
{
    size_t size = strlen(mark);
    for (size_t at = 0; at + size <= text.size; at++)
        if (strncasecmp(text.data + at, mark, size) == 0)
            return at;
    return text.size;
}

void aws_fault_copy_sentence(char *out, size_t size, struct span told)
{
    static const char *const marks[] = {"\n",
                                        "Authorization=",
                                        "Authorization:",
                                        "X-Amz-Security-Token",
                                        "security-token",
                                        "Canonical String",
                                        "Canonical Request",
                                        "String-to-Sign"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        told.size = aws_error_find_mark(told, marks[i]);
    while (told.size && strchr(". ", told.data[told.size - 1]))
        told.size--;
    printable_copy(out, size, told, "");
    if (!out[0])
        snprintf(out, size, "the service says no more");
}

static void aws_error_read_sentence(struct aws_fault *fault, struct json root)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!json_read_string(json_member(root, "message"), &text) &&
        !json_read_string(json_member(root, "Message"), &text))
        buf_truncate(&text, 0);
    aws_fault_copy_sentence(fault->sentence, sizeof fault->sentence, buf_span(&text));
}

void aws_fault_read(struct aws_fault *fault, const struct http_response *response, struct json root)
{
    *fault = (struct aws_fault){.status = response->status};
    aws_error_read_code(fault, response, root);
    aws_error_read_sentence(fault, root);
}

static bool aws_error_is_one_of(const char *code, const char *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(code, codes[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(code, codes)                                                                     \
    aws_error_is_one_of((code), (codes), sizeof(codes) / sizeof(codes)[0])

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

bool aws_fault_may_be_clock(const char *code)
{
    static const char *const denials[] = {"AccessDenied", "AccessDeniedException",
                                          "RequestExpired"};
    return IS_ONE_OF(code, signature_codes) || IS_ONE_OF(code, denials);
}

/* A signature that is refused may come of a secret that was mended since, under the same key id. */
bool aws_fault_may_be_credentials(const char *code)
{
    return IS_ONE_OF(code, expired_codes) || IS_ONE_OF(code, unknown_key_codes) ||
           IS_ONE_OF(code, signature_codes);
}

static bool aws_error_set_denied(const struct aws_fault *fault, const char *advice,
                                 struct error *err)
{
    error_set(err, ERROR_DENIED, "%s (%s); %s", fault->sentence,
              fault->code[0] ? fault->code : "no code", advice);
    return true;
}

bool aws_fault_of_identity(const struct aws_fault *fault, const char *method, const char *origin,
                           const char *profile, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf advice = {0};
    const char *from = origin && *origin ? origin : "the profile's credentials";
    if (IS_ONE_OF(fault->code, expired_codes)) {
        sign_in_write_advice(&advice, method, profile);
        error_set(err, ERROR_EXPIRED, "the session has expired: %s (%s); %s", fault->sentence,
                  fault->code, buf_text(&advice));
        return true;
    }
    /* The service's own words, when the region that signs is not the one that is asked. */
    if (IS_ONE_OF(fault->code, signature_codes) && strstr(fault->sentence, "valid region"))
        return aws_error_set_denied(fault, "check the region (--region, AWS_REGION, the profile's)",
                                    err);
    if (IS_ONE_OF(fault->code, signature_codes)) {
        buf_printf(&advice,
                   "check the secret access key and this machine's clock; the key is from %s",
                   from);
        return aws_error_set_denied(fault, buf_text(&advice), err);
    }
    if (IS_ONE_OF(fault->code, unknown_key_codes)) {
        buf_printf(
            &advice,
            "the access key or its session token is not valid here: check %s, and the region",
            from);
        return aws_error_set_denied(fault, buf_text(&advice), err);
    }
    return IS_ONE_OF(fault->code, missing_token_codes) &&
           aws_error_set_denied(
               fault, "the request carried no credentials: is a proxy dropping headers?", err);
}

bool aws_fault_of_permission(const struct aws_fault *fault, const char *needs, struct error *err)
{
    char advice[640];
    bool refused = fault->status == 401 || fault->status == 403;
    if (retry_is_throttle(fault->code) || !(refused || IS_ONE_OF(fault->code, denied_codes)))
        return false;
    snprintf(advice, sizeof advice, "the identity in use needs %s", needs);
    aws_error_set_denied(fault, advice, err);
    if (err)
        err->authenticated = IS_ONE_OF(fault->code, denied_codes); /* a proxy says 403 as well */
    return true;
}
