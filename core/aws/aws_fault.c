/* Codes and sentences of refusals, and advice for those that concern the identity. */
#include "core/aws/aws_fault.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/aws/retry.h"
#include "core/aws/sign_in.h"
#include "core/base/buf.h"
#include "core/base/printable.h"

void aws_fault_read_request_id(const struct http_response *response, char out[64])
{
    const char *id = http_header(response, "x-amzn-requestid");
    printable_copy(out, 64, span_text(id ? id : http_header(response, "x-amz-request-id")),
                   PRINTABLE_WORD);
}

void aws_fault_copy_sentence(char *out, size_t size, struct span text)
{
    static const char *const marks[] = {"\n",
                                        "Authorization=",
                                        "Authorization:",
                                        "X-Amz-Security-Token",
                                        "security-token",
                                        "Canonical String",
                                        "Canonical Request",
                                        "String-to-Sign"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t mark = strlen(marks[i]);
        for (size_t at = 0; at + mark <= text.size; at++)
            if (strncasecmp(text.data + at, marks[i], mark) == 0)
                text.size = at;
    }
    while (text.size && strchr(". ", text.data[text.size - 1]))
        text.size--;
    printable_copy(out, size, text, "");
    if (!out[0])
        snprintf(out, size, "no reason from the service");
}

void aws_fault_read(struct aws_fault *fault, const struct http_response *response, struct json root)
{
    CLEAN_UP(buf_clean_up) struct buf code = {0}, sentence = {0};
    const char *header = http_header(response, "X-Amzn-Errortype");
    *fault = (struct aws_fault){.status = response->status};
    if (header)
        buf_add_text(&code, header);
    else if (!json_read_string(json_member(root, "__type"), &code))
        json_read_string(json_member(root, "code"), &code);
    /* The code is between a namespace and a URL: "ns#Code:http://…". */
    struct span word = buf_span(&code);
    const char *colon = word.size ? memchr(word.data, ':', word.size) : NULL;
    if (colon)
        word.size = (size_t)(colon - word.data);
    const char *hash = word.size ? memrchr(word.data, '#', word.size) : NULL;
    if (hash)
        word = span_from(word, (size_t)(hash - word.data) + 1);
    printable_copy(fault->code, sizeof fault->code, word, PRINTABLE_WORD);
    if (!json_read_string(json_member(root, "message"), &sentence) &&
        !json_read_string(json_member(root, "Message"), &sentence))
        buf_truncate(&sentence, 0);
    aws_fault_copy_sentence(fault->sentence, sizeof fault->sentence, buf_span(&sentence));
}

static bool aws_fault_has_code(const char *code, const char *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(code, codes[i]) == 0)
            return true;
    return false;
}

#define HAS_CODE(code, codes) aws_fault_has_code((code), (codes), sizeof(codes) / sizeof(codes)[0])

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

/* The codes that the AWS SDKs take for a wrong clock. */
bool aws_fault_may_be_clock(const char *code)
{
    static const char *const clock_codes[] = {"AuthFailure",          "InvalidSignatureException",
                                              "RequestExpired",       "RequestInTheFuture",
                                              "RequestTimeTooSkewed", "SignatureDoesNotMatch"};
    return HAS_CODE(code, clock_codes);
}

/* A signature may be refused because the secret was corrected since, under the same key id. */
bool aws_fault_may_be_credentials(const char *code)
{
    return HAS_CODE(code, expired_codes) || HAS_CODE(code, unknown_key_codes) ||
           HAS_CODE(code, signature_codes);
}

static bool aws_fault_deny(const struct aws_fault *fault, const char *advice, struct error *err)
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
    if (HAS_CODE(fault->code, expired_codes)) {
        sign_in_write_advice(&advice, method, profile);
        error_set(err, ERROR_EXPIRED, "the session has expired: %s (%s); %s", fault->sentence,
                  fault->code, buf_text(&advice));
        return true;
    }
    /* The service's own words if the signature is for another region. */
    if (HAS_CODE(fault->code, signature_codes) && strstr(fault->sentence, "valid region"))
        return aws_fault_deny(fault, "check the region (--region, AWS_REGION, the profile's)", err);
    if (HAS_CODE(fault->code, signature_codes)) {
        buf_printf(&advice,
                   "check the secret access key and this machine's clock; the key is from %s",
                   from);
        return aws_fault_deny(fault, buf_text(&advice), err);
    }
    if (HAS_CODE(fault->code, unknown_key_codes)) {
        buf_printf(
            &advice,
            "the access key or its session token is not valid here: check %s, and the region",
            from);
        return aws_fault_deny(fault, buf_text(&advice), err);
    }
    return HAS_CODE(fault->code, missing_token_codes) &&
           aws_fault_deny(fault,
                          "the request arrived without credentials; check that no proxy drops "
                          "headers",
                          err);
}

bool aws_fault_of_permission(const struct aws_fault *fault, const char *needs, struct error *err)
{
    char advice[640];
    bool is_denied = HAS_CODE(fault->code, denied_codes);
    bool refused = is_denied || fault->status == 401 || fault->status == 403;
    if (retry_is_throttle(fault->code) || !refused)
        return false;
    snprintf(advice, sizeof advice, "the identity in use needs %s", needs);
    aws_fault_deny(fault, advice, err);
    if (err)
        err->authenticated = is_denied; /* a proxy responds with 403 as well */
    return true;
}
