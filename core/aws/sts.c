/* Asking STS, and reading what it answers. */
#include "core/aws/sts.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/aws/arn.h"
#include "core/aws/aws_error.h"
#include "core/aws/document.h"
#include "core/aws/endpoint.h"
#include "core/aws/url.h"
#include "core/base/instant.h"

struct sts_call {
    struct loop *loop;
    struct token_call *call;
    char *role_arn;             /* owned; NULL when no role is asked for */
    bool by_web_identity;       /* whose answers are named otherwise */
    sts_role_fn *role_fn;       /* one of both */
    sts_identity_fn *whoami_fn; /* … */
    void *arg;
};

struct aws_client sts_client(const struct credentials_context *context,
                             struct credentials_provider *signers)
{
    struct aws_client client = token_call_client(context);
    client.credentials = signers;
    return client;
}

static void sts_free_call(struct sts_call *call)
{
    free(call->role_arn);
    free(call);
}

void sts_call_end(struct sts_call *call)
{
    if (!call)
        return;
    token_call_end(call->call);
    sts_free_call(call);
}

/* The question. */

static void sts_add(struct buf *form, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(form, "&%s=", name);
    aws_url_encode(form, span_text(value));
}

/* FORM follows the action's name. It is answered as CALL says, which is freed when it fails. */
static struct sts_call *sts_begin(struct sts_call *call, struct aws_client *client,
                                  const struct aws_settings *settings, const struct buf *form,
                                  const char *web_identity, token_call_fn *fn, struct error *err)
{
    CLEAN_UP(aws_endpoint_clean_up) struct aws_endpoint endpoint = {0};
    if (aws_endpoint_init(&endpoint, settings, AWS_STS, NULL, NULL, err)) {
        struct token_question question = {
            .what = "STS",
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
            .within_ms = TOKEN_CALL_MS,
        };
        if (!form->failed)
            call->call = token_call_start(client, &question, fn, call);
        if (call->call)
            return call;
        error_no_memory(err);
    }
    sts_free_call(call);
    return NULL;
}

/* Roles. */

/* NULL for none, and when memory ran out. */
static char *sts_copy_word(const struct document *answer, const char *result, const char *member)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s.%s", result, member);
    const char *text = document_word(answer, buf_text(&path));
    return text ? strdup(text) : NULL;
}

/* In seconds since 1970, as STS has it, or as a text, as others that speak its language do. 0 for
 * none. */
static struct instant sts_read_expiry(const struct document *answer, const char *result)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    int64_t seconds;
    buf_printf(&path, "%s.Credentials.Expiration", result);
    if (document_number(answer, buf_text(&path), &seconds)) {
        bool known = seconds > 0 && seconds < INT64_MAX / 1000;
        return (struct instant){.ms = known ? seconds * 1000 : 0, .known = known};
    }
    return instant_parse(span_text(document_text(answer, buf_text(&path))));
}

/* That of whom one has become; where the answer does not say, the role's. */
static char *sts_copy_account(const struct sts_call *call, const struct document *answer,
                              const char *result)
{
    char *arn = sts_copy_word(answer, result, "AssumedRoleUser.Arn");
    struct span account = arn_account(span_text(arn));
    if (account.size == 0)
        account = arn_account(span_text(call->role_arn));
    char *copy = account.size > 0 ? strndup(account.data, account.size) : NULL;
    free(arn);
    return copy;
}

static bool sts_take_role(const struct sts_call *call, const struct document *answer,
                          struct credentials *out, struct error *err)
{
    struct clock *clock = loop_clock(call->loop);
    const char *result = call->by_web_identity
                             ? "AssumeRoleWithWebIdentityResponse.AssumeRoleWithWebIdentityResult"
                             : "AssumeRoleResponse.AssumeRoleResult";
    struct instant expires = sts_read_expiry(answer, result);
    *out = (struct credentials){
        .access_key_id = sts_copy_word(answer, result, "Credentials.AccessKeyId"),
        .secret_access_key = sts_copy_word(answer, result, "Credentials.SecretAccessKey"),
        .session_token = sts_copy_word(answer, result, "Credentials.SessionToken"),
        .account_id = sts_copy_account(call, answer, result),
        .expires_wall_ms = expires.ms,
    };
    if (!out->access_key_id || !out->secret_access_key || !out->session_token || !expires.known)
        return error_set(err, ERROR_BAD_ANSWER,
                         "the answer of STS has not all of AccessKeyId, SecretAccessKey, "
                         "SessionToken and Expiration that could be used");
    return out->expires_wall_ms > clock->wall_ms(clock) ||
           error_set(err, ERROR_EXPIRED,
                     "STS gave credentials that have expired already; is this machine's clock "
                     "right?");
}

