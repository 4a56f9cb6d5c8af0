/* Running the program, and reading what it printed. */
#include "core/aws/credentials_process.h"

#include <errno.h>
#include <stdlib.h>

#include "core/aws/document.h"
#include "core/base/child.h"
#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/base/shell.h"

enum { MOST_SHOWN = 600 }; /* of its standard error; the end of it tells most */

struct process_provider {
    struct credentials_provider base; /* first: a provider is cast to it */
    const struct credentials_context *context;
    /* The command that failed last, when, and how. */
    struct buf failed; /* owned; a secret, perhaps */
    int64_t failed_ms;
    struct error why;
};

/* A question waits for its timer first, since nothing is answered from within it, and then for the
 * program. */
struct credentials_request {
    struct process_provider *provider;
    struct loop_timer *timer;
    struct child *child;
    struct buf command; /* owned */
    struct buf program; /* owned; its first word */
    struct buf origin;  /* owned; where the profile stands */
    credentials_fn *fn;
    void *arg;
};

static void credential_process_free_get(struct credentials_request *get)
{
    buf_clean_up_secret(&get->command);
    buf_clean_up_secret(&get->program);
    buf_clean_up(&get->origin);
    free(get);
}

static void credential_process_report(struct credentials_request *get,
                                      struct credentials_answer *answer)
{
    credentials_fn *fn = get->fn;
    void *arg = get->arg;
    credential_process_free_get(get);
    fn(arg, answer);
    credentials_clean_up(&answer->credentials);
}

/* The failure is remembered. Its text begins with what has failed. */
static void credential_process_report_failure(struct credentials_request *get,
                                              const struct error *why)
{
    struct process_provider *provider = get->provider;
    struct credentials_answer answer = {.found = CREDENTIALS_FAILED};
    error_set(&answer.err, why->kind, "the credential_process of profile %.100s (%.100s) %s",
              provider->context->profile, buf_text(&get->program), why->text);
    buf_truncate(&provider->failed, 0);
    buf_add_span(&provider->failed, buf_span(&get->command));
    provider->failed_ms = loop_now_ms(provider->context->loop);
    provider->why = answer.err;
    credential_process_report(get, &answer);
}

/* What it printed. */

static bool credential_process_copy(char **out, const char *text)
{
    *out = text && *text ? strdup(text) : NULL;
    return *out || !text || !*text;
}

/* The account that it names, else the profile's. */
static bool credential_process_copy_account(const struct credentials_request *get,
                                            const struct document *document, char **out)
{
    const struct credentials_context *context = get->provider->context;
    const char *named = document_word(document, "AccountId");
    struct span account;
    if (named && *named)
        return credential_process_copy(out, named);
    if (!profiles_get(context->profiles, context->profile, "aws_account_id", &account) ||
        account.size == 0)
        return true;
    *out = strndup(account.data, account.size);
    return *out != NULL;
}

static bool credential_process_take_expiry(const struct credentials_request *get,
                                           const struct document *document, int64_t *out,
                                           struct error *err)
{
    struct clock *clock = loop_clock(get->provider->context->loop);
    const char *text = document_text(document, "Expiration");
    if (!document_has(document, "Expiration"))
        return true;
    struct instant expires = instant_parse(span_text(text));
    if (!expires.known)
        return error_set(err, ERROR_DENIED,
                         "printed an Expiration that is no point in time, such as "
                         "2026-04-16T10:15:00Z");
    *out = expires.ms;
    if (expires.ms <= clock->wall_ms(clock))
        return error_set(err, ERROR_EXPIRED,
                         "printed credentials that have expired already (%.40s); run it by hand "
                         "and see whether it needs signing in, or whether this machine's clock is "
                         "wrong",
                         text);
    return true;
}

