/* Requests to STS, and its responses. */
#include "core/aws/sts.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/aws/arn.h"
#include "core/aws/aws_fault.h"
#include "core/aws/endpoint.h"
#include "core/aws/url.h"
#include "core/base/instant.h"

struct aws_client sts_client(const struct credentials_context *context,
                             struct credentials_provider *signers)
{
    struct aws_client client = token_call_client(context);
    client.credentials = signers;
    return client;
}

/* Requests. */

static void sts_add(struct buf *form, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(form, "&%s=", name);
    aws_url_encode(form, span_text(value));
}

static struct token_call *sts_send(struct aws_client *client, const struct aws_settings *settings,
                                   const struct buf *form, const char *web_identity,
                                   token_call_fn *fn, void *arg, struct error *err)
{
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    struct token_call *call = NULL;
    if (!aws_endpoint_init(&endpoint, settings, AWS_STS, NULL, NULL, err))
        return NULL;
    struct token_request request = {
        .name = "STS",
        .endpoint = &endpoint,
        .method = "POST",
        .path = "",
        .query = "",
        .content_type = "application/x-www-form-urlencoded; charset=utf-8",
        .accept = "application/json",
        .service = web_identity ? NULL : "sts",
        .secret_value = web_identity,
        .body = buf_span(form),
        .is_open = true,
        .timeout_ms = TOKEN_CALL_MS,
    };
    if (!form->failed)
        call = token_call_start(client, &request, fn, arg);
    if (!call)
        error_no_memory(err);
    return call;
}

struct token_call *sts_assume_role(struct aws_client *client, const struct aws_settings *settings,
                                   const struct sts_role *role, token_call_fn *fn, void *arg,
                                   struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf form = {0};
    buf_printf(&form, "Action=%s&Version=2011-06-15",
               role->web_identity ? "AssumeRoleWithWebIdentity" : "AssumeRole");
    sts_add(&form, "RoleArn", role->arn);
    sts_add(&form, "RoleSessionName", role->session_name);
    sts_add(&form, "ExternalId", role->external_id);
    sts_add(&form, "DurationSeconds", role->duration_seconds);
    sts_add(&form, "SerialNumber", role->mfa_serial);
    sts_add(&form, "TokenCode", role->mfa_code);
    sts_add(&form, "WebIdentityToken", role->web_identity);
    return sts_send(client, settings, &form, role->web_identity, fn, arg, err);
}

struct token_call *sts_get_caller_identity(struct aws_client *client,
                                           const struct aws_settings *settings, token_call_fn *fn,
                                           void *arg, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf form = {0};
    buf_add_text(&form, "Action=GetCallerIdentity&Version=2011-06-15");
    return sts_send(client, settings, &form, NULL, fn, arg, err);
}

/* Responses. */

/* The word of MEMBER in RESULT; NULL for none, and when memory ran out. */
static const char *sts_find_word(const struct document *response, const char *result,
                                 const char *member)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s.%s", result, member);
    return document_word(response, buf_text(&path));
}

bool sts_read_role(const struct document *response, const char *arn, bool by_web_identity,
                   int64_t wall_ms, struct credentials *out, struct error *err)
{
    const char *result = by_web_identity
                             ? "AssumeRoleWithWebIdentityResponse.AssumeRoleWithWebIdentityResult"
                             : "AssumeRoleResponse.AssumeRoleResult";
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct instant expires;
    int64_t seconds;
    /* A number of seconds since 1970, as STS has it, or a text, as services that imitate it have.
     */
    buf_printf(&path, "%s.Credentials.Expiration", result);
    if (document_number(response, buf_text(&path), &seconds))
        expires = seconds > 0 && seconds < INT64_MAX / 1000
                      ? (struct instant){.ms = seconds * 1000, .known = true}
                      : (struct instant){0};
    else
        expires = instant_parse(span_text(document_text(response, buf_text(&path))));
    const char *id = sts_find_word(response, result, "Credentials.AccessKeyId");
    const char *secret = sts_find_word(response, result, "Credentials.SecretAccessKey");
    const char *token = sts_find_word(response, result, "Credentials.SessionToken");
    struct span account =
        arn_account(span_text(sts_find_word(response, result, "AssumedRoleUser.Arn")));
    if (account.size == 0)
        account = arn_account(span_text(arn));
    if (!id || !secret || !token || !expires.known)
        return error_set(err, ERROR_BAD_ANSWER,
                         "the response of STS lacks a usable AccessKeyId, SecretAccessKey, "
                         "SessionToken or Expiration");
    if (expires.ms <= wall_ms)
        return error_set(err, ERROR_EXPIRED,
                         "STS sent credentials that have expired already; check this machine's "
                         "clock");
    out->expires_wall_ms = expires.ms;
    return credentials_fill(out, span_text(id), span_text(secret), span_text(token), account,
                            NULL) ||
           error_no_memory(err);
}

bool sts_read_identity(const struct document *response, struct sts_identity *out, struct error *err)
{
    static const char result[] = "GetCallerIdentityResponse.GetCallerIdentityResult";
    *out = (struct sts_identity){
        .account = sts_find_word(response, result, "Account"),
        .arn = sts_find_word(response, result, "Arn"),
        .user_id = sts_find_word(response, result, "UserId"),
    };
    return (out->account && out->arn && out->user_id) ||
           error_set(err, ERROR_BAD_ANSWER,
                     "the response of STS lacks a printable Account, Arn or UserId");
}

bool sts_fault_of_identity(const struct error *why, const char *method, const char *origin,
                           const char *profile, struct error *err)
{
    struct aws_fault fault = {.status = why->http_status};
    char mark[80];
    memcpy(fault.code, why->code, sizeof fault.code);
    /* The sentence without its code, which the new text has in another place. */
    snprintf(mark, sizeof mark, " (%s, HTTP", why->code);
    const char *end = strstr(why->text, mark);
    snprintf(fault.sentence, sizeof fault.sentence, "%.*s",
             (int)(end ? end - why->text : (long)strlen(why->text)), why->text);
    return aws_fault_of_identity(&fault, method, origin, profile, err);
}