static void sts_on_role(void *arg, struct document *answer, const struct error *err)
{
    struct sts_call *call = arg;
    CLEAN_UP(document_clean_up) struct document *owned = answer;
    CLEAN_UP(credentials_clean_up) struct credentials found = {0};
    struct error why = {0};
    sts_role_fn *fn = call->role_fn;
    void *fn_arg = call->arg;
    bool taken = owned && sts_take_role(call, owned, &found, &why);
    sts_free_call(call);
    fn(fn_arg, taken ? &found : NULL, taken ? NULL : err ? err : &why);
}

struct sts_call *sts_assume_role(struct aws_client *client, const struct aws_settings *settings,
                                 const struct sts_role *role, sts_role_fn *fn, void *arg,
                                 struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf form = {0};
    struct sts_call *call = calloc(1, sizeof *call);
    char *arn = strdup(role->arn);
    if (!call || !arn) {
        free(call);
        free(arn);
        error_no_memory(err);
        return NULL;
    }
    *call = (struct sts_call){.loop = client->loop,
                              .role_arn = arn,
                              .by_web_identity = role->web_identity,
                              .role_fn = fn,
                              .arg = arg};
    buf_printf(&form, "Action=%s&Version=2011-06-15",
               role->web_identity ? "AssumeRoleWithWebIdentity" : "AssumeRole");
    sts_add(&form, "RoleArn", role->arn);
    sts_add(&form, "RoleSessionName", role->session_name);
    sts_add(&form, "ExternalId", role->external_id);
    sts_add(&form, "DurationSeconds", role->duration_seconds);
    sts_add(&form, "SerialNumber", role->mfa_serial);
    sts_add(&form, "TokenCode", role->mfa_code);
    sts_add(&form, "WebIdentityToken", role->web_identity);
    return sts_begin(call, client, settings, &form, role->web_identity, sts_on_role, err);
}

/* Who one is. */

static void sts_on_identity(void *arg, struct document *answer, const struct error *err)
{
#define RESULT "GetCallerIdentityResponse.GetCallerIdentityResult."
    struct sts_call *call = arg;
    CLEAN_UP(document_clean_up) struct document *owned = answer;
    struct error why = {0};
    struct sts_identity found = {0};
    sts_identity_fn *fn = call->whoami_fn;
    void *fn_arg = call->arg;
    sts_free_call(call);
    if (owned) {
        found.account = document_word(owned, RESULT "Account");
        found.arn = document_word(owned, RESULT "Arn");
        found.user_id = document_word(owned, RESULT "UserId");
    }
    bool whole = found.account && found.arn && found.user_id;
    if (owned && !whole)
        error_set(&why, ERROR_BAD_ANSWER,
                  "the answer of STS has not all of Account, Arn and UserId that could be shown");
    fn(fn_arg, whole ? &found : NULL, whole ? NULL : err ? err : &why);
#undef RESULT
}

struct sts_call *sts_get_caller_identity(struct aws_client *client,
                                         const struct aws_settings *settings, sts_identity_fn *fn,
                                         void *arg, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf form = {0};
    struct sts_call *call = calloc(1, sizeof *call);
    if (!call) {
        error_no_memory(err);
        return NULL;
    }
    *call = (struct sts_call){.loop = client->loop, .whoami_fn = fn, .arg = arg};
    buf_add_text(&form, "Action=GetCallerIdentity&Version=2011-06-15");
    return sts_begin(call, client, settings, &form, NULL, sts_on_identity, err);
}

/* Refusals. */

/* What STS said, without its code, which is told in another place then. */
static void sts_copy_sentence(struct aws_fault *fault, const struct error *why)
{
    char mark[80];
    snprintf(mark, sizeof mark, " (%s, HTTP", why->code);
    const char *end = strstr(why->text, mark);
    snprintf(fault->sentence, sizeof fault->sentence, "%.*s",
             (int)(end ? end - why->text : (long)strlen(why->text)), why->text);
}

bool sts_fault_of_identity(const struct error *why, const char *method, const char *origin,
                           const char *profile, struct error *err)
{
    struct aws_fault fault = {.status = why->http_status};
    memcpy(fault.code, why->code, sizeof fault.code);
    sts_copy_sentence(&fault, why);
    return aws_fault_of_identity(&fault, method, origin, profile, err);
}
