#include "core/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/printable.h"

void log_line(const struct log *log, enum log_level level, const char *format, ...)
{
    if (!log_has_level(log, level))
        return;
    char text[2048], line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printable_copy(line, sizeof line, span_text(text), "");
    log->write(log->arg, level, line);
}
