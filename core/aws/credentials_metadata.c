/* First the role's name, then its credentials. */
#include "core/aws/credentials_metadata.h"

#include <stdlib.h>

#include "core/aws/aws_error.h"
#include "core/aws/credentials_cache.h"
#include "core/aws/document.h"
#include "core/aws/local_call.h"
#include "core/aws/metadata.h"
#include "core/base/instant.h"
#include "core/base/printable.h"

#define ROLES "meta-data/iam/security-credentials/"

static const char what[] = "the machine's metadata service";

enum { MAX_ROLE = 256 };

struct metadata_provider {
    struct credentials_provider base; /* first: a provider is cast to it */
    const struct credentials_context *context;
    int64_t absent_until_ms;
};

struct credentials_request {
    struct metadata_provider *provider;
    struct loop_timer *timer; /* instead of METADATA, where nobody was there just now */
    struct metadata *metadata;
    char role[MAX_ROLE]; /* "" until it is known */
    credentials_fn *fn;
    void *arg;
};

static void imds_free_get(struct credentials_request *get)
{
    metadata_destroy(get->metadata);
    free(get);
}

static void imds_report(struct credentials_request *get, struct credentials_answer *answer)
{
    credentials_fn *fn = get->fn;
    void *arg = get->arg;
    imds_free_get(get);
    fn(arg, answer);
    credentials_clean_up(&answer->credentials);
}

static void imds_report_without(struct credentials_request *get, const struct metadata_answer *from)
{
    struct credentials_answer answer = {
        .found = from->found == METADATA_FAILED ? CREDENTIALS_FAILED : CREDENTIALS_ABSENT,
        .err = from->err};
    if (from->found == METADATA_ABSENT && !from->is_there) {
        get->provider->absent_until_ms =
            loop_now_ms(get->provider->context->loop) + METADATA_ABSENT_MS;
        answer.err = (struct error){0};
    } else if (from->found == METADATA_ABSENT && from->err.http_status == 404 && !get->role[0]) {
        error_set(&answer.err, ERROR_DENIED, "%s has no role for it (HTTP 404): attach one to it",
                  what);
    }
    imds_report(get, &answer);
}

/* Credentials. */

/* Instead of credentials it may say why there are none: with the status 200, too. */
static enum credentials_found imds_explain(const struct document *document, const char *missing,
                                           struct error *err)
{
    const char *code = document_text(document, "Code");
    const char *message = document_text(document, "Message");
    char word[64], sentence[300];
    if (!code || !message) {
        error_set(err, ERROR_BAD_ANSWER, "the answer of %s has no %s", what, missing);
        return CREDENTIALS_ABSENT;
    }
    printable_copy(word, sizeof word, span_text(code), PRINTABLE_WORD);
    aws_fault_copy_sentence(sentence, sizeof sentence, span_text(message));
    error_set(err, ERROR_DENIED, "%s gives no credentials: %s (%s)", what, sentence, word);
    return CREDENTIALS_ABSENT;
}

/* As the AWS CLI does it, those that have expired, or nearly so, are used: the service that renews
 * them is out of order then, and DynamoDB may well take them. New ones are asked for early. */
static int64_t imds_extended(const struct credentials_request *get, int64_t expires_ms)
{
    struct clock *clock = loop_clock(get->provider->context->loop);
    int64_t early_ms = clock->wall_ms(clock) + CREDENTIALS_EARLY_MS;
    if (expires_ms >= early_ms)
        return expires_ms;
    log_line(get->provider->context->log, LOG_LEVEL_WARNING,
             "%s gives credentials that end in %lld s; they are used, and asked for again soon",
             what, (long long)(expires_ms - clock->wall_ms(clock)) / 1000);
    return early_ms;
}

