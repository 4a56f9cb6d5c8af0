/* Credentials that a program prints: the profile's credential_process. */
#include <errno.h>
#include <stdlib.h>

#include "core/aws/credentials_providers.h"
#include "core/aws/document.h"
#include "core/base/child.h"
#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/base/shell.h"

enum { MOST_SHOWN = 600 }; /* of the program's standard error, from its end */

struct program_provider {
    struct credentials_provider base;
    struct credentials_failure failure; /* of the command */
};

struct program_request {
    struct credentials_request base;
    struct child *child;
    struct buf command;        /* owned; may contain a secret */
    struct stored_stamp stamp; /* of the command */
    struct buf program;        /* owned; the command's first word */
    struct buf origin;         /* owned; the place of the profile */
};

static void program_clean_up_request(struct credentials_request *base)
{
    struct program_request *request = (struct program_request *)base;
    child_cancel(request->child);
    buf_clean_up_secret(&request->command);
    buf_clean_up_secret(&request->program);
    buf_clean_up(&request->origin);
}

/* The text of WHY is a predicate, such as "printed no JSON object". */
static void program_fail(struct program_request *request, const struct error *why)
{
    struct program_provider *provider = (struct program_provider *)request->base.provider;
    const struct credentials_context *context = provider->base.context;
    struct error err;
    error_set(&err, why->kind, "the credential_process of profile %.100s (%.100s) %s",
              context->profile, buf_text(&request->program), why->text);
    credentials_failure_set(&provider->failure, &request->stamp, context->loop, &err);
    credentials_request_fail(&request->base, &err);
}

/* The program's output. */

static bool program_read_expiry(const struct program_request *request,
                                const struct document *document, int64_t *out, struct error *err)
{
    struct clock *clock = loop_clock(request->base.provider->context->loop);
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
                         "printed credentials that have expired already (%.40s); run it by hand, "
                         "sign in if it needs that, and check this machine's clock",
                         text);
    return true;
}

static bool program_read_credentials(struct program_request *request,
                                     const struct document *document, struct credentials *out,
                                     struct error *err)
{
    static const char *const needed[] = {"AccessKeyId", "SecretAccessKey"};
    const struct credentials_context *context = request->base.provider->context;
    int64_t version = 0;
    if (!document_number(document, "Version", &version) || version != 1)
        return error_set(err, ERROR_DENIED, "printed JSON whose Version is not the number 1");
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!document_word(document, needed[i]))
            return error_set(err, ERROR_DENIED, "printed JSON without a valid %s", needed[i]);
    if (document_has(document, "SessionToken") && !document_word(document, "SessionToken"))
        return error_set(err, ERROR_DENIED, "printed JSON with an invalid SessionToken");
    if (!program_read_expiry(request, document, &out->expires_wall_ms, err))
        return false;
    /* The account that the program prints, else the profile's. */
    struct span account = span_text(document_word(document, "AccountId"));
    if (account.size == 0)
        profiles_get(context->profiles, context->profile, "aws_account_id", &account);
    out->method = "custom-process";
    return (!request->origin.failed &&
            credentials_fill(out, span_text(document_word(document, "AccessKeyId")),
                             span_text(document_word(document, "SecretAccessKey")),
                             span_text(document_word(document, "SessionToken")), account,
                             buf_text(&request->origin))) ||
           error_no_memory(err);
}

static void program_on_output(struct program_request *request, struct span output)
{
    struct credentials_result result = {.found = CREDENTIALS_FOUND};
    struct error why = {0};
    CLEAN_UP(document_clean_up)
    struct document *document = document_parse(output, "the output", &why);
    if (document && program_read_credentials(request, document, &result.credentials, &why)) {
        credentials_request_finish(&request->base, &result);
        return;
    }
    if (!document && why.kind != ERROR_NO_MEMORY)
        error_set(&why, ERROR_DENIED,
                  "printed no JSON object with credentials; run it by hand to see its output");
    program_fail(request, &why);
}

/* Appends the last lines of the program's standard error, as one line. */
static void program_add_errors(struct error *err, struct span errors)
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
    error_add(err, line.size > 0 ? ": %s%s" : ", and printed no error", cut ? "…" : "", shown);
    error_add(err, "; run it by hand");
}