static bool credential_process_take(struct credentials_request *get,
                                    const struct document *document, struct credentials *out,
                                    struct error *err)
{
    static const char *const needed[] = {"AccessKeyId", "SecretAccessKey"};
    int64_t version = 0;
    if (!document_number(document, "Version", &version) || version != 1)
        return error_set(err, ERROR_DENIED, "printed JSON whose Version is not the number 1");
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!document_word(document, needed[i]) || !*document_word(document, needed[i]))
            return error_set(err, ERROR_DENIED, "printed JSON with no %s that could be one",
                             needed[i]);
    if (document_has(document, "SessionToken") && !document_word(document, "SessionToken"))
        return error_set(err, ERROR_DENIED, "printed JSON with a SessionToken that is none");
    if (!credential_process_take_expiry(get, document, &out->expires_wall_ms, err))
        return false;
    out->method = "custom-process";
    out->origin = buf_steal(&get->origin, NULL);
    return (out->origin &&
            credential_process_copy(&out->access_key_id, document_text(document, "AccessKeyId")) &&
            credential_process_copy(&out->secret_access_key,
                                    document_text(document, "SecretAccessKey")) &&
            credential_process_copy(&out->session_token, document_text(document, "SessionToken")) &&
            credential_process_copy_account(get, document, &out->account_id)) ||
           error_no_memory(err);
}

static void credential_process_read_output(struct credentials_request *get, struct span output)
{
    struct credentials_answer answer = {.found = CREDENTIALS_FOUND};
    CLEAN_UP(document_clean_up) struct document *document = NULL;
    struct error why = {0};
    document = document_parse(output, "what it printed", &why);
    if (document && credential_process_take(get, document, &answer.credentials, &why)) {
        credential_process_report(get, &answer);
        return;
    }
    credentials_clean_up(&answer.credentials);
    if (!document && why.kind != ERROR_NO_MEMORY)
        error_set(&why, ERROR_DENIED,
                  "printed no JSON object with credentials; run it by hand to see what it prints");
    credential_process_report_failure(get, &why);
}

/* How it ended. */

/* The last lines, as one, and what to do. */
static void credential_process_add_errors(struct error *err, struct span errors)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    char shown[MOST_SHOWN];
    bool cut = errors.size >= sizeof shown;
    if (cut)
        errors = span_from(errors, errors.size - sizeof shown + 1);
    for (size_t i = 0; i < errors.size; i++)
        if (errors.data[i] != '\n' && errors.data[i] != '\r')
            buf_add_char(&line, errors.data[i]);
        else if (line.size > 0 && line.data[line.size - 1] != ' ')
            buf_add_char(&line, ' ');
    while (line.size > 0 && line.data[line.size - 1] == ' ')
        buf_truncate(&line, line.size - 1);
    printable_copy(shown, sizeof shown, buf_span(&line), "");
    error_add(err, line.size > 0 ? ": %s%s" : ", and said nothing", cut ? "…" : "", shown);
    error_add(err, "; run it by hand");
}

static void credential_process_on_end(void *arg, const struct child_end *end)
{
    struct credentials_request *get = arg;
    struct error why;
    get->child = NULL;
    if (end->outcome == CHILD_EXITED && end->number == 0) {
        credential_process_read_output(get, end->output);
        return;
    }
    switch (end->outcome) {
    case CHILD_NOT_STARTED:
        error_set(&why, end->number == ENOMEM ? ERROR_NO_MEMORY : ERROR_DENIED,
                  "cannot be run: %s%s", strerror(end->number),
                  end->number == ENOENT ? "; install it, or write where it is (~ does not count)"
                                        : "");
        break;
    case CHILD_TOO_LONG:
        error_set(
            &why, ERROR_TIMED_OUT,
            "took longer than %d minutes, and was ended; run it by hand to see what it waits for",
            PROCESS_MS / 60000);
        break;
    case CHILD_TOO_MUCH:
        error_set(&why, ERROR_DENIED, "printed more than 1 MB, which are no credentials");
        break;
    case CHILD_KILLED:
        error_set(&why, ERROR_DENIED, "was ended by signal %d (%s)", end->number,
                  strsignal(end->number));
        credential_process_add_errors(&why, end->errors);
        break;
    default:
        error_set(&why, ERROR_DENIED, "failed with exit status %d", end->number);
        credential_process_add_errors(&why, end->errors);
    }
    credential_process_report_failure(get, &why);
}

