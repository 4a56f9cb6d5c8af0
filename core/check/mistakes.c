#include "core/check/mistakes.h"

#include <stdarg.h>
#include <stdio.h>

struct mistake {
    unsigned line;
    const char *subject;
    const char *text; /* of the first item */
    size_t items, last_item;
    struct mistake *next;
};

void mistakes_clean_up(struct mistakes *mistakes)
{
    arena_clean_up(&mistakes->arena);
}

void mistakes_add(struct mistakes *mistakes, unsigned line, const char *subject, const char *format,
                  ...)
{
    char text[1024];
    va_list args;
    struct mistake *each = mistakes->first;
    while (each && (each->line != line || strcmp(each->subject, subject) != 0))
        each = each->next;
    if (each) {
        each->items += each->last_item != mistakes->item;
        each->last_item = mistakes->item;
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    each = arena_alloc(&mistakes->arena, sizeof *each);
    if (!each)
        return;
    *each = (struct mistake){.line = line,
                             .subject = arena_text(&mistakes->arena, span_text(subject)),
                             .text = arena_text(&mistakes->arena, span_text(text)),
                             .items = 1,
                             .last_item = mistakes->item};
    if (mistakes->arena.failed)
        return;
    if (mistakes->last)
        mistakes->last->next = each;
    else
        mistakes->first = each;
    mistakes->last = each;
}

void mistakes_report(const struct mistakes *mistakes, check_finding_fn *fn, void *arg)
{
    for (const struct mistake *each = mistakes->first; each; each = each->next) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        buf_add_text(&text, each->text);
        if (each->items > 1)
            buf_printf(&text, "; %zu more item%s show%s the same", each->items - 1,
                       each->items == 2 ? "" : "s", each->items == 2 ? "s" : "");
        if (!text.failed)
            fn(arg, each->line, buf_text(&text));
    }
}
