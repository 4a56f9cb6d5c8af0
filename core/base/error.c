#include "core/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/printable.h"

bool error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
    if (!err)
        return false;
    char text[3 * sizeof err->text]; /* longer, so that the cut is made between characters */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *err = (struct error){.kind = kind};
    printable_copy(err->text, sizeof err->text, span_text(text), "");
    return false;
}

void error_add(struct error *err, const char *format, ...)
{
    if (!err)
        return;
    char more[2 * sizeof err->text], text[sizeof err->text + sizeof more];
    va_list args;
    va_start(args, format);
    vsnprintf(more, sizeof more, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s%s", err->text, more);
    printable_copy(err->text, sizeof err->text, span_text(text), "");
}

bool error_states_throttles(const struct error *err)
{
    return err && err->throttle_count > 0 && strcmp(err->throttles[0].reason, err->code) != 0;
}

void error_write_throttles(const struct error *err, struct buf *out)
{
    if (!error_states_throttles(err))
        return;
    for (size_t i = 0; i < err->throttle_count; i++)
        buf_printf(out, "%s%s", i ? "," : "", err->throttles[i].reason);
}

bool error_no_memory(struct error *err)
{
    return error_set(err, ERROR_NO_MEMORY, "out of memory");
}

#define CALLER "caller"
#define HUMAN "human"
#define RETRY "retry"

/* A hint is the next step for a user or a program, whatever the text of the error. */
static const struct {
    const char *word;
    int number;
    const char *fixable_by;
    const char *hint;
} kinds[] = {
    [ERROR_NONE] = {"none", 0, "", ""},
    [ERROR_NOT_FOUND] = {"not-found", ENOENT, CALLER,
                         "list the directory above, or read its README, for valid names"},
    [ERROR_NOT_LISTABLE] =
        {"not-listable", EOPNOTSUPP, CALLER,
         "type the whole name: the README of the directory describes valid names"},
    [ERROR_TOO_LARGE] = {"too-large", EFBIG, CALLER,
                         "read less: a window of it, its newest items, or @count"},
    [ERROR_LONG_NAME] = {"long-name", ENAMETOOLONG, HUMAN,
                         "this key can't be a directory: read its items by another index"},
    [ERROR_IS_DIRECTORY] = {"is-directory", EISDIR, CALLER, "list it instead"},
    [ERROR_NOT_DIRECTORY] = {"not-directory", ENOTDIR, CALLER, "read it as a file instead"},
    [ERROR_LOOP] = {"loop", ELOOP, CALLER, "take a path with fewer links"},
    [ERROR_AMBIGUOUS] = {"ambiguous", ENOTUNIQ, HUMAN,
                         "several items match: list them, or let the map choose one (pick)"},
    [ERROR_INVALID] = {"invalid", EINVAL, CALLER,
                       "correct what the text names; the same again fails again"},
    [ERROR_DENIED] = {"denied", EACCES, HUMAN,
                      "grant the permission (ddbfs policy), or use other credentials"},
    [ERROR_EXPIRED] = {"expired", EKEYEXPIRED, HUMAN,
                       "sign in again, or renew the credentials, as the text says"},
    [ERROR_THROTTLED] = {"throttled", EAGAIN, RETRY,
                         "wait some seconds, and use fewer readers at once"},
    [ERROR_TOO_FAST] =
        {"too-fast", EDQUOT, RETRY,
         "try again after a second; a narrower path, or @count and @summary, cost less"},
    [ERROR_SPENT] = {"spent", EDQUOT, CALLER,
                     "start the program anew, and read less: a narrower path, @count or @summary"},
    [ERROR_TIMED_OUT] = {"timed-out", ETIMEDOUT, RETRY, "try again, or raise the limit: --timeout"},
    [ERROR_UNREACHABLE] =
        {"unreachable", EHOSTUNREACH, RETRY,
         "try again when there is a network, and check the spelling of the region"},
    [ERROR_REFUSED] = {"refused", ECONNREFUSED, RETRY,
                       "try again when the service, or the endpoint's tunnel, is up"},
    [ERROR_RESET] = {"reset", ECONNRESET, RETRY, "try again"},
    [ERROR_TLS] = {"tls", EPROTO, RETRY, "try again; check whether a proxy on the way blocks TLS"},
    [ERROR_UNTRUSTED] =
        {"untrusted", EPROTO, HUMAN,
         "name the trusted certificates: AWS_CA_BUNDLE, or ca_bundle in the profile"},
    [ERROR_NO_TABLE] = {"no-table", ENODEV, HUMAN, "compare the map with the account: ddbfs check"},
    [ERROR_NO_STREAM] = {"no-stream", ENODEV, HUMAN,
                         "enable a stream, or follow it again, as the text says"},
    [ERROR_NOT_STORED] = {"not-stored", ENODATA, HUMAN,
                          "use a file that has it; ddbfs check FILE shows what a file has"},
    [ERROR_REPLACED] = {"replaced", ESTALE, RETRY,
                        "open it again; a mount finds a replaced recording within a minute, or at "
                        "SIGHUP"},
    [ERROR_BAD_ANSWER] =
        {"bad-answer", EBADMSG, HUMAN,
         "look for a proxy between this machine and the service; import a damaged snapshot again"},
    [ERROR_SERVICE] = {"service", EIO, RETRY, "try again in some seconds"},
    [ERROR_INTERRUPTED] = {"interrupted", EINTR, CALLER, "start it again"},
    [ERROR_NO_SPACE] = {"no-space", ENOSPC, HUMAN,
                        "free space in the folder that the text names, or use another folder"},
    [ERROR_NO_DESCRIPTORS] = {"no-descriptors", EMFILE, HUMAN, "raise the limit: ulimit -n"},
    [ERROR_NO_MEMORY] = {"no-memory", ENOMEM, HUMAN, "read less at once, or add memory"},
};

const char *error_word(enum error_kind kind)
{
    return kinds[kind].word;
}

bool error_is_outage(const struct error *err)
{
    switch (err->kind) {
    case ERROR_TIMED_OUT:
        return !err->unsigned_yet;
    case ERROR_THROTTLED:
    case ERROR_UNREACHABLE:
    case ERROR_REFUSED:
    case ERROR_RESET:
    case ERROR_TLS:
    case ERROR_SERVICE:
        return true;
    default:
        return false;
    }
}

bool error_is_refusal(const struct error *err)
{
    return err->kind == ERROR_DENIED || err->kind == ERROR_INVALID || err->kind == ERROR_NO_TABLE ||
           err->kind == ERROR_NO_STREAM || err->kind == ERROR_NOT_STORED;
}

bool error_is_of_caller(const struct error *err)
{
    return err->kind == ERROR_TOO_FAST || err->kind == ERROR_SPENT;
}

int error_errno(enum error_kind kind)
{
    return kinds[kind].number;
}

const char *error_fixable_by(enum error_kind kind)
{
    return kinds[kind].fixable_by;
}

const char *error_hint(const struct error *err)
{
    if (err->kind == ERROR_DENIED && !err->authenticated)
        return "correct what the text names, or use other credentials";
    return kinds[err->kind].hint;
}