/* Starting it. */

static bool credential_process_is_whole(struct span output)
{
    CLEAN_UP(document_clean_up)
    struct document *document = document_parse(output, "", NULL);
    return document;
}

static bool credential_process_start(struct credentials_request *get, struct error *err)
{
    struct loop *loop = get->provider->context->loop;
    CLEAN_UP(buf_clean_up_secret) struct buf words = {0};
    size_t count;
    if (get->command.failed || get->origin.failed)
        return error_set(err, ERROR_NO_MEMORY, "cannot be run: out of memory");
    if (!shell_split(&words, buf_span(&get->command), &count))
        return error_set(err, ERROR_DENIED,
                         "has a quote without its end, or a backslash at the end");
    if (count == 0)
        return error_set(err, ERROR_DENIED, "has nothing in it");
    const char **argv = calloc(count + 1, sizeof *argv);
    const char *word = words.data;
    for (size_t i = 0; argv && !words.failed && i < count; i++) {
        argv[i] = word;
        word += strlen(word) + 1;
    }
    if (argv && !words.failed) {
        buf_add_text(&get->program, argv[0]);
        get->child = child_start(loop, argv, PROCESS_MS, credential_process_is_whole,
                                 credential_process_on_end, get);
    }
    free(argv);
    return get->child ||
           error_set(err, ERROR_NO_MEMORY, "cannot be run: out of memory, descriptors or threads");
}

static bool credential_process_has_just_failed(const struct credentials_request *get)
{
    const struct process_provider *provider = get->provider;
    return span_equal(buf_span(&provider->failed), buf_span(&get->command)) &&
           loop_now_ms(provider->context->loop) - provider->failed_ms < PROCESS_PAUSE_MS;
}

static void credential_process_begin(void *arg)
{
    struct credentials_request *get = arg;
    struct process_provider *provider = get->provider;
    const struct credentials_context *context = provider->context;
    struct credentials_answer answer = {.found = CREDENTIALS_ABSENT};
    struct span command, in_credentials;
    struct error why;
    get->timer = NULL;
    if (!profiles_get(context->profiles, context->profile, "credential_process", &command)) {
        credential_process_report(get, &answer);
        return;
    }
    bool is_there = profile_get(&context->profiles->credentials, context->profile,
                                "credential_process", &in_credentials);
    profiles_origin(context->profiles, is_there ? PROFILE_CREDENTIALS : PROFILE_CONFIG,
                    context->profile, &get->origin);
    buf_add_span(&get->command, command);
    if (credential_process_has_just_failed(get)) {
        answer.found = CREDENTIALS_FAILED;
        answer.err = provider->why;
        credential_process_report(get, &answer);
    } else if (!credential_process_start(get, &why)) {
        credential_process_report_failure(get, &why);
    }
}

/* As a provider. */

static struct credentials_request *credential_process_get(struct credentials_provider *base,
                                                          credentials_fn *fn, void *arg)
{
    struct process_provider *provider = (struct process_provider *)base;
    struct credentials_request *get = calloc(1, sizeof *get);
    if (!get)
        return NULL;
    *get = (struct credentials_request){.provider = provider, .fn = fn, .arg = arg};
    get->timer = loop_add_timer(provider->context->loop, 0, credential_process_begin, get);
    if (get->timer)
        return get;
    free(get);
    return NULL;
}

static void credential_process_cancel(struct credentials_request *get)
{
    loop_remove_timer(get->timer);
    child_cancel(get->child);
    credential_process_free_get(get);
}

static void credential_process_destroy(struct credentials_provider *base)
{
    struct process_provider *provider = (struct process_provider *)base;
    buf_clean_up_secret(&provider->failed);
    free(provider);
}

struct credentials_provider *credentials_process_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        credential_process_get, credential_process_cancel, credential_process_destroy};
    struct process_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NULL;
    *provider =
        (struct process_provider){.base = {&ops}, .context = context, .failed_ms = INT64_MIN / 2};
    return &provider->base;
}
