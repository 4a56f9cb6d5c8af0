/* AWS_MAX_ATTEMPTS, AWS_RETRY_MODE, and what a profile says of them. */
#include "core/aws/retry_settings.h"

#include <stdlib.h>

#include "core/base/buf.h"

/* More than any deadline has room for. */
enum { MOST_ATTEMPTS = 1000 };

/* The value of VARIABLE, else of the profile's KEY; false when there is none. NAMED_BY is for
 * errors. */
static bool retry_settings_find(const struct profiles *profiles, const char *profile,
                                const char *variable, const char *key, struct buf *value,
                                struct buf *named_by)
{
    const char *text = getenv(variable);
    struct span span = {0};
    if (text && *text) {
        buf_add_text(value, text);
        buf_add_text(named_by, variable);
    } else if (profiles_get(profiles, profile, key, &span) && span.size > 0) {
        buf_add_span(value, span);
        buf_printf(named_by, "%s of profile %s", key, profile);
    }
    return value->size > 0 || value->failed;
}

bool retry_settings_read(const struct profiles *profiles, const char *profile, unsigned *attempts,
                         struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf number = {0}, mode = {0}, by = {0};
    *attempts = 0;
    if (retry_settings_find(profiles, profile, "AWS_MAX_ATTEMPTS", "max_attempts", &number, &by)) {
        char *end;
        long count = strtol(buf_text(&number), &end, 10);
        if (number.failed || by.failed)
            return error_no_memory(err);
        if (end == buf_text(&number) || end[strspn(end, " \t")] || count < 1)
            return error_set(err, ERROR_INVALID, "%s is \"%.60s\", but takes a number from 1 on",
                             buf_text(&by), buf_text(&number));
        *attempts = count < MOST_ATTEMPTS ? (unsigned)count : MOST_ATTEMPTS;
    }
    buf_truncate(&by, 0);
    if (!retry_settings_find(profiles, profile, "AWS_RETRY_MODE", "retry_mode", &mode, &by))
        return true;
    if (mode.failed || by.failed)
        return error_no_memory(err);
    static const char *const modes[] = {"standard", "legacy", "adaptive"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(buf_text(&mode), modes[i]) == 0)
            return true;
    return error_set(err, ERROR_INVALID,
                     "%s is \"%.60s\", but takes standard (legacy and adaptive are the same here)",
                     buf_text(&by), buf_text(&mode));
}
