#include "core/tree/noise.h"

static const char *const words[] = {
    "4913", /* vim tries whether it may write */
    "AACS",        "BDMV",        "CVS",
    "HEAD", /* git looks for bare repositories */
    "RCS",         "SCCS",        "System Volume Information",
    "Thumbs.db",   "VIDEO_TS",    "_FOSSIL_",
    "_darcs",      "autorun.inf", "desktop.ini",
    "ehthumbs.db", "lost+found",
};

bool noise_is(struct span name)
{
    if (name.size > 0 && (name.data[0] == '.' || name.data[name.size - 1] == '~'))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is(name, words[i]))
            return true;
    return false;
}
