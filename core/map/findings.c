#include "core/map/findings.h"

#include <stdarg.h>
#include <stdio.h>

void findings_clean_up(struct findings *findings)
{
    arena_clean_up(&findings->arena);
    *findings = (struct findings){0};
}

bool findings_add(struct findings *findings, unsigned line, const char *format, ...)
{
    char text[512]; /* a sentence; what the map writes into it may be longer and is cut */
    va_list args;
    if (findings->count == FINDINGS_MAX) {
        findings->left_out++;
        return false;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *copy = arena_text(&findings->arena, span_text(text));
    if (!copy)
        return findings_no_memory(findings);
    findings->items[findings->count++] = (struct finding){line, copy};
    return false;
}

bool findings_no_memory(struct findings *findings)
{
    findings->no_memory = true;
    return false;
}

bool findings_none(const struct findings *findings)
{
    return findings->count == 0 && !findings->no_memory;
}

/* Few, and nearly in order: what was found first stays before what is found of the same line. */
void findings_sort(struct findings *findings)
{
    for (size_t i = 1; i < findings->count; i++) {
        struct finding moved = findings->items[i];
        size_t at = i;
        for (; at > 0 && findings->items[at - 1].line > moved.line; at--)
            findings->items[at] = findings->items[at - 1];
        findings->items[at] = moved;
    }
}

void findings_error(const struct findings *findings, const char *file, struct error *err)
{
    char more[64] = "";
    size_t others = findings->count + findings->left_out - 1;
    if (findings->no_memory || findings->count == 0) {
        error_no_memory(err);
        return;
    }
    if (others > 0)
        snprintf(more, sizeof more, " (and %zu more: ddbfs check tells all)", others);
    error_set(err, ERROR_INVALID, "%s:%u: %s%s", file, findings->items[0].line,
              findings->items[0].text, more);
}
