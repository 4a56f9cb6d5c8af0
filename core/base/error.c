#include "core/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

bool error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
    if (!err)
        return false;
    *err = (struct error){.kind = kind};
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}

bool error_no_memory(struct error *err)
{
    return error_set(err, ERROR_NO_MEMORY, "out of memory");
}

const char *error_word(enum error_kind kind)
{
    static const char *const words[] = {
        [ERROR_NONE] = "none",
        [ERROR_NOT_FOUND] = "not-found",
        [ERROR_NOT_LISTABLE] = "not-listable",
        [ERROR_IS_DIRECTORY] = "is-directory",
        [ERROR_NOT_DIRECTORY] = "not-directory",
        [ERROR_AMBIGUOUS] = "ambiguous",
        [ERROR_INVALID] = "invalid",
        [ERROR_DENIED] = "denied",
        [ERROR_EXPIRED] = "expired",
        [ERROR_THROTTLED] = "throttled",
        [ERROR_TIMED_OUT] = "timed-out",
        [ERROR_UNREACHABLE] = "unreachable",
        [ERROR_REFUSED] = "refused",
        [ERROR_RESET] = "reset",
        [ERROR_TLS] = "tls",
        [ERROR_NO_TABLE] = "no-table",
        [ERROR_BAD_ANSWER] = "bad-answer",
        [ERROR_SERVICE] = "service",
        [ERROR_NO_MEMORY] = "no-memory",
    };
    return words[kind];
}

int error_errno(enum error_kind kind)
{
    switch (kind) {
    case ERROR_NONE:
        return 0;
    case ERROR_NOT_FOUND:
        return ENOENT;
    case ERROR_NOT_LISTABLE:
        return EOPNOTSUPP;
    case ERROR_IS_DIRECTORY:
        return EISDIR;
    case ERROR_NOT_DIRECTORY:
        return ENOTDIR;
    case ERROR_AMBIGUOUS:
        return ENOTUNIQ;
    case ERROR_INVALID:
        return EINVAL;
    case ERROR_DENIED:
        return EACCES;
    case ERROR_EXPIRED:
        return EKEYEXPIRED;
    case ERROR_THROTTLED:
        return EAGAIN;
    case ERROR_TIMED_OUT:
        return ETIMEDOUT;
    case ERROR_UNREACHABLE:
        return EHOSTUNREACH;
    case ERROR_REFUSED:
        return ECONNREFUSED;
    case ERROR_RESET:
        return ECONNRESET;
    case ERROR_TLS:
        return EPROTO;
    case ERROR_NO_TABLE:
        return ENODEV;
    case ERROR_BAD_ANSWER:
        return EBADMSG;
    case ERROR_SERVICE:
        return EIO;
    case ERROR_NO_MEMORY:
        return ENOMEM;
    }
    return EIO;
}
