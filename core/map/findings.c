#include "core/map/findings.h"

#include <stdarg.h>
#include <stdio.h>

struct finding_at finding_at(const struct json_position *position)
{
    return (struct finding_at){position->lines + 1, position->characters + 1};
}

void findings_clean_up(struct findings *findings)
{
    arena_clean_up(&findings->arena);
    *findings = (struct findings){0};
}

bool findings_add(struct findings *findings, struct finding_at at, const char *format, ...)
{
    char text[512]; /* texts of the map in it may be longer, and are cut */
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
    findings->items[findings->count++] = (struct finding){at, copy};
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

/* An insertion sort: findings are few, nearly in order, and stable at one place. */
void findings_sort(struct findings *findings)
{
    for (size_t i = 1; i < findings->count; i++) {
        struct finding moved = findings->items[i];
        size_t at = i;
        for (; at > 0; at--) {
            struct finding_at before = findings->items[at - 1].at;
            if (before.line < moved.at.line ||
                (before.line == moved.at.line && before.column <= moved.at.column))
                break;
            findings->items[at] = findings->items[at - 1];
        }
        findings->items[at] = moved;
    }
}

void finding_at_write(struct finding_at at, const char *file, struct buf *out)
{
    buf_add_text(out, file);
    if (at.line > 0)
        buf_printf(out, ":%u", at.line);
    if (at.column > 0)
        buf_printf(out, ":%u", at.column);
}

void findings_error(const struct findings *findings, const char *file, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf place = {0};
    char more[64] = "";
    size_t others = findings->count + findings->left_out - 1;
    if (findings->no_memory || findings->count == 0) {
        error_no_memory(err);
        return;
    }
    if (others > 0)
        snprintf(more, sizeof more, " (and %zu more: ddbfs check prints all)", others);
    finding_at_write(findings->items[0].at, file, &place);
    if (place.failed)
        error_no_memory(err);
    else
        error_set(err, ERROR_INVALID, "%s: %s%s", buf_text(&place), findings->items[0].text, more);
}
