#include "core/live/live_row.h"

#include <stdlib.h>
#include <string.h>

struct live_row *live_row_new(struct span text, uint64_t hash)
{
    struct live_row *row = malloc(sizeof *row + text.size);
    if (!row)
        return NULL;
    *row = (struct live_row){.references = 1, .hash = hash, .size = text.size};
    memcpy(row->text, text.data, text.size);
    return row;
}

struct live_row *live_row_ref(struct live_row *row)
{
    if (row)
        row->references++;
    return row;
}

void live_row_unref(struct live_row *row)
{
    if (!row || --row->references > 0)
        return;
    explicit_bzero(row->text, row->size);
    free(row);
}
