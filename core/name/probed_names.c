#include "core/name/probed_names.h"

static const char *const words[] = {
    "4913", /* vim tries whether it may write */
    "AACS",         "BDMV",        "CVS",
    "HEAD",         /* git looks for bare repositories */
    "package.json", /* editors and node look for a project, upwards from where they stand */
    "RCS",          "SCCS",        "System Volume Information",
    "Thumbs.db",    "VIDEO_TS",    "_FOSSIL_",
    "_darcs",       "autorun.inf", "desktop.ini",
    "ehthumbs.db",  "lost+found",
};

static bool probed_is_word(struct span name)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_is(name, words[i]))
            return true;
    return false;
}

bool probed_names_is(struct span name)
{
    return span_starts(name, SPAN_LITERAL(".")) || span_ends(name, SPAN_LITERAL("~")) ||
           probed_is_word(name);
}

bool probed_names_is_for(const struct format *step, struct span name)
{
    if (format_is_literal(step))
        return false;
    struct span dot = SPAN_LITERAL("."), tilde = SPAN_LITERAL("~");
    struct span first = step->pieces[0].literal, last = step->pieces[step->count - 1].literal;
    return (span_starts(name, dot) && !span_starts(first, dot)) ||
           (span_ends(name, tilde) && !span_ends(last, tilde)) || probed_is_word(name);
}
