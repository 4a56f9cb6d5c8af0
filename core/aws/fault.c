/* Codes and sentences of refusals, and what to say of those about identity. */
#include "core/aws/fault.h"

#include <stdio.h>
#include <string.h>

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
static struct span bare_code(struct span text)
{
    const char *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    if (colon)
        text.size = (size_t)(colon - text.data);
    const char *hash = text.size ? memrchr(text.data, '#', text.size) : NULL;
    return hash ? span_from(text, (size_t)(hash - text.data) + 1) : text;
}

static void read_code(struct aws_fault *fault, const struct http_response *response,
                      struct json root)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const char *header = http_header(response, "X-Amzn-Errortype");
    if (header)
        buf_add_text(&text, header);
    else if (!json_read_string(json_member(root, "__type"), &text))
        json_read_string(json_member(root, "code"), &text);
    printable_copy(fault->code, sizeof fault->code, bare_code(buf_span(&text)), PRINTABLE_WORD);
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

static void read_sentence(struct aws_fault *fault, struct json root)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!json_read_string(json_member(root, "message"), &text) &&
        !json_read_string(json_member(root, "Message"), &text))
        buf_add_text(&text, "the service says no more");
    printable_copy(fault->sentence, sizeof fault->sentence, without_secrets(buf_span(&text)), "");
    if (!fault->sentence[0])
        snprintf(fault->sentence, sizeof fault->sentence, "the service says no more");
}

void aws_fault_read(struct aws_fault *fault, const struct http_response *response, struct json root)
{
    *fault = (struct aws_fault){.status = response->status};
    read_code(fault, response, root);
    read_sentence(fault, root);
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

static bool set_denied(const struct aws_fault *fault, const char *advice, struct error *err)
{
    error_set(err, ERROR_DENIED, "%s (%s); %s", fault->sentence,
              fault->code[0] ? fault->code : "no code", advice);
    return true;
}

bool aws_fault_of_identity(const struct aws_fault *fault, const char *method, const char *profile,
                           struct error *err)
{
    if (IS_ONE_OF(fault->code, expired_codes)) {
        CLEAN_UP(buf_clean_up) struct buf advice = {0};
        sign_in_write_advice(&advice, method, profile);
        error_set(err, ERROR_EXPIRED, "the session has expired: %s (%s); %s", fault->sentence,
                  fault->code, buf_text(&advice));
        return true;
    }
    /* The service's own words, when the region that signs is not the one that is asked. */
    if (IS_ONE_OF(fault->code, signature_codes) && strstr(fault->sentence, "valid region"))
        return set_denied(fault, "check the region (--region, AWS_REGION, the profile's)", err);
    if (IS_ONE_OF(fault->code, signature_codes))
        return set_denied(fault, "check the secret access key and this machine's clock", err);
    if (IS_ONE_OF(fault->code, unknown_key_codes))
        return set_denied(fault,
                          "the access key or its session token is not valid here: check the "
                          "profile's credentials and the region",
                          err);
    return IS_ONE_OF(fault->code, missing_token_codes) &&
           set_denied(fault, "the request carried no credentials: is a proxy dropping headers?",
                      err);
}

bool aws_fault_of_permission(const struct aws_fault *fault, const char *needs, struct error *err)
{
    char advice[640];
    bool refused = fault->status == 401 || fault->status == 403;
    if (retry_is_throttle(fault->code) || !(refused || IS_ONE_OF(fault->code, denied_codes)))
        return false;
    snprintf(advice, sizeof advice, "the identity in use needs %s", needs);
    set_denied(fault, advice, err);
    if (err)
        err->authenticated = IS_ONE_OF(fault->code, denied_codes); /* a proxy says 403 as well */
    return true;
}