static void program_on_end(void *arg, const struct child_end *end)
{
    struct program_request *request = arg;
    struct error why;
    request->child = NULL;
    if (end->outcome == CHILD_EXITED && end->number == 0) {
        program_on_output(request, end->output);
        return;
    }
    switch (end->outcome) {
    case CHILD_NOT_STARTED:
        error_set(&why, end->number == ENOMEM ? ERROR_NO_MEMORY : ERROR_DENIED,
                  "cannot be run: %s%s", strerror(end->number),
                  end->number == ENOENT
                      ? "; install it, or write its whole path (~ is not expanded)"
                      : "");
        break;
    case CHILD_TOO_LONG:
        error_set(&why, ERROR_TIMED_OUT,
                  "took longer than %d minutes and was ended; run it by hand to see why it waits",
                  PROCESS_MS / 60000);
        break;
    case CHILD_TOO_MUCH:
        error_set(&why, ERROR_DENIED, "printed more than 1 MB, which cannot be credentials");
        break;
    case CHILD_KILLED:
        error_set(&why, ERROR_DENIED, "was ended by signal %d (%s)", end->number,
                  strsignal(end->number));
        program_add_errors(&why, end->errors);
        break;
    default:
        error_set(&why, ERROR_DENIED, "failed with exit status %d", end->number);
        program_add_errors(&why, end->errors);
    }
    program_fail(request, &why);
}

/* The program. */

static bool program_is_whole(struct span output)
{
    CLEAN_UP(document_clean_up)
    struct document *document = document_parse(output, "", NULL);
    return document;
}

static bool program_start(struct program_request *request, struct error *err)
{
    struct loop *loop = request->base.provider->context->loop;
    CLEAN_UP(buf_clean_up_secret) struct buf words = {0};
    size_t count;
    if (request->command.failed || request->origin.failed)
        return error_set(err, ERROR_NO_MEMORY, "cannot be run: out of memory");
    if (!shell_split(&words, buf_span(&request->command), &count))
        return error_set(err, ERROR_DENIED,
                         "has a quote without its end, or a backslash at the end");
    if (count == 0)
        return error_set(err, ERROR_DENIED, "is empty");
    const char **argv = calloc(count + 1, sizeof *argv);
    const char *word = words.data;
    for (size_t i = 0; argv && !words.failed && i < count; i++) {
        argv[i] = word;
        word += strlen(word) + 1;
    }
    if (argv && !words.failed) {
        buf_add_text(&request->program, argv[0]);
        request->child =
            child_start(loop, argv, PROCESS_MS, program_is_whole, program_on_end, request);
    }
    free(argv);
    return request->child ||
           error_set(err, ERROR_NO_MEMORY, "cannot be run: out of memory, descriptors or threads");
}

static void program_begin(struct credentials_request *base)
{
    struct program_request *request = (struct program_request *)base;
    struct program_provider *provider = (struct program_provider *)base->provider;
    const struct credentials_context *context = base->provider->context;
    struct credentials_result absent = {.found = CREDENTIALS_ABSENT};
    struct span command;
    struct error why;
    if (!profiles_get(context->profiles, context->profile, "credential_process", &command)) {
        credentials_request_report(base, &absent);
        return;
    }
    profiles_origin_of_key(context->profiles, context->profile, "credential_process",
                           &request->origin);
    buf_add_span(&request->command, command);
    request->stamp = stored_stamp_of(buf_span(&request->command));
    const struct error *failure =
        credentials_failure_find(&provider->failure, &request->stamp, context->loop);
    if (failure) {
        why = *failure;
        credentials_request_fail(base, &why);
    } else if (!program_start(request, &why)) {
        program_fail(request, &why);
    }
}

struct credentials_provider *credentials_process_new(const struct credentials_context *context)
{
    static const struct credentials_provider_ops ops = {
        .request_size = sizeof(struct program_request),
        .begin = program_begin,
        .clean_up_request = program_clean_up_request,
    };
    return credentials_provider_new(sizeof(struct program_provider), &ops, context);
}
