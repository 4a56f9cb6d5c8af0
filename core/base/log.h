/* Log lines; the caller's function writes them. */
#ifndef DDBFS_CORE_BASE_LOG_H
#define DDBFS_CORE_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log {
    enum log_level level; /* lines above it are dropped before they are formatted */
    void (*write)(void *arg, enum log_level level, const char *line); /* no newline in LINE */
    void *arg;
};

/* LOG may be NULL: nothing is written. Never pass a secret. The line is made printable; a value of
 * a field that came from outside is also to be one word (PRINTABLE_WORD). */
void log_line(const struct log *log, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether lines of LEVEL are written. LOG may be NULL. */
static inline bool log_has_level(const struct log *log, enum log_level level)
{
    return log && level <= log->level;
}

#endif