static enum credentials_found imds_take(const struct credentials_request *get,
                                        const struct document *document, struct credentials *out,
                                        struct error *err)
{
    static const char *const needed[] = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"};
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!document_word(document, needed[i]) || !*document_word(document, needed[i]))
            return imds_explain(document, needed[i], err);
    struct instant expires = instant_parse(span_text(document_text(document, "Expiration")));
    if (!expires.known) {
        error_set(err, ERROR_BAD_ANSWER, "the Expiration of %s is no point in time", what);
        return CREDENTIALS_FAILED;
    }
    out->method = "iam-role";
    out->expires_wall_ms = imds_extended(get, expires.ms);
    buf_printf(&origin, "instance metadata, role %s", get->role);
    out->origin = buf_steal(&origin, NULL);
    out->access_key_id = strdup(document_text(document, "AccessKeyId"));
    out->secret_access_key = strdup(document_text(document, "SecretAccessKey"));
    out->session_token = strdup(document_text(document, "Token"));
    if (out->access_key_id && out->secret_access_key && out->session_token && out->origin)
        return CREDENTIALS_FOUND;
    credentials_clean_up(out);
    error_no_memory(err);
    return CREDENTIALS_FAILED;
}

static void imds_on_credentials(void *arg, const struct metadata_answer *from)
{
    struct credentials_request *get = arg;
    struct credentials_answer answer = {.found = CREDENTIALS_FAILED};
    CLEAN_UP(document_clean_up) struct document *document = NULL;
    if (from->found != METADATA_FOUND) {
        imds_report_without(get, from);
        return;
    }
    document = document_parse(from->text, what, &answer.err);
    if (document)
        answer.found = imds_take(get, document, &answer.credentials, &answer.err);
    imds_report(get, &answer);
}

/* The role. */

static bool imds_take_role(struct credentials_request *get, struct span text)
{
    while (text.size > 0 && (text.data[text.size - 1] == '\n' || text.data[text.size - 1] == '\r'))
        text.size--;
    if (text.size == 0 || text.size >= sizeof get->role)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~' || strchr("/?#%\\\"<>", text.data[i]))
            return false;
    memcpy(get->role, text.data, text.size);
    get->role[text.size] = '\0';
    return true;
}

static void imds_on_role(void *arg, const struct metadata_answer *from)
{
    struct credentials_request *get = arg;
    struct metadata_answer failed = {.found = METADATA_FAILED};
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (from->found != METADATA_FOUND) {
        imds_report_without(get, from);
        return;
    }
    if (!imds_take_role(get, from->text)) {
        error_set(&failed.err, ERROR_BAD_ANSWER,
                  "%s names no role that could be one; does another service answer in its place?",
                  what);
        imds_report_without(get, &failed);
        return;
    }
    buf_printf(&path, ROLES "%s", get->role);
    if (path.failed || !metadata_request(get->metadata, path.data, local_call_has_document,
                                         imds_on_credentials, get)) {
        error_no_memory(&failed.err);
        imds_report_without(get, &failed);
    }
}

/* As a provider. */

static void imds_report_absent(void *arg)
{
    struct credentials_answer answer = {.found = CREDENTIALS_ABSENT};
    struct credentials_request *get = arg;
    get->timer = NULL;
    imds_report(get, &answer);
}

static bool imds_start(struct credentials_request *get)
{
    struct metadata_provider *provider = get->provider;
    if (loop_now_ms(get->provider->context->loop) < provider->absent_until_ms) {
        get->timer = loop_add_timer(provider->context->loop, 0, imds_report_absent, get);
        return get->timer != NULL;
    }
    get->metadata = metadata_new(provider->context);
    return get->metadata &&
           metadata_request(get->metadata, ROLES, local_call_has_body, imds_on_role, get);
}

static struct credentials_request *imds_metadata_get(struct credentials_provider *base,
                                                     credentials_fn *fn, void *arg)
{
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){
        .provider = (struct metadata_provider *)base, .fn = fn, .arg = arg};
    if (imds_start(get))
        return get;
    imds_free_get(get);
    return NULL;
}

static void imds_metadata_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    imds_free_get(get);
}

static void imds_metadata_provider_destroy(struct credentials_provider *base)
{
    free(base);
}

struct credentials_provider *credentials_metadata_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {imds_metadata_get, imds_metadata_cancel,
                                                        imds_metadata_provider_destroy};
    struct metadata_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NULL;
    *provider = (struct metadata_provider){
        .base = {&ops}, .context = context, .absent_until_ms = INT64_MIN};
    return &provider->base;
}
