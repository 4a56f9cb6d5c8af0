#include "core/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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

bool error_no_memory(struct error *err)
{
    return error_set(err, ERROR_NO_MEMORY, "out of memory");
}

static const struct {
    const char *word;
    int number;
} kinds[] = {
    [ERROR_NONE] = {"none", 0},
    [ERROR_NOT_FOUND] = {"not-found", ENOENT},
    [ERROR_NOT_LISTABLE] = {"not-listable", EOPNOTSUPP},
    [ERROR_TOO_LARGE] = {"too-large", EFBIG},
    [ERROR_LONG_NAME] = {"long-name", ENAMETOOLONG},
    [ERROR_IS_DIRECTORY] = {"is-directory", EISDIR},
    [ERROR_NOT_DIRECTORY] = {"not-directory", ENOTDIR},
    [ERROR_AMBIGUOUS] = {"ambiguous", ENOTUNIQ},
    [ERROR_INVALID] = {"invalid", EINVAL},
    [ERROR_DENIED] = {"denied", EACCES},
    [ERROR_EXPIRED] = {"expired", EKEYEXPIRED},
    [ERROR_THROTTLED] = {"throttled", EAGAIN},
    [ERROR_TIMED_OUT] = {"timed-out", ETIMEDOUT},
    [ERROR_UNREACHABLE] = {"unreachable", EHOSTUNREACH},
    [ERROR_REFUSED] = {"refused", ECONNREFUSED},
    [ERROR_RESET] = {"reset", ECONNRESET},
    [ERROR_TLS] = {"tls", EPROTO},
    [ERROR_UNTRUSTED] = {"untrusted", EPROTO},
    [ERROR_NO_TABLE] = {"no-table", ENODEV},
    [ERROR_BAD_ANSWER] = {"bad-answer", EBADMSG},
    [ERROR_SERVICE] = {"service", EIO},
    [ERROR_NO_DESCRIPTORS] = {"no-descriptors", EMFILE},
    [ERROR_NO_MEMORY] = {"no-memory", ENOMEM},
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

int error_errno(enum error_kind kind)
{
    return kinds[kind].number;
}
