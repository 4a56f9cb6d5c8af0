#include "fs/cli/sorted_lines.h"

#include <stdlib.h>

void sorted_lines_add(struct sorted_lines *sorted, struct span text, struct instant date)
{
    if (sorted->count == sorted->capacity && !sorted->failed) {
        size_t capacity = sorted->capacity ? sorted->capacity * 2 : 64;
        struct sorted_line *grown = realloc(sorted->lines, capacity * sizeof *grown);
        sorted->failed = !grown;
        sorted->lines = grown ? grown : sorted->lines;
        sorted->capacity = grown ? capacity : sorted->capacity;
    }
    if (sorted->failed)
        return;
    struct span copy = arena_copy(&sorted->arena, text);
    sorted->lines[sorted->count] = (struct sorted_line){copy, date, sorted->count};
    sorted->count++;
    sorted->failed = sorted->arena.failed;
}

/* Undated lines come last, and lines of one date as they came. */
static int sorted_lines_youngest_first(const void *one, const void *other)
{
    const struct sorted_line *a = one, *b = other;
    if (a->date.known != b->date.known)
        return a->date.known ? -1 : 1;
    if (a->date.ms != b->date.ms)
        return a->date.ms > b->date.ms ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

bool sorted_lines_sort(struct sorted_lines *sorted, bool by_date, bool reversed)
{
    size_t count = sorted->count;
    if (sorted->failed)
        return false;
    if (by_date && count > 0)
        qsort(sorted->lines, count, sizeof *sorted->lines, sorted_lines_youngest_first);
    for (size_t i = 0; reversed && i < count / 2; i++) {
        struct sorted_line line = sorted->lines[i];
        sorted->lines[i] = sorted->lines[count - 1 - i];
        sorted->lines[count - 1 - i] = line;
    }
    return true;
}

void sorted_lines_clean_up(struct sorted_lines *sorted)
{
    free(sorted->lines);
    arena_clean_up(&sorted->arena);
}
